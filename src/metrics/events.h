/* Within the view: lists of events. What all may use is in view.h. */
#ifndef DSE_METRICS_EVENTS_H
#define DSE_METRICS_EVENTS_H

#include "metrics/view.h"

typedef struct {
    uint64_t key;
    uint32_t event;
} metric_sort_item;

/* Radix sort by the low `bits` of the keys, stable. The result is in `item`; `other` is as long. */
void metric_sort_items(metric_sort_item *item, metric_sort_item *other, uint32_t n, unsigned bits);

/* Room for n events in an empty list. */
void metric_room(metric_events *e, uint32_t n, dse_arena *a);

/* A copy of a list. */
void metric_keep(const metric_events *picked, dse_arena *a, metric_events *out);

#endif
