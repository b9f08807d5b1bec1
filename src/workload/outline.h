/* wl_outline -- a model as counts: what outline.c makes and totals.c evaluates. Private to workload/.
 *
 * Tensors whose nodes have the same shapes are of one kind; places of a pipeline (0, 1 .. layers, layers + 1) that have the
 * same numbers of all kinds are of one class: there are some five of them, however many layers. */
#ifndef DSE_WORKLOAD_OUTLINE_H
#define DSE_WORKLOAD_OUTLINE_H

#include "workload/model.h"
#include "workload/totals.h"

/* A number of elements, or of operations, over the symbols. */
typedef struct {
    wl_dim dim;
    double scale;
} outline_size;

/* A computation. Indexes of sizes; DSE_NONE: nothing. */
typedef struct {
    uint32_t ops, y, x1, x2;
} outline_compute;

/* An operand: what its producer leaves, and what is needed. The collectives between depend on the degrees. */
typedef struct {
    wl_shape have, reduced, need;
    uint32_t size; /* of what is there */
} outline_operand;

/* A tensor that is needed on another place than its own. Those of a tensor stand together. */
typedef struct {
    uint32_t tensor; /* number of the model's tensor */
    uint32_t from, to, size;
} outline_crossing;

struct wl_outline {
    wl_operators ops;
    uint32_t layers, n_places;
    uint32_t n_ordered,
        *place_order;   /* places with tensors, in the order in which the model first has one on them */
    uint32_t *class_of; /* per place */
    uint32_t loss;      /* what computes the loss, or DSE_NONE */
    uint32_t n_sizes, n_computes, n_operands, n_crossings, n_classes;
    outline_size *size;
    outline_compute *compute;
    outline_operand *operand;
    outline_crossing *crossing;
    /* Per class a row of n_counts: of each computation, each operand, each size held at the start, and each held at the
     * loss. */
    uint32_t n_counts;
    uint32_t *count;
};

/* Where in a row the four begin. */
static inline uint32_t outline_operands_at(const wl_outline *o) { return o->n_computes; }
static inline uint32_t outline_start_at(const wl_outline *o) { return o->n_computes + o->n_operands; }
static inline uint32_t outline_loss_at(const wl_outline *o)
{
    return o->n_computes + o->n_operands + o->n_sizes;
}

#endif
