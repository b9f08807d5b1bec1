/* How many of a GPU's multiprocessors kernels cover at launch, and the profiler's estimate of their
 * occupancy. Means over kernels by their durations; not what the multiprocessors then do. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/pick.h"

#include <math.h>

/* Sums over kernels that give the figure. */
typedef struct {
    double weighted, weight; /* value by duration, duration; ps */
    double plain;            /* value */
    uint64_t n;
} mean;

typedef struct {
    mean coverage, occupancy; /* percent */
    uint64_t kernels;
} cover;

static void add(mean *m, double value, double weight)
{
    m->weighted += value * weight;
    m->weight += weight;
    m->plain += value;
    m->n++;
}

static mean both(mean a, mean b)
{
    return (mean){a.weighted + b.weighted, a.weight + b.weight, a.plain + b.plain, a.n + b.n};
}

static double coverage_of(double blocks_per_sm) { return blocks_per_sm < 1 ? 100 * blocks_per_sm : 100; }

/* Kernels that the file spells so. */
static const metric_pick literal = METRIC_PICK(0, {0, .words = "kernel"});

static cover cover_of(const trace_rank *r, const metric_events *kernels)
{
    cover c = {.kernels = kernels->n};

    for (uint32_t i = 0; i < kernels->n; i++) {
        const trace_event *e = &r->event[kernels->event[i]];
        const trace_args *a = metric_args_of(r, e);

        if (a && !isnan(a->blocks_per_sm))
            add(&c.coverage, coverage_of(a->blocks_per_sm), (double)e->dur_ps);
        if (a && !isnan(a->occupancy_pct))
            add(&c.occupancy, a->occupancy_pct, (double)e->dur_ps);
    }
    return c;
}

static void put(const cover *c, metric_value *out)
{
    metric_put_ratio(out, "mean_sm_coverage", c->coverage.weighted, c->coverage.weight,
                     "no kernel says how many blocks it has per multiprocessor");
    metric_put_ratio(out, "mean_est_occupancy", c->occupancy.weighted, c->occupancy.weight,
                     "no kernel has an estimated occupancy");
    metric_put_count(out, "num_kernels", c->kernels);
    metric_put_count(out, "num_kernels_with_coverage", c->coverage.n);
}

static dse_status none(dse_error *err)
{
    return metric_absent(
        err, "no kernel says how many blocks it has per multiprocessor (\"blocks per SM\" of newer "
             "Kineto traces, a table of devices in Nsight Systems exports)");
}

static dse_status sm(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *ranks = metric_object_new(out->arena);
    cover sum = {0};

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        const cover of = cover_of(v->rank, &v->kernels);

        put(&of, metric_put_rank(ranks, v->rank));
        sum = (cover){both(sum.coverage, of.coverage), both(sum.occupancy, of.occupancy),
                      sum.kernels + of.kernels};
    }
    if (sum.coverage.weight <= 0)
        return none(err);
    put(&sum, out);
    metric_take(metric_put_object(out, "per_rank"), ranks);
    return DSE_OK;
}

/* Kineto traces weight by duration; on Nsight Systems exports every kernel counts the same. */
static dse_status sm_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    mean m = {0};
    bool plain = x->view[0].rank->kind == TRACE_NSYS;

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        metric_events kernels =
            plain ? v->kernels : metric_pick_of(v->rank, &v->kernels, &literal, x->arena).list;

        m = both(m, cover_of(v->rank, &kernels).coverage);
    }
    if (plain ? !m.n : m.weight <= 0)
        return none(err);
    metric_put_number(out, "mean_sm_coverage", plain ? m.plain / (double)m.n : m.weighted / m.weight);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("sm", "kineto", "%", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "share of the GPU's multiprocessors that get a block, mean over kernels by duration; "
                "estimated occupancy beside it"),
     .compute = sm, .compat = sm_compat, .headline = "mean_sm_coverage", .alias = "mean_sm_coverage"},
};

METRIC_FAMILY(sm);
