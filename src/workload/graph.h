/* wl_workload -- what every rank executes: Chakra nodes and their dependencies.
 *
 * Ranks that execute the same nodes share one wl_graph; what differs between them (ids, communicator
 * groups, peers and tags of point-to-point messages) is bound per rank. The generator makes one graph
 * per pipeline stage; of a workload read from files, ranks share a graph if their files say the same but
 * for what is bound per rank (chakra_alike.h). Everything belongs to the arena it was made in and is
 * read-only afterwards. Node types, collective types and the meaning of every attribute are Chakra's
 * (schema v0.0.4). */
#ifndef DSE_WORKLOAD_GRAPH_H
#define DSE_WORKLOAD_GRAPH_H

#include "base/alloc.h"
#include "strategy/mesh.h"
#include "workload/kernel.h"

/* Chakra v0.0.4's numbers. */
typedef enum {
    WL_NODE_INVALID = 0,
    WL_NODE_METADATA = 1,
    WL_NODE_MEM_LOAD = 2,
    WL_NODE_MEM_STORE = 3,
    WL_NODE_COMP = 4,
    WL_NODE_SEND = 5,
    WL_NODE_RECV = 6,
    WL_NODE_COLL = 7
} wl_node_type;

typedef enum {
    WL_ALL_REDUCE = 0,
    WL_ALL_GATHER = 2,
    WL_BROADCAST = 5,
    WL_ALL_TO_ALL = 6,
    WL_REDUCE_SCATTER = 7
} wl_coll_type;

const char *wl_node_type_name(uint32_t type); /* "COMP_NODE"; "unknown" */
const char *wl_coll_type_name(uint32_t type); /* "ALL_REDUCE"; "unknown" */

/* What a tensor is to somebody who trains a model. Only the generator knows. */
typedef enum {
    WL_TENSOR_UNKNOWN,         /* of a trace that was read */
    WL_TENSOR_INPUT,           /* of the model; nobody makes it */
    WL_TENSOR_WEIGHT,          /* before the step */
    WL_TENSOR_ACTIVATION,      /* made by the forward pass */
    WL_TENSOR_RECOMPUTED,      /* an activation, made again in the backward pass */
    WL_TENSOR_GRADIENT,        /* of an activation, and what it is summed up from */
    WL_TENSOR_WEIGHT_GRADIENT, /* what the update of a weight takes */
    WL_TENSOR_UPDATED_WEIGHT,  /* after the step */
    WL_TENSOR_OPTIMIZER,       /* no tensor: what the optimizer knows of the weights */
    WL_TENSOR_WHOLE, /* weights gathered for use, and gradients not yet reduced, whose shard a rank keeps */
    WL_N_TENSOR_KINDS
} wl_tensor_kind;

#define WL_MAX_INVOLVED_DIMS 16

typedef struct {
    const char *name;
    uint64_t id;      /* of a send or receive: 0, the rank's binding has it; else less the rank's id_base */
    uint64_t num_ops; /* COMP: operations (upstream: a multiply-add is one) */
    uint64_t tensor_size;    /* COMP: bytes (upstream: elements) moved; MEM_*: bytes */
    uint64_t comm_size;      /* COLL, SEND, RECV: bytes (upstream: elements) */
    uint64_t y_size;         /* elements of the result; only STAGE's JSON shows it */
    uint64_t duration_us;    /* replay duration, from a trace file */
    uint32_t slot;           /* COLL: communicator-group slot of the rank; DSE_NONE: by involved_dims.
                             SEND, RECV: point-to-point slot of the rank */
    uint16_t involved_dims;  /* COLL without a group: bit d: dimension d takes part */
    uint8_t n_involved_dims; /* at most WL_MAX_INVOLVED_DIMS */
    uint8_t type;            /* wl_node_type */
    uint8_t coll;            /* COLL: wl_coll_type */
    bool is_cpu_op;
    bool has_io;         /* "inputs" and "outputs" are there, so that memory can be tracked */
    uint8_t tensor_kind; /* of the tensor that the node makes, or that it communicates for */
    uint32_t layer;      /* of a generated graph: that tensor's, from 0; DSE_NONE outside of the layers */
    const char *lacks;   /* the first attribute that running this node needs and its file lacks, or NULL */
} wl_node;

/* Ragged lists: those of node i are item[start[i]] .. item[start[i + 1] - 1]. */
typedef struct {
    uint32_t *start; /* n_nodes + 1 */
    uint32_t *item;
} wl_csr;

typedef struct {
    uint32_t tensor; /* index into the graph's tensors */
    /* as the simulator reads it: the digits before the point; with a precision only what is not among the
     * graph's resident bytes */
    uint64_t size;
} wl_io;

typedef struct {
    uint32_t *start; /* n_nodes + 1 */
    wl_io *item;
} wl_io_csr;

typedef struct {
    const char *name;
    double elements; /* exact, for writing; with a precision bytes; only generated graphs have it */
    wl_tensor_kind kind;
    bool is_whole; /* spelt as an integer: "0" and not "0.0" */
} wl_tensor_info;

/* Graphs that a kept generator made of one shape share all but node, tensor and the items of inputs and
 * outputs (generate.h). */
typedef struct {
    uint32_t n_nodes;
    wl_node *node; /* in file order */
    /* What compute nodes are called in the attribute op_type, per node; NULL: the file has no such. */
    const char **op_type;
    uint32_t *by_id;  /* node indexes in ascending id: the order in which the simulator tries them */
    wl_csr data_deps; /* parents, in the order they are written; generated graphs: may repeat */
    wl_csr ctrl_deps;
    wl_csr parents;  /* data and control dependencies together, each parent once */
    wl_csr children; /* the same edges from the other end */
    wl_io_csr inputs, outputs;
    uint32_t n_tensors;
    wl_tensor_info *tensor;
    /* What compute nodes are, of a generated workload: entries of a table that all its graphs share. NULL:
     * read. */
    uint32_t n_kernels;
    const wl_kernel *kernel;
    const uint32_t *kernel_of; /* per node; meaningless of others than compute nodes */
    uint32_t n_group_slots;
    const mesh_set *slot_axes; /* per group slot: the axes along which its groups lie; NULL: read */
    uint32_t n_p2p_slots;
    uint64_t resident
        [WL_N_TENSOR_KINDS]; /* bytes that a rank holds from its first tick to its last; with a precision */
} wl_graph;

typedef struct {
    uint32_t peer; /* rank at the other end */
    uint32_t tag;
    uint64_t id; /* Chakra node id */
} wl_p2p;

typedef struct {
    const char *name; /* the process group's name; "" is the group of all ranks */
    uint32_t n;
    uint32_t *rank; /* in listed order, which is the order of the ring */
} wl_group;

typedef struct {
    uint32_t graph;
    uint64_t id_base;
    uint32_t *group; /* n_group_slots of the graph: index into groups */
    wl_p2p *p2p;     /* n_p2p_slots of the graph */
} wl_rank;

typedef struct {
    uint32_t n_ranks;
    wl_rank *rank;
    uint32_t n_graphs;
    wl_graph *graph;
    uint32_t n_groups;
    wl_group *group;
    bool in_bytes; /* generated with a precision (precision.h): sizes are bytes, not elements */
    mesh mesh;     /* of its ranks; n is 0 if the workload was read */
} wl_workload;

static inline const wl_graph *wl_rank_graph(const wl_workload *w, uint32_t rank)
{
    return &w->graph[w->rank[rank].graph];
}

/* What a compute node is; of a trace that was read only operations and bytes are known. */
static inline wl_kernel wl_node_kernel(const wl_graph *g, uint32_t node)
{
    if (g->kernel)
        return g->kernel[g->kernel_of[node]];
    return (wl_kernel){.operations = g->node[node].num_ops, .bytes = g->node[node].tensor_size};
}

/* The Chakra id of a node of a rank. */
static inline uint64_t wl_node_id(const wl_workload *w, uint32_t rank, uint32_t node)
{
    const wl_node *n = &wl_rank_graph(w, rank)->node[node];

    if (n->type == WL_NODE_SEND || n->type == WL_NODE_RECV)
        return w->rank[rank].p2p[n->slot].id;
    return w->rank[rank].id_base + n->id;
}

static inline uint32_t wl_n_parents(const wl_graph *g, uint32_t node)
{
    return g->parents.start[node + 1] - g->parents.start[node];
}

/* Fills in by_id, parents and children from node, data_deps and ctrl_deps; `id_of` holds the nodes'
 * ids (of any rank that has this graph). Checks that ids are unique and that no dependency closes a
 * cycle; DSE_E_WORKLOAD names the node. `where` (a file) goes into the message. */
dse_status wl_graph_finish(wl_graph *g, const uint64_t *id_of, const char *where, dse_arena *a,
                           dse_error *err);

/* The same of a graph whose ids are known to be unique and that has by_id already. What nobody needs
 * afterwards goes into `scratch`, which may be the same arena. */
dse_status wl_graph_link(wl_graph *g, const uint64_t *id_of, const char *where, dse_arena *a,
                         dse_arena *scratch, dse_error *err);

#endif
