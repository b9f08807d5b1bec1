/* step_pass -- what ranks do in a step, operation by operation, each with its time alone and what it waits
 * for.
 *
 * A pass is one action of a schedule: a micro-batch goes through the blocks of a stage in one direction. Its
 * operations are those of the blocks (program.h), and the collectives of gradients and parameters that are
 * issued between and inside of them (issue.h). run.c adds the times up; unroll.h writes the same down for a
 * simulator.
 *
 * The rules:
 *
 * - A block begins when all operations of the block before it have ended, and the gatherings that are for it.
 * - Parameters are gathered when the block begins that is executed before the one that needs them, or before
 *   which issue.h has them if that is earlier. (Megatron-LM gathers a bucket when a module uses the one
 *   before, which may be in the same block.)
 *   The first gathering of a pass begins while the rank still waits for the pass's tensor (with one unit for
 *   all communication, with the pass).
 * - A reduction begins when the module, or the block, is over that issue.h names.
 * - A layer takes the host's floor at least, its collectives beside it, and again as long if it is made
 *   again; half of it for one part of the backward pass (but with one unit for all communication).
 * - A pass is over when its last block is; its reductions may still go on.
 * - Where experts are spread over ranks, a pair of overlapping actions is one pass (pair.h): the forward
 *   action's, while the backward action's does nothing.
 *
 * Each unit of a rank (program.h) does one thing at a time, in the order of the operations. */
#ifndef DSE_STEP_PASS_H
#define DSE_STEP_PASS_H

#include "schedule/compose.h"
#include "step/clock.h"

typedef struct {
    const char *name;
    const wl_kernel *kernel; /* NULL: no computation */
    /* NULL: no communication. Without both it is a joint: no unit does it, it ends with what it needs */
    const step_collective *collective;
    dse_time ticks;       /* of a kernel beside no collective */
    double compute_share; /* of a collective: what it takes from kernels beside it */
    /* a joint ends no earlier than so long after the joint `since`; 0: then it needs none */
    dse_time least;
    uint32_t since;
    uint32_t first_need, n_needs; /* earlier operations; none: it begins with the pass */
    uint8_t unit;
} step_pass_operation;

typedef struct {
    uint32_t n;
    step_pass_operation *operation;
    uint32_t *need;
    uint32_t over; /* the joint with which the pass is over; DSE_NONE: it does nothing */
    /* of a pair (pair.h): of the time of both the part that a forward pass takes; 0: it is none */
    double first_share;
    dse_time ahead; /* ticks of all operations that are ahead */
    bool has_shard; /* has operations of STEP_UNIT_SHARD */
} step_pass;

/* The host runs ahead of the device: what a pass gathers before it needs anything else is issued while its
 * rank still waits for a tensor of another stage. (Not with STEP_ONE_UNIT, run.h.) */
static inline bool step_pass_is_ahead(const step_pass_operation *op)
{
    return op->collective && op->unit == STEP_UNIT_SHARD && !op->n_needs;
}

/* What a pipeline rank does after its last pass, one after the other. */
typedef struct {
    uint32_t n_reductions, n_gathers;
    step_collective *reduction, *gather; /* gathers: of parameters, after the optimizer */
    step_collective tp_sum, ends_sum;    /* in_bytes 0: none */
    step_collective norm;                /* of the gradients: all ranks wait for each other */
    wl_kernel optimizer;
    dse_time optimizer_ticks;
} step_ending;

/* Operations of one micro-batch that count for the use of the hardware: of matrix products and attention. */
typedef struct {
    double all, again; /* of all stages, forward and backward; of it what is made again */
} step_work;

typedef struct {
    const sched_plan *plan;
    sched_tensors tensors;
    step_ranks ranks;
    uint32_t n_passes;
    step_pass *pass;
    uint32_t *pass_of;        /* per action of the plan */
    step_ending *ending;      /* per rank of the pipeline */
    step_collective transfer; /* of a tensor to the next stage: a STEP_SEND */
    step_work work;
    bool waits_for_sends;
    /* kernels last as laws or the clock say, or have peaks of their own: not all as the roofline says */
    bool has_laws;
    bool is_even; /* all groups of a kind, and all ranks in them, take the same time for all collectives */
} step_passes;

/* Everything belongs to the arena. DSE_E_SIM, DSE_E_CONFIG: as step_clock_collective. */
dse_status step_passes_make(const step_model *m, const step_options *o, const sched_ordered *ordered,
                            step_clock *clock, dse_arena *a, step_passes *out, dse_error *err);

#endif
