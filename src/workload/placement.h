/* Where ranks and stages lie: the order in which the axes of the mesh number ranks, as model cards write it, and which
 * places of a model a pipeline stage has.
 *
 * NPU and rank have the same number, and consecutive NPUs share a node. So the groups of the innermost axis stay in a node
 * as long as they fit. STAGE counts dp fastest, then tp, sp and the pipeline stage: order 0, the default. Megatron
 * (parallel_state.py: "tp-cp-ep-dp-pp") and TorchTitan (a device mesh of pp, dp, cp, tp) have tp innermost:
 * "tp,sp,dp,pp". */
#ifndef DSE_WORKLOAD_PLACEMENT_H
#define DSE_WORKLOAD_PLACEMENT_H

#include "base/status.h"

#include <stdint.h>

#define WL_PLACEMENT_DEFAULT "dp,tp,sp,pp" /* order 0 */

/* The number of an order (strategy/order.h): "tp,sp,dp,pp", innermost first, each axis once. DSE_E_CONFIG. */
dse_status wl_placement_parse(const char *text, uint32_t *out, dse_error *err);

/* Which places of a model (0, 1 .. layers, layers + 1: the embeddings and between them the layers) a pipeline stage has.
 * STAGE deals them out in turn: place p to stage p modulo pp. Megatron without interleaving and TorchTitan cut the layers
 * into pp pieces of neighbours, as equal as can be; the first has the embedding, the last the head. */
typedef enum { WL_STAGES_TURNS, WL_STAGES_NEIGHBOURS, WL_N_STAGES } wl_stages;
extern const char *const wl_stages_names[WL_N_STAGES + 1]; /* NULL at the end */

uint32_t wl_stage_of(wl_stages how, uint32_t place, uint32_t layers, uint32_t pp);

#endif
