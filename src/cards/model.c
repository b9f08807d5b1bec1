#include "cards/model.h"

#include "base/array.h"
#include "cards/imbalance.h"
#include "cards/locate.h"
#include "workload/stage_main.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FIELD(f) .offset = offsetof(card_model, f), .unit_name = ""
#define SIZE     .type = CFG_T_INT, .min = 1, .max = 1e15
#define NONE     "none"
#define MIXED    "mixed"

/* Bytes of an element: half of one is 4 bits. Nothing may be left of gradients and of what the optimizer
 * knows. */
#define BYTES(f, low, ...)                                                                                   \
    .key = "precision." #f, .type = CFG_T_DOUBLE, .min = low, .max = 64, .fallback = "",                     \
    .offset = offsetof(card_model, precision.bytes.f), .unit_name = "B", .omit_default = true,               \
    .help = __VA_ARGS__

/* Training with Adam, which keeps two moments of each parameter. Mixed precision: what is stored and sent has
 * 16 bits, and the optimizer keeps a copy of the weights beside its moments, each of 32 bits (Micikevicius et
 * al. 2018, arXiv 1710.03740; 16 bytes a parameter: Rajbhandari et al. 2020, arXiv 1910.02054, section 3.1).
 * The other two keep all of it in one format, and no copy. */
static const struct {
    const char *word;
    wl_precision bytes;
} words[] = {
    {.word = NONE},
    {MIXED, {.weights = 2, .activations = 2, .gradients = 2, .optimizer = 12, .messages = 2}},
    {"bf16", {.weights = 2, .activations = 2, .gradients = 2, .optimizer = 4, .messages = 2}},
    {"fp32", {.weights = 4, .activations = 4, .gradients = 4, .optimizer = 8, .messages = 4}},
};
#define N_WORDS DSE_COUNT(words)

static const char *const word_names[N_WORDS + 1] = {NONE, MIXED, "bf16", "fp32", NULL};

/* Parameters of the strategy that were keys of a card once: a card may still have them, as what its points
 * take that say nothing else. */
static dse_status check_parameter(uint32_t parameter, const char *text, dse_error *err)
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    dse_error why = DSE_ERROR_INIT;
    uint32_t value;

    return strategy_parse(p, "it", text, &value, &why) == DSE_OK
               ? DSE_OK
               : dse_fail(err, DSE_E_CONFIG, "%s", why.text);
}

static dse_status check_placement(const char *text, dse_error *err)
{
    return check_parameter(STRATEGY_placement, text, err);
}

static dse_status check_stages(const char *text, dse_error *err)
{
    return check_parameter(STRATEGY_stages, text, err);
}

#define TRAIN "train"
#define STAGE "stage"
static const char *const profiles[] = {TRAIN, STAGE, NULL};

/* What operators with conditions alone have: not given unless another family has it. */
#define OF_DECODER " (operators: decoder)"
#define SWITCH(f, value, ...)                                                                                \
    .type = CFG_T_BOOL, FIELD(f), .fallback = value, .omit_default = true, .help = __VA_ARGS__ OF_DECODER
#define CHOICE(f, first, words, ...)                                                                         \
    .type = CFG_T_NAME, FIELD(f), .fallback = first, .choices = words, .omit_default = true,                 \
    .help = __VA_ARGS__ OF_DECODER
#define NUMBER(f, ...)                                                                                       \
    .type = CFG_T_INT, .min = 0, .max = 1e15, FIELD(f), .fallback = "0", .omit_default = true,               \
    .help = __VA_ARGS__ OF_DECODER

static const char *const norm_words[] = {"rms", "layer", "layer_unbiased", "plain", NULL};
static const char *const norms_words[] = {"before", "after", "both", NULL};
static const char *const block_words[] = {"serial", "parallel", "parallel_two_norms", NULL};
static const char *const qk_norm_words[] = {"none", "head", "all", NULL};
static const char *const activation_words[] = {"unknown", "silu", "gelu", "squared-relu", NULL};
static const char *const router_words[] = {"softmax", "sigmoid", NULL};
const char *const card_mfu_words[] = {"ours", "megatron", "bridge", "torchtitan", "nemo", "palm", NULL};
static const char *const position_words[] = {"rotary", "learned", "none", NULL};

#define MOVED(f) .type = CFG_T_NAME, FIELD(f), .fallback = "", .check = check_##f, .moved = true

static const cfg_param rows[] = {
    {.key = "vocabulary", SIZE, FIELD(vocabulary), .help = "entries of the vocabulary, at input and output"},
    {.key = "d_model", SIZE, FIELD(d_model), .help = "width of the model"},
    {.key = "d_ff", SIZE, FIELD(d_ff), .help = "width of the feed-forward network"},
    {.key = "heads", SIZE, FIELD(heads), .help = "attention heads"},
    {.key = "layers",
     .type = CFG_T_INT,
     .min = 1,
     .max = 100000,
     FIELD(layers),
     .help = "transformer layers"},
    {.key = "batch", SIZE, FIELD(batch), .help = "sequences in a training step, over all ranks"},
    {.key = "sequence", SIZE, FIELD(sequence), .help = "tokens in a sequence"},
    {.key = "operators",
     .type = CFG_T_NAME,
     FIELD(operators),
     .fallback = "transformer",
     .help = "the family of the model, a file of configs/layers (profile train) or configs/operators "
             "(profile stage); or a "
             "path to a file of operators"},
    {.key = "kv_heads",
     .type = CFG_T_INT,
     .min = 0,
     .max = 1e15,
     FIELD(kv_heads),
     .fallback = "0",
     .omit_default = true,
     .help = "keys and values, each shared by heads / kv_heads of the heads (operators: llama, nemotron, "
             "decoder); 0: one a head"},
    {.key = "head_dim",
     .type = CFG_T_INT,
     .min = 0,
     .max = 1e15,
     FIELD(head_dim),
     .fallback = "0",
     .omit_default = true,
     .help = "features of a head, where they are not d_model / heads (operators: llama, nemotron, decoder; "
             "profile train); 0: they are"},
    {.key = "tied_embeddings",
     .type = CFG_T_BOOL,
     FIELD(tied_embeddings),
     .fallback = "false",
     .omit_default = true,
     .help = "whether the output embedding is the input embedding (profile train)"},
    {.key = "gate", SWITCH(gate, "false", "whether the feed-forward network has a third matrix, a gate")},
    {.key = "norm",
     CHOICE(norm, "rms", norm_words,
            "RMSNorm; LayerNorm, with a bias or without; or LayerNorm without any parameter")},
    {.key = "norms",
     CHOICE(
         norms, "before", norms_words,
         "where the norms of a layer are: before attention and feed-forward network, after them, or both")},
    {.key = "block",
     CHOICE(block, "serial", block_words,
            "attention and feed-forward network one after the other, or both of the layer's input, behind "
            "one norm or one each")},
    {.key = "activation",
     CHOICE(activation, "unknown", activation_words,
            "the function of the feed-forward network, or of its gate: simulated alike, and written by "
            "launch")},
    {.key = "qk_norm",
     CHOICE(qk_norm, "none", qk_norm_words, "a norm of queries and keys: over each head, or over all heads")},
    {.key = "position",
     CHOICE(position, "rotary", position_words,
            "rotated queries and keys, a table of positions, or neither (ALiBi)")},
    {.key = "positions", NUMBER(positions, "rows of the table of positions; 0: tokens of a sequence")},
    {.key = "embedding_width",
     NUMBER(embedding_width,
            "width of the embeddings, with a matrix on both sides of the model; 0: d_model")},
    {.key = "dropout",
     SWITCH(dropout, "false",
            "whether hidden states are dropped after embedding, attention and feed-forward network")},
    {.key = "embedding_norm", SWITCH(embedding_norm, "false", "whether a norm follows the embedding")},
    {.key = "final_norm", SWITCH(final_norm, "true", "whether a norm precedes the output embedding")},
    {.key = "window",
     NUMBER(window, "tokens that a token attends to, itself and those before it; 0: all before it")},
    {.key = "windowed_layers",
     NUMBER(windowed_layers, "layers that have the window, the last so many; 0: all")},
    {.key = "full_attention_every",
     NUMBER(full_attention_every,
            "of so many layers the last has no window: it attends to all tokens; 0: none")},
    {.key = "window_chunks",
     SWITCH(
         window_chunks, "false",
         "whether the window is a chunk of the sequence: a token attends to those of its chunk before it")},
    {.key = "attention_sinks",
     SWITCH(attention_sinks, "false", "whether each head has a parameter in the softmax of its scores")},
    {.key = "kv_lora_rank",
     NUMBER(
         kv_lora_rank,
         "multi-head latent attention: features from which keys and values are made; 0: it is not latent")},
    {.key = "q_lora_rank", NUMBER(q_lora_rank, "the same of queries; 0: they are made of the hidden state")},
    {.key = "qk_nope_head_dim", NUMBER(qk_nope_head_dim, "latent: features of a head that are not rotated")},
    {.key = "qk_rope_head_dim",
     NUMBER(qk_rope_head_dim, "latent: further ones that are, of keys the same for all heads")},
    {.key = "v_head_dim", NUMBER(v_head_dim, "latent: features of a head's values; 0: as of its keys")},
    {.key = "bias.qkv", SWITCH(bias.qkv, "false", "biases of queries, keys and values")},
    {.key = "bias.projection", SWITCH(bias.projection, "false", "a bias of the result of attention")},
    {.key = "bias.mlp", SWITCH(bias.mlp, "false", "biases of the feed-forward network")},
    {.key = "bias.head", SWITCH(bias.head, "false", "a bias of the logits")},
    {.key = "experts",
     NUMBER(experts, "experts of a layer, feed-forward networks of which a token takes a few; "
                     "0: one network, which all tokens take")},
    {.key = "experts_per_token", NUMBER(experts_per_token, "experts that a token takes")},
    {.key = "d_ff_expert", NUMBER(d_ff_expert, "width of an expert; 0: d_ff")},
    {.key = "shared_experts", NUMBER(shared_experts, "experts besides, which all tokens take, as one")},
    {.key = "d_ff_shared",
     NUMBER(d_ff_shared, "width of these together; 0: shared_experts times that of an expert")},
    {.key = "shared_expert_gate",
     SWITCH(shared_expert_gate, "false", "whether a gate scales what shared experts make, token by token")},
    {.key = "first_dense_layers", NUMBER(first_dense_layers, "layers before those with experts")},
    {.key = "expert_every",
     NUMBER(expert_every, "layers of which the last has experts, over and over; 0: each has")},
    {.key = "router", CHOICE(router, "softmax", router_words, "how the router makes scores of its products")},
    {.key = "router_groups",
     NUMBER(router_groups, "groups of experts, of which a token takes the best first; 0: one")},
    {.key = "router_groups_per_token", NUMBER(router_groups_per_token, "groups that a token takes")},
    {.key = "pipeline_layout",
     .type = CFG_T_NAME,
     FIELD(pipeline_layout),
     .fallback = "",
     .omit_default = true,
     .help = "layers by stage of the pipeline, virtual stages too: 7,8x6,5; or as "
             "--pipeline-model-parallel-layout of "
             "Megatron-LM, Et*7|(t*8|)*6,t*5L; or as split points, layers.7,layers.15 (profile train)"},
    {.key = "recompute_layout",
     .type = CFG_T_NAME,
     FIELD(recompute_layout),
     .fallback = "",
     .omit_default = true,
     .help = "layers that full recomputation makes again, by stage of the pipeline, the first so many of "
             "each: 3,2x6,0 (profile train)"},
    {.key = "mtp_layers",
     .type = CFG_T_INT,
     .min = 0,
     .max = 16,
     FIELD(mtp_layers),
     .fallback = "0",
     .omit_default = true,
     .help =
         "layers behind the last one that predict further tokens (num_nextn_predict_layers; profile train)"},
    {.key = "imbalance",
     .type = CFG_T_NAME,
     FIELD(imbalance),
     .fallback = "",
     .check = card_imbalance_check,
     .omit_default = true,
     .help =
         "how unevenly tokens are spread over experts: even; a number, what the most loaded rank gets over "
         "the mean; zipf:S[:SEED], shares of experts by a power of their place, drawn for each "
         "layer; or FILE.csv, measured ones, as lines of layer,expert,share" OF_DECODER},
    {.key = "router_bias", SWITCH(router_bias, "false", "a bias of the router's products")},
    {.key = "expert_bias", SWITCH(expert_bias, "false", "biases of the experts")},
    {.key = "profile",
     .type = CFG_T_NAME,
     FIELD(profile),
     .fallback = "",
     .choices = profiles,
     .omit_default = true,
     .help =
         "train: the step that training programs run; stage: the step that STAGE writes. Not given: train "
         "if `operators` names a family of models, else stage"},
    {.key = "stage.version",
     .type = CFG_T_NAME,
     FIELD(stage_version),
     .fallback = "recomp",
     .choices = wl_stage_versions,
     .omit_default = true,
     .help = "STAGE whose step profile stage has: its branch recomp (0b44904), or its branch main (9ec6c02), "
             "which has the operators dense (transformer, too), gpt, llama, moe, debug; its ep is --ep, of "
             "the dp ranks, and its tpsp --sequence-parallel"},
    {.key = "stage.micro_batch",
     .type = CFG_T_INT,
     .min = 0,
     .max = 1e15,
     FIELD(stage_micro_batch),
     .fallback = "0",
     .omit_default = true,
     .help = "stage.version main: sequences of a micro-batch, over all ranks; 0: the batch"},
    {.key = "mfu_like",
     .type = CFG_T_NAME,
     FIELD(mfu_like),
     .fallback = "ours",
     .choices = card_mfu_words,
     .omit_default = true,
     .help =
         "whose count of operations MFU is of: ours, the products that a step executes, or the formula of "
         "a program (profile train)"},
    {.key = "placement", MOVED(placement), .help = "the strategy's --placement, where a point says none"},
    {.key = "stages", MOVED(stages), .help = "the strategy's --stages, where a point says none"},
    {.key = "precision",
     .type = CFG_T_NAME,
     FIELD(precision.word),
     .fallback = NONE,
     .choices = word_names,
     .omit_default = true,
     .help =
         "bytes of an element, as a word or as a mapping of the five below; none: elements are counted, as "
         "by STAGE; the others: training with Adam"},
    {BYTES(weights, 0.125, "bytes of an element of the weights")},
    {BYTES(activations, 0.125, "bytes of an element of the activations and of their gradients")},
    {BYTES(gradients, 0, "bytes of an element of the gradients of weights")},
    {BYTES(optimizer, 0, "bytes that the optimizer keeps for each parameter: master copy, moments")},
    {BYTES(messages, 0.125, "bytes of an element of what is communicated")},
};

const cfg_table card_model_table = {.rows = rows, .n = DSE_COUNT(rows), .title = "model card"};

dse_status card_model_read(const cfg_doc *doc, const cfg_settings *settings, card_model *out, dse_error *err)
{
    dse_status st = card_model_read_part(doc, settings, out, err);

    return st == DSE_OK ? card_model_check(out, doc->path, err) : st;
}

dse_status card_model_read_part(const cfg_doc *doc, const cfg_settings *settings, card_model *out,
                                dse_error *err)
{
    return cfg_table_read_part(&card_model_table, doc, settings, out, err);
}

dse_status card_model_check(const card_model *m, const char *path, dse_error *err)
{
    dse_status st = cfg_table_check(&card_model_table, path, m, err);

    return st == DSE_OK ? card_model_check_precision(m, path, err) : st;
}

/* ---- precision ----------------------------------------------------------------------------- */

static const char *const number_keys[] = {"precision.weights", "precision.activations", "precision.gradients",
                                          "precision.optimizer", "precision.messages"};
#define N_NUMBERS DSE_COUNT(number_keys)

static double number_of(const card_model *m, const char *key)
{
    return *(const double *)(const void *)((const char *)m + cfg_param_find(&card_model_table, key)->offset);
}

static bool has_word(const card_model *m) { return strcmp(m->precision.word, NONE) != 0; }

dse_status card_model_check_precision(const card_model *m, const char *path, dse_error *err)
{
    const char *lacks = NULL;
    size_t n = 0;

    for (size_t i = 0; i < N_NUMBERS; i++) {
        if (!isnan(number_of(m, number_keys[i])))
            n++;
        else if (!lacks)
            lacks = number_keys[i];
    }
    if (has_word(m) || !n || !lacks)
        return DSE_OK;
    return dse_fail_at(err, DSE_E_CONFIG, path,
                       "the model card lacks '%s' (%s); no default is invented: give all five numbers, or a "
                       "word: precision: mixed, bf16 or fp32",
                       lacks, cfg_param_find(&card_model_table, lacks)->help);
}

static double either(double number, double of_word) { return isnan(number) ? of_word : number; }

static const wl_precision *bytes_of(const char *word)
{
    size_t i = N_WORDS - 1;

    while (i && strcmp(words[i].word, word) != 0)
        i--;
    return &words[i].bytes;
}

wl_precision card_model_precision(const card_model *m)
{
    const wl_precision *given = &m->precision.bytes, *word = bytes_of(m->precision.word);

    return (wl_precision){.weights = either(given->weights, word->weights),
                          .activations = either(given->activations, word->activations),
                          .gradients = either(given->gradients, word->gradients),
                          .optimizer = either(given->optimizer, word->optimizer),
                          .messages = either(given->messages, word->messages)};
}

bool card_model_is_mixed(const card_model *m)
{
    const wl_precision p = card_model_precision(m), *q = bytes_of(MIXED);

    return p.weights == q->weights && p.activations == q->activations && p.gradients == q->gradients &&
           p.optimizer == q->optimizer && p.messages == q->messages;
}

card_model card_model_spelled_out(const card_model *m)
{
    const wl_precision p = card_model_precision(m);
    card_model out = *m;

    if (wl_in_bytes(&p))
        out.precision = (card_precision){NONE, p};
    if (!strcmp(m->profile, STAGE))
        *out.profile = '\0';
    return out;
}

/* ---- symbols ------------------------------------------------------------------------------- */

static const cfg_param *find_size(const char *key)
{
    for (uint32_t i = 0; i < card_model_table.n; i++)
        if (rows[i].type == CFG_T_INT && !strcmp(rows[i].key, key))
            return &rows[i];
    return NULL;
}

static int64_t size_of(const card_model *m, const cfg_param *p)
{
    const int64_t v = *(const int64_t *)(const void *)((const char *)m + p->offset);
    const int64_t head = m->kv_lora_rank ? m->qk_nope_head_dim + m->qk_rope_head_dim
                         : m->head_dim   ? m->head_dim
                         : m->heads      ? m->d_model / m->heads
                                         : 0; /* of a card that still lacks them */

    if (p->offset == offsetof(card_model, head_dim) || (p->offset == offsetof(card_model, v_head_dim) && !v))
        return head;
    if (p->offset == offsetof(card_model, positions) && !v)
        return m->sequence;
    if (p->offset == offsetof(card_model, embedding_width) && !v)
        return m->d_model;
    if (p->offset == offsetof(card_model, d_ff_expert) && !v)
        return m->d_ff;
    if (p->offset == offsetof(card_model, d_ff_shared) && !v)
        return m->shared_experts * (m->d_ff_expert ? m->d_ff_expert : m->d_ff);
    return p->offset == offsetof(card_model, kv_heads) && !v ? m->heads : v;
}

dse_status card_model_check_experts(const card_model *m, dse_error *err)
{
    const int64_t groups = m->router_groups;

    if (!m->experts)
        return DSE_OK;
    if (m->experts_per_token < 1 || m->experts_per_token > m->experts)
        return dse_fail(err, DSE_E_CONFIG,
                        "experts_per_token %" PRId64 " of experts %" PRId64
                        ": a token takes 1 of them at least, and all at most",
                        m->experts_per_token, m->experts);
    if (groups &&
        (m->experts % groups || m->router_groups_per_token < 1 || m->router_groups_per_token > groups))
        return dse_fail(err, DSE_E_CONFIG,
                        "router_groups %" PRId64 " with router_groups_per_token %" PRId64
                        ": groups divide the %" PRId64 " experts, and a token takes 1 to all of them",
                        groups, m->router_groups_per_token, m->experts);
    if (groups && m->experts / groups * m->router_groups_per_token < m->experts_per_token)
        return dse_fail(err, DSE_E_CONFIG,
                        "experts_per_token %" PRId64 " is more than the %" PRId64
                        " experts of router_groups_per_token %" PRId64,
                        m->experts_per_token, m->experts / groups * m->router_groups_per_token,
                        m->router_groups_per_token);
    return DSE_OK;
}

/* Heads of latent attention have keys and values of their own, and a size in two parts. */
static dse_status check_latents(const card_model *m, dse_error *err)
{
    if (!m->kv_lora_rank)
        return DSE_OK;
    if (!m->qk_rope_head_dim || !m->qk_nope_head_dim)
        return dse_fail(err, DSE_E_CONFIG,
                        "kv_lora_rank %" PRId64
                        " needs qk_nope_head_dim and qk_rope_head_dim, the features of a "
                        "head that are not rotated and that are",
                        m->kv_lora_rank);
    if (m->kv_heads && m->kv_heads != m->heads)
        return dse_fail(err, DSE_E_CONFIG,
                        "kv_lora_rank %" PRId64 " with kv_heads %" PRId64 " of heads %" PRId64
                        ": each head of latent attention has keys and values of its own; leave kv_heads out",
                        m->kv_lora_rank, m->kv_heads, m->heads);
    return DSE_OK;
}

dse_status card_model_symbols(const card_model *m, const cfg_doc *operators, wl_symbols *out, dse_error *err)
{
    const cfg_node *symbols = cfg_get(operators->root, "symbols");
    dse_status st;

    *out = (wl_symbols){0};
    if (m->kv_heads && m->heads % m->kv_heads)
        return dse_fail(err, DSE_E_CONFIG,
                        "kv_heads %" PRId64 " does not divide heads %" PRId64
                        "; each key and value is shared by as many heads",
                        m->kv_heads, m->heads);
    if ((st = check_latents(m, err)) != DSE_OK || (st = card_model_check_experts(m, err)) != DSE_OK)
        return st;
    for (uint32_t i = 0; symbols && symbols->kind == CFG_MAP && i < symbols->n && i < WL_MAX_SYMBOLS; i++) {
        const char *key = symbols->item[i]->kind == CFG_SCALAR ? symbols->item[i]->text : "";
        const cfg_param *p = find_size(key);

        if (!p)
            return cfg_fail(err, operators, symbols->item[i],
                            "the symbol '%.40s' stands for '%.40s', which is no size of a model card",
                            symbols->key[i]->text, key);
        out->name[out->n] = symbols->key[i]->text;
        out->value[out->n++] = size_of(m, p);
    }
    return DSE_OK;
}

bool card_model_trains(const card_model *m) { return !strcmp(m->profile, TRAIN); }

unsigned card_model_profile(const card_model *m)
{
    if (card_model_trains(m))
        return STRATEGY_PROFILE_TRAIN;
    return STRATEGY_PROFILE_STAGE | (card_model_is_main(m) ? STRATEGY_PROFILE_MAIN : 0u);
}

bool card_model_is_main(const card_model *m)
{
    return !card_model_trains(m) && !strcmp(m->stage_version, wl_stage_versions[WL_STAGE_MAIN]);
}

static bool says_stage(const card_model *m)
{
    return cfg_is_given(&card_model_table, m, "stage.version") ||
           cfg_is_given(&card_model_table, m, "stage.micro_batch");
}

/* Keys of the profile, or of the version of STAGE, whose step is not the one that is simulated. */
static dse_status check_profile_keys(const card_model *m, dse_error *err)
{
    if (card_model_trains(m) && says_stage(m))
        return dse_fail(
            err, DSE_E_CONFIG,
            "stage.version and stage.micro_batch are of profile stage; give --set profile=stage, or none "
            "of them");
    if (!card_model_trains(m) && (m->mtp_layers || *m->pipeline_layout || *m->recompute_layout))
        return dse_fail(err, DSE_E_CONFIG,
                        "%s is of profile train, and profile stage passes over it; leave it out",
                        m->mtp_layers         ? "mtp_layers"
                        : *m->pipeline_layout ? "pipeline_layout"
                                              : "recompute_layout");
    if (!card_model_is_main(m) && m->stage_micro_batch)
        return dse_fail(err, DSE_E_CONFIG,
                        "stage.micro_batch is of STAGE's branch main; give --set stage.version=main");
    return DSE_OK;
}

/* A name, and no path: a file of operators of one's own is for profile stage, as it was before there were
 * profiles. */
static dse_status is_family(const char *operators, dse_arena *a, bool *out, dse_error *err)
{
    const char **name, *folder;
    size_t n;
    dse_status st = card_list(CARD_LAYERS, a, &name, &n, &folder, err);

    *out = false;
    for (size_t i = 0; st == DSE_OK && i < n; i++)
        *out |= !strcmp(name[i], operators);
    return st;
}

dse_status card_model_settle_profile(card_model *m, dse_arena *a, dse_error *err)
{
    bool family = false;
    dse_status st = DSE_OK;

    if (!*m->profile && !says_stage(m) &&
        strcmp(m->operators, cfg_param_find(&card_model_table, "operators")->fallback) != 0)
        st = is_family(m->operators, a, &family, err);
    if (family)
        strcpy(m->profile, TRAIN);
    if (card_model_trains(m) && !has_word(m) && isnan(m->precision.bytes.weights))
        strcpy(m->precision.word, MIXED); /* training counts bytes */
    return st == DSE_OK ? check_profile_keys(m, err) : st;
}

strategy card_model_strategy(const card_model *m)
{
    const struct {
        uint32_t parameter;
        const char *text;
    } given[] = {{STRATEGY_placement, m->placement}, {STRATEGY_stages, m->stages}};
    strategy s = strategy_default();
    uint32_t value;

    for (size_t i = 0; i < DSE_COUNT(given); i++)
        if (*given[i].text && strategy_parse(&strategy_parameters[given[i].parameter], "", given[i].text,
                                             &value, NULL) == DSE_OK)
            strategy_set(&s, given[i].parameter, value);
    return s;
}
