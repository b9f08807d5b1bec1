/* traffic_distribution as CCL-Bench 273229f computes it: whatever is named like communication, of three
 * layers, and its time in microseconds where the keys say bytes. */
#include "metrics/order.h"
#include "metrics/pick.h"
#include "metrics/traffic.h"

#include <string.h>

/* ---- what a name says -------------------------------------------------------------------------- */

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
    metric_picked_sort(&p, &calls, a);
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

void metric_traffic_compat(const metric_context *x, metric_value *out)
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
