/* Experts and latent attention of a config. */
#include "cards/hf_parts.h"

#include "base/array.h"

#include <inttypes.h>
#include <string.h>

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

/* Whether the config says what is a key of the card. *at (NULL: not asked for) is where it stands. */
static bool has_more(const cfg_node *root, const char *card, const cfg_node **at)
{
    for (size_t i = 0; i < DSE_COUNT(more_sizes); i++) {
        const cfg_node *key, *value = card_hf_value(root, more_sizes[i].section, more_sizes[i].key, &key);
        int64_t n;

        if (strcmp(more_sizes[i].card, card) != 0 || !value || !card_hf_number(value, &n) ||
            n < more_sizes[i].least)
            continue;
        if (at)
            *at = key;
        return true;
    }
    return false;
}

/* Experts of a family whose other parts are not known would be counted wrong, and so would layers that no
 * rule of a card names. */
dse_status card_hf_check_experts(const cfg_doc *doc, const cfg_node *root, dse_error *err)
{
    const cfg_node *type = cfg_get(root, "model_type"), *only = cfg_get(root, "mlp_only_layers"), *at;
    const cfg_node *of;
    int64_t n;

    if (!has_more(root, "experts", &at))
        return DSE_OK;
    if (!has_more(root, "experts_per_token", NULL))
        return cfg_fail(err, doc, at, "'%s': how many of them a token takes is missing: num_experts_per_tok",
                        at->text);
    if (!*card_hf_find_family(doc, root, &of).model_type)
        return cfg_fail(err, doc, type ? type : root,
                        "'model_type': a mixture of experts of a family that is not known");
    for (uint32_t i = 0; only && only->kind == CFG_LIST && i < only->n; i++)
        if (!card_hf_number(only->item[i], &n) || n != i)
            return cfg_fail(err, doc, only,
                            "'mlp_only_layers': these are not the first layers, which a card can say");
    return DSE_OK;
}

/* The first row of a card's key counts that says something. */
static void read_more(card_hf_reading *r, more_group group)
{
    for (size_t i = 0; i < DSE_COUNT(more_sizes); i++) {
        const cfg_node *value = card_hf_value(r->root, more_sizes[i].section, more_sizes[i].key, NULL);
        int64_t n;

        if (more_sizes[i].group == group && value && card_hf_number(value, &n) && n >= more_sizes[i].least &&
            !cfg_get(r->card, more_sizes[i].card))
            card_hf_choose_number(r, more_sizes[i].card, n, more_sizes[i].key);
    }
}

/* Llama 4 calls the width of an expert intermediate_size, and that of other layers' network as here. */
static void read_two_widths(card_hf_reading *r)
{
    const int64_t width = card_hf_number_or(r->root, "intermediate_size_mlp", 0);

    for (uint32_t i = 0; width > 0 && i < r->card->n; i++) {
        if (strcmp(r->card->key[i]->text, "d_ff") != 0)
            continue;
        card_hf_add_text(r->card, "d_ff_expert", r->card->key[i], r->card->item[i]->text, r->arena);
        r->card->item[i]->text = dse_arena_printf(r->arena, "%" PRId64, width);
    }
}

void card_hf_read_latents(card_hf_reading *r) { read_more(r, OF_LATENTS); }

void card_hf_read_experts(card_hf_reading *r)
{
    const cfg_node *only = cfg_get(r->root, "mlp_only_layers");
    const bool is_sigmoid = cfg_get(r->root, "scoring_func")
                                ? card_hf_says(r->root, "scoring_func", "sigmoid")
                                : r->of.is_sigmoid;

    if (!has_more(r->root, "experts", NULL))
        return;
    read_two_widths(r);
    if (only && only->kind == CFG_LIST && only->n) /* the first ones: check_experts has refused others */
        card_hf_choose_number(r, "first_dense_layers", only->n, "mlp_only_layers");
    read_more(r, OF_EXPERTS);
    if (cfg_get(r->card, "router_groups"))
        read_more(r, OF_EXPERT_GROUPS);
    if (r->of.has_shared_expert && !cfg_get(r->card, "shared_experts"))
        card_hf_choose(r, "shared_experts", "1", NULL);
    card_hf_choose(r, "shared_expert_gate", r->of.has_shared_gate ? "true" : "false", NULL);
    card_hf_choose(r, "router", is_sigmoid ? "sigmoid" : "softmax", "scoring_func");
    card_hf_choose(r, "router_bias", r->of.router_bias ? "true" : "false", NULL);
    card_hf_choose(r, "expert_bias", r->of.expert_bias ? "true" : "false", NULL);
}
