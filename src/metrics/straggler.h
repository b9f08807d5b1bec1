/* straggler_lag as the original tool has it. */
#ifndef DSE_METRICS_STRAGGLER_H
#define DSE_METRICS_STRAGGLER_H

#include "metrics/metric.h"

metric_fn metric_straggler_compat;

#endif
