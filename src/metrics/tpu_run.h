/* tpu_run -- the devices of all files of an XLA run in one list, for the metrics that go over them. */
#ifndef DSE_METRICS_TPU_RUN_H
#define DSE_METRICS_TPU_RUN_H

#include "metrics/context.h"

/* The original tools accept any Chrome trace; of the kinds of metric.h. */
#define TPU_ON_CHROME (METRIC_ON(TRACE_XLA) | METRIC_ON_HOST)

typedef struct {
    const metric_context *x;
    uint32_t n;
    const tpu_device **device;
    const trace_rank **rank; /* of each device */
} tpu_run;

/* In the context's arena, by rank and number. n 0: the trace has no device events. */
tpu_run tpu_run_of(const metric_context *x);

/* --n_chips; else how many devices there are; else the card's total_count; else DSE_E_ABSENT. */
dse_status tpu_run_chips(const tpu_run *run, uint32_t *n, dse_error *err);

/* --n_chips, as the original tools demand it. */
dse_status tpu_upstream_chips(const metric_context *x, uint32_t *n, dse_error *err);

#endif
