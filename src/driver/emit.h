/* Writes a point as input files of the upstream tools. */
#ifndef DSE_DRIVER_EMIT_H
#define DSE_DRIVER_EMIT_H

#include "driver/study.h"

/* <folder>/system.json, network.yml, remote_memory.json. The arena is for scratch, here and below. */
dse_status drv_emit_system(const card_system *s, const char *folder, dse_arena *a, dse_error *err);

/* <folder>/workload.<rank>.et, comm_group.json; the folder is there. */
dse_status drv_emit_traces(const wl_workload *w, const char *folder, dse_arena *a, dse_error *err);

/* All of them, and run.sh, which runs ASTRA-sim (or `ccldse astrasim`) on them. */
dse_status drv_emit_point(const card_system *s, const wl_workload *w, const char *folder, dse_arena *a,
                          dse_error *err);

#endif
