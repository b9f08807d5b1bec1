#include "metrics/tpu_upstream.h"

#include "metrics/hlo.h"
#include "metrics/pick.h"

#include <math.h>

/* Rows that a name or a category word meets. */
enum { SAYS_COMM = 1 << 0, SAYS_COMPUTE = 1 << 1, SAYS_ALL_REDUCE = 1 << 2 };
static const metric_pick words =
    METRIC_PICK(0,
                {.names = "all-reduce|allreduce|all-gather|allgather|reduce-scatter|reducescatter|all-to-all|"
                          "alltoall|collective|nccl"},
                {.names = "dot|convolution|gemm|matmul|fusion|compute|custom-call"},
                {.names = "allreduce|all-reduce|all_reduce"});

double tpu_upstream_time(const tpu_upstream_kind *k) { return k->n_timed ? k->timed_s : k->dur_s; }

double tpu_accessed(const trace_args *a)
{
    if (a->raw_bytes_accessed != TRACE_UNKNOWN && a->raw_bytes_accessed)
        return (double)a->raw_bytes_accessed;
    return a->bytes_accessed == TRACE_UNKNOWN ? 0 : (double)a->bytes_accessed;
}

/* Bytes as upstream reads them, of the shape or else of the bytes accessed; 0: unknown. */
static double bytes_of(const trace_rank *r, const trace_args *a)
{
    uint64_t shape = hlo_first_shape_bytes(TRACE_NAME(r, a->shape));

    if (shape != HLO_UNKNOWN)
        return (double)shape;
    return tpu_accessed(a);
}

typedef struct {
    const trace_rank *r;
    dse_arena *a; /* of all_reduce */
    size_t cap;
    metric_picker words;
    double first_s, last_s;
} reading;

/* An all-reduce is one by its name alone. */
static uint32_t said_of(reading *d, const trace_event *e)
{
    uint32_t word = e->word < d->r->n_words ? d->r->word[e->word] : DSE_NONE;

    return metric_picker_rows(&d->words, e->name) |
           (metric_picker_rows(&d->words, word) & (SAYS_COMM | SAYS_COMPUTE));
}

static void count(tpu_upstream_kind *k, const trace_event *e, trace_device_time t)
{
    k->n++;
    k->dur_s += (double)e->dur_ps / TRACE_PS_PER_S;
    if (t.dur_ps >= 0) {
        k->n_timed++;
        k->timed_s += (double)t.dur_ps / TRACE_PS_PER_S;
    }
}

/* The time on the trace's own clock, in a double as in the original tools, whose wall time has its
 * resolution. */
static double upstream_us(const trace_rank *r, int64_t start_ps)
{
    return (double)((long double)r->base_ns / 1000 + (long double)start_ps / TRACE_PS_PER_US);
}

/* Adds an event, which has ts and dur. */
static void add(reading *d, size_t event, tpu_upstream *out)
{
    const trace_event *e = &d->r->event[event];
    const trace_args *args = metric_args_of(d->r, e);
    trace_device_time t = trace_device_time_of(d->r, event);
    double seconds = (double)t.dur_ps / TRACE_PS_PER_S, bytes;
    double start_us = upstream_us(d->r, e->start_ps), dur_us = (double)e->dur_ps / TRACE_PS_PER_US;
    uint32_t said = said_of(d, e);

    out->n++;
    d->first_s = fmin(d->first_s, start_us / 1e6);
    d->last_s = fmax(d->last_s, (start_us + dur_us) / 1e6);
    out->bytes_accessed += args ? tpu_accessed(args) : 0;
    if (args && !isnan(args->model_flops)) {
        out->model_flops += args->model_flops;
        if (args->model_flops > 0 && t.dur_ps > 0) {
            out->flops_of_timed += args->model_flops;
            out->s_with_flops += seconds;
        }
    }
    if (!(said & SAYS_COMM)) {
        if (said & SAYS_COMPUTE)
            count(&out->compute, e, t);
        return;
    }
    count(&out->comm, e, t);
    bytes = args ? bytes_of(d->r, args) : 0;
    if (t.dur_ps <= 0 || bytes <= 0)
        return;
    out->n_valid++;
    out->rate_sum += bytes / seconds;
    if (said & SAYS_ALL_REDUCE) {
        DSE_ARENA_GROW(d->a, out->all_reduce, d->cap, out->n_all_reduces + 1);
        out->all_reduce[out->n_all_reduces++] = (hockney_sample){bytes, seconds, 0};
        out->all_reduce_s += seconds;
    }
}

dse_status tpu_upstream_init(const trace_rank *r, dse_arena *a, tpu_upstream *out, dse_error *err)
{
    reading d = {r, a, 0, metric_picker_of(r, &words, a), INFINITY, -INFINITY};

    *out = (tpu_upstream){0};
    for (size_t i = 0; i < r->n_events; i++)
        if (!r->event[i].instant && !r->event[i].endless)
            add(&d, i, out);
    if (!out->n)
        return dse_fail(err, DSE_E_ABSENT, "the trace has no duration event");
    out->wall_s = d.last_s - d.first_s;
    return DSE_OK;
}
