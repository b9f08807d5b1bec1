#include "metrics/later_words.h"

#include "metrics/kinds.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool found(const char *name, const char *word)
{
    bool first = *word == '^', whole = *word == '<';
    const char *part = word + (first || whole), *without = strchr(part, '!');
    size_t n = without ? (size_t)(without - part) : strlen(part) - whole;

    if (first)
        return strncasecmp(name, part, n) == 0;
    for (const char *s = name; (s = metric_find_word(s, part, n)); s++)
        if ((!whole || ((s == name || !of_word(s[-1])) && !of_word(s[n]))) &&
            (!without || strncasecmp(s + n, without + 1, strlen(without + 1)) != 0))
            return true;
    return false;
}

static uint8_t says(const char *name, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (found(name, word[i]))
            return true;
    return false;
}

#define SAYS(id, ...)                                                                                        \
    uint8_t id(const char *name)                                                                             \
    {                                                                                                        \
        static const char *const words[] = {__VA_ARGS__};                                                    \
                                                                                                             \
        return says(name, words, sizeof words / sizeof words[0]);                                            \
    }

#define CROSS_DEVICE "crossdevice", "cross_device", "cross-device"
#define COLLECTIVES                                                                                          \
    "allreduce", "allgather", "reducescatter", "broadcast", CROSS_DEVICE, "all_reduce", "all_gather",        \
        "reduce_scatter", "sendrecv"
#define DASHED                                                                                               \
    "allreduce", "all_reduce", "all-reduce", "allgather", "all_gather", "all-gather", "reducescatter",       \
        "reduce_scatter", "reduce-scatter", "alltoall", "all_toall", "all-toall", "allto_all", "allto-all",  \
        "all_to_all", "all-to-all", "all_to-all", "all-to_all"

SAYS(later_comm_wide, "nccl", COLLECTIVES, "send", "recv", "p2p", "communicate")
SAYS(later_comm_plain, "^nccl", "nccldevkernel", "ncclkernel", COLLECTIVES)
SAYS(later_comm_nsys, "nccl", "allreduce", "allgather", "reducescatter", "broadcast", "send", "recv", "p2p",
     "cross_device", "communicate", "all_reduce", "all_gather")
SAYS(later_comm_overlap, "nccl", DASHED, "broadcast", CROSS_DEVICE, "sendrecv", "collective")
SAYS(later_comm_xla, "nccl", DASHED, CROSS_DEVICE, "sendrecv", "collective")
SAYS(later_compute_xla, "dot", "convolution", "gemm", "matmul", "fusion", "compute", "custom-call")
SAYS(later_moe, "moe", "expert", "routing", "gating", "gate_", "topk", "dispatch", "combine", "grouped_gemm")
SAYS(later_moe_nsys, "moe", "expert", "routing", "gating", "<gate>", "<topk>", "dispatchkernel",
     "combinekernel")
SAYS(later_memcpy, "memcpy", "memset", "copy_kernel", "copy.", "copy-start", "copy-done", "<dma>")

SAYS(later_comm_named, "nccl", COLLECTIVES)
static metric_classify later_gemm, later_softmax, later_norm, later_elementwise, later_reduction;

SAYS(later_gemm, "gemm", "cutlass", "cublas", "matmul", "triton_mm")
SAYS(later_softmax, "softmax")
SAYS(later_norm, "layernorm", "layer_norm", "rmsnorm", "rms_norm", "batchnorm", "batch_norm", "groupnorm",
     "group_norm", "norm_kernel")
SAYS(later_elementwise, "elementwise", "pointwise", "vectorized", "unary", "binary", "aten::add", "aten::mul",
     "aten::div", "aten::sub", "aten::relu", "aten::gelu", "aten::silu", "aten::sigmoid", "aten::tanh",
     "aten::exp", "aten::neg", "aten::abs", "aten::clamp")
SAYS(later_reduction, "reduce!scatter", "sum_kernel", "mean_kernel")

later_class later_class_of(const char *name)
{
    static metric_classify *const classes[LATER_OTHER] = {[LATER_COMMUNICATION] = later_comm_named,
                                                          [LATER_TRANSFER] = later_memcpy,
                                                          [LATER_GEMM] = later_gemm,
                                                          [LATER_SOFTMAX] = later_softmax,
                                                          [LATER_NORM] = later_norm,
                                                          [LATER_ELEMENTWISE] = later_elementwise,
                                                          [LATER_REDUCTION] = later_reduction};

    for (later_class c = 0; c < LATER_OTHER; c++)
        if (classes[c](name))
            return c;
    return LATER_OTHER;
}
