/* How much later than the first the last rank of a collective starts it.
 *
 * Collectives are matched over the ranks of their process group: the k-th of one type and group on one rank
 * is the k-th of them on the others. Clocks of ranks on different nodes differ; --align end takes from each
 * rank's times the median over matched collectives of how much later than the first it ends them, for a
 * collective ends everywhere at about the same time. */
#include "metrics/straggler.h"
#include "metrics/match.h"
#include "metrics/numbers.h"
#include "metrics/pick.h"
#include "metrics/steps.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- matched collectives ----------------------------------------------------------------------- */

/* One rank's part in them. */
typedef struct {
    int64_t offset;   /* of its clock to the first rank's */
    int64_t later_by; /* of its clock by the alignment */
    double *late_ps;  /* of each matched collective, for the alignment */
    double lag_sum;   /* ps, over the collectives in which it took part */
    uint32_t n_matched, n_last;
} member;

typedef struct {
    const metric_context *x;
    dse_arena *a;
    metric_match match;
    metric_ranks *members; /* by kind */
    member *by_rank;
    size_t n_lags;
    double *lag_us;
} matching;

/* The ranks of each kind's group; n 0: unknown, it is of the ranks that have it. Calls of ranks that are
 * not in the group are dropped. */
static void find_members(matching *m)
{
    size_t kept = 0;

    m->members = DSE_ARENA_NEW(m->a, metric_ranks, m->match.n_kinds);
    for (size_t k = 0; k < m->match.n_kinds; k++)
        if (m->match.kind[k].group.ranks)
            m->members[k] = metric_ranks_of(m->match.kind[k].group.ranks, m->match.kind[k].group.size, m->a);
    for (size_t i = 0; i < m->match.n; i++) {
        const metric_match_call *c = &m->match.call[i];

        if (!m->members[c->kind].n || metric_ranks_have(&m->members[c->kind], m->x->view[c->view].rank->rank))
            m->match.call[kept++] = *c;
    }
    m->match.n = kept;
}

/* How many ranks of the record take part in the collectives of the kind of the i-th call, which is the
 * first of it. */
static size_t parties_of(const matching *m, size_t i)
{
    const metric_ranks *members = &m->members[m->match.call[i].kind];
    size_t n = 0;

    for (uint32_t r = 0; r < m->x->n_views; r++)
        n += metric_ranks_have(members, m->x->view[r].rank->rank);
    return members->n ? n : metric_match_length(&m->match, i);
}

/* Calls `visit` for every collective that all of its parties, two or more, have. */
typedef void visitor(matching *m, const metric_match_call *call, size_t n);

static void each_match(matching *m, visitor *visit)
{
    size_t parties = 0;

    for (size_t i = 0, n; i < m->match.n; i += n) {
        n = metric_match_length(&m->match, i);
        if (!m->match.call[i].ordinal)
            parties = parties_of(m, i);
        if (n == parties && n > 1)
            visit(m, &m->match.call[i], n);
    }
}

/* ---- clocks ------------------------------------------------------------------------------------- */

/* How much later than the first each rank of a collective ends it. */
static void note_ends(matching *m, const metric_match_call *call, size_t n)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < n; i++) {
        int64_t end = metric_end(call[i].event) + m->by_rank[call[i].view].offset;
        first = end < first ? end : first;
    }
    for (size_t i = 0; i < n; i++) {
        member *of = &m->by_rank[call[i].view];

        of->late_ps[of->n_matched++] = (double)(metric_end(call[i].event) + of->offset - first);
    }
}

static void align(matching *m)
{
    for (uint32_t r = 0; r < m->x->n_views; r++)
        m->by_rank[r].late_ps = DSE_ARENA_NEW(m->a, double, m->x->view[r].comm.n);
    each_match(m, note_ends);
    for (uint32_t r = 0; r < m->x->n_views; r++) {
        member *of = &m->by_rank[r];

        metric_sort(of->late_ps, of->n_matched);
        if (of->n_matched)
            of->later_by = (int64_t)metric_quantile(of->late_ps, of->n_matched, 0.5);
        of->n_matched = 0;
    }
}

/* Whether there is a time at which every rank was recorded. */
static bool are_together(const matching *m)
{
    int64_t latest = INT64_MIN, earliest = INT64_MAX;

    for (uint32_t i = 0; i < m->x->n_views; i++) {
        const trace_rank *r = m->x->view[i].rank;
        int64_t shift = m->by_rank[i].offset - m->by_rank[i].later_by;

        if (r->all_first_ps > r->all_last_ps)
            return false;
        latest = r->all_first_ps + shift > latest ? r->all_first_ps + shift : latest;
        earliest = r->all_last_ps + shift < earliest ? r->all_last_ps + shift : earliest;
    }
    return latest < earliest;
}

/* ---- lags ---------------------------------------------------------------------------------------- */

static void note_starts(matching *m, const metric_match_call *call, size_t n)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    uint32_t slowest = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            member *of = &m->by_rank[call[i].view];
            int64_t at = metric_start(call[i].event) + of->offset - of->later_by;

            if (pass) {
                of->lag_sum += (double)(at - first);
                of->n_matched++;
            } else {
                first = at < first ? at : first;
                slowest = at > last ? call[i].view : slowest;
                last = at > last ? at : last;
            }
        }
    m->by_rank[slowest].n_last += last > first;
    m->lag_us[m->n_lags++] = (double)(last - first) / TRACE_PS_PER_US;
}

static dse_status match(matching *m, bool aligned, dse_error *err)
{
    const metric_context *x = m->x;

    for (uint32_t r = 0; r < x->n_views; r++)
        m->by_rank[r].offset = metric_clock_offset(x->view[r].rank, x->view[0].rank);
    m->match = metric_match_of(x, metric_group_of, false, m->a);
    find_members(m);
    if (aligned)
        align(m);
    m->lag_us = DSE_ARENA_NEW(m->a, double, m->match.n);
    if (!are_together(m))
        return metric_absent(
            err, "the ranks were not recorded at the same time: their clocks or their jobs differ%s",
            aligned ? "" : "; try --align end");
    each_match(m, note_starts);
    if (!m->n_lags)
        return metric_absent(err, "no collective is in the traces of two ranks of its group");
    return DSE_OK;
}

static void put_ranks(const matching *m, metric_value *out)
{
    metric_value *unmatched = metric_put_object(out, "unmatched"),
                 *ends = metric_put_object(out, "per_rank_end_times_us"),
                 *ranks = metric_put_object(out, "per_rank");

    for (uint32_t r = 0; r < m->x->n_views; r++) {
        const trace_rank *rank = m->x->view[r].rank;
        const member *of = &m->by_rank[r];
        metric_value *to = metric_put_rank(ranks, rank);
        const uint32_t left = m->x->view[r].comm.n - of->n_matched;

        metric_put_integer(unmatched, to->key, left);
        metric_put_number(ends, to->key, metric_compat_us(rank, rank->all_last_ps - of->later_by));
        metric_put_ratio(to, "mean_lag_us", of->lag_sum / TRACE_PS_PER_US, of->n_matched,
                         "none of its collectives is matched");
        metric_put_integer(to, "times_last", of->n_last);
        metric_put_integer(to, "num_collectives", of->n_matched);
        metric_put_integer(to, "unmatched", left);
        metric_put_us(to, "clock_later_by_us", of->later_by);
    }
}

static void put_lags(const matching *m, bool aligned, metric_value *out)
{
    double step_us = metric_step_mean_s(m->x, m->x->options->trim) * 1e6;
    metric_summary s = metric_summarise(m->lag_us, m->n_lags);

    metric_sort(m->lag_us, m->n_lags);
    metric_put_number(out, "mean_lag_us", s.mean);
    metric_put_number(out, "p50_lag_us", metric_quantile(m->lag_us, m->n_lags, 0.5));
    metric_put_number(out, "p95_lag_us", metric_quantile(m->lag_us, m->n_lags, 0.95));
    metric_put_number(out, "max_lag_us", s.max);
    metric_put_number(out, "min_lag_us", s.min);
    metric_put_count(out, "num_collectives", m->n_lags);
    metric_put_integer(out, "num_ranks", m->x->n_views);
    if (step_us > 0)
        metric_put_number(out, "normalized_lag", s.mean / step_us);
    else
        metric_put_absent(out, "normalized_lag", METRIC_NO_STEPS);
    metric_put_text(out, "align", aligned ? "end" : "none");
    put_ranks(m, out);
}

dse_status metric_straggler_lag(const metric_context *x, metric_value *out, dse_error *err)
{
    bool aligned = metric_aligns_clocks(x);
    matching m = {.x = x, .a = x->arena, .by_rank = DSE_ARENA_NEW(x->arena, member, x->n_views)};
    dse_status st = match(&m, aligned, err);

    if (st == DSE_OK)
        put_lags(&m, aligned, out);
    return st;
}

/* ---- as CCL-Bench 273229f computes it ---------------------------------------------------------- */

/* The k-th communication of one rank, of whatever layer and group, against the k-th of the others; no
 * interpolation of quantiles. */
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

static void put_compat(double *lag, uint32_t n, uint32_t n_ranks, double step_us, metric_value *out)
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

static void straggler_compat(const metric_context *x, metric_value *out)
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
    put_compat(lag, n, n ? having : x->n_views, with_steps ? step_us / with_steps : 0, out);
    ends = metric_put_object(out, "per_rank_end_times_us");
    for (uint32_t r = 0; x->n_views > 1 && r < x->n_views; r++) {
        const trace_rank *rank = x->view[r].rank;
        char key[16];

        snprintf(key, sizeof key, "%" PRIu32, rank->rank);
        if (of[r].calls.n)
            metric_put_number(ends, key, metric_compat_us(rank, rank->all_last_ps));
    }
}

static const metric rows[] = {
    {METRIC_ROW("straggler_lag", "kineto", "", METRIC_ON_GPU, METRIC_LAG_NEEDS,
                "how much later than the first the last rank starts a collective, matched by group, type and "
                "order: mean, quantiles, in steps; by rank; --align"),
     .compute = metric_straggler_lag, METRIC_ENTRY("mean_lag_us", "us", METRIC_LOWER, METRIC_LAG_TOLERANCE),
     .compat_put = straggler_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(straggler);
