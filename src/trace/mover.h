/* trace_mover -- moves events of a file's one rank into ranks of their own, with the names, lanes and args
 * that they refer to: of a simulated timeline (chrome_split.c), of a host with several GPUs (xla_gpu.c). */
#ifndef DSE_TRACE_MOVER_H
#define DSE_TRACE_MOVER_H

#include "trace/record.h"

typedef struct trace_moved trace_moved;

typedef struct {
    const trace_rank *from;
    trace_rank *to;
    uint32_t rank;                   /* how many were begun */
    trace_moved *name, *lane, *args; /* by id of `from` */
} trace_mover;

trace_mover trace_mover_of(const trace_rank *from);
void trace_mover_free(trace_mover *m);

/* Begins a rank of this kind and number, with the time base of `from`; it is m->to. */
void trace_mover_begin(trace_mover *m, trace_record *to, trace_kind kind, const char *path, uint32_t number);

/* Adds an event of `from` to the rank, as of this category. */
void trace_mover_add(trace_mover *m, const trace_event *e, trace_category category);

#endif
