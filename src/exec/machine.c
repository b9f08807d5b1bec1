#include "exec/machine.h"

#include <uv.h>

void exec_memory(uint64_t *total, uint64_t *available)
{
    uint64_t limit = uv_get_constrained_memory();

    *total = uv_get_total_memory();
    *available = uv_get_free_memory(); /* on Linux MemAvailable: caches that can be given up count */
    if (limit && limit < *total)
        *total = limit;
    if (*available > *total)
        *available = *total;
}

const char *exec_uv_version(void) { return uv_version_string(); }
