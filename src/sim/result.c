/* The results of a run that has ended: when each node ran, and the figures. */
#include "sim/classes.h"
#include "sim/engine.h"
#include "sim/figures.h"

static trace_ticks_category category_of(const wl_node *node)
{
    switch (node->type) {
    case WL_NODE_COMP: return node->is_cpu_op ? TRACE_TICKS_CPU : TRACE_TICKS_COMPUTE;
    case WL_NODE_COLL: return TRACE_TICKS_COLLECTIVE;
    case WL_NODE_SEND: return TRACE_TICKS_SEND;
    case WL_NODE_RECV: return TRACE_TICKS_RECV;
    case WL_NODE_MEM_LOAD:
    case WL_NODE_MEM_STORE: return TRACE_TICKS_MEMORY;
    default: return TRACE_TICKS_OTHER;
    }
}

/* The field `with` of trace_ticks. */
static uint32_t ticks_with(const wl_workload *w, uint32_t rank, uint32_t node)
{
    const wl_rank *r = &w->rank[rank];
    const wl_node *n = &wl_rank_graph(w, rank)->node[node];

    if (n->is_cpu_op) /* does not communicate, and may lack a peer */
        return DSE_NONE;
    if (n->type == WL_NODE_SEND || n->type == WL_NODE_RECV)
        return r->p2p[n->slot].peer;
    return n->type == WL_NODE_COLL && n->slot != DSE_NONE ? r->group[n->slot] : DSE_NONE;
}

/* The kernels of a graph, for the record; NULL: they are not known. */
static const trace_kernel *list_kernels(const wl_graph *g, dse_arena *a)
{
    trace_kernel *out = g->kernel ? DSE_ARENA_RAW(a, trace_kernel, g->n_kernels) : NULL;

    for (uint32_t i = 0; out && i < g->n_kernels; i++) {
        const wl_kernel *k = &g->kernel[i];

        out[i] = (trace_kernel){wl_kernel_class_name(k->class), k->extent[WL_EXTENT_M],
                                k->extent[WL_EXTENT_N], k->extent[WL_EXTENT_K], k->extent[WL_EXTENT_BATCH]};
    }
    return out;
}

/* The rank of the engine that stands for one of the workload. */
static uint32_t rank_for(const sim_classes *c, uint32_t rank) { return c ? c->of[rank] : rank; }

void sim_fill_record(const sim_engine *e, const sim_classes *c, trace_ticks *out)
{
    const trace_kernel *kernel = list_kernels(&e->w->graph[0], e->arena); /* all graphs share them */
    const wl_workload *w = c ? c->full : e->w;
    uint64_t n = 0, at = 0;

    for (uint32_t r = 0; r < w->n_ranks; r++)
        n += e->rank[rank_for(c, r)].n_issued;
    trace_ticks_init(out, w->n_ranks, n, e->arena);
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        const sim_rank *rank = &e->rank[rank_for(c, r)];

        for (uint32_t k = 0; k < rank->n_issued; k++, at++) {
            uint32_t node = rank->issued[k];
            const wl_node *wn = &rank->graph->graph->node[node];

            out->rank[at] = r;
            out->id[at] = wl_node_id(w, r, node);
            out->start[at] = rank->start[node];
            out->end[at] = rank->end[node];
            out->category[at] = (uint8_t)category_of(wn);
            out->type[at] = wn->type;
            out->bytes[at] = wn->comm_size;
            out->collective[at] = wn->coll;
            out->with[at] = ticks_with(w, r, node);
            out->name[at] = wn->name;
            if (kernel && wn->type == WL_NODE_COMP)
                out->kernel[at] = &kernel[rank->graph->graph->kernel_of[node]];
        }
    }
}

/* The ranks in the order by tick, then by rank: they take the places that the order of the classes reserves
 * for their tick. */
static uint32_t *expand_order(const sim_engine *e, const sim_classes *c)
{
    uint32_t *first = DSE_ARENA_NEW(e->arena, uint32_t, c->n); /* per class: the first class of its tick */
    uint32_t *next = DSE_ARENA_NEW(e->arena, uint32_t, c->n); /* per such class: its tick's next free place */
    uint32_t *order = DSE_ARENA_NEW(e->arena, uint32_t, c->full->n_ranks), n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t class = e->finish_order[i], before = i ? e->finish_order[i - 1] : class;

        first[class] = i && e->stats[before].finished == e->stats[class].finished ? first[before] : class;
        if (first[class] == class)
            next[class] = n;
        n += c->n_alike[class];
    }
    for (uint32_t r = 0; r < c->full->n_ranks; r++)
        order[next[first[c->of[r]]]++] = r;
    return order;
}

/* Makes the result of all ranks from that of their classes. */
static void expand_result(const sim_engine *e, const sim_classes *c, sim_result *out)
{
    out->n_ranks = c->full->n_ranks;
    out->rank = DSE_ARENA_NEW(e->arena, sim_rank_stats, out->n_ranks);
    for (uint32_t r = 0; r < out->n_ranks; r++)
        out->rank[r] = e->stats[c->of[r]];
    out->finish_order = expand_order(e, c);
    out->n_nodes = 0;
    for (uint32_t i = 0; i < c->n; i++)
        out->n_nodes += (uint64_t)e->rank[i].n_issued * c->n_alike[i];
    out->step.rank = c->first[out->step.rank];
    out->peak.rank = e->set->track_memory ? c->first[out->peak.rank] : 0;
}

void sim_fill_result(const sim_engine *e, const sim_classes *c, sim_result *out)
{
    *out = (sim_result){.n_ranks = e->w->n_ranks,
                        .rank = e->stats,
                        .finish_order = e->finish_order,
                        .n_nodes = e->n_nodes,
                        .n_messages = e->messages.n_posted,
                        .n_events = e->queue.n_events,
                        .n_undercharged = e->n_undercharged,
                        .n_flat_rings = e->n_flat_rings};
    sim_breakdown_of_slowest(e, &out->step);
    /* No link is busy after the last event. It is the finish of the last rank without the step's fixed cost,
     * unless messages are left that no rank waits for. */
    if (e->traffic)
        out->load = net_load_of(e->traffic, e->now + e->set->step_overhead, e->arena);
    if (e->set->track_memory)
        sim_peak_of_largest(e, &out->peak);
    if (c)
        expand_result(e, c, out);
}
