/* How much of the communication compute hides, and how long the GPU runs no kernel at all.
 *
 * The guide's tool is right as it stands, but for compute kernels with "broadcast" in their name, which it
 * takes for communication. Copies of memory are idle time here; gpu_utilization counts them as work. */
#include "metrics/guide.h"
#include "metrics/metric.h"

#include <math.h>

/* Puts what unions of compute, communication and both come to; the originals say times in microseconds,
 * too. */
static void put_times(const metric_context *x, const guide_rank *r, const metric_spans *compute,
                      const metric_spans *comm, const metric_spans *all)
{
    static const char nothing[] = "no kernels";
    const int64_t span = all->n ? all->span[all->n - 1].end - all->span[0].start : 0;
    const double span_us = guide_us(span);
    const struct {
        const char *name;
        double us;
    } times[] = {{"compute", guide_us(metric_spans_length(compute))},
                 {"communication", guide_us(metric_spans_length(comm))},
                 {"overlap", guide_us(metric_spans_overlap(compute, comm))},
                 {"bubble", guide_us(span - metric_spans_length(all))}};
    const double compute_us = times[0].us, comm_us = times[1].us, overlap_us = times[2].us;

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (x->options->compat)
            metric_put_number(r->out, dse_arena_printf(x->arena, "%s_time_us", times[i].name), times[i].us);
        metric_put_number(r->out, dse_arena_printf(x->arena, "%s_time_ms", times[i].name),
                          times[i].us / 1000);
    }
    metric_put_number(r->out, "total_kernel_time_ms", guide_us(metric_spans_length(all)) / 1000);
    if (!x->options->compat) {
        metric_put_number(r->out, "kernel_span_ms", span_us / 1000);
        metric_put_number(r->aside, "overlap_efficiency", comm_us > 0 ? overlap_us / comm_us * 100 : NAN);
    }
    guide_put_share(x, r->out, "overlap_efficiency", overlap_us, comm_us, "no communication");
    guide_put_share(x, r->out, "compute_percentage", compute_us, span_us, nothing);
    guide_put_share(x, r->out, "comm_percentage", comm_us, span_us, nothing);
    guide_put_share(x, r->out, "bubble_percentage", times[3].us, span_us, nothing);
}

static void put_counts(const guide_rank *r, uint32_t n_compute, uint32_t n_comm)
{
    metric_put_integer(r->out, "num_compute_kernels", n_compute);
    metric_put_integer(r->out, "num_comm_kernels", n_comm);
}

static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const metric_view *v = r->view;
    metric_spans comm = metric_comm_kernel_time(v);

    (void)scratch;
    put_times(x, r, &v->compute_time, &comm, &v->kernel_time);
    put_counts(r, v->compute.n, metric_comm_kernels(v).n);
    return true;
}

/* ---- as the original ----------------------------------------------------------------------- */

enum { COMPUTE, COMM };
static const metric_pick work =
    METRIC_PICK(METRIC_LASTING, {COMM, "kernel", .names = "nccl|allgather|allreduce|reducescatter|broadcast"},
                {COMPUTE, .words = "kernel"});

static bool measure_compat(const metric_context *x, const guide_rank *r, dse_arena *a)
{
    metric_picked p = metric_pick_of(r->rank, &r->view->kernels, &work, a);
    metric_spans compute = metric_picked_time(&p, COMPUTE, a), comm = metric_picked_time(&p, COMM, a),
                 all = metric_picked_time(&p, METRIC_ANY_CLASS, a);
    metric_sums sums[2] = {{0}};

    metric_picked_sum(&p, sums);
    put_times(x, r, &compute, &comm, &all);
    put_counts(r, (uint32_t)sums[COMPUTE].n, (uint32_t)sums[COMM].n);
    return true;
}

/* ---- both ---------------------------------------------------------------------------------- */

static void overlap(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, x->options->compat ? measure_compat : measure, 0);

    guide_put_mean(&ranks, "overlap_efficiency", "no communication", out);
    guide_put_mean(&ranks, "compute_time_ms", NULL, out);
    guide_put_mean(&ranks, "communication_time_ms", NULL, out);
    guide_put_mean(&ranks, "overlap_time_ms", NULL, out);
    guide_put_mean(&ranks, "bubble_time_ms", NULL, out);
    metric_put_integer(out, "total_compute_kernels", (int64_t)guide_sum(&ranks, "num_compute_kernels"));
    metric_put_integer(out, "total_comm_kernels", (int64_t)guide_sum(&ranks, "num_comm_kernels"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
}

static const metric rows[] = {
    {METRIC_ROW("overlap", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "time of compute and of communication kernels, what they share, and when no kernel runs: "
                "means over ranks"),
     .put = overlap, .compat_put = overlap, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(guide_overlap);
