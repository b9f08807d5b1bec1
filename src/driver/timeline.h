/* A simulated point as a Chrome trace (trace/timeline.h), its communicator groups called by the degrees they are of. */
#ifndef DSE_DRIVER_TIMELINE_H
#define DSE_DRIVER_TIMELINE_H

#include "driver/study.h"

/* DSE_E_IO, DSE_E_NOMEM. */
dse_status drv_timeline_save(const design_point *p, const wl_workload *w, const trace_ticks *t,
                             const char *path, dse_arena *a, dse_error *err);

#endif
