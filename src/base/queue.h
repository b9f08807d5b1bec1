/* dse_queue -- events in the order (time, insertion): equal times run as they were scheduled.
 *
 * Events of one tick are a list. A training step is synchronous, so most insertions append to a list that is
 * there; `recent` finds it without a search. What it has forgotten gets a second list of the same tick behind
 * the first.
 *
 * Ticks lie in a hierarchical timing wheel (Varghese, Lauck: Hashed and hierarchical timing wheels, SOSP
 * 1987): time is read as digits of six bits, and a tick lies in the slot of the highest digit in which it
 * differs from now. When nothing is left now, the earliest slot is dealt out to those below it, in its order,
 * so that lists of equal times stay in the order in which they began. A tick moves at most once for each
 * digit of its delay, with no comparison. */
#ifndef DSE_BASE_QUEUE_H
#define DSE_BASE_QUEUE_H

#include "base/list.h"
#include "base/time.h"

/* What subject means is kind's to say. */
typedef struct {
    uint32_t kind, subject;
} dse_event;

typedef struct {
    dse_event event;
    uint32_t next;
} dse_queue_cell;
_Static_assert(sizeof(dse_queue_cell) == 12, "measure before growing the event");

typedef struct {
    dse_time at;
    dse_list cells;
    uint32_t next; /* in its slot */
} dse_queue_tick;

#define DSE_QUEUE_BITS   6 /* of a digit */
#define DSE_QUEUE_SLOTS  (1 << DSE_QUEUE_BITS)
#define DSE_QUEUE_LEVELS ((64 + DSE_QUEUE_BITS - 1) / DSE_QUEUE_BITS)
#define DSE_QUEUE_RECENT 64

typedef struct {
    dse_time now;
    dse_list due; /* cells of now */
    struct {
        dse_time at; /* DSE_TIME_NONE: none */
        uint32_t tick;
    } recent[DSE_QUEUE_RECENT];
    uint64_t filled[DSE_QUEUE_LEVELS];                /* bit s: slot s has ticks */
    uint32_t levels;                                  /* bit l: filled[l] is not 0 */
    dse_list slot[DSE_QUEUE_LEVELS][DSE_QUEUE_SLOTS]; /* ticks; undefined unless filled */
    dse_queue_cell *cell;
    size_t n_cells, cap_cells;
    uint32_t free_cell;
    dse_queue_tick *tick;
    size_t n_ticks, cap_ticks;
    uint32_t free_tick;
    uint64_t n_events; /* taken so far */
} dse_queue;

void dse_queue_init(dse_queue *q);
void dse_queue_free(dse_queue *q);

/* queue.c: what the two below need only now and then. A new list for a tick after now. The next tick becomes
 * now; false if there is none. */
uint32_t dse_queue_begin(dse_queue *q, dse_time at);
bool dse_queue_advance(dse_queue *q);

static inline size_t dse_queue_place(dse_time at) { return at * 0x9e3779b97f4a7c15u >> 58; }

/* `at` must not be earlier than the latest event taken. */
static inline void dse_queue_add(dse_queue *q, dse_time at, dse_event event)
{
    uint32_t id = DSE_SLOT_TAKE(q->cell, q->cap_cells, q->n_cells, q->free_cell, dse_queue_cell, next);
    dse_list *list = &q->due;

    if (at != q->now) {
        size_t place = dse_queue_place(at);
        uint32_t tick = q->recent[place].tick;

        if (q->recent[place].at != at || at == DSE_TIME_NONE)
            tick = dse_queue_begin(q, at);
        list = &q->tick[tick].cells;
    }
    q->cell[id].event = event;
    DSE_LIST_ADD(list, q->cell, id, dse_queue_cell, next);
}

/* Takes the next event; false if there is none. */
static inline bool dse_queue_take(dse_queue *q, dse_time *at, dse_event *event)
{
    uint32_t id;

    if (q->due.head == DSE_NONE && !dse_queue_advance(q))
        return false;
    id = q->due.head;
    *at = q->now;
    *event = q->cell[id].event;
    DSE_LIST_DROP_HEAD(&q->due, q->cell, next);
    q->cell[id].next = q->free_cell;
    q->free_cell = id;
    q->n_events++;
    return true;
}

#endif
