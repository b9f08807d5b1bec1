/* straggler_lag, which the guide's straggler reports too: its definition and needs. */
#ifndef DSE_METRICS_STRAGGLER_H
#define DSE_METRICS_STRAGGLER_H

#include "metrics/metric.h"

#define METRIC_LAG_NEEDS (METRIC_NEEDS_RANKS | METRIC_NEEDS_CLOCK | METRIC_NEEDS_COMM)

metric_fn metric_straggler_lag;

#endif
