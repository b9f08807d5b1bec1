/* A simulated run as a Chrome trace: Perfetto and chrome://tracing show it, and the reader of Chrome traces
 * reads it back, so metrics treat it like a recording.
 *
 *     {"simulator":"ccldse","world_size":8,"sizes":"elements","peak_memory":[1200,...],"traceEvents":[...]}
 *
 * A process is a rank, a thread a stream (node_event.h has their numbers). Every node is an event "X", ticks
 * (ns) as microseconds with three decimals; cat "kernel" (copies: "gpu_memcpy", the host's: "cpu_op") with
 * Kineto's args. A compute node of a generated workload has its "kernel_class" and its shape, "m", "n", "k"
 * and "batch" (ticks.h). An event communicates if the args have a "Collective name": all_reduce, all_gather,
 * reduce_scatter, all_to_all, broadcast, send, recv. Sizes are in elements of one "Byte": what the workload
 * calls bytes, which "sizes" tells from upstream's elements. The annotation ProfilerStep#0 is the rank's run,
 * from 0 until it has finished. "peak_memory" is the most that each rank's tensors take at a time, in the
 * same sizes; not there if that was not tracked. */
#ifndef DSE_TRACE_TIMELINE_H
#define DSE_TRACE_TIMELINE_H

#include "trace/ticks.h"

typedef struct {
    const char *name; /* "3" */
    const char *desc; /* "mesh_tp"; NULL: unknown */
    uint32_t n;
    const uint32_t *rank;
} trace_timeline_group;

typedef struct {
    uint32_t n;
    const trace_timeline_group *group; /* by the number that trace_ticks.with has */
    const char *messages;              /* description of a message's two ranks: "mesh_pp"; NULL: unknown */
} trace_timeline_groups;

/* The unit of the workload's sizes, and the memory and time of the run. */
typedef struct {
    bool in_bytes;               /* else elements, as upstream counts */
    const uint64_t *peak_memory; /* by rank; NULL: not tracked */
    /* by rank: when it has finished, with what comes after its nodes; NULL: its last end */
    const dse_time *wall;
} trace_timeline_sizes;

/* Writes a temporary file that replaces `path` once it is complete; compressed if the name ends in ".gz".
 * DSE_E_IO. */
dse_status trace_timeline_save(const trace_ticks *t, const trace_timeline_groups *g,
                               const trace_timeline_sizes *sizes, const char *path, dse_error *err);

#endif
