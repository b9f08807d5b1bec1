/* Stragglers: how much later than the first the last rank of a collective starts it (straggler_lag), the rank
 * that the others wait for (the guide's straggler), and how far ranks are apart in communication and in work
 * (the later tools' straggler_metrics, straggler_pct, load_imbalance_ratio).
 *
 * Collectives are matched over the ranks of their process group: the k-th of one type and group on one rank
 * is the k-th of them on the others. Clocks of ranks on different nodes differ; --align end takes from each
 * rank's times the median over matched collectives of how much later than the first it ends them, for a
 * collective ends everywhere at about the same time. */
#include "base/array.h"
#include "metrics/guide.h"
#include "metrics/later.h"
#include "metrics/needs.h"
#include "metrics/order.h"
#include "metrics/parallel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LAG_NEEDS (METRIC_NEEDS_RANKS | METRIC_NEEDS_CLOCK | METRIC_NEEDS_COMM)

/* ---- which collectives of several ranks are the same -------------------------------------------- */

typedef struct {
    uint32_t kind, ordinal, view; /* the ordinal-th of its kind on the view's rank */
    const trace_event *event;
} match_call;

/* A process group and a type. */
typedef struct {
    metric_group group; /* told apart by the text of `ranks`, which NULL is one of */
    uint8_t type;
    uint32_t place; /* by its first occurrence over the ranks in turn */
} match_kind;

typedef struct {
    size_t n_kinds, n;
    match_kind *kind; /* by place; `sorted`: by group, then type */
    match_call *call; /* by kind, ordinal, view: the same collective of several ranks stands together */
} match_list;

/* The group of a communication by its arguments; of no arguments by NULL. */
typedef metric_group group_fn(const trace_rank *rank, const trace_args *args);

static const char *text_of(const match_kind *k) { return k->group.ranks ? k->group.ranks : ""; }

static int by_group(const void *a, const void *b)
{
    const match_kind *x = a, *y = b;
    int order = strcmp(text_of(x), text_of(y));

    return order ? order : x->type - y->type;
}

METRIC_COMPARE(by_collective, match_call, {x->kind, y->kind}, {x->ordinal, y->ordinal}, {x->view, y->view})

/* Puts the kinds into the order of groups and types. */
static void sort_kinds(match_list *m, dse_arena *a)
{
    uint32_t *now = DSE_ARENA_NEW(a, uint32_t, m->n_kinds);

    qsort(m->kind, m->n_kinds, sizeof *m->kind, by_group);
    for (uint32_t k = 0; k < m->n_kinds; k++)
        now[m->kind[k].place] = k;
    for (size_t i = 0; i < m->n; i++)
        m->call[i].kind = now[m->call[i].kind];
}

/* The number of a kind, whose name is made of its type and group. */
static uint32_t kind_of(match_list *m, trace_names *names, metric_group group, uint8_t type, dse_strbuf *name)
{
    uint32_t kind;

    dse_strbuf_clear(name);
    dse_strbuf_addf(name, "%u%c%s", type, group.ranks ? ':' : '-', group.ranks ? group.ranks : "");
    kind = trace_names_add(names, name->data, name->len);
    if (kind == m->n_kinds)
        m->kind[m->n_kinds++] = (match_kind){group, type, kind};
    return kind;
}

/* Everything that communicates, in the arena. */
static match_list match_of(const metric_context *x, group_fn *group_of, bool sorted, dse_arena *a)
{
    match_list m = {0};
    trace_names names = {0};
    dse_strbuf name;
    uint32_t *count;
    size_t most = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        most += x->view[i].comm.n;
    m.kind = DSE_ARENA_NEW(a, match_kind, most);
    m.call = DSE_ARENA_NEW(a, match_call, most);
    dse_strbuf_init(&name);
    for (uint32_t i = 0; i < x->n_views; i++) {
        const metric_view *v = &x->view[i];

        count = DSE_ARENA_NEW(a, uint32_t, m.n_kinds + v->comm.n);
        for (uint32_t c = 0; c < v->comm.n; c++) {
            const trace_event *e = &v->rank->event[v->comm.event[c]];
            const trace_args *args = metric_args_of(v->rank, e);
            metric_group g = args ? group_of(v->rank, args) : (metric_group){0};
            uint32_t kind = kind_of(&m, &names, g, v->comm_type[c], &name);

            m.call[m.n++] = (match_call){kind, count[kind]++, i, e};
        }
    }
    dse_strbuf_free(&name);
    trace_names_free(&names);
    if (sorted)
        sort_kinds(&m, a);
    if (m.n)
        qsort(m.call, m.n, sizeof *m.call, by_collective);
    return m;
}

/* How many calls from the i-th on are of the same collective. */
static size_t length_of(const match_list *m, size_t i)
{
    size_t n = 1;

    while (i + n < m->n && m->call[i + n].kind == m->call[i].kind &&
           m->call[i + n].ordinal == m->call[i].ordinal)
        n++;
    return n;
}

/* ---- matched collectives ----------------------------------------------------------------------- */

/* One rank's part in them. */
typedef struct {
    int64_t offset;   /* of its clock to the first rank's */
    int64_t later_by; /* of its clock by the alignment */
    double *late_ps;  /* how much later than the first it is in each collective in which it takes part */
    uint32_t n_matched, n_last;
} member;

/* Those that every rank of their group, two or more, has in the record. */
typedef struct {
    const metric_context *x;
    dse_arena *a;
    match_list match; /* their calls */
    size_t n, *first; /* the first call of each, and behind the last the number of calls */
    member *by_rank;
    double *lag_us; /* of each, from the first rank to the last */
} matching;

/* Keeps the calls of collectives that all parties have. The ranks of a group may be unknown: then those that have
 * its first collective are the parties; else calls of other ranks are dropped. */
static void find_collectives(matching *m)
{
    match_list *match = &m->match;
    metric_ranks members = {0};
    size_t kept = 0, parties = 0;

    *match = match_of(m->x, metric_group_of, false, m->a);
    m->first = DSE_ARENA_NEW(m->a, size_t, match->n + 1);
    for (size_t i = 0, n; i < match->n; i += n) {
        const metric_group *group = &match->kind[match->call[i].kind].group;
        size_t own = kept;

        n = length_of(match, i);
        if (!match->call[i].ordinal) {
            members = group->ranks ? metric_ranks_of(group->ranks, group->size, m->a) : (metric_ranks){0};
            parties = members.n ? 0 : n;
            for (uint32_t r = 0; r < m->x->n_views; r++)
                parties += metric_ranks_have(&members, m->x->view[r].rank->rank);
        }
        for (size_t c = i; c < i + n; c++)
            if (!members.n || metric_ranks_have(&members, m->x->view[match->call[c].view].rank->rank))
                match->call[own++] = match->call[c];
        if (own - kept != parties || parties < 2)
            continue;
        kept = own;
        m->first[++m->n] = kept;
    }
}

/* How much later than the first each rank of a collective starts or ends it. */
static void note_late(matching *m, bool ends)
{
    for (size_t c = 0; c < m->n; c++) {
        const match_call *call = &m->match.call[m->first[c]], *end = &m->match.call[m->first[c + 1]];
        int64_t first = INT64_MAX, last = INT64_MIN;
        uint32_t slowest = 0;

        for (int pass = 0; pass < 2; pass++)
            for (const match_call *i = call; i < end; i++) {
                member *of = &m->by_rank[i->view];
                int64_t at = (ends ? metric_end : metric_start)(i->event) + of->offset - of->later_by;

                if (pass)
                    of->late_ps[of->n_matched++] = (double)(at - first);
                first = at < first ? at : first;
                slowest = at > last ? i->view : slowest;
                last = at > last ? at : last;
            }
        m->by_rank[slowest].n_last += last > first;
        m->lag_us[c] = (double)(last - first) / TRACE_PS_PER_US;
    }
}

/* A collective ends everywhere at about the same time: the median of how much later a rank ends is its
 * clock's. */
static void align(matching *m)
{
    note_late(m, true);
    for (member *of = m->by_rank; of < m->by_rank + m->x->n_views; of++) {
        metric_sort(of->late_ps, of->n_matched);
        if (of->n_matched)
            of->later_by = (int64_t)metric_quantile(of->late_ps, of->n_matched, 0.5);
        of->n_matched = of->n_last = 0;
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

/* Lags in the order of time, which are sorted, against the mean step; without interpolation the quantiles are
 * those of the original. */
static void put_lags(double *lag_us, size_t n, uint32_t n_ranks, double step_us, bool interpolate,
                     metric_value *out)
{
    metric_summary s = n ? metric_summarise(lag_us, n) : (metric_summary){0};
    size_t late = (size_t)((double)n * 0.95);

    metric_sort(lag_us, n);
    metric_put_number(out, "mean_lag_us", s.mean);
    metric_put_number(out, "p50_lag_us",
                      interpolate ? metric_quantile(lag_us, n, 0.5)
                      : n         ? lag_us[n / 2]
                                  : 0);
    metric_put_number(out, "p95_lag_us",
                      interpolate ? metric_quantile(lag_us, n, 0.95)
                      : n         ? lag_us[late < n ? late : n - 1]
                                  : 0);
    metric_put_number(out, "max_lag_us", s.max);
    metric_put_number(out, "min_lag_us", s.min);
    metric_put_count(out, "num_collectives", n);
    metric_put_integer(out, "num_ranks", n_ranks);
    if (step_us > 0 || !interpolate)
        metric_put_number(out, "normalized_lag", step_us > 0 ? s.mean / step_us : 0);
    else
        metric_put_absent(out, "normalized_lag", METRIC_NO_STEPS);
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
        double sum = 0;

        for (uint32_t i = 0; i < of->n_matched; i++)
            sum += of->late_ps[i];
        metric_put_integer(unmatched, to->key, left);
        metric_put_number(ends, to->key, metric_compat_us(rank, rank->all_last_ps - of->later_by));
        metric_put_ratio(to, "mean_lag_us", sum / TRACE_PS_PER_US, of->n_matched,
                         "none of its collectives is matched");
        metric_put_integer(to, "times_last", of->n_last);
        metric_put_integer(to, "num_collectives", of->n_matched);
        metric_put_integer(to, "unmatched", left);
        metric_put_us(to, "clock_later_by_us", of->later_by);
    }
}

static dse_status straggler_lag(const metric_context *x, metric_value *out, dse_error *err)
{
    const bool aligned = metric_aligns_clocks(x);
    matching m = {.x = x, .a = x->arena, .by_rank = DSE_ARENA_NEW(x->arena, member, x->n_views)};

    for (uint32_t r = 0; r < x->n_views; r++)
        m.by_rank[r] = (member){.offset = metric_clock_offset(x->view[r].rank, x->view[0].rank),
                                .late_ps = DSE_ARENA_NEW(x->arena, double, x->view[r].comm.n)};
    find_collectives(&m);
    m.lag_us = DSE_ARENA_NEW(x->arena, double, m.n);
    if (aligned)
        align(&m);
    if (!are_together(&m))
        return metric_absent(
            err, "the ranks were not recorded at the same time: their clocks or their jobs differ%s",
            aligned ? "" : "; try --align end");
    if (!m.n)
        return metric_absent(err, "no collective is in the traces of two ranks of its group");
    note_late(&m, false);
    put_lags(m.lag_us, m.n, x->n_views, metric_step_mean_s(x, x->options->trim) * 1e6, true, out);
    metric_put_text(out, "align", aligned ? "end" : "none");
    put_ranks(&m, out);
    return DSE_OK;
}

/* ---- straggler_lag, as CCL-Bench 273229f computes it ------------------------------------------- */

/* The k-th communication of one rank, of whatever layer and group, against the k-th of the others; no
 * interpolation of quantiles. */
static const metric_pick steps =
                             METRIC_PICK(METRIC_LASTING | METRIC_TIMED, {.names = "=^" METRIC_STEP_PREFIX}),
                         calls = METRIC_PICK(METRIC_LASTING | METRIC_TIMED, {0, "kernel", .names = "nccl"},
                                             {0, "cpu_op|user_annotation", .names = METRIC_COMPAT_CALLS});

/* Picoseconds of the file's clock. Those of two hosts, one that counts from 1970 and one from its start, are
 * further apart than 64 bits can say. */
typedef __int128 moment;

/* Microseconds between the first and the last start of the k-th call of all ranks that have any. */
static double lag_of(const metric_context *x, const metric_events *of, uint32_t k)
{
    moment first = 0, last = 0, whole_ns;
    bool any = false;

    for (uint32_t r = 0; r < x->n_views; r++) {
        const trace_rank *rank = x->view[r].rank;
        moment at;

        if (!of[r].n)
            continue;
        at = (moment)rank->base_ns * TRACE_PS_PER_NS + rank->event[of[r].event[k]].start_ps;
        first = !any || at < first ? at : first;
        last = !any || at > last ? at : last;
        any = true;
    }
    whole_ns = last / TRACE_PS_PER_NS - first / TRACE_PS_PER_NS;
    return (double)whole_ns / 1e3 +
           (double)(last % TRACE_PS_PER_NS - first % TRACE_PS_PER_NS) / TRACE_PS_PER_US;
}

static void lag_compat(const metric_context *x, metric_value *out)
{
    dse_arena *a = x->arena;
    metric_events *of = DSE_ARENA_NEW(a, metric_events, x->n_views);
    uint32_t having = 0, n = UINT32_MAX, with_steps = 0;
    double step_us = 0, *lag;
    metric_value *ends;

    for (uint32_t r = 0; r < x->n_views; r++) {
        const trace_rank *rank = x->view[r].rank;
        metric_sums step = {0};

        of[r] = metric_pick_of(rank, NULL, &calls, a).list;
        if (!of[r].n)
            continue;
        metric_sort_by_start(rank, &of[r], a);
        metric_pick_sum(rank, &steps, a, &step);
        having++;
        n = of[r].n < n ? of[r].n : n;
        step_us += step.n ? (double)step.sum_ps / (double)step.n / TRACE_PS_PER_US : 0;
        with_steps += step.n > 0;
    }
    n = having > 1 ? n : 0;
    lag = DSE_ARENA_NEW(a, double, n);
    for (uint32_t k = 0; k < n; k++)
        lag[k] = lag_of(x, of, k);
    put_lags(lag, n, n ? having : x->n_views, with_steps ? step_us / with_steps : 0, false, out);
    ends = metric_put_object(out, "per_rank_end_times_us");
    for (uint32_t r = 0; x->n_views > 1 && r < x->n_views; r++) {
        const trace_rank *rank = x->view[r].rank;

        if (of[r].n)
            metric_put_number(ends, dse_arena_printf(a, "%" PRIu32, rank->rank),
                              metric_compat_us(rank, rank->all_last_ps));
    }
}

/* ---- straggler: the rank that the others wait for --------------------------------------------- */

/* In a synchronous job all ranks take the same time for a step, and the slow rank is the one that waits least
 * in collectives: a rank's own time is its step without the communication that no compute covers. The
 * original compares the lengths of the recordings and asks for two standard deviations, which fewer than six
 * ranks cannot reach. */
#define TOLERANCE 0.05 /* of the median, above which own time makes a straggler */

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

    for (size_t i = 0; i < DSE_COUNT(entries); i++)
        metric_put_number(to, entries[i].key, rounded ? metric_round(entries[i].v, 2) : entries[i].v);
    return s;
}

/* Puts times of a step, in milliseconds. */
static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const bool trim = x->options->trim;
    metric_spans comm = metric_comm_kernel_time(r->view),
                 exposed = metric_spans_subtract(&comm, &r->view->compute_time, scratch);
    const metric_steps kept = metric_steps_kept(r->view, trim);
    const double step_ms = metric_step_mean_ps(r->view, trim) / TRACE_PS_PER_MS,
                 exposed_ms = metric_steps_hold(&kept, &exposed) / TRACE_PS_PER_MS / kept.n;

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

static void put_times(const guide_ranks *ranks, metric_value *out)
{
    const double *own = guide_figures(ranks, "self_time_ms"), *step = guide_figures(ranks, "step_time_ms");
    metric_value *has = metric_put_bool(out, "has_stragglers", false),
                 *n = metric_put_integer(out, "num_stragglers", 0),
                 *list = metric_put_list(out, "stragglers"), *one;
    double *sorted = guide_figures(ranks, "self_time_ms"), wait = 0, median;
    metric_summary s;

    metric_sort(sorted, ranks->n);
    median = metric_quantile(sorted, ranks->n, 0.5);
    for (uint32_t i = 0; i < ranks->n; i++) {
        if (!(own[i] > median * (1 + TOLERANCE)))
            continue;
        one = put_named(metric_put_object(list, NULL), ranks, i, "self_time_ms", own[i]);
        metric_put_ratio(one, "slowdown_percentage", 100 * (own[i] - median), median, "a median of 0");
        has->integer = 1;
        n->integer++;
    }
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

static void straggler(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure, 0);
    dse_error why = DSE_ERROR_INIT;
    metric_value *lag;
    dse_status st;

    put_times(&ranks, out);
    lag = metric_put_object(out, "lag"); /* the metric straggler_lag */
    st = metric_check_needs(LAG_NEEDS, x, &why);
    if (st == DSE_OK)
        st = straggler_lag(x, lag, &why);
    if (st != DSE_OK)
        metric_make_absent(lag, why.text);
    guide_put_ranks(&ranks, NULL, out);
}

/* ---- straggler, as the original --------------------------------------------------------------- */

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

/* The threshold is of rounded figures. */
static void put_late(const guide_ranks *ranks, const double *ms, double mean, double sd, metric_value *out)
{
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

static void straggler_compat(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure_compat, 0);
    const double *ms = guide_figures(&ranks, times[0].time);
    const metric_summary s = metric_summarise(ms, ranks.n);
    const double mean = metric_round(s.mean, 2), most = metric_round(s.max, 2);
    double wait = 0;

    put_late(&ranks, ms, mean, metric_round(s.deviation, 2), out);
    for (size_t k = 0; k < DSE_COUNT(times); k++)
        put_stats(metric_put_object(out, times[k].stats), guide_figures(&ranks, times[k].time), ranks.n,
                  true);
    put_extremes(out, &ranks, "duration_ms", ms);
    guide_put_round(out, "load_imbalance_percentage",
                    mean > 0 ? metric_round(s.max - s.min, 2) / mean * 100 : 0);
    for (uint32_t i = 0; i < ranks.n; i++)
        wait += most - ms[i];
    guide_put_round(out, "sync_overhead_ms", wait);
    guide_put_round(out, "coefficient_of_variation", s.mean > 0 ? s.deviation / s.mean * 100 : 0);
    guide_put_ranks(&ranks, "per_rank_metrics", out);
}

/* ---- straggler_metrics --------------------------------------------------------------------- */

/* Most less least over most, and most over least, of sums of ranks; 0 of too few. */
static void put_spread(const metric_sums *s, bool few, metric_value *list)
{
    metric_put_number(list, NULL, few ? 0 : (double)(s->most_ps - s->least_ps) / (double)s->most_ps);
    metric_put_number(list, NULL, few ? 0 : (double)s->most_ps / (double)s->least_ps);
}

/* The original takes each process of the file for a rank, and recognises newer NCCL's kernels by name. */
static const metric_pick nccl = METRIC_PICK(0, {0, .names = "^nccldevkernel_"});

static void add_processes(const metric_context *x, uint32_t i, metric_sums *out)
{
    const trace_rank *r = x->view[i].rank;
    metric_sums *of = DSE_ARENA_NEW(x->arena, metric_sums, (size_t)r->names.n + 1); /* by pid, a name */
    metric_picked p = metric_pick_of(r, &x->view[i].kernels, &nccl, x->arena);

    for (uint32_t k = 0; k < p.list.n; k++) {
        const trace_event *e = metric_picked_at(&p, k);

        if (r->lane[e->lane].pid != DSE_NONE)
            metric_sums_add(&of[r->lane[e->lane].pid], e->dur_ps);
    }
    for (uint32_t pid = 0; pid < r->names.n; pid++)
        if (of[pid].n)
            metric_sums_add(out, of[pid].sum_ps);
}

/* Of the communication kernels of each rank. The original opens rank*_trace.json, and without any says 0. */
static dse_status straggler_metrics(const metric_context *x, metric_value *out, dse_error *err)
{
    const bool compat = x->options->compat;
    metric_value *list = metric_put_list(out, "straggler_metrics"),
                 *ranks = compat ? NULL : metric_put_object(out, "per_rank");
    metric_sums e = {0};

    for (uint32_t i = 0; i < x->n_views && compat && later_kind(x) != TRACE_NSYS; i++)
        add_processes(x, i, &e);
    for (const metric_view *v = x->view; !compat && v < x->view + x->n_views; v++) {
        int64_t sum = 0;

        for (uint32_t c = 0; c < v->comm.n; c++)
            sum += v->rank->event[v->comm.event[c]].dur_ps;
        if (!sum)
            continue;
        metric_put_s(metric_put_rank(ranks, v->rank), "comm_time_s", sum);
        metric_sums_add(&e, sum);
    }
    if (e.n < 2 && !compat)
        return metric_absent(err, "it compares ranks, and fewer than two of the trace communicate");
    put_spread(&e, e.n < 2 || e.most_ps <= 0, list);
    return DSE_OK;
}

/* ---- straggler_pct ------------------------------------------------------------------------- */

/* Groups are told apart by their ranks, else their names. */
static metric_group group_of(const trace_rank *r, const trace_args *args)
{
    const char *ranks = TRACE_NAME(r, args->group_ranks),
               *text = ranks ? ranks : TRACE_NAME(r, args->group_name);

    return (metric_group){.ranks = text && *text ? text : NULL};
}

/* Mean over calls that two ranks or more made of (longest - shortest) / longest. */
static dse_status straggler_pct(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *mean = metric_put_number(out, "straggler_pct", 0),
                 *matched = metric_put_count(out, "num_events", 0);
    uint64_t events = 0, alone = 0;
    double sum = 0;
    match_list m = match_of(x, group_of, true, x->arena);

    for (size_t i = 0, n; i < m.n; i += n) {
        metric_sums e = {0};

        n = length_of(&m, i);
        for (size_t k = i; k < i + n; k++)
            metric_sums_add(&e, m.call[k].event->dur_ps);
        alone += e.n < 2;
        if (e.n < 2 || e.most_ps <= 0)
            continue;
        sum += 100 * (double)(e.most_ps - e.least_ps) / (double)e.most_ps;
        events++;
    }
    if (!events)
        return metric_absent(err, "no collective was recorded on two ranks");
    mean->number = sum / (double)events;
    matched->integer = (int64_t)events;
    metric_put_count(out, "unmatched", alone);
    return DSE_OK;
}

/* ---- load_imbalance_ratio ------------------------------------------------------------------ */

static dse_status load_imbalance_ratio(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *ratio = metric_put_number(out, "load_imbalance_ratio", 0),
                 *ranks = x->options->compat ? NULL : metric_put_object(out, "per_rank");
    metric_sums e = {0};

    for (uint32_t i = 0; i < x->n_views; i++) {
        later_kernels k = later_kernels_of(x, i, LATER_COMM_PLAIN);
        metric_spans busy = later_busy(&k, x->arena);

        if (!k.n)
            continue;
        metric_sums_add(&e, metric_spans_length(&busy));
        if (ranks)
            metric_put_s(metric_put_rank(ranks, k.rank), "kernel_busy_s", metric_spans_length(&busy));
    }
    if (e.n < 2 || e.least_ps <= 0)
        return metric_absent(err, "it compares ranks: kernels of %" PRId64 " of them are not enough", e.n);
    ratio->number = metric_seconds(e.most_ps) / metric_seconds(e.least_ps);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("straggler_lag", "kineto", "", METRIC_ON_GPU, LAG_NEEDS,
                "how much later than the first the last rank starts a collective, matched by group, type and "
                "order: mean, quantiles, in steps; by rank; --align"),
     .compute = straggler_lag, METRIC_ENTRY("mean_lag_us", "us", METRIC_LOWER, METRIC_LAG_TOLERANCE),
     .compat_put = lag_compat, .compat_kinds = METRIC_ON_HOST},
    {METRIC_ROW("straggler", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_RANKS | METRIC_NEEDS_STEPS,
                "ranks that the others wait for: each rank's step without exposed communication, against the "
                "median"),
     .put = straggler, .compat_put = straggler_compat, .compat_kinds = METRIC_ON_HOST},
    {LATER_ROW("load_imbalance_ratio", "", METRIC_ON_GPU, load_imbalance_ratio,
               "largest over smallest union of kernels among ranks")},
    {METRIC_ROW("straggler_metrics", "later", "", METRIC_ON_GPU, 0,
                "communication time of ranks: most less least over most, and most over least"),
     .compute = straggler_metrics, .compat = straggler_metrics, .compat_kinds = LATER_ON_ALL,
     .headline = "straggler_metrics"},
    {LATER_ROW("straggler_pct", "%", METRIC_ON_GPU, straggler_pct,
               "of each collective longest less shortest over longest among ranks, mean")},
};

METRIC_FAMILY(straggler);
