/* A layer over the plain engine: the same code makes nodes ready, issues and ends them (rank.c), and the same
 * code makes the figures. Issue requests are carried out differently (sim_backend): there are no messages of
 * collectives, chunks or packets.
 *
 * Only node completions remain as events. Ranks influence each other in three ways:
 *
 *  - a collective of a group's ring ends, for each rank, at a tick that follows from those at which its ranks
 *    began (circle.h);
 *  - a collective of all ranks ends in one tick for ranks that began it in one tick (lockstep.h);
 *  - a message ends for both of its ranks after the network's delay.
 *
 * All three take effect after the tick in which they are computed, so the order of ranks within a tick does
 * not matter. The order in which nodes of one rank end within a tick does: it decides which node is issued
 * first. In the plain engine, the events that a rank registers itself (computations, packets) run as one
 * batch, in the order of registration, and the batch is as old as its first event; arrivals of messages are
 * separate events. So ends are ordered by the tick in which they were registered. If two ends have equal
 * ticks and were not both registered by this rank, the engine gives up the run.
 *
 * A batch may be older than the node ends in it, because a packet of a collective under way may have opened
 * it. `longest` bounds how far ahead such a packet is registered. */
#include "sim/circle.h"
#include "sim/engine.h"
#include "sim/figures.h"
#include "sim/footprint.h"
#include "sim/lockstep.h"

#include <string.h>

#define UNKNOWN DSE_TIME_NONE

/* The end of a node. */
typedef struct {
    dse_time at, since; /* since: when it was registered, or its message sent; UNKNOWN */
    uint32_t class, node;
    uint32_t by;  /* the rank that registered it; DSE_NONE: its order among that rank's acts is unknown */
    uint32_t seq; /* order among that rank's acts */
    bool arrives; /* the end of a message; else of the rank's batch */
} node_end;

/* A collective of all ranks, as it is cut. */
typedef struct {
    sim_collective collective;
    uint32_t involved;
    uint64_t chunk_bytes, n_chunks;
    sim_lockstep_cost cost;
} all_ranks_cost;

struct sim_abridged {
    sim_classes classes;
    node_end *end; /* heap by tick and class */
    size_t n_ends, cap_ends;
    node_end *now; /* the ends of one class and tick, in order */
    size_t n_now, cap_now;
    uint32_t n_acts;
    uint64_t n_events, n_messages;

    sim_circle *circle;
    uint32_t n_circles;
    uint32_t **circle_of, **place_of; /* per class and group slot */
    /* Per class: when its latest collective ends (UNKNOWN while others have yet to begin it), and how far
     * ahead its packets are registered at most, or UNKNOWN. */
    dse_time *collective_until, *longest;

    /* The collective of all ranks that some have begun. */
    uint32_t n_here;
    dse_time began;
    uint32_t current, tag; /* tag: of its first chunk */
    size_t n_costs, cap_costs;
    all_ranks_cost *cost;
    sim_lockstep *lockstep;
};

static void give_up(sim_engine *e, sim_fallback why)
{
    if (e->status != DSE_OK)
        return;
    e->status = DSE_E_SIM;
    e->fallback = why;
}

/* ---- the heap ------------------------------------------------------------------------------- */

static bool is_before(const node_end *a, const node_end *b)
{
    return a->at < b->at || (a->at == b->at && a->class < b->class);
}

static void push(sim_engine *e, node_end end)
{
    struct sim_abridged *x = e->abridged;
    size_t i = x->n_ends;

    DSE_GROW(x->end, x->cap_ends, x->n_ends + 1);
    x->n_ends++;
    for (; i > 0 && is_before(&end, &x->end[(i - 1) / 2]); i = (i - 1) / 2)
        x->end[i] = x->end[(i - 1) / 2];
    x->end[i] = end;
}

static node_end pop(struct sim_abridged *x)
{
    node_end top = x->end[0], last = x->end[--x->n_ends];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= x->n_ends)
            break;
        if (child + 1 < x->n_ends && is_before(&x->end[child + 1], &x->end[child]))
            child++;
        if (!is_before(&x->end[child], &last))
            break;
        x->end[i] = x->end[child];
        i = child;
    }
    x->end[i] = last;
    x->n_events++;
    return top;
}

/* ---- carrying out issue requests --------------------------------------------------------------- */

static uint32_t rank_of(const sim_engine *e, uint32_t class) { return e->abridged->classes.first[class]; }

static void end_node_later(sim_engine *e, uint32_t class, uint32_t node, dse_time delay)
{
    if (e->now + delay < e->now)
        give_up(e, SIM_FALLBACK_ERROR);
    else
        push(e, (node_end){.at = e->now + delay,
                           .since = e->now,
                           .class = class,
                           .node = node,
                           .by = rank_of(e, class),
                           .seq = e->abridged->n_acts++});
}

static void exchange(sim_engine *e, uint32_t class, uint32_t node)
{
    struct sim_abridged *x = e->abridged;
    const sim_classes *c = &x->classes;
    const wl_node *n = &e->rank[class].graph->graph->node[node];
    uint32_t rank = rank_of(e, class), graph = c->full->rank[rank].graph;
    uint32_t peer = c->full->rank[rank].p2p[n->slot].peer, to = c->of[peer];
    uint32_t other = c->of_slot[c->full->rank[peer].graph][c->mate[graph][n->slot]];
    dse_time delay;

    if (!n->comm_size) {
        give_up(e, SIM_FALLBACK_INSTANT_MESSAGE);
        return;
    }
    if (n->type == WL_NODE_RECV)
        return;
    delay = net_delay(e->net, rank, peer, n->comm_size);
    if (!delay || e->now + delay < e->now) {
        give_up(e, SIM_FALLBACK_INSTANT_MESSAGE);
        return;
    }
    x->n_messages += c->n_alike[class];
    e->n_undercharged += c->n_undercharged_sends[class][c->peer_no[graph][n->slot]];
    push(e, (node_end){.at = e->now + delay,
                       .since = e->now,
                       .class = class,
                       .node = node,
                       .by = rank,
                       .seq = x->n_acts,
                       .arrives = true});
    /* The sender, as the rank that represents the receiver's class sees it, is that rank's peer. */
    push(e, (node_end){.at = e->now + delay,
                       .since = e->now,
                       .class = to,
                       .node = other,
                       .by = c->full->rank[c->first[to]].p2p[c->mate[graph][n->slot]].peer,
                       .seq = x->n_acts++,
                       .arrives = true});
}

/* ---- collectives --------------------------------------------------------------------------------- */

/* Whether the messages between any two members of a group take equally long, by one dimension. */
static bool is_uniform_group(const net_network *net, const wl_group *g)
{
    const uint64_t large = UINT64_C(1) << 40;
    const dse_time least = net_delay(net, g->rank[0], g->rank[1], 1);
    const dse_time most = net_delay(net, g->rank[0], g->rank[1], large);

    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t k = 0; k < g->n; k++)
            if (i != k && (net_differ_in_several(net, g->rank[i], g->rank[k]) ||
                           net_delay(net, g->rank[i], g->rank[k], 1) != least ||
                           net_delay(net, g->rank[i], g->rank[k], large) != most))
                return false;
    return true;
}

/* The same of all groups whose ring the circle is. */
static bool is_uniform(const sim_engine *e, sim_circle *c)
{
    const sim_classes *classes = &e->abridged->classes;
    const wl_workload *w = classes->full;

    if (c->is_checked)
        return c->is_uniform;
    c->is_checked = c->is_uniform = true;
    for (uint32_t p = 0; p < c->n_places; p++) {
        for (uint32_t r = 0; c->is_uniform && r < w->n_ranks; r++) {
            const wl_group *g;

            if (classes->of[r] != c->place[p].class)
                continue; /* whose groups may be fewer */
            g = &w->group[w->rank[r].group[c->place[p].slot]];
            if (g->rank[0] == r)
                c->is_uniform = is_uniform_group(e->net, g);
        }
    }
    return c->is_uniform;
}

/* The cost of what is no ring, of ranks that begin together. */
static uint32_t add_cost_together(sim_engine *e, sim_circle *c, uint32_t class, uint32_t node,
                                  const sim_cut *cut)
{
    const wl_node *n = &e->rank[class].graph->graph->node[node];
    struct sim_abridged *x = e->abridged;
    sim_lockstep_cost cost;

    if (!is_uniform(e, c))
        return DSE_NONE;
    if (!x->lockstep)
        x->lockstep = sim_lockstep_new(e);
    if (!sim_lockstep_run(x->lockstep, e, class, node, cut, &cost))
        return DSE_NONE;
    DSE_ARENA_GROW(e->arena, c->cost, c->cap_costs, c->n_costs + 1);
    c->cost[c->n_costs] = (sim_circle_cost){.coll = n->coll,
                                            .size = n->comm_size,
                                            .n_chunks = cut->n_chunks,
                                            .longest = UNKNOWN,
                                            .is_together = true,
                                            .ticks = cost.ticks,
                                            .n_messages = cost.n_messages};
    return (uint32_t)c->n_costs++;
}

/* The cost of the node's collective on the circle; DSE_NONE: the engine has given up. */
static uint32_t find_circle_cost(sim_engine *e, sim_circle *c, uint32_t class, uint32_t node)
{
    const wl_node *n = &e->rank[class].graph->graph->node[node];
    uint32_t i = 0;
    sim_cut cut;

    while (i < c->n_costs && (c->cost[i].coll != n->coll || c->cost[i].size != n->comm_size))
        i++;
    if (i < c->n_costs)
        return i;
    if (!sim_coll_cut(e, class, node, &cut))
        i = DSE_NONE;
    else if (cut.how->algorithm == &sim_algorithm_ring)
        i = sim_circle_add_cost(e, c, n->coll, n->comm_size, &cut);
    else
        i = add_cost_together(e, c, class, node, &cut);
    if (i == DSE_NONE)
        give_up(e, SIM_FALLBACK_NO_CLOSED_FORM);
    return i;
}

static void end_on_circle(sim_engine *e, sim_circle *c)
{
    struct sim_abridged *x = e->abridged;
    const sim_circle_cost *cost = &c->cost[c->current];
    uint64_t messages = cost->n_chunks * cost->steps; /* of each rank */

    for (uint32_t k = 0; k < c->n_places; k++) {
        const sim_circle_place *p = &c->place[k];

        x->collective_until[p->class] = c->begin[k];
        x->n_messages += messages * x->classes.n_alike[p->class];
        e->n_undercharged += messages * x->classes.n_undercharged_rings[p->class][p->slot];
        e->n_flat_rings += cost->is_flat * (uint64_t)x->classes.n_alike[p->class];
        push(e, (node_end){.at = c->begin[k],
                           .since = c->begin[k] - cost->last,
                           .class = p->class,
                           .node = e->rank[p->class].coll_node,
                           .by = DSE_NONE});
    }
}

/* The order of what ends a rank's collective within its tick is not known. */
static void end_together(sim_engine *e, sim_circle *c)
{
    struct sim_abridged *x = e->abridged;
    const sim_circle_cost *cost = &c->cost[c->current];
    const dse_time end = c->begin[0] + cost->ticks;

    for (uint32_t k = 0; k < c->n_places; k++) {
        if (c->begin[k] != c->begin[0]) {
            give_up(e, SIM_FALLBACK_SCATTERED_BEGIN);
            return;
        }
    }
    if (end < c->begin[0]) {
        give_up(e, SIM_FALLBACK_ERROR);
        return;
    }
    for (uint32_t k = 0; k < c->n_places; k++) {
        const uint32_t class = c->place[k].class;

        x->collective_until[class] = end;
        x->n_messages += cost->n_messages * x->classes.n_alike[class];
        push(e, (node_end){.at = end,
                           .since = UNKNOWN,
                           .class = class,
                           .node = e->rank[class].coll_node,
                           .by = DSE_NONE});
    }
}

static void begin_on_circle(sim_engine *e, sim_circle *c, uint32_t place, uint32_t class, uint32_t node)
{
    uint32_t cost = find_circle_cost(e, c, class, node);

    if (cost == DSE_NONE)
        return;
    if (c->n_here && c->current != cost) {
        give_up(e, SIM_FALLBACK_UNLIKE_COLLECTIVES);
        return;
    }
    e->rank[class].coll_node = node;
    sim_take_tags(&e->rank[class], e->rank[class].graph->graph->node[node].slot,
                  (uint32_t)c->cost[cost].n_chunks);
    c->current = cost;
    c->begin[place] = e->now;
    /* Its packets are under way before the others come. */
    e->abridged->collective_until[class] = UNKNOWN;
    e->abridged->longest[class] = c->cost[cost].longest;
    if (++c->n_here < c->n_places)
        return;
    c->n_here = 0;
    if (c->cost[cost].is_together)
        end_together(e, c);
    else if (sim_circle_run(c))
        end_on_circle(e, c);
    else
        give_up(e, SIM_FALLBACK_NO_CLOSED_FORM);
}

/* As find_circle_cost, for a collective of all ranks. */
static uint32_t find_all_ranks_cost(sim_engine *e, uint32_t class, uint32_t node)
{
    struct sim_abridged *x = e->abridged;
    all_ranks_cost cost;
    sim_cut cut;

    if (!sim_coll_cut(e, class, node, &cut))
        return DSE_NONE;
    cost = (all_ranks_cost){cut.collective, cut.involved, cut.chunk_bytes, cut.n_chunks, {0}};
    for (size_t i = 0; i < x->n_costs; i++)
        if (x->cost[i].collective == cost.collective && x->cost[i].involved == cost.involved &&
            x->cost[i].chunk_bytes == cost.chunk_bytes && x->cost[i].n_chunks == cost.n_chunks)
            return (uint32_t)i;
    DSE_GROW(x->cost, x->cap_costs, x->n_costs + 1);
    if (!x->lockstep)
        x->lockstep = sim_lockstep_new(e);
    if (!sim_lockstep_run(x->lockstep, e, class, node, &cut, &cost.cost)) {
        give_up(e, SIM_FALLBACK_UNEVEN_COLLECTIVE);
        return DSE_NONE;
    }
    x->cost[x->n_costs] = cost;
    return (uint32_t)x->n_costs++;
}

static void begin_of_all_ranks(sim_engine *e, uint32_t class, uint32_t node)
{
    struct sim_abridged *x = e->abridged;
    sim_rank *r = &e->rank[class];
    uint32_t cost = find_all_ranks_cost(e, class, node), tag;

    if (cost == DSE_NONE)
        return;
    r->coll_node = node;
    tag = sim_take_tags(r, r->graph->graph->node[node].slot, (uint32_t)x->cost[cost].n_chunks);
    if (x->n_here && (x->began != e->now || x->current != cost || x->tag != tag)) {
        give_up(e, SIM_FALLBACK_SCATTERED_BEGIN);
        return;
    }
    x->began = e->now;
    x->current = cost;
    x->tag = tag;
    if (++x->n_here < x->classes.n)
        return;
    x->n_here = 0;
    if (e->now + x->cost[cost].cost.ticks < e->now) {
        give_up(e, SIM_FALLBACK_ERROR);
        return;
    }
    for (uint32_t k = 0; k < x->classes.n; k++) {
        x->collective_until[k] = e->now + x->cost[cost].cost.ticks;
        x->longest[k] = UNKNOWN;
        x->n_messages += x->cost[cost].cost.n_messages * x->classes.n_alike[k];
        push(e, (node_end){.at = x->collective_until[k],
                           .since = UNKNOWN,
                           .class = k,
                           .node = e->rank[k].coll_node,
                           .by = DSE_NONE});
    }
}

static void begin_collective(sim_engine *e, uint32_t class, uint32_t node)
{
    struct sim_abridged *x = e->abridged;
    uint32_t slot = e->rank[class].graph->graph->node[node].slot;
    uint32_t circle = slot == DSE_NONE ? DSE_NONE : x->circle_of[class][slot];

    if (circle != DSE_NONE)
        begin_on_circle(e, &x->circle[circle], x->place_of[class][slot], class, node);
    else
        begin_of_all_ranks(e, class, node);
}

static const sim_backend abridged_backend = {
    .end_node = end_node_later, .start_collective = begin_collective, .start_message = exchange};

/* ---- the order within a tick ---------------------------------------------------------------------- */

/* Compares two arrivals, or two ends of the batch; 0: their order is unknown. */
static int order_alike(const node_end *a, const node_end *b)
{
    if (a->since == UNKNOWN || b->since == UNKNOWN)
        return 0;
    if (a->since != b->since)
        return a->since < b->since ? -1 : 1;
    if (a->by == DSE_NONE || a->by != b->by)
        return 0;
    return a->seq < b->seq ? -1 : 1;
}

/* Compares an arrival with the batch, whose oldest end is given. */
static int order_arrival(const struct sim_abridged *x, const node_end *arrival, const node_end *oldest)
{
    bool packets = x->collective_until[arrival->class] >= arrival->at;

    if (oldest->since == UNKNOWN || (packets && (x->longest[arrival->class] == UNKNOWN ||
                                                 arrival->at - arrival->since <= x->longest[arrival->class])))
        return 0;
    return order_alike(arrival, oldest);
}

static int order(const struct sim_abridged *x, const node_end *a, const node_end *b, const node_end *oldest)
{
    if (a->arrives == b->arrives)
        return order_alike(a, b);
    return a->arrives ? order_arrival(x, a, oldest) : -order_arrival(x, b, oldest);
}

/* Insertion sort: there are two ends, seldom three. */
static void sort_now(sim_engine *e)
{
    struct sim_abridged *x = e->abridged;
    const node_end *first = NULL;
    node_end oldest;

    for (size_t i = 0; i < x->n_now; i++) {
        if (x->now[i].arrives)
            continue;
        if (!first || order_alike(&x->now[i], first) < 0 || x->now[i].since == UNKNOWN)
            first = &x->now[i];
    }
    if (first)
        oldest = *first;
    for (size_t i = 1; i < x->n_now; i++) {
        node_end v = x->now[i];
        size_t k = i;

        for (; k > 0; k--) {
            int o = order(x, &v, &x->now[k - 1], first ? &oldest : NULL);

            if (!o) {
                give_up(e, SIM_FALLBACK_TICK_ORDER);
                return;
            }
            if (o > 0)
                break;
            x->now[k] = x->now[k - 1];
        }
        x->now[k] = v;
    }
}

/* All ends of the next class and tick. */
static void take_now(sim_engine *e)
{
    struct sim_abridged *x = e->abridged;

    x->n_now = 0;
    do {
        DSE_GROW(x->now, x->cap_now, x->n_now + 1);
        x->now[x->n_now++] = pop(x);
    } while (x->n_ends && x->end[0].at == x->now[0].at && x->end[0].class == x->now[0].class);
    e->now = x->now[0].at;
    if (x->n_now > 1)
        sort_now(e);
}

static void end_now(sim_engine *e)
{
    struct sim_abridged *x = e->abridged;

    for (size_t i = 0; i < x->n_now && e->status == DSE_OK; i++) {
        uint32_t class = x->now[i].class, node = x->now[i].node;

        if (e->rank[class].start[node] == DSE_TIME_NONE || e->rank[class].end[node] != DSE_TIME_NONE) {
            give_up(e, SIM_FALLBACK_EARLY_MESSAGE);
            return;
        }
        sim_node_done(e, class, node);
        /* A node that ends in the tick in which it begins would come between the remaining ends. */
        if (i + 1 < x->n_now && x->n_ends && x->end[0].at == e->now && x->end[0].class == class)
            give_up(e, SIM_FALLBACK_TICK_ORDER);
    }
}

static void run_loop(sim_engine *e)
{
    while (e->status == DSE_OK && e->abridged->n_ends) {
        take_now(e);
        if (e->status == DSE_OK && e->now == 0)
            give_up(e, SIM_FALLBACK_TICK_ZERO);
        end_now(e);
    }
    if (e->status == DSE_OK && e->n_finished < e->w->n_ranks)
        give_up(e, SIM_FALLBACK_ERROR);
}

/* ---- setting up -------------------------------------------------------------------------------- */

/* Allocates a circle for every class and slot; none exists yet. */
static void allocate_circles(sim_engine *e)
{
    struct sim_abridged *x = e->abridged;
    const sim_classes *c = &x->classes;
    uint32_t n_slots = 0;

    x->circle_of = DSE_ARENA_NEW(e->arena, uint32_t *, c->n);
    x->place_of = DSE_ARENA_NEW(e->arena, uint32_t *, c->n);
    x->collective_until = DSE_ARENA_NEW(e->arena, dse_time, c->n);
    x->longest = DSE_ARENA_NEW(e->arena, dse_time, c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t n = wl_rank_graph(&c->w, i)->n_group_slots;

        x->circle_of[i] = DSE_ARENA_NEW(e->arena, uint32_t, n);
        x->place_of[i] = DSE_ARENA_NEW(e->arena, uint32_t, n);
        memset(x->circle_of[i], 0xff, n * sizeof(uint32_t)); /* DSE_NONE */
        n_slots += n;
    }
    x->circle = DSE_ARENA_NEW(e->arena, sim_circle, n_slots);
}

/* Adds the circle of a class's slot, for all places on it. False: the group's classes do not repeat. */
static bool add_circle(sim_engine *e, uint32_t class, uint32_t slot)
{
    struct sim_abridged *x = e->abridged;
    sim_circle *circle = &x->circle[x->n_circles];

    if (!sim_circle_init(&x->classes, class, slot, e->arena, circle))
        return false;
    for (uint32_t p = 0; p < circle->n_places; p++) {
        const sim_circle_place *at = &circle->place[p];

        if (x->circle_of[at->class][at->slot] != DSE_NONE)
            return false;
        x->circle_of[at->class][at->slot] = x->n_circles;
        x->place_of[at->class][at->slot] = p;
    }
    x->n_circles++;
    return true;
}

static bool init_circles(sim_engine *e)
{
    struct sim_abridged *x = e->abridged;
    const sim_classes *c = &x->classes;

    allocate_circles(e);
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < wl_rank_graph(&c->w, i)->n_group_slots; k++)
            if (c->before[c->first[i]][k] != DSE_NONE && x->circle_of[i][k] == DSE_NONE &&
                !add_circle(e, i, k))
                return false;
    return true;
}

static sim_fallback run(sim_engine *e, const wl_workload *w, bool symmetry, uint64_t max_bytes)
{
    struct sim_abridged *x = e->abridged;
    sim_fallback why = sim_classes_find(e->net, w, symmetry, e->arena, &x->classes);

    if (why != SIM_FALLBACK_NONE)
        return why;
    e->w = &x->classes.w;
    if (sim_footprint_ranks(e->set, e->w) > max_bytes)
        return SIM_FALLBACK_MANY_CLASSES;
    if (!init_circles(e))
        return SIM_FALLBACK_UNEVEN_GROUP;
    sim_ranks_init(e);
    for (uint32_t c = 0; e->status == DSE_OK && c < e->w->n_ranks; c++)
        sim_rank_start(e, c);
    run_loop(e);
    return e->status != DSE_OK && !e->fallback ? SIM_FALLBACK_ERROR : e->fallback;
}

/* Features that only the plain engine simulates, because messages affect each other. */
static sim_fallback check_system(const sim_settings *set, const net_network *net)
{
    if (net->congestion)
        return SIM_FALLBACK_CONGESTION;
    if (set->rendezvous)
        return SIM_FALLBACK_RENDEZVOUS;
    if (set->bus.shared)
        return SIM_FALLBACK_SHARED_BUS;
    if (set->queues_per_dim != 1)
        return SIM_FALLBACK_SEVERAL_QUEUES;
    if (set->remote.kind != SIM_REMOTE_NONE && set->remote.kind != SIM_REMOTE_PER_NPU)
        return SIM_FALLBACK_SHARED_MEMORY;
    return set->customs ? SIM_FALLBACK_CUSTOM_COLLECTIVES : SIM_FALLBACK_NONE;
}

sim_fallback sim_run_abridged(const sim_settings *settings, const net_network *net, const wl_workload *w,
                              bool symmetry, uint64_t max_bytes, dse_arena *a, sim_result *out,
                              trace_ticks *record)
{
    struct sim_abridged x = {0};
    dse_error unsaid = DSE_ERROR_INIT; /* discarded: the plain engine reports it */
    sim_engine e = {.backend = &abridged_backend,
                    .set = settings,
                    .net = net,
                    .w = w,
                    .arena = a,
                    .err = &unsaid,
                    .abridged = &x};
    sim_fallback why = check_system(settings, net);

    if (why != SIM_FALLBACK_NONE)
        return why;
    if (sim_logicals_init(settings, net, e.logical, &unsaid) != DSE_OK)
        return SIM_FALLBACK_ERROR;
    sim_engine_init(&e);
    why = run(&e, w, symmetry, max_bytes);
    if (why == SIM_FALLBACK_NONE && record)
        sim_fill_record(&e, &x.classes, record);
    if (why == SIM_FALLBACK_NONE) {
        sim_fill_result(&e, &x.classes, out);
        out->n_messages = x.n_messages;
        out->n_events = x.n_events + sim_lockstep_events(x.lockstep);
    }
    sim_lockstep_free(x.lockstep);
    sim_engine_free(&e);
    dse_free(x.end);
    dse_free(x.now);
    dse_free(x.cost);
    return why;
}
