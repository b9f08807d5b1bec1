/* What the fuzz targets share.
 *
 * A target is one file, fuzz_<name>.c, with LLVMFuzzerTestOneInput. It is linked with libFuzzer (clang,
 * -DCCLDSE_FUZZ=ON) or with replay.c. Besides "no crash, no leak, no undefined behaviour, and an end", a
 * target checks claims: an error says something, what is written can be read back. A claim that does not
 * hold aborts. */
#ifndef CCLDSE_FUZZ_H
#define CCLDSE_FUZZ_H

#include "base/alloc.h"
#include "network/network.h"
#include "sim/settings.h"
#include "workload/chakra.h"

#include <stddef.h>
#include <stdint.h>

/* Larger inputs are skipped: they would find time, not faults. */
#define FUZZ_MAX_BYTES 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(condition) fuzz_ensure((condition), #condition, __FILE__, __LINE__)
void fuzz_ensure(bool holds, const char *text, const char *file, int line);

/* A failure fills the error, with a text; a success leaves it empty. True on success. */
bool fuzz_ok(dse_status st, const dse_error *err);

/* A NUL-terminated copy in a block of its own, for parsers of strings; to be freed with free(). */
char *fuzz_string(const uint8_t *data, size_t size);

/* A file with these bytes, for readers that take a path; the path, which lasts until the next call with this
 * number (0 or 1), and is of this process alone. */
const char *fuzz_file(unsigned number, const uint8_t *data, size_t size);

/* Gives SQLite blocks that were freed before again, from now on, instead of new ones of AddressSanitizer, which cost more
 * than what SQLite does with them; what is freed is poisoned until then. Call it before SQLite is used. */
void fuzz_use_sqlite_pool(void);

/* A small system: 0 is a ring of two NPUs, the others those of fuzz_simulate. */
void fuzz_make_system(size_t which, net_network *net, sim_settings *set);

/* Runs a trace of rank 0, with copies of it as the other ranks, on a ring of two NPUs, on two dimensions of two,
 * where a named group is half of the NPUs, and, with congestion, on a mesh and on two dimensions. The copies send to
 * and receive from the rank whose number differs as theirs does. Skips traces of many nodes. The result is not looked
 * at: most of what a fuzzer makes is refused or cannot finish. */
void fuzz_simulate(const wl_trace *t, dse_arena *a);

#endif
