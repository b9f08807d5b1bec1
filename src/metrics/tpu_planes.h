/* tpu_planes -- which lines of a Chrome trace or an XSpace are a TPU's. */
#ifndef DSE_METRICS_TPU_PLANES_H
#define DSE_METRICS_TPU_PLANES_H

#include "metrics/tpu_ops.h"

/* By lane: the place of its device among the rank's, DSE_NONE if it holds no operations of one; and what line it is, a
 * number that is the same for lanes whose events may nest. */
typedef struct {
    uint32_t *device, *line;
    bool timed_only; /* no process is named a device: operations are the events that have a device duration */
} tpu_lanes;

/* Finds the devices, sorted by number and otherwise empty, in arena `a`; the lanes are in `scratch`. False when out of
 * memory. */
void tpu_lanes_find(const trace_rank *r, dse_arena *a, dse_arena *scratch, tpu_rank *out, tpu_lanes *lanes);

/* By lane: whether its process has "/device:TPU:" in its name, SparseCores included; all lanes if none has. That is how
 * the original tools of section 8 read a file. */
bool *tpu_device_lanes(const trace_rank *r, dse_arena *a);

#endif
