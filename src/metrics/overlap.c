/* Communication that compute covers. */
#include "metrics/metric.h"
#include "metrics/numbers.h"

static void put_rank(const metric_view *v, metric_value *out)
{
    int64_t comm = metric_spans_length(&v->comm_time), compute = metric_spans_length(&v->compute_time),
            both = metric_spans_overlap(&v->comm_time, &v->compute_time);

    metric_put_ms(out, "comm_time_ms", comm);
    metric_put_ms(out, "comp_time_ms", compute);
    metric_put_ms(out, "overlap_time_ms", both);
    metric_put_ms(out, "exposed_comm_time_ms", comm - both);
    metric_put_ratio(out, "overlap_ratio_of_comm", (double)both, (double)comm, "no communication");
    metric_put_ratio(out, "overlap_ratio_of_comp", (double)both, (double)compute, "no compute kernels");
    metric_put_integer(out, "num_comm_kernels", v->comm.n);
    metric_put_integer(out, "num_comp_kernels", v->compute.n);
}

static dse_status comm_comp_overlap(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *ranks = metric_put_object(out, "per_rank");

    (void)err;
    for (uint32_t i = 0; i < x->n_views; i++)
        put_rank(&x->view[i], metric_put_rank(ranks, x->view[i].rank));
    return DSE_OK;
}

static const metric rows[] = {
    {.name = "comm_comp_overlap",
     .group = "kineto",
     .unit = "",
     .help = "time of communication and compute kernels (unions), how much of either the other covers",
     .kinds = METRIC_ON_GPU,
     .compute = comm_comp_overlap},
};

METRIC_FAMILY(overlap);
