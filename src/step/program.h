/* step_program -- what a rank does for one piece of a step: kernels and collectives in the order in which the
 * host issues them, with what each waits for.
 *
 * A piece is one block of modules (a layer, the embedding, the head) in one direction: forward, backward, or
 * the halves of the backward pass that make the gradient of the input (I) and of the weights (W). */
#ifndef DSE_STEP_PROGRAM_H
#define DSE_STEP_PROGRAM_H

#include "base/alloc.h"
#include "base/time.h"
#include "step/model.h"
#include "step/options.h"
#include "strategy/mesh.h"
#include "workload/graph.h"

/* What runs beside each other on a rank. Each does one thing at a time, in the order of the program. */
typedef enum {
    STEP_UNIT_COMPUTE,
    STEP_UNIT_LAYER, /* tensor and context parallelism: collectives within a layer */
    STEP_UNIT_SHARD, /* gradients and parameters */
    STEP_UNIT_PEER,  /* sends and receives between stages */
    STEP_N_UNITS
} step_unit;

/* Groups that a rank is in. */
typedef enum {
    STEP_GROUP_NONE,
    STEP_GROUP_TP,
    STEP_GROUP_CP,
    STEP_GROUP_SHARD,        /* ranks with other shards of what data and context parallelism shard */
    STEP_GROUP_SHARD_NEAR,   /* of them the neighbours on which parameters lie after the forward pass */
    STEP_GROUP_REPLICAS,     /* ranks with the same shard */
    STEP_GROUP_COPIES,       /* with two directions, both holders of a stage: pipeline ranks r and pp-1-r */
    STEP_GROUP_EXPERT_SHARD, /* the same of what experts have, among ranks with the same experts */
    STEP_GROUP_EXPERT_REPLICAS,
    STEP_GROUP_EP,      /* ranks with other experts */
    STEP_GROUP_EP_NEAR, /* of them those of a node, */
    STEP_GROUP_EP_FAR,  /* and those with the same place in other nodes */
    STEP_GROUP_ETP,     /* ranks with other parts of the same experts */
    STEP_GROUP_EP_ETP,
    STEP_GROUP_PP,
    STEP_GROUP_EMBEDDING, /* the first and the last stage */
    STEP_GROUP_MODEL,
    STEP_GROUP_WORLD,
    STEP_N_GROUPS
} step_group;

uint32_t step_group_size(const step_options *o, step_group g);

/* Ranks of a node that have other experts: of STEP_GROUP_EP_NEAR. */
uint32_t step_near_experts(const step_options *o);

/* Over how many ranks parameters are split. */
step_split_over step_split_of(const step_options *o);

/* A collective, as the program calls it. Also a send or a receive (group STEP_GROUP_PP). */
typedef struct {
    uint32_t type; /* wl_coll_type; of a message wl_node_type + STEP_MESSAGE */
    step_group group;
    uint64_t in_bytes, out_bytes; /* of this rank's tensors */
    double element_bytes;
    bool to_next;    /* each rank sends to the next of its group alone: a step of a ring */
    bool even_alone; /* the program calls it in a group of one, too */
    bool is_integer; /* its elements are integers */
    /* of the experts: routing decides these sizes, which are those of the most loaded rank */
    bool in_is_routed, out_is_routed;
} step_collective;

/* Of so many elements that go in, and come out. */
step_collective step_collective_of(uint32_t type, step_group group, uint64_t in, uint64_t out,
                                   double element_bytes);

#define STEP_MESSAGE 256u
#define STEP_SEND    (STEP_MESSAGE + WL_NODE_SEND)
#define STEP_RECV    (STEP_MESSAGE + WL_NODE_RECV)

typedef struct {
    step_unit unit;
    const step_module *module;  /* that asks for it */
    uint32_t needs[4];          /* operations before it that have ended; DSE_NONE */
    bool is_again;              /* recomputation */
    wl_kernel kernel;           /* of STEP_UNIT_COMPUTE */
    double counted;             /* its operations, as the mean of all ranks has them */
    step_collective collective; /* of the others */
    dse_time ticks;             /* alone, where pass.c has found it, */
    double compute_share;       /* and what a collective takes from kernels beside it */
} step_operation;

typedef struct {
    uint32_t n;
    size_t cap;
    step_operation *operation;
    uint32_t *end_of; /* per module of the block: operations issued when its backward pass is over */
    bool is_timed;    /* its operations have their ticks */
} step_program;

/* Which part of the backward pass. Both: B. */
enum { STEP_PART_INPUT = 1, STEP_PART_WEIGHT = 2, STEP_PART_BOTH = 3 };

/* Sizes of one micro-batch on a rank. */
typedef struct {
    const step_options *options;
    uint64_t tokens;       /* of a rank: micro-batch x sequence / cp */
    uint64_t split_tokens; /* of what sequence parallelism splits: tokens / tp */
    uint64_t sequence;     /* of one sequence on the rank, sequence / cp */
    uint64_t whole_sequence;
} step_shape;

step_shape step_shape_of(const step_model *m, const step_options *o);

/* What a stage sends to the next of a micro-batch, or its gradient to the one before: a STEP_SEND. */
step_collective step_transfer_of(const step_model *m, const step_options *o);

/* What a stage makes of a message before it begins, if the ranks of tensor parallelism sent shares: an
 * all-gather; else of in_bytes 0. */
step_collective step_joining_of(const step_model *m, const step_options *o);

/* The hidden state of a micro-batch on a rank. */
uint64_t step_hidden_bytes(const step_model *m, const step_options *o);

void step_program_forward(const step_block *b, const step_shape *s, dse_arena *a, step_program *out);
/* `again`: the forward pass of the whole block is made again first; else that of the modules that selective
 * recomputation names, if it is on. */
void step_program_backward(const step_block *b, const step_shape *s, unsigned parts, bool again, dse_arena *a,
                           step_program *out);

/* Puts the operations from `first` on so that exchanges go on beside the shared expert, if the block has both
 * (shared.c). `is_backward`: they are of the modules in reverse order. */
void step_overlap_shared(const step_block *block, uint32_t first, bool is_backward, dse_arena *a,
                         step_program *p);

/* ---- for the kinds of modules ----------------------------------------------------------------- */

typedef struct {
    const step_shape *shape;
    step_program *program;
    dse_arena *arena;
    unsigned parts;
    const step_module *module;
    bool is_again;
    const step_block *unmade; /* what is made again as soon as something of it is read; NULL */
    uint32_t ready;           /* the operation that makes what the next one reads; DSE_NONE */
    uint32_t joined;          /* a further one that the next one waits for; DSE_NONE */
} step_builder;

/* Issues a kernel; what comes next waits for it. One without operations, a copy, is given one. */
void step_add_kernel(step_builder *b, const wl_kernel *k);
/* Issues a collective; what comes next waits for it if `waits`. Returns its number; DSE_NONE if the group is
 * of one, and nothing is called. */
uint32_t step_add_collective(step_builder *b, const step_collective *c, bool waits);
/* What comes next also waits for this operation; DSE_NONE: for none. */
void step_join(step_builder *b, uint32_t operation);

/* Kernels: an m x k by k x n product; something of so many elements. */
void step_add_product(step_builder *b, uint64_t m, uint64_t n, uint64_t k);
/* The same of so many experts, in one kernel; `mean`: rows that the mean rank has, for each that this one
 * has. */
void step_add_products(step_builder *b, uint64_t batch, uint64_t m, uint64_t n, uint64_t k, double mean);
void step_add_elementwise(step_builder *b, wl_kernel_class class, uint64_t elements, double operations,
                          double bytes);

/* Adds the gradient of so many parameters to the buffer of gradients, if there are several micro-batches and
 * no collective does it. */
void step_add_gradient(step_builder *b, uint64_t elements);

/* Collectives of the hidden state of all tokens over tp, as sequence parallelism has them or not. */
uint32_t step_gather_tokens(step_builder *b, uint64_t features, bool waits);
uint32_t step_reduce_tokens(step_builder *b, uint64_t features, bool waits);

#endif
