/* sim_alone -- how long a collective takes if nothing else is under way and all ranks begin it together.
 *
 * Each of several groups runs the collective, and the slowest counts. The answer is that of sim_run for a
 * workload of this one collective: a group smaller than the system is a flat ring, whose end circle.c mostly
 * has in closed form; one of all ranks goes through the dimensions. */
#ifndef DSE_SIM_ALONE_H
#define DSE_SIM_ALONE_H

#include "base/alloc.h"
#include "sim/settings.h"
#include "strategy/mesh.h"

/* How long it takes until the slowest rank is done. */
typedef struct {
    dse_time ticks;
    bool is_even; /* all ranks end in one tick */
    /* of a NPU's compute that it takes from kernels beside it; of measured networks alone */
    double compute_share;
} sim_alone;

/* Adds the end of a rank, of a group or of a message. */
static inline void sim_alone_add(sim_alone *all, dse_time end, bool is_first)
{
    all->is_even = is_first || (all->is_even && end == all->ticks);
    all->ticks = end > all->ticks ? end : all->ticks;
}

/* Groups of equal size, of several ranks each: `member` has the n ranks of each in the order of its ring.
 * Ranks may be in no group, but in no more than one. */
typedef struct {
    uint32_t n_groups, n;
    const uint32_t *member;
} sim_groups;

/* So many bytes that each piece of a collective has some; the engine refuses those with fewer, as ASTRA-sim
 * does not end with them. Each chunk of an all-gather has one. Of others the engine makes one a NPU and chunk
 * (sim_cut_chunks), and halvingDoubling halves a piece of an all-reduce once more where it turns. `bytes` if
 * they are enough. */
uint64_t sim_alone_bytes(const sim_settings *set, const net_network *net, uint32_t collective,
                         uint64_t bytes);

/* `collective`: wl_coll_type; `bytes` as Chakra counts them: of an all-gather what a rank gives, else what it
 * has; fewer than sim_alone_bytes count as those. Scratch goes into the arena. DSE_E_SIM: the collective
 * cannot be run; DSE_E_CONFIG: the settings do not fit the network. */
dse_status sim_alone_groups(const sim_settings *set, const net_network *net, const sim_groups *groups,
                            uint32_t collective, uint64_t bytes, dse_arena *a, sim_alone *out,
                            dse_error *err);

/* Messages that are sent together: each rank is in one at the most as a sender. */
typedef struct {
    uint32_t from, to;
} sim_pair;
typedef struct {
    uint32_t n;
    sim_pair *pair;
} sim_pairs;

/* Each rank sends to the next one along an axis, which is a circle; none if the axis has one rank. */
sim_pairs sim_pairs_to_next(const mesh *m, uint32_t axis, dse_arena *a);

/* The ranks with one coordinate along an axis send to their counterparts with another one. */
sim_pairs sim_pairs_between(const mesh *m, uint32_t axis, uint32_t from, uint32_t to, dse_arena *a);

/* Until the last message is there; 0 ticks if there are none. */
sim_alone sim_alone_messages(const net_network *net, const sim_pairs *pairs, uint64_t bytes);

#endif
