/* trace_pickle -- reads a Python pickle that holds plain data alone.
 *
 * Protocols 0 to 5. Nothing of a pickle is ever run: opcodes that import, call, build or look up objects are refused by
 * their names, with the byte, and so is a container that would contain itself. Texts of protocol 0 keep their
 * backslash escapes as written.
 *
 * Cost: 16 bytes an entry of the memo, 8 a container, 16 a value that waits on the stack, each at most 1 GiB; texts are
 * stored once each. All lengths and indexes are bounded by the bytes that really come. Source: CPython's Lib/pickletools.py. */
#ifndef DSE_TRACE_PICKLE_H
#define DSE_TRACE_PICKLE_H

#include "trace/plain.h"
#include "trace/source.h"

/* Tells the listener all containers, then sets *root. The source is borrowed; `path` is for messages, which say "path:
 * byte N". DSE_E_IO, DSE_E_SYNTAX (truncated, or not plain data), or what the listener returned. */
dse_status trace_pickle_read(trace_source *source, const char *path, const trace_plain_listener *to,
                             trace_plain *root, dse_error *err);

/* Whether a file that begins with these bytes is a pickle: protocols 2 and above say so; of 0 and 1, a dictionary, a
 * list, or a call. The bytes end with a NUL that is not counted. */
bool trace_is_pickle(const char *head, size_t n);

#endif
