/* sim_abridged -- a run that computes the end of each collective as a whole, and simulates one rank per class
 * of alike ranks. Private to sim/.
 *
 * A layer over the plain engine: the same code makes nodes ready, issues and ends them (rank.c), and the same
 * code makes the figures. Issue requests are carried out differently (sim_backend): there are no messages of
 * collectives, chunks or packets. */
#ifndef DSE_SIM_ABRIDGED_H
#define DSE_SIM_ABRIDGED_H

#include "sim/sim.h"

/* As sim_run, with max_bytes for the ranks of its classes. Returns why the run cannot be abridged, or NONE;
 * *out and *record are set on NONE only. */
sim_fallback sim_run_abridged(const sim_settings *settings, const net_network *net, const wl_workload *w,
                              bool symmetry, uint64_t max_bytes, dse_arena *a, sim_result *out,
                              trace_ticks *record);

#endif
