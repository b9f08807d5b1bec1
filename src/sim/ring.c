/* Ring: every rank sends to the next and receives from the one before, step after step.
 *
 * All-reduce takes 2(n-1) steps of 1/n of the data, the first n-1 of which end with a reduction;
 * reduce-scatter and all-gather n-1; all-to-all is run as n(n-1)/2 such steps of 1/n. The endpoint delay is
 * paid before the first step and after each. Source: system/collective/Ring.cc of the reference. */
#include "sim/collective.h"

#define MAX_ALL_TO_ALL 65536u /* members: of more it has over 2^31 steps */

static const char *plan_ring(const sim_implementation *how, bool dim_last, uint32_t tree, sim_phase *p)
{
    uint32_t n = p->ring.n;

    (void)how, (void)dim_last, (void)tree;
    if (p->coll == SIM_ALL_TO_ALL && n > MAX_ALL_TO_ALL)
        return "an all-to-all on a ring of more than 65536 ranks has more steps than can be counted; split "
               "it over "
               "dimensions";
    p->width = 1;
    p->cycle = n - 1;
    p->message_bytes = p->bytes / n;
    p->final_bytes = p->bytes;
    p->steps = n - 1;
    switch ((sim_collective)p->coll) {
    case SIM_ALL_REDUCE: p->steps = 2 * (n - 1); break;
    case SIM_ALL_TO_ALL: p->steps = n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1); break;
    case SIM_ALL_GATHER:
        p->message_bytes = p->bytes;
        p->final_bytes = p->bytes * n;
        break;
    default: p->final_bytes = p->bytes / n;
    }
    return NULL;
}

static void ring_packet(const sim_phase *p, uint32_t k, sim_packet *out)
{
    (void)k;
    out->to = sim_ring_peer(&p->ring, 1, p->clockwise);
    out->from = sim_ring_peer(&p->ring, 1, !p->clockwise);
    out->bytes = p->message_bytes;
}

const sim_algorithm sim_algorithm_ring = {
    .name = "ring",
    .one_name = "oneRing",
    .all_alike = true,
    .summary = "neighbour to neighbour; 2(n-1) steps for an all-reduce",
    .plan = plan_ring,
    .start = sim_steps_start,
    .ready = sim_steps_ready,
    .receive = sim_steps_receive,
    .packet = ring_packet,
};
