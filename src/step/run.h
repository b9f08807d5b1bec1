/* step_run -- the time of a whole training step: passes, each walked through once, in the order of a pipeline
 * schedule.
 *
 * Only ranks of one pipeline are looked at: the others do the same beside them, as long as the slowest of
 * each kind of group does. A pass takes the time that its operations take (pass.h), which is always the same
 * but for reductions of the pass before that still go on. The schedule gives the order. What runs on after
 * the last backward pass, and the end of the step, follow. */
#ifndef DSE_STEP_RUN_H
#define DSE_STEP_RUN_H

#include "step/memory.h"
#include "step/pass.h"

/* What the step of the slowest rank is made of; the parts add up to `step` of the result. */
typedef enum {
    STEP_PART_COMPUTE, /* kernels, and what they wait for the host */
    STEP_PART_TP,      /* communication that no kernel covers, by the groups that it is within */
    STEP_PART_CP,
    STEP_PART_EP, /* of experts, but for their gradients and parameters */
    STEP_PART_DP,
    STEP_PART_PP,        /* transfers between stages that the rank waits for; of the whole, with the bubble */
    STEP_PART_BUBBLE,    /* the rank waits for another stage */
    STEP_PART_OPTIMIZER, /* and the host's work of a step */
    STEP_N_PARTS
} step_part;

typedef struct {
    dse_time step;     /* the slowest rank's, with the end of the step */
    dse_time pipeline; /* until the last pass of any rank has ended */
    uint32_t slowest;  /* the pipeline rank whose parts these are */
    dse_time part[STEP_N_PARTS];
    dse_time compute; /* kernels of the slowest rank, optimizer included */
    dse_time host;    /* of STEP_PART_COMPUTE: no kernel runs as the host issues none */
    /* Operations of all ranks together: those of matrix products and attention of a forward and a backward
     * pass, and all that are executed, recomputation with them. */
    double model_operations, executed_operations;
    uint64_t tokens;          /* of the whole step */
    uint32_t largest;         /* the pipeline rank that holds most */
    step_rank_memory *memory; /* of each pipeline rank */
    sched_plan plan;          /* borrowed of a keeper, if there is one */
    sched_order order;
    sched_times times;
    step_passes passes;
} step_result;

/* Which communication of a rank runs beside each other. */
typedef enum {
    STEP_UNITS,    /* each unit of program.h does its own; a transfer to another stage keeps none busy */
    STEP_ONE_UNIT, /* all of it is one unit, in the order of the program, as ASTRA-sim's ranks have it; and
                     messages take the network's links as they are, without what was measured
                     (step_clock_of_links) */
    /* As STEP_UNITS, but collectives take nothing of the compute, and the operations of pairs (pair.h), whose
     * order follows from their times, are in none. Then each time in the step is a sum or the latest of
     * others, so that no shorter kernel, collective or transfer makes the step longer: it is a lower bound of
     * the step with STEP_UNITS of every system on which nothing is faster. Without parts. */
    STEP_BOUND,
    STEP_BOUND_WITHOUT_NETWORK /* the same of every network: step_clock_without_network */
} step_machine;

/* Refuses what does not divide or cannot be run: DSE_E_RANGE, with the rule and the nearest values that work.
 * `schedule` and o->vp fit each other or it says why not. */
dse_status step_check(const step_model *m, const step_options *o, uint32_t batch, dse_error *err);

/* Everything belongs to the arena, but what a keeper of orders (NULL: none) keeps; result and plan stay where
 * they are. If passes.is_even, the step with one unit is to the tick what a simulator makes of step_unroll
 * (unroll.h); else ranks that are ahead of the slowest of their kind may make it shorter there. */
dse_status step_run(const step_model *m, const step_options *o, const sched_def *schedule,
                    const sched_options *order, sched_keeper *keeper, step_clock *clock, step_machine machine,
                    dse_arena *a, step_result *out, dse_error *err);

/* What a stage takes at least, whatever the layers of the others are: of a plan of one direction without
 * pairs. */
typedef struct {
    dse_time busy;               /* all its passes */
    dse_time until_backward;     /* those of them up to its rank's last backward pass (B or I) */
    dse_time pass[SCHED_KINDS];  /* one micro-batch, in each kind of pass; DSE_TIME_NONE: the plan has none */
    dse_time receive, send_back; /* a tensor from the stage before it, and to that stage; 0 on one rank */
} step_stage_floor;

/* What a rank's end of the step takes at least: its sums of gradients; what follows these. */
typedef struct {
    dse_time sums, rest;
} step_rank_floor;

typedef struct {
    bool is_known; /* else the plan has pairs, or two directions, and nothing else is set */
    const sched_ordered *ordered;
    uint32_t *first, *last; /* per rank: the stages of its first pass, and of its last backward pass */
    step_stage_floor *stage,
        *kernels; /* per stage; the same of its kernels alone, which more layers never shorten */
    step_rank_floor *rank, *rank_kernels;
    dse_time norm;   /* and the host's work of a step */
    uint64_t *peak;  /* per rank: bytes that it holds */
    uint64_t *bytes; /* per stage, and per rank: step_memory_between */
    int64_t *always;
} step_floors;

/* Of a machine that bounds (STEP_BOUND): a step of which each stage has the layers that it has in `m`,
 * and that may have any number in all. Everything belongs to the arena; the plan may be the keeper's.
 * Fails as step_run. */
dse_status step_floors_of(const step_model *m, const step_options *o, const sched_def *schedule,
                          const sched_options *order, sched_keeper *keeper, step_clock *clock,
                          step_machine machine, dse_arena *a, step_floors *out, dse_error *err);

/* Calls `see` with each collective of the passes of a pipeline rank, and when it begins and ends in the step.
 * Of a result of STEP_UNITS, whose arena may be another. */
void step_run_watch(step_result *r, uint32_t rank, dse_arena *a,
                    void (*see)(void *user, const step_pass_operation *op, dse_time begin, dse_time end),
                    void *user);

#endif
