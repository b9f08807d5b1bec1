#include "sim/expand.h"

#include "sim/engine.h"
#include "sim/figures.h"

#include <string.h>

/* The classes' record has the intervals of class after class. */
void sim_expand_record(const sim_engine *e, const sim_classes *c, trace_ticks *out)
{
    const wl_workload *w = c->full;
    uint64_t *begin = DSE_ARENA_NEW(e->arena, uint64_t, c->n + 1u), n = 0, at = 0;
    trace_ticks one;

    sim_fill_record(e, &one);
    for (uint32_t i = 0; i < c->n; i++) {
        begin[i + 1] = begin[i] + e->rank[i].n_issued;
        n += (uint64_t)e->rank[i].n_issued * c->n_alike[i];
    }
    trace_ticks_init(out, w->n_ranks, n, e->arena);
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        uint64_t first = begin[c->of[r]], n_here = begin[c->of[r] + 1] - first;

        memcpy(out->start + at, one.start + first, n_here * sizeof *out->start);
        memcpy(out->end + at, one.end + first, n_here * sizeof *out->end);
        memcpy(out->category + at, one.category + first, n_here * sizeof *out->category);
        memcpy(out->type + at, one.type + first, n_here * sizeof *out->type);
        memcpy(out->collective + at, one.collective + first, n_here * sizeof *out->collective);
        memcpy(out->bytes + at, one.bytes + first, n_here * sizeof *out->bytes);
        memcpy(out->kernel + at, one.kernel + first, n_here * sizeof *out->kernel);
        for (uint64_t k = 0; k < n_here; k++) {
            uint32_t node = e->rank[c->of[r]].issued[k];

            out->rank[at + k] = r;
            out->id[at + k] = wl_node_id(w, r, node);
            out->with[at + k] = sim_ticks_with(w, r, node);
            out->name[at + k] = wl_rank_graph(w, r)->node[node].name;
        }
        at += n_here;
    }
}

/* The order by tick, then by rank: ranks take the places that the order of the classes reserves for their
 * tick. */
static void expand_order(const sim_engine *e, const sim_classes *c, uint32_t *out)
{
    uint32_t *first = DSE_ARENA_NEW(e->arena, uint32_t, c->n); /* per class: the first class of its tick */
    uint32_t *next = DSE_ARENA_NEW(e->arena, uint32_t, c->n); /* per such class: its tick's next free place */
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t class = e->finish_order[i], before = i ? e->finish_order[i - 1] : class;

        first[class] = i && e->stats[before].finished == e->stats[class].finished ? first[before] : class;
        if (first[class] == class)
            next[class] = n;
        n += c->n_alike[class];
    }
    for (uint32_t r = 0; r < c->full->n_ranks; r++)
        out[next[first[c->of[r]]]++] = r;
}

void sim_expand_result(const sim_engine *e, const sim_classes *c, uint64_t n_messages, uint64_t n_events,
                       sim_result *out)
{
    uint32_t n = c->full->n_ranks, *order = DSE_ARENA_NEW(e->arena, uint32_t, n);
    sim_rank_stats *rank = DSE_ARENA_NEW(e->arena, sim_rank_stats, n);

    sim_fill_result(e, out);
    for (uint32_t r = 0; r < n; r++)
        rank[r] = out->rank[c->of[r]];
    out->n_ranks = n;
    out->rank = rank;
    out->finish_order = order;
    out->n_nodes = 0;
    for (uint32_t i = 0; i < c->n; i++)
        out->n_nodes += (uint64_t)e->rank[i].n_issued * c->n_alike[i];
    out->n_messages = n_messages;
    out->n_events = n_events;
    out->step.rank = c->first[out->step.rank];
    out->peak.rank = e->set->track_memory ? c->first[out->peak.rank] : 0;
    expand_order(e, c, order);
}
