/* trace_benchmark -- latencies that the clients of a serving benchmark saw, from the files beside a trace.
 *
 * Two forms, of which the first that exists is read: `bench_results.jsonl` of SGLang (one line with the
 * medians over its requests, or with the requests themselves), `results_json/<case>.json` of vLLM (each file
 * has means; the result is the mean over the files). */
#ifndef DSE_TRACE_BENCHMARK_H
#define DSE_TRACE_BENCHMARK_H

#include "base/alloc.h"

typedef struct {
    bool found;
    const char *path;           /* the file, or the folder of files */
    uint32_t n_files;           /* that were read */
    double ttft_s;              /* time to the first token; NaN: not given */
    double tpot_s;              /* time per output token after it; NaN: not given */
    double output_tokens_per_s; /* all output tokens over the benchmark's duration; NaN: not given */
} trace_benchmark;

/* Reads it from the directory of a trace, or of a trace's file. Without such files out->found is false; this
 * is success. DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG (with file, line and column). */
dse_status trace_benchmark_load(const char *trace, dse_arena *a, trace_benchmark *out, dse_error *err);

#endif
