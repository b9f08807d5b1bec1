/* Full recomputation of a block, as a change of its operators. Private to reading them.
 *
 * Of what the forward pass makes, the backward pass gets nothing but the block's inputs and weights: all that it reads
 * else, and what that is made of, is made again under the name <tensor>_recomp, in front of the first gradient. What is
 * made again of inputs and weights alone waits for the tensor `after`. With sharded weights, the weights that are read both
 * ways back are gathered once for both: <weight>_recomp. */
#ifndef DSE_WORKLOAD_RECOMPUTE_H
#define DSE_WORKLOAD_RECOMPUTE_H

#include "workload/operators.h"

/* Of a block whose operators are complete but for their numbers. */
void wl_block_recompute(wl_block *b, uint32_t after, bool sharded, dse_arena *a);

#endif
