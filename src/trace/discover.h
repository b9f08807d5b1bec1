/* trace_discover -- finds the files of a directory that are traces, by their content.
 *
 * These places are searched until one has a trace: the directory together with profile_trace/ in it; below it
 * profile_traces/, traces/, traces/profile_traces/; one directory in traces/profile_traces/ or
 * profile_traces/ (an iteration), in plugins/profile/ (a run of TensorBoard), in traces/, or in the directory
 * itself. If several directories of such a place have traces, they are several runs: an error that names
 * them.
 *
 * Of several kinds in one place the first of these is taken: timelines (Kineto, XLA, simulated), Nsight
 * Systems exports, its reports, execution traces; execution traces beside another kind are listed apart.
 * Memory snapshots are taken in addition, from the first place that has some: the directory, or else the one
 * with the traces, each searched as such, then memory_snapshot/ below it, and ../memory_snapshot/[<name>/]
 * and ../../memory_snapshot/<name>/ of the guide's layout.
 *
 * Ignored: hidden files; cards, texts, scripts, pictures (by their endings); files of no known format; copies
 * of a timeline (x.xplane.pb beside x.trace.json, perfetto_trace.json beside another). Ignored with a
 * warning: a dangling link, an unreadable file, a file of no known format that is named like a trace. */
#ifndef DSE_TRACE_DISCOVER_H
#define DSE_TRACE_DISCOVER_H

#include "trace/reader.h"

typedef enum { TRACE_PROFILES_AUTO, TRACE_PROFILES_TORCH, TRACE_PROFILES_NSYS } trace_profiles;

typedef struct {
    const char *path;
    const trace_reader *reader;
} trace_file;

typedef struct {
    size_t n_traces; /* by path, those of profile_trace/ last */
    trace_file *trace;
    size_t n_executions; /* by path: execution traces beside traces of another kind */
    trace_file *execution;
    size_t n_snapshots; /* by path */
    trace_file *snapshot;
    bool has_side_files; /* gate logs or benchmark results, which metrics read */
} trace_found;

/* `path` is a directory, or a file of any name. Texts are in the arena; warnings go to `notes`. DSE_E_IO:
 * there is no such path, it is a pipe or a device, nothing in it is a trace or a side file (the message says
 * what is there instead), a file cannot be read or is broken. DSE_E_CONFIG: several runs. */
dse_status trace_discover(const char *path, trace_profiles which, dse_arena *a, trace_found *out,
                          trace_record *notes, dse_error *err);

/* The workload card of a directory: workload_card.yaml, else workload_card_{tp,pp,dp_tp,dp_pp,3d}.yaml, else
 * the only other *.yaml or *.yml that is a card; NULL: there is none. Of a file, that of its directory, if it
 * may be listed. DSE_E_CONFIG: several. */
dse_status trace_find_card(const char *path, dse_arena *a, const char **out, dse_error *err);

#endif
