/* sim_abridged -- a run in which collectives are worked out as a whole, and of alike ranks one is run.
 * Private to sim/.
 *
 * A layer over the plain engine: nodes become ready, are issued and end by the same code (rank.c), figures
 * are made by the same code; what differs is who grants what they ask for. A rank's messages, chunks and
 * packets do not exist. */
#ifndef DSE_SIM_ABRIDGED_H
#define DSE_SIM_ABRIDGED_H

#include "sim/sim.h"

/* As sim_run, with max_bytes for the ranks of its classes. Returns why the run cannot be abridged, or NONE; *out and
 * *record are set on NONE only. */
sim_fallback sim_run_abridged(const sim_settings *settings, const net_network *net, const wl_workload *w,
                              bool symmetry, uint64_t max_bytes, dse_arena *a, sim_result *out,
                              trace_ticks *record);

#endif
