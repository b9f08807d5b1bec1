/* trace_experts -- how many tokens a mixture-of-experts model sent to each expert: the gate logs beside a trace. No profiler
 * sees them.
 *
 * Files: <dir>/<name with gates_logs>/gates_logs_<x>/gate_logs_<y>.json, or gates_logs_<x> right in the directory; each
 * with "expert_loads", a list of steps, each of which lists a load per expert. */
#ifndef DSE_TRACE_EXPERTS_H
#define DSE_TRACE_EXPERTS_H

#include "base/alloc.h"

typedef struct {
    uint32_t n;       /* experts: the longest step's */
    double *load;     /* of each, over all steps of all files */
    uint64_t n_steps; /* that are not empty */
    uint64_t n_files;
    uint64_t n_files_without; /* that have no "expert_loads" */
} trace_experts;

/* Reads the logs of a trace's directory, or of that of its file. No log: n_files is 0. Everything is in the arena.
 * DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG (a load that is no number from 0 on; file, line and column). */
dse_status trace_experts_load(const char *trace, dse_arena *a, trace_experts *out, dse_error *err);

#endif
