/* wl_model -- the tensors of a whole training step: blocks instantiated, layers stacked, links made,
 * weight updates added. Still the model as one machine would run it; generate.c distributes it. */
#ifndef DSE_WORKLOAD_MODEL_H
#define DSE_WORKLOAD_MODEL_H

#include "workload/operators.h"

typedef struct {
    const char *name;  /* "stack_3_mha_wq" */
    uint32_t name_len; /* bytes, without the end */
    uint32_t revision; /* 0; 1 for an updated weight */
    wl_op_kind kind;
    const wl_operator *op; /* shapes; an input that is linked has become a WL_OP_COPY of x1 */
    uint32_t x1, x2;       /* tensors, or DSE_NONE */
    uint32_t gradient_of;  /* tensor, or DSE_NONE */
    uint32_t after;        /* tensor, or DSE_NONE */
    uint32_t place;        /* 0 .. layers + 1 */
} wl_tensor;

typedef struct {
    uint32_t n;
    wl_tensor *tensor;
} wl_model;

/* layers may be 0. DSE_E_CONFIG for links to tensors that do not exist. */
dse_status wl_model_build(const wl_operators *o, uint32_t layers, dse_arena *a, wl_model *out,
                          dse_error *err);

#endif
