/* drv_robust -- simulates the ranking of a study again with slightly different system parameters.
 *
 * It perturbs the rates and times of a system card: peak compute, memory bandwidth, bandwidth and latency of
 * each network dimension, fixed costs; those that are given and not 0. The model and the scheduler's settings
 * stay.
 *
 * This program's own simulator compares the points of the study, whatever engine their results are of.
 * Workloads do not depend on the parameters and are generated once. compare/robust.h tells which points can
 * win a draw and so must be simulated: a step is made of nodes whose durations are sums or maxima of such
 * terms, and of waiting for several of them, a maximum. This holds only approximately where the scheduler
 * then chooses another order.
 *
 * Peak memory depends on when communication ends, and so on the parameters. Points above the memory limit
 * that might fit (sim/bound.h) are therefore compared, too, and a point that no longer fits loses. */
#ifndef DSE_DRIVER_ROBUST_H
#define DSE_DRIVER_ROBUST_H

#include "driver/study.h"
#include "report/robust.h"

/* The most points that are compared, as a workload takes megabytes: the best ranked ones, and those above the
 * limit that need least memory. */
#define DRV_ROBUST_RANKED 64
#define DRV_ROBUST_OTHERS 32
#define DRV_ROBUST_REACH  10.0

typedef struct {
    double spread; /* 0 < spread < 1 */
    uint32_t draws;
    uint64_t seed;
    uint32_t threads; /* 0: one per core; the result does not depend on it */
    void (*progress)(void *user, size_t done, size_t total); /* often; NULL */
    void *user;
} drv_robust_options;

/* Chooses the points that are compared, of a study that was ranked by wall_time: n, n_ranked, n_left and candidate
 * of *out, which borrows the study's rows; the array is in the arena. What cannot be simulated is a `why_not`, not a
 * failure: nothing is ranked, an imported result has no system, an operator file has changed. DSE_E_SYNTAX: a row's
 * configuration is no JSON. */
dse_status drv_robust_choose(const report_study *s, dse_arena *a, report_robust *out, dse_error *err);

/* Compares them, of which the point, the time and the memory are looked at; of the study's rows only the first. This
 * engine may refuse a point that another engine ran, which is a `why_not`, too. In the arena. */
void drv_robust(const report_study *s, const drv_robust_options *o, dse_arena *a, report_robust *out);

#endif
