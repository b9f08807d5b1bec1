#include "base/queue.h"

void dse_queue_init(dse_queue *q)
{
    *q = (dse_queue){.free_cell = DSE_NONE, .free_tick = DSE_NONE, .due = {DSE_NONE, DSE_NONE}};
    for (int i = 0; i < DSE_QUEUE_RECENT; i++)
        q->recent[i].at = DSE_TIME_NONE;
}

void dse_queue_free(dse_queue *q)
{
    dse_free(q->cell);
    dse_free(q->tick);
    dse_queue_init(q);
}

/* ---- the wheel ----------------------------------------------------------------------------- */

/* A later tick than now. */
static inline void put_tick(dse_queue *q, uint32_t id)
{
    dse_time at = q->tick[id].at;
    uint32_t level = (63 - (uint32_t)__builtin_clzll(at ^ q->now)) / DSE_QUEUE_BITS;
    uint32_t s = (uint32_t)(at >> level * DSE_QUEUE_BITS) % DSE_QUEUE_SLOTS;
    dse_list *slot = &q->slot[level][s];

    if (!(q->filled[level] >> s & 1)) {
        *slot = DSE_LIST_EMPTY;
        q->filled[level] |= (uint64_t)1 << s;
        q->levels |= 1u << level;
    }
    DSE_LIST_ADD(slot, q->tick, id, dse_queue_tick, next);
}

/* It is now: its cells are due, behind those of an older list of the same tick. */
static void reach_tick(dse_queue *q, uint32_t id)
{
    dse_queue_tick *t = &q->tick[id];

    if (q->due.head == DSE_NONE)
        q->due = t->cells;
    else {
        q->cell[q->due.tail].next = t->cells.head;
        q->due.tail = t->cells.tail;
    }
    if (q->recent[dse_queue_place(t->at)].at == t->at)
        q->recent[dse_queue_place(t->at)].at = DSE_TIME_NONE;
    t->next = q->free_tick;
    q->free_tick = id;
}

/* Goes on to the earliest slot, and deals it out. */
static void deal(dse_queue *q)
{
    uint32_t level = (uint32_t)__builtin_ctz(q->levels), shift = level * DSE_QUEUE_BITS;
    uint32_t s = (uint32_t)__builtin_ctzll(q->filled[level]);

    q->filled[level] &= q->filled[level] - 1;
    if (!q->filled[level])
        q->levels &= q->levels - 1;
    q->now = ((q->now >> shift) / DSE_QUEUE_SLOTS * DSE_QUEUE_SLOTS + s) << shift;
    for (uint32_t id = q->slot[level][s].head, next; id != DSE_NONE; id = next) {
        next = q->tick[id].next;
        if (q->tick[id].at == q->now)
            reach_tick(q, id);
        else
            put_tick(q, id);
    }
}

bool dse_queue_advance(dse_queue *q)
{
    while (q->due.head == DSE_NONE && q->levels)
        deal(q);
    return q->due.head != DSE_NONE;
}

uint32_t dse_queue_begin(dse_queue *q, dse_time at)
{
    uint32_t id = DSE_SLOT_TAKE(q->tick, q->cap_ticks, q->n_ticks, q->free_tick, dse_queue_tick, next);

    q->tick[id] = (dse_queue_tick){.at = at, .cells = DSE_LIST_EMPTY};
    put_tick(q, id);
    q->recent[dse_queue_place(at)].at = at;
    q->recent[dse_queue_place(at)].tick = id;
    return id;
}
