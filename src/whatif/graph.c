#include "whatif/graph.h"

void whatif_add_edge(whatif_graph *g, whatif_edge e, dse_arena *a)
{
    DSE_ARENA_GROW(a, g->edge, g->cap_edges, g->n_edges + 1);
    g->edge[g->n_edges++] = e;
}

/* Sorts the edges by their later point, keeping the order of those of a point. */
static void sort_edges(whatif_graph *g, dse_arena *a)
{
    whatif_edge *sorted = DSE_ARENA_RAW(a, whatif_edge, g->n_edges);
    uint32_t *next;

    g->first_edge = DSE_ARENA_NEW(a, uint32_t, g->n_points + 1);
    for (size_t i = 0; i < g->n_edges; i++)
        g->first_edge[g->edge[i].to + 1]++;
    for (uint32_t p = 0; p < g->n_points; p++)
        g->first_edge[p + 1] += g->first_edge[p];
    next = dse_arena_copy(a, g->first_edge, g->n_points, sizeof *next);
    for (size_t i = 0; i < g->n_edges; i++)
        sorted[next[g->edge[i].to]++] = g->edge[i];
    g->edge = sorted;
}

dse_status whatif_graph_finish(whatif_graph *g, dse_arena *a, uint32_t *at, dse_error *err)
{
    uint32_t *waits = DSE_ARENA_NEW(a, uint32_t, g->n_points),
             *first = DSE_ARENA_NEW(a, uint32_t, g->n_points + 1), *later, *next, n = 0;

    sort_edges(g, a);
    later = DSE_ARENA_RAW(a, uint32_t, g->n_edges);
    for (size_t i = 0; i < g->n_edges; i++)
        first[g->edge[i].from + 1]++;
    for (uint32_t p = 0; p < g->n_points; p++) {
        first[p + 1] += first[p];
        waits[p] = g->first_edge[p + 1] - g->first_edge[p];
    }
    next = dse_arena_copy(a, first, g->n_points, sizeof *next);
    for (size_t i = 0; i < g->n_edges; i++)
        later[next[g->edge[i].from]++] = g->edge[i].to;
    g->order = DSE_ARENA_RAW(a, uint32_t, g->n_points);
    for (uint32_t p = 0; p < g->n_points; p++)
        if (!waits[p])
            g->order[n++] = p;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = first[g->order[i]]; k < first[g->order[i] + 1]; k++)
            if (!--waits[later[k]])
                g->order[n++] = later[k];
    if (n == g->n_points)
        return DSE_OK;
    for (*at = 0; *at + 1 < g->n_ops && !waits[whatif_begin(*at)];)
        ++*at;
    return dse_fail(err, DSE_E_WORKLOAD, "operations wait for each other in a circle");
}

static int64_t weight_of(const whatif_graph *g, const int64_t *weight, size_t edge)
{
    return weight ? weight[edge] : g->edge[edge].weight;
}

void whatif_replay(const whatif_graph *g, const int64_t *weight, int64_t *time)
{
    for (uint32_t p = 0; p < g->n_points; p++)
        time[p] = 0;
    for (uint32_t r = 0; r < g->n_ranks; r++)
        time[whatif_step_begin(g, r)] = g->step[r].begin;
    for (uint32_t i = 0; i < g->n_points; i++) {
        uint32_t p = g->order[i];

        for (size_t e = g->first_edge[p]; e < g->first_edge[p + 1]; e++) {
            int64_t w = weight_of(g, weight, e);

            if (w != WHATIF_NO_EDGE && time[g->edge[e].from] + w > time[p])
                time[p] = time[g->edge[e].from] + w;
        }
    }
}

size_t whatif_last_edge(const whatif_graph *g, const int64_t *weight, const int64_t *time, uint32_t point)
{
    size_t found = WHATIF_NO_WAIT;

    for (size_t e = g->first_edge[point]; e < g->first_edge[point + 1]; e++) {
        int64_t w = weight_of(g, weight, e);

        /* Of several the one with the most weight: it says the most of where the time went. */
        if (w != WHATIF_NO_EDGE && time[g->edge[e].from] + w == time[point] &&
            (found == WHATIF_NO_WAIT || w > weight_of(g, weight, found)))
            found = e;
    }
    return found;
}
