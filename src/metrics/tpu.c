/* The metrics of Torch-XLA and JAX traces from TPUs: times, counts, bandwidth, FLOPs. The fits are in
 * tpu_hockney.c.
 *
 * By default over the leaf operations of the devices (tpu_ops.h); under --compat over the table of all events
 * that the original tools make of one file, a GPU's too (tpu_upstream.h). */
#include "base/array.h"
#include "metrics/comm_calls.h"
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/pick.h"
#include "metrics/tpu_run.h"
#include "metrics/tpu_upstream.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double length_s(const metric_spans *s) { return metric_seconds(metric_spans_length(s)); }

/* ---- of one device ------------------------------------------------------------------------- */

typedef struct {
    const char *key;
    double (*of)(const tpu_device *d);
    const char *why; /* it may be absent */
} quantity;

/* q_<name>: an expression of the device d under a key. */
#define QUANTITY(name, under, expression, reason)                                                            \
    static double name(const tpu_device *d) { return (expression); }                                         \
    static const quantity q_##name = {(under), (name), (reason)};

#define NO_TIME  "its operations last no time"
#define NO_FLOPS "no operation has model_flops"

QUANTITY(span, "span_s", metric_seconds(d->span.end - d->span.start), "")
QUANTITY(busy, "busy_s", length_s(&d->busy), "")
QUANTITY(compute, "compute_s", length_s(&d->compute), "")
QUANTITY(comm, "comm_s", length_s(&d->comm), "")
QUANTITY(memory, "memory_or_async_s", length_s(&d->memory), "")
QUANTITY(all_reduce, "all_reduce_s", length_s(&d->of_comm[TPU_ALL_REDUCE]), "")
QUANTITY(num_comm, "num_comm", (double)d->n_comms, "")
QUANTITY(flops, "model_flops", d->with_flops.n ? d->flops : NAN, NO_FLOPS)
QUANTITY(compute_share, "compute_utilization", compute(d) / span(d), NO_TIME)
QUANTITY(comm_share, "communication_fraction", comm(d) / span(d), NO_TIME)
QUANTITY(flops_per_s, "achieved_flops_per_s", d->flops / length_s(&d->with_flops), NO_FLOPS)

/* The object of the i-th device in an object of devices: "<number>", "<rank>:<number>" if there are several
 * ranks. */
static metric_value *put_device(const tpu_run *run, metric_value *devices, uint32_t i)
{
    const uint32_t number = run->device[i]->number;

    if (run->x->n_views == 1)
        return metric_put_numbered(devices, number);
    return metric_put_object(
        devices, dse_arena_printf(run->x->arena, "%" PRIu32 ":%" PRIu32, run->rank[i]->rank, number));
}

/* The quantities of each device; the sum of the first over the devices that have it, and their number. */
static double put_devices(const tpu_run *run, metric_value *out, const quantity *const *q, size_t n,
                          uint32_t *with)
{
    metric_value *devices = metric_put_object(out, "per_device");
    double sum = 0;

    *with = 0;
    for (uint32_t i = 0; i < run->n; i++) {
        metric_value *to = put_device(run, devices, i);

        for (size_t k = 0; k < n; k++) {
            double v = q[k]->of(run->device[i]);

            metric_put_number_or(to, q[k]->key, v, q[k]->why);
            if (!k && isfinite(v)) {
                sum += v;
                ++*with;
            }
        }
    }
    return sum;
}

/* ---- definitions --------------------------------------------------------------------------- */

/* First start to last end of the devices of a host, whose clocks are one and which stand together; the
 * longest over hosts. */
static double device_wall_s(const tpu_run *run)
{
    int64_t longest = 0;
    metric_span host = {0, 0};

    for (uint32_t i = 0; i < run->n; i++) {
        const metric_span *own = &run->device[i]->span;

        if (!i || run->rank[i] != run->rank[i - 1])
            host = *own;
        metric_span_extend(&host, own->start, own->end);
        longest = host.end - host.start > longest ? host.end - host.start : longest;
    }
    return metric_seconds(longest);
}

/* The wall time over all duration events, including the host's. */
static const metric_pick durations = METRIC_PICK(0, {0});

static double host_wall_s(const metric_context *x)
{
    int64_t longest = 0;

    for (uint32_t k = 0; k < x->record->n_ranks; k++) {
        metric_span host = metric_pick_span(&x->record->rank[k], &durations, metric_scratch(x));

        if (host.end > host.start && host.end - host.start > longest)
            longest = host.end - host.start;
    }
    return metric_seconds(longest);
}

static dse_status wall_time_s(const tpu_run *run, metric_value *out, dse_error *err)
{
    const quantity *const q[] = {&q_span, &q_busy};
    uint32_t with;

    (void)err;
    metric_put_number(out, "wall_time_s", device_wall_s(run));
    metric_put_number(out, "host_wall_time_s", host_wall_s(run->x));
    put_devices(run, out, q, 2, &with);
    return DSE_OK;
}

static void put_types(const tpu_run *run, metric_value *out)
{
    metric_value *devices = metric_put_object(out, "by_type");

    for (uint32_t i = 0; i < run->n; i++) {
        const tpu_device *d = run->device[i];
        metric_value *to = put_device(run, devices, i), *counts = metric_put_object(to, "comm_by_type"),
                     *times = metric_put_object(to, "comm_time_s_by_type");

        for (tpu_comm c = 0; c < TPU_COMMS; c++)
            if (d->n_comm[c]) {
                metric_put_count(counts, tpu_comm_name(c), d->n_comm[c]);
                metric_put_number(times, tpu_comm_name(c), length_s(&d->of_comm[c]));
            }
    }
}

/* Sums over communications; "valid" are those of known size and time above 0. */
typedef struct {
    uint64_t n, valid, unsized;
    double seconds;                  /* of all */
    double bus_bytes, valid_seconds; /* of valid */
} comm_sums;

static dse_status sum_comms(const metric_context *x, comm_sums *s, dse_error *err)
{
    const comm_calls *c;
    dse_status st = comm_calls_of(x, &c, err);

    *s = (comm_sums){0};
    for (uint32_t i = 0; st == DSE_OK && i < x->n_views; i++)
        for (uint32_t k = 0; k < c[i].n; k++) {
            const comm_call *v = &c[i].call[k];
            bool sized = v->bytes > 0, valid = sized && v->seconds > 0;

            s->n++;
            s->seconds += v->seconds;
            s->unsized += !sized;
            s->valid += valid;
            s->bus_bytes += valid ? v->bytes * v->factor : 0;
            s->valid_seconds += valid ? v->seconds : 0;
        }
    return st;
}

static dse_status avg_comm_kernel_time_s(const tpu_run *run, metric_value *out, dse_error *err)
{
    comm_sums s;
    dse_status st = sum_comms(run->x, &s, err);

    if (st != DSE_OK)
        return st;
    if (!s.n)
        return metric_absent(err, "no device communicates");
    metric_put_number(out, "avg_comm_kernel_time_s", s.seconds / (double)s.n);
    metric_put_count(out, "samples", s.n);
    return DSE_OK;
}

static dse_status num_comm_kernels_w_size_and_time(const tpu_run *run, metric_value *out, dse_error *err)
{
    comm_sums s;
    dse_status st = sum_comms(run->x, &s, err);

    metric_put_count(out, "num_comm_kernels_w_size_and_time", s.valid);
    metric_put_count(out, "num_comm_kernels_w_size_and_time_all_devices", s.valid);
    metric_put_count(out, "num_comm_kernels_all_devices", s.n);
    return st;
}

static dse_status avg_comm_bandwidth_GBps(const tpu_run *run, metric_value *out, dse_error *err)
{
    uint32_t chips;
    comm_sums s;
    dse_status st = tpu_run_chips(run, &chips, err);

    if (st != DSE_OK || (st = sum_comms(run->x, &s, err)) != DSE_OK)
        return st;
    if (!s.valid)
        return metric_absent(err, "no communication has both a size and a time");
    metric_put_number(out, "avg_comm_bandwidth_GBps", s.bus_bytes / s.valid_seconds / 1e9);
    metric_put_number(out, "avg_comm_bandwidth_GBps_bus", s.bus_bytes / s.valid_seconds / 1e9);
    metric_put_count(out, "samples", s.valid);
    metric_put_count(out, "without_size", s.unsized);
    metric_put_integer(out, "n_chips", chips);
    return DSE_OK;
}

/* Bytes that the operations read and wrote, of all devices, over the wall time. */
static dse_status estimated_bandwidth(const tpu_run *run, metric_value *out, dse_error *err)
{
    double bytes = 0, wall_s = device_wall_s(run);

    for (uint32_t i = 0; i < run->n; i++)
        for (size_t k = 0; k < run->device[i]->n; k++) {
            const trace_args *a =
                metric_args_of(run->rank[i], &run->rank[i]->event[run->device[i]->op[k].event]);

            bytes += a ? tpu_accessed(a) : 0;
        }
    if (!(bytes > 0) || !(wall_s > 0))
        return metric_absent(err, "no operation says how many bytes it accessed (raw_bytes_accessed)");
    metric_put_number(out, "estimated_bandwidth", bytes / wall_s / 1e9);
    metric_put_number(out, "bytes_accessed_all_devices", bytes);
    return DSE_OK;
}

static double total_flops(const tpu_run *run)
{
    double sum = 0;

    for (uint32_t i = 0; i < run->n; i++)
        sum += run->device[i]->flops;
    return sum;
}

/* Operations a token: 6 for each parameter forward and backward, 2 forward alone. Upstream counts training
 * where nothing says what ran, and so is it said here. */
static double put_flops_per_token(const metric_context *x, metric_value *out)
{
    trace_phase phase = metric_phase_of(x);
    double v = (phase == TRACE_PHASE_INFERENCE ? 2 : 6) * x->options->model_params;

    metric_put_number(out, "flops_per_token_used", v);
    metric_put_number(out, "model_params", x->options->model_params);
    metric_put_text(out, "phase",
                    phase == TRACE_PHASE_INFERENCE  ? "inference"
                    : phase == TRACE_PHASE_TRAINING ? "training"
                                                    : "training (assumed; --phase or a workload card tells)");
    return v;
}

static dse_status flops_per_token_used(const tpu_run *run, metric_value *out, dse_error *err)
{
    (void)err;
    put_flops_per_token(run->x, out);
    return DSE_OK;
}

/* ---- upstream ------------------------------------------------------------------------------ */

/* A value as upstream has it, by the name of the metric; n: chips. NaN: not computable. */
static double upstream_of(const char *name, const tpu_upstream *u, double n, double model_params)
{
    const double compute_s = tpu_upstream_time(&u->compute), comm_s = tpu_upstream_time(&u->comm),
                 rate = u->flops_of_timed / u->s_with_flops,
                 all = u->model_flops > 0    ? u->model_flops
                       : u->s_with_flops > 0 ? rate * u->wall_s
                                             : 0,
                 tokens = model_params > 0 && all > 0 ? all / (6 * model_params) : 0;
    const struct {
        const char *name;
        double value;
    } values[] = {
        {"wall_time_s", u->wall_s},
        {"total_compute_time_s", compute_s},
        {"total_comm_time_s", comm_s},
        {"avg_comm_kernel_time_s",
         u->comm.n_timed ? u->comm.timed_s / (double)u->comm.n_timed : u->comm.dur_s / (double)u->comm.n},
        {"compute_utilization_proxy", compute_s / u->wall_s},
        {"communication_fraction", comm_s / u->wall_s},
        {"num_comm_kernels", (double)u->comm.n},
        {"num_comm_kernels_w_size_and_time", (double)u->n_valid},
        {"avg_comm_bandwidth_GBps", (n - 1) * u->rate_sum / (double)u->n_valid / 1e9},
        {"allreduce_comm_time_s", u->n_all_reduces ? u->all_reduce_s : (double)NAN},
        {"achieved_flops_from_trace_json", rate},
        {"total_model_flops_from_args", u->model_flops},
        {"flops_per_token_used", 6 * model_params},
        {"estimated_bandwidth", u->bytes_accessed / u->wall_s / 1e9},
        {"estimated_total_tokens", tokens},
        {"estimated_throughput_tokens_per_s", u->wall_s > 0 ? tokens / u->wall_s : 0},
    };
    size_t i = 0;

    while (strcmp(values[i].name, name) != 0)
        i++;
    return values[i].value;
}

/* ---- both ---------------------------------------------------------------------------------- */

/* How a row is computed: by a function, or of the devices' first quantity, with the others beside it. */
typedef struct {
    dse_status (*define)(const tpu_run *run, metric_value *out, dse_error *err);
    bool sum;             /* of the devices; else the mean */
    const char *sum_name; /* of the sum over devices, too; NULL: there is no such thing */
    const char *again;    /* another name of the value; NULL */
    const quantity *of[3];
    bool by_type;    /* the collectives of each device, too */
    bool per_second; /* tokens: over the wall time */
} tpu_rule;

static dse_status put_quantity(const tpu_run *run, metric_value *out, dse_error *err)
{
    const tpu_rule *rule = run->x->row->rule;
    metric_value *value = metric_put_number(out, run->x->row->name, 0),
                 *total = rule->sum_name ? metric_put_number(out, rule->sum_name, 0) : NULL;
    size_t n = 0;
    uint32_t with;
    double sum;

    while (n < DSE_COUNT(rule->of) && rule->of[n])
        n++;
    sum = put_devices(run, out, rule->of, n, &with);
    if (!with)
        return metric_absent(err, "no device has it: %s", rule->of[0]->why);
    value->number = rule->sum ? sum : sum / with;
    if (total)
        total->number = sum;
    if (rule->again)
        metric_put_number(out, rule->again, value->number);
    if (rule->by_type)
        put_types(run, out);
    return DSE_OK;
}

/* The tokens that the operations suffice for; of the throughput, over the wall time. */
static dse_status put_tokens(const tpu_run *run, metric_value *out, dse_error *err)
{
    const tpu_rule *rule = run->x->row->rule;
    metric_value *v = metric_put_number(out, run->x->row->name, 0);
    double per_token = put_flops_per_token(run->x, out), all = total_flops(run),
           per = rule->per_second ? device_wall_s(run) : 1;

    if (!(all > 0))
        return metric_absent(err, NO_FLOPS);
    if (!(per_token > 0) || !(per > 0))
        return metric_absent(err, "it needs --model_params above 0 and operations that take time");
    metric_put_number(out, "total_model_flops_all_devices", all);
    v->number = all / per_token / per;
    return DSE_OK;
}

/* A value that upstream prints as nan is absent, and printed so. */
static dse_status put_upstream(const metric_context *x, metric_value *out, dse_error *err)
{
    uint32_t n = 0;
    tpu_upstream u;
    dse_status st = x->row->needs & METRIC_NEEDS_CHIPS ? tpu_upstream_chips(x, &n, err) : DSE_OK;

    if (st == DSE_OK)
        st = tpu_upstream_init(&x->record->rank[0], x->arena, &u, err);
    if (st != DSE_OK)
        return st;
    metric_put_number_or(out, x->row->name, upstream_of(x->row->name, &u, n, x->options->model_params),
                         "no event of the trace has what it takes");
    return DSE_OK;
}

static dse_status put_defined(const metric_context *x, metric_value *out, dse_error *err)
{
    const tpu_rule *rule = x->row->rule;
    tpu_run run = tpu_run_of(x);

    if (!run.n)
        return metric_absent(err, "the trace has no device events");
    return (rule->define ? rule->define : put_quantity)(&run, out, err);
}

#define ROW(id, of_unit, of_needs, text)                                                                     \
    METRIC_ROW(#id, "tpu", of_unit, METRIC_ON(TRACE_XLA), (of_needs) | METRIC_NEEDS_EVIDENCE, text),         \
        .compute = put_defined, .compat = put_upstream, .compat_kinds = TPU_ON_CHROME, .headline = #id
#define RULE(...) METRIC_RULE(tpu_rule, __VA_ARGS__)

static const metric rows[] = {
    {ROW(wall_time_s, "s", 0, "first start to last end of the devices' operations"),
     RULE(.define = wall_time_s)},
    {ROW(total_compute_time_s, "s", 0, "union of compute operations, mean over devices"),
     RULE(.of = {&q_compute, &q_busy, &q_memory}, .sum_name = "total_compute_time_sum_s")},
    {ROW(total_comm_time_s, "s", 0, "union of communication, mean over devices"),
     .alias = "comm_kernel_breakdown_tpu",
     RULE(.of = {&q_comm}, .sum_name = "total_comm_time_sum_s", .by_type = true)},
    {ROW(avg_comm_kernel_time_s, "s", 0, "mean time of a communication"),
     RULE(.define = avg_comm_kernel_time_s)},
    {ROW(compute_utilization_proxy, "", 0, "compute time over wall time, 0 to 1, mean over devices"),
     RULE(.of = {&q_compute_share, &q_compute, &q_span})},
    {ROW(communication_fraction, "", 0, "communication time over wall time, 0 to 1, mean over devices"),
     RULE(.of = {&q_comm_share, &q_comm, &q_span})},
    {ROW(num_comm_kernels, "", METRIC_NEEDS_CHIPS, "communications of a device, mean over devices"),
     RULE(.of = {&q_num_comm}, .sum_name = "num_comm_kernels_all_devices", .by_type = true)},
    {ROW(num_comm_kernels_w_size_and_time, "", METRIC_NEEDS_CHIPS,
         "communications of known size and time, all devices"),
     RULE(.define = num_comm_kernels_w_size_and_time)},
    {ROW(avg_comm_bandwidth_GBps, "GB/s", METRIC_NEEDS_CHIPS,
         "bus bytes over time, all communications of known size"),
     RULE(.define = avg_comm_bandwidth_GBps)},
    {ROW(allreduce_comm_time_s, "s", 0, "union of all-reduces, mean over devices"),
     RULE(.of = {&q_all_reduce}, .sum_name = "allreduce_comm_time_sum_s")},
    {ROW(achieved_flops_from_trace_json, "FLOP/s", 0,
         "model FLOPs over the time of their operations, a device"),
     RULE(.of = {&q_flops_per_s, &q_flops}, .sum_name = "achieved_flops_slice",
          .again = "achieved_flops_per_device")},
    {ROW(total_model_flops_from_args, "FLOP", 0, "model FLOPs, all devices"),
     RULE(.of = {&q_flops}, .sum = true, .sum_name = "total_model_flops_all_devices")},
    {ROW(flops_per_token_used, "FLOP", 0, "6 (training) or 2 (inference) for each of --model_params"),
     RULE(.define = flops_per_token_used)},
    {ROW(estimated_bandwidth, "GB/s", 0, "bytes that operations read and write over wall time, all devices"),
     RULE(.define = estimated_bandwidth)},
    {ROW(estimated_total_tokens, "", 0, "model FLOPs over those of a token"), RULE(.define = put_tokens)},
    {ROW(estimated_throughput_tokens_per_s, "1/s", 0, "estimated tokens over wall time"),
     .alias = "throughput", RULE(.define = put_tokens, .per_second = true)},
};

METRIC_FAMILY(tpu);
