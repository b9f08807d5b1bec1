/* trace_text_file -- a large text that is written a part at a time, compressed if the name ends in ".gz".
 * A temporary file replaces `path` once it is complete. */
#ifndef DSE_TRACE_TEXT_FILE_H
#define DSE_TRACE_TEXT_FILE_H

#include "base/fs.h"
#include "base/strbuf.h"

typedef struct {
    dse_strbuf text; /* not written yet: callers append to it */
    const char *path;
    dse_replacement replacement;
    void *file; /* zlib's */
} trace_text_file;

/* The path is borrowed. DSE_E_IO, as of the others; nothing is open then. */
dse_status trace_text_file_open(trace_text_file *f, const char *path, dse_error *err);

/* Writes the text once it is large; often called. */
dse_status trace_text_file_flush(trace_text_file *f, dse_error *err);

/* `st`: how the writing went; unless that is DSE_OK the file is given up. Returns it, or what fails now. */
dse_status trace_text_file_close(trace_text_file *f, dse_status st, dse_error *err);

#endif
