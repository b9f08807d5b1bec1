/* When collectives begin on the ranks: the clocks that are compared, and straggler_lag as the original tool has it. */
#ifndef DSE_METRICS_STRAGGLER_H
#define DSE_METRICS_STRAGGLER_H

#include "metrics/metric.h"

/* Whether clocks are aligned by the ends of collectives: as --align says, or else if the card puts the ranks on more than
 * one node. */
bool metric_aligns_clocks(const metric_context *x);

metric_fn metric_straggler_compat;

#endif
