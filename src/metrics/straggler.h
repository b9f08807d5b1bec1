/* straggler_lag: its definition and needs, which the guide's straggler reports too, and the original rule. */
#ifndef DSE_METRICS_STRAGGLER_H
#define DSE_METRICS_STRAGGLER_H

#include "metrics/metric.h"

#define METRIC_LAG_NEEDS (METRIC_NEEDS_RANKS | METRIC_NEEDS_CLOCK | METRIC_NEEDS_COMM)

metric_fn metric_straggler_lag;
metric_put_fn metric_straggler_compat;

#endif
