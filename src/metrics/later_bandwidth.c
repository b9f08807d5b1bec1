/* Bandwidths of collectives, and the bytes they move. */
#include "metrics/comm_calls.h"
#include "metrics/comm_size.h"
#include "metrics/later.h"
#include "metrics/numbers.h"

#include <math.h>

#define GIB 1073741824.0

/* Traces that say how much a collective moves. */
#define ON_SIZED (METRIC_ON_HOST | METRIC_ON(TRACE_XLA))

/* The remedy where none says it. */
#define SIZES_OF "; NCCL kernels do, recorded with PyTorch 2.2 or newer (In msg nelems, dtype, Group size)"

/* ---- bandwidth_utilization_*_group_6 ------------------------------------------------------- */

/* Median over the calls of all ranks whose size, time and members are known of the bytes per second on a member's
 * link; the original takes the first file that has any, and its GB are of 2^30. */
static dse_status bandwidth(const metric_context *x, metric_value *out, dse_error *err)
{
    const metric_comm_type type = *(const metric_comm_type *)x->row->rule;
    const bool compat = x->options->compat;
    const double unit = compat ? GIB : 1e9;
    metric_value *median = metric_put_number(out, x->row->name, 0),
                 *samples = compat ? NULL : metric_put_count(out, "samples", 0),
                 *ranks = compat ? NULL : metric_put_object(out, "per_rank");
    uint32_t found = 0;
    size_t most = 0, n = 0, own;
    const comm_calls *c;
    double *rate;
    dse_status st = comm_calls_of(x, &c, err);

    if (st != DSE_OK)
        return st;
    for (uint32_t i = 0; i < x->n_views; i++)
        most += c[i].n;
    rate = DSE_ARENA_NEW(x->arena, double, most);
    for (uint32_t i = 0; i < x->n_views && !(compat && n); i++, n += own) {
        own = 0;
        for (const comm_call *v = c[i].call; v < c[i].call + c[i].n; v++) {
            found += v->type == type;
            if (v->type == type && v->bytes > 0 && v->seconds > 0 && isfinite(v->factor))
                rate[n + own++] = v->bytes * v->factor / v->seconds;
        }
        metric_sort(rate + n, own);
        if (own && ranks)
            metric_put_number(metric_put_rank(ranks, x->view[i].rank), x->row->name,
                              metric_quantile(rate + n, own, 0.5) / unit);
    }
    if (!n && compat)
        return metric_absent(err, "no %s kernel has a size", metric_comm_type_name[type]);
    if (!n && !found)
        return metric_absent(err, "the trace has no %s", metric_comm_type_name[type]);
    if (!n)
        return metric_absent(err, "none of the %u %ss has a size, a time and a group of known size" SIZES_OF,
                             found, metric_comm_type_name[type]);
    metric_sort(rate, n);
    median->number = metric_quantile(rate, n, 0.5) / unit;
    if (samples)
        samples->integer = (int64_t)n;
    return DSE_OK;
}

/* ---- bandwidth_utilization ----------------------------------------------------------------- */

/* The original assumes four links of 25 GB/s between two GPUs of Perlmutter. */
#define PERLMUTTER_BYTES_PER_S 100e9

/* The mean over the all-reduces of rank 0 of (S/n)(n-1) over the capacity of the link; a ring sends twice as
 * much. */
static const metric_pick all_reduces = METRIC_PICK(METRIC_LASTING, {.names = "=^ncclDevKernel_AllReduce"});

static void upstream_utilization(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_picked p = metric_pick_of(k->rank, &(metric_events){k->n, k->event}, &all_reduces, x->arena);

    for (uint32_t i = 0; k->rank->rank == 0 && i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        const trace_args *a = metric_args_of(k->rank, e);
        double bytes, n;

        if (!a || a->in_elements == TRACE_UNKNOWN || a->dtype == DSE_NONE)
            continue;
        bytes = (double)a->in_elements *
                metric_dtype_bytes(TRACE_NAME(k->rank, a->dtype), METRIC_DTYPES_LATER_FLOAT);
        n = a->group_size;
        if (bytes > 0 && n > 1)
            later_add_value(
                r, NULL, bytes / n * (n - 1) / PERLMUTTER_BYTES_PER_S / ((double)e->dur_ps / TRACE_PS_PER_S));
    }
}

/* Bus bandwidth over the card's, which is that of a node's links if the group fits into one node. */
static void add_utilization(const metric_context *x, const later_kernels *k, later_result *r)
{
    const trace_card *card = x->card;
    const metric_view *v = k->view;
    double sum = 0;
    uint32_t n = 0;

    if (!card || card->count_per_node <= 0 || isnan(card->bandwidth_gbps[0]) ||
        isnan(card->bandwidth_gbps[1])) {
        r->st =
            metric_absent(r->err, "it needs a workload card with hardware.network_topo.bandwidth_gbps and "
                                  "xpu_spec.count_per_node");
        return;
    }
    for (uint32_t c = 0; c < v->comm.n; c++) {
        const trace_event *e = &v->rank->event[v->comm.event[c]];
        metric_comm_size s = metric_comm_size_of(v->rank, e, METRIC_ALL_REDUCE);
        double link;

        if (v->comm_type[c] != METRIC_ALL_REDUCE || s.state != METRIC_SIZE_KNOWN || !s.group_size ||
            e->dur_ps <= 0)
            continue;
        link = card->bandwidth_gbps[(int64_t)s.group_size <= card->count_per_node] / 8 * 1e9;
        sum += (double)s.bytes * metric_bus_factor(METRIC_ALL_REDUCE, s.group_size) /
               ((double)e->dur_ps / TRACE_PS_PER_S) / link;
        n++;
    }
    later_add(r, v->rank, sum, n);
}

/* ---- collective_vol_*_gb ------------------------------------------------------------------- */

/* Bytes by type, in GB of 1e9; calls whose size is unknown count 0, as upstream. Upstream takes the first rank; the
 * definition is the mean over ranks, or over the devices of TPUs, and a call that does not say which
 * collective it is (RCCL's ncclDevKernel_Generic) may be any. */
static dse_status volume(const metric_context *x, metric_value *out, dse_error *err)
{
    const char *name = x->row->name;
    const unsigned types = *(const unsigned *)x->row->rule; /* a bit for each metric_comm_type */
    const bool compat = x->options->compat;
    uint32_t sized = 0, unknown = 0, holders = 0;
    metric_value *mean = metric_put_number(out, name, 0),
                 *ranks = compat ? NULL : metric_put_object(out, "per_rank");
    double sum = 0;
    const comm_calls *c;
    dse_status st = comm_calls_of(x, &c, err);

    if (st != DSE_OK)
        return st;
    for (uint32_t i = 0; i < (compat ? 1 : x->n_views); i++) {
        double bytes = 0;

        for (const comm_call *call = c[i].call; call < c[i].call + c[i].n; call++) {
            const bool counts = types >> call->type & 1, may = counts || call->type == METRIC_OTHER_COMM;

            bytes += counts ? call->bytes : 0;
            sized += counts && call->bytes > 0;
            unknown += may && !(call->bytes > 0);
        }
        sum += bytes / 1e9;
        holders += !compat && x->view[i].tpu.n ? x->view[i].tpu.n : 1;
        if (ranks)
            metric_put_number(metric_put_rank(ranks, x->view[i].rank), name, bytes / 1e9);
    }
    if (!compat && unknown && !sized)
        return metric_absent(err, "none of the %u calls says how much it moves" SIZES_OF, unknown);
    if (!compat)
        metric_put_integer(out, "without_size", unknown);
    mean->number = sum / holders;
    return DSE_OK;
}

#define BANDWIDTH_ROW(id, type, of)                                                                          \
    LATER_ROW(id, "GB/s", ON_SIZED, bandwidth, "median bus bandwidth of " of),                               \
        METRIC_RULE(metric_comm_type, type)
#define VOLUME_ROW(id, types, of)                                                                            \
    LATER_ROW_OF(id, "GB", ON_SIZED, METRIC_NEEDS_EVIDENCE, volume, "bytes of " of ", mean over ranks"),     \
        METRIC_RULE(unsigned, types)

#define ALL_REDUCE     (1u << METRIC_ALL_REDUCE)
#define ALL_GATHER     (1u << METRIC_ALL_GATHER)
#define REDUCE_SCATTER (1u << METRIC_REDUCE_SCATTER)
#define ALL_TO_ALL     (1u << METRIC_ALL_TO_ALL)

/* ---- scale_up_bw_utility --------------------------------------------------------------------- */

static dse_status scale_up(const metric_context *x, metric_value *out, dse_error *err)
{
    double percent;
    dse_status st;

    if (!x->card || isnan(x->card->bandwidth_gbps[1]))
        return metric_absent(
            err, "it takes the bandwidth within a node from the workload card (bandwidth_gbps, the second)");
    if (!x->options->scale_up)
        return metric_absent(err, "it takes a simulation");
    if ((st = x->options->scale_up(x, &percent, err)) == DSE_OK)
        metric_put_number(out, "scale_up_bw_utility", percent);
    return st;
}

static const metric rows[] = {
    {METRIC_ROW("scale_up_bw_utility", "later", "%", METRIC_ON(TRACE_KINETO), METRIC_NEEDS_RANKS,
                "what twice the bandwidth within a node would save of the simulated step"),
     .compute = scale_up, .compat = scale_up, .headline = "scale_up_bw_utility"},
    {LATER_VALUE("bandwidth_utilization", "", METRIC_ON_HOST,
                 "bus bandwidth of all-reduces over that of the card's links, mean"),
     LATER_RULE(.fold = add_utilization, .compat = upstream_utilization, .words = LATER_COMM_PLAIN,
                .scale = 1, .why = "no all-reduce has a size and a known group")},
    {BANDWIDTH_ROW("bandwidth_utilization_allgather_group_6", METRIC_ALL_GATHER, "all-gathers")},
    {BANDWIDTH_ROW("bandwidth_utilization_allreduce_group_6", METRIC_ALL_REDUCE, "all-reduces")},
    {BANDWIDTH_ROW("bandwidth_utilization_alltoall_group_6", METRIC_ALL_TO_ALL, "all-to-alls")},
    {BANDWIDTH_ROW("bandwidth_utilization_peertopeer_group_6", METRIC_SEND_RECV, "sends and receives")},
    {BANDWIDTH_ROW("bandwidth_utilization_reducescatter_group_6", METRIC_REDUCE_SCATTER, "reduce-scatters")},
    {VOLUME_ROW("collective_vol_allgather_gb", ALL_GATHER, "all-gathers")},
    {VOLUME_ROW("collective_vol_allreduce_gb", ALL_REDUCE, "all-reduces")},
    {VOLUME_ROW("collective_vol_alltoall_gb", ALL_TO_ALL, "all-to-alls")},
    {VOLUME_ROW("collective_vol_reducescatter_gb", REDUCE_SCATTER, "reduce-scatters")},
    {VOLUME_ROW("collective_vol_total_gb", ALL_REDUCE | ALL_GATHER | REDUCE_SCATTER | ALL_TO_ALL,
                "these four")},
};

METRIC_FAMILY(later_bandwidth);
