/* Describes a simulated point as a recording (names of communicator groups, meaning of sizes, memory), and
 * writes its Chrome trace (trace/timeline.h). */
#ifndef DSE_DRIVER_TIMELINE_H
#define DSE_DRIVER_TIMELINE_H

#include "driver/study.h"
#include "trace/timeline.h"

/* Borrows from the workload; the rest is in the arena. */
typedef struct {
    trace_timeline_groups groups;
    trace_timeline_sizes sizes;
} drv_timeline;

/* The description of a point, its workload and its result. */
drv_timeline drv_timeline_describe(const wl_workload *w, const sim_result *r, dse_arena *a);

/* DSE_E_IO. */
dse_status drv_timeline_save(const wl_workload *w, const sim_result *r, const trace_ticks *t,
                             const char *path, dse_arena *a, dse_error *err);

#endif
