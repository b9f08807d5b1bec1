/* Rules that the original tools for Kineto traces have in common (CCL-Bench 273229f): which events are calls
 * of a collective, and which events count. */
#ifndef DSE_METRICS_COMPAT_KINETO_H
#define DSE_METRICS_COMPAT_KINETO_H

#include "metrics/classes.h"
#include "metrics/view.h"

/* A call of a collective by the name of an operator or annotation: nccl:all_reduce..., c10d::allreduce_... */
bool metric_compat_is_call(const char *name);

/* Whether its ts is above 0 in the file, as most tools demand. */
bool metric_compat_is_timed(const trace_rank *rank, const trace_event *e);

/* The time of the file, in microseconds. */
double metric_compat_us(const trace_rank *rank, int64_t ps);

/* The offset that makes times of `rank` comparable with those of `origin`, by addition. */
int64_t metric_clock_offset(const trace_rank *rank, const trace_rank *origin);

#endif
