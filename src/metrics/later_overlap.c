/* Communication that compute covers, as the later tools measure it: within steps, and over the whole
 * trace. */
#include "metrics/latency.h"
#include "metrics/later.h"
#include "metrics/tpu_run.h"

#include <string.h>

/* ---- compute_comm_overlap ------------------------------------------------------------------ */

/* Sums of both, clipped to each inner step. */
static void add_steps(const metric_spans *comm, const metric_spans *both, const later_steps *all,
                      double *over, double *whole)
{
    later_steps s = later_inner(all);

    for (uint32_t i = 0; i < s.n; i++) {
        *over += (double)metric_spans_within(both, s.step[i].span.start, s.step[i].span.end);
        *whole += (double)metric_spans_within(comm, s.step[i].span.start, s.step[i].span.end);
    }
}

static later_steps first_steps(const metric_context *x, uint32_t i)
{
    later_steps s = {0};

    for (later_mark mark = 0; mark < LATER_MARKS && !s.n; mark++)
        s = later_steps_of(x, i, mark, x->options->compat);
    return s;
}

/* Unions of a rank's communication, and of what compute covers of it. */
static void covered(const metric_context *x, uint32_t i, metric_classify *words, later_kernels *k,
                    metric_spans *comm, metric_spans *both)
{
    metric_spans compute;

    *k = later_kernels_of(x, i, words);
    *comm = later_union(k, true, x->arena);
    compute = later_union(k, false, x->arena);
    *both = metric_spans_intersect(comm, &compute, x->arena);
}

static void gpu_overlap(const metric_context *x, later_result *r)
{
    bool whole = later_kind(x) == TRACE_NSYS;

    for (uint32_t i = 0; i < x->n_views; i++) {
        later_kernels k;
        metric_spans comm, both;
        double over = 0, all = 0;
        later_steps steps = first_steps(x, i);

        covered(x, i, later_comm_overlap, &k, &comm, &both);
        if (whole) { /* such an export names no steps: all of it, the devices pooled */
            later_add(r, k.rank, (double)metric_spans_length(&both), (double)metric_spans_length(&comm));
            continue;
        }
        add_steps(&comm, &both, &steps, &over, &all);
        if (all > 0)
            later_add_value(r, k.rank, 100 * over / all);
    }
}

/* ---- XLA under --compat -------------------------------------------------------------------- */

/* The engine's steps; without any, step markers that last more than a tenth of the longest. By start. */
static later_steps xla_steps(const metric_context *x, const trace_rank *r)
{
    static const char *const names[] = {METRIC_ENGINE_LINE, "StepMarker"};
    metric_events list = {0, DSE_ARENA_NEW(x->arena, uint32_t, r->n_events)};
    later_steps s = {0};
    int64_t longest = 0;

    for (size_t m = 0; m < 2 && !list.n; m++) {
        uint32_t name = trace_names_find(&r->names, names[m]);

        for (size_t i = 0; i < r->n_events && name != DSE_NONE; i++)
            if (!r->event[i].instant && r->event[i].name == name) {
                list.event[list.n++] = (uint32_t)i;
                longest = m && r->event[i].dur_ps > longest ? r->event[i].dur_ps : longest;
            }
    }
    s.step = DSE_ARENA_NEW(x->arena, metric_step, list.n);
    metric_sort_by_start(r, &list, x->arena);
    for (uint32_t i = 0; i < list.n; i++) {
        const trace_event *e = &r->event[list.event[i]];

        if (!longest || (double)e->dur_ps > (double)longest * 0.1)
            s.step[s.n++] = (metric_step){0, {metric_start(e), metric_end(e)}};
    }
    return s;
}

/* The union of all duration events of the file that `words` matches and `without` does not. */
static metric_spans named_time(const metric_context *x, const trace_rank *r, metric_classify *words,
                               metric_classify *without)
{
    metric_events list = {0, DSE_ARENA_NEW(x->arena, uint32_t, r->n_events)};
    metric_classes says = metric_classes_of(r, words, x->arena), not = {0};

    if (without)
        not = metric_classes_of(r, without, x->arena);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (!e->instant && metric_class_of(&says, e) && (!without || !metric_class_of(&not, e)))
            list.event[list.n++] = (uint32_t)i;
    }
    metric_sort_by_start(r, &list, x->arena);
    return metric_union_of(r, &list, x->arena);
}

static void xla_upstream_overlap(const metric_context *x, later_result *out)
{
    const trace_rank *r = &x->record->rank[0];
    double over = 0, all = 0;
    later_steps steps = xla_steps(x, r);
    metric_spans comm = named_time(x, r, later_comm_xla, NULL);
    metric_spans compute = named_time(x, r, later_compute_xla, later_comm_xla);
    metric_spans both = metric_spans_intersect(&comm, &compute, x->arena);

    add_steps(&comm, &both, &steps, &over, &all);
    later_add(out, NULL, over, all);
}

/* The operations of each device, whose clock knows no steps of the host. */
static void xla_overlap(const metric_context *x, later_result *r)
{
    tpu_run run = tpu_run_of(x);

    for (uint32_t i = 0; i < run.n; i++) {
        const tpu_device *d = run.device[i];
        later_add(r, NULL, (double)metric_spans_overlap(&d->comm, &d->compute),
                  (double)metric_spans_length(&d->comm));
    }
}

static dse_status compute_comm_overlap(const metric_context *x, metric_value *out, dse_error *err)
{
    trace_kind kind = later_kind(x);
    later_result r =
        later_begin(x, out, "compute_comm_overlap", kind == TRACE_XLA || kind == TRACE_NSYS ? 100 : 1);

    (kind != TRACE_XLA ? gpu_overlap : x->options->compat ? xla_upstream_overlap : xla_overlap)(x, &r);
    return later_end(&r, x, -1, "no step has both a marker and communication", err);
}

/* ---- communication_overlap_ratio ----------------------------------------------------------- */

static dse_status communication_overlap_ratio(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "communication_overlap_ratio", 1);
    bool pool = later_kind(x) == TRACE_NSYS;

    for (uint32_t i = 0; i < x->n_views; i++) {
        later_kernels k;
        metric_spans comm, both;
        double over, all;

        covered(x, i, pool ? later_comm_nsys : later_comm_plain, &k, &comm, &both);
        over = (double)metric_spans_length(&both);
        all = (double)metric_spans_length(&comm);
        if (all > 0 && pool)
            later_add(&r, k.rank, over, all);
        else if (all > 0)
            later_add_value(&r, k.rank, over / all);
    }
    return later_end(&r, x, -1, "the trace has no communication kernels", err);
}

static const metric rows[] = {
    LATER_ROW(communication_overlap_ratio, "", LATER_ON_GPU,
              "communication that compute covers, 0 to 1, whole trace, mean over ranks"),
    LATER_ROW_COMPARED(compute_comm_overlap, "%", LATER_ON_ALL, METRIC_HIGHER, METRIC_WAIT_TOLERANCE,
                       "communication that compute covers, within the inner steps"),
};

METRIC_FAMILY(later_overlap);
