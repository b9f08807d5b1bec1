/* Collectives: which kernels of several ranks are one, and how long it takes once all are there. */
#include "whatif/build_parts.h"

#include "base/strbuf.h"
#include "metrics/order.h"
#include "metrics/parallel.h"

#include <stdlib.h>
#include <string.h>

/* A communication of a rank: the ordinal-th of its kind, which is a group and a type. */
typedef struct {
    uint32_t kind, ordinal, op;
} call;

METRIC_COMPARE(by_collective, call, {x->kind, y->kind}, {x->ordinal, y->ordinal}, {x->op, y->op})

typedef struct {
    uint32_t group_size;
    uint8_t type, parallel;
} kind;

/* Point-to-point kernels of two ranks are one only if the group has no others. */
static bool can_match(const kind *k, const trace_args *args, const trace_rank *rank)
{
    const char *word = args ? TRACE_NAME(rank, args->collective) : NULL;

    return k->type != METRIC_SEND_RECV || k->group_size == 2 || !word;
}

static uint32_t size_of(const whatif_builder *b, const trace_rank *rank, const metric_group *group,
                        const trace_args *args)
{
    uint32_t size = group->size ? group->size : args ? args->group_size : 0;

    if (!size && group->ranks)
        size = metric_ranks_of(group->ranks, 0, b->arena).n;
    if (size || group->ranks)
        return size;
    return rank->world_size > b->graph->n_ranks ? rank->world_size : b->graph->n_ranks;
}

static void list_calls(whatif_builder *b, const whatif_rank *rank, call *to, kind *kinds, uint32_t *n)
{
    trace_names names = {0};
    dse_strbuf name = dse_strbuf_in(&b->scratch);
    const whatif_graph *g = b->graph;
    uint32_t *count = DSE_ARENA_NEW(&b->scratch, uint32_t, g->n_ops + 1), n_kinds = 0;

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        const trace_rank *in = rank[r].view->rank;

        memset(count, 0, n_kinds * sizeof *count);
        for (uint32_t i = 0; i < rank[r].n_gpu; i++) {
            uint32_t op = rank[r].gpu[i];
            const trace_args *args = metric_args_of(in, &in->event[g->op[op].event]);
            metric_group group = args ? metric_group_of(in, args) : (metric_group){0};
            uint8_t type = rank[r].comm_type[g->op[op].event];
            uint32_t k;

            if (!whatif_communicates(&g->op[op]))
                continue;
            dse_strbuf_clear(&name);
            dse_strbuf_addf(&name, "%u %s", type, group.ranks ? group.ranks : "");
            k = trace_names_add(&names, name.data, name.len);
            if (k == n_kinds)
                kinds[n_kinds++] = (kind){
                    size_of(b, in, &group, args), type,
                    (uint8_t)(group.desc ? metric_parallel_of_description(group.desc) : METRIC_UNKNOWN)};
            if (can_match(&kinds[k], args, in))
                to[(*n)++] = (call){k, count[k]++, op};
            else
                b->graph->n_unmatched++;
        }
    }
    trace_names_free(&names);
    if (*n)
        qsort(to, *n, sizeof *to, by_collective);
}

void whatif_match(whatif_builder *b, const whatif_rank *rank)
{
    whatif_graph *g = b->graph;
    call *calls = DSE_ARENA_RAW(&b->scratch, call, g->n_ops);
    kind *kinds = DSE_ARENA_RAW(&b->scratch, kind, g->n_ops);
    uint32_t n = 0;

    list_calls(b, rank, calls, kinds, &n);
    g->collective = DSE_ARENA_NEW(b->arena, whatif_collective, n);
    g->member = DSE_ARENA_RAW(b->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        const kind *k = &kinds[calls[i].kind];
        whatif_collective *c;

        if (!i || calls[i].kind != calls[i - 1].kind || calls[i].ordinal != calls[i - 1].ordinal)
            g->collective[g->n_collectives++] = (whatif_collective){
                .first_op = i, .group_size = k->group_size, .type = k->type, .parallel = k->parallel};
        c = &g->collective[g->n_collectives - 1];
        c->n_ranks++;
        g->member[i] = calls[i].op;
        g->op[calls[i].op].collective = g->n_collectives - 1;
    }
    for (uint32_t i = 0; i < g->n_collectives; i++) {
        whatif_collective *c = &g->collective[i];

        c->whole = b->from->replicate || c->n_ranks >= c->group_size;
        g->n_part_recorded += !c->whole;
    }
}

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The median over collectives of how much later than their first end a rank's is. */
void whatif_lateness(const whatif_builder *b, int64_t *late)
{
    const whatif_graph *g = b->graph;
    int64_t *by = DSE_ARENA_RAW(b->arena, int64_t, g->n_collectives);

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        uint32_t n = 0;

        for (uint32_t i = 0; i < g->n_collectives; i++) {
            const whatif_collective *c = &g->collective[i];
            const uint32_t *member = g->member + c->first_op;
            int64_t first = INT64_MAX, own = INT64_MAX;

            for (uint32_t m = 0; m < c->n_ranks; m++) {
                first = g->op[member[m]].end < first ? g->op[member[m]].end : first;
                if (g->op[member[m]].rank == r)
                    own = g->op[member[m]].end;
            }
            if (own != INT64_MAX && c->n_ranks > 1)
                by[n++] = own - first;
        }
        qsort(by, n, sizeof *by, by_time);
        late[r] = n ? by[n / 2] : 0;
    }
}

/* Takes a collective apart whose ranks were never in it at once: they are not the same one. */
static void take_apart(whatif_graph *g, whatif_collective *c)
{
    for (uint32_t m = 0; m < c->n_ranks; m++)
        g->op[g->member[c->first_op + m]].collective = DSE_NONE;
    g->n_unmatched += c->n_ranks;
    c->n_ranks = 0;
}

void whatif_measure_comm(whatif_builder *b)
{
    whatif_graph *g = b->graph;

    for (uint32_t i = 0; i < g->n_collectives; i++) {
        whatif_collective *c = &g->collective[i];
        int64_t last_begin = INT64_MIN, first_end = INT64_MAX, last_end = INT64_MIN;

        for (uint32_t m = 0; m < c->n_ranks; m++) {
            const whatif_op *o = &g->op[g->member[c->first_op + m]];

            last_begin = o->start > last_begin ? o->start : last_begin;
            first_end = o->end < first_end ? o->end : first_end;
            last_end = o->end > last_end ? o->end : last_end;
        }
        if (c->n_ranks > 1 && last_begin > first_end + WHATIF_IDLE_PS)
            take_apart(g, c);
        else
            c->duration = last_end > last_begin ? last_end - last_begin : 0;
    }
}

/* All ranks are there before any of them ends; each ends as long after that as it was recorded to. */
void whatif_build_comm(whatif_builder *b)
{
    const whatif_graph *g = b->graph;

    for (uint32_t i = 0; i < g->n_collectives; i++) {
        const whatif_collective *c = &g->collective[i];
        int64_t last_begin = INT64_MIN;

        for (uint32_t m = 0; m < c->n_ranks; m++) {
            const whatif_op *o = &g->op[g->member[c->first_op + m]];

            last_begin = o->start > last_begin ? o->start : last_begin;
        }
        for (uint32_t m = 0; m < c->n_ranks; m++) {
            uint32_t op = g->member[c->first_op + m];

            whatif_link(b, whatif_begin(op), whatif_ready(g, i), 0, WHATIF_ORDER, DSE_NONE);
            whatif_link(b, whatif_ready(g, i), whatif_end(op), g->op[op].end - last_begin, WHATIF_NETWORK,
                        op);
        }
    }
}
