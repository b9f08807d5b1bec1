/* sim_engine -- the state of one run, and how its parts call each other. Private to sim/.
 *
 *   engine.c      the loop: events, each rank's batches, messages on the network
 *   rank.c        the workload of a rank: which node is issued when
 *   collective.c  what settings alone decide of a collective: chunks, the order of phases, queues
 *   stream.c      chunks of a collective on a rank: phases, queues, slots
 *   steps.c       what ring, direct and halving-doubling have in common; each has its file
 *   double_binary_tree.c
 *   bus.c         the shared memory bus of an endpoint
 *   memory.c, stats.c, breakdown.c, remote_memory.c, deadlock.c
 *   abridged.c, lockstep.c   other engines, by the same parts (sim_ways)
 *
 * Handlers return nothing: the first failure is kept in the engine and ends the loop. Everything is
 * referred to by index; what must survive a handler lives in the arena or in the engine's pools. */
#ifndef DSE_SIM_ENGINE_H
#define DSE_SIM_ENGINE_H

#include "network/traffic.h"
#include "sim/collective.h"
#include "sim/kernel_time.h"
#include "sim/messages.h"
#include "sim/sim.h"

/* Events of the network's queue; those of its links come first. */
typedef enum {
    SIM_EV_BATCH = NET_N_EVENTS, /* a rank's own events of this tick: subject is the batch */
    SIM_EV_ARRIVAL,              /* a message arrives, without congestion: subject is the message */
    SIM_EV_RECEIVED              /* a receive posted after the arrival completes: subject is the message */
} sim_event_kind;

/* Events of a rank. All that a rank has registered for one tick run together, when the first of them is
 * due: the reference keeps a list per rank and tick, and its order decides ties. */
typedef enum {
    SIM_RE_NODE_DONE,  /* a node ends by itself: subject is the node */
    SIM_RE_BUNDLE,     /* a packet has passed the endpoint: subject is the stream, value what its
                            reduction takes, or SIM_NO_REDUCTION */
    SIM_RE_BUS,        /* a side of the memory bus (subject) has done what value says */
    SIM_RE_REMOTE_NEXT /* the remote memory (subject) may serve the next request */
} sim_rank_event_kind;

#define SIM_NO_REDUCTION UINT64_MAX

typedef struct {
    uint64_t value;
    uint32_t kind, subject, next;
} sim_rank_event;

typedef struct {
    dse_time at;
    uint32_t rank;
    uint32_t head, tail; /* rank events; next free batch */
} sim_batch;

/* Nodes that compete for one resource; a rank has one of each, receives need none. */
typedef enum { SIM_UNIT_COMPUTE, SIM_UNIT_COMM, SIM_UNIT_CPU, SIM_UNIT_RECV, SIM_N_UNITS } sim_unit;

static inline sim_unit sim_unit_of(const wl_node *n)
{
    if (n->is_cpu_op)
        return SIM_UNIT_CPU;
    if (n->type == WL_NODE_COMP)
        return SIM_UNIT_COMPUTE;
    return n->type == WL_NODE_RECV ? SIM_UNIT_RECV : SIM_UNIT_COMM;
}

typedef struct {
    const wl_graph *graph;
    sim_cost *cost;     /* per node; ranks that share the graph share it */
    uint32_t *position; /* per node: its place in graph->by_id */
    uint8_t *unit; /* per node: sim_unit, and wl_node_type: of all that a node says these are asked most */
    uint8_t *type;
    uint32_t n_of_unit[SIM_N_UNITS];
    bool all_have_io;
} sim_graph;

/* Ready nodes of one kind, as a heap of places in by_id: the lowest id first. */
typedef struct {
    uint32_t n, *place;
} sim_ready;

typedef struct {
    uint32_t running;              /* chunks at work */
    uint32_t wait_head, wait_tail; /* streams */
    dse_time last_came;            /* when a chunk came, and for which of its phases; */
    uint32_t last_phase;
    bool mixed; /* in that tick chunks came for several */
} sim_lane;

typedef struct {
    dse_time write_start;   /* DSE_TIME_NONE: the tensor has not been seen */
    dse_time last_read_end; /* DSE_TIME_NONE: never read */
    uint64_t size;
    uint32_t last_reader; /* node */
} sim_tensor;

typedef struct {
    const sim_graph *graph;
    uint32_t *left;        /* per node: parents that have not finished */
    dse_time *start, *end; /* per node; DSE_TIME_NONE before */
    uint32_t *issued;      /* nodes in the order of their issue */
    uint32_t *ended;       /* in the order in which they ended; NULL: memory is not tracked */
    uint32_t n_issued, n_ended;
    uint32_t n_ready, n_ongoing;
    sim_ready ready[SIM_N_UNITS];
    bool busy[SIM_N_UNITS];
    uint32_t *freed; /* nodes that became ready while ready ones were being issued */
    uint32_t n_freed;
    bool issuing, finished;
    dse_time compute_ticks; /* sum of the durations of compute nodes */

    sim_tensor *tensor; /* NULL: memory is not tracked */

    /* The collective under way; a rank runs one at a time. */
    uint32_t coll_node;
    uint32_t coll_streams, coll_finished;
    uint32_t *group_streams; /* chunks started so far per group slot; the tags of their messages */
    uint32_t streams;        /* all chunks started; the tags of collectives by involved dimensions */
    sim_lane *lane;          /* per queue: n_dims * queues_per_dim */
    uint32_t *next_queue;    /* [dimension * SIM_N_QUEUE_USES + use]: the queue that the next chunk takes */
    struct sim_bus *bus;     /* NULL without a shared memory bus */
    uint32_t *trees;         /* per collective and dimension: double-binary-tree phases made so far */
} sim_rank;

/* A send or receive that waits for its handshake. */
typedef struct {
    uint32_t rank;
    sim_message_key key;
    sim_call call;
    uint32_t next_free;
} sim_postponed;

/* Who does what a rank's workload asks for. The plain engine does it message by message (engine.c), the
 * abridged one works it out (abridged.c); a collective in lockstep is all that its engine does
 * (lockstep.c). */
typedef struct {
    void (*end_node)(sim_engine *e, uint32_t rank, uint32_t node, dse_time delay); /* sim_node_done follows */
    void (*collective)(sim_engine *e, uint32_t rank, uint32_t node);
    void (*message)(sim_engine *e, uint32_t rank, uint32_t node); /* a SEND or RECV node */
    /* All chunks of the rank's collective have ended. */
    void (*collective_ended)(sim_engine *e, uint32_t rank);
    /* What algorithms send and receive; see sim_send and sim_receive. */
    void (*send)(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag);
    void (*receive)(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag, sim_call call);
} sim_ways;

struct sim_engine {
    const sim_ways *ways;
    const sim_settings *set;
    const net_network *net;
    const wl_workload *w;
    dse_arena *arena;
    dse_error *err;
    dse_status status;
    sim_fallback fallback; /* of the abridged engine; else NONE */
    dse_time now;

    dse_queue queue;
    net_traffic *traffic; /* NULL without congestion */
    sim_messages messages;
    sim_graph *graph;
    sim_rank *rank;
    uint32_t n_finished, *finish_order;
    sim_rank_stats *stats;
    sim_logical logical[SIM_N_COLLECTIVES];

    sim_rank_event *rank_event;
    size_t n_rank_events, cap_rank_events;
    uint32_t free_rank_event;
    sim_batch *batch;
    size_t n_batches, cap_batches;
    uint32_t free_batch;
    dse_idtable by_rank_tick;

    unsigned char *streams; /* pool of sim_stream, stride bytes each */
    size_t stream_stride, n_streams, cap_streams;
    uint32_t free_stream;

    sim_postponed *postponed;
    size_t n_postponed, cap_postponed;
    uint32_t free_postponed;

    struct sim_remote *remote;     /* NULL without remote memory */
    struct sim_abridged *abridged; /* NULL: of the plain engine */
    struct sim_lockstep *lockstep; /* NULL: of those that run workloads */
    uint64_t n_nodes, n_undercharged, n_flat_rings;
};

/* engine.c ---------------------------------------------------------------------------------- */

/* See sim_run; shortcuts, and what they can be taken for, are run.c's. */
dse_status sim_run_plain(const sim_settings *settings, const net_network *net, const wl_workload *w,
                         dse_arena *a, sim_result *out, trace_ticks *record, dse_error *err);

/* What every engine has: the rest is zero, but for ways, set, net, w, arena, err, and logical. */
void sim_engine_init(sim_engine *e);
void sim_engine_free(sim_engine *e);

/* Keeps the first failure. */
void sim_fail(sim_engine *e, dse_status st, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Registers an event of a rank, `delay` ticks from now. */
void sim_register(sim_engine *e, uint32_t rank, sim_rank_event_kind kind, uint32_t subject, uint64_t value,
                  dse_time delay);

/* A message of an algorithm's: sends size bytes to peer; posts the receive for what peer sends, `call`
 * happens when it has arrived and is matched. */
static inline void sim_send(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag)
{
    e->ways->send(e, rank, peer, size, tag);
}
static inline void sim_receive(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag,
                               sim_call call)
{
    e->ways->receive(e, rank, peer, size, tag, call);
}

/* Runs what a rank has registered for one tick. */
void sim_run_batch(sim_engine *e, uint32_t batch);

/* "rank 3: node 17 'stack_0_mha_q@0_COMP'": for messages. */
typedef struct {
    char text[200];
} sim_place;
const char *sim_where(const sim_engine *e, uint32_t rank, uint32_t node, sim_place *out);

/* rank.c ------------------------------------------------------------------------------------ */

void sim_ranks_init(sim_engine *e);
void sim_rank_init_collectives(sim_engine *e, uint32_t rank, uint32_t n_group_slots);
void sim_rank_start(sim_engine *e, uint32_t rank); /* tick 0 */
void sim_node_done(sim_engine *e, uint32_t rank, uint32_t node);
void sim_rank_collective_ended(sim_engine *e, uint32_t rank);

/* stream.c ---------------------------------------------------------------------------------- */

/* What a collective node asks of its rank. */
typedef struct {
    const wl_group *group;      /* NULL: all ranks, by the dimensions involved */
    const sim_logical *logical; /* whose implementations and trees are used */
    uint32_t involved;          /* bit per dimension */
    sim_collective collective;
    bool is_ring; /* of a group smaller than the system, whatever the implementation; */
    bool is_flat; /* and the system's is another */
    uint64_t chunk_bytes, n_chunks;
} sim_cut;

/* False: it cannot be run, and the engine has failed. */
bool sim_coll_cut(sim_engine *e, uint32_t rank, uint32_t node, sim_cut *out);
/* The tag of the first of n chunks; the others' follow. A chunk counts for its rank, and for its group if it
 * has one; then the group's number is its tag. */
uint32_t sim_take_tags(sim_rank *r, uint32_t group_slot, uint32_t n);
/* Starts the chunks of collective node `node` on this rank. */
void sim_coll_start(sim_engine *e, uint32_t rank, uint32_t node);
void sim_stream_ready(sim_engine *e, uint32_t stream);    /* a bundle has passed the endpoint */
void sim_stream_received(sim_engine *e, uint32_t stream); /* a packet has been received */
void sim_stream_next_phase(sim_engine *e, sim_stream *s); /* an algorithm has finished its phase */

static inline sim_stream *sim_stream_at(sim_engine *e, uint32_t id)
{
    return (sim_stream *)(void *)(e->streams + (size_t)id * e->stream_stride);
}

/* Which way a packet takes over a shared memory bus. */
typedef enum { SIM_TO_NETWORK, SIM_FROM_NETWORK, SIM_FROM_NETWORK_AND_BACK } sim_way;

/* Lets a packet of `bytes` pass the endpoint of its rank: sim_stream_ready follows after the endpoint's
 * delay (or the shared memory bus) and, if it is to be reduced, after two reads and a write of the local
 * memory. */
void sim_bundle(sim_engine *e, sim_stream *s, uint64_t bytes, bool reduce, sim_way way);
/* The packet has passed the endpoint and is reduced for `value` ticks, unless that is SIM_NO_REDUCTION. */
void sim_bundle_passed(sim_engine *e, uint32_t rank, uint32_t stream, uint64_t value);

/* lockstep.c: chunks of several phases have come to a queue in one tick, and not all of them could start. */
void sim_lockstep_refuse(sim_engine *e);

/* bus.c ------------------------------------------------------------------------------------- */

void sim_bus_init(sim_engine *e, uint32_t rank);
void sim_bus_free(sim_engine *e, uint32_t rank);
/* A packet of the stream enters the bus; sim_bundle_passed(..., value) follows when it is through. */
void sim_bus_enter(sim_engine *e, uint32_t rank, uint32_t stream, uint64_t bytes, uint64_t value,
                   sim_way way);
void sim_bus_event(sim_engine *e, uint32_t rank, uint32_t which, uint64_t ev);

/* memory.c, stats.c, breakdown.c, remote_memory.c, result.c, deadlock.c --------------------- */

void sim_memory_record(sim_engine *e, uint32_t rank, uint32_t node);    /* the node has just ended */
void sim_memory_peak(const sim_rank *r, uint64_t *bytes, dse_time *at); /* once */
void sim_memory_held(const sim_engine *e, uint32_t rank, dse_time at, uint64_t held[WL_N_TENSOR_KINDS]);
void sim_stats_collect(sim_engine *e, uint32_t rank, sim_rank_stats *out);
void sim_remote_init(sim_engine *e);
void sim_remote_issue(sim_engine *e, uint32_t rank, uint32_t node);
void sim_remote_next(sim_engine *e, uint32_t memory);
/* breakdown.c: of a run that has ended. */
void sim_breakdown_of_slowest(const sim_engine *e, sim_breakdown *out);
void sim_peak_of_largest(const sim_engine *e, sim_peak *out);
/* result.c: of a run that has ended; in its arena. */
void sim_fill_record(const sim_engine *e, trace_ticks *out);
uint32_t sim_ticks_with(const wl_workload *w, uint32_t rank, uint32_t node); /* of trace_ticks */
void sim_fill_result(const sim_engine *e, sim_result *out);
dse_status sim_deadlock(sim_engine *e); /* some ranks never finished: says which and why */

#endif
