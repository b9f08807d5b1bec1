/* trace_reader -- one row per format: how a file is recognised, and how it is read. See reader_list.h. */
#ifndef DSE_TRACE_READER_H
#define DSE_TRACE_READER_H

#include "trace/record.h"
#include "trace/source.h"

#define TRACE_HEAD_BYTES 65536

typedef struct {
    const char *name; /* "chrome" */
    const char *what; /* "Chrome trace (Kineto, XLA, simulated)", for messages and help */
    /* Whether a file that begins with these n decompressed bytes has this format. A NUL follows them. */
    bool (*is)(const char *head, size_t n);
    /* Adds the ranks of a file to an empty record. Recoverable faults become warnings of the record; the
     * error of others names the file and the byte. DSE_E_IO, DSE_E_SYNTAX, DSE_E_RANGE. */
    dse_status (*read)(const char *path, trace_record *out, dse_error *err);
} trace_reader;

/* Opens a file as a stream and parses it. */
typedef dse_status trace_stream_parser(trace_source *source, const char *path, trace_record *out,
                                       dse_error *err);
dse_status trace_read_stream(trace_stream_parser *parse, const char *path, trace_record *out, dse_error *err);

/* The reader of a file by its content; NULL if it is of no known format (*err is as it was). DSE_E_IO: it
 * cannot be read, or is a gzip file that breaks before it tells what it is. */
dse_status trace_reader_find(const char *path, const trace_reader **out, dse_error *err);

#endif
