/* whatif_graph -- a recorded step as points in time and what each of them waits for.
 *
 * Every operation (a call of the host, or what a GPU runs) has two points, its begin and its end; a matched
 * collective has one more, when its last rank is there; a rank has two: its step's begin and end on the
 * host. An edge says that a point comes at least `weight_ps` after another. A replay puts each point at the
 * earliest time that its edges allow, the longest path, so less weight never makes anything later.
 *
 * Source: spec of what-if, section 6. Everything is in the arena it was made in. Times: ps. */
#ifndef DSE_WHATIF_GRAPH_H
#define DSE_WHATIF_GRAPH_H

#include "base/alloc.h"
#include "metrics/kinds.h"

/* What the weight of an edge is. */
typedef enum {
    WHATIF_ORDER,   /* nothing but an order: 0, or constants of the recording */
    WHATIF_HOST,    /* work of the host, between calls and in them */
    WHATIF_LAUNCH,  /* from a call of the host to the beginning on the GPU */
    WHATIF_DEVICE,  /* between two operations of a stream that wait for nothing else */
    WHATIF_RUN,     /* the operation itself */
    WHATIF_NETWORK, /* a collective, from its last rank's arrival to its end */
    WHATIF_PARTS
} whatif_part;

/* What a GPU's operation is: a kind of kernel (metric_work), or a copy. */
#define WHATIF_COPY  METRIC_WORKS
#define WHATIF_KINDS (METRIC_WORKS + 1)

typedef struct {
    uint32_t rank;       /* its place in the recording */
    uint32_t event;      /* in the rank's events */
    uint32_t lane;       /* of the host: the thread; of a GPU: its stream, numbered by rank */
    uint32_t launch;     /* of a GPU: the operation that launched it; DSE_NONE */
    uint32_t collective; /* matched; DSE_NONE */
    bool on_gpu;
    uint8_t kind;       /* of a GPU: WHATIF_KINDS */
    int64_t start, end; /* as recorded, since the begin of the first rank's step */
} whatif_op;

typedef struct {
    uint32_t n_ranks, first_op; /* recorded members; of members[], by rank */
    uint32_t group_size;        /* 0: unknown */
    uint8_t type, parallel;     /* metric_comm_type, metric_parallel */
    bool whole;                 /* every member is recorded */
    int64_t duration;           /* from the latest begin to the latest end */
} whatif_collective;

typedef struct {
    uint32_t from, to;
    uint32_t op;  /* whose weight it is; DSE_NONE */
    uint8_t part; /* whatif_part */
    bool between; /* a wait of computation for communication, or the other way round */
    int64_t weight;
} whatif_edge;

/* A rank's step. */
typedef struct {
    int64_t begin, end; /* on the host, as recorded */
    int64_t busy_until; /* the GPU, with what was launched before the step; begin or later */
    uint32_t n_ops, first_op;
} whatif_step;

typedef struct {
    uint32_t n_ranks, n_ops, n_collectives, n_points;
    whatif_step *step; /* by rank */
    whatif_op *op;     /* by rank; those of a rank by start */
    whatif_collective *collective;
    uint32_t *member; /* operations of the collectives */
    size_t n_edges, cap_edges;
    whatif_edge *edge;    /* after whatif_graph_finish by `to` */
    uint32_t *first_edge; /* by point; n_points + 1 */
    uint32_t *order;      /* the points, each behind what it waits for */
    /* What could not be done as the recording has it, for the reader. */
    uint32_t n_unlaunched, n_part_recorded, n_unmatched;
} whatif_graph;

static inline uint32_t whatif_begin(uint32_t op) { return 2 * op; }
static inline uint32_t whatif_end(uint32_t op) { return 2 * op + 1; }
static inline uint32_t whatif_ready(const whatif_graph *g, uint32_t collective)
{
    return 2 * g->n_ops + collective;
}
static inline uint32_t whatif_step_begin(const whatif_graph *g, uint32_t rank)
{
    return 2 * g->n_ops + g->n_collectives + 2 * rank;
}
static inline uint32_t whatif_step_end(const whatif_graph *g, uint32_t rank)
{
    return whatif_step_begin(g, rank) + 1;
}

void whatif_add_edge(whatif_graph *g, whatif_edge e, dse_arena *a);

/* Sorts the edges and finds the order of the points. DSE_E_WORKLOAD: points wait for each other in a circle;
 * *at is then an operation on it. */
dse_status whatif_graph_finish(whatif_graph *g, dse_arena *a, uint32_t *at, dse_error *err);

/* The weight of an edge that is not there. */
#define WHATIF_NO_EDGE INT64_MIN

/* The time of each point if edge i has weight[i]; NULL: as recorded. */
void whatif_replay(const whatif_graph *g, const int64_t *weight, int64_t *time);

/* The edge that a point waited for last; WHATIF_NO_WAIT: it waited for none. */
size_t whatif_last_edge(const whatif_graph *g, const int64_t *weight, const int64_t *time, uint32_t point);
#define WHATIF_NO_WAIT SIZE_MAX

#endif
