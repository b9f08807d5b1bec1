/* drv_plan -- what would change the ranking of a study of profile train.
 *
 * Nothing that is found here is stored: results on systems that nobody has would stand beside the others in
 * every ranking. Points of such a system are simulated in memory, by several threads.
 *
 * A step is made of sums and maxima of durations, and of waiting for several of them. Where one rate or
 * latency changes by a factor f, each duration changes by 1 to f times; so does the step. A point that cannot
 * be the fastest by that is not simulated; of the others all are. The memory of a point does not depend on
 * times. */
#ifndef DSE_DRIVER_PLAN_H
#define DSE_DRIVER_PLAN_H

#include "driver/points.h"
#include "report/plan.h"

typedef struct {
    const drv_points *points; /* of one study, which drv_plan_check took */
    const drv_study *whole;   /* the same on the system of the card, which the study may have a part of */
    uint64_t given;           /* bits of the parameters that the user gave values */
    uint32_t threads;         /* at least 1; the result does not depend on it */
    void (*progress)(void *user, size_t done, size_t total); /* of the changes; often; may be NULL */
    void *user;
} drv_plan_options;

/* Adds pipelines to the points of a space that the user's `given` parameters (bits) leave open: a sweep has
 * those that divide the layers, and where few do, as of 126, the best is another. Megatron counts the
 * embedding and the loss as a layer each (--account-for-embedding-in-pipeline-split, and -loss-): then layers
 * + 2 are divided. */
dse_status drv_plan_widen(drv_space *space, uint64_t given, dse_arena *a, drv_points *points, dse_error *err);

/* Further points: a strategy that is too large, and fits if it makes all layers again, may fit if it makes
 * some of them again (recompute_layers, of Megatron): of each such that could be among the best, the least
 * number of layers that fits. `out` has them behind the points that are there. In the arena. */
dse_status drv_plan_refine(const drv_points *points, const report_study *ranked, uint64_t given,
                           uint32_t threads, dse_arena *a, drv_points *out, dse_error *err);

/* Refuses what has no plan, with the remedy: several models or systems, profile stage, an unknown capacity.
 * */
dse_status drv_plan_check(const drv_points *points, dse_error *err);

/* The results of the points that a database has, ranked by wall_time; in the arena. */
dse_status drv_plan_rank(const char *database, const drv_points *points, dse_arena *a, report_study *out,
                         dse_error *err);

/* The plan of such a ranking, which it borrows; train_tokens is left to the caller. In the arena. */
dse_status drv_plan(const drv_plan_options *o, const report_study *ranked, dse_arena *a, report_plan *out,
                    dse_error *err);

/* The step (wall_time) of one point with each change of its system that changes steps; in the arena. */
dse_status drv_plan_sensitivities(const drv_study *study, const strategy *point, dse_arena *a,
                                  report_plan_change **out, size_t *n, dse_error *err);

#endif
