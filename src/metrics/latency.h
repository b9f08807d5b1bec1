/* Latencies of inference: time to the first token, and per output token after it.
 *
 * A serving benchmark beside the trace knows them as its clients saw them. Without one they are taken from
 * the forward passes of the engine, and are proxies: they leave out queueing, and are a request's own only
 * where the first pass is the whole prefill. Source: spec of the metrics, section 4.5. */
#ifndef DSE_METRICS_LATENCY_H
#define DSE_METRICS_LATENCY_H

#include "metrics/context.h"

/* A forward pass, or engine step. */
typedef struct {
    int64_t dur_ps;
    bool counted;                            /* its marker says what it works on: */
    uint64_t n_context, context_tokens;      /* requests in prefill */
    uint64_t n_generation, generated_tokens; /* requests in decode */
} metric_pass;

typedef struct {
    uint32_t n;
    metric_pass *pass; /* outermost ones, by start */
} metric_passes;

/* The passes of every rank, by the first kind of marker that any rank has: vLLM's execute_context_*, SGLang's
 * run_batch, or the engine core's steps on a TPU. *marker is NULL if there is none. */
void metric_passes_of(const metric_context *x, metric_passes **by_rank, const char **marker);

/* How many passes there are before the first token. 0: the recording begins after it. */
uint32_t metric_passes_prefill(const metric_passes *p);

typedef struct {
    double ttft_s, tpot_s;      /* NaN: absent */
    double output_tokens_per_s; /* NaN: absent; of a benchmark only */
    const char *source;         /* "benchmark", "trace" */
    const char *from;           /* the benchmark's file, or the marker */
    const char *no_ttft, *no_tpot;
} metric_latency;

/* DSE_E_ABSENT: there is neither a benchmark nor a marker. What trace_benchmark_load fails with. */
dse_status metric_latency_of(const metric_context *x, metric_latency *out, dse_error *err);

#endif
