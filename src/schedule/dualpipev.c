/* DualPipeV (DeepSeek and Sea AI Lab, 2025): half of DualPipe, with two chunks of one model in a V in
 * place of the two directions. */
#include "schedule/dualpipe.h"

static void fill(const sched_options *o, sched_queue *q)
{
    sched_fill_dualpipe(o->pp, q->rank, o->micro_batches, q);
}

static const sched_condition enough = {SCHED_BIT(ANY), sched_has_twice_as_many, SCHED_VARY(micro_batches),
                                       "there must be at least as many micro-batches as stages, two a rank"};
static const sched_condition *const conditions[] = {&sched_two_chunks, &enough, NULL};

const sched_def sched_def_dualpipev = {
    .name = "dualpipev",
    .summary = "DualPipe with two chunks a rank in a V in place of two directions",
    .pytorch = "DualPipeV",
    .placement = SCHED_V,
    .default_vp = 2,
    .conditions = conditions,
    .fill = fill,
};
