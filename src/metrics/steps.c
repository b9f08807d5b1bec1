/* Time and rate of steps. */
#include "metrics/metric.h"
#include "metrics/numbers.h"

#include <math.h>

/* ---- iter_time ----------------------------------------------------------------------------- */

/* Of one rank: its mean. */
static double put_times(const metric_view *v, const metric_options *o, dse_arena *a, metric_value *out)
{
    uint32_t skip = o->trim && v->n_steps > 2;
    uint32_t n = v->n_steps - 2 * skip;
    double *ms = DSE_ARENA_NEW(a, double, n);
    metric_value *list;
    metric_summary s;

    if (!ms)
        return NAN;
    for (uint32_t i = 0; i < n; i++)
        ms[i] = (double)(v->step[skip + i].span.end - v->step[skip + i].span.start) / TRACE_PS_PER_MS;
    s = metric_summarise(ms, n);
    metric_put_integer(out, "num_iterations", n);
    metric_put_number(out, "avg_iter_time_ms", s.mean);
    metric_put_number(out, "min_iter_time_ms", s.min);
    metric_put_number(out, "max_iter_time_ms", s.max);
    metric_put_number(out, "std_iter_time_ms", s.deviation);
    metric_put_integer(out, "gpu_side_step_events_ignored", v->n_gpu_steps);
    list = metric_put_list(out, "iter_times_ms");
    for (uint32_t i = 0; i < n; i++)
        metric_put_number(list, NULL, ms[i]);
    return s.mean;
}

static dse_status iter_time(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *mean = metric_put_number(out, "avg_iter_time_ms", 0);
    metric_value *ranks = metric_put_object(out, "per_rank");
    double sum = 0;

    if (!mean || !ranks)
        return dse_fail_nomem(err);
    for (uint32_t i = 0; i < x->n_views; i++)
        sum += put_times(&x->view[i], x->options, x->arena, metric_put_rank(ranks, x->view[i].rank));
    mean->number = sum / x->n_views;
    return DSE_OK;
}

static const metric rows[] = {
    {.name = "iter_time",
     .group = "kineto",
     .unit = "",
     .help = "time of a step: mean over ranks of each rank's mean; per rank mean, extremes, deviation and "
             "every step",
     .kinds = METRIC_ON_GPU,
     .needs = METRIC_NEEDS_STEPS,
     .compute = iter_time},
};

METRIC_FAMILY(steps);
