/* wl_precision -- how many bytes an element of a tensor has, by what the tensor is.
 *
 * STAGE writes numbers of elements where ASTRA-sim reads bytes. That is what a workload counts without a
 * precision; with one, what the generator makes (generate.h) counts
 *
 *   memory         bytes. The state of the training stays on a rank for the whole step: of each parameter
 *                  that the rank keeps its weight, its gradient and what the optimizer knows of it. All else
 *                  lives as ever.
 *   operations     a multiply-add of an einsum as two, as data sheets count FLOPS (STAGE counts one); all
 *                  else as before
 *   memory traffic bytes, each operand and result by its kind; the update of a weight also reads and writes
 *                  what the optimizer knows of it
 *   messages       elements times the bytes of messages
 *
 * Inputs of the model count as activations: if an operator file makes token ids a matrix of one-hot rows,
 * that is what is there. README.md says what is left out. */
#ifndef DSE_WORKLOAD_PRECISION_H
#define DSE_WORKLOAD_PRECISION_H

#include "workload/graph.h"

typedef struct {
    double weights, activations; /* the latter also of gradients of activations */
    double gradients;            /* of weights */
    double optimizer;            /* for each parameter: master copy, moments */
    double messages;
} wl_precision; /* bytes; all 0: none is given, and elements are counted */

static inline bool wl_in_bytes(const wl_precision *p) { return p->weights > 0; }

/* Bytes of an element of a tensor of this kind; 1 without a precision. */
double wl_element_bytes(const wl_precision *p, wl_tensor_kind kind);

#endif
