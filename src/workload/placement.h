/* wl_placement -- how ranks are numbered: which parallel dimension counts fastest.
 *
 * NPU and rank have the same number, and consecutive NPUs share a node. So the innermost dimension is the one whose groups
 * stay in a node as long as they fit. STAGE counts dp fastest, then tp, sp and the pipeline stage: number 0, the default.
 * Megatron (parallel_state.py: "tp-cp-ep-dp-pp") and TorchTitan (a device mesh of pp, dp, cp, tp) have tp innermost:
 * "tp,sp,dp,pp". */
#ifndef DSE_WORKLOAD_PLACEMENT_H
#define DSE_WORKLOAD_PLACEMENT_H

#include "base/status.h"
#include "workload/collective_match.h"

/* The pipeline stage, after those that shard tensors. */
enum { WL_PP = WL_N_PARALLEL, WL_N_DEGREES };

/* The number of a permutation of WL_DP .. WL_PP, in lexicographic order. */
typedef uint8_t wl_placement;
#define WL_PLACEMENT_DEFAULT "dp,tp,sp,pp" /* 0 */
#define WL_PLACEMENT_TEXT    12            /* bytes, with the end */
#define WL_N_PLACEMENTS      24

/* "tp,sp,dp,pp": innermost first, each once. DSE_E_CONFIG. */
dse_status wl_placement_parse(const char *text, wl_placement *out, dse_error *err);
void wl_placement_print(wl_placement p, char out[WL_PLACEMENT_TEXT]);

/* How far apart in rank number are neighbours along each dimension: a rank is the sum of coordinate * stride. */
void wl_placement_strides(wl_placement p, const uint32_t degree[WL_N_DEGREES], uint32_t stride[WL_N_DEGREES]);

/* Which places of a model (0, 1 .. layers, layers + 1: the embeddings and between them the layers) a pipeline stage has.
 * STAGE deals them out in turn: place p to stage p modulo pp. Megatron without interleaving and TorchTitan cut the layers
 * into pp pieces of neighbours, as equal as can be; the first has the embedding, the last the head. */
typedef enum { WL_STAGES_TURNS, WL_STAGES_NEIGHBOURS, WL_N_STAGES } wl_stages;
extern const char *const wl_stages_names[WL_N_STAGES + 1]; /* NULL at the end */

uint32_t wl_stage_of(wl_stages how, uint32_t place, uint32_t layers, uint32_t pp);

#endif
