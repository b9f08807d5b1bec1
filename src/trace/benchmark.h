/* trace_benchmark -- what a serving benchmark wrote beside a trace: latencies as its clients saw them.
 *
 * Two forms, the first that is there: `bench_results.jsonl` of SGLang (one line: the medians over its requests, or the
 * requests themselves), `results_json/<case>.json` of vLLM (the mean over the files of each one's means). */
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

/* Reads it from the directory of a trace, or that of a trace's file. None there is success: out->found is false. DSE_E_IO, DSE_E_SYNTAX,
 * DSE_E_CONFIG (with file, line and column). */
dse_status trace_benchmark_load(const char *trace, dse_arena *a, trace_benchmark *out, dse_error *err);

#endif
