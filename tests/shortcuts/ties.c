/* Nodes that end together, made on purpose: which of them the simulator handles first decides what a rank does next. */
#include "shortcuts/draw.h"

/* Operations that take so many ticks at the peak of the roofline; 0: there are none. */
static uint64_t operations_for(const sim_settings *set, dse_time ticks)
{
    double per_tick = set->peak_ops_per_s / 1e9;
    uint64_t ops = (uint64_t)((double)ticks * per_tick);

    for (int i = 0; i < 3; i++, ops++)
        if (ops && dse_ticks((double)ops / set->peak_ops_per_s * 1e9) == ticks)
            return ops;
    return 0;
}

static wl_node *find_node(const wl_workload *w, uint32_t rank, uint64_t id)
{
    const wl_graph *g = wl_rank_graph(w, rank);

    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (wl_node_id(w, rank, i) == id)
            return &g->node[i];
    return NULL;
}

uint32_t draw_ties(rng *r, drawn_case *c, const trace_ticks *record)
{
    uint32_t made = 0;

    if (!record->n || !c->settings.roofline)
        return 0;
    for (int tries = 0; tries < 60 && made < 4; tries++) {
        uint64_t at = rng_below(r, (uint32_t)record->n), with = rng_below(r, (uint32_t)record->n), ops;
        wl_node *n = find_node(&c->workload, record->rank[at], record->id[at]);

        if (n->type != WL_NODE_COMP || n->is_cpu_op || !n->tensor_size ||
            record->category[with] == TRACE_TICKS_COMPUTE || record->rank[with] != record->rank[at] ||
            record->end[with] <= record->start[at] ||
            !(ops = operations_for(&c->settings, record->end[with] - record->start[at])))
            continue;
        n->num_ops = ops;
        n->tensor_size = 1; /* so that the memory is no bound */
        made++;
    }
    return made;
}
