/* step_memory -- what a rank's memory holds over a training step, in bytes.
 *
 * What lasts the whole step (parameters, gradients, optimizer state), what each forward pass adds until its
 * backward pass, and what only the running piece needs. The order is that of a pipeline schedule. Sizes are
 * those that are asked for: what an allocator rounds up, caches or fragments is left out. README.md has the
 * assumptions, and which published formulas agree in which terms. */
#ifndef DSE_STEP_MEMORY_H
#define DSE_STEP_MEMORY_H

#include "schedule/schedule.h"
#include "step/model.h"
#include "step/options.h"

typedef enum {
    /* The whole step. */
    STEP_HOLDS_PARAMETERS,
    STEP_HOLDS_GRADIENTS,
    STEP_HOLDS_OPTIMIZER,
    STEP_HOLDS_BUCKETS,
    STEP_HOLDS_GATHERED_TOKENS,
    STEP_HOLDS_TABLES,
    STEP_HOLDS_WORKSPACE,
    /* From a pass of a micro-batch to another. */
    STEP_HOLDS_ACTIVATIONS,
    STEP_HOLDS_LOGITS,
    STEP_HOLDS_DEFERRED,
    STEP_HOLDS_WHOLE_GRADIENTS,
    STEP_HOLDS_GATHERED_PARAMETERS, /* and while a unit runs */
    /* While a piece runs. */
    STEP_HOLDS_RECOMPUTED,
    STEP_HOLDS_WORKING,
    STEP_HOLDS_UNREDUCED,
    STEP_HOLDS_CONTEXT,
    STEP_HOLDS_TRANSFERS,
    STEP_N_HOLDS
} step_holds;

typedef struct {
    const char *name; /* "activations" */
    const char *text; /* one line that explains it */
} step_holds_def;

extern const step_holds_def step_holds_defs[STEP_N_HOLDS];

typedef struct {
    uint64_t peak;               /* bytes */
    uint64_t held[STEP_N_HOLDS]; /* of the peak: adds up to it */
    uint64_t fixed;              /* what lasts the whole step */
    uint64_t left;         /* after the last action: `fixed`, if each forward pass had its backward pass */
    uint64_t kept;         /* the most that micro-batches keep between two actions: activations, logits and
                                    what waits for the weights' gradients */
    uint32_t at;           /* the action of the peak: index in the plan; DSE_NONE: the rank has none */
    step_block_kind block; /* in which it is */
} step_rank_memory;

typedef struct step_memory step_memory;

/* The sizes of all stages of a direction, of which there are n_stages: the embedding is on the first, the
 * head on the last, and layers that do not divide are on the first ones. Model and options are borrowed. */
step_memory *step_memory_new(const step_model *m, const step_options *o, uint32_t n_stages, dse_arena *a);

/* Walks over the actions of a rank once. The plan has the stages that step_memory_new was told. */
void step_memory_of(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a,
                    step_rank_memory *out);

/* The bytes that a rank holds while each of its actions runs, and after it; of a pair the same for both.
 * Arrays of as many as the rank has actions. The largest `during` is the peak. */
void step_memory_over(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a,
                      uint64_t *during, uint64_t *after);

/* What a rank holds at least at its peak: the mean of the actions before which most forward passes are
 * without their backward pass. *always, plus for each of its stages bytes[stage], which follow from that
 * stage's layers and the plan alone. Of a plan of one direction; entries of other ranks' stages are left
 * as they are. */
void step_memory_between(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a,
                         uint64_t *bytes, int64_t *always);

/* Parameters, gradients and optimizer state of so many elements on a rank that has `share` of them as its
 * shard. */
void step_memory_state(const step_options *o, uint64_t elements, uint64_t share, uint64_t held[STEP_N_HOLDS]);

#endif
