#include "metrics/traffic.h"
#include "metrics/metric.h"

#include "metrics/comm_size.h"
#include "metrics/numbers.h"

#include <stdio.h>
#include <string.h>

/* ---- classes ---------------------------------------------------------------------------------- */

/* The parallelism by the arguments of an event; many events share them, so each combination is looked up
 * once. */
static metric_parallel ask(const trace_rank *r, const trace_args *args, const metric_layout *layout,
                           bool all_to_all, dse_arena *a)
{
    metric_group g = metric_group_of(r, args);
    metric_parallel p = g.desc ? metric_parallel_of_description(g.desc) : METRIC_UNKNOWN;
    metric_ranks ranks;

    if (p == METRIC_UNKNOWN && layout && g.ranks) {
        ranks = metric_ranks_of(g.ranks, g.size, a);
        p = metric_layout_class(layout, &ranks, all_to_all);
    }
    return p;
}

static metric_parallel by_kind(metric_comm_type type)
{
    static const metric_parallel kinds[METRIC_COMM_TYPES] = {
        [METRIC_ALL_REDUCE] = METRIC_UNKNOWN, [METRIC_REDUCE_SCATTER] = METRIC_DP,
        [METRIC_ALL_GATHER] = METRIC_UNKNOWN, [METRIC_ALL_TO_ALL] = METRIC_EP,
        [METRIC_BROADCAST] = METRIC_UNKNOWN,  [METRIC_SEND_RECV] = METRIC_PP,
        [METRIC_REDUCE] = METRIC_UNKNOWN,     [METRIC_OTHER_COMM] = METRIC_UNKNOWN};

    return kinds[type];
}

#define NOT_ASKED 0xff

dse_status metric_traffic_of(const metric_context *x, const metric_view *v, dse_arena *a, metric_traffic *out,
                             dse_error *err)
{
    const trace_rank *r = v->rank;
    uint8_t *said = DSE_ARENA_NEW(a, uint8_t, 2 * (size_t)r->n_args); /* by args, and whether all-to-all */
    metric_layout layout;
    dse_status st = DSE_OK;

    *out = (metric_traffic){DSE_ARENA_NEW(a, uint8_t, v->comm.n), DSE_ARENA_NEW(a, uint8_t, v->comm.n)};
    if (x->card && (st = metric_layout_of(x->card, &layout, err)) != DSE_OK)
        return st;
    memset(said, NOT_ASKED, 2 * (size_t)r->n_args);
    for (uint32_t i = 0; i < v->comm.n; i++) {
        const trace_event *e = &r->event[v->comm.event[i]];
        bool all_to_all = v->comm_type[i] == METRIC_ALL_TO_ALL;
        uint8_t *answer = e->args == DSE_NONE ? NULL : &said[2 * (size_t)e->args + all_to_all];

        if (answer && *answer == NOT_ASKED)
            *answer = (uint8_t)ask(r, &r->args[e->args], x->card ? &layout : NULL, all_to_all, a);
        out->parallel[i] = answer ? *answer : METRIC_UNKNOWN;
        if (out->parallel[i] == METRIC_UNKNOWN) {
            out->parallel[i] = (uint8_t)by_kind((metric_comm_type)v->comm_type[i]);
            out->low[i] = out->parallel[i] != METRIC_UNKNOWN;
        }
    }
    return st;
}

/* ---- traffic_distribution --------------------------------------------------------------------- */

/* The traffic of one rank and parallelism, or sums over ranks; TIME_PS is the union of the kernels, or a
 * sum of those over ranks. */
enum { CALLS, LOW, SIZED, WITHOUT_SIZE, UNKNOWN_DTYPE, BYTES, TIME_PS, FIGURES };
typedef struct {
    uint64_t of[FIGURES];
} share;

static void add(share *to, const share *s)
{
    for (int f = 0; f < FIGURES; f++)
        to->of[f] += s->of[f];
}

static dse_status shares_of(const metric_context *x, const metric_view *v, dse_arena *scratch,
                            share of[METRIC_PARALLELS], dse_error *err)
{
    int64_t ps[METRIC_PARALLELS];
    metric_traffic t;
    dse_status st = metric_traffic_of(x, v, scratch, &t, err);

    if (st != DSE_OK)
        return st;
    for (uint32_t i = 0; i < v->comm.n; i++) {
        metric_comm_size size = metric_comm_size_of(v->rank, &v->rank->event[v->comm.event[i]],
                                                    (metric_comm_type)v->comm_type[i]);
        uint64_t *s = of[t.parallel[i]].of;

        s[CALLS]++;
        s[LOW] += t.low[i];
        s[SIZED] += size.state == METRIC_SIZE_KNOWN;
        s[WITHOUT_SIZE] += size.state == METRIC_SIZE_NOT_GIVEN;
        s[UNKNOWN_DTYPE] += size.state == METRIC_SIZE_UNKNOWN_DTYPE;
        s[BYTES] += size.state == METRIC_SIZE_KNOWN ? size.bytes : 0;
    }
    metric_class_lengths(v->rank, &v->comm, t.parallel, METRIC_PARALLELS, ps);
    for (int p = 0; p < METRIC_PARALLELS; p++)
        of[p].of[TIME_PS] = (uint64_t)ps[p];
    return DSE_OK;
}

static void key_of(int p, const char *suffix, char key[32])
{
    snprintf(key, 32, "%s%s", metric_parallel_name[p], suffix);
}

/* Bytes of a class that has communications, none of which says its size, are not 0 but unknown; so is their
 * sum. */
static void put_bytes(const share of[METRIC_PARALLELS], metric_value *out)
{
    static const char why[] = "no communication of this class says its size (\"In msg nelems\", dtype)";
    static const char unknown[] = "the bytes of some class are unknown";
    metric_value *fractions;
    bool whole = true;
    uint64_t total = 0;
    char key[32];

    for (int p = 0; p < METRIC_PARALLELS; p++) {
        key_of(p, "_bytes", key);
        if (of[p].of[CALLS] && !of[p].of[SIZED])
            metric_put_absent(out, key, why);
        else
            metric_put_count(out, key, of[p].of[BYTES]);
        whole = whole && (!of[p].of[CALLS] || of[p].of[SIZED]);
        total += of[p].of[BYTES];
    }
    if (whole)
        metric_put_count(out, "total_bytes", total);
    else
        metric_put_absent(out, "total_bytes", unknown);
    if (!whole || !total) {
        metric_put_absent(out, "fractions", whole ? "no bytes" : unknown);
        return;
    }
    fractions = metric_put_object(out, "fractions");
    for (int p = 0; p < METRIC_PARALLELS; p++)
        metric_put_number(fractions, metric_parallel_name[p], (double)of[p].of[BYTES] / (double)total);
}

static void put_shares(const share of[METRIC_PARALLELS], metric_value *out)
{
    share sum = {0};
    metric_value *fractions;
    char key[32];

    put_bytes(of, out);
    for (int p = 0; p < METRIC_PARALLELS; p++) {
        key_of(p, "_time_ms", key);
        metric_put_ms(out, key, (int64_t)of[p].of[TIME_PS]);
        add(&sum, &of[p]);
    }
    fractions = metric_put_object(out, "time_fractions");
    for (int p = 0; p < METRIC_PARALLELS; p++)
        metric_put_ratio(fractions, metric_parallel_name[p], (double)of[p].of[TIME_PS],
                         (double)sum.of[TIME_PS], "no communication");
    metric_put_count(out, "total_comm_calls", sum.of[CALLS]);
    metric_put_count(out, "calls_without_size", sum.of[WITHOUT_SIZE]);
    metric_put_count(out, "calls_of_unknown_dtype", sum.of[UNKNOWN_DTYPE]);
    metric_put_count(out, "low_confidence_calls", sum.of[LOW]);
    if (sum.of[CALLS] == of[METRIC_UNKNOWN].of[CALLS])
        metric_put_absent(out, "confidence", "nothing says which parallelism any communication serves");
    else
        metric_put_text(out, "confidence", sum.of[LOW] ? "low" : "high");
}

static dse_status traffic_distribution(const metric_context *x, metric_value *out, dse_error *err)
{
    share(*of)[METRIC_PARALLELS] = dse_arena_zero(x->arena, x->n_views, sizeof *of);
    share sum[METRIC_PARALLELS] = {{{0}}};
    dse_status st = DSE_OK;
    metric_value *ranks;

    for (uint32_t i = 0; st == DSE_OK && i < x->n_views; i++) {
        st = shares_of(x, &x->view[i], metric_scratch(x), of[i], err);
        for (int p = 0; p < METRIC_PARALLELS; p++)
            add(&sum[p], &of[i][p]);
    }
    if (st != DSE_OK)
        return st;
    put_shares(sum, out);
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++)
        put_shares(of[i], metric_put_rank(ranks, x->view[i].rank));
    return DSE_OK;
}

static const metric_entry entries[] = {{"dp_bytes", "bytes", METRIC_NEITHER, METRIC_COUNT_TOLERANCE},
                                       {"tp_bytes", "bytes", METRIC_NEITHER, METRIC_COUNT_TOLERANCE},
                                       {"pp_bytes", "bytes", METRIC_NEITHER, METRIC_COUNT_TOLERANCE},
                                       {"ep_bytes", "bytes", METRIC_NEITHER, METRIC_COUNT_TOLERANCE},
                                       {"cp_bytes", "bytes", METRIC_NEITHER, METRIC_COUNT_TOLERANCE},
                                       {"dp_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE},
                                       {"tp_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE},
                                       {"pp_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE},
                                       {"ep_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE},
                                       {"cp_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE}};

static const metric rows[] = {
    {METRIC_ROW("traffic_distribution", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_COMM,
                "bytes and time of communication by the parallelism it serves (dp, tp, pp, ep, cp), summed "
                "over ranks and per rank"),
     .sums = "dp_bytes|tp_bytes|pp_bytes|ep_bytes|cp_bytes|unknown_bytes|total_bytes|"
             "dp_time_ms|tp_time_ms|pp_time_ms|ep_time_ms|cp_time_ms|unknown_time_ms|total_comm_calls",
     .compute = traffic_distribution, METRIC_ENTRIES(entries), .compat_put = metric_traffic_compat,
     .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(traffic);
