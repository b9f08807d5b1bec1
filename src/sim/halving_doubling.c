/* Halving-doubling: log2(n) exchanges with partners at distance 1, 2, 4, ... of halves of what is left
 * (reduce-scatter), or n/2, n/4, ... of doubling pieces (all-gather), or both (all-reduce).
 *
 * Made for powers of two. With another n the reference computes on: distances are truncated, partners do not
 * meet, and most collectives never end, which is detected as the deadlock it is. It has no all-to-all.
 * Source: system/collective/HalvingDoubling.cc of the reference. */
#include "sim/collective.h"

#include <math.h>

static const char *plan_halving_doubling(const sim_implementation *how, bool dim_last, uint32_t tree,
                                         sim_phase *p)
{
    double levels = log2(p->ring.n);

    (void)how, (void)dim_last, (void)tree;
    p->width = 1;
    p->cycle = (uint32_t)(levels - 1);
    p->steps = (uint32_t)levels;
    p->final_bytes = p->bytes;
    switch ((sim_collective)p->coll) {
    case SIM_ALL_REDUCE: p->steps = (uint32_t)(2 * levels); break;
    case SIM_ALL_GATHER: p->final_bytes = p->bytes * p->ring.n; break;
    case SIM_REDUCE_SCATTER: p->final_bytes = p->bytes / p->ring.n; break;
    default: return "halvingDoubling has no all-to-all; use ring or direct for it";
    }
    return NULL;
}

/* The distance and size of the kth exchange, by going through all before it: there are few. */
static void halving_doubling_packet(const sim_phase *p, uint32_t k, sim_packet *out)
{
    bool gather = p->coll == SIM_ALL_GATHER;
    uint32_t n = p->ring.n, partner;
    uint64_t distance = gather ? n / 2 : 1, bytes = gather ? p->bytes : p->bytes / 2;
    double factor = gather ? 0.5 : 2.0;

    for (uint32_t i = 0; i < k; i++) {
        distance = (uint64_t)((double)distance * factor);
        bytes = (uint64_t)((double)bytes / factor);
        if (distance == n && p->coll == SIM_ALL_REDUCE) { /* the turning point: all the way back */
            factor = 0.5;
            distance = (uint64_t)((double)distance * factor);
            bytes = (uint64_t)((double)bytes / factor);
        }
    }
    partner =
        sim_ring_peer(&p->ring, (uint32_t)(distance % n), !distance || p->ring.index / distance % 2 == 0);
    *out = (sim_packet){.to = partner, .from = partner, .bytes = bytes};
}

const sim_algorithm sim_algorithm_halving_doubling = {
    .name = "halvingDoubling",
    .one_name = "oneHalvingDoubling",
    .power_of_two = true,
    .all_alike = true,
    .summary = "log2(n) exchanges with ever farther partners; powers of two only",
    .plan = plan_halving_doubling,
    .start = sim_steps_start,
    .ready = sim_steps_ready,
    .receive = sim_steps_receive,
    .packet = halving_doubling_packet,
};
