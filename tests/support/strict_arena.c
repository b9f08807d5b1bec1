/* Arena allocations with bounds and an end that the address sanitizer sees.
 *
 * An arena hands out pieces of large blocks and keeps them on reset, so one array running into the next, or the last
 * point's graph read in this one, is no error to the sanitizer. Linked with -Wl,--wrap for the functions below, every
 * allocation gets a poisoned zone behind it, and a reset gives all blocks back. base/alloc.c itself stays as it is;
 * what it calls within itself is not wrapped. */
#include "base/alloc.h"

#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ZONE_BYTES 128u /* the next element but one of most arrays */

void *__real_dse_arena_alloc(dse_arena *a, size_t size);
void *__wrap_dse_arena_alloc(dse_arena *a, size_t size);
void *__wrap_dse_arena_zero(dse_arena *a, size_t n, size_t size);
char *__wrap_dse_arena_strndup(dse_arena *a, const char *s, size_t n);
char *__wrap_dse_arena_strdup(dse_arena *a, const char *s);
char *__wrap_dse_arena_printf(dse_arena *a, const char *fmt, ...);
void __wrap_dse_arena_reset(dse_arena *a);

void *__wrap_dse_arena_alloc(dse_arena *a, size_t size)
{
    unsigned char *p = size < SIZE_MAX - ZONE_BYTES ? __real_dse_arena_alloc(a, size + ZONE_BYTES) : NULL;

    if (p) {
        ASAN_UNPOISON_MEMORY_REGION(p, size);
        ASAN_POISON_MEMORY_REGION(p + size, ZONE_BYTES);
    }
    return p;
}

void *__wrap_dse_arena_zero(dse_arena *a, size_t n, size_t size)
{
    void *p = size && n > SIZE_MAX / size ? NULL : __wrap_dse_arena_alloc(a, n * size);

    if (p)
        memset(p, 0, n * size);
    return p;
}

char *__wrap_dse_arena_strndup(dse_arena *a, const char *s, size_t n)
{
    char *copy = n < SIZE_MAX ? __wrap_dse_arena_alloc(a, n + 1) : NULL;

    if (copy) {
        memcpy(copy, s, n);
        copy[n] = '\0';
    }
    return copy;
}

char *__wrap_dse_arena_strdup(dse_arena *a, const char *s)
{
    return __wrap_dse_arena_strndup(a, s, strlen(s));
}

char *__wrap_dse_arena_printf(dse_arena *a, const char *fmt, ...)
{
    va_list ap;
    char *out;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    out = n < 0 ? NULL : __wrap_dse_arena_alloc(a, (size_t)n + 1);
    if (!out)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(out, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return out;
}

void __wrap_dse_arena_reset(dse_arena *a) { dse_arena_free(a); }
