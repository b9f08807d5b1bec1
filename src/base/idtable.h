/* dse_idtable -- an open-addressing hash table of ids: "which record has this key?"
 *
 * The records live in the caller's array; the table stores their ids and 32 bits of their hashes, so
 * growing and removing never look at a key. Linear probing, at most half full, 8 bytes a slot; a removal
 * moves followers up instead of leaving a tombstone, so a table that is filled and emptied for ever stays
 * fast. Lookups take the caller's comparison, which the compiler inlines. */
#ifndef DSE_BASE_IDTABLE_H
#define DSE_BASE_IDTABLE_H

#include "base/alloc.h"
#include "base/hash.h"

typedef struct {
    uint32_t hash, id; /* id DSE_NONE: empty */
} dse_idslot;

typedef struct {
    dse_idslot *slot;
    size_t n_slots, n_used; /* n_slots: a power of two, or 0 */
} dse_idtable;

/* True if record `id` has this key. */
typedef bool dse_id_equal(const void *records, uint32_t id, const void *key);

static inline void dse_idtable_free(dse_idtable *t)
{
    dse_free(t->slot);
    *t = (dse_idtable){0};
}

static inline void dse_idtable_reserve(dse_idtable *t)
{
    size_t n = t->n_slots ? t->n_slots * 2 : 64;
    dse_idslot *slot;

    if ((t->n_used + 1) * 2 <= t->n_slots)
        return;
    slot = (dse_idslot *)dse_realloc(NULL, n * sizeof *slot);
    for (size_t i = 0; i < n; i++)
        slot[i].id = DSE_NONE;
    for (size_t i = 0; i < t->n_slots; i++) {
        size_t at = t->slot[i].hash & (n - 1);

        if (t->slot[i].id == DSE_NONE)
            continue;
        while (slot[at].id != DSE_NONE)
            at = (at + 1) & (n - 1);
        slot[at] = t->slot[i];
    }
    dse_free(t->slot);
    t->slot = slot;
    t->n_slots = n;
}

/* The slot of the key, or the empty slot where it would go; the table must have been reserved once. */
static inline dse_idslot *dse_idtable_find(const dse_idtable *t, uint32_t hash, dse_id_equal *equal,
                                           const void *records, const void *key)
{
    size_t mask = t->n_slots - 1, i = hash & mask;

    while (t->slot[i].id != DSE_NONE && (t->slot[i].hash != hash || !equal(records, t->slot[i].id, key)))
        i = (i + 1) & mask;
    return &t->slot[i];
}

static inline void dse_idtable_put(dse_idtable *t, dse_idslot *empty, uint32_t hash, uint32_t id)
{
    *empty = (dse_idslot){hash, id};
    t->n_used++;
}

/* The id of the key: of the record that has it, or else `next`, which it then has. */
static inline uint32_t dse_idtable_intern(dse_idtable *t, uint32_t hash, dse_id_equal *equal,
                                          const void *records, const void *key, uint32_t next)
{
    dse_idslot *slot;

    dse_idtable_reserve(t);
    slot = dse_idtable_find(t, hash, equal, records, key);
    if (slot->id == DSE_NONE)
        dse_idtable_put(t, slot, hash, next);
    return slot->id;
}

static inline void dse_idtable_remove(dse_idtable *t, dse_idslot *slot)
{
    size_t mask = t->n_slots - 1, gap = (size_t)(slot - t->slot), i = gap;

    t->n_used--;
    for (;;) {
        t->slot[gap].id = DSE_NONE;
        do {
            i = (i + 1) & mask;
            if (t->slot[i].id == DSE_NONE)
                return;
        } while (((i - (t->slot[i].hash & mask)) & mask) < ((i - gap) & mask));
        t->slot[gap] = t->slot[i];
        gap = i;
    }
}

#endif
