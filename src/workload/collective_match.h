/* Which collectives bring a tensor from one sharding into another. */
#ifndef DSE_WORKLOAD_COLLECTIVE_MATCH_H
#define DSE_WORKLOAD_COLLECTIVE_MATCH_H

#include "workload/axes.h"

typedef struct {
    uint8_t coll;  /* wl_coll_type */
    mesh_set axes; /* along which it runs */
} wl_match;

/* From a tensor left as shape `have` with partial sums over `reduced`, to shape `need`, fully summed but for
 * the dimensions `unsummed` (NULL: none), over which its reader takes partial sums as well:
 *
 *   have            need          collective along that axis
 *   sharded         sharded       none if the same tensor dimension carries it, else all-to-all
 *   sharded         whole         all-gather
 *   partial sums    sharded       reduce-scatter
 *   partial sums    whole         all-reduce
 *   partial sums    partial sums  none
 *
 * `split` are the axes of degrees above 1; others shard nothing. Collectives run in the order of the axes.
 * `out` has room for a match of each axis. DSE_E_CONFIG for what no collective does: sharding a tensor that
 * every rank holds whole, partial sums of what is none. */
typedef dse_status wl_match_rule(const wl_axes *x, mesh_set split, const wl_shape *have,
                                 const wl_shape *reduced, const wl_shape *need, const wl_shape *unsummed,
                                 wl_match *out, uint32_t *n, dse_error *err);

/* STAGE's rule (coll_comm_matcher.py): a tensor dimension sharded by two axes ("Din/(dp*sp)") counts for the
 * first of them alone. */
wl_match_rule wl_match_collectives;

#endif
