/* msr_job -- a training run as its source describes it: a workload card beside a trace, or a row of a table
 * of measured step times. What its source does not say is absent: MSR_JOB_NONE, NaN, NULL; nothing is guessed
 * here. plan.h makes a point of it. */
#ifndef DSE_MEASURED_JOB_H
#define DSE_MEASURED_JOB_H

#include "config/doc.h"
#include "trace/card.h"

#define MSR_JOB_NONE  TRACE_CARD_NONE
#define MSR_GIVEN(v)  ((v) != MSR_JOB_NONE)
#define MSR_JOB_NOTES 6

typedef enum {
    MSR_RECOMPUTE_UNKNOWN,
    MSR_RECOMPUTE_NONE,
    MSR_RECOMPUTE_SELECTIVE,
    MSR_RECOMPUTE_FULL
} msr_recompute;

typedef struct {
    const char *name;  /* of the run: a row's id, or made of its degrees; the directory of a trace */
    const char *where; /* "measured.json: row 12": for messages */
    const char *kind;  /* what its figures are, as written: "measured", "predicted"; NULL: not said */
    /* The model. */
    const char *family; /* "llama-3.1-8b" */
    int64_t layers, d_model, d_ff, heads, kv_heads, head_dim, vocabulary;
    double num_params, num_params_embedding;
    int64_t moe;        /* 0, 1 */
    int64_t gated;      /* the feed-forward network has a gate, a third matrix: 0, 1 */
    int64_t tied;       /* the output embedding is the input embedding: 0, 1 */
    int64_t mtp_layers; /* that predict further tokens */
    /* Of a model with experts, where the source says more than that it is one: how many a layer has, how many
     * a token takes, their width, that of the shared ones together, layers before those with experts. */
    int64_t experts, top_k, expert_d_ff, shared_d_ff, dense_layers;
    /* The work of a step. */
    int64_t batch;         /* sequences of a step over all ranks */
    int64_t micro_batch;   /* sequences of one */
    int64_t micro_batches; /* that a rank runs in a step */
    int64_t sequence;
    const char *precision;    /* as written: "bf16", "float16" */
    const char *quantization; /* of products, as written: "float8 rowwise"; NULL: not said */
    msr_recompute recompute;
    int64_t recompute_layers; /* of each stage, where not all are made again */
    /* of a selective recomputation, as written: parts, if these are more than attention; NULL */
    const char *recompute_parts;
    int64_t offloads;         /* activations wait on the host for the backward pass: 0, 1 */
    int64_t offloaded_layers; /* the same, by the number of layers */
    trace_phase phase;
    const char *granularity; /* of cards */
    /* The strategy. dp is dp_replicate * dp_shard; alone where the source does not say whether weights are
     * sharded. */
    int64_t dp, dp_replicate, dp_shard, tp, pp, cp, ep, etp;
    const char *dispatch;   /* how tokens come to their experts, as written: "hybridep"; NULL: not said */
    int64_t ep_overlap;     /* exchanges of experts go on beside passes of another micro-batch: 0, 1 */
    const char *rank_order; /* of the degrees, innermost first, as a workload card says it; NULL: not said */
    int64_t interleaving;   /* of the pipeline's schedule: chunks of layers a stage */
    const char *schedule;   /* of the pipeline, as written: "1F1B" */
    const char *partition;  /* of the layers over the pipeline's stages, as written */
    const char *layout;     /* layers by stage, in a spelling of step/layout.c: "Et*4|(t*4|)*14tmL" */
    int64_t sequence_parallel; /* Megatron's, along tp: 0, 1 */
    int64_t tp_overlap;        /* products cut in pieces beside the collectives of tp: 0, 1 */
    int64_t zero_stage;        /* 0 to 3: of optimizers that shard; dp_shard says 3 */
    int64_t shard_group;       /* ranks over which an optimizer is sharded; the rest of dp repeats them */
    int64_t reshards;          /* of sharded weights: freed after the forward pass: 0, 1 */
    int64_t float8;            /* 0, 1: arithmetic in 8 bits */
    /* The machine. */
    const char *device; /* as written: "nvidia_a100", "H100 SXM 96GB ..." */
    const char *machine, *framework;
    int64_t n_devices, devices_per_node;
    /* What was measured. */
    double step_time_s; /* > 0 */
    double peak_memory_bytes;
    const char *not_measured; /* why there is no step time although the run is listed: "failed"; NULL */
    /* What was taken from the habits of the program, in words, as the source does not say it. */
    size_t n_notes;
    const char *note[MSR_JOB_NOTES];
    const char *refused; /* why the row cannot be read, which then has a name and a place alone; NULL */
} msr_job;

/* Everything absent. */
void msr_job_clear(msr_job *j);

/* Why a job's figures are no measurement; NULL: they are one. A job that does not say what they are is taken
 * for measured, unless it `must_say`. */
const char *msr_job_unmeasured(const msr_job *j, bool must_say, dse_arena *a);

/* Of a workload card; `name` and the texts of the card are borrowed. DSE_E_CONFIG if it lacks a degree
 * (dp_replicate, dp_shard, tp, pp, cp), which it names. */
dse_status msr_job_of_card(const trace_card *card, const char *name, msr_job *out, dse_error *err);

/* A table of measured runs, JSON. README.md of this folder describes the format; those of configs/measured
 * are such. Keeps the rows that `only` selects: "KEY=VALUE" words, a dotted key of the row, all of which must
 * hold (n_only 0: all). DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG with file, row, field and remedy: an unknown
 * unit, a value of the wrong type, two spellings that disagree, micro-batches that do not come out whole, no
 * row that is selected, a key of `only` that no row has. DSE_E_USAGE: a word of `only` without "=". Nothing
 * else is checked: a degree may be absent, and their product may be another than n_devices. A row that cannot
 * be read while others can is no failure: published tables have such rows; it is `refused`. All in the
 * arena. */
dse_status msr_jobs_read(const char *path, const char *const *only, size_t n_only, dse_arena *a,
                         msr_job **out, size_t *n, dse_error *err);

/* What the source of rows says of them elsewhere than in its table: a script beside it, the heading of a
 * column. */
typedef struct {
    size_t n_only;
    const char **only;      /* of which rows, as msr_jobs_read takes them */
    const cfg_node *fields; /* a mapping; they hold instead of those of the row that have their names */
    const char *source;     /* where it is said, for a note of the job */
} msr_stated;

/* msr_jobs_read with that. A word of its `only` that holds of no row is wrong, as are others; of a table that
 * `may_lack` rows neither is, and nothing may be selected. */
dse_status msr_jobs_read_stated(const char *path, const char *const *only, size_t n_only,
                                const msr_stated *stated, size_t n_stated, bool may_lack, dse_arena *a,
                                msr_job **out, size_t *n, dse_error *err);

/* msr_jobs_read from memory, but the first row that cannot be read is a failure. `path` is only a name for
 * messages. */
dse_status msr_jobs_parse(const char *path, const char *text, size_t length, const char *const *only,
                          size_t n_only, dse_arena *a, msr_job **out, size_t *n, dse_error *err);

#endif
