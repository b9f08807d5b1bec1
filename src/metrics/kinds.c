#include "metrics/kinds.h"

#include "base/array.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *const metric_comm_type_name[METRIC_COMM_TYPES] = {
    "AllReduce", "ReduceScatter", "AllGather", "AllToAll", "Broadcast", "SendRecv", "Reduce", "Other"};

const char *const metric_work_name[METRIC_WORKS] = {"nccl",        "memory",    "attention", "gemm",
                                                    "elementwise", "reduction", "embedding", "other"};

/* Whether n letters of `word`, which is lower case unless its case counts, stand here. */
static bool is_here(const char *text, const char *word, size_t n, bool exact)
{
    size_t i = 0;

    while (i < n && (text[i] == word[i] ||
                     (!exact && word[i] >= 'a' && word[i] <= 'z' && (text[i] ^ 0x20) == word[i])))
        i++;
    return i == n;
}

static bool of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_sign(char c) { return c == '*' || c == '$' || c == '!' || c == '>'; }

static bool has_one(const char *name, const char *word, size_t n, bool exact);

/* Whether what comes behind a word suits its signs. */
static bool suits(const char *rest, const char *sign, size_t n, bool exact)
{
    if (n && *sign == '*')
        return has_one(rest, sign + 1, n - 1, exact);
    if (n && *sign == '$')
        return !*rest;
    for (size_t k; n; sign += k, n -= k) { /* !a!b */
        for (k = 1; k < n && sign[k] != '!'; k++)
            ;
        if (is_here(rest, sign + 1, k - 1, exact))
            return false;
    }
    return true;
}

/* Whether the word of n letters, with its signs but for the first, is in the name. */
static bool has_one(const char *name, const char *word, size_t n, bool exact)
{
    bool first = n && *word == '^', whole = n && *word == '<';
    size_t length = 0, behind;
    char begin, capital;

    word += first || whole;
    n -= first || whole;
    while (length < n && !is_sign(word[length]))
        length++;
    behind = length + whole;
    begin = length ? word[0] : '\0';
    capital = !exact && islower((unsigned char)begin) ? (char)(begin ^ 0x20) : begin;
    for (const char *s = name;; s++) {
        if ((!length || *s == begin || *s == capital) && is_here(s, word, length, exact) &&
            (!whole || ((s == name || !of_word(s[-1])) && !of_word(s[length]))) &&
            suits(s + length, word + behind, n - behind, exact))
            return true;
        if (first || !*s)
            return false;
    }
}

bool metric_says(const char *name, const char *words)
{
    for (;; words++) {
        size_t n = strcspn(words, "|");
        bool exact = *words == '=';

        if (has_one(name, words + exact, n - exact, exact))
            return true;
        words += n;
        if (!*words)
            return false;
    }
}

bool metric_is_among(const char *words, const char *word)
{
    const size_t length = strlen(word);

    for (size_t n; words; words = words[n] ? words + n + 1 : NULL) {
        n = strcspn(words, "|");
        if (n == length && memcmp(words, word, n) == 0)
            return true;
    }
    return false;
}

bool metric_has_part(const char *name, const char *word, bool (*separates)(char c))
{
    size_t n = strlen(word), length;

    for (; *name; name += length + (name[length] != '\0')) {
        for (length = 0; name[length] && !separates(name[length]); length++)
            ;
        if (length == n && is_here(name, word, n, false))
            return true;
    }
    return false;
}

bool metric_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

uint8_t metric_class_of_name(const metric_name_class *row, size_t n, const char *name, uint8_t otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (metric_says(name, row[i].words))
            return row[i].class;
    return otherwise;
}

/* In this order: a reduce-scatter is no reduce. */
static const metric_name_class types[] = {{METRIC_ALL_REDUCE, "allreduce|all_reduce"},
                                          {METRIC_REDUCE_SCATTER, "reducescatter|reduce_scatter"},
                                          {METRIC_ALL_GATHER, "allgather|all_gather"},
                                          {METRIC_ALL_TO_ALL, "alltoall|all_toall|allto_all|all_to_all"},
                                          {METRIC_BROADCAST, "broadcast"},
                                          {METRIC_SEND_RECV, "send|recv"},
                                          {METRIC_REDUCE, "reduce"}};

metric_comm_type metric_comm_type_of_word(const char *word)
{
    return (metric_comm_type)METRIC_CLASS_OF_NAME(types, word, METRIC_OTHER_COMM);
}

metric_comm_type metric_comm_type_of_kernel(const char *name)
{
    static const char *const suffixes[] = {"_RING", "_TREE", "_COLLNET", "_NVLS", "_LL"};
    static const metric_name_class libraries[] = {
        {METRIC_ALL_TO_ALL, "ep::internode|ep::intranode|deepep|deep_ep"},
        {METRIC_ALL_REDUCE, "cross_device_reduce"}}; /* vLLM's own */
    char head[4096];
    uint8_t type;

    snprintf(head, sizeof head, "%s", name);
    for (size_t i = 0; i < DSE_COUNT(suffixes); i++) {
        char *at = strstr(head, suffixes[i]);

        if (at)
            *at = '\0';
    }
    type = METRIC_CLASS_OF_NAME(libraries, head, METRIC_COMM_TYPES);
    return type == METRIC_COMM_TYPES ? metric_comm_type_of_word(head) : (metric_comm_type)type;
}

#define MEMORY_WORDS "copy|memcpy|memset|fillbuffer|transpose|permute|contiguous"
#define GEMM_WORDS                                                                                           \
    "gemm|gemv|matmul|cutlass|cublas|mma_|wgmma|xmma|nvjet|cijk_|triton_mm|triton_tem_fused*mm|"             \
    "^fused_moe_kernel|fmoe_|marlin::marlin|marlin_moe"

/* What a function is called: its name without template arguments and parameters, unless it begins with such
 * ("std::enable_if<...>::type f"). */
static const char *called(const char *name, char *head, size_t size)
{
    size_t n = strncmp(name, "void ", strlen("void ")) == 0 ? strlen("void ") : 0, length;

    n += strncmp(name + n, "(anonymous namespace)", 21) == 0 ? 21 : 0;
    length = n + strcspn(name + n, "<(");
    length = length < size ? length : size - 1;
    memcpy(head, name, length);
    head[length] = '\0';
    return head;
}

/* A matrix product by the name of its function. Its template arguments have words of other kinds:
 * CUTLASS's layouts are "NoPermute", its epilogues "LinearCombinationRelu". Of a mangled name the
 * namespace decides; the convolutions of cuDNN's copy of CUTLASS are what the reference values say. */
static bool is_product(const char *name)
{
    char head[256];

    if (metric_says(name, "=^_Z"))
        return metric_says(name, "=^_ZN7cutlass|=^_ZN2ck*gemm");
    called(name, head, sizeof head);
    return metric_says(head, GEMM_WORDS) && !metric_says(head, MEMORY_WORDS "|pooling");
}

/* The original's shortest words are left out or lengthened, because they stand in kernels of other kinds:
 * `add_`, `mul_` and `div_` (fused_add_rms_norm is a norm), `mm_` (in comm_), a bare `sum` (a scan of cub has
 * the operator Sum). Checked against the counts and times of ten recordings. Names seen, with their sources:
 * tests/unit/metrics/test_kinds.c. */
metric_work metric_work_by_words(const char *name)
{
    static const metric_name_class first[] = {
        {METRIC_WORK_COMM,
         "nccl|rccl|oneccl|hccl|msccl|cross_device_reduce|allreduce|all_reduce|allgather|all_gather|"
         "reducescatter|reduce_scatter|alltoall|all_toall|allto_all|all_to_all|nvshmem|deepep|"
         "deep_ep|ep::internode|ep::intranode|epdispatch|epcombine|userbuffers"},
        {METRIC_WORK_ATTENTION, "flash|attention|sdpa|fmha"},
        {METRIC_WORK_REDUCTION, "^triton_red_|^triton_per_"}}; /* Inductor says so before what it fused */
    static const metric_name_class works[] = {
        {METRIC_WORK_MEMORY, MEMORY_WORDS},
        {METRIC_WORK_EMBEDDING,
         "^_fwd_kernel_ep_"}, /* _scatter, _gather: of tokens over experts, no prefill */
        {METRIC_WORK_ATTENTION, "softmax|attn|aiter*pa_|aiter*mla_|^_fwd_kernel|^_fwd_grouped_kernel"},
        {METRIC_WORK_OTHER, "pooling"},
        {METRIC_WORK_GEMM, GEMM_WORDS},
        {METRIC_WORK_ELEMENTWISE, "elementwise|ewise|vectorized|relu|gelu|silu|sigmoid"},
        {METRIC_WORK_REDUCTION, "reduce|sum_|_sum|mean|norm"},
        {METRIC_WORK_EMBEDDING, "embedding|lookup|gather|scatter|index"}};
    uint8_t work = METRIC_CLASS_OF_NAME(first, name, METRIC_WORKS);

    if (work != METRIC_WORKS)
        return (metric_work)work;
    return is_product(name) ? METRIC_WORK_GEMM
                            : (metric_work)METRIC_CLASS_OF_NAME(works, name, METRIC_WORK_OTHER);
}

/* A name without two libraries that are called after one kind of work and do others, too: FBGEMM, which is
 * mostly of embeddings, and FlashInfer. Their products and attention say so elsewhere. */
static const char *without_library(const char *name, char *plain, size_t size)
{
    static const char *const libraries[] = {"fbgemm", "flashinfer"};
    size_t n = 0;

    if (!metric_says(name, "fbgemm|flashinfer"))
        return name;
    while (*name && n + 1 < size) {
        size_t skipped = 0;

        for (size_t i = 0; i < DSE_COUNT(libraries); i++)
            if (is_here(name, libraries[i], strlen(libraries[i]), false))
                skipped = strlen(libraries[i]);
        if (skipped)
            name += skipped;
        else
            plain[n++] = *name++;
    }
    plain[n] = '\0';
    return plain;
}

/* What the words of the definition, whose recorded values stand, take for another kind. FBGEMM's lookups are
 * bound by memory, forward and backward, whatever their arguments are called. */
metric_work metric_work_of(const char *name)
{
    static const metric_name_class known[] = {
        {METRIC_WORK_EMBEDDING, "split_embedding|dense_embedding_codegen|ssd_embedding_codegen"},
        {METRIC_WORK_MEMORY, "_and_cache|appendpagedkvcache|nchwtonhwc|nhwctonchw|^_fwd_kernel_ep_"},
        {METRIC_WORK_ATTENTION, "flashinfer*prefillwith|flashinfer*decodewith|flashinfer*mergestates"},
        {METRIC_WORK_REDUCTION, "vectorized_layer_norm|cudnn::bn_"},
        {METRIC_WORK_GEMM, "=^bmm_|cudnn*wgrad_alg|cudnn*dgrad_engine"}};
    char plain[4096];
    uint8_t work = METRIC_CLASS_OF_NAME(known, name, METRIC_WORKS);

    return work == METRIC_WORKS ? metric_work_by_words(without_library(name, plain, sizeof plain))
                                : (metric_work)work;
}
