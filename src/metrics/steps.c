/* Time and rate of steps. */
#include "metrics/metric.h"

#include <inttypes.h>
#include <math.h>

/* ---- iter_time ----------------------------------------------------------------------------- */

/* Of one rank, in milliseconds. The deviation is of a sample, n - 1; 0 for one step. */
static double put_times(const metric_view *v, const metric_options *o, metric_value *out)
{
    uint32_t skip = o->trim && v->n_steps > 2;
    uint32_t n = v->n_steps - 2 * skip;
    double sum = 0, squares = 0, low = INFINITY, high = 0, mean;
    metric_value *list;

    for (uint32_t i = 0; i < n; i++) {
        const metric_span *s = &v->step[skip + i].span;
        double ms = (double)(s->end - s->start) / 1e9;

        sum += ms;
        low = ms < low ? ms : low;
        high = ms > high ? ms : high;
    }
    mean = sum / n;
    for (uint32_t i = 0; i < n; i++) {
        const metric_span *s = &v->step[skip + i].span;
        double d = (double)(s->end - s->start) / 1e9 - mean;

        squares += d * d;
    }
    metric_put_integer(out, "num_iterations", n);
    metric_put_number(out, "avg_iter_time_ms", mean);
    metric_put_number(out, "min_iter_time_ms", low);
    metric_put_number(out, "max_iter_time_ms", high);
    metric_put_number(out, "std_iter_time_ms", n > 1 ? sqrt(squares / (n - 1)) : 0);
    metric_put_integer(out, "gpu_side_step_events_ignored", v->n_gpu_steps);
    list = metric_put_list(out, "iter_times_ms");
    for (uint32_t i = 0; i < n; i++)
        metric_put_ms(list, NULL, v->step[skip + i].span.end - v->step[skip + i].span.start);
    return mean;
}

static dse_status iter_time(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *mean = metric_put_number(out, "avg_iter_time_ms", 0), *ranks;
    double sum = 0;

    (void)err;
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++) {
        char key[16];

        snprintf(key, sizeof key, "%" PRIu32, x->view[i].rank->rank);
        sum += put_times(&x->view[i], x->options, metric_put_object(ranks, key));
    }
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
