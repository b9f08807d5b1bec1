#include "metrics/scratch.h"

dse_status metric_check_on(unsigned kinds, const metric_context *x, dse_error *err)
{
    trace_kind kind = x->record->rank[0].kind;

    if (kinds & METRIC_ON(kind))
        return DSE_OK;
    return metric_absent(err, "it is not computed of this kind of trace (%s)", trace_kind_name(kind));
}

dse_status metric_in_scratch(metric_fn *compute, const metric_context *x, metric_value *out, dse_error *err)
{
    metric_context own = *x;
    dse_arena scratch;
    dse_status st;

    dse_arena_init(&scratch);
    own.arena = &scratch;
    st = compute(&own, out, err);
    dse_arena_free(&scratch);
    return st;
}
