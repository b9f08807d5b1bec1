/* A simulated run as a Chrome trace: Perfetto and chrome://tracing draw it, and the readers of traces read it back, so
 * that metrics measure it as they measure a recording.
 *
 *     {"simulator":"ccldse","world_size":8,"traceEvents":[...]}
 *
 * A process is a rank, a thread a stream: 7 compute, from 8 copies to and from remote memory, from 20 collectives, from
 * 40 messages, 1 the host. What runs at a time on one stream's behalf takes the next ones. Every node is an event "X",
 * ticks (ns) as microseconds with three decimals; cat "kernel" (copies: "gpu_memcpy", the host's: "cpu_op") with
 * Kineto's args. It communicates if the args have a "Collective name": all_reduce, all_gather, reduce_scatter,
 * all_to_all, broadcast, send, recv. Sizes are in elements of one "Byte": what the workload calls bytes. The annotation
 * ProfilerStep#0 is the rank's run, from 0 to its last end. */
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
    const char *messages; /* description of the two ranks of a message: "mesh_pp"; NULL: unknown */
} trace_timeline_groups;

/* Written as it goes, and put in the place of what was there when it is complete; compressed if the name ends in
 * ".gz". DSE_E_IO, DSE_E_NOMEM. */
dse_status trace_timeline_save(const trace_ticks *t, const trace_timeline_groups *g, const char *path,
                               dse_error *err);

#endif
