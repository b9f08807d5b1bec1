#include "fuzz/fuzz.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#if DSE_ARENA_IS_STRICT /* under AddressSanitizer (base/alloc.h) */
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, n)   ((void)(at), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#endif

#define SMALLEST 32
#define CLASSES  16 /* powers of 2 from there; larger blocks are malloc's */

/* In front of each block. */
typedef struct block {
    struct block *next; /* of the free ones */
    int size, class;    /* of the text behind; CLASSES: malloc's */
} block;

static block *free_list[CLASSES];

static int class_of(int n)
{
    int class = 0;

    while (class < CLASSES && n > SMALLEST << class)
        class ++;
    return class;
}

static int round_up(int n)
{
    const int class = class_of(n);

    return class < CLASSES ? SMALLEST << class : (n + 7) & ~7;
}

static void *give(int n)
{
    const int class = class_of(n);
    block *b = class < CLASSES ? free_list[class] : NULL;

    if (b)
        free_list[class] = b->next;
    else if ((b = malloc(sizeof *b + (size_t)round_up(n))))
        *b = (block){.size = round_up(n), .class = class};
    if (!b)
        return NULL;
    ASAN_UNPOISON_MEMORY_REGION(b + 1, (size_t)b->size);
    return b + 1;
}

static void take_back(void *at)
{
    block *b = (block *)at - 1;

    if (b->class == CLASSES) {
        free(b);
        return;
    }
    ASAN_POISON_MEMORY_REGION(at, (size_t)b->size);
    b->next = free_list[b->class];
    free_list[b->class] = b;
}

static int size_of(void *at) { return at ? ((block *)at - 1)->size : 0; }

static void *resize(void *at, int n)
{
    const int had = size_of(at);
    void *other;

    if (n <= had && had <= 2 * n)
        return at;
    if ((other = give(n))) {
        memcpy(other, at, (size_t)(had < n ? had : n));
        take_back(at);
    }
    return other;
}

static int begin(void *user)
{
    (void)user;
    return SQLITE_OK;
}

static void end(void *user) { (void)user; }

void fuzz_use_sqlite_pool(void)
{
    static const sqlite3_mem_methods methods = {give, take_back, resize, size_of, round_up, begin, end, NULL};
    static bool is_used;

    if (!is_used)
        ENSURE(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK);
    is_used = true;
}
