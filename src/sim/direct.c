/* Direct: every rank sends to every other, `window` at once (all, if no window is given).
 *
 * Sizes are those of the ring. In an all-reduce a rank begins the gathering half only once it has received
 * all of the scattering half. Source: system/collective/AllToAll.cc of the reference. */
#include "sim/collective.h"

static const char *plan_direct(const sim_implementation *how, bool dim_last, uint32_t tree, sim_phase *p)
{
    uint32_t peers = p->ring.n - 1;

    sim_algorithm_ring.plan(how, dim_last, tree, p);
    p->width = how->window && (uint32_t)how->window < peers ? (uint32_t)how->window : peers;
    /* In a group the reference counts as many reductions as a ring of windows has. */
    p->cycle = p->in_group ? peers * p->width : p->width;
    if (p->coll == SIM_ALL_TO_ALL)
        p->steps = peers;
    return NULL;
}

static void direct_packet(const sim_phase *p, uint32_t k, sim_packet *out)
{
    uint32_t distance = 1 + k % (p->ring.n - 1);

    out->to = sim_ring_peer(&p->ring, distance, p->clockwise);
    out->from = sim_ring_peer(&p->ring, distance, !p->clockwise);
    out->bytes = p->message_bytes;
}

static void ready_direct(sim_engine *e, sim_stream *s)
{
    const sim_phase *p = sim_stream_phase(s);
    uint32_t peers = p->ring.n - 1;

    s->free_packets++;
    if (p->coll == SIM_ALL_REDUCE && s->steps_left <= peers) {
        if (s->received < peers)
            return;
        for (uint32_t i = 0; i < p->width; i++)
            sim_steps_send(e, s);
    } else {
        sim_steps_send(e, s);
    }
    sim_steps_end(e, s);
}

extern const sim_algorithm sim_algorithm_direct;
const sim_algorithm sim_algorithm_direct = {
    .name = "direct",
    .one_name = "oneDirect",
    .takes_window = true,
    .all_alike = true,
    .summary = "everyone to everyone, a window of messages at once",
    .plan = plan_direct,
    .start = sim_steps_start,
    .ready = ready_direct,
    .receive = sim_steps_receive,
    .packet = direct_packet,
};
