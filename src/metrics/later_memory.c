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

/* Whose name is of a copy, or, by the definition, that a GPU copies or sets memory. Bytes over ps are TB/s. */
static dse_status gpu_bandwidth(const metric_context *x, later_result *out, dse_error *err)
{
    bool by_name = x->options->compat && later_kind(x) != TRACE_NSYS;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        double bytes = 0, ps = 0;
        later_names names;
        dse_status st = later_names_init(r, &later_memcpy, x->arena, &names, err);

        if (st != DSE_OK)
            return st;
        for (size_t k = 0; k < r->n_events; k++) {
            const trace_event *e = &r->event[k];
            double b;

            if (e->instant || e->dur_ps <= 0 ||
                !(by_name ? later_name_says(&names, e) : e->category == TRACE_MEMCPY))
                continue;
            b = copied_bytes(r, e);
            bytes += b;
            ps += b > 0 ? (double)e->dur_ps : 0;
        }
        later_add(out, r, bytes, ps);
    }
    return DSE_OK;
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
static dse_status tpu_bandwidth(const metric_context *x, later_result *out, dse_error *err)
{
    later_copies which = {.rank = &x->record->rank[0], .pid = DSE_NONE};
    later_copy *copy;
    tpu_run run;
    size_t n;
    dse_status st = tpu_run_init(x, &run, err);

    if (st == DSE_OK && x->options->compat) {
        if ((st = later_copies_find(x, &which, &copy, &n, err)) == DSE_OK)
            add_copies(out, copy, n);
        return st;
    }
    for (uint32_t i = 0; st == DSE_OK && i < run.n; i++) {
        which = (later_copies){.rank = run.rank[i], .pid = run.device[i]->pid, .bare = true};
        if ((st = later_copies_find(x, &which, &copy, &n, err)) == DSE_OK)
            add_copies(out, copy, n);
    }
    return st;
}

static dse_status average_memory_bandwidth(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "average_memory_bandwidth", 1000);
    dse_status st = (later_kind(x) == TRACE_XLA ? tpu_bandwidth : gpu_bandwidth)(x, &r, err);

    return st == DSE_OK ? later_end(&r, x, -1, "no copy has both a size and a time", err) : st;
}

/* ---- memory_transfer_overhead -------------------------------------------------------------- */

/* Copies that no compute hides, over the time from the first to the last activity of the GPU. */
static dse_status gpu_overhead(const metric_context *x, later_result *out, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++) {
        const metric_view *v = &x->view[i];
        metric_spans pure;

        if (!v->memory_ops.n)
            continue;
        if (!metric_spans_subtract(&v->memory_time, &v->compute_time, x->arena, &pure))
            return dse_fail_nomem(err);
        later_add(out, v->rank, (double)metric_spans_length(&pure),
                  (double)(v->gpu_span.end - v->gpu_span.start));
    }
    return DSE_OK;
}

typedef struct {
    metric_events copies, compute;
    metric_span span;
} upstream_lists;

/* Real copies are of category gpu_memcpy, which the tool does not take: it sees kernels that are named so. */
static dse_status upstream_lists_init(const metric_context *x, const trace_rank *r, upstream_lists *l,
                                      dse_error *err)
{
    metric_words kernel = later_kernel_words(r);
    later_names copy, comm;
    dse_status st = later_names_init(r, &later_memcpy, x->arena, &copy, err);

    if (st == DSE_OK)
        st = later_names_init(r, &later_comm_named, x->arena, &comm, err);
    *l = (upstream_lists){{0, DSE_ARENA_NEW(x->arena, uint32_t, r->n_events)},
                          {0, DSE_ARENA_NEW(x->arena, uint32_t, r->n_events)},
                          METRIC_NO_SPAN};
    if (st != DSE_OK || !l->copies.event || !l->compute.event)
        return st != DSE_OK ? st : dse_fail_nomem(err);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (e->instant || e->dur_ps <= 0 || !kernel.is[e->word])
            continue;
        metric_span_extend(&l->span, metric_start(e), metric_end(e));
        if (later_name_says(&copy, e))
            l->copies.event[l->copies.n++] = (uint32_t)i;
        else if (!later_name_says(&comm, e))
            l->compute.event[l->compute.n++] = (uint32_t)i;
    }
    return DSE_OK;
}

static dse_status upstream_overhead(const metric_context *x, later_result *out, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        metric_spans copies, compute, pure;
        upstream_lists l;
        dse_status st = upstream_lists_init(x, r, &l, err);

        if (st != DSE_OK)
            return st;
        if (!l.copies.n)
            continue;
        if (!metric_sort_by_start(r, &l.copies, x->arena) || !metric_sort_by_start(r, &l.compute, x->arena) ||
            !metric_union_of(r, &l.copies, x->arena, &copies) ||
            !metric_union_of(r, &l.compute, x->arena, &compute) ||
            !metric_spans_subtract(&copies, &compute, x->arena, &pure))
            return dse_fail_nomem(err);
        later_add(out, r, (double)metric_spans_length(&pure), (double)(l.span.end - l.span.start));
    }
    return DSE_OK;
}

/* The devices of an Nsight Systems export merged into one: copies less all kernels. */
static dse_status nsys_upstream_overhead(const metric_context *x, later_result *out, dse_error *err)
{
    metric_spans copies = {0}, kernels = {0}, pure, all;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const metric_view *v = &x->view[i];
        metric_events list = {0, DSE_ARENA_NEW(x->arena, uint32_t, v->memory_ops.n)};
        metric_spans own;

        for (uint32_t k = 0; list.event && k < v->memory_ops.n; k++)
            if (v->rank->event[v->memory_ops.event[k]].category == TRACE_MEMCPY)
                list.event[list.n++] = v->memory_ops.event[k];
        if (!list.event || !metric_union_of(v->rank, &list, x->arena, &own) ||
            !metric_spans_unite(&copies, &own, x->arena, &copies) ||
            !metric_spans_unite(&kernels, &v->kernel_time, x->arena, &kernels))
            return dse_fail_nomem(err);
    }
    if (!copies.n)
        return DSE_OK;
    if (!metric_spans_subtract(&copies, &kernels, x->arena, &pure) ||
        !metric_spans_unite(&copies, &kernels, x->arena, &all))
        return dse_fail_nomem(err);
    later_add(out, NULL, (double)metric_spans_length(&pure),
              (double)(all.span[all.n - 1].end - all.span[0].start));
    return DSE_OK;
}

/* ---- of a TPU ------------------------------------------------------------------------------ */

static dse_status union_of_copies(const metric_context *x, const later_copies *which, metric_spans *out,
                                  dse_error *err)
{
    later_copy *copy;
    metric_span *span;
    size_t n;
    dse_status st = later_copies_find(x, which, &copy, &n, err);

    if (st != DSE_OK)
        return st;
    if (!(span = DSE_ARENA_NEW(x->arena, metric_span, n)))
        return dse_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        span[i] = copy[i].span;
    *out = metric_spans_merge_any(span, n);
    return DSE_OK;
}

/* Copies that no compute of the device hides, over the time from its first to its last operation. */
static dse_status tpu_overhead(const metric_context *x, later_result *out, dse_error *err)
{
    tpu_run run;
    dse_status st = tpu_run_init(x, &run, err);

    for (uint32_t i = 0; st == DSE_OK && i < run.n; i++) {
        const tpu_device *d = run.device[i];
        later_copies which = {.rank = run.rank[i], .pid = d->pid, .bare = true};
        metric_spans copies, pure;

        if ((st = union_of_copies(x, &which, &copies, err)) != DSE_OK || !copies.n)
            continue;
        if (!metric_spans_subtract(&copies, &d->compute, x->arena, &pure))
            return dse_fail_nomem(err);
        later_add(out, NULL, (double)metric_spans_length(&pure), (double)(d->span.end - d->span.start));
    }
    return st;
}

/* What the tool takes for compute: all device events but copies, whole programs and waits. */
static bool is_device_compute(const char *name)
{
    return !strstr(name, "copy-start.") && !strstr(name, "copy-done.") && !metric_begins(name, "jit_") &&
           !strstr(name, "dependency-wait");
}

static dse_status device_compute(const metric_context *x, const trace_rank *r, const bool *lane,
                                 metric_spans *out, dse_error *err)
{
    metric_span *span = DSE_ARENA_NEW(x->arena, metric_span, r->n_events);
    size_t n = 0;

    if (!span)
        return dse_fail_nomem(err);
    for (size_t i = 0; i < r->n_events; i++) {
        trace_device_time t = trace_device_time_of(r, i);

        if (!r->event[i].instant && lane[r->event[i].lane] && t.dur_ps > 0 && t.offset_ps >= 0 &&
            is_device_compute(METRIC_TEXT_OF(r, &r->event[i])))
            span[n++] = (metric_span){t.offset_ps, t.offset_ps + t.dur_ps};
    }
    *out = metric_spans_merge_any(span, n);
    return DSE_OK;
}

/* Over the sum of the engine's steps, which is host time. */
static dse_status tpu_upstream_overhead(const metric_context *x, later_result *out, dse_error *err)
{
    const trace_rank *r = &x->record->rank[0];
    later_copies which = {.rank = r, .lane = tpu_device_lanes(r, x->arena), .pid = DSE_NONE};
    metric_spans copies, compute, pure;
    uint32_t step = trace_names_find(&r->names, METRIC_ENGINE_LINE);
    double steps = 0;
    dse_status st;

    for (size_t i = 0; i < r->n_events; i++)
        if (!r->event[i].instant && r->event[i].name != DSE_NONE && r->event[i].name == step)
            steps += (double)r->event[i].dur_ps;
    if (!which.lane)
        return dse_fail_nomem(err);
    st = union_of_copies(x, &which, &copies, err);
    if (st == DSE_OK)
        st = device_compute(x, r, which.lane, &compute, err);
    if (st != DSE_OK || !copies.n)
        return st;
    if (!metric_spans_subtract(&copies, &compute, x->arena, &pure))
        return dse_fail_nomem(err);
    later_add(out, NULL, (double)metric_spans_length(&pure), steps);
    return DSE_OK;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static dse_status memory_transfer_overhead(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "memory_transfer_overhead", 100);
    bool compat = x->options->compat, nsys = later_kind(x) == TRACE_NSYS;
    dse_status st;

    if (later_kind(x) == TRACE_XLA)
        st = (compat ? tpu_upstream_overhead : tpu_overhead)(x, &r, err);
    else if (compat)
        st = (nsys ? nsys_upstream_overhead : upstream_overhead)(x, &r, err);
    else
        st = gpu_overhead(x, &r, err);
    return st == DSE_OK ? later_end(&r, x, nsys ? -1 : 4, "the trace has no copies", err) : st;
}

static const metric rows[] = {
    LATER_ROW(average_memory_bandwidth, "GB/s", LATER_ON_ALL, "bytes of copies over the sum of their times"),
    LATER_ROW(memory_transfer_overhead, "%", LATER_ON_ALL,
              "copies that no compute hides, over the GPU's time"),
};

METRIC_FAMILY(later_memory);
