/* The names under which tables of measured runs say things: one row a spelling. The first that a table is read for is the
 * documented one (README.md); the others are those of the published tables in configs/measured, of CCL-Bench's leaderboard
 * (benchmark_data.json, a workload card flattened) and of Hugging Face's trainer. */
#include "measured/job_spellings.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define AT(field)    offsetof(msr_row, field)

#define FIELD(name, type, place, min) {ROW_##type, AT(place), min},
const msr_field msr_fields[N_FIELDS] = {MSR_FIELDS(FIELD)};

#define ANY (IN_ROW | IN_MODEL | IN_CARD)

const msr_section msr_sections[] = {
    {IN_ROW, ""},          {IN_MODEL, "model"},     {IN_HARDWARE, "hardware"}, {IN_CARD, "config"},
    {IN_CARD, "metadata"}, {IN_VALUES, "measured"}, {IN_VALUES, "metrics"},    {IN_SOURCE, "source"},
};

const size_t msr_n_sections = COUNT(msr_sections);

const msr_spelling msr_spellings[] = {
    {F_NAME, IN_ROW, {"id"}},
    {F_WORKLOAD_NAME, IN_ROW | IN_CARD, {"workload_name"}},
    {F_TRACE, IN_ROW, {"trace"}},
    {F_STATUS, IN_ROW, {"status"}},
    {F_REPEAT_OF, IN_ROW, {"repeat_of"}},
    {F_QUANTITY, IN_ROW, {"quantity"}},
    {F_FAMILY, IN_ROW | IN_CARD, {"model_family"}},
    {F_FAMILY, IN_ROW, {"model_name", "model"}},
    {F_FAMILY, ANY, {"family"}},
    {F_FAMILY, IN_MODEL, {"name"}},
    {F_LAYERS, ANY, {"layers", "num_layers", "num_hidden_layers"}},
    {F_D_MODEL, ANY, {"d_model", "hidden", "hidden_size"}},
    {F_D_FF, ANY, {"d_ff", "ffn", "ffn_hidden_size", "intermediate_size"}},
    {F_HEADS, ANY, {"heads", "num_heads", "num_attention_heads"}},
    {F_KV_HEADS, ANY, {"kv_heads", "num_key_value_heads"}},
    {F_HEAD_DIM, ANY, {"head_dim"}},
    {F_VOCABULARY, ANY, {"vocabulary", "vocab", "vocab_size"}},
    {F_PARAMS, ANY, {"num_params", "params"}},
    {F_PARAMS, ANY, {"params_billion"}, .scale = 1e9},
    {F_PARAMS_EMBEDDING, ANY, {"num_params_embedding"}},
    {F_MOE, ANY, {"moe"}},
    {F_EXPERTS, ANY, {"experts"}},
    {F_BATCH, IN_ROW | IN_CARD, {"global_batch", "global_batch_size"}},
    {F_BATCH, IN_ROW, {"global_batch_by_run_script"}},
    {F_BATCH, IN_ROW | IN_CARD, {"batch_size"}}, /* of a card: over all ranks */
    {F_LOCAL_BATCH, IN_ROW, {"local_batch", "per_device_batch"}},
    {F_MICRO_BATCH, IN_ROW, {"micro_batch", "micro_batch_size", "per_device_train_batch_size"}},
    {F_MICRO_BATCHES, IN_ROW, {"micro_batches", "num_microbatches"}},
    {F_MICRO_BATCHES, IN_ROW | IN_CARD, {"pp_mb"}},
    {F_ACCUMULATION, IN_ROW, {"gradient_accumulation_steps"}},
    {F_SEQUENCE, ANY, {"sequence", "seq_len", "sequence_length"}},
    {F_PRECISION, IN_ROW | IN_CARD, {"precision"}},
    {F_PRECISION, IN_ROW, {"dtype"}},
    {F_QUANTIZATION, IN_ROW, {"quantization"}},
    {F_FLOAT8, IN_ROW, {"float8"}},
    {F_RECOMPUTE, IN_ROW, {"recompute", "activation_checkpointing"}},
    {F_PHASE, IN_ROW | IN_CARD, {"phase"}},
    {F_GRANULARITY, IN_ROW | IN_CARD, {"granularity"}},
    {F_DP, IN_ROW | IN_CARD, {"dp"}},
    {F_DP_REPLICATE, IN_ROW | IN_CARD, {"dp_replicate"}},
    {F_DP_SHARD, IN_ROW | IN_CARD, {"dp_shard", "fsdp"}},
    {F_TP, IN_ROW | IN_CARD, {"tp"}},
    {F_PP, IN_ROW | IN_CARD, {"pp"}},
    {F_CP, IN_ROW | IN_CARD, {"cp"}},
    {F_EP, IN_ROW | IN_CARD, {"ep"}},
    {F_RANK_ORDER, IN_ROW | IN_CARD, {"rank_order"}},
    {F_INTERLEAVING, IN_ROW, {"interleaving"}},
    {F_SEQUENCE_PARALLEL, IN_ROW | IN_MODEL, {"sequence_parallel"}},
    {F_ZERO_STAGE, IN_ROW, {"zero_stage"}},
    {F_OPTIMIZER_SHARDING, IN_ROW, {"optimizer_sharding"}},
    {F_DEVICE, IN_ROW | IN_HARDWARE, {"device"}},
    {F_DEVICE, IN_ROW, {"hardware"}},
    {F_DEVICE, IN_ROW | IN_HARDWARE, {"gpu"}},
    {F_DEVICE, IN_CARD, {"hardware_model"}},
    {F_MACHINE, IN_ROW | IN_HARDWARE, {"machine", "system"}},
    {F_FRAMEWORK, IN_ROW | IN_CARD, {"framework"}},
    {F_FRAMEWORK_NOTE, IN_ROW, {"framework_note"}},
    {F_REPOSITORY, IN_SOURCE, {"repository"}},
    {F_N_DEVICES, IN_ROW | IN_CARD, {"n_devices"}},
    {F_N_DEVICES, IN_ROW, {"n_gpus", "num_gpus", "world_size", "n_gpus_used"}},
    {F_N_DEVICES, IN_ROW | IN_CARD, {"total_count"}},
    {F_DEVICES_PER_NODE, IN_ROW | IN_HARDWARE, {"devices_per_node", "gpus_per_node"}},
    {F_DEVICES_PER_NODE, IN_CARD, {"count_per_node"}},
    {F_STEP_TIME, IN_ROW | IN_VALUES, {"step_time", "iteration_time"}},
    {F_STEP_TIME, IN_ROW, {"step_time_s_approx"}, .unit = "s"},
    {F_STEP_TIME, IN_VALUES, {"avg_step_time"}, .unit = "s"}, /* by the definition of that metric */
    {F_TOKENS_PER_DEVICE, IN_ROW | IN_VALUES, {"tokens_per_s_per_device", "tokens_per_s_per_gpu"}},
    {F_TOKENS_TOTAL, IN_ROW | IN_VALUES, {"tokens_per_s_total"}},
    {F_TOKENS, IN_ROW | IN_VALUES, {"tokens_per_s"}},
    {F_PEAK_MEMORY, IN_ROW | IN_VALUES, {"peak_memory", "memory"}},
    {F_PEAK_MEMORY, IN_ROW, {"memory_gib.*.phases.*.phase_peak_gib"}, .unit = "gib"},
    {F_RESIDENT, IN_ROW, {"params_and_optimizer"}},
    {F_ACTIVATIONS, IN_ROW, {"activations"}},
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
