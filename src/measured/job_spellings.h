/* The names under which tables of measured runs say things: a row a field, a row a spelling. Private to
 * job_*.c. */
#ifndef DSE_MEASURED_JOB_SPELLINGS_H
#define DSE_MEASURED_JOB_SPELLINGS_H

#include "measured/job_row.h"

typedef enum {
    ROW_TEXT,
    ROW_INT,     /* at least `min` */
    ROW_NUMBER,  /* > 0, in `scale` */
    ROW_FLAG,    /* true or false */
    ROW_WORDS,   /* a text; or true or false, which is the next field */
    ROW_WIDTH,   /* a whole number, or "4 x hidden", which is the next field */
    ROW_PHASE,   /* training, inference, serving */
    ROW_REMARK,  /* a text; anything else says nothing */
    ROW_SECONDS, /* > 0 */
    ROW_BYTES    /* > 0 */
} row_type;

/* F(name, type, its place in a msr_row, the least value of a whole number) */
#define MSR_FIELDS(F)                                                                                        \
    F(NAME, TEXT, job.name, 0)                                                                               \
    F(WORKLOAD_NAME, TEXT, workload_name, 0)                                                                 \
    F(TRACE, TEXT, trace, 0)                                                                                 \
    F(STATUS, TEXT, status, 0)                                                                               \
    F(REPEAT_OF, TEXT, repeat_of, 0)                                                                         \
    F(QUANTITY, TEXT, quantity, 0)                                                                           \
    F(FAMILY, TEXT, job.family, 0)                                                                           \
    F(LAYERS, INT, job.layers, 1)                                                                            \
    F(D_MODEL, INT, job.d_model, 1)                                                                          \
    F(D_FF, WIDTH, job.d_ff, 1)                                                                              \
    F(FF_RATIO, INT, ff_ratio, 1)                                                                            \
    F(HEADS, INT, job.heads, 1)                                                                              \
    F(KV_HEADS, INT, job.kv_heads, 1)                                                                        \
    F(HEAD_DIM, INT, job.head_dim, 1)                                                                        \
    F(VOCABULARY, INT, job.vocabulary, 1)                                                                    \
    F(PARAMS, NUMBER, job.num_params, 0)                                                                     \
    F(PARAMS_EMBEDDING, NUMBER, job.num_params_embedding, 0)                                                 \
    F(MOE, FLAG, job.moe, 0)                                                                                 \
    F(EXPERTS, INT, job.experts, 0)                                                                          \
    F(TOP_K, INT, job.top_k, 1)                                                                              \
    F(EXPERT_D_FF, INT, job.expert_d_ff, 1)                                                                  \
    F(SHARED_D_FF, INT, job.shared_d_ff, 0)                                                                  \
    F(DENSE_LAYERS, INT, job.dense_layers, 0)                                                                \
    F(MLP, TEXT, mlp, 0)                                                                                     \
    F(ACTIVATION, TEXT, activation, 0)                                                                       \
    F(TIED, FLAG, job.tied, 0)                                                                               \
    F(MTP_LAYERS, INT, job.mtp_layers, 0)                                                                    \
    F(REMARK, REMARK, remark, 0)                                                                             \
    F(BATCH, INT, job.batch, 1)                                                                              \
    F(LOCAL_BATCH, INT, local_batch, 1)                                                                      \
    F(CHIP_BATCH, INT, chip_batch, 1)                                                                        \
    F(MICRO_BATCH, INT, job.micro_batch, 1)                                                                  \
    F(MICRO_BATCHES, INT, job.micro_batches, 1)                                                              \
    F(ACCUMULATION, INT, accumulation, 1)                                                                    \
    F(SEQUENCE, INT, job.sequence, 1)                                                                        \
    F(PRECISION, TEXT, job.precision, 0)                                                                     \
    F(QUANTIZATION, TEXT, job.quantization, 0)                                                               \
    F(FLOAT8, FLAG, job.float8, 0)                                                                           \
    F(RECOMPUTE, WORDS, recompute, 0)                                                                        \
    F(CHECKPOINTING, FLAG, checkpointing, 0)                                                                 \
    F(POLICY, TEXT, policy, 0)                                                                               \
    F(RECOMPUTE_LAYERS, INT, job.recompute_layers, 1)                                                        \
    F(OFFLOADS, FLAG, job.offloads, 0)                                                                       \
    F(OFFLOADED_LAYERS, INT, job.offloaded_layers, 0)                                                        \
    F(TP_OVERLAP, FLAG, job.tp_overlap, 0)                                                                   \
    F(COMPILER, WORDS, compiler, 0)                                                                          \
    F(COMPILED, FLAG, compiled, 0)                                                                           \
    F(PHASE, PHASE, job.phase, 0)                                                                            \
    F(GRANULARITY, TEXT, job.granularity, 0)                                                                 \
    F(DP, INT, job.dp, 1)                                                                                    \
    F(DP_REPLICATE, INT, job.dp_replicate, 1)                                                                \
    F(DP_SHARD, INT, job.dp_shard, 1)                                                                        \
    F(TP, INT, job.tp, 1)                                                                                    \
    F(PP, INT, job.pp, 1)                                                                                    \
    F(CP, INT, job.cp, 1)                                                                                    \
    F(EP, INT, job.ep, 1)                                                                                    \
    F(ETP, INT, job.etp, 1)                                                                                  \
    F(DISPATCH, TEXT, job.dispatch, 0)                                                                       \
    F(EP_OVERLAP, FLAG, job.ep_overlap, 0)                                                                   \
    F(RANK_ORDER, TEXT, job.rank_order, 0)                                                                   \
    F(INTERLEAVING, INT, job.interleaving, 1)                                                                \
    F(SCHEDULE, TEXT, job.schedule, 0)                                                                       \
    F(PARTITION, TEXT, job.partition, 0)                                                                     \
    F(LAYOUT, TEXT, job.layout, 0)                                                                           \
    F(SEQUENCE_PARALLEL, FLAG, job.sequence_parallel, 0)                                                     \
    F(ZERO_STAGE, INT, job.zero_stage, 0)                                                                    \
    F(OPTIMIZER_SHARDING, FLAG, optimizer_sharding, 0)                                                       \
    F(SHARD_GROUP, INT, job.shard_group, 1)                                                                  \
    F(RESHARDS, FLAG, job.reshards, 0)                                                                       \
    F(DEVICE, TEXT, job.device, 0)                                                                           \
    F(MACHINE, TEXT, job.machine, 0)                                                                         \
    F(FRAMEWORK, TEXT, job.framework, 0)                                                                     \
    F(FRAMEWORK_NOTE, TEXT, framework_note, 0)                                                               \
    F(REPOSITORY, TEXT, repository, 0)                                                                       \
    F(N_DEVICES, INT, job.n_devices, 1)                                                                      \
    F(DEVICES_PER_NODE, INT, job.devices_per_node, 1)                                                        \
    F(STEP_TIME, SECONDS, job.step_time_s, 0)                                                                \
    F(TOKENS_PER_DEVICE, NUMBER, tokens_per_s_per_device, 0)                                                 \
    F(TOKENS_TOTAL, NUMBER, tokens_per_s_total, 0)                                                           \
    F(TOKENS, NUMBER, tokens_per_s, 0)                                                                       \
    F(PEAK_MEMORY, BYTES, job.peak_memory_bytes, 0)                                                          \
    F(RESIDENT, BYTES, resident_bytes, 0)                                                                    \
    F(ACTIVATIONS, BYTES, activation_bytes, 0)

#define MSR_FIELD_ID(name, type, place, min) F_##name,
typedef enum { MSR_FIELDS(MSR_FIELD_ID) N_FIELDS } field_id;

typedef struct {
    row_type type;
    size_t offset; /* in a msr_row */
    int64_t min;
} msr_field;

extern const msr_field msr_fields[N_FIELDS];

/* Where a row may say it. */
enum { IN_ROW = 1, IN_MODEL = 2, IN_HARDWARE = 4, IN_CARD = 8, IN_VALUES = 16, IN_SOURCE = 32 };

typedef struct {
    unsigned in;
    const char *name; /* "": the row itself */
} msr_section;

extern const msr_section msr_sections[];
extern const size_t msr_n_sections;

/* Of a time or a size without `unit` the key ends in one, "_ms", or its value is a text with one, or the
 * table says which. */
#define MSR_KEYS_MAX 5
typedef struct {
    field_id field;
    unsigned in;
    /* up to the first NULL; "a.b": of a section; "a.*.b": the largest of all entries */
    const char *key[MSR_KEYS_MAX];
    const char *unit;
    double scale; /* of a number; 0: 1 */
} msr_spelling;

extern const msr_spelling msr_spellings[];
extern const size_t msr_n_spellings;

/* Seconds or bytes of a unit of ROW_SECONDS or ROW_BYTES; NaN: none of that name. */
double msr_unit_value(row_type type, const char *name);

/* "s, ms, us, ..." */
#define MSR_UNITS_TEXT 80
const char *msr_known_units(row_type type, char out[MSR_UNITS_TEXT]);

#endif
