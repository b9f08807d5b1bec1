/* dse_queue -- events in the order (time, insertion): equal times run as they were scheduled.
 *
 * Events of one tick share a bucket, a list that also takes what is scheduled for the current tick while
 * it runs. A binary heap orders the distinct ticks, a hash table finds the bucket of a tick. A training
 * step is synchronous: there are far fewer ticks than events, so most insertions append to a list. */
#ifndef DSE_BASE_QUEUE_H
#define DSE_BASE_QUEUE_H

#include "base/idtable.h"
#include "base/time.h"

/* The tick is the bucket's; what subject means is kind's to say. */
typedef struct {
    uint32_t kind, subject;
} dse_event;
_Static_assert(sizeof(dse_event) == 8, "measure before growing the event");

typedef struct {
    dse_event event;
    uint32_t next; /* cell, or DSE_NONE */
} dse_queue_cell;

typedef struct {
    dse_time at;
    uint32_t head, tail; /* cells */
} dse_queue_bucket;

typedef struct {
    dse_queue_cell *cell;
    size_t n_cells, cap_cells;
    uint32_t free_cell;
    dse_queue_bucket *bucket;
    size_t n_buckets, cap_buckets;
    uint32_t free_bucket;
    uint32_t *heap; /* bucket ids, earliest first */
    size_t n_heap, cap_heap;
    dse_idtable by_tick;
    uint32_t current;  /* bucket of the latest event, or DSE_NONE */
    uint64_t n_events; /* taken so far */
} dse_queue;

void dse_queue_init(dse_queue *q);
void dse_queue_free(dse_queue *q);

/* False when out of memory. `at` must not be earlier than the latest event taken. */
bool dse_queue_add(dse_queue *q, dse_time at, dse_event event);

/* Takes the next event; false if there is none. */
bool dse_queue_take(dse_queue *q, dse_time *at, dse_event *event);

#endif
