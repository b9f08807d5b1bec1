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

/* Shards weights as PyTorch's FSDP does. */
#define SHARDS                                                                                               \
    .like = "torchtitan", .sharded = 1, .zero = 3, .when_on = MSR_RECOMPUTE_FULL,                            \
    .when_off = MSR_RECOMPUTE_NONE, .overlaps = true
#define MEGATRON                                                                                             \
    .sharded = 0, .when_on = MSR_RECOMPUTE_SELECTIVE, .when_off = MSR_RECOMPUTE_NONE,                        \
    .unsaid = MSR_RECOMPUTE_NONE, .cp_comm = "ring"
/* The recipes of NVIDIA. */
#define RECIPES                                                                                              \
    MEGATRON, .like = "megatron", .zero = 1, .sequence_parallel = true, .overlaps = true,                    \
              .tp_overlap = true, .fp8_recipe = "delayed"

/* The first whose name a text begins with. Sources: TorchTitan shards weights over dp unless told
 * otherwise (data_parallel_shard_degree is -1: all that is left), and its local batch is cut into
 * micro-batches by the pipeline alone; Megatron's data parallelism replicates weights, and
 * --recompute-activations is selective; Megatron-DeepSpeed's --checkpoint-activations recomputes all of a
 * layer; what checkpointing true and false mean in the runs of CCL-Search is in the notes of
 * ccl_bench_search_sweeps.json.
 *
 * Megatron-LM of 2022 is the program of arXiv 2205.05198, whose figure 3 has attention with the scores in
 * memory; Megatron-DeepSpeed has FlashAttention as an option that is off (--use-flash-attn).
 *
 * FlashAttention-2: TorchTitan, whose published figures of Hopper (2024-12 to 2025-06) are older than its
 * asking for cuDNN's kernels there (torchtitan/pull/1196 had it for Blackwell alone) and than torch's own
 * preference (pytorch/pull/138522 made them opt-in, 162073 undid that for 2.9); fms-fsdp (README: "SDPA
 * implementation of Flash attention v2"); llm-foundry (8c8dd48f, submit_benchmarks.py: attn_impl flash,
 * gpu-flash2; but the figures of its table are of b2a43a14 and 5e85bd62, where attn_impl was triton, a slower
 * kernel of 2023). Megatron-LM and its kin, NeMo and MaxText take cuDNN's, by Transformer Engine.
 *
 * The other defaults are those of the programs' options: Megatron-LM d98e8a64
 * (megatron/training/arguments.py), Megatron-Bridge 067f987d (ddp.overlap_*; its recipes and NeMo's, which
 * published figures are of, set sequence_parallel to tensor_model_parallel_size > 1, though the option alone
 * is off), TorchTitan v0.2.2 (config/job_config.py: selective_ac_option "2",
 * pipeline_parallel_microbatch_size 1, context_parallel_rotate_method allgather, sequence parallelism with
 * tp, two stages a rank where a schedule has several), DeepSpeed 0.19.6 (runtime/config.py:
 * zero_optimization.stage 0, a micro-batch of the whole batch; Ulysses), llm-foundry 8c8dd48f (FULL_SHARD;
 * composer's backward prefetch, and its amp_fp8 is Transformer Engine's delayed scaling, as --fp8-recipe of
 * Megatron-LM; recipe_name of TorchTitan is tensorwise), fms-fsdp 0d319983 (selective_checkpointing 1: all
 * blocks), InternEvo 00de6134 (configs/7B_sft.py: zero1, overlap_sync_grad, tensor mode mtp, which splits no
 * sequences, checkpoint False), Paxml (TransformerLmSpmdAdam: SAVE_NOTHING), MaxText 000b810b
 * (configs/base.yml: remat_policy full, fsdp, one micro-batch, decoder_block llama2; the hidden state is
 * split over `tensor` between the products, so that what crosses is what sequence parallelism's is).
 * XLA gathers keys and values over cp as they are, and copies none for each head before, as TorchTitan does.
 * 8 bits of MaxText and Paxml are Flax's on GPUs, scaled by the history of maxima (flax/linen/fp8_ops.py,
 * Fp8DotGeneralOp), and taken for the same on TPUs. PyTorch/XLA recomputes what a program wraps, and by
 * itself nothing.
 *
 * Experts are split over no ranks by Megatron-Bridge's recipes (recipes/qwen/qwen3_moe.py,
 * recipes/deepseek/deepseek_v3.py: expert_tensor_parallel_size 1, which
 * scripts/performance/configs, ..._workload_base_configs.py repeat), where Megatron-LM splits them over tp.
 *
 * Collectives of tensor parallelism beside products: NVIDIA's recipes ask for Transformer Engine's
  * (ub_tp_comm_overlap: true of GPT-3 175B, Llama 3.1 70B, Nemotron-4 15B and 340B in dgxc-benchmarking
  * v24.11.1 to v25.04; tp_comm_overlap=True of Megatron-Bridge's recipes of Llama 3 70B and 405B and of GPT-3
  * 175B), with tp and sequence parallelism; MaxText's scripts of TPUs ask XLA for it
  * (xla_tpu_overlap_compute_collective_tc, xla_tpu_enable_async_collective_fusion). Forks of
  * Megatron-DeepSpeed before Microsoft took up Megatron-LM's asynchronous sums (9e72d571, 2023-07-04),
  * BigScience's among them (megatron/mpu/layers.py), wait for all of them; which fork ran no table says.
 *
 * TorchTitan's mixed precision is that of fully_shard, over dp_shard and cp; without it torch's autocast
 * has data parallelism alone, and tp or pp train in 32 bits (distributed/utils.py, maybe_enable_amp:
 * "Mixed precision training with TP or PP is only supported when FSDP/HSDP/CP is enabled").
 *
 * Layers are made again as far as the backward pass reads them, so without their last product: by torch's
 * checkpoint without reentrance from 2.1 on (torch/utils/checkpoint.py, _enable_checkpoint_early_stop), which
 * fms-fsdp 0d319983 and TorchTitan before 25413d224 (2025-08-29, early_stop False) take, whose figures are
 * older; and by XLA, which computes nothing that nobody reads. llm-foundry's are of torch 1.13 and 2.0.
 *
 * The command that TorchTitan's docs/float8.md gives for scales of tensors gathers sharded weights in 8 bits
 * (--float8.enable_fsdp_float8_all_gather, in 2024-12 as in 2025-06), and so does that of the report on H200.
 *
 * TorchTitan's configurations of Llama 3 (train_configs/llama3_{8b,70b,405b}.toml) have sequences of 8192
 * tokens, and its log's tps is a device's (tools/metrics.py). */
static const msr_framework frameworks[] = {
    {.name = "torchtitan",
     .title = "TorchTitan",
     .flash_attention_2 = true,
     .recomputes_early = true,
     .like = "torchtitan",
     .mixes_sharded = true,
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
     .cp_comm = "all-gather",
     .rates_a_device = true,
     .llama3_sequence = 8192,
     .gathers_cast = true,
     .fp8_recipe = "tensorwise"},
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
    {.name = "megatronbridge", .title = "Megatron-Bridge", RECIPES, .has_recipes = true, .etp = 1},
    {.name = "nemo", .title = "NeMo", RECIPES},
    {.name = "megatronlmof2022",
     .title = "Megatron-LM of 2022",
     .like = "megatron-2022",
     MEGATRON,
     .zero = 0,
     .unfused = true},
    {.name = "megatron",
     .title = "Megatron-LM",
     .like = "megatron",
     MEGATRON,
     .zero = 0,
     .fp8_recipe = "delayed"},
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
     .flash_attention_2 = true,
     SHARDS,
     .unsaid = MSR_RECOMPUTE_NONE,
     .selective = MSR_SELECTIVE_UNKNOWN,
     .cp_comm = "ring",
     .fp8_recipe = "delayed"},
    {.name = "fmsfsdp",
     .title = "fms-fsdp",
     .flash_attention_2 = true,
     .recomputes_early = true,
     .like = "torchtitan",
     .sharded = -1,
     .zero = -1,
     .when_on = MSR_RECOMPUTE_FULL,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .selective = MSR_SELECTIVE_ALL,
     .overlaps = true,
     .cp_comm = "ring",
     .is_llama = true},
    {.name = "internevo",
     .title = "InternEvo",
     .like = "megatron",
     .sharded = 0,
     .zero = 1,
     .when_on = MSR_RECOMPUTE_FULL,
     .when_off = MSR_RECOMPUTE_NONE,
     .unsaid = MSR_RECOMPUTE_NONE,
     .overlaps = true,
     .cp_comm = "all-to-all",
     .is_llama = true},
    {.name = "maxtext",
     .title = "MaxText",
     .recomputes_early = true,
     SHARDS,
     .unsaid = MSR_RECOMPUTE_FULL,
     .one_micro_batch = true,
     .sequence_parallel = true,
     .cp_comm = "all-gather-xla",
     .has_policies = true,
     .tp_overlap = true,
     .is_llama = true,
     .fp8_recipe = "delayed"},
    {.name = "paxml",
     .title = "Paxml",
     .recomputes_early = true,
     SHARDS,
     .unsaid = MSR_RECOMPUTE_FULL,
     .selective = MSR_SELECTIVE_UNKNOWN,
     .one_micro_batch = true,
     .sequence_parallel = true,
     .cp_comm = "all-gather-xla",
     .has_policies = true,
     .fp8_recipe = "delayed"},
    {.name = "torchxla",
     .other_name = "pytorchxla",
     .title = "PyTorch/XLA",
     SHARDS,
     .unsaid = MSR_RECOMPUTE_NONE,
     .selective = MSR_SELECTIVE_UNKNOWN,
     .one_micro_batch = true,
     .cp_comm = "all-gather-xla"},
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

/* `with` may be NULL. */
static bool begins(const char *text, const char *with) { return with && !strncmp(text, with, strlen(with)); }

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
            if (begins(name, frameworks[i].name) || begins(name, frameworks[i].other_name))
                return &frameworks[i];
    }
    return NULL;
}

/* ---- recipes ------------------------------------------------------------------------------- */

/* Megatron-Bridge 067f987d and its tags v0.2.0 to v0.6.0, recipes/deepseek/deepseek_v3.py (later h100/):
 * mtp_num_layers 1, and the layouts of _get_deepseek_v3_pipeline_layout by (pp, vp), which its recipes of
 * B200, B300 and GB200 take; that of 8 x 4 is of its recipes of 1,024 H100. */
static const msr_recipe_model recipe_models[] = {
    {.part = "deepseekv3",
     .layers = 61,
     .mtp_layers = 1,
     .layout = {{4, 1, "Et*16|(t*16|)*2t*13"},
                {8, 1, "Et*8|(t*8|)*6t*5"},
                {4, 2, "Et*8|(t*8|)*6t*5"},
                {16, 1, "Et*4|(t*4|)*14t"},
                {8, 2, "Et*4|(t*4|)*14t"},
                {4, 4, "Et*4|(t*4|)*14t"},
                {8, 4, "Et|(tt|)*30"}}},
};

const msr_recipe_model *msr_recipe_model_find(const msr_framework *f, const char *family, int64_t layers)
{
    char form[WORD_MAX];

    msr_normal_form(family ? family : "", form, sizeof form);
    for (size_t i = 0; f && f->has_recipes && i < DSE_COUNT(recipe_models); i++)
        if (strstr(form, recipe_models[i].part) && recipe_models[i].layers == layers)
            return &recipe_models[i];
    return NULL;
}

int64_t msr_mtp_of(const char *remark)
{
    if (strstr(remark, "w/o MTP"))
        return 0;
    return strstr(remark, "w/ MTP") ? 1 : MSR_JOB_NONE;
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

/* What the policies of MaxText and Paxml keep of a layer, which a text may have in brackets: "selective
 * (minimal_with_context)". What the backward pass needs and is not kept is made again; of a Llama whose
 * attention's products are kept that is attention itself and the two products before its network's
 * activation, as XLA does not compute what nobody reads: the last one. Sources: MaxText's
 * src/maxtext/layers/decoders.py, get_remat_policy; Praxis' layers/checkpoint_policy.py. */
#define NEAR(what) "recomputation of all of a layer, the nearest to a policy that " what
#define CORE_MLP   "(core_attn, mlp)"
#define NEAR_QKV                                                                                             \
    "recomputation of attention and its network, the nearest to a policy that keeps queries, keys and "      \
    "values"
static const struct {
    const char *policy;
    msr_recompute is;
    const char *parts; /* of selective; NULL: attention alone */
    const char *nearest;
} policies[] = {
    {"full", MSR_RECOMPUTE_FULL, NULL, NULL},
    {"minimal", MSR_RECOMPUTE_SELECTIVE, NULL, NULL},
    {"minimal_offloaded", MSR_RECOMPUTE_SELECTIVE, NULL, NULL},
    {"minimal_flash", MSR_RECOMPUTE_NONE, NULL,
     "no recomputation, the nearest to a policy that keeps all but element-wise results"},
    {"minimal_with_context", MSR_RECOMPUTE_NONE, NULL,
     "no recomputation, the nearest to a policy that keeps all but element-wise results"},
    {"minimal_with_quantization", MSR_RECOMPUTE_SELECTIVE, NULL, NULL},
    {"save_qkv_proj", MSR_RECOMPUTE_SELECTIVE, CORE_MLP, NEAR_QKV},
    {"qkv_proj_offloaded", MSR_RECOMPUTE_SELECTIVE, CORE_MLP, NEAR_QKV},
    {"save_out_proj", MSR_RECOMPUTE_FULL, NULL, NEAR("keeps the result of attention")},
    {"save_dot_except_mlp", MSR_RECOMPUTE_SELECTIVE, CORE_MLP, NULL},
    {"save_dot_with_context_except_mlp", MSR_RECOMPUTE_SELECTIVE, "(mlp)", NULL},
    {"save_dot_except_mlpwi", MSR_RECOMPUTE_SELECTIVE, CORE_MLP, NULL},
    {"save_qkv_out_proj", MSR_RECOMPUTE_SELECTIVE, CORE_MLP, NULL},
    {"custom", MSR_RECOMPUTE_FULL, NULL, NEAR("keeps the results that a list names")},
};

/* The number of the policy that a text names, or its bracket; as many as there are: it names none. */
static size_t find_policy(const char *text)
{
    const char *bracket = strchr(text, '('), *at = bracket ? bracket + 1 : text;
    const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    size_t i = 0;

    while (i < DSE_COUNT(policies) &&
           (strlen(policies[i].policy) != n || strncmp(policies[i].policy, at, n) != 0))
        i++;
    return i;
}

/* The number of the policy that a text names to a program that has such; as many as there are: none. */
static size_t policy_of(const char *text, const msr_framework *f)
{
    return text && f && f->has_policies ? find_policy(text) : DSE_COUNT(policies);
}

msr_recompute msr_recompute_of(const char *text, const msr_framework *f, const char **nearest)
{
    const msr_recompute meanings[] = {
        [SAYS_UNKNOWN] = MSR_RECOMPUTE_UNKNOWN,
        [SAYS_NONE] = MSR_RECOMPUTE_NONE,
        [SAYS_SELECTIVE] = MSR_RECOMPUTE_SELECTIVE,
        [SAYS_FULL] = MSR_RECOMPUTE_FULL,
        [SAYS_ON] = f ? f->when_on : MSR_RECOMPUTE_UNKNOWN,
    };

    const size_t policy = policy_of(text, f);

    *nearest = NULL;
    if (policy < DSE_COUNT(policies)) {
        *nearest = policies[policy].nearest;
        return policies[policy].is;
    }
    return text ? meanings[says(text)] : MSR_RECOMPUTE_UNKNOWN;
}

/* Megatron's --recompute-modules, but for a list of core_attn alone, which they are without one; of a policy
 * what it makes again. */
const char *msr_recompute_parts(const char *text, const msr_framework *f)
{
    static const char *const attention[] = {"core_attn", "core attention", "attention", "attn"};
    const char *bracket = strchr(text, '(');
    const size_t policy = policy_of(text, f);

    if (f && f->has_policies)
        return policy < DSE_COUNT(policies) ? policies[policy].parts : NULL;
    for (const char *p = bracket ? bracket + 1 : ""; *p; p += strspn(p, ",) ")) {
        const size_t n = strcspn(p, ",)");
        bool is_known = false;

        for (size_t i = 0; i < DSE_COUNT(attention); i++)
            is_known |= strlen(attention[i]) == n && !strncasecmp(attention[i], p, n);
        if (!is_known)
            return bracket;
        p += n;
    }
    return NULL;
}

/* ---- models ------------------------------------------------------------------------------------ */

/* By what a name has in it, in normal form; the first that fits: "llama" is in none of the later. Sources:
 * the modeling_<family>.py of Hugging Face's transformers. What other parts differ in (biases, norms of
 * queries, a norm behind a block, attention beside the feed-forward network) is not simulated. */
static const struct {
    const char *part;
    msr_built is;
} built[] = {
    {"nemotron", MSR_BUILT_NEMOTRON},   {"minitron", MSR_BUILT_NEMOTRON}, {"falcon", MSR_BUILT_NEMOTRON},
    {"starcoder2", MSR_BUILT_NEMOTRON}, {"llama", MSR_BUILT_LLAMA},       {"internlm", MSR_BUILT_LLAMA},
    {"qwen", MSR_BUILT_LLAMA},          {"mistral", MSR_BUILT_LLAMA},     {"gemma", MSR_BUILT_LLAMA},
    {"olmo", MSR_BUILT_LLAMA},          {"baichuan", MSR_BUILT_LLAMA},    {"phi3", MSR_BUILT_LLAMA},
    {"phi4", MSR_BUILT_LLAMA},          {"smollm", MSR_BUILT_LLAMA},      {"chatglm", MSR_BUILT_LLAMA},
    {"deepseekllm", MSR_BUILT_LLAMA},   {"granite", MSR_BUILT_LLAMA},     {"vicuna", MSR_BUILT_LLAMA},
    {"aquila", MSR_BUILT_LLAMA},        {"gpt", MSR_BUILT_GPT},           {"megatron", MSR_BUILT_GPT},
    {"turing", MSR_BUILT_GPT},          {"mtnlg", MSR_BUILT_GPT},         {"mpt", MSR_BUILT_GPT},
    {"bloom", MSR_BUILT_GPT},           {"opt", MSR_BUILT_GPT},           {"pythia", MSR_BUILT_GPT},
};

msr_built msr_built_of(const char *family)
{
    char form[WORD_MAX];

    msr_normal_form(family ? family : "", form, sizeof form);
    for (size_t i = 0; i < DSE_COUNT(built); i++)
        if (strstr(form, built[i].part))
            return built[i].is;
    return MSR_BUILT_UNKNOWN;
}

/* In normal form. Sources: the configurations of these models (moe, num_experts, hybrid_override_pattern). */
static const char *const with_experts[] = {
    "deepseekv2", "deepseekv3", "deepseekv4", "deepseekr1", "deepseek3", "deepseekcoderv2",
    "mixtral",    "grok",       "gptoss",     "dbrx",       "llama4",    "moe"};
static const char *const hybrids[] = {"nemotronh",  "nemotron3nano", "nemotron3super", "nemotron3ultra",
                                      "nemotron35", "mamba",         "jamba"};

static const char *const latent[] = {"deepseekv2", "deepseekv3",      "deepseekv4", "deepseekr1",
                                     "deepseek3",  "deepseekcoderv2", "kimi"};

static bool has_one_of(const char *text, const char *const *part, size_t n)
{
    char form[WORD_MAX];

    msr_normal_form(text, form, sizeof form);
    for (size_t i = 0; i < n; i++)
        if (strstr(form, part[i]))
            return true;
    return false;
}

/* Bytes of a number, "2.7", at a place. */
static size_t number_at(const char *at) { return strspn(at, "0123456789."); }

/* "8x7b", "30b-a3b", "1b-a400m": experts by their number, or the parameters of a token. */
static bool counts_experts(const char *name)
{
    for (const char *p = name; *p; p++) {
        const bool is_first = p == name || !isalnum((unsigned char)p[-1]);
        const size_t digits = strspn(p, "0123456789"),
                     after = digits && p[digits] ? number_at(p + digits + 1) : 0,
                     active = strchr("aA", *p) ? number_at(p + 1) : 0;

        if (is_first && digits && strchr("xX", p[digits]) && p[digits] && after &&
            tolower((unsigned char)p[digits + 1 + after]) == 'b')
            return true;
        if (is_first && active && p[active + 1] && strchr("bBmM", p[active + 1]) &&
            !isalnum((unsigned char)p[active + 2]))
            return true;
    }
    return false;
}

bool msr_name_has_experts(const char *family)
{
    return counts_experts(family) || has_one_of(family, with_experts, DSE_COUNT(with_experts));
}

bool msr_name_is_hybrid(const char *family) { return has_one_of(family, hybrids, DSE_COUNT(hybrids)); }

bool msr_name_has_latent_attention(const char *family)
{
    return has_one_of(family, latent, DSE_COUNT(latent));
}

int64_t msr_gate_of(const char *text)
{
    char form[WORD_MAX];

    msr_normal_form(text, form, sizeof form);
    if (strstr(form, "glu")) /* SwiGLU, GeGLU, ReGLU */
        return 1;
    return strstr(form, "relu") || strstr(form, "gelu") ? 0 : MSR_JOB_NONE;
}
