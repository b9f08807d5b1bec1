/* Which way of parallelism each communication of a rank serves. Source: spec of the metrics, section 3.6.
 *
 * By the description of its process group; else by the group's ranks against the card's degrees; else, with low
 * confidence, by what kind of collective it is: point-to-point is a pipeline's, all-to-all the experts', reduce-scatter
 * data parallel. */
#ifndef DSE_METRICS_TRAFFIC_H
#define DSE_METRICS_TRAFFIC_H

#include "metrics/metric.h"
#include "metrics/parallel.h"

typedef struct {
    uint8_t *parallel; /* metric_parallel of v->comm.event[i] */
    uint8_t *low;      /* 1: by its kind only */
} metric_traffic;

/* The arrays belong to the arena. DSE_E_CONFIG: the card's rank_order. */
dse_status metric_traffic_of(const metric_context *x, const metric_view *v, dse_arena *a, metric_traffic *out,
                             dse_error *err);

/* traffic_distribution as the original tool has it. traffic_compat.c */
metric_fn metric_traffic_compat;

#endif
