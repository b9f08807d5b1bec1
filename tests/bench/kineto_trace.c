/* Per operator of a model: two Python frames, the operator, the launch, the kernel, and the flow between those two. Every
 * sixteenth kernel is a collective with what NCCL's profiler says of it, under an annotation. */
#include "bench/kineto_trace.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BUFFER_BYTES  (1u << 20)
#define EVENT_BYTES   4096u /* more than any event has */
#define OPS_PER_STEP  2000u
#define PYTHON_FRAMES 1500u
#define KERNELS       300u
#define PID           310021
#define COMM_STREAM   20
#define STREAM        7

typedef struct {
    FILE *plain;
    gzFile gzip;
    char *buffer;
    size_t n;
    bool failed;
    uint64_t random;
    int64_t host_ns, stream_ns, comm_ns; /* clocks of the thread and of the two streams */
    uint64_t id, python;
    kineto_facts facts;
} writer;

static uint32_t below(writer *w, uint32_t n)
{
    w->random += 0x9e3779b97f4a7c15u;
    return (uint32_t)(dse_hash_u64(w->random) % n);
}

static void flush(writer *w)
{
    bool good = w->gzip ? gzwrite(w->gzip, w->buffer, (unsigned)w->n) == (int)w->n
                        : fwrite(w->buffer, 1, w->n, w->plain) == w->n;

    w->failed = w->failed || !good;
    w->facts.bytes += w->n;
    w->n = 0;
}

#define PUT(w, ...)                                                                                          \
    ((w)->n += (size_t)snprintf((w)->buffer + (w)->n, BUFFER_BYTES + EVENT_BYTES - (w)->n, __VA_ARGS__))

/* "5123456789012.345": microseconds of so many nanoseconds. */
#define US_FORMAT "%" PRId64 ".%03d"
#define US(ns)    (int64_t)((ns) / 1000), (int)((ns) % 1000)

static void begin(writer *w, const char *category, const char *name, int tid, int64_t ts, int64_t dur)
{
    if (w->n >= BUFFER_BYTES)
        flush(w);
    PUT(w,
        "%s\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d,\n    "
        "\"ts\": " US_FORMAT ", \"dur\": " US_FORMAT ",\n    \"args\": {\n      ",
        w->facts.n ? "," : "", category, name, tid < 100 ? 0 : PID, tid, US(ts), US(dur));
    w->facts.n++;
    w->facts.n_kept++;
}

static void end(writer *w) { PUT(w, "\n    }\n  }"); }

static void python(writer *w)
{
    static const char *const files[] = {"torch/nn/modules/module.py", "torch/nn/modules/linear.py",
                                        "megatron/core/transformer/attention.py",
                                        "torch/autograd/function.py", "train.py"};
    uint32_t frame = below(w, PYTHON_FRAMES);
    char name[128];

    snprintf(name, sizeof name, "%s(%u): %s_%u", files[frame % 5], 100 + frame,
             frame % 3 ? "forward" : "_call_impl", frame);
    begin(w, "python_function", name, PID, w->host_ns, 900 + below(w, 20000));
    PUT(w, "\"Python parent id\": %" PRIu64 ", \"Python id\": %" PRIu64 ", \"Ev Idx\": %" PRIu64, w->python,
        w->python + 1, w->facts.n);
    w->python++;
    end(w);
    w->host_ns += 300 + below(w, 700);
}

static void operator(writer *w)
{
    static const char *const names[] = {"aten::linear",
                                        "aten::mm",
                                        "aten::add_",
                                        "aten::_softmax",
                                        "aten::layer_norm",
                                        "aten::to",
                                        "autograd::engine::evaluate_function: AddmmBackward0"};
    uint32_t rows = 1u << below(w, 14), columns = 1u << below(w, 14);

    begin(w, "cpu_op", names[below(w, 7)], PID, w->host_ns, 4000 + below(w, 9000));
    PUT(w,
        "\"External id\": %" PRIu64
        ",\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", \"\"], \"Input type\": "
        "[\"c10::BFloat16\", \"c10::BFloat16\", \"\"], \"Input Dims\": [[%u, %u], [%u, %u], []], \"Ev Idx\": "
        "%" PRIu64,
        w->id, rows, columns, columns, rows, w->facts.n);
    end(w);
    w->host_ns += 1500 + below(w, 1000);
}

static void flow(writer *w, bool start, int tid, int64_t ts)
{
    PUT(w,
        ",\n  {\n    \"ph\": \"%c\", \"id\": %" PRIu64 ", \"pid\": %d, \"tid\": %d, \"ts\": " US_FORMAT
        ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  }",
        start ? 's' : 'f', w->id, tid < 100 ? 0 : PID, tid, US(ts), start ? "" : ", \"bp\": \"e\"");
    w->facts.n++;
}

static void launch(writer *w)
{
    begin(w, "cuda_runtime", below(w, 8) ? "cudaLaunchKernel" : "cudaLaunchKernelExC", PID, w->host_ns,
          2500 + below(w, 3000));
    PUT(w, "\"External id\": %" PRIu64 ", \"cbid\": 211, \"correlation\": %" PRIu64, w->id, w->id);
    end(w);
    flow(w, true, PID, w->host_ns);
    w->host_ns += 6000;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* One of the launches that the model makes over and over: shape and all. */
static void put_kernel_args(writer *w, int stream, uint32_t variant)
{
    uint32_t grid = 1u + variant * 13 % 4096;

    PUT(w,
        "\"External id\": %" PRIu64 ",\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n      "
        "\"stream\": %d, \"correlation\": %" PRIu64
        ",\n      \"registers per thread\": %u,\n      \"shared memory\": %u,\n      \"blocks per SM\": "
        "%u.%06u,\n      "
        "\"warps per SM\": %u.%06u,\n      \"grid\": [%u, 1, 1],\n      \"block\": [%u, 1, 1],\n      \"est. "
        "achieved "
        "occupancy %%\": %u",
        w->id, stream, w->id, 32 + grid % 96, (grid % 7) * 8192, grid / 132, grid % 132 * 7575, grid / 33,
        grid % 33 * 30303, grid, 128u << grid % 3, grid % 101);
}

static void kernel(writer *w)
{
    static const char *const names[] = {
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
        "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
        "at::detail::Array<char*, 3>)",
        "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT",
        "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>, "
        "false, "
        "true, false, false, true, false>(Flash_fwd_params)",
        "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", "void layer_norm_kernel<float, 4>"};
    int64_t dur = 5000 + below(w, 60000);
    uint32_t variant = below(w, KERNELS);
    char name[400];

    snprintf(name, sizeof name, "%s_%u", names[variant % 5], variant / 5);
    w->stream_ns = later(w->stream_ns, w->host_ns + 3000);
    begin(w, "kernel", name, STREAM, w->stream_ns, dur);
    put_kernel_args(w, STREAM, variant);
    end(w);
    flow(w, false, STREAM, w->stream_ns);
    w->stream_ns += dur + 800;
    w->facts.kernels++;
    w->facts.kernel_ns += dur;
}

static void collective(writer *w)
{
    static const struct {
        const char *annotation, *kernel, *name;
    } kinds[] = {{"nccl:all_reduce",
                  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "allreduce"},
                 {"nccl:_all_gather_base",
                  "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "_allgather_base"},
                 {"nccl:_reduce_scatter_base",
                  "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                  "_reduce_scatter_base"}};
    int64_t dur = 20000 + below(w, 300000);
    uint32_t k = below(w, 3), elements = 4096u << below(w, 12);

    begin(w, "user_annotation", kinds[k].annotation, PID, w->host_ns - 4000, 9000);
    PUT(w, "\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Ev Idx\": %" PRIu64, w->id, w->facts.n);
    end(w);
    w->comm_ns = later(w->comm_ns, w->host_ns + 3000);
    begin(w, "kernel", kinds[k].kernel, COMM_STREAM, w->comm_ns, dur);
    put_kernel_args(w, COMM_STREAM, k);
    PUT(w,
        ",\n      \"Collective name\": \"%s\", \"In msg nelems\": %u, \"Out msg nelems\": %u, \"Group "
        "size\": 8, "
        "\"dtype\": \"BFloat16\", \"In split size\": \"[]\", \"Out split size\": \"[]\", \"Process Group "
        "Name\": \"%u\", "
        "\"Process Group Description\": \"default_pg\", \"Process Group Ranks\": \"[0, 1, 2, 3, 4, 5, 6, "
        "7]\"",
        kinds[k].name, elements, elements, k);
    end(w);
    flow(w, false, COMM_STREAM, w->comm_ns);
    w->comm_ns += dur + 1000;
    w->facts.kernels++;
    w->facts.kernel_ns += dur;
}

static void step(writer *w, unsigned number)
{
    int64_t from = w->host_ns;
    char name[32];

    for (unsigned i = 0; i < OPS_PER_STEP; i++) {
        w->id++;
        python(w);
        python(w);
        operator(w);
        launch(w);
        if (i % 16 == 15)
            collective(w);
        else
            kernel(w);
    }
    w->host_ns = later(w->host_ns, later(w->stream_ns, w->comm_ns));
    snprintf(name, sizeof name, "ProfilerStep#%u", number);
    begin(w, "user_annotation", name, PID, from, w->host_ns - from);
    PUT(w, "\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Ev Idx\": %" PRIu64, w->id, w->facts.n);
    end(w);
}

static void write_all(writer *w, unsigned rank, uint64_t bytes)
{
    PUT(w,
        "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"NVIDIA "
        "H100 80GB HBM3\", \"totalGlobalMem\": 85017755648,\n      \"computeMajor\": 9, \"computeMinor\": 0, "
        "\"numSms\": 132\n    }\n  ],\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %u, "
        "\"world_size\": 8, \"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": "
        "\"default_pg\", \"pg_size\": 8, \"ranks\": [0, 1, 2, 3, 4, 5, 6, 7]}]},\n  \"displayTimeUnit\": "
        "\"ms\",\n  \"baseTimeNanoseconds\": 1727743122000000000,\n  \"traceEvents\": [",
        rank);
    for (unsigned number = 0; w->facts.bytes + w->n < bytes && !w->failed; number++)
        step(w, number);
    PUT(w, "\n  ],\n  \"traceName\": \"trace.json\"\n}\n");
    flush(w);
}

bool kineto_trace_write(const char *path, unsigned rank, uint64_t bytes, bool gzip, kineto_facts *out)
{
    writer w = {
        .buffer = malloc(BUFFER_BYTES + EVENT_BYTES), .random = 1 + rank, .host_ns = 5123456789012345};

    if (gzip)
        w.gzip = gzopen(path, "wb6");
    else
        w.plain = fopen(path, "wb");
    w.failed = !w.buffer || (!w.gzip && !w.plain);
    if (!w.failed)
        write_all(&w, rank, bytes);
    if (w.gzip)
        w.failed = gzclose(w.gzip) != Z_OK || w.failed;
    if (w.plain)
        w.failed = fclose(w.plain) != 0 || w.failed;
    free(w.buffer);
    *out = w.facts;
    return !w.failed;
}
