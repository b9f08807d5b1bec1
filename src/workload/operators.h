/* wl_operators -- the operators of a training step, read from a file of configs/operators/.
 *
 * The file is data: tensors, einsums and shapes per block, and how blocks make up the model. Reading it gives neutral
 * blocks, which keep what the file says for the passes (pass.h): every error in it is found, whatever the strategy.
 * The passes make of them the blocks of a strategy. The format is explained at the top of
 * configs/operators/transformer.yaml; what only other files use, in gpt.yaml. */
#ifndef DSE_WORKLOAD_OPERATORS_H
#define DSE_WORKLOAD_OPERATORS_H

#include "config/doc.h"
#include "workload/expr.h"
#include "workload/graph.h"
#include "workload/kernel.h"

typedef enum {
    WL_OP_INPUT,   /* made by nobody; also every weight */
    WL_OP_EINSUM,  /* contraction of x1 and x2, `scale` times; a multiply-add is one operation */
    WL_OP_LOOKUP,  /* rows of a table x2 by the numbers in x1, or the table that rows x2 are added up in */
    WL_OP_ADD,     /* elementwise, of x1 and x2: `scale` operations per element */
    WL_OP_SCALE,   /* `scale` operations per element of x1 */
    WL_OP_COPY,    /* x1 under another name */
    WL_OP_RESHAPE, /* x1, in another shape */
    WL_OP_SHADOW   /* stands for a tensor of another pipeline stage, received from there */
} wl_op_kind;

typedef uint32_t wl_passes; /* a set of passes (pass.h), a bit for each */

typedef struct wl_operator {
    const char *name; /* within its block */
    uint32_t number;  /* among all operators of the model, updates with them */
    wl_op_kind kind;
    bool is_weight, is_sharded;
    uint32_t x1, x2;             /* operands: indexes into the block, or DSE_NONE */
    wl_shape x1_shape, x2_shape; /* as this operator needs them; of an input, x1_shape is its shape */
    wl_shape y_shape;            /* as it leaves the result */
    wl_shape y_reduced;          /* dimensions summed over: a degree in here leaves partial sums behind */
    wl_shape unsummed;           /* dimensions over which the operands may be left as partial sums */
    wl_shape rows;               /* of a lookup: what is read of x2, or added up into y */
    double scale;
    /* of an element of an activation, what an element of the result takes to store: 0.5 of a mask */
    double stored;
    uint32_t gradient_of; /* index into the block, or DSE_NONE */
    uint32_t after;       /* recomputation: waits for this tensor, or DSE_NONE */
    wl_kernel_class class;
    wl_dim extent[WL_N_EXTENTS]; /* of a contraction */
    wl_tensor_kind makes;        /* what the result is; of an input: unless a link feeds it */
    const struct wl_operator
        *update; /* of a weight: w@1 = w@0 + gradient, in the weight's shape; else NULL */

    /* For the passes. */
    wl_passes exists_with;   /* `when`: all of these */
    const wl_shape *sharded; /* of a weight, its shape with weight sharding; NULL: the same */
    /* An einsum, with recomputation; with weight sharding as well. NULL: the same. */
    const struct wl_operator *recomputed, *recomputed_sharded;
} wl_operator;

typedef struct {
    const char *name;
    uint32_t n;
    wl_operator *op;
    uint32_t again_after; /* recomputation makes all of it again, after this tensor; DSE_NONE: it does not */
} wl_block;

/* A block (or, for layers, several) in its place in the model. */
typedef struct {
    const char *prefix;    /* "in_emb"; of a block within a layer: "mha" */
    const wl_block *block; /* symbols already renamed */
} wl_part;

typedef struct {
    bool is_layers;     /* stands for all layers, prefix_<i>_<part>_<tensor> */
    const char *prefix; /* "stack"; unused for a single part */
    bool is_last;       /* place: layers + 1 instead of 0 */
    uint32_t n_parts;
    wl_part *part;
} wl_entry;

typedef enum {
    WL_LINK_WITHIN_LAYER,
    WL_LINK_FIRST_LAYER,
    WL_LINK_NEXT_LAYER,
    WL_LINK_LAST_LAYER,
    WL_LINK_LOSS,
    WL_N_LINK_KINDS
} wl_link_kind;

typedef struct {
    const cfg_node *from, *to; /* scalars: "mha_norm" of a layer, "in_emb_y", "next_mha_x" */
} wl_link;

typedef struct {
    cfg_doc doc;        /* what it was read from; for messages */
    wl_symbols symbols; /* with dp, tp, sp at the end; values are the caller's to fill */
    uint32_t n_ops;     /* numbers of operators */
    uint32_t n_entries;
    wl_entry *entry;
    uint32_t n_links[WL_N_LINK_KINDS];
    wl_link *link[WL_N_LINK_KINDS];
    int64_t min_layers[WL_N_LINK_KINDS]; /* links of this kind exist from so many layers on */
} wl_operators;

/* kernel.c: the classes of operators whose results are known (`makes`). */
void wl_block_classify(wl_block *b);

/* What each operator makes, and its class: again where a pass has replaced operators. */
void wl_block_describe(wl_block *b);

/* Neutral blocks, without numbers. Everything in *out lives in the arena and borrows from doc. DSE_E_CONFIG with the
 * place. */
dse_status wl_operators_read(const cfg_doc *doc, dse_arena *a, wl_operators *out, dse_error *err);

/* The blocks of a strategy with these passes. Fails as reading does. */
dse_status wl_operators_resolve(const cfg_doc *doc, wl_passes passes, dse_arena *a, wl_operators *out,
                                dse_error *err);

#endif
