/* Hockney's model of a transfer, fitted to all-reduces of n members: T = 2(n - 1)(alpha + beta S / n), of a
 * ring.
 *
 * y = T / (2(n - 1)) is linear in x = S / n: alpha is the intercept, beta the slope. Ordinary least squares,
 * and a robust fit beside it (bisquare weights), because a few calls wait for a late rank and one such call
 * can turn the line. By GSL; source: R. Hockney, "The communication challenge for MPP", 1994; CCL-Bench's
 * hockney-group-21. */
#ifndef DSE_METRICS_HOCKNEY_H
#define DSE_METRICS_HOCKNEY_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* The least number of samples, and of distinct sizes among them, for a fit; as upstream. */
#define HOCKNEY_SAMPLES 5
#define HOCKNEY_SIZES   2

typedef struct {
    double bytes;   /* S, the whole buffer */
    double seconds; /* T */
    uint32_t n;     /* members, 2 or more */
} hockney_sample;

/* A line. Standard errors are NaN where there are no degrees of freedom; r2 is NaN if all times are the
 * same. */
typedef struct {
    double alpha, beta; /* s, s per byte */
    double alpha_error, beta_error;
    double r2;
} hockney_line;

typedef struct {
    uint32_t n; /* members */
    size_t samples, sizes;
    hockney_line ordinary;
    bool has_robust; /* false: its iteration did not converge */
    hockney_line robust;
} hockney_fit;

/* Sorts samples by members, then size: those of one n are neighbours then, and can be fitted. */
void hockney_sort(hockney_sample *s, size_t count);

/* How many different sizes there are among these sorted samples. */
size_t hockney_sizes(const hockney_sample *s, size_t count);

/* Fits samples that all have the same n, at least HOCKNEY_SAMPLES of HOCKNEY_SIZES sizes. DSE_E_RANGE if
 * GSL refuses the numbers. */
dse_status hockney_fit_samples(const hockney_sample *s, size_t count, hockney_fit *out, dse_error *err);

#endif
