/* msr_plan -- the point that a job is, and what the simulator cannot represent of it. */
#ifndef DSE_MEASURED_PLAN_H
#define DSE_MEASURED_PLAN_H

#include "driver/study.h"
#include "measured/job.h"

/* What stands between a job and a point. One row each: a word for counting, and whether a substitution
 * exists. */
typedef enum {
    /* Of profile stage alone. */
    /* several micro-batches: with pp above 1 a 1F1B schedule, else gradients accumulated */
    MSR_GAP_MICRO_BATCHES,
    MSR_GAP_INTERLEAVED, /* interleaved pipeline schedule */
    MSR_GAP_SELECTIVE,   /* selective recomputation */
    MSR_GAP_SEQUENCE_PARALLEL,
    MSR_GAP_OPTIMIZER_SHARDED, /* optimizer state alone, or with gradients (ZeRO 1, 2) */
    MSR_GAP_UNEVEN,            /* a degree that does not divide what it shards */
    /* Of profile train alone. */
    MSR_GAP_MICRO_BATCH_UNSAID,
    MSR_GAP_FLOAT32,
    MSR_GAP_RANK_ORDER,
    MSR_GAP_REFUSED, /* by drv_point_check: what does not divide, a schedule's rules, a program's */
    /* Of both. */
    MSR_GAP_EXPERTS,
    MSR_GAP_INFERENCE,
    MSR_GAP_PARTIAL_STEP, /* granularity below a step: a forward pass, a layer */
    MSR_GAP_OFFLOADED,    /* activations wait on the host for the backward pass */
    MSR_GAP_FLOAT8,
    MSR_GAP_UNKNOWN_FACT, /* the source lacks a fact that a point needs */
    MSR_GAP_OTHER_DEVICE, /* measured on another device than the system's */
    MSR_GAP_NOT_MEASURED,
    MSR_GAPS
} msr_gap_kind;

typedef struct {
    const char *name; /* "several micro-batches" */
    /* what --approximate takes instead: "one micro-batch of the whole batch"; NULL: nothing can */
    const char *substitute;
} msr_gap_row;
extern const msr_gap_row msr_gap_rows[MSR_GAPS];

typedef struct {
    msr_gap_kind kind;
    /* with the figures: "8 micro-batches of 2 sequences"; "the card lacks 'seq_len' (workload.data)" */
    const char *text;
} msr_gap;

typedef struct {
    const char *model;            /* a card by path or name, over what the job says; NULL */
    int recompute;                /* -1: as the job says; 0, 1 */
    const char *precision;        /* the card's precision: "none", "mixed", ...; NULL: by the job's own */
    bool approximate;             /* take substitutes */
    const cfg_settings *settings; /* set over the model and the system; NULL */
} msr_plan_options;

typedef struct {
    const msr_job *job; /* borrowed */
    bool can_run;       /* no gap, or each has a substitute that the user allows */
    size_t n_gaps, cap_gaps;
    msr_gap *gap;
    /* what the source cannot say and was taken: "no recomputation: the card does not say" */
    size_t n_assumed, cap_assumed;
    const char **assumed;
    bool trains; /* the point is of profile train; of can_run, as the next */
    strategy point;
    cfg_doc model; /* a model card, made of the job or of a family's */
    const char *model_name;
} msr_plan;

/* How training programs lay out ranks and stages in profile stage. */
strategy msr_usual_strategy(void);

/* The name of a plan's point in reports: of profile stage it says only what is not usual. In the arena. */
const char *msr_plan_point_name(const msr_plan *p, dse_arena *a);

/* Maps a job to a point of its model's profile. Of stage: dp = dp_replicate x dp_shard (dp_shard above 1:
 * sharded weights), tp, pp, cp as sp. Of train: every degree, micro-batches, schedule, sharding and
 * recomputation as the job says, else by the default of its program, which is said in `assumed`; what
 * neither says is a gap. DSE_E_CONFIG names the field: degrees whose product is not the number of devices,
 * a degree below 1, a model that is unknown and lacks a size. What can be said but not simulated is a gap,
 * no failure. In the arena. */
dse_status msr_plan_make(const msr_job *job, const msr_plan_options *o, dse_arena *a, msr_plan *out,
                         dse_error *err);

/* The study of a plan that can run: its model on the machine with as many NPUs as the job has devices
 * (card_system_resize). Adds a gap, and takes can_run away, if the machine is of another device, or the
 * training step refuses the point; *out is not to be used then. DSE_E_RANGE: the machine is too small, or
 * cannot be cut so; else as drv_study_of fails. */
dse_status msr_plan_study(msr_plan *p, const card_system *machine, const char *machine_name,
                          const msr_plan_options *o, dse_arena *a, drv_study *out, dse_error *err);

#endif
