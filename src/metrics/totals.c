/* Metrics of a report of Nsight Systems with totals per kernel name: shares of time and numbers of calls.
 * There are no intervals, so no overlap, idle time or steps; and communication is recognised and typed by
 * kernel names alone, so that an all-to-all is a SendRecv. Several reports are taken together. */
#include "metrics/later_words.h"
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/tally.h"

#include <string.h>

#define TOP 10

static int by_time(const void *a, const void *b)
{
    const tally_row *x = a, *y = b;

    return x->ps != y->ps ? (x->ps < y->ps ? 1 : -1) : strcmp(x->name, y->name);
}

/* The kernels of all reports, one a name, longest time first. */
static dse_status gather(const metric_context *x, tally_rows *out, dse_error *err)
{
    tally t = {.arena = x->arena};

    for (uint32_t i = 0; i < x->record->n_ranks; i++)
        tally_add_totals(&t, &x->record->rank[i]);
    *out = tally_end(&t);
    if (out->ps <= 0)
        return metric_absent(err, "the report has no kernel that took any time");
    tally_sort(out, by_time);
    return DSE_OK;
}

/* Reports count in nanoseconds, and so are their figures. */
static double ns_of(int64_t ps)
{
    const int64_t whole = ps / TRACE_PS_PER_NS;

    return (double)whole;
}

/* ---- the metrics --------------------------------------------------------------------------- */

/* What a row puts of the totals. */
typedef struct {
    void (*put)(const metric_context *x, const tally_rows *t, metric_value *out);
    bool (*takes_part)(const tally_row *k); /* in a share */
} totals_rule;

static dse_status of_totals(const metric_context *x, metric_value *out, dse_error *err)
{
    tally_rows t;
    dse_status st = gather(x, &t, err);

    if (st == DSE_OK)
        ((const totals_rule *)x->row->rule)->put(x, &t, out);
    return st;
}

static void put_calls(const metric_context *x, const tally_rows *t, metric_value *out)
{
    uint64_t calls[METRIC_COMM_TYPES] = {0}, all = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->row[i].work == METRIC_WORK_COMM) {
            calls[metric_comm_type_of_kernel(t->row[i].name)] += t->row[i].n;
            all += t->row[i].n;
        }
    metric_put_count(out, "total_calls", all);
    metric_put_types(out, "calls_by_type", calls);
    metric_put_absent(out, "calls_per_iteration", "a report of totals has no steps");
    metric_put_integer(out, "num_traces", x->record->n_ranks);
}

static void put_works(const tally_rows *t, metric_value *out)
{
    metric_sums sums[METRIC_WORKS] = {{0}};
    metric_value *works = metric_put_object(out, "by_type");

    tally_sum_works(t, sums);
    for (int w = 0; w < METRIC_WORKS; w++)
        if (sums[w].n) {
            metric_value *work = metric_put_object(works, metric_work_name[w]);

            metric_put_integer(work, "count", sums[w].n);
            metric_put_number(work, "time_ms_sum", ns_of(sums[w].sum_ps) / 1e6);
            metric_put_number(work, "percentage", 100 * ns_of(sums[w].sum_ps) / ns_of(t->ps));
        }
}

static void put_kernels(const metric_context *x, const tally_rows *t, metric_value *out)
{
    metric_value *top;

    (void)x;
    metric_put_number(out, "total_kernel_time_ms_sum", ns_of(t->ps) / 1e6);
    metric_put_count(out, "launches", t->count);
    metric_put_count(out, "unique_names", t->n);
    put_works(t, out);
    top = metric_put_list(out, "top_kernels");
    for (size_t i = 0; i < t->n && i < TOP; i++) {
        const tally_row *k = &t->row[i];
        metric_value *to = metric_put_object(top, NULL);

        metric_put_text(to, "name", k->name);
        metric_put_count(to, "count", k->n);
        metric_put_number(to, "total_time_ms", ns_of(k->ps) / 1e6);
        metric_put_ratio(to, "avg_time_us", ns_of(k->ps) / 1e3, (double)k->n, "no launch");
        metric_put_number(to, "percentage", 100 * ns_of(k->ps) / ns_of(t->ps));
        metric_put_text(to, "type", metric_work_name[k->work]);
    }
}

static void put_time(const metric_context *x, const tally_rows *t, metric_value *out)
{
    metric_put_number(out, x->row->name, ns_of(t->ps) / 1e9);
}

static bool communicates(const tally_row *k) { return k->work == METRIC_WORK_COMM; }

static bool is_of_experts(const tally_row *k) { return metric_says(k->name, LATER_MOE); }

/* The percentage of all time that kernels of a class take. */
static void put_share(const metric_context *x, const tally_rows *t, metric_value *out)
{
    const totals_rule *rule = x->row->rule;
    double ns = 0;

    for (size_t i = 0; i < t->n; i++)
        ns += rule->takes_part(&t->row[i]) ? ns_of(t->row[i].ps) : 0;
    metric_put_number(out, x->row->name, 100 * ns / ns_of(t->ps));
    metric_put_number(out, "time_s", ns / 1e9);
    metric_put_number(out, "total_kernel_time_s", ns_of(t->ps) / 1e9);
}

static void put_dominant(const metric_context *x, const tally_rows *t, metric_value *out)
{
    metric_put_number(out, x->row->name, 100 * ns_of(t->row[0].ps) / ns_of(t->ps));
    metric_put_text(out, "kernel", t->row[0].name);
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
