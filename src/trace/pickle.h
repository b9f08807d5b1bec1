/* trace_pickle -- reads a Python pickle that holds only plain data.
 *
 * Protocols 0 to 5. Nothing of a pickle is ever run: opcodes that import, call, build or look up objects are
 * refused with their name and byte, and so is a container that contains itself. Texts of protocol 0 keep
 * their backslash escapes; a NUL in a text becomes U+FFFD.
 *
 * Memory: 16 bytes per memo entry, 8 per container, 16 per value on the stack, each at most 1 GiB; each text
 * is stored once. All lengths and indexes are bounded by the bytes that are really there. Source: CPython's
 * Lib/pickletools.py. */
#ifndef DSE_TRACE_PICKLE_H
#define DSE_TRACE_PICKLE_H

#include "trace/plain.h"
#include "trace/source.h"

/* Passes all containers to the listener, then sets *root. The source is borrowed; `path` is for messages,
 * which say "path: byte N". DSE_E_IO, DSE_E_SYNTAX (truncated, or not plain data), or what the listener
 * returned. */
dse_status trace_pickle_read(trace_source *source, const char *path, const trace_plain_listener *to,
                             trace_plain *root, dse_error *err);

/* Whether a file that begins with these bytes is a pickle: protocols 2 and above say so; of 0 and 1, a
 * dictionary, a list, or a call. The bytes end with a NUL that is not counted. */
bool trace_is_pickle(const char *head, size_t n);

#endif
