/* What a metric needs, each with its reason and remedy. */
#include "metrics/metric.h"

#include <inttypes.h>

static dse_status check_kind(const metric *m, const metric_context *x, dse_error *err)
{
    for (uint32_t i = 0; i < x->record->n_ranks; i++)
        if (m->kinds & METRIC_ON(x->record->rank[i].kind))
            return DSE_OK;
    return metric_absent(err, "it is not defined for a %s", trace_kind_name(x->record->rank[0].kind));
}

static dse_status check_steps(const metric_context *x, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++)
        if (!x->view[i].n_steps)
            return metric_absent(err,
                                 "rank %" PRIu32
                                 " has no step markers (ProfilerStep#); record with a schedule and "
                                 "profiler.step(), or mark iterations with NVTX ranges for Nsight Systems",
                                 x->view[i].rank->rank);
    return DSE_OK;
}

dse_status metric_check_needs(const metric *m, const metric_context *x, dse_error *err)
{
    dse_status st = check_kind(m, x, err);

    if (st == DSE_OK && (m->needs & METRIC_NEEDS_STEPS))
        st = check_steps(x, err);
    return st;
}
