/* Looped breadth-first (Lamy-Poirier 2023): each chunk runs all micro-batches before the next chunk's
 * turn; the backward pass takes chunks and micro-batches in descending order. */
#include "schedule/parts.h"

static void fill(const sched_options *o, sched_queue *q)
{
    for (uint32_t chunk = 0; chunk < o->vp; chunk++)
        for (uint32_t i = 0; i < o->micro_batches; i++)
            sched_put(q, SCHED_F, chunk, i);
    for (uint32_t chunk = o->vp; chunk-- > 0;)
        for (uint32_t i = o->micro_batches; i-- > 0;)
            sched_put(q, SCHED_B, chunk, i);
}

static const sched_condition *const conditions[] = {NULL};

const sched_def sched_def_looped_bfs = {
    .name = "looped_bfs",
    .summary = "each chunk runs all micro-batches before the next chunk's turn",
    .pytorch = "LoopedBFS",
    .placement = SCHED_LOOP,
    .default_vp = 1,
    .conditions = conditions,
    .fill = fill,
};
