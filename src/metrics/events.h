/* metric_events -- lists of a rank's events, and the times in which they last.
 *
 * A list holds indexes into rank->event in the order of start; equal starts keep the order of the file. */
#ifndef DSE_METRICS_EVENTS_H
#define DSE_METRICS_EVENTS_H

#include "metrics/spans.h"
#include "trace/record.h"

static inline int64_t metric_start(const trace_event *e) { return e->start_ps; }
static inline int64_t metric_end(const trace_event *e) { return e->start_ps + e->dur_ps; }

#define METRIC_TEXT_OF(rank, e) ((e)->name == DSE_NONE ? "" : (rank)->names.text[(e)->name])

/* What the file says of an event beside its times; NULL: nothing. */
static inline const trace_args *metric_args_of(const trace_rank *rank, const trace_event *e)
{
    return e->args == DSE_NONE ? NULL : &rank->args[e->args];
}

typedef struct {
    uint32_t n;
    uint32_t *event;
} metric_events;

/* Room for n events in an empty list. */
void metric_room(metric_events *e, uint32_t n, dse_arena *a);

/* Puts event indexes into the order of start. */
void metric_sort_by_start(const trace_rank *rank, metric_events *e, dse_arena *scratch);

/* From the first start to the last end of a list; METRIC_NO_SPAN of an empty one. */
metric_span metric_span_of(const trace_rank *rank, const metric_events *e);

/* Union of the times of a list by start, in the arena. */
metric_spans metric_union_of(const trace_rank *rank, const metric_events *e, dse_arena *a);

/* The union of one class; class_of has the class of each event of the list. */
metric_spans metric_union_of_class(const trace_rank *rank, const metric_events *e, const uint8_t *class_of,
                                   uint8_t class, dse_arena *a);

/* The length of the union of each class of a list by start, in one pass. */
void metric_class_lengths(const trace_rank *rank, const metric_events *e, const uint8_t *class_of,
                          uint8_t n_classes, int64_t *ps);

typedef struct {
    uint64_t key;
    uint32_t event;
} metric_sort_item;

#endif
