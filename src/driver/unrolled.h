/* A point of profile train as a workload, and its simulation: an answer besides that of step_run. */
#ifndef DSE_DRIVER_UNROLLED_H
#define DSE_DRIVER_UNROLLED_H

#include "driver/training.h"
#include "sim/sim.h"

#define DRV_UNROLLED_MICRO_BATCHES 8 /* at most, on a rank */

typedef struct {
    card_system system; /* that the workload is for: the study's, or that of step_time_by_ticks */
    bool by_ticks;      /* the latter */
    wl_workload workload;
    sim_result result; /* of drv_unrolled_simulate */
    dse_time wall;     /* the slowest rank's */
    dse_time composed; /* step_run's, with one unit for all communication as the simulated ranks have it */
    bool is_even;      /* wall and composed must be equal if the network has no congestion (step/run.h) */
} drv_unrolled;

/* Writes down the step that drv_training_on has made. DSE_E_RANGE: it has more micro-batches than that, or
 * would take more memory than the study's shortcuts allow. */
dse_status drv_unrolled_make(const drv_study *s, const strategy *p, const step_result *step, dse_arena *a,
                             drv_unrolled *out, dse_error *err);

/* Simulates it with the study's shortcuts; `record` may be NULL. */
dse_status drv_unrolled_simulate(const drv_study *s, const strategy *p, dse_arena *a, drv_unrolled *u,
                                 trace_ticks *record, dse_error *err);

#endif
