/* Which collectives bring a tensor from one sharding into another. */
#ifndef DSE_WORKLOAD_COLLECTIVE_MATCH_H
#define DSE_WORKLOAD_COLLECTIVE_MATCH_H

#include "workload/expr.h"

/* The parallel dimensions that shard tensors, in the order in which their collectives run. */
enum { WL_DP, WL_TP, WL_SP, WL_N_PARALLEL };

typedef struct {
    int symbol[WL_N_PARALLEL];      /* index of dp, tp, sp among the symbols; -1: not there */
    uint32_t degree[WL_N_PARALLEL]; /* a degree of 1 shards nothing */
} wl_parallel;

typedef struct {
    uint8_t coll;      /* wl_coll_type */
    uint8_t dimension; /* WL_DP, WL_TP or WL_SP: along which it runs */
} wl_match;

extern const char *const wl_parallel_names[WL_N_PARALLEL]; /* "dp", "tp", "sp": their symbols */

/* "dp" -> WL_DP ...; -1 for another name. */
int wl_parallel_index(const char *symbol);

/* From a tensor left as shape `have` with partial sums over `reduced`, to shape `need`, fully summed but for the dimensions
 * `unsummed` (NULL: none), over which its reader takes partial sums as well:
 *
 *   have            need          collective along that dimension
 *   sharded         sharded       none if the same tensor dimension carries it, else all-to-all
 *   sharded         whole         all-gather
 *   partial sums    sharded       reduce-scatter
 *   partial sums    whole         all-reduce
 *   partial sums    partial sums  none
 *
 * A tensor dimension sharded by two degrees ("Din/(dp*sp)") counts for the first of them alone, as in
 * STAGE's coll_comm_matcher.py. out has room for WL_N_PARALLEL. DSE_E_CONFIG for what no collective does:
 * sharded out of a tensor that every rank holds whole, partial sums of what is none. */
dse_status wl_match_collectives(const wl_parallel *p, const wl_shape *have, const wl_shape *reduced,
                                const wl_shape *need, const wl_shape *unsummed, wl_match *out, uint32_t *n,
                                dse_error *err);

#endif
