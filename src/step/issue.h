/* step_issue -- what a stage issues in its passes: the programs of its blocks, and between them and inside
 * them the collectives of gradients and of parameters. This is the one place that says what is issued
 * where; list.h writes it down, and the time of a pass is computed from it.
 *
 * A chunk remembers what the passes before left: parameters that are still gathered, buckets whose
 * parameters were. So its passes must be asked for in the order in which the rank executes them. */
#ifndef DSE_STEP_ISSUE_H
#define DSE_STEP_ISSUE_H

#include "schedule/schedule.h"
#include "step/buckets.h"

typedef struct {
    bool is_block;
    /* position in the stage. Of a collective: what it is for; a block waits for its gatherings */
    uint32_t block;
    uint32_t module; /* of a collective: it is issued as soon as the backward pass of this module of the block
                        before it in the list is over; DSE_NONE: after all of that block */
    step_collective collective;
} step_item;

typedef struct {
    uint32_t n;
    size_t cap;
    step_item *item;
    dse_arena *arena;
} step_items;

/* Units by block: those of block i are unit[start[i]] to unit[start[i + 1] - 1], in ascending order. */
typedef struct {
    uint32_t *start, *unit;
} step_units_of;

typedef struct {
    const step_model *model;
    const step_options *options;
    step_stage stage;
    step_buckets buckets;
    uint32_t step, rank;        /* of the run, 0 the first; of the pipeline */
    uint32_t n_passes;          /* forward, in this step */
    uint32_t n_gathered;        /* buckets whose parameters were gathered under the forward pass */
    step_units_of begun, ended; /* of sharded units: by their first block, and by their last */
    bool *is_here;              /* of each unit: its parameters are gathered */
    bool *is_near;              /* else they lie on the neighbours */
    uint32_t n_recorded;        /* forward passes that torch has recorded, since it last forgot them */
    uint32_t n_open, *open;     /* of these, by number, those without a backward pass */
} step_chunk;

/* Everything is borrowed, and lives in the arena. `rank`: of the pipeline. */
void step_chunk_init(step_chunk *c, const step_model *m, const step_options *o, const step_stage *stage,
                     uint32_t rank, uint32_t step, dse_arena *a);

/* Replaces `out`. `is_last`: of the passes of this stage in the step that make gradients of weights. */
void step_chunk_pass(step_chunk *c, sched_kind kind, bool is_last, step_items *out);

/* What a pass leaves in the chunk but for its parameters, which are the units' is_here and is_near: for a
 * pass whose items are known. step_chunk_pass has it done. */
void step_chunk_count(step_chunk *c, sched_kind kind, bool is_last);

/* Whether the backward pass that is next goes back the first forward pass that is recorded: of a sharded
 * chunk its items follow from this, is_here, is_near, n_passes and what step_chunk_pass is told. */
bool step_chunk_is_at_first(const step_chunk *c);

/* Whether the chunk's buckets are reduced inside of its last backward pass; else by step_chunk_reduce, after
 * the backward pass that options.h names for `aligns_gradients`, or after all. */
bool step_chunk_overlaps(const step_chunk *c);
/* Adds to `out`. */
void step_chunk_reduce(const step_chunk *c, step_items *out);

/* Of each action of a rank, from p->first on: the stage whose gradients are reduced after it for
 * `aligns_gradients`, if its last backward pass does not; DSE_NONE: none. Stages that are not named are
 * reduced after all passes. `is_last`: as sched_last_gradients. In the arena. */
uint32_t *step_aligned_reductions(const sched_plan *p, uint32_t rank, const bool *is_last, dse_arena *a);

/* Gathers the updated parameters of all buckets; for chunks whose forward passes do not. */
bool step_chunk_gathers(const step_chunk *c);
void step_chunk_gather(const step_chunk *c, step_items *out);

/* After the reduction of all chunks of a rank: sums of gradients over tp, and of tied embeddings. */
void step_finish(const step_chunk *chunk, uint32_t n, step_items *out);

/* Programs of a model's blocks by what tells them apart: the pass, and whether it makes them again. */
typedef struct {
    step_program *(*of)[SCHED_KINDS][2]; /* by block; NULL: not made yet */
} step_programs;

/* What a block issues in a pass of this kind; of both directions, as for step_chunk_pass. Made in the arena
 * when it is first asked for, and kept in `made`. */
step_program *step_block_program(step_programs *made, const step_chunk *c, uint32_t position, sched_kind kind,
                                 dse_arena *a);

#endif
