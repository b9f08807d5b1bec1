/* A metric that works out long lists: they are gone when it is done, whatever else is computed of the trace. */
#ifndef DSE_METRICS_SCRATCH_H
#define DSE_METRICS_SCRATCH_H

#include "metrics/metric.h"

/* Whether the traces are of these kinds, METRIC_ON of each: else DSE_E_ABSENT. needs.c asks that of the definition alone. */
dse_status metric_check_on(unsigned kinds, const metric_context *x, dse_error *err);

/* Runs it with an arena of its own in the context; what it puts into *out stays, as that has its own. */
dse_status metric_in_scratch(metric_fn *compute, const metric_context *x, metric_value *out, dse_error *err);

/* id_scratch: the metric `id`, run so on traces of these kinds. */
#define METRIC_IN_SCRATCH(id, kinds)                                                                         \
    static dse_status id##_scratch(const metric_context *x, metric_value *out, dse_error *err)               \
    {                                                                                                        \
        dse_status st = metric_check_on((kinds), x, err);                                                    \
        return st == DSE_OK ? metric_in_scratch(id, x, out, err) : st;                                       \
    }

#endif
