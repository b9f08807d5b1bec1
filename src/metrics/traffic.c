/* The parallelism that communication serves: how much of it each does, and when (how long it takes in a step,
 * and how long it is from the traffic of one way of parallelism to another's). Source: spec of the metrics,
 * section 3.6.
 *
 * It follows from the description of the process group; or else from the group's ranks and the card's
 * degrees; or else, with low confidence, from the type of collective: point-to-point serves pipelines,
 * all-to-all serves experts, reduce-scatter serves data parallelism. */
#include "base/array.h"
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
    return type == METRIC_REDUCE_SCATTER ? METRIC_DP
           : type == METRIC_ALL_TO_ALL   ? METRIC_EP
           : type == METRIC_SEND_RECV    ? METRIC_PP
                                         : METRIC_UNKNOWN;
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

/* The traffic of a rank, or sums over ranks, by parallelism and of all; TIME_PS is the union of the kernels of
 * each parallelism, and sums of those. */
enum { CALLS, LOW, SIZED, WITHOUT_SIZE, UNKNOWN_DTYPE, BYTES, TIME_PS, FIGURES };
enum { ALL = METRIC_PARALLELS };
typedef struct {
    uint64_t of[METRIC_PARALLELS + 1][FIGURES];
} shares;

static void count(uint64_t s[FIGURES], bool low, metric_comm_size size)
{
    s[CALLS]++;
    s[LOW] += low;
    s[SIZED] += size.state == METRIC_SIZE_KNOWN;
    s[WITHOUT_SIZE] += size.state == METRIC_SIZE_NOT_GIVEN;
    s[UNKNOWN_DTYPE] += size.state == METRIC_SIZE_UNKNOWN_DTYPE;
    s[BYTES] += size.state == METRIC_SIZE_KNOWN ? size.bytes : 0;
}

static void add(uint64_t to[FIGURES], const uint64_t s[FIGURES])
{
    for (int f = 0; f < FIGURES; f++)
        to[f] += s[f];
}

static void key_of(int p, const char *suffix, char key[32])
{
    snprintf(key, 32, "%s%s", metric_parallel_name[p], suffix);
}

/* Bytes of a class that has communications, none of which says its size, are not 0 but unknown; so is their
 * sum. */
static void put_bytes(const shares *s, metric_value *out)
{
    static const char why[] = "no communication of this class says its size (\"In msg nelems\", dtype)";
    static const char unknown[] = "the bytes of some class are unknown";
    const uint64_t total = s->of[ALL][BYTES];
    metric_value *fractions;
    bool whole = true;
    char key[32];

    for (int p = 0; p < METRIC_PARALLELS; p++) {
        const bool known = s->of[p][SIZED] || !s->of[p][CALLS];

        key_of(p, "_bytes", key);
        if (known)
            metric_put_count(out, key, s->of[p][BYTES]);
        else
            metric_put_absent(out, key, why);
        whole = whole && known;
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
        metric_put_number(fractions, metric_parallel_name[p], (double)s->of[p][BYTES] / (double)total);
}

static void put_shares(const shares *s, metric_value *out)
{
    const uint64_t *all = s->of[ALL];
    metric_value *fractions;
    char key[32];

    put_bytes(s, out);
    for (int p = 0; p < METRIC_PARALLELS; p++) {
        key_of(p, "_time_ms", key);
        metric_put_ms(out, key, (int64_t)s->of[p][TIME_PS]);
    }
    fractions = metric_put_object(out, "time_fractions");
    for (int p = 0; p < METRIC_PARALLELS; p++)
        metric_put_ratio(fractions, metric_parallel_name[p], (double)s->of[p][TIME_PS], (double)all[TIME_PS],
                         "no communication");
    metric_put_count(out, "total_comm_calls", all[CALLS]);
    metric_put_count(out, "calls_without_size", all[WITHOUT_SIZE]);
    metric_put_count(out, "calls_of_unknown_dtype", all[UNKNOWN_DTYPE]);
    metric_put_count(out, "low_confidence_calls", all[LOW]);
    if (all[CALLS] == s->of[METRIC_UNKNOWN][CALLS])
        metric_put_absent(out, "confidence", "nothing says which parallelism any communication serves");
    else
        metric_put_text(out, "confidence", all[LOW] ? "low" : "high");
}

static dse_status traffic_distribution(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *ranks = metric_object_new(out->arena);
    int64_t ps[METRIC_PARALLELS];
    shares sum = {0};

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        shares of = {0};
        traffic t;
        dse_status st = traffic_of(x, v, metric_scratch(x), &t, err);

        if (st != DSE_OK)
            return st;
        for (uint32_t i = 0; i < v->comm.n; i++)
            count(of.of[t.parallel[i]], t.low[i],
                  metric_comm_size_of(v->rank, &v->rank->event[v->comm.event[i]],
                                      (metric_comm_type)v->comm_type[i]));
        metric_class_lengths(v->rank, &v->comm, t.parallel, METRIC_PARALLELS, ps);
        for (int p = 0; p < METRIC_PARALLELS; p++) {
            of.of[p][TIME_PS] = (uint64_t)ps[p];
            add(of.of[ALL], of.of[p]);
        }
        for (int p = 0; p <= ALL; p++)
            add(sum.of[p], of.of[p]);
        put_shares(&of, metric_put_rank(ranks, v->rank));
    }
    put_shares(&sum, out);
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
        const char *part;
    } parts[] = {{METRIC_DP, "dp"},       {METRIC_DP, "gradient"}, {METRIC_TP, "tp"},     {METRIC_PP, "pp"},
                 {METRIC_PP, "pipeline"}, {METRIC_EP, "ep"},       {METRIC_EP, "expert"}, {METRIC_EP, "moe"}};
    static const metric_name_class wholes[] = {{METRIC_DP, "data_parallel"},
                                               {METRIC_TP, "tensor_parallel"},
                                               {METRIC_PP, "pipeline_parallel"},
                                               {METRIC_EP, "expert_parallel"}};

    for (size_t i = 0; i < DSE_COUNT(parts); i++)
        if (metric_has_part(name, parts[i].part, separates))
            return parts[i].parallel;
    return (metric_parallel)METRIC_CLASS_OF_NAME(wholes, name, METRIC_UNKNOWN);
}

/* ---- coalesced calls ---------------------------------------------------------------------------- */

/* The operators that a coalesced call may hold, by start. */
static const metric_pick c10d =
    METRIC_PICK(METRIC_TIMED | METRIC_INSTANTS, {0, "cpu_op", .names = "=^c10d::"});

static metric_parallel class_of_coalesced(const metric_picked *ops, const trace_event *e)
{
    enum { SEND_RECV, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, TO_ALL, KINDS };
    static const char *const words[KINDS] = {"send|recv", "allreduce", "allgather", "reduce_scatter",
                                             "alltoall"};
    bool has[KINDS] = {false};
    size_t i;

    METRIC_BISECT(i, 0, ops->list.n, metric_picked_at(ops, (uint32_t)i)->start_ps < e->start_ps);
    for (; i < ops->list.n && metric_picked_at(ops, (uint32_t)i)->start_ps <= metric_end(e); i++)
        for (int k = 0; k < KINDS; k++)
            has[k] = has[k] ||
                     metric_says(METRIC_TEXT_OF(ops->rank, metric_picked_at(ops, (uint32_t)i)), words[k]);
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

/* Gives calls, which ascend, the class of the first range in the file that holds their start and names one.
 * Returns whether there is any range, also of those that name none. */
static bool name_calls(const metric_picked *all, dse_arena *a, uint8_t *parallel)
{
    const trace_rank *r = all->rank;
    metric_picked p = metric_pick_of(r, NULL, &named_ranges, a);
    uint32_t left = all->list.n; /* calls without a class; when there are none, ranges need not be walked */
    bool any = false;
    size_t at;

    memset(parallel, METRIC_UNKNOWN, all->list.n);
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        const char *word = e->word < r->n_words ? TRACE_NAME(r, r->word[e->word]) : NULL;
        metric_parallel class;

        if (!word || !metric_says(word, "nvtx|^user_annotation$"))
            continue;
        any = true;
        if (!left || (class = class_of_range(METRIC_TEXT_OF(r, e))) == METRIC_UNKNOWN)
            continue;
        METRIC_BISECT(at, 0, all->list.n, metric_picked_at(all, (uint32_t)at)->start_ps < e->start_ps);
        for (; at < all->list.n && metric_picked_at(all, (uint32_t)at)->start_ps <= metric_end(e); at++)
            if (parallel[at] == METRIC_UNKNOWN) {
                parallel[at] = (uint8_t) class;
                left--;
            }
    }
    return any;
}

/* ---- a file --------------------------------------------------------------------------------------- */

static const metric_pick annotation = METRIC_PICK(METRIC_LASTING, {0, .words = "user_annotation"});

/* Adds its time by class, and its calls. Returns whether it has ranges. */
static bool add_file(const trace_rank *r, dse_arena *a, double us[METRIC_PARALLELS], uint64_t *n)
{
    metric_picked p = metric_pick_of(r, NULL, &calls, a), ops = metric_pick_of(r, NULL, &c10d, a);
    metric_picker annotations = metric_picker_of(r, &annotation, a);
    uint8_t *named = DSE_ARENA_NEW(a, uint8_t, p.list.n);
    bool has_ranges;

    metric_sort_by_start(r, &ops.list, a);
    metric_picked_sort(&p, a);
    has_ranges = name_calls(&p, a, named);
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        metric_parallel parallel = (metric_parallel)named[i];

        if (p.class[i] == COALESCED)
            parallel = metric_picker_ask(&annotations, e) == METRIC_NOT_PICKED ? METRIC_UNKNOWN
                                                                               : class_of_coalesced(&ops, e);
        else if (parallel == METRIC_UNKNOWN)
            parallel = (metric_parallel)p.class[i];
        us[parallel] += (double)e->dur_ps / TRACE_PS_PER_US;
    }
    *n += p.list.n;
    return has_ranges;
}

static void traffic_compat(const metric_context *x, metric_value *out)
{
    static const int order[] = {METRIC_DP, METRIC_TP, METRIC_PP, METRIC_EP, METRIC_UNKNOWN};
    double us[METRIC_PARALLELS] = {0}, total = 0;
    bool has_ranges = false;
    metric_value *fractions;
    uint64_t n = 0;
    char key[32];

    for (uint32_t i = 0; i < x->n_views; i++)
        has_ranges = add_file(x->view[i].rank, metric_scratch(x), us, &n) || has_ranges;
    for (size_t i = 0; i < DSE_COUNT(order); i++) {
        key_of(order[i], "_bytes", key);
        metric_put_number(out, key, us[order[i]]);
        total += us[order[i]];
    }
    metric_put_number(out, "total_bytes", total);
    fractions = metric_put_object(out, "fractions");
    for (size_t i = 0; i < DSE_COUNT(order); i++)
        metric_put_number(fractions, metric_parallel_name[order[i]], total > 0 ? us[order[i]] / total : 0);
    metric_put_count(out, "total_comm_calls", n);
    metric_put_text(out, "mode", has_ranges ? "nvtx" : "heuristic");
}

/* ---- traffic_window ------------------------------------------------------------------------------ */

/* The time from the end of a communication to the start of the next, where that has another class. Negative:
 * they overlap. */
typedef struct {
    uint8_t pair; /* of classes, pair_of */
    double seconds;
} gap;

enum { PAIRS = METRIC_PARALLELS * METRIC_PARALLELS };
static uint8_t pair_of(uint8_t from, uint8_t to) { return (uint8_t)(from * METRIC_PARALLELS + to); }

/* Of a rank; of all ranks the means, and the gaps of all. */
typedef struct {
    double per_step_s[METRIC_PARALLELS]; /* union of the kernels over steps; NaN: no steps */
    size_t n_gaps;
    gap *gap;
} windows;

/* "dp->pp": the gaps of one pair of classes, which are sorted. */
static void put_pair(int id, double *seconds, size_t count, metric_value *out)
{
    metric_value *pair;
    metric_summary s;
    char key[32];

    if (!count)
        return;
    s = metric_summarise(seconds, count);
    metric_sort(seconds, count);
    snprintf(key, sizeof key, "%s->%s", metric_parallel_name[id / METRIC_PARALLELS],
             metric_parallel_name[id % METRIC_PARALLELS]);
    pair = metric_put_object(out, key);
    metric_put_count(pair, "count", count);
    metric_put_number(pair, "mean", s.mean);
    metric_put_number(pair, "p50", metric_quantile(seconds, count, 0.5));
    metric_put_number(pair, "p95", metric_quantile(seconds, count, 0.95));
}

static void put_windows(const windows *w, dse_arena *a, metric_value *out)
{
    double *seconds = DSE_ARENA_NEW(a, double, w->n_gaps), sum = 0; /* by pair, which keep their order */
    size_t at[PAIRS + 1] = {0}, first = 0;                          /* of each pair's gaps */
    metric_value *times, *pairs;

    if (isnan(w->per_step_s[METRIC_UNKNOWN])) {
        metric_put_absent(out, "comm_window_s", "a rank has no step markers");
    } else {
        times = metric_put_object(out, "comm_window_s");
        for (int p = 0; p < METRIC_PARALLELS; p++) {
            metric_put_number(times, metric_parallel_name[p], w->per_step_s[p]);
            sum += w->per_step_s[p];
        }
        metric_put_number(times, "total", sum);
    }
    pairs = metric_put_object(out, "window_s");
    for (size_t g = 0; g < w->n_gaps; g++)
        at[w->gap[g].pair + 1]++;
    for (int pair = 0; pair < PAIRS; pair++)
        at[pair + 1] += at[pair];
    for (size_t g = 0; g < w->n_gaps; g++)
        seconds[at[w->gap[g].pair]++] = w->gap[g].seconds;
    for (int pair = 0; pair < PAIRS; first = at[pair++])
        put_pair(pair, seconds + first, at[pair] - first, pairs);
}

static dse_status traffic_window(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *ranks = metric_object_new(out->arena);
    int64_t ps[METRIC_PARALLELS];
    windows all = {0};
    size_t most = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        most += x->view[i].comm.n;
    all.gap = DSE_ARENA_NEW(x->arena, gap, most);
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        windows of = {.gap = all.gap + all.n_gaps};
        traffic t;
        dse_status st = traffic_of(x, v, metric_scratch(x), &t, err);

        if (st != DSE_OK)
            return st;
        metric_class_lengths(v->rank, &v->comm, t.parallel, METRIC_PARALLELS, ps);
        for (int p = 0; p < METRIC_PARALLELS; p++) {
            of.per_step_s[p] = v->n_steps ? (double)ps[p] / TRACE_PS_PER_S / v->n_steps : NAN;
            all.per_step_s[p] += of.per_step_s[p] / x->n_views;
        }
        for (uint32_t i = 1; i < v->comm.n; i++) {
            const trace_event *last = &v->rank->event[v->comm.event[i - 1]],
                              *e = &v->rank->event[v->comm.event[i]];

            if (t.parallel[i] != t.parallel[i - 1])
                of.gap[of.n_gaps++] = (gap){pair_of(t.parallel[i - 1], t.parallel[i]),
                                            (double)(metric_start(e) - metric_end(last)) / TRACE_PS_PER_S};
        }
        put_windows(&of, x->arena, metric_put_rank(ranks, v->rank));
        all.n_gaps += of.n_gaps;
    }
    put_windows(&all, x->arena, out);
    metric_take(metric_put_object(out, "per_rank"), ranks);
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

static void traffic_window_compat(const metric_context *x, metric_value *out)
{
    static const char *const keys[CLASSES] = {"tp_window_sec", "dp_window_sec", "pp_window_sec",
                                              "other_comm_window_sec"};
    const metric_picked sync = metric_pick_of(x->view[0].rank, NULL, &sync_ops, x->arena);
    metric_span *span = DSE_ARENA_NEW(x->arena, metric_span, sync.list.n);
    double seconds[CLASSES] = {0}, total = 0, n = (double)(sync.list.n ? sync.list.n : 1) * x->n_views;
    metric_spans syncs;

    for (uint32_t i = 0; i < sync.list.n; i++) /* ends included */
        span[i] =
            (metric_span){metric_picked_at(&sync, i)->start_ps, metric_end(metric_picked_at(&sync, i)) + 1};
    syncs = metric_spans_merge_any(span, sync.list.n);
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        const int64_t offset = metric_clock_offset(v->rank, x->view[0].rank);
        const metric_picked p = metric_pick_of(v->rank, NULL, &classes, metric_scratch(x));

        for (uint32_t i = 0; i < p.list.n; i++) {
            const trace_event *e = metric_picked_at(&p, i);
            uint8_t class = p.class[i];

            if (class == IN_SYNC_DP)
                class = metric_spans_at(&syncs, e->start_ps + offset) ? DP : TP;
            seconds[class] += (double)e->dur_ps / TRACE_PS_PER_S;
        }
    }
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
