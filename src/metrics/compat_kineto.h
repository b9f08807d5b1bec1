/* Rules that the original tools for Kineto traces have in common (CCL-Bench 273229f): which events are calls
 * of a collective, and which events count. */
#ifndef DSE_METRICS_COMPAT_KINETO_H
#define DSE_METRICS_COMPAT_KINETO_H

#include "trace/record.h"

/* A call of a collective by the name of an operator or annotation. */
#define METRIC_COMPAT_CALLS                                                                                  \
    "=^nccl:all_reduce|=^nccl:reduce_scatter|=^nccl:all_gather|=^nccl:broadcast|=^nccl:reduce|=^nccl:send|"  \
    "=^nccl:recv|=^nccl:coalesced|=^nccl:all_to_all|=^c10d::allreduce_|=^c10d::allgather_|"                  \
    "=^c10d::broadcast_|=^c10d::reduce_scatter_|=^c10d::reduce_|=^c10d::send|=^c10d::recv_|=^c10d::alltoall"

/* Whether its ts is above 0 in the file, as most tools demand. */
bool metric_compat_is_timed(const trace_rank *rank, const trace_event *e);

/* The time of the file, in microseconds. */
double metric_compat_us(const trace_rank *rank, int64_t ps);

/* The offset that makes times of `rank` comparable with those of `origin`, by addition. */
int64_t metric_clock_offset(const trace_rank *rank, const trace_rank *origin);

#endif
