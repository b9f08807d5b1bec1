/* sim_rank -- a rank and its graph: which nodes are ready, under way and done. Private to sim/. */
#ifndef DSE_SIM_RANK_H
#define DSE_SIM_RANK_H

#include "base/list.h"
#include "sim/custom.h"
#include "sim/kernel_time.h"
#include "workload/graph.h"

typedef struct sim_engine sim_engine;

/* The units of a rank: nodes of one unit run one after the other, receives all at once. */
typedef enum { SIM_UNIT_COMPUTE, SIM_UNIT_COMM, SIM_UNIT_CPU, SIM_UNIT_RECV, SIM_N_UNITS } sim_unit;

static inline sim_unit sim_unit_of(const wl_node *n)
{
    if (n->is_cpu_op)
        return SIM_UNIT_CPU;
    if (n->type == WL_NODE_COMP)
        return SIM_UNIT_COMPUTE;
    return n->type == WL_NODE_RECV ? SIM_UNIT_RECV : SIM_UNIT_COMM;
}

typedef struct {
    const wl_graph *graph;
    sim_cost *cost;     /* per node; ranks that share the graph share it */
    uint32_t *position; /* per node: its index in graph->by_id */
    /* per node: sim_unit; unit and type are read most often, so they have arrays of their own */
    uint8_t *unit;
    uint8_t *type; /* per node: wl_node_type */
    uint32_t n_of_unit[SIM_N_UNITS];
    bool all_have_io;
} sim_graph;

/* Ready nodes of one unit, as a heap of indexes in by_id: the lowest id first. */
typedef struct {
    uint32_t n, *place;
} sim_ready;

/* A queue of one dimension on one rank. */
typedef struct {
    uint32_t running;   /* chunks at work */
    dse_list waiting;   /* streams */
    dse_time last_came; /* when a chunk last came, and for which of its phases */
    uint32_t last_phase;
    bool mixed; /* in that tick chunks came for several phases */
} sim_lane;

typedef struct {
    dse_time write_start;   /* DSE_TIME_NONE: not written or read yet */
    dse_time last_read_end; /* DSE_TIME_NONE: never read */
    uint64_t size;
    uint32_t last_reader; /* node */
} sim_tensor;

/* The algorithm as Chakra files that a group runs a kind of collective by. */
typedef struct {
    bool is_made;
    const sim_custom *custom; /* NULL: by none */
} sim_choice;

typedef struct {
    const sim_graph *graph;
    uint32_t *left;        /* per node: parents that have not finished */
    dse_time *start, *end; /* per node; DSE_TIME_NONE before */
    uint32_t *issued;      /* nodes in the order of their issue */
    uint32_t *ended;       /* nodes in the order in which they ended; NULL: memory is not tracked */
    uint32_t n_issued, n_ended;
    uint32_t n_ready, n_ongoing;
    sim_ready ready[SIM_N_UNITS];
    bool busy[SIM_N_UNITS];
    uint32_t *freed; /* nodes that became ready while ready nodes were being issued */
    uint32_t n_freed;
    bool issuing, finished;
    dse_time compute_ticks; /* sum of the durations of compute nodes */

    sim_tensor *tensor; /* NULL: memory is not tracked */

    /* The collective under way; a rank runs one at a time. */
    uint32_t coll_node;
    uint32_t coll_streams, coll_finished;
    uint32_t *group_streams; /* chunks started so far per group slot: the tags of their messages */
    uint32_t streams;        /* all chunks started: the tags of collectives without a group */
    sim_lane *lane;          /* per queue: n_dims * queues_per_dim */
    uint32_t *next_queue;    /* [dimension * SIM_N_QUEUE_USES + use]: the queue that the next chunk takes */
    struct sim_bus *bus;     /* NULL without a shared memory bus */
    sim_choice *choice;      /* [group slot * SIM_N_COLLECTIVES + collective]; NULL: no such algorithms */
    sim_custom_run custom;   /* the one under way */
    uint32_t *trees;         /* per collective and dimension: double-binary-tree phases made so far */
} sim_rank;

void sim_ranks_init(sim_engine *e);
void sim_rank_init_collectives(sim_engine *e, uint32_t rank, uint32_t n_group_slots);
void sim_rank_start(sim_engine *e, uint32_t rank); /* issues the first nodes, at tick 0 */
void sim_node_done(sim_engine *e, uint32_t rank, uint32_t node);
void sim_rank_collective_ended(sim_engine *e, uint32_t rank);

#endif
