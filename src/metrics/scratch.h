/* A metric that works out long lists: they are gone when it is done, whatever else is computed of the trace. */
#ifndef DSE_METRICS_SCRATCH_H
#define DSE_METRICS_SCRATCH_H

#include "metrics/metric.h"

/* Runs it with an arena of its own in the context; what it puts into *out stays, as that has its own. */
dse_status metric_in_scratch(metric_fn *compute, const metric_context *x, metric_value *out, dse_error *err);

/* id_scratch: the metric `id`, run so. */
#define METRIC_IN_SCRATCH(id)                                                                                \
    static dse_status id##_scratch(const metric_context *x, metric_value *out, dse_error *err)               \
    {                                                                                                        \
        return metric_in_scratch(id, x, out, err);                                                           \
    }

#endif
