/* cmp_robust -- how far a ranking can be trusted when the parameters behind it are not known exactly.
 *
 * Parameters are scaled by factors between 1 - spread and 1 + spread, drawn evenly in the logarithm by a Sobol sequence (GSL;
 * for more parameters than it has dimensions, a Latin hypercube). In each draw every candidate is evaluated anew. */
#ifndef DSE_COMPARE_ROBUST_H
#define DSE_COMPARE_ROBUST_H

#include "base/alloc.h"

/* Values of n candidates (smaller is better; > 0) with the parameters times factor[0 .. p). Called from one thread. */
typedef dse_status cmp_evaluate(void *user, const double *factor, double *value, dse_error *err);

typedef struct {
    size_t n, p;
    cmp_evaluate *evaluate;
    void *user;
    double spread; /* 0 < spread < 1 */
    uint32_t draws;
    uint64_t seed; /* of the hypercube, and of the Sobol sequence's random shift */
    double reach;  /* > 1: a crossover is looked for between 1 / reach and reach times a parameter's value */
    void (*progress)(void *user, size_t done, size_t total);
} cmp_robust_problem;

typedef struct {
    double
        factor; /* of the parameter alone, nearest to 1, at which another candidate overtakes; NaN: none within reach */
    size_t by; /* which candidate */
} cmp_crossover;

typedef struct {
    size_t winner; /* with all factors 1; the first among equals */
    uint32_t draws;
    uint32_t *wins;     /* n: draws in which each is the best (the first among equals) */
    double mean_regret; /* of the winner: value / best of the draw - 1 */
    double worst_regret;
    double *worst_factor;         /* p: of the draw of the worst regret */
    cmp_crossover *below, *above; /* p each: the parameter smaller, and larger */
} cmp_robust_result;

/* A crossover is found by a search over the logarithm of the factor and refined by root finding (GSL, Brent) to 1e-4 of it.
 * All in the arena. DSE_E_NOMEM, and whatever evaluate fails with. */
dse_status cmp_robust(const cmp_robust_problem *problem, dse_arena *a, cmp_robust_result *out,
                      dse_error *err);

#endif
