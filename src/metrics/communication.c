/* Communication: how long, how often, how much, how fast, by collective.
 *
 * Counted from one layer of the trace (view.h), so that a call counts once. Bandwidths are sums of bytes over
 * sums of time, of the kernels whose size is given: algorithm bandwidth is the whole buffer over time, bus
 * bandwidth what crosses each link of a ring (comm_size.h). The original adds up what the host spends on
 * enqueueing, nested operators twice. */
#include "base/array.h"
#include "metrics/comm_size.h"
#include "metrics/guide.h"
#include "metrics/metric.h"

#include <math.h>

/* What the calls of a collective come to, of one rank or of several: how many there are, how many have a buffer
 * size, an input size, and a size with a factor; times and bytes of these. */
enum { CALLS, SIZED, WITH_INPUT, WITH_BUS, SUM_PS, UNION_PS, SIZED_PS, BUS_PS, AMOUNTS };

typedef struct {
    int64_t of[AMOUNTS];
    uint64_t in_bytes;       /* of the WITH_INPUT */
    double bytes, bus_bytes; /* of the SIZED, of the WITH_BUS */
} type_sum;

static void count(const trace_rank *r, const trace_event *e, metric_comm_type type, type_sum *s)
{
    const metric_comm_size size = metric_comm_size_of(r, e, type);
    const double factor = metric_bus_factor(type, size.group_size);
    const bool sized = size.state == METRIC_SIZE_KNOWN, input = sized && size.in_bytes != TRACE_UNKNOWN,
               bus = sized && !isnan(factor);

    s->of[CALLS]++;
    s->of[SIZED] += sized;
    s->of[WITH_INPUT] += input;
    s->of[WITH_BUS] += bus;
    s->of[SUM_PS] += e->dur_ps;
    s->of[SIZED_PS] += sized ? e->dur_ps : 0;
    s->of[BUS_PS] += bus ? e->dur_ps : 0;
    s->in_bytes += input ? size.in_bytes : 0;
    s->bytes += sized ? (double)size.bytes : 0;
    s->bus_bytes += bus ? factor * (double)size.bytes : 0;
}

static void add(type_sum *to, const type_sum *s)
{
    for (int i = 0; i < AMOUNTS; i++)
        to->of[i] += s->of[i];
    to->in_bytes += s->in_bytes;
    to->bytes += s->bytes;
    to->bus_bytes += s->bus_bytes;
}

/* ---- the definition ------------------------------------------------------------------------ */

typedef enum { COUNT, UNION, SUM, INPUT, BYTES, ALGORITHM_BANDWIDTH, BUS_BANDWIDTH } figure;

/* Puts one figure of a collective, if it is known. Bytes per picosecond are 1000 GB/s. */
static void put_figure(metric_value *to, const char *name, const type_sum *s, figure which)
{
    const int64_t *of = s->of;

    if (which == COUNT)
        metric_put_integer(to, name, of[CALLS]);
    else if (which == UNION || which == SUM)
        metric_put_ms(to, name, of[which == UNION ? UNION_PS : SUM_PS]);
    else if (which == INPUT && of[WITH_INPUT])
        metric_put_count(to, name, s->in_bytes);
    else if (which == BYTES && of[SIZED])
        metric_put_number(to, name, s->bytes);
    else if (which == ALGORITHM_BANDWIDTH && of[SIZED] && of[SIZED_PS] > 0)
        metric_put_number(to, name, 1000 * s->bytes / (double)of[SIZED_PS]);
    else if (which == BUS_BANDWIDTH && of[WITH_BUS] && of[BUS_PS] > 0)
        metric_put_number(to, name, 1000 * s->bus_bytes / (double)of[BUS_PS]);
}

static void put_types(metric_value *to, const char *key, const type_sum *type, figure which)
{
    metric_value *types = metric_put_object(to, key);

    for (int t = 0; t < METRIC_COMM_TYPES; t++)
        if (type[t].of[CALLS])
            put_figure(types, metric_comm_type_name[t], &type[t], which);
}

/* These need sizes; the reason is the same for all of them. */
static void put_sized(metric_value *to, const type_sum *type, const type_sum *all)
{
    static const struct {
        const char *key;
        figure which;
    } entries[] = {{"input_bytes_by_type", INPUT},
                   {"bytes_by_type", BYTES},
                   {"algorithm_bandwidth_GBps_by_type", ALGORITHM_BANDWIDTH},
                   {"bus_bandwidth_GBps_by_type", BUS_BANDWIDTH}};
    const char *why = all->of[CALLS]
                          ? "no kernel says its size (In msg nelems, dtype), as NCCL kernels do that "
                            "PyTorch 2.2 or newer recorded"
                          : "no communication";

    for (size_t i = 0; i < DSE_COUNT(entries); i++)
        if (all->of[SIZED])
            put_types(to, entries[i].key, type, entries[i].which);
        else
            metric_put_absent(to, entries[i].key, why);
    if (all->of[SIZED] && all->of[SIZED_PS] > 0)
        put_figure(to, "efficiency_GBps", all, ALGORITHM_BANDWIDTH);
    else
        metric_put_absent(to, "efficiency_GBps", why);
    metric_put_integer(to, "kernels_with_size", all->of[SIZED]);
}

static const char no_gpu[] = "no kernels or copies", no_steps[] = GUIDE_NO_STEPS,
                  no_gather[] = "no all-gather";

static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const metric_view *v = r->view;
    const int64_t span = v->gpu_span.end > v->gpu_span.start ? v->gpu_span.end - v->gpu_span.start : 0;
    const metric_spans gathers =
        metric_union_of_class(v->rank, &v->comm, v->comm_type, METRIC_ALL_GATHER, scratch);
    type_sum *type = r->own, all = {.bytes = 0};
    int64_t union_ps[METRIC_COMM_TYPES];
    metric_value *to = r->out;

    (void)x;
    for (uint32_t i = 0; i < v->comm.n; i++)
        count(v->rank, &v->rank->event[v->comm.event[i]], v->comm_type[i], &type[v->comm_type[i]]);
    metric_class_lengths(v->rank, &v->comm, v->comm_type, METRIC_COMM_TYPES, union_ps);
    for (int t = 0; t < METRIC_COMM_TYPES; t++) {
        type[t].of[UNION_PS] = union_ps[t];
        add(&all, &type[t]);
    }
    all.of[UNION_PS] = metric_spans_length(&v->comm_time);
    metric_put_number(r->aside, "time_ms", guide_us(all.of[UNION_PS]) / 1000);
    metric_put_integer(r->aside, "calls", v->comm.n);
    metric_put_text(to, "layer", metric_layer_name[v->comm_layer]);
    metric_put_ms(to, "union_ms_all", all.of[UNION_PS]);
    metric_put_ms(to, "sum_ms_all", all.of[SUM_PS]);
    guide_put_percent(to, "percentage_of_gpu_span", (double)all.of[UNION_PS], (double)span, no_gpu);
    metric_put_ratio(to, "calls_per_step", v->comm.n, v->n_steps, no_steps);
    guide_put_percent(to, "prefetch_efficiency_pct", (double)metric_spans_overlap(&gathers, &v->compute_time),
                      (double)union_ps[METRIC_ALL_GATHER], no_gather);
    put_types(to, "count_by_type", type, COUNT);
    put_types(to, "time_union_ms_by_type", type, UNION);
    put_types(to, "time_sum_ms_by_type", type, SUM);
    put_sized(to, type, &all);
    return true;
}

static void put_operations(const guide_ranks *ranks, type_sum *all, metric_value *to)
{
    for (int t = 0; t < METRIC_COMM_TYPES; t++) {
        int64_t least = INT64_MAX, most = 0;
        metric_value *type;

        for (uint32_t i = 0; i < ranks->n; i++) {
            const type_sum *s = (const type_sum *)ranks->rank[i].own + t;

            add(&all[t], s);
            least = s->of[UNION_PS] < least ? s->of[UNION_PS] : least;
            most = s->of[UNION_PS] > most ? s->of[UNION_PS] : most;
        }
        if (!all[t].of[CALLS])
            continue;
        type = metric_put_object(to, metric_comm_type_name[t]);
        metric_put_integer(type, "total_count", all[t].of[CALLS]);
        metric_put_ms(type, "total_time_ms", all[t].of[UNION_PS]);
        metric_put_number(type, "avg_time_per_rank_ms", guide_us(all[t].of[UNION_PS]) / 1000 / ranks->n);
        metric_put_ms(type, "min_rank_time_ms", least);
        metric_put_ms(type, "max_rank_time_ms", most);
    }
}

static void communication(const metric_context *x, metric_value *out)
{
    type_sum type[METRIC_COMM_TYPES] = {{.bytes = 0}}, all = {.bytes = 0};
    guide_ranks ranks = guide_measure(x, out, measure, METRIC_COMM_TYPES * sizeof(type_sum));

    metric_put_number(out, "total_communication_time_ms", guide_mean(&ranks, "time_ms"));
    metric_put_number(out, "total_communication_count", guide_mean(&ranks, "calls"));
    metric_put_number_or(out, "communication_percentage", guide_mean(&ranks, "percentage_of_gpu_span"),
                         no_gpu);
    metric_put_number_or(out, "calls_per_step", guide_mean(&ranks, "calls_per_step"), no_steps);
    metric_put_number_or(out, "prefetch_efficiency_pct", guide_mean(&ranks, "prefetch_efficiency_pct"),
                         no_gather);
    put_operations(&ranks, type, metric_put_object(out, "per_operation_stats"));
    for (int t = 0; t < METRIC_COMM_TYPES; t++)
        add(&all, &type[t]);
    put_sized(out, type, &all);
    guide_put_ranks(&ranks, NULL, out);
}

/* ---- as the original ----------------------------------------------------------------------- */

/* Operators and annotations by their words, in the order of its tests; behind them four kinds of kernels. */
static const char *const class_name[] = {"all_gather",
                                         "all_reduce",
                                         "reduce_scatter",
                                         "broadcast",
                                         "barrier",
                                         "send",
                                         "recv",
                                         "all_gather_kernel",
                                         "all_reduce_kernel",
                                         "reduce_scatter_kernel",
                                         "broadcast_kernel"};

#define N_WORDS 7
#define N_CLASS DSE_COUNT(class_name)

#define HOST               "user_annotation|cpu_op"
#define KERNEL(collective) "ncclkernel*" collective "|nccldevkernel*" collective

static const metric_pick all_calls = METRIC_PICK(
    0, {0, HOST, .names = "all_gather|allgather"}, {1, HOST, .names = "all_reduce|allreduce"},
    {2, HOST, .names = "reduce_scatter|reducescatter"}, {3, HOST, .names = "broadcast"},
    {4, HOST, .names = "barrier"}, {5, HOST, .names = "send"}, {6, HOST, .names = "recv"},
    {7, "kernel", .names = KERNEL("allgather")}, {8, "kernel", .names = KERNEL("allreduce")},
    {9, "kernel", .names = KERNEL("reducescatter")}, {10, "kernel", .names = KERNEL("broadcast")});

static bool measure_compat(const metric_context *x, const guide_rank *of, dse_arena *scratch)
{
    const trace_rank *r = of->rank;
    const double recording_us = guide_recording_us(r);
    metric_sums *sums = of->own; /* of each class */
    metric_value *operations;
    double time_us = 0;
    int64_t calls = 0;

    (void)x;
    metric_pick_sum(r, &all_calls, scratch, sums);
    for (size_t i = 0; i < N_WORDS; i++) {
        time_us += guide_us(sums[i].sum_ps);
        calls += sums[i].n;
    }
    operations = metric_put_object(of->out, "operation_stats");
    for (size_t i = 0; i < N_CLASS; i++)
        guide_put_sums(operations, class_name[i], &sums[i], true);
    metric_put_number(of->out, "total_communication_time_us", time_us);
    metric_put_number(of->out, "total_communication_time_ms", time_us / 1000);
    metric_put_integer(of->out, "total_communication_count", calls);
    metric_put_number(of->out, "total_trace_time_us", recording_us);
    metric_put_number(of->out, "communication_percentage", guide_percent(time_us, recording_us));
    return true;
}

/* Least and most are over the ranks that have the operation, the mean over all. */
static void put_operations_compat(const guide_ranks *ranks, metric_value *to)
{
    for (size_t i = 0; i < N_CLASS; i++) {
        metric_sums all = {0}, each = {0};
        metric_value *o;

        for (uint32_t r = 0; r < ranks->n; r++) {
            const metric_sums *s = (const metric_sums *)ranks->rank[r].own + i;

            if (!s->n)
                continue;
            all.n += s->n;
            all.sum_ps += s->sum_ps;
            metric_sums_add(&each, s->sum_ps);
        }
        if (!all.n)
            continue;
        o = metric_put_object(to, class_name[i]);
        metric_put_integer(o, "total_count", all.n);
        metric_put_number(o, "total_time_ms", guide_us(all.sum_ps) / 1000);
        metric_put_number(o, "avg_time_per_rank_ms", guide_us(all.sum_ps) / ranks->n / 1000);
        metric_put_number(o, "min_rank_time_ms", guide_us(each.least_ps) / 1000);
        metric_put_number(o, "max_rank_time_ms", guide_us(each.most_ps) / 1000);
    }
}

static void communication_compat(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure_compat, N_CLASS * sizeof(metric_sums));

    metric_put_number(out, "total_communication_time_ms", guide_mean(&ranks, "total_communication_time_ms"));
    metric_put_integer(out, "total_communication_count",
                       (int64_t)guide_mean(&ranks, "total_communication_count"));
    guide_put_round(out, "communication_percentage", guide_mean(&ranks, "communication_percentage"));
    put_operations_compat(&ranks, metric_put_object(out, "per_operation_stats"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
}

static const metric rows[] = {
    {METRIC_ROW("communication", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "communication by collective: calls, time, bytes, algorithm and bus bandwidth, share of the "
                "GPU's time"),
     .put = communication, METRIC_ENTRY("bytes_by_type", "bytes", METRIC_NEITHER, METRIC_COUNT_TOLERANCE),
     .compat_put = communication_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(communication);
