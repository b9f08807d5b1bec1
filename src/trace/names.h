/* trace_names -- the texts of a trace, each stored once and referred to by an id.
 *
 * A trace names its millions of events with some thousands of texts. Ids count from 0 in the order of first
 * use, so they depend only on the file. Texts hold no NUL: readers replace it by U+FFFD. */
#ifndef DSE_TRACE_NAMES_H
#define DSE_TRACE_NAMES_H

#include "base/alloc.h"
#include "base/idtable.h"

typedef struct {
    uint32_t n;
    size_t cap;
    const char **text; /* n texts, NUL-terminated */
    uint32_t *length;  /* their bytes */
    size_t cap_length;
    dse_idtable table;
    dse_arena texts;
} trace_names;

/* The id of a text of n bytes, a new one if need be; never DSE_NONE. More than 2^32 - 2 texts, or 4 GiB in
 * one, count as out of memory. */
uint32_t trace_names_add(trace_names *t, const char *text, size_t n);

/* The same of a formatted text of fewer than 64 bytes. */
uint32_t trace_names_addf(trace_names *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for raw bytes of a file: replaces NUL by U+FFFD. */
uint32_t trace_names_add_bytes(trace_names *t, const void *bytes, size_t n);

/* The id of a text; DSE_NONE if there is none. */
uint32_t trace_names_find(const trace_names *t, const char *text);

/* Accepts names that were only zeroed. */
void trace_names_free(trace_names *t);

#endif
