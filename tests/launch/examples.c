/* Complete examples that passed the programs' own parsers: what we write for the jobs that they describe says the same,
 * option by option. */
#include "launch/checks.h"

#include "base/fs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a text is read: options behind a script, keys, or JSON. */
typedef enum { SHELL, KEYS, JSON } form;

static const struct {
    const char *file, *part; /* part: the text from this on, up to the next `until`; NULL: all */
    const char *until;
    form form;
    const char *script; /* of a shell: what the options are behind */
    const char *program;
    const char *model, *settings[4]; /* over the model and hgx_h100 */
    const char *point[10];           /* name, value ... */
    uint32_t experts, topk, ep;
    double rotary_base;
} examples[] = {
#define DENSE                                                                                                \
    .model = "llama-3.1-70b", .settings = {"network.npus_count[1]=16", "batch=1024"}, .rotary_base = 5e5
#define SPARSE                                                                                               \
    .model = "mistral-7b", .settings = {"network.npus_count[1]=8", "batch=512", "sequence=4096"},            \
    .experts = 8, .topk = 2, .ep = 8, .rotary_base = 1e6
#define MEGATRON_DENSE                                                                                       \
    .point = {"tp=8", "pp=2", "vp=5", "zero=1", "sequence_parallel=on", "recompute_granularity=selective"}
#define TITAN_DENSE                                                                                          \
    .point = {"tp=8",                                                                                        \
              "pp=2",                                                                                        \
              "vp=5",                                                                                        \
              "zero=3",                                                                                      \
              "reshard=never",                                                                               \
              "recompute_granularity=selective",                                                             \
              "cp_comm=all-gather"}
#define TITAN_SPARSE .point = {"zero=3", "recompute_granularity=selective", "cp_comm=all-gather"}
    {"megatron_dense.sh", .script = "pretrain_gpt.py", .program = "megatron", DENSE, MEGATRON_DENSE},
    {"megatron_moe.sh", .script = "pretrain_gpt.py", .program = "megatron", SPARSE,
     .point = {"pp=4", "vp=8", "zero=1"}},
    {"bridge_dense.sh", .script = "run_recipe.py", .program = "bridge", DENSE, MEGATRON_DENSE},
    {"bridge_moe.py", .form = KEYS, .program = "bridge", SPARSE, .point = {"pp=4", "vp=8", "zero=1"}},
    {"torchtitan_main.py", "def dense", "def moe", KEYS, .program = "torchtitan", DENSE, TITAN_DENSE},
    {"torchtitan_main.py", "def moe", NULL, KEYS, .program = "torchtitan", SPARSE, TITAN_SPARSE},
    {"torchtitan_v022_dense.toml", .form = KEYS, .program = "torchtitan-toml", DENSE, TITAN_DENSE},
    {"torchtitan_v022_moe.toml", .form = KEYS, .program = "torchtitan-toml", SPARSE, TITAN_SPARSE},
    {"megatron_deepspeed_dense.sh", .script = "pretrain_gpt.py", .program = "deepspeed", DENSE,
     .point = {"tp=8", "pp=2", "zero=1", "sequence_parallel=on", "recompute_granularity=selective",
               "overlap=off"}},
    {"megatron_deepspeed_moe.sh", .script = "pretrain_gpt.py", .program = "deepspeed", SPARSE,
     .point = {"zero=1", "overlap=off"}},
    {"ds_config_dense.json", .form = JSON, .program = "deepspeed", DENSE,
     .point = {"tp=8", "pp=2", "zero=1", "sequence_parallel=on", "recompute_granularity=selective",
               "overlap=off"}},
    {"ds_config_moe.json", .form = JSON, .program = "deepspeed", SPARSE, .point = {"zero=1", "overlap=off"}},
    {"ds_config_plain_dense.json", .form = JSON, .program = "deepspeed-json", DENSE,
     .point = {"tp=8", "zero=1", "sequence_parallel=off", "overlap=off"}},
    {"ds_config_plain_moe.json", .form = JSON, .program = "deepspeed-json", SPARSE,
     .point = {"zero=1", "overlap=off"}},
};

/* What no job says: learning rate, data, length of the training, what is logged, fusions that change no strategy. */
static const char *const not_ours[] = {"--optimizer",
                                       "--adam-beta1",
                                       "--adam-beta2",
                                       "--clip-grad",
                                       "--weight-decay",
                                       "--lr",
                                       "--min-lr",
                                       "--lr-decay-style",
                                       "--lr-warmup-iters",
                                       "--train-iters",
                                       "--log-interval",
                                       "--eval-iters",
                                       "--data-path",
                                       "--distributed-backend",
                                       "--moe-router-load-balancing-type",
                                       "--moe-aux-loss-coeff",
                                       "--moe-permute-fusion",
                                       "--moe-loss-coeff",
                                       "--moe-train-capacity-factor",
                                       "--recipe",
                                       "-ms",
                                       "moe_router_load_balancing_type",
                                       "moe_aux_loss_coeff",
                                       "moe_permute_fusion",
                                       "tokenizer_type",
                                       "tokenizer_model",
                                       "train_iters",
                                       "seq_length",
                                       "pipeline_dtype",
                                       "model",
                                       "c",
                                       "model_spec",
                                       "steps",
                                       "dump_folder",
                                       "name",
                                       "flavor",
                                       "hf_assets_path",
                                       "lr",
                                       "dataset",
                                       "enable",
                                       "steps_per_print",
                                       "grad_accum_dtype",
                                       "preset_model",
                                       "forward_step_func",
                                       "config",
                                       "cfg",
                                       "--deepspeed_config",
                                       "moe_comm_backend",
                                       "activation_func"};

static bool is_listed(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* What a program takes if it is told nothing, where one text says it and the other does not; "*": we say it in any case. */
static const pair defaults[] = {{"--context-parallel-size", "1"},
                                {"--cuda-graph-impl", "none"},
                                {"--attention-backend", "auto"},
                                {"--transformer-impl", "transformer_engine"},
                                {"--rotary-position-embeddings-theta", "*"},
                                {"--tokenizer-type", "*"},
                                {"--recipe", "*"},
                                {"--mode", "*"},
                                {"--dataset", "*"},
                                {"-cp", "1"},
                                {"-etp", "1"},
                                {"-sl", "*"},
                                {"tp_comm_overlap", "false"},
                                {"cuda_graph_impl", "none"},
                                {"recompute_method", "null"},
                                {"recompute_num_layers", "null"},
                                {"recompute_granularity", "null"},
                                {"use_megatron_fsdp", "false"},
                                {"sequence_parallel", "false"},
                                {"overlap_p2p_comm", "true"},
                                {"batch_p2p_comm", "false"},
                                {"mixed_precision", "bf16_mixed"},
                                {"use_distributed_optimizer", "true"},
                                {"overlap_grad_reduce", "true"},
                                {"overlap_param_gather", "true"},
                                {"activation_func", "*"},
                                {"data_parallel_replicate_degree", "1"},
                                {"context_parallel_degree", "1"},
                                {"tensor_parallel_degree", "1"},
                                {"pipeline_parallel_degree", "1"},
                                {"fsdp_reshard_after_forward", "default"},
                                {"dtype", "float32"},
                                {"mixed_precision_param", "bfloat16"},
                                {"mixed_precision_reduce", "float32"},
                                {"overlap_comm", "false"},
                                {"reduce_scatter", "true"},
                                {"contiguous_gradients", "true"},
                                {"reduce_bucket_size", "500000000"},
                                {"allgather_bucket_size", "500000000"},
                                {"enable_sequence_parallel", "true"},
                                /* Of Megatron-Bridge's model, which its recipe of a dense model brings. */
                                {"num_layers", "80"},
                                {"hidden_size", "8192"},
                                {"ffn_hidden_size", "28672"},
                                {"num_attention_heads", "64"},
                                {"num_query_groups", "8"},
                                {"position_embedding_type", "rope"},
                                {"rotary_base", "500000"},
                                {"normalization", "RMSNorm"},
                                {"gated_linear_unit", "true"},
                                {"add_bias_linear", "false"},
                                {"share_embeddings_and_output_weights", "false"},
                                {"attention_dropout", "0.0"},
                                {"hidden_dropout", "0.0"},
                                {"vocab_size", "128256"},
                                {"num_gpus", "*"}};

static bool is_default(const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!strcmp(defaults[i].name, name) &&
            (*defaults[i].value == '*' || !strcmp(defaults[i].value, value)))
            return true;
    return false;
}

/* Short options of Megatron-Bridge and the fields that they set. */
static const char *other_name(const char *name)
{
    static const char *const names[][2] = {{"-tp", "tensor_model_parallel_size"},
                                           {"-pp", "pipeline_model_parallel_size"},
                                           {"-vp", "virtual_pipeline_model_parallel_size"},
                                           {"-cp", "context_parallel_size"},
                                           {"-ep", "expert_model_parallel_size"},
                                           {"-etp", "expert_tensor_parallel_size"},
                                           {"-mb", "micro_batch_size"},
                                           {"-gb", "global_batch_size"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 2; k++)
            if (!strcmp(names[i][k], name))
                return names[i][!k];
    return name;
}

static bool is_same(const char *a, const char *b)
{
    char *end_a, *end_b;
    const double x = strtod(a, &end_a), y = strtod(b, &end_b);

    return *end_a || *end_b || end_a == a ? !strcmp(a, b) : x == y;
}

/* What stands in one text and not in the other, or otherwise; the number of these. */
static int compare(const char *file, const pairs *want, const pairs *got)
{
    int n = 0;

    for (uint32_t i = 0; i < want->n; i++) {
        const pair *w = &want->item[i];
        const char *value = pairs_find(got, w->name);

        value = value ? value : pairs_find(got, other_name(w->name));
        if (!strcmp(w->name, "--max-position-embeddings") && value &&
            strtol(w->value, NULL, 10) >= strtol(value, NULL, 10))
            continue; /* at least the length of a sequence */
        if ((!value && is_default(w->name, w->value)) ||
            is_listed(not_ours, sizeof not_ours / sizeof *not_ours, w->name) ||
            (value && is_same(w->value, value)))
            continue;
        printf("%s: %s %s, and we write %s\n", file, w->name, w->value, value ? value : "nothing");
        n++;
    }
    for (uint32_t i = 0; i < got->n; i++) {
        const pair *g = &got->item[i];

        if (pairs_has(want, g->name) || pairs_has(want, other_name(g->name)) ||
            is_default(g->name, g->value) || is_listed(not_ours, sizeof not_ours / sizeof *not_ours, g->name))
            continue;
        printf("%s: nothing of %s, and we write %s\n", file, g->name, g->value);
        n++;
    }
    return n;
}

/* ---- texts ------------------------------------------------------------------------------------- */

static void read_text(const char *text, form f, const char *script, dse_arena *a, pairs *out)
{
    const char *json = strchr(text, '{'), *end = strstr(text, "\nEND");

    switch (f) {
    case SHELL: text_of_shell(text, script, a, out); break;
    case KEYS: text_of_keys(text, a, out); break;
    case JSON: text_of_json(end ? dse_arena_printf(a, "%.*s", (int)(end - json), json) : text, a, out); break;
    }
}

static dse_status make_job(size_t i, dse_arena *a, launch_job *out, dse_error *err)
{
    const launch_program *program = launch_find(examples[i].program);
    drv_study *study = DSE_ARENA_NEW(a, drv_study, 1);
    strategy p = strategy_default();
    size_t n = 0;
    cfg_settings settings;
    dse_status st;

    while (n < 4 && examples[i].settings[n])
        n++;
    if ((st = drv_settings_parse(examples[i].settings, n, a, &settings, err)) != DSE_OK ||
        (st = drv_study_load(examples[i].model, "hgx_h100", &settings, a, study, err)) != DSE_OK ||
        (st = checks_point(examples[i].point, study, &p, err)) != DSE_OK ||
        (st = drv_launch_job(study, &p, program, 0, out, err)) != DSE_OK)
        return st;
    out->experts = examples[i].experts;
    out->topk = examples[i].topk;
    out->ep = examples[i].ep ? examples[i].ep : 1;
    out->rotary_base = examples[i].rotary_base;
    return DSE_OK;
}

static int check_example(const char *folder, size_t i)
{
    const char *file = examples[i].file;
    dse_error err = DSE_ERROR_INIT;
    pairs want = {0}, got = {0};
    dse_strbuf text, ours;
    dse_arena a;
    launch_job job;
    int n = 1;

    dse_arena_init(&a);
    dse_strbuf_init(&text);
    dse_strbuf_init(&ours);
    if (dse_read_file(dse_arena_printf(&a, "%s/examples/%s", folder, file), 1 << 20, &text, &err) != DSE_OK ||
        make_job(i, &a, &job, &err) != DSE_OK ||
        launch_write(&job, launch_find(examples[i].program), &ours, &err) != DSE_OK) {
        printf("%s: %s %s\n", file, err.where, err.text);
    } else {
        const char *from = examples[i].part ? strstr(text.data, examples[i].part) : text.data;
        const char *to = from && examples[i].until ? strstr(from, examples[i].until) : NULL;

        from = from ? from : "";
        read_text(to ? dse_arena_printf(&a, "%.*s", (int)(to - from), from) : from, examples[i].form,
                  examples[i].script, &a, &want);
        read_text(ours.data, !strcmp(examples[i].program, "bridge") ? SHELL : examples[i].form,
                  examples[i].script ? examples[i].script : "run_recipe.py", &a, &got);
        n = compare(file, &want, &got);
        if (!want.n) {
            printf("%s: nothing was read of it\n", file);
            n++;
        }
    }
    dse_strbuf_free(&text);
    dse_strbuf_free(&ours);
    dse_arena_free(&a);
    return n;
}

int check_examples(const char *folder)
{
    int n = 0;

    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        n += check_example(folder, i);
    printf("%zu examples: %d differences (foundry_*.yaml and nemo_moe.sh are of programs that nothing is "
           "written for)\n",
           sizeof examples / sizeof *examples, n);
    return n;
}
