/* Words that people write about a run, and what they mean. What no row knows is unknown, and not guessed. */
#include "measured/job_row.h"

#include "base/array.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 128

void msr_normal_form(const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (; *text && n + 1 < size; text++)
        if (isalnum((unsigned char)*text))
            out[n++] = (char)tolower((unsigned char)*text);
    out[n] = '\0';
}

bool msr_word_is_absent(const char *text)
{
    static const char *const words[] = {"", "n/a", "na", "tbd", "unknown", "null"};
    static const char not_stated[] = "not stated";

    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (!strcasecmp(text, words[i]))
            return true;
    return !strncasecmp(text, not_stated, sizeof not_stated - 1);
}

/* ---- frameworks ---------------------------------------------------------------------------- */

/* The first whose name a text begins with. Sources: TorchTitan shards weights over dp unless told
 * otherwise (data_parallel_shard_degree is -1: all that is left), and its local batch is cut into
 * micro-batches by the pipeline alone; Megatron's data parallelism replicates weights, and
 * --recompute-activations is selective; Megatron-DeepSpeed's --checkpoint-activations recomputes all of a
 * layer; what checkpointing true and false mean in the runs of CCL-Search is in the notes of
 * ccl_bench_search_sweeps.json.
 *
 * Megatron-LM of 2022 is the program of arXiv 2205.05198, whose figure 3 has attention with the scores in memory;
 * Megatron-DeepSpeed has FlashAttention as an option that is off (--use-flash-attn).
 *
 * The other defaults are those of the programs' options: Megatron-LM d98e8a64
 * (megatron/training/arguments.py), Megatron-Bridge 067f987d (ddp.overlap_*), TorchTitan v0.2.2
 * (config/job_config.py: selective_ac_option "2", pipeline_parallel_microbatch_size 1,
 * context_parallel_rotate_method allgather, sequence parallelism with tp, two stages a rank where a
 * schedule has several), DeepSpeed 0.19.6 (runtime/config.py: zero_optimization.stage 0, a micro-batch of
 * the whole batch; Ulysses), llm-foundry 8c8dd48f (FULL_SHARD; composer's backward prefetch). */
static const msr_framework frameworks[] = {
    {.name = "torchtitan",
     .title = "TorchTitan",
     .like = "torchtitan",
     .sharded = 1,
     .zero = 3,
     .when_on = MSR_RECOMPUTE_FULL,
     .when_off = MSR_RECOMPUTE_SELECTIVE,
     .unsaid = MSR_RECOMPUTE_SELECTIVE,
     .selective = MSR_SELECTIVE_SECOND_LAYER,
     .micro_batches_need_pp = true,
     .one_micro_batch = true,
     .stage_micro_batch = 1,
     .chunks = 2,
     .sequence_parallel = true,
     .overlaps = true,
     .cp_comm = "all-gather"},
    {.name = "megatrondeepspeed",
     .title = "Megatron-DeepSpeed",
     .like = "deepspeed",
     .sharded = 0,
     .zero = 0,
     .when_on = MSR_RECOMPUTE_FULL,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .unfused = true,
     .cp_comm = "all-to-all"},
    {.name = "megatronbridge",
     .title = "Megatron-Bridge",
     .like = "megatron",
     .sharded = 0,
     .zero = 1,
     .when_on = MSR_RECOMPUTE_SELECTIVE,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .overlaps = true,
     .cp_comm = "ring"},
    {.name = "nemo",
     .title = "NeMo",
     .like = "megatron",
     .sharded = 0,
     .zero = 1,
     .when_on = MSR_RECOMPUTE_SELECTIVE,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .overlaps = true,
     .cp_comm = "ring"},
    {.name = "megatronlmof2022",
     .title = "Megatron-LM of 2022",
     .like = "megatron-2022",
     .sharded = 0,
     .zero = 0,
     .when_on = MSR_RECOMPUTE_SELECTIVE,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .unfused = true,
     .cp_comm = "ring"},
    {.name = "megatron",
     .title = "Megatron-LM",
     .like = "megatron",
     .sharded = 0,
     .zero = 0,
     .when_on = MSR_RECOMPUTE_SELECTIVE,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .cp_comm = "ring"},
    {.name = "deepspeed",
     .title = "DeepSpeed",
     .like = "deepspeed",
     .sharded = -1,
     .zero = 0,
     .when_on = MSR_RECOMPUTE_FULL,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .one_micro_batch = true,
     .cp_comm = "all-to-all"},
    {.name = "llmfoundry",
     .title = "llm-foundry",
     .like = "torchtitan", /* both shard with PyTorch's FSDP */
     .sharded = 1,
     .zero = 3,
     .when_on = MSR_RECOMPUTE_FULL,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .selective = MSR_SELECTIVE_UNKNOWN,
     .overlaps = true,
     .cp_comm = "ring"},
    {.name = "fmsfsdp",
     .title = "fms-fsdp",
     .like = "torchtitan",
     .sharded = -1,
     .zero = -1,
     .when_on = MSR_RECOMPUTE_UNKNOWN,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_UNKNOWN,
     .selective = MSR_SELECTIVE_UNKNOWN,
     .overlaps = true,
     .cp_comm = "ring"},
};

/* Without what is in brackets: a remark. */
static void cut_remark(const char *text, char *out, size_t size)
{
    size_t n = strcspn(text, "(");

    if (n >= size)
        n = size - 1;
    memcpy(out, text, n);
    out[n] = '\0';
}

/* "NVIDIA/Megatron-LM", "NeMo / Megatron-Core": the first part between slashes that is known. */
const msr_framework *msr_framework_find(const char *text)
{
    char bare[WORD_MAX], name[WORD_MAX], *rest;

    if (!text)
        return NULL;
    cut_remark(text, bare, sizeof bare);
    for (char *part = strtok_r(bare, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        msr_normal_form(part, name, sizeof name);
        for (size_t i = 0; i < DSE_COUNT(frameworks); i++)
            if (!strncmp(name, frameworks[i].name, strlen(frameworks[i].name)))
                return &frameworks[i];
    }
    return NULL;
}

/* ---- recomputation ------------------------------------------------------------------------- */

/* Words that may stand beside the one that counts: "full activation checkpointing", "recompute:
 * selective". */
static const char *const fillers[] = {
    "activation",  "activations", "checkpointing", "checkpoint", "recompute", "recomputed", "recomputation",
    "recomputing", "ac",          "per",           "op",         "with"};

typedef enum { SAYS_UNKNOWN, SAYS_NONE, SAYS_SELECTIVE, SAYS_FULL, SAYS_ON } said;

static const struct {
    const char *word; /* in normal form, all that is left */
    said says;
} words[] = {
    {"full", SAYS_FULL},
    {"all", SAYS_FULL},
    {"fulllayer", SAYS_FULL},
    {"selective", SAYS_SELECTIVE},
    {"attnonly", SAYS_SELECTIVE},
    {"attentiononly", SAYS_SELECTIVE},
    {"none", SAYS_NONE},
    {"no", SAYS_NONE},
    {"off", SAYS_NONE},
    {"disabled", SAYS_NONE},
    {"without", SAYS_NONE},
    {"false", SAYS_NONE},
    {"on", SAYS_ON},
    {"enabled", SAYS_ON},
    {"true", SAYS_ON},
};

static bool is_filler(const char *word, size_t n)
{
    for (size_t i = 0; i < DSE_COUNT(fillers); i++)
        if (strlen(fillers[i]) == n && !strncasecmp(fillers[i], word, n))
            return true;
    return false;
}

static said says(const char *text)
{
    char bare[WORD_MAX], left[WORD_MAX] = "";
    size_t n, used = 0;

    cut_remark(text, bare, sizeof bare);
    for (const char *p = bare; *p; p += n ? n : 1) {
        n = 0;
        while (isalnum((unsigned char)p[n]))
            n++;
        for (size_t i = 0; n && !is_filler(p, n) && i < n; i++)
            left[used++] = (char)tolower((unsigned char)p[i]);
        left[used] = '\0';
    }
    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (!strcmp(left, words[i].word))
            return words[i].says;
    return SAYS_UNKNOWN;
}

msr_recompute msr_recompute_of(const char *text, const msr_framework *f)
{
    const msr_recompute meanings[] = {
        [SAYS_UNKNOWN] = MSR_RECOMPUTE_UNKNOWN,
        [SAYS_NONE] = MSR_RECOMPUTE_NONE,
        [SAYS_SELECTIVE] = MSR_RECOMPUTE_SELECTIVE,
        [SAYS_FULL] = MSR_RECOMPUTE_FULL,
        [SAYS_ON] = f ? f->when_on : MSR_RECOMPUTE_UNKNOWN,
    };

    return text ? meanings[says(text)] : MSR_RECOMPUTE_UNKNOWN;
}
