#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*on_out_of_memory)(void);

void dse_on_out_of_memory(void (*handler)(void)) { on_out_of_memory = handler; }

void dse_out_of_memory(void)
{
    if (on_out_of_memory)
        on_out_of_memory();
    fputs("out of memory\n", stderr);
    abort();
}

/* Bytes of n elements. */
static size_t bytes_of(size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        dse_out_of_memory();
    return bytes;
}

void *dse_realloc(void *p, size_t size)
{
    p = realloc(p, size ? size : 1);
    if (!p)
        dse_out_of_memory();
    return p;
}

void *dse_calloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        dse_out_of_memory();
    return p;
}

void dse_free(void *p) { free(p); }

static size_t larger(size_t cap, size_t need)
{
    size_t want = cap ? cap : 16;

    while (want < need)
        want = want > SIZE_MAX / 2 ? SIZE_MAX : want * 2;
    return want;
}

void dse_grow(void **v, size_t *cap, size_t need, size_t elem_size)
{
    if (need <= *cap)
        return;
    *cap = larger(*cap, need);
    *v = dse_realloc(*v, bytes_of(*cap, elem_size));
}

void dse_arena_grow(dse_arena *a, void **v, size_t *cap, size_t need, size_t elem_size)
{
    size_t had = *cap;
    void *more;

    if (need <= had)
        return;
    *cap = larger(had, need);
    more = dse_arena_raw(a, *cap, elem_size);
    if (had)
        memcpy(more, *v, had * elem_size);
    *v = more;
}

/* ---- arena --------------------------------------------------------------------------------- */

#define ARENA_ALIGN       16u
#define ARENA_BLOCK_BYTES ((size_t)256 << 10)

#if DSE_ARENA_IS_STRICT
#include <sanitizer/asan_interface.h>
enum { ZONE_BYTES = 128 }; /* behind an allocation: the next element but one of most arrays */
#else
enum { ZONE_BYTES = 0 };
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

struct dse_arena_block {
    dse_arena_block *next;
    size_t size; /* bytes of data */
    _Alignas(ARENA_ALIGN) unsigned char data[];
};

void dse_arena_init(dse_arena *a) { *a = (dse_arena){0}; }

void dse_arena_reset(dse_arena *a)
{
    if (ZONE_BYTES)
        dse_arena_free(a);
    a->current = a->first;
    a->used = 0;
    a->total_bytes = 0;
}

void dse_arena_free(dse_arena *a)
{
    dse_arena_block *b = a->first;

    while (b) {
        dse_arena_block *next = b->next;

        ASAN_UNPOISON_MEMORY_REGION(b->data, b->size);
        dse_free(b);
        b = next;
    }
    *a = (dse_arena){0};
}

/* Moves on to a block with at least `size` free bytes, reusing the ones a reset left behind. */
static void next_block(dse_arena *a, size_t size)
{
    dse_arena_block **link = a->current ? &a->current->next : &a->first;
    dse_arena_block *b = *link;

    if (!b || b->size < size) {
        size_t want = size > ARENA_BLOCK_BYTES ? size : ARENA_BLOCK_BYTES;
        dse_arena_block *fresh;

        if (want > SIZE_MAX - sizeof *fresh)
            dse_out_of_memory();
        fresh = dse_realloc(NULL, sizeof *fresh + want);
        fresh->size = want;
        fresh->next = b;
        *link = fresh;
        b = fresh;
    }
    a->current = b;
    a->used = 0;
}

void *dse_arena_alloc(dse_arena *a, size_t size)
{
    unsigned char *p;
    size_t taken;

    if (size > SIZE_MAX - ARENA_ALIGN - ZONE_BYTES)
        dse_out_of_memory();
    taken = (size + ZONE_BYTES + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (!a->current || a->current->size - a->used < taken)
        next_block(a, taken);
    p = a->current->data + a->used;
    a->used += taken;
    a->total_bytes += taken - ZONE_BYTES;
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    ASAN_POISON_MEMORY_REGION(p + size, taken - size);
    return p;
}

void *dse_arena_raw(dse_arena *a, size_t n, size_t size) { return dse_arena_alloc(a, bytes_of(n, size)); }

void *dse_arena_zero(dse_arena *a, size_t n, size_t size)
{
    return memset(dse_arena_raw(a, n, size), 0, n * size);
}

void *dse_arena_copy(dse_arena *a, const void *from, size_t n, size_t size)
{
    void *copy = dse_arena_raw(a, n, size);

    return n ? memcpy(copy, from, n * size) : copy;
}

char *dse_arena_strndup(dse_arena *a, const char *s, size_t n)
{
    char *copy = dse_arena_alloc(a, n < SIZE_MAX ? n + 1 : n);

    memcpy(copy, s, n);
    copy[n] = '\0';
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
    if (n < 0) /* more than an int can count */
        dse_out_of_memory();
    out = dse_arena_alloc(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(out, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return out;
}
