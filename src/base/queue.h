/* dse_queue -- events in the order (time, insertion): equal times run as they were scheduled.
 *
 * A hierarchical timing wheel (Varghese, Lauck: Hashed and hierarchical timing wheels, SOSP 1987): time is read as
 * digits of six bits, and an event lies in the slot of the highest digit in which it differs from the current tick.
 * When nothing is left at the current tick, the earliest slot is dealt out to those below it, in its order, so that equal
 * times stay in the order of their insertion. An event moves at most once for each digit of its delay, with no
 * comparison. A slot is a list of blocks from one pool, so memory follows the events that wait, not their history. */
#ifndef DSE_BASE_QUEUE_H
#define DSE_BASE_QUEUE_H

#include "base/alloc.h"
#include "base/time.h"

/* What subject means is kind's to say. */
typedef struct {
    uint32_t kind, subject;
} dse_event;

typedef struct {
    dse_time at;
    dse_event event;
} dse_queue_entry;
_Static_assert(sizeof(dse_queue_entry) == 16, "measure before growing the event");

#define DSE_QUEUE_BLOCK  31 /* events; a block is 504 bytes */
#define DSE_QUEUE_BITS   6  /* of a digit */
#define DSE_QUEUE_SLOTS  (1 << DSE_QUEUE_BITS)
#define DSE_QUEUE_LEVELS ((64 + DSE_QUEUE_BITS - 1) / DSE_QUEUE_BITS)

typedef struct {
    dse_queue_entry entry[DSE_QUEUE_BLOCK];
    uint32_t n, next; /* next: block, or DSE_NONE */
} dse_queue_block;

typedef struct {
    uint32_t head, tail; /* blocks; of a slot that is not filled: undefined */
} dse_queue_list;

typedef struct {
    dse_queue_block *block;
    size_t n_blocks, cap_blocks;
    uint32_t free_block;
    dse_queue_list due; /* of tick `now`, from `taken` of its first block on; head DSE_NONE: nothing */
    uint32_t taken;
    dse_time now;
    uint64_t filled[DSE_QUEUE_LEVELS]; /* bit s: slot s has events */
    uint32_t levels;                   /* bit l: filled[l] is not 0 */
    dse_queue_list slot[DSE_QUEUE_LEVELS][DSE_QUEUE_SLOTS];
    uint64_t n_events; /* taken so far */
    bool failed;       /* out of memory */
} dse_queue;

void dse_queue_init(dse_queue *q);
void dse_queue_free(dse_queue *q);

/* False when out of memory. `at` must not be earlier than the latest event taken. */
bool dse_queue_add(dse_queue *q, dse_time at, dse_event event);

/* Takes the next event; false if there is none, or when out of memory: then `failed` is set. */
bool dse_queue_take(dse_queue *q, dse_time *at, dse_event *event);

#endif
