/* trace_pairs -- a hash table from two numbers to one, for formats that refer to things by number. */
#ifndef DSE_TRACE_PAIRS_H
#define DSE_TRACE_PAIRS_H

#include "base/alloc.h"
#include "base/idtable.h"

typedef struct {
    int64_t a, b;
    uint32_t value;
} trace_pair;

/* Pairs in the order of insertion; all zero is empty. */
typedef struct {
    size_t n, cap;
    trace_pair *entry;
    dse_idtable table;
} trace_pairs;

/* The value of a pair, valid up to the next call; DSE_NONE for a new one (*is_new). */
uint32_t *trace_pairs_at(trace_pairs *p, int64_t a, int64_t b, bool *is_new);

/* The place of a pair in entry[]; DSE_NONE if it is not there. */
uint32_t trace_pairs_find_place(const trace_pairs *p, int64_t a, int64_t b);

/* The value of a pair; DSE_NONE if it is not there. */
uint32_t trace_pairs_find(const trace_pairs *p, int64_t a, int64_t b);

/* The place of a value that trace_pairs_at returned. */
static inline uint32_t trace_pairs_place(const trace_pairs *p, const uint32_t *value)
{
    return (uint32_t)((const trace_pair *)(const void *)((const char *)value - offsetof(trace_pair, value)) -
                      p->entry);
}

void trace_pairs_free(trace_pairs *p);

#endif
