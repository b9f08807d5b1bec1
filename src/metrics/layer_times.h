/* layer_times -- host time of a model's layers, from ranges that name one ("FSDP::all_gather
 * (layers.26)"). */
#ifndef DSE_METRICS_LAYER_TIMES_H
#define DSE_METRICS_LAYER_TIMES_H

#include "metrics/spans.h"
#include "metrics/value.h"
#include "trace/record.h"

typedef struct {
    uint64_t layer;
    double ms;
} metric_layer_time;

/* The times of all ranks so far, in their order; on the heap. Starts zeroed. */
typedef struct {
    size_t n, cap;
    metric_layer_time *time;
    uint32_t n_ranks; /* that name any layer */
} metric_layer_times;

void metric_layer_times_free(metric_layer_times *t);

/* Adds a rank: the part of `within`, its steps, in which ranges of the host (operators, annotations) name the
 * layer, nested ones once, for each of n_steps. within NULL: the sum of all durations of all events, as the
 * original has it. */
void metric_layer_times_add(metric_layer_times *t, const trace_rank *r, const metric_spans *within,
                            uint32_t n_steps);

/* "layer_0": mean over the ranks that name any layer, layers ascending. Reorders t. */
void metric_layer_times_put(metric_layer_times *t, bool rounded, metric_value *to);

#endif
