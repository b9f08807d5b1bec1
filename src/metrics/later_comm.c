/* How much communication there is: coll_call_num, communication_fraction, _ratio, _overhead,
 * total_communication_time. */
#include "metrics/later.h"
#include "metrics/later_tpu.h"
#include "metrics/tpu_run.h"
#include "metrics/tpu_upstream.h"

#include <string.h>

static double ps_of(const later_kernels *k, uint32_t i) { return (double)k->rank->event[k->event[i]].dur_ps; }

/* ---- communication_fraction ---------------------------------------------------------------- */

/* Communication over all kernels that overlap a step, each counted whole; false if there are none. reach[i]
 * is the latest end of the first i + 1 kernels, so that bisection skips those that ended before the step. */
static bool step_fraction(const later_kernels *k, const int64_t *reach, metric_span step, double *out)
{
    double comm = 0, all = 0;
    uint32_t a = 0, b = k->n;

    while (a < b) {
        uint32_t mid = a + (b - a) / 2;
        if (reach[mid] > step.start)
            b = mid;
        else
            a = mid + 1;
    }
    for (; a < k->n; a++) {
        const trace_event *e = &k->rank->event[k->event[a]];

        if (metric_start(e) >= step.end)
            break;
        if (metric_end(e) <= step.start)
            continue;
        all += ps_of(k, a);
        comm += k->comm[a] ? ps_of(k, a) : 0;
    }
    *out = 100 * comm / all;
    return all > 0;
}

static void steps_fraction(const metric_context *x, const later_kernels *k, const later_steps *all,
                           later_result *r)
{
    int64_t *reach = DSE_ARENA_NEW(x->arena, int64_t, k->n), last = INT64_MIN;
    later_steps s = later_inner(all);
    double sum = 0, one;
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n; i++) {
        int64_t end = metric_end(&k->rank->event[k->event[i]]);
        reach[i] = last = end > last ? end : last;
    }
    for (uint32_t i = 0; i < s.n; i++)
        if (step_fraction(k, reach, s.step[i].span, &one)) {
            sum += one;
            n++;
        }
    if (n)
        later_add_value(r, k->rank, sum / n);
}

static void gpu_fraction(const metric_context *x, later_result *r)
{
    for (uint32_t i = 0; i < x->n_views; i++) {
        double comm, all;
        later_kernels k = later_kernels_of(x, i, later_comm_wide);
        later_steps steps = later_steps_of(x, i, LATER_PROFILER_STEPS, false);

        if (steps.n)
            steps_fraction(x, &k, &steps, r);
        comm = (double)later_sum(&k, true);
        all = comm + (double)later_sum(&k, false);
        if (!steps.n && all > 0)
            later_add_value(r, k.rank, 100 * comm / all);
    }
}

/* Sums over the kernels of all ranks. */
static void pooled(const metric_context *x, metric_classify *words, later_result *r)
{
    double comm = 0, all = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *rank = x->view[i].rank;
        double own, own_all;
        later_kernels k = later_kernels_of(x, i, words);

        own = (double)later_sum(&k, true);
        own_all = own + (double)later_sum(&k, false);
        comm += own;
        all += own_all;
        later_add(r, rank, own, own_all);
    }
    r->part = comm;
    r->whole = all;
}

/* Upstream takes every line of a device, modules and steps included; by processes here, each once. */
static void tpu_upstream_fraction(const metric_context *x, bool mean, later_result *r)
{
    later_tpu t = later_tpu_of(x);

    for (uint32_t i = 0; i < t.rank->n_lanes; i++) {
        double comm = t.comm[i], all = t.total[i];

        for (uint32_t k = i + 1; k < t.rank->n_lanes; k++)
            if (t.rank->lane[k].pid == t.rank->lane[i].pid) {
                comm += t.comm[k];
                all += t.total[k];
                t.comm[k] = t.total[k] = 0;
            }
        if (all > 0 && mean)
            later_add_value(r, NULL, 100 * comm / all);
        else if (all > 0)
            later_add(r, NULL, comm, all);
    }
}

/* Over the leaf operations of each device, their plain sums. */
static void tpu_fraction(const metric_context *x, bool mean, later_result *r)
{
    tpu_run run = tpu_run_of(x);

    for (uint32_t i = 0; i < run.n; i++) {
        const tpu_device *d = run.device[i];
        double comm = 0, all = 0;

        for (size_t k = 0; k < d->n; k++) {
            double s = metric_seconds(d->op[k].span.end - d->op[k].span.start);
            all += s;
            comm += d->op[k].work == TPU_COMMUNICATION ? s : 0;
        }
        if (all > 0 && mean)
            later_add_value(r, NULL, 100 * comm / all);
        else
            later_add(r, NULL, comm, all);
    }
}

static dse_status communication_fraction(const metric_context *x, metric_value *out, dse_error *err)
{
    bool pool = later_kind(x) == TRACE_NSYS, tpu = later_kind(x) == TRACE_XLA;
    later_result r = later_begin(x, out, "communication_fraction", pool ? 100 : 1);

    if (tpu)
        (x->options->compat ? tpu_upstream_fraction : tpu_fraction)(x, true, &r);
    else if (pool)
        pooled(x, later_comm_nsys, &r);
    else
        gpu_fraction(x, &r);
    return later_end(&r, x, -1, "the trace has no kernels", err);
}

static dse_status communication_ratio(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "communication_ratio", 100);

    if (later_kind(x) == TRACE_XLA)
        (x->options->compat ? tpu_upstream_fraction : tpu_fraction)(x, false, &r);
    else
        pooled(x, later_comm_plain, &r);
    return later_end(&r, x, -1, "the trace has no kernels", err);
}

/* ---- communication_overhead ---------------------------------------------------------------- */

static bool is_overhead(const char *name)
{
    static const char *const begins[] = {"ncclDevKernel_AllReduce", "ncclDevKernel_ReduceScatter",
                                         "ncclDevKernel_AllGather", "ncclDevKernel_Broadcast",
                                         "ncclDevKernel_Reduce",    "ncclDevKernel_SendRecv"};

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (metric_begins(name, begins[i]))
            return true;
    return false;
}

/* The original opens kineto_trace_0.json alone, and knows the kernels of newer NCCL by name. */
static dse_status communication_overhead(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "communication_overhead", 1);
    bool compat = x->options->compat;

    for (uint32_t i = 0; i < x->n_views; i++) {
        double comm = 0, all = 0;
        later_kernels k = later_kernels_of(x, i, later_comm_plain);

        if (compat && k.rank->rank != 0)
            continue;
        for (uint32_t e = 0; e < k.n; e++) {
            all += ps_of(&k, e);
            if (compat ? is_overhead(METRIC_TEXT_OF(k.rank, &k.rank->event[k.event[e]])) : k.comm[e])
                comm += ps_of(&k, e);
        }
        if (all > 0)
            later_add_value(&r, k.rank, comm / all);
    }
    return later_end(&r, x, -1, compat ? "rank 0 has no kernels" : "the trace has no kernels", err);
}

/* ---- total_communication_time -------------------------------------------------------------- */

/* Communication from the first to the last inner step, per step; over the whole trace if there are no more
 * than two steps. */
static void rank_time(const metric_context *x, uint32_t i, later_result *r)
{
    later_steps s;
    metric_spans comm;
    double time;
    later_kernels k = later_kernels_of(x, i, later_comm_plain);
    later_steps all = later_steps_of(x, i, LATER_PROFILER_STEPS, false);

    if (!k.n)
        return;
    comm = later_union(&k, true, x->arena);
    s = later_inner(&all);
    time =
        metric_seconds(all.n > 2 ? metric_spans_within(&comm, s.step[0].span.start, s.step[s.n - 1].span.end)
                                 : metric_spans_length(&comm));
    later_add_value(r, k.rank, s.n ? time / s.n : time);
}

/* The original adds the kernels of all devices of an Nsight Systems export up. */
static void summed_time(const metric_context *x, later_result *r)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        later_kernels k = later_kernels_of(x, i, later_comm_plain);

        sum += metric_seconds(later_sum(&k, true));
        n += k.n;
    }
    if (n)
        later_add_value(r, NULL, sum);
}

static dse_status tpu_time(const metric_context *x, later_result *r, dse_error *err)
{
    double iterations = x->card && x->card->iteration > 0 ? (double)x->card->iteration : 1;
    tpu_upstream u;
    tpu_run run;
    dse_status st;

    if (x->options->compat) {
        if ((st = tpu_upstream_init(&x->record->rank[0], x->arena, &u, err)) == DSE_OK)
            later_add_value(r, NULL, tpu_upstream_time(&u.comm) / iterations);
        return st;
    }
    run = tpu_run_of(x);
    for (uint32_t i = 0; i < run.n; i++)
        later_add_value(r, NULL, metric_seconds(metric_spans_length(&run.device[i]->comm)));
    return DSE_OK;
}

static dse_status total_communication_time(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "total_communication_time", 1);
    dse_status st = DSE_OK;

    if (later_kind(x) == TRACE_XLA)
        st = tpu_time(x, &r, err);
    else if (x->options->compat && later_kind(x) == TRACE_NSYS)
        summed_time(x, &r);
    else
        for (uint32_t i = 0; i < x->n_views; i++)
            rank_time(x, i, &r);
    return st == DSE_OK ? later_end(&r, x, -1, "the trace has no kernels", err) : st;
}

/* ---- coll_call_num ------------------------------------------------------------------------- */

/* Under --compat the tool reads one file, kineto_trace_0.json, and knows one prefix; without that file it
 * says 0. */
static uint64_t upstream_calls(const metric_view *v)
{
    static const char prefix[] = "ncclDevKernel_";
    uint64_t n = 0;

    if (v->rank->rank != 0 || v->rank->kind != TRACE_KINETO)
        return 0;
    for (uint32_t k = 0; k < v->kernels.n; k++)
        n += strncmp(METRIC_TEXT_OF(v->rank, &v->rank->event[v->kernels.event[k]]), prefix,
                     sizeof prefix - 1) == 0;
    return n;
}

static void coll_call_num(const metric_context *x, metric_value *out)
{
    const metric_view *first = &x->view[0];

    metric_put_count(out, "coll_call_num", x->options->compat ? upstream_calls(first) : first->comm.n);
}

static const metric rows[] = {
    {METRIC_ROW("coll_call_num", "later", "calls", METRIC_ON_GPU, 0,
                "communication kernels of the lowest rank"),
     .put = coll_call_num, .compat_put = coll_call_num, .compat_kinds = LATER_ON_ALL,
     .headline = "coll_call_num"},
    LATER_ROW(communication_fraction, "%", LATER_ON_ALL,
              "communication over all kernels of a step, mean over inner steps and ranks"),
    LATER_ROW(communication_overhead, "", METRIC_ON_HOST,
              "communication over all kernels, 0 to 1, mean over ranks"),
    LATER_ROW(communication_ratio, "%", LATER_ON_ALL, "communication over all kernels, all ranks pooled"),
    LATER_ROW(total_communication_time, "s", LATER_ON_ALL,
              "union of communication in the inner steps, a step, mean over ranks"),
};

METRIC_FAMILY(later_comm);
