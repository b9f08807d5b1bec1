/* Reads a PyTorch memory snapshot, whether it is a pickle or was dumped as JSON.
 *
 * Memory while reading: 32 bytes per entry of a history and 24 for its place in the list, about 100 per
 * segment and 40 per block. Of stack frames, by far the largest part of a file, it is kept in what they are
 * (trace_caller); while reading, 20 bytes for each stack. */
#ifndef DSE_TRACE_SNAPSHOT_H
#define DSE_TRACE_SNAPSHOT_H

#include "trace/pickle.h"
#include "trace/record.h"
#include "trace/source.h"

/* Passes plain data to a listener: trace_pickle_read, or the same for JSON. */
typedef dse_status trace_snapshot_reader(trace_source *source, const char *path,
                                         const trace_plain_listener *to, trace_plain *root, dse_error *err);
trace_snapshot_reader trace_snapshot_read_json;

/* Reads a source and adds its rank, with the allocator, to an empty record. `path` is for messages. As
 * trace_read; DSE_E_SYNTAX also if the data are no snapshot. */
dse_status trace_snapshot_parse(trace_snapshot_reader *read, trace_source *source, const char *path,
                                trace_record *out, dse_error *err);

#endif
