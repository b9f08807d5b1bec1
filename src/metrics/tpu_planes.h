/* tpu_planes -- which lines of a Chrome trace or an XSpace are a TPU's. */
#ifndef DSE_METRICS_TPU_PLANES_H
#define DSE_METRICS_TPU_PLANES_H

#include "trace/record.h"

/* A device of a rank. */
typedef struct {
    uint32_t number; /* of /device:TPU:<number>; without processes named so: its place */
    uint32_t pid;    /* a name */
} tpu_plane;

/* The devices, and by lane: the place of its device among them, DSE_NONE if it holds no operations of one;
 * and what line it is, a number that is the same for lanes whose events may nest. */
typedef struct {
    uint32_t n;
    tpu_plane *plane; /* by number */
    uint32_t *device, *line;
    bool timed_only; /* no process is named a device: operations are the events that have a device duration */
} tpu_lanes;

tpu_lanes tpu_lanes_of(const trace_rank *r, dse_arena *a);

/* Whether the process of each lane has "/device:TPU:" in its name, SparseCores included; all lanes if none
 * has. The original tools of section 8 read a file this way. */
bool *tpu_device_lanes(const trace_rank *r, dse_arena *a);

#endif
