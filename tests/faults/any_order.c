/* A library to be preloaded (LD_PRELOAD), by which qsort gets its elements in another order: what it leaves equal then comes
 * in any. The C library's qsort keeps the order of equal elements only while it has memory for a copy; others never do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

static void swap(char *a, char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char byte = a[i];

        a[i] = b[i];
        b[i] = byte;
    }
}

void qsort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    static _Thread_local uint64_t state = 88172645463325252u;
    static void (*real)(void *, size_t, size_t, int (*)(const void *, const void *));
    char *bytes = v;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "qsort");
    for (size_t i = n; i > 1; i--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        swap(bytes + (i - 1) * size, bytes + state % i * size, size);
    }
    real(v, n, size, compare);
}
