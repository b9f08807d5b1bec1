/* cmp_robust -- how far a ranking can be trusted when the parameters behind it are not known exactly.
 *
 * Parameters are scaled by factors between 1 - spread and 1 + spread, drawn evenly in the logarithm by a
 * Sobol sequence (GSL; for more parameters than it has dimensions, a Latin hypercube). In each draw every
 * candidate that can win it is evaluated anew. Beside that each parameter is moved alone, to find where
 * another candidate overtakes the winner.
 *
 * A candidate may be ruled out by something else than its value (it does not fit in memory, or fails), and
 * that, too, may change with the parameters, for the winner as for others.
 *
 * Which candidates can win follows from what values are assumed to be: made of sums and maxima of terms, of
 * which each is constant, proportional to one parameter, or to its inverse. Let F be the largest of a draw's
 * factors and their inverses. Each term stays between 1/F and F times what it was, hence each value; so a
 * candidate that had more than F^2 times the winner's value stays behind it. A parameter alone, moved by F,
 * moves all values in one direction: there F times are enough. Values that keep to this nearly (rounded, or
 * with parts in another order) are allowed for by a hundredth. */
#ifndef DSE_COMPARE_ROBUST_H
#define DSE_COMPARE_ROBUST_H

#include "base/alloc.h"

typedef struct {
    double value; /* smaller is better; > 0, finite; NaN: not known of one that is ruled out */
    bool fits;    /* false: it is ruled out */
} cmp_outcome;

/* What becomes of the candidates which[0 .. n_which), in ascending order, with the parameters times factor[0
 * .. p): into outcome[which[i]]. Called from one thread. */
typedef dse_status cmp_evaluate(void *user, const double *factor, const size_t *which, size_t n_which,
                                cmp_outcome *outcome, dse_error *err);

typedef struct {
    size_t n, p; /* at least 1 */
    cmp_evaluate *evaluate;
    void *user;
    bool limited;   /* candidates may be ruled out; false saves asking whether the winner is */
    double spread;  /* 0 < spread < 1 */
    uint32_t draws; /* at least 1 */
    uint64_t seed;  /* its lower 32 bits: of the hypercube, and of the Sobol sequence's random shift */
    double reach;   /* > 1: a crossover is looked for between 1 / reach and reach times a parameter's value */
    void (*progress)(void *user, size_t done, size_t total); /* after each step of the search; NULL */
} cmp_robust_problem;

#define CMP_NOBODY SIZE_MAX /* in the place of a candidate: all are ruled out */

typedef struct {
    /* of the parameter alone, nearest to 1, at which the winner is the best no more; NaN: none within
     * reach */
    double factor;
    size_t by; /* which candidate is then, or CMP_NOBODY */
} cmp_crossover;

typedef struct {
    size_t winner; /* with all factors 1; the first among equals */
    double *value; /* n: with all factors 1; NaN: not known */
    uint32_t draws;
    uint32_t *wins;                   /* n: draws in which each is the best (the first among equals) */
    uint32_t nobody;                  /* draws in which all are ruled out; with wins it adds up to draws */
    uint32_t dropped;                 /* draws in which the winner is ruled out; they have no regret */
    double mean_regret, worst_regret; /* of the winner: value / best of the draw - 1; NaN: no draw has one */
    double *worst_factor;             /* p: of the draw of the worst regret; all 1 if there is none */
    cmp_crossover *below, *above;     /* p each: the parameter smaller, and larger */
} cmp_robust_result;

/* A crossover is found on a grid of the factor's logarithm, in steps of less than 15 %, and refined by root
 * finding (GSL, Brent) to 1e-4 of it; at `factor` the winner has lost. One that is undone within a step of
 * the grid may be missed. All in the arena; *out is set on success only. DSE_E_RANGE: all are ruled out with
 * all factors 1. And whatever evaluate fails with. */
dse_status cmp_robust(const cmp_robust_problem *problem, dse_arena *a, cmp_robust_result *out,
                      dse_error *err);

#endif
