/* The formulas of
 *   Megatron-LM, training/training.py, and Megatron-Bridge, training/utils/flop_utils.py:
 *     num_floating_point_operations (d98e8a6, 067f987)
 *   torchtitan, models/utils.py: get_dense_model_nparams_and_flops, get_moe_model_nparams_and_flops (b5bcd76)
 *   NeMo, utils/flops_formulas.py (8cfedd7)
 *   PaLM, arXiv 2204.02311, appendix B
 * in terms of what step_count counts where that is the same. What they leave out or take for given is theirs:
 * NeMo knows vocabularies of its own, Megatron-LM no windows, torchtitan and PaLM no causal mask.
 * Checked: tests/models, with the values of these functions for 82 models at three lengths. */
#include "driver/mfu.h"

#include "base/array.h"
#include "step/count.h"
#include "step/module.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* What a formula reads. `pairs`: heads times features of a key and of a value, over all layers; `windowed`:
 * of those with a window. */
typedef struct {
    const card_model *card;
    step_count count;
    double sequence, hidden, layers, heads, kv_heads, ffn, expert_ffn, top_k, vocabulary;
    double pairs, windowed, window;
    double latent_norms; /* features of latents in a layer, whose norms Megatron-LM counts */
    double shared_gates; /* matrices of one column that scale shared experts: their parameters */
    uint32_t tp;
} subject;

struct drv_mfu {
    const char *word, *text;
    double (*operations)(const subject *s);
    bool needs_experts, needs_latents;
};

static void look_at(const step_model *m, subject *s)
{
    for (uint32_t kind = 0; kind < m->n_blocks; kind++) {
        const step_block *b = &m->block[kind];
        const double times = step_block_times(m, (step_block_kind)kind);

        for (uint32_t i = 0; i < b->n; i++) {
            const step_module *of = &b->module[i];
            const double pairs = times * (double)of->heads * (double)(of->head_size + of->value_size);

            if (of->kind == &step_module_router && !of->top_k)
                s->shared_gates += times * (double)of->in;
            if (of->kind != &step_module_attention)
                continue;
            s->pairs += pairs;
            s->windowed += of->window ? pairs : 0;
            s->window = of->window ? (double)of->window : s->window;
        }
    }
}

static subject subject_of(const card_model *m, const step_model *model, uint32_t tp)
{
    subject s = {.card = m,
                 .count = step_count_of(model),
                 .sequence = (double)model->sequence,
                 .hidden = (double)m->d_model,
                 .layers = (double)m->layers,
                 .heads = (double)m->heads,
                 .kv_heads = (double)(m->kv_heads ? m->kv_heads : m->heads),
                 .ffn = (double)m->d_ff,
                 .expert_ffn = (double)(m->d_ff_expert ? m->d_ff_expert : m->d_ff),
                 .top_k = (double)m->experts_per_token,
                 .vocabulary = (double)m->vocabulary,
                 .latent_norms = (double)(m->kv_lora_rank + (m->kv_lora_rank ? m->q_lora_rank : 0)),
                 .tp = tp};

    look_at(model, &s);
    return s;
}

/* Of a token in the matrices of layers, forward: 2 for each parameter that it takes. */
static double of_layers(const subject *s)
{
    const uint64_t *n = s->count.operations;

    return (double)(n[STEP_COUNT_ATTENTION] + n[STEP_COUNT_FEED_FORWARD] + n[STEP_COUNT_EXPERTS] +
                    n[STEP_COUNT_SHARED_EXPERTS]) -
           2 * s->shared_gates;
}

/* ---- Megatron-LM, Megatron-Bridge --------------------------------------------------------------- */

#define VOCABULARY_MULTIPLE 128 /* times tp: --make-vocab-size-divisible-by */

/* Without attention's products. The vocabulary is padded. */
static double megatron_matrices(const subject *s)
{
    const double multiple = VOCABULARY_MULTIPLE * (double)s->tp;
    const double padded = ceil(s->vocabulary / multiple) * multiple;

    return s->sequence * (3 * of_layers(s) + 6 * (s->latent_norms * s->layers + s->hidden * padded));
}

static double megatron(const subject *s)
{
    return megatron_matrices(s) + 3 * s->sequence * s->sequence * s->pairs;
}

/* A token of a layer with a window W attends to W - W (W - 1) / (2 S) others. */
static double bridge(const subject *s)
{
    const double w = s->window, of_all = s->sequence / 2,
                 of_window = w < s->sequence ? w - w * (w - 1) / (2 * s->sequence) : of_all;

    return megatron_matrices(s) +
           6 * s->sequence * (s->windowed * of_window + (s->pairs - s->windowed) * of_all);
}

/* ---- torchtitan, PaLM --------------------------------------------------------------------------- */

/* 6 for each parameter that a token takes, but for the table of an input embedding that is not the output's,
 * too. */
static double torchtitan(const subject *s)
{
    const uint64_t table = s->card->tied_embeddings ? 0 : s->count.parameters[STEP_COUNT_EMBEDDING];

    return s->sequence * (6 * (double)(s->count.active - table) + 6 * s->pairs * s->sequence);
}

static double palm(const subject *s)
{
    return s->sequence * (6 * (double)s->count.active + 6 * s->pairs * s->sequence);
}

/* ---- NeMo --------------------------------------------------------------------------------------- */

static double nemo_gpt3(const subject *s)
{
    const double n = s->sequence, h = s->hidden;

    return (24 * n * h * h + 4 * n * n * h * 0.5) * 3 * s->layers + 6 * n * h * 51200;
}

/* `ffn`: operations of a feed-forward network over those of a matrix of h x h. */
static double nemo_llama(const subject *s, double ffn, double vocabulary)
{
    const double h = s->hidden;

    return s->sequence * s->layers * h * h *
           (12 + 12 * s->kv_heads / s->heads + ffn / h + 12 * s->sequence / h * 0.5 +
            6 * vocabulary / (s->layers * h));
}

static double nemo_llama2(const subject *s) { return nemo_llama(s, 18 * s->ffn, 32000); }
static double nemo_llama3(const subject *s) { return nemo_llama(s, 18 * s->ffn, 128256); }
static double nemo_nemotron(const subject *s) { return nemo_llama(s, 12 * s->ffn, 256000); }
static double nemo_mixtral(const subject *s) { return nemo_llama(s, 18 * s->top_k * s->expert_ffn, 32000); }

/* Heads are taken for h / n wide, which those of Qwen3 are not. */
static double nemo_qwen3(const subject *s)
{
    const double n = s->sequence, h = s->hidden;

    return 6 * s->layers * n * h * h * (2 * s->kv_heads / s->heads + 2 + n / h) +
           6 * s->layers * n * h * 3 * s->expert_ffn * s->top_k + 6 * n * h * s->vocabulary;
}

static double nemo_deepseekv3(const subject *s)
{
    const double n = s->sequence;

    return 3 * n * n * s->pairs + 3 * n * of_layers(s) + 6 * s->vocabulary * s->hidden * n;
}

/* Every other layer has a window, of so many tokens whatever the card says. */
#define GPT_OSS_WINDOW 128.0

static double nemo_gpt_oss(const subject *s)
{
    const double n = s->sequence, w = GPT_OSS_WINDOW;
    const double of_all = n * (n + 1) / 2, of_window = n > w ? w * (w + 1) / 2 + (n - w) * w : of_all;
    const double windowed = floor(s->layers / 2), whole = s->layers - windowed;

    return 3 * n * (double)s->count.operations[STEP_COUNT_ATTENTION] +
           6 * s->pairs / s->layers * (whole * of_all + windowed * of_window) +
           6 * 3 * s->hidden * s->expert_ffn * n * s->top_k * s->layers + 6 * n * s->hidden * s->vocabulary;
}

/* For any other: never gated, experts in half of the layers, whole features of a head. */
static double nemo_transformer(const subject *s)
{
    const double n = s->sequence, h = s->hidden, q = s->heads * floor(h / s->heads);
    const double sparse = s->top_k > 0 ? floor(s->layers / 2) : 0;

    return 12 * n * s->layers * (h * q * (1 + s->kv_heads / s->heads) + q * n / 2) +
           12 * n * h * s->ffn * (s->layers - sparse + s->top_k * sparse) + 6 * n * h * s->vocabulary;
}

/* ---- which -------------------------------------------------------------------------------------- */

static const drv_mfu formulas[] = {
    {.word = "megatron", "Megatron-LM", megatron},
    {.word = "bridge", "Megatron-Bridge", bridge},
    {.word = "torchtitan", "torchtitan", torchtitan},
    {.word = "palm", "PaLM", palm},
    {.word = "nemo:gpt3", "NeMo (gpt3)", nemo_gpt3},
    {.word = "nemo:llama2", "NeMo (llama2)", nemo_llama2},
    {.word = "nemo:llama3", "NeMo (llama3)", nemo_llama3},
    {.word = "nemo:nemotron", "NeMo (nemotron)", nemo_nemotron},
    {.word = "nemo:mixtral", "NeMo (mixtral)", nemo_mixtral, .needs_experts = true},
    {.word = "nemo:qwen3", "NeMo (qwen3)", nemo_qwen3, .needs_experts = true},
    {.word = "nemo:deepseekv3",
     "NeMo (deepseekv3)",
     nemo_deepseekv3,
     .needs_experts = true,
     .needs_latents = true},
    {.word = "nemo:gpt_oss", "NeMo (gpt_oss)", nemo_gpt_oss, .needs_experts = true},
    {.word = "nemo:transformer", "NeMo (transformer)", nemo_transformer},
};

/* What the name of a model has, letters and digits alone; the first row that it has counts. */
static const struct {
    const char *in_name, *word;
} nemo_names[] = {
    {"gptoss", "nemo:gpt_oss"},        {"gptj", "nemo:transformer"},  {"gptneo", "nemo:transformer"},
    {"codellama", "nemo:llama2"},      {"gpt", "nemo:gpt3"},          {"megatron", "nemo:gpt3"},
    {"turing", "nemo:gpt3"},           {"nlg", "nemo:gpt3"},          {"nemotron", "nemo:nemotron"},
    {"minitron", "nemo:nemotron"},     {"mixtral", "nemo:mixtral"},   {"qwen3", "nemo:qwen3"},
    {"deepseekv3", "nemo:deepseekv3"}, {"kimik2", "nemo:deepseekv3"}, {"llama3", "nemo:llama3"},
    {"llama4", "nemo:llama3"},         {"llama", "nemo:llama2"},
};

const drv_mfu *drv_mfu_find(const char *word)
{
    for (size_t i = 0; i < DSE_COUNT(formulas); i++)
        if (!strcmp(formulas[i].word, word))
            return &formulas[i];
    return NULL;
}

static const drv_mfu *nemo_of(const card_model *m, const char *model_name)
{
    char name[128];
    size_t n = 0;

    for (const char *c = model_name; *c && n + 1 < sizeof name; c++)
        if (isalnum((unsigned char)*c))
            name[n++] = (char)tolower((unsigned char)*c);
    name[n] = '\0';
    for (size_t i = 0; i < DSE_COUNT(nemo_names); i++) {
        const drv_mfu *f = strstr(name, nemo_names[i].in_name) ? drv_mfu_find(nemo_names[i].word) : NULL;

        if (f && (m->experts || !f->needs_experts) && (m->kv_lora_rank || !f->needs_latents))
            return f;
    }
    return drv_mfu_find("nemo:transformer");
}

const drv_mfu *drv_mfu_of(const card_model *m, const char *model_name)
{
    return strcmp(m->mfu_like, "nemo") != 0 ? drv_mfu_find(m->mfu_like) : nemo_of(m, model_name);
}

const char *drv_mfu_say(const drv_mfu *f) { return f->text; }

double drv_mfu_operations(const drv_mfu *f, const card_model *m, const step_model *s, uint32_t tp)
{
    const subject of = subject_of(m, s, tp);

    return f->operations(&of);
}
