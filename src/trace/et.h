/* trace_et -- reads a PyTorch execution trace (ExecutionTraceObserver), schemas 1.0.x and 1.1.x.
 *
 * Nodes are operators without times: each becomes an instant of TRACE_CPU_OP at time 0, in the order of the
 * file. Linked traces add "ts" and "dur" in microseconds. A node `record_param_comms` stands for a
 * collective; its args give the kind, the elements and bytes into and out of this rank, and the number of
 * ranks. */
#ifndef DSE_TRACE_ET_H
#define DSE_TRACE_ET_H

#include "trace/record.h"
#include "trace/source.h"

#define TRACE_ET_COLLECTIVE "record_param_comms" /* name of a collective's node */

/* Adds the trace's rank to an empty record; `path` is for messages. As trace_reader.read. */
dse_status trace_et_parse(trace_source *source, const char *path, trace_record *out, dse_error *err);

#endif
