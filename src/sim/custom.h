/* Algorithms of collectives given as Chakra files: sends, receives and compute nodes.
 *
 * Place r of a group (of all ranks: rank r) runs the trace of rank r. Its peers are places of the group, its
 * sizes and tags are those of the file, whatever the collective's; its messages have the tags of the
 * workload's own sends and receives. Nothing passes the endpoint. Such a collective is one chunk, and so it
 * never ends where the settings cut it into several. Source: CustomAlgorithm.cc and CollectiveImplLookup.cc
 * of the reference.
 *
 * Where several nodes become ready at once the reference issues them in the order of a hash table; here in
 * ascending id. The figures are equal but where messages then queue for a link. */
#ifndef DSE_SIM_CUSTOM_H
#define DSE_SIM_CUSTOM_H

#include "sim/settings.h"
#include "workload/graph.h"

typedef struct {
    const char *prefix; /* <prefix>.<place>.et; for messages */
    wl_workload w;      /* a rank for each place of the largest group that runs it */
} sim_custom;

/* Which collectives of a workload run one. */
typedef struct sim_customs {
    const sim_custom *of[SIM_N_COLLECTIVES]; /* NULL: none, the settings' implementations */
    uint32_t n_nodes;
    struct sim_custom_node {
        int32_t id; /* of a node of the workload; before `of` */
        const sim_custom *custom;
    } * node;
} sim_customs;

typedef struct sim_engine sim_engine;
typedef struct sim_stream sim_stream;

/* Of a rank, which runs one at a time. */
typedef struct {
    const sim_custom *custom;
    const wl_group *group; /* NULL: all ranks */
    uint32_t place, stream;
    uint32_t *left; /* per node of the trace: parents that have not ended */
    size_t cap_left;
    uint32_t n_ended;
} sim_custom_run;

/* That of a node of the workload; NULL: none. */
const sim_custom *sim_custom_choose(const sim_customs *c, uint64_t id, sim_collective coll);

/* The algorithm of a node of a rank that is a collective; NULL: none. A group keeps the choice of its first
 * collective of a kind. */
const sim_custom *sim_custom_of(const sim_engine *e, uint32_t rank, uint32_t node, sim_collective coll);

/* Plans the stream of a rank's collective; it starts as streams do. */
void sim_custom_plan(sim_engine *e, sim_stream *s, const sim_custom *custom, const wl_group *group);

/* A node of the algorithm that the rank runs has ended. */
void sim_custom_node_done(sim_engine *e, uint32_t rank, uint32_t node);

#endif
