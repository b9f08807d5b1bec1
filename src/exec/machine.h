/* The machine this runs on. */
#ifndef DSE_EXEC_MACHINE_H
#define DSE_EXEC_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that this process may use, and what of it is free now, in bytes; 0: unknown. A limit set from
 * outside (a container's) counts. Cores: exec_cores in pool.h. */
void exec_memory(uint64_t *total, uint64_t *available);

/* Where PATH leads to for a program's name; false if to nothing that can be executed, or nothing that
 * fits. */
bool exec_find(const char *program, char *out, size_t size);

/* Of libuv, as it says at run time. */
const char *exec_uv_version(void);

#endif
