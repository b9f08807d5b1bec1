/* straggler_lag as CCL-Bench 273229f computes it: the k-th communication of one rank, of whatever layer and
 * group, against the k-th of the others; no interpolation of quantiles. */
#include "metrics/numbers.h"
#include "metrics/pick.h"
#include "metrics/straggler.h"

#include <inttypes.h>
#include <stdio.h>

static const metric_pick steps =
                             METRIC_PICK(METRIC_LASTING | METRIC_TIMED, {.names = "=^" METRIC_STEP_PREFIX}),
                         calls = METRIC_PICK(METRIC_LASTING | METRIC_TIMED, {0, "kernel", .names = "nccl"},
                                             {0, "cpu_op|user_annotation", .names = METRIC_COMPAT_CALLS});

typedef struct {
    metric_events calls; /* by start */
    double step_ps;      /* mean; 0: no step marker lasts */
} rank_calls;

static rank_calls calls_of(const trace_rank *r, dse_arena *a)
{
    rank_calls out = {.calls = metric_pick_of(r, NULL, &calls, a).list};
    metric_sums s = {0};

    metric_pick_sum(r, &steps, a, &s);
    out.step_ps = s.n ? (double)s.sum_ps / (double)s.n : 0;
    metric_sort_by_start(r, &out.calls, a);
    return out;
}

/* A time of the file. Clocks of two hosts, one that counts from 1970 and one from its start, are further
 * apart than picoseconds can say. */
typedef struct {
    int64_t ns, ps; /* 0 <= ps < TRACE_PS_PER_NS */
} moment;

static moment moment_of(const trace_rank *r, int64_t ps)
{
    int64_t rest = (ps % TRACE_PS_PER_NS + TRACE_PS_PER_NS) % TRACE_PS_PER_NS;

    return (moment){r->base_ns + (ps - rest) / TRACE_PS_PER_NS, rest};
}

static bool is_before(moment a, moment b) { return a.ns != b.ns ? a.ns < b.ns : a.ps < b.ps; }

/* Microseconds between the first and the last start of the k-th of all ranks that have any. */
static double lag_of(const metric_context *x, const rank_calls *of, uint32_t k)
{
    moment first = {INT64_MAX, 0}, last = {INT64_MIN, 0};

    for (uint32_t r = 0; r < x->n_views; r++) {
        const trace_rank *rank = x->view[r].rank;
        moment at;

        if (!of[r].calls.n)
            continue;
        at = moment_of(rank, rank->event[of[r].calls.event[k]].start_ps);
        first = is_before(at, first) ? at : first;
        last = is_before(last, at) ? at : last;
    }
    return (double)(last.ns - first.ns) / 1e3 + (double)(last.ps - first.ps) / TRACE_PS_PER_US;
}

static void put_lags(double *lag, uint32_t n, uint32_t n_ranks, double step_us, metric_value *out)
{
    uint32_t at = (uint32_t)((double)n * 0.95);
    metric_summary s = n ? metric_summarise(lag, n) : (metric_summary){0};

    metric_sort(lag, n);
    metric_put_number(out, "mean_lag_us", s.mean);
    metric_put_number(out, "p50_lag_us", n ? lag[n / 2] : 0);
    metric_put_number(out, "p95_lag_us", n ? lag[at < n ? at : n - 1] : 0);
    metric_put_number(out, "max_lag_us", s.max);
    metric_put_number(out, "min_lag_us", s.min);
    metric_put_integer(out, "num_collectives", n);
    metric_put_integer(out, "num_ranks", n_ranks);
    metric_put_number(out, "normalized_lag", step_us > 0 ? s.mean / step_us : 0);
}

void metric_straggler_compat(const metric_context *x, metric_value *out)
{
    dse_arena *a = x->arena;
    rank_calls *of = DSE_ARENA_NEW(a, rank_calls, x->n_views);
    uint32_t having = 0, n = UINT32_MAX, with_steps = 0;
    double step_us = 0, *lag;
    metric_value *ends;

    for (uint32_t r = 0; r < x->n_views; r++) {
        of[r] = calls_of(x->view[r].rank, a);
        if (!of[r].calls.n)
            continue;
        having++;
        n = of[r].calls.n < n ? of[r].calls.n : n;
        step_us += of[r].step_ps / TRACE_PS_PER_US;
        with_steps += of[r].step_ps > 0;
    }
    n = having > 1 ? n : 0;
    lag = DSE_ARENA_NEW(a, double, n);
    for (uint32_t k = 0; k < n; k++)
        lag[k] = lag_of(x, of, k);
    put_lags(lag, n, n ? having : x->n_views, with_steps ? step_us / with_steps : 0, out);
    ends = metric_put_object(out, "per_rank_end_times_us");
    for (uint32_t r = 0; x->n_views > 1 && r < x->n_views; r++) {
        const trace_rank *rank = x->view[r].rank;
        char key[16];

        snprintf(key, sizeof key, "%" PRIu32, rank->rank);
        if (of[r].calls.n)
            metric_put_number(ends, key, metric_compat_us(rank, rank->all_last_ps));
    }
}
