/* The results of a run that has ended: when each node ran, and the figures. */
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

uint32_t sim_ticks_with(const wl_workload *w, uint32_t rank, uint32_t node)
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

void sim_fill_record(const sim_engine *e, trace_ticks *out)
{
    const trace_kernel *kernel = list_kernels(&e->w->graph[0], e->arena); /* all graphs share them */
    uint64_t n = 0, at = 0;

    for (uint32_t r = 0; r < e->w->n_ranks; r++)
        n += e->rank[r].n_issued;
    trace_ticks_init(out, e->w->n_ranks, n, e->arena);
    for (uint32_t r = 0; r < e->w->n_ranks; r++) {
        const sim_rank *rank = &e->rank[r];

        for (uint32_t k = 0; k < rank->n_issued; k++, at++) {
            uint32_t node = rank->issued[k];
            const wl_node *wn = &rank->graph->graph->node[node];

            out->rank[at] = r;
            out->id[at] = wl_node_id(e->w, r, node);
            out->start[at] = rank->start[node];
            out->end[at] = rank->end[node];
            out->category[at] = (uint8_t)category_of(wn);
            out->type[at] = wn->type;
            out->bytes[at] = wn->comm_size;
            out->collective[at] = wn->coll;
            out->with[at] = sim_ticks_with(e->w, r, node);
            out->name[at] = wn->name;
            if (kernel && wn->type == WL_NODE_COMP)
                out->kernel[at] = &kernel[rank->graph->graph->kernel_of[node]];
        }
    }
}

void sim_fill_result(const sim_engine *e, sim_result *out)
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
}
