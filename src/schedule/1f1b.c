/* 1F1B (PipeDream-Flush, Narayanan et al. 2021): after a warm-up, one forward and one backward in turns. The
 * last rank has no warm-up, each rank before it one forward more. */
#include "schedule/parts.h"

static void fill(const sched_options *o, sched_queue *q)
{
    uint32_t warm_up = sched_min(o->pp - 1 - q->rank + o->overlap_pairs, o->micro_batches), done = 0;

    for (uint32_t i = 0; i < warm_up; i++)
        sched_put(q, SCHED_F, 0, i);
    for (uint32_t i = warm_up; i < o->micro_batches; i++) {
        sched_put(q, SCHED_F, 0, i);
        sched_mark_pair(q, o->overlap_pairs);
        sched_put(q, SCHED_B, 0, done++);
    }
    while (done < o->micro_batches)
        sched_put(q, SCHED_B, 0, done++);
}

static bool as_many_as_ranks(const sched_options *o) { return o->micro_batches >= o->pp; }

static const sched_condition enough = {SCHED_BIT(PYTORCH), as_many_as_ranks, SCHED_VARY(micro_batches),
                                       "there must be at least as many micro-batches as ranks"};
static const sched_condition *const conditions[] = {&sched_one_chunk, &enough, NULL};

const sched_def sched_def_1f1b = {
    .name = "1f1b",
    .summary = "after a warm-up one forward and one backward in turns",
    .pytorch = "1F1B",
    .programs = SCHED_BIT(MEGATRON) | SCHED_BIT(DEEPSPEED),
    .placement = SCHED_LOOP,
    .default_vp = 1,
    .conditions = conditions,
    .fill = fill,
};
