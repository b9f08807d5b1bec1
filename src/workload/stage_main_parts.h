/* What the files of stage_main.h share; private to them. */
#ifndef DSE_WORKLOAD_STAGE_MAIN_PARTS_H
#define DSE_WORKLOAD_STAGE_MAIN_PARTS_H

#include "workload/dialect.h"
#include "workload/stage_main.h"

/* ---- stage_main_template.c ------------------------------------------------------------------- */

/* The axes that shard tensors, in the order in which their groups are numbered; the symbol of the first. */
enum { SM_DP, SM_TP, SM_CP, SM_EP, SM_N_AXES };
enum { SM_AXES = 10 };

/* The weights of a layer are one tensor of one dimension: the sum of their sizes. */
typedef enum { SM_PRODUCT, SM_ALL_WEIGHTS, SM_WEIGHT_SHARD } sm_sum;

typedef struct {
    wl_shape shape; /* of a sum: one dimension, with the axes that shard it and nothing else */
    sm_sum sum;
} sm_shape;

typedef enum {
    SM_PLACEHOLDER,
    SM_EINSUM,
    SM_ADD,
    SM_ELEMENT,
    SM_ELEMENT2,
    SM_IDENTICAL,
    SM_RESHAPE,
    SM_SLICE,
    SM_BROADCAST,
    SM_CUSTOM,
    SM_SHADOW
} sm_op;

typedef struct {
    uint8_t coll; /* wl_coll_type */
    uint8_t axis;
} sm_match;

/* The collectives that an operand needs, by the tensor that it was last. */
typedef struct {
    uint32_t from; /* kind, DSE_NONE: none yet */
    uint32_t n;
    sm_match match[SM_N_AXES];
} sm_met;

/* A row of a template with what it makes: what the tensors of all layers and micro-batches that come from
 * this row have in common. */
typedef struct {
    const char *name; /* "mha.qkv" of a layer, "in_emb.w" */
    sm_op op;
    bool is_weight;    /* require_grads: it counts with the optimizer's state */
    bool is_transient; /* with sharded weights its size counts as 0 */
    uint8_t makes;     /* wl_tensor_kind */
    uint32_t x1, x2;   /* kinds of the same block, or DSE_NONE */
    uint32_t n_deps;
    const uint32_t *deps;                  /* kinds of the same block that it waits for besides */
    sm_shape x1_shape, x2_shape, y;        /* of operands: as it needs them */
    wl_shape x1_hidden, x2_hidden, hidden; /* what they may be, and the result is, partial sums over */
    double elements, operations;
    const char *text;  /* of the shape of y */
    double stored;     /* what inputs and outputs say of its size, */
    bool stored_whole; /* spelt as an integer */
    sm_met met[2];
} sm_kind;

/* A weight: the tensor that has it in the template, its gradient, and the kinds beyond the template. */
typedef struct {
    uint32_t weight, gradient, merged, update;
} sm_weight;

typedef struct {
    const wl_main_options *options;
    wl_symbols symbols;
    uint32_t degree[SM_N_AXES]; /* tp of the dense models is tp x ep */
    uint32_t n_axes;            /* 3 or, with ep, 4 */
    dse_arena *arena;
    uint32_t n;
    size_t cap;
    sm_kind *kind; /* those of a layer, of in_emb, out_emb, loss, and those beyond */
    uint32_t n_layer, in_emb, out_emb, loss, beyond; /* layer: from 0; of debug there is in_emb alone */
    uint32_t n_weights;
    sm_weight weight[3]; /* of a layer, in_emb, out_emb */
    uint32_t layer_in, layer_out, layer_din,
        layer_dout; /* input_norm.x, ffn_res.y, input_norm.dx, ffn_res.dy */
} sm_template;

enum { SM_EMB_X, SM_EMB_W, SM_EMB_Y, SM_EMB_DY, SM_EMB_DW, SM_EMB_DX, SM_N_EMB };
enum { SM_LOSS_Y, SM_LOSS_LOSS, SM_LOSS_DY };

dse_status sm_template_build(const wl_main_options *o, dse_arena *a, sm_template *out, dse_error *err);

const char *sm_op_name(sm_op op); /* as op_type has it */

/* The step has one micro-batch, without its number, and weights where the template has them. */
static inline bool sm_is_plain(const sm_template *t)
{
    return t->options->model_type == WL_MAIN_DEBUG || t->options->copies_nodes;
}

/* ---- stage_main_step.c ----------------------------------------------------------------------- */

typedef struct {
    const char *name;  /* with the revision: "mb0.transformer.1.mha.qkv@0" */
    uint32_t name_len; /* bytes */
    uint32_t kind;     /* of a shadow: of what it stands for */
    bool is_shadow;
    uint32_t stage;
    uint32_t x1, x2; /* tensors, or DSE_NONE */
    uint32_t n_deps;
    const uint32_t *deps;
    uint32_t shadow_of; /* tensor */
} sm_tensor;

typedef struct {
    sm_template *t;
    dse_arena *arena;
    wl_name_pool names;
    uint32_t n_stages;
    size_t n, cap;
    sm_tensor *tensor;  /* weights of micro-batches are no tensors of any list */
    uint32_t *start;    /* per stage and one more: its part of `of_stage` */
    uint32_t *of_stage; /* tensors in the order in which they are numbered; shadows last */
} sm_step;

/* The template keeps what its operands met last (sm_met). */
dse_status sm_step_build(sm_template *t, dse_arena *a, sm_step *out, dse_error *err);

/* ---- stage_main_nodes.c ---------------------------------------------------------------------- */

typedef struct {
    uint32_t n, cap, first; /* in sm_nodes.dep */
} sm_deps;

typedef struct {
    uint32_t tensor;
    uint32_t id;
    uint8_t role; /* wl_role */
    uint8_t coll, axis;
    bool is_gone;
    double comm_size;
    uint32_t next; /* send of the same tensor */
    sm_deps deps;
} sm_node;

typedef struct {
    uint32_t comp, first_x1, first_x2, n_x1, n_x2, recv, first_send, last_send;
} sm_nodes_of;

typedef struct {
    uint32_t from, to; /* tensors */
    uint32_t send, recv;
} sm_link;

typedef struct {
    sm_step *step;
    dse_arena *arena;
    size_t n, cap;
    sm_node *node;   /* of all stages, in the order of their ids, which begin with 1 */
    sm_nodes_of *of; /* tensor */
    size_t n_dep, cap_dep;
    uint32_t *dep;
    size_t n_links, cap_links;
    sm_link *link;
} sm_nodes;

dse_status sm_nodes_build(sm_step *s, dse_arena *a, sm_nodes *out, dse_error *err);

/* The nodes of a stage in the order of its file; returns how many. `out` has room for all nodes. */
uint32_t sm_nodes_in_order(const sm_nodes *g, uint32_t stage, uint32_t *out);

/* What STAGE_MERGE_COMMS does to these nodes, which are in the order of their file: a collective that waits
 * for one of its type takes over what that one waits for, and that one is `left_out` (by node) of this file,
 * not of the next. Returns whether any is left out. */
bool sm_nodes_merge(sm_nodes *g, const uint32_t *order, uint32_t n, bool *left_out);

#endif
