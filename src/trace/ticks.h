/* trace_ticks -- a simulated run node by node: the times of each node, in the simulator's ticks.
 *
 * The simulator fills one on request. Events of a rank are contiguous, in the order of their start. Parallel
 * arrays of length n, in the arena of the caller. trace/record.h is the neutral form in which simulated and
 * measured runs are compared. */
#ifndef DSE_TRACE_TICKS_H
#define DSE_TRACE_TICKS_H

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/time.h"

typedef enum {
    TRACE_TICKS_COMPUTE,
    TRACE_TICKS_COLLECTIVE,
    TRACE_TICKS_SEND,
    TRACE_TICKS_RECV,
    TRACE_TICKS_MEMORY,
    TRACE_TICKS_OTHER,
    TRACE_TICKS_CPU /* compute of the host */
} trace_ticks_category;

/* The work of a compute node: `batch` matrix products of m x k by k x n, or else m elements. */
typedef struct {
    const char *class; /* "matmul" */
    uint64_t m, n, k, batch;
} trace_kernel;

typedef struct {
    uint32_t n_ranks;
    uint64_t n;
    uint32_t *rank;
    uint64_t *id;          /* of the Chakra node */
    dse_time *start, *end; /* ns since the start of the run */
    uint8_t *category;     /* trace_ticks_category */
    uint8_t *type;         /* Chakra's node type */
    uint64_t *bytes;       /* moved by a communication; 0 for others */
    uint8_t *collective;   /* Chakra's collective type, of a TRACE_TICKS_COLLECTIVE */
    uint32_t *with; /* a collective's group, of the workload's; a message's rank at the other end; DSE_NONE */
    const char **name;
    const trace_kernel **kernel; /* NULL: not a compute node, or not known; the array may be NULL, too */
} trace_ticks;

/* Room for n events. */
void trace_ticks_init(trace_ticks *r, uint32_t n_ranks, uint64_t n, dse_arena *a);

/* A heading, then one line an event: sys,node_id,issue_tick,finish_tick,node_type,node_name. */
void trace_ticks_write_csv(const trace_ticks *r, dse_strbuf *out);

/* The same into a file. DSE_E_IO. */
dse_status trace_ticks_save_csv(const trace_ticks *r, const char *path, dse_error *err);

#endif
