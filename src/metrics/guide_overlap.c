/* How much of the communication compute hides, and how long the GPU runs no kernel at all.
 *
 * The guide's tool is right as it stands, but for compute kernels with "broadcast" in their name, which it
 * takes for communication. Copies of memory are idle time here; gpu_utilization counts them as work. */
#include "metrics/guide.h"
#include "metrics/metric.h"

#include <math.h>

typedef struct {
    double compute_us, comm_us, overlap_us, bubble_us, span_us, busy_us;
    double compute_ms, comm_ms, overlap_ms, bubble_ms; /* for the means */
    double efficiency;                                 /* percent of communication; NaN without any */
    uint32_t n_compute, n_comm;
} rank_overlap;

static double span_of(const metric_spans *s)
{
    return s->n ? guide_us(s->span[s->n - 1].end - s->span[0].start) : 0;
}

static rank_overlap measure(const metric_spans *compute, const metric_spans *comm, const metric_spans *all)
{
    rank_overlap o = {.compute_us = guide_us(metric_spans_length(compute)),
                      .comm_us = guide_us(metric_spans_length(comm)),
                      .overlap_us = guide_us(metric_spans_overlap(compute, comm)),
                      .busy_us = guide_us(metric_spans_length(all)),
                      .span_us = span_of(all)};

    o.bubble_us =
        guide_us(all->n ? all->span[all->n - 1].end - all->span[0].start - metric_spans_length(all) : 0);
    o.compute_ms = o.compute_us / 1000;
    o.comm_ms = o.comm_us / 1000;
    o.overlap_ms = o.overlap_us / 1000;
    o.bubble_ms = o.bubble_us / 1000;
    o.efficiency = o.comm_us > 0 ? o.overlap_us / o.comm_us * 100 : NAN;
    return o;
}

/* ---- the definition ------------------------------------------------------------------------ */

static void put_rank(const rank_overlap *o, metric_value *to)
{
    static const char nothing[] = "no kernels";

    metric_put_number(to, "compute_time_ms", o->compute_ms);
    metric_put_number(to, "communication_time_ms", o->comm_ms);
    metric_put_number(to, "overlap_time_ms", o->overlap_ms);
    metric_put_number(to, "bubble_time_ms", o->bubble_ms);
    metric_put_number(to, "total_kernel_time_ms", o->busy_us / 1000);
    metric_put_number(to, "kernel_span_ms", o->span_us / 1000);
    guide_put_percent(to, "overlap_efficiency", o->overlap_us, o->comm_us, "no communication");
    guide_put_percent(to, "compute_percentage", o->compute_us, o->span_us, nothing);
    guide_put_percent(to, "comm_percentage", o->comm_us, o->span_us, nothing);
    guide_put_percent(to, "bubble_percentage", o->bubble_us, o->span_us, nothing);
    metric_put_integer(to, "num_compute_kernels", o->n_compute);
    metric_put_integer(to, "num_comm_kernels", o->n_comm);
}

static void overlap(const metric_context *x, metric_value *out)
{
    metric_value *per_rank;
    int64_t n_compute = 0, n_comm = 0;
    guide_ranks ranks = guide_ranks_of(x);
    rank_overlap *o = DSE_ARENA_NEW(x->arena, rank_overlap, ranks.n);

    for (uint32_t i = 0; i < ranks.n; i++) {
        const metric_view *v = ranks.rank[i].view;
        metric_spans comm = metric_comm_kernel_time(v);

        o[i] = measure(&v->compute_time, &comm, &v->kernel_time);
        n_compute += o[i].n_compute = v->compute.n;
        n_comm += o[i].n_comm = metric_comm_kernels(v).n;
    }
    GUIDE_PUT_MEAN(out, "avg_overlap_efficiency", o, ranks.n, efficiency, "no communication");
    metric_put_number(out, "avg_compute_time_ms", GUIDE_MEAN(o, ranks.n, compute_ms));
    metric_put_number(out, "avg_communication_time_ms", GUIDE_MEAN(o, ranks.n, comm_ms));
    metric_put_number(out, "avg_overlap_time_ms", GUIDE_MEAN(o, ranks.n, overlap_ms));
    metric_put_number(out, "avg_bubble_time_ms", GUIDE_MEAN(o, ranks.n, bubble_ms));
    metric_put_integer(out, "total_compute_kernels", n_compute);
    metric_put_integer(out, "total_comm_kernels", n_comm);
    metric_put_integer(out, "num_ranks", ranks.n);
    per_rank = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < ranks.n; i++)
        put_rank(&o[i], metric_put_rank(per_rank, ranks.rank[i].rank));
}

/* ---- as the original ----------------------------------------------------------------------- */

static uint8_t is_comm(const char *name)
{
    return METRIC_HAS_ANY(name, "nccl", "allgather", "allreduce", "reducescatter", "broadcast");
}

static void measure_compat(const guide_rank *r, dse_arena *a, rank_overlap *out)
{
    const metric_events *kernels = &r->view->kernels;
    const metric_words words = METRIC_WORDS(r->rank, "kernel");
    metric_span *side[2]; /* compute, communication */
    uint32_t n[2] = {0, 0}, n_all;
    metric_spans compute, comm, all;
    metric_classes classes;

    side[0] = DSE_ARENA_NEW(a, metric_span, kernels->n);
    side[1] = DSE_ARENA_NEW(a, metric_span, kernels->n);
    classes = metric_classes_of(r->rank, is_comm, a);
    guide_union_of(r->rank, kernels, &words, a, &all, &n_all);
    for (uint32_t i = 0; i < kernels->n; i++) {
        const trace_event *e = &r->rank->event[kernels->event[i]];
        uint8_t to;

        if (!words.is[e->word] || e->dur_ps <= 0)
            continue;
        to = metric_class_of(&classes, e);
        side[to][n[to]++] = (metric_span){metric_start(e), metric_end(e)};
    }
    compute = metric_spans_merge(side[0], n[0]);
    comm = metric_spans_merge(side[1], n[1]);
    *out = measure(&compute, &comm, &all);
    out->n_compute = n[0];
    out->n_comm = n[1];
    out->efficiency = metric_round(out->comm_us > 0 ? out->overlap_us / out->comm_us * 100 : 0, 2);
}

static void put_rank_compat(const rank_overlap *o, const char *label, metric_value *to)
{
    metric_put_number(to, "compute_time_us", o->compute_us);
    metric_put_number(to, "compute_time_ms", o->compute_ms);
    metric_put_number(to, "communication_time_us", o->comm_us);
    metric_put_number(to, "communication_time_ms", o->comm_ms);
    metric_put_number(to, "overlap_time_us", o->overlap_us);
    metric_put_number(to, "overlap_time_ms", o->overlap_ms);
    metric_put_number(to, "bubble_time_us", o->bubble_us);
    metric_put_number(to, "bubble_time_ms", o->bubble_ms);
    metric_put_number(to, "total_kernel_time_ms", o->busy_us / 1000);
    metric_put_number(to, "overlap_efficiency", o->efficiency);
    guide_put_round(to, "compute_percentage", guide_percent(o->compute_us, o->span_us));
    guide_put_round(to, "comm_percentage", guide_percent(o->comm_us, o->span_us));
    guide_put_round(to, "bubble_percentage", guide_percent(o->bubble_us, o->span_us));
    metric_put_integer(to, "num_compute_kernels", o->n_compute);
    metric_put_integer(to, "num_comm_kernels", o->n_comm);
    metric_put_text(to, "rank", label);
}

static void overlap_compat(const metric_context *x, metric_value *out)
{
    metric_value *list;
    int64_t n_compute = 0, n_comm = 0;
    dse_arena scratch;
    guide_ranks ranks = guide_ranks_compat(x);
    rank_overlap *o = DSE_ARENA_NEW(x->arena, rank_overlap, ranks.n);

    dse_arena_init(&scratch);
    for (uint32_t i = 0; i < ranks.n; i++) {
        dse_arena_reset(&scratch);
        measure_compat(&ranks.rank[i], &scratch, &o[i]);
        n_compute += o[i].n_compute;
        n_comm += o[i].n_comm;
    }
    dse_arena_free(&scratch);
    guide_put_round(out, "avg_overlap_efficiency", GUIDE_MEAN(o, ranks.n, efficiency));
    guide_put_round(out, "avg_compute_time_ms", GUIDE_MEAN(o, ranks.n, compute_ms));
    guide_put_round(out, "avg_communication_time_ms", GUIDE_MEAN(o, ranks.n, comm_ms));
    guide_put_round(out, "avg_overlap_time_ms", GUIDE_MEAN(o, ranks.n, overlap_ms));
    guide_put_round(out, "avg_bubble_time_ms", GUIDE_MEAN(o, ranks.n, bubble_ms));
    metric_put_integer(out, "total_compute_kernels", n_compute);
    metric_put_integer(out, "total_comm_kernels", n_comm);
    list = metric_put_list(out, "per_rank_stats");
    for (uint32_t i = 0; i < ranks.n; i++)
        put_rank_compat(&o[i], ranks.rank[i].label, metric_put_object(list, NULL));
    metric_put_integer(out, "num_ranks", ranks.n);
}

static const metric rows[] = {
    {METRIC_ROW("overlap", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "time of compute and of communication kernels, what they share, and when no kernel runs: "
                "means over ranks"),
     .put = overlap, .compat_put = overlap_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(guide_overlap);
