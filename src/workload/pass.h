/* Passes: changes of a training step that a strategy asks for, each a file that turns a block into a block.
 *
 * A file of operators is read without any (wl_operators_read): an operator keeps, beside what it is, what the file says
 * of it for passes. The passes of a set run in the order of the table, each on what the one before it left. To add a
 * pass, add its number, its row, and its file. What is kept for passes refers to operators by their index: a pass that
 * moves operators comes behind those that use it. */
#ifndef DSE_WORKLOAD_PASS_H
#define DSE_WORKLOAD_PASS_H

#include "strategy/strategy.h"
#include "workload/operators.h"

/* In the order in which they run. */
enum { WL_PASS_WEIGHT_SHARD, WL_PASS_RECOMPUTE, WL_N_PASSES };

#define WL_PASS_BIT(pass) ((wl_passes)1 << (pass))
#define WL_ALL_PASSES     (WL_PASS_BIT(WL_N_PASSES) - 1)

typedef struct {
    const char *name;   /* "recomputation" */
    uint32_t parameter; /* of the strategy: the pass runs where it is not 0 */
    /* Leaves b as it is; what is returned lives in the arena and may share with b. */
    wl_block *(*apply)(const wl_block *b, dse_arena *a);
} wl_pass;

extern const wl_pass wl_pass_table[WL_N_PASSES];

/* What a strategy asks for. */
wl_passes wl_passes_of(const strategy *s);

/* Turns the blocks of operators that were read into those of a strategy with these passes, and numbers their operators. */
void wl_operators_apply(wl_operators *o, wl_passes passes, dse_arena *a);

/* The passes' functions, for the table. */
wl_block *wl_pass_weight_shard(const wl_block *b, dse_arena *a); /* pass_weight_shard.c */
wl_block *wl_pass_recompute(const wl_block *b, dse_arena *a);    /* pass_recompute.c */

/* A copy of a block that can be changed. */
wl_block *wl_block_copy(const wl_block *b, dse_arena *a);

#endif
