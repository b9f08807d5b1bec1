/* wl_outline -- a model as counts: what outline.c makes and totals.c evaluates. Private to workload/.
 *
 * Tensors whose nodes have the same shapes are of one kind; places of a pipeline (0, 1 .. layers, layers + 1)
 * that have the same numbers of all kinds are of one class: there are some five of them, however many
 * layers. */
#ifndef DSE_WORKLOAD_OUTLINE_H
#define DSE_WORKLOAD_OUTLINE_H

#include "workload/generator.h"
#include "workload/totals.h"

/* An operand, of a size of the variant's: what its producer leaves, and what is needed. The collectives
 * between depend on the degrees. */
typedef struct {
    wl_shape have, reduced, need, unsummed;
    uint32_t size; /* of what is there */
} outline_operand;

/* A tensor that is needed on another place than its own. Those of a tensor stand together. */
typedef struct {
    uint32_t tensor; /* number of the model's tensor */
    uint32_t from, to, size;
} outline_crossing;

/* A piece of the chain (outline_chain.c): places in a row of computations and operands, in ascending
 * order. */
typedef struct {
    uint32_t first, n; /* in outline.item */
} outline_segment;

struct wl_outline {
    gen_variant variant;
    uint32_t n_places;
    uint32_t n_ordered;
    uint32_t *place_order; /* places with tensors, in the order in which the model first has one on them */
    uint32_t *class_of;    /* per place */
    uint32_t loss;         /* what computes the loss, or DSE_NONE */
    uint32_t n_computes, n_operands, n_crossings, n_classes;
    gen_work *compute;
    outline_operand *operand;
    outline_crossing *crossing;
    uint32_t n_segments, n_items;
    outline_segment *segment;
    uint32_t *item;
    /* Per class a row of n_counts: of each computation, each operand, each segment, and for each way of being
     * held (outline_held) each size. */
    uint32_t n_counts;
    uint32_t *count;
};

/* Ways of being held. Weights, and gradients of weights that stand before the step, by themselves: with a
 * precision they are part of the state. */
typedef enum {
    OUTLINE_START,         /* from tick 0, for a reader */
    OUTLINE_LOSS,          /* when the loss begins, for a reader after it */
    OUTLINE_START_WEIGHTS, /* the same of weights */
    OUTLINE_LOSS_WEIGHTS,
    OUTLINE_STATE, /* weights of the place, whoever reads them */
    OUTLINE_N_HELD
} outline_held;

/* Where in a row they begin. */
static inline uint32_t outline_operands_at(const wl_outline *o) { return o->n_computes; }
static inline uint32_t outline_held_at(const wl_outline *o, outline_held how)
{
    return o->n_computes + o->n_operands + (uint32_t)how * o->variant.n_sizes;
}

static inline uint32_t outline_segments_at(const wl_outline *o) { return outline_held_at(o, OUTLINE_N_HELD); }

/* ---- what outline.c and outline_chain.c share ---------------------------------------------- */

/* What a tensor waits for. */
enum { OUTLINE_X1, OUTLINE_X2, OUTLINE_AFTER, OUTLINE_N_WAITS };

/* Who waits for a tensor: in lists through those that wait, one for each way. */
typedef struct {
    uint32_t first[OUTLINE_N_WAITS], next[OUTLINE_N_WAITS];
} outline_readers;

/* What is counted of a tensor; numbers of kinds, or DSE_NONE. */
typedef struct {
    uint32_t compute, operand[2];
    uint32_t size;              /* of its elements */
    uint32_t start_at, loss_at; /* the place of a reader for which it is held, or DSE_NONE: not counted */
    uint32_t segment;           /* that ends with it */
} outline_facts;

typedef struct {
    wl_outline *out;
    const wl_model *model;
    dse_arena *scratch;
    outline_facts *facts;
    outline_readers *readers;
    bool *before, *after; /* the loss: what it is made from, what is made from it */
    uint32_t loss;        /* the tensor, or DSE_NONE */
    size_t cap_computes, cap_operands, cap_crossings, cap_segments, cap_items;
} outliner;

static inline uint32_t outline_wait(const wl_tensor *t, int which)
{
    const uint32_t waits[] = {[OUTLINE_X1] = t->x1, [OUTLINE_X2] = t->x2, [OUTLINE_AFTER] = t->after};

    return waits[which];
}

static inline bool outline_has_cost(wl_op_kind kind)
{
    return kind == WL_OP_EINSUM || kind == WL_OP_LOOKUP || kind == WL_OP_ADD || kind == WL_OP_SCALE ||
           kind == WL_OP_RESHAPE;
}

/* Marks what waits for `from`, or what it waits for; not itself. */
void outline_mark(const outliner *o, uint32_t from, bool waiting, bool *marks);

/* outline_chain.c: the segments, and the tensors they end with. */
void outline_add_chain(outliner *o);

#endif
