#include "base/order.h"

#include <stdint.h>
#include <string.h>

#define BY(name, type)                                                                                       \
    int name(const void *a, const void *b)                                                                   \
    {                                                                                                        \
        const type *x = a, *y = b;                                                                           \
                                                                                                             \
        return (*x > *y) - (*x < *y);                                                                        \
    }

BY(dse_by_double, double)
BY(dse_by_u32, uint32_t)
BY(dse_by_u64, uint64_t)

int dse_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
