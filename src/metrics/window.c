/* When the ways of parallelism communicate: how long each does in a step, and how long it is from one's
 * traffic to another's. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/pick.h"
#include "metrics/traffic.h"

#include <math.h>
#include <stdio.h>

/* The time from the end of a communication to the start of the next, where that has another class. Negative:
 * they overlap. */
typedef struct {
    uint8_t from, to;
    double seconds;
} gap;

typedef struct {
    double per_step_s[METRIC_PARALLELS]; /* union of the kernels over steps; NaN: no steps */
    size_t n_gaps;
    gap *gap;
} windows;

static dse_status windows_of(const metric_context *x, const metric_view *v, dse_arena *a, windows *out,
                             dse_error *err)
{
    int64_t ps[METRIC_PARALLELS];
    metric_traffic t;
    dse_status st = metric_traffic_of(x, v, a, &t, err);

    if (st != DSE_OK)
        return st;
    *out = (windows){.gap = DSE_ARENA_NEW(a, gap, v->comm.n)};
    metric_class_lengths(v->rank, &v->comm, t.parallel, METRIC_PARALLELS, ps);
    for (int p = 0; p < METRIC_PARALLELS; p++)
        out->per_step_s[p] = v->n_steps ? (double)ps[p] / TRACE_PS_PER_S / v->n_steps : NAN;
    for (uint32_t i = 1; i < v->comm.n; i++) {
        const trace_event *last = &v->rank->event[v->comm.event[i - 1]],
                          *e = &v->rank->event[v->comm.event[i]];

        if (t.parallel[i] != t.parallel[i - 1])
            out->gap[out->n_gaps++] = (gap){t.parallel[i - 1], t.parallel[i],
                                            (double)(metric_start(e) - metric_end(last)) / TRACE_PS_PER_S};
    }
    return DSE_OK;
}

/* Means over ranks. */
static void put_times(const windows *of, uint32_t n, metric_value *out)
{
    double mean[METRIC_PARALLELS] = {0}, sum = 0;
    metric_value *times;

    for (uint32_t i = 0; i < n; i++)
        for (int p = 0; p < METRIC_PARALLELS; p++)
            mean[p] += of[i].per_step_s[p] / n;
    if (isnan(mean[METRIC_UNKNOWN])) {
        metric_put_absent(out, "comm_window_s", "a rank has no step markers");
        return;
    }
    times = metric_put_object(out, "comm_window_s");
    for (int p = 0; p < METRIC_PARALLELS; p++) {
        metric_put_number(times, metric_parallel_name[p], mean[p]);
        sum += mean[p];
    }
    metric_put_number(times, "total", sum);
}

/* "dp->pp": those of one pair of classes, over ranks; seconds has room for all. */
static void put_pair(const windows *of, uint32_t n, uint8_t from, uint8_t to, double *seconds,
                     metric_value *out)
{
    size_t count = 0;
    metric_value *pair;
    metric_summary s;
    char key[32];

    for (uint32_t i = 0; i < n; i++)
        for (size_t g = 0; g < of[i].n_gaps; g++)
            if (of[i].gap[g].from == from && of[i].gap[g].to == to)
                seconds[count++] = of[i].gap[g].seconds;
    if (!count)
        return;
    s = metric_summarise(seconds, count);
    metric_sort(seconds, count);
    snprintf(key, sizeof key, "%s->%s", metric_parallel_name[from], metric_parallel_name[to]);
    pair = metric_put_object(out, key);
    metric_put_count(pair, "count", count);
    metric_put_number(pair, "mean", s.mean);
    metric_put_number(pair, "p50", metric_quantile(seconds, count, 0.5));
    metric_put_number(pair, "p95", metric_quantile(seconds, count, 0.95));
}

static void put(const windows *of, uint32_t n, dse_arena *a, metric_value *out)
{
    metric_value *pairs;
    size_t n_gaps = 0;
    double *seconds;

    put_times(of, n, out);
    pairs = metric_put_object(out, "window_s");
    for (uint32_t i = 0; i < n; i++)
        n_gaps += of[i].n_gaps;
    seconds = DSE_ARENA_NEW(a, double, n_gaps);
    for (unsigned from = 0; from < METRIC_PARALLELS; from++)
        for (unsigned to = 0; to < METRIC_PARALLELS; to++)
            put_pair(of, n, (uint8_t)from, (uint8_t)to, seconds, pairs);
}

static dse_status traffic_window(const metric_context *x, metric_value *out, dse_error *err)
{
    windows *of = DSE_ARENA_NEW(x->arena, windows, x->n_views);
    dse_status st = DSE_OK;
    metric_value *ranks;

    for (uint32_t i = 0; st == DSE_OK && i < x->n_views; i++)
        st = windows_of(x, &x->view[i], x->arena, &of[i], err);
    if (st != DSE_OK)
        return st;
    put(of, x->n_views, x->arena, out);
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++)
        put(&of[i], 1, x->arena, metric_put_rank(ranks, x->view[i].rank));
    return DSE_OK;
}

/* ---- as the original tool has it ---------------------------------------------------------------- */

enum { TP, DP, PP, OTHER, CLASSES, IN_SYNC_DP };

static bool is_nccl(const char *name) { return metric_says(name, "nccl"); }

static const metric_pick classes = METRIC_PICK(
                             METRIC_INSTANTS, {IN_SYNC_DP, "kernel", .names = "allreduce", .is = is_nccl},
                             {TP, "kernel", .names = "broadcast", .is = is_nccl},
                             {DP, "kernel", .names = "allgather|reducescatter|redistribute", .is = is_nccl},
                             {PP, "kernel", .names = "send|recv", .is = is_nccl},
                             {OTHER, "kernel", .is = is_nccl}),
                         /* The first file's operators of that name are taken for the ends of steps. */
    sync_ops = METRIC_PICK(METRIC_INSTANTS, {0, "cpu_op", .names = "=^RedistributeBackward$"});

/* The times of these, ends included. */
static metric_spans times_of(const metric_picked *p, dse_arena *a)
{
    metric_span *span = DSE_ARENA_NEW(a, metric_span, p->list.n);

    for (uint32_t i = 0; i < p->list.n; i++)
        span[i] = (metric_span){metric_picked_at(p, i)->start_ps, metric_end(metric_picked_at(p, i)) + 1};
    return metric_spans_merge_any(span, p->list.n);
}

static void add_file(const trace_rank *r, int64_t offset, const metric_spans *syncs, dse_arena *a,
                     double seconds[CLASSES])
{
    metric_picked p = metric_pick_of(r, NULL, &classes, a);

    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        uint8_t class = p.class[i];

        if (class == IN_SYNC_DP)
            class = metric_spans_at(syncs, e->start_ps + offset) ? DP : TP;
        seconds[class] += (double)e->dur_ps / TRACE_PS_PER_S;
    }
}

static void traffic_window_compat(const metric_context *x, metric_value *out)
{
    static const char *const keys[CLASSES] = {"tp_window_sec", "dp_window_sec", "pp_window_sec",
                                              "other_comm_window_sec"};
    metric_picked sync = metric_pick_of(x->view[0].rank, NULL, &sync_ops, x->arena);
    metric_spans syncs = times_of(&sync, x->arena);
    double seconds[CLASSES] = {0}, total = 0, n = (double)(sync.list.n ? sync.list.n : 1) * x->n_views;

    for (uint32_t i = 0; i < x->n_views; i++)
        add_file(x->view[i].rank, metric_clock_offset(x->view[i].rank, x->view[0].rank), &syncs,
                 metric_scratch(x), seconds);
    for (int c = 0; c < CLASSES; c++) {
        metric_put_number(out, keys[c], metric_round(seconds[c] / n, 6));
        total += seconds[c];
    }
    metric_put_number(out, "total_comm_window_sec", metric_round(total / n, 6));
}

static const metric rows[] = {
    {METRIC_ROW(
         "traffic_window", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_COMM,
         "seconds of communication in a step by parallelism, and between communication of different ones"),
     .compute = traffic_window, .compat_put = traffic_window_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(window);
