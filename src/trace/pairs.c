#include "trace/pairs.h"

static bool same_pair(const void *records, uint32_t id, const void *key)
{
    const trace_pair *e = (const trace_pair *)records + id, *k = key;

    return e->a == k->a && e->b == k->b;
}

static uint32_t hash_of(const trace_pair *p)
{
    return (uint32_t)dse_hash_u64(dse_hash_u64((uint64_t)p->a) ^ (uint64_t)p->b);
}

uint32_t *trace_pairs_at(trace_pairs *p, int64_t a, int64_t b, bool *is_new)
{
    trace_pair key = {a, b, DSE_NONE};
    uint32_t hash = hash_of(&key);
    dse_idslot *slot;

    dse_idtable_reserve(&p->table);
    slot = dse_idtable_find(&p->table, hash, same_pair, p->entry, &key);
    *is_new = slot->id == DSE_NONE;
    if (!*is_new)
        return &p->entry[slot->id].value;
    if (p->n >= DSE_NONE - 1)
        dse_out_of_memory();
    DSE_GROW(p->entry, p->cap, p->n + 1);
    p->entry[p->n] = key;
    dse_idtable_put(&p->table, slot, hash, (uint32_t)p->n);
    return &p->entry[p->n++].value;
}

uint32_t trace_pairs_find_place(const trace_pairs *p, int64_t a, int64_t b)
{
    trace_pair key = {a, b, DSE_NONE};

    return p->n ? dse_idtable_find(&p->table, hash_of(&key), same_pair, p->entry, &key)->id : DSE_NONE;
}

uint32_t trace_pairs_find(const trace_pairs *p, int64_t a, int64_t b)
{
    uint32_t place = trace_pairs_find_place(p, a, b);

    return place == DSE_NONE ? DSE_NONE : p->entry[place].value;
}

void trace_pairs_free(trace_pairs *p)
{
    dse_free(p->entry);
    dse_idtable_free(&p->table);
    *p = (trace_pairs){0};
}
