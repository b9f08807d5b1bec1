/* traffic_distribution as CCL-Bench 273229f computes it: whatever is named like communication, of three
 * layers, and its time in microseconds where the keys say bytes. */
#include "metrics/compat_kineto.h"
#include "metrics/order.h"
#include "metrics/pick.h"
#include "metrics/traffic.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a name says -------------------------------------------------------------------------- */

/* Events of three layers, by the class that the name has; a suffix comes after the words of pipelines and before the
 * others. */
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

typedef struct {
    int64_t start, end;
    uint32_t at; /* in the file */
    uint8_t parallel;
} range;

/* Ranges that name a class, by start; and of those open, the first in the file on top of a heap. */
typedef struct {
    bool any; /* also of those that name none */
    size_t n, next, n_open;
    range *of, **open;
} ranges;

METRIC_COMPARE(by_range_start, range, {x->start, y->start}, {x->at, y->at})

/* Of a category that is user_annotation in any case, or contains nvtx. */
static const metric_pick named_ranges = METRIC_PICK(
    METRIC_TIMED | METRIC_INSTANTS,
    {.names = "dp|tp|pp|ep|data_parallel|tensor_parallel|pipeline|expert|fsdp|ddp|moe|gradient_sync|"
              "all_reduce_grad"});

static void ranges_of(const trace_rank *r, dse_arena *a, ranges *out)
{
    metric_picked p = metric_pick_of(r, NULL, &named_ranges, a);

    *out = (ranges){.of = DSE_ARENA_NEW(a, range, p.list.n), .open = DSE_ARENA_NEW(a, range *, p.list.n)};
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        const char *word = e->word < r->n_words ? TRACE_NAME(r, r->word[e->word]) : NULL;
        metric_parallel parallel;

        if (!word || !metric_says(word, "nvtx|^user_annotation$"))
            continue;
        out->any = true;
        if ((parallel = class_of_range(METRIC_TEXT_OF(r, e))) != METRIC_UNKNOWN)
            out->of[out->n++] = (range){e->start_ps, metric_end(e), p.list.event[i], (uint8_t)parallel};
    }
    qsort(out->of, out->n, sizeof *out->of, by_range_start);
}

static void push(ranges *h, range *one)
{
    size_t at = h->n_open++;

    for (; at && h->open[(at - 1) / 2]->at > one->at; at = (at - 1) / 2)
        h->open[at] = h->open[(at - 1) / 2];
    h->open[at] = one;
}

static void pop(ranges *h)
{
    range *last = h->open[--h->n_open];
    size_t at = 0, child;

    while ((child = 2 * at + 1) < h->n_open) {
        child += child + 1 < h->n_open && h->open[child + 1]->at < h->open[child]->at;
        if (h->open[child]->at >= last->at)
            break;
        h->open[at] = h->open[child];
        at = child;
    }
    h->open[at] = last;
}

/* The class of the first range in the file that holds this time; times must be asked for in ascending
 * order. */
static metric_parallel range_at(ranges *h, int64_t at)
{
    for (; h->next < h->n && h->of[h->next].start <= at; h->next++)
        push(h, &h->of[h->next]);
    while (h->n_open && h->open[0]->end < at)
        pop(h);
    return h->n_open ? h->open[0]->parallel : METRIC_UNKNOWN;
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
    operators ops;
    ranges open;

    operators_of(r, a, &ops);
    ranges_of(r, a, &open);
    metric_picked_sort(&p, &calls, a);
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        metric_parallel parallel = range_at(&open, e->start_ps);

        if (p.class[i] == COALESCED)
            parallel = metric_picker_ask(&annotations, e) == METRIC_NOT_PICKED ? METRIC_UNKNOWN
                                                                               : class_of_coalesced(&ops, e);
        else if (parallel == METRIC_UNKNOWN)
            parallel = (metric_parallel)p.class[i];
        t->us[parallel] += (double)e->dur_ps / TRACE_PS_PER_US;
    }
    t->calls += p.list.n;
    t->has_ranges = t->has_ranges || open.any;
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
