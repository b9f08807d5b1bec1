/* Hugging Face configs as model cards. The configs are cut down from those that are published with the models: what is
 * left is what the table reads, with the spellings of each family. */
#include "cards/hf.h"
#include "cards/model.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static cfg_doc config, card;
static card_hf_notes notes;

static dse_status load(const char *text)
{
    dse_status st;

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    config = (cfg_doc){0};
    st = cfg_parse_json("m/config.json", text, strlen(text), &arena, &config, &err);
    return st == DSE_OK ? card_hf_card(&config, &arena, &card, &notes, &err) : st;
}

static int64_t size_of(const char *key)
{
    const cfg_node *node = cfg_get(card.root, key);
    int64_t v = -1;

    if (node)
        assert_ok(cfg_int(&card, node, key, 0, INT64_MAX, &v, &err), &err);
    return v;
}

static void assert_sizes(int64_t vocabulary, int64_t d_model, int64_t d_ff, int64_t heads, int64_t layers)
{
    assert_int_equal(size_of("vocabulary"), vocabulary);
    assert_int_equal(size_of("d_model"), d_model);
    assert_int_equal(size_of("d_ff"), d_ff);
    assert_int_equal(size_of("heads"), heads);
    assert_int_equal(size_of("layers"), layers);
}

#define LLAMA                                                                                                \
    "\"architectures\": [\"LlamaForCausalLM\"], \"hidden_act\": \"silu\", \"hidden_size\": 8192,"            \
    "\"intermediate_size\": 28672, \"max_position_embeddings\": 4096, \"model_type\": \"llama\","            \
    "\"num_attention_heads\": 64, \"num_hidden_layers\": 80, \"num_key_value_heads\": 8,"                    \
    "\"rope_scaling\": null, \"vocab_size\": 32000"

CLAIM(llama_has_its_groups_of_heads_and_its_gate)
{
    assert_ok(load("{" LLAMA "}"), &err);
    assert_sizes(32000, 8192, 28672, 64, 80);
    assert_int_equal(size_of("kv_heads"), 8);
    assert_string_equal(cfg_get(card.root, "operators")->text, "llama");
    assert_null(cfg_get(card.root, "tied_embeddings"));
    assert_int_equal(notes.n, 0);
    assert_ok(load("{\"tie_word_embeddings\": true, " LLAMA "}"), &err);
    assert_string_equal(cfg_get(card.root, "tied_embeddings")->text, "true");
}

static const char *word_of(const char *key)
{
    const cfg_node *node = cfg_get(card.root, key);

    return node ? node->text : "";
}

CLAIM(all_that_is_left_out_is_said)
{
    assert_ok(load("{\"attn_logit_softcapping\": 50, \"final_logit_softcapping\": 30, \"partial_rotary_factor\": 0.5,"
                   "\"rotary_pct\": 0.5, \"rotary_dim\": 64, \"qk_layernorm\": true, \"use_qk_norm\": true,"
                   "\"vision_config\": {}, \"audio_config\": {}, \"model_type\": \"other\", \"hidden_size\": 64}"),
              &err);
    assert_int_equal(notes.n, 10);
}

CLAIM(a_model_of_no_known_family_is_taken_for_a_llama_and_that_is_said)
{
    assert_ok(load("{\"model_type\": \"other\", \"hidden_act\": \"silu\", \"hidden_size\": 8192,"
                   "\"num_attention_heads\": 64, \"num_key_value_heads\": 8}"),
              &err);
    assert_string_equal(word_of("operators"), "llama");
    assert_int_equal(size_of("kv_heads"), 8);
    assert_int_equal(notes.n, 1);
    assert_string_equal(notes.item[0].text, "what this 'model_type' has beyond a Llama's layers, as it is not known");
    assert_string_equal(notes.item[0].key->text, "model_type");
    assert_ok(load("{\"model_type\": \"other\", \"hidden_act\": \"gelu\"}"), &err);
    assert_string_equal(word_of("operators"), "decoder");
    assert_string_equal(word_of("gate"), "");
}

CLAIM(gpt2_defines_its_feed_forward_width)
{
    /* 4 * 768: "None will set it to 4 times n_embd" */
    assert_ok(
        load("{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_head\": 12, \"n_layer\": 12, \"n_inner\": null,"
             "\"n_positions\": 1024, \"vocab_size\": 50257, \"activation_function\": \"gelu_new\"}"),
        &err);
    assert_sizes(50257, 768, 3072, 12, 12);
    assert_int_equal(notes.n, 0);
    assert_ok(load("{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_inner\": 1000}"), &err);
    assert_int_equal(size_of("d_ff"), 1000);
}

CLAIM(opt_and_bloom_and_falcon_and_mpt_are_read)
{
    assert_ok(
        load("{\"model_type\": \"opt\", \"hidden_size\": 768, \"ffn_dim\": 3072, \"num_attention_heads\": 12,"
             "\"num_hidden_layers\": 12, \"vocab_size\": 50272, \"word_embed_proj_dim\": 768}"),
        &err);
    assert_sizes(50272, 768, 3072, 12, 12);

    assert_ok(
        load("{\"model_type\": \"bloom\", \"n_embed\": 14336, \"n_layer\": 70, \"num_attention_heads\": 112,"
             "\"n_inner\": null, \"vocab_size\": 250880}"),
        &err);
    assert_sizes(250880, 14336, 57344, 112, 70); /* 4 * 14336 */

    assert_ok(load("{\"model_type\": \"falcon\", \"hidden_size\": 4544, \"num_hidden_layers\": 32,"
                   "\"num_attention_heads\": 71, \"multi_query\": true, \"new_decoder_architecture\": false,"
                   "\"num_kv_heads\": 71, \"vocab_size\": 65024}"),
              &err);
    assert_sizes(65024, 4544, 18176, 71, 32); /* 4 * 4544 */
    assert_int_equal(size_of("kv_heads"), 1);
    assert_int_equal(notes.n, 0);

    assert_ok(load("{\"model_type\": \"mpt\", \"d_model\": 4096, \"n_heads\": 32, \"n_layers\": 32,"
                   "\"expansion_ratio\": 3, \"vocab_size\": 50432}"),
              &err);
    assert_sizes(50432, 4096, 12288, 32, 32); /* 3 * 4096 */
}

/* Of falcon, what num_kv_heads says counts with the new decoder alone; of chatglm, groups do with multi_query_attention
 * alone. */
CLAIM(a_switch_decides_which_number_of_heads_counts)
{
    assert_ok(load("{\"model_type\": \"falcon\", \"num_attention_heads\": 128, \"multi_query\": true,"
                   "\"new_decoder_architecture\": true, \"num_kv_heads\": 8}"),
              &err);
    assert_int_equal(size_of("kv_heads"), 8);
    assert_string_equal(word_of("block"), "parallel_two_norms");

    assert_ok(
        load("{\"model_type\": \"chatglm\", \"num_attention_heads\": 32, \"multi_query_attention\": true,"
             "\"multi_query_group_num\": 2}"),
        &err);
    assert_int_equal(size_of("kv_heads"), 2);

    assert_ok(load("{\"model_type\": \"glm\", \"num_attention_heads\": 32, \"multi_query_attention\": false,"
                   "\"multi_query_group_num\": 1}"),
              &err);
    assert_int_equal(size_of("kv_heads"), -1);
}

CLAIM(all_heads_of_their_own_and_a_plain_width_need_no_note)
{
    assert_ok(
        load("{\"model_type\": \"phi\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16,"
             "\"num_key_value_heads\": 4, \"hidden_act\": \"gelu_new\"}"),
        &err);
    assert_int_equal(notes.n, 0);
    assert_ok(
        load("{\"model_type\": \"x\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 32}"),
        &err);
    assert_int_equal(size_of("head_dim"), 32);
}

CLAIM(what_a_family_has_is_said_by_the_card)
{
    assert_ok(load("{\"model_type\": \"qwen2\", \"num_hidden_layers\": 28, \"num_attention_heads\": 12,"
                   "\"num_key_value_heads\": 2, \"use_sliding_window\": false, \"sliding_window\": 4096}"),
              &err);
    assert_string_equal(word_of("operators"), "decoder");
    assert_string_equal(word_of("gate"), "true");
    assert_string_equal(word_of("bias.qkv"), "true");
    assert_string_equal(word_of("bias.projection"), "");
    assert_int_equal(size_of("window"), -1);
    assert_int_equal(notes.n, 0);

    assert_ok(load("{\"model_type\": \"opt\", \"hidden_size\": 1024, \"word_embed_proj_dim\": 512,"
                   "\"max_position_embeddings\": 2048, \"do_layer_norm_before\": false}"),
              &err);
    assert_int_equal(size_of("positions"), 2050);
    assert_int_equal(size_of("embedding_width"), 512);
    assert_string_equal(word_of("norms"), "after");
    assert_string_equal(word_of("final_norm"), "false");
    assert_string_equal(word_of("dropout"), "true");
    assert_int_equal(notes.n, 0);

    assert_ok(load("{\"model_type\": \"mpt\", \"no_bias\": true, \"attn_config\": {\"alibi\": true}}"), &err);
    assert_string_equal(word_of("norm"), "layer_unbiased");
    assert_string_equal(word_of("position"), "none");
    assert_string_equal(word_of("bias.qkv"), "");
}

/* A model of images and text has the sizes of its text in `text_config`, some of them those of the architecture. */
CLAIM(a_text_config_is_read_and_so_is_which_layers_have_a_window)
{
    assert_ok(load("{\"model_type\": \"gemma3\", \"vision_config\": {\"hidden_size\": 1152},\n"
                   " \"text_config\": {\"model_type\": \"gemma3_text\", \"hidden_size\": 2560, \"num_hidden_layers\": 34,"
                   "\"intermediate_size\": 10240, \"sliding_window\": 1024}}"),
              &err);
    assert_sizes(262208, 2560, 10240, 8, 34);
    assert_int_equal(size_of("kv_heads"), 4);
    assert_int_equal(size_of("head_dim"), 256);
    assert_int_equal(size_of("window"), 1024);
    assert_int_equal(size_of("windowed_layers"), -1);
    assert_int_equal(size_of("full_attention_every"), 6);
    assert_string_equal(word_of("qk_norm"), "head");
    assert_int_equal(notes.n, 1);
    assert_string_equal(notes.item[0].text, "the model of images");
}

#define TYPES(list)                                                                                          \
    "{\"model_type\": \"mistral\", \"hidden_size\": 64, \"num_hidden_layers\": 6, \"num_attention_heads\": 4,\n"   \
    "\"intermediate_size\": 128, \"vocab_size\": 100, \"sliding_window\": 16, \"layer_types\": [" list "]}"
#define F "\"full_attention\""
#define W "\"sliding_attention\""

/* Of a list of layers: the last have the window, or all but every so many-th. */
CLAIM(a_list_of_layers_is_a_rule_of_the_card)
{
    (void)state;
    assert_ok(load(TYPES(W "," W "," F "," W "," W "," F)), &err);
    assert_int_equal(size_of("window"), 16);
    assert_int_equal(size_of("full_attention_every"), 3);
    assert_int_equal(size_of("windowed_layers"), -1);
    assert_ok(load(TYPES(F "," F "," W "," W "," W "," W)), &err);
    assert_int_equal(size_of("window"), 16);
    assert_int_equal(size_of("full_attention_every"), -1);
    assert_int_equal(size_of("windowed_layers"), 4);
    assert_ok(load(TYPES(W "," W "," W "," W "," W "," W)), &err);
    assert_int_equal(size_of("window"), 16);
    assert_int_equal(size_of("windowed_layers"), -1);
    assert_ok(load(TYPES(F "," F "," F "," F "," F "," F)), &err);
    assert_int_equal(size_of("window"), -1);
    assert_failure(load(TYPES(W "," F "," F "," W "," W "," F)), &err, DSE_E_CONFIG, "m/config.json:2:83",
                   "'layer_types': neither the last layers have the window nor all but every so many-th, which a "
                   "card can say");
}

CLAIM(a_width_is_not_guessed_for_others)
{
    assert_ok(load("{\"model_type\": \"new\", \"hidden_size\": 64}"), &err);
    assert_int_equal(size_of("d_ff"), -1);
}

#define DEEPSEEK                                                                                             \
    "\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168, \"intermediate_size\": 18432, \"kv_lora_rank\": 512,"   \
    "\"moe_intermediate_size\": 2048, \"moe_layer_freq\": 1, \"n_group\": 8, \"n_routed_experts\": 256,"          \
    "\"n_shared_experts\": 1, \"num_attention_heads\": 128, \"num_experts_per_tok\": 8, \"topk_group\": 4,"       \
    "\"num_hidden_layers\": 61, \"num_key_value_heads\": 128, \"num_nextn_predict_layers\": 1,"                   \
    "\"first_k_dense_replace\": 3, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128,"     \
    "\"scoring_func\": \"sigmoid\", \"vocab_size\": 129280"

CLAIM(latent_attention_and_experts_are_read)
{
    (void)state;
    assert_ok(load("{\"q_lora_rank\": 1536, " DEEPSEEK "}"), &err);
    assert_sizes(129280, 7168, 18432, 128, 61);
    assert_int_equal(size_of("kv_lora_rank"), 512);
    assert_int_equal(size_of("q_lora_rank"), 1536);
    assert_int_equal(size_of("qk_nope_head_dim"), 128);
    assert_int_equal(size_of("qk_rope_head_dim"), 64);
    assert_int_equal(size_of("v_head_dim"), 128);
    assert_int_equal(size_of("kv_heads"), -1);
    assert_int_equal(size_of("head_dim"), -1);
    assert_int_equal(size_of("experts"), 256);
    assert_int_equal(size_of("experts_per_token"), 8);
    assert_int_equal(size_of("d_ff_expert"), 2048);
    assert_int_equal(size_of("shared_experts"), 1);
    assert_int_equal(size_of("first_dense_layers"), 3);
    assert_int_equal(size_of("expert_every"), -1);
    assert_int_equal(size_of("router_groups"), 8);
    assert_int_equal(size_of("router_groups_per_token"), 4);
    assert_string_equal(word_of("router"), "sigmoid");
    assert_int_equal(notes.n, 1);
    assert_string_equal(notes.item[0].text, "the layers that predict further tokens, but for --mtp");
    assert_ok(load("{\"q_lora_rank\": null, " DEEPSEEK "}"), &err);
    assert_int_equal(size_of("q_lora_rank"), -1);
}

/* One group of experts is none. */
CLAIM(a_group_of_all_experts_is_left_out)
{
    (void)state;
    assert_ok(load("{\"model_type\": \"deepseek\", \"n_routed_experts\": 64, \"num_experts_per_tok\": 6, \"n_group\": 1,"
                   "\"topk_group\": 1}"),
              &err);
    assert_int_equal(size_of("router_groups"), -1);
    assert_int_equal(size_of("router_groups_per_token"), -1);
    assert_string_equal(word_of("router"), "");
    assert_ok(load("{\"model_type\": \"deepseek\", \"n_routed_experts\": null}"), &err);
    assert_int_equal(size_of("experts"), -1);
    assert_ok(load("{\"model_type\": \"x\", \"num_experts\": 1}"), &err);
    assert_int_equal(size_of("experts"), -1);
}

/* Llama 4: dense layers are wider than experts, and a token attends to its chunk in three of four layers. */
CLAIM(llama_4_has_two_widths_and_chunks)
{
    (void)state;
    assert_ok(load("{\"model_type\": \"llama4_text\", \"attention_chunk_size\": 8192, \"head_dim\": 128, \"hidden_size\": 5120,"
                   "\"interleave_moe_layer_step\": 2, \"intermediate_size\": 8192, \"intermediate_size_mlp\": 16384,"
                   "\"num_attention_heads\": 40, \"num_experts_per_tok\": 1, \"num_hidden_layers\": 48,"
                   "\"num_key_value_heads\": 8, \"num_local_experts\": 128, \"vocab_size\": 202048}"),
              &err);
    assert_sizes(202048, 5120, 16384, 40, 48);
    assert_int_equal(size_of("d_ff_expert"), 8192);
    assert_int_equal(size_of("expert_every"), 2);
    assert_int_equal(size_of("shared_experts"), 1);
    assert_int_equal(size_of("window"), 8192);
    assert_int_equal(size_of("full_attention_every"), 4);
    assert_string_equal(word_of("window_chunks"), "true");
    assert_string_equal(word_of("router"), "sigmoid");
}

/* Four norms a layer (configuration_grok1.py, modeling_grok1.py of hpcai-tech/grok-1). */
CLAIM(grok_has_norms_on_both_sides)
{
    (void)state;
    assert_ok(load("{\"model_type\": \"grok-1\", \"hidden_size\": 6144, \"intermediate_size\": 32768, \"max_attn_value\": 30.0,"
                   "\"num_attention_heads\": 48, \"num_experts\": 8, \"num_experts_per_tok\": 2, \"num_hidden_layers\": 64,"
                   "\"num_key_value_heads\": 8, \"vocab_size\": 131072}"),
              &err);
    assert_sizes(131072, 6144, 32768, 48, 64);
    assert_int_equal(size_of("experts"), 8);
    assert_string_equal(word_of("norms"), "both");
    assert_string_equal(word_of("tied_embeddings"), "true");
    assert_int_equal(notes.n, 1);
}

CLAIM(gpt_oss_has_sinks_and_biases)
{
    (void)state;
    assert_ok(load("{\"model_type\": \"gpt_oss\", \"num_local_experts\": 32, \"num_experts_per_tok\": 4, \"sliding_window\": 128,"
                   "\"num_hidden_layers\": 24, \"hidden_size\": 2880, \"num_attention_heads\": 64, \"head_dim\": 64}"),
              &err);
    assert_string_equal(word_of("attention_sinks"), "true");
    assert_string_equal(word_of("router_bias"), "true");
    assert_string_equal(word_of("expert_bias"), "true");
    assert_string_equal(word_of("bias.qkv"), "true");
    assert_string_equal(word_of("bias.projection"), "true");
    assert_int_equal(size_of("head_dim"), 64);
    assert_int_equal(size_of("full_attention_every"), 2);
}

CLAIM(what_no_card_can_say_is_refused_by_name)
{
    assert_failure(load("{\"model_type\": \"mixtral\",\n \"num_local_experts\": 8}"), &err, DSE_E_CONFIG,
                   "m/config.json:2:2",
                   "'num_local_experts': how many of them a token takes is missing: num_experts_per_tok");
    assert_failure(load("{\"num_experts\": 8, \"num_experts_per_tok\": 2,\n \"model_type\": \"new\"}"), &err, DSE_E_CONFIG,
                   "m/config.json:2:16", "'model_type': a mixture of experts of a family that is not known");
    assert_says(load("{\"model_type\": \"qwen3_moe\", \"num_experts\": 8, \"num_experts_per_tok\": 2, \"mlp_only_layers\": [3]}"),
                &err, DSE_E_CONFIG, "'mlp_only_layers': these are not the first layers, which a card can say");
    assert_says(load("{\"model_type\": \"bert\"}"), &err, DSE_E_CONFIG, "'model_type': an encoder, which is not simulated");
    assert_says(load("{\"model_type\": \"mamba2\"}"), &err, DSE_E_CONFIG, "'model_type': a state-space model");
    assert_failure(load("{\"model_type\": \"x\",\n \"state_size\": 16}"), &err, DSE_E_CONFIG, "m/config.json:2:2",
                   "'state_size': a state-space model, which is not simulated; the operators are those of a decoder with "
                   "attention");
    assert_failure(load("{\"model_type\": \"t5\", \"is_encoder_decoder\": true}"), &err, DSE_E_CONFIG,
                   "m/config.json:1:22",
                   "an encoder with a decoder; the operators are those of a decoder alone");
    assert_says(load("{\"model_type\": \"x\", \"layer_types\": [\"full_attention\", \"linear_attention\"]}"), &err,
                DSE_E_CONFIG, "layers of linear_attention, which are not simulated");
}

CLAIM(two_spellings_must_agree)
{
    assert_ok(load("{\"model_type\": \"falcon\", \"n_head\": 12, \"num_attention_heads\": 12}"), &err);
    assert_failure(load("{\"model_type\": \"falcon\",\n\"n_head\": 12,\n\"num_attention_heads\": 16}"), &err,
                   DSE_E_CONFIG, "m/config.json:2:1",
                   "'n_head' is 12, but 'num_attention_heads' is 16; both are the heads of a card");
}

CLAIM(what_is_missing_is_named_in_one_line)
{
    assert_ok(load("{" LLAMA "}"), &err);
    assert_failure(card_hf_check(&card, NULL, &err), &err, DSE_E_CONFIG, "m/config.json",
                   "a Hugging Face config has no batch and sequence; give --set batch=N --set sequence=N");
    assert_ok(load("{\"model_type\": \"new\", \"hidden_size\": 64, \"n_head\": 4, \"n_layer\": 2, "
                   "\"vocab_size\": 9}"),
              &err);
    assert_failure(
        card_hf_check(&card, NULL, &err), &err, DSE_E_CONFIG, "m/config.json",
        "this Hugging Face config has no d_ff, batch and sequence; give --set d_ff=N --set batch=N --set "
        "sequence=N");
}

CLAIM(settings_give_what_is_missing)
{
    const cfg_setting items[] = {{"batch", "512"}, {"sequence", "1024"}};
    const cfg_settings settings = {1, items};
    const char *note = "";
    card_model m;

    assert_ok(load("{" LLAMA "}"), &err);
    card = config;
    assert_ok(card_hf_resolve(&card, &arena, &note, &err), &err);
    assert_null(note);
    assert_ok(card_model_read_part(&card, &settings, &m, &err), &err);
    assert_failure(card_hf_check(&card, &m, &err), &err, DSE_E_CONFIG, "m/config.json",
                   "a Hugging Face config has no sequence; give --set sequence=N");
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_table_set(&card_model_table, &items[1], &m, &err), &err);
    assert_ok(card_hf_check(&card, &m, &err), &err);
    assert_int_equal(m.layers, 80);
    assert_int_equal(m.batch, 512);
    assert_int_equal(m.sequence, 1024);
}

CLAIM(a_wrong_value_is_reported_where_it_stands)
{
    card_model m;

    assert_ok(load("{\"model_type\": \"x\",\n \"hidden_size\": -5}"), &err);
    assert_failure(card_model_read(&card, NULL, &m, &err), &err, DSE_E_RANGE, "m/config.json:2:17",
                   "d_model is -5; it must be between 1 and 1e+15");
}

CLAIM(a_card_of_ours_is_no_config)
{
    const char *text = "d_model: 64\nlayers: 2\n";

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("m.yaml", text, strlen(text), &arena, &config, &err), &err);
    assert_false(card_hf_is_config(&config));
    const cfg_node embd = {.text = "n_embd"}, dtype = {.text = "torch_dtype"};

    assert_string_equal(card_hf_card_key(NULL, &embd), "d_model");
    assert_null(card_hf_card_key(NULL, &dtype));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_has_its_groups_of_heads_and_its_gate),
        cmocka_unit_test(all_that_is_left_out_is_said),
        cmocka_unit_test(a_model_of_no_known_family_is_taken_for_a_llama_and_that_is_said),
        cmocka_unit_test(gpt2_defines_its_feed_forward_width),
        cmocka_unit_test(opt_and_bloom_and_falcon_and_mpt_are_read),
        cmocka_unit_test(a_switch_decides_which_number_of_heads_counts),
        cmocka_unit_test(all_heads_of_their_own_and_a_plain_width_need_no_note),
        cmocka_unit_test(what_a_family_has_is_said_by_the_card),
        cmocka_unit_test(a_text_config_is_read_and_so_is_which_layers_have_a_window),
        cmocka_unit_test(a_list_of_layers_is_a_rule_of_the_card),
        cmocka_unit_test(a_width_is_not_guessed_for_others),
        cmocka_unit_test(latent_attention_and_experts_are_read),
        cmocka_unit_test(a_group_of_all_experts_is_left_out),
        cmocka_unit_test(llama_4_has_two_widths_and_chunks),
        cmocka_unit_test(grok_has_norms_on_both_sides),
        cmocka_unit_test(gpt_oss_has_sinks_and_biases),
        cmocka_unit_test(what_no_card_can_say_is_refused_by_name),
        cmocka_unit_test(two_spellings_must_agree),
        cmocka_unit_test(what_is_missing_is_named_in_one_line),
        cmocka_unit_test(settings_give_what_is_missing),
        cmocka_unit_test(a_wrong_value_is_reported_where_it_stands),
        cmocka_unit_test(a_card_of_ours_is_no_config),
    };
    int failures;

    dse_arena_init(&arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&arena);
    return failures;
}
