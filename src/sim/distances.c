#include "sim/distances.h"

#include <string.h>

void sim_distances_init(sim_distances *d, const net_network *net) { *d = (sim_distances){.net = net}; }

void sim_distances_free(sim_distances *d)
{
    dse_free(d->pattern);
    dse_free(d->distance);
    dse_idtable_free(&d->by_pairs);
}

static uint32_t peer_of(const sim_pairs *p, uint32_t rank)
{
    uint32_t place, to;

    if (p->pairing == SIM_PAIRS_OFFSET)
        return rank + p->distance;
    place = rank / p->stride % p->n;
    to = p->pairing == SIM_PAIRS_RING ? (place + p->distance) % p->n : place ^ p->distance;
    return rank + (to - place) * p->stride;
}

/* Links between two NPUs, dimension by dimension. Delays are a function of them (network.h; traffic.h, as a
 * leg stays in one dimension). */
typedef struct {
    uint32_t hops[NET_MAX_DIMS];
} route;

static route route_of(const net_network *net, uint32_t src, uint32_t dst)
{
    route r = {{0}};

    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        uint32_t a = net_place(d, src), b = net_place(d, dst);

        r.hops[i] = a == b ? 0 : d->topology->hops(&d->shape, a, b);
    }
    return r;
}

static dse_time least_delay(const net_network *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    dse_time delay = 0;
    route r;

    if (!net->congestion)
        return net_delay(net, src, dst, bytes);
    r = route_of(net, src, dst);
    for (uint32_t i = 0; i < net->n_dims; i++)
        delay += r.hops[i] * net_link_delay(&net->dim[i], bytes);
    return delay;
}

/* ---- patterns ------------------------------------------------------------------------------ */

/* Counts one more pair of this route, among the distances from `first` on. */
static void count_pair(sim_distances *d, size_t first, uint32_t src, uint32_t dst)
{
    route r = route_of(d->net, src, dst);

    for (size_t i = first; i < d->n_distances; i++) {
        route known = route_of(d->net, d->distance[i].src, d->distance[i].dst);

        if (!memcmp(&known, &r, sizeof r)) {
            d->distance[i].n++;
            return;
        }
    }
    DSE_GROW(d->distance, d->cap_distances, d->n_distances + 1);
    d->distance[d->n_distances++] = (sim_distance){src, dst, 1};
}

static bool has_pairs(const void *patterns, uint32_t id, const void *pairs)
{
    return !memcmp(&((const sim_pattern *)patterns)[id].pairs, pairs, sizeof(sim_pairs));
}

static const sim_pattern *find_pattern(sim_distances *d, const sim_pairs *pairs)
{
    size_t first = d->n_distances;
    uint32_t id = dse_idtable_intern(&d->by_pairs, (uint32_t)dse_hash_bytes(pairs, sizeof *pairs), has_pairs,
                                     d->pattern, pairs, (uint32_t)d->n_patterns);

    if (id < d->n_patterns)
        return &d->pattern[id];
    DSE_GROW(d->pattern, d->cap_patterns, d->n_patterns + 1);
    for (uint32_t i = 0; i < pairs->senders.count; i++) {
        const sim_ranks *s = &pairs->senders;
        uint32_t rank = s->first + i / s->piece * s->period + i % s->piece;

        count_pair(d, first, rank, peer_of(pairs, rank));
    }
    d->pattern[d->n_patterns] = (sim_pattern){*pairs, (uint32_t)first, (uint32_t)(d->n_distances - first)};
    return &d->pattern[d->n_patterns++];
}

sim_sum sim_distances_sum(sim_distances *d, const sim_pairs *pairs, uint64_t bytes)
{
    const sim_pattern *p = find_pattern(d, pairs);
    sim_sum sum = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        const sim_distance *k = &d->distance[p->first + i];

        sum += (sim_sum)least_delay(d->net, k->src, k->dst, bytes) * k->n;
    }
    return sum;
}
