/* Megatron-LM: options of pretrain_gpt.py. Sources: megatron/training/arguments.py (its rules:
 * validate_args) and megatron/core/transformer/transformer_config.py.
 *
 * What is sharded of the parameters and gradients is Megatron-FSDP's; torch's FSDP2 takes no pipeline
 * there. Fully sharded parameters are freed after use, so that reshard has no option. */
#include "launch/parts.h"

#include "base/array.h"

#include <string.h>

/* ---- what both do not have -------------------------------------------------------------------- */

static bool shards_parameters(const launch_job *j) { return j->point.zero > 1; }
static bool skips_layers(const launch_job *j) { return j->point.recompute_every > 1; }
static bool reduces_when_said(const launch_job *j) { return j->point.zero == 3 && j->point.sync; }
static bool never_frees(const launch_job *j)
{
    return j->point.zero == 3 && j->point.reshard == 2;
} /* default, always, never */
static bool keeps_gathered(const launch_job *j)
{
    return j->point.zero == 3 && j->point.pp > 1 && !j->point.reshard;
}
static bool whole_tokens_of_experts(const launch_job *j)
{
    return j->experts && j->point.tp > 1 && j->point.sequence_parallel;
}
static bool splits_experts_badly(const launch_job *j)
{
    return j->experts && (j->experts % j->ep ||
                          (uint64_t)j->nodes * j->per_node % ((uint64_t)j->ep * j->etp * j->point.pp));
}

/* megatron/core/transformer/transformer_config.py */
static bool splits_biased_experts(const launch_job *j) { return j->experts && j->has_biases && j->etp > 1; }

/* What drv_point_check does not know: what the options have no word for. */
static const launch_rule refused[] = {
    {skips_layers, "Megatron recomputes all layers of a stage, or the first ones; take recompute_every 1, or "
                   "recompute_layers"},
    {reduces_when_said, "Megatron-FSDP has no choice of when gradients are reduced; take sync default"},
    {never_frees, "Megatron-FSDP frees parameters that it has gathered; take reshard always, or zero 2"},
    {whole_tokens_of_experts,
     "Megatron's experts need sequence parallelism with tp above 1; take sequence_parallel on, or tp 1"},
    {splits_biased_experts, "Megatron does not split experts with biases; take etp 1"},
    {splits_experts_badly,
     "ep divides the experts, and ep x etp x pp the ranks, in Megatron; take such degrees"},
    {NULL, NULL},
};

/* ---- what is said besides ---------------------------------------------------------------------- */

static bool is_16_bits_alone(const launch_job *j) { return j->precision == LAUNCH_BF16; }
static bool is_of_own_numbers(const launch_job *j) { return j->precision == LAUNCH_OTHER_PRECISION; }
static bool lacks_rotary_base(const launch_job *j) { return j->is_rotary && !(j->rotary_base > 0); }
static bool has_other_activation(const launch_job *j)
{
    return j->activation == LAUNCH_OTHER_ACTIVATION && !j->is_gated;
}
static bool has_other_gate(const launch_job *j)
{
    return j->activation == LAUNCH_OTHER_ACTIVATION && j->is_gated;
}
static bool has_other_layers(const launch_job *j) { return j->has_other_layers; }
static bool has_experts(const launch_job *j) { return j->experts > 0; }
/* megatron/training/vocab_utils.py */
static bool pads_vocabulary(const launch_job *j)
{
    return j->vocabulary % (128 * (uint64_t)j->point.tp) != 0;
}

static const launch_rule notes[] = {
    {lacks_rotary_base,
     "Fill in the base of rotary positions (--rotary-base; model.rotary_base), which the model card does not "
     "have, unless it is 10000, as here."},
    {has_other_activation,
     "Fill in the activation function: of the model's file of layers it is not known which it is."},
    {has_other_gate, "Fill in the activation function of the gate: --swiglu (model.gated_linear_unit=true, "
                     "model.activation_func=silu) is SiLU, which it is not known to be."},
    {has_other_layers,
     "Fill in a layer (--spec) that has what no option says, as the model card does: where "
     "norms are, norms over all heads or without a bias, parallel blocks, chunks, gates of shared "
     "experts, ALiBi, biases of the feed-forward network or the head alone."},
    {has_experts,
     "Fill in the balancing of experts (--moe-router-load-balancing-type, --moe-aux-loss-coeff)."},
    {pads_vocabulary, "The vocabulary is padded to a multiple of 128 x tp (--make-vocab-size-divisible-by), "
                      "which the simulation "
                      "leaves out."},
    {is_16_bits_alone,
     "Simulated with 16 bits for all; this keeps a master copy of the parameters, and gradients, in 32."},
    {is_of_own_numbers,
     "The card's precision is of its own numbers; this trains in bf16 with a master copy in 32 bits."},
    {keeps_gathered, "Simulated with parameters that stay gathered over the pipeline's passes; Megatron-FSDP "
                     "frees them after "
                     "each (--reshard always)."},
    {NULL, NULL},
};

#define UNDER_SLURM                                                                                          \
    "Under Slurm: srun --ntasks-per-node 1, with NODE_RANK=$SLURM_NODEID and MASTER_ADDR the first host of " \
    "the job."

static bool overlaps_micro_batches(const launch_job *j) { return j->experts && j->point.ep_overlap == 2; }

/* Before Blackwell kernels must be launched in the order of the program (validate_args); FSDP wants the
 * opposite, and exchanges beside another micro-batch a queue for each stream. */
static void put_environment(const launch_job *j, dse_strbuf *out)
{
    if (overlaps_micro_batches(j))
        dse_strbuf_adds(out, "export CUDA_DEVICE_MAX_CONNECTIONS=32\n");
    else if (shards_parameters(j))
        dse_strbuf_adds(out, "unset CUDA_DEVICE_MAX_CONNECTIONS\n");
    else if (!j->is_blackwell && (j->point.tp > 1 || j->point.cp > 1))
        dse_strbuf_adds(out, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
}

/* Everything up to the options: comments, environment, launcher. `own`: notes of the program's; `fill_in`:
 * what a user must add. */
static void put_head(const launch_program *p, const launch_rule *own, const launch_job *j,
                     const char *fill_in, const char *script, dse_strbuf *out)
{
    launch_put_heading(p, j, out);
    launch_put_comment("#", fill_in, out);
    if (j->nodes > 1)
        launch_put_comment("#", UNDER_SLURM, out);
    launch_put_notes(notes, j, "#", out);
    launch_put_notes(own, j, "#", out);
    put_environment(j, out);
    launch_put_torchrun(j, NULL, out);
    dse_strbuf_addf(out, " \\\n  %s", script);
}

static dse_status put_rows(const launch_job *j, const launch_option *rows, size_t n, const char *title,
                           dse_strbuf *out, dse_error *err)
{
    dse_arena a;
    launch_facts f;
    dse_status st;

    dse_arena_init(&a);
    launch_facts_of(j, &a, &f);
    st = launch_put_options(rows, n, &f, title, out, err);
    dse_arena_free(&a);
    return st;
}

/* ---- Megatron-LM ------------------------------------------------------------------------------- */

static const launch_option megatron_rows[] = {
    {"--num-layers", FACT(layers)},
    {"--mtp-num-layers", FACT(mtp_layers)},
    {"--hidden-size", FACT(hidden)},
    {"--ffn-hidden-size", FACT(ffn)},
    {"--num-attention-heads", FACT(heads)},
    {"--group-query-attention", FACT(grouped), LAUNCH_SWITCH},
    {"--num-query-groups", FACT(kv_heads)},
    {"--kv-channels", FACT(head_size)},
    {"--multi-latent-attention", FACT(latent), LAUNCH_SWITCH},
    {"--q-lora-rank", FACT(q_rank)},
    {"--kv-lora-rank", FACT(kv_rank)},
    {"--qk-head-dim", FACT(plain_size)},
    {"--qk-pos-emb-head-dim", FACT(rotated_size)},
    {"--v-head-dim", FACT(value_size)},
    LAUNCH_NEWLINE,
    {"--seq-length", FACT(sequence)},
    {"--max-position-embeddings", FACT(sequence)},
    {"--position-embedding-type", FACT(positions), .fallback = "table",
     WORDS({"rotary", "rope"}, {"none", "none"})},
    {"--rotary-base", FACT(rotary_base), .fallback = "10000"},
    LAUNCH_NEWLINE,
    {"--swiglu", FACT(activation), LAUNCH_SWITCH, .on = "swiglu"},
    {"--squared-relu", FACT(activation), LAUNCH_SWITCH, .on = "squared-relu"},
    {"--normalization", FACT(norm), .fallback = "layer", WORDS({"rms", "RMSNorm"})},
    {"--disable-bias-linear", FACT(biases), LAUNCH_SWITCH, .on = "off"},
    {"--add-qkv-bias", FACT(qkv_bias), LAUNCH_SWITCH},
    {"--qk-layernorm", FACT(qk_norm), LAUNCH_SWITCH},
    {"--window-size", FACT(window)},
    {"--window-attn-skip-freq", FACT(windowed)},
    {"--softmax-type", FACT(sinks), WORDS({"on", "learnable"})},
    {"--untie-embeddings-and-output-weights", FACT(tied), LAUNCH_SWITCH, .on = "off"},
    {"--attention-dropout", FACT(dropout), .fallback = "on", WORDS({"off", "0"})},
    {"--hidden-dropout", FACT(dropout), .fallback = "on", WORDS({"off", "0"})},
    LAUNCH_NEWLINE,
    {"--num-experts", FACT(experts)},
    {"--moe-router-topk", FACT(topk)},
    {"--moe-token-dispatcher-type", FACT(dispatch),
     WORDS({"alltoall", "alltoall"}, {"allgather", "allgather"}, {"deepep", "flex"})},
    {"--moe-flex-dispatcher-backend", FACT(relays), WORDS({"on", "deepep"})},
    {"--moe-shared-expert-overlap", FACT(ep_overlap), LAUNCH_SWITCH, .on = "shared"},
    {"--overlap-moe-expert-parallel-comm", FACT(ep_overlap), LAUNCH_SWITCH, .on = "micro-batches"},
    {"--moe-grouped-gemm", FACT(with_experts), LAUNCH_SWITCH},
    {"--moe-ffn-hidden-size", FACT(expert_ffn)},
    {"--moe-shared-expert-intermediate-size", FACT(shared_ffn)},
    {"--moe-layer-freq", FACT(expert_layers)},
    {"--moe-router-score-function", FACT(router), .fallback = "softmax"},
    {"--moe-router-num-groups", FACT(groups)},
    {"--moe-router-group-topk", FACT(top_groups)},
    {"--moe-expert-capacity-factor", FACT(capacity)},
    {"--moe-pad-expert-input-to-capacity", FACT(pads), LAUNCH_SWITCH},
    {"--expert-model-parallel-size", FACT(ep)},
    {"--expert-tensor-parallel-size", FACT(etp)},
    LAUNCH_NEWLINE,
    {"--tensor-model-parallel-size", FACT(tp)},
    {"--sequence-parallel", FACT(sequence_parallel), LAUNCH_SWITCH},
    {"--tp-comm-overlap", FACT(tp_overlap), LAUNCH_SWITCH},
    {"--pipeline-model-parallel-size", FACT(pp)},
    {"--pipeline-model-parallel-layout", FACT(layout)},
    {"--num-layers-per-virtual-pipeline-stage", FACT(chunk_layers)},
    {"--microbatch-group-size-per-virtual-pipeline-stage", FACT(group)},
    {"--decoder-first-pipeline-num-layers", FACT(first_layers)},
    {"--decoder-last-pipeline-num-layers", FACT(last_layers)},
    {"--account-for-embedding-in-pipeline-split", FACT(ends_count), LAUNCH_SWITCH},
    {"--account-for-loss-in-pipeline-split", FACT(ends_count), LAUNCH_SWITCH},
    {"--no-overlap-p2p-communication", FACT(overlap_p2p), LAUNCH_SWITCH, .on = "off"},
    {"--context-parallel-size", FACT(cp)},
    {"--cp-comm-type", FACT(cp_comm), .fallback = "ring",
     WORDS({"ring", "p2p"}, {"all-gather", "all_gather"}, {"all-to-all", "a2a"})},
    LAUNCH_NEWLINE,
    {"--micro-batch-size", FACT(micro_batch)},
    {"--global-batch-size", FACT(batch)},
    {"--bf16", FACT(bf16), LAUNCH_SWITCH},
    {"--fp8-format", FACT(fp8), /* mxfp8: e4m3, as Megatron-Bridge's bf16_with_mxfp8_mixed has it */
     WORDS({"delayed", "hybrid"}, {"tensorwise", "hybrid"}, {"blockwise", "hybrid"}, {"mxfp8", "e4m3"})},
    {"--fp8-recipe", FACT(fp8)},
    {"--fp8-param-gather", FACT(fp8_params), LAUNCH_SWITCH},
    {"--fp4-format", FACT(fp4), WORDS({"nvfp4", "e2m1"})},
    LAUNCH_NEWLINE,
    {"--use-distributed-optimizer", FACT(shards_optimizer), LAUNCH_SWITCH},
    {"--use-megatron-fsdp", FACT(fully_sharded), LAUNCH_SWITCH},
    {"--data-parallel-sharding-strategy", FACT(full_sharding),
     WORDS({"2", "optim_grads"}, {"3", "optim_grads_params"})},
    {"--ckpt-format", FACT(full_sharding), WORDS({"2", "fsdp_dtensor"}, {"3", "fsdp_dtensor"})},
    {"--no-gradient-accumulation-fusion", FACT(fully_sharded), LAUNCH_SWITCH},
    {"--num-distributed-optimizer-instances", FACT(replicas)},
    {"--overlap-grad-reduce", FACT(overlap_gradients), LAUNCH_SWITCH},
    {"--overlap-param-gather", FACT(overlap_parameters), LAUNCH_SWITCH},
    LAUNCH_NEWLINE,
    {"--recompute-granularity", FACT(recompute), .fallback = "none",
     WORDS({"selective", "selective"}, {"full", "full"})},
    {"--recompute-modules", FACT(recompute_modules)},
    {"--recompute-method", FACT(recompute_method)},
    {"--recompute-num-layers", FACT(recompute_count)},
    {"--attention-backend", FACT(attention), .fallback = "fused",
     WORDS({"unfused", "unfused"}, {"flash2", "flash"})},
    LAUNCH_NEWLINE,
    {"--mock-data", .fixed = ""},
    {"--tokenizer-type", .fixed = "NullTokenizer"},
    {"--vocab-size", FACT(vocabulary)},
};

static const launch_rule no_notes[] = {{NULL, NULL}};

static dse_status write_megatron(const launch_job *j, dse_strbuf *out, dse_error *err)
{
    dse_status st = launch_refuse(refused, j, err);

    if (st != DSE_OK)
        return st;
    put_head(&launch_megatron, no_notes, j,
             "Fill in the learning rate (--lr, --min-lr, --lr-decay-style, --lr-warmup-iters), the length "
             "(--train-iters) and, in "
             "place of mock data, yours (--data-path, --tokenizer-type, --tokenizer-model).",
             "pretrain_gpt.py", out);
    st = put_rows(j, megatron_rows, DSE_COUNT(megatron_rows), launch_megatron.title, out, err);
    dse_strbuf_addc(out, '\n');
    return st;
}

const launch_program launch_megatron = {.name = "megatron",
                                        .title = "Megatron-LM",
                                        .version = "core_v0.19.0 (5be96267) and main of 2026-08 (d98e8a64)",
                                        .comment = "#",
                                        .like = "megatron",
                                        .write = write_megatron};

/* ---- Megatron-Bridge --------------------------------------------------------------------------- */

/* Its recipe of a plain GPT has Megatron-LM's defaults and nothing of its own; recipes of models differ
 * from what was simulated where they know better, in overlap, graphs, precision. A dash begins what its
 * script has options for, the others override fields of its configuration. Sources:
 * scripts/training/run_recipe.py, src/megatron/bridge/recipes/gpt, training/mixed_precision.py. Its
 * presets of 8 bits have a word on parameters of their own. */
static const launch_option bridge_rows[] = {
    {"--recipe", .fixed = "vanilla_gpt_pretrain_config"},
    {"--mode", .fixed = "pretrain"},
    {"--dataset", .fixed = "mock"},
    LAUNCH_NEWLINE,
    {"-tp", FACT(tp)},
    {"-pp", FACT(pp)},
    {"-vp", FACT(vp)},
    {"-cp", FACT(cp)},
    {"-ep", FACT(ep)},
    {"-etp", FACT(etp)},
    {"-mb", FACT(micro_batch)},
    {"-gb", FACT(batch)},
    {"-sl", FACT(sequence)},
    LAUNCH_NEWLINE,
    {"model.virtual_pipeline_model_parallel_size", FACT(no_vp), WORDS({"on", "null"})},
    {"model.microbatch_group_size_per_vp_stage", FACT(group)},
    {"model.pipeline_model_parallel_layout", FACT(layout)},
    {"model.num_layers_in_first_pipeline_stage", FACT(first_layers)},
    {"model.num_layers_in_last_pipeline_stage", FACT(last_layers)},
    {"model.account_for_embedding_in_pipeline_split", FACT(ends_count), LAUNCH_SWITCH, .fallback = "off"},
    {"model.account_for_loss_in_pipeline_split", FACT(ends_count), LAUNCH_SWITCH, .fallback = "off"},
    {"model.overlap_p2p_comm", FACT(overlap_p2p), LAUNCH_SWITCH},
    {"model.batch_p2p_comm", FACT(overlap_p2p), LAUNCH_SWITCH, .on = "off"},
    {"model.sequence_parallel", FACT(sequence_parallel), LAUNCH_SWITCH, .absent = "false"},
    {"model.tp_comm_overlap", FACT(tp_overlap), LAUNCH_SWITCH, .fallback = "off"},
    {"model.cp_comm_type", FACT(cp_comm),
     WORDS({"ring", "p2p"}, {"all-gather", "all_gather"}, {"all-to-all", "a2a"})},
    LAUNCH_NEWLINE,
    {"model.recompute_granularity", FACT(recompute),
     WORDS({"none", "null"}, {"selective", "selective"}, {"full", "full"})},
    {"model.recompute_modules", FACT(recompute_list)},
    {"model.recompute_method", FACT(recompute_method), .absent = "null"},
    {"model.recompute_num_layers", FACT(recompute_count), .absent = "null"},
    {"model.attention_backend", FACT(attention), .fallback = "fused",
     WORDS({"unfused", "unfused"}, {"flash2", "flash"})},
    {"model.cuda_graph_impl", .fixed = "none"},
    LAUNCH_NEWLINE,
    {"ddp.use_distributed_optimizer", FACT(shards_optimizer), LAUNCH_SWITCH},
    {"optimizer.use_distributed_optimizer", FACT(shards_optimizer),
     LAUNCH_SWITCH}, /* either switches both on */
    {"ddp.use_megatron_fsdp", FACT(fully_sharded), LAUNCH_SWITCH},
    {"ddp.data_parallel_sharding_strategy", FACT(full_sharding),
     WORDS({"2", "optim_grads"}, {"3", "optim_grads_params"})},
    {"checkpoint.ckpt_format", FACT(full_sharding), WORDS({"2", "fsdp_dtensor"}, {"3", "fsdp_dtensor"})},
    {"ddp.num_distributed_optimizer_instances", FACT(replicas)},
    {"ddp.overlap_grad_reduce", FACT(overlap_gradients), LAUNCH_SWITCH},
    {"ddp.overlap_param_gather", FACT(overlap_parameters), LAUNCH_SWITCH},
    {"mixed_precision", FACT(low_recipe),
     WORDS({"fp32", "null"}, {"none", "bf16_mixed"}, {"delayed", "bf16_with_fp8_delayed_scaling_mixed"},
           {"tensorwise", "bf16_with_fp8_current_scaling_mixed"},
           {"blockwise", "bf16_with_fp8_subchannel_scaling_mixed"}, {"mxfp8", "bf16_with_mxfp8_mixed"},
           {"nvfp4", "bf16_with_nvfp4_mixed"})},
    LAUNCH_NEWLINE,
    {"model.num_layers", FACT(layers)},
    {"model.mtp_num_layers", FACT(mtp_layers)},
    {"model.hidden_size", FACT(hidden)},
    {"model.ffn_hidden_size", FACT(ffn)},
    {"model.num_attention_heads", FACT(heads)},
    {"model.num_query_groups", FACT(kv_heads)},
    {"model.kv_channels", FACT(head_size)},
    {"model.position_embedding_type", FACT(positions),
     WORDS({"rotary", "rope"}, {"table", "learned_absolute"}, {"none", "none"})},
    {"model.rotary_base", FACT(rotary_base)},
    {"model.normalization", FACT(norm), WORDS({"rms", "RMSNorm"}, {"layer", "LayerNorm"})},
    {"model.activation_func", FACT(activation),
     WORDS({"gelu", "gelu"}, {"swiglu", "silu"}, {"squared-relu", "squared_relu"})},
    {"model.gated_linear_unit", FACT(activation), LAUNCH_SWITCH, .on = "swiglu"},
    {"model.add_bias_linear", FACT(biases), LAUNCH_SWITCH},
    {"model.add_qkv_bias", FACT(qkv_bias), LAUNCH_SWITCH, .fallback = "off"},
    {"model.qk_layernorm", FACT(qk_norm), LAUNCH_SWITCH, .fallback = "off"},
    {"model.window_size", FACT(window_list)},
    {"model.window_attn_skip_freq", FACT(windowed)},
    {"model.softmax_type", FACT(sinks), WORDS({"on", "learnable"})},
    {"model.share_embeddings_and_output_weights", FACT(tied), LAUNCH_SWITCH},
    {"model.attention_dropout", FACT(dropout), .fallback = "on", WORDS({"off", "0.0"})},
    {"model.hidden_dropout", FACT(dropout), .fallback = "on", WORDS({"off", "0.0"})},
    {"model.num_moe_experts", FACT(experts)},
    {"model.moe_router_topk", FACT(topk)},
    {"model.moe_token_dispatcher_type", FACT(dispatch),
     WORDS({"alltoall", "alltoall"}, {"allgather", "allgather"}, {"deepep", "flex"})},
    {"model.moe_flex_dispatcher_backend", FACT(relays), WORDS({"on", "deepep"})},
    {"model.moe_shared_expert_overlap", FACT(ep_overlap), LAUNCH_SWITCH, .on = "shared"},
    {"model.overlap_moe_expert_parallel_comm", FACT(ep_overlap), LAUNCH_SWITCH, .on = "micro-batches"},
    {"model.moe_grouped_gemm", FACT(with_experts), LAUNCH_SWITCH},
    {"model.moe_ffn_hidden_size", FACT(expert_ffn)},
    {"model.moe_shared_expert_intermediate_size", FACT(shared_ffn)},
    {"model.moe_layer_freq", FACT(expert_layers)},
    {"model.moe_router_score_function", FACT(router), .fallback = "softmax"},
    {"model.moe_router_num_groups", FACT(groups)},
    {"model.moe_router_group_topk", FACT(top_groups)},
    {"model.moe_expert_capacity_factor", FACT(capacity)},
    {"model.moe_pad_expert_input_to_capacity", FACT(pads), LAUNCH_SWITCH},
    {"tokenizer.vocab_size", FACT(vocabulary)},
};

/* Presets of 8 and 4 bits gather parameters in these but with scales of blocks. */
static bool differs_from_preset(const launch_job *j)
{
    const char *recipe = strategy_parameters[STRATEGY_fp8_recipe].choices[j->point.fp8_recipe];

    return j->point.fp8_recipe && (strcmp(recipe, "blockwise") != 0) != (j->point.fp8_params == 1);
}

static const launch_rule bridge_notes[] = {
    {differs_from_preset, "Bridge's preset of mixed precision differs from what was simulated in whether "
                          "parameters are gathered in "
                          "fewer bits (fp8_param_gather, fp4_param_gather)."},
    {NULL, NULL},
};

static bool has_latents(const launch_job *j) { return j->kv_rank > 0; }

static const launch_rule refused_by_bridge[] = {
    {has_latents, "Bridge's recipe of a plain GPT has no latent attention; take its recipe of the model, or "
                  "--program megatron"},
    {NULL, NULL},
};

static dse_status write_bridge(const launch_job *j, dse_strbuf *out, dse_error *err)
{
    dse_status st = launch_refuse(refused_by_bridge, j, err);

    if (st == DSE_OK)
        st = launch_refuse(refused, j, err);

    if (st != DSE_OK)
        return st;
    put_head(&launch_bridge, bridge_notes, j,
             "Fill in the learning rate (--lr, --min_lr, --warmup_iters), the length (--max_steps) and, in "
             "place of mock data, "
             "yours (--dataset, tokenizer.*). Recipes of models (--recipe "
             "llama3_70b_pretrain_32gpu_h100_bf16_config) bring these "
             "and the model; then model.num_layers and what follows are not needed.",
             "scripts/training/run_recipe.py", out);
    st = put_rows(j, bridge_rows, DSE_COUNT(bridge_rows), launch_bridge.title, out, err);
    dse_strbuf_addc(out, '\n');
    return st;
}

const launch_program launch_bridge = {.name = "bridge",
                                      .title = "Megatron-Bridge",
                                      .version = "main of 2026-08 (067f987d)",
                                      .comment = "#",
                                      .like = "bridge",
                                      .write = write_bridge};
