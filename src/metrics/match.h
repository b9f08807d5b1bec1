/* metric_match -- which collectives of different ranks are the same: the k-th of one type and process
 * group on one rank is the k-th of them on the others. */
#ifndef DSE_METRICS_MATCH_H
#define DSE_METRICS_MATCH_H

#include "metrics/context.h"
#include "metrics/parallel.h"

typedef struct {
    uint32_t kind, ordinal, view; /* the ordinal-th of its kind on the view's rank */
    const trace_event *event;
} metric_match_call;

/* The group of a communication by its arguments; of no arguments by NULL. */
typedef metric_group metric_group_fn(const trace_rank *rank, const trace_args *args);

/* A process group and a type. */
typedef struct {
    metric_group group; /* told apart by the text of `ranks`, which NULL is one of */
    uint8_t type;
} metric_match_kind;

typedef struct {
    size_t n_kinds, n;
    /* by their first occurrence over the ranks in turn; `sorted`: by group, then type */
    metric_match_kind *kind;
    /* by kind, ordinal, view: the same collective of several ranks stands together */
    metric_match_call *call;
} metric_match;

/* Everything that communicates, in the arena. */
metric_match metric_match_of(const metric_context *x, metric_group_fn *group_of, bool sorted, dse_arena *a);

/* How many calls from the i-th on are of the same collective. */
size_t metric_match_length(const metric_match *m, size_t i);

#endif
