/* net_traffic -- messages on the links of a network: the congestion-aware model.
 *
 * Store and forward, after Link.cpp of the reference's congestion-aware backend (599a047): a message takes a
 * link for itself; it is whole at the other end after trunc(latency + bytes / bandwidth) ticks, and there it
 * asks for the next link of its route; the link is free again after trunc(bytes / bandwidth). A message that
 * finds the link taken waits, first come first served.
 *
 * The caller owns the queue of events and runs the loop; events of the kinds below go to net_traffic_hop and
 * net_traffic_free_link. Transfers live in one array whose slots are reused, so that no message needs an
 * allocation. */
#ifndef DSE_NETWORK_TRAFFIC_H
#define DSE_NETWORK_TRAFFIC_H

#include "base/queue.h"
#include "network/graph.h"

/* Kinds of events; the caller's own begin at NET_N_EVENTS. */
typedef enum {
    NET_EV_HOP,       /* a message is at the end of a link: subject is the transfer */
    NET_EV_LINK_FREE, /* subject is the slot of the link */
    NET_N_EVENTS
} net_event_kind;

typedef struct {
    uint64_t bytes;
    dse_time busy, delay; /* ticks for which a link of this leg is taken, and until the message is across */
    uint32_t dst;
    uint32_t slot;  /* the link that it takes, or waits for */
    uint32_t leg;   /* links after it through the same port */
    uint32_t owner; /* the caller's */
    uint32_t next;  /* behind it in the queue of the link, or in the free list */
} net_transfer;

typedef struct {
    uint64_t bytes;           /* of all messages that took it */
    dse_time busy;            /* ticks for which they take it */
    dse_list waiting;         /* transfers */
    uint64_t n_messages : 63; /* that took it */
    uint64_t taken : 1;
} net_link_state;
_Static_assert(sizeof(net_link_state) == 32, "two in a line of cache: measure before growing it");

typedef struct {
    const net_graph *graph;
    dse_queue *queue;
    net_link_state *link; /* graph->n_slots */
    net_transfer *transfer;
    size_t n_transfers, cap_transfers;
    uint32_t free_transfer;
    uint64_t n_hops; /* links taken so far, by all messages */
} net_traffic;

/* The graph and the queue outlive it. The state of the links belongs to the arena. */
void net_traffic_init(net_traffic *t, const net_graph *g, dse_queue *queue, dse_arena *a);
void net_traffic_free(net_traffic *t);

/* Sends a message; src != dst, bytes > 0. DSE_E_SIM if simulated time overflows 64 bits. */
dse_status net_traffic_send(net_traffic *t, dse_time now, uint32_t src, uint32_t dst, uint64_t bytes,
                            uint32_t owner, dse_error *err);

/* NET_EV_HOP. *owner is the message's owner if it has arrived at its destination; else DSE_NONE, and it goes
 * on. */
dse_status net_traffic_hop(net_traffic *t, dse_time now, uint32_t transfer, uint32_t *owner, dse_error *err);

/* NET_EV_LINK_FREE. */
dse_status net_traffic_free_link(net_traffic *t, dse_time now, uint32_t slot, dse_error *err);

#endif
