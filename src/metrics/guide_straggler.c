/* Finds the rank that the others wait for.
 *
 * In a synchronous job all ranks take the same time for a step, and the slow rank is the one that waits least
 * in collectives: a rank's own time is its step without the communication that no compute covers. The
 * original compares the lengths of the recordings and asks for two standard deviations, which fewer than six
 * ranks cannot reach. */
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/needs.h"
#include "metrics/steps.h"
#include "metrics/straggler.h"

#include <stdlib.h>

#define TOLERANCE 0.05 /* of the median, above which own time makes a straggler */

/* ---- statistics ---------------------------------------------------------------------------- */

/* rounded: each figure to two decimals, as the original does. */
static metric_summary put_stats(metric_value *to, const double *v, uint32_t n, bool rounded)
{
    metric_summary s = metric_summarise(v, n);
    const double range = s.max - s.min, cv = s.mean > 0 ? s.deviation / s.mean * 100 : 0;
    const struct {
        const char *key;
        double v;
    } entries[] = {{"mean", s.mean}, {"std", s.deviation}, {"min", s.min},
                   {"max", s.max},   {"range", range},     {"cv", cv}};

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        metric_put_number(to, entries[i].key, rounded ? metric_round(entries[i].v, 2) : entries[i].v);
    return s;
}

/* ---- the definition ------------------------------------------------------------------------ */

/* Puts times of a step, in milliseconds. */
static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const bool trim = x->options->trim;
    metric_spans comm = metric_comm_kernel_time(r->view),
                 exposed = metric_spans_subtract(&comm, &r->view->compute_time, scratch);
    metric_steps kept = metric_steps_kept(r->view, trim);
    int64_t exposed_ps = 0;
    double step_ms = metric_step_mean_ps(r->view, trim) / TRACE_PS_PER_MS, exposed_ms;

    for (uint32_t i = 0; i < kept.n; i++)
        exposed_ps += metric_spans_within(&exposed, kept.step[i].span.start, kept.step[i].span.end);
    exposed_ms = (double)exposed_ps / TRACE_PS_PER_MS / kept.n;
    metric_put_number(r->out, "step_time_ms", step_ms);
    metric_put_number(r->out, "exposed_comm_ms", exposed_ms);
    metric_put_number(r->out, "self_time_ms", step_ms - exposed_ms);
    return true;
}

/* A rank, by its number or as the originals call it, and a time of it. */
static metric_value *put_named(metric_value *to, const guide_ranks *ranks, uint32_t i, const char *key,
                               double ms)
{
    if (ranks->x->options->compat)
        metric_put_text(to, "rank", ranks->rank[i].label);
    else
        metric_put_integer(to, "rank", ranks->rank[i].rank->rank);
    metric_put_number(to, key, ms);
    return to;
}

/* The ranks of the largest and of the smallest value, the first of equals. */
static void put_extremes(metric_value *to, const guide_ranks *ranks, const char *key, const double *ms)
{
    uint32_t most = 0, least = 0;

    for (uint32_t i = 0; i < ranks->n; i++) {
        most = ms[i] > ms[most] ? i : most;
        least = ms[i] < ms[least] ? i : least;
    }
    put_named(metric_put_object(to, "slowest_rank"), ranks, most, key, ms[most]);
    put_named(metric_put_object(to, "fastest_rank"), ranks, least, key, ms[least]);
}

/* Ranks whose own time stands out, in the order of their numbers. */
static void put_stragglers(metric_value *out, const guide_ranks *ranks, const double *own, double median)
{
    metric_value *has = metric_put_bool(out, "has_stragglers", false),
                 *n = metric_put_integer(out, "num_stragglers", 0),
                 *list = metric_put_list(out, "stragglers");

    for (uint32_t i = 0; i < ranks->n; i++) {
        metric_value *s;

        if (!(own[i] > median * (1 + TOLERANCE)))
            continue;
        s = put_named(metric_put_object(list, NULL), ranks, i, "self_time_ms", own[i]);
        metric_put_ratio(s, "slowdown_percentage", 100 * (own[i] - median), median, "a median of 0");
        has->integer = 1;
        n->integer++;
    }
}

static void put_times(const guide_ranks *ranks, metric_value *out)
{
    const double *own = guide_figures(ranks, "self_time_ms"), *step = guide_figures(ranks, "step_time_ms");
    double *sorted = guide_figures(ranks, "self_time_ms"), wait = 0, median;
    metric_summary s;

    metric_sort(sorted, ranks->n);
    median = metric_quantile(sorted, ranks->n, 0.5);
    put_stragglers(out, ranks, own, median);
    metric_put_number(out, "median_self_time_ms", median);
    s = put_stats(metric_put_object(out, "self_time_stats"), sorted, ranks->n, false);
    put_extremes(out, ranks, "self_time_ms", own);
    metric_put_ratio(out, "load_imbalance_percentage", 100 * (s.max - s.min), s.mean,
                     "steps without own time");
    for (uint32_t i = 0; i < ranks->n; i++)
        wait += s.max - sorted[i];
    metric_put_number(out, "sync_overhead_ms", wait);
    metric_put_ratio(out, "coefficient_of_variation", 100 * s.deviation, s.mean, "steps without own time");
    metric_put_number(out, "step_time_std_ms", metric_summarise(step, ranks->n).deviation);
}

/* How far apart the ranks begin their collectives: the metric of that name. */
static void put_lag(const metric_context *x, metric_value *out)
{
    dse_error why = DSE_ERROR_INIT;
    metric_value *lag = metric_put_object(out, "lag");
    dse_status st = metric_check_needs(METRIC_LAG_NEEDS, x, &why);

    if (st == DSE_OK)
        st = metric_straggler_lag(x, lag, &why);
    if (st != DSE_OK)
        metric_make_absent(lag, why.text);
}

static void straggler(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure, 0);

    put_times(&ranks, out);
    put_lag(x, out);
    guide_put_ranks(&ranks, NULL, out);
}

/* ---- as the original ----------------------------------------------------------------------- */

enum { COMM, KERNEL, COMM_KERNEL };
static const metric_pick work = METRIC_PICK(
    0, {COMM_KERNEL, "kernel", .names = "all_gather|all_reduce|reduce_scatter|broadcast|nccl"},
    {COMM, .names = "all_gather|all_reduce|reduce_scatter|broadcast|nccl"}, {KERNEL, .words = "kernel"});

/* Times of a rank, in milliseconds, and the statistics of each over ranks. */
static const struct {
    const char *time, *stats;
} times[] = {{"total_duration_ms", "duration_stats"},
             {"kernel_time_ms", "kernel_time_stats"},
             {"communication_time_ms", "communication_time_stats"}};

static bool measure_compat(const metric_context *x, const guide_rank *of, dse_arena *scratch)
{
    metric_sums s[3] = {{0}};

    (void)x;
    metric_pick_sum(of->rank, &work, scratch, s);
    metric_put_number(of->out, times[0].time, guide_recording_us(of->rank) / 1000);
    metric_put_number(of->out, times[1].time, guide_us(s[KERNEL].sum_ps + s[COMM_KERNEL].sum_ps) / 1000);
    metric_put_number(of->out, times[2].time, guide_us(s[COMM].sum_ps + s[COMM_KERNEL].sum_ps) / 1000);
    return true;
}

typedef struct {
    uint32_t rank;
    double deviation;
} late_rank;

static int by_deviation(const void *a, const void *b)
{
    const late_rank *x = a, *y = b;

    if (x->deviation != y->deviation)
        return x->deviation > y->deviation ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

/* The threshold is of the rounded figures. */
static void put_late(const guide_ranks *ranks, const double *ms, metric_value *out)
{
    const metric_summary s = metric_summarise(ms, ranks->n);
    const double mean = metric_round(s.mean, 2), sd = metric_round(s.deviation, 2);
    late_rank *late = DSE_ARENA_NEW(ranks->x->arena, late_rank, ranks->n);
    metric_value *list;
    uint32_t n = 0;

    for (uint32_t i = 0; i < ranks->n && ranks->n > 1; i++)
        if (ms[i] > mean + 2 * sd)
            late[n++] = (late_rank){i, metric_round(sd > 0 ? (ms[i] - mean) / sd : 0, 2)};
    qsort(late, n, sizeof *late, by_deviation);
    metric_put_bool(out, "has_stragglers", n > 0);
    metric_put_integer(out, "num_stragglers", n);
    list = metric_put_list(out, "stragglers");
    for (uint32_t i = 0; i < n; i++) {
        double own = ms[late[i].rank];
        metric_value *one = put_named(metric_put_object(list, NULL), ranks, late[i].rank, "duration_ms", own);

        metric_put_number(one, "deviation_std", late[i].deviation);
        guide_put_round(one, "slowdown_percentage", (own - mean) / mean * 100);
    }
}

/* Figures derived from the rounded statistics of the durations. */
static void put_durations(const guide_ranks *ranks, const double *ms, metric_value *out)
{
    metric_summary s = metric_summarise(ms, ranks->n);
    double mean = metric_round(s.mean, 2), most = metric_round(s.max, 2), wait = 0;

    for (uint32_t i = 0; i < ranks->n; i++)
        wait += most - ms[i];
    put_extremes(out, ranks, "duration_ms", ms);
    guide_put_round(out, "load_imbalance_percentage",
                    mean > 0 ? metric_round(s.max - s.min, 2) / mean * 100 : 0);
    guide_put_round(out, "sync_overhead_ms", wait);
    guide_put_round(out, "coefficient_of_variation", s.mean > 0 ? s.deviation / s.mean * 100 : 0);
}

static void straggler_compat(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure_compat, 0);
    const double *ms = guide_figures(&ranks, times[0].time);

    put_late(&ranks, ms, out);
    for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
        put_stats(metric_put_object(out, times[k].stats), guide_figures(&ranks, times[k].time), ranks.n,
                  true);
    put_durations(&ranks, ms, out);
    guide_put_ranks(&ranks, "per_rank_metrics", out);
}

static const metric rows[] = {
    {METRIC_ROW("straggler", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_RANKS | METRIC_NEEDS_STEPS,
                "ranks that the others wait for: each rank's step without exposed communication, against the "
                "median"),
     .put = straggler, .compat_put = straggler_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(guide_straggler);
