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

/* More than one of these: the feed-forward network is a choice of experts. */
static const char *const experts[] = {"num_local_experts", "n_routed_experts", "num_experts",
                                      "moe_num_experts"};

/* Heads of keys and values, if they are fewer than those of the queries; and the switch without which the
 * number does not count (chatglm). */
static const struct {
    const char *key, *needs;
} kv_heads[] = {
    {"num_key_value_heads", NULL},
    {"num_kv_heads", NULL},
    {"n_head_kv", NULL},
    {"multi_query_group_num", "multi_query_attention"},
};

/* Feed-forward networks of three matrices, one of them a gate. */
static const struct {
    const char *key, *value;
} gated[] = {
    {"hidden_act", "silu"},          {"hidden_act", "swiglu"},  {"hidden_activation", "silu"},
    {"activation_function", "silu"}, {"model_type", "gemma"},   {"model_type", "gemma2"},
    {"model_type", "gemma3_text"},   {"model_type", "chatglm"},
};

#define LLAMA "llama" /* configs/layers/llama.yaml: groups of heads, a gate */

/* Architectures whose training step configs/layers has; all others are simulated as STAGE's transformer, with notes.
 * `is_tied`: whether the output embedding is the input embedding where the config leaves `tie_word_embeddings` out. */
static const struct {
    const char *model_type, *operators;
    bool is_tied;
} families[] = {{"llama", LLAMA, false}, {"mistral", LLAMA, false}, {"gpt2", "gpt", true}};
#define MORE_KEYS 3 /* of a family: operators, kv_heads, tied_embeddings */

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

/* ---- refusals ------------------------------------------------------------------------------ */

static dse_status check_architecture(const cfg_doc *doc, dse_error *err)
{
    const cfg_node *root = doc->root;
    uint32_t i = find(root, "is_encoder_decoder");
    int64_t n;

    if (says(root, "is_encoder_decoder", "true"))
        return cfg_fail(err, doc, root->key[i],
                        "an encoder with a decoder; the operators are those of a decoder alone");
    for (size_t k = 0; k < DSE_COUNT(experts); k++) {
        i = find(root, experts[k]);
        if (i != DSE_NONE && (!number(root->item[i], &n) || n > 1))
            return cfg_fail(err, doc, root->key[i],
                            "'%s': a mixture of experts; the operators are those of a dense transformer",
                            experts[k]);
    }
    i = find(root, "text_config");
    if (i != DSE_NONE)
        return cfg_fail(err, doc, root->key[i],
                        "a model of several parts; put its 'text_config' into a file of its own");
    return DSE_OK;
}

/* ---- what is left out ---------------------------------------------------------------------- */

static void add_note(card_hf_notes *notes, const cfg_node *key, const char *text)
{
    if (notes->n < CARD_HF_MAX_NOTES)
        notes->item[notes->n++] = (card_hf_note){key, text};
}

/* The entry that says how many heads keys and values have; DSE_NONE. */
static uint32_t find_kv_heads(const cfg_node *root, int64_t *out)
{
    for (size_t k = 0; k < DSE_COUNT(kv_heads); k++) {
        uint32_t i = find(root, kv_heads[k].key);

        if (i != DSE_NONE && number(root->item[i], out) &&
            !(kv_heads[k].needs && says(root, kv_heads[k].needs, "false")))
            return i;
    }
    return DSE_NONE;
}

static void note_kv_heads(const cfg_node *root, int64_t heads, dse_arena *a, card_hf_notes *notes)
{
    uint32_t i;
    int64_t n;

    /* falcon: whatever num_kv_heads says */
    if (says(root, "multi_query", "true") && !says(root, "new_decoder_architecture", "true")) {
        add_note(notes, root->key[find(root, "multi_query")],
                 dse_arena_printf(a, "keys and values have one head, not %" PRId64, heads));
        return;
    }
    i = find_kv_heads(root, &n);
    if (i != DSE_NONE && n < heads)
        add_note(notes, root->key[i],
                 dse_arena_printf(a, "keys and values have %" PRId64 " heads, not %" PRId64, n, heads));
}

static void note_gate(const cfg_node *root, dse_arena *a, card_hf_notes *notes)
{
    for (size_t k = 0; k < DSE_COUNT(gated); k++) {
        if (!says(root, gated[k].key, gated[k].value))
            continue;
        add_note(notes, root->key[find(root, gated[k].key)],
                 dse_arena_printf(a, "the feed-forward network has a gate, a third matrix ('%s' is %s)",
                                  gated[k].key, gated[k].value));
        return;
    }
}

static void note_head_size(const cfg_node *root, int64_t d_model, int64_t heads, dse_arena *a,
                           card_hf_notes *notes)
{
    uint32_t i = find(root, "head_dim");
    int64_t n;

    if (i != DSE_NONE && number(root->item[i], &n) && heads >= 1 && n != d_model / heads)
        add_note(notes, root->key[i],
                 dse_arena_printf(a, "a head is %" PRId64 " wide, not d_model / heads", n));
}

static void take_notes(const cfg_node *root, const cfg_node *card, dse_arena *a, card_hf_notes *notes)
{
    const cfg_node *operators = cfg_get(card, "operators");
    const bool has_groups = cfg_get(card, "kv_heads") != NULL,
               has_gate = operators && !strcmp(operators->text, LLAMA);
    const cfg_node *d_model = cfg_get(card, "d_model"), *heads = cfg_get(card, "heads");
    int64_t width, n;
    const bool has_heads = heads && number(heads, &n);

    if (has_heads && !has_groups)
        note_kv_heads(root, n, a, notes);
    if (!has_gate)
        note_gate(root, a, notes);
    if (has_heads && d_model && number(d_model, &width))
        note_head_size(root, width, n, a, notes);
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
    bool known = false;

    for (size_t i = 0; i < DSE_COUNT(four_times); i++)
        known |= says(root, "model_type", four_times[i]);
    if (cfg_get(card, "d_ff") || !known || !d_model || !number(d_model, &width) ||
        (ratio != DSE_NONE && !number(root->item[ratio], &times)) || width < 1 || times < 1 ||
        width > INT64_MAX / times)
        return;
    add_text(card, "d_ff", d_model, dse_arena_printf(a, "%" PRId64, width * times), a);
}

static void add_family(const cfg_node *root, cfg_node *card, dse_arena *a)
{
    uint32_t tied = find(root, "tie_word_embeddings"), kv;
    int64_t n;

    for (size_t i = 0; i < DSE_COUNT(families); i++) {
        if (!says(root, "model_type", families[i].model_type))
            continue;
        add_text(card, "operators", root->key[find(root, "model_type")], families[i].operators, a);
        kv = find_kv_heads(root, &n);
        if (kv != DSE_NONE && !strcmp(families[i].operators, LLAMA))
            add(card, "kv_heads", root->key[kv], root->item[kv], a);
        if (tied == DSE_NONE ? families[i].is_tied : says(root, "tie_word_embeddings", "true"))
            add_text(card, "tied_embeddings", root->key[tied == DSE_NONE ? find(root, "model_type") : tied],
                     "true", a);
    }
}

dse_status card_hf_card(const cfg_doc *doc, dse_arena *a, cfg_doc *out, card_hf_notes *notes, dse_error *err)
{
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
    st = check_architecture(doc, err);
    for (size_t i = 0; st == DSE_OK && i < N_SIZES; i++)
        st = add_size(doc, i, card, a, err);
    if (st != DSE_OK)
        return st;
    add_implied_width(doc->root, card, a);
    add_family(doc->root, card, a);
    take_notes(doc->root, card, a, notes);
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
