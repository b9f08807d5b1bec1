/* How much later than the first the last rank of a collective starts it.
 *
 * Collectives are matched over the ranks of their process group: the k-th of one type and group on one rank
 * is the k-th of them on the others. Clocks of ranks on different nodes differ; --align end takes from each
 * rank's times the median over matched collectives of how much later than the first it ends them, for a
 * collective ends everywhere at about the same time. */
#include "metrics/straggler.h"
#include "metrics/compat_kineto.h"
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/parallel.h"
#include "metrics/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- which collectives are the same ------------------------------------------------------------ */

/* A process group and a type. */
typedef struct {
    const char *ranks; /* as the trace writes them; NULL: unknown */
    uint8_t type;
    metric_ranks members; /* n 0: unknown, the group is of the ranks that have it */
} kind;

typedef struct {
    uint32_t start, n; /* in member.list */
} slice;

/* One rank's communications, those of a kind together, in the order of start. */
typedef struct {
    slice *of; /* by kind */
    uint32_t n_of;
    uint32_t *list;   /* places in v->comm */
    int64_t offset;   /* of its clock to the first rank's */
    int64_t later_by; /* of its clock by the alignment */
    double *late_ps;  /* of each matched collective, for the alignment */
    uint32_t unmatched;
    double lag_sum; /* ps, over the collectives in which it took part */
    uint32_t n_matched, n_last;
} member;

typedef struct {
    const metric_context *x;
    dse_arena *a;
    size_t n_kinds, cap_kinds;
    kind *kind;         /* on the heap, as the next two */
    trace_names groups; /* by their ranks */
    uint32_t *known;    /* kinds by group (plus 1; 0: unknown) and type */
    size_t cap_known;
    member *by_rank;
    size_t n_lags;
    double *lag_us;
} matching;

static uint32_t kind_of(matching *m, const char *ranks, uint32_t size, uint8_t type)
{
    uint32_t group = ranks ? trace_names_add(&m->groups, ranks, strlen(ranks)) : DSE_NONE, *known;
    size_t place = ranks ? (size_t)group + 1 : 0, old = m->cap_known;
    kind *k;

    DSE_GROW(m->known, m->cap_known, (place + 1) * METRIC_COMM_TYPES);
    memset(m->known + old, 0xff, (m->cap_known - old) * sizeof *m->known);
    known = &m->known[place * METRIC_COMM_TYPES + type];
    if (*known != DSE_NONE)
        return *known;
    DSE_GROW(m->kind, m->cap_kinds, m->n_kinds + 1);
    k = &m->kind[m->n_kinds];
    *k = (kind){ranks, type, {0, NULL}};
    if (ranks)
        k->members = metric_ranks_of(ranks, size, m->a);
    return *known = (uint32_t)m->n_kinds++;
}

/* The kind of each communication of a rank. */
static uint32_t *kinds_of(matching *m, const metric_view *v, dse_arena *scratch)
{
    uint32_t *of = DSE_ARENA_NEW(scratch, uint32_t, v->comm.n);

    for (uint32_t i = 0; i < v->comm.n; i++) {
        const trace_args *args = metric_args_of(v->rank, &v->rank->event[v->comm.event[i]]);
        metric_group g = args ? metric_group_of(v->rank, args) : (metric_group){0};

        of[i] = kind_of(m, g.ranks, g.size, v->comm_type[i]);
    }
    return of;
}

static void member_init(matching *m, const metric_view *v, dse_arena *scratch, member *out)
{
    uint32_t *of = kinds_of(m, v, scratch), sum = 0;

    *out = (member){.list = DSE_ARENA_NEW(m->a, uint32_t, v->comm.n),
                    .n_of = (uint32_t)m->n_kinds,
                    .offset = metric_clock_offset(v->rank, m->x->view[0].rank)};
    out->of = DSE_ARENA_NEW(m->a, slice, m->n_kinds);
    for (uint32_t i = 0; i < v->comm.n; i++)
        out->of[of[i]].n++;
    for (uint32_t k = 0; k < out->n_of; k++) {
        out->of[k].start = sum;
        sum += out->of[k].n;
        out->of[k].n = 0;
    }
    for (uint32_t i = 0; i < v->comm.n; i++)
        out->list[out->of[of[i]].start + out->of[of[i]].n++] = i;
}

static uint32_t count_of(const member *m, size_t k) { return k < m->n_of ? m->of[k].n : 0; }

/* The ranks of the record that take part in a kind: those of its group, or without a group those that have
 * it. */
static uint32_t parties_of(const matching *m, size_t k, uint32_t *party)
{
    const kind *of = &m->kind[k];
    uint32_t n = 0;

    for (uint32_t r = 0; r < m->x->n_views; r++)
        if (of->members.n ? metric_ranks_have(&of->members, m->x->view[r].rank->rank)
                          : count_of(&m->by_rank[r], k) > 0)
            party[n++] = r;
    return n;
}

static const trace_event *event_of(const matching *m, uint32_t rank, size_t k, uint32_t ordinal)
{
    const metric_view *v = &m->x->view[rank];
    const member *of = &m->by_rank[rank];

    return &v->rank->event[v->comm.event[of->list[of->of[k].start + ordinal]]];
}

static int64_t start_of(const matching *m, uint32_t rank, const trace_event *e)
{
    return metric_start(e) + m->by_rank[rank].offset - m->by_rank[rank].later_by;
}

/* Calls `visit` for every matched collective; *total is how many there are. */
typedef void visitor(matching *m, size_t k, uint32_t ordinal, const uint32_t *party, uint32_t n);

static void each_match(matching *m, visitor *visit, size_t *total)
{
    uint32_t *party = DSE_ARENA_NEW(m->a, uint32_t, m->x->n_views);

    *total = 0;
    for (size_t k = 0; k < m->n_kinds; k++) {
        uint32_t n = parties_of(m, k, party), least = n < 2 ? 0 : UINT32_MAX;

        for (uint32_t i = 0; i < n && least; i++)
            least = count_of(&m->by_rank[party[i]], k) < least ? count_of(&m->by_rank[party[i]], k) : least;
        for (uint32_t o = 0; visit && o < least; o++)
            visit(m, k, o, party, n);
        *total += least;
    }
}

/* ---- clocks ------------------------------------------------------------------------------------- */

/* How much later than the first each rank of a collective ends it. */
static void note_ends(matching *m, size_t k, uint32_t ordinal, const uint32_t *party, uint32_t n)
{
    int64_t first = INT64_MAX;

    for (uint32_t i = 0; i < n; i++) {
        int64_t end = metric_end(event_of(m, party[i], k, ordinal)) + m->by_rank[party[i]].offset;
        first = end < first ? end : first;
    }
    for (uint32_t i = 0; i < n; i++) {
        member *of = &m->by_rank[party[i]];
        int64_t end = metric_end(event_of(m, party[i], k, ordinal)) + of->offset;

        of->late_ps[of->n_matched++] = (double)(end - first);
    }
}

static void align(matching *m)
{
    size_t total;

    for (uint32_t r = 0; r < m->x->n_views; r++)
        m->by_rank[r].late_ps = DSE_ARENA_NEW(m->a, double, m->x->view[r].comm.n);
    each_match(m, note_ends, &total);
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

static void note_starts(matching *m, size_t k, uint32_t ordinal, const uint32_t *party, uint32_t n)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    uint32_t slowest = 0;

    for (uint32_t i = 0; i < n; i++) {
        int64_t at = start_of(m, party[i], event_of(m, party[i], k, ordinal));

        first = at < first ? at : first;
        slowest = at > last ? party[i] : slowest;
        last = at > last ? at : last;
    }
    for (uint32_t i = 0; i < n; i++) {
        member *of = &m->by_rank[party[i]];

        of->lag_sum += (double)(start_of(m, party[i], event_of(m, party[i], k, ordinal)) - first);
        of->n_matched++;
    }
    m->by_rank[slowest].n_last += last > first;
    m->lag_us[m->n_lags++] = (double)(last - first) / TRACE_PS_PER_US;
}

static dse_status match(matching *m, bool aligned, dse_error *err)
{
    const metric_context *x = m->x;
    size_t total;

    for (uint32_t r = 0; r < x->n_views; r++)
        member_init(m, &x->view[r], metric_scratch(x), &m->by_rank[r]);
    if (aligned)
        align(m);
    each_match(m, NULL, &total);
    m->lag_us = DSE_ARENA_NEW(m->a, double, total);
    if (!are_together(m))
        return metric_absent(
            err, "the ranks were not recorded at the same time: their clocks or their jobs differ%s",
            aligned ? "" : "; try --align end");
    each_match(m, note_starts, &total);
    if (!total)
        return metric_absent(err, "no collective is in the traces of two ranks of its group");
    for (uint32_t r = 0; r < x->n_views; r++)
        m->by_rank[r].unmatched = x->view[r].comm.n - m->by_rank[r].n_matched;
    return DSE_OK;
}

static void put_ranks(const matching *m, metric_value *out)
{
    metric_value *unmatched = metric_put_object(out, "unmatched"), *ends, *ranks;
    char key[16];

    for (uint32_t r = 0; r < m->x->n_views; r++) {
        snprintf(key, sizeof key, "%" PRIu32, m->x->view[r].rank->rank);
        metric_put_integer(unmatched, key, m->by_rank[r].unmatched);
    }
    ends = metric_put_object(out, "per_rank_end_times_us");
    for (uint32_t r = 0; r < m->x->n_views; r++) {
        const trace_rank *rank = m->x->view[r].rank;

        snprintf(key, sizeof key, "%" PRIu32, rank->rank);
        metric_put_number(ends, key, metric_compat_us(rank, rank->all_last_ps - m->by_rank[r].later_by));
    }
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t r = 0; r < m->x->n_views; r++) {
        const member *of = &m->by_rank[r];
        metric_value *rank = metric_put_rank(ranks, m->x->view[r].rank);

        metric_put_ratio(rank, "mean_lag_us", of->lag_sum / TRACE_PS_PER_US, of->n_matched,
                         "none of its collectives is matched");
        metric_put_integer(rank, "times_last", of->n_last);
        metric_put_integer(rank, "num_collectives", of->n_matched);
        metric_put_integer(rank, "unmatched", of->unmatched);
        metric_put_us(rank, "clock_later_by_us", of->later_by);
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
    dse_free(m.kind);
    dse_free(m.known);
    trace_names_free(&m.groups);
    return st;
}

static const metric rows[] = {
    {METRIC_ROW("straggler_lag", "kineto", "", METRIC_ON_GPU, METRIC_LAG_NEEDS,
                "how much later than the first the last rank starts a collective, matched by group, type and "
                "order: mean, quantiles, in steps; by rank; --align"),
     .compute = metric_straggler_lag, METRIC_ENTRY("mean_lag_us", "us", METRIC_LOWER, METRIC_LAG_TOLERANCE),
     .compat_put = metric_straggler_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(straggler);
