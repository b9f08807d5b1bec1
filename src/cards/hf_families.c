/* What the configuration classes of each family say for keys that a config leaves out. */
#include "cards/hf_parts.h"

#include "base/array.h"

#include <string.h>

static const card_hf_family families[] = {
    {"llama", .gate = true},
    {"mistral", .gate = true},
    {"ministral", .gate = true, .rule = WINDOW_OF_ALL},
    {"granite", .gate = true},
    {"smollm3", .gate = true, .is_tied = true},
    {"phi3", .gate = true, .rule = WINDOW_IF_BELOW},
    {"qwen2", .gate = true, .biases = BIAS_QKV, .rule = WINDOW_SWITCHED},
    {"qwen2_vl", .gate = true, .biases = BIAS_QKV, .rule = WINDOW_SWITCHED},
    {"qwen3", .gate = true, .qk_norm = "head", .head_dim = 128, .rule = WINDOW_SWITCHED},
    {"gemma", .gate = true, .is_tied = true, .head_dim = 256},
    {"gemma2", .gate = true, .is_tied = true, .norms = "both", .head_dim = 256, .window = 4096, .every = 2},
    {"gemma3_text", .gate = true, .is_tied = true, .norms = "both", .qk_norm = "head", .head_dim = 256,
     .window = 4096, .every = 6},
    {"olmo", .gate = true, .norm = "plain"},
    {"olmo2", .gate = true, .norms = "after", .qk_norm = "all"},
    {"olmo3", .gate = true, .norms = "after", .qk_norm = "all", .window = 4096, .every = 4},
    {"glm", .gate = true, .biases = BIAS_QKV, .never = BIAS_PROJECTION, .head_dim = 128},
    {"glm4", .gate = true, .norms = "both", .biases = BIAS_QKV, .never = BIAS_PROJECTION, .head_dim = 128},
    {"chatglm", .gate = true, .biases = BIAS_QKV, .never = BIAS_PROJECTION},
    {"stablelm", .gate = true, .norm = "layer"},
    {"cohere", .gate = true, .is_tied = true, .norm = "layer_unbiased", .block = "parallel"},
    {"cohere2", .gate = true, .is_tied = true, .norm = "layer_unbiased", .block = "parallel", .window = 4096,
     .every = 4},
    {"gpt2", .is_tied = true, .norm = "layer", .position = "learned", .biases = BIAS_ALL_BUT_HEAD,
     .drops = true},
    {"gpt_bigcode", .is_tied = true, .norm = "layer", .position = "learned", .biases = BIAS_ALL_BUT_HEAD,
     .drops = true},
    {"opt", .is_tied = true, .norm = "layer", .position = "learned", .biases = BIAS_ALL_BUT_HEAD,
     .drops = true, .more_positions = 2},
    {"bloom", .is_tied = true, .norm = "layer", .position = "none", .biases = BIAS_ALL_BUT_HEAD,
     .embedding_norm = true},
    {"gptj", .norm = "layer", .block = "parallel", .biases = BIAS_FEED_FORWARD | BIAS_HEAD},
    {"codegen", .norm = "layer", .block = "parallel", .biases = BIAS_FEED_FORWARD | BIAS_HEAD},
    {"phi", .norm = "layer", .block = "parallel", .biases = BIAS_ALL_BUT_HEAD | BIAS_HEAD},
    {"gpt_neox", .norm = "layer", .block = "parallel_two_norms", .biases = BIAS_ALL_BUT_HEAD},
    {"falcon", .is_tied = true, .norm = "layer", .block = "parallel"},
    {"RefinedWeb", .is_tied = true, .norm = "layer", .block = "parallel"},
    {"RefinedWebModel", .is_tied = true, .norm = "layer", .block = "parallel"},
    {"mpt", .is_tied = true, .norm = "layer", .position = "learned", .biases = BIAS_ALL_BUT_HEAD},
    {"nemotron", .norm = "layer"},
    {"starcoder2", .is_tied = true, .norm = "layer", .biases = BIAS_ALL_BUT_HEAD},
    {"mixtral", .gate = true},
    {"qwen2_moe", .gate = true, .biases = BIAS_QKV, .rule = WINDOW_SWITCHED, .has_shared_expert = true,
     .has_shared_gate = true},
    {"qwen3_moe", .gate = true, .qk_norm = "head", .head_dim = 128, .rule = WINDOW_SWITCHED},
    {"deepseek", .gate = true},
    {"deepseek_v2", .gate = true},
    {"deepseek_v3", .gate = true, .is_sigmoid = true},
    {"kimi_k2", .gate = true, .is_sigmoid = true},
    {"glm4_moe", .gate = true, .never = BIAS_PROJECTION, .head_dim = 128, .is_sigmoid = true},
    {"glm4_moe_lite", .gate = true, .is_sigmoid = true},
    {"gpt_oss", .gate = true, .biases = BIAS_QKV | BIAS_PROJECTION, .head_dim = 64, .every = 2,
     .router_bias = true, .expert_bias = true, .has_sinks = true},
    {"llama4_text", .gate = true, .head_dim = 128, .every = 4, .has_shared_expert = true, .is_sigmoid = true},
    {"olmoe", .gate = true, .qk_norm = "all"},
    {"granitemoe", .gate = true, .is_tied = true},
    {"phimoe", .gate = true, .norm = "layer", .rule = WINDOW_IF_BELOW},
    {"dbrx", .gate = true, .norm = "layer_unbiased"},
    {"grok-1", .gate = true, .is_tied = true, .norms = "both"},
    {"grok", .gate = true, .is_tied = true, .norms = "both"},
};

/* The family of a config; one that is none of ours is taken for a Llama with or without a gate. */
card_hf_family card_hf_find_family(const cfg_doc *doc, const cfg_node *root, const cfg_node **at)
{
    uint32_t i = card_hf_find(root, "model_type");

    *at = i == DSE_NONE ? doc->root->key[0] : root->key[i];
    for (size_t k = 0; i != DSE_NONE && k < DSE_COUNT(families); k++)
        if (card_hf_says(root, "model_type", families[k].model_type))
            return families[k];
    return (card_hf_family){.model_type = "", .rule = WINDOW_SWITCHED};
}
