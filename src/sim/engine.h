/* sim_engine -- the state of one run, its events, and how issue requests are carried out. Private to sim/.
 *
 * Handlers return nothing: the engine keeps the first failure, which ends the loop. Records refer to each
 * other by index; what must survive a handler lives in the arena or in the engine's pools. */
#ifndef DSE_SIM_ENGINE_H
#define DSE_SIM_ENGINE_H

#include "network/traffic.h"
#include "sim/collective.h"
#include "sim/messages.h"
#include "sim/rank.h"
#include "sim/sim.h"

/* ---- events ---------------------------------------------------------------------------------- */

/* Events of the network's queue; those of its links come first. */
typedef enum {
    SIM_EV_BATCH = NET_N_EVENTS, /* a rank's own events of this tick: subject is the batch */
    SIM_EV_ARRIVAL,              /* a message arrives, without congestion: subject is the message */
    SIM_EV_RECEIVED              /* a receive posted after the arrival completes: subject is the message */
} sim_event_kind;

/* Events of a rank. All events that a rank has registered for one tick run together, when the first of them
 * is due: the reference keeps a list per rank and tick, and its order decides ties. */
typedef enum {
    SIM_RE_NODE_DONE,  /* a node ends by itself: subject is the node */
    SIM_RE_BUNDLE,     /* a packet has passed the endpoint: subject is the stream; see sim_bundle_passed */
    SIM_RE_CUSTOM,     /* a compute node of an algorithm as Chakra files ends: subject is the node */
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
    dse_list events; /* of a rank; head of a free batch: the next free one */
} sim_batch;

/* A send or receive that waits for its handshake. */
typedef struct {
    uint32_t rank;
    sim_message_key key;
    sim_call call;
    uint32_t next_free;
} sim_postponed;

/* ---- the engine ------------------------------------------------------------------------------ */

/* How issue requests are carried out. The plain engine simulates each message (engine.c); the abridged engine
 * computes when collectives and messages end (abridged.c); the lockstep engine runs one rank of one
 * collective (lockstep.c). */
typedef struct {
    /* Calls sim_node_done after `delay` ticks. */
    void (*end_node)(sim_engine *e, uint32_t rank, uint32_t node, dse_time delay);
    /* Starts a collective node, and a SEND or RECV node. */
    void (*start_collective)(sim_engine *e, uint32_t rank, uint32_t node);
    void (*start_message)(sim_engine *e, uint32_t rank, uint32_t node);
    /* Called when all chunks of the rank's collective have ended. */
    void (*collective_ended)(sim_engine *e, uint32_t rank);
    /* Carry out sim_send and sim_receive. */
    void (*send)(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag);
    void (*receive)(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag, sim_call call);
} sim_backend;

struct sim_engine {
    const sim_backend *backend;
    const sim_settings *set;
    const net_network *net;
    const wl_workload *w;
    dse_arena *arena;
    dse_error *err;
    dse_status status;
    sim_fallback fallback; /* why the abridged engine gave up; else NONE */
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

    struct sim_remote *remote;     /* NULL without remote memory that serves one access at a time */
    struct sim_abridged *abridged; /* of the abridged engine; else NULL */
    struct sim_lockstep *lockstep; /* of the lockstep engine; else NULL */
    struct sim_order *order;       /* of the run that orders collectives (order.h); else NULL */
    uint64_t n_nodes, n_undercharged, n_flat_rings;
};

extern const sim_backend sim_plain_backend;

/* Runs the workload with the engine's backend, from the start; the caller has set what sim_engine_init wants,
 * but for logical, and frees the engine. */
dse_status sim_engine_run(sim_engine *e);

/* sim_run by the plain engine: run.c decides which engine runs. */
dse_status sim_run_plain(const sim_settings *settings, const net_network *net, const wl_workload *w,
                         dse_arena *a, sim_result *out, trace_ticks *record, dse_error *err);

/* As sim_run, by the abridged engine, with max_bytes for the ranks of its classes. Returns why the run cannot
 * be abridged, or NONE; *out and *record are set on NONE only. */
sim_fallback sim_run_abridged(const sim_settings *settings, const net_network *net, const wl_workload *w,
                              bool symmetry, uint64_t max_bytes, dse_arena *a, sim_result *out,
                              trace_ticks *record);

/* Sets up the queues and pools; the caller has set backend, set, net, w, arena, err and logical, and cleared
 * the rest. */
void sim_engine_init(sim_engine *e);
void sim_engine_free(sim_engine *e);

/* Keeps the first failure; false. */
bool sim_fail(sim_engine *e, dse_status st, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* "rank 3: node 17 'stack_0_mha_q@0_COMP'": for messages. */
typedef struct {
    char text[200];
} sim_place;
sim_place sim_where(const sim_engine *e, uint32_t rank, uint32_t node);

/* remote_memory.c: nodes that load from or store to remote memory. */
void sim_remote_init(sim_engine *e);
void sim_remote_issue(sim_engine *e, uint32_t rank, uint32_t node);
void sim_remote_next(sim_engine *e, uint32_t memory); /* an access has ended: serves the next one */

/* Registers an event of a rank, `delay` ticks from now. */
void sim_register(sim_engine *e, uint32_t rank, sim_rank_event_kind kind, uint32_t subject, uint64_t value,
                  dse_time delay);
/* Runs the events that a rank has registered for one tick. */
void sim_run_batch(sim_engine *e, uint32_t batch);

/* A message with one of the workload's own tags: sends size bytes to peer, or receives them; then does
 * `call`. */
void sim_message_native(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag, bool send,
                        sim_call call);

/* A message of a collective: sends size bytes to peer; posts the receive for what peer sends, and does `call`
 * when the message has arrived and is matched. */
static inline void sim_send(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag)
{
    e->backend->send(e, rank, peer, size, tag);
}
static inline void sim_receive(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag,
                               sim_call call)
{
    e->backend->receive(e, rank, peer, size, tag, call);
}

#endif
