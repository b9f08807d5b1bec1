/* traffic_distribution as CCL-Bench 273229f computes it: whatever is named like communication, of three
 * layers, and its time in microseconds where the keys say bytes. */
#include "metrics/compat_kineto.h"
#include "metrics/order.h"
#include "metrics/traffic.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what a category says ---------------------------------------------------------------------- */

/* user_annotation in any case, and whatever contains nvtx. */
static metric_words range_words(const trace_rank *r)
{
    metric_words w = {{false}};

    for (uint32_t i = 0; i < r->n_words; i++) {
        const char *word = TRACE_NAME(r, r->word[i]);

        w.is[i] = word && (metric_has(word, "nvtx") || strcasecmp(word, "user_annotation") == 0);
    }
    return w;
}

/* ---- what a name says -------------------------------------------------------------------------- */

/* Low three bits: the class of an event of this name; the others: */
enum { CLASS = 7, IS_COMM = 8, IS_COALESCED = 16, IS_RANGE = 32 };

static metric_parallel class_of(const char *name)
{
    static const struct {
        const char *word;
        metric_parallel parallel;
    } words[] = {{"sendrecv", METRIC_PP},   {"c10d::send", METRIC_PP},    {"c10d::recv", METRIC_PP},
                 {"nccl:send", METRIC_PP},  {"nccl:recv", METRIC_PP},     {"alltoall", METRIC_EP},
                 {"all_to_all", METRIC_EP}, {"reducescatter", METRIC_DP}, {"reduce_scatter", METRIC_DP}};
    size_t n = strlen(name);

    /* A suffix comes after the words of pipelines and before the others. */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].parallel != METRIC_PP && n >= 5 &&
            (strcasecmp(name + n - 5, "_send") == 0 || strcasecmp(name + n - 5, "_recv") == 0))
            return METRIC_PP;
        if (metric_has(name, words[i].word))
            return words[i].parallel;
    }
    return METRIC_UNKNOWN;
}

static uint8_t says(const char *name)
{
    unsigned v = class_of(name);

    if (metric_compat_is_call(name) ||
        METRIC_HAS_ANY(name, "nccl", "allreduce", "reducescatter", "allgather", "broadcast", "reduce",
                       "sendrecv", "alltoall", "p2p", "send", "recv"))
        v |= IS_COMM;
    if (strcmp(name, "nccl:coalesced") == 0)
        v |= IS_COALESCED;
    if (METRIC_HAS_ANY(name, "dp", "tp", "pp", "ep", "data_parallel", "tensor_parallel", "pipeline", "expert",
                       "fsdp", "ddp", "moe", "gradient_sync", "all_reduce_grad"))
        v |= IS_RANGE;
    return (uint8_t)v;
}

static bool has_part(const char *name, const char *word)
{
    static const char separators[] = "_: \t\n\v\f\r";
    size_t n = strlen(word);

    while (*name) {
        size_t length = strcspn(name, separators);

        if (length == n && strncasecmp(name, word, n) == 0)
            return true;
        name += length;
        name += strspn(name, separators);
    }
    return false;
}

/* The class that a range names. Its parts are asked for words first, in the order of the classes; the words
 * of two parts ("data_parallel") can only be found in the whole name. */
static metric_parallel class_of_range(const char *name)
{
    static const struct {
        metric_parallel parallel;
        const char *part[3], *whole;
    } classes[] = {{METRIC_DP, {"dp", "gradient", NULL}, "data_parallel"},
                   {METRIC_TP, {"tp", NULL, NULL}, "tensor_parallel"},
                   {METRIC_PP, {"pp", "pipeline", NULL}, "pipeline_parallel"},
                   {METRIC_EP, {"ep", "expert", "moe"}, "expert_parallel"}};

    for (size_t c = 0; c < 4; c++)
        for (size_t i = 0; i < 3 && classes[c].part[i]; i++)
            if (has_part(name, classes[c].part[i]))
                return classes[c].parallel;
    for (size_t c = 0; c < 4; c++)
        if (metric_has(name, classes[c].whole))
            return classes[c].parallel;
    return METRIC_UNKNOWN;
}

static uint8_t range_says(const char *name) { return (uint8_t)class_of_range(name); }

/* ---- coalesced calls ---------------------------------------------------------------------------- */

/* Counts, by kind, of the c10d operators up to one, by start. */
enum { SEND_RECV, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, TO_ALL, KINDS };

typedef struct {
    int64_t at;
    uint8_t says;
    uint32_t upto[KINDS];
} operator_start;

typedef struct {
    size_t n;
    operator_start *op;
} operators;

METRIC_COMPARE(by_time, operator_start, {x->at, y->at})

static bool is_kind(const char *name, int kind)
{
    static const char *const words[KINDS] = {"send", "allreduce", "allgather", "reduce_scatter", "alltoall"};

    return metric_has(name, words[kind]) || (kind == SEND_RECV && metric_has(name, "recv"));
}

/* A c10d operator by its name: a bit for each kind, and one more. */
enum { IS_OPERATOR = 1 << KINDS };

static uint8_t operator_says(const char *name)
{
    uint8_t says = IS_OPERATOR;

    if (!metric_begins(name, "c10d::"))
        return 0;
    for (int k = 0; k < KINDS; k++)
        says = (uint8_t)(says | is_kind(name, k) << k);
    return says;
}

static void operators_of(const trace_rank *r, dse_arena *a, operators *out)
{
    const metric_words op = METRIC_WORDS(r, "cpu_op");
    const metric_events named = metric_named(r, operator_says, a);
    metric_classes names = metric_classes_of(r, operator_says, a);

    *out = (operators){0, DSE_ARENA_NEW(a, operator_start, named.n)};
    for (uint32_t i = 0; i < named.n; i++) {
        const trace_event *e = &r->event[named.event[i]];

        if (op.is[e->word] && metric_compat_is_timed(r, e))
            out->op[out->n++] = (operator_start){e->start_ps, metric_class_of(&names, e), {0}};
    }
    qsort(out->op, out->n, sizeof *out->op, by_time);
    for (size_t i = 0; i < out->n; i++)
        for (int k = 0; k < KINDS; k++)
            out->op[i].upto[k] = (i ? out->op[i - 1].upto[k] : 0) + (out->op[i].says >> k & 1);
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

static bool is_range(const trace_rank *r, const trace_event *e, const metric_words *words,
                     metric_classes *names)
{
    return words->is[e->word] && (metric_class_of(names, e) & IS_RANGE) && metric_compat_is_timed(r, e);
}

static void ranges_of(const trace_rank *r, metric_classes *names, dse_arena *a, ranges *out)
{
    const metric_words words = range_words(r);
    metric_classes classes;
    size_t room = 0;

    *out = (ranges){0};
    classes = metric_classes_of(r, range_says, a);
    for (size_t i = 0; i < r->n_events; i++)
        if (is_range(r, &r->event[i], &words, names)) {
            out->any = true;
            room += metric_class_of(&classes, &r->event[i]) != METRIC_UNKNOWN;
        }
    out->of = DSE_ARENA_NEW(a, range, room);
    out->open = DSE_ARENA_NEW(a, range *, room);
    for (size_t i = 0; i < r->n_events && out->n < room; i++) {
        const trace_event *e = &r->event[i];

        if (is_range(r, e, &words, names) && metric_class_of(&classes, e) != METRIC_UNKNOWN)
            out->of[out->n++] =
                (range){e->start_ps, metric_end(e), (uint32_t)i, metric_class_of(&classes, e)};
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

static void add_file(const trace_rank *r, dse_arena *a, totals *t)
{
    metric_classes names;
    const metric_words counted = METRIC_WORDS(r, "kernel", "cpu_op", "user_annotation"),
                       annotation = METRIC_WORDS(r, "user_annotation");
    metric_events comm = {0, NULL};
    operators ops;
    ranges open;

    names = metric_classes_of(r, says, a);
    comm.event = DSE_ARENA_NEW(a, uint32_t, r->n_events);
    operators_of(r, a, &ops);
    ranges_of(r, &names, a, &open);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (counted.is[e->word] && (metric_class_of(&names, e) & IS_COMM))
            comm.event[comm.n++] = (uint32_t)i;
    }
    metric_sort_by_start(r, &comm, a);
    for (uint32_t i = 0; i < comm.n; i++) {
        const trace_event *e = &r->event[comm.event[i]];
        metric_parallel p = range_at(&open, e->start_ps);
        uint8_t said = metric_class_of(&names, e);

        if (said & IS_COALESCED)
            p = annotation.is[e->word] && e->dur_ps > 0 ? class_of_coalesced(&ops, e) : METRIC_UNKNOWN;
        else if (p == METRIC_UNKNOWN)
            p = (metric_parallel)(said & CLASS);
        t->us[p] += (double)e->dur_ps / TRACE_PS_PER_US;
    }
    t->calls += comm.n;
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
