/* trace_names -- texts of a trace, each stored once and known by a number.
 *
 * A trace names its millions of events with some thousands of texts. Ids count from 0 in the order of first use, so they
 * depend on the file alone. Texts hold no NUL: one that a file has is U+FFFD here. */
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

/* The id of a text of n bytes, a new one if need be; never DSE_NONE. Texts beyond 2^32 - 2, or 4 GiB, end as no memory does. */
uint32_t trace_names_add(trace_names *t, const char *text, size_t n);

/* The same of bytes as a file has them: a NUL among them becomes U+FFFD. */
uint32_t trace_names_add_bytes(trace_names *t, const void *bytes, size_t n);

/* The id of a text that is there; DSE_NONE if it is not. */
uint32_t trace_names_find(const trace_names *t, const char *text);

/* Accepts names that were only zeroed. */
void trace_names_free(trace_names *t);

#endif
