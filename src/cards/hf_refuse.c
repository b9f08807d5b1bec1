/* What of a config cannot be simulated: refused with its place, or noted. */
#include "cards/hf_parts.h"

#include "base/array.h"
#include "base/units.h"

#include <string.h>

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

/* Layers of other kinds than attention, all of it or within a window. */
static const cfg_node *other_layer(const cfg_node *root)
{
    const cfg_node *types = cfg_get(root, "layer_types");

    for (uint32_t i = 0; types && types->kind == CFG_LIST && i < types->n; i++)
        if (types->item[i]->kind != CFG_SCALAR ||
            (strcmp(types->item[i]->text, "full_attention") != 0 && !card_hf_is_windowed(types->item[i])))
            return types->item[i];
    return NULL;
}

dse_status card_hf_check_architecture(const cfg_doc *doc, const cfg_node *root, dse_error *err)
{
    const cfg_node *key, *value;
    card_hf_windows windows;
    uint32_t i = card_hf_find(doc->root, "is_encoder_decoder");
    int64_t n;

    if (card_hf_says(doc->root, "is_encoder_decoder", "true"))
        return cfg_fail(err, doc, doc->root->key[i],
                        "an encoder with a decoder; the operators are those of a decoder alone");
    for (size_t k = 0; k < DSE_COUNT(refused); k++) {
        value = card_hf_value(root, refused[k].section, refused[k].key, &key);
        if (value && (!card_hf_number(value, &n) || n > refused[k].most))
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
        if (card_hf_says(root, "model_type", other_types[k].model_type))
            return cfg_fail(err, doc, cfg_get(root, "model_type"),
                            "'model_type': %s, which is not simulated; the operators are those of a decoder "
                            "with attention",
                            other_types[k].what);
    if ((value = card_hf_layer_types(root)) && !card_hf_find_windows(value, &windows))
        return cfg_fail(
            err, doc, value,
            "'layer_types': neither the last layers have the window nor all but every so many-th, "
            "which a card can say");
    return card_hf_check_experts(doc, root, err);
}

void card_hf_add_note(card_hf_notes *notes, const cfg_node *key, const char *text)
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

void card_hf_note_ignored(const cfg_node *root, const cfg_node *card, card_hf_notes *notes)
{
    for (size_t k = 0; k < DSE_COUNT(ignored); k++) {
        uint32_t i = card_hf_find(root, ignored[k].key);
        const bool is_read = !strcmp(ignored[k].key, "use_qk_norm") && cfg_get(card, "qk_norm");

        if (i != DSE_NONE && !is_read && is_noted(root->item[i], ignored[k].noted))
            card_hf_add_note(notes, root->key[i], ignored[k].text);
    }
}
