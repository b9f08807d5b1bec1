/* The traces of one directory, by format. Private to discover.c and find_card.c. */
#ifndef DSE_TRACE_LISTING_H
#define DSE_TRACE_LISTING_H

#include "trace/discover.h"

typedef struct {
    size_t n, cap;
    trace_file *file;
} trace_file_list;

/* By path; on the heap, the paths in the arena. */
typedef struct {
    trace_file_list of[TRACE_FAMILIES];
} trace_listing;

typedef struct {
    trace_profiles which;
    dse_arena *arena;
    trace_record *notes; /* takes warnings */
    const char *odd,
        *why; /* the first file that is named like a trace but has no known format, and what it is */
} trace_search;

/* Adds a file; one of no known format is ignored, with a warning if it is named like a trace. DSE_E_IO: it is
 * broken. */
dse_status trace_list_file(trace_search *s, const char *path, trace_listing *out, dse_error *err);

/* Drops copies of timelines: x.xplane.pb beside x.trace.json, perfetto_trace.json beside any. */
void trace_drop_copies(trace_file_list *l);

/* Takes the first family of a listing that the search accepts, and the snapshots. */
void trace_take(trace_search *s, const trace_listing *l, trace_found *out);

/* Adds the files of a directory, and drops timelines that are copies of others. */
dse_status trace_list_dir(trace_search *s, const char *dir, trace_listing *out, dse_error *err);
void trace_listing_free(trace_listing *l);

/* Whether a name matches one of these patterns of the shell; NULL ends them. */
bool trace_matches_any(const char *name, const char *const *patterns);

/* Describes a file of no known format by its first bytes, with the remedy: "a tar archive; unpack it". */
const char *trace_what_else(const char *path);

#endif
