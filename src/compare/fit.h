/* cmp_fit -- parameters of a model fitted to measurements: weighted least squares of logarithms, bounded,
 * many starts (GSL).
 *
 * Minimises the sum of (ln predicted_i - ln measured_i)^2, so that a run counts by its relative error,
 * whatever its length. Rates are fitted in their logarithm, costs that may be 0 linearly. A parameter that
 * the data do not constrain stays at its start, and says so; nothing is fitted from nothing. */
#ifndef DSE_COMPARE_FIT_H
#define DSE_COMPARE_FIT_H

#include "base/alloc.h"

typedef struct {
    const char *name, *unit;
    double start, min, max; /* in the unit; min <= start <= max, min < max */
    bool is_cost;           /* linear, may be 0; else a rate, > 0 */
    /* of a cost: a change, in the unit, that predictions show in spite of their rounding, > 0; differences
     * are taken over it at least. A rate's are over a thousandth of its value */
    double step;
} cmp_parameter;

/* Predicts n values > 0 from p parameters. What it fails with ends the fit; but DSE_E_SIM, that a simulation
 * cannot finish with these values, is a step that is not taken, and only where there is no way on ends the
 * attempt: from a start that was drawn, or without a run. Called from one thread, with the same arguments
 * again at times; must be a function of them. */
typedef dse_status cmp_model(void *user, const double *parameter, double *predicted, dse_error *err);

typedef struct {
    size_t n; /* measurements */
    const double *measured;
    /* n: the first measurement of the same thing, itself where it is the first; NULL: each is alone. What
     * repeats another is left out with it, or the fit would know the answer */
    const size_t *repeats;
    /* n: the first measurement of those that are left out together, as all runs of a model; measurements of
     * the same thing are. NULL: these alone are */
    const size_t *unit;
    const char *const *name; /* of each: for messages */
    size_t p;
    const cmp_parameter *parameter;
    cmp_model *model;
    void *user;
    uint64_t seed;
    uint32_t starts; /* 1: from the start values alone; others are drawn between min and max (GSL) */
    bool leave_one_out;
    void (*progress)(void *user, size_t done, size_t total); /* fits; NULL */
} cmp_problem;

typedef enum {
    CMP_FITTED,
    CMP_AT_BOUND,   /* fitted, and at its min or max: the data want more than the bounds allow */
    CMP_NO_EFFECT,  /* no measurement changes with it, by 1e-4 over all of its range: stays at its start */
    CMP_INSEPARABLE /* it changes them only as others do: stays at its start, `with` says which */
} cmp_parameter_state;

typedef struct {
    double value;
    /* standard error in the parameter's unit; NaN: not known, as at a bound, or where the data say no more
     * than that it is not beyond this value */
    double error;
    cmp_parameter_state state;
    size_t with; /* CMP_INSEPARABLE: index of the parameter that it most resembles */
} cmp_fitted;

typedef struct {
    cmp_fitted *parameter; /* p */
    double *correlation;   /* p x p; NaN where one is not fitted */
    size_t n_fitted;
    double *before, *after; /* n: predictions with the start values, with the fitted ones */
    /* n: of each by the fit to all but what is left out with it; NULL: not asked for; NaN: could not be
     * fitted, as where nothing else is there */
    double *left_out;
    double rms;             /* of the logarithms' residuals: root of their mean square */
    uint32_t starts_agreed; /* starts that ended within 1 % of the best sum of squares */
} cmp_fit_result;

/* The fit without a unit starts from the fit to all; what only that unit constrains goes back to its own
 * start first.
 *
 * DSE_E_RANGE: fewer measurements, repeats not counted, than parameters that they constrain, plus one (says
 * how many are needed and which to fix); no parameter changes any prediction; none of the starts converges; a
 * measurement or a prediction is not > 0. And whatever the model fails with. All in the arena. */
dse_status cmp_fit(const cmp_problem *problem, dse_arena *a, cmp_fit_result *out, dse_error *err);

/* The same of one rate, by the mean of |ln predicted - ln measured|, which a few odd measurements move
 * little, and with few predictions: of all measurements at some 12 points for each factor e between the
 * bounds, and no more for however many units are left out. Predictions without a unit are interpolated
 * between these points (to 1e-4, of smooth ones); the standard error is the jackknife's over units; `starts`
 * and `seed` have no effect. fit_one.c
 *
 * DSE_E_RANGE: more than one parameter, or a cost; no prediction changes with it; a measurement or prediction
 * is not > 0. And whatever the model fails with, DSE_E_SIM too. */
dse_status cmp_fit_one(const cmp_problem *problem, dse_arena *a, cmp_fit_result *out, dse_error *err);

#endif
