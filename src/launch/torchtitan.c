/* TorchTitan: a TOML file for v0.2.2, a Python function that makes a configuration for main, which reads
 * no TOML. Sources: torchtitan/config/job_config.py, config/configs.py, trainer.py,
 * distributed/pipeline_parallel.py and parallel_dims.py, models/llama3, models/qwen3,
 * components/quantization. */
#include "base/array.h"
#include "launch/parts.h"

#include <string.h>

/* ---- models ------------------------------------------------------------------------------------ */

/* The models that it has, by their shapes. `configure`: the function of main that makes the configuration
 * of one; of a flavor without one, that of the nearest of the family. */
static const struct {
    const char *family, *flavor;
    uint64_t hidden, layers, heads, kv_heads, head_size, ffn, vocabulary;
    bool is_tied, is_in_v022;
    const char *configure;
} models[] = {
    {"llama3", "1B", 2048, 16, 32, 8, 64, 8192, 128256, true, false, "llama3_8b"},
    {"llama3", "3B", 3072, 28, 24, 8, 128, 8192, 128256, true, false, "llama3_8b"},
    {"llama3", "8B", 4096, 32, 32, 8, 128, 14336, 128256, false, true, "llama3_8b"},
    {"llama3", "70B", 8192, 80, 64, 8, 128, 28672, 128256, false, true, "llama3_70b"},
    {"llama3", "405B", 16384, 126, 128, 8, 128, 53248, 128256, false, true, "llama3_405b"},
    {"qwen3", "0.6B", 1024, 28, 16, 8, 128, 3072, 151936, true, true, "qwen3_0_6b"},
    {"qwen3", "1.7B", 2048, 28, 16, 8, 128, 6144, 151936, true, true, "qwen3_1_7b"},
    {"qwen3", "4B", 2560, 36, 32, 8, 128, 9728, 151936, true, true, "qwen3_14b"},
    {"qwen3", "8B", 4096, 36, 32, 8, 128, 12288, 151936, false, true, "qwen3_14b"},
    {"qwen3", "14B", 5120, 40, 40, 8, 128, 17408, 151936, false, true, "qwen3_14b"},
    {"qwen3", "32B", 5120, 64, 64, 8, 128, 25600, 151936, false, true, "qwen3_32b"},
};

/* The number of the job's model in the table; DSE_COUNT(models): it has none of this shape. */
static size_t find_model(const launch_job *j, bool is_v022)
{
    size_t i = 0;

    while (i < DSE_COUNT(models) &&
           (j->experts || j->hidden != models[i].hidden || j->layers != models[i].layers ||
            j->heads != models[i].heads || j->kv_heads != models[i].kv_heads ||
            j->head_size != models[i].head_size || j->ffn != models[i].ffn ||
            j->vocabulary != models[i].vocabulary || j->is_tied != models[i].is_tied || !j->is_rms ||
            !j->is_rotary || j->has_qkv_bias || !j->is_gated || j->window || j->has_sinks ||
            j->has_other_layers || j->has_qk_norm != !strcmp(models[i].family, "qwen3") ||
            (is_v022 && !models[i].is_in_v022)))
        i++;
    return i;
}

/* ---- rules ------------------------------------------------------------------------------------- */

/* Indexes of the choices, as strategy/parameters.h has them. */
enum { SYNC_DEFAULT, SYNC_EACH };
enum { OVERLAP_OFF = 1 };
enum { CP_RING, CP_ALL_GATHER_XLA = 3 };
enum { TP_ON = 1 };
enum { ATTENTION_FUSED, ATTENTION_UNFUSED };

static uint32_t n_replicas(const launch_job *j)
{
    return j->point.zero == 3 ? j->point.replicas : j->point.dp;
}

static bool replicates_with_others(const launch_job *j)
{
    return n_replicas(j) > 1 && n_replicas(j) == j->point.dp && j->point.cp == 1 &&
           (j->point.tp > 1 || j->point.pp > 1);
}
static bool replicates_context(const launch_job *j) { return !j->point.zero && j->point.cp > 1; }
static bool replicates_late(const launch_job *j)
{
    return !j->point.zero && j->point.dp > 1 && j->point.overlap == OVERLAP_OFF;
}
static bool says_sync(const launch_job *j)
{
    return j->point.sync != SYNC_DEFAULT && !(j->point.sync == SYNC_EACH && j->point.pp == 1);
}
static bool loops_one_stage(const launch_job *j)
{
    return j->point.pp > 1 && j->point.vp == 1 &&
           !strcmp(strategy_parameters[STRATEGY_schedule].choices[j->point.schedule], "looped-bfs");
}
static bool has_groups(const launch_job *j)
{
    return j->point.group_size && j->point.group_size != j->point.pp;
}
static bool keeps_tokens_whole(const launch_job *j) { return j->point.tp > 1 && j->point.sequence_parallel; }
static bool recomputes_first(const launch_job *j) { return j->point.recompute_layers > 0; }
static bool recomputes_every(const launch_job *j) { return j->point.recompute_every > 1; }
static bool is_unfused(const launch_job *j) { return j->point.attention == ATTENTION_UNFUSED; }
static bool cuts_products(const launch_job *j) { return j->point.tp > 1 && j->point.tp_overlap == TP_ON; }
static bool gathers_by_xla(const launch_job *j)
{
    return j->point.cp > 1 && j->point.cp_comm == CP_ALL_GATHER_XLA;
}
static bool passes_a_ring(const launch_job *j) { return j->point.cp > 1 && j->point.cp_comm == CP_RING; }
static bool splits_experts(const launch_job *j) { return j->experts && j->etp != 1; }
static bool splits_experts_otherwise(const launch_job *j)
{
    return j->experts && j->etp != 1 && j->etp != j->point.tp;
}
static bool spreads_experts_badly(const launch_job *j)
{
    const uint64_t ranks = (uint64_t)j->point.dp / n_replicas(j) * j->point.cp * j->point.tp;

    return j->experts && (j->experts % j->ep || ranks % j->ep);
}

static bool lays_out_stages(const launch_job *j) { return j->n_laid_out > 1; }
static bool recomputes_modules(const launch_job *j) { return j->point.recompute_modules != 1; }
static bool stops_early(const launch_job *j) { return j->point.recompute_end; }
static bool predicts_further(const launch_job *j) { return j->mtp_layers > 0; }

static const launch_rule refused[] = {
    {lays_out_stages, "layers by stage are written for Megatron alone; leave --pipeline-layout out"},
    {recomputes_modules, "TorchTitan does not recompute modules by name; take recompute_modules core-attn"},
    {predicts_further, "TorchTitan has no layers that predict further tokens; leave --mtp out"},
    {replicates_context, "TorchTitan shards parameters over cp; take zero 3, or cp 1"},
    {says_sync, "TorchTitan reduces gradients in each micro-batch, or of a stage after its last; take sync "
                "default"},
    {loops_one_stage, "TorchTitan's looped schedules have two stages or more on each rank; take vp 2"},
    {has_groups, "TorchTitan has pp micro-batches in a virtual stage's turn; take group_size 0"},
    {recomputes_first, "TorchTitan recomputes all layers, or every n-th; take recompute_layers 0"},
    {is_unfused, "TorchTitan's attention is fused; take attention fused"},
    {spreads_experts_badly,
     "ep divides the experts, and the ranks that shard them, in TorchTitan; take such an ep"},
    {NULL, NULL},
};

static const launch_rule refused_by_v022[] = {
    {replicates_with_others,
     "TorchTitan v0.2.2 replicates parameters (DDP) only where no other degree is above 1; take zero 3 with "
     "replicas below dp"},
    {replicates_late, "TorchTitan's DDP reduces under the backward pass; take overlap on"},
    {keeps_tokens_whole, "TorchTitan v0.2.2 has sequence parallelism with tp; take sequence_parallel on"},
    {gathers_by_xla, "cp_comm all-gather-xla is of programs in JAX; take cp_comm all-gather, or cp 1"},
    {splits_experts_otherwise, "TorchTitan splits experts over tp or not; take etp 1, or etp of tp"},
    {NULL, NULL},
};

static const launch_rule refused_by_main[] = {
    {stops_early, "TorchTitan main makes layers again to their end; take recompute_end default, or --program "
                  "torchtitan-toml"},
    {recomputes_every, "TorchTitan main cannot recompute every n-th layer alone; take recompute_every 1, "
                       "recompute_granularity selective, or --program torchtitan-toml"},
    {cuts_products, "TorchTitan main has asynchronous tensor parallelism with its compilation alone, "
                    "which is not written; take tp_overlap default, or --program torchtitan-toml"},
    {passes_a_ring, "TorchTitan main gathers keys and values; take cp_comm all-gather, or cp 1"},
    {splits_experts, "TorchTitan main does not split experts over tp; take etp 1"},
    {NULL, NULL},
};

static bool recomputes_selectively(const launch_job *j) { return j->point.recompute_granularity == 1; }
static bool is_of_own_numbers(const launch_job *j) { return j->precision == LAUNCH_OTHER_PRECISION; }
static bool has_recipe(const launch_job *j) { return j->point.fp8_recipe != 0; }

static const launch_rule notes[] = {
    {recomputes_selectively,
     "Simulated with the core of attention made again; TorchTitan's selection of operators keeps every "
     "second product of matrices and what was communicated."},
    {is_of_own_numbers,
     "The card's precision is of its own numbers; this trains in bf16 with parameters in 32 bits."},
    {has_recipe, "Products in fewer bits pay off only with compilation (compile.enable)."},
    {cuts_products, "Asynchronous tensor parallelism needs compilation (compile.enable)."},
    {NULL, NULL},
};

/* ---- both files -------------------------------------------------------------------------------- */

#define PRECISIONS(fp32, mixed, bf16) WORDS({"fp32", fp32}, {"mixed", mixed}, {"bf16", bf16})

/* The embedding and the head are told to count as a layer each or not at all: its default is that they
 * count. */
/* clang-format off */
#define PARALLELISM(section)                                                                            \
    {section "data_parallel_replicate_degree", FACT(dp_replicas)},                                      \
    {section "data_parallel_shard_degree", FACT(dp_shards)},                                            \
    {section "fsdp_reshard_after_forward", FACT(reshard), LAUNCH_TEXT},                                 \
    {section "tensor_parallel_degree", FACT(tp)},                                                       \
    {section "context_parallel_degree", FACT(cp)},                                                      \
    {section "pipeline_parallel_degree", FACT(pp)},                                                     \
    {section "pipeline_parallel_schedule", FACT(schedule), LAUNCH_TEXT,                                 \
     WORDS({"1f1b", "1F1B"}, {"interleaved", "Interleaved1F1B"}, {"gpipe", "GPipe"},                    \
           {"looped-bfs", "LoopedBFS"}, {"zero-bubble", "InterleavedZeroBubble"},                       \
           {"zbv", "ZBVZeroBubble"}, {"dualpipev", "DualPipeV"})},                                      \
    {section "pipeline_parallel_layers_per_stage", FACT(stage_layers)},                                 \
    {section "pipeline_parallel_first_stage_less_layers", FACT(end_layers)},                            \
    {section "pipeline_parallel_last_stage_less_layers", FACT(end_layers)},                             \
    {section "expert_parallel_degree", FACT(ep)}
/* clang-format on */

/* The shape, for whoever has to write the model. */
static void put_shape(const launch_job *j, const launch_facts *f, const char *what, dse_strbuf *out)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_addf(&text,
                    "Fill in %s: TorchTitan has no model of %s layers, width %s, %s heads, %s of keys and "
                    "values, feed-forward "
                    "%s, vocabulary %s%s%s%s.",
                    what, f->layers, f->hidden, f->heads, f->kv_heads ? f->kv_heads : f->heads, f->ffn,
                    f->vocabulary, j->is_tied ? ", tied embeddings" : "", j->experts ? ", with experts" : "",
                    j->kv_rank ? ", latent attention" : "");
    launch_put_comment("#", text.data, out);
    dse_strbuf_free(&text);
}

static void put_start(const launch_job *j, const char *how, const char *arguments, dse_strbuf *out)
{
    launch_put_comment("#", how, out);
    launch_put_torchrun(j, "#  ", out);
    dse_strbuf_addf(out, " -m torchtitan.train %s\n", arguments);
}

/* ---- TOML -------------------------------------------------------------------------------------- */

static const launch_option toml_rows[] = {
    {"model.name", FACT(family), LAUNCH_TEXT},
    {"model.flavor", FACT(flavor), LAUNCH_TEXT},
    {"model.converters", FACT(low_recipe),
     WORDS({"fp32", NULL}, {"none", NULL}, {"tensorwise", "[\"quantize.linear.float8\"]"},
           {"rowwise", "[\"quantize.linear.float8\"]"}, {"mxfp8", "[\"quantize.linear.mx\"]"})},
    {"training.local_batch_size", FACT(local_batch)},
    {"training.global_batch_size", FACT(batch)},
    {"training.seq_len", FACT(sequence)},
    {"training.dtype", FACT(precision), LAUNCH_TEXT, PRECISIONS("float32", "float32", "bfloat16")},
    {"training.mixed_precision_param", FACT(precision), LAUNCH_TEXT,
     PRECISIONS("float32", "bfloat16", "bfloat16")},
    {"training.mixed_precision_reduce", .kind = LAUNCH_TEXT, .fixed = "float32"},
    PARALLELISM("parallelism."),
    {"parallelism.pipeline_parallel_microbatch_size", FACT(stage_batch)},
    {"parallelism.context_parallel_rotate_method", FACT(cp_comm), LAUNCH_TEXT,
     WORDS({"ring", "alltoall"}, {"all-gather", "allgather"})},
    {"parallelism.enable_async_tensor_parallel", FACT(tp_overlap), LAUNCH_SWITCH, .fallback = "off"},
    {"parallelism.expert_tensor_parallel_degree", FACT(etp)},
    {"parallelism.expert_parallel_comm_backend", FACT(dispatch), LAUNCH_TEXT,
     WORDS({"alltoall", "standard"}, {"deepep", "deepep"})},
    {"activation_checkpoint.mode", FACT(checkpoints), LAUNCH_TEXT,
     WORDS({"none", "none"}, {"operators", "selective"}, {"layers", "selective"}, {"full", "full"})},
    {"activation_checkpoint.selective_ac_option", FACT(checkpoint_every), LAUNCH_TEXT},
    {"activation_checkpoint.early_stop", FACT(stops_early), LAUNCH_SWITCH, .fallback = "off"},
    {"quantize.linear.float8.recipe_name", FACT(scaled_alone), LAUNCH_TEXT,
     WORDS({"tensorwise", "tensorwise"}, {"rowwise", "rowwise"}, {"mxfp8", NULL})},
    {"quantize.linear.float8.enable_fsdp_float8_all_gather", FACT(fp8_params), LAUNCH_SWITCH,
     .fallback = "off"},
    {"quantize.linear.mx.recipe_name", FACT(scaled_alone), LAUNCH_TEXT,
     WORDS({"mxfp8", "mxfp8_cublas"}, {"tensorwise", NULL}, {"rowwise", NULL})},
};

static dse_status write_toml(const launch_job *j, dse_strbuf *out, dse_error *err)
{
    const size_t model = find_model(j, true);
    dse_arena a;
    launch_facts f;
    dse_status st;

    if ((st = launch_refuse(refused_by_v022, j, err)) != DSE_OK ||
        (st = launch_refuse(refused, j, err)) != DSE_OK)
        return st;
    dse_arena_init(&a);
    launch_facts_of(j, &a, &f);
    launch_put_heading(&launch_torchtitan_toml, j, out);
    put_start(j, "Save this as train.toml, and start it with", "--job.config_file train.toml", out);
    if (model < DSE_COUNT(models)) {
        f.family = models[model].family;
        f.flavor = models[model].flavor;
    } else {
        put_shape(j, &f, "model.name and model.flavor of a train spec that you register", out);
    }
    launch_put_comment(
        "#",
        "Fill in model.hf_assets_path, training.dataset and dataset_path, training.steps, optimizer.lr and "
        "[lr_scheduler]; defaults are for trials.",
        out);
    launch_put_notes(notes, j, "#", out);
    st = launch_put_sections(LAUNCH_TOML, toml_rows, DSE_COUNT(toml_rows), &f, "TorchTitan v0.2.2", out, err);
    dse_arena_free(&a);
    return st;
}

const launch_program launch_torchtitan_toml = {.name = "torchtitan-toml",
                                               .title = "TorchTitan",
                                               .version = "v0.2.2 (73a0e697)",
                                               .comment = "#",
                                               .like = "torchtitan",
                                               .write = write_toml};

/* ---- Python ------------------------------------------------------------------------------------ */

static const launch_option python_rows[] = {
    {"training=TrainingConfig.num_tokens_per_microbatch_per_dp_rank", FACT(micro_tokens)},
    {"training=TrainingConfig.num_tokens_per_train_step", FACT(batch_tokens)},
    {"training=TrainingConfig.max_context_length", FACT(sequence)},
    {"training=TrainingConfig.steps", .fixed = "c.training.steps"},
    {"training=TrainingConfig.disable_cuda_graphs",
     .fixed = "True"}, /* they refuse pipelines, and were not simulated */
    {"training=TrainingConfig.dtype", FACT(precision), LAUNCH_TEXT,
     PRECISIONS("float32", "float32", "bfloat16")},
    {"training=TrainingConfig.mixed_precision_param", FACT(precision), LAUNCH_TEXT,
     PRECISIONS("float32", "bfloat16", "bfloat16")},
    PARALLELISM("parallelism=ParallelismConfig."),
    {"parallelism=ParallelismConfig.num_pp_microbatches", FACT(stage_batches)},
    {"parallelism=ParallelismConfig.enable_sequence_parallel", FACT(sequence_parallel), LAUNCH_SWITCH},
};

/* Objects that are made in the function. */
typedef struct {
    const char *fact, *text; /* NULL: none is made */
    const char *from, *name; /* of what is imported; NULL: nothing is */
} titan_object;

static const titan_object checkpoints[] = {
    {"none", "None", NULL, NULL},
    {"operators", "SelectiveAC.Config()", "torchtitan.distributed.activation_checkpoint", "SelectiveAC"},
    {"full", "FullAC.Config()", "torchtitan.distributed.activation_checkpoint", "FullAC"},
    {NULL, NULL, NULL, NULL},
};

#define QUANTIZATION "torchtitan.components.quantization"
static const titan_object converters[] = {
    {"fp32", NULL, NULL, NULL},
    {"none", NULL, NULL, NULL},
    {"rowwise", "Float8LinearConverter.Config(recipe_name=\"rowwise\")", QUANTIZATION,
     "Float8LinearConverter"},
    {"mxfp8", "MXFP8LinearConverter.Config()", QUANTIZATION, "MXFP8LinearConverter"},
    {"nvfp4", "NVFP4LinearConverter.Config(fqns=[\"layers\"])", QUANTIZATION, "NVFP4LinearConverter"},
    {NULL, NULL, NULL, NULL},
};

static const titan_object *find_object(const titan_object *rows, const char *fact)
{
    while (rows->fact && strcmp(rows->fact, fact) != 0)
        rows++;
    return rows->fact ? rows : NULL;
}

static void put_import(const titan_object *o, dse_strbuf *out)
{
    if (o->from)
        dse_strbuf_addf(out, "from %s import %s\n", o->from, o->name);
}

/* The function, of a model that is shipped or one that is to be filled in. */
static dse_status put_function(size_t model, const titan_object *converter, const titan_object *checkpoint,
                               const launch_facts *f, dse_strbuf *out, dse_error *err)
{
    const bool is_known = model < DSE_COUNT(models);
    dse_status st;

    put_import(converter, out);
    dse_strbuf_adds(out, "from torchtitan.config import ParallelismConfig, TrainingConfig\n");
    put_import(checkpoint, out);
    if (is_known)
        dse_strbuf_addf(out,
                        "from torchtitan.models.%s import model_registry\n"
                        "from torchtitan.models.%s.config_registry import %s\n",
                        models[model].family, models[model].family, models[model].configure);
    else
        dse_strbuf_adds(out, "from my_models import configure, model_registry  # fill in\n");
    dse_strbuf_addf(out, "\n\ndef launch():\n    c = %s()\n    c.model_spec = model_registry(\"%s\"",
                    is_known ? models[model].configure : "configure",
                    is_known ? models[model].flavor : "FLAVOR");
    if (converter->text)
        dse_strbuf_addf(out, ", converters=[%s]", converter->text);
    dse_strbuf_adds(out, ")\n");
    st = launch_put_sections(LAUNCH_PYTHON, python_rows, DSE_COUNT(python_rows), f, "TorchTitan main", out,
                             err);
    dse_strbuf_addf(out, "    c.activation_checkpoint = %s\n    return c\n", checkpoint->text);
    return st;
}

static dse_status write_python(const launch_job *j, dse_strbuf *out, dse_error *err)
{
    const size_t model = find_model(j, false);
    const titan_object *converter, *checkpoint;
    dse_arena a;
    launch_facts f;
    dse_status st;

    if ((st = launch_refuse(refused_by_main, j, err)) != DSE_OK ||
        (st = launch_refuse(refused, j, err)) != DSE_OK)
        return st;
    dse_arena_init(&a);
    launch_facts_of(j, &a, &f);
    converter = find_object(converters, f.low_recipe);
    checkpoint = find_object(checkpoints, f.checkpoints);
    if (!converter) {
        st = dse_fail(err, DSE_E_RANGE,
                      "TorchTitan main has no fp8_recipe %s; take rowwise, mxfp8, nvfp4 or none",
                      f.low_recipe);
        goto out;
    }
    launch_put_heading(&launch_torchtitan, j, out);
    put_start(j, "Save this as ccldse_launch.py where Python finds it, and start it with",
              "--module ccldse_launch --config launch", out);
    if (model == DSE_COUNT(models))
        put_shape(j, &f, "my_models, configure and FLAVOR", out);
    launch_put_comment("#",
                       "Fill in c.hf_assets_path, c.dataloader, c.training.steps, c.optimizer and "
                       "c.lr_scheduler, unless those of "
                       "the configuration that this begins with will do.",
                       out);
    launch_put_notes(notes, j, "#", out);
    st = put_function(model, converter, checkpoint, &f, out, err);
out:
    dse_arena_free(&a);
    return st;
}

const launch_program launch_torchtitan = {.name = "torchtitan",
                                          .title = "TorchTitan",
                                          .version = "main of 2026-08 (b5bcd76c)",
                                          .comment = "#",
                                          .like = "torchtitan",
                                          .recompute = "selective",
                                          .write = write_python};
