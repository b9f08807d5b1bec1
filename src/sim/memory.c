/* Local memory: which tensors a rank holds when, and the most it ever holds.
 *
 * A tensor counts from the start of the node that writes it to the end of the last node that reads it. A
 * tensor that no node writes counts from tick 0; one that is never read is never freed. Tensors are known by
 * name; the size is the one first seen. Source: LocalMemUsageTracker.cc of the reference. The resident bytes
 * of a graph, which trace files cannot express, count from the first tick to the last. */
#include "sim/engine.h"
#include "sim/figures.h"

#include <inttypes.h>
#include <string.h>

/* A whole gradient is needed until its collective has reduced it: the update reads the shard, which is
 * resident. It may come much later, as updates have the highest ids. */
static bool needs_shard(const wl_graph *g, uint32_t node, uint32_t tensor)
{
    return g->tensor[tensor].kind == WL_TENSOR_WHOLE && g->node[node].type == WL_NODE_COMP &&
           g->node[node].tensor_kind == WL_TENSOR_UPDATED_WEIGHT;
}

void sim_memory_record(sim_engine *e, uint32_t rank, uint32_t node)
{
    sim_rank *r = &e->rank[rank];
    const wl_graph *g = r->graph->graph;
    const bool skips_empty = sim_settings_version(e->set)->skips_empty_tensors;

    if (!r->graph->all_have_io && !g->node[node].has_io) {
        sim_fail(
            e, DSE_E_WORKLOAD,
            "%s lacks the attributes 'inputs' and 'outputs', which memory tracking (track-local-mem) needs",
            sim_where(e, rank, node).text);
        return;
    }
    for (uint32_t k = g->inputs.start[node]; k < g->inputs.start[node + 1]; k++) {
        sim_tensor *t = &r->tensor[g->inputs.item[k].tensor];

        if (needs_shard(g, node, g->inputs.item[k].tensor) || (skips_empty && !g->inputs.item[k].size))
            continue;
        if (t->write_start == DSE_TIME_NONE)
            *t = (sim_tensor){0, DSE_TIME_NONE, g->inputs.item[k].size, DSE_NONE};
        t->last_read_end = r->end[node];
        t->last_reader = node;
    }
    for (uint32_t k = g->outputs.start[node]; k < g->outputs.start[node + 1]; k++) {
        sim_tensor *t = &r->tensor[g->outputs.item[k].tensor];

        if (skips_empty && !g->outputs.item[k].size)
            continue;
        if (t->write_start != DSE_TIME_NONE) {
            sim_fail(e, DSE_E_WORKLOAD,
                     "%s writes the tensor '%.100s', which has been written or read before",
                     sim_where(e, rank, node).text, g->tensor[g->outputs.item[k].tensor].name);
            return;
        }
        *t = (sim_tensor){r->start[node], DSE_TIME_NONE, g->outputs.item[k].size, DSE_NONE};
    }
}

/* Writes in the order in which nodes were issued, frees in the order in which last readers ended: both ascend
 * in time. */
typedef struct {
    const sim_rank *r;
    uint32_t node; /* in r->issued, in r->ended */
    uint32_t item; /* of its outputs, of its inputs */
} change_list;

/* Tensors held from tick 0 on are not in the list. */
static const sim_tensor *next_write(change_list *l)
{
    const wl_graph *g = l->r->graph->graph;

    for (; l->node < l->r->n_issued; l->node++, l->item = 0) {
        uint32_t node = l->r->issued[l->node], n = g->outputs.start[node + 1] - g->outputs.start[node];

        while (l->item < n) {
            const wl_io *io = &g->outputs.item[g->outputs.start[node] + l->item++];

            /* What is empty changes nothing, and may not be tracked. */
            if (io->size && l->r->tensor[io->tensor].write_start)
                return &l->r->tensor[io->tensor];
        }
    }
    return NULL;
}

/* A node may read a tensor twice; it is freed once. */
static const sim_tensor *next_free(change_list *l)
{
    const wl_graph *g = l->r->graph->graph;

    for (; l->node < l->r->n_ended; l->node++, l->item = 0) {
        uint32_t node = l->r->ended[l->node], n = g->inputs.start[node + 1] - g->inputs.start[node];

        while (l->item < n) {
            sim_tensor *t = &l->r->tensor[g->inputs.item[g->inputs.start[node] + l->item++].tensor];

            if (t->last_reader == node) {
                t->last_reader = DSE_NONE;
                return t;
            }
        }
    }
    return NULL;
}

void sim_memory_peak(const sim_rank *r, uint64_t *bytes, dse_time *at)
{
    change_list writes = {.r = r}, frees = {.r = r};
    const sim_tensor *write, *free;
    uint64_t held = 0; /* modulo 2^64 */
    dse_time now = 0;

    for (int kind = 0; kind < WL_N_TENSOR_KINDS; kind++)
        held += r->graph->graph->resident[kind];
    for (uint32_t i = 0; i < r->graph->graph->n_tensors; i++)
        if (r->tensor[i].write_start == 0)
            held += r->tensor[i].size;
    *bytes = *at = 0;
    write = next_write(&writes);
    free = next_free(&frees);
    for (;;) {
        /* A tensor written and a tensor freed at one tick are not held together. */
        for (; write && write->write_start == now; write = next_write(&writes))
            held += write->size;
        for (; free && free->last_read_end == now; free = next_free(&frees))
            held -= free->size;
        if (held > *bytes) {
            *bytes = held;
            *at = now;
        }
        if (!write && !free)
            return;
        now = write && (!free || write->write_start < free->last_read_end) ? write->write_start
                                                                           : free->last_read_end;
    }
}

void sim_memory_held(const sim_engine *e, uint32_t rank, dse_time at, uint64_t held[WL_N_TENSOR_KINDS])
{
    const sim_rank *r = &e->rank[rank];

    memcpy(held, r->graph->graph->resident, WL_N_TENSOR_KINDS * sizeof *held);
    for (uint32_t i = 0; i < r->graph->graph->n_tensors; i++) {
        const sim_tensor *t = &r->tensor[i];

        /* DSE_TIME_NONE, never written and never freed, is after every tick. */
        if (t->write_start <= at && at < t->last_read_end)
            held[r->graph->graph->tensor[i].kind] += t->size;
    }
}
