/* The parallelism that each communication of a rank serves. Source: spec of the metrics, section 3.6.
 *
 * It follows from the description of the process group; or else from the group's ranks and the card's
 * degrees; or else, with low confidence, from the type of collective: point-to-point serves pipelines,
 * all-to-all serves experts, reduce-scatter serves data parallelism. */
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
metric_put_fn metric_traffic_compat;

#endif
