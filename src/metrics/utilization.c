/* How busy the GPU is: kernels, copies, idle time, of the time in which it does anything at all, of the
 * steps, and of the recording; what the host adds; how fast copies run.
 *
 * Of the GPU's span, the idle share equals HolisticTraceAnalysis'. The original counts no memset, and divides
 * by the recording with the host's start-up in it. */
#include "metrics/compat_kineto.h"
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/steps.h"

#include <math.h>

/* The span of the duration events (ph X) of every category; the original skips those at time 0. */
static metric_span recorded(const trace_rank *r, bool timed_only)
{
    metric_span s = METRIC_NO_SPAN;

    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (!e->instant && (!timed_only || metric_compat_is_timed(r, e)))
            metric_span_extend(&s, metric_start(e), e->dur_ps > 0 ? metric_end(e) : metric_start(e));
    }
    return s;
}

static double length_ms(metric_span s) { return s.end > s.start ? guide_us(s.end - s.start) / 1000 : 0; }

/* ---- the definition ------------------------------------------------------------------------ */

/* Milliseconds; NaN where the trace does not say. */
typedef struct {
    double span, busy, kernel, compute, memory, recording;
    double steps, busy_in_steps, n_steps;
    double overhead; /* of a step: its time in which the GPU does nothing */
    double n_kernels, n_memory;
    double copied_gb, copying_s; /* of copies whose size is given */
    double of_span, kernel_of_span, compute_of_span, memory_of_span, idle_of_span, of_steps;
} utilization;

/* The figures of the window of the steps that count; time between two steps is no overhead of either. */
static void measure_steps(const metric_view *v, bool trim, utilization *u)
{
    metric_span window = metric_steps_window(v, trim);
    metric_steps kept = metric_steps_kept(v, trim);
    int64_t idle = 0;

    u->n_steps = kept.n;
    u->of_steps = u->steps = u->busy_in_steps = NAN;
    if (!kept.n)
        return;
    for (uint32_t i = 0; i < kept.n; i++) {
        metric_span step = kept.step[i].span;

        idle += step.end - step.start - metric_spans_within(&v->gpu_time, step.start, step.end);
    }
    u->steps = length_ms(window);
    u->busy_in_steps = guide_us(metric_spans_within(&v->gpu_time, window.start, window.end)) / 1000;
    u->of_steps = 100 * u->busy_in_steps / u->steps;
    u->overhead = guide_us(idle) / 1000 / kept.n;
}

static utilization measure(const metric_view *v, bool trim)
{
    utilization u = {.span = length_ms(v->gpu_span),
                     .busy = guide_us(metric_spans_length(&v->gpu_time)) / 1000,
                     .kernel = guide_us(metric_spans_length(&v->kernel_time)) / 1000,
                     .compute = guide_us(metric_spans_length(&v->compute_time)) / 1000,
                     .memory = guide_us(metric_spans_length(&v->memory_time)) / 1000,
                     .recording = length_ms(recorded(v->rank, false)),
                     .n_kernels = v->kernels.n,
                     .n_memory = v->memory_ops.n};

    for (uint32_t i = 0; i < v->memory_ops.n; i++) {
        const trace_event *e = &v->rank->event[v->memory_ops.event[i]];
        const trace_args *a = metric_args_of(v->rank, e);

        if (e->category != TRACE_MEMCPY || !a || a->bytes == TRACE_UNKNOWN)
            continue;
        u.copied_gb += (double)a->bytes / 1e9;
        u.copying_s += (double)e->dur_ps / TRACE_PS_PER_S;
    }
    u.of_span = u.span > 0 ? 100 * u.busy / u.span : NAN;
    u.kernel_of_span = u.span > 0 ? 100 * u.kernel / u.span : NAN;
    u.compute_of_span = u.span > 0 ? 100 * u.compute / u.span : NAN;
    u.memory_of_span = u.span > 0 ? 100 * u.memory / u.span : NAN;
    u.idle_of_span = u.span > 0 ? 100 * (u.span - u.busy) / u.span : NAN;
    measure_steps(v, trim, &u);
    return u;
}

static const char nothing[] = "the GPU does nothing in this trace", no_steps[] = GUIDE_NO_STEPS;

static void put_rank(const utilization *u, metric_value *to)
{
    metric_put_number(to, "gpu_span_ms", u->span);
    metric_put_number(to, "busy_time_ms", u->busy);
    metric_put_number(to, "idle_time_ms", u->span - u->busy);
    guide_put_percent(to, "utilization_of_gpu_span_pct", u->busy, u->span, nothing);
    metric_put_number(to, "kernel_busy_ms", u->kernel);
    metric_put_number(to, "compute_busy_ms", u->compute);
    metric_put_number(to, "non_compute_busy_ms", u->busy - u->compute);
    metric_put_number(to, "memory_op_busy_ms", u->memory);
    guide_put_percent(to, "compute_efficiency_pct", u->compute, u->span, nothing);
    metric_put_number(to, "trace_span_ms", u->recording);
    guide_put_percent(to, "utilization_of_trace_span_pct", u->busy, u->recording, "an empty trace");
    if (u->n_steps > 0) {
        metric_put_number(to, "step_window_ms", u->steps);
        metric_put_number(to, "utilization_of_step_window_pct", u->of_steps);
        metric_put_number(to, "cpu_overhead_ms_per_step", u->overhead);
    } else {
        metric_put_absent(to, "utilization_of_step_window_pct", no_steps);
        metric_put_absent(to, "cpu_overhead_ms_per_step", no_steps);
    }
    metric_put_ratio(to, "memcpy_bandwidth_GBps", u->copied_gb, u->copying_s, "no copies with sizes");
    metric_put_integer(to, "num_kernel_launches", (int64_t)u->n_kernels);
    metric_put_integer(to, "num_memory_ops", (int64_t)u->n_memory);
}

/* The device of the first rank that describes one; NULL: none does. */
static const trace_device *device_of(const guide_ranks *ranks, const char **name)
{
    for (uint32_t i = 0; i < ranks->n; i++) {
        const trace_rank *r = ranks->rank[i].rank;

        if (!r->n_devices)
            continue;
        *name = r->device->name == DSE_NONE ? NULL : TRACE_NAME(r, r->device->name);
        return r->device;
    }
    return NULL;
}

static double gib(const trace_device *d) { return (double)d->memory_bytes / (1024.0 * 1024 * 1024); }

static void put_capability(const trace_device *d, metric_value *to)
{
    char text[24];

    snprintf(text, sizeof text, "%u.%u", d->major, d->minor);
    metric_put_text(to, "compute_capability", text);
}

/* The device as the trace describes it; 0 stands for a missing value. */
static void put_device(const guide_ranks *ranks, metric_value *to)
{
    static const char unsaid[] = "the trace does not say";
    const char *name;
    const trace_device *d = device_of(ranks, &name);

    if (!d)
        return;
    if (name)
        metric_put_text(to, "device_name", name);
    else
        metric_put_absent(to, "device_name", unsaid);
    metric_put_number_or(to, "total_memory_gb", d->memory_bytes ? gib(d) : (double)NAN, unsaid);
    if (d->n_sms)
        metric_put_integer(to, "num_sms", d->n_sms);
    else
        metric_put_absent(to, "num_sms", unsaid);
    if (d->major)
        put_capability(d, to);
    else
        metric_put_absent(to, "compute_capability", unsaid);
}

static void gpu_utilization(const metric_context *x, metric_value *out)
{
    metric_value *per_rank;
    guide_ranks ranks = guide_ranks_of(x);
    utilization *u = DSE_ARENA_NEW(x->arena, utilization, ranks.n);

    for (uint32_t i = 0; i < ranks.n; i++)
        u[i] = measure(ranks.rank[i].view, x->options->trim);
    GUIDE_PUT_MEAN(out, "avg_gpu_utilization_pct", u, ranks.n, of_span, nothing);
    GUIDE_PUT_MEAN(out, "avg_kernel_utilization_pct", u, ranks.n, kernel_of_span, nothing);
    GUIDE_PUT_MEAN(out, "avg_memory_op_utilization_pct", u, ranks.n, memory_of_span, nothing);
    GUIDE_PUT_MEAN(out, "avg_compute_efficiency_pct", u, ranks.n, compute_of_span, nothing);
    GUIDE_PUT_MEAN(out, "avg_idle_percentage", u, ranks.n, idle_of_span, nothing);
    GUIDE_PUT_MEAN(out, "avg_step_window_utilization_pct", u, ranks.n, of_steps, no_steps);
    metric_put_number(out, "avg_kernel_launches", GUIDE_MEAN(u, ranks.n, n_kernels));
    metric_put_number(out, "avg_memory_ops", GUIDE_MEAN(u, ranks.n, n_memory));
    put_device(&ranks, metric_put_object(out, "device_info"));
    metric_put_integer(out, "num_ranks", ranks.n);
    per_rank = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < ranks.n; i++)
        put_rank(&u[i], metric_put_rank(per_rank, ranks.rank[i].rank));
}

/* ---- as the original ----------------------------------------------------------------------- */

static void put_device_compat(const guide_ranks *ranks, metric_value *to)
{
    const char *name;
    const trace_device *d = device_of(ranks, &name);

    if (!d)
        return;
    metric_put_text(to, "device_name", name ? name : "Unknown");
    metric_put_number(to, "total_memory_gb", gib(d));
    metric_put_integer(to, "num_sms", d->n_sms);
    put_capability(d, to);
}

typedef struct {
    bool usable; /* it has an event that lasts */
    const char *label;
    double span_us, kernel_us, memcpy_us, busy_us, idle_us;
    double kernel_pct, memcpy_pct, busy_pct, idle_pct; /* rounded */
    double n_kernels, n_memcpy;
} compat_row;

static void measure_compat(const guide_rank *r, dse_arena *a, compat_row *out)
{
    const metric_words kernel = METRIC_WORDS(r->rank, "kernel"), copy = METRIC_WORDS(r->rank, "gpu_memcpy");
    metric_span span = recorded(r->rank, true);
    metric_spans kernels, copies, both;
    uint32_t n_kernels, n_copies;

    *out = (compat_row){.usable = span.start <= span.end, .label = r->label};
    if (!out->usable)
        return;
    guide_union_of(r->rank, &r->view->kernels, &kernel, a, &kernels, &n_kernels);
    guide_union_of(r->rank, &r->view->memory_ops, &copy, a, &copies, &n_copies);
    both = metric_spans_unite(&kernels, &copies, a);
    out->n_kernels = n_kernels;
    out->n_memcpy = n_copies;
    out->span_us = guide_us(span.end - span.start);
    out->kernel_us = guide_us(metric_spans_length(&kernels));
    out->memcpy_us = guide_us(metric_spans_length(&copies));
    out->busy_us = guide_us(metric_spans_length(&both));
    out->idle_us = out->span_us - out->busy_us;
    out->kernel_pct = metric_round(guide_percent(out->kernel_us, out->span_us), 2);
    out->memcpy_pct = metric_round(guide_percent(out->memcpy_us, out->span_us), 2);
    out->busy_pct = metric_round(guide_percent(out->busy_us, out->span_us), 2);
    out->idle_pct = metric_round(guide_percent(out->idle_us, out->span_us), 2);
}

static void put_rank_compat(const compat_row *u, metric_value *to)
{
    metric_put_number(to, "total_span_ms", u->span_us / 1000);
    metric_put_number(to, "kernel_time_ms", u->kernel_us / 1000);
    metric_put_number(to, "memcpy_time_ms", u->memcpy_us / 1000);
    metric_put_number(to, "total_busy_time_ms", u->busy_us / 1000);
    metric_put_number(to, "idle_time_ms", u->idle_us / 1000);
    metric_put_number(to, "kernel_utilization_pct", u->kernel_pct);
    metric_put_number(to, "memcpy_utilization_pct", u->memcpy_pct);
    metric_put_number(to, "total_utilization_pct", u->busy_pct);
    metric_put_number(to, "idle_percentage", u->idle_pct);
    metric_put_integer(to, "num_kernel_launches", (int64_t)u->n_kernels);
    metric_put_integer(to, "num_memcpy_ops", (int64_t)u->n_memcpy);
    metric_put_text(to, "rank", u->label);
}

static void measure_all_compat(const guide_ranks *ranks, compat_row *row, uint32_t *n)
{
    dse_arena scratch;

    *n = 0;
    dse_arena_init(&scratch);
    for (uint32_t i = 0; i < ranks->n; i++) {
        dse_arena_reset(&scratch);
        measure_compat(&ranks->rank[i], &scratch, &row[*n]);
        *n += row[*n].usable;
    }
    dse_arena_free(&scratch);
}

static dse_status gpu_utilization_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    compat_row *u;
    metric_value *list;
    uint32_t n;
    guide_ranks ranks = guide_ranks_compat(x);

    u = DSE_ARENA_NEW(x->arena, compat_row, ranks.n);
    measure_all_compat(&ranks, u, &n);
    if (!n)
        return metric_absent(err, "no trace here has an event that lasts");
    guide_put_round(out, "avg_gpu_utilization_pct", GUIDE_MEAN(u, n, busy_pct));
    guide_put_round(out, "avg_kernel_utilization_pct", GUIDE_MEAN(u, n, kernel_pct));
    guide_put_round(out, "avg_memcpy_utilization_pct", GUIDE_MEAN(u, n, memcpy_pct));
    guide_put_round(out, "avg_idle_percentage", GUIDE_MEAN(u, n, idle_pct));
    metric_put_number(out, "avg_kernel_launches", metric_round(GUIDE_MEAN(u, n, n_kernels), 0));
    metric_put_number(out, "avg_memcpy_ops", metric_round(GUIDE_MEAN(u, n, n_memcpy), 0));
    put_device_compat(&ranks, metric_put_object(out, "device_info"));
    list = metric_put_list(out, "per_rank_stats");
    for (uint32_t i = 0; i < n; i++)
        put_rank_compat(&u[i], metric_put_object(list, NULL));
    metric_put_integer(out, "num_ranks", n);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW(
         "gpu_utilization", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
         "busy and idle time of the GPU: of its own span, of the steps, of the recording; speed of copies"),
     .put = gpu_utilization, .compat = gpu_utilization_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(utilization);
