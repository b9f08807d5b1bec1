/* Private to compat*.c. */
#ifndef DSE_WHATIF_COMPAT_PARTS_H
#define DSE_WHATIF_COMPAT_PARTS_H

#include "whatif/compat.h"
#include "whatif/compat_events.h"

/* A node "<name>_<id>" that waits for nothing yet; whole microseconds, at least one. */
uint32_t compat_add_compute(whatif_et *et, dse_arena *a, const char *name, double us);

/* The same of a collective; group 0: of all ranks. */
uint32_t compat_add_collective(whatif_et *et, dse_arena *a, const char *name, size_t length, uint8_t coll,
                               uint64_t bytes, uint32_t group);

/* A text in small letters, in the arena. */
char *compat_lower(dse_arena *a, const char *text);

/* Whether a text has a word in it; the case does not count. */
bool compat_has(const char *text, const char *word);

dse_status compat_convert_comm(const whatif_compat_job *job, dse_arena *a, whatif_files *out, dse_error *err);
dse_status compat_convert_full(const whatif_compat_job *job, dse_arena *a, whatif_files *out, dse_error *err);
dse_status compat_convert_tpu(const whatif_compat_job *job, dse_arena *a, whatif_files *out, dse_error *err);

#endif
