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

typedef struct {
    const char *name; /* "chrome" */
    trace_family family;
    const char *what; /* "Chrome trace (Kineto, XLA, simulated)", for messages and help */
    /* Whether a file that begins with these n decompressed bytes has this format. A NUL follows them. */
    bool (*is)(const char *head, size_t n);
    /* Adds the ranks of a file to an empty record. Recoverable faults become warnings of the record; the
     * error of others names the file and the byte. DSE_E_IO, DSE_E_SYNTAX, DSE_E_RANGE. */
    dse_status (*read)(const char *path, trace_record *out, dse_error *err);
} trace_reader;

/* Opens a file as a stream and parses it. `path` of a parser is for messages; it returns as trace_reader.read
 * does. */
typedef dse_status trace_stream_parser(trace_source *source, const char *path, trace_record *out,
                                       dse_error *err);
dse_status trace_read_stream(trace_stream_parser *parse, const char *path, trace_record *out, dse_error *err);

/* Decompresses a file, refuses more than max_bytes, and parses it: for formats that cannot be read as a
 * stream. DSE_E_IO (it cannot be opened or read; a gzip member is broken or ends too early), DSE_E_RANGE, or
 * what the parser returned. */
typedef dse_status trace_whole_parser(const char *path, const void *bytes, size_t n, trace_record *out,
                                      dse_error *err);
dse_status trace_read_whole(const char *path, size_t max_bytes, trace_whole_parser *parse, trace_record *out,
                            dse_error *err);

/* The parsers of the readers of these names. */
trace_stream_parser trace_chrome_parse, trace_et_parse;
trace_whole_parser trace_nsys_csv_parse, trace_xplane_parse;

/* The reader of a file by its content; NULL if it is of no known format (*err is as it was). DSE_E_IO: it
 * cannot be read, or is a gzip file that breaks before it tells what it is. */
dse_status trace_reader_find(const char *path, const trace_reader **out, dse_error *err);

#endif
