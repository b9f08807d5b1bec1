/* The groups of micro-batches that interleaved schedules take through their chunks. PyTorch derives their
 * size, Megatron takes it as an option (microbatch_group_size_per_vp_stage). */
#include "schedule/parts.h"

/* How often p micro-batches fit into a step: PyTorch's number of rounds. */
static uint32_t rounds(const sched_options *o)
{
    uint32_t n = o->micro_batches / o->pp;

    return n ? n : 1;
}

bool sched_groups_are_full(const sched_options *o)
{
    uint32_t rest = o->micro_batches % o->group_size;

    return (o->group_size >= o->pp || o->group_size == o->micro_batches) && (rest == 0 || rest >= o->pp);
}

/* Megatron's default is p. PyTorch's is the equal share of each round; where there is none, a plan that is
 * like neither has the next larger size whose groups are full. */
uint32_t sched_default_group(const sched_options *o)
{
    sched_options tried = *o;

    if (o->like == SCHED_LIKE_MEGATRON)
        return o->pp;
    tried.group_size = (o->micro_batches + rounds(o) - 1) / rounds(o);
    while (o->like == SCHED_LIKE_ANY && !sched_groups_are_full(&tried))
        tried.group_size++;
    return tried.group_size;
}

sched_virtual sched_virtual_at(const sched_options *o, uint32_t k)
{
    uint32_t first = k / (o->group_size * o->vp) * o->group_size;
    uint32_t n = sched_min(o->group_size, o->micro_batches - first), within = k - first * o->vp;

    return (sched_virtual){within / n, first + within % n};
}

static bool is_possible(const sched_options *o) { return o->group_size <= o->micro_batches; }
static bool is_pytorchs(const sched_options *o) { return o->group_size == o->micro_batches / rounds(o); }
static bool rounds_are_equal(const sched_options *o) { return o->micro_batches % rounds(o) == 0; }

const sched_condition sched_group_possible = {SCHED_BIT(ANY), is_possible, SCHED_VARY(group_size),
                                              "a group has at most all micro-batches"};
const sched_condition sched_rounds_pytorch = {
    SCHED_BIT(PYTORCH), rounds_are_equal, SCHED_VARY(micro_batches),
    "micro-batches must be a multiple of the rounds, which are micro-batches / pp rounded down"};
const sched_condition sched_group_pytorch = {SCHED_BIT(PYTORCH), is_pytorchs, SCHED_VARY(group_size),
                                             "a group has the micro-batches of a round"};
const sched_condition sched_groups_wait = {
    SCHED_BIT(ANY), sched_groups_are_full, SCHED_VARY(group_size),
    "no group, not even the last, may be so much smaller than pp that ranks wait for each other for ever"};
