/* What generate.c, generate_nodes.c and generate_graph.c share: a workload under construction. Private to the
 * generator.
 *
 * The arrays belong to the generator's arena and are referred to by index. */
#ifndef DSE_WORKLOAD_GENERATOR_H
#define DSE_WORKLOAD_GENERATOR_H

#include "workload/collective_match.h"
#include "workload/generate.h"
#include "workload/model.h"

/* A tensor on one stage: of the model, or the shadow of a tensor that another stage makes. */
typedef struct {
    uint32_t model; /* index into the model's tensors; of a shadow, of what it stands for */
    wl_op_kind kind;
    uint32_t x1, x2;                /* tensors of this stage, or DSE_NONE */
    uint32_t comp;                  /* draft nodes, or DSE_NONE: the computation, */
    uint32_t x1_in;                 /* the first node that takes x1 (a collective, else comp), */
    uint32_t x2_in;                 /* and x2, */
    uint32_t recv;                  /* of a shadow */
    uint32_t first_send, last_send; /* list through gen_node.next_send */
    uint32_t info;                  /* index into the graph's tensors, or DSE_NONE */
} gen_tensor;

/* A node before the ones without cost are taken out. Its place in the array is its number on the rank. */
typedef struct {
    wl_node node;
    uint32_t tensor;  /* of the gen_stage */
    uint32_t operand; /* COLL: the tensor it brings along */
    uint32_t n_data, n_ctrl;
    uint32_t data[4]; /* at most: a collective and a producer for each operand */
    uint32_t ctrl[2]; /* at most: recomputation, and the chain of first collectives */
    uint32_t next_send;
    uint32_t final; /* index in the finished graph, or DSE_NONE */
    bool removed;
} gen_node;

typedef struct {
    uint32_t value;                  /* its pp coordinate */
    uint32_t n_tensors, n_crossings; /* operands from other stages: at most so many shadows */
    gen_tensor *tensor;
    uint32_t n_numbered; /* drafts that are numbered per rank: all but sends and receives */
    uint32_t n_drafts, cap_drafts;
    gen_node *drafts;
    uint32_t n_p2p;
} gen_stage;

/* A tensor made on one stage and needed on another. */
typedef struct {
    uint32_t from_stage, from_tensor, to_stage, to_tensor;
    uint32_t send_slot, recv_slot;
} gen_link;

typedef struct {
    wl_dim dim;
    double scale, value;
} gen_value;

typedef struct {
    wl_operators ops;
    wl_model model;
    const wl_strategy *s;
    uint32_t layers;
    dse_arena *arena;
    dse_error *err;
    wl_workload *out;

    uint32_t n_stages;
    gen_stage *stages;  /* in rank order */
    uint32_t *stage_of; /* model tensor -> gen_stage */
    uint32_t *local;    /* model tensor -> tensor of its gen_stage */
    uint32_t n_links;
    gen_link *links;

    wl_parallel parallel;
    uint32_t n_cached;
    gen_value cache[96];
} generator;

/* generate.c -------------------------------------------------------------------------------- */

double gen_value_of(generator *g, const wl_dim *d, double scale);
double gen_shape_value(generator *g, const wl_shape *s); /* elements on one rank; 0 of an absent operand */

static inline const wl_tensor *gen_model_tensor(const generator *g, const gen_tensor *t)
{
    return &g->model.tensor[t->model];
}

/* An input that a link feeds carries what the layer before made. */
static inline wl_tensor_kind gen_tensor_kind(const generator *g, const gen_tensor *t)
{
    const wl_tensor *m = gen_model_tensor(g, t);

    return m->op->makes == WL_TENSOR_INPUT && m->kind != WL_OP_INPUT ? WL_TENSOR_ACTIVATION : m->op->makes;
}

/* generate_nodes.c: computations, collectives, messages and dependencies, in this order. ----- */

dse_status gen_add_nodes(generator *g, gen_stage *s);
dse_status gen_add_messages(generator *g); /* of all stages */
dse_status gen_add_dependencies(generator *g, gen_stage *s);

/* generate_graph.c: drafts to graphs, ranks and groups. --------------------------------------- */

dse_status gen_finish_stage(generator *g, gen_stage *s, wl_graph *graph);
dse_status gen_bind_ranks(generator *g);

#endif
