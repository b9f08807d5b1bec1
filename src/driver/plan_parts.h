/* What the files of a plan share (driver/plan.h). */
#ifndef DSE_DRIVER_PLAN_PARTS_H
#define DSE_DRIVER_PLAN_PARTS_H

#include "driver/plan.h"

#define DRV_PLAN_MARGIN                                                                                      \
    1.05 /* orders of actions may change as well: points this far from being the best are looked at, too */

typedef struct {
    const drv_plan_options *o;
    const drv_study *study;
    const report_study *ranked;
    dse_arena *arena;
    report_plan *out;
} drv_plan_state;

static inline const drv_study *drv_plan_study(const drv_points *points) { return points->space->study; }

/* Simulates n points of a study with settings over it ("path=value") by several threads; wall_time is
 * STORE_ABSENT where a point cannot run. In the arena. */
dse_status drv_plan_simulate(const drv_study *study, const char *const *setting, size_t n_settings,
                             const strategy *point, size_t n, uint32_t threads, dse_arena *a,
                             store_metrics **out, dse_error *err);

/* The changes of a system, each up and down; their steps are not known yet. In the arena. */
size_t drv_plan_changes(const card_system *system, dse_arena *a, report_plan_change **out);

/* Memory changes what fits, and no step. */
bool drv_plan_is_capacity(const report_plan_change *c);

/* Where nothing fits: what comes nearest, and what makes it fit (plan_remedies.c). */
dse_status drv_plan_find_remedies(drv_plan_state *p, dse_error *err);

/* plan_assumptions.c */
void drv_plan_find_assumptions(drv_plan_state *p);

#endif
