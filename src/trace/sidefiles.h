/* trace_sidefiles -- files beside a trace with what profilers do not record: gate logs, benchmark results. */
#ifndef DSE_TRACE_SIDEFILES_H
#define DSE_TRACE_SIDEFILES_H

#include "config/doc.h"

typedef struct {
    size_t n;
    const char **path;
} trace_paths;

/* Appends the files (or the folders) of `dir` whose names match a shell pattern, sorted by name. A `dir` that
 * is not there, or is a file, has none. Everything is in the arena. DSE_E_IO. */
dse_status trace_paths_add(trace_paths *to, const char *dir, const char *pattern, bool folders, dse_arena *a,
                           dse_error *err);

/* The directory itself, or that of a file. */
const char *trace_folder_of(const char *path, dse_arena *a);

/* A number of a JSON object; NaN if the key is missing or null. DSE_E_CONFIG with the place if it is not a
 * number. */
dse_status trace_json_number(const cfg_doc *doc, const cfg_node *object, const char *key, double *out,
                             dse_error *err);

#endif
