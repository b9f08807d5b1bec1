/* Memory: the heap behind one door, arenas on top of it, and growing arrays.
 *
 * No function here returns without memory: when there is none the program ends, by the handler that cli/
 * installs (one line and exit code 70). So no caller checks. What is large because of its input is estimated
 * before it is tried (sim/footprint.h), and what must outlive such an end is written atomically or committed
 * (base/fs.h, store/).
 *
 * Three lifetimes: the study (configuration), the point (graph, links, simulation: one arena, reset between
 * points) and scratch inside a call. */
#ifndef DSE_BASE_ALLOC_H
#define DSE_BASE_ALLOC_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Things refer to each other by uint32_t index; this is no index. */
#define DSE_NONE UINT32_MAX

/* Ends the program because memory has run out; also for libraries that say so in their own way. */
_Noreturn void dse_out_of_memory(void);

/* What dse_out_of_memory calls, in whichever thread met it; it must not return, nor allocate. Without one: a
 * line on stderr and abort(). */
void dse_on_out_of_memory(void (*handler)(void));

/* realloc(3); size 0 is rounded up to 1. */
void *dse_realloc(void *p, size_t size);
/* Zeroed. An overflow of n * size is memory that nobody has. */
void *dse_calloc(size_t n, size_t size);
void dse_free(void *p);

/* dse_arena -- bump allocator. Blocks are kept on reset, so the second point of a sweep allocates
 * nothing. Everything handed out is 16-byte aligned and lives until reset or free. */
typedef struct dse_arena_block dse_arena_block;
typedef struct {
    dse_arena_block *first, *current;
    size_t used;        /* bytes used in current */
    size_t total_bytes; /* bytes handed out since the last reset */
} dse_arena;

/* Under the address sanitizer every allocation has a poisoned zone behind it, and a reset gives all blocks
 * back. Otherwise the sanitizer would not see an array that runs into the next one, or a read of the last
 * point's graph. */
#if defined __SANITIZE_ADDRESS__
#define DSE_ARENA_IS_STRICT 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define DSE_ARENA_IS_STRICT 1
#endif
#endif
#ifndef DSE_ARENA_IS_STRICT
#define DSE_ARENA_IS_STRICT 0
#endif

void dse_arena_init(dse_arena *a);
void dse_arena_reset(dse_arena *a);
void dse_arena_free(dse_arena *a); /* accepts an arena that was only zeroed */

/* The memory is not cleared; _zero clears it, and checks n * size. */
void *dse_arena_alloc(dse_arena *a, size_t size);
void *dse_arena_zero(dse_arena *a, size_t n, size_t size);
/* A copy of n * size bytes; `from` may be NULL if n is 0. */
void *dse_arena_copy(dse_arena *a, const void *from, size_t n, size_t size);
char *dse_arena_strdup(dse_arena *a, const char *s);
char *dse_arena_strndup(dse_arena *a, const char *s, size_t n);
char *dse_arena_printf(dse_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A typed array of n elements, zeroed. */
#define DSE_ARENA_NEW(a, type, n) ((type *)dse_arena_zero((a), (n), sizeof(type)))
/* The same, not zeroed: it is about to be filled. */
#define DSE_ARENA_RAW(a, type, n) ((type *)dse_arena_raw((a), (n), sizeof(type)))
void *dse_arena_raw(dse_arena *a, size_t n, size_t size);

/* Growing heap arrays: `type *v; size_t n, cap;` all starting at zero. DSE_GROW makes room for `need`
 * elements. */
void dse_grow(void **v, size_t *cap, size_t need, size_t elem_size);
#define DSE_GROW(v, cap, need)                                                                               \
    ((need) <= (cap) ? (void)0 : dse_grow((void **)&(v), &(cap), (need), sizeof *(v)))

/* The same in an arena, where what was outgrown stays. */
void dse_arena_grow(dse_arena *a, void **v, size_t *cap, size_t need, size_t elem_size);
#define DSE_ARENA_GROW(a, v, cap, need)                                                                      \
    ((need) <= (cap) ? (void)0 : dse_arena_grow((a), (void **)&(v), &(cap), (need), sizeof *(v)))

/* Slots: a growing array whose elements are used again. The free ones are chained by `link`, a uint32_t that
 * an element in use may have for itself; *free begins as DSE_NONE. Returns an index, and the element as it
 * was left. */
static inline uint32_t dse_slot_take(void **v, size_t *cap, size_t *n, uint32_t *free, size_t elem_size,
                                     size_t link)
{
    uint32_t id = *free;

    if (id != DSE_NONE) {
        *free = *(const uint32_t *)(const void *)((const char *)*v + id * elem_size + link);
    } else {
        dse_grow(v, cap, *n + 1, elem_size);
        id = (uint32_t)(*n)++;
    }
    return id;
}
#define DSE_SLOT_TAKE(v, cap, n, free, type, link)                                                           \
    dse_slot_take((void **)&(v), &(cap), &(n), &(free), sizeof(type), offsetof(type, link))
/* Gives an element back. */
#define DSE_SLOT_GIVE(v, id, free, link) ((void)((v)[id].link = (free), (free) = (id)))

#endif
