#include "network/traffic.h"

#include <inttypes.h>

void net_traffic_init(net_traffic *t, const net_graph *g, dse_queue *queue, dse_arena *a)
{
    *t = (net_traffic){.graph = g, .queue = queue, .free_transfer = DSE_NONE};
    t->link = DSE_ARENA_NEW(a, net_link_state, g->n_slots);
    for (uint32_t i = 0; i < g->n_slots; i++)
        t->link[i].waiting = DSE_LIST_EMPTY;
}

void net_traffic_free(net_traffic *t)
{
    dse_free(t->transfer);
    t->transfer = NULL;
}

static dse_status schedule(net_traffic *t, dse_time now, dse_time delay, net_event_kind kind,
                           uint32_t subject, dse_error *err)
{
    if (now + delay < now)
        return dse_fail(err, DSE_E_SIM,
                        "time runs over: a message takes a link for %" PRIu64 " ticks from tick %" PRIu64
                        " on",
                        delay, now);
    dse_queue_add(t->queue, now + delay, (dse_event){(uint32_t)kind, subject});
    return DSE_OK;
}

/* The link is free: the transfer takes it. The arrival is scheduled before the release, as in the reference;
 * that decides ties. */
static dse_status take_link(net_traffic *t, dse_time now, uint32_t id, dse_error *err)
{
    const net_transfer *transfer = &t->transfer[id];
    net_link_state *link = &t->link[transfer->slot];
    dse_status st = schedule(t, now, transfer->delay, NET_EV_HOP, id, err);

    link->taken = true;
    link->n_messages++;
    link->bytes += transfer->bytes;
    link->busy += transfer->busy;
    t->n_hops++;
    return st == DSE_OK ? schedule(t, now, transfer->busy, NET_EV_LINK_FREE, transfer->slot, err) : st;
}

/* A leg stays in one dimension, so all its links have the same delay. */
static void begin_leg(const net_traffic *t, net_transfer *transfer, uint32_t device)
{
    uint32_t slot = net_graph_leg(t->graph, device, transfer->dst, &transfer->leg);
    const net_dimension *d = net_graph_dimension(t->graph, slot);

    transfer->slot = slot;
    transfer->leg--;
    transfer->busy = net_link_busy(d, transfer->bytes);
    transfer->delay = net_link_delay(d, transfer->bytes);
}

static dse_status enter_link(net_traffic *t, dse_time now, uint32_t id, dse_error *err)
{
    net_link_state *link = &t->link[t->transfer[id].slot];

    if (!link->taken)
        return take_link(t, now, id, err);
    DSE_LIST_ADD(&link->waiting, t->transfer, id, net_transfer, next);
    return DSE_OK;
}

dse_status net_traffic_send(net_traffic *t, dse_time now, uint32_t src, uint32_t dst, uint64_t bytes,
                            uint32_t owner, dse_error *err)
{
    uint32_t id =
        DSE_SLOT_TAKE(t->transfer, t->cap_transfers, t->n_transfers, t->free_transfer, net_transfer, next);

    t->transfer[id] = (net_transfer){.bytes = bytes, .dst = dst, .owner = owner, .next = DSE_NONE};
    begin_leg(t, &t->transfer[id], src);
    return enter_link(t, now, id, err);
}

dse_status net_traffic_hop(net_traffic *t, dse_time now, uint32_t id, uint32_t *owner, dse_error *err)
{
    net_transfer *transfer = &t->transfer[id];
    uint32_t at = t->graph->link[transfer->slot].to;

    *owner = DSE_NONE;
    if (at == transfer->dst) {
        *owner = transfer->owner;
        DSE_SLOT_GIVE(t->transfer, id, t->free_transfer, next);
        return DSE_OK;
    }
    if (transfer->leg) {
        transfer->leg--;
        transfer->slot = net_graph_straight(t->graph, transfer->slot);
    } else {
        begin_leg(t, transfer, at);
    }
    return enter_link(t, now, id, err);
}

dse_status net_traffic_free_link(net_traffic *t, dse_time now, uint32_t slot, dse_error *err)
{
    net_link_state *link = &t->link[slot];
    uint32_t id = link->waiting.head;

    link->taken = false;
    if (id == DSE_NONE)
        return DSE_OK;
    DSE_LIST_DROP_HEAD(&link->waiting, t->transfer, next);
    return take_link(t, now, id, err);
}
