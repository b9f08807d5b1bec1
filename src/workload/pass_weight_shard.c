/* Weight sharding: every weight is kept in pieces, in the shape that the file gives as `sharded`, or in its own. The
 * generator finds the collectives that gather it (collective_match.c). */
#include "workload/pass.h"

wl_block *wl_pass_weight_shard(const wl_block *read, dse_arena *a)
{
    wl_block *b = wl_block_copy(read, a);

    for (uint32_t i = 0; i < b->n; i++) {
        wl_operator *op = &b->op[i];

        op->is_sharded = op->is_weight;
        if (op->sharded)
            op->x1_shape = op->y_shape = *op->sharded;
        if (op->recomputed_sharded)
            op->recomputed = op->recomputed_sharded;
    }
    return b;
}
