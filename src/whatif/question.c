#include "whatif/question.h"

#include "base/array.h"
#include "base/names.h"
#include "metrics/comm_size.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

whatif_question whatif_no_change(void)
{
    whatif_question q = {.host = 1, .pattern_time = 1};

    for (size_t i = 0; i < METRIC_PARALLELS; i++)
        q.network[i] = 1;
    for (size_t i = 0; i < WHATIF_KINDS; i++)
        q.run[i] = 1;
    return q;
}

/* Names of weights, and the field of a question that has the factor; `network`: all of them. */
static const struct {
    const char *name;
    size_t offset, n;
} scales[] = {
    {"network", offsetof(whatif_question, network), METRIC_PARALLELS},
    {"network.dp", offsetof(whatif_question, network[METRIC_DP]), 1},
    {"network.tp", offsetof(whatif_question, network[METRIC_TP]), 1},
    {"network.pp", offsetof(whatif_question, network[METRIC_PP]), 1},
    {"network.ep", offsetof(whatif_question, network[METRIC_EP]), 1},
    {"network.cp", offsetof(whatif_question, network[METRIC_CP]), 1},
    {"compute", offsetof(whatif_question, run), WHATIF_KINDS},
    {"gemm", offsetof(whatif_question, run[METRIC_WORK_GEMM]), 1},
    {"attention", offsetof(whatif_question, run[METRIC_WORK_ATTENTION]), 1},
    {"elementwise", offsetof(whatif_question, run[METRIC_WORK_ELEMENTWISE]), 1},
    {"reduction", offsetof(whatif_question, run[METRIC_WORK_REDUCTION]), 1},
    {"embedding", offsetof(whatif_question, run[METRIC_WORK_EMBEDDING]), 1},
    {"memory", offsetof(whatif_question, run[METRIC_WORK_MEMORY]), 1},
    {"other", offsetof(whatif_question, run[METRIC_WORK_OTHER]), 1},
    {"copies", offsetof(whatif_question, run[WHATIF_COPY]), 1},
    {"host", offsetof(whatif_question, host), 1},
};

static dse_status scale_pattern(whatif_question *q, const char *text, size_t n, double factor, dse_error *err)
{
    regex_t compiled;

    if (q->pattern[0])
        return dse_fail(err, DSE_E_USAGE, "--scale '%.80s': one pattern is possible; join two by '|'", text);
    if (n < 3 || n - 2 >= sizeof q->pattern)
        return dse_fail(err, DSE_E_USAGE, "--scale '%.80s': a pattern has 1 to %zu characters", text,
                        sizeof q->pattern - 1);
    memcpy(q->pattern, text + 1, n - 2);
    q->pattern[n - 2] = '\0';
    if (regcomp(&compiled, q->pattern, REG_EXTENDED | REG_NOSUB))
        return dse_fail(err, DSE_E_USAGE, "--scale '%.80s': '%s' is no regular expression", text, q->pattern);
    regfree(&compiled);
    q->pattern_time = factor;
    return DSE_OK;
}

dse_status whatif_scale(whatif_question *q, const char *text, dse_error *err)
{
    const char *equals = strrchr(text, '='), *names[DSE_COUNT(scales)];
    size_t n = equals ? (size_t)(equals - text) : 0;
    char name[64], *end;
    double factor = equals ? strtod(equals + 1, &end) : NAN;

    if (!equals || !equals[1] || *end || !(factor >= 0))
        return dse_fail(
            err, DSE_E_USAGE,
            "--scale takes NAME=FACTOR with a factor of 0 or more, for example network=2; got '%.80s'", text);
    if (text[0] == '/' && n > 1 && text[n - 1] == '/')
        return isinf(factor) ? dse_fail(err, DSE_E_USAGE, "--scale '%.80s': a time must be finite", text)
                             : scale_pattern(q, text, n, factor, err);
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), text);
    for (size_t i = 0; i < DSE_COUNT(scales); i++) {
        double *to = (double *)(void *)((char *)q + scales[i].offset);
        bool is_rate = metric_begins(scales[i].name, "network");

        names[i] = scales[i].name;
        if (strcmp(name, scales[i].name) != 0)
            continue;
        if (is_rate ? !(factor > 0) : isinf(factor))
            return dse_fail(err, DSE_E_USAGE, "--scale '%.80s': %s", text,
                            is_rate ? "a bandwidth is above 0" : "a time must be finite");
        for (size_t k = 0; k < scales[i].n; k++)
            to[k] = factor;
        return DSE_OK;
    }
    return dse_fail_unknown(err, DSE_E_USAGE, "--scale", "name", name, names, DSE_COUNT(scales));
}

/* ---- weights ------------------------------------------------------------------------------- */

typedef struct {
    const whatif_recorded *r;
    const whatif_recording *from;
    const whatif_question *q;
    int64_t *median; /* by operation: of its place over the ranks; NULL */
    regex_t pattern;
} weighing;

static const char *name_of(const weighing *w, const whatif_op *o)
{
    const trace_rank *rank = w->from->view[o->rank].rank;

    return METRIC_TEXT_OF(rank, &rank->event[o->event]);
}

static int64_t scaled(int64_t ps, double factor)
{
    double v = (double)ps * factor;

    /* As recorded to the ps; beyond some months no question makes sense, and no sum may overflow. */
    return factor == 1 ? ps : v < 1e16 ? (int64_t)v : (int64_t)1e16;
}

static bool computes(const whatif_op *o) { return o->on_gpu && o->kind != METRIC_WORK_COMM; }

/* An operation of the n-th kernel of a name on its rank. */
typedef struct {
    uint32_t name, ordinal, op;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;

    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void find_medians(weighing *w, dse_arena *a)
{
    const whatif_graph *g = &w->r->graph;
    placed *p = DSE_ARENA_RAW(a, placed, g->n_ops);
    int64_t *ps = DSE_ARENA_RAW(a, int64_t, g->n_ops);
    uint32_t n = 0, rank = DSE_NONE, *count = DSE_ARENA_NEW(a, uint32_t, g->n_ops);
    trace_names names = {0};

    w->median = DSE_ARENA_RAW(a, int64_t, g->n_ops);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const char *name;

        if (!computes(&g->op[i]))
            continue;
        if (g->op[i].rank != rank)
            memset(count, 0, g->n_ops * sizeof *count);
        rank = g->op[i].rank;
        name = name_of(w, &g->op[i]);
        p[n].name = trace_names_add(&names, name, strlen(name));
        p[n].ordinal = count[p[n].name]++;
        p[n++].op = i;
    }
    trace_names_free(&names);
    if (n)
        qsort(p, n, sizeof *p, by_place);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && p[end].name == p[i].name && p[end].ordinal == p[i].ordinal; end++)
            ps[end - i] = g->op[p[end].op].end - g->op[p[end].op].start;
        qsort(ps, end - i, sizeof *ps, by_time);
        for (uint32_t k = i; k < end; k++)
            w->median[p[k].op] = ps[(end - i - 1) / 2];
    }
}

/* Of a collective: recorded over modelled bytes on a link, as its group grows. */
static double growth(const whatif_question *q, const whatif_collective *c)
{
    if (!q->dp || c->parallel != METRIC_DP)
        return 1;
    return metric_bus_factor(c->type, q->dp) / metric_bus_factor(c->type, c->group_size);
}

static int64_t weigh(const weighing *w, const whatif_edge *e)
{
    const whatif_graph *g = &w->r->graph;
    const whatif_question *q = w->q;
    const whatif_op *o = e->op == DSE_NONE ? NULL : &g->op[e->op];
    double other;

    if (e->between && q->overlap)
        return WHATIF_NO_EDGE;
    switch ((whatif_part)e->part) {
    case WHATIF_HOST:
    case WHATIF_LAUNCH: return scaled(e->weight, q->host);
    case WHATIF_NETWORK: {
        const whatif_collective *c = &g->collective[o->collective];

        return c->whole ? scaled(e->weight, growth(q, c) / q->network[c->parallel] *
                                                (q->collective_time ? q->collective_time[o->collective] : 1))
                        : e->weight;
    }
    case WHATIF_RUN:
        if (!computes(o))
            return e->weight;
        other = q->op_time ? q->op_time[e->op] : 1;
        if (q->pattern[0] && regexec(&w->pattern, name_of(w, o), 0, NULL, 0) == 0)
            return scaled(e->weight, q->pattern_time * other);
        return scaled(w->median ? w->median[e->op] : e->weight, q->run[o->kind] * other);
    case WHATIF_ORDER:
    case WHATIF_DEVICE:
    case WHATIF_PARTS: break;
    }
    return e->weight;
}

/* Whether the recording can answer. */
static dse_status check(const whatif_recorded *r, const whatif_question *q, dse_error *err)
{
    const whatif_graph *g = &r->graph;
    bool has[METRIC_PARALLELS] = {false}, any = false, asks = false, all = true;
    uint32_t dp_size = 0;

    for (uint32_t i = 0; i < g->n_collectives; i++) {
        if (!g->collective[i].whole || !g->collective[i].n_ranks)
            continue;
        any = has[g->collective[i].parallel] = true;
        if (g->collective[i].parallel == METRIC_DP)
            dp_size = g->collective[i].group_size;
    }
    for (size_t i = 0; i < METRIC_PARALLELS; i++) {
        bool changed = q->network[i] < 1 || q->network[i] > 1;

        asks |= changed;
        all &= changed;
    }
    if ((asks || q->dp) && !any)
        return dse_fail(
            err, DSE_E_ABSENT,
            g->n_part_recorded
                ? "the network cannot be changed: %u collectives have ranks that were not recorded, so "
                  "that their waiting cannot be told from their transfer; --replicate takes these "
                  "ranks to do what the recorded ones do"
                : "the network cannot be changed: the recording has no collectives in this step%.0u",
            g->n_part_recorded);
    for (size_t i = 0; i < METRIC_UNKNOWN && asks && !all; i++)
        if ((q->network[i] < 1 || q->network[i] > 1) && !has[i])
            return dse_fail(err, DSE_E_ABSENT,
                            "network.%s cannot be changed: no process group of the recording is described as "
                            "one of it; --scale network changes all",
                            metric_parallel_name[i]);
    if (q->dp && (!has[METRIC_DP] || dp_size < 2))
        return dse_fail(err, DSE_E_ABSENT,
                        "--dp: no process group of the recording is described as one of data parallelism");
    return DSE_OK;
}

dse_status whatif_weigh(const whatif_recorded *r, const whatif_recording *from, const whatif_question *q,
                        dse_arena *a, int64_t **out, dse_error *err)
{
    const whatif_graph *g = &r->graph;
    weighing w = {.r = r, .from = from, .q = q};
    dse_status st = check(r, q, err);

    if (st != DSE_OK)
        return st;
    if (q->pattern[0] && regcomp(&w.pattern, q->pattern, REG_EXTENDED | REG_NOSUB))
        return dse_fail(err, DSE_E_USAGE, "'%s' is no regular expression", q->pattern);
    if (q->no_stragglers)
        find_medians(&w, a);
    *out = DSE_ARENA_RAW(a, int64_t, g->n_edges);
    for (size_t i = 0; i < g->n_edges; i++)
        (*out)[i] = weigh(&w, &g->edge[i]);
    if (q->pattern[0])
        regfree(&w.pattern);
    return DSE_OK;
}

/* ---- answers ------------------------------------------------------------------------------- */

/* The times of a rank's operations; as recorded without `time`. */
static void add_rank(const whatif_graph *g, const int64_t *time, uint32_t rank, dse_arena *a,
                     whatif_answer *to)
{
    const whatif_step *s = &g->step[rank];
    metric_span *comm = DSE_ARENA_RAW(a, metric_span, s->n_ops),
                *rest = DSE_ARENA_RAW(a, metric_span, s->n_ops);
    uint32_t n_comm = 0, n_rest = 0;
    int64_t host = (time ? time[whatif_step_end(g, rank)] : s->end) - s->begin, gpu = 0, step;
    metric_spans c, o;

    for (uint32_t i = s->first_op; i < s->first_op + s->n_ops; i++) {
        const whatif_op *op = &g->op[i];
        metric_span span = {time ? time[whatif_begin(i)] : op->start, time ? time[whatif_end(i)] : op->end};

        if (!op->on_gpu)
            continue;
        gpu = span.end - s->busy_until > gpu ? span.end - s->busy_until : gpu;
        if (op->kind == METRIC_WORK_COMM)
            comm[n_comm++] = span;
        else
            rest[n_rest++] = span;
    }
    step = host > gpu ? host : gpu;
    c = metric_spans_merge_any(comm, n_comm);
    o = metric_spans_merge_any(rest, n_rest);
    to->step += step / g->n_ranks;
    to->slowest = step > to->slowest ? step : to->slowest;
    to->comm += metric_spans_length(&c) / g->n_ranks;
    to->exposed += (metric_spans_length(&c) - metric_spans_overlap(&c, &o)) / g->n_ranks;
}

static whatif_answer answer_of(const whatif_recorded *r, const int64_t *time, dse_arena *a)
{
    whatif_answer v = {0};

    for (uint32_t i = 0; i < r->graph.n_ranks; i++)
        add_rank(&r->graph, time, i, a, &v);
    return v;
}

whatif_answer whatif_measured(const whatif_recorded *r, dse_arena *a) { return answer_of(r, NULL, a); }

/* The point that ends last. */
static uint32_t last_point(const whatif_graph *g, const int64_t *time)
{
    uint32_t last = whatif_step_end(g, 0);

    for (uint32_t p = 0; p < g->n_points; p++)
        if (time[p] > time[last])
            last = p;
    return last;
}

static void follow_path(const whatif_graph *g, const int64_t *weight, const int64_t *time, whatif_answer *to)
{
    size_t e;

    for (uint32_t p = last_point(g, time); (e = whatif_last_edge(g, weight, time, p)) != WHATIF_NO_WAIT;
         p = g->edge[e].from) {
        int64_t *const part[WHATIF_PARTS] = {
            [WHATIF_ORDER] = &to->path_order,
            [WHATIF_HOST] = &to->path_host,
            [WHATIF_LAUNCH] = &to->path_launch,
            [WHATIF_DEVICE] = &to->path_device,
            [WHATIF_RUN] = &to->path_run[g->edge[e].op == DSE_NONE ? 0 : g->op[g->edge[e].op].kind],
            [WHATIF_NETWORK] = &to->path_network};

        *part[g->edge[e].part] += weight[e];
    }
}

dse_status whatif_ask(const whatif_recorded *r, const whatif_recording *from, const whatif_question *q,
                      dse_arena *a, whatif_answer *out, dse_error *err)
{
    int64_t *weight, *time = DSE_ARENA_RAW(a, int64_t, r->graph.n_points);
    dse_status st = whatif_weigh(r, from, q, a, &weight, err);

    if (st != DSE_OK)
        return st;
    whatif_replay(&r->graph, weight, time);
    *out = answer_of(r, time, a);
    follow_path(&r->graph, weight, time, out);
    return DSE_OK;
}
