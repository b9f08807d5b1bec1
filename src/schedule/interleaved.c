/* Interleaved 1F1B (Narayanan et al. 2021): 1F1B on virtual micro-batches, each a micro-batch in one
 * chunk. */
#include "schedule/parts.h"

static void put_virtual(const sched_options *o, sched_queue *q, sched_kind kind, uint32_t k)
{
    sched_virtual at = sched_virtual_at(o, k);

    sched_put(q, kind, kind == SCHED_F ? at.chunk : o->vp - 1 - at.chunk, at.micro_batch);
}

static void fill(const sched_options *o, sched_queue *q)
{
    uint32_t total = o->micro_batches * o->vp, done = 0, warm_up;

    warm_up = 2 * (o->pp - 1 - q->rank) + (o->vp - 1) * o->group_size + o->overlap_moe;
    warm_up = sched_min(warm_up, total);
    for (uint32_t k = 0; k < warm_up; k++)
        put_virtual(o, q, SCHED_F, k);
    for (uint32_t k = warm_up; k < total; k++) {
        put_virtual(o, q, SCHED_F, k);
        sched_mark_pair(q, o->overlap_pairs);
        put_virtual(o, q, SCHED_B, done++);
    }
    while (done < total)
        put_virtual(o, q, SCHED_B, done++);
}

static bool has_several_ranks(const sched_options *o) { return o->pp > 1; }
static bool has_several_chunks(const sched_options *o) { return o->vp > 1; }

static bool group_is_in_range(const sched_options *o)
{
    return o->group_size >= o->pp && o->group_size <= o->micro_batches;
}

static const sched_condition several_ranks = {SCHED_BIT(MEGATRON), has_several_ranks, SCHED_VARY(pp),
                                              "only a pipeline of several ranks is interleaved"};
static const sched_condition several_chunks = {SCHED_BIT(MEGATRON), has_several_chunks, SCHED_VARY(vp),
                                               "a rank must have several chunks; with one it is 1f1b"};
static const sched_condition group_range = {SCHED_BIT(MEGATRON), group_is_in_range, SCHED_VARY(group_size),
                                            "a group must have at least pp and at most all micro-batches"};
static const sched_condition group_rest = {SCHED_BIT(MEGATRON), sched_groups_are_full, SCHED_VARY(group_size),
                                           "the last group must be full, or have at least pp micro-batches"};
static const sched_condition *const conditions[] = {
    &several_ranks,        &several_chunks,       &group_range,         &group_rest,
    &sched_group_possible, &sched_rounds_pytorch, &sched_group_pytorch, NULL};

const sched_def sched_def_interleaved = {
    .name = "interleaved",
    .summary = "1f1b with several chunks a rank, in groups of micro-batches",
    .pytorch = "Interleaved1F1B",
    .programs = SCHED_BIT(MEGATRON),
    .placement = SCHED_LOOP,
    .default_vp = 1,
    .has_groups = true,
    .conditions = conditions,
    .fill = fill,
};
