/* What the generator's files share; private to it.
 *
 *   variant   the operators after a set of passes (pass.h), and the distinct sizes they speak of
 *   shape     all of a workload that is no size: nodes, names, dependencies, who sends what to whom
 *   point     what the sizes are for one strategy, and with it a workload
 *
 * A shape is made of a variant and a key alone (generate_shape.c, generate_nodes.c, generate_graph.c), which
 * is why points with the same key may share it: what made it has seen nothing else of them. */
#ifndef DSE_WORKLOAD_GENERATOR_H
#define DSE_WORKLOAD_GENERATOR_H

#include "workload/generate.h"
#include "workload/model.h"

/* ---- generate_variant.c: operators and their sizes ------------------------------------------- */

/* `scale` times a product of symbols. */
typedef struct {
    wl_dim product;
    double scale;
    bool counts_operations; /* of some operator */
} gen_size;

/* What a computation does. Sizes here and below are indexes into the variant's, DSE_NONE: nothing.
 * Compared as bytes. */
typedef struct {
    uint32_t class;                /* wl_kernel_class */
    uint32_t extent[WL_N_EXTENTS]; /* indexes into the variant's extents; DSE_NONE: 1 */
    uint32_t operations;
    uint32_t moved[3]; /* the result and the operands; added up in this order, as floats */
    /* wl_tensor_kind of each, as far as bytes depend on it; UNKNOWN: there is no such operand */
    uint32_t kind[3];
} gen_work;

/* What stands beside a wl_operator. */
typedef struct {
    uint32_t y, x1, x2; /* elements; of y never nothing */
    gen_work work;
    wl_piece y_text; /* the shape of the result, as the dialect prints it */
} gen_operator;

typedef struct {
    const wl_dialect *dialect;
    wl_operators ops; /* without values of the symbols */
    gen_operator *op; /* by wl_operator.number */
    uint32_t n_sizes;
    gen_size *size;
    uint32_t n_extents;
    wl_dim *extent;
    wl_axes axes;
} gen_variant;

dse_status gen_variant_init(gen_variant *v, const cfg_doc *operators, wl_passes passes,
                            const wl_dialect *dialect, dse_arena *a, dse_error *err);

static inline const gen_operator *gen_operator_of(const gen_variant *v, const wl_operator *op)
{
    return &v->op[op->number];
}

/* The sizes for one strategy. DSE_E_CONFIG: a symbol has no value; DSE_E_RANGE: one is below 1. */
typedef struct {
    double *value;    /* of each size of the variant: elements, multiply-adds */
    bool *is_free;    /* whether so many operations are none */
    uint64_t *extent; /* of each extent of the variant */
    wl_precision precision;
} gen_sizes;

dse_status gen_sizes_evaluate(const gen_variant *v, const wl_symbols *symbols, const mesh *m,
                              const wl_precision *precision, dse_arena *a, gen_sizes *out, dse_error *err);

static inline double gen_value(const gen_sizes *sizes, uint32_t size)
{
    return size == DSE_NONE ? 0.0 : sizes->value[size];
}

/* The axes that shard tensors and have degrees above 1. */
mesh_set gen_split(const wl_axes *x, const mesh *m);

/* A count as nodes have it; false if it does not fit in 63 bits. */
bool gen_count(double v, uint64_t *out);

/* A computation, with operations and traffic as the precision counts; false if a count does not fit in 63
 * bits. */
bool gen_kernel_of(const gen_sizes *sizes, const gen_work *w, wl_kernel *out);

/* A message of so many elements, of whatever. */
double gen_message(const gen_sizes *sizes, uint32_t size);

/* Bytes that a rank holds for the parameters of this size, each: their weights, gradients or optimizer
 * state. */
uint64_t gen_state(const gen_sizes *sizes, uint32_t size, wl_tensor_kind kind);

/* The weights of one place of an entry that are gathered for use, in bytes: each in the largest piece in
 * which an operator needs it, if that is more than what a rank keeps of it. */
uint64_t gen_gathered(const gen_variant *v, const gen_sizes *sizes, const wl_entry *e);

/* ---- a shape --------------------------------------------------------------------------------- */

/* All that a shape depends on. */
typedef struct {
    const gen_variant *variant;
    uint32_t layers, pp;
    wl_stages stages;
    mesh_set split;      /* axes that shard tensors and have degrees above 1 */
    const bool *is_free; /* of each size of the variant */
} gen_key;

/* What nodes of one operator have in common: sizes, of the variant. */
typedef struct {
    gen_work work;
    uint32_t communicated, result;
} gen_figures;

/* A send or receive of every rank of a stage. Messages are numbered through all stages; each has both
 * ends. */
typedef struct {
    uint32_t message, peer_stage;
    bool receives;
} gen_p2p;

/* One stage. `graph` lacks nothing but sizes. */
typedef struct {
    wl_graph graph;
    uint32_t *figures;     /* of each node: index into the shape's */
    uint32_t *tensor_size; /* of each tensor: index into the variant's sizes */
    /* Of a weight of this stage, of its gradient and of what updates it: the size of what the rank keeps
     * of the weight, else DSE_NONE. */
    uint32_t *tensor_state;
    uint32_t *n_weights; /* of each size of the variant: weights of the stage that are kept in it */
    uint32_t coordinate; /* along pp */
    uint32_t n_ids;      /* that a rank uses up, without those of sends and receives */
    gen_p2p *p2p;        /* graph.n_p2p_slots */
} gen_graph;

typedef struct {
    uint32_t n_graphs; /* in rank order */
    gen_graph *graph;
    uint32_t n_slots; /* communicator slots of every graph: */
    mesh_set *slot;   /* the axes of each */
    uint32_t n_figures;
    gen_figures *figures;
    const char **user; /* of each: the first node that has it, also if it costs nothing; for messages */
} gen_shape;

/* What is kept goes into `keep`, all else into `scratch`; they may be the same. DSE_E_RANGE if a stage gets
 * no tensor; DSE_E_CONFIG. */
dse_status gen_shape_build(const gen_key *key, dse_arena *keep, dse_arena *scratch, gen_shape *out,
                           dse_error *err);

/* Whether ranks have stages in the order of their first tensors, or of their coordinates. */
static inline bool gen_by_first_tensor(const gen_variant *v, wl_stages how)
{
    return how == WL_STAGES_TURNS && v->dialect->stages_by_first_tensor;
}

/* ---- generate_workload.c: a shape with its sizes --------------------------------------------- */

/* `in_place`: the shape's arrays become the workload's own; else those with sizes in them are copied, and the
 * rest is shared. */
dse_status gen_workload_fill(const gen_key *key, const gen_shape *shape, const gen_sizes *sizes,
                             bool in_place, dse_arena *a, wl_workload *out, dse_error *err);
void gen_workload_bind(const gen_key *key, const gen_shape *shape, const mesh *m, uint32_t tag_base,
                       dse_arena *a, wl_workload *out);

/* ---- a shape under construction -------------------------------------------------------------- */

/* A tensor on one stage: of the model, or the shadow of a tensor that another stage makes. */
typedef struct {
    uint32_t model; /* index into the model's tensors; of a shadow, of what it stands for */
    wl_op_kind kind;
    uint32_t x1, x2;                /* tensors of this stage, or DSE_NONE */
    uint32_t comp;                  /* draft nodes, or DSE_NONE: the computation, */
    uint32_t x1_in;                 /* the first node that takes x1 (a collective, else comp), */
    uint32_t x2_in;                 /* and x2, */
    uint32_t recv;                  /* of a shadow */
    uint32_t first_send, last_send; /* list through gen_draft.next_send */
    uint32_t info;                  /* index into the graph's tensors, or DSE_NONE */
} gen_tensor;

/* What a node does with its tensor, other than bring together what it is made of. A shadow only stands for
 * it: another stage has the work. */
typedef enum { GEN_MAKES, GEN_STANDS_FOR, GEN_SENDS, GEN_RECEIVES, GEN_N_USES } gen_use;

/* A node before the ones without cost are removed. A rank numbers its nodes in the order of the array. */
typedef struct {
    uint32_t tensor; /* of the gen_stage */
    uint32_t figures;
    uint32_t slot;    /* wl_node.slot */
    uint32_t data[4]; /* at most: a collective and a producer for each operand */
    uint32_t ctrl[2]; /* at most: recomputation, and the chain of first collectives */
    uint32_t next_send;
    uint32_t final; /* index in the finished graph, or DSE_NONE */
    uint8_t n_data, n_ctrl;
    uint8_t role; /* wl_role */
    uint8_t coll; /* wl_coll_type */
    bool removed;
} gen_draft;

typedef struct {
    uint32_t value;                  /* its pp coordinate */
    uint32_t n_tensors, n_crossings; /* operands from other stages: at most so many shadows */
    gen_tensor *tensor;
    uint32_t n_local; /* drafts that stay on the stage: all but sends and receives, which follow them */
    uint32_t n_drafts;
    size_t cap_drafts;
    gen_draft *drafts;
    uint32_t n_p2p;
} gen_stage;

/* A tensor made on one stage and needed on another: a message. */
typedef struct {
    uint32_t from_stage, from_tensor, to_stage, to_tensor;
    uint32_t send_slot, recv_slot;
} gen_link;

/* The collectives of an operand, as they were when an operator met it last. In the layers it is always the
 * same. */
typedef struct {
    const wl_operator *from; /* NULL: it met none yet */
    uint32_t n, figures;
    wl_match *match; /* room for one of each axis */
} gen_met;

typedef struct {
    const gen_key *key;
    const gen_variant *v; /* the key's */
    wl_model model;
    dse_arena *keep, *scratch;
    wl_name_pool names; /* in keep */
    dse_error *err;
    gen_shape *out;

    uint32_t n_stages;
    gen_stage *stages;  /* in rank order */
    uint32_t *stage_of; /* model tensor -> gen_stage */
    uint32_t *local;    /* model tensor -> tensor of its gen_stage */
    uint32_t *shadow;   /* model tensor -> its last shadow, a tensor of another gen_stage */
    uint32_t n_links;
    gen_link *links;
    uint32_t (*used)[GEN_N_USES];  /* operator -> figures of the nodes of what it makes, or DSE_NONE */
    gen_met (*met)[2];             /* operator, x1 or x2 */
    size_t cap_figures, cap_users; /* of the shape's arrays */
} gen_build;

static inline const wl_tensor *gen_model_tensor(const gen_build *b, const gen_tensor *t)
{
    return &b->model.tensor[t->model];
}

/* An input that a link feeds carries what the layer before made. */
static inline wl_tensor_kind gen_tensor_kind(const gen_build *b, const gen_tensor *t)
{
    const wl_tensor *m = gen_model_tensor(b, t);

    return m->op->makes == WL_TENSOR_INPUT && m->kind != WL_OP_INPUT ? WL_TENSOR_ACTIVATION : m->op->makes;
}

/* generate_nodes.c: computations, collectives, messages and dependencies, in this order. ----- */

dse_status gen_add_nodes(gen_build *b, gen_stage *s);
void gen_add_messages(gen_build *b); /* of all stages */
dse_status gen_add_dependencies(gen_build *b, gen_stage *s);

/* In pieces; in STAGE's dialect "shadow_stack_3_mha_x@0". */
#define GEN_N_TENSOR_PIECES 3
void gen_tensor_name(const gen_build *b, const gen_tensor *t, wl_piece out[GEN_N_TENSOR_PIECES]);
const char *gen_node_name(gen_build *b, const gen_stage *s, const gen_draft *d);

/* generate_graph.c: drafts to a graph. --------------------------------------------------------- */

dse_status gen_finish_stage(gen_build *b, gen_stage *s, gen_graph *out);

#endif
