#include "metrics/kinds.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *metric_comm_type_name(metric_comm_type t)
{
    static const char *const names[METRIC_COMM_TYPES] = {
        "AllReduce", "ReduceScatter", "AllGather", "AllToAll", "Broadcast", "SendRecv", "Reduce", "Other"};

    return names[t];
}

const char *metric_work_name(metric_work w)
{
    static const char *const names[METRIC_WORKS] = {"nccl",        "memory",    "attention", "gemm",
                                                    "elementwise", "reduction", "embedding", "other"};

    return names[w];
}

const char *metric_find_word(const char *text, const char *word, size_t n)
{
    char lower = *word, upper = (char)toupper((unsigned char)*word);

    for (; *text; text++)
        if ((*text == lower || *text == upper) && strncasecmp(text, word, n) == 0)
            return text;
    return NULL;
}

bool metric_has(const char *text, const char *word)
{
    return metric_find_word(text, word, strlen(word)) != NULL;
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

bool metric_ends(const char *text, const char *suffix)
{
    size_t n = strlen(text), of_suffix = strlen(suffix);

    return n >= of_suffix && strcmp(text + n - of_suffix, suffix) == 0;
}

bool metric_is_comm_kernel(const char *name)
{
    return METRIC_HAS_ANY(name, "nccl", "rccl", "oneccl", "hccl", "msccl", "cross_device_reduce", "allreduce",
                          "all_reduce", "allgather", "all_gather", "reducescatter", "reduce_scatter",
                          "alltoall", "all_toall", "allto_all", "all_to_all", "nvshmem", "deepep", "deep_ep",
                          "ep::internode", "ep::intranode");
}

metric_comm_type metric_comm_type_of_word(const char *word)
{
    if (METRIC_HAS_ANY(word, "allreduce", "all_reduce"))
        return METRIC_ALL_REDUCE;
    if (METRIC_HAS_ANY(word, "reducescatter", "reduce_scatter"))
        return METRIC_REDUCE_SCATTER;
    if (METRIC_HAS_ANY(word, "allgather", "all_gather"))
        return METRIC_ALL_GATHER;
    if (METRIC_HAS_ANY(word, "alltoall", "all_to_all"))
        return METRIC_ALL_TO_ALL;
    if (metric_has(word, "broadcast"))
        return METRIC_BROADCAST;
    if (METRIC_HAS_ANY(word, "sendrecv", "send", "recv"))
        return METRIC_SEND_RECV;
    if (metric_has(word, "reduce"))
        return METRIC_REDUCE;
    return METRIC_OTHER_COMM;
}

metric_comm_type metric_comm_type_of_kernel(const char *name)
{
    static const char *const suffixes[] = {"_RING", "_TREE", "_COLLNET", "_NVLS", "_LL"};
    char part[256];
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const char *at = strstr(name, suffixes[i]);

        if (at && (size_t)(at - name) < n)
            n = (size_t)(at - name);
    }
    if (n >= sizeof part)
        n = sizeof part - 1;
    memcpy(part, name, n);
    part[n] = '\0';
    if (METRIC_HAS_ANY(part, "ep::internode", "ep::intranode", "deepep", "deep_ep"))
        return METRIC_ALL_TO_ALL;
    if (metric_has(part, "cross_device_reduce"))
        return METRIC_ALL_REDUCE;
    return metric_comm_type_of_word(part);
}

/* The original's shortest words are left out or lengthened, because they stand in kernels of other kinds: `add_`, `mul_`
 * and `div_` (fused_add_rms_norm is a norm), `mm_` (in comm_), a bare `sum` (a scan of cub has the operator Sum). Checked
 * against the counts and times of ten recordings. */
metric_work metric_work_of(const char *name)
{
    if (metric_is_comm_kernel(name))
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
