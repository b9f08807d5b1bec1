/* Local memory: which tensors a rank holds when, and the most it ever holds.
 *
 * A tensor counts from the start of the node that writes it to the end of the last node that reads it. One
 * that is read but written by nobody counts from tick 0, one that is never read is never freed. Tensors
 * are known by name; the size is the one first seen. Source: LocalMemUsageTracker.cc of the reference. */
#include "sim/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void sim_memory_record(sim_engine *e, uint32_t rank, uint32_t node)
{
    sim_rank *r = &e->rank[rank];
    const wl_graph *g = r->graph->graph;
    sim_place place;

    if (!g->node[node].has_io) {
        sim_fail(
            e, DSE_E_WORKLOAD,
            "%s lacks the attributes 'inputs' and 'outputs', which memory tracking (track-local-mem) needs",
            sim_where(e, rank, node, &place));
        return;
    }
    for (uint32_t k = g->inputs.start[node]; k < g->inputs.start[node + 1]; k++) {
        sim_tensor *t = &r->tensor[g->inputs.item[k].tensor];

        if (t->write_start == DSE_TIME_NONE)
            *t = (sim_tensor){0, DSE_TIME_NONE, g->inputs.item[k].size};
        t->last_read_end = r->end[node];
    }
    for (uint32_t k = g->outputs.start[node]; k < g->outputs.start[node + 1]; k++) {
        sim_tensor *t = &r->tensor[g->outputs.item[k].tensor];

        if (t->write_start != DSE_TIME_NONE) {
            sim_fail(e, DSE_E_WORKLOAD,
                     "%s writes the tensor '%.100s', which has been written or read before",
                     sim_where(e, rank, node, &place), g->tensor[g->outputs.item[k].tensor].name);
            return;
        }
        *t = (sim_tensor){r->start[node], DSE_TIME_NONE, g->outputs.item[k].size};
    }
}

typedef struct {
    dse_time at;
    uint64_t change; /* modulo 2^64: frees are negative */
} memory_change;

static int compare_changes(const void *a, const void *b)
{
    const memory_change *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

dse_status sim_memory_peak(sim_engine *e, uint32_t rank, uint64_t *bytes, dse_time *at)
{
    const sim_rank *r = &e->rank[rank];
    uint32_t n_tensors = r->graph->graph->n_tensors;
    memory_change *c = dse_calloc(2u * (size_t)n_tensors, sizeof *c);
    uint64_t held = 0;
    size_t n = 0;

    if (!c)
        return dse_fail_nomem(e->err);
    for (uint32_t i = 0; i < n_tensors; i++) {
        const sim_tensor *t = &r->tensor[i];

        if (t->write_start == DSE_TIME_NONE)
            continue;
        c[n++] = (memory_change){t->write_start, t->size};
        if (t->last_read_end != DSE_TIME_NONE)
            c[n++] = (memory_change){t->last_read_end, 0 - t->size};
    }
    qsort(c, n, sizeof *c, compare_changes);
    *bytes = *at = 0;
    for (size_t i = 0; i < n; i++) {
        held += c[i].change;
        /* What is written and what is freed at one tick is not held together. */
        if ((i + 1 == n || c[i + 1].at != c[i].at) && held > *bytes) {
            *bytes = held;
            *at = c[i].at;
        }
    }
    dse_free(c);
    return DSE_OK;
}

void sim_memory_held(const sim_engine *e, uint32_t rank, dse_time at, uint64_t held[WL_N_TENSOR_KINDS])
{
    const sim_rank *r = &e->rank[rank];

    memset(held, 0, WL_N_TENSOR_KINDS * sizeof *held);
    for (uint32_t i = 0; i < r->graph->graph->n_tensors; i++) {
        const sim_tensor *t = &r->tensor[i];

        /* DSE_TIME_NONE, never written and never freed, is after every tick. */
        if (t->write_start <= at && at < t->last_read_end)
            held[r->graph->graph->tensor[i].kind] += t->size;
    }
}
