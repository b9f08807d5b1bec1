/* Within memory*.c: the sizes of the units of a stage, and of stages. */
#ifndef DSE_STEP_MEMORY_PARTS_H
#define DSE_STEP_MEMORY_PARTS_H

#include "step/buckets.h"
#include "step/memory.h"
#include "step/module.h"

/* Bytes by kind; of a difference also negative. */
typedef struct {
    int64_t of[STEP_N_HOLDS];
} mem_held;

static inline int64_t mem_total(const mem_held *h)
{
    int64_t sum = 0;

    for (int i = 0; i < STEP_N_HOLDS; i++)
        sum += h->of[i];
    return sum;
}

static inline void mem_add(mem_held *h, const mem_held *other, int64_t times)
{
    for (int i = 0; i < STEP_N_HOLDS; i++)
        h->of[i] += times * other->of[i];
}

/* What a stage is a chain of: blocks, which are made again in the backward pass or not. A number of it. */
typedef uint8_t mem_unit_kind;
_Static_assert(2 * STEP_MAX_BLOCKS - 1 <= UINT8_MAX, "each block has two numbers");

static inline mem_unit_kind mem_unit_of(step_block_kind block, bool again)
{
    return (mem_unit_kind)(2 * block + again);
}
static inline step_block_kind mem_block_of(mem_unit_kind unit) { return (step_block_kind)(unit / 2); }
static inline bool mem_is_again(mem_unit_kind unit) { return unit % 2; }

/* A block of modules. Parameters of ZeRO-3 are gathered and gradients reduced by it. */
typedef struct {
    uint64_t elements, share; /* of its parameters on a rank of a tensor parallel group; of them its shard */
    uint64_t padded;          /* and as a distributed optimizer lays them out, but for */
    uint64_t expert_padded;   /* those of experts that are sharded among other ranks */
    uint64_t low_elements;    /* of them those that are gathered and kept in fewer bits */
    int64_t gathered;         /* bytes of its parameters, whole */
    mem_held kept, deferred;  /* after F; after I */
    int64_t remade;           /* all that recomputation of the block makes, but its input */
    /* The moment of each kind of action that needs most: forward, above what was there before; backward,
     * above what was there when the units behind it had ended, this one's `kept` included. */
    mem_held moment[SCHED_KINDS];
    mem_held loss[SCHED_KINDS]; /* the same of the module that takes the loss, if there is one */
} mem_unit;

/* Which parameters of a stage are gathered between two actions. */
typedef enum { OPEN_NONE, OPEN_LAST, OPEN_ALL, N_OPEN } mem_open;

typedef struct {
    mem_held more; /* above what is held before the action */
    int64_t bytes; /* their sum */
    step_block_kind block;
} mem_moment;

typedef struct {
    step_stage of;
    uint32_t n_units;
    mem_unit_kind *chain; /* in the order of the forward pass */
    uint16_t *place;      /* of a recomputed layer in its piece; only the first keeps its input */
    mem_held fixed, kept, deferred;
    int64_t kept_bytes, deferred_bytes; /* their sums, */
    int64_t kept_live, deferred_live;   /* and of those kinds that wait for backward passes */
    int64_t gathered, gathered_last, whole;
    mem_moment moment[SCHED_KINDS][N_OPEN][2]; /* the last: whether gradients are reduced */
} mem_stage;

struct step_memory {
    const step_model *model;
    const step_options *options;
    step_shape shape;
    dse_arena *arena;
    uint32_t n_stages;
    int64_t hidden;    /* bytes of the tensor between two stages */
    mem_unit *unit;    /* by mem_unit_kind */
    mem_stage **stage; /* per stage; equal ones are one */
    mem_held tied;     /* the output embedding, where it is the input embedding of the same rank */
    mem_held always;   /* of each rank, whatever its stages */
};

/* ---- memory_unit.c ------------------------------------------------------------------------------ */

void mem_make_unit(step_memory *s, mem_unit_kind kind);
/* Adds a parameter to the unit's elements, padded elements and share. */
void mem_add_parameter(mem_unit *u, const step_parameter *p, const step_options *o);
/* Bytes of the copies of a block's matrices that are multiplied in fewer bits: one as it is and one
 * transposed, of matrices that are gathered so only the transpose. They last as long as what is cast with
 * them: a pass of the block (step_low.casts_weights_in_passes), or the whole step. */
int64_t mem_low_copies(const step_block *b, const step_options *o);
/* What the parameters of a unit hold the whole step. */
mem_held mem_state_of(const step_memory *s, const mem_unit *all);

/* ---- memory_stage.c ----------------------------------------------------------------------------- */

/* Of g->of. */
void mem_make_stage(step_memory *s, mem_stage *g);
/* Whether parameters of ZeRO-3 are freed after each backward pass. */
bool mem_closes_each(const step_options *o);

#endif
