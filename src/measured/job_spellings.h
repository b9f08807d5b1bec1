/* The names under which tables of measured runs say things: a row a field, a row a spelling. Private to job_*.c. */
#ifndef DSE_MEASURED_JOB_SPELLINGS_H
#define DSE_MEASURED_JOB_SPELLINGS_H

#include "measured/job_row.h"

typedef enum {
    ROW_TEXT,
    ROW_INT,     /* at least `min` */
    ROW_NUMBER,  /* > 0, in `scale` */
    ROW_FLAG,    /* true or false */
    ROW_WORDS,   /* a text; or true or false, which is the field `otherwise` */
    ROW_WIDTH,   /* a whole number, or "4 x hidden", which is the field `otherwise` */
    ROW_PHASE,   /* training, inference, serving */
    ROW_SECONDS, /* > 0 */
    ROW_BYTES    /* > 0 */
} row_type;

typedef enum {
    F_NAME,
    F_WORKLOAD_NAME,
    F_TRACE,
    F_STATUS,
    F_REPEAT_OF,
    F_QUANTITY,
    F_FAMILY,
    F_LAYERS,
    F_D_MODEL,
    F_D_FF,
    F_FF_RATIO,
    F_HEADS,
    F_KV_HEADS,
    F_HEAD_DIM,
    F_VOCABULARY,
    F_PARAMS,
    F_PARAMS_EMBEDDING,
    F_MOE,
    F_EXPERTS,
    F_BATCH,
    F_LOCAL_BATCH,
    F_MICRO_BATCH,
    F_MICRO_BATCHES,
    F_ACCUMULATION,
    F_SEQUENCE,
    F_PRECISION,
    F_QUANTIZATION,
    F_FLOAT8,
    F_RECOMPUTE,
    F_CHECKPOINTING,
    F_PHASE,
    F_GRANULARITY,
    F_DP,
    F_DP_REPLICATE,
    F_DP_SHARD,
    F_TP,
    F_PP,
    F_CP,
    F_EP,
    F_RANK_ORDER,
    F_INTERLEAVING,
    F_SEQUENCE_PARALLEL,
    F_ZERO_STAGE,
    F_OPTIMIZER_SHARDING,
    F_DEVICE,
    F_MACHINE,
    F_FRAMEWORK,
    F_FRAMEWORK_NOTE,
    F_REPOSITORY,
    F_N_DEVICES,
    F_DEVICES_PER_NODE,
    F_STEP_TIME,
    F_TOKENS_PER_DEVICE,
    F_TOKENS_TOTAL,
    F_TOKENS,
    F_PEAK_MEMORY,
    F_RESIDENT,
    F_ACTIVATIONS,
    N_FIELDS
} field_id;

typedef struct {
    row_type type;
    size_t offset; /* in a msr_row */
    int64_t min;
    field_id otherwise; /* of ROW_WORDS, ROW_WIDTH */
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

/* Of a time or a size without `unit` the key ends in one, "_ms", or its value is a text with one, or the table says which. */
typedef struct {
    const char *key; /* "a.*.b": the largest of all entries */
    unsigned in;
    field_id field;
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
