/* trace_snapshot -- gathers a PyTorch memory snapshot from plain data, whether it comes as a pickle or as
 * JSON.
 *
 * Memory while reading: 32 bytes per entry of a history and 24 for its place in the list, about 100 per
 * segment and 20 per block. Stack frames, by far the largest part of a file, are not kept. */
#ifndef DSE_TRACE_SNAPSHOT_H
#define DSE_TRACE_SNAPSHOT_H

#include "trace/plain.h"
#include "trace/record.h"
#include "trace/source.h"

typedef struct trace_snapshot trace_snapshot;

trace_snapshot *trace_snapshot_new(void);
void trace_snapshot_free(trace_snapshot *s);

trace_plain_listener trace_snapshot_listener(trace_snapshot *s);

/* Like trace_pickle_read, for a snapshot that was dumped as JSON. */
dse_status trace_snapshot_read_json(trace_source *source, const char *path, const trace_plain_listener *to,
                                    trace_plain *root, dse_error *err);

/* Reads a source by one of the two and adds its rank to an empty record. `path` is for messages. As
 * trace_reader.read. */
typedef dse_status trace_snapshot_reader(trace_source *source, const char *path,
                                         const trace_plain_listener *to, trace_plain *root, dse_error *err);
dse_status trace_snapshot_parse(trace_snapshot_reader *read, trace_source *source, const char *path,
                                trace_record *out, dse_error *err);

/* Adds a rank with the allocator to the record. DSE_E_SYNTAX: the root is no snapshot. */
dse_status trace_snapshot_finish(trace_snapshot *s, const char *path, const trace_plain *root,
                                 trace_record *out, dse_error *err);

#endif
