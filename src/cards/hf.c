/* The spellings, and the facts about single architectures, are those of the configuration_<model>.py and
 * modeling_<model>.py files of the transformers library: what its attribute_map calls one thing is one
 * row. */
#include "cards/hf.h"

#include "base/array.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_SPELLINGS 8

/* The first key is what a card calls it. */
static const struct {
    const char *card, *spelling[MAX_SPELLINGS];
} sizes[] = {
    {"vocabulary", {"vocab_size", "padded_vocab_size"}},
    {"d_model", {"hidden_size", "n_embd", "d_model", "n_embed"}},
    {"d_ff", {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "d_ff", "dff"}},
    {"heads", {"num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"}},
    {"layers", {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}},
};
#define N_SIZES (sizeof sizes / sizeof sizes[0])

/* Keys that describe a training run, not a model. */
static const char *const run_keys[] = {"batch", "sequence"};

/* Architectures that define the feed-forward width themselves where the config leaves it out (or null): four
 * times the model's, or expansion_ratio times where such a key is there (mpt). */
static const char *const four_times[] = {
    "gpt2",   "gpt_bigcode", "gpt_neo",         "gptj", "codegen", "bloom",
    "falcon", "RefinedWeb",  "RefinedWebModel", "mpt"};

/* What is refused where it is there and more than `most`: the key, and what it says. */
static const struct {
    const char *section, *key; /* section NULL: of the config itself */
    int64_t most;
    const char *what;
} refused[] = {
    {NULL, "linear_num_value_heads", 0, "linear attention"},
    {NULL, "attn_type_list", 0, "linear attention"},
    {NULL, "state_size", 0, "a state-space model"},
    {NULL, "ssm_cfg", 0, "a state-space model"},
    {NULL, "mamba_d_state", 0, "a state-space model"},
    {NULL, "cross_attention_layers", 0, "attention to images"},
    {NULL, "moe_layer_freq", 1, "experts from the first layer on in every so many-th"},
};

/* Architectures without a key that says so. */
static const struct {
    const char *model_type, *what;
} other_types[] = {
    {"bert", "an encoder"},
    {"roberta", "an encoder"},
    {"xlm-roberta", "an encoder"},
    {"distilbert", "an encoder"},
    {"albert", "an encoder"},
    {"electra", "an encoder"},
    {"deberta", "an encoder"},
    {"deberta-v2", "an encoder"},
    {"modernbert", "an encoder"},
    {"mamba", "a state-space model"},
    {"mamba2", "a state-space model"},
    {"falcon_mamba", "a state-space model"},
    {"jamba", "a state-space model"},
    {"bamba", "a state-space model"},
    {"zamba", "a state-space model"},
    {"zamba2", "a state-space model"},
    {"nemotron_h", "a state-space model"},
    {"falcon_h1", "a state-space model"},
    {"granitemoehybrid", "a state-space model"},
    {"rwkv", "linear attention"},
    {"recurrent_gemma", "linear attention"},
    {"minimax", "linear attention"},
    {"minimax_text_01", "linear attention"},
    {"kimi_linear", "linear attention"},
    {"qwen3_next", "linear attention"},
};

/* What makes no difference that is simulated: little time, but not none. */
typedef enum { IF_TRUE, IF_THERE, IF_BELOW_1, IF_ABOVE_0 } noted_if;
static const struct {
    const char *key;
    noted_if noted;
    const char *text;
} ignored[] = {
    {"attn_logit_softcapping", IF_THERE, "the cap of scores"},
    {"max_attn_value", IF_THERE, "the cap of scores"},
    {"final_logit_softcapping", IF_THERE, "the cap of logits"},
    {"partial_rotary_factor", IF_BELOW_1, "that heads are rotated in part (they are whole)"},
    {"rotary_pct", IF_BELOW_1, "that heads are rotated in part (they are whole)"},
    {"rotary_dim", IF_THERE, "that heads are rotated in part (they are whole)"},
    {"qk_layernorm", IF_TRUE, "the norms of queries and keys"},
    {"use_qk_norm", IF_TRUE, "the norms of queries and keys"},
    {"num_nextn_predict_layers", IF_ABOVE_0, "the layers that predict further tokens, but for --mtp"},
    {"no_rope_layers", IF_THERE, "that some layers are not rotated"},
    {"vision_config", IF_THERE, "the model of images"},
    {"audio_config", IF_THERE, "the model of sounds"},
};

/* Heads of keys and values, if they are fewer than those of the queries; and the switch without which the
 * number does not count (chatglm). */
static const struct {
    const char *section, *key, *needs;
} kv_heads[] = {
    {NULL, "num_key_value_heads", NULL}, {NULL, "num_kv_heads", NULL},
    {NULL, "n_head_kv", NULL},           {NULL, "multi_query_group_num", "multi_query_attention"},
    {"attn_config", "kv_n_heads", NULL},
};

/* Sizes of experts and of latents: what a card calls them, and how small one says something. */
typedef enum { OF_EXPERTS, OF_EXPERT_GROUPS, OF_LATENTS } more_group;
static const struct {
    more_group group;
    const char *card, *section, *key;
    int64_t least;
} more_sizes[] = {
    {OF_EXPERTS, "experts", NULL, "num_local_experts", 2},
    {OF_EXPERTS, "experts", NULL, "n_routed_experts", 2},
    {OF_EXPERTS, "experts", NULL, "num_experts", 2},
    {OF_EXPERTS, "experts", "ffn_config", "moe_num_experts", 2},
    {OF_EXPERTS, "experts_per_token", NULL, "num_experts_per_tok", 1},
    {OF_EXPERTS, "experts_per_token", "ffn_config", "moe_top_k", 1},
    {OF_EXPERTS, "d_ff_expert", NULL, "moe_intermediate_size", 1},
    {OF_EXPERTS, "shared_experts", NULL, "n_shared_experts", 1},
    {OF_EXPERTS, "d_ff_shared", NULL, "shared_expert_intermediate_size", 1},
    {OF_EXPERTS, "first_dense_layers", NULL, "first_k_dense_replace", 1},
    {OF_EXPERTS, "expert_every", NULL, "decoder_sparse_step", 2},
    {OF_EXPERTS, "expert_every", NULL, "interleave_moe_layer_step", 2},
    {OF_EXPERTS, "router_groups", NULL, "n_group", 2},
    {OF_EXPERT_GROUPS, "router_groups_per_token", NULL, "topk_group", 1},
    {OF_LATENTS, "kv_lora_rank", NULL, "kv_lora_rank", 1},
    {OF_LATENTS, "q_lora_rank", NULL, "q_lora_rank", 1},
    {OF_LATENTS, "qk_nope_head_dim", NULL, "qk_nope_head_dim", 1},
    {OF_LATENTS, "qk_rope_head_dim", NULL, "qk_rope_head_dim", 1},
    {OF_LATENTS, "v_head_dim", NULL, "v_head_dim", 1},
};

/* Feed-forward networks of three matrices, one of them a gate, of models of no family below. */
static const struct {
    const char *key, *value;
} gated[] = {
    {"hidden_act", "silu"},
    {"hidden_act", "swiglu"},
    {"hidden_activation", "silu"},
    {"activation_function", "silu"},
};

enum { QKV = 1, PROJECTION = 2, FEED_FORWARD = 4, HEAD = 8, ALL_BUT_HEAD = 7 };

/* Keys that say which biases there are; `no`: that there are none. */
static const struct {
    const char *key;
    unsigned biases;
    bool no;
} bias_keys[] = {
    {"attention_bias", QKV | PROJECTION, false},
    {"mlp_bias", FEED_FORWARD, false},
    {"bias", ALL_BUT_HEAD, false},
    {"use_bias", ALL_BUT_HEAD, false},
    {"enable_bias", ALL_BUT_HEAD, false},
    {"add_bias_linear", ALL_BUT_HEAD, false},
    {"no_bias", ALL_BUT_HEAD, true},
    {"use_qkv_bias", QKV, false},
    {"qkv_bias", QKV, false},
    {"lm_head_bias", HEAD, false},
    {"add_qkv_bias", QKV, false},
};

/* Keys of the rows of a table of positions, and of the fraction of the hidden state that is dropped. */
static const char *const position_keys[] = {"n_positions", "max_position_embeddings", "max_seq_len"};
static const char *const dropout_keys[] = {"resid_pdrop", "dropout", "hidden_dropout", "hidden_dropout_prob",
                                           "residual_dropout"};

typedef enum {
    WINDOW_OF_ALL,   /* every layer has the window of the config */
    WINDOW_SWITCHED, /* use_sliding_window: layers from max_window_layers on */
    WINDOW_IF_BELOW  /* every layer, if it is below max_position_embeddings */
} window_rule;

#define LLAMA   "llama"   /* configs/layers/llama.yaml: groups of heads, a gate, no choice */
#define DECODER "decoder" /* configs/layers/decoder.yaml: all choices */

/* Architectures, as words of a card (NULL: the card's default) and what a config means that leaves a key
 * out. */
typedef struct {
    const char *model_type, *norm, *norms, *block, *qk_norm, *position;
    bool gate, is_tied, embedding_norm, drops;
    unsigned biases, never; /* where no key says so; that a key does not mean */
    int64_t head_dim;       /* 0: hidden size / heads */
    window_rule rule;
    int64_t window, every;  /* every nth layer has none; 0: see rule */
    int64_t more_positions; /* rows of the table of positions beyond the key's */
    /* Of experts: one that all tokens take, with a gate or not; scores by a sigmoid; biases. */
    bool has_shared_expert, has_shared_gate, is_sigmoid, router_bias, expert_bias;
    bool has_sinks;
} family;

static const family families[] = {
    {"llama", .gate = true},
    {"mistral", .gate = true},
    {"ministral", .gate = true, .rule = WINDOW_OF_ALL},
    {"granite", .gate = true},
    {"smollm3", .gate = true, .is_tied = true},
    {"phi3", .gate = true, .rule = WINDOW_IF_BELOW},
    {"qwen2", .gate = true, .biases = QKV, .rule = WINDOW_SWITCHED},
    {"qwen2_vl", .gate = true, .biases = QKV, .rule = WINDOW_SWITCHED},
    {"qwen3", .gate = true, .qk_norm = "head", .head_dim = 128, .rule = WINDOW_SWITCHED},
    {"gemma", .gate = true, .is_tied = true, .head_dim = 256},
    {"gemma2", .gate = true, .is_tied = true, .norms = "both", .head_dim = 256, .window = 4096, .every = 2},
    {"gemma3_text", .gate = true, .is_tied = true, .norms = "both", .qk_norm = "head", .head_dim = 256,
     .window = 4096, .every = 6},
    {"olmo", .gate = true, .norm = "plain"},
    {"olmo2", .gate = true, .norms = "after", .qk_norm = "all"},
    {"olmo3", .gate = true, .norms = "after", .qk_norm = "all", .window = 4096, .every = 4},
    {"glm", .gate = true, .biases = QKV, .never = PROJECTION, .head_dim = 128},
    {"glm4", .gate = true, .norms = "both", .biases = QKV, .never = PROJECTION, .head_dim = 128},
    {"chatglm", .gate = true, .biases = QKV, .never = PROJECTION},
    {"stablelm", .gate = true, .norm = "layer"},
    {"cohere", .gate = true, .is_tied = true, .norm = "layer_unbiased", .block = "parallel"},
    {"cohere2", .gate = true, .is_tied = true, .norm = "layer_unbiased", .block = "parallel", .window = 4096,
     .every = 4},
    {"gpt2", .is_tied = true, .norm = "layer", .position = "learned", .biases = ALL_BUT_HEAD, .drops = true},
    {"gpt_bigcode", .is_tied = true, .norm = "layer", .position = "learned", .biases = ALL_BUT_HEAD,
     .drops = true},
    {"opt", .is_tied = true, .norm = "layer", .position = "learned", .biases = ALL_BUT_HEAD, .drops = true,
     .more_positions = 2},
    {"bloom", .is_tied = true, .norm = "layer", .position = "none", .biases = ALL_BUT_HEAD,
     .embedding_norm = true},
    {"gptj", .norm = "layer", .block = "parallel", .biases = FEED_FORWARD | HEAD},
    {"codegen", .norm = "layer", .block = "parallel", .biases = FEED_FORWARD | HEAD},
    {"phi", .norm = "layer", .block = "parallel", .biases = ALL_BUT_HEAD | HEAD},
    {"gpt_neox", .norm = "layer", .block = "parallel_two_norms", .biases = ALL_BUT_HEAD},
    {"falcon", .is_tied = true, .norm = "layer", .block = "parallel"},
    {"RefinedWeb", .is_tied = true, .norm = "layer", .block = "parallel"},
    {"RefinedWebModel", .is_tied = true, .norm = "layer", .block = "parallel"},
    {"mpt", .is_tied = true, .norm = "layer", .position = "learned", .biases = ALL_BUT_HEAD},
    {"nemotron", .norm = "layer"},
    {"starcoder2", .is_tied = true, .norm = "layer", .biases = ALL_BUT_HEAD},
    {"mixtral", .gate = true},
    {"qwen2_moe", .gate = true, .biases = QKV, .rule = WINDOW_SWITCHED, .has_shared_expert = true,
     .has_shared_gate = true},
    {"qwen3_moe", .gate = true, .qk_norm = "head", .head_dim = 128, .rule = WINDOW_SWITCHED},
    {"deepseek", .gate = true},
    {"deepseek_v2", .gate = true},
    {"deepseek_v3", .gate = true, .is_sigmoid = true},
    {"kimi_k2", .gate = true, .is_sigmoid = true},
    {"glm4_moe", .gate = true, .never = PROJECTION, .head_dim = 128, .is_sigmoid = true},
    {"glm4_moe_lite", .gate = true, .is_sigmoid = true},
    {"gpt_oss", .gate = true, .biases = QKV | PROJECTION, .head_dim = 64, .every = 2, .router_bias = true,
     .expert_bias = true, .has_sinks = true},
    {"llama4_text", .gate = true, .head_dim = 128, .every = 4, .has_shared_expert = true, .is_sigmoid = true},
    {"olmoe", .gate = true, .qk_norm = "all"},
    {"granitemoe", .gate = true, .is_tied = true},
    {"phimoe", .gate = true, .norm = "layer", .rule = WINDOW_IF_BELOW},
    {"dbrx", .gate = true, .norm = "layer_unbiased"},
    {"grok-1", .gate = true, .is_tied = true, .norms = "both"},
    {"grok", .gate = true, .is_tied = true, .norms = "both"},
};

/* Sizes of the configuration class, which published configs of these leave out. */
static const struct {
    const char *model_type, *card;
    int64_t n;
} implied[] = {
    {"gemma2", "vocabulary", 256000},
    {"gemma3_text", "vocabulary", 262208},
    {"gemma3_text", "heads", 8},
    {"gemma3_text", "kv_heads", 4},
};
#define MORE_KEYS 64 /* of a card, besides the sizes */

/* ---- looking at the config ----------------------------------------------------------------- */

bool card_hf_is_config(const cfg_doc *doc)
{
    return cfg_get(doc->root, "model_type") || cfg_get(doc->root, "architectures");
}

const char *card_hf_card_key(const cfg_doc *card, const cfg_node *key)
{
    for (uint32_t i = 0; card && i < card->root->n; i++) /* a card's keys stand where the config's do */
        if (card->root->key[i]->line == key->line && card->root->key[i]->column == key->column)
            return card->root->key[i]->text;
    for (size_t i = 0; i < N_SIZES; i++)
        for (size_t k = 0; k < MAX_SPELLINGS && sizes[i].spelling[k]; k++)
            if (!strcmp(sizes[i].spelling[k], key->text))
                return sizes[i].card;
    return NULL;
}

static bool is_null(const cfg_node *node)
{
    return node->kind == CFG_SCALAR && !node->quoted && !strcmp(node->text, "null");
}

/* The entry of a key that says something; DSE_NONE otherwise. */
static uint32_t find(const cfg_node *root, const char *key)
{
    for (uint32_t i = 0; i < root->n; i++)
        if (!strcmp(root->key[i]->text, key))
            return is_null(root->item[i]) ? DSE_NONE : i;
    return DSE_NONE;
}

static bool says(const cfg_node *root, const char *key, const char *value)
{
    uint32_t i = find(root, key);

    return i != DSE_NONE && root->item[i]->kind == CFG_SCALAR && !strcmp(root->item[i]->text, value);
}

static bool number(const cfg_node *node, int64_t *out)
{
    return node->kind == CFG_SCALAR && !node->quoted && dse_parse_int(node->text, out, NULL) == DSE_OK;
}

/* The value of a key that says something, in a section of the config or itself; NULL. *key is where it
 * stands. */
static const cfg_node *value_in(const cfg_node *root, const char *section, const char *name,
                                const cfg_node **key)
{
    const cfg_node *map = section ? cfg_get(root, section) : root;
    uint32_t i = map && map->kind == CFG_MAP ? find(map, name) : DSE_NONE;

    if (i == DSE_NONE)
        return NULL;
    if (key)
        *key = map->key[i];
    return map->item[i];
}

/* The number of a key, or what the config means that does not have it. No size is beyond what a card
 * takes. */
static int64_t number_or(const cfg_node *root, const char *key, int64_t otherwise)
{
    const int64_t most = 1000000000000000;
    uint32_t i = find(root, key);
    int64_t n;

    return i != DSE_NONE && number(root->item[i], &n) && n >= 0 && n <= most ? n : otherwise;
}

const cfg_node *card_hf_text(const cfg_doc *doc)
{
    const cfg_node *text = cfg_get(doc->root, "text_config");

    return text && text->kind == CFG_MAP ? text : doc->root;
}

/* ---- refusals ------------------------------------------------------------------------------ */

static bool is_windowed(const cfg_node *type)
{
    return !strcmp(type->text, "sliding_attention") || !strcmp(type->text, "chunked_attention");
}

/* Layers of other kinds than attention, all of it or within a window. */
static const cfg_node *other_layer(const cfg_node *root)
{
    const cfg_node *types = cfg_get(root, "layer_types");

    for (uint32_t i = 0; types && types->kind == CFG_LIST && i < types->n; i++)
        if (types->item[i]->kind != CFG_SCALAR ||
            (strcmp(types->item[i]->text, "full_attention") != 0 && !is_windowed(types->item[i])))
            return types->item[i];
    return NULL;
}

/* The list of the kinds of attention of the layers; NULL: there is none. */
static const cfg_node *layer_types(const cfg_node *root)
{
    const cfg_node *types = cfg_get(root, "layer_types");

    return types && types->kind == CFG_LIST && types->n ? types : NULL;
}

/* Which layers have the window: the last so many; or all but each so many-th, 0: all. */
typedef struct {
    int64_t last, full_every;
} windowed;

static bool has_window(const windowed *w, int64_t layers, int64_t i)
{
    return i >= layers - w->last && !(w->full_every && (i + 1) % w->full_every == 0);
}

/* A list of the layers, if it is one of the two. */
static bool find_windows(const cfg_node *types, windowed *out)
{
    const int64_t n = types->n;
    int64_t n_full = 0, first_full = 0;
    bool fits = true;

    for (int64_t i = n; i-- > 0;)
        if (!is_windowed(types->item[i]))
            n_full++, first_full = i + 1;
    *out = (windowed){.last = n_full < n ? n : 0, .full_every = first_full};
    if (first_full == 1)
        *out = (windowed){.last = n - n_full};
    for (int64_t i = 0; i < n; i++)
        fits &= has_window(out, n, i) == is_windowed(types->item[i]);
    return fits;
}

/* Whether the config says what is a key of the card. *at (NULL: not asked for) is where it stands. */
static bool has_more(const cfg_node *root, const char *card, const cfg_node **at)
{
    for (size_t i = 0; i < DSE_COUNT(more_sizes); i++) {
        const cfg_node *key, *value = value_in(root, more_sizes[i].section, more_sizes[i].key, &key);
        int64_t n;

        if (strcmp(more_sizes[i].card, card) != 0 || !value || !number(value, &n) || n < more_sizes[i].least)
            continue;
        if (at)
            *at = key;
        return true;
    }
    return false;
}

/* Experts of a family whose other parts are not known would be counted wrong, and so would layers that no
 * rule of a card names. */
static dse_status check_experts(const cfg_doc *doc, const cfg_node *root, dse_error *err)
{
    const cfg_node *type = cfg_get(root, "model_type"), *only = cfg_get(root, "mlp_only_layers"), *at;
    bool is_known = false;
    int64_t n;

    if (!has_more(root, "experts", &at))
        return DSE_OK;
    if (!has_more(root, "experts_per_token", NULL))
        return cfg_fail(err, doc, at, "'%s': how many of them a token takes is missing: num_experts_per_tok",
                        at->text);
    for (size_t i = 0; i < DSE_COUNT(families); i++)
        is_known |= says(root, "model_type", families[i].model_type);
    if (!is_known)
        return cfg_fail(err, doc, type ? type : root,
                        "'model_type': a mixture of experts of a family that is not known");
    for (uint32_t i = 0; only && only->kind == CFG_LIST && i < only->n; i++)
        if (!number(only->item[i], &n) || n != i)
            return cfg_fail(err, doc, only,
                            "'mlp_only_layers': these are not the first layers, which a card can say");
    return DSE_OK;
}

static dse_status check_architecture(const cfg_doc *doc, const cfg_node *root, dse_error *err)
{
    const cfg_node *key, *value;
    windowed windows;
    uint32_t i = find(doc->root, "is_encoder_decoder");
    int64_t n;

    if (says(doc->root, "is_encoder_decoder", "true"))
        return cfg_fail(err, doc, doc->root->key[i],
                        "an encoder with a decoder; the operators are those of a decoder alone");
    for (size_t k = 0; k < DSE_COUNT(refused); k++) {
        value = value_in(root, refused[k].section, refused[k].key, &key);
        if (value && (!number(value, &n) || n > refused[k].most))
            return cfg_fail(
                err, doc, key,
                "'%s': %s, which is not simulated; the operators are those of a decoder with attention",
                refused[k].key, refused[k].what);
    }
    value = other_layer(root);
    if (value)
        return cfg_fail(err, doc, value,
                        "'layer_types': layers of %.60s, which are not simulated; full_attention and "
                        "sliding_attention are",
                        value->kind == CFG_SCALAR ? value->text : "another kind");
    for (size_t k = 0; k < DSE_COUNT(other_types); k++)
        if (says(root, "model_type", other_types[k].model_type))
            return cfg_fail(err, doc, cfg_get(root, "model_type"),
                            "'model_type': %s, which is not simulated; the operators are those of a decoder "
                            "with attention",
                            other_types[k].what);
    if ((value = layer_types(root)) && !find_windows(value, &windows))
        return cfg_fail(
            err, doc, value,
            "'layer_types': neither the last layers have the window nor all but every so many-th, "
            "which a card can say");
    return check_experts(doc, root, err);
}

/* ---- what is left out ---------------------------------------------------------------------- */

static void add_note(card_hf_notes *notes, const cfg_node *key, const char *text)
{
    if (notes->n < CARD_HF_MAX_NOTES)
        notes->item[notes->n++] = (card_hf_note){key, text};
}

static bool is_noted(const cfg_node *value, noted_if when)
{
    double v;

    switch (when) {
    case IF_TRUE: return value->kind == CFG_SCALAR && !strcmp(value->text, "true");
    case IF_BELOW_1:
        return value->kind == CFG_SCALAR && dse_parse_double(value->text, &v, NULL) == DSE_OK && v < 1;
    case IF_ABOVE_0:
        return value->kind == CFG_SCALAR && dse_parse_double(value->text, &v, NULL) == DSE_OK && v > 0;
    case IF_THERE: break;
    }
    return true;
}

static void note_ignored(const cfg_node *root, const cfg_node *card, card_hf_notes *notes)
{
    for (size_t k = 0; k < DSE_COUNT(ignored); k++) {
        uint32_t i = find(root, ignored[k].key);
        const bool is_read = !strcmp(ignored[k].key, "use_qk_norm") && cfg_get(card, "qk_norm");

        if (i != DSE_NONE && !is_read && is_noted(root->item[i], ignored[k].noted))
            add_note(notes, root->key[i], ignored[k].text);
    }
}

/* ---- the card ------------------------------------------------------------------------------ */

static void add(cfg_node *card, const char *key, const cfg_node *at, const cfg_node *value, dse_arena *a)
{
    cfg_node *name = dse_arena_copy(a, at, 1, sizeof *at);

    name->text = key;
    card->key[card->n] = name;
    card->item[card->n++] = dse_arena_copy(a, value, 1, sizeof *value);
}

static void add_text(cfg_node *card, const char *key, const cfg_node *at, const char *text, dse_arena *a)
{
    cfg_node value = *at;

    value.kind = CFG_SCALAR;
    value.text = text;
    value.quoted = false;
    add(card, key, at, &value, a);
}

static dse_status add_size(const cfg_doc *doc, size_t size, cfg_node *card, dse_arena *a, dse_error *err)
{
    const cfg_node *root = doc->root;
    uint32_t first = DSE_NONE;

    for (size_t k = 0; k < MAX_SPELLINGS && sizes[size].spelling[k]; k++) {
        uint32_t i = find(root, sizes[size].spelling[k]);

        if (i == DSE_NONE)
            continue;
        if (first == DSE_NONE)
            first = i;
        else if (root->item[i]->kind == CFG_SCALAR && root->item[first]->kind == CFG_SCALAR &&
                 strcmp(root->item[i]->text, root->item[first]->text))
            return cfg_fail(err, doc, root->key[i],
                            "'%s' is %.40s, but '%s' is %.40s; both are the %s of a card", root->key[i]->text,
                            root->item[i]->text, root->key[first]->text, root->item[first]->text,
                            sizes[size].card);
    }
    if (first != DSE_NONE)
        add(card, sizes[size].card, root->key[first], root->item[first], a);
    return DSE_OK;
}

/* A feed-forward width that the architecture implies. */
static void add_implied_width(const cfg_node *root, cfg_node *card, dse_arena *a)
{
    const cfg_node *d_model = cfg_get(card, "d_model");
    uint32_t ratio = find(root, "expansion_ratio");
    int64_t width, times = 4;
    const cfg_node *at, *of_experts = value_in(root, "ffn_config", "ffn_hidden_size", &at);
    bool known = false;

    if (of_experts && !cfg_get(card, "d_ff"))
        add(card, "d_ff", at, of_experts, a);
    for (size_t i = 0; i < DSE_COUNT(four_times); i++)
        known |= says(root, "model_type", four_times[i]);
    if (cfg_get(card, "d_ff") || !known || !d_model || !number(d_model, &width) ||
        (ratio != DSE_NONE && !number(root->item[ratio], &times)) || width < 1 || times < 1 ||
        width > INT64_MAX / times)
        return;
    add_text(card, "d_ff", d_model, dse_arena_printf(a, "%" PRId64, width * times), a);
}

static void add_number(cfg_node *card, const char *key, const cfg_node *at, int64_t n, dse_arena *a)
{
    add_text(card, key, at, dse_arena_printf(a, "%" PRId64, n), a);
}

/* A size that the config leaves out, and its architecture has. */
static void add_implied(const cfg_node *root, const cfg_node *at, const char *card_key, cfg_node *card,
                        dse_arena *a)
{
    for (size_t i = 0; i < DSE_COUNT(implied); i++)
        if (!strcmp(implied[i].card, card_key) && says(root, "model_type", implied[i].model_type) &&
            !cfg_get(card, card_key))
            add_number(card, card_key, at, implied[i].n, a);
}

/* What a config is read into: the card, the place to name where nothing else says so, and the family. */
typedef struct {
    const cfg_node *root, *at;
    family of;
    int64_t d_model, heads, layers; /* 0: not known */
    cfg_node *card;
    bool has_choices; /* that decoder alone has */
    bool is_latent;   /* its attention */
    dse_arena *arena;
    card_hf_notes *notes;
} reading;

static const cfg_node *place(const reading *r, const char *key)
{
    uint32_t i = key ? find(r->root, key) : DSE_NONE;

    return i == DSE_NONE ? r->at : r->root->key[i];
}

/* A choice of a decoder, unless it is the card's default. `key`: of the config, which says so; NULL. */
static void choose(reading *r, const char *name, const char *value, const char *key)
{
    const cfg_param *p = cfg_param_find(&card_model_table, name);

    if (!value || !strcmp(value, p->fallback))
        return;
    add_text(r->card, name, place(r, key), value, r->arena);
    r->has_choices = true;
}

static void choose_number(reading *r, const char *name, int64_t n, const char *key)
{
    choose(r, name, dse_arena_printf(r->arena, "%" PRId64, n), key);
}

static bool is_of(const reading *r, const char *type) { return !strcmp(r->of.model_type, type); }

static bool is_falcon(const reading *r)
{
    return is_of(r, "falcon") || !strncmp(r->of.model_type, "RefinedWeb", 10);
}

/* Whatever its other keys say, falcon has one head of keys and values, unless it is of the new decoder or has
 * multi_query false; gpt_bigcode, too. */
static void read_kv_heads(reading *r)
{
    const bool is_new = says(r->root, "new_decoder_architecture", "true");
    const bool is_one =
        !says(r->root, "multi_query", "false") && ((is_falcon(r) && !is_new) || is_of(r, "gpt_bigcode"));
    const cfg_node *value = NULL, *key = NULL;
    int64_t n;

    if (is_one) {
        add_text(r->card, "kv_heads", place(r, "multi_query"), "1", r->arena);
        return;
    }
    if (is_falcon(r) && !is_new)
        return;
    for (size_t k = 0; !value && k < DSE_COUNT(kv_heads); k++)
        if (!kv_heads[k].needs || !says(r->root, kv_heads[k].needs, "false"))
            value = value_in(r->root, kv_heads[k].section, kv_heads[k].key, &key);
    if (value && (!number(value, &n) || n != r->heads))
        add(r->card, "kv_heads", key, value, r->arena);
    else if (!value)
        add_implied(r->root, r->at, "kv_heads", r->card, r->arena);
}

static void read_head_dim(reading *r)
{
    if (r->is_latent) /* heads have two sizes then */
        return;
    const char *key = find(r->root, "head_dim") != DSE_NONE ? "head_dim" : "kv_channels";
    int64_t n = number_or(r->root, key, r->of.head_dim);

    if (n && r->heads && (n > INT32_MAX || n * r->heads != r->d_model))
        add_number(r->card, "head_dim", place(r, key), n, r->arena);
}

static void read_tied(reading *r)
{
    uint32_t i = find(r->root, "tie_word_embeddings");

    if (i == DSE_NONE ? r->of.is_tied : says(r->root, "tie_word_embeddings", "true"))
        add_text(r->card, "tied_embeddings", place(r, "tie_word_embeddings"), "true", r->arena);
}

static void read_biases(reading *r)
{
    static const struct {
        unsigned bias;
        const char *key;
    } of[] = {
        {QKV, "bias.qkv"}, {PROJECTION, "bias.projection"}, {FEED_FORWARD, "bias.mlp"}, {HEAD, "bias.head"}};
    unsigned biases = r->of.biases;
    const char *by = NULL;

    for (size_t i = 0; i < DSE_COUNT(bias_keys); i++) {
        const bool yes = says(r->root, bias_keys[i].key, "true"),
                   no = says(r->root, bias_keys[i].key, "false");

        if (!yes && !no)
            continue;
        if (yes != bias_keys[i].no)
            biases |= bias_keys[i].biases & ~r->of.never;
        else
            biases &= ~bias_keys[i].biases;
        by = bias_keys[i].key;
    }
    for (size_t i = 0; i < DSE_COUNT(of); i++)
        if (biases & of[i].bias)
            choose(r, of[i].key, "true", by);
}

static const char *norm_of(const reading *r, const char **key)
{
    const cfg_node *type = cfg_get(r->root, "norm_type");

    *key = is_of(r, "mpt") ? type ? "norm_type" : "no_bias" : NULL;
    if (!is_of(r, "mpt"))
        return r->of.norm;
    if (type && type->kind == CFG_SCALAR && strstr(type->text, "rms"))
        return "rms";
    return says(r->root, "no_bias", "true") ? "layer_unbiased" : "layer";
}

static const char *block_of(const reading *r, const char **key)
{
    const bool is_new = says(r->root, "new_decoder_architecture", "true");

    *key = is_falcon(r) ? is_new ? "new_decoder_architecture" : "parallel_attn" : "use_parallel_residual";
    if (is_falcon(r) && is_new)
        return number_or(r->root, "num_ln_in_parallel_attn", 2) == 1 ? "parallel" : "parallel_two_norms";
    if (is_falcon(r) && says(r->root, "parallel_attn", "false"))
        return "serial";
    if (is_of(r, "gpt_neox") && says(r->root, "use_parallel_residual", "false"))
        return "serial";
    return is_of(r, "stablelm") && says(r->root, "use_parallel_residual", "true") ? "parallel" : r->of.block;
}

static const char *position_of(const reading *r)
{
    const cfg_node *alibi = value_in(r->root, "attn_config", "alibi", NULL);
    const bool has_alibi =
        says(r->root, "alibi", "true") || (alibi && alibi->text && !strcmp(alibi->text, "true"));

    return has_alibi || says(r->root, "learned_pos_emb", "false") ? "none" : r->of.position;
}

static void read_positions(reading *r)
{
    const char *position = position_of(r);

    choose(r, "position", position, NULL);
    for (size_t i = 0; position && !strcmp(position, "learned") && i < DSE_COUNT(position_keys); i++) {
        const int64_t n = number_or(r->root, position_keys[i], 0);

        if (n < 1)
            continue;
        choose_number(r, "positions", n + r->of.more_positions, position_keys[i]);
        return;
    }
}

static windowed windows_of(const reading *r)
{
    const cfg_node *types = layer_types(r->root);
    const int64_t every = number_or(r->root, "sliding_window_pattern", r->of.every);
    windowed w = {.last = r->layers, .full_every = every};

    if (types) {
        find_windows(types, &w); /* check_architecture has refused others */
        w.last = w.last && w.last == types->n ? r->layers : w.last;
    } else if (r->of.rule == WINDOW_SWITCHED) {
        const int64_t from = says(r->root, "use_sliding_window", "true")
                                 ? number_or(r->root, "max_window_layers", r->layers)
                                 : r->layers;

        w = (windowed){.last = from < r->layers ? r->layers - from : 0};
    }
    return w;
}

/* A window of null is none; one that is left out, the family's. */
static void read_window(reading *r)
{
    const bool has_chunks = is_of(r, "llama4_text");
    const char *key = has_chunks ? "attention_chunk_size" : "sliding_window";
    const int64_t w = cfg_get(r->root, key) ? number_or(r->root, key, 0) : r->of.window;
    const windowed of = windows_of(r);

    if (w < 1 || of.last < 1 || of.full_every == 1 || says(r->root, "use_sliding_window", "false"))
        return;
    if (r->of.rule == WINDOW_IF_BELOW && w >= number_or(r->root, "max_position_embeddings", INT64_MAX))
        return;
    choose_number(r, "window", w, key);
    choose(r, "window_chunks", has_chunks ? "true" : "false", key);
    if (of.last < r->layers)
        choose_number(r, "windowed_layers", of.last, key);
    choose_number(r, "full_attention_every", of.full_every, key);
}

/* ---- experts and latents --------------------------------------------------------------------- */

/* The first row of a card's key counts that says something. */
static void read_more(reading *r, more_group group)
{
    for (size_t i = 0; i < DSE_COUNT(more_sizes); i++) {
        const cfg_node *value = value_in(r->root, more_sizes[i].section, more_sizes[i].key, NULL);
        int64_t n;

        if (more_sizes[i].group == group && value && number(value, &n) && n >= more_sizes[i].least &&
            !cfg_get(r->card, more_sizes[i].card))
            choose_number(r, more_sizes[i].card, n, more_sizes[i].key);
    }
}

/* Llama 4 calls the width of an expert intermediate_size, and that of other layers' network as here. */
static void read_two_widths(reading *r)
{
    const int64_t width = number_or(r->root, "intermediate_size_mlp", 0);

    for (uint32_t i = 0; width > 0 && i < r->card->n; i++) {
        if (strcmp(r->card->key[i]->text, "d_ff") != 0)
            continue;
        add_text(r->card, "d_ff_expert", r->card->key[i], r->card->item[i]->text, r->arena);
        r->card->item[i]->text = dse_arena_printf(r->arena, "%" PRId64, width);
    }
}

static void read_experts(reading *r)
{
    const cfg_node *only = cfg_get(r->root, "mlp_only_layers");
    const bool is_sigmoid =
        cfg_get(r->root, "scoring_func") ? says(r->root, "scoring_func", "sigmoid") : r->of.is_sigmoid;

    if (!has_more(r->root, "experts", NULL))
        return;
    read_two_widths(r);
    if (only && only->kind == CFG_LIST && only->n) /* the first ones: check_experts has refused others */
        choose_number(r, "first_dense_layers", only->n, "mlp_only_layers");
    read_more(r, OF_EXPERTS);
    if (cfg_get(r->card, "router_groups"))
        read_more(r, OF_EXPERT_GROUPS);
    if (r->of.has_shared_expert && !cfg_get(r->card, "shared_experts"))
        choose(r, "shared_experts", "1", NULL);
    choose(r, "shared_expert_gate", r->of.has_shared_gate ? "true" : "false", NULL);
    choose(r, "router", is_sigmoid ? "sigmoid" : "softmax", "scoring_func");
    choose(r, "router_bias", r->of.router_bias ? "true" : "false", NULL);
    choose(r, "expert_bias", r->of.expert_bias ? "true" : "false", NULL);
}

static void read_dropout(reading *r)
{
    bool drops = r->of.drops;
    const char *key = NULL;
    double v;

    for (size_t i = 0; i < DSE_COUNT(dropout_keys); i++) {
        uint32_t at = find(r->root, dropout_keys[i]);

        if (at == DSE_NONE ||
            dse_parse_double(r->root->item[at]->text ? r->root->item[at]->text : "", &v, NULL) != DSE_OK)
            continue;
        drops = v > 0;
        key = dropout_keys[i];
    }
    if (drops)
        choose(r, "dropout", "true", key);
}

/* OPT: embeddings of another width; norms after what they were before, and then none at the end. */
static void read_opt(reading *r)
{
    const int64_t width = number_or(r->root, "word_embed_proj_dim", r->d_model);
    const bool after = says(r->root, "do_layer_norm_before", "false");

    if (!is_of(r, "opt"))
        return;
    if (width != r->d_model)
        choose_number(r, "embedding_width", width, "word_embed_proj_dim");
    if (after)
        choose(r, "norms", "after", "do_layer_norm_before");
    if (after || says(r->root, "_remove_final_layer_norm", "true"))
        choose(r, "final_norm", "false", after ? "do_layer_norm_before" : "_remove_final_layer_norm");
}

static const char *qk_norm_of(const reading *r)
{
    return !strncmp(r->of.model_type, "glm", 3) && says(r->root, "use_qk_norm", "true") ? "head"
                                                                                        : r->of.qk_norm;
}

static bool is_gated(const reading *r)
{
    bool gate = r->of.gate;

    for (size_t k = 0; !*r->of.model_type && k < DSE_COUNT(gated); k++)
        gate |= says(r->root, gated[k].key, gated[k].value);
    return gate;
}

/* The family of a config; one that is none of ours is taken for a Llama with or without a gate. */
static family find_family(const cfg_doc *doc, const cfg_node *root, const cfg_node **at)
{
    uint32_t i = find(root, "model_type");

    *at = i == DSE_NONE ? doc->root->key[0] : root->key[i];
    for (size_t k = 0; i != DSE_NONE && k < DSE_COUNT(families); k++)
        if (says(root, "model_type", families[k].model_type))
            return families[k];
    return (family){.model_type = "", .rule = WINDOW_SWITCHED};
}

static int64_t size_in(const cfg_node *card, const char *key)
{
    const cfg_node *value = cfg_get(card, key);
    int64_t n;

    return value && number(value, &n) && n > 0 && n < INT32_MAX ? n : 0;
}

/* Where nothing but what every Llama may have is there, it is a Llama. */
static void read_family(const cfg_doc *doc, const cfg_node *root, cfg_node *card, dse_arena *a,
                        card_hf_notes *notes)
{
    reading r = {.root = root,
                 .card = card,
                 .arena = a,
                 .notes = notes,
                 .d_model = size_in(card, "d_model"),
                 .heads = size_in(card, "heads"),
                 .layers = size_in(card, "layers")};
    const char *key, *value;
    cfg_node *operators;

    r.of = find_family(doc, root, &r.at);
    if (!*r.of.model_type)
        add_note(notes, r.at, "what this 'model_type' has beyond a Llama's layers, as it is not known");
    add_text(card, "operators", r.at, DECODER, a);
    operators = card->item[card->n - 1];
    read_more(&r, OF_LATENTS);
    r.is_latent = cfg_get(card, "kv_lora_rank") != NULL;
    read_kv_heads(&r);
    read_head_dim(&r);
    read_tied(&r);
    value = norm_of(&r, &key);
    choose(&r, "norm", value, key);
    choose(&r, "norms", r.of.norms, NULL);
    value = block_of(&r, &key);
    choose(&r, "block", value, key);
    choose(&r, "qk_norm", qk_norm_of(&r), "use_qk_norm");
    choose(&r, "attention_sinks", r.of.has_sinks ? "true" : "false", NULL);
    choose(&r, "embedding_norm", r.of.embedding_norm ? "true" : "false", NULL);
    read_positions(&r);
    read_biases(&r);
    read_window(&r);
    read_experts(&r);
    read_opt(&r);
    read_dropout(&r);
    if (!is_gated(&r) || r.has_choices)
        choose(&r, "gate", is_gated(&r) ? "true" : "false", NULL);
    else
        operators->text = LLAMA;
}

dse_status card_hf_card(const cfg_doc *doc, dse_arena *a, cfg_doc *out, card_hf_notes *notes, dse_error *err)
{
    const cfg_node *root = card_hf_text(doc);
    const cfg_doc text = {doc->path, (cfg_node *)root};
    cfg_node *card = DSE_ARENA_NEW(a, cfg_node, 1);
    card_hf_notes unused;
    dse_status st;

    if (!notes)
        notes = &unused;
    notes->n = 0;
    *card = (cfg_node){.kind = CFG_MAP,
                       .line = doc->root->line,
                       .column = doc->root->column,
                       .key = DSE_ARENA_NEW(a, cfg_node *, N_SIZES + MORE_KEYS),
                       .item = DSE_ARENA_NEW(a, cfg_node *, N_SIZES + MORE_KEYS)};
    st = check_architecture(doc, root, err);
    for (size_t i = 0; st == DSE_OK && i < N_SIZES; i++)
        st = add_size(&text, i, card, a, err);
    if (st != DSE_OK)
        return st;
    add_implied_width(root, card, a);
    for (size_t i = 0; i < N_SIZES; i++)
        add_implied(root, root, sizes[i].card, card, a);
    read_family(doc, root, card, a, notes);
    note_ignored(root, card, notes);
    if (root != doc->root)
        note_ignored(doc->root, card, notes);
    *out = (cfg_doc){doc->path, card};
    return DSE_OK;
}

static bool is_known(const cfg_doc *card, const card_model *m, const char *key)
{
    return cfg_get(card->root, key) || (m && cfg_is_given(&card_model_table, m, key));
}

dse_status card_hf_check(const cfg_doc *card, const card_model *m, dse_error *err)
{
    char lacks[128] = "", remedy[192] = "";
    const char *names[N_SIZES + DSE_COUNT(run_keys)];
    size_t n = 0, n_sizes;

    for (size_t i = 0; i < N_SIZES; i++)
        if (!is_known(card, m, sizes[i].card))
            names[n++] = sizes[i].card;
    n_sizes = n;
    for (size_t i = 0; i < DSE_COUNT(run_keys); i++)
        if (!is_known(card, m, run_keys[i]))
            names[n++] = run_keys[i];
    for (size_t i = 0; i < n; i++) {
        size_t l = strlen(lacks), r = strlen(remedy);

        snprintf(lacks + l, sizeof lacks - l, "%s%s", !i ? "" : i + 1 == n ? " and " : ", ", names[i]);
        snprintf(remedy + r, sizeof remedy - r, " --set %s=N", names[i]);
    }
    if (n)
        return dse_fail_at(err, DSE_E_CONFIG, card->path, "%s Hugging Face config has no %s; give%s",
                           n_sizes ? "this" : "a", lacks, remedy);
    return m ? card_model_check_precision(m, card->path, err) : DSE_OK;
}

static const char *join_notes(const char *path, const card_hf_notes *notes, dse_arena *a)
{
    dse_strbuf text = dse_strbuf_in(a);

    dse_strbuf_addf(&text, "%s: not simulated: ", path);
    for (uint32_t i = 0; i < notes->n; i++)
        dse_strbuf_addf(&text, "%s%s", i ? "; " : "", notes->item[i].text);
    return notes->n ? text.data : NULL;
}

dse_status card_hf_resolve(cfg_doc *doc, dse_arena *a, const char **note, dse_error *err)
{
    card_hf_notes notes;
    cfg_doc card;
    dse_status st;

    *note = NULL;
    if (!card_hf_is_config(doc))
        return DSE_OK;
    if ((st = card_hf_card(doc, a, &card, &notes, err)) != DSE_OK)
        return st;
    *note = join_notes(doc->path, &notes, a);
    *doc = card;
    return DSE_OK;
}
