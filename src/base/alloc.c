#include "base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads allocate at the same time (exec/parallel.h); without the hook this is one plain load. */
static atomic_long fail_after = -1;

void dse_alloc_fail_after(long n) { atomic_store_explicit(&fail_after, n, memory_order_relaxed); }

static bool may_allocate(void)
{
    long left = atomic_load_explicit(&fail_after, memory_order_relaxed);

    while (left > 0)
        if (atomic_compare_exchange_weak_explicit(&fail_after, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return left < 0;
}

void *dse_realloc(void *p, size_t size)
{
    if (!may_allocate())
        return NULL;
    return realloc(p, size ? size : 1);
}

void *dse_calloc(size_t n, size_t size)
{
    if (!may_allocate())
        return NULL;
    return calloc(n ? n : 1, size ? size : 1);
}

void dse_free(void *p) { free(p); }

bool dse_grow(void **v, size_t *cap, size_t need, size_t elem_size)
{
    size_t want = *cap ? *cap : 16;
    void *p;

    if (need <= *cap)
        return true;
    while (want < need) {
        if (want > SIZE_MAX / 2)
            return false;
        want *= 2;
    }
    if (want > SIZE_MAX / elem_size)
        return false;
    p = dse_realloc(*v, want * elem_size);
    if (!p)
        return false;
    *v = p;
    *cap = want;
    return true;
}

/* ---- arena --------------------------------------------------------------------------------- */

#define ARENA_ALIGN       16u
#define ARENA_BLOCK_BYTES (256u * 1024u)

struct dse_arena_block {
    dse_arena_block *next;
    size_t size; /* bytes of data */
    _Alignas(ARENA_ALIGN) unsigned char data[];
};

void dse_arena_init(dse_arena *a) { *a = (dse_arena){0}; }

void dse_arena_reset(dse_arena *a)
{
    a->current = a->first;
    a->used = 0;
    a->total_bytes = 0;
}

void dse_arena_free(dse_arena *a)
{
    dse_arena_block *b = a->first;

    while (b) {
        dse_arena_block *next = b->next;
        dse_free(b);
        b = next;
    }
    *a = (dse_arena){0};
}

/* Moves on to a block with at least `size` free bytes, reusing the ones a reset left behind. */
static bool next_block(dse_arena *a, size_t size)
{
    dse_arena_block **link = a->current ? &a->current->next : &a->first;
    dse_arena_block *b = *link;

    if (!b || b->size < size) {
        size_t want = size > ARENA_BLOCK_BYTES ? size : ARENA_BLOCK_BYTES;
        dse_arena_block *fresh;

        if (want > SIZE_MAX - sizeof *fresh)
            return false;
        fresh = dse_realloc(NULL, sizeof *fresh + want);
        if (!fresh)
            return false;
        fresh->size = want;
        fresh->next = b;
        *link = fresh;
        b = fresh;
    }
    a->current = b;
    a->used = 0;
    return true;
}

void *dse_arena_alloc(dse_arena *a, size_t size)
{
    void *p;

    if (size > SIZE_MAX - ARENA_ALIGN)
        return NULL;
    size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (!a->current || a->current->size - a->used < size) {
        if (!next_block(a, size))
            return NULL;
    }
    p = a->current->data + a->used;
    a->used += size;
    a->total_bytes += size;
    return p;
}

void *dse_arena_zero(dse_arena *a, size_t n, size_t size)
{
    void *p;

    if (size && n > SIZE_MAX / size)
        return NULL;
    p = dse_arena_alloc(a, n * size);
    if (p)
        memset(p, 0, n * size);
    return p;
}

char *dse_arena_strndup(dse_arena *a, const char *s, size_t n)
{
    char *copy = n < SIZE_MAX ? dse_arena_alloc(a, n + 1) : NULL;

    if (copy) {
        memcpy(copy, s, n);
        copy[n] = '\0';
    }
    return copy;
}

char *dse_arena_strdup(dse_arena *a, const char *s) { return dse_arena_strndup(a, s, strlen(s)); }

char *dse_arena_printf(dse_arena *a, const char *fmt, ...)
{
    va_list ap;
    char *out;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    out = dse_arena_alloc(a, (size_t)n + 1);
    if (!out)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(out, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return out;
}
