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

/* Within the inner steps. */
static void add_covered_steps(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_steps steps = first_steps(x, k->index);
    metric_spans comm = later_union(k, true, x->arena), compute = later_union(k, false, x->arena),
                 both = metric_spans_intersect(&comm, &compute, x->arena);
    double over = 0, all = 0;

    add_steps(&comm, &both, &steps, &over, &all);
    later_add(r, k->rank, over, all);
}

/* ---- XLA under --compat -------------------------------------------------------------------- */

/* The engine's steps; without any, step markers that last more than a tenth of the longest. By start. */
static const metric_pick engine_steps = METRIC_PICK(0, {.is = metric_is_engine_line}),
                         step_markers = METRIC_PICK(0, {.names = "=^StepMarker$"});

static metric_steps xla_steps(const metric_context *x, const trace_rank *r)
{
    metric_picked p = metric_pick_of(r, NULL, &engine_steps, x->arena);
    metric_sums all = {0};
    metric_steps s;
    uint32_t kept = 0;

    if (!p.list.n) {
        p = metric_pick_of(r, NULL, &step_markers, x->arena);
        metric_picked_sum(&p, &all);
    }
    metric_sort_by_start(r, &p.list, x->arena);
    s = metric_steps_of_picked(&p, x->arena);
    for (uint32_t i = 0; i < s.n; i++)
        if (all.most_ps <= 0 || (double)metric_picked_at(&p, i)->dur_ps > (double)all.most_ps * 0.1)
            s.step[kept++] = s.step[i];
    s.n = kept;
    return s;
}

enum { COMM, COMPUTE };
static const metric_pick xla_work =
    METRIC_PICK(0, {COMM, .names = LATER_COMM_XLA}, {COMPUTE, .names = LATER_COMPUTE_XLA});

static void xla_upstream_overlap(const metric_context *x, later_result *out)
{
    const trace_rank *r = &x->record->rank[0];
    double over = 0, all = 0;
    metric_steps steps = xla_steps(x, r);
    metric_picked p = metric_pick_of(r, NULL, &xla_work, x->arena);
    metric_spans comm = metric_picked_time(&p, COMM, x->arena),
                 compute = metric_picked_time(&p, COMPUTE, x->arena);
    metric_spans both = metric_spans_intersect(&comm, &compute, x->arena);

    add_steps(&comm, &both, &steps, &over, &all);
    later_add(out, NULL, over, all);
}

/* An Nsight Systems export names no steps, and the clock of a TPU's device has none of the host: all of it
 * counts there; the devices of an export are pooled. */
static const metric rows[] = {
    {LATER_VALUE("communication_overlap_ratio", "", METRIC_ON_GPU,
                 "communication that compute covers, 0 to 1, whole trace, mean over ranks"),
     LATER_RULE(.fold = later_add_covered, .words = LATER_COMM_PLAIN, .nsys = later_add_covered,
                .nsys_words = LATER_COMM_NSYS, .mean = METRIC_ON_HOST, .scale = 1,
                .why = "the trace has no communication kernels")},
    {LATER_VALUE("compute_comm_overlap", "%", LATER_ON_ALL,
                 "communication that compute covers, within the inner steps"),
     LATER_RULE(.fold = add_covered_steps, .words = LATER_COMM_OVERLAP, .nsys = later_add_covered,
                .tpu = later_add_covered, .tpu_compat = xla_upstream_overlap, .mean = METRIC_ON_HOST,
                .scale = 100, .why = "no step has both a marker and communication"),
     METRIC_ENTRY("compute_comm_overlap", "%", METRIC_HIGHER, METRIC_WAIT_TOLERANCE)},
};

METRIC_FAMILY(later_overlap);
