/* step_clock -- how long kernels and collectives of a step take on a system.
 *
 * Kernels by their law (sim/kernel_time.h), collectives as if nothing else were under way (sim/alone.h). A clock keeps
 * the times of collectives for the next points of a sweep: equal groups, bytes and type have equal times. */
#ifndef DSE_STEP_CLOCK_H
#define DSE_STEP_CLOCK_H

#include "sim/settings.h"
#include "step/program.h"

typedef struct step_clock step_clock;

/* Settings and network are borrowed. What the clock keeps lives in the arena. */
step_clock *step_clock_new(const sim_settings *set, const net_network *net, dse_arena *a);

/* The ranks of a point: its mesh, and the axes of each group. Borrowed. */
typedef struct {
    mesh mesh;
    mesh_set axes[STEP_N_GROUPS];
    uint32_t size[STEP_N_GROUPS]; /* ranks of a group; at least 1 */
    uint32_t pipeline;            /* the axis of the stages */
} step_ranks;

/* The order of the axes, the first with neighbours as consecutive ranks: tp, cp, shards, replicas, pp. */
step_ranks step_ranks_of(const step_options *o, dse_arena *a);

dse_time step_clock_kernel(const step_clock *c, const wl_kernel *k);

/* DSE_E_SIM, DSE_E_CONFIG: as sim_alone_collective. */
dse_status step_clock_collective(step_clock *c, const step_ranks *ranks, const step_collective *what,
                                 dse_arena *scratch, dse_time *out, dse_error *err);

/* ---- a program -------------------------------------------------------------------------------- */

/* Where the time of a piece goes. What no kernel covers is the time of the group that the next kernel waits for. */
typedef struct {
    dse_time ticks;   /* from the begin of the piece to the end of its last operation */
    dse_time compute; /* of kernels */
    dse_time exposed[STEP_N_GROUPS];
    /* Of matrix products and attention: all, those of recomputation. */
    double operations, operations_again;
} step_cost;

dse_status step_cost_of(step_clock *c, const step_ranks *ranks, const step_program *p, dse_arena *a, step_cost *out,
                        dse_error *err);
void step_cost_add(step_cost *sum, const step_cost *c, uint64_t times);

#endif
