/* Metrics of a report of Nsight Systems with totals per kernel name: shares of time and numbers of calls.
 * There are no intervals, so no overlap, idle time or steps; and communication is recognised and typed by
 * kernel names alone, so that an all-to-all is a SendRecv. Several reports are taken together. */
#include "metrics/later_words.h"
#include "metrics/metric.h"
#include "metrics/numbers.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1e6
#define NS_PER_US 1e3
#define NS_PER_S  1e9
#define TOP       10

/* A kernel's total and what its name says. */
typedef struct {
    const char *name;
    uint64_t count;
    double ns;
    metric_work work;
} kernel_total;

typedef struct {
    size_t n;
    kernel_total *kernel; /* one a name, longest time first */
    uint64_t count;
    double ns;
} kernel_totals;

static int by_name(const void *a, const void *b)
{
    const kernel_total *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static int by_time(const void *a, const void *b)
{
    const kernel_total *x = a, *y = b;

    return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->name, y->name);
}

/* Adds up those of one name. */
static void unite(kernel_totals *t)
{
    size_t n = 0;

    qsort(t->kernel, t->n, sizeof *t->kernel, by_name);
    for (size_t i = 0; i < t->n; i++) {
        if (!n || strcmp(t->kernel[n - 1].name, t->kernel[i].name) != 0) {
            t->kernel[n++] = t->kernel[i];
            continue;
        }
        t->kernel[n - 1].count += t->kernel[i].count;
        t->kernel[n - 1].ns += t->kernel[i].ns;
    }
    t->n = n;
}

static dse_status gather(const metric_context *x, kernel_totals *out, dse_error *err)
{
    size_t n = 0;

    *out = (kernel_totals){0};
    for (uint32_t i = 0; i < x->record->n_ranks; i++)
        n += x->record->rank[i].n_totals;
    out->kernel = DSE_ARENA_NEW(x->arena, kernel_total, n);
    for (uint32_t i = 0; i < x->record->n_ranks; i++) {
        const trace_rank *r = &x->record->rank[i];

        for (size_t t = 0; t < r->n_totals; t++) {
            const char *name = r->names.text[r->total[t].name];

            out->kernel[out->n++] =
                (kernel_total){name, r->total[t].count, (double)r->total[t].total_ns, metric_work_of(name)};
            out->count += r->total[t].count;
            out->ns += (double)r->total[t].total_ns;
        }
    }
    if (!(out->ns > 0))
        return metric_absent(err, "the report has no kernel that took any time");
    unite(out);
    qsort(out->kernel, out->n, sizeof *out->kernel, by_time);
    return DSE_OK;
}

/* ---- the metrics --------------------------------------------------------------------------- */

/* What a row puts of the totals. */
typedef struct {
    void (*put)(const metric_context *x, const kernel_totals *t, metric_value *out);
    bool (*takes_part)(const kernel_total *k); /* in a share */
} totals_rule;

static dse_status of_totals(const metric_context *x, metric_value *out, dse_error *err)
{
    kernel_totals t;
    dse_status st = gather(x, &t, err);

    if (st == DSE_OK)
        ((const totals_rule *)x->row->rule)->put(x, &t, out);
    return st;
}

static void put_calls(const metric_context *x, const kernel_totals *t, metric_value *out)
{
    uint64_t calls[METRIC_COMM_TYPES] = {0}, all = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->kernel[i].work == METRIC_WORK_COMM) {
            calls[metric_comm_type_of_kernel(t->kernel[i].name)] += t->kernel[i].count;
            all += t->kernel[i].count;
        }
    metric_put_count(out, "total_calls", all);
    metric_put_types(out, "calls_by_type", calls);
    metric_put_absent(out, "calls_per_iteration", "a report of totals has no steps");
    metric_put_integer(out, "num_traces", x->record->n_ranks);
}

static void put_works(const kernel_totals *t, metric_value *out)
{
    uint64_t count[METRIC_WORKS] = {0};
    double ns[METRIC_WORKS] = {0};
    metric_value *works = metric_put_object(out, "by_type");

    for (size_t i = 0; i < t->n; i++) {
        count[t->kernel[i].work] += t->kernel[i].count;
        ns[t->kernel[i].work] += t->kernel[i].ns;
    }
    for (int w = 0; w < METRIC_WORKS; w++)
        if (count[w]) {
            metric_value *work = metric_put_object(works, metric_work_name[w]);

            metric_put_count(work, "count", count[w]);
            metric_put_number(work, "time_ms_sum", ns[w] / NS_PER_MS);
            metric_put_number(work, "percentage", 100 * ns[w] / t->ns);
        }
}

static void put_kernels(const metric_context *x, const kernel_totals *t, metric_value *out)
{
    metric_value *top;

    (void)x;
    metric_put_number(out, "total_kernel_time_ms_sum", t->ns / NS_PER_MS);
    metric_put_count(out, "launches", t->count);
    metric_put_count(out, "unique_names", t->n);
    put_works(t, out);
    top = metric_put_list(out, "top_kernels");
    for (size_t i = 0; i < t->n && i < TOP; i++) {
        const kernel_total *k = &t->kernel[i];
        metric_value *to = metric_put_object(top, NULL);

        metric_put_text(to, "name", k->name);
        metric_put_count(to, "count", k->count);
        metric_put_number(to, "total_time_ms", k->ns / NS_PER_MS);
        metric_put_ratio(to, "avg_time_us", k->ns / NS_PER_US, (double)k->count, "no launch");
        metric_put_number(to, "percentage", 100 * k->ns / t->ns);
        metric_put_text(to, "type", metric_work_name[k->work]);
    }
}

static void put_time(const metric_context *x, const kernel_totals *t, metric_value *out)
{
    metric_put_number(out, x->row->name, t->ns / NS_PER_S);
}

static bool communicates(const kernel_total *k) { return k->work == METRIC_WORK_COMM; }

static bool is_of_experts(const kernel_total *k) { return metric_says(k->name, LATER_MOE); }

/* The percentage of all time that kernels of a class take. */
static void put_share(const metric_context *x, const kernel_totals *t, metric_value *out)
{
    const totals_rule *rule = x->row->rule;
    double ns = 0;

    for (size_t i = 0; i < t->n; i++)
        ns += rule->takes_part(&t->kernel[i]) ? t->kernel[i].ns : 0;
    metric_put_number(out, x->row->name, 100 * ns / t->ns);
    metric_put_number(out, "time_s", ns / NS_PER_S);
    metric_put_number(out, "total_kernel_time_s", t->ns / NS_PER_S);
}

static void put_dominant(const metric_context *x, const kernel_totals *t, metric_value *out)
{
    metric_put_number(out, x->row->name, 100 * t->kernel[0].ns / t->ns);
    metric_put_text(out, "kernel", t->kernel[0].name);
}

#define ROW(id, group, unit, text, ...)                                                                      \
    METRIC_ROW(id, group, unit, METRIC_ON(TRACE_NSYS_CSV), 0, text), .compute = of_totals,                   \
                                                                     METRIC_RULE(totals_rule, __VA_ARGS__)

static const metric rows[] = {
    {ROW("coll_call_num", "kineto", "",
         "number of collective calls, of a report: instances of communication kernels, by type",
         .put = put_calls)},
    {ROW("kernel", "guide", "", "time of kernels, of a report: by kind of work, and the ten that take most",
         .put = put_kernels)},
    {ROW("communication_ratio", "later", "%",
         "share of communication kernels in the time of all, of a report", .put = put_share,
         .takes_part = communicates),
     .headline = "communication_ratio"},
    {ROW("dominant_kernel_concentration", "later", "%",
         "share of the kernel that takes most in the time of all, of a report", .put = put_dominant),
     .headline = "dominant_kernel_concentration"},
    {ROW("moe_fraction", "later", "%", "share of kernels of experts in the time of all, of a report",
         .put = put_share, .takes_part = is_of_experts),
     .headline = "moe_fraction"},
    {ROW("total_kernel_time", "later", "s", "time of all kernels, of a report", .put = put_time),
     .headline = "total_kernel_time"},
};

METRIC_FAMILY(totals);
