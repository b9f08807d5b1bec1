/* Copies: average_memory_bandwidth, memory_transfer_overhead. */
#include "metrics/latency.h"
#include "metrics/later.h"
#include "metrics/later_tpu.h"
#include "metrics/tpu_planes.h"
#include "metrics/tpu_run.h"

#include <math.h>
#include <string.h>

/* ---- average_memory_bandwidth -------------------------------------------------------------- */

/* The first of an event's sizes that is above 0; 0: none. */
static double copied_bytes(const trace_rank *r, const trace_event *e)
{
    const trace_args *a = e->args == DSE_NONE ? NULL : &r->args[e->args];
    const uint64_t of[] = {a ? a->bytes : 0, a ? a->bytes_accessed : 0, a ? a->raw_bytes_accessed : 0};

    for (size_t i = 0; i < 3; i++)
        if (of[i] && of[i] != TRACE_UNKNOWN)
            return (double)of[i];
    return 0;
}

/* Events whose name is that of a copy; by the definition, events in which a GPU copies memory. Bytes over ps
 * are TB/s. */
static void gpu_bandwidth(const metric_context *x, later_result *out)
{
    bool by_name = x->options->compat && later_kind(x) != TRACE_NSYS;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        double bytes = 0, ps = 0;
        metric_classes names = metric_classes_of(r, later_memcpy, x->arena);

        for (size_t k = 0; k < r->n_events; k++) {
            const trace_event *e = &r->event[k];
            double b;

            if (e->instant || e->dur_ps <= 0 ||
                !(by_name ? metric_class_of(&names, e) : e->category == TRACE_MEMCPY))
                continue;
            b = copied_bytes(r, e);
            bytes += b;
            ps += b > 0 ? (double)e->dur_ps : 0;
        }
        later_add(out, r, bytes, ps);
    }
}

static void add_copies(later_result *out, const later_copy *copy, size_t n)
{
    double bytes = 0, ps = 0;

    for (size_t i = 0; i < n; i++)
        if (copy[i].bytes > 0 && copy[i].span.end > copy[i].span.start) {
            bytes += copy[i].bytes;
            ps += (double)(copy[i].span.end - copy[i].span.start);
        }
    later_add(out, NULL, bytes, ps);
}

/* Copies of all processes in one; by the definition those of each device. */
static void tpu_bandwidth(const metric_context *x, later_result *out)
{
    later_copies which = {.rank = &x->record->rank[0], .pid = DSE_NONE};
    later_copy *copy;
    tpu_run run;
    size_t n;

    if (x->options->compat) {
        later_copies_find(x, &which, &copy, &n);
        add_copies(out, copy, n);
        return;
    }
    run = tpu_run_of(x);
    for (uint32_t i = 0; i < run.n; i++) {
        which = (later_copies){.rank = run.rank[i], .pid = run.device[i]->pid, .bare = true};
        later_copies_find(x, &which, &copy, &n);
        add_copies(out, copy, n);
    }
}

static dse_status average_memory_bandwidth(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "average_memory_bandwidth", 1000);

    (later_kind(x) == TRACE_XLA ? tpu_bandwidth : gpu_bandwidth)(x, &r);
    return later_end(&r, x, -1, "no copy has both a size and a time", err);
}

/* ---- memory_transfer_overhead -------------------------------------------------------------- */

/* Copies that no compute hides, over the time from the first to the last activity of the GPU. */
static void gpu_overhead(const metric_context *x, later_result *out)
{
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        metric_spans pure;

        if (!v->memory_ops.n)
            continue;
        pure = metric_spans_subtract(&v->memory_time, &v->compute_time, x->arena);
        later_add(out, v->rank, (double)metric_spans_length(&pure),
                  (double)(v->gpu_span.end - v->gpu_span.start));
    }
}

typedef struct {
    metric_events copies, compute;
    metric_span span;
} upstream_lists;

/* Real copies are of category gpu_memcpy, which the tool does not take: it sees kernels that are named so. */
static void upstream_lists_init(const metric_context *x, const trace_rank *r, upstream_lists *l)
{
    metric_words kernel = later_kernel_words(r);
    metric_classes copy = metric_classes_of(r, later_memcpy, x->arena),
                   comm = metric_classes_of(r, later_comm_named, x->arena);

    *l = (upstream_lists){{0, DSE_ARENA_NEW(x->arena, uint32_t, r->n_events)},
                          {0, DSE_ARENA_NEW(x->arena, uint32_t, r->n_events)},
                          METRIC_NO_SPAN};
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (e->instant || e->dur_ps <= 0 || !kernel.is[e->word])
            continue;
        metric_span_extend(&l->span, metric_start(e), metric_end(e));
        if (metric_class_of(&copy, e))
            l->copies.event[l->copies.n++] = (uint32_t)i;
        else if (!metric_class_of(&comm, e))
            l->compute.event[l->compute.n++] = (uint32_t)i;
    }
}

static void upstream_overhead(const metric_context *x, later_result *out)
{
    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        metric_spans copies, compute, pure;
        upstream_lists l;

        upstream_lists_init(x, r, &l);
        if (!l.copies.n)
            continue;
        metric_sort_by_start(r, &l.copies, x->arena);
        metric_sort_by_start(r, &l.compute, x->arena);
        copies = metric_union_of(r, &l.copies, x->arena);
        compute = metric_union_of(r, &l.compute, x->arena);
        pure = metric_spans_subtract(&copies, &compute, x->arena);
        later_add(out, r, (double)metric_spans_length(&pure), (double)(l.span.end - l.span.start));
    }
}

/* The devices of an Nsight Systems export merged into one: copies less all kernels. */
static void nsys_upstream_overhead(const metric_context *x, later_result *out)
{
    metric_spans copies = {0}, kernels = {0}, pure, all;

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
    pure = metric_spans_subtract(&copies, &kernels, x->arena);
    all = metric_spans_unite(&copies, &kernels, x->arena);
    later_add(out, NULL, (double)metric_spans_length(&pure),
              (double)(all.span[all.n - 1].end - all.span[0].start));
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
static void tpu_overhead(const metric_context *x, later_result *out)
{
    tpu_run run = tpu_run_of(x);

    for (uint32_t i = 0; i < run.n; i++) {
        const tpu_device *d = run.device[i];
        later_copies which = {.rank = run.rank[i], .pid = d->pid, .bare = true};
        metric_spans pure;
        metric_spans copies = union_of_copies(x, &which);

        if (!copies.n)
            continue;
        pure = metric_spans_subtract(&copies, &d->compute, x->arena);
        later_add(out, NULL, (double)metric_spans_length(&pure), (double)(d->span.end - d->span.start));
    }
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
static void tpu_upstream_overhead(const metric_context *x, later_result *out)
{
    const trace_rank *r = &x->record->rank[0];
    later_copies which = {.rank = r, .lane = tpu_device_lanes(r, x->arena), .pid = DSE_NONE};
    metric_spans copies, compute, pure;
    uint32_t step = trace_names_find(&r->names, METRIC_ENGINE_LINE);
    double steps = 0;

    for (size_t i = 0; i < r->n_events; i++)
        if (!r->event[i].instant && r->event[i].name != DSE_NONE && r->event[i].name == step)
            steps += (double)r->event[i].dur_ps;
    copies = union_of_copies(x, &which);
    compute = device_compute(x, r, which.lane);
    if (!copies.n)
        return;
    pure = metric_spans_subtract(&copies, &compute, x->arena);
    later_add(out, NULL, (double)metric_spans_length(&pure), steps);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static dse_status memory_transfer_overhead(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "memory_transfer_overhead", 100);
    bool compat = x->options->compat, nsys = later_kind(x) == TRACE_NSYS;

    if (later_kind(x) == TRACE_XLA)
        (compat ? tpu_upstream_overhead : tpu_overhead)(x, &r);
    else if (compat)
        (nsys ? nsys_upstream_overhead : upstream_overhead)(x, &r);
    else
        gpu_overhead(x, &r);
    return later_end(&r, x, nsys ? -1 : 4, "the trace has no copies", err);
}

static const metric rows[] = {
    LATER_ROW(average_memory_bandwidth, "GB/s", LATER_ON_ALL, "bytes of copies over the sum of their times"),
    LATER_ROW(memory_transfer_overhead, "%", LATER_ON_ALL,
              "copies that no compute hides, over the GPU's time"),
};

METRIC_FAMILY(later_memory);
