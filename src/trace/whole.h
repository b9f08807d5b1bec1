/* A whole file in memory, plain or gzip: for formats that cannot be read as a stream. */
#ifndef DSE_TRACE_WHOLE_H
#define DSE_TRACE_WHOLE_H

#include "trace/record.h"

/* Decompresses a file, refuses more than max_bytes, and parses it. DSE_E_IO (it cannot be opened or read; a
 * gzip member is broken or ends too early), DSE_E_RANGE, or what the parser returned. */
typedef dse_status trace_whole_parser(const char *path, const void *bytes, size_t n, trace_record *out,
                                      dse_error *err);
dse_status trace_read_whole(const char *path, size_t max_bytes, trace_whole_parser *parse, trace_record *out,
                            dse_error *err);

#endif
