/* The common part of ring, direct and halving-doubling: a phase is a sequence of packets.
 *
 * `width` packets are made at the start and one more for each packet received. Making a packet costs the
 * endpoint's delay, and the local memory's if the data received is reduced into it; then it may be sent,
 * together with posting the receive for its answer. Packets are counted in rounds: `width` that are passed on
 * as they are, then `cycle` that are reduced if the phase reduces; in an all-reduce every second round
 * gathers and reduces nothing. Source: Ring.cc of the reference, from which its other two algorithms are
 * copied or derived. */
#include "sim/engine.h"
#include "sim/stream.h"

static void make_packet(sim_engine *e, sim_stream *s)
{
    const sim_phase *p = sim_stream_phase(s);
    bool reduce = false;
    sim_way way = SIM_TO_NETWORK;
    sim_packet pk;

    if (!s->first_left && !s->cycle_left) {
        s->first_left = p->width;
        s->cycle_left = p->cycle;
        s->odd_round = !s->odd_round;
    }
    if (s->first_left) {
        s->first_left--;
    } else {
        way = s->cycle_left > p->width ? SIM_FROM_NETWORK_AND_BACK : SIM_FROM_NETWORK;
        s->cycle_left--;
        reduce = p->coll == SIM_REDUCE_SCATTER || (p->coll == SIM_ALL_REDUCE && s->odd_round);
    }
    p->algorithm->packet(p, s->inserted++, &pk);
    sim_bundle(e, s, pk.bytes, reduce, way);
}

void sim_steps_start(sim_engine *e, sim_stream *s)
{
    for (uint32_t i = 0; i < sim_stream_phase(s)->width; i++)
        make_packet(e, s);
}

void sim_steps_receive(sim_engine *e, sim_stream *s)
{
    s->received++;
    make_packet(e, s);
}

void sim_steps_send(sim_engine *e, sim_stream *s)
{
    const sim_phase *p = sim_stream_phase(s);
    sim_call received = {SIM_CALL_STREAM, s->rank, s->id};
    sim_packet pk;

    if (s->sent == s->inserted || !s->steps_left || !s->free_packets)
        return;
    p->algorithm->packet(p, s->sent, &pk);
    sim_send(e, s->rank, pk.to, pk.bytes, s->tag);
    sim_receive(e, s->rank, pk.from, pk.bytes, s->tag, received);
    s->sent++;
    s->steps_left--;
    s->free_packets--;
}

void sim_steps_end(sim_engine *e, sim_stream *s)
{
    if (!s->steps_left && s->free_packets == sim_stream_phase(s)->width)
        sim_stream_next_phase(e, s);
}

void sim_steps_ready(sim_engine *e, sim_stream *s)
{
    s->free_packets++;
    sim_steps_send(e, s);
    sim_steps_end(e, s);
}
