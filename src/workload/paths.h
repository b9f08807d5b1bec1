/* wl_paths -- what of a generated workload always comes after what, and so how long it takes at least.
 *
 * The nodes of one rank of each pipeline stage, those of the same place on every stage, in an order in
 * which each stands behind what it waits for. Besides its dependencies and the messages between stages a
 * node waits for others in every run, however long each node lasts, because a rank computes one node at a
 * time, runs one collective or send at a time, and tries ready nodes in ascending id (paths.c says which).
 * Where several nodes that wait for one another in no known order lie between two, the second also begins
 * no earlier than all their work after the first: a jump.
 *
 * So the longest path, with what each node takes, is a lower bound of the step (sim/bound_path.c). Both paths
 * and the sets of jumps are the same whatever sizes and times: they belong to the shape (generator.h). */
#ifndef DSE_WORKLOAD_PATHS_H
#define DSE_WORKLOAD_PATHS_H

#include "workload/generate.h"
#include "workload/totals.h"

/* Nodes of one stage that take equally long. */
typedef struct {
    wl_total total;     /* its type also WL_NODE_SEND, of comm_size, and WL_NODE_RECV, which takes nothing */
    uint32_t stage, to; /* to: of a send, the receiver's */
} wl_path_kind;

typedef struct {
    uint32_t kind, n;
} wl_path_work;

/* From the end of a node to the beginning of another one, or the end of the step: so much is done between by
 * what does one thing at a time. */
typedef struct {
    uint32_t from;
    uint32_t first, n; /* in wl_paths.work */
} wl_path_jump;

typedef struct {
    uint32_t n_nodes; /* 0: nothing is known */
    const uint32_t *kind_of;
    wl_csr before;              /* per node: those that have ended when it begins */
    const uint32_t *first_jump; /* per node, of the end of the step, and one more */
    const wl_path_jump *jump;
    const wl_path_work *work;
    uint32_t n_kinds;
    const wl_path_kind *kind;
} wl_paths;

/* Of the workload that wl_generator_make would make; good as long as what that keeps. Of more than
 * WL_PATHS_MAX_NODES nothing is known: the work grows with their square. Fails as wl_generator_make. */
#define WL_PATHS_MAX_NODES 16384u
dse_status wl_generator_paths(wl_generator *g, const wl_symbols *symbols, uint32_t layers,
                              const wl_strategy *s, dse_arena *a, wl_paths *out, dse_error *err);

#endif
