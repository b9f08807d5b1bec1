/* trace_reader -- one row per format: how a file is recognised, and how it is read. See reader_list.h. */
#ifndef DSE_TRACE_READER_H
#define DSE_TRACE_READER_H

#include "trace/record.h"
#include "trace/source.h"

#define TRACE_HEAD_BYTES 65536

/* Groups of formats, in the order of preference. */
typedef enum {
    TRACE_FAMILY_TIMELINES,
    TRACE_FAMILY_EXPORTS,          /* of Nsight Systems */
    TRACE_FAMILY_REPORTS,          /* of Nsight Systems */
    TRACE_FAMILY_EXECUTION_TRACES, /* of PyTorch */
    TRACE_FAMILY_SNAPSHOTS,
    TRACE_FAMILIES
} trace_family;

/* Adds the ranks of a file to an empty record. `path` is for messages. Recoverable faults become warnings of
 * the record; the error of others names the file and the byte. DSE_E_IO, DSE_E_SYNTAX, DSE_E_RANGE. */
typedef dse_status trace_stream_parser(trace_source *source, const char *path, trace_record *out,
                                       dse_error *err);

/* The same of a file's bytes, for formats that cannot be read as a stream. */
typedef dse_status trace_whole_parser(const char *path, const void *bytes, size_t n, trace_record *out,
                                      dse_error *err);

typedef struct {
    const char *name; /* "chrome" */
    trace_family family;
    const char *what; /* "Chrome trace (Kineto, XLA, simulated)", for messages and help */
    /* Whether a file that begins with these n decompressed bytes has this format. A NUL follows them. */
    bool (*is)(const char *head, size_t n);
    /* One of these three. */
    trace_stream_parser *stream;
    trace_whole_parser *whole;
    dse_status (*file)(const char *path, trace_record *out, dse_error *err); /* opens it itself */
    size_t max_bytes;                                                        /* of `whole`, decompressed */
} trace_reader;

/* Reads a file by its reader, as the parsers do. DSE_E_IO also if it cannot be opened or read, or a gzip
 * member is broken or ends too early; DSE_E_RANGE: it has more than max_bytes. */
dse_status trace_read(const trace_reader *r, const char *path, trace_record *out, dse_error *err);

/* The parsers of the readers of these names. */
trace_stream_parser trace_chrome_parse, trace_et_parse;
trace_whole_parser trace_nsys_csv_parse, trace_xplane_parse;

/* The reader of a file by its content; NULL if it is of no known format (*err is as it was). DSE_E_IO: it
 * cannot be read, or is a gzip file that breaks before it tells what it is. */
dse_status trace_reader_find(const char *path, const trace_reader **out, dse_error *err);

#endif
