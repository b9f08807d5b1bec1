/* How many collectives ran. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/pick.h"

#include <math.h>
#include <string.h>

/* Calls of one step, or NaN. */
static double per_step(const metric_view *v) { return v->n_steps ? (double)v->comm.n / v->n_steps : NAN; }

static void count(const metric_view *v, uint64_t by_type[METRIC_COMM_TYPES])
{
    for (uint32_t c = 0; c < v->comm.n; c++)
        by_type[v->comm_type[c]]++;
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
    metric_put_number_or(out, "calls_per_iteration", mean, "no step markers");
    metric_put_integer(out, "num_traces", x->n_views);
    ranks = metric_put_object(out, "per_rank");
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        metric_value *rank = metric_put_rank(ranks, v->rank);

        memset(by_type, 0, sizeof by_type);
        count(v, by_type);
        metric_put_integer(rank, "total_calls", v->comm.n);
        metric_put_types(rank, "calls_by_type", by_type);
        metric_put_number_or(rank, "calls_per_iteration", per_step(v), "no step markers");
        metric_put_text(rank, "layer", metric_layer_name[v->comm_layer]);
    }
}

/* ---- as the original tool has it: every layer of each file ---------------------------------- */

#define KERNELS(library)                                                                                     \
    "=^" library "AllReduce|=^" library "ReduceScatter|=^" library "AllGather|=^" library "Broadcast|"       \
    "=^" library "Reduce|=^" library "SendRecv|=^" library "AllToAll"

static const metric_pick all_calls =
    METRIC_PICK(METRIC_INSTANTS, {.names = METRIC_COMPAT_CALLS},
                {0, "kernel", .names = KERNELS("ncclDevKernel_") "|" KERNELS("ncclKernel_")});

static uint64_t count_file(const trace_rank *r, dse_arena *a, uint64_t by_type[METRIC_COMM_TYPES])
{
    metric_picked p = metric_pick_of(r, NULL, &all_calls, a);

    for (uint32_t i = 0; i < p.list.n; i++)
        by_type[metric_comm_type_of_word(METRIC_TEXT_OF(r, metric_picked_at(&p, i)))]++;
    return p.list.n;
}

/* A file of several ranks, as simulated runs are, is one file. One that calls itself metadata is passed
 * over. */
static void coll_call_num_compat(const metric_context *x, metric_value *out)
{
    uint64_t by_type[METRIC_COMM_TYPES] = {0}, total = 0;
    metric_value *sum = metric_put_count(out, "total_calls", 0), *file = NULL;
    metric_value *files = metric_put_object(out, "calls_per_rank");
    const char *last = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        uint64_t calls;

        if (metric_says(metric_file_name(r), "metadata"))
            continue;
        if (!last || strcmp(last, r->path) != 0) {
            file = metric_put_count(files, metric_file_name(r), 0);
            n++;
        }
        last = r->path;
        calls = count_file(r, x->arena, by_type);
        file->integer += (int64_t)calls;
        total += calls;
    }
    sum->integer = (int64_t)total;
    metric_put_types(out, "calls_by_type", by_type);
    metric_put_integer(out, "num_traces", n);
}

static const metric rows[] = {
    {METRIC_ROW("coll_call_num", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_EVIDENCE,
                "number of collectives by type, per rank and per step; counted in one layer, the kernels if "
                "there are any"),
     .sums = "total_calls|calls_by_type", .put = coll_call_num,
     METRIC_ENTRY("calls_by_type", "calls", METRIC_NEITHER, METRIC_COUNT_TOLERANCE),
     .compat_put = coll_call_num_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(calls);
