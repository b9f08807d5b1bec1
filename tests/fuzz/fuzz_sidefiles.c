/* Files beside a trace: gate logs of experts, results of SGLang's benchmark and of vLLM's. The same bytes as each. */
#include "base/fs.h"
#include "fuzz/fuzz.h"
#include "trace/benchmark.h"
#include "trace/experts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char top[64];

static void remove_top(void) { dse_remove_tree(top, NULL); }

/* The directories of three traces, made once. */
static void write_file(const char *trace, const char *folder, const char *name, const uint8_t *data,
                       size_t size)
{
    char path[160];

    if (!*top) {
        snprintf(top, sizeof top, "%s/ccldse-fuzz-side-%ld", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
                 (long)getpid());
        atexit(remove_top);
    }
    snprintf(path, sizeof path, "%s/%s/%s", top, trace, folder);
    ENSURE(dse_mkdirs(path, NULL) == DSE_OK);
    snprintf(path, sizeof path, "%s/%s/%s/%s", top, trace, folder, name);
    ENSURE(dse_write_file(path, data, size, NULL) == DSE_OK);
}

static void check_experts(dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    trace_experts e;
    char path[80];

    snprintf(path, sizeof path, "%s/gates", top);
    if (!fuzz_ok(trace_experts_load(path, a, &e, &err), &err))
        return;
    ENSURE(e.n_files == 1 && e.n_files_without <= 1);
    for (uint32_t i = 0; i < e.n; i++)
        ENSURE(e.load[i] >= 0);
}

static void check_benchmark(const char *trace, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    trace_benchmark b;
    char path[80];

    snprintf(path, sizeof path, "%s/%s", top, trace);
    if (!fuzz_ok(trace_benchmark_load(path, a, &b, &err), &err))
        return;
    ENSURE(b.found && b.path && b.n_files == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    write_file("gates", "gates_logs_0", "gate_logs_0.json", data, size);
    write_file("sglang", ".", "bench_results.jsonl", data, size);
    write_file("vllm", "results_json", "case.json", data, size);
    dse_arena_init(&arena);
    check_experts(&arena);
    check_benchmark("sglang", &arena);
    check_benchmark("vllm", &arena);
    dse_arena_free(&arena);
    return 0;
}
