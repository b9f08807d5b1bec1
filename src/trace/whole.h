/* A whole file in memory, plain or gzip: for formats that point back and forth. */
#ifndef DSE_TRACE_WHOLE_H
#define DSE_TRACE_WHOLE_H

#include "base/status.h"
#include "base/strbuf.h"

/* Appends what path holds, decompressed, to *out. Refuses more than max_bytes. DSE_E_IO (it cannot be opened or read; a
 * gzip member is broken or ends too early), DSE_E_RANGE. */
dse_status trace_read_whole(const char *path, size_t max_bytes, dse_strbuf *out, dse_error *err);

#endif
