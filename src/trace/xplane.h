/* XLA's profile as the profiler writes it: *.xplane.pb, a protobuf message XSpace. */
#ifndef DSE_TRACE_XPLANE_H
#define DSE_TRACE_XPLANE_H

#include "trace/record.h"

/* Adds the rank of a message of n bytes, read from path. DSE_E_SYNTAX with the byte of the first invalid
 * field. */
dse_status trace_xplane_parse(const char *path, const void *bytes, size_t n, trace_record *out,
                              dse_error *err);

#endif
