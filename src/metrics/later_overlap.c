/* Communication that compute covers, as the later tools measure it: within steps, and over the whole
 * trace. */
#include "metrics/latency.h"
#include "metrics/later.h"

/* ---- compute_comm_overlap ------------------------------------------------------------------ */

/* Sums of both, clipped to each inner step. */
static void add_steps(const metric_spans *comm, const metric_spans *both, const metric_steps *all,
                      double *over, double *whole)
{
    metric_steps s = metric_steps_inner(all);

    for (uint32_t i = 0; i < s.n; i++) {
        *over += (double)metric_spans_within(both, s.step[i].span.start, s.step[i].span.end);
        *whole += (double)metric_spans_within(comm, s.step[i].span.start, s.step[i].span.end);
    }
}

static metric_steps first_steps(const metric_context *x, uint32_t i)
{
    metric_steps s = {0};

    for (later_mark mark = 0; mark < LATER_MARKS && !s.n; mark++)
        s = later_steps_of(x, i, mark, x->options->compat);
    return s;
}

/* Unions of a rank's communication, and of what compute covers of it. */
static void covered(const metric_context *x, const later_kernels *k, metric_spans *comm, metric_spans *both)
{
    metric_spans compute = later_union(k, false, x->arena);

    *comm = later_union(k, true, x->arena);
    *both = metric_spans_intersect(comm, &compute, x->arena);
}

/* Over the whole trace. */
static void add_covered(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_spans comm, both;

    covered(x, k, &comm, &both);
    later_add(r, k->rank, (double)metric_spans_length(&both), (double)metric_spans_length(&comm));
}

/* Within the inner steps. */
static void add_covered_steps(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_steps steps = first_steps(x, k->index);
    metric_spans comm, both;
    double over = 0, all = 0;

    covered(x, k, &comm, &both);
    add_steps(&comm, &both, &steps, &over, &all);
    later_add(r, k->rank, over, all);
}

/* ---- XLA under --compat -------------------------------------------------------------------- */

/* The engine's steps; without any, step markers that last more than a tenth of the longest. By start. */
static metric_steps xla_steps(const metric_context *x, const trace_rank *r)
{
    static const char *const names[] = {METRIC_ENGINE_LINE, "StepMarker"};
    metric_events list = {0, DSE_ARENA_NEW(x->arena, uint32_t, r->n_events)};
    metric_steps s = {0};
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
    metric_events list = metric_named(r, words, x->arena);
    metric_classes not = metric_classes_of(r, without ? without : words, x->arena);
    uint32_t n = 0;

    for (uint32_t i = 0; i < list.n; i++) {
        const trace_event *e = &r->event[list.event[i]];

        if (!e->instant && (!without || !metric_class_of(&not, e)))
            list.event[n++] = list.event[i];
    }
    list.n = n;
    metric_sort_by_start(r, &list, x->arena);
    return metric_union_of(r, &list, x->arena);
}

static void xla_upstream_overlap(const metric_context *x, later_result *out)
{
    const trace_rank *r = &x->record->rank[0];
    double over = 0, all = 0;
    metric_steps steps = xla_steps(x, r);
    metric_spans comm = named_time(x, r, later_comm_xla, NULL);
    metric_spans compute = named_time(x, r, later_compute_xla, later_comm_xla);
    metric_spans both = metric_spans_intersect(&comm, &compute, x->arena);

    add_steps(&comm, &both, &steps, &over, &all);
    later_add(out, NULL, over, all);
}

/* Over all operations of a device, since its clock has no steps of the host. */
static void add_device(const metric_context *x, const trace_rank *rank, const tpu_device *d, later_result *r)
{
    (void)x, (void)rank;
    later_add(r, NULL, (double)metric_spans_overlap(&d->comm, &d->compute),
              (double)metric_spans_length(&d->comm));
}

/* An Nsight Systems export names no steps: all of it counts there, its devices pooled. */
static const metric rows[] = {
    {LATER_VALUE("communication_overlap_ratio", "", METRIC_ON_GPU,
                 "communication that compute covers, 0 to 1, whole trace, mean over ranks"),
     LATER_RULE(.gpu = add_covered, .words = later_comm_plain, .nsys = add_covered,
                .nsys_words = later_comm_nsys, .mean = METRIC_ON_HOST, .scale = 1,
                .why = "the trace has no communication kernels")},
    {LATER_VALUE("compute_comm_overlap", "%", LATER_ON_ALL,
                 "communication that compute covers, within the inner steps"),
     LATER_RULE(.gpu = add_covered_steps, .words = later_comm_overlap, .nsys = add_covered, .tpu = add_device,
                .tpu_compat = xla_upstream_overlap, .mean = METRIC_ON_HOST, .scale = 100,
                .why = "no step has both a marker and communication"),
     METRIC_ENTRY("compute_comm_overlap", "%", METRIC_HIGHER, METRIC_WAIT_TOLERANCE)},
};

METRIC_FAMILY(later_overlap);
