/* GPipe (Huang et al. 2019): all forwards, then all backwards. */
#include "schedule/parts.h"

static void fill(const sched_options *o, sched_queue *q)
{
    for (uint32_t i = 0; i < o->micro_batches; i++)
        sched_put(q, SCHED_F, 0, i);
    for (uint32_t i = 0; i < o->micro_batches; i++)
        sched_put(q, SCHED_B, 0, i);
}

static const sched_condition *const conditions[] = {&sched_one_chunk, NULL};

const sched_def sched_def_gpipe = {
    .name = "gpipe",
    .summary = "all forwards, then all backwards",
    .pytorch = "GPipe",
    .placement = SCHED_LOOP,
    .default_vp = 1,
    .conditions = conditions,
    .fill = fill,
};
