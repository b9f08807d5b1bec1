#include "sim/order.h"

#include "sim/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TO_COME UINT32_MAX /* of a meeting that has not begun */

/* Collectives of a rank that only their number tells apart. */
typedef struct {
    uint32_t group, coll; /* group 0: of all ranks, also by dimensions */
    uint64_t size;
    const char *name; /* "" if names do not count */
} kind_key;

typedef struct {
    kind_key key;
    uint32_t rank, n_of_rank; /* that was last looked at, and its number so far */
    uint32_t *meeting;        /* by number */
    size_t n, cap;
} kind;

/* A collective with all its ranks. */
typedef struct {
    uint32_t kind;
    uint32_t n_members, n_here;
    uint32_t first; /* arrival; DSE_NONE */
    uint32_t place; /* in the order */
} meeting;

typedef struct {
    uint32_t rank, node, next;
} arrival;

struct sim_order {
    dse_arena *arena;
    const wl_workload *w;
    kind *kind;
    size_t n_kinds, cap_kinds;
    dse_idtable by_key;
    meeting *meeting;
    size_t n_meetings, cap_meetings;
    uint32_t **meeting_of; /* [rank][node]; DSE_NONE: no collective */
    arrival *arrival;
    size_t n_arrivals, cap_arrivals;
    uint32_t n_begun;
};

/* ---- which collectives belong together --------------------------------------------------------- */

static bool kind_has_key(const void *kinds, uint32_t id, const void *key)
{
    const kind_key *a = &((const kind *)kinds)[id].key, *b = key;

    return a->group == b->group && a->coll == b->coll && a->size == b->size && !strcmp(a->name, b->name);
}

static kind *find_kind(struct sim_order *o, const kind_key *key)
{
    uint64_t h = dse_hash_fold(key->group * UINT64_C(16) + key->coll, key->size) ^
                 dse_hash_words(key->name, strlen(key->name));
    uint32_t id =
        dse_idtable_intern(&o->by_key, (uint32_t)h, kind_has_key, o->kind, key, (uint32_t)o->n_kinds);

    if (id == o->n_kinds) {
        DSE_ARENA_GROW(o->arena, o->kind, o->cap_kinds, o->n_kinds + 1);
        o->kind[o->n_kinds++] = (kind){.key = *key, .rank = DSE_NONE};
    }
    return &o->kind[id];
}

static uint32_t group_of(const wl_workload *w, uint32_t rank, const wl_node *n)
{
    return n->slot == DSE_NONE ? 0 : w->rank[rank].group[n->slot];
}

/* Broadcasts are replayed, and wait for nobody. */
static bool meets(const wl_node *n) { return n->type == WL_NODE_COLL && n->coll != WL_BROADCAST; }

static uint32_t find_meeting(struct sim_order *o, uint32_t rank, const wl_node *n, bool by_name)
{
    const kind_key key = {group_of(o->w, rank, n), n->coll, n->comm_size, by_name ? n->name : ""};
    kind *k = find_kind(o, &key);

    if (k->rank != rank) {
        k->rank = rank;
        k->n_of_rank = 0;
    }
    if (k->n_of_rank == k->n) {
        DSE_ARENA_GROW(o->arena, k->meeting, k->cap, k->n + 1);
        DSE_ARENA_GROW(o->arena, o->meeting, o->cap_meetings, o->n_meetings + 1);
        o->meeting[o->n_meetings] = (meeting){(uint32_t)(k - o->kind), 0, 0, DSE_NONE, TO_COME};
        k->meeting[k->n++] = (uint32_t)o->n_meetings++;
    }
    return k->meeting[k->n_of_rank++];
}

/* Finds the meeting of each collective. Returns one that lacks members, or DSE_NONE. */
static uint32_t find_meetings(struct sim_order *o, bool by_name)
{
    dse_idtable_free(&o->by_key);
    o->n_kinds = o->n_meetings = 0;
    for (uint32_t r = 0; r < o->w->n_ranks; r++) {
        const wl_graph *g = wl_rank_graph(o->w, r);

        o->meeting_of[r] = DSE_ARENA_RAW(o->arena, uint32_t, g->n_nodes);
        memset(o->meeting_of[r], 0xff, g->n_nodes * sizeof(uint32_t)); /* DSE_NONE */
        for (uint32_t i = 0; i < g->n_nodes; i++) {
            const uint32_t node = g->by_id[i];

            if (!meets(&g->node[node]))
                continue;
            o->meeting_of[r][node] = find_meeting(o, r, &g->node[node], by_name);
            o->meeting[o->meeting_of[r][node]].n_members++;
        }
    }
    for (uint32_t i = 0; i < o->n_meetings; i++)
        if (o->meeting[i].n_members != o->w->group[o->kind[o->meeting[i].kind].key.group].n)
            return i;
    return DSE_NONE;
}

static dse_status match(struct sim_order *o, dse_error *err)
{
    uint32_t odd;
    const kind_key *key;

    o->meeting_of = DSE_ARENA_NEW(o->arena, uint32_t *, o->w->n_ranks);
    if (find_meetings(o, true) == DSE_NONE || (odd = find_meetings(o, false)) == DSE_NONE)
        return DSE_OK;
    key = &o->kind[o->meeting[odd].kind].key;
    return dse_fail(err, DSE_E_WORKLOAD,
                    "the ranks of group '%.60s' have different collectives: %" PRIu32 " of %" PRIu32
                    " have one %s of %" PRIu64 " bytes more than others; no order helps",
                    o->w->group[key->group].name, o->meeting[odd].n_members, o->w->group[key->group].n,
                    wl_coll_type_name(key->coll), key->size);
}

/* ---- the run in which a rank may be in any number of collectives ------------------------------- */

static void begin_meeting(sim_engine *e, meeting *m)
{
    struct sim_order *o = e->order;
    const kind_key *key = &o->kind[m->kind].key;
    const wl_group *g = &e->w->group[key->group];
    dse_time ticks = g->n > 1 ? net_delay(e->net, g->rank[0], g->rank[1], key->size) : 0;

    m->place = o->n_begun++;
    for (uint32_t i = m->first; i != DSE_NONE; i = o->arrival[i].next)
        sim_register(e, o->arrival[i].rank, SIM_RE_NODE_DONE, o->arrival[i].node, 0, ticks ? ticks : 1);
}

static void start_collective(sim_engine *e, uint32_t rank, uint32_t node)
{
    struct sim_order *o = e->order;
    meeting *m = &o->meeting[o->meeting_of[rank][node]];

    e->rank[rank].busy[SIM_UNIT_COMM] = false;
    DSE_ARENA_GROW(o->arena, o->arrival, o->cap_arrivals, o->n_arrivals + 1);
    o->arrival[o->n_arrivals] = (arrival){rank, node, m->first};
    m->first = (uint32_t)o->n_arrivals++;
    if (++m->n_here == m->n_members)
        begin_meeting(e, m);
}

static void start_message(sim_engine *e, uint32_t rank, uint32_t node)
{
    e->rank[rank].busy[SIM_UNIT_COMM] = false;
    sim_plain_backend.start_message(e, rank, node);
}

static dse_status run(struct sim_order *o, const sim_settings *settings, const net_network *network,
                      dse_error *err)
{
    sim_settings set = *settings;
    net_network net = *network;
    sim_backend backend = sim_plain_backend;
    sim_engine e = {
        .backend = &backend, .set = &set, .net = &net, .w = o->w, .arena = o->arena, .err = err, .order = o};
    dse_status st;

    backend.start_collective = start_collective;
    backend.start_message = start_message;
    set.track_memory = false;
    net.congestion = false;
    st = sim_engine_run(&e);
    sim_engine_free(&e);
    return st;
}

/* ---- the chains -------------------------------------------------------------------------------- */

/* The collectives of a rank in their order. */
typedef struct {
    uint32_t n, *node;
} chain;

static int compare_places(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static chain chain_of(const struct sim_order *o, uint32_t rank)
{
    const wl_graph *g = wl_rank_graph(o->w, rank);
    uint64_t *by_place = DSE_ARENA_RAW(o->arena, uint64_t, g->n_nodes); /* place, node */
    chain c = {.node = DSE_ARENA_RAW(o->arena, uint32_t, g->n_nodes)};

    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (o->meeting_of[rank][i] != DSE_NONE)
            by_place[c.n++] = (uint64_t)o->meeting[o->meeting_of[rank][i]].place << 32 | i;
    qsort(by_place, c.n, sizeof *by_place, compare_places);
    for (uint32_t i = 0; i < c.n; i++)
        c.node[i] = (uint32_t)by_place[i];
    return c;
}

/* The graph with a control dependency of each collective of the chain on the one before it. */
static dse_status link_chain(const wl_workload *w, uint32_t rank, const chain *c, dse_arena *a, wl_graph *out,
                             dse_error *err)
{
    const wl_graph *g = wl_rank_graph(w, rank);
    const wl_csr *old = &g->ctrl_deps;
    uint32_t *before = DSE_ARENA_RAW(a, uint32_t, g->n_nodes), n = 0;
    uint64_t *id = DSE_ARENA_RAW(a, uint64_t, g->n_nodes);

    *out = *g;
    out->ctrl_deps.start = DSE_ARENA_RAW(a, uint32_t, g->n_nodes + 1u);
    out->ctrl_deps.item = DSE_ARENA_RAW(a, uint32_t, (size_t)old->start[g->n_nodes] + c->n);
    memset(before, 0xff, g->n_nodes * sizeof *before); /* DSE_NONE */
    for (uint32_t i = 1; i < c->n; i++)
        before[c->node[i]] = c->node[i - 1];
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        id[i] = wl_node_id(w, rank, i);
        out->ctrl_deps.start[i] = n;
        for (uint32_t k = old->start[i]; k < old->start[i + 1]; k++)
            out->ctrl_deps.item[n++] = old->item[k];
        if (before[i] != DSE_NONE)
            out->ctrl_deps.item[n++] = before[i];
    }
    out->ctrl_deps.start[g->n_nodes] = n;
    return wl_graph_link(out, id, "the order of collectives", a, a, err);
}

/* Ranks of one graph share the new one, too, while their chains are equal. */
static dse_status link_ranks(const struct sim_order *o, wl_workload *w, dse_error *err)
{
    wl_graph *graph = DSE_ARENA_NEW(o->arena, wl_graph, w->n_ranks);
    chain *of = DSE_ARENA_NEW(o->arena, chain, w->n_ranks);
    uint32_t *source = DSE_ARENA_NEW(o->arena, uint32_t, w->n_ranks), n = 0, k;
    uint32_t *made = DSE_ARENA_NEW(o->arena, uint32_t, w->n_ranks);
    dse_status st = DSE_OK;

    for (uint32_t r = 0; st == DSE_OK && r < w->n_ranks; r++) {
        const chain c = chain_of(o, r);

        for (k = 0; k < n; k++)
            if (source[k] == w->rank[r].graph && !memcmp(of[k].node, c.node, c.n * sizeof *c.node))
                break;
        made[r] = k;
        if (k < n)
            continue;
        of[n] = c;
        source[n] = w->rank[r].graph;
        st = link_chain(w, r, &c, o->arena, &graph[n++], err);
    }
    for (uint32_t r = 0; st == DSE_OK && r < w->n_ranks; r++)
        w->rank[r].graph = made[r];
    w->graph = graph;
    w->n_graphs = n;
    return st;
}

dse_status sim_order_collectives(const sim_settings *set, const net_network *net, wl_workload *w,
                                 dse_arena *a, uint64_t *n_collectives, dse_error *err)
{
    struct sim_order o = {.arena = a, .w = w};
    dse_error why = DSE_ERROR_INIT;
    dse_status st = match(&o, err);

    if (st == DSE_OK && (st = run(&o, set, net, &why)) != DSE_OK)
        st = dse_fail(err, st, "no order of collectives lets the workload end: %s", why.text);
    if (st == DSE_OK)
        st = link_ranks(&o, w, err);
    *n_collectives = o.n_meetings;
    dse_idtable_free(&o.by_key);
    return st;
}
