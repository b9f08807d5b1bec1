/* Collectives: how a chunk of one goes through the dimensions, phase by phase. Private to sim/.
 *
 * A collective is cut into chunks; a chunk on one rank is a stream; a stream runs one phase per dimension (an
 * all-reduce up and down again); a phase is an algorithm among the ranks of that dimension. */
#ifndef DSE_SIM_COLLECTIVE_H
#define DSE_SIM_COLLECTIVE_H

#include "sim/settings.h"

typedef struct sim_engine sim_engine;
typedef struct sim_stream sim_stream;

/* Ranks in a circle, either regular (base + i * stride) or listed. */
typedef struct {
    uint32_t n, index; /* this rank's place */
    uint32_t base, stride;
    const uint32_t *member; /* NULL: regular */
} sim_ring;

static inline uint32_t sim_ring_member(const sim_ring *r, uint32_t i)
{
    return r->member ? r->member[i] : r->base + i * r->stride;
}

/* The member `steps` places after (clockwise) or before this rank; steps <= n. */
static inline uint32_t sim_ring_peer(const sim_ring *r, uint32_t steps, bool clockwise)
{
    uint32_t at = clockwise ? r->index + steps : r->index + r->n - steps;

    return sim_ring_member(r, at < r->n ? at : at - r->n); /* not %: this runs for every packet */
}

typedef enum { SIM_TREE_LEAF, SIM_TREE_INNER, SIM_TREE_ROOT } sim_tree_place;

typedef struct {
    const sim_algorithm *algorithm;
    uint8_t coll; /* sim_collective that this phase performs */
    bool clockwise;
    bool in_group;        /* smaller than the system: the endpoint takes 10 ticks whatever the settings say */
    uint32_t lane;        /* queue */
    uint64_t bytes;       /* what comes in */
    uint64_t final_bytes; /* what goes on to the next phase */

    /* Algorithms in steps (steps.c): */
    sim_ring ring;
    uint64_t message_bytes; /* of a step, if it is always the same */
    uint32_t steps;         /* sends (and receives) in all */
    uint32_t width;         /* packets under way at once */
    uint32_t cycle;         /* packets after the first `width` until the next round begins */

    /* Double binary tree: */
    sim_tree_place place;
    uint32_t parent, left, right; /* ranks, or DSE_NONE */
} sim_phase;

struct sim_stream {
    uint32_t id, rank, next; /* next: in its lane's queue, or in the free list */
    uint32_t tag;
    uint32_t n_phases, phase;

    /* State of the current phase. */
    uint32_t steps_left, inserted, sent, received;
    uint32_t free_packets;
    uint32_t first_left, cycle_left; /* packets of this round still to come */
    bool odd_round;
    uint8_t tree_state, tree_reductions;

    sim_phase phases[];
};

static inline const sim_phase *sim_stream_phase(const sim_stream *s) { return &s->phases[s->phase]; }

/* A packet of an algorithm in steps, and the source of the packet that answers it. */
typedef struct {
    uint32_t to, from;
    uint64_t bytes;
} sim_packet;

/* One row of collective_list.h, one file. */
struct sim_algorithm {
    const char *name;     /* as in system.json: "ring" */
    const char *one_name; /* the form over all NPUs: "oneRing"; NULL: none */
    bool takes_window;    /* a number may follow the name: "direct4" */
    bool power_of_two;    /* works only among a power of two of ranks */
    bool all_alike;       /* ranks that begin together and see the same do the same */
    const char *summary;

    /* Completes a phase whose coll, bytes, ring and clockwise are set. Returns NULL, or why the algorithm
     * cannot do it. `dim_last`: no dimension of the implementation list follows; `tree` counts the phases
     * that this rank has planned for this dimension. */
    const char *(*plan)(const sim_implementation *how, bool dim_last, uint32_t tree, sim_phase *p);
    void (*start)(sim_engine *e, sim_stream *s);
    void (*ready)(sim_engine *e, sim_stream *s);
    void (*receive)(sim_engine *e, sim_stream *s);
    /* Packet k of the phase; NULL: the algorithm does not run in steps. */
    void (*packet)(const sim_phase *p, uint32_t k, sim_packet *out);
};

/* A collective's dimensions as the implementation list makes them. */
typedef struct {
    uint32_t n_dims;
    struct {
        sim_implementation how;
        uint32_t n, stride;
    } dim[NET_MAX_DIMS];
} sim_logical;

/* DSE_E_CONFIG if the list is longer than the network has dimensions. */
dse_status sim_logical_init(const sim_implementations *impl, const net_network *net, sim_logical *out,
                            dse_error *err);
/* The same for every collective. */
dse_status sim_logicals_init(const sim_settings *set, const net_network *net,
                             sim_logical out[SIM_N_COLLECTIVES], dse_error *err);

extern const sim_algorithm sim_algorithm_ring;
extern const sim_algorithm sim_algorithm_halving_doubling;

/* Converts a Chakra collective (wl_coll_type). False: it cannot be simulated. */
bool sim_collective_of(uint32_t chakra, sim_collective *out);

/* The chunks of a collective. */
typedef struct {
    uint64_t bytes; /* of each chunk; 0: it cannot be cut, as an all-gather of too few bytes */
    uint64_t n;
} sim_chunks;

sim_chunks sim_cut_chunks(const sim_settings *set, uint32_t n_npus, sim_collective coll, uint64_t size);

/* An all-reduce that knows its dimensions goes up and down them; each way uses one half of a dimension's
 * queues, so that the two never wait for each other. Everything else takes the queues in turn. */
typedef enum { SIM_QUEUE_ANY, SIM_QUEUE_UP, SIM_QUEUE_DOWN, SIM_N_QUEUE_USES } sim_queue_use;

typedef struct {
    uint32_t first, n; /* n > 0 */
} sim_queues;

sim_queues sim_queues_for(const sim_settings *set, sim_queue_use use);           /* of each dimension */
sim_queue_use sim_group_queue_use(const sim_settings *set, sim_collective coll); /* by a group's phase */

/* Chunks that may be at work at once in a queue. */
static inline uint32_t sim_queue_places(const sim_settings *set)
{
    return set->active_chunks / set->queues_per_dim + (set->active_chunks % set->queues_per_dim != 0);
}

/* One phase of a collective of the whole system: what it does in which dimension, by which queues. */
typedef struct {
    uint32_t dim;
    sim_collective coll;
    sim_queue_use use;
} sim_dim_phase;

/* The phases of a chunk in their order; `involved` has a bit per dimension. Yields how many. */
uint32_t sim_order_phases(const sim_settings *set, const sim_logical *logical, sim_collective coll,
                          uint32_t involved, sim_dim_phase out[2 * NET_MAX_DIMS]);

/* What a group smaller than the system runs: a ring, or the algorithm that the settings have for every
 * dimension (sim_version_row.groups_by_algorithm). */
const sim_implementation *sim_group_implementation(const sim_settings *set, sim_collective coll);

/* Plans the phase of a group smaller than the system, except for this rank's place in it and the queue.
 * Returns NULL, or why it cannot run. */
const char *sim_group_phase(const sim_implementation *how, const sim_ring *ring, sim_collective coll,
                            uint64_t bytes, sim_phase *p);

/* Packets that a rank reduces in a planned phase of a ring: those of the first turn. An all-reduce gathers
 * after that. */
static inline uint32_t sim_ring_reductions(const sim_phase *p)
{
    return p->coll == SIM_ALL_REDUCE || p->coll == SIM_REDUCE_SCATTER ? p->cycle : 0;
}

#define SIM_GROUP_ENDPOINT_DELAY 10u /* ticks: "fast transmission" of the reference's memory bus */

/* Ticks to reduce a packet: write, read, read, each truncated to whole ticks. */
static inline dse_time sim_reduction_ticks(const sim_settings *set, uint64_t bytes)
{
    return 3 * dse_ticks((double)bytes / set->memory_bytes_per_s * 1e9);
}

/* steps.c: algorithms that send packet after packet. ------------------------------------------ */

void sim_steps_start(sim_engine *e, sim_stream *s);
void sim_steps_receive(sim_engine *e, sim_stream *s);
void sim_steps_ready(sim_engine *e, sim_stream *s);
/* Sends the next packet if there is one and `width` allows it. */
void sim_steps_send(sim_engine *e, sim_stream *s);
/* Goes on to the next phase if all is sent and received. */
void sim_steps_end(sim_engine *e, sim_stream *s);

#endif
