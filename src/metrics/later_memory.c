/* Copies: average_memory_bandwidth, memory_transfer_overhead. */
#include "metrics/later.h"
#include "metrics/later_tpu.h"

/* ---- average_memory_bandwidth -------------------------------------------------------------- */

/* The first of an event's sizes that is above 0; 0: none. */
static double copied_bytes(const trace_rank *r, const trace_event *e)
{
    const trace_args *a = metric_args_of(r, e);
    const uint64_t of[] = {a ? a->bytes : 0, a ? a->bytes_accessed : 0, a ? a->raw_bytes_accessed : 0};

    for (size_t i = 0; i < 3; i++)
        if (of[i] && of[i] != TRACE_UNKNOWN)
            return (double)of[i];
    return 0;
}

/* Over events in which a GPU copies memory; the original takes Kineto's events that are named like a copy. */
static const metric_pick copying = METRIC_PICK(METRIC_LASTING, {.categories = 1 << TRACE_MEMCPY}),
                         named_copying = METRIC_PICK(METRIC_LASTING, {.names = LATER_MEMCPY});

/* Bytes over ps are TB/s. */
static void gpu_bandwidth(const metric_context *x, const later_kernels *k, later_result *r)
{
    bool by_name = x->options->compat && k->rank->kind != TRACE_NSYS;
    metric_picked p = metric_pick_of(k->rank, NULL, by_name ? &named_copying : &copying, x->arena);
    double bytes = 0, ps = 0;

    for (uint32_t i = 0; i < p.list.n; i++) {
        double b = copied_bytes(k->rank, metric_picked_at(&p, i));

        bytes += b;
        ps += b > 0 ? (double)metric_picked_at(&p, i)->dur_ps : 0;
    }
    later_add(r, k->rank, bytes, ps);
}

static void add_copies(const metric_context *x, later_copiers by, later_result *r)
{
    const later_copies all = later_copies_of(x, &by);
    double bytes = 0, ps = 0;

    for (const later_copy *c = all.copy; c < all.copy + all.n; c++)
        if (c->bytes > 0 && c->span.end > c->span.start) {
            bytes += c->bytes;
            ps += (double)(c->span.end - c->span.start);
        }
    later_add(r, NULL, bytes, ps);
}

static later_copiers device_of(const later_kernels *k)
{
    return (later_copiers){.rank = k->rank, .pid = k->device->pid, .bare = true};
}

static void tpu_bandwidth(const metric_context *x, const later_kernels *k, later_result *r)
{
    add_copies(x, device_of(k), r);
}

/* Copies of all processes in one. */
static void tpu_upstream_bandwidth(const metric_context *x, later_result *r)
{
    add_copies(x, (later_copiers){.rank = &x->record->rank[0], .pid = DSE_NONE}, r);
}

/* ---- memory_transfer_overhead -------------------------------------------------------------- */

/* Adds the copies that nothing hides, over this time. */
static void add_exposed(const metric_context *x, const trace_rank *rank, const metric_spans *copies,
                        const metric_spans *hidden_by, double over_ps, later_result *r)
{
    metric_spans exposed = metric_spans_subtract(copies, hidden_by, x->arena);

    later_add(r, rank, (double)metric_spans_length(&exposed), over_ps);
}

static double length_of(metric_span s) { return (double)(s.end - s.start); }

/* Copies that no compute hides, over the time from the first to the last activity of the GPU. */
static void gpu_overhead(const metric_context *x, const later_kernels *k, later_result *r)
{
    const metric_view *v = k->view;

    if (v->memory_ops.n)
        add_exposed(x, v->rank, &v->memory_time, &v->compute_time, length_of(v->gpu_span), r);
}

/* Real copies are of category gpu_memcpy, which the tool does not take: it sees kernels that are named so. */
enum { COPY, COMM, COMPUTE };
static const metric_pick upstream_work = METRIC_PICK(
    METRIC_LASTING, {COPY, LATER_KERNEL_WORDS, .names = LATER_MEMCPY},
    {COMM, LATER_KERNEL_WORDS, .names = LATER_COMM_NAMED}, {COMPUTE, .words = LATER_KERNEL_WORDS});

static void upstream_overhead(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_picked p = metric_pick_of(k->rank, NULL, &upstream_work, x->arena);
    metric_spans copies = metric_picked_time(&p, COPY, x->arena),
                 compute = metric_picked_time(&p, COMPUTE, x->arena);

    if (copies.n)
        add_exposed(x, k->rank, &copies, &compute, length_of(metric_span_of(k->rank, &p.list)), r);
}

/* The devices of an Nsight Systems export merged into one: copies less all kernels. */
static void nsys_upstream_overhead(const metric_context *x, later_result *r)
{
    metric_spans copies = {0}, kernels = {0}, all;

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        metric_picked p = metric_pick_of(v->rank, &v->memory_ops, &copying, x->arena);
        metric_spans own = metric_picked_time(&p, METRIC_ANY_CLASS, x->arena);

        copies = metric_spans_unite(&copies, &own, x->arena);
        kernels = metric_spans_unite(&kernels, &v->kernel_time, x->arena);
    }
    if (!copies.n)
        return;
    all = metric_spans_unite(&copies, &kernels, x->arena);
    add_exposed(x, NULL, &copies, &kernels, (double)(all.span[all.n - 1].end - all.span[0].start), r);
}

/* ---- of a TPU ------------------------------------------------------------------------------ */

static metric_spans union_of_copies(const metric_context *x, later_copiers by)
{
    const later_copies all = later_copies_of(x, &by);
    metric_span *span = DSE_ARENA_NEW(x->arena, metric_span, all.n);

    for (size_t i = 0; i < all.n; i++)
        span[i] = all.copy[i].span;
    return metric_spans_merge_any(span, all.n);
}

/* Copies that no compute of the device hides, over the time from its first to its last operation. */
static void tpu_overhead(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_spans copies = union_of_copies(x, device_of(k));

    if (copies.n)
        add_exposed(x, NULL, &copies, &k->device->compute, length_of(k->device->span), r);
}

/* The tool's notion of compute: all device events except copies, whole programs and waits. */
static const metric_pick device_work =
    METRIC_PICK(0, {METRIC_NOT_PICKED, .names = "=copy-start.|=copy-done.|=^jit_|=dependency-wait"}, {0});

static metric_spans device_compute(const metric_context *x, const trace_rank *r, const bool *lane)
{
    metric_picked p = metric_pick_of(r, NULL, &device_work, x->arena);
    metric_span *span = DSE_ARENA_NEW(x->arena, metric_span, p.list.n);
    size_t n = 0;

    for (uint32_t i = 0; i < p.list.n; i++) {
        trace_device_time t = trace_device_time_of(r, p.list.event[i]);

        if (lane[metric_picked_at(&p, i)->lane] && t.dur_ps > 0 && t.offset_ps >= 0)
            span[n++] = (metric_span){t.offset_ps, t.offset_ps + t.dur_ps};
    }
    return metric_spans_merge_any(span, n);
}

/* Over the sum of the engine's steps, which is host time. */
static void tpu_upstream_overhead(const metric_context *x, later_result *r)
{
    const trace_rank *rank = &x->record->rank[0];
    const bool *lane = later_tpu_lanes(rank, x->arena);
    metric_spans copies = union_of_copies(x, (later_copiers){.rank = rank, .lane = lane, .pid = DSE_NONE}),
                 compute;
    metric_sums steps = {0};

    if (!copies.n)
        return;
    metric_pick_sum(rank, &metric_mark_pick[METRIC_MARK_ENGINE_LINE], x->arena, &steps);
    compute = device_compute(x, rank, lane);
    add_exposed(x, NULL, &copies, &compute, (double)steps.sum_ps, r);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static const metric rows[] = {
    {LATER_VALUE("average_memory_bandwidth", "GB/s", LATER_ON_ALL,
                 "bytes of copies over the sum of their times"),
     LATER_RULE(.fold = gpu_bandwidth, .tpu = tpu_bandwidth, .tpu_compat = tpu_upstream_bandwidth,
                .scale = 1000, .why = "no copy has both a size and a time")},
    {LATER_VALUE("memory_transfer_overhead", "%", LATER_ON_ALL,
                 "copies that no compute hides, over the GPU's time"),
     LATER_RULE(.fold = gpu_overhead, .compat = upstream_overhead, .nsys_compat = nsys_upstream_overhead,
                .tpu = tpu_overhead, .tpu_compat = tpu_upstream_overhead, .scale = 100, .digits = 4,
                .why = "the trace has no copies")},
};

METRIC_FAMILY(later_memory);
