/* The parallelism that communication serves: how much of it each does, and when (how long it takes in a step,
 * and how long it is from the traffic of one way of parallelism to another's). Source: spec of the metrics,
 * section 3.6.
 *
 * It follows from the description of the process group; or else from the group's ranks and the card's
 * degrees; or else, with low confidence, from the type of collective: point-to-point serves pipelines,
 * all-to-all serves experts, reduce-scatter serves data parallelism. */
#include "metrics/comm_size.h"
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/order.h"
#include "metrics/parallel.h"
#include "metrics/pick.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- classes ---------------------------------------------------------------------------------- */

typedef struct {
    uint8_t *parallel; /* metric_parallel of v->comm.event[i] */
    uint8_t *low;      /* 1: by its kind only */
} traffic;

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

/* The arrays belong to the arena. DSE_E_CONFIG: the card's rank_order. */
static dse_status traffic_of(const metric_context *x, const metric_view *v, dse_arena *a, traffic *out,
                             dse_error *err)
{
    const trace_rank *r = v->rank;
    uint8_t *said = DSE_ARENA_NEW(a, uint8_t, 2 * (size_t)r->n_args); /* by args, and whether all-to-all */
    metric_layout layout;
    dse_status st = DSE_OK;

    *out = (traffic){DSE_ARENA_NEW(a, uint8_t, v->comm.n), DSE_ARENA_NEW(a, uint8_t, v->comm.n)};
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
    traffic t;
    dse_status st = traffic_of(x, v, scratch, &t, err);

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
    metric_value *ranks = metric_object_new(out->arena);
    share sum[METRIC_PARALLELS] = {{{0}}};

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        share of[METRIC_PARALLELS] = {{{0}}};
        dse_status st = shares_of(x, v, metric_scratch(x), of, err);

        if (st != DSE_OK)
            return st;
        put_shares(of, metric_put_rank(ranks, v->rank));
        for (int p = 0; p < METRIC_PARALLELS; p++)
            add(&sum[p], &of[p]);
    }
    put_shares(sum, out);
    metric_take(metric_put_object(out, "per_rank"), ranks);
    return DSE_OK;
}

/* ---- traffic_distribution, as CCL-Bench 273229f computes it -------------------------------------- */

/* Whatever is named like communication, of three layers, and its time in microseconds where the keys say
 * bytes. */

/* Events of three layers, by the class that the name has; a suffix comes after the words of pipelines and
 * before the others. */
enum { COALESCED = METRIC_PARALLELS };

static bool is_comm(const char *name)
{
    return metric_says(name, METRIC_COMPAT_CALLS
                       "|nccl|allreduce|reducescatter|allgather|broadcast|reduce|sendrecv|"
                       "alltoall|p2p|send|recv");
}

#define ROW(parallel, words)                                                                                 \
    {                                                                                                        \
        (parallel), "kernel|cpu_op|user_annotation", .names = (words), .is = is_comm                         \
    }

static const metric_pick calls =
    METRIC_PICK(METRIC_INSTANTS, ROW(COALESCED, "=^nccl:coalesced$"),
                ROW(METRIC_PP, "sendrecv|c10d::send|c10d::recv|nccl:send|nccl:recv|_send$|_recv$"),
                ROW(METRIC_EP, "alltoall|all_to_all"), ROW(METRIC_DP, "reducescatter|reduce_scatter"),
                ROW(METRIC_UNKNOWN, NULL));

static bool separates(char c) { return strchr("_: \t\n\v\f\r", c) != NULL; }

/* The class that a range names. Its parts are asked for words first, in the order of the classes; the words
 * of two parts ("data_parallel") can only be found in the whole name. */
static metric_parallel class_of_range(const char *name)
{
    static const struct {
        metric_parallel parallel;
        const char *part[3];
    } classes[] = {{METRIC_DP, {"dp", "gradient", NULL}},
                   {METRIC_TP, {"tp", NULL, NULL}},
                   {METRIC_PP, {"pp", "pipeline", NULL}},
                   {METRIC_EP, {"ep", "expert", "moe"}}};
    static const metric_name_class wholes[] = {{METRIC_DP, "data_parallel"},
                                               {METRIC_TP, "tensor_parallel"},
                                               {METRIC_PP, "pipeline_parallel"},
                                               {METRIC_EP, "expert_parallel"}};

    for (size_t c = 0; c < 4; c++)
        for (size_t i = 0; i < 3 && classes[c].part[i]; i++)
            if (metric_has_part(name, classes[c].part[i], separates))
                return classes[c].parallel;
    return (metric_parallel)METRIC_CLASS_OF_NAME(wholes, name, METRIC_UNKNOWN);
}

/* ---- coalesced calls ---------------------------------------------------------------------------- */

/* Counts, by kind, of the c10d operators up to one, by start. */
enum { SEND_RECV, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, TO_ALL, KINDS };

typedef struct {
    int64_t at;
    uint32_t upto[KINDS];
} operator_start;

typedef struct {
    size_t n;
    operator_start *op;
} operators;

static const metric_pick c10d =
    METRIC_PICK(METRIC_TIMED | METRIC_INSTANTS, {0, "cpu_op", .names = "=^c10d::"});

static void operators_of(const trace_rank *r, dse_arena *a, operators *out)
{
    static const char *const words[KINDS] = {"send|recv", "allreduce", "allgather", "reduce_scatter",
                                             "alltoall"};
    metric_picked p = metric_pick_of(r, NULL, &c10d, a);

    *out = (operators){p.list.n, DSE_ARENA_NEW(a, operator_start, p.list.n)};
    metric_sort_by_start(r, &p.list, a);
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);

        out->op[i].at = e->start_ps;
        for (int k = 0; k < KINDS; k++)
            out->op[i].upto[k] =
                (i ? out->op[i - 1].upto[k] : 0) + metric_says(METRIC_TEXT_OF(r, e), words[k]);
    }
}

/* Operators that start before `at`, or at it. */
static size_t before(const operators *o, int64_t at, bool inclusive)
{
    size_t i;

    METRIC_BISECT(i, 0, o->n, o->op[i].at < at || (inclusive && o->op[i].at == at));
    return i;
}

static metric_parallel class_of_coalesced(const operators *o, const trace_event *e)
{
    size_t first = before(o, e->start_ps, false), end = before(o, metric_end(e), true);
    bool has[KINDS] = {false};

    for (int k = 0; k < KINDS && first < end; k++)
        has[k] = o->op[end - 1].upto[k] > (first ? o->op[first - 1].upto[k] : 0);
    if (has[SEND_RECV] && !has[ALL_REDUCE] && !has[ALL_GATHER])
        return METRIC_PP;
    if (has[TO_ALL])
        return METRIC_EP;
    return has[REDUCE_SCATTER] ? METRIC_DP : METRIC_UNKNOWN;
}

/* ---- ranges --------------------------------------------------------------------------------------- */

/* Of a category that is user_annotation in any case, or contains nvtx. */
static const metric_pick named_ranges = METRIC_PICK(
    METRIC_TIMED | METRIC_INSTANTS,
    {.names = "dp|tp|pp|ep|data_parallel|tensor_parallel|pipeline|expert|fsdp|ddp|moe|gradient_sync|"
              "all_reduce_grad"});

/* The first place from `at` on that is not taken: a place that is taken says where to go on. */
static size_t free_from(uint32_t *next, size_t at)
{
    while (next[at] != at)
        at = next[at] = next[next[at]];
    return at;
}

/* By place in the calls, which ascend: the class of the first range in the file that holds its start and
 * names one. Returns whether there is any range, also of those that name none. */
static bool name_calls(const trace_rank *r, const metric_picked *all, dse_arena *a, uint8_t *parallel)
{
    metric_picked p = metric_pick_of(r, NULL, &named_ranges, a);
    uint32_t *next = DSE_ARENA_NEW(a, uint32_t, (size_t)all->list.n + 1);
    bool any = false;
    size_t at;

    memset(parallel, METRIC_UNKNOWN, all->list.n);
    for (uint32_t i = 0; i <= all->list.n; i++)
        next[i] = i;
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        const char *word = e->word < r->n_words ? TRACE_NAME(r, r->word[e->word]) : NULL;
        metric_parallel class;

        if (!word || !metric_says(word, "nvtx|^user_annotation$"))
            continue;
        any = true;
        if ((class = class_of_range(METRIC_TEXT_OF(r, e))) == METRIC_UNKNOWN)
            continue;
        METRIC_BISECT(at, 0, all->list.n, metric_picked_at(all, (uint32_t)at)->start_ps < e->start_ps);
        for (at = free_from(next, at);
             at < all->list.n && metric_picked_at(all, (uint32_t)at)->start_ps <= metric_end(e);
             at = free_from(next, at)) {
            parallel[at] = (uint8_t) class;
            next[at] = (uint32_t)at + 1;
        }
    }
    return any;
}

/* ---- a file --------------------------------------------------------------------------------------- */

typedef struct {
    double us[METRIC_PARALLELS];
    uint64_t calls;
    bool has_ranges;
} totals;

static const metric_pick annotation = METRIC_PICK(METRIC_LASTING, {0, .words = "user_annotation"});

static void add_file(const trace_rank *r, dse_arena *a, totals *t)
{
    metric_picked p = metric_pick_of(r, NULL, &calls, a);
    metric_picker annotations = metric_picker_of(r, &annotation, a);
    uint8_t *named = DSE_ARENA_NEW(a, uint8_t, p.list.n);
    operators ops;

    operators_of(r, a, &ops);
    metric_picked_sort(&p, a);
    if (name_calls(r, &p, a, named))
        t->has_ranges = true;
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        metric_parallel parallel = (metric_parallel)named[i];

        if (p.class[i] == COALESCED)
            parallel = metric_picker_ask(&annotations, e) == METRIC_NOT_PICKED ? METRIC_UNKNOWN
                                                                               : class_of_coalesced(&ops, e);
        else if (parallel == METRIC_UNKNOWN)
            parallel = (metric_parallel)p.class[i];
        t->us[parallel] += (double)e->dur_ps / TRACE_PS_PER_US;
    }
    t->calls += p.list.n;
}

static void traffic_compat(const metric_context *x, metric_value *out)
{
    static const metric_parallel order[] = {METRIC_DP, METRIC_TP, METRIC_PP, METRIC_EP, METRIC_UNKNOWN};
    metric_value *fractions;
    totals t = {0};
    double total = 0;
    char key[32];

    for (uint32_t i = 0; i < x->n_views; i++)
        add_file(x->view[i].rank, metric_scratch(x), &t);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        snprintf(key, sizeof key, "%s_bytes", metric_parallel_name[order[i]]);
        metric_put_number(out, key, t.us[order[i]]);
        total += t.us[order[i]];
    }
    metric_put_number(out, "total_bytes", total);
    fractions = metric_put_object(out, "fractions");
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        metric_put_number(fractions, metric_parallel_name[order[i]], total > 0 ? t.us[order[i]] / total : 0);
    metric_put_count(out, "total_comm_calls", t.calls);
    metric_put_text(out, "mode", t.has_ranges ? "nvtx" : "heuristic");
}

/* ---- traffic_window ------------------------------------------------------------------------------ */

/* The time from the end of a communication to the start of the next, where that has another class. Negative:
 * they overlap. */
typedef struct {
    uint8_t from, to;
    double seconds;
} gap;

typedef struct {
    double per_step_s[METRIC_PARALLELS]; /* union of the kernels over steps; NaN: no steps */
    size_t n_gaps;
    gap *gap;
} windows;

static dse_status windows_of(const metric_context *x, const metric_view *v, dse_arena *a, windows *out,
                             dse_error *err)
{
    int64_t ps[METRIC_PARALLELS];
    traffic t;
    dse_status st = traffic_of(x, v, a, &t, err);

    if (st != DSE_OK)
        return st;
    *out = (windows){.gap = DSE_ARENA_NEW(a, gap, v->comm.n)};
    metric_class_lengths(v->rank, &v->comm, t.parallel, METRIC_PARALLELS, ps);
    for (int p = 0; p < METRIC_PARALLELS; p++)
        out->per_step_s[p] = v->n_steps ? (double)ps[p] / TRACE_PS_PER_S / v->n_steps : NAN;
    for (uint32_t i = 1; i < v->comm.n; i++) {
        const trace_event *last = &v->rank->event[v->comm.event[i - 1]],
                          *e = &v->rank->event[v->comm.event[i]];

        if (t.parallel[i] != t.parallel[i - 1])
            out->gap[out->n_gaps++] = (gap){t.parallel[i - 1], t.parallel[i],
                                            (double)(metric_start(e) - metric_end(last)) / TRACE_PS_PER_S};
    }
    return DSE_OK;
}

/* Means over ranks. */
static void put_times(const windows *of, uint32_t n, metric_value *out)
{
    double mean[METRIC_PARALLELS] = {0}, sum = 0;
    metric_value *times;

    for (uint32_t i = 0; i < n; i++)
        for (int p = 0; p < METRIC_PARALLELS; p++)
            mean[p] += of[i].per_step_s[p] / n;
    if (isnan(mean[METRIC_UNKNOWN])) {
        metric_put_absent(out, "comm_window_s", "a rank has no step markers");
        return;
    }
    times = metric_put_object(out, "comm_window_s");
    for (int p = 0; p < METRIC_PARALLELS; p++) {
        metric_put_number(times, metric_parallel_name[p], mean[p]);
        sum += mean[p];
    }
    metric_put_number(times, "total", sum);
}

/* "dp->pp": those of one pair of classes, over ranks; seconds has room for all. */
static void put_pair(const windows *of, uint32_t n, uint8_t from, uint8_t to, double *seconds,
                     metric_value *out)
{
    size_t count = 0;
    metric_value *pair;
    metric_summary s;
    char key[32];

    for (uint32_t i = 0; i < n; i++)
        for (size_t g = 0; g < of[i].n_gaps; g++)
            if (of[i].gap[g].from == from && of[i].gap[g].to == to)
                seconds[count++] = of[i].gap[g].seconds;
    if (!count)
        return;
    s = metric_summarise(seconds, count);
    metric_sort(seconds, count);
    snprintf(key, sizeof key, "%s->%s", metric_parallel_name[from], metric_parallel_name[to]);
    pair = metric_put_object(out, key);
    metric_put_count(pair, "count", count);
    metric_put_number(pair, "mean", s.mean);
    metric_put_number(pair, "p50", metric_quantile(seconds, count, 0.5));
    metric_put_number(pair, "p95", metric_quantile(seconds, count, 0.95));
}

static void put(const windows *of, uint32_t n, dse_arena *a, metric_value *out)
{
    metric_value *pairs;
    size_t n_gaps = 0;
    double *seconds;

    put_times(of, n, out);
    pairs = metric_put_object(out, "window_s");
    for (uint32_t i = 0; i < n; i++)
        n_gaps += of[i].n_gaps;
    seconds = DSE_ARENA_NEW(a, double, n_gaps);
    for (unsigned from = 0; from < METRIC_PARALLELS; from++)
        for (unsigned to = 0; to < METRIC_PARALLELS; to++)
            put_pair(of, n, (uint8_t)from, (uint8_t)to, seconds, pairs);
}

static dse_status traffic_window(const metric_context *x, metric_value *out, dse_error *err)
{
    windows *of = DSE_ARENA_NEW(x->arena, windows, x->n_views);
    dse_status st = DSE_OK;
    metric_value *ranks;

    for (uint32_t i = 0; st == DSE_OK && i < x->n_views; i++)
        st = windows_of(x, &x->view[i], x->arena, &of[i], err);
    if (st != DSE_OK)
        return st;
    put(of, x->n_views, x->arena, out);
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++)
        put(&of[i], 1, x->arena, metric_put_rank(ranks, x->view[i].rank));
    return DSE_OK;
}

/* ---- traffic_window, as the original tool has it ------------------------------------------------- */

enum { TP, DP, PP, OTHER, CLASSES, IN_SYNC_DP };

static bool is_nccl(const char *name) { return metric_says(name, "nccl"); }

static const metric_pick classes = METRIC_PICK(
                             METRIC_INSTANTS, {IN_SYNC_DP, "kernel", .names = "allreduce", .is = is_nccl},
                             {TP, "kernel", .names = "broadcast", .is = is_nccl},
                             {DP, "kernel", .names = "allgather|reducescatter|redistribute", .is = is_nccl},
                             {PP, "kernel", .names = "send|recv", .is = is_nccl},
                             {OTHER, "kernel", .is = is_nccl}),
                         /* The first file's operators of that name are taken for the ends of steps. */
    sync_ops = METRIC_PICK(METRIC_INSTANTS, {0, "cpu_op", .names = "=^RedistributeBackward$"});

/* The times of these, ends included. */
static metric_spans times_of(const metric_picked *p, dse_arena *a)
{
    metric_span *span = DSE_ARENA_NEW(a, metric_span, p->list.n);

    for (uint32_t i = 0; i < p->list.n; i++)
        span[i] = (metric_span){metric_picked_at(p, i)->start_ps, metric_end(metric_picked_at(p, i)) + 1};
    return metric_spans_merge_any(span, p->list.n);
}

static void add_windows(const trace_rank *r, int64_t offset, const metric_spans *syncs, dse_arena *a,
                        double seconds[CLASSES])
{
    metric_picked p = metric_pick_of(r, NULL, &classes, a);

    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        uint8_t class = p.class[i];

        if (class == IN_SYNC_DP)
            class = metric_spans_at(syncs, e->start_ps + offset) ? DP : TP;
        seconds[class] += (double)e->dur_ps / TRACE_PS_PER_S;
    }
}

static void traffic_window_compat(const metric_context *x, metric_value *out)
{
    static const char *const keys[CLASSES] = {"tp_window_sec", "dp_window_sec", "pp_window_sec",
                                              "other_comm_window_sec"};
    metric_picked sync = metric_pick_of(x->view[0].rank, NULL, &sync_ops, x->arena);
    metric_spans syncs = times_of(&sync, x->arena);
    double seconds[CLASSES] = {0}, total = 0, n = (double)(sync.list.n ? sync.list.n : 1) * x->n_views;

    for (uint32_t i = 0; i < x->n_views; i++)
        add_windows(x->view[i].rank, metric_clock_offset(x->view[i].rank, x->view[0].rank), &syncs,
                    metric_scratch(x), seconds);
    for (int c = 0; c < CLASSES; c++) {
        metric_put_number(out, keys[c], metric_round(seconds[c] / n, 6));
        total += seconds[c];
    }
    metric_put_number(out, "total_comm_window_sec", metric_round(total / n, 6));
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
     .compute = traffic_distribution, METRIC_ENTRIES(entries), .compat_put = traffic_compat,
     .compat_kinds = METRIC_ON_HOST},
    {METRIC_ROW(
         "traffic_window", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_COMM,
         "seconds of communication in a step by parallelism, and between communication of different ones"),
     .compute = traffic_window, .compat_put = traffic_window_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(traffic);
