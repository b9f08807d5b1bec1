/* step_buckets -- the parameters of a stage as data parallelism sees them: buckets of gradients, or the units
 * whose parameters are sharded (FSDP2, ZeRO-3).
 *
 * Sources: Megatron-LM, core/distributed/param_and_grad_buffer.py and distributed_data_parallel.py; torch,
 * nn/parallel/distributed.py and its reducer; torch, distributed/fsdp/_fully_shard/ (_fsdp_param.py,
 * _fsdp_collectives.py). All agree to the byte with recorded steps (tests/step). */
#ifndef DSE_STEP_BUCKETS_H
#define DSE_STEP_BUCKETS_H

#include "step/program.h"

/* To a multiple of `of`; 0, 1: as it is. */
static inline uint64_t step_round_up(uint64_t n, uint64_t of) { return of > 1 ? (n + of - 1) / of * of : n; }

/* A stage of the pipeline: blocks in the order of the forward pass. */
typedef struct {
    uint32_t n_layers;
    const uint8_t *layer; /* the block of each; NULL: STEP_LAYER. Borrowed from the model */
    bool has_embedding, has_head;
    /* with the head: layers that predict further tokens, and their block. Behind the head are the embedding,
     * and for each the block and the head once more */
    uint32_t n_mtp;
    uint8_t mtp_block;
    uint32_t n_blocks;
    uint32_t n_recomputed; /* layers that are made again, the first ones; DSE_NONE: as the options say */
} step_stage;

/* Whether the layers can be cut into so many stages: those that were laid out (step_model_lay_out), and no
 * others; else into equal ones, or so that the first and the last have one layer fewer than the others; and
 * if they are not virtual, so that these two alone differ from the rest where embedding and head count as a
 * layer each. */
bool step_stages_fit(const step_model *m, uint32_t n_stages, bool is_virtual);

/* Of stages that do not fit, the first ones have a layer more. */
step_stage step_stage_of(const step_model *m, uint32_t number, uint32_t n_stages);
step_block_kind step_stage_block(const step_stage *s, uint32_t position);
/* Whether another block of the stage has this parameter of the one at a position, an earlier one: a tied
 * embedding, and what layers that predict further tokens share. */
bool step_is_defined(const step_model *m, const step_stage *s, uint32_t position, const step_parameter *p);
/* Whether full recomputation makes the layer at a position again. */
bool step_stage_recomputes(const step_stage *s, const step_options *o, uint32_t position);
/* Whether stages have the same blocks, of which the same are made again. */
bool step_stage_is_same(const step_stage *a, const step_stage *b);

typedef struct {
    bool is_expert;        /* it is reduced, and sharded, among ranks with the same experts */
    uint64_t elements;     /* that a rank reduces, with padding */
    uint64_t low_elements; /* of them those of matrices that are gathered in fewer bits (step_low) */
    uint32_t ready_block,
        ready_module;      /* position of the block, and the module of it, after whose backward pass the
                                           last gradient is there */
    uint32_t n_reductions; /* of gradients, one after the other; 0: none is called */
    step_collective reduction[3];
    bool is_gathered; /* parameters are sharded, and gathered before they are used */
    step_collective gathering;
    step_collective gathering_again;  /* of a unit, after the forward pass has sharded it anew */
    uint32_t first_block, last_block; /* of a unit, positions between which it is used */
    /* of a unit: not sharded anew after the forward pass, as the backward pass begins with it */
    bool is_kept;
} step_bucket;

typedef struct {
    uint32_t n, n_parameters;
    /* in the order of filling; units in the order in which the forward pass needs them */
    step_bucket *bucket;
    uint32_t *launch; /* the same, by number, in the order in which the backward pass makes them ready */
} step_buckets;

static inline step_group step_shards_of(const step_bucket *b)
{
    return b->is_expert ? STEP_GROUP_EXPERT_SHARD : STEP_GROUP_SHARD;
}

/* `step`: 0 for the first of a run. */
void step_buckets_make(const step_model *m, const step_options *o, const step_stage *s, uint32_t step,
                       dse_arena *a, step_buckets *out);

/* Elements of a stage's norms and whole biases: with sequence parallelism a rank has a part of their
 * gradient. */
uint64_t step_whole_elements(const step_model *m, const step_stage *s);

/* Elements of the embedding that a rank of the first and of the last stage share, if it is tied or the last
 * one predicts further tokens; else 0. */
uint64_t step_tied_elements(const step_model *m, const step_options *o);

#endif
