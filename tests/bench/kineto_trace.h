/* A trace as PyTorch's profiler writes them, of any size, made up: one rank of a training run on eight. The same bytes
 * for the same rank and size, on every machine. */
#ifndef TESTS_BENCH_KINETO_TRACE_H
#define TESTS_BENCH_KINETO_TRACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t bytes;   /* of the JSON */
    uint64_t n;       /* events, flows among them */
    uint64_t n_kept;  /* those that last or mark a time */
    uint64_t kernels; /* of those, kernels */
    int64_t kernel_ns;
} kineto_facts;

/* Writes at least so many bytes of JSON, and ends the step it is in; gzip: compressed, as a file on disk mostly is. False
 * when it cannot be written. */
bool kineto_trace_write(const char *path, unsigned rank, uint64_t bytes, bool gzip, kineto_facts *out);

#endif
