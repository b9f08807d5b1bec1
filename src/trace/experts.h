/* trace_experts -- tokens that a mixture-of-experts model sent to each expert, from the gate logs beside a
 * trace, since profilers do not record them.
 *
 * Files: <dir>/<name with gates_logs>/gates_logs_<x>/gate_logs_<y>.json, or gates_logs_<x> in the directory
 * itself. Each file has "expert_loads": a list of steps, each a list of loads, one per expert. */
#ifndef DSE_TRACE_EXPERTS_H
#define DSE_TRACE_EXPERTS_H

#include "base/alloc.h"

typedef struct {
    uint32_t n;       /* experts in the longest step */
    double *load;     /* of each expert, summed over all steps of all files */
    uint64_t n_steps; /* non-empty ones */
    uint64_t n_files;
    uint64_t n_files_without; /* files without "expert_loads" */
} trace_experts;

/* Reads the logs in a trace's directory, or in that of its file. Without logs n_files is 0. Everything is in
 * the arena. DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG (a load that is no number from 0 on; file, line and
 * column). */
dse_status trace_experts_load(const char *trace, dse_arena *a, trace_experts *out, dse_error *err);

#endif
