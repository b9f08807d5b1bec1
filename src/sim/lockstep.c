/* The order of events within a tick may depend on ranks that are not simulated here. Where it could change
 * the result, the run is refused:
 *
 *  - Chunks of different phases come to a queue (lane) in the same tick, and some must wait: detected where
 *    they come (stream.c). Chunks of one phase keep the order of their numbers.
 *  - A chunk with several packets under way receives one in the tick in which another passes the endpoint.
 *
 * Nothing else that happens to one chunk affects another: a place that becomes free in the tick in which a
 * chunk comes goes to the same chunk either way. */
#include "sim/lockstep.h"

#include "sim/engine.h"

#include <string.h>

typedef struct {
    dse_time received, passed; /* the last ticks of a receipt and of a pass; DSE_TIME_NONE: never */
} stream_ticks;

struct sim_lockstep {
    sim_engine engine;
    wl_workload workload;
    dse_error why;
    bool order_matters, ended;
    dse_time end;
    uint64_t n_messages;
    /* Of a group smaller than the system: members 0, 1, ..., of which the simulated one is the first. */
    wl_group group;
    size_t cap_members;
    wl_rank rank;
    size_t cap_slots;
    uint32_t from, to;   /* members between whom a message takes as long as between any two */
    stream_ticks *ticks; /* per stream */
    size_t cap_ticks;
};

enum { EV_RECEIVED = SIM_EV_RECEIVED + 1 }; /* subject is the stream */

static void refuse(sim_lockstep *l) { l->order_matters = true; }

static void send(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag)
{
    (void)rank, (void)peer, (void)tag;
    e->lockstep->n_messages++;
    if (!size)
        refuse(e->lockstep);
}

/* In lockstep the peer sends it now. */
static void receive(sim_engine *e, uint32_t rank, uint32_t peer, uint64_t size, uint32_t tag, sim_call call)
{
    const sim_lockstep *l = e->lockstep;
    const bool in_group = l->workload.group == &l->group;
    dse_time delay =
        peer == rank ? 0 : net_delay(e->net, in_group ? l->from : peer, in_group ? l->to : rank, size);

    (void)tag;
    if (!delay || e->now + delay < e->now)
        refuse(e->lockstep);
    else
        dse_queue_add(&e->queue, e->now + delay, (dse_event){EV_RECEIVED, call.subject});
}

static void ended(sim_engine *e, uint32_t rank)
{
    (void)rank;
    e->lockstep->ended = true;
    e->lockstep->end = e->now;
}

static const sim_backend lockstep_backend = {.collective_ended = ended, .send = send, .receive = receive};

void sim_lockstep_refuse(sim_engine *e) { refuse(e->lockstep); }

/* ---- running a collective ---------------------------------------------------------------------- */

sim_lockstep *sim_lockstep_new(const sim_engine *e)
{
    sim_lockstep *l = DSE_ARENA_NEW(e->arena, sim_lockstep, 1);
    uint32_t slots = 0;

    l->why = (dse_error)DSE_ERROR_INIT;
    l->workload = *e->w;
    l->workload.n_ranks = 1;
    l->engine = (sim_engine){.backend = &lockstep_backend,
                             .set = e->set,
                             .net = e->net,
                             .w = &l->workload,
                             .arena = e->arena,
                             .err = &l->why,
                             .lockstep = l};
    for (uint32_t i = 0; i < e->w->n_graphs; i++)
        slots = e->w->graph[i].n_group_slots > slots ? e->w->graph[i].n_group_slots : slots;
    l->engine.rank = DSE_ARENA_NEW(e->arena, sim_rank, 1);
    sim_engine_init(&l->engine);
    memcpy(l->engine.logical, e->logical, sizeof e->logical);
    sim_rank_init_collectives(&l->engine, 0, slots);
    return l;
}

void sim_lockstep_free(sim_lockstep *l)
{
    if (!l)
        return;
    sim_engine_free(&l->engine);
    dse_free(l->ticks);
}

uint64_t sim_lockstep_events(const sim_lockstep *l) { return l ? l->engine.queue.n_events : 0; }

/* Whether all ranks of each dimension see the same network and do the same. */
static bool all_alike(const sim_engine *e, const sim_cut *cut)
{
    if (cut->how)
        return cut->how->algorithm->all_alike &&
               !(cut->how->algorithm->power_of_two && (cut->group->n & (cut->group->n - 1)));
    if (!e->set->endpoint_delay)
        return false;
    for (uint32_t i = 0; i < cut->logical->n_dims; i++) {
        const sim_implementation *how = &cut->logical->dim[i].how;
        uint32_t n = cut->logical->dim[i].n;

        if (!(cut->involved >> i & 1))
            continue;
        if (!how->algorithm->all_alike || (how->algorithm->power_of_two && (n & (n - 1))) ||
            !e->net->dim[i].topology->cyclic || (how->over_all && e->net->n_dims > 1))
            return false;
    }
    return true;
}

static void reserve_ticks(sim_lockstep *l)
{
    size_t had = l->cap_ticks;

    DSE_GROW(l->ticks, l->cap_ticks, l->engine.n_streams);
    if (l->cap_ticks > had)
        memset(l->ticks + had, 0xff, (l->cap_ticks - had) * sizeof *l->ticks); /* DSE_TIME_NONE */
}

static void run_event(sim_lockstep *l, dse_event ev)
{
    sim_engine *e = &l->engine;

    if (ev.kind == EV_RECEIVED) {
        stream_ticks *t = &l->ticks[ev.subject];

        t->received = e->now;
        if (t->passed == e->now)
            refuse(l);
        sim_stream_received(e, ev.subject);
        return;
    }
    for (uint32_t i = e->batch[ev.subject].events.head; i != DSE_NONE; i = e->rank_event[i].next) {
        stream_ticks *t = &l->ticks[e->rank_event[i].subject];

        t->passed = e->now;
        if (t->received == e->now)
            refuse(l);
    }
    sim_run_batch(e, ev.subject);
}

/* Has the simulated rank be the first of members 0, 1, ... in whatever group it is. */
static void stand_in(sim_lockstep *l, const sim_engine *of, uint32_t rank, const wl_group *g)
{
    const uint32_t n_slots = wl_rank_graph(of->w, rank)->n_group_slots;

    DSE_ARENA_GROW(of->arena, l->group.rank, l->cap_members, g->n);
    DSE_ARENA_GROW(of->arena, l->rank.group, l->cap_slots, n_slots);
    for (uint32_t i = 0; i < g->n; i++)
        l->group.rank[i] = i;
    memset(l->rank.group, 0, n_slots * sizeof *l->rank.group);
    l->group.n = g->n;
    l->group.name = g->name;
    l->rank.graph = of->w->rank[rank].graph;
    l->rank.id_base = of->w->rank[rank].id_base;
    l->rank.p2p = of->w->rank[rank].p2p;
    l->from = g->rank[0];
    l->to = g->rank[1];
    l->workload.group = &l->group;
    l->workload.rank = &l->rank;
}

bool sim_lockstep_run(sim_lockstep *l, const sim_engine *of, uint32_t rank, uint32_t node, const sim_cut *cut,
                      sim_lockstep_cost *out)
{
    sim_engine *e = &l->engine;
    dse_time begin = e->now;
    dse_event ev;

    if (!all_alike(of, cut) || e->status != DSE_OK || l->order_matters)
        return false;
    l->workload.rank = &of->w->rank[rank];
    l->workload.group = of->w->group;
    if (cut->how)
        stand_in(l, of, rank, cut->group);
    e->rank[0].graph = of->rank[rank].graph;
    l->ended = false;
    l->n_messages = 0;
    sim_coll_start(e, 0, node);
    reserve_ticks(l);
    while (e->status == DSE_OK && !l->order_matters && dse_queue_take(&e->queue, &e->now, &ev))
        run_event(l, ev);
    *out = (sim_lockstep_cost){l->end - begin, l->n_messages};
    return e->status == DSE_OK && !l->order_matters && l->ended;
}
