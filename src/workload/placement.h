/* Which places of a model a pipeline stage has (the parameter `stages` of a strategy).
 *
 * Places are 0, 1 .. layers, layers + 1: the embeddings and between them the layers. STAGE deals them out in
 * turn: place p to stage p modulo pp. Megatron without interleaving and TorchTitan cut the layers into pp
 * pieces of neighbours, as equal as can be; the first has the embedding, the last the head. */
#ifndef DSE_WORKLOAD_PLACEMENT_H
#define DSE_WORKLOAD_PLACEMENT_H

#include <stdint.h>

typedef enum { WL_STAGES_TURNS, WL_STAGES_NEIGHBOURS } wl_stages; /* as the row's choices */

uint32_t wl_stage_of(wl_stages how, uint32_t place, uint32_t layers, uint32_t pp);

#endif
