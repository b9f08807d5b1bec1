/* step_clock -- how long kernels and collectives of a step take on a system.
 *
 * Kernels by their law (sim/kernel_time.h), collectives as if nothing else were under way: by what was
 * measured of the network (sim/collective_time.h), else message by message (sim/alone.h). A clock keeps the
 * times of collectives for the next points of a sweep: equal groups, bytes and type have equal times. */
#ifndef DSE_STEP_CLOCK_H
#define DSE_STEP_CLOCK_H

#include "sim/alone.h"
#include "step/program.h"

typedef struct step_clock step_clock;

/* Settings and network are borrowed. What the clock keeps lives in the arena. */
step_clock *step_clock_new(const sim_settings *set, const net_network *net, dse_arena *a);

/* The clock of the same system whose collectives are messages over the links as the data sheet has them,
 * whatever was measured or added: what a simulator of messages sees. It is the clock itself if nothing
 * was. */
step_clock *step_clock_of_links(step_clock *c);

/* The clock of the same system with a network that takes no time: of a collective only what the program adds
 * remains. Nothing takes longer by it than by the clock, whatever the network is. */
step_clock *step_clock_without_network(step_clock *c);

/* The ranks of a point: its mesh, and the axes of each group. Borrowed. */
typedef struct {
    mesh mesh;
    mesh experts;                 /* the same ranks as experts are spread over them: another grid */
    mesh_set axes[STEP_N_GROUPS]; /* of step_ranks_mesh */
    uint32_t size[STEP_N_GROUPS]; /* ranks of a group; at least 1 */
    uint32_t pipeline;            /* the axis of the stages */
} step_ranks;

/* The order of the axes, the first with neighbours as consecutive ranks: tp, cp, shards, replicas, pp. Of the
 * experts' grid etp, ep (those of a node first), shards, replicas, pp (Megatron-LM, parallel_state.py,
 * RankGenerator with tp-cp-ep-dp-pp). */
step_ranks step_ranks_of(const step_options *o, dse_arena *a);

/* Whose axes a group's are. */
const mesh *step_ranks_mesh(const step_ranks *ranks, step_group group);

/* The ranks of all groups of a kind, group after group, each in the order of its ring; returns how many
 * groups. In the arena. */
uint32_t step_ranks_members(const step_ranks *ranks, step_group group, dse_arena *a, uint32_t **out);

/* By the law of its class, or else the roofline, and longer by what the clock lags; 0 if it moves nothing. */
dse_time step_clock_kernel(const step_clock *c, const wl_kernel *k);
/* Whether any class has a law. */
bool step_clock_has_laws(const step_clock *c);
/* Whether kernels last longer, or shorter, than their laws and the roofline say. */
bool step_clock_lags(const step_clock *c);
/* What a layer takes at least in one direction; 0: nothing. */
dse_time step_clock_layer_floor(const step_clock *c);
/* The host's work of a step, after a rank's last operation. */
dse_time step_clock_overhead(const step_clock *c);

/* What a rank sends, or of an exchange in which the most loaded one receives more, what it receives. */
uint64_t step_clock_bytes(const step_collective *what);
/* Whether it is more than a call: its group has several ranks, and there is something to send. */
bool step_clock_takes_time(const step_ranks *ranks, const step_collective *what);

/* DSE_E_SIM, DSE_E_CONFIG: as sim_alone_groups. */
dse_status step_clock_collective(step_clock *c, const step_ranks *ranks, const step_collective *what,
                                 dse_arena *scratch, sim_alone *out, dse_error *err);

/* The engine has the roofline alone. A kernel that is to last so many ticks there moves one byte and does so
 * many operations, on a device with this peak: two a tick, and a half tick's one more, as ticks are
 * truncated. The memory, which collectives are reduced through, stays what it is: one byte bounds nothing
 * from 2 GB/s on. */
#define STEP_OPERATIONS_OF(ticks) (2 * (ticks) + 1)
#define STEP_OPERATIONS_PER_S     2e9
/* Makes the settings those of that device. */
void step_time_by_ticks(sim_settings *set);

/* The slowest rank's end of a workload of such kernels. */
dse_status step_clock_run(const step_clock *c, const wl_workload *w, dse_arena *a, dse_time *out,
                          dse_error *err);

/* From the ranks of one place in the pipeline to those of another one, which differ. */
sim_alone step_clock_transfer(step_clock *c, const step_ranks *ranks, uint32_t from, uint32_t to,
                              uint64_t bytes, dse_arena *scratch);

#endif
