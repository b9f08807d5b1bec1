/* How busy the GPU is: kernels, copies, idle time, of the time in which it does anything at all, of the
 * steps, and of the recording; what the host adds; how fast copies run.
 *
 * Of the GPU's span, the idle share equals HolisticTraceAnalysis'. The original counts no memset, and divides
 * by the recording with the host's start-up in it. */
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/steps.h"

/* The duration events (ph X) of every category; the original skips those at time 0. */
static const metric_pick recorded = METRIC_PICK(0, {0}), recorded_timed = METRIC_PICK(METRIC_TIMED, {0});

static double length_ms(metric_span s) { return s.end > s.start ? guide_us(s.end - s.start) / 1000 : 0; }

/* ---- the definition ------------------------------------------------------------------------ */

static const char nothing[] = "the GPU does nothing in this trace", no_steps[] = GUIDE_NO_STEPS;

/* The figures of the window of the steps that count; time between two steps is no overhead of either, whose
 * overhead is its time in which the GPU does nothing. */
static void put_steps(const metric_view *v, bool trim, metric_value *to)
{
    const metric_span window = metric_steps_window(v, trim);
    const metric_steps kept = metric_steps_kept(v, trim);
    const double window_ms = length_ms(window);
    double idle_ps = -metric_steps_hold(&kept, &v->gpu_time);

    if (!kept.n) {
        metric_put_absent(to, "utilization_of_step_window_pct", no_steps);
        metric_put_absent(to, "cpu_overhead_ms_per_step", no_steps);
        return;
    }
    for (uint32_t i = 0; i < kept.n; i++)
        idle_ps += (double)(kept.step[i].span.end - kept.step[i].span.start);
    metric_put_number(to, "step_window_ms", window_ms);
    metric_put_number(to, "utilization_of_step_window_pct",
                      100 * (guide_us(metric_spans_within(&v->gpu_time, window.start, window.end)) / 1000) /
                          window_ms);
    metric_put_number(to, "cpu_overhead_ms_per_step", idle_ps / TRACE_PS_PER_US / 1000 / kept.n);
}

static double union_ms(const metric_spans *s) { return guide_us(metric_spans_length(s)) / 1000; }

static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const metric_view *v = r->view;
    const double span = length_ms(v->gpu_span), busy = union_ms(&v->gpu_time),
                 kernel = union_ms(&v->kernel_time), compute = union_ms(&v->compute_time),
                 memory = union_ms(&v->memory_time),
                 recording = length_ms(metric_pick_span(v->rank, &recorded, scratch));
    metric_value *to = r->out;
    double gb = 0, s = 0; /* of copies whose size is given */

    metric_put_ratio(r->aside, "kernel_utilization_pct", 100 * kernel, span, nothing);
    metric_put_ratio(r->aside, "memory_op_utilization_pct", 100 * memory, span, nothing);
    metric_put_ratio(r->aside, "idle_percentage", 100 * (span - busy), span, nothing);
    metric_put_number(to, "gpu_span_ms", span);
    metric_put_number(to, "busy_time_ms", busy);
    metric_put_number(to, "idle_time_ms", span - busy);
    guide_put_percent(to, "utilization_of_gpu_span_pct", busy, span, nothing);
    metric_put_number(to, "kernel_busy_ms", kernel);
    metric_put_number(to, "compute_busy_ms", compute);
    metric_put_number(to, "non_compute_busy_ms", busy - compute);
    metric_put_number(to, "memory_op_busy_ms", memory);
    guide_put_percent(to, "compute_efficiency_pct", compute, span, nothing);
    metric_put_number(to, "trace_span_ms", recording);
    guide_put_percent(to, "utilization_of_trace_span_pct", busy, recording, "an empty trace");
    put_steps(v, x->options->trim, to);
    for (uint32_t i = 0; i < v->memory_ops.n; i++) {
        const trace_event *e = &v->rank->event[v->memory_ops.event[i]];
        const trace_args *a = metric_args_of(v->rank, e);

        if (e->category != TRACE_MEMCPY || !a || a->bytes == TRACE_UNKNOWN)
            continue;
        gb += (double)a->bytes / 1e9;
        s += (double)e->dur_ps / TRACE_PS_PER_S;
    }
    metric_put_ratio(to, "memcpy_bandwidth_GBps", gb, s, "no copies with sizes");
    metric_put_integer(to, "num_kernel_launches", v->kernels.n);
    metric_put_integer(to, "num_memory_ops", v->memory_ops.n);
    return true;
}

/* Keeps an entry of the device, or what the originals print for a missing value. */
static void keep(metric_value *entry, bool given, const metric_context *x)
{
    if (!given && !x->options->compat)
        metric_make_absent(entry, "the trace does not say");
}

/* The device of the first rank that describes one. */
static void put_device(const guide_ranks *ranks, metric_value *to)
{
    const metric_context *x = ranks->x;
    const trace_rank *r = NULL;
    const trace_device *d;

    for (uint32_t i = 0; i < ranks->n && !r; i++)
        r = ranks->rank[i].rank->n_devices ? ranks->rank[i].rank : NULL;
    if (!r)
        return;
    d = r->device;
    keep(metric_put_text(to, "device_name", d->name == DSE_NONE ? "Unknown" : TRACE_NAME(r, d->name)),
         d->name != DSE_NONE, x);
    keep(metric_put_number(to, "total_memory_gb", (double)d->memory_bytes / (1024.0 * 1024 * 1024)),
         d->memory_bytes > 0, x);
    keep(metric_put_integer(to, "num_sms", d->n_sms), d->n_sms > 0, x);
    keep(metric_put_text(to, "compute_capability", dse_arena_printf(x->arena, "%u.%u", d->major, d->minor)),
         d->major > 0, x);
}

static void gpu_utilization(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure, 0);

    metric_put_number_or(out, "avg_gpu_utilization_pct", guide_mean(&ranks, "utilization_of_gpu_span_pct"),
                         nothing);
    guide_put_mean(&ranks, "kernel_utilization_pct", nothing, out);
    guide_put_mean(&ranks, "memory_op_utilization_pct", nothing, out);
    guide_put_mean(&ranks, "compute_efficiency_pct", nothing, out);
    guide_put_mean(&ranks, "idle_percentage", nothing, out);
    metric_put_number_or(out, "avg_step_window_utilization_pct",
                         guide_mean(&ranks, "utilization_of_step_window_pct"), no_steps);
    metric_put_number(out, "avg_kernel_launches", guide_mean(&ranks, "num_kernel_launches"));
    metric_put_number(out, "avg_memory_ops", guide_mean(&ranks, "num_memory_ops"));
    put_device(&ranks, metric_put_object(out, "device_info"));
    guide_put_ranks(&ranks, NULL, out);
}

/* ---- as the original ----------------------------------------------------------------------- */

enum { KERNEL, COPY };
static const metric_pick work =
    METRIC_PICK(METRIC_LASTING, {KERNEL, .words = "kernel"}, {COPY, .words = "gpu_memcpy"});

static bool measure_compat(const metric_context *x, const guide_rank *r, dse_arena *a)
{
    const metric_span span = metric_pick_span(r->rank, &recorded_timed, a);
    const double span_us = guide_us(span.end - span.start);
    metric_picked p = metric_pick_of(r->rank, NULL, &work, a);
    metric_spans kernels = metric_picked_time(&p, KERNEL, a), copies = metric_picked_time(&p, COPY, a),
                 both = metric_picked_time(&p, METRIC_ANY_CLASS, a);
    metric_sums sums[2] = {{0}};
    double us[4];
    static const char *const times[] = {"kernel_time_ms", "memcpy_time_ms", "total_busy_time_ms",
                                        "idle_time_ms"},
                             *const shares[] = {"kernel_utilization_pct", "memcpy_utilization_pct",
                                                "total_utilization_pct", "idle_percentage"};

    (void)x;
    if (span.start > span.end) /* no event lasts */
        return false;
    metric_picked_sum(&p, sums);
    us[0] = guide_us(metric_spans_length(&kernels));
    us[1] = guide_us(metric_spans_length(&copies));
    us[2] = guide_us(metric_spans_length(&both));
    us[3] = span_us - us[2];
    metric_put_number(r->out, "total_span_ms", span_us / 1000);
    for (int i = 0; i < 4; i++)
        metric_put_number(r->out, times[i], us[i] / 1000);
    for (int i = 0; i < 4; i++)
        guide_put_round(r->out, shares[i], guide_percent(us[i], span_us));
    metric_put_integer(r->out, "num_kernel_launches", sums[KERNEL].n);
    metric_put_integer(r->out, "num_memcpy_ops", sums[COPY].n);
    return true;
}

static dse_status gpu_utilization_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    guide_ranks ranks = guide_measure(x, out, measure_compat, 0);

    if (!ranks.n)
        return metric_absent(err, "no trace here has an event that lasts");
    guide_put_round(out, "avg_gpu_utilization_pct", guide_mean(&ranks, "total_utilization_pct"));
    guide_put_mean(&ranks, "kernel_utilization_pct", NULL, out);
    guide_put_mean(&ranks, "memcpy_utilization_pct", NULL, out);
    guide_put_mean(&ranks, "idle_percentage", NULL, out);
    metric_put_number(out, "avg_kernel_launches", metric_round(guide_mean(&ranks, "num_kernel_launches"), 0));
    metric_put_number(out, "avg_memcpy_ops", metric_round(guide_mean(&ranks, "num_memcpy_ops"), 0));
    put_device(&ranks, metric_put_object(out, "device_info"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW(
         "gpu_utilization", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
         "busy and idle time of the GPU: of its own span, of the steps, of the recording; speed of copies"),
     .put = gpu_utilization, .compat = gpu_utilization_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(utilization);
