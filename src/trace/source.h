/* trace_source -- the bytes of a file, plain or gzip, through a window of fixed size.
 *
 * A reader looks at window[0..n) and asks for more when it comes to the end, saying how much of it it is done with. The
 * byte behind the last is 0, and so are some more, so that a scanner may run to it, and may load whole words there.
 *
 * gzip is told by its first two bytes, not by the name of the file; several members are one text. What cannot be read on
 * (a broken or truncated member, a disk error) ends the bytes: those before are good, and `broken` says what it was. */
#ifndef DSE_TRACE_SOURCE_H
#define DSE_TRACE_SOURCE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define TRACE_WINDOW_BYTES  262144 /* stays in the second cache between reading and scanning */
#define TRACE_WINDOW_BEHIND 64     /* zero bytes behind the last */

typedef struct {
    char *window;
    size_t n, cap;
    uint64_t offset;  /* of window[0] in the text, uncompressed */
    bool ended;       /* nothing comes behind the window */
    char broken[160]; /* why the text ends before its time; empty if it does not */
    bool has_file;
    int file;
    const char *bytes, *bytes_end; /* what is not read yet of bytes in memory */
    struct trace_gzip *gzip;       /* NULL: plain */
} trace_source;

/* The window is filled. DSE_E_IO: it cannot be opened or read at all. Close it in any case. */
dse_status trace_source_open(trace_source *s, const char *path, dse_error *err);

/* The same of n bytes in memory (borrowed), with a window of `cap` bytes, at least 16. */
void trace_source_open_bytes(trace_source *s, const char *bytes, size_t n, size_t cap);

/* Drops the first `used` bytes of the window and fills it up; how many bytes are new. 0: the window is full, or there
 * are no more. */
size_t trace_source_more(trace_source *s, size_t used);

/* The first bytes of a file, decompressed, and a NUL behind them: how many came, less than n. What cannot be read has none. */
size_t trace_source_head(const char *path, char *to, size_t n);

void trace_source_close(trace_source *s); /* accepts one that was only zeroed */

#endif
