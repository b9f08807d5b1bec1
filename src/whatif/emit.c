#include "whatif/emit.h"

#include "base/array.h"
#include "metrics/comm_size.h"
#include "whatif/build_parts.h"
#include "workload/chakra_v004.h"

#include <string.h>

/* A node of the trace of a rank, as an end of the time before a point. */
#define START DSE_NONE /* the begin of the step */

typedef struct {
    const whatif_recorded *recorded;
    const whatif_recording *from;
    const whatif_graph *graph;
    dse_arena *arena;
    whatif_files *out;
    int64_t *time;   /* by point: of the unchanged replay */
    uint32_t *after; /* by point: the node that it comes after */
    bool *is_end;    /* by point: a node ends there, as others wait for it */
    int64_t **end;   /* by rank and node */
    uint32_t *group; /* by collective: the number of its group; 0: all ranks; DSE_NONE: it is computation */
} emitter;

static uint64_t whole_us(int64_t ps) { return (uint64_t)((ps + TRACE_PS_PER_US / 2) / TRACE_PS_PER_US); }

static uint32_t rank_of(const whatif_graph *g, uint32_t point)
{
    return point < 2 * g->n_ops ? g->op[point / 2].rank : (point - whatif_step_begin(g, 0)) / 2;
}

static bool is_of_gpu(const whatif_graph *g, uint32_t point)
{
    return point < 2 * g->n_ops && g->op[point / 2].on_gpu;
}

static int64_t end_of(const emitter *m, uint32_t rank, uint32_t node)
{
    return node == START ? m->graph->step[rank].begin : m->end[rank][node];
}

/* A node that ends at a point, from the end of the latest of what it waits for. Both are rounded, not the
 * difference: in a chain no error adds up. */
static uint32_t add_node(emitter *m, uint32_t point, const char *name, bool on_host, const uint32_t *on,
                         uint32_t n)
{
    const whatif_attr attrs[] = {{"is_cpu_op", ATTR_BOOL, on_host, NULL}, {"num_ops", ATTR_INT64, 0, NULL}};
    uint32_t rank = rank_of(m->graph, point), id;
    whatif_et *et = &m->out->et[rank];
    whatif_node node = {.name = name, .type = WL_NODE_COMP};
    int64_t since = m->graph->step[rank].begin, first = since;

    for (uint32_t i = 0; i < n; i++)
        since = end_of(m, rank, on[i]) > since ? end_of(m, rank, on[i]) : since;
    if (m->time[point] > since)
        node.duration_us = whole_us(m->time[point] - first) - whole_us(since - first);
    whatif_et_set_attrs(&node, m->arena, attrs, DSE_COUNT(attrs));
    id = whatif_et_add(et, m->arena, node);
    for (uint32_t i = 0; i < n; i++)
        whatif_et_depend(et, m->arena, id, on[i]);
    m->end[rank][id] = m->time[point];
    return id;
}

/* ---- collectives ----------------------------------------------------------------------------- */

uint8_t whatif_collective_type(const whatif_collective *c)
{
    static const uint8_t types[METRIC_COMM_TYPES] = {[METRIC_ALL_REDUCE] = WL_ALL_REDUCE,
                                                     [METRIC_REDUCE_SCATTER] = WL_REDUCE_SCATTER,
                                                     [METRIC_ALL_GATHER] = WL_ALL_GATHER,
                                                     [METRIC_ALL_TO_ALL] = WL_ALL_TO_ALL,
                                                     [METRIC_BROADCAST] = WL_BROADCAST};
    bool has = c->type <= METRIC_BROADCAST;

    return has ? types[c->type] : WHATIF_NO_COLLECTIVE;
}

uint64_t whatif_collective_bytes(const whatif_graph *g, const whatif_recording *from,
                                 const whatif_collective *c)
{
    const whatif_op *o = &g->op[g->member[c->first_op]];
    const trace_rank *rank = from->view[o->rank].rank;
    metric_comm_size size = metric_comm_size_of(rank, &rank->event[o->event], (metric_comm_type)c->type);

    if (size.state != METRIC_SIZE_KNOWN)
        return 0;
    if (c->type != METRIC_ALL_GATHER)
        return size.bytes;
    return size.in_bytes && size.in_bytes != TRACE_UNKNOWN ? size.in_bytes
           : c->group_size                                 ? size.bytes / c->group_size
                                                           : 0;
}

static uint32_t number_of(emitter *m, const whatif_collective *c, size_t *cap)
{
    whatif_group g = {0};
    whatif_files *out = m->out;

    g.rank = DSE_ARENA_RAW(m->arena, uint32_t, c->n_ranks);
    for (; g.n < c->n_ranks; g.n++)
        g.rank[g.n] = m->graph->op[m->graph->member[c->first_op + g.n]].rank;
    for (uint32_t i = 0; i < out->n_groups; i++)
        if (out->group[i].n == g.n && !memcmp(out->group[i].rank, g.rank, g.n * sizeof *g.rank))
            return i + 1;
    DSE_ARENA_GROW(m->arena, out->group, *cap, out->n_groups + 1);
    out->group[out->n_groups++] = g;
    return out->n_groups;
}

/* Which of them a simulator computes. Of replicated ranks only groups of all ranks are known. */
static void choose(emitter *m)
{
    const whatif_graph *g = m->graph;
    size_t cap = 0;

    m->group = DSE_ARENA_RAW(m->arena, uint32_t, g->n_collectives + 1);
    for (uint32_t i = 0; i < g->n_collectives; i++) {
        const whatif_collective *c = &g->collective[i];
        bool is_all = c->n_ranks == g->n_ranks && (!c->group_size || c->group_size == m->out->n_ranks);

        m->group[i] = DSE_NONE;
        if (whatif_collective_type(c) == WHATIF_NO_COLLECTIVE ||
            !whatif_collective_bytes(m->graph, m->from, c) || !c->whole)
            m->out->n_dropped++;
        else if (is_all)
            m->group[i] = 0;
        else if (m->out->n_ranks == g->n_ranks)
            m->group[i] = number_of(m, c, &cap);
        else
            m->out->n_dropped++;
    }
}

static void make_collective(emitter *m, uint32_t rank, uint32_t node, const whatif_collective *c,
                            uint32_t group)
{
    const whatif_attr attrs[] = {
        {"is_cpu_op", ATTR_BOOL, 0, NULL},
        {"comm_type", ATTR_INT64, whatif_collective_type(c), NULL},
        {"comm_size", ATTR_INT64, (int64_t)whatif_collective_bytes(m->graph, m->from, c), NULL},
        {"pg_name", ATTR_STRING, 0, dse_arena_printf(m->arena, "%u", group)}};
    whatif_node *n = &m->out->et[rank].node[node];

    n->type = WL_NODE_COLL;
    n->coll = whatif_collective_type(c);
    n->bytes = whatif_collective_bytes(m->graph, m->from, c);
    n->duration_us = 0;
    whatif_et_set_attrs(n, m->arena, attrs, DSE_COUNT(attrs) - !group);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* A point of the host that something besides the thread's next point waits for, one that waits for several,
 * and the end of the step are ends of nodes. */
static void find_ends(emitter *m)
{
    const whatif_graph *g = m->graph;
    uint32_t *n_after = DSE_ARENA_NEW(m->arena, uint32_t, g->n_points);

    for (size_t e = 0; e < g->n_edges; e++) {
        uint32_t from = g->edge[e].from, to = g->edge[e].to;

        if (++n_after[from] > 1 || is_of_gpu(g, to) || g->first_edge[to + 1] - g->first_edge[to] > 1)
            m->is_end[from] = true;
    }
    for (uint32_t r = 0; r < g->n_ranks; r++)
        m->is_end[whatif_step_end(g, r)] = true;
}

static uint32_t sources(const emitter *m, uint32_t point, uint32_t *list, uint32_t max)
{
    const whatif_graph *g = m->graph;
    uint32_t n = 0;

    for (size_t e = g->first_edge[point]; e < g->first_edge[point + 1] && n < max; e++)
        list[n++] = m->after[g->edge[e].from];
    return n;
}

/* More are possible only for a call that waits for the device, of as many streams. */
#define MAX_SOURCES 256

static void add_host(emitter *m, uint32_t point)
{
    uint32_t list[MAX_SOURCES], rank = rank_of(m->graph, point), n = sources(m, point, list, MAX_SOURCES);

    m->after[point] = n ? list[0] : START;
    if (n > 1 || (m->is_end[point] && end_of(m, rank, m->after[point]) < m->time[point]))
        m->after[point] =
            add_node(m, point, dse_arena_printf(m->arena, "host_%u", m->out->et[rank].n), true, list, n);
}

static void add_gpu(emitter *m, uint32_t op)
{
    const whatif_op *o = &m->graph->op[op];
    const trace_rank *in = m->from->view[o->rank].rank;
    uint32_t list[MAX_SOURCES], n = sources(m, whatif_begin(op), list, MAX_SOURCES);
    const char *name =
        dse_arena_printf(m->arena, "%s_%u", TRACE_NAME(in, in->event[o->event].name), m->out->et[o->rank].n);
    uint32_t node = add_node(m, whatif_end(op), name, false, list, n);

    if (o->collective != DSE_NONE && m->group[o->collective] != DSE_NONE)
        make_collective(m, o->rank, node, &m->graph->collective[o->collective], m->group[o->collective]);
    m->after[whatif_end(op)] = node;
}

dse_status whatif_emit(const whatif_recorded *r, const whatif_recording *from, dse_arena *a,
                       whatif_files *out, dse_error *err)
{
    const whatif_graph *g = &r->graph;
    uint32_t world = from->view[0].rank->world_size;
    emitter m = {.recorded = r, .from = from, .graph = g, .arena = a, .out = out};

    if (from->replicate && g->n_ranks > 1 && world > g->n_ranks)
        return dse_fail(err, DSE_E_ABSENT,
                        "%u of %u ranks are recorded: which of them the others are like is unknown; give one "
                        "rank's trace, or all",
                        g->n_ranks, world);
    if (from->replicate && world > WHATIF_MAX_FILES)
        return dse_fail(err, DSE_E_RANGE, "%u ranks are more than a conversion writes (%u)", world,
                        WHATIF_MAX_FILES);
    *out = (whatif_files){.n_ranks = from->replicate && world > g->n_ranks ? world : g->n_ranks};
    out->et = DSE_ARENA_NEW(a, whatif_et, out->n_ranks);
    m.time = DSE_ARENA_RAW(a, int64_t, g->n_points);
    m.after = DSE_ARENA_RAW(a, uint32_t, g->n_points);
    m.is_end = DSE_ARENA_NEW(a, bool, g->n_points);
    m.end = DSE_ARENA_NEW(a, int64_t *, g->n_ranks);
    memset(m.after, 0xff, g->n_points * sizeof *m.after); /* START */
    for (uint32_t i = 0; i < g->n_ranks; i++)
        m.end[i] = DSE_ARENA_RAW(a, int64_t, 2u * g->step[i].n_ops + 2u);
    whatif_replay(g, NULL, m.time);
    choose(&m);
    find_ends(&m);
    for (uint32_t i = 0; i < g->n_points; i++) {
        uint32_t p = g->order[i];

        if (is_of_gpu(g, p) && p == whatif_end(p / 2))
            add_gpu(&m, p / 2);
        else if (!is_of_gpu(g, p) && (p < 2 * g->n_ops || p >= whatif_step_begin(g, 0)))
            add_host(&m, p);
    }
    for (uint32_t i = g->n_ranks; i < out->n_ranks; i++)
        out->et[i] = out->et[0];
    return DSE_OK;
}
