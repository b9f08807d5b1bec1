/* metric_nest -- ranges of threads, operators or annotations, each with the one around it: what a thread was
 * in at a time. */
#ifndef DSE_METRICS_NEST_H
#define DSE_METRICS_NEST_H

#include "metrics/events.h"

typedef struct {
    uint32_t lane, event;
    uint32_t outer; /* the last one before it, of the same thread, that does not end earlier; DSE_NONE */
    int64_t start, end;
} metric_nested;

typedef struct {
    uint32_t n;
    metric_nested *item; /* by thread and start, of equal ones the longer first */
} metric_nest;

/* Of these events, in any order; in the arena. */
metric_nest metric_nest_of(const trace_rank *r, const metric_events *list, dse_arena *a);

/* The place of the innermost range of a thread that holds this time; DSE_NONE. By bisection. */
uint32_t metric_nest_at(const metric_nest *nest, uint32_t lane, int64_t at);

/* That of the outermost one. */
uint32_t metric_nest_around(const metric_nest *nest, uint32_t lane, int64_t at);

#endif
