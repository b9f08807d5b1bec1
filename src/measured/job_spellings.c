/* The names under which tables of measured runs say things: one row a spelling. The first that a table is
 * read for is the documented one (README.md); the others are those of the published tables in
 * configs/measured, of CCL-Bench's leaderboard (benchmark_data.json, a workload card flattened) and of
 * Hugging Face's trainer. */
#include "measured/job_spellings.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#define AT(field) offsetof(msr_row, field)

#define FIELD(name, type, place, min) {ROW_##type, AT(place), min},
const msr_field msr_fields[N_FIELDS] = {MSR_FIELDS(FIELD)};

#define ANY (IN_ROW | IN_MODEL | IN_CARD)

const msr_section msr_sections[] = {
    {IN_ROW, ""},          {IN_MODEL, "model"},     {IN_HARDWARE, "hardware"}, {IN_CARD, "config"},
    {IN_CARD, "metadata"}, {IN_VALUES, "measured"}, {IN_VALUES, "metrics"},    {IN_SOURCE, "source"},
};

const size_t msr_n_sections = DSE_COUNT(msr_sections);

const msr_spelling msr_spellings[] = {
    {F_NAME, IN_ROW, {"id"}, NULL, 0},
    {F_WORKLOAD_NAME, IN_ROW | IN_CARD, {"workload_name"}, NULL, 0},
    {F_TRACE, IN_ROW, {"trace"}, NULL, 0},
    {F_STATUS, IN_ROW, {"status"}, NULL, 0},
    {F_REPEAT_OF, IN_ROW, {"repeat_of"}, NULL, 0},
    {F_QUANTITY, IN_ROW, {"quantity"}, NULL, 0},
    {F_FAMILY, IN_ROW | IN_CARD, {"model_family"}, NULL, 0},
    {F_FAMILY, IN_ROW, {"model_name", "model"}, NULL, 0},
    {F_FAMILY, ANY, {"family"}, NULL, 0},
    {F_FAMILY, IN_MODEL, {"name"}, NULL, 0},
    {F_LAYERS, ANY, {"layers", "num_layers", "num_hidden_layers"}, NULL, 0},
    {F_D_MODEL, ANY, {"d_model", "hidden", "hidden_size"}, NULL, 0},
    {F_D_FF, ANY, {"d_ff", "ffn", "ffn_hidden_size", "intermediate_size"}, NULL, 0},
    {F_HEADS, ANY, {"heads", "num_heads", "num_attention_heads"}, NULL, 0},
    {F_KV_HEADS, ANY, {"kv_heads", "num_key_value_heads"}, NULL, 0},
    {F_HEAD_DIM, ANY, {"head_dim"}, NULL, 0},
    {F_VOCABULARY, ANY, {"vocabulary", "vocab", "vocab_size"}, NULL, 0},
    {F_PARAMS, ANY, {"num_params", "params"}, NULL, 0},
    {F_PARAMS, ANY, {"params_billion"}, NULL, 1e9},
    {F_PARAMS_EMBEDDING, ANY, {"num_params_embedding"}, NULL, 0},
    {F_MOE, ANY, {"moe"}, NULL, 0},
    {F_EXPERTS, ANY, {"experts", "num_experts"}, NULL, 0},
    {F_TOP_K, ANY, {"top_k", "experts_per_token", "router_topk", "num_experts_per_tok"}, NULL, 0},
    {F_EXPERT_D_FF, ANY, {"expert_d_ff", "moe_d_ff", "moe_ffn", "moe_intermediate_size"}, NULL, 0},
    {F_SHARED_D_FF, ANY, {"shared_expert_d_ff", "shared_expert_intermediate"}, NULL, 0},
    {F_DENSE_LAYERS, ANY, {"dense_first_layers", "first_dense_layers", "first_k_dense_replace"}, NULL, 0},
    {F_MLP, ANY, {"mlp"}, NULL, 0},
    {F_ACTIVATION, ANY, {"activation"}, NULL, 0},
    {F_TIED, ANY, {"tied_embeddings", "tie_word_embeddings"}, NULL, 0},
    {F_MTP_LAYERS, IN_ROW | IN_MODEL, {"mtp_layers", "mtp_num_layers"}, NULL, 0},
    {F_REMARK, IN_ROW, {"note"}, NULL, 0},
    {F_BATCH, IN_ROW | IN_CARD, {"global_batch", "global_batch_size", "gbs"}, NULL, 0},
    {F_BATCH, IN_ROW, {"global_batch_by_run_script"}, NULL, 0},
    {F_BATCH, IN_ROW | IN_CARD, {"batch_size"}, NULL, 0}, /* of a card: over all ranks */
    {F_LOCAL_BATCH, IN_ROW, {"local_batch", "per_device_batch"}, NULL, 0},
    {F_CHIP_BATCH,
     IN_ROW,
     {"per_chip_batch"},
     NULL,
     0}, /* MaxText's: over all chips, whatever shares a sequence */
    {F_MICRO_BATCH, IN_ROW, {"micro_batch", "micro_batch_size", "mbs", "micro_bsz"}, NULL, 0},
    {F_MICRO_BATCH, IN_ROW, {"per_device_train_batch_size"}, NULL, 0},
    {F_MICRO_BATCHES, IN_ROW, {"micro_batches", "num_microbatches", "micro_num"}, NULL, 0},
    {F_MICRO_BATCHES, IN_ROW | IN_CARD, {"pp_mb"}, NULL, 0},
    {F_ACCUMULATION, IN_ROW, {"gradient_accumulation_steps"}, NULL, 0},
    {F_SEQUENCE, ANY, {"sequence", "seq_len", "sequence_length", "seq_length"}, NULL, 0},
    {F_SEQUENCE, IN_ROW, {"max_seq_len", "max_target_length"}, NULL, 0},
    {F_PRECISION, IN_ROW | IN_CARD, {"precision"}, NULL, 0},
    {F_PRECISION, IN_ROW, {"dtype"}, NULL, 0},
    {F_QUANTIZATION, IN_ROW, {"quantization"}, NULL, 0},
    {F_FLOAT8, IN_ROW, {"float8"}, NULL, 0},
    {F_RECOMPUTE, IN_ROW, {"recompute", "activation_checkpointing"}, NULL, 0},
    {F_POLICY,
     IN_ROW,
     {"remat_policy", "maxtext_config.remat_policy"},
     NULL,
     0}, /* where `recompute` says nothing */
    {F_RECOMPUTE_LAYERS, IN_ROW, {"recompute_layers"}, NULL, 0},
    {F_OFFLOADS, IN_ROW, {"activation_cpu_offload", "recipe.activation_cpu_offload"}, NULL, 0},
    {F_OFFLOADED_LAYERS, IN_ROW, {"cpu_offloading_num_layers", "recipe.cpu_offloading_num_layers"}, NULL, 0},
    {F_TP_OVERLAP, IN_ROW, {"async_tp", "tp_comm_overlap"}, NULL, 0},
    {F_COMPILER, IN_ROW, {"compile"}, NULL, 0},
    {F_PHASE, IN_ROW | IN_CARD, {"phase"}, NULL, 0},
    {F_GRANULARITY, IN_ROW | IN_CARD, {"granularity"}, NULL, 0},
    {F_DP, IN_ROW | IN_CARD, {"dp"}, NULL, 0},
    {F_DP_REPLICATE, IN_ROW | IN_CARD, {"dp_replicate"}, NULL, 0},
    {F_DP_SHARD, IN_ROW | IN_CARD, {"dp_shard", "fsdp"}, NULL, 0},
    {F_TP, IN_ROW | IN_CARD, {"tp"}, NULL, 0},
    {F_PP, IN_ROW | IN_CARD, {"pp"}, NULL, 0},
    {F_CP, IN_ROW | IN_CARD, {"cp"}, NULL, 0},
    {F_EP, IN_ROW | IN_CARD, {"ep"}, NULL, 0},
    {F_ETP, IN_ROW, {"etp", "expert_tensor_parallel_size", "recipe.expert_tensor_parallel_size"}, NULL, 0},
    {F_DISPATCH,
     IN_ROW,
     {"dispatch", "moe_token_dispatcher_type", "recipe.moe_flex_dispatcher_backend"},
     NULL,
     0},
    {F_EP_OVERLAP, IN_ROW, {"overlap_moe_expert_parallel_comm", "recipe.moe_a2a_overlap"}, NULL, 0},
    {F_RANK_ORDER, IN_ROW | IN_CARD, {"rank_order"}, NULL, 0},
    {F_INTERLEAVING, IN_ROW, {"interleaving", "vp", "virtual_pipeline"}, NULL, 0},
    {F_SCHEDULE, IN_ROW, {"schedule", "pipeline_schedule"}, NULL, 0},
    {F_PARTITION, IN_ROW, {"pipeline_partition"}, NULL, 0},
    {F_LAYOUT, IN_ROW, {"pipeline_layout", "pipeline_model_parallel_layout", "recipe.pp_layout"}, NULL, 0},
    {F_SEQUENCE_PARALLEL, IN_ROW | IN_MODEL, {"sequence_parallel"}, NULL, 0},
    {F_ZERO_STAGE, IN_ROW, {"zero_stage"}, NULL, 0},
    {F_OPTIMIZER_SHARDING, IN_ROW, {"optimizer_sharding"}, NULL, 0},
    {F_SHARD_GROUP, IN_ROW, {"shard_group", "optimizer_shard_group"}, NULL, 0},
    {F_RESHARDS, IN_ROW, {"reshard_after_forward", "fsdp_reshard_after_forward"}, NULL, 0},
    {F_DEVICE, IN_ROW | IN_HARDWARE, {"device"}, NULL, 0},
    {F_DEVICE, IN_ROW, {"hardware"}, NULL, 0},
    {F_DEVICE, IN_ROW | IN_HARDWARE, {"gpu"}, NULL, 0},
    {F_DEVICE, IN_CARD, {"hardware_model"}, NULL, 0},
    {F_MACHINE, IN_ROW | IN_HARDWARE, {"machine", "system"}, NULL, 0},
    {F_FRAMEWORK, IN_ROW | IN_CARD, {"framework"}, NULL, 0},
    {F_FRAMEWORK_NOTE, IN_ROW, {"framework_note"}, NULL, 0},
    {F_REPOSITORY, IN_SOURCE, {"repository"}, NULL, 0},
    {F_N_DEVICES, IN_ROW | IN_CARD, {"n_devices"}, NULL, 0},
    {F_N_DEVICES, IN_ROW, {"n_gpus", "num_gpus", "world_size", "n_gpus_used"}, NULL, 0},
    {F_N_DEVICES, IN_ROW, {"num_devices", "chips"}, NULL, 0},
    {F_N_DEVICES, IN_ROW | IN_CARD, {"total_count"}, NULL, 0},
    {F_DEVICES_PER_NODE, IN_ROW | IN_HARDWARE, {"devices_per_node", "gpus_per_node"}, NULL, 0},
    {F_DEVICES_PER_NODE, IN_CARD, {"count_per_node"}, NULL, 0},
    {F_STEP_TIME, IN_ROW | IN_VALUES, {"step_time", "iteration_time"}, NULL, 0},
    {F_STEP_TIME, IN_ROW, {"step_time_s_approx"}, "s", 0},
    {F_STEP_TIME, IN_VALUES, {"avg_step_time"}, "s", 0}, /* by the definition of that metric */
    {F_TOKENS_PER_DEVICE, IN_ROW | IN_VALUES, {"tokens_per_s_per_device", "tokens_per_s_per_gpu"}, NULL, 0},
    {F_TOKENS_PER_DEVICE, IN_ROW | IN_VALUES, {"tokens_per_s_per_chip"}, NULL, 0},
    {F_TOKENS_TOTAL, IN_ROW | IN_VALUES, {"tokens_per_s_total"}, NULL, 0},
    {F_TOKENS, IN_ROW | IN_VALUES, {"tokens_per_s"}, NULL, 0},
    {F_PEAK_MEMORY, IN_ROW | IN_VALUES, {"peak_memory", "memory"}, NULL, 0},
    {F_PEAK_MEMORY, IN_ROW, {"memory_gib.*.phases.*.phase_peak_gib"}, "gib", 0},
    {F_RESIDENT, IN_ROW, {"params_and_optimizer"}, NULL, 0},
    {F_ACTIVATIONS, IN_ROW, {"activations"}, NULL, 0},
};
const size_t msr_n_spellings = DSE_COUNT(msr_spellings);

/* ---- units --------------------------------------------------------------------------------- */

static const struct {
    row_type type;
    const char *name;
    double in_base; /* seconds, bytes */
} units[] = {
    {ROW_SECONDS, "s", 1},          {ROW_SECONDS, "ms", 1e-3},   {ROW_SECONDS, "us", 1e-6},
    {ROW_SECONDS, "ns", 1e-9},      {ROW_SECONDS, "min", 60},    {ROW_SECONDS, "h", 3600},
    {ROW_BYTES, "bytes", 1},        {ROW_BYTES, "kb", 1e3},      {ROW_BYTES, "kib", 1024},
    {ROW_BYTES, "mb", 1e6},         {ROW_BYTES, "mib", 1048576}, {ROW_BYTES, "gb", 1e9},
    {ROW_BYTES, "gib", 1073741824}, {ROW_BYTES, "tb", 1e12},     {ROW_BYTES, "tib", 1099511627776.0},
};

double msr_unit_value(row_type type, const char *name)
{
    for (size_t i = 0; i < DSE_COUNT(units); i++)
        if (units[i].type == type && !strcasecmp(units[i].name, name))
            return units[i].in_base;
    return NAN;
}

const char *msr_known_units(row_type type, char out[MSR_UNITS_TEXT])
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < DSE_COUNT(units) && n < MSR_UNITS_TEXT; i++)
        if (units[i].type == type)
            n += (size_t)snprintf(out + n, MSR_UNITS_TEXT - n, "%s%s", n ? ", " : "", units[i].name);
    return out;
}
