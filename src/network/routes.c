#include "network/routes.h"

#include "network/traffic.h"

#include <inttypes.h>
#include <stdlib.h>

#define TIME_ENDS 9223372036854775808.0 /* 2^63 */

/* ---- routes -------------------------------------------------------------------------------- */

/* Appends the hops of one message. Its time alone is added up in dse_time, which could overflow beyond
 * 2^63. */
static dse_status find_route(const net_graph *g, uint32_t message, net_routes *r, dse_error *err)
{
    net_route *route = &r->route[message];
    double ns = 0;

    route->first_hop = r->n_hops;
    for (uint32_t at = route->src; at != route->dst;) {
        uint32_t slot = net_graph_next(g, at, route->dst);
        const net_dimension *d = net_graph_dimension(g, slot);

        r->hop[r->n_hops++] = (net_route_hop){.message = message, .slot = slot, .behind = DSE_NONE};
        route->alone += net_link_delay(d, r->bytes);
        ns += d->latency_ns + (double)r->bytes / d->bytes_per_ns;
        at = g->link[slot].to;
    }
    route->n_hops = r->n_hops - route->first_hop;
    route->unaware = net_delay(g->net, route->src, route->dst, r->bytes);
    if (ns < TIME_ENDS)
        return DSE_OK;
    return dse_fail(err, DSE_E_SIM,
                    "a message of %" PRIu64 " bytes from NPU %" PRIu32 " to %" PRIu32
                    " takes %.3g ns; time ends at 2^63 ns",
                    r->bytes, route->src, route->dst, ns);
}

static dse_status find_routes(const net_graph *g, const uint32_t *pair, dse_arena *a, net_routes *r,
                              dse_error *err)
{
    uint64_t n_hops = 0;
    dse_status st = DSE_OK;

    for (uint32_t i = 0; i < r->n; i++)
        n_hops += net_graph_hops(g, pair[(size_t)2 * i], pair[(size_t)2 * i + 1]);
    r->route = DSE_ARENA_NEW(a, net_route, r->n);
    r->hop = DSE_ARENA_NEW(a, net_route_hop, n_hops);
    for (uint32_t i = 0; st == DSE_OK && i < r->n; i++) {
        r->route[i] = (net_route){.src = pair[(size_t)2 * i], .dst = pair[(size_t)2 * i + 1]};
        st = find_route(g, i, r, err);
    }
    return st;
}

/* ---- all together -------------------------------------------------------------------------- */

/* A message has reached the end of its next link. It took the link one delay ago: nothing delays it on the
 * way. */
static void arrive(const net_graph *g, net_routes *r, uint32_t message, uint32_t *done, dse_time now)
{
    net_route *route = &r->route[message];
    net_route_hop *hop = &r->hop[route->first_hop + done[message]];

    hop->asked = done[message] ? hop[-1].there : 0;
    hop->there = now;
    hop->taken = now - net_link_delay(net_graph_dimension(g, hop->slot), r->bytes);
    route->waited += hop->taken - hop->asked;
    route->together = now;
    done[message]++;
}

static dse_status run(net_traffic *t, const net_graph *g, net_routes *r, uint32_t *done, dse_error *err)
{
    dse_status st = DSE_OK;
    dse_event e;
    dse_time now;

    for (uint32_t i = 0; st == DSE_OK && i < r->n; i++)
        st = net_traffic_send(t, 0, r->route[i].src, r->route[i].dst, r->bytes, i, err);
    while (st == DSE_OK && dse_queue_take(t->queue, &now, &e)) {
        uint32_t owner;

        if (e.kind == NET_EV_LINK_FREE) {
            st = net_traffic_free_link(t, now, e.subject, err);
            continue;
        }
        arrive(g, r, t->transfer[e.subject].owner, done, now);
        st = net_traffic_hop(t, now, e.subject, &owner, err);
    }
    return st;
}

/* ---- shared links -------------------------------------------------------------------------- */

static int by_link_and_time(const void *x, const void *y)
{
    const net_route_hop *a = *(const net_route_hop *const *)x, *b = *(const net_route_hop *const *)y;

    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    if (a->taken != b->taken)
        return a->taken < b->taken ? -1 : 1;
    return a->asked != b->asked ? (a->asked < b->asked ? -1 : 1)
                                : (a->message > b->message) - (a->message < b->message);
}

static int busiest_first(const void *x, const void *y)
{
    const net_shared_link *a = x, *b = y;

    if (a->busy != b->busy)
        return a->busy > b->busy ? -1 : 1;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

/* Fills in, for the hops over one link in the order in which they took it, which message each waited for, and
 * how many waited at once. */
static void measure_sharing(const net_graph *g, net_route_hop *const *hop, uint32_t n, uint64_t bytes,
                            net_shared_link *out)
{
    *out = (net_shared_link){.slot = hop[0]->slot,
                             .n_messages = n,
                             .busy = n * net_link_busy(net_graph_dimension(g, hop[0]->slot), bytes)};
    for (uint32_t i = 0, asked = 0; i < n; i++) {
        if (hop[i]->taken > hop[i]->asked)
            hop[i]->behind = hop[i - 1]->message;
        while (asked < n && hop[asked]->asked < hop[i]->taken)
            asked++;
        if (asked > i && asked - i > out->most_waiting)
            out->most_waiting = asked - i;
    }
}

static void find_shared(const net_graph *g, dse_arena *a, net_routes *r)
{
    net_route_hop **hop = DSE_ARENA_NEW(a, net_route_hop *, r->n_hops);

    r->shared = DSE_ARENA_NEW(a, net_shared_link, r->n_hops / 2); /* at least two messages each */
    for (uint32_t i = 0; i < r->n_hops; i++)
        hop[i] = &r->hop[i];
    qsort(hop, r->n_hops, sizeof(net_route_hop *), by_link_and_time);
    for (uint32_t i = 0, n; i < r->n_hops; i += n) {
        for (n = 1; i + n < r->n_hops && hop[i + n]->slot == hop[i]->slot;)
            n++;
        if (n > 1)
            measure_sharing(g, &hop[i], n, r->bytes, &r->shared[r->n_shared++]);
    }
    qsort(r->shared, r->n_shared, sizeof *r->shared, busiest_first);
}

dse_status net_routes_send(const net_graph *g, const uint32_t *pair, uint32_t n, uint64_t bytes, dse_arena *a,
                           net_routes *out, dse_error *err)
{
    uint32_t *done = DSE_ARENA_NEW(a, uint32_t, n); /* hops of each message */
    net_traffic traffic;
    dse_queue queue;
    dse_status st;

    *out = (net_routes){.bytes = bytes, .n = n};
    if ((st = find_routes(g, pair, a, out, err)) != DSE_OK)
        return st;
    dse_queue_init(&queue);
    net_traffic_init(&traffic, g, &queue, a);
    st = run(&traffic, g, out, done, err);
    net_traffic_free(&traffic);
    dse_queue_free(&queue);
    if (st == DSE_OK)
        find_shared(g, a, out);
    return st;
}
