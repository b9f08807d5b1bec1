/* Generating a workload: a model, a strategy, and out comes what every rank executes, as STAGE (branch
 * recomp, 0b44904) writes it.
 *
 * Ranks are numbered dp fastest, then tp, then sp, then the pipeline stage; stages in the order in which
 * their first tensor stands in the model. Every tensor becomes a compute node, preceded by the
 * collectives that bring its operands into the sharding it needs; operators without cost leave no node,
 * but use up an id. A tensor needed on another stage is sent there. */
#ifndef DSE_WORKLOAD_GENERATE_H
#define DSE_WORKLOAD_GENERATE_H

#include "workload/graph.h"
#include "workload/operators.h"

typedef struct {
    uint32_t dp, tp, sp, pp; /* degrees, at least 1 */
    bool recompute, weight_sharded;
    uint32_t tag_base; /* tag of the first send/receive pair; STAGE draws it, seed 0 gives WL_TAG_BASE */
} wl_strategy;

#define WL_TAG_BASE  885440u
#define WL_MAX_RANKS (1u << 20)

/* `symbols` gives the values of the operators' symbols (dp, tp, sp are taken from the strategy).
 * DSE_E_RANGE if there are more pipeline stages than tensors to put on them (pp > layers + 2), or too
 * many ranks. Everything in *out belongs to the arena. */
dse_status wl_generate(const cfg_doc *operators, const wl_symbols *symbols, uint32_t layers,
                       const wl_strategy *s, dse_arena *a, wl_workload *out, dse_error *err);

#endif
