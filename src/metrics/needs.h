/* Checks of the needs of a metric, each with its reason and remedy. */
#ifndef DSE_METRICS_NEEDS_H
#define DSE_METRICS_NEEDS_H

#include "metrics/metric.h"

/* The context of a row, reduced to the ranks of the kinds that it takes (a memory snapshot lies beside a
 * timeline). *out borrows from *x and its arena. DSE_E_ABSENT: there is none. */
dse_status metric_narrow(const metric *m, const metric_context *x, bool compat, metric_context *out,
                         dse_error *err);

/* Checks METRIC_NEEDS_* of a context that was narrowed for the row. DSE_OK or DSE_E_ABSENT. */
dse_status metric_check_needs(unsigned needs, const metric_context *x, dse_error *err);

#endif
