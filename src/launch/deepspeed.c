/* DeepSpeed: its JSON configuration, alone for a training script of one's own, or with Megatron-DeepSpeed,
 * whose options say the model, tensor and pipeline parallelism. Sources: deepspeed/runtime/config.py,
 * zero/config.py, pipe/engine.py; Megatron-DeepSpeed's megatron/arguments.py, model/gpt_model.py. Defaults
 * that changed between releases (gradient clipping) are written. */
#include "base/array.h"
#include "launch/parts.h"

#include <string.h>

/* ---- rules ------------------------------------------------------------------------------------- */

static bool replicates_a_part(const launch_job *j) { return j->point.replicas > 1 && j->point.zero != 3; }
static bool says_sync(const launch_job *j) { return j->point.zero == 3 && j->point.sync; }
/* default, always, never */
static bool says_reshard(const launch_job *j) { return j->point.zero == 3 && j->point.reshard == 2; }
static bool skips_layers(const launch_job *j) { return j->point.recompute_every > 1; }
static bool has_unequal_stages(const launch_job *j) { return j->layers % j->point.pp != 0; }
static bool recomputes_first_in_pipeline(const launch_job *j)
{
    return j->point.recompute_layers && j->point.pp > 1;
}
static bool has_pipeline(const launch_job *j) { return j->point.pp > 1; }
static bool splits_tokens(const launch_job *j) { return j->point.tp > 1 && !j->point.sequence_parallel; }
static bool shards_with_tensors(const launch_job *j) { return j->point.tp > 1 && j->point.zero == 3; }
static bool recomputes(const launch_job *j) { return j->point.recompute_granularity != 0; }
static bool splits_experts_badly(const launch_job *j)
{
    return j->experts && (j->experts % j->ep || (uint64_t)j->point.dp * j->point.cp % j->ep);
}

static bool lays_out_stages(const launch_job *j) { return j->n_laid_out > 1; }
static bool recomputes_modules(const launch_job *j) { return j->point.recompute_modules != 1; }
static bool predicts_further(const launch_job *j) { return j->mtp_layers > 0; }

static const launch_rule refused[] = {
    {lays_out_stages, "layers by stage are written for Megatron alone; leave --pipeline-layout out"},
    {predicts_further, "DeepSpeed has no layers that predict further tokens; leave --mtp out"},
    {replicates_a_part, "DeepSpeed replicates shards (MiCS) with ZeRO 3 alone; take zero 3, or replicas 1"},
    {says_sync, "DeepSpeed has no choice of when gradients are reduced; take sync default"},
    {says_reshard, "DeepSpeed frees parameters that it has gathered; take reshard default"},
    {recomputes_modules, "DeepSpeed does not recompute single modules; take recompute_modules core-attn"},
    {skips_layers, "DeepSpeed recomputes all layers or none; take recompute_every 1"},
    {splits_experts_badly,
     "ep divides the experts, and the data parallel ranks, in DeepSpeed; take such an ep"},
    {NULL, NULL},
};

static bool has_other_experts(const launch_job *j)
{
    return j->shared_ffn || (j->expert_ffn && j->expert_ffn != j->ffn) || j->first_dense ||
           j->expert_every > 1 || j->groups || j->has_sigmoid_router;
}
static bool splits_experts(const launch_job *j) { return j->experts && j->etp > 1; }
static bool has_latents(const launch_job *j) { return j->kv_rank > 0; }
static bool drops_without_padding(const launch_job *j) { return j->capacity_percent && !j->pads_capacity; }

static const launch_rule refused_by_megatron[] = {
    {has_latents, "Megatron-DeepSpeed has no latent attention; take --program megatron"},
    {has_other_experts,
     "Megatron-DeepSpeed's experts are as wide as other feed-forward networks, in all layers, behind a "
     "softmax, and none is shared; take --program megatron"},
    {splits_experts, "Megatron-DeepSpeed does not split experts; take etp 1"},
    {drops_without_padding, "DeepSpeed pads what experts take to their limit; take capacity padded, or none"},
    {has_unequal_stages,
     "Megatron-DeepSpeed deals layers out to stages without counting the embedding; take pp that divides the "
     "layers"},
    {recomputes_first_in_pipeline,
     "DeepSpeed's pipeline recomputes all layers of a stage or none; take recompute_layers 0"},
    {NULL, NULL},
};

static const launch_rule refused_alone[] = {
    {has_pipeline,
     "DeepSpeed's configuration has no pipeline; take pp 1, or --program deepspeed (Megatron-DeepSpeed)"},
    {splits_tokens,
     "DeepSpeed's AutoTP has no sequence parallelism; take sequence_parallel off, or --program deepspeed"},
    {shards_with_tensors,
     "DeepSpeed's AutoTP goes with ZeRO 0 to 2; take those, tp 1, or --program deepspeed"},
    {recomputes, "recomputation is the script's and not in DeepSpeed's configuration; take "
                 "recompute_granularity none, or "
                 "--program deepspeed"},
    {NULL, NULL},
};

static bool lacks_rotary_base(const launch_job *j) { return j->is_rotary && !(j->rotary_base > 0); }
static bool has_other_activation(const launch_job *j) { return j->activation == LAUNCH_OTHER_ACTIVATION; }
static bool has_other_layers(const launch_job *j)
{
    return j->has_other_layers || j->has_qk_norm || j->window || j->has_sinks ||
           (j->has_qkv_bias && !j->has_biases);
}
static bool has_experts(const launch_job *j) { return j->experts > 0; }
static bool is_not_mixed(const launch_job *j)
{
    return j->precision == LAUNCH_BF16 || j->precision == LAUNCH_OTHER_PRECISION;
}
static bool has_replicas(const launch_job *j) { return j->point.replicas > 1; }

static const launch_rule notes[] = {
    {lacks_rotary_base, "Fill in the base of rotary positions (--rotary-position-embeddings-theta), which "
                        "the model card does not "
                        "have, unless it is 10000, as here."},
    {has_other_activation,
     "Fill in the activation function: of the model's file of layers it is not known which it is."},
    {has_other_layers,
     "Fill in what Megatron-DeepSpeed's layers do not have, as the model card does: norms of "
     "queries and keys, biases of these alone, windows, sinks, or where norms are."},
    {has_experts, "Fill in the balancing of experts (--moe-loss-coeff)."},
    {is_not_mixed, "The card's precision is of its own; this trains in bf16 with a master copy in 32 bits."},
    {has_replicas, "MiCS needs deepspeed.zero.MiCS_Init where Megatron-DeepSpeed calls zero.Init."},
    {NULL, NULL},
};

/* ---- the configuration ------------------------------------------------------------------------- */

/* The last ones go without Megatron-DeepSpeed, whose options say these. */
static const launch_option configuration[] = {
    {"train_batch_size", FACT(batch)},
    {"train_micro_batch_size_per_gpu", FACT(micro_batch)},
    {"gradient_accumulation_steps", FACT(micro_batches)},
    {"gradient_clipping", .fixed = "1.0"},
    {"bf16.enabled", FACT(bf16), LAUNCH_SWITCH},
    {"zero_optimization.stage", FACT(zero)},
    {"zero_optimization.overlap_comm", FACT(overlap_gradients), LAUNCH_SWITCH},
    {"zero_optimization.reduce_scatter", .fixed = "true"},
    {"zero_optimization.contiguous_gradients", .fixed = "true"},
    {"zero_optimization.reduce_bucket_size", .fixed = "500000000"},
    {"zero_optimization.allgather_bucket_size", .fixed = "500000000"},
    {"zero_optimization.mics_shard_size", FACT(shard_ranks)},
    {"tensor_parallel.autotp_size", FACT(tp), .fallback = "1"},
    {"sequence_parallel_size", FACT(cp), .fallback = "1"},
    {"expert_parallel.enabled", FACT(with_experts), LAUNCH_SWITCH},
    {"expert_parallel.autoep_size", FACT(ep)},
};
#define N_ALONE 4

static dse_status write_alone(const launch_job *j, dse_strbuf *out, dse_error *err)
{
    dse_arena a;
    launch_facts f;
    dse_status st;

    if ((st = launch_refuse(refused_alone, j, err)) != DSE_OK ||
        (st = launch_refuse(refused, j, err)) != DSE_OK)
        return st;
    dse_arena_init(&a);
    launch_facts_of(j, &a, &f);
    st = launch_put_sections(LAUNCH_JSON, configuration, DSE_COUNT(configuration), &f, "DeepSpeed", out, err);
    dse_arena_free(&a);
    return st;
}

const launch_program launch_deepspeed_json = {.name = "deepspeed-json",
                                              .title = "DeepSpeed",
                                              .version = "0.19.6 (edaa7221)",
                                              .comment = NULL,
                                              .like = "deepspeed",
                                              .write = write_alone};

/* ---- Megatron-DeepSpeed ------------------------------------------------------------------------ */

static const launch_option rows[] = {
    {"--deepspeed", .fixed = ""},
    {"--deepspeed_config", .fixed = "ds_config.json"},
    {"--zero-stage", FACT(zero)},
    {"--no-pipeline-parallel", FACT(one_stage), LAUNCH_SWITCH}, /* its pipeline engine refuses ZeRO 2 and 3 */
    LAUNCH_NEWLINE,
    {"--num-layers", FACT(layers)},
    {"--hidden-size", FACT(hidden)},
    {"--ffn-hidden-size", FACT(ffn)},
    {"--num-attention-heads", FACT(heads)},
    {"--num-key-value-heads", FACT(kv_heads)},
    {"--kv-channels", FACT(head_size)},
    LAUNCH_NEWLINE,
    {"--seq-length", FACT(sequence)},
    {"--max-position-embeddings", FACT(sequence)},
    {"--use-rotary-position-embeddings", FACT(positions), LAUNCH_SWITCH, .on = "rotary"},
    {"--rotary-position-embeddings-theta", FACT(rotary_base), .fallback = "10000"},
    LAUNCH_NEWLINE,
    {"--swiglu", FACT(activation), LAUNCH_SWITCH, .on = "swiglu"},
    {"--squared-relu", FACT(activation), LAUNCH_SWITCH, .on = "squared-relu"},
    {"--normalization", FACT(norm), .fallback = "layer", WORDS({"rms", "rmsnorm"})},
    {"--disable-bias-linear", FACT(biases), LAUNCH_SWITCH, .on = "off"},
    {"--untie-embeddings-and-output-weights", FACT(tied), LAUNCH_SWITCH, .on = "off"},
    {"--attention-dropout", FACT(dropout), .fallback = "on", WORDS({"off", "0"})},
    {"--hidden-dropout", FACT(dropout), .fallback = "on", WORDS({"off", "0"})},
    {"--no-query-key-layer-scaling", .fixed = ""},
    LAUNCH_NEWLINE,
    {"--num-experts", FACT(experts)},
    {"--expert-interval", FACT(with_experts), WORDS({"on", "1"})},
    {"--topk", FACT(topk)},
    {"--moe-expert-parallel-size", FACT(ep)},
    {"--disable-moe-token-dropping", FACT(dropless), LAUNCH_SWITCH},
    {"--moe-train-capacity-factor", FACT(capacity)},
    {"--create-moe-param-group", FACT(with_experts), LAUNCH_SWITCH},
    LAUNCH_NEWLINE,
    {"--tensor-model-parallel-size", FACT(tp)},
    {"--sequence-parallel", FACT(sequence_parallel), LAUNCH_SWITCH},
    {"--pipeline-model-parallel-size", FACT(pp)},
    {"--ds-sequence-parallel-size", FACT(cp), .fallback = "1"},
    LAUNCH_NEWLINE,
    {"--micro-batch-size", FACT(micro_batch)},
    {"--global-batch-size", FACT(batch)},
    {"--bf16", FACT(bf16), LAUNCH_SWITCH},
    {"--recompute-granularity", FACT(recompute), .fallback = "none",
     WORDS({"selective", "selective"}, {"full", "full"})},
    {"--recompute-method", FACT(recompute_method)},
    {"--recompute-num-layers", FACT(recompute_count)},
    {"--use-flash-attn-v2", FACT(fuses_attention), LAUNCH_SWITCH},
};

static dse_status write_megatron(const launch_job *j, dse_strbuf *out, dse_error *err)
{
    dse_arena a;
    launch_facts f;
    dse_status st;

    if ((st = launch_refuse(refused_by_megatron, j, err)) != DSE_OK ||
        (st = launch_refuse(refused, j, err)) != DSE_OK)
        return st;
    dse_arena_init(&a);
    launch_facts_of(j, &a, &f);
    launch_put_heading(&launch_deepspeed, j, out);
    launch_put_comment("#",
                       "Fill in the file of hosts, your data (--data-path, --tokenizer-type), the learning "
                       "rate (--lr, --min-lr, "
                       "--lr-decay-style, --lr-warmup-iters), the optimizer and the length (--train-iters).",
                       out);
    launch_put_notes(notes, j, "#", out);
    dse_strbuf_adds(out, "cat > ds_config.json <<'END'\n");
    st = launch_put_sections(LAUNCH_JSON, configuration, DSE_COUNT(configuration) - N_ALONE, &f, "DeepSpeed",
                             out, err);
    dse_strbuf_adds(out, "END\n");
    if (f.sequence_parallel && !strcmp(f.sequence_parallel, "on"))
        dse_strbuf_adds(out, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    dse_strbuf_addf(out, "deepspeed%s --num_nodes %u --num_gpus %u \\\n  pretrain_gpt.py",
                    j->nodes > 1 ? " --hostfile hosts" : "", j->nodes, j->per_node);
    if (st == DSE_OK)
        st = launch_put_options(rows, DSE_COUNT(rows), &f, "Megatron-DeepSpeed", out, err);
    dse_strbuf_addc(out, '\n');
    dse_arena_free(&a);
    return st;
}

const launch_program launch_deepspeed = {.name = "deepspeed",
                                         .title = "Megatron-DeepSpeed",
                                         .version = "of 2025-07 (4efb479d), with DeepSpeed 0.19.6 (edaa7221)",
                                         .comment = "#",
                                         .like = "deepspeed",
                                         .write = write_megatron};
