/* An order in which the actions of a plan can be computed one by one, and the deadlock if there is none.
 *
 * Ranks run until they wait for another one. What a rank waits for is one slot, and the action that fills it
 * wakes the rank, so that each action is looked at once, and once more for each time that its rank waited. */
#include "schedule/compose.h"

#include <inttypes.h>

typedef struct {
    const sched_plan *plan;
    sched_step *step;
    uint32_t n_steps;
    /* By slot (done_slot), in two halves: the F, and the B or I. The action that was ordered, or DSE_NONE. */
    uint32_t *done;
    uint32_t *next;    /* [n_ranks] its next action */
    size_t *waits_for; /* [n_ranks] a slot of done, or NO_SLOT */
    uint32_t *ready;   /* stack of ranks that can go on */
    uint32_t n_ready;
    uint32_t (*seen)[SCHED_KINDS], (*count)[SCHED_KINDS]; /* by stage: actions so far, and in all */
} ordering;

#define NO_SLOT SIZE_MAX

static size_t done_slot(const sched_plan *p, uint32_t stage, bool backward, uint32_t micro_batch)
{
    return (backward ? sched_n_slots(p) : 0) + (size_t)stage * p->n_micro_batches + micro_batch;
}

/* Within its direction, of which there are two at most: a division for each action would take a quarter of
 * all time here. */
static uint32_t place_of(const sched_plan *p, uint32_t stage)
{
    return stage < p->n_stages ? stage : stage - p->n_stages;
}

/* The slots that an action needs: of its own stage, and of the one that its tensor comes from. */
static void needs_of(const sched_plan *p, const sched_action *x, size_t *own, size_t *neighbour,
                     uint32_t *from)
{
    uint32_t place = place_of(p, x->stage);
    bool backward = x->kind == SCHED_B || x->kind == SCHED_I;

    *own = x->kind == SCHED_F ? NO_SLOT : done_slot(p, x->stage, x->kind == SCHED_W, x->micro_batch);
    *neighbour = NO_SLOT;
    if (x->kind == SCHED_F && place > 0) {
        *from = x->stage - 1u;
        *neighbour = done_slot(p, *from, false, x->micro_batch);
    } else if (backward && place + 1 < p->n_stages) {
        *from = x->stage + 1u;
        *neighbour = done_slot(p, *from, true, x->micro_batch);
    }
}

/* The first slot that an action waits for, or NO_SLOT. */
static size_t missing(const ordering *o, const sched_action *x)
{
    size_t own, neighbour;
    uint32_t from;

    needs_of(o->plan, x, &own, &neighbour, &from);
    if (own != NO_SLOT && o->done[own] == DSE_NONE)
        return own;
    return neighbour != NO_SLOT && o->done[neighbour] == DSE_NONE ? neighbour : NO_SLOT;
}

static void wake(ordering *o, uint32_t stage, size_t slot)
{
    uint32_t rank = o->plan->stage_rank[stage];

    if (o->waits_for[rank] != slot)
        return;
    o->waits_for[rank] = NO_SLOT;
    o->ready[o->n_ready++] = rank;
}

/* Marks an action as done, and wakes the rank that has waited for it. */
static void finish(ordering *o, uint32_t index)
{
    const sched_plan *p = o->plan;
    const sched_action *x = &p->action[index];
    bool backward = x->kind != SCHED_F;
    uint32_t place = place_of(p, x->stage);
    size_t slot;

    if (x->kind == SCHED_W)
        return;
    slot = done_slot(p, x->stage, backward, x->micro_batch);
    o->done[slot] = index;
    if (backward && place > 0)
        wake(o, x->stage - 1u, slot);
    else if (!backward && place + 1 < p->n_stages)
        wake(o, x->stage + 1u, slot);
}

static void add_step(ordering *o, uint32_t rank, uint32_t index)
{
    const sched_plan *p = o->plan;
    const sched_action *x = &p->action[index];
    uint32_t from = 0, nth = ++o->seen[x->stage][x->kind];
    sched_step *s = &o->step[o->n_steps++];
    unsigned place = (nth == 1 ? SCHED_FIRST : 0u) | (nth == o->count[x->stage][x->kind] ? SCHED_LAST : 0u);
    size_t own, neighbour;

    needs_of(p, x, &own, &neighbour, &from);
    *s = (sched_step){.action = index,
                      .producer = DSE_NONE,
                      .duration = sched_duration_at(x->stage, x->kind, place),
                      .rank = (uint16_t)rank,
                      .with_next = x->with_next};
    if (neighbour != NO_SLOT && p->stage_rank[from] != rank)
        s->producer = o->done[neighbour];
    finish(o, index);
}

static void run_rank(ordering *o, uint32_t rank)
{
    const sched_plan *p = o->plan;

    while (o->next[rank] < p->first[rank + 1]) {
        uint32_t i = o->next[rank], n = p->action[i].with_next ? 2 : 1;

        for (uint32_t k = 0; k < n; k++)
            if ((o->waits_for[rank] = missing(o, &p->action[i + k])) != NO_SLOT)
                return;
        for (uint32_t k = 0; k < n; k++)
            add_step(o, rank, i + k);
        o->next[rank] += n;
    }
}

/* ---- deadlock ------------------------------------------------------------------------------ */

/* The action that fills a slot, as text. */
static void add_slot(const sched_plan *p, size_t slot, dse_strbuf *out)
{
    size_t n = sched_n_slots(p), within = slot % n;
    sched_action x = {.micro_batch = (uint32_t)(within % p->n_micro_batches),
                      .stage = (uint16_t)(within / p->n_micro_batches)};

    for (uint32_t i = 0; i < sched_n_actions(p); i++) {
        const sched_action *y = &p->action[i];

        if (y->stage == x.stage && y->micro_batch == x.micro_batch && (y->kind == SCHED_F) == (slot < n) &&
            y->kind != SCHED_W)
            x.kind = y->kind;
    }
    sched_add_action(p, &x, out);
}

/* The rank that a waiting rank waits for. */
static uint32_t holder_of(const ordering *o, uint32_t rank)
{
    const sched_plan *p = o->plan;

    return p->stage_rank[o->waits_for[rank] % sched_n_slots(p) / p->n_micro_batches];
}

/* The smallest rank of a circle of ranks that wait for each other, from a rank that waits for one of them. */
static uint32_t first_of_circle(const ordering *o, uint32_t rank)
{
    uint32_t first;

    for (uint32_t k = 0; k < o->plan->n_ranks; k++) /* so many steps lead into the circle */
        rank = holder_of(o, rank);
    first = rank;
    for (uint32_t r = holder_of(o, rank); r != rank; r = holder_of(o, r))
        if (r < first)
            first = r;
    return first;
}

static dse_status fail_deadlock(const ordering *o, uint32_t waiting, dse_error *err)
{
    enum { MOST_NAMED = 4 };
    const sched_plan *p = o->plan;
    uint32_t first = first_of_circle(o, waiting), rank = first, holder;
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    dse_strbuf_addf(&text, "deadlock: rank %" PRIu32, rank);
    for (int n = 0; n < MOST_NAMED; n++) {
        dse_strbuf_adds(&text, n ? ", which waits at " : " waits at ");
        sched_add_cell(p, &p->action[o->next[rank]], &text);
        dse_strbuf_adds(&text, " for ");
        add_slot(p, o->waits_for[rank], &text);
        holder = holder_of(o, rank);
        if (holder == rank)
            dse_strbuf_adds(&text, ", which comes later on this rank");
        else
            dse_strbuf_addf(&text, " of rank %" PRIu32, holder);
        if ((rank = holder) == first)
            break;
    }
    if (rank != first)
        dse_strbuf_adds(&text, ", and so on");
    st = dse_fail(err, DSE_E_SIM, "%s", text.data);
    dse_strbuf_free(&text);
    return st;
}

dse_status sched_order_make(const sched_plan *p, dse_arena *a, sched_order *out, dse_error *err)
{
    size_t n_stages = (size_t)p->n_directions * p->n_stages, n_done = 2 * sched_n_slots(p);
    ordering o = {.plan = p};
    dse_status st = DSE_OK;
    dse_arena scratch;

    dse_arena_init(&scratch);
    o.step = DSE_ARENA_RAW(a, sched_step, sched_n_actions(p));
    o.done = DSE_ARENA_RAW(&scratch, uint32_t, n_done);
    o.next = DSE_ARENA_RAW(&scratch, uint32_t, p->n_ranks);
    o.waits_for = DSE_ARENA_RAW(&scratch, size_t, p->n_ranks);
    o.ready = DSE_ARENA_RAW(&scratch, uint32_t, p->n_ranks);
    o.seen = dse_arena_zero(&scratch, n_stages, sizeof *o.seen);
    o.count = dse_arena_zero(&scratch, n_stages, sizeof *o.count);
    for (size_t i = 0; i < n_done; i++)
        o.done[i] = DSE_NONE;
    for (uint32_t i = 0; i < sched_n_actions(p); i++)
        o.count[p->action[i].stage][p->action[i].kind]++;
    for (uint32_t r = p->n_ranks; r-- > 0;) {
        o.next[r] = p->first[r];
        o.waits_for[r] = NO_SLOT;
        o.ready[o.n_ready++] = r;
    }
    while (o.n_ready)
        run_rank(&o, o.ready[--o.n_ready]);
    for (uint32_t r = 0; r < p->n_ranks && st == DSE_OK; r++)
        if (o.next[r] < p->first[r + 1])
            st = fail_deadlock(&o, r, err);
    dse_arena_free(&scratch);
    *out = (sched_order){p, o.step};
    return st;
}

sched_tensors sched_order_tensors(const sched_order *o, dse_arena *a)
{
    uint32_t n = sched_n_actions(o->plan);
    const sched_tensors t = {DSE_ARENA_RAW(a, uint32_t, n), DSE_ARENA_RAW(a, uint32_t, n)};

    for (uint32_t i = 0; i < n; i++)
        t.receiver[i] = DSE_NONE;
    for (uint32_t i = 0; i < n; i++) {
        t.producer[o->step[i].action] = o->step[i].producer;
        if (o->step[i].producer != DSE_NONE)
            t.receiver[o->step[i].producer] = o->step[i].rank;
    }
    return t;
}
