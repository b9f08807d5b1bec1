/* Sets of time as sorted, disjoint spans: union, intersection, difference, length. Picoseconds. */
#ifndef DSE_METRICS_SPANS_H
#define DSE_METRICS_SPANS_H

#include "base/alloc.h"

typedef struct {
    int64_t start, end; /* half-open */
} metric_span;

/* An empty span, which metric_span_extend grows from the first start to the last end. */
#define METRIC_NO_SPAN ((metric_span){INT64_MAX, INT64_MIN})

static inline double metric_seconds(int64_t ps) { return (double)ps / 1e12; }

static inline void metric_span_extend(metric_span *s, int64_t start, int64_t end)
{
    s->start = start < s->start ? start : s->start;
    s->end = end > s->end ? end : s->end;
}

/* A set of time: ascending, no two touch. */
typedef struct {
    size_t n;
    metric_span *span;
} metric_spans;

/* Builds a set from spans whose starts ascend, in place: merges those that touch or overlap, drops empty
 * ones. */
metric_spans metric_spans_merge(metric_span *span, size_t n);

/* The same for spans in any order: sorts them first. */
metric_spans metric_spans_merge_any(metric_span *span, size_t n);

int64_t metric_spans_length(const metric_spans *s);

/* Length of what is in both; one linear sweep. */
int64_t metric_spans_overlap(const metric_spans *a, const metric_spans *b);

/* The span of a set that holds this time; NULL. By bisection. */
const metric_span *metric_spans_at(const metric_spans *s, int64_t at);

/* Length of what lies within [start, end): found by bisection, so that it may be asked of every step. */
int64_t metric_spans_within(const metric_spans *s, int64_t start, int64_t end);

/* New sets in the arena. */
metric_spans metric_spans_unite(const metric_spans *a, const metric_spans *b, dse_arena *arena);
metric_spans metric_spans_subtract(const metric_spans *a, const metric_spans *b, dse_arena *arena);
metric_spans metric_spans_intersect(const metric_spans *a, const metric_spans *b, dse_arena *arena);

#endif
