/* sim_bound -- what a step takes at least, without simulating it.
 *
 * For a workload that the generator would make (wl_totals); never above the wall time of the slowest rank
 * that sim_run gives for it, if it gives one. In parts, of which the largest counts:
 *
 *   compute   a rank computes one node at a time: the sum of their ticks, exact, on the stage that has most
 *   comm      a rank runs one collective or send at a time. How long one takes a rank depends on when the
 *             others come; but the ranks of a stage together never take less than if they all came at once
 *             (bound_comm.c says why). So the average rank of a stage is busy that long, and the slowest not
 *             less.
 *   chain     pieces of the step that must come one after the other, whatever stages they are on: each
 *             takes its computations or its collectives, whichever take longer. Where stages wait for each
 *             other, this is the largest part. With the paths of the workload (workload/paths.h) it is the
 *             longest of these, mostly 95 to 100 % of the step; without them it is there in microseconds.
 *
 * And some memory that a rank holds at one moment, so that its peak is not below (workload/totals.h).
 *
 * All this is so of generated workloads, whose groups of two parallel dimensions share one rank at most, and
 * whose ranks post all receives at tick 0. */
#ifndef DSE_SIM_BOUND_H
#define DSE_SIM_BOUND_H

#include "base/alloc.h"
#include "sim/settings.h"
#include "workload/paths.h"
#include "workload/totals.h"

typedef enum { SIM_BOUND_COMPUTE, SIM_BOUND_COMM, SIM_BOUND_CHAIN, SIM_N_BOUNDS } sim_bound_kind;

typedef struct {
    dse_time part[SIM_N_BOUNDS]; /* ticks; compute, comm: of the stage that has most; 0: nothing is claimed */
    dse_time wall;               /* the largest of them, and the fixed cost of a step (settings.h) */
    sim_bound_kind by;           /* which that is, the first among equals */
    uint64_t held; /* bytes (upstream: elements) of the rank that holds most; 0 unless memory is tracked */
} sim_bound;

/* For people: "the compute of the longest rank". */
const char *sim_bound_name(sim_bound_kind kind);

/* A system, and what is known of distances on it: grows with the strategies asked for. */
typedef struct sim_bounds sim_bounds;

/* Settings and network are borrowed. *out belongs to the arena, what it grows by is freed by sim_bounds_free.
 * DSE_E_CONFIG: the collectives do not fit the network. */
dse_status sim_bounds_make(const sim_settings *set, const net_network *net, dse_arena *a, sim_bounds **out,
                           dse_error *err);
void sim_bounds_free(sim_bounds *b); /* accepts NULL */

/* The ranks of the totals are the NPUs of the network. The paths are those of the same workload; NULL: the
 * chain is that of the totals alone. */
void sim_bounds_of(sim_bounds *b, const wl_totals *t, const wl_paths *p, sim_bound *out);

/* The step's least time, in ticks, whatever the network: one on which all communication takes no time. */
dse_time sim_bounds_without_network(sim_bounds *b, const wl_totals *t, const wl_paths *p);

#endif
