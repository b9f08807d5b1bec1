/* trace_et -- reads a PyTorch execution trace (ExecutionTraceObserver), schemas 1.0.x and 1.1.x.
 *
 * Its nodes are operators without times: they become instants at time 0 of TRACE_CPU_OP, in the order of the file, unless
 * a node has "ts" and "dur" in microseconds, as linked traces do. Of `record_param_comms`, which stands for a collective,
 * the args say which, how many elements and bytes go in and out of this rank, and among how many ranks. */
#ifndef DSE_TRACE_ET_H
#define DSE_TRACE_ET_H

#include "trace/record.h"
#include "trace/source.h"

#define TRACE_ET_COLLECTIVE "record_param_comms" /* the name of its nodes */

/* Adds its rank to a record that has none; `path` is for messages. As trace_reader.read. */
dse_status trace_et_parse(trace_source *source, const char *path, trace_record *out, dse_error *err);

#endif
