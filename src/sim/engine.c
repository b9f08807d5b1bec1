/* The plain engine's loop: the network's events, each rank's own events, and messages.
 *
 * Source: EventQueue.cpp of the analytical network and Sys::try_register_event, which gather what a rank
 * registers for one tick under the network event of the first; CommonNetworkApi, CongestionUnawareNetworkApi
 * and CongestionAwareNetworkApi for messages. */
#include "sim/engine.h"
#include "sim/figures.h"
#include "sim/stream.h"

#include <inttypes.h>
#include <stdio.h>

#define HANDSHAKE_BYTES 8192u
#define TAG_HANDSHAKE   1000000000 /* added to a message's tag */

bool sim_fail(sim_engine *e, dse_status st, const char *fmt, ...)
{
    char text[sizeof e->err->text];
    va_list ap;

    if (e->status != DSE_OK)
        return false;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    e->status = dse_fail(e->err, st, "%s", text);
    return false;
}

sim_place sim_where(const sim_engine *e, uint32_t rank, uint32_t node)
{
    sim_place out;

    snprintf(out.text, sizeof out.text, "rank %" PRIu32 ", node %" PRIu64 " '%.100s'", rank,
             wl_node_id(e->w, rank, node), e->rank[rank].graph->graph->node[node].name);
    return out;
}

/* ---- scheduling ---------------------------------------------------------------------------- */

static void schedule(sim_engine *e, dse_time delay, sim_event_kind kind, uint32_t subject)
{
    if (e->now + delay < e->now)
        sim_fail(e, DSE_E_SIM, "time runs over: an event is due %" PRIu64 " ticks after tick %" PRIu64, delay,
                 e->now);
    else
        dse_queue_add(&e->queue, e->now + delay, (dse_event){(uint32_t)kind, subject});
}

typedef struct {
    dse_time at;
    uint32_t rank;
} batch_key;

static bool batch_has_key(const void *batches, uint32_t id, const void *key)
{
    const sim_batch *b = &((const sim_batch *)batches)[id];
    const batch_key *k = key;

    return b->at == k->at && b->rank == k->rank;
}

static uint32_t batch_hash(const batch_key *k)
{
    return (uint32_t)((k->at * 0x9e3779b97f4a7c15u + k->rank * 0xbf58476d1ce4e5b9u) >> 32);
}

/* The batch of this rank and tick; a new one is put into the network's queue. */
static uint32_t find_batch(sim_engine *e, uint32_t rank, dse_time delay)
{
    batch_key key = {e->now + delay, rank};
    uint32_t hash = batch_hash(&key), id;
    dse_idslot *slot;

    dse_idtable_reserve(&e->by_rank_tick);
    slot = dse_idtable_find(&e->by_rank_tick, hash, batch_has_key, e->batch, &key);
    if (slot->id != DSE_NONE)
        return slot->id;
    id = DSE_SLOT_TAKE(e->batch, e->cap_batches, e->n_batches, e->free_batch, sim_batch, events.head);
    e->batch[id] = (sim_batch){.at = key.at, .rank = rank, .events = DSE_LIST_EMPTY};
    dse_idtable_put(&e->by_rank_tick, slot, hash, id);
    schedule(e, delay, SIM_EV_BATCH, id);
    return id;
}

void sim_register(sim_engine *e, uint32_t rank, sim_rank_event_kind kind, uint32_t subject, uint64_t value,
                  dse_time delay)
{
    uint32_t batch, id = DSE_SLOT_TAKE(e->rank_event, e->cap_rank_events, e->n_rank_events,
                                       e->free_rank_event, sim_rank_event, next);

    e->rank_event[id] = (sim_rank_event){.value = value, .kind = (uint32_t)kind, .subject = subject};
    batch = find_batch(e, rank, delay);
    DSE_LIST_ADD(&e->batch[batch].events, e->rank_event, id, sim_rank_event, next);
}

/* ---- messages ------------------------------------------------------------------------------ */

static void call(sim_engine *e, const sim_call *c);

/* The workload's own messages and those of collectives have separate ranges of tags. */
typedef enum { TAG_NATIVE = 0, TAG_COLLECTIVE = SIM_TAG_SPAN } tag_kind;

/* Signed, as in the reference: a tag of 2^31 and more, as of a group numbered above 2147, is negative. */
static int32_t final_tag(uint32_t tag, tag_kind kind)
{
    return (int32_t)tag % (int32_t)SIM_TAG_SPAN + (int32_t)kind;
}

/* Without congestion a message takes the network's delay; with it, it goes from link to link. */
static void transmit(sim_engine *e, const sim_message_key *key, uint32_t message)
{
    if (!e->traffic) {
        schedule(e, net_delay(e->net, key->src, key->dst, key->size), SIM_EV_ARRIVAL, message);
        e->n_undercharged += !e->net->full_multi_hop && net_differ_in_several(e->net, key->src, key->dst);
    } else if (e->status == DSE_OK) {
        e->status = net_traffic_send(e->traffic, e->now, key->src, key->dst, key->size, message, e->err);
    }
}

static void post(sim_engine *e, const sim_message_key *key, bool send, sim_call c)
{
    uint32_t message = sim_messages_post(&e->messages, key, send, c);

    if (send)
        transmit(e, key, message);
    else if (e->messages.message[message].arrived)
        schedule(e, 0, SIM_EV_RECEIVED, message);
}

static bool check_message(sim_engine *e, uint32_t rank, const sim_message_key *key)
{
    if (key->src >= e->net->n_npus || key->dst >= e->net->n_npus)
        sim_fail(e, DSE_E_WORKLOAD,
                 "a message from rank %" PRIu32 " to rank %" PRIu32 ", but there are %" PRIu32 " ranks",
                 key->src, key->dst, e->net->n_npus);
    else if (key->src == key->dst)
        sim_fail(e, DSE_E_WORKLOAD, "rank %" PRIu32 " sends a message to itself", key->src);
    else if (!key->size)
        sim_fail(e, DSE_E_SIM,
                 "%s: a message of 0 bytes from rank %" PRIu32 " to rank %" PRIu32
                 "; a collective of so few bytes cannot be cut into that many pieces",
                 sim_where(e, rank, e->rank[rank].coll_node).text, key->src, key->dst);
    else if (e->set->rendezvous && key->size > INT32_MAX)
        sim_fail(e, DSE_E_SIM,
                 "a message of %" PRIu64 " bytes from rank %" PRIu32 " to rank %" PRIu32
                 "; under the rendezvous protocol the reference takes sizes as signed 32-bit, and loses it: "
                 "do without the protocol",
                 key->size, key->src, key->dst);
    return e->status == DSE_OK;
}

/* Under the rendezvous protocol a message is sent once the receiver's handshake has come, and received once
 * that handshake has been sent. */
static void postpone(sim_engine *e, uint32_t rank, const sim_message_key *key, bool send, sim_call c)
{
    sim_message_key shake = {key->tag + TAG_HANDSHAKE, key->dst, key->src, HANDSHAKE_BYTES};
    uint32_t id = DSE_SLOT_TAKE(e->postponed, e->cap_postponed, e->n_postponed, e->free_postponed,
                                sim_postponed, next_free);

    e->postponed[id] = (sim_postponed){.rank = rank, .key = *key, .call = c};
    c = (sim_call){send ? SIM_CALL_RENDEZVOUS_SEND : SIM_CALL_RENDEZVOUS_RECV, rank, id};
    post(e, &shake, !send, c);
}

/* Sends a message of the rank, or receives one. */
static void start_message(sim_engine *e, uint32_t rank, sim_message_key key, bool send, sim_call c)
{
    if (!check_message(e, rank, &key))
        return;
    if (e->set->rendezvous)
        postpone(e, rank, &key, send, c);
    else
        post(e, &key, send, c);
}

static void end_node_later(sim_engine *e, uint32_t rank, uint32_t node, dse_time delay)
{
    sim_register(e, rank, SIM_RE_NODE_DONE, node, 0, delay);
}

static void send_collective(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag)
{
    start_message(e, rank, (sim_message_key){final_tag(tag, TAG_COLLECTIVE), rank, peer, size}, true,
                  (sim_call){SIM_CALL_NOTHING, rank, 0});
}

static void receive_collective(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag,
                               sim_call c)
{
    start_message(e, rank, (sim_message_key){final_tag(tag, TAG_COLLECTIVE), peer, rank, size}, false, c);
}

void sim_message_native(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag, bool send,
                        sim_call c)
{
    int32_t t = final_tag(tag, TAG_NATIVE);

    start_message(e, rank,
                  send ? (sim_message_key){t, rank, peer, size} : (sim_message_key){t, peer, rank, size},
                  send, c);
}

static void exchange(sim_engine *e, uint32_t rank, uint32_t node)
{
    const wl_node *n = &e->rank[rank].graph->graph->node[node];
    const wl_p2p *p = &e->w->rank[rank].p2p[n->slot];
    int32_t tag = final_tag(p->tag, TAG_NATIVE);
    sim_call done = {SIM_CALL_NODE, rank, node};

    if (p->peer == rank || p->peer >= e->net->n_npus || !n->comm_size)
        sim_fail(e, DSE_E_WORKLOAD,
                 "%s: a message of %" PRIu64 " bytes between ranks %" PRIu32 " and %" PRIu32
                 " cannot be sent",
                 sim_where(e, rank, node).text, n->comm_size, rank, p->peer);
    else if (n->type == WL_NODE_SEND)
        start_message(e, rank, (sim_message_key){tag, rank, p->peer, n->comm_size}, true, done);
    else
        start_message(e, rank, (sim_message_key){tag, p->peer, rank, n->comm_size}, false, done);
}

static void resume(sim_engine *e, uint32_t id, bool send)
{
    sim_postponed p = e->postponed[id];

    DSE_SLOT_GIVE(e->postponed, id, e->free_postponed, next_free);
    post(e, &p.key, send, p.call);
}

static void call(sim_engine *e, const sim_call *c)
{
    switch ((sim_call_kind)c->kind) {
    case SIM_CALL_NOTHING: break;
    case SIM_CALL_STREAM: sim_stream_received(e, c->subject); break;
    case SIM_CALL_NODE: sim_node_done(e, c->rank, c->subject); break;
    case SIM_CALL_CUSTOM: sim_custom_node_done(e, c->rank, c->subject); break;
    case SIM_CALL_RENDEZVOUS_SEND: resume(e, c->subject, true); break;
    case SIM_CALL_RENDEZVOUS_RECV: resume(e, c->subject, false); break;
    }
}

static void message_arrives(sim_engine *e, uint32_t id)
{
    sim_call sent = e->messages.message[id].on_sent, received;

    /* Completing the send may post the receive: only a receive that was posted before counts as matched. */
    if (!e->messages.message[id].received) {
        call(e, &sent);
        e->messages.message[id].arrived = true;
        return;
    }
    received = e->messages.message[id].on_received;
    call(e, &sent);
    call(e, &received);
    sim_messages_drop(&e->messages, id);
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void run_rank_event(sim_engine *e, uint32_t rank, sim_rank_event ev)
{
    switch ((sim_rank_event_kind)ev.kind) {
    case SIM_RE_NODE_DONE: sim_node_done(e, rank, ev.subject); break;
    case SIM_RE_BUNDLE: sim_bundle_passed(e, rank, ev.subject, ev.value); break;
    case SIM_RE_CUSTOM: sim_custom_node_done(e, rank, ev.subject); break;
    case SIM_RE_BUS: sim_bus_event(e, rank, ev.subject, ev.value); break;
    case SIM_RE_REMOTE_NEXT: sim_remote_next(e, ev.subject); break;
    }
}

/* Events registered for this rank and tick while the batch runs still join it. */
void sim_run_batch(sim_engine *e, uint32_t id)
{
    batch_key key = {e->batch[id].at, e->batch[id].rank};

    for (uint32_t at = e->batch[id].events.head; at != DSE_NONE && e->status == DSE_OK;) {
        sim_rank_event ev = e->rank_event[at];
        uint32_t done = at;

        run_rank_event(e, key.rank, ev);
        at = e->rank_event[done].next;
        DSE_SLOT_GIVE(e->rank_event, done, e->free_rank_event, next);
    }
    dse_idtable_remove(&e->by_rank_tick,
                       dse_idtable_find(&e->by_rank_tick, batch_hash(&key), batch_has_key, e->batch, &key));
    DSE_SLOT_GIVE(e->batch, id, e->free_batch, events.head);
}

/* The reference's event queue starts after tick 0 and cannot run an event that is due then. */
static void refuse_tick_0(sim_engine *e, dse_event ev)
{
    const sim_batch *b = ev.kind == SIM_EV_BATCH ? &e->batch[ev.subject] : NULL;
    const sim_rank_event *re = b ? &e->rank_event[b->events.head] : NULL;

    if (re && re->kind == SIM_RE_NODE_DONE)
        sim_fail(e, DSE_E_SIM,
                 "%s lasts 0 ns at tick 0, where the simulator cannot end a node; give it more work",
                 sim_where(e, b->rank, re->subject).text);
    else if (b)
        sim_fail(e, DSE_E_SIM,
                 "rank %" PRIu32 " is due to act at tick 0, where the simulator cannot: give endpoint-delay "
                 "(on a shared bus L or o) a value above 0",
                 b->rank);
    else if (ev.kind == NET_EV_LINK_FREE)
        sim_fail(
            e, DSE_E_SIM,
            "the first message takes a link for less than 1 ns at tick 0, where the simulator cannot free "
            "it: make the message larger, or later");
    else
        sim_fail(e, DSE_E_SIM,
                 "a message takes no time and arrives at tick 0, where the simulator cannot end it: give the "
                 "network a latency");
}

static void run_hop(sim_engine *e, uint32_t transfer)
{
    uint32_t message;

    e->status = net_traffic_hop(e->traffic, e->now, transfer, &message, e->err);
    if (message != DSE_NONE)
        message_arrives(e, message);
}

static void run_loop(sim_engine *e)
{
    dse_event ev;
    bool first = true;

    while (e->status == DSE_OK && dse_queue_take(&e->queue, &e->now, &ev)) {
        if (first && e->now == 0) {
            refuse_tick_0(e, ev);
            return;
        }
        first = false;
        switch (ev.kind) {
        case NET_EV_HOP: run_hop(e, ev.subject); break;
        case NET_EV_LINK_FREE:
            e->status = net_traffic_free_link(e->traffic, e->now, ev.subject, e->err);
            break;
        case SIM_EV_BATCH: sim_run_batch(e, ev.subject); break;
        case SIM_EV_ARRIVAL: message_arrives(e, ev.subject); break;
        case SIM_EV_RECEIVED: {
            sim_call received = e->messages.message[ev.subject].on_received;

            sim_messages_drop(&e->messages, ev.subject);
            call(e, &received);
            break;
        }
        }
    }
}

/* The network is copied, because the state of the links outlives the run. */
static dse_status init_traffic(sim_engine *e)
{
    net_network *net = DSE_ARENA_NEW(e->arena, net_network, 1);
    net_graph *graph = DSE_ARENA_NEW(e->arena, net_graph, 1);
    dse_status st;

    e->traffic = DSE_ARENA_NEW(e->arena, net_traffic, 1);
    *net = *e->net;
    st = net_graph_init(graph, net, e->arena, e->err);
    net_traffic_init(e->traffic, graph, &e->queue, e->arena);
    return st;
}

void sim_engine_init(sim_engine *e)
{
    uint32_t max_phases = 2 * e->net->n_dims;

    dse_queue_init(&e->queue);
    sim_messages_init(&e->messages);
    e->free_rank_event = e->free_batch = e->free_stream = e->free_postponed = DSE_NONE;
    e->stream_stride = sizeof(sim_stream) + max_phases * sizeof(sim_phase);
}

void sim_engine_free(sim_engine *e)
{
    dse_queue_free(&e->queue);
    sim_messages_free(&e->messages);
    if (e->traffic)
        net_traffic_free(e->traffic);
    dse_idtable_free(&e->by_rank_tick);
    dse_free(e->rank_event);
    dse_free(e->batch);
    dse_free(e->streams);
    dse_free(e->postponed);
    for (uint32_t r = 0; e->rank && r < e->w->n_ranks; r++)
        sim_bus_free(e, r);
}

const sim_backend sim_plain_backend = {
    .end_node = end_node_later,
    .start_collective = sim_coll_start,
    .start_message = exchange,
    .collective_ended = sim_rank_collective_ended,
    .send = send_collective,
    .receive = receive_collective,
};

dse_status sim_engine_run(sim_engine *e)
{
    dse_status st;

    sim_engine_init(e);
    sim_remote_init(e);
    st = sim_logicals_init(e->set, e->net, e->logical, e->err);
    if (st == DSE_OK && e->net->congestion)
        st = init_traffic(e);
    if (st == DSE_OK)
        sim_ranks_init(e);
    for (uint32_t r = 0; st == DSE_OK && r < e->w->n_ranks; r++) {
        sim_rank_start(e, r);
        st = e->status;
    }
    if (st == DSE_OK) {
        run_loop(e);
        st = e->status;
    }
    return st == DSE_OK && e->n_finished < e->w->n_ranks ? sim_deadlock(e) : st;
}

dse_status sim_run_plain(const sim_settings *settings, const net_network *net, const wl_workload *w,
                         dse_arena *a, sim_result *out, trace_ticks *record, dse_error *err)
{
    sim_engine e = {
        .backend = &sim_plain_backend, .set = settings, .net = net, .w = w, .arena = a, .err = err};
    dse_status st = sim_engine_run(&e);

    if (st == DSE_OK && record)
        sim_fill_record(&e, NULL, record);
    if (st == DSE_OK)
        sim_fill_result(&e, NULL, out);
    sim_engine_free(&e);
    return st;
}
