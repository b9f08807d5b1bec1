/* How many collectives ran; and how much they move, of execution traces: operators without times, so what can
 * be counted, and nothing that takes a clock. Their volumes are the bytes that a rank puts into its
 * collectives (as CCL-Bench's collective_vol_* of Kineto traces), whatever an algorithm makes of them. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/pick.h"
#include "metrics/tally.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Calls of one step, or NaN. */
static double per_step(const metric_view *v) { return v->n_steps ? (double)v->comm.n / v->n_steps : NAN; }

static const char *no_steps(const trace_rank *r)
{
    return r->kind == TRACE_ET ? "an execution trace has no step markers" : "no step markers";
}

static void count(const metric_view *v, uint64_t by_type[METRIC_COMM_TYPES])
{
    for (uint32_t c = 0; c < v->comm.n; c++)
        by_type[v->comm_type[c]]++;
}

/* An execution trace has no layers. */
static void put_calls(metric_value *to, const metric_view *v)
{
    uint64_t by_type[METRIC_COMM_TYPES] = {0};

    count(v, by_type);
    metric_put_integer(to, "total_calls", v->comm.n);
    metric_put_types(to, "calls_by_type", by_type);
    metric_put_number_or(to, "calls_per_iteration", per_step(v), no_steps(v->rank));
    if (v->rank->kind != TRACE_ET)
        metric_put_text(to, "layer", metric_layer_name[v->comm_layer]);
}

static void coll_call_num(const metric_context *x, metric_value *out)
{
    uint64_t by_type[METRIC_COMM_TYPES] = {0}, total = 0;
    metric_value *ranks;
    double mean = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        total += x->view[i].comm.n;
        mean += per_step(&x->view[i]) / x->n_views;
        count(&x->view[i], by_type);
    }
    metric_put_count(out, "total_calls", total);
    metric_put_types(out, "calls_by_type", by_type);
    metric_put_number_or(out, "calls_per_iteration", mean, no_steps(x->view[0].rank));
    metric_put_integer(out, "num_traces", x->n_views);
    ranks = metric_put_object(out, "per_rank");
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++)
        put_calls(metric_put_rank(ranks, v->rank), v);
}

/* ---- volumes of execution traces ------------------------------------------------------------- */

#define GB 1e9

/* What a rank puts into its collectives of a type (METRIC_COMM_TYPES: of all), by process group. */
static tally_rows groups_of(const metric_view *v, metric_comm_type type, dse_arena *a, uint64_t *unknown)
{
    tally t = {.arena = a};

    *unknown = 0;
    for (uint32_t c = 0; c < v->comm.n; c++) {
        const trace_args *args = metric_args_of(v->rank, &v->rank->event[v->comm.event[c]]);
        const char *group = TRACE_NAME(v->rank, args->group_name);
        tally_row *row;

        *unknown += args->bytes == TRACE_UNKNOWN;
        if (type != METRIC_COMM_TYPES && v->comm_type[c] != type)
            continue;
        row = tally_at(&t, dse_arena_printf(a, "%" PRIu32, args->group_name), group ? group : "unknown", "");
        row->n++;
        row->bytes += args->bytes == TRACE_UNKNOWN ? 0 : (double)args->bytes;
    }
    return tally_end(&t);
}

static double volume_of(const tally_rows *groups)
{
    double bytes = 0;

    for (size_t g = 0; g < groups->n; g++)
        bytes += groups->row[g].bytes;
    return bytes / GB;
}

/* The row's rule is the type; METRIC_COMM_TYPES: all. The bare value is the lowest rank's, as upstream takes
 * the first file. */
static void volume(const metric_context *x, metric_value *out)
{
    const metric_comm_type type = *(const metric_comm_type *)x->row->rule;
    metric_value *own = metric_put_number(out, x->row->name, 0),
                 *sum = metric_put_number(out, "sum_over_ranks_gb", 0),
                 *ranks = metric_put_object(out, "per_rank");

    for (uint32_t i = 0; i < x->n_views; i++) {
        metric_value *to = metric_put_rank(ranks, x->view[i].rank), *groups;
        uint64_t unknown;
        const tally_rows of = groups_of(&x->view[i], type, x->arena, &unknown);

        own->number = i ? own->number : volume_of(&of);
        sum->number += volume_of(&of);
        metric_put_number(to, x->row->name, volume_of(&of));
        if (unknown)
            metric_put_count(to, "calls_without_size", unknown);
        groups = type == METRIC_COMM_TYPES ? metric_put_object(to, "by_group") : NULL;
        for (size_t g = 0; groups && g < of.n; g++) {
            metric_value *group = metric_put_object(groups, of.row[g].name);

            metric_put_count(group, "calls", of.row[g].n);
            metric_put_number(group, "gb", of.row[g].bytes / GB);
        }
    }
}

/* ---- as the original tool has it: every layer of each file ---------------------------------- */

#define KERNELS(library)                                                                                     \
    "=^" library "AllReduce|=^" library "ReduceScatter|=^" library "AllGather|=^" library "Broadcast|"       \
    "=^" library "Reduce|=^" library "SendRecv|=^" library "AllToAll"

static const metric_pick all_calls =
    METRIC_PICK(METRIC_INSTANTS, {.names = METRIC_COMPAT_CALLS},
                {0, "kernel", .names = KERNELS("ncclDevKernel_") "|" KERNELS("ncclKernel_")});

/* A file of several ranks, as simulated runs are, is one file. One that calls itself metadata is passed
 * over. */
static void coll_call_num_compat(const metric_context *x, metric_value *out)
{
    uint64_t by_type[METRIC_COMM_TYPES] = {0};
    metric_value *sum = metric_put_count(out, "total_calls", 0), *file = NULL;
    metric_value *files = metric_put_object(out, "calls_per_rank");
    const char *last = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        metric_picked p;

        if (metric_says(metric_file_name(r), "metadata"))
            continue;
        if (!last || strcmp(last, r->path) != 0) {
            file = metric_put_count(files, metric_file_name(r), 0);
            n++;
        }
        last = r->path;
        p = metric_pick_of(r, NULL, &all_calls, x->arena);
        for (uint32_t k = 0; k < p.list.n; k++)
            by_type[metric_comm_type_of_word(METRIC_TEXT_OF(r, metric_picked_at(&p, k)))]++;
        file->integer += p.list.n;
        sum->integer += p.list.n;
    }
    metric_put_types(out, "calls_by_type", by_type);
    metric_put_integer(out, "num_traces", n);
}

#define VOLUME(id, type, words)                                                                              \
    METRIC_ROW(id, "et", "GB", METRIC_ON(TRACE_ET), 0,                                                       \
               "bytes that the lowest rank puts into " words ", from its execution trace"),                  \
        .put = volume, .headline = (id), METRIC_RULE(metric_comm_type, type)

static const metric rows[] = {
    {METRIC_ROW("coll_call_num", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_EVIDENCE,
                "number of collectives by type, per rank and per step; counted in one layer, the kernels if "
                "there are any"),
     .sums = "total_calls|calls_by_type", .put = coll_call_num,
     METRIC_ENTRY("calls_by_type", "calls", METRIC_NEITHER, METRIC_COUNT_TOLERANCE),
     .compat_put = coll_call_num_compat, .compat_kinds = METRIC_ON_HOST},
    {METRIC_ROW("coll_call_num", "et", "", METRIC_ON(TRACE_ET), 0,
                "number of collectives, per rank and type, from execution traces"),
     .put = coll_call_num},
    {VOLUME("collective_vol_allreduce_gb", METRIC_ALL_REDUCE, "all-reduces")},
    {VOLUME("collective_vol_allgather_gb", METRIC_ALL_GATHER, "all-gathers")},
    {VOLUME("collective_vol_reducescatter_gb", METRIC_REDUCE_SCATTER, "reduce-scatters")},
    {VOLUME("collective_vol_alltoall_gb", METRIC_ALL_TO_ALL, "all-to-alls")},
    {VOLUME("collective_vol_total_gb", METRIC_COMM_TYPES, "all collectives, per group, too")},
};

METRIC_FAMILY(calls);
