/* What bound*.c share. Private to the bounds. */
#ifndef DSE_SIM_BOUND_PARTS_H
#define DSE_SIM_BOUND_PARTS_H

#include "sim/bound.h"
#include "sim/collective.h"
#include "sim/distances.h"
#include "workload/paths.h"

struct sim_bounds {
    const sim_settings *set;
    const net_network *net;
    sim_logical logical[SIM_N_COLLECTIVES];
    sim_distances distances;
    sim_sum *time; /* per kind of the totals, on the stage looked at: of a node, added up over the ranks */
    size_t cap_time;
    sim_sum *path_time, *path_end; /* bound_path.c: the same per kind of the paths; per node */
    size_t cap_path_time, cap_path_end;
};

/* Ranks that run a collective, each in its group: all members of these are among them. */
typedef struct {
    sim_ranks ranks;
    uint32_t stride, n; /* of the groups */
} bound_groups;

/* The time for which a collective node keeps each of the ranks busy at least, added up over them. 0: nothing
 * is known. */
sim_sum bound_collective(sim_bounds *b, const bound_groups *g, uint32_t coll, uint64_t bytes);

/* ---- bound.c: what a node of a stage takes, added up over its ranks ------------------------- */

sim_sum bound_computation(const sim_bounds *b, const wl_totals *t, const wl_total *k);
sim_sum bound_collectives(sim_bounds *b, const wl_totals *t, uint32_t stage, const wl_total *k);
sim_sum bound_send(sim_bounds *b, const wl_totals *t, uint32_t from, uint32_t to, uint64_t bytes);

/* ---- bound_path.c -------------------------------------------------------------------------- */

/* The longest path, added up over the ranks of a stage. */
sim_sum bound_path(sim_bounds *b, const wl_totals *t, const wl_paths *p, bool without_network);

#endif
