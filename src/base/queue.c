#include "base/queue.h"

void dse_queue_init(dse_queue *q) { *q = (dse_queue){.free_block = DSE_NONE, .due = {DSE_NONE, DSE_NONE}}; }

void dse_queue_free(dse_queue *q)
{
    dse_free(q->block);
    dse_queue_init(q);
}

/* ---- lists of blocks ----------------------------------------------------------------------- */

static uint32_t new_block(dse_queue *q)
{
    uint32_t id = DSE_SLOT_TAKE(q->block, q->cap_blocks, q->n_blocks, q->free_block, dse_queue_block, next);

    if (id != DSE_NONE) {
        q->block[id].n = 0;
        q->block[id].next = DSE_NONE;
    }
    return id;
}

static uint32_t drop_block(dse_queue *q, uint32_t id)
{
    uint32_t next = q->block[id].next;

    q->block[id].next = q->free_block;
    q->free_block = id;
    return next;
}

static inline bool append(dse_queue *q, dse_queue_list *list, bool empty, dse_queue_entry e)
{
    if (empty || q->block[list->tail].n == DSE_QUEUE_BLOCK) {
        uint32_t id = new_block(q);

        if (id == DSE_NONE)
            return false;
        if (empty)
            list->head = id;
        else
            q->block[list->tail].next = id;
        list->tail = id;
    }
    q->block[list->tail].entry[q->block[list->tail].n++] = e;
    return true;
}

/* ---- the wheel ----------------------------------------------------------------------------- */

static inline bool put(dse_queue *q, dse_queue_entry e)
{
    uint64_t differs = e.at ^ q->now;
    uint32_t level, slot;
    bool empty;

    if (!differs)
        return append(q, &q->due, q->due.head == DSE_NONE, e);
    level = (63 - (uint32_t)__builtin_clzll(differs)) / DSE_QUEUE_BITS;
    slot = (uint32_t)(e.at >> level * DSE_QUEUE_BITS) % DSE_QUEUE_SLOTS;
    empty = !(q->filled[level] >> slot & 1);
    q->filled[level] |= (uint64_t)1 << slot;
    q->levels |= 1u << level;
    return append(q, &q->slot[level][slot], empty, e);
}

bool dse_queue_add(dse_queue *q, dse_time at, dse_event event)
{
    return put(q, (dse_queue_entry){at, event});
}

/* Deals a list out to the slots below it; each block is free again once it is read. */
static bool deal(dse_queue *q, uint32_t block)
{
    bool ok = true;

    while (block != DSE_NONE) {
        for (uint32_t i = 0; ok && i < q->block[block].n; i++)
            ok = put(q, q->block[block].entry[i]);
        block = drop_block(q, block);
    }
    return ok;
}

/* Nothing is left at this tick: goes on to the earliest slot. One of the lowest level is a tick. */
static bool advance(dse_queue *q)
{
    uint32_t level = (uint32_t)__builtin_ctz(q->levels), shift = level * DSE_QUEUE_BITS;
    uint32_t slot = (uint32_t)__builtin_ctzll(q->filled[level]);
    dse_queue_list list = q->slot[level][slot];

    q->filled[level] &= q->filled[level] - 1;
    if (!q->filled[level])
        q->levels &= q->levels - 1;
    q->now = ((q->now >> shift) / DSE_QUEUE_SLOTS * DSE_QUEUE_SLOTS + slot) << shift;
    if (level)
        return deal(q, list.head);
    q->due = list;
    return true;
}

bool dse_queue_take(dse_queue *q, dse_time *at, dse_event *event)
{
    const dse_queue_block *b;

    while (q->due.head == DSE_NONE) {
        if (!q->levels)
            return false;
        if (!advance(q)) {
            q->failed = true;
            return false;
        }
    }
    b = &q->block[q->due.head];
    *at = b->entry[q->taken].at;
    *event = b->entry[q->taken].event;
    q->n_events++;
    if (++q->taken == b->n) {
        q->due.head = drop_block(q, q->due.head);
        q->taken = 0;
    }
    return true;
}
