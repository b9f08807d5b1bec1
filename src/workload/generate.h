/* Generates a workload: what every rank executes, from a model and a strategy, as STAGE writes it
 * (wl_dialect_stage).
 *
 * Every tensor becomes a compute node, preceded by the collectives that bring its operands into the
 * sharding it needs; operators without cost leave no node. A tensor that another pipeline stage needs is
 * sent there. Ranks are numbered dp fastest, then tp, then sp, then the pipeline stage, unless a placement
 * has another order. A placement changes the numbers of ranks alone: which rank is in which group, and
 * whom it sends to. Which sizes count: precision.h. */
#ifndef DSE_WORKLOAD_GENERATE_H
#define DSE_WORKLOAD_GENERATE_H

#include "strategy/strategy.h"
#include "workload/dialect.h"
#include "workload/graph.h"
#include "workload/operators.h"
#include "workload/placement.h"
#include "workload/precision.h"

typedef struct {
    union {
        strategy strategy; /* as a whole, */
        struct {           /* or by the names of its parameters */
#define STRATEGY_PARAMETER(name, ...) uint32_t name;
#include "strategy/parameters.h"
        };
    };
    uint32_t tag_base;      /* tag of the first send/receive pair; WL_TAG_BASE is the default */
    wl_precision precision; /* all 0: elements, as STAGE */
} wl_strategy;

#define WL_MAX_RANKS (1u << 20)

/* `symbols` gives the values of the operators' symbols (dp, tp, sp are taken from the strategy).
 * DSE_E_RANGE if there are more pipeline stages than tensors to put on them (pp > layers + 2), or too
 * many ranks. Everything in *out belongs to the arena. */
dse_status wl_generate(const cfg_doc *operators, const wl_symbols *symbols, uint32_t layers,
                       const wl_strategy *s, dse_arena *a, wl_workload *out, dse_error *err);

/* wl_generator -- makes the workloads of many points of one operator file.
 *
 * The graphs of two strategies often differ in sizes alone: names, dependencies and all else that is their
 * shape hang on the passes (pass.h), on the number of layers and of stages, on which
 * of dp, tp and sp are 1, and on which operators come down to less than one operation. The shapes made last
 * are kept, and a point that finds its own there gets new sizes only.
 *
 * What a kept shape has (names, dependencies, by_id, parents, children) is the generator's, and all workloads
 * of that shape point to it: they are good until the next call of wl_generator_make with the same generator,
 * which may drop their shape, and no longer than the generator. The rest of a workload is the arena's. One
 * thread at a time. */
typedef struct wl_generator wl_generator;

/* Kept shapes: at most so many, and of so many bytes, but at least one. 80 layers take 1.3 MB, and all
 * strategies of one pp have 28 of them: seven patterns of which degrees are 1, with four sets of passes. */
#define WL_KEPT_SHAPES 64u
#define WL_KEPT_BYTES  (48u << 20)

typedef struct {
    uint32_t n_shapes; /* kept */
    size_t bytes;      /* in them */
    uint64_t n_built;  /* since the generator was made */
} wl_generator_use;

/* What `operators` points to is borrowed for the generator's life. The caller frees it. */
wl_generator *wl_generator_new(const cfg_doc *operators);
void wl_generator_free(wl_generator *g);
const wl_generator_use *wl_generator_usage(const wl_generator *g);

/* As wl_generate, field for field. After a failure the generator is as good as before. */
dse_status wl_generator_make(wl_generator *g, const wl_symbols *symbols, uint32_t layers,
                             const wl_strategy *s, dse_arena *a, wl_workload *out, dse_error *err);

#endif
