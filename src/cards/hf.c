/* The spellings, and the facts about single architectures, are those of the configuration_<model>.py and
 * modeling_<model>.py files of the transformers library: what its attribute_map calls one thing is one
 * row. */
#include "cards/hf_parts.h"

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
#define N_SIZES DSE_COUNT(sizes)

/* Keys that describe a training run, not a model. */
static const char *const run_keys[] = {"batch", "sequence"};

/* Architectures that define the feed-forward width themselves where the config leaves it out (or null): four
 * times the model's, or expansion_ratio times where such a key is there (mpt). */
static const char *const four_times[] = {
    "gpt2",   "gpt_bigcode", "gpt_neo",         "gptj", "codegen", "bloom",
    "falcon", "RefinedWeb",  "RefinedWebModel", "mpt"};

/* Heads of keys and values, if they are fewer than those of the queries; and the switch without which the
 * number does not count (chatglm). */
static const struct {
    const char *section, *key, *needs;
} kv_heads[] = {
    {NULL, "num_key_value_heads", NULL}, {NULL, "num_kv_heads", NULL},
    {NULL, "n_head_kv", NULL},           {NULL, "multi_query_group_num", "multi_query_attention"},
    {"attn_config", "kv_n_heads", NULL},
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

/* Keys that say which biases there are; `no`: that there are none. */
static const struct {
    const char *key;
    unsigned biases;
    bool no;
} bias_keys[] = {
    {"attention_bias", BIAS_QKV | BIAS_PROJECTION, false},
    {"mlp_bias", BIAS_FEED_FORWARD, false},
    {"bias", BIAS_ALL_BUT_HEAD, false},
    {"use_bias", BIAS_ALL_BUT_HEAD, false},
    {"enable_bias", BIAS_ALL_BUT_HEAD, false},
    {"add_bias_linear", BIAS_ALL_BUT_HEAD, false},
    {"no_bias", BIAS_ALL_BUT_HEAD, true},
    {"use_qkv_bias", BIAS_QKV, false},
    {"qkv_bias", BIAS_QKV, false},
    {"lm_head_bias", BIAS_HEAD, false},
    {"add_qkv_bias", BIAS_QKV, false},
};

/* Keys of the rows of a table of positions, and of the fraction of the hidden state that is dropped. */
static const char *const position_keys[] = {"n_positions", "max_position_embeddings", "max_seq_len"};
static const char *const dropout_keys[] = {"resid_pdrop", "dropout", "hidden_dropout", "hidden_dropout_prob",
                                           "residual_dropout"};

#define LLAMA   "llama"   /* configs/layers/llama.yaml: groups of heads, a gate, no choice */
#define DECODER "decoder" /* configs/layers/decoder.yaml: all choices */

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

/* ---- the card ------------------------------------------------------------------------------ */

static void add(cfg_node *card, const char *key, const cfg_node *at, const cfg_node *value, dse_arena *a)
{
    cfg_node *name = dse_arena_copy(a, at, 1, sizeof *at);

    name->text = key;
    card->key[card->n] = name;
    card->item[card->n++] = dse_arena_copy(a, value, 1, sizeof *value);
}

void card_hf_add_text(cfg_node *card, const char *key, const cfg_node *at, const char *text, dse_arena *a)
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
        uint32_t i = card_hf_find(root, sizes[size].spelling[k]);

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
    uint32_t ratio = card_hf_find(root, "expansion_ratio");
    int64_t width, times = 4;
    const cfg_node *at, *of_experts = card_hf_value(root, "ffn_config", "ffn_hidden_size", &at);
    bool known = false;

    if (of_experts && !cfg_get(card, "d_ff"))
        add(card, "d_ff", at, of_experts, a);
    for (size_t i = 0; i < DSE_COUNT(four_times); i++)
        known |= card_hf_says(root, "model_type", four_times[i]);
    if (cfg_get(card, "d_ff") || !known || !d_model || !card_hf_number(d_model, &width) ||
        (ratio != DSE_NONE && !card_hf_number(root->item[ratio], &times)) || width < 1 || times < 1 ||
        width > INT64_MAX / times)
        return;
    card_hf_add_text(card, "d_ff", d_model, dse_arena_printf(a, "%" PRId64, width * times), a);
}

static void add_number(cfg_node *card, const char *key, const cfg_node *at, int64_t n, dse_arena *a)
{
    card_hf_add_text(card, key, at, dse_arena_printf(a, "%" PRId64, n), a);
}

/* A size that the config leaves out, and its architecture has. */
static void add_implied(const cfg_node *root, const cfg_node *at, const char *card_key, cfg_node *card,
                        dse_arena *a)
{
    for (size_t i = 0; i < DSE_COUNT(implied); i++)
        if (!strcmp(implied[i].card, card_key) && card_hf_says(root, "model_type", implied[i].model_type) &&
            !cfg_get(card, card_key))
            add_number(card, card_key, at, implied[i].n, a);
}

static const cfg_node *place(const card_hf_reading *r, const char *key)
{
    uint32_t i = key ? card_hf_find(r->root, key) : DSE_NONE;

    return i == DSE_NONE ? r->at : r->root->key[i];
}

void card_hf_choose(card_hf_reading *r, const char *name, const char *value, const char *key)
{
    const cfg_param *p = cfg_param_find(&card_model_table, name);

    if (!value || !strcmp(value, p->fallback))
        return;
    card_hf_add_text(r->card, name, place(r, key), value, r->arena);
    r->has_choices = true;
}

void card_hf_choose_number(card_hf_reading *r, const char *name, int64_t n, const char *key)
{
    card_hf_choose(r, name, dse_arena_printf(r->arena, "%" PRId64, n), key);
}

static bool is_of(const card_hf_reading *r, const char *type) { return !strcmp(r->of.model_type, type); }

static bool is_falcon(const card_hf_reading *r)
{
    return is_of(r, "falcon") || !strncmp(r->of.model_type, "RefinedWeb", 10);
}

/* Whatever its other keys say, falcon has one head of keys and values, unless it is of the new decoder or has
 * multi_query false; gpt_bigcode, too. */
static void read_kv_heads(card_hf_reading *r)
{
    const bool is_new = card_hf_says(r->root, "new_decoder_architecture", "true");
    const bool is_one = !card_hf_says(r->root, "multi_query", "false") &&
                        ((is_falcon(r) && !is_new) || is_of(r, "gpt_bigcode"));
    const cfg_node *value = NULL, *key = NULL;
    int64_t n;

    if (is_one) {
        card_hf_add_text(r->card, "kv_heads", place(r, "multi_query"), "1", r->arena);
        return;
    }
    if (is_falcon(r) && !is_new)
        return;
    for (size_t k = 0; !value && k < DSE_COUNT(kv_heads); k++)
        if (!kv_heads[k].needs || !card_hf_says(r->root, kv_heads[k].needs, "false"))
            value = card_hf_value(r->root, kv_heads[k].section, kv_heads[k].key, &key);
    if (value && (!card_hf_number(value, &n) || n != r->heads))
        add(r->card, "kv_heads", key, value, r->arena);
    else if (!value)
        add_implied(r->root, r->at, "kv_heads", r->card, r->arena);
}

static void read_head_dim(card_hf_reading *r)
{
    if (r->is_latent) /* heads have two sizes then */
        return;
    const char *key = card_hf_find(r->root, "head_dim") != DSE_NONE ? "head_dim" : "kv_channels";
    int64_t n = card_hf_number_or(r->root, key, r->of.head_dim);

    if (n && r->heads && (n > INT32_MAX || n * r->heads != r->d_model))
        add_number(r->card, "head_dim", place(r, key), n, r->arena);
}

static void read_tied(card_hf_reading *r)
{
    uint32_t i = card_hf_find(r->root, "tie_word_embeddings");

    if (i == DSE_NONE ? r->of.is_tied : card_hf_says(r->root, "tie_word_embeddings", "true"))
        card_hf_add_text(r->card, "tied_embeddings", place(r, "tie_word_embeddings"), "true", r->arena);
}

static void read_biases(card_hf_reading *r)
{
    static const struct {
        unsigned bias;
        const char *key;
    } of[] = {{BIAS_QKV, "bias.qkv"},
              {BIAS_PROJECTION, "bias.projection"},
              {BIAS_FEED_FORWARD, "bias.mlp"},
              {BIAS_HEAD, "bias.head"}};
    unsigned biases = r->of.biases;
    const char *by = NULL;

    for (size_t i = 0; i < DSE_COUNT(bias_keys); i++) {
        const bool yes = card_hf_says(r->root, bias_keys[i].key, "true"),
                   no = card_hf_says(r->root, bias_keys[i].key, "false");

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
            card_hf_choose(r, of[i].key, "true", by);
}

static const char *norm_of(const card_hf_reading *r, const char **key)
{
    const cfg_node *type = cfg_get(r->root, "norm_type");

    *key = is_of(r, "mpt") ? type ? "norm_type" : "no_bias" : NULL;
    if (!is_of(r, "mpt"))
        return r->of.norm;
    if (type && type->kind == CFG_SCALAR && strstr(type->text, "rms"))
        return "rms";
    return card_hf_says(r->root, "no_bias", "true") ? "layer_unbiased" : "layer";
}

static const char *block_of(const card_hf_reading *r, const char **key)
{
    const bool is_new = card_hf_says(r->root, "new_decoder_architecture", "true");

    *key = is_falcon(r) ? is_new ? "new_decoder_architecture" : "parallel_attn" : "use_parallel_residual";
    if (is_falcon(r) && is_new)
        return card_hf_number_or(r->root, "num_ln_in_parallel_attn", 2) == 1 ? "parallel"
                                                                             : "parallel_two_norms";
    if (is_falcon(r) && card_hf_says(r->root, "parallel_attn", "false"))
        return "serial";
    if (is_of(r, "gpt_neox") && card_hf_says(r->root, "use_parallel_residual", "false"))
        return "serial";
    return is_of(r, "stablelm") && card_hf_says(r->root, "use_parallel_residual", "true") ? "parallel"
                                                                                          : r->of.block;
}

static const char *position_of(const card_hf_reading *r)
{
    const cfg_node *alibi = card_hf_value(r->root, "attn_config", "alibi", NULL);
    const bool has_alibi =
        card_hf_says(r->root, "alibi", "true") || (alibi && alibi->text && !strcmp(alibi->text, "true"));

    return has_alibi || card_hf_says(r->root, "learned_pos_emb", "false") ? "none" : r->of.position;
}

static void read_positions(card_hf_reading *r)
{
    const char *position = position_of(r);

    card_hf_choose(r, "position", position, NULL);
    for (size_t i = 0; position && !strcmp(position, "learned") && i < DSE_COUNT(position_keys); i++) {
        const int64_t n = card_hf_number_or(r->root, position_keys[i], 0);

        if (n < 1)
            continue;
        card_hf_choose_number(r, "positions", n + r->of.more_positions, position_keys[i]);
        return;
    }
}

static card_hf_windows windows_of(const card_hf_reading *r)
{
    const cfg_node *types = card_hf_layer_types(r->root);
    const int64_t every = card_hf_number_or(r->root, "sliding_window_pattern", r->of.every);
    card_hf_windows w = {.last = r->layers, .full_every = every};

    if (types) {
        card_hf_find_windows(types, &w); /* check_architecture has refused others */
        w.last = w.last && w.last == types->n ? r->layers : w.last;
    } else if (r->of.rule == WINDOW_SWITCHED) {
        const int64_t from = card_hf_says(r->root, "use_sliding_window", "true")
                                 ? card_hf_number_or(r->root, "max_window_layers", r->layers)
                                 : r->layers;

        w = (card_hf_windows){.last = from < r->layers ? r->layers - from : 0};
    }
    return w;
}

/* A window of null is none; one that is left out, the family's. */
static void read_window(card_hf_reading *r)
{
    const bool has_chunks = is_of(r, "llama4_text");
    const char *key = has_chunks ? "attention_chunk_size" : "sliding_window";
    const int64_t w = cfg_get(r->root, key) ? card_hf_number_or(r->root, key, 0) : r->of.window;
    const card_hf_windows of = windows_of(r);

    if (w < 1 || of.last < 1 || of.full_every == 1 || card_hf_says(r->root, "use_sliding_window", "false"))
        return;
    if (r->of.rule == WINDOW_IF_BELOW &&
        w >= card_hf_number_or(r->root, "max_position_embeddings", INT64_MAX))
        return;
    card_hf_choose_number(r, "window", w, key);
    card_hf_choose(r, "window_chunks", has_chunks ? "true" : "false", key);
    if (of.last < r->layers)
        card_hf_choose_number(r, "windowed_layers", of.last, key);
    card_hf_choose_number(r, "full_attention_every", of.full_every, key);
}

static void read_dropout(card_hf_reading *r)
{
    bool drops = r->of.drops;
    const char *key = NULL;
    double v;

    for (size_t i = 0; i < DSE_COUNT(dropout_keys); i++) {
        uint32_t at = card_hf_find(r->root, dropout_keys[i]);

        if (at == DSE_NONE ||
            dse_parse_double(r->root->item[at]->text ? r->root->item[at]->text : "", &v, NULL) != DSE_OK)
            continue;
        drops = v > 0;
        key = dropout_keys[i];
    }
    if (drops)
        card_hf_choose(r, "dropout", "true", key);
}

/* OPT: embeddings of another width; norms after what they were before, and then none at the end. */
static void read_opt(card_hf_reading *r)
{
    const int64_t width = card_hf_number_or(r->root, "word_embed_proj_dim", r->d_model);
    const bool after = card_hf_says(r->root, "do_layer_norm_before", "false");

    if (!is_of(r, "opt"))
        return;
    if (width != r->d_model)
        card_hf_choose_number(r, "embedding_width", width, "word_embed_proj_dim");
    if (after)
        card_hf_choose(r, "norms", "after", "do_layer_norm_before");
    if (after || card_hf_says(r->root, "_remove_final_layer_norm", "true"))
        card_hf_choose(r, "final_norm", "false", after ? "do_layer_norm_before" : "_remove_final_layer_norm");
}

static const char *qk_norm_of(const card_hf_reading *r)
{
    return !strncmp(r->of.model_type, "glm", 3) && card_hf_says(r->root, "use_qk_norm", "true")
               ? "head"
               : r->of.qk_norm;
}

static bool is_gated(const card_hf_reading *r)
{
    bool gate = r->of.gate;

    for (size_t k = 0; !*r->of.model_type && k < DSE_COUNT(gated); k++)
        gate |= card_hf_says(r->root, gated[k].key, gated[k].value);
    return gate;
}

/* Every word for a GELU, exact or not, begins with it. gpt-oss has a function of its own, whatever it
 * says. */
static const char *activation_of(const card_hf_reading *r, const cfg_node **at)
{
    static const char *const keys[] = {"hidden_act", "hidden_activation", "activation_function",
                                       "activation"};
    static const struct {
        const char *word, *is;
        bool is_prefix;
    } rows[] = {{"silu", "silu", false},
                {"swiglu", "silu", false},
                {"swish", "silu", false},
                {"gelu", "gelu", true},
                {"relu2", "squared-relu", false}};

    for (size_t k = 0; k < DSE_COUNT(keys) && !is_of(r, "gpt_oss"); k++) {
        const cfg_node *value = cfg_get(r->root, keys[k]);

        for (size_t i = 0; value && value->kind == CFG_SCALAR && i < DSE_COUNT(rows); i++)
            if (rows[i].is_prefix ? !strncmp(value->text, rows[i].word, strlen(rows[i].word))
                                  : !strcmp(value->text, rows[i].word)) {
                *at = value;
                return rows[i].is;
            }
    }
    return NULL;
}

static int64_t size_in(const cfg_node *card, const char *key)
{
    const cfg_node *value = cfg_get(card, key);
    int64_t n;

    return value && card_hf_number(value, &n) && n > 0 && n < INT32_MAX ? n : 0;
}

/* Where nothing but what every Llama may have is there, it is a Llama. */
static void read_family(const cfg_doc *doc, const cfg_node *root, cfg_node *card, dse_arena *a,
                        card_hf_notes *notes)
{
    card_hf_reading r = {.root = root,
                         .card = card,
                         .arena = a,
                         .notes = notes,
                         .d_model = size_in(card, "d_model"),
                         .heads = size_in(card, "heads"),
                         .layers = size_in(card, "layers")};
    const char *key, *value, *activation;
    const cfg_node *at = NULL;
    cfg_node *operators;

    r.of = card_hf_find_family(doc, root, &r.at);
    if (!*r.of.model_type)
        card_hf_add_note(notes, r.at,
                         "what this 'model_type' has beyond a Llama's layers, as it is not known");
    card_hf_add_text(card, "operators", r.at, DECODER, a);
    operators = card->item[card->n - 1];
    card_hf_read_latents(&r);
    r.is_latent = cfg_get(card, "kv_lora_rank") != NULL;
    read_kv_heads(&r);
    read_head_dim(&r);
    read_tied(&r);
    value = norm_of(&r, &key);
    card_hf_choose(&r, "norm", value, key);
    card_hf_choose(&r, "norms", r.of.norms, NULL);
    value = block_of(&r, &key);
    card_hf_choose(&r, "block", value, key);
    card_hf_choose(&r, "qk_norm", qk_norm_of(&r), "use_qk_norm");
    card_hf_choose(&r, "attention_sinks", r.of.has_sinks ? "true" : "false", NULL);
    card_hf_choose(&r, "embedding_norm", r.of.embedding_norm ? "true" : "false", NULL);
    read_positions(&r);
    read_biases(&r);
    read_window(&r);
    card_hf_read_experts(&r);
    read_opt(&r);
    read_dropout(&r);
    activation = activation_of(&r, &at);
    if (is_gated(&r) && !r.has_choices && (!activation || !strcmp(activation, "silu"))) {
        operators->text = LLAMA;
        return;
    }
    card_hf_choose(&r, "gate", is_gated(&r) ? "true" : "false", NULL);
    if (activation)
        card_hf_add_text(card, "activation", at, activation, a);
}

dse_status card_hf_card(const cfg_doc *doc, dse_arena *a, cfg_doc *out, card_hf_notes *notes, dse_error *err)
{
    const cfg_node *root = card_hf_text(doc);
    const cfg_doc text = {doc->path, (cfg_node *)(uintptr_t)root};
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
    st = card_hf_check_architecture(doc, root, err);
    for (size_t i = 0; st == DSE_OK && i < N_SIZES; i++)
        st = add_size(&text, i, card, a, err);
    if (st != DSE_OK)
        return st;
    add_implied_width(root, card, a);
    for (size_t i = 0; i < N_SIZES; i++)
        add_implied(root, root, sizes[i].card, card, a);
    read_family(doc, root, card, a, notes);
    card_hf_note_ignored(root, card, notes);
    if (root != doc->root)
        card_hf_note_ignored(doc->root, card, notes);
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
