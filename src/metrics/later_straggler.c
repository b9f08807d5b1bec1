/* Which ranks wait for others, by their time in communication: straggler_metrics, straggler_pct. */
#include "metrics/later.h"
#include "metrics/numbers.h"
#include "metrics/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- straggler_metrics --------------------------------------------------------------------- */

/* Least and most of what ranks sum up to. */
typedef struct {
    uint32_t n;
    double least, most;
} extremes;

static void add_extreme(extremes *x, double v)
{
    x->least = x->n ? fmin(x->least, v) : v;
    x->most = x->n ? fmax(x->most, v) : v;
    x->n++;
}

/* The original takes each process of the file for a rank, and recognises newer NCCL's kernels by name. */
static void add_processes(const metric_context *x, uint32_t i, extremes *out)
{
    const trace_rank *r = x->view[i].rank;
    double *sum = DSE_ARENA_NEW(x->arena, double, (size_t)r->names.n + 1);
    bool *has = DSE_ARENA_NEW(x->arena, bool, (size_t)r->names.n + 1);
    const metric_events *kernels = &x->view[i].kernels;

    for (uint32_t k = 0; k < kernels->n; k++) {
        const trace_event *e = &r->event[kernels->event[k]];
        uint32_t pid = r->lane[e->lane].pid;

        if (pid == DSE_NONE || strncasecmp(METRIC_TEXT_OF(r, e), "nccldevkernel_", 14) != 0)
            continue;
        sum[pid] += (double)e->dur_ps;
        has[pid] = true;
    }
    for (uint32_t p = 0; p < r->names.n; p++)
        if (has[p])
            add_extreme(out, sum[p]);
}

static void upstream_metrics(const metric_context *x, metric_value *list)
{
    extremes e = {0};
    bool usable;

    /* It opens rank*_trace.json, and without any says 0. */
    for (uint32_t i = 0; i < x->n_views && later_kind(x) != TRACE_NSYS; i++)
        add_processes(x, i, &e);
    usable = e.n > 1 && e.most > 0;
    metric_put_number(list, NULL, usable ? (e.most - e.least) / e.most : 0);
    metric_put_number(list, NULL, usable ? e.most / e.least : 0);
}

/* The sums of communication kernels of each rank: (most - least) / most, and most / least. */
static dse_status straggler_metrics(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *list = metric_put_list(out, "straggler_metrics"), *ranks;
    extremes e = {0};

    if (x->options->compat) {
        upstream_metrics(x, list);
        return DSE_OK;
    }
    ranks = metric_put_object(out, "per_rank");
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        int64_t sum = 0;

        for (uint32_t c = 0; c < v->comm.n; c++)
            sum += v->rank->event[v->comm.event[c]].dur_ps;
        if (!sum)
            continue;
        metric_put_s(metric_put_rank(ranks, v->rank), "comm_time_s", sum);
        add_extreme(&e, (double)sum);
    }
    if (e.n < 2)
        return metric_absent(err, "it compares ranks, and fewer than two of the trace communicate");
    metric_put_number(list, NULL, (e.most - e.least) / e.most);
    metric_put_number(list, NULL, e.most / e.least);
    return DSE_OK;
}

/* ---- straggler_pct ------------------------------------------------------------------------- */

/* A call: the ordinal-th of its type in its group on a rank. Groups are told apart by their ranks, else their
 * names. */
typedef struct {
    const char *group;
    uint32_t rank, ordinal;
    uint8_t type;
    double ps;
} call;

static const char *group_of(const trace_rank *r, const trace_event *e)
{
    const trace_args *a = metric_args_of(r, e);
    const char *text = a ? TRACE_NAME(r, a->group_ranks) : NULL;

    if (!text && a)
        text = TRACE_NAME(r, a->group_name);
    return text ? text : "";
}

static int same_stream(const call *a, const call *b)
{
    int order = strcmp(a->group, b->group);

    return order ? order : (a->type > b->type) - (a->type < b->type);
}

static int by_rank(const void *a, const void *b)
{
    const call *x = a, *y = b;
    int order = same_stream(x, y);

    return order ? order : METRIC_ORDER({x->rank, y->rank}, {x->ordinal, y->ordinal});
}

static int by_ordinal(const void *a, const void *b)
{
    const call *x = a, *y = b;
    int order = same_stream(x, y);

    return order ? order : METRIC_ORDER({x->ordinal, y->ordinal}, {x->rank, y->rank});
}

/* All calls in the order of group, type, ordinal, rank. */
static void calls_of(const metric_context *x, call **out, size_t *n)
{
    size_t most = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        most += x->view[i].comm.n;
    *n = 0;
    *out = DSE_ARENA_NEW(x->arena, call, most);
    for (uint32_t i = 0; i < x->n_views; i++) {
        const metric_view *v = &x->view[i];

        for (uint32_t c = 0; c < v->comm.n; c++) {
            const trace_event *e = &v->rank->event[v->comm.event[c]];
            (*out)[(*n)++] = (call){group_of(v->rank, e), i, c, v->comm_type[c], (double)e->dur_ps};
        }
    }
    if (!*n)
        return;
    qsort(*out, *n, sizeof **out, by_rank); /* in start order, which becomes the ordinal */
    for (size_t i = 0; i < *n; i++) {
        bool next = i && !same_stream(&(*out)[i], &(*out)[i - 1]) && (*out)[i].rank == (*out)[i - 1].rank;
        (*out)[i].ordinal = next ? (*out)[i - 1].ordinal + 1 : 0;
    }
    qsort(*out, *n, sizeof **out, by_ordinal);
}

/* Mean over calls that two ranks or more made of (longest - shortest) / longest. */
static dse_status straggler_pct(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *mean = metric_put_number(out, "straggler_pct", 0),
                 *matched = metric_put_count(out, "num_events", 0);
    uint64_t events = 0, alone = 0;
    double sum = 0;
    call *c;
    size_t n, k;

    calls_of(x, &c, &n);
    for (size_t i = 0; i < n; i = k) {
        extremes e = {0};

        for (k = i; k < n && !same_stream(&c[k], &c[i]) && c[k].ordinal == c[i].ordinal; k++)
            add_extreme(&e, c[k].ps);
        alone += e.n < 2;
        if (e.n < 2 || !(e.most > 0))
            continue;
        sum += 100 * (e.most - e.least) / e.most;
        events++;
    }
    if (!events)
        return metric_absent(err, "no collective was recorded on two ranks");
    mean->number = sum / (double)events;
    matched->integer = (int64_t)events;
    metric_put_count(out, "unmatched", alone);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("straggler_metrics", "later", "", METRIC_ON_GPU, 0,
                "communication time of ranks: most less least over most, and most over least"),
     .compute = straggler_metrics, .compat = straggler_metrics, .compat_kinds = LATER_ON_ALL,
     .headline = "straggler_metrics"},
    {LATER_ROW("straggler_pct", "%", METRIC_ON_GPU, straggler_pct,
               "of each collective longest less shortest over longest among ranks, mean")},
};

METRIC_FAMILY(later_straggler);
