#include "network/load.h"

#include <stdio.h>
#include <stdlib.h>

void net_link_name(const net_graph *g, uint32_t slot, char *out, size_t n)
{
    char from[NET_DEVICE_NAME], to[NET_DEVICE_NAME];

    net_device_name(g, g->link[slot].from, from, sizeof from);
    net_device_name(g, g->link[slot].to, to, sizeof to);
    snprintf(out, n, "%s -> %s", from, to);
}

static bool has_link(const net_graph *g, uint32_t slot) { return g->link[slot].to != DSE_NONE; }

static void add_link(net_load *l, uint32_t slot)
{
    const net_link_state *link = &l->link[slot];
    net_dim_load *d = &l->dim[l->graph->link[slot].dim];
    double util = net_load_util(l, slot);

    d->n_links++;
    if (!link->n_messages)
        return;
    l->n_used++;
    d->n_used++;
    d->bytes += link->bytes;
    d->n_messages += link->n_messages;
    d->mean_util += util; /* the sum, so far */
    d->max_util = util > d->max_util ? util : d->max_util;
    if (l->busiest == DSE_NONE || link->busy > l->link[l->busiest].busy) {
        l->busiest = slot;
        l->n_as_busy = 0;
    } else {
        l->n_as_busy += link->busy == l->link[l->busiest].busy;
    }
}

const net_load *net_load_of(const net_traffic *t, dse_time end, dse_arena *a)
{
    net_load *l = DSE_ARENA_NEW(a, net_load, 1);

    *l = (net_load){.graph = t->graph, .link = t->link, .end = end, .busiest = DSE_NONE};
    for (uint32_t slot = 0; slot < l->graph->n_slots; slot++)
        if (has_link(l->graph, slot))
            add_link(l, slot);
    for (uint32_t i = 0; i < l->graph->net->n_dims; i++) {
        net_dim_load *d = &l->dim[i];

        d->mean_util /= d->n_links;     /* every dimension has links */
        if (d->mean_util > d->max_util) /* by rounding */
            d->mean_util = d->max_util;
    }
    if (l->busiest != DSE_NONE)
        net_link_name(l->graph, l->busiest, l->busiest_name, sizeof l->busiest_name);
    return l;
}

double net_load_util(const net_load *l, uint32_t slot)
{
    return l->link[slot].busy ? (double)l->link[slot].busy / (double)l->end : 0;
}

typedef struct {
    dse_time busy;
    uint32_t slot;
    bool used;
} sort_key;

static int compare(const void *x, const void *y)
{
    const sort_key *a = x, *b = y;

    if (a->used != b->used)
        return a->used ? -1 : 1;
    if (a->busy != b->busy)
        return a->busy > b->busy ? -1 : 1;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

const uint32_t *net_load_sort(const net_load *l, dse_arena *a)
{
    sort_key *key = DSE_ARENA_NEW(a, sort_key, l->graph->n_links);
    uint32_t *sorted = DSE_ARENA_NEW(a, uint32_t, l->graph->n_links), n = 0;

    for (uint32_t slot = 0; slot < l->graph->n_slots; slot++)
        if (has_link(l->graph, slot))
            key[n++] = (sort_key){l->link[slot].busy, slot, l->link[slot].n_messages > 0};
    qsort(key, n, sizeof *key, compare);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = key[i].slot;
    return sorted;
}
