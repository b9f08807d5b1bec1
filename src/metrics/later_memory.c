/* Copies: average_memory_bandwidth, memory_transfer_overhead. */
#include "metrics/latency.h"
#include "metrics/later.h"
#include "metrics/later_tpu.h"
#include "metrics/tpu_planes.h"

#include <string.h>

/* ---- average_memory_bandwidth -------------------------------------------------------------- */

/* The first of an event's sizes that is above 0; 0: none. */
static double copied_bytes(const trace_rank *r, const trace_event *e)
{
    const trace_args *a = metric_args_of(r, e);
    const uint64_t of[] = {a ? a->bytes : 0, a ? a->bytes_accessed : 0, a ? a->raw_bytes_accessed : 0};

    for (size_t i = 0; i < 3; i++)
        if (of[i] && of[i] != TRACE_UNKNOWN)
            return (double)of[i];
    return 0;
}

/* Over events in which a GPU copies memory; the original takes Kineto's events that are named like a copy.
 * Bytes over ps are TB/s. */
static void gpu_bandwidth(const metric_context *x, const later_kernels *k, later_result *r)
{
    const trace_rank *rank = k->rank;
    bool by_name = x->options->compat && rank->kind != TRACE_NSYS;
    metric_classes names = metric_classes_of(rank, later_memcpy, x->arena);
    double bytes = 0, ps = 0;

    for (size_t i = 0; i < rank->n_events; i++) {
        const trace_event *e = &rank->event[i];
        double b;

        if (e->instant || e->dur_ps <= 0 ||
            !(by_name ? metric_class_of(&names, e) : e->category == TRACE_MEMCPY))
            continue;
        b = copied_bytes(rank, e);
        bytes += b;
        ps += b > 0 ? (double)e->dur_ps : 0;
    }
    later_add(r, rank, bytes, ps);
}

static void add_copies(const metric_context *x, const later_copies *which, later_result *r)
{
    double bytes = 0, ps = 0;
    later_copy *copy;
    size_t n;

    later_copies_find(x, which, &copy, &n);
    for (size_t i = 0; i < n; i++)
        if (copy[i].bytes > 0 && copy[i].span.end > copy[i].span.start) {
            bytes += copy[i].bytes;
            ps += (double)(copy[i].span.end - copy[i].span.start);
        }
    later_add(r, NULL, bytes, ps);
}

static void tpu_bandwidth(const metric_context *x, const trace_rank *rank, const tpu_device *d,
                          later_result *r)
{
    add_copies(x, &(later_copies){.rank = rank, .pid = d->pid, .bare = true}, r);
}

/* Copies of all processes in one. */
static void tpu_upstream_bandwidth(const metric_context *x, later_result *r)
{
    add_copies(x, &(later_copies){.rank = &x->record->rank[0], .pid = DSE_NONE}, r);
}

/* ---- memory_transfer_overhead -------------------------------------------------------------- */

/* Adds the copies that nothing hides, over this time. */
static void add_exposed(const metric_context *x, const trace_rank *rank, const metric_spans *copies,
                        const metric_spans *hidden_by, double over_ps, later_result *r)
{
    metric_spans exposed = metric_spans_subtract(copies, hidden_by, x->arena);

    later_add(r, rank, (double)metric_spans_length(&exposed), over_ps);
}

static double length_of(metric_span s) { return (double)(s.end - s.start); }

/* Copies that no compute hides, over the time from the first to the last activity of the GPU. */
static void gpu_overhead(const metric_context *x, const later_kernels *k, later_result *r)
{
    const metric_view *v = k->view;

    if (v->memory_ops.n)
        add_exposed(x, v->rank, &v->memory_time, &v->compute_time, length_of(v->gpu_span), r);
}

/* Real copies are of category gpu_memcpy, which the tool does not take: it sees kernels that are named so. */
static void upstream_overhead(const metric_context *x, const later_kernels *k, later_result *r)
{
    const trace_rank *rank = k->rank;
    metric_words kernel = later_kernel_words(rank);
    metric_classes copy = metric_classes_of(rank, later_memcpy, x->arena),
                   comm = metric_classes_of(rank, later_comm_named, x->arena);
    metric_span *copies = DSE_ARENA_NEW(x->arena, metric_span, rank->n_events),
                *compute = DSE_ARENA_NEW(x->arena, metric_span, rank->n_events), all = METRIC_NO_SPAN;
    metric_spans copy_time, compute_time;
    size_t n_copies = 0, n_compute = 0;

    for (size_t i = 0; i < rank->n_events; i++) {
        const trace_event *e = &rank->event[i];
        metric_span span = {metric_start(e), metric_end(e)};

        if (e->instant || e->dur_ps <= 0 || !kernel.is[e->word])
            continue;
        metric_span_extend(&all, span.start, span.end);
        if (metric_class_of(&copy, e))
            copies[n_copies++] = span;
        else if (!metric_class_of(&comm, e))
            compute[n_compute++] = span;
    }
    if (!n_copies)
        return;
    copy_time = metric_spans_merge_any(copies, n_copies);
    compute_time = metric_spans_merge_any(compute, n_compute);
    add_exposed(x, rank, &copy_time, &compute_time, length_of(all), r);
}

/* The devices of an Nsight Systems export merged into one: copies less all kernels. */
static void nsys_upstream_overhead(const metric_context *x, later_result *r)
{
    metric_spans copies = {0}, kernels = {0}, all;

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        metric_events list = {0, DSE_ARENA_NEW(x->arena, uint32_t, v->memory_ops.n)};
        metric_spans own;

        for (uint32_t k = 0; k < v->memory_ops.n; k++)
            if (v->rank->event[v->memory_ops.event[k]].category == TRACE_MEMCPY)
                list.event[list.n++] = v->memory_ops.event[k];
        own = metric_union_of(v->rank, &list, x->arena);
        copies = metric_spans_unite(&copies, &own, x->arena);
        kernels = metric_spans_unite(&kernels, &v->kernel_time, x->arena);
    }
    if (!copies.n)
        return;
    all = metric_spans_unite(&copies, &kernels, x->arena);
    add_exposed(x, NULL, &copies, &kernels, (double)(all.span[all.n - 1].end - all.span[0].start), r);
}

/* ---- of a TPU ------------------------------------------------------------------------------ */

static metric_spans union_of_copies(const metric_context *x, const later_copies *which)
{
    later_copy *copy;
    metric_span *span;
    size_t n;

    later_copies_find(x, which, &copy, &n);
    span = DSE_ARENA_NEW(x->arena, metric_span, n);
    for (size_t i = 0; i < n; i++)
        span[i] = copy[i].span;
    return metric_spans_merge_any(span, n);
}

/* Copies that no compute of the device hides, over the time from its first to its last operation. */
static void tpu_overhead(const metric_context *x, const trace_rank *rank, const tpu_device *d,
                         later_result *r)
{
    metric_spans copies = union_of_copies(x, &(later_copies){.rank = rank, .pid = d->pid, .bare = true});

    if (copies.n)
        add_exposed(x, NULL, &copies, &d->compute, length_of(d->span), r);
}

/* The tool's notion of compute: all device events except copies, whole programs and waits. */
static bool is_device_compute(const char *name)
{
    return !strstr(name, "copy-start.") && !strstr(name, "copy-done.") && !metric_begins(name, "jit_") &&
           !strstr(name, "dependency-wait");
}

static metric_spans device_compute(const metric_context *x, const trace_rank *r, const bool *lane)
{
    metric_span *span = DSE_ARENA_NEW(x->arena, metric_span, r->n_events);
    size_t n = 0;

    for (size_t i = 0; i < r->n_events; i++) {
        trace_device_time t = trace_device_time_of(r, i);

        if (!r->event[i].instant && lane[r->event[i].lane] && t.dur_ps > 0 && t.offset_ps >= 0 &&
            is_device_compute(METRIC_TEXT_OF(r, &r->event[i])))
            span[n++] = (metric_span){t.offset_ps, t.offset_ps + t.dur_ps};
    }
    return metric_spans_merge_any(span, n);
}

/* Over the sum of the engine's steps, which is host time. */
static void tpu_upstream_overhead(const metric_context *x, later_result *r)
{
    const trace_rank *rank = &x->record->rank[0];
    const bool *lane = tpu_device_lanes(rank, x->arena);
    metric_spans copies = union_of_copies(x, &(later_copies){.rank = rank, .lane = lane, .pid = DSE_NONE}),
                 compute;
    uint32_t step = trace_names_find(&rank->names, METRIC_ENGINE_LINE);
    double steps = 0;

    if (!copies.n)
        return;
    for (size_t i = 0; i < rank->n_events; i++)
        if (!rank->event[i].instant && rank->event[i].name != DSE_NONE && rank->event[i].name == step)
            steps += (double)rank->event[i].dur_ps;
    compute = device_compute(x, rank, lane);
    add_exposed(x, NULL, &copies, &compute, steps, r);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static const metric rows[] = {
    {LATER_VALUE("average_memory_bandwidth", "GB/s", LATER_ON_ALL,
                 "bytes of copies over the sum of their times"),
     LATER_RULE(.gpu = gpu_bandwidth, .tpu = tpu_bandwidth, .tpu_compat = tpu_upstream_bandwidth,
                .scale = 1000, .why = "no copy has both a size and a time")},
    {LATER_VALUE("memory_transfer_overhead", "%", LATER_ON_ALL,
                 "copies that no compute hides, over the GPU's time"),
     LATER_RULE(.gpu = gpu_overhead, .gpu_compat = upstream_overhead, .nsys_compat = nsys_upstream_overhead,
                .tpu = tpu_overhead, .tpu_compat = tpu_upstream_overhead, .scale = 100, .digits = 4,
                .why = "the trace has no copies")},
};

METRIC_FAMILY(later_memory);
