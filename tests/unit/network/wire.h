/* One network with congestion, its devices and links, and messages on them.
 *
 *   wire_begin(); wire_dimension(...); wire_finish(); wire_send(...); wire_run(); ...; wire_end(); */
#ifndef UNIT_NETWORK_WIRE_H
#define UNIT_NETWORK_WIRE_H

#include "network/traffic.h"
#include "unit/network/shape.h"

#define WIRE_MAX_MESSAGES 1024
#define BYTE_PER_NS       (1953125.0 / 2097152) /* 10^9 / 2^30 GiB/s: has an exact double */
#define MIB               (1u << 20)

enum { WIRE_EV_SEND = NET_N_EVENTS }; /* subject is the message */

typedef struct {
    uint32_t src, dst;
    uint64_t bytes;
    dse_time sent, arrived;
    uint32_t arrivals;
} wire_message;

static struct {
    net_network net;
    dse_arena arena;
    dse_error err;
    net_graph graph;
    dse_queue queue;
    net_traffic traffic;
    dse_time now; /* after wire_run: tick of the last event, when the last link was freed */
    uint32_t n_messages;
    wire_message message[WIRE_MAX_MESSAGES];
} wire;

static inline void wire_begin(void)
{
    memset(&wire, 0, sizeof wire);
    wire.err = (dse_error)DSE_ERROR_INIT;
    wire.net.congestion = true;
    dse_arena_init(&wire.arena);
    dse_queue_init(&wire.queue);
}

static inline void wire_dimension(const char *topology, net_shape shape, double gib_per_s, double latency_ns)
{
    wire.net.dim[wire.net.n_dims++] = (net_dimension){.topology = net_topology_find(topology),
                                                      .shape = shape,
                                                      .gib_per_s = gib_per_s,
                                                      .latency_ns = latency_ns};
}

static inline void wire_finish(void)
{
    assert_ok(net_network_finish(&wire.net, &wire.err), &wire.err);
    assert_ok(net_graph_init(&wire.graph, &wire.net, &wire.arena, &wire.err), &wire.err);
    net_traffic_init(&wire.traffic, &wire.graph, &wire.queue, &wire.arena);
}

static inline void wire_end(void)
{
    net_traffic_free(&wire.traffic);
    dse_queue_free(&wire.queue);
    dse_arena_free(&wire.arena);
}

/* One dimension at a byte per ns. */
static inline void wire_simple(const char *topology, net_shape shape, double latency_ns)
{
    wire_begin();
    wire_dimension(topology, shape, BYTE_PER_NS, latency_ns);
    wire_finish();
}

static inline net_shape wire_random_shape(const net_topology *t, uint64_t *seed)
{
    uint32_t a = 1 + (uint32_t)(unit_random(seed) % 4), b = 1 + (uint32_t)(unit_random(seed) % 3),
             c = 1 + (uint32_t)(unit_random(seed) % 2);

    if (t->power_of_two)
        a = 2u << unit_random(seed) % 2;
    return shape_of(t->name, a + (a == 1), b, c, "");
}

/* One to three dimensions of random topologies, sizes, bandwidths and, whole or not, latencies. */
static inline void wire_random(uint64_t *seed, bool whole)
{
    size_t n;
    const net_topology *rows = net_topologies(&n);
    uint32_t dims = 1 + (uint32_t)(unit_random(seed) % 3);

    wire_begin();
    for (uint32_t i = 0; i < dims; i++) {
        const net_topology *t = &rows[unit_random(seed) % n];
        double gib = (double)(1 + unit_random(seed) % 4000) / 8,
               latency = (double)(unit_random(seed) % 2000) / (whole ? 1 : 8);

        wire_dimension(t->name, wire_random_shape(t, seed), gib, latency);
    }
    wire_finish();
}

/* The devices from src to dst. */
static inline uint32_t wire_route(uint32_t src, uint32_t dst, uint32_t at[SHAPE_MAX_ROUTE])
{
    uint32_t n = 1;

    at[0] = src;
    for (; at[n - 1] != dst; n++) {
        uint32_t slot = net_graph_next(&wire.graph, at[n - 1], dst);

        assert_true(n < SHAPE_MAX_ROUTE && slot < wire.graph.n_slots);
        assert_int_equal(wire.graph.link[slot].from, at[n - 1]);
        at[n] = wire.graph.link[slot].to;
        assert_true(at[n] < wire.graph.n_devices);
    }
    return n;
}

static inline const char *wire_text(uint32_t src, uint32_t dst)
{
    uint32_t at[SHAPE_MAX_ROUTE];

    return shape_text(at, wire_route(src, dst, at));
}

/* The slot of the link from one device to another; DSE_NONE: there is none. Two would be a mistake. */
static inline uint32_t wire_link(uint32_t from, uint32_t to)
{
    uint32_t found = DSE_NONE;

    for (uint32_t slot = 0; slot < wire.graph.n_slots; slot++) {
        if (wire.graph.link[slot].from != from || wire.graph.link[slot].to != to)
            continue;
        assert_int_equal(found, DSE_NONE);
        found = slot;
    }
    return found;
}

/* ---- messages ------------------------------------------------------------------------------ */

/* At tick 0 messages are sent at once, in the order of the calls; later ones when their tick comes. */
static inline uint32_t wire_send(dse_time at, uint32_t src, uint32_t dst, uint64_t bytes)
{
    uint32_t id = wire.n_messages++;

    assert_true(id < WIRE_MAX_MESSAGES);
    wire.message[id] = (wire_message){.src = src, .dst = dst, .bytes = bytes, .sent = at};
    if (at)
        dse_queue_add(&wire.queue, at, (dse_event){WIRE_EV_SEND, id});
    else
        assert_ok(net_traffic_send(&wire.traffic, 0, src, dst, bytes, id, &wire.err), &wire.err);
    return id;
}

static inline void wire_hop(uint32_t transfer)
{
    uint32_t id;

    assert_ok(net_traffic_hop(&wire.traffic, wire.now, transfer, &id, &wire.err), &wire.err);
    if (id == DSE_NONE)
        return;
    assert_true(id < wire.n_messages);
    wire.message[id].arrivals++;
    wire.message[id].arrived = wire.now;
}

static inline dse_status wire_event(dse_event ev)
{
    const wire_message *m;

    if (ev.kind == NET_EV_LINK_FREE)
        return net_traffic_free_link(&wire.traffic, wire.now, ev.subject, &wire.err);
    m = &wire.message[ev.subject];
    return net_traffic_send(&wire.traffic, wire.now, m->src, m->dst, m->bytes, ev.subject, &wire.err);
}

/* Until nothing is under way. Time must not run backward, and every message must arrive, once. */
static inline void wire_run(void)
{
    dse_time at;
    dse_event ev;

    while (dse_queue_take(&wire.queue, &at, &ev)) {
        assert_true(at >= wire.now);
        wire.now = at;
        if (ev.kind == NET_EV_HOP)
            wire_hop(ev.subject);
        else
            assert_ok(wire_event(ev), &wire.err);
    }
    for (uint32_t i = 0; i < wire.n_messages; i++)
        assert_int_equal(wire.message[i].arrivals, 1);
}

#define assert_arrival(id, tick) assert_u64(wire.message[id].arrived, (tick))

#endif
