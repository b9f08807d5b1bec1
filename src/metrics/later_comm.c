/* How much communication there is: coll_call_num, communication_fraction, _ratio, _overhead,
 * total_communication_time. */
#include "metrics/later.h"
#include "metrics/later_tpu.h"
#include "metrics/order.h"
#include "metrics/tpu_upstream.h"

/* ---- communication_fraction ---------------------------------------------------------------- */

/* The mean over the inner steps of communication over all kernels that overlap a step, each counted whole; of the
 * steps that have any. reach[i] is the latest end of the first i + 1 kernels, so that bisection skips those that
 * ended before a step. */
static void steps_fraction(const metric_context *x, const later_kernels *k, const metric_steps *all,
                           later_result *r)
{
    int64_t *reach = DSE_ARENA_NEW(x->arena, int64_t, k->n), last = INT64_MIN;
    const metric_steps s = metric_steps_inner(all);
    double sum = 0;
    uint32_t n = 0;
    size_t at;

    for (uint32_t i = 0; i < k->n; i++) {
        int64_t end = metric_end(&k->rank->event[k->event[i]]);
        reach[i] = last = end > last ? end : last;
    }
    for (uint32_t i = 0; i < s.n; i++) {
        const metric_span step = s.step[i].span;
        later_sums of = {0, 0};

        METRIC_BISECT(at, 0, k->n, reach[at] <= step.start);
        for (; at < k->n && metric_start(&k->rank->event[k->event[at]]) < step.end; at++) {
            if (metric_end(&k->rank->event[k->event[at]]) <= step.start)
                continue;
            of.all += later_ps(k, (uint32_t)at);
            of.comm += k->comm[at] ? later_ps(k, (uint32_t)at) : 0;
        }
        sum += of.all > 0 ? 100 * of.comm / of.all : 0;
        n += of.all > 0;
    }
    if (n)
        later_add_value(r, k->rank, sum / n);
}

static void gpu_fraction(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_steps steps = later_steps_of(x, k->index, METRIC_MARK_PROFILER);

    if (steps.n)
        steps_fraction(x, k, &steps, r);
    else
        later_add_comm(x, k, r);
}

/* Upstream takes every line of a device, modules and steps included; by processes here, each once. */
static void tpu_upstream_fraction(const metric_context *x, later_result *r)
{
    later_tpu t = later_tpu_of(x);
    later_sums *of = DSE_ARENA_NEW(x->arena, later_sums, (size_t)t.rank->n_lanes + 1); /* seconds by lane */

    for (size_t i = 0; i < t.rank->n_events; i++) {
        const trace_event *e = &t.rank->event[i];
        double s = later_tpu_ps(&t, i) / TRACE_PS_PER_S;

        if (!later_tpu_has(&t, e) || !(s > 0))
            continue;
        of[e->lane].all += s;
        of[e->lane].comm += later_tpu_communicates(&t, e) ? s : 0;
    }
    for (uint32_t i = 0; i < t.rank->n_lanes; i++) {
        for (uint32_t k = i + 1; k < t.rank->n_lanes; k++)
            if (t.rank->lane[k].pid == t.rank->lane[i].pid) {
                of[i].comm += of[k].comm;
                of[i].all += of[k].all;
                of[k] = (later_sums){0, 0};
            }
        later_add(r, NULL, of[i].comm, of[i].all);
    }
}

/* ---- communication_overhead ---------------------------------------------------------------- */

/* The original opens kineto_trace_0.json alone, and recognises the kernels of newer NCCL by name. */
static const metric_pick overhead = METRIC_PICK(
    0,
    {1, .names = "=^ncclDevKernel_AllReduce|=^ncclDevKernel_ReduceScatter|=^ncclDevKernel_AllGather|"
                 "=^ncclDevKernel_Broadcast|=^ncclDevKernel_Reduce|=^ncclDevKernel_SendRecv"},
    {0});

static void upstream_overhead(const metric_context *x, const later_kernels *k, later_result *r)
{
    if (k->rank->rank == 0)
        later_add_picked(x, k, r);
}

/* ---- total_communication_time -------------------------------------------------------------- */

/* Communication from the first to the last inner step, per step; over the whole trace if there are no more
 * than two steps, and on a TPU, whose clock has no steps of the host. */
static void add_time(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_steps all = {0}, s;
    metric_spans comm;
    double time;

    if (!k->n)
        return;
    if (!k->device)
        all = later_steps_of(x, k->index, METRIC_MARK_PROFILER);
    s = metric_steps_inner(&all);
    comm = later_union(k, true, x->arena);
    time =
        metric_seconds(all.n > 2 ? metric_spans_within(&comm, s.step[0].span.start, s.step[s.n - 1].span.end)
                                 : metric_spans_length(&comm));
    later_add_value(r, k->rank, s.n ? time / s.n : time);
}

/* The original adds the kernels of all devices of an Nsight Systems export up. */
static void summed_time(const metric_context *x, later_result *r)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        later_kernels k = later_kernels_of(x, i, LATER_COMM_PLAIN);

        sum += metric_seconds((int64_t)later_sum(&k).comm);
        n += k.n;
    }
    if (n)
        later_add_value(r, NULL, sum);
}

static void tpu_upstream_comm_time(const metric_context *x, later_result *r)
{
    double iterations = x->card && x->card->iteration > 0 ? (double)x->card->iteration : 1;
    tpu_upstream u;

    r->st = tpu_upstream_init(&x->record->rank[0], x->arena, &u, r->err);
    if (r->st == DSE_OK)
        later_add_value(r, NULL, tpu_upstream_time(&u.comm) / iterations);
}

/* ---- coll_call_num ------------------------------------------------------------------------- */

/* Under --compat the tool reads one file, kineto_trace_0.json, and counts the kernels that one prefix and a
 * collective's name begin, which RCCL's ncclDevKernel_Generic do not; without that file it says 0. */
static const metric_pick nccl = METRIC_PICK(0, {.names = "=^ncclDevKernel_!Generic"});

static void coll_call_num(const metric_context *x, metric_value *out)
{
    const metric_view *v = &x->view[0];
    uint32_t n = v->comm.n;

    if (x->options->compat)
        n = v->rank->rank == 0 && v->rank->kind == TRACE_KINETO
                ? metric_pick_of(v->rank, &v->kernels, &nccl, x->arena).list.n
                : 0;
    metric_put_integer(out, "coll_call_num", n);
}

static const metric rows[] = {
    {METRIC_ROW("coll_call_num", "later", "calls", METRIC_ON_GPU, METRIC_NEEDS_EVIDENCE,
                "communication kernels of the lowest rank"),
     .put = coll_call_num, .compat_put = coll_call_num, .compat_kinds = LATER_ON_ALL,
     .headline = "coll_call_num"},
    {LATER_VALUE(
         "communication_fraction", "%", LATER_ON_ALL,
         "the share of communication: of the time of all kernels of a step, mean over inner steps and ranks"),
     LATER_RULE(.fold = gpu_fraction, .words = LATER_COMM_WIDE, .nsys = later_add_comm,
                .nsys_words = LATER_COMM_NSYS, .tpu = later_add_comm, .tpu_compat = tpu_upstream_fraction,
                .mean = METRIC_ON_HOST | METRIC_ON(TRACE_XLA), .scale = 100, .why = LATER_NO_KERNELS)},
    {LATER_VALUE("communication_overhead", "", METRIC_ON_HOST,
                 "the share of communication as communication_fraction, from 0 to 1 and of the whole trace"),
     LATER_RULE(.fold = later_add_comm, .compat = upstream_overhead, .words = LATER_COMM_PLAIN,
                .pick = &overhead, .mean = METRIC_ON_HOST, .scale = 1, .why = LATER_NO_KERNELS,
                .why_compat = "rank 0 has no kernels")},
    {LATER_VALUE("communication_ratio", "%", LATER_ON_ALL,
                 "the share of communication as communication_fraction, of the kernels of all ranks pooled"),
     LATER_RULE(.fold = later_add_comm, .words = LATER_COMM_PLAIN, .tpu_compat = tpu_upstream_fraction,
                .scale = 100, .why = LATER_NO_KERNELS)},
    {LATER_VALUE("total_communication_time", "s", LATER_ON_ALL,
                 "union of communication in the inner steps, a step, mean over ranks"),
     LATER_RULE(.fold = add_time, .words = LATER_COMM_PLAIN, .nsys_compat = summed_time,
                .tpu_compat = tpu_upstream_comm_time, .scale = 1, .why = LATER_NO_KERNELS)},
};

METRIC_FAMILY(later_comm);
