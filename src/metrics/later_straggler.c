/* Which ranks wait for others, by their time in communication, and which have more to do: straggler_metrics,
 * straggler_pct, load_imbalance_ratio. */
#include "metrics/later.h"
#include "metrics/match.h"
#include "metrics/numbers.h"

#include <inttypes.h>

/* ---- straggler_metrics --------------------------------------------------------------------- */

/* Most less least over most, and most over least, of sums of ranks. */
static void put_extremes(const metric_sums *s, metric_value *list)
{
    metric_put_number(list, NULL, (double)(s->most_ps - s->least_ps) / (double)s->most_ps);
    metric_put_number(list, NULL, (double)s->most_ps / (double)s->least_ps);
}

/* The original takes each process of the file for a rank, and recognises newer NCCL's kernels by name. */
static const metric_pick nccl = METRIC_PICK(0, {0, .names = "^nccldevkernel_"});

static void add_processes(const metric_context *x, uint32_t i, metric_sums *out)
{
    const trace_rank *r = x->view[i].rank;
    metric_sums *of = DSE_ARENA_NEW(x->arena, metric_sums, (size_t)r->names.n + 1); /* by pid, a name */
    metric_picked p = metric_pick_of(r, &x->view[i].kernels, &nccl, x->arena);

    for (uint32_t k = 0; k < p.list.n; k++) {
        const trace_event *e = metric_picked_at(&p, k);

        if (r->lane[e->lane].pid != DSE_NONE)
            metric_sums_add(&of[r->lane[e->lane].pid], e->dur_ps);
    }
    for (uint32_t pid = 0; pid < r->names.n; pid++)
        if (of[pid].n)
            metric_sums_add(out, of[pid].sum_ps);
}

static void upstream_metrics(const metric_context *x, metric_value *list)
{
    metric_sums e = {0};

    /* It opens rank*_trace.json, and without any says 0. */
    for (uint32_t i = 0; i < x->n_views && later_kind(x) != TRACE_NSYS; i++)
        add_processes(x, i, &e);
    if (e.n > 1 && e.most_ps > 0) {
        put_extremes(&e, list);
    } else {
        metric_put_number(list, NULL, 0);
        metric_put_number(list, NULL, 0);
    }
}

/* Of the communication kernels of each rank. */
static dse_status straggler_metrics(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *list = metric_put_list(out, "straggler_metrics"), *ranks;
    metric_sums e = {0};

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
        metric_sums_add(&e, sum);
    }
    if (e.n < 2)
        return metric_absent(err, "it compares ranks, and fewer than two of the trace communicate");
    put_extremes(&e, list);
    return DSE_OK;
}

/* ---- straggler_pct ------------------------------------------------------------------------- */

/* Groups are told apart by their ranks, else their names. */
static metric_group group_of(const trace_rank *r, const trace_args *args)
{
    const char *ranks = TRACE_NAME(r, args->group_ranks),
               *text = ranks ? ranks : TRACE_NAME(r, args->group_name);

    return (metric_group){.ranks = text && *text ? text : NULL};
}

/* Mean over calls that two ranks or more made of (longest - shortest) / longest. */
static dse_status straggler_pct(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *mean = metric_put_number(out, "straggler_pct", 0),
                 *matched = metric_put_count(out, "num_events", 0);
    uint64_t events = 0, alone = 0;
    double sum = 0;
    metric_match m = metric_match_of(x, group_of, true, x->arena);

    for (size_t i = 0, n; i < m.n; i += n) {
        metric_sums e = {0};

        n = metric_match_length(&m, i);
        for (size_t k = i; k < i + n; k++)
            metric_sums_add(&e, m.call[k].event->dur_ps);
        alone += e.n < 2;
        if (e.n < 2 || e.most_ps <= 0)
            continue;
        sum += 100 * (double)(e.most_ps - e.least_ps) / (double)e.most_ps;
        events++;
    }
    if (!events)
        return metric_absent(err, "no collective was recorded on two ranks");
    mean->number = sum / (double)events;
    matched->integer = (int64_t)events;
    metric_put_count(out, "unmatched", alone);
    return DSE_OK;
}

/* ---- load_imbalance_ratio ------------------------------------------------------------------ */

static dse_status load_imbalance_ratio(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *ratio = metric_put_number(out, "load_imbalance_ratio", 0),
                 *ranks = x->options->compat ? NULL : metric_put_object(out, "per_rank");
    metric_sums e = {0};

    for (uint32_t i = 0; i < x->n_views; i++) {
        later_kernels k = later_kernels_of(x, i, LATER_COMM_PLAIN);
        metric_spans busy = later_busy(&k, x->arena);

        if (!k.n)
            continue;
        metric_sums_add(&e, metric_spans_length(&busy));
        if (ranks)
            metric_put_s(metric_put_rank(ranks, k.rank), "kernel_busy_s", metric_spans_length(&busy));
    }
    if (e.n < 2 || e.least_ps <= 0)
        return metric_absent(err, "it compares ranks: kernels of %" PRId64 " of them are not enough", e.n);
    ratio->number = metric_seconds(e.most_ps) / metric_seconds(e.least_ps);
    return DSE_OK;
}

static const metric rows[] = {
    {LATER_ROW("load_imbalance_ratio", "", METRIC_ON_GPU, load_imbalance_ratio,
               "largest over smallest union of kernels among ranks")},
    {METRIC_ROW("straggler_metrics", "later", "", METRIC_ON_GPU, 0,
                "communication time of ranks: most less least over most, and most over least"),
     .compute = straggler_metrics, .compat = straggler_metrics, .compat_kinds = LATER_ON_ALL,
     .headline = "straggler_metrics"},
    {LATER_ROW("straggler_pct", "%", METRIC_ON_GPU, straggler_pct,
               "of each collective longest less shortest over longest among ranks, mean")},
};

METRIC_FAMILY(later_straggler);
