/* The names under which tables of measured runs say things: one row a spelling. The first that a table is read for is the
 * documented one (README.md); the others are those of the published tables in configs/measured, of CCL-Bench's leaderboard
 * (benchmark_data.json, a workload card flattened) and of Hugging Face's trainer. */
#include "measured/job_spellings.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define AT(field)    offsetof(msr_row, field)

const msr_field msr_fields[N_FIELDS] = {
    [F_NAME] = {ROW_TEXT, AT(job.name), 0, 0},
    [F_WORKLOAD_NAME] = {ROW_TEXT, AT(workload_name), 0, 0},
    [F_TRACE] = {ROW_TEXT, AT(trace), 0, 0},
    [F_STATUS] = {ROW_TEXT, AT(status), 0, 0},
    [F_REPEAT_OF] = {ROW_TEXT, AT(repeat_of), 0, 0},
    [F_QUANTITY] = {ROW_TEXT, AT(quantity), 0, 0},
    [F_FAMILY] = {ROW_TEXT, AT(job.family), 0, 0},
    [F_LAYERS] = {ROW_INT, AT(job.layers), 1, 0},
    [F_D_MODEL] = {ROW_INT, AT(job.d_model), 1, 0},
    [F_D_FF] = {ROW_WIDTH, AT(job.d_ff), 1, F_FF_RATIO},
    [F_FF_RATIO] = {ROW_INT, AT(ff_ratio), 1, 0},
    [F_HEADS] = {ROW_INT, AT(job.heads), 1, 0},
    [F_KV_HEADS] = {ROW_INT, AT(job.kv_heads), 1, 0},
    [F_HEAD_DIM] = {ROW_INT, AT(job.head_dim), 1, 0},
    [F_VOCABULARY] = {ROW_INT, AT(job.vocabulary), 1, 0},
    [F_PARAMS] = {ROW_NUMBER, AT(job.num_params), 0, 0},
    [F_PARAMS_EMBEDDING] = {ROW_NUMBER, AT(job.num_params_embedding), 0, 0},
    [F_MOE] = {ROW_FLAG, AT(job.moe), 0, 0},
    [F_EXPERTS] = {ROW_INT, AT(experts), 0, 0},
    [F_BATCH] = {ROW_INT, AT(job.batch), 1, 0},
    [F_LOCAL_BATCH] = {ROW_INT, AT(local_batch), 1, 0},
    [F_MICRO_BATCH] = {ROW_INT, AT(job.micro_batch), 1, 0},
    [F_MICRO_BATCHES] = {ROW_INT, AT(job.micro_batches), 1, 0},
    [F_ACCUMULATION] = {ROW_INT, AT(accumulation), 1, 0},
    [F_SEQUENCE] = {ROW_INT, AT(job.sequence), 1, 0},
    [F_PRECISION] = {ROW_TEXT, AT(job.precision), 0, 0},
    [F_QUANTIZATION] = {ROW_TEXT, AT(quantization), 0, 0},
    [F_FLOAT8] = {ROW_FLAG, AT(job.float8), 0, 0},
    [F_RECOMPUTE] = {ROW_WORDS, AT(recompute), 0, F_CHECKPOINTING},
    [F_CHECKPOINTING] = {ROW_FLAG, AT(checkpointing), 0, 0},
    [F_PHASE] = {ROW_PHASE, AT(job.phase), 0, 0},
    [F_GRANULARITY] = {ROW_TEXT, AT(job.granularity), 0, 0},
    [F_DP] = {ROW_INT, AT(job.dp), 1, 0},
    [F_DP_REPLICATE] = {ROW_INT, AT(job.dp_replicate), 1, 0},
    [F_DP_SHARD] = {ROW_INT, AT(job.dp_shard), 1, 0},
    [F_TP] = {ROW_INT, AT(job.tp), 1, 0},
    [F_PP] = {ROW_INT, AT(job.pp), 1, 0},
    [F_CP] = {ROW_INT, AT(job.cp), 1, 0},
    [F_EP] = {ROW_INT, AT(job.ep), 1, 0},
    [F_RANK_ORDER] = {ROW_TEXT, AT(job.rank_order), 0, 0},
    [F_INTERLEAVING] = {ROW_INT, AT(job.interleaving), 1, 0},
    [F_SEQUENCE_PARALLEL] = {ROW_FLAG, AT(job.sequence_parallel), 0, 0},
    [F_ZERO_STAGE] = {ROW_INT, AT(job.zero_stage), 0, 0},
    [F_OPTIMIZER_SHARDING] = {ROW_FLAG, AT(optimizer_sharding), 0, 0},
    [F_DEVICE] = {ROW_TEXT, AT(job.device), 0, 0},
    [F_MACHINE] = {ROW_TEXT, AT(job.machine), 0, 0},
    [F_FRAMEWORK] = {ROW_TEXT, AT(job.framework), 0, 0},
    [F_FRAMEWORK_NOTE] = {ROW_TEXT, AT(framework_note), 0, 0},
    [F_REPOSITORY] = {ROW_TEXT, AT(repository), 0, 0},
    [F_N_DEVICES] = {ROW_INT, AT(job.n_devices), 1, 0},
    [F_DEVICES_PER_NODE] = {ROW_INT, AT(job.devices_per_node), 1, 0},
    [F_STEP_TIME] = {ROW_SECONDS, AT(job.step_time_s), 0, 0},
    [F_TOKENS_PER_DEVICE] = {ROW_NUMBER, AT(tokens_per_s_per_device), 0, 0},
    [F_TOKENS_TOTAL] = {ROW_NUMBER, AT(tokens_per_s_total), 0, 0},
    [F_TOKENS] = {ROW_NUMBER, AT(tokens_per_s), 0, 0},
    [F_PEAK_MEMORY] = {ROW_BYTES, AT(job.peak_memory_bytes), 0, 0},
    [F_RESIDENT] = {ROW_BYTES, AT(resident_bytes), 0, 0},
    [F_ACTIVATIONS] = {ROW_BYTES, AT(activation_bytes), 0, 0},
};

#define ANY (IN_ROW | IN_MODEL | IN_CARD)

const msr_section msr_sections[] = {
    {IN_ROW, ""},          {IN_MODEL, "model"},     {IN_HARDWARE, "hardware"}, {IN_CARD, "config"},
    {IN_CARD, "metadata"}, {IN_VALUES, "measured"}, {IN_VALUES, "metrics"},    {IN_SOURCE, "source"},
};

const size_t msr_n_sections = COUNT(msr_sections);

const msr_spelling msr_spellings[] = {
    {"id", IN_ROW, F_NAME, NULL, 0},
    {"workload_name", IN_ROW | IN_CARD, F_WORKLOAD_NAME, NULL, 0},
    {"trace", IN_ROW, F_TRACE, NULL, 0},
    {"status", IN_ROW, F_STATUS, NULL, 0},
    {"repeat_of", IN_ROW, F_REPEAT_OF, NULL, 0},
    {"quantity", IN_ROW, F_QUANTITY, NULL, 0},
    {"model_family", IN_ROW | IN_CARD, F_FAMILY, NULL, 0},
    {"model_name", IN_ROW, F_FAMILY, NULL, 0},
    {"model", IN_ROW, F_FAMILY, NULL, 0},
    {"family", ANY, F_FAMILY, NULL, 0},
    {"name", IN_MODEL, F_FAMILY, NULL, 0},
    {"layers", ANY, F_LAYERS, NULL, 0},
    {"num_layers", ANY, F_LAYERS, NULL, 0},
    {"num_hidden_layers", ANY, F_LAYERS, NULL, 0},
    {"d_model", ANY, F_D_MODEL, NULL, 0},
    {"hidden", ANY, F_D_MODEL, NULL, 0},
    {"hidden_size", ANY, F_D_MODEL, NULL, 0},
    {"d_ff", ANY, F_D_FF, NULL, 0},
    {"ffn", ANY, F_D_FF, NULL, 0},
    {"ffn_hidden_size", ANY, F_D_FF, NULL, 0},
    {"intermediate_size", ANY, F_D_FF, NULL, 0},
    {"heads", ANY, F_HEADS, NULL, 0},
    {"num_heads", ANY, F_HEADS, NULL, 0},
    {"num_attention_heads", ANY, F_HEADS, NULL, 0},
    {"kv_heads", ANY, F_KV_HEADS, NULL, 0},
    {"num_key_value_heads", ANY, F_KV_HEADS, NULL, 0},
    {"head_dim", ANY, F_HEAD_DIM, NULL, 0},
    {"vocabulary", ANY, F_VOCABULARY, NULL, 0},
    {"vocab", ANY, F_VOCABULARY, NULL, 0},
    {"vocab_size", ANY, F_VOCABULARY, NULL, 0},
    {"num_params", ANY, F_PARAMS, NULL, 0},
    {"params", ANY, F_PARAMS, NULL, 0},
    {"params_billion", ANY, F_PARAMS, NULL, 1e9},
    {"num_params_embedding", ANY, F_PARAMS_EMBEDDING, NULL, 0},
    {"moe", ANY, F_MOE, NULL, 0},
    {"experts", ANY, F_EXPERTS, NULL, 0},
    {"global_batch", IN_ROW | IN_CARD, F_BATCH, NULL, 0},
    {"global_batch_size", IN_ROW | IN_CARD, F_BATCH, NULL, 0},
    {"global_batch_by_run_script", IN_ROW, F_BATCH, NULL, 0},
    {"batch_size", IN_ROW | IN_CARD, F_BATCH, NULL, 0}, /* of a card: over all ranks */
    {"local_batch", IN_ROW, F_LOCAL_BATCH, NULL, 0},
    {"per_device_batch", IN_ROW, F_LOCAL_BATCH, NULL, 0},
    {"micro_batch", IN_ROW, F_MICRO_BATCH, NULL, 0},
    {"micro_batch_size", IN_ROW, F_MICRO_BATCH, NULL, 0},
    {"per_device_train_batch_size", IN_ROW, F_MICRO_BATCH, NULL, 0},
    {"micro_batches", IN_ROW, F_MICRO_BATCHES, NULL, 0},
    {"num_microbatches", IN_ROW, F_MICRO_BATCHES, NULL, 0},
    {"pp_mb", IN_ROW | IN_CARD, F_MICRO_BATCHES, NULL, 0},
    {"gradient_accumulation_steps", IN_ROW, F_ACCUMULATION, NULL, 0},
    {"sequence", ANY, F_SEQUENCE, NULL, 0},
    {"seq_len", ANY, F_SEQUENCE, NULL, 0},
    {"sequence_length", ANY, F_SEQUENCE, NULL, 0},
    {"precision", IN_ROW | IN_CARD, F_PRECISION, NULL, 0},
    {"dtype", IN_ROW, F_PRECISION, NULL, 0},
    {"quantization", IN_ROW, F_QUANTIZATION, NULL, 0},
    {"float8", IN_ROW, F_FLOAT8, NULL, 0},
    {"recompute", IN_ROW, F_RECOMPUTE, NULL, 0},
    {"activation_checkpointing", IN_ROW, F_RECOMPUTE, NULL, 0},
    {"phase", IN_ROW | IN_CARD, F_PHASE, NULL, 0},
    {"granularity", IN_ROW | IN_CARD, F_GRANULARITY, NULL, 0},
    {"dp", IN_ROW | IN_CARD, F_DP, NULL, 0},
    {"dp_replicate", IN_ROW | IN_CARD, F_DP_REPLICATE, NULL, 0},
    {"dp_shard", IN_ROW | IN_CARD, F_DP_SHARD, NULL, 0},
    {"fsdp", IN_ROW | IN_CARD, F_DP_SHARD, NULL, 0},
    {"tp", IN_ROW | IN_CARD, F_TP, NULL, 0},
    {"pp", IN_ROW | IN_CARD, F_PP, NULL, 0},
    {"cp", IN_ROW | IN_CARD, F_CP, NULL, 0},
    {"ep", IN_ROW | IN_CARD, F_EP, NULL, 0},
    {"rank_order", IN_ROW | IN_CARD, F_RANK_ORDER, NULL, 0},
    {"interleaving", IN_ROW, F_INTERLEAVING, NULL, 0},
    {"sequence_parallel", IN_ROW | IN_MODEL, F_SEQUENCE_PARALLEL, NULL, 0},
    {"zero_stage", IN_ROW, F_ZERO_STAGE, NULL, 0},
    {"optimizer_sharding", IN_ROW, F_OPTIMIZER_SHARDING, NULL, 0},
    {"device", IN_ROW | IN_HARDWARE, F_DEVICE, NULL, 0},
    {"hardware", IN_ROW, F_DEVICE, NULL, 0},
    {"gpu", IN_ROW | IN_HARDWARE, F_DEVICE, NULL, 0},
    {"hardware_model", IN_CARD, F_DEVICE, NULL, 0},
    {"machine", IN_ROW | IN_HARDWARE, F_MACHINE, NULL, 0},
    {"system", IN_ROW | IN_HARDWARE, F_MACHINE, NULL, 0},
    {"framework", IN_ROW | IN_CARD, F_FRAMEWORK, NULL, 0},
    {"framework_note", IN_ROW, F_FRAMEWORK_NOTE, NULL, 0},
    {"repository", IN_SOURCE, F_REPOSITORY, NULL, 0},
    {"n_devices", IN_ROW | IN_CARD, F_N_DEVICES, NULL, 0},
    {"n_gpus", IN_ROW, F_N_DEVICES, NULL, 0},
    {"num_gpus", IN_ROW, F_N_DEVICES, NULL, 0},
    {"world_size", IN_ROW, F_N_DEVICES, NULL, 0},
    {"n_gpus_used", IN_ROW, F_N_DEVICES, NULL, 0},
    {"total_count", IN_ROW | IN_CARD, F_N_DEVICES, NULL, 0},
    {"devices_per_node", IN_ROW | IN_HARDWARE, F_DEVICES_PER_NODE, NULL, 0},
    {"gpus_per_node", IN_ROW | IN_HARDWARE, F_DEVICES_PER_NODE, NULL, 0},
    {"count_per_node", IN_CARD, F_DEVICES_PER_NODE, NULL, 0},
    {"step_time", IN_ROW | IN_VALUES, F_STEP_TIME, NULL, 0},
    {"iteration_time", IN_ROW | IN_VALUES, F_STEP_TIME, NULL, 0},
    {"step_time_s_approx", IN_ROW, F_STEP_TIME, "s", 0},
    {"avg_step_time", IN_VALUES, F_STEP_TIME, "s", 0}, /* by the definition of that metric */
    {"tokens_per_s_per_device", IN_ROW | IN_VALUES, F_TOKENS_PER_DEVICE, NULL, 0},
    {"tokens_per_s_per_gpu", IN_ROW | IN_VALUES, F_TOKENS_PER_DEVICE, NULL, 0},
    {"tokens_per_s_total", IN_ROW | IN_VALUES, F_TOKENS_TOTAL, NULL, 0},
    {"tokens_per_s", IN_ROW | IN_VALUES, F_TOKENS, NULL, 0},
    {"peak_memory", IN_ROW | IN_VALUES, F_PEAK_MEMORY, NULL, 0},
    {"memory", IN_ROW | IN_VALUES, F_PEAK_MEMORY, NULL, 0},
    {"memory_gib.*.phases.*.phase_peak_gib", IN_ROW, F_PEAK_MEMORY, "gib", 0},
    {"params_and_optimizer", IN_ROW, F_RESIDENT, NULL, 0},
    {"activations", IN_ROW, F_ACTIVATIONS, NULL, 0},
};
const size_t msr_n_spellings = COUNT(msr_spellings);

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
    for (size_t i = 0; i < COUNT(units); i++)
        if (units[i].type == type && !strcasecmp(units[i].name, name))
            return units[i].in_base;
    return NAN;
}

const char *msr_known_units(row_type type, char out[MSR_UNITS_TEXT])
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < COUNT(units) && n < MSR_UNITS_TEXT; i++)
        if (units[i].type == type)
            n += (size_t)snprintf(out + n, MSR_UNITS_TEXT - n, "%s%s", n ? ", " : "", units[i].name);
    return out;
}
