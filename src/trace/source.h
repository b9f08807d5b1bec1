/* trace_source -- the bytes of a file, plain or gzip, through a window of fixed size.
 *
 * A reader scans window[0..n) and at its end asks for more, saying how many bytes it is done with. Zero bytes
 * follow the last byte, so a scanner needs no check for the end and may load whole words there.
 *
 * gzip is recognised by its first two bytes, not by the file's name; several members form one text. A broken
 * or truncated member, or a disk error, ends the bytes: those before it are valid, and `broken` gives the
 * reason. */
#ifndef DSE_TRACE_SOURCE_H
#define DSE_TRACE_SOURCE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define TRACE_WINDOW_BYTES  262144 /* stays in the L2 cache between reading and scanning */
#define TRACE_WINDOW_BEHIND 64     /* zero bytes after the last one */

typedef struct {
    char *window;
    size_t n, cap;
    uint64_t offset;  /* of window[0] in the text, uncompressed */
    bool ended;       /* nothing follows the window */
    char broken[160]; /* why the text ends too early; empty if it does not */
    bool has_file;
    int file;
    const char *bytes, *bytes_end; /* unread bytes in memory */
    struct trace_gzip *gzip;       /* NULL: plain */
} trace_source;

/* Opens a file and fills the window. DSE_E_IO: it cannot be opened or read at all. Close it in any case. */
dse_status trace_source_open(trace_source *s, const char *path, dse_error *err);

/* The same for n bytes in memory (borrowed), with a window of `cap` bytes, at least 16. */
void trace_source_open_bytes(trace_source *s, const char *bytes, size_t n, size_t cap);

/* Drops the first `used` bytes of the window and refills it; returns the number of new bytes. 0: the window
 * is full, or there are no more. */
size_t trace_source_more(trace_source *s, size_t used);

/* Reads the first bytes of a file, decompressed, with a NUL after them; returns their number, less than n, or
 * 0 if the file cannot be read. */
size_t trace_source_head(const char *path, char *to, size_t n);

void trace_source_close(trace_source *s); /* accepts one that was only zeroed */

#endif
