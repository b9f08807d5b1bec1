/* drv_robust -- the ranking of a study, simulated again with the system's parameters a little off.
 *
 * Perturbed are the rates and times that a system card has: peak compute, memory bandwidth, bandwidth and latency of each
 * network dimension, fixed costs; of these, what is given and not 0. The model and the scheduler's settings stay.
 *
 * Compared are points of the study, whatever engine they are of, by this program's own simulator: their workloads do not
 * depend on the parameters, and are generated once. Which of them can win a draw, and so must be simulated, follows from
 * compare/robust.h: a step is made of nodes that last a sum or a maximum of such terms, and of waiting for several of them,
 * a maximum. Where a scheduler's choices turn out otherwise this holds only nearly.
 *
 * What a point holds at its peak depends on when its communication ends, and so on the parameters: of the points that are
 * above the limit on memory those are compared, too, that might fit (sim/bound.h), and what no longer fits has lost. */
#ifndef DSE_DRIVER_ROBUST_H
#define DSE_DRIVER_ROBUST_H

#include "driver/study.h"
#include "report/robust.h"

/* Points that are compared, as a kept workload takes megabytes: the best of those that are ranked, and of those above the
 * limit the ones that need least. */
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

/* Of a study that was ranked by wall_time. What cannot be simulated is no failure but a `why_not`: nothing is ranked, an
 * imported result came without a system, an operator file has changed, a point that another engine ran and this one refuses,
 * or finds too large.
 * In the arena, and borrowing the study's rows. DSE_E_SYNTAX: a row's configuration is no JSON. */
dse_status drv_robust(const report_study *s, const drv_robust_options *o, dse_arena *a, report_robust *out,
                      dse_error *err);

#endif
