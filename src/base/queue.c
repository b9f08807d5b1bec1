#include "base/queue.h"

void dse_queue_init(dse_queue *q)
{
    *q = (dse_queue){.free_cell = DSE_NONE, .free_bucket = DSE_NONE, .current = DSE_NONE};
}

void dse_queue_free(dse_queue *q)
{
    dse_free(q->cell);
    dse_free(q->bucket);
    dse_free(q->heap);
    dse_idtable_free(&q->by_tick);
    dse_queue_init(q);
}

static bool bucket_is_at(const void *buckets, uint32_t id, const void *at)
{
    return ((const dse_queue_bucket *)buckets)[id].at == *(const dse_time *)at;
}

/* ---- heap of ticks ------------------------------------------------------------------------- */

static bool earlier(const dse_queue *q, size_t a, size_t b)
{
    return q->bucket[q->heap[a]].at < q->bucket[q->heap[b]].at;
}

static void swap(dse_queue *q, size_t a, size_t b)
{
    uint32_t t = q->heap[a];
    q->heap[a] = q->heap[b];
    q->heap[b] = t;
}

static void sift_up(dse_queue *q, size_t i)
{
    for (; i > 0 && earlier(q, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(q, i, (i - 1) / 2);
}

static void sift_down(dse_queue *q, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= q->n_heap)
            return;
        if (child + 1 < q->n_heap && earlier(q, child + 1, child))
            child++;
        if (!earlier(q, child, i))
            return;
        swap(q, i, child);
        i = child;
    }
}

/* ---- buckets and cells --------------------------------------------------------------------- */

static uint32_t new_bucket(dse_queue *q, dse_time at)
{
    uint32_t id =
        DSE_SLOT_TAKE(q->bucket, q->cap_buckets, q->n_buckets, q->free_bucket, dse_queue_bucket, head);

    if (id == DSE_NONE || !DSE_GROW(q->heap, q->cap_heap, q->n_heap + 1))
        return DSE_NONE;
    q->bucket[id] = (dse_queue_bucket){at, DSE_NONE, DSE_NONE};
    q->heap[q->n_heap++] = id;
    sift_up(q, q->n_heap - 1);
    return id;
}

static void drop_first_bucket(dse_queue *q)
{
    uint32_t id = q->heap[0];

    dse_idtable_remove(&q->by_tick, dse_idtable_find(&q->by_tick, (uint32_t)dse_hash_u64(q->bucket[id].at),
                                                     bucket_is_at, q->bucket, &q->bucket[id].at));
    q->heap[0] = q->heap[--q->n_heap];
    sift_down(q, 0);
    q->bucket[id].head = q->free_bucket;
    q->free_bucket = id;
}

static uint32_t new_cell(dse_queue *q, dse_event event)
{
    uint32_t id = DSE_SLOT_TAKE(q->cell, q->cap_cells, q->n_cells, q->free_cell, dse_queue_cell, next);

    if (id != DSE_NONE)
        q->cell[id] = (dse_queue_cell){event, DSE_NONE};
    return id;
}

bool dse_queue_add(dse_queue *q, dse_time at, dse_event event)
{
    uint32_t hash = (uint32_t)dse_hash_u64(at), cell;
    dse_queue_bucket *b;
    dse_idslot *slot;

    if (!dse_idtable_reserve(&q->by_tick))
        return false;
    slot = dse_idtable_find(&q->by_tick, hash, bucket_is_at, q->bucket, &at);
    if (slot->id == DSE_NONE) {
        uint32_t id = new_bucket(q, at);
        if (id == DSE_NONE)
            return false;
        dse_idtable_put(&q->by_tick, slot, hash, id);
    }
    cell = new_cell(q, event);
    if (cell == DSE_NONE)
        return false;
    b = &q->bucket[slot->id];
    if (b->tail == DSE_NONE)
        b->head = cell;
    else
        q->cell[b->tail].next = cell;
    b->tail = cell;
    return true;
}

bool dse_queue_take(dse_queue *q, dse_time *at, dse_event *event)
{
    dse_queue_bucket *b;
    uint32_t cell;

    /* A bucket stays in place while its events run: they may add to their own tick. */
    if (q->current != DSE_NONE && q->bucket[q->current].head == DSE_NONE) {
        drop_first_bucket(q);
        q->current = DSE_NONE;
    }
    if (q->current == DSE_NONE) {
        if (!q->n_heap)
            return false;
        q->current = q->heap[0];
    }
    b = &q->bucket[q->current];
    cell = b->head;
    b->head = q->cell[cell].next;
    if (b->head == DSE_NONE)
        b->tail = DSE_NONE;
    *at = b->at;
    *event = q->cell[cell].event;
    q->cell[cell].next = q->free_cell;
    q->free_cell = cell;
    q->n_events++;
    return true;
}
