/* net_routes -- messages on an otherwise idle network: the path of each, its time alone, and its time when
 * all are sent at tick 0, in their order, and queue for the links that they share. */
#ifndef DSE_NETWORK_ROUTES_H
#define DSE_NETWORK_ROUTES_H

#include "network/graph.h"

/* One link of one message's route. Times are those of all messages together. */
typedef struct {
    uint32_t message;
    uint32_t slot;         /* the link */
    dse_time asked, taken; /* it waited from asked to taken */
    dse_time there;        /* the whole message is at the other end */
    uint32_t behind;       /* the message that had the link until it was taken; DSE_NONE: it did not wait */
} net_route_hop;

typedef struct {
    uint32_t src, dst;
    uint32_t first_hop, n_hops; /* of net_routes.hop */
    dse_time alone, together;   /* ticks from tick 0 to its arrival */
    dse_time waited;            /* of `together`, for links that other messages had */
    dse_time unaware;           /* net_delay: what the model without congestion says */
} net_route;

/* A link that several messages take. */
typedef struct {
    uint32_t slot, n_messages;
    uint32_t most_waiting; /* at one time */
    dse_time busy;         /* ticks */
} net_shared_link;

typedef struct {
    uint64_t bytes; /* of each message */
    uint32_t n, n_hops, n_shared;
    net_route *route; /* n, as given */
    net_route_hop *hop;
    net_shared_link *shared; /* busiest first, ties by slot */
} net_routes;

/* Messages of `bytes` > 0 from pair[2 i] to pair[2 i + 1], which are NPUs, and not the same. Everything
 * belongs to the arena. DSE_E_SIM if simulated time overflows (2^63 ticks for one message alone). */
dse_status net_routes_send(const net_graph *g, const uint32_t *pair, uint32_t n, uint64_t bytes, dse_arena *a,
                           net_routes *out, dse_error *err);

#endif
