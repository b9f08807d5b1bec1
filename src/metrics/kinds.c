#include "metrics/kinds.h"

#include <string.h>

const char *const metric_comm_type_name[METRIC_COMM_TYPES] = {
    "AllReduce", "ReduceScatter", "AllGather", "AllToAll", "Broadcast", "SendRecv", "Reduce", "Other"};

const char *const metric_work_name[METRIC_WORKS] = {"nccl",        "memory",    "attention", "gemm",
                                                    "elementwise", "reduction", "embedding", "other"};

/* Whether n letters of `word`, which is lower case, stand here in any case. Most places fail at the first: no
 * call, then. */
static bool is_here(const char *text, const char *word, size_t n)
{
    size_t i = 0;

    while (i < n && (text[i] == word[i] || (word[i] >= 'a' && word[i] <= 'z' && (text[i] ^ 0x20) == word[i])))
        i++;
    return i == n;
}

const char *metric_find_word(const char *text, const char *word, size_t n)
{
    for (; *text; text++)
        if (is_here(text, word, n))
            return text;
    return NULL;
}

bool metric_has(const char *text, const char *word)
{
    return metric_find_word(text, word, strlen(word)) != NULL;
}

static bool has_within(const char *text, size_t n, const char *word)
{
    size_t length = strlen(word);

    for (size_t i = 0; i + length <= n; i++)
        if (is_here(text + i, word, length))
            return true;
    return false;
}

bool metric_has_any(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (metric_has(text, words[i]))
            return true;
    return false;
}

bool metric_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool metric_begins_any(const char *text, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (metric_begins(text, prefixes[i]))
            return true;
    return false;
}

#define ALL_TO_ALL "alltoall", "all_toall", "allto_all", "all_to_all"

static bool is_comm_kernel(const char *name)
{
    return METRIC_HAS_ANY(name, "nccl", "rccl", "oneccl", "hccl", "msccl", "cross_device_reduce", "allreduce",
                          "all_reduce", "allgather", "all_gather", "reducescatter", "reduce_scatter",
                          ALL_TO_ALL, "nvshmem", "deepep", "deep_ep", "ep::internode", "ep::intranode");
}

/* In this order: a reduce-scatter is no reduce. */
static const struct {
    metric_comm_type type;
    const char *word[4];
} type_words[] = {{METRIC_ALL_REDUCE, {"allreduce", "all_reduce"}},
                  {METRIC_REDUCE_SCATTER, {"reducescatter", "reduce_scatter"}},
                  {METRIC_ALL_GATHER, {"allgather", "all_gather"}},
                  {METRIC_ALL_TO_ALL, {ALL_TO_ALL}},
                  {METRIC_BROADCAST, {"broadcast"}},
                  {METRIC_SEND_RECV, {"send", "recv"}},
                  {METRIC_REDUCE, {"reduce"}}};

/* The type by the first n characters. */
static metric_comm_type type_of(const char *text, size_t n)
{
    for (size_t t = 0; t < sizeof type_words / sizeof type_words[0]; t++)
        for (size_t w = 0; w < 4 && type_words[t].word[w]; w++)
            if (has_within(text, n, type_words[t].word[w]))
                return type_words[t].type;
    return METRIC_OTHER_COMM;
}

metric_comm_type metric_comm_type_of_word(const char *word) { return type_of(word, strlen(word)); }

metric_comm_type metric_comm_type_of_kernel(const char *name)
{
    static const char *const suffixes[] = {"_RING", "_TREE", "_COLLNET", "_NVLS", "_LL"};
    static const struct {
        const char *word;
        metric_comm_type type;
    } libraries[] = {{"ep::internode", METRIC_ALL_TO_ALL},
                     {"ep::intranode", METRIC_ALL_TO_ALL},
                     {"deepep", METRIC_ALL_TO_ALL},
                     {"deep_ep", METRIC_ALL_TO_ALL},
                     {"cross_device_reduce", METRIC_ALL_REDUCE}}; /* vLLM's own */
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const char *at = strstr(name, suffixes[i]);

        if (at && (size_t)(at - name) < n)
            n = (size_t)(at - name);
    }
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (has_within(name, n, libraries[i].word))
            return libraries[i].type;
    return type_of(name, n);
}

/* The original's shortest words are left out or lengthened, because they stand in kernels of other kinds:
 * `add_`, `mul_` and `div_` (fused_add_rms_norm is a norm), `mm_` (in comm_), a bare `sum` (a scan of cub has
 * the operator Sum). Checked against the counts and times of ten recordings. */
metric_work metric_work_of(const char *name)
{
    if (is_comm_kernel(name))
        return METRIC_WORK_COMM;
    if (METRIC_HAS_ANY(name, "copy", "memcpy", "memset", "transpose", "permute", "contiguous"))
        return METRIC_WORK_MEMORY;
    if (METRIC_HAS_ANY(name, "flash", "attention", "softmax", "sdpa", "fmha"))
        return METRIC_WORK_ATTENTION;
    if (METRIC_HAS_ANY(name, "gemm", "gemv", "matmul", "cutlass", "cublas", "mma_", "wgmma", "xmma", "nvjet"))
        return METRIC_WORK_GEMM;
    if (METRIC_HAS_ANY(name, "elementwise", "ewise", "vectorized", "relu", "gelu", "silu", "sigmoid"))
        return METRIC_WORK_ELEMENTWISE;
    if (METRIC_HAS_ANY(name, "reduce", "sum_", "_sum", "mean", "norm"))
        return METRIC_WORK_REDUCTION;
    if (METRIC_HAS_ANY(name, "embedding", "lookup", "gather", "scatter", "index"))
        return METRIC_WORK_EMBEDDING;
    return METRIC_WORK_OTHER;
}
