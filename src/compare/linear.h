/* cmp_linear -- y = sum of c_j x_j with all c_j >= 0, by least squares of relative errors (GSL).
 *
 * Every subset of the columns is tried, which for so few is the surest way to the least squares within the
 * bounds (Lawson and Hanson, Solving Least Squares Problems, chapter 23, find the same without trying
 * all). */
#ifndef DSE_COMPARE_LINEAR_H
#define DSE_COMPARE_LINEAR_H

#include "base/status.h"

#include <stddef.h>

#define CMP_LINEAR_MOST 4 /* columns */

typedef struct {
    double c[CMP_LINEAR_MOST]; /* 0: the column is not in it */
    double mean, worst;        /* of |relative error| */
} cmp_linear;

/* x: n rows of k columns, >= 0; y: n, > 0. Of n rows at most n - 1 columns are taken, and one of one row.
 * DSE_E_RANGE: no column is above 0 in any row, n is 0, or k is above CMP_LINEAR_MOST. */
dse_status cmp_linear_fit(const double *x, size_t k, const double *y, size_t n, cmp_linear *out,
                          dse_error *err);

#endif
