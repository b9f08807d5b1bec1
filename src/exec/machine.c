#include "exec/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
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

/* As execvp(3) looks: an empty part of PATH is the current folder. */
bool exec_find(const char *program, char *out, size_t size)
{
    const char *path = getenv("PATH");

    while (path) {
        size_t n = strcspn(path, ":");
        int length = snprintf(out, size, "%.*s%s%s", (int)n, path, n ? "/" : "", program);
        struct stat sb;

        if (length > 0 && (size_t)length < size && access(out, X_OK) == 0 && stat(out, &sb) == 0 &&
            S_ISREG(sb.st_mode))
            return true;
        path = path[n] ? path + n + 1 : NULL;
    }
    return false;
}

const char *exec_uv_version(void) { return uv_version_string(); }
