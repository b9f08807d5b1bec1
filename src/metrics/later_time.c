/* Steps and kernels in time: the later tools' avg_step_time, total_*_time, utilization, imbalance. */
#include "metrics/later.h"
#include "metrics/later_tpu.h"
#include "metrics/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The times in seconds of the steps of all ranks that the mean is of. */
typedef struct {
    dse_arena *arena;
    size_t n, cap;
    double *s;
    size_t marked; /* with the first and the last of each rank, which are left out */
} step_times;

static void add_steps(const metric_steps *all, const trace_rank *rank, step_times *t, later_result *r)
{
    metric_steps s = metric_steps_inner(all);
    double sum = 0;

    t->marked += all->n;
    for (uint32_t i = 0; i < s.n; i++) {
        double seconds = metric_seconds(s.step[i].span.end - s.step[i].span.start);

        DSE_ARENA_GROW(t->arena, t->s, t->cap, t->n + 1);
        t->s[t->n++] = seconds;
        sum += seconds;
    }
    later_add_value(r, rank, sum / s.n);
}

/* ---- avg_step_time ------------------------------------------------------------------------- */

/* The kind of marks that any rank has decides for all; XLA's GPUs have the modules that they ran. */
static void add_gpu_steps(const metric_context *x, step_times *t, later_result *r)
{
    for (metric_mark mark = 0; mark < LATER_MARKS && r->whole == 0; mark++)
        for (uint32_t i = 0; i < x->n_views; i++) {
            metric_steps s = later_steps_of(x, i, mark);

            if (s.n)
                add_steps(&s, x->view[i].rank, t, r);
        }
    for (uint32_t i = 0; i < x->n_views && later_kind(x) == TRACE_XLA_GPU && !x->options->compat; i++) {
        metric_steps s = metric_marked_steps(x->view[i].rank, METRIC_MARK_TRAIN, x->arena);

        if (s.n)
            add_steps(&s, x->view[i].rank, t, r);
    }
}

/* The number of a step's process; INT64_MAX: it has none. */
static int64_t process_of(const trace_rank *r, const metric_step *s)
{
    const uint32_t pid = r->lane[s->lane].pid;

    return pid == DSE_NONE ? INT64_MAX : strtoll(r->names.text[pid], NULL, 10);
}

static void keep_lowest_process(const trace_rank *r, metric_steps *s)
{
    int64_t lowest = INT64_MAX;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->n; i++)
        lowest = process_of(r, &s->step[i]) < lowest ? process_of(r, &s->step[i]) : lowest;
    for (uint32_t i = 0; i < s->n; i++)
        if (process_of(r, &s->step[i]) == lowest)
            s->step[kept++] = s->step[i];
    s->n = kept;
}

static metric_steps tpu_steps_of(const metric_context *x, uint32_t i)
{
    const trace_rank *r = &x->record->rank[i];
    bool compat = x->options->compat;
    metric_steps s = metric_marked_steps(r, compat ? METRIC_MARK_ENGINE_LINE : METRIC_MARK_ENGINE, x->arena);

    if (compat)
        return s;
    metric_steps_keep_outermost(&s);
    metric_steps_drop_polls(&s, &x->view[i], x->arena);
    if (!s.n) {
        s = metric_marked_steps(r, METRIC_MARK_TRAIN, x->arena);
        keep_lowest_process(r, &s);
    }
    return s;
}

/* The length over all events, including flows and events at time 0. */
static double length_s(const trace_rank *r)
{
    return r->any_last_ps > r->any_first_ps ? metric_seconds(r->any_last_ps - r->any_first_ps) : 0;
}

/* Without marks: the length of the trace over the card's iterations. */
static void add_tpu_steps(const metric_context *x, step_times *t, later_result *out)
{
    uint32_t n = x->options->compat ? 1 : x->record->n_ranks;

    for (uint32_t i = 0; i < n; i++) {
        const trace_rank *r = &x->record->rank[i];
        metric_steps s = tpu_steps_of(x, i);

        if (s.n)
            add_steps(&s, r, t, out);
        else if (x->card && x->card->iteration > 0 && length_s(r) > 0)
            later_add_value(
                out, r, metric_round(length_s(r) / (double)x->card->iteration, x->options->compat ? 6 : 15));
    }
}

static dse_status avg_step_time(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "avg_step_time", 1);
    bool tpu = later_kind(x) == TRACE_XLA;
    bool unread = x->options->compat && later_kind(x) == TRACE_NSYS;
    step_times t = {.arena = x->arena};
    metric_summary s;

    if (!unread)
        (tpu ? add_tpu_steps : add_gpu_steps)(x, &t, &r);
    if (t.n && !x->options->compat) {
        s = metric_summarise(t.s, t.n);
        metric_put_count(out, "num_steps", t.n);
        metric_put_count(out, "num_marked_steps", t.marked);
        metric_put_number(out, "min_step_time", s.min);
        metric_put_number(out, "max_step_time", s.max);
        metric_put_number(out, "std_step_time", s.deviation);
    }
    return later_end(&r, 0,
                     unread ? "the original tool does not read databases of Nsight Systems"
                     : tpu  ? "no step markers ($core.py:<line> step, jit_train_step), and no iteration in a "
                              "workload card"
                     : later_kind(x) == TRACE_XLA_GPU
                         ? "no step markers (modules jit_train_step)"
                         : "no step markers (ProfilerStep#, execute_context_, run_batch)",
                     err);
}

/* ---- gpu_step_score ------------------------------------------------------------------------ */

/* The tool's baseline: 16 GPUs, 0.44 s, both of one weight. */
#define BASE_GPUS   16.0
#define BASE_STEP_S 0.44
#define WEIGHT      0.5

static dse_status gpu_step_score(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *score = metric_put_number(out, "gpu_step_score", 0), *step = metric_object_new(x->arena);
    double gpus = 0, step_s;
    bool given;
    dse_status st = avg_step_time(x, step, err);

    if (st != DSE_OK)
        return st;
    step_s = step->first->number;
    if (!x->options->compat && x->card && x->card->total_count > 0)
        gpus = (double)x->card->total_count;
    else if (!x->options->compat)
        gpus = x->record->rank[0].world_size;
    given = gpus > 0;
    for (uint32_t i = 0; i < x->n_views && !given; i++) /* files, or the devices in them */
        gpus += x->view[i].tpu.n ? x->view[i].tpu.n : 1;
    if (!(step_s > 0))
        return metric_absent(err, "its steps last no time");
    score->number = WEIGHT * (BASE_GPUS / gpus) + (1 - WEIGHT) * (BASE_STEP_S / step_s);
    if (!x->options->compat) {
        metric_put_number(out, "gpus", gpus);
        metric_put_number(out, "avg_step_time", step_s);
    }
    return DSE_OK;
}

/* ---- times of kernels ---------------------------------------------------------------------- */

/* The ranks' times, which are added up: `whole` is 1 once. */
static void add_seconds(const later_kernels *k, double ps, later_result *r)
{
    const double own = metric_seconds((int64_t)ps);

    r->part += own;
    r->whole = k->n ? 1 : r->whole;
    if (r->ranks)
        metric_put_number(metric_put_rank(r->ranks, k->rank), r->name, own);
}

static void add_kernels(const metric_context *x, const later_kernels *k, later_result *r)
{
    (void)x;
    add_seconds(k, later_sum(k).all, r);
}

static void add_compute(const metric_context *x, const later_kernels *k, later_result *r)
{
    const later_sums s = later_sum(k);

    (void)x;
    add_seconds(k, s.all - s.comm, r);
}

static metric_span span_of(const later_kernels *k)
{
    return metric_span_of(k->rank, &(metric_events){k->n, k->event});
}

/* Over the lines of TPUs; the tool takes microseconds for nanoseconds, and so its seconds are a
 * thousandth. */
static dse_status tpu_trace_time(const metric_context *x, metric_value *out, dse_error *err)
{
    const trace_rank *r = &x->record->rank[0];
    metric_span all = METRIC_NO_SPAN;
    later_tpu t = later_tpu_of(x);

    for (size_t i = 0; i < r->n_events; i++)
        if (later_tpu_has(&t, &r->event[i]) && !r->event[i].endless)
            metric_span_extend(&all, metric_start(&r->event[i]), metric_end(&r->event[i]));
    if (all.end < all.start)
        return metric_absent(err, "the trace has no device events");
    metric_put_number(out, "total_trace_time",
                      metric_seconds(all.end - all.start) / (x->options->compat ? 1e3 : 1));
    return DSE_OK;
}

static dse_status total_trace_time(const metric_context *x, metric_value *out, dse_error *err)
{
    double first = INFINITY, last = -INFINITY;

    if (later_kind(x) == TRACE_XLA)
        return tpu_trace_time(x, out, err);
    for (uint32_t i = 0; i < x->n_views; i++) {
        double base = ((double)x->view[i].rank->base_ns - (double)x->view[0].rank->base_ns) * TRACE_PS_PER_NS;
        later_kernels k = later_kernels_of(x, i, LATER_COMM_PLAIN);
        metric_span span = span_of(&k);

        if (!k.n)
            continue;
        first = fmin(first, base + (double)span.start);
        last = fmax(last, base + (double)span.end);
    }
    if (!isfinite(first))
        return metric_absent(err, LATER_NO_KERNELS);
    metric_put_number(out, "total_trace_time", (last - first) / TRACE_PS_PER_S);
    return DSE_OK;
}

/* ---- utilization --------------------------------------------------------------------------- */

/* The original merges the kernels of all devices of an Nsight Systems export, as if they were one. */
static void merged_utilization(const metric_context *x, later_result *r)
{
    metric_spans all = {0, NULL};
    metric_span window = METRIC_NO_SPAN;

    for (uint32_t i = 0; i < x->n_views; i++) {
        later_kernels k = later_kernels_of(x, i, LATER_COMM_NSYS);
        metric_spans busy = later_busy(&k, x->arena);
        metric_span span = span_of(&k);

        metric_span_extend(&window, span.start, span.end);
        all = metric_spans_unite(&all, &busy, x->arena);
    }
    if (window.end > window.start)
        later_add(r, NULL, (double)metric_spans_length(&all), (double)(window.end - window.start));
}

static void add_utilization(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_spans busy = later_busy(k, x->arena);
    metric_span span = span_of(k);

    if (k->n)
        later_add(r, k->rank, (double)metric_spans_length(&busy), (double)(span.end - span.start));
}

static const metric rows[] = {
    {LATER_VALUE("aggregate_gpu_utilization", "%", METRIC_ON_GPU,
                 "union of kernels over their span, mean over ranks"),
     LATER_RULE(.fold = add_utilization, .words = LATER_COMM_PLAIN, .nsys_compat = merged_utilization,
                .mean = METRIC_ON_GPU, .scale = 100, .why = LATER_NO_KERNELS)},
    {LATER_ROW("avg_step_time", "s", LATER_ON_ALL, avg_step_time,
               "mean step without the first and the last, mean over ranks"),
     METRIC_ENTRY("avg_step_time", "s", METRIC_LOWER, METRIC_STEP_TOLERANCE)},
    {LATER_ROW("gpu_step_score", "", LATER_ON_ALL, gpu_step_score,
               "16 GPUs over those used and 0.44 s over the step time, averaged")},
    {LATER_VALUE("kernel_compute_time_group_6", "s", METRIC_ON_GPU,
                 "sum of all kernels that do not communicate, all ranks"),
     LATER_RULE(.fold = add_compute, .words = LATER_COMM_NSYS, .scale = 1, .why = LATER_NO_KERNELS),
     .sums = "kernel_compute_time_group_6"},
    {LATER_VALUE("total_kernel_time", "s", METRIC_ON_GPU, "sum of all kernels, all ranks"),
     .sums = "total_kernel_time",
     LATER_RULE(.fold = add_kernels, .words = LATER_COMM_PLAIN, .scale = 1, .why = LATER_NO_KERNELS)},
    {LATER_ROW("total_trace_time", "s", LATER_ON_ALL, total_trace_time,
               "first to last kernel over all ranks")},
};

METRIC_FAMILY(later_time);
