/* trace_record -- a run, simulated or measured, in neutral terms: who did what from when to when.
 *
 * The simulator fills one, every reader of a profiler trace fills one, a metric reads one; so both sides
 * are measured by the same code. Events of one rank stand together, in the order of their start.
 * Parallel arrays of length n; everything belongs to the arena of whoever filled it. */
#ifndef DSE_TRACE_RECORD_H
#define DSE_TRACE_RECORD_H

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/time.h"

typedef enum {
    TRACE_COMPUTE,
    TRACE_COLLECTIVE,
    TRACE_SEND,
    TRACE_RECV,
    TRACE_MEMORY,
    TRACE_OTHER
} trace_category;

typedef struct {
    uint32_t n_ranks;
    uint64_t n;
    uint32_t *rank;
    uint64_t *id;          /* the event's own number: of a simulated run, the Chakra node */
    dse_time *start, *end; /* ns since the start of the run */
    uint8_t *category;     /* trace_category */
    uint8_t *type;         /* of a simulated run: Chakra's node type */
    uint64_t *bytes;       /* moved by a communication; 0 for others */
    const char **name;
} trace_record;

/* Room for n events. */
dse_status trace_record_init(trace_record *r, uint32_t n_ranks, uint64_t n, dse_arena *a, dse_error *err);

/* A heading, then one line an event: sys,node_id,issue_tick,finish_tick,node_type,node_name. */
void trace_record_write_csv(const trace_record *r, dse_strbuf *out);

/* The same into a file. DSE_E_IO, DSE_E_NOMEM. */
dse_status trace_record_save_csv(const trace_record *r, const char *path, dse_error *err);

#endif
