/* The options that the programs have, their legal values and spellings: launch_flags.json. */
#include "launch/checks.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flags {
    json_t *root;
};

flags *flags_load(const char *folder)
{
    char path[4096];
    json_error_t error;
    flags *f = NULL;
    json_t *root;

    snprintf(path, sizeof path, "%s/launch_flags.json", folder);
    if ((root = json_load_file(path, 0, &error))) {
        f = malloc(sizeof *f);
        if (f)
            f->root = root;
    }
    return f;
}

void flags_free(flags *f)
{
    if (f)
        json_decref(f->root);
    free(f);
}

/* Options of the model, of data and of files, which the table of strategies does not list; read in the sources. */
static const char *const of_the_model[] = {"--num-layers",
                                           "--hidden-size",
                                           "--ffn-hidden-size",
                                           "--num-attention-heads",
                                           "--group-query-attention",
                                           "--num-query-groups",
                                           "--kv-channels",
                                           "--max-position-embeddings",
                                           "--position-embedding-type",
                                           "--rotary-base",
                                           "--swiglu",
                                           "--squared-relu",
                                           "--normalization",
                                           "--disable-bias-linear",
                                           "--add-qkv-bias",
                                           "--qk-layernorm",
                                           "--window-size",
                                           "--window-attn-skip-freq",
                                           "--softmax-type",
                                           "--untie-embeddings-and-output-weights",
                                           "--attention-dropout",
                                           "--hidden-dropout",
                                           "--mock-data",
                                           "--tokenizer-type",
                                           "--vocab-size",
                                           "--account-for-embedding-in-pipeline-split",
                                           "--account-for-loss-in-pipeline-split",
                                           "--num-key-value-heads",
                                           "--use-rotary-position-embeddings",
                                           "--rotary-position-embeddings-theta",
                                           "--no-query-key-layer-scaling",
                                           "--seq-length",
                                           "--recipe",
                                           "--mode",
                                           "--dataset",
                                           "account_for_embedding_in_pipeline_split",
                                           "account_for_loss_in_pipeline_split",
                                           "microbatch_group_size_per_vp_stage",
                                           "overlap_p2p_comm",
                                           "batch_p2p_comm",
                                           "ckpt_format",
                                           "num_distributed_optimizer_instances",
                                           "num_layers",
                                           "hidden_size",
                                           "ffn_hidden_size",
                                           "num_attention_heads",
                                           "num_query_groups",
                                           "kv_channels",
                                           "position_embedding_type",
                                           "rotary_base",
                                           "normalization",
                                           "activation_func",
                                           "gated_linear_unit",
                                           "add_bias_linear",
                                           "add_qkv_bias",
                                           "qk_layernorm",
                                           "window_size",
                                           "window_attn_skip_freq",
                                           "softmax_type",
                                           "share_embeddings_and_output_weights",
                                           "attention_dropout",
                                           "hidden_dropout",
                                           "vocab_size",
                                           "virtual_pipeline_model_parallel_size",
                                           "name",
                                           "flavor",
                                           "dtype",
                                           "steps",
                                           "converters",
                                           "reduce_scatter",
                                           "contiguous_gradients",
                                           "enable_fsdp_float8_all_gather",
                                           "c",
                                           "model_spec",
                                           "pipeline_parallel_microbatch_size",
                                           "mixed_precision_reduce",
                                           "early_stop",
                                           "fqns"};

static bool is_of_the_model(const char *name)
{
    for (size_t i = 0; i < sizeof of_the_model / sizeof *of_the_model; i++)
        if (!strcmp(of_the_model[i], name))
            return true;
    return false;
}

/* Whether a row is of this name, whose last part a key is. */
static bool is_row(json_t *row, const char *name)
{
    const char *flag = json_string_value(json_object_get(row, "flag"));
    const char *dot = flag && *flag != '-' ? strrchr(flag, '.') : NULL;

    return flag && !strcmp(dot ? dot + 1 : flag, name);
}

/* Whether a value is among those of a list or mapping, as text. */
static bool lists(json_t *values, const char *value)
{
    const char *key;
    json_t *v;
    size_t i;
    char text[32];

    json_object_foreach(values, key, v)
    {
        snprintf(text, sizeof text, "%lld", json_is_integer(v) ? (long long)json_integer_value(v) : 0LL);
        if (!strcmp(json_is_string(v) ? json_string_value(v) : text, value))
            return true;
    }
    json_array_foreach(values, i,
                       v) if (json_is_string(v) && !strcmp(json_string_value(v), value)) return true;
    return false;
}

static bool is_legal(json_t *row, const char *value)
{
    json_t *legal = json_object_get(row, "legal"), *values = json_object_get(row, "values");
    const char *kind = json_string_value(json_object_get(row, "kind"));
    json_t *fallback = json_object_get(row, "default");

    if (kind && strstr(kind, "switch"))
        return *value == '\0'; /* is written alone */
    if (json_is_string(fallback) && !strcmp(json_string_value(fallback), value))
        return true;
    /* torch's, which TorchTitan looks up by name, of which the table has those that it documents; and the key of the same
     * name of another section. */
    if (!strcmp(value, "LoopedBFS") || !strcmp(value, "mxfp8_cublas"))
        return true;
    if (legal || values)
        return lists(legal, value) || lists(values, value);
    return *value != '\0' && (!json_is_integer(fallback) || strspn(value, "0123456789-.e") == strlen(value));
}

int check_legal(const flags *f, const launch_program *p, const pairs *said)
{
    static const char *const programs[][3] = {{"megatron", "megatron-lm", ""},
                                              {"bridge", "megatron-bridge", ""},
                                              {"torchtitan", "torchtitan-main", ""},
                                              {"torchtitan-toml", "torchtitan-v0.2.2", ""},
                                              {"deepspeed", "megatron-deepspeed", "deepspeed"},
                                              {"deepspeed-json", "deepspeed", ""}};
    const char *key;
    json_t *row;
    int n = 0;

    for (uint32_t i = 0; i < said->n; i++) {
        const pair *s = &said->item[i];
        bool is_known = is_of_the_model(s->name);

        for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
            if (strcmp(programs[k][0], p->name) != 0)
                continue;
            for (int t = 1; t < 3; t++)
                json_object_foreach(json_object_get(f->root, programs[k][t]), key, row)
                {
                    if (!is_row(row, s->name))
                        continue;
                    is_known = true;
                    if (!is_legal(row, s->value)) {
                        printf("%s: %s cannot be %s\n", p->name, s->name, s->value);
                        n++;
                    }
                }
        }
        if (!is_known) {
            printf("%s: has no %s\n", p->name, s->name);
            n++;
        }
    }
    return n;
}
