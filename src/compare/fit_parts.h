/* What the files of cmp_fit share: a least-squares problem in coordinates, its solution, and what of it the
 * data identify.
 *
 * The coordinate of a rate is its logarithm, that of a cost its multiple of `step`: in both a difference of
 * 1e-3 and of 1 is one that shows. Bounds are kept by a set of parameters that are held at them (solve), not
 * by a transformation that flattens there: a Jacobian then means the same everywhere, and so do standard
 * errors. */
#ifndef DSE_COMPARE_FIT_PARTS_H
#define DSE_COMPARE_FIT_PARTS_H

#include "compare/fit.h"

#define FIT_ALL SIZE_MAX

typedef struct {
    const cmp_problem *problem;
    size_t left_out; /* the unit whose measurements do not count; FIT_ALL: each does */
    size_t spare;    /* measurements that there must be beyond the parameters */
    dse_arena *arena;
    double *at, *low, *high;          /* scratch: p, n, n */
    bool low_is_value, high_is_value; /* of the last column: a bound, or nothing ends beyond */
    dse_status status;                /* of the model, when GSL called it */
    dse_error *err;
} fit;

typedef enum {
    FIT_DONE,
    FIT_TOO_FEW, /* measurements */
    FIT_NO_CONVERGENCE,
    FIT_NOTHING /* no parameter has an effect: all are at their starts */
} fit_outcome;

/* A point, and how it came about. Arrays of p. */
typedef struct {
    double *value;
    bool *wanted; /* may be fitted */
    bool *held;   /* at a bound, and the data want it beyond */
    bool *kept;   /* without effect here, but not at its start: the data constrain it from one side */
    cmp_fitted *parameter;
    double sum; /* of squared residuals */
    fit_outcome outcome;
    size_t n_effective; /* FIT_TOO_FEW: how many have an effect */
    double *effect;     /* and how large it is, as the length of the Jacobian's column */
} fit_point;

double fit_coordinate(const cmp_parameter *p, double value);

/* Logarithms of predicted over measured, 0 for the one that is left out; n of them. */
dse_status fit_residuals(const fit *f, const double *value, double *residual, dse_error *err);

/* Derivatives by the coordinate of parameter j, n of them; central, one-sided at a bound. Uses the
 * scratch. */
dse_status fit_column(fit *f, const double *value, size_t j, double *column, dse_error *err);

/* Measurements that count. */
size_t fit_count(const fit *f);

/* The same, but what repeats another counts with it as one: it says how well that is known, and nothing of
 * other things. */
size_t fit_count_distinct(const fit *f);

/* The measurement itself, or the one that it repeats; the first that is left out with it. */
size_t cmp_first_of(const cmp_problem *p, size_t i);
size_t cmp_unit_of(const cmp_problem *p, size_t i);

/* Minimises over the wanted parameters from x->value, within bounds. Sets value, held, sum; outcome FIT_DONE
 * or FIT_NO_CONVERGENCE. fit_solve.c */
dse_status fit_solve(fit *f, fit_point *x, dse_error *err);

/* The same, until all that is left is identified; sets all of the point but for errors. fit_identify.c */
dse_status fit_settle(fit *f, fit_point *x, dse_error *err);

/* Standard errors, and correlations (p x p), at a point that is settled. */
dse_status fit_errors(fit *f, fit_point *x, double *correlation, dse_error *err);

#endif
