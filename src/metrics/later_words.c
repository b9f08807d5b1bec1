#include "metrics/later_words.h"

#include "metrics/kinds.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORDS(name, ...)                                                                                     \
    static const char *const name##_list[] = {__VA_ARGS__};                                                  \
    const later_words name = {sizeof name##_list / sizeof name##_list[0], name##_list}

#define OWN_WORDS(name, ...)                                                                                 \
    static const char *const name##_list[] = {__VA_ARGS__};                                                  \
    static const later_words name = {sizeof name##_list / sizeof name##_list[0], name##_list}

#define CROSS_DEVICE "crossdevice", "cross_device", "cross-device"
#define COLLECTIVES                                                                                          \
    "allreduce", "allgather", "reducescatter", "broadcast", CROSS_DEVICE, "all_reduce", "all_gather",        \
        "reduce_scatter", "sendrecv"
#define DASHED                                                                                               \
    "allreduce", "all_reduce", "all-reduce", "allgather", "all_gather", "all-gather", "reducescatter",       \
        "reduce_scatter", "reduce-scatter", "alltoall", "all_toall", "all-toall", "allto_all", "allto-all",  \
        "all_to_all", "all-to-all", "all_to-all", "all-to_all"

WORDS(later_comm_wide, "nccl", COLLECTIVES, "send", "recv", "p2p", "communicate");
WORDS(later_comm_plain, "^nccl", "nccldevkernel", "ncclkernel", COLLECTIVES);
WORDS(later_comm_nsys, "nccl", "allreduce", "allgather", "reducescatter", "broadcast", "send", "recv", "p2p",
      "cross_device", "communicate", "all_reduce", "all_gather");
WORDS(later_comm_overlap, "nccl", DASHED, "broadcast", CROSS_DEVICE, "sendrecv", "collective");
WORDS(later_comm_xla, "nccl", DASHED, CROSS_DEVICE, "sendrecv", "collective");
WORDS(later_compute_xla, "dot", "convolution", "gemm", "matmul", "fusion", "compute", "custom-call");
WORDS(later_moe, "moe", "expert", "routing", "gating", "gate_", "topk", "dispatch", "combine",
      "grouped_gemm");
WORDS(later_moe_nsys, "moe", "expert", "routing", "gating", "<gate>", "<topk>", "dispatchkernel",
      "combinekernel");
WORDS(later_memcpy, "memcpy", "memset", "copy_kernel", "copy.", "copy-start", "copy-done", "<dma>");

WORDS(later_comm_named, "nccl", COLLECTIVES);
OWN_WORDS(later_gemm, "gemm", "cutlass", "cublas", "matmul", "triton_mm");
OWN_WORDS(later_softmax, "softmax");
OWN_WORDS(later_norm, "layernorm", "layer_norm", "rmsnorm", "rms_norm", "batchnorm", "batch_norm",
          "groupnorm", "group_norm", "norm_kernel");
OWN_WORDS(later_elementwise, "elementwise", "pointwise", "vectorized", "unary", "binary", "aten::add",
          "aten::mul", "aten::div", "aten::sub", "aten::relu", "aten::gelu", "aten::silu", "aten::sigmoid",
          "aten::tanh", "aten::exp", "aten::neg", "aten::abs", "aten::clamp");
OWN_WORDS(later_reduction, "reduce!scatter", "sum_kernel", "mean_kernel");

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

bool later_says(const char *name, const later_words *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (found(name, w->word[i]))
            return true;
    return false;
}

later_class later_class_of(const char *name)
{
    static const later_words *const classes[LATER_OTHER] = {[LATER_COMMUNICATION] = &later_comm_named,
                                                            [LATER_TRANSFER] = &later_memcpy,
                                                            [LATER_GEMM] = &later_gemm,
                                                            [LATER_SOFTMAX] = &later_softmax,
                                                            [LATER_NORM] = &later_norm,
                                                            [LATER_ELEMENTWISE] = &later_elementwise,
                                                            [LATER_REDUCTION] = &later_reduction};

    for (later_class c = 0; c < LATER_OTHER; c++)
        if (later_says(name, classes[c]))
            return c;
    return LATER_OTHER;
}
