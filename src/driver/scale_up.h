/* What twice the bandwidth within a node would save of a recorded step, in percent of its time: CCL-Bench's
 * metric scale_up_bw_utility. The trace as its converter takes it (whatif/compat.h: all kernels, by rank), on
 * the network of the workload card: rings within nodes (50 ns), a switch between them (50 us), ring
 * collectives. Source: its tools/scale_up_bw_utility, commit 1d257f0; spec of the metrics, section 9.2. */
#ifndef DSE_DRIVER_SCALE_UP_H
#define DSE_DRIVER_SCALE_UP_H

#include "metrics/context.h"

/* With compat both step times are rounded to 0.1 ms, as the original reads them from a log. DSE_E_ABSENT,
 * with the reason, whatever fails. */
dse_status drv_scale_up(const metric_context *x, double *percent, dse_error *err);

#endif
