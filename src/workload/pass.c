#include "workload/pass.h"

const wl_pass wl_pass_table[WL_N_PASSES] = {
    [WL_PASS_WEIGHT_SHARD] = {"weight sharding", STRATEGY_weight_sharded, wl_pass_weight_shard},
    [WL_PASS_RECOMPUTE] = {"recomputation", STRATEGY_recompute, wl_pass_recompute},
};

wl_passes wl_passes_of(const strategy *s)
{
    wl_passes passes = 0;

    for (uint32_t i = 0; i < WL_N_PASSES; i++)
        if (strategy_get(s, wl_pass_table[i].parameter))
            passes |= WL_PASS_BIT(i);
    return passes;
}

wl_block *wl_block_copy(const wl_block *b, dse_arena *a)
{
    wl_block *copy = dse_arena_copy(a, b, 1, sizeof *b);

    copy->op = dse_arena_copy(a, b->op, b->n, sizeof *b->op);
    return copy;
}

static uint32_t moved(const uint32_t *to, uint32_t tensor)
{
    return tensor == DSE_NONE ? DSE_NONE : to[tensor];
}

/* Takes out the operators that exist only with other passes. No other operator refers to one (operators.c). */
static void drop_absent(wl_block *b, wl_passes passes, dse_arena *a)
{
    uint32_t *to = DSE_ARENA_RAW(a, uint32_t, b->n), n = 0;

    for (uint32_t i = 0; i < b->n; i++)
        to[i] = b->op[i].exists_with & ~passes ? DSE_NONE : n++;
    if (n == b->n)
        return;
    for (uint32_t i = 0; i < b->n; i++) {
        wl_operator *op = &b->op[i];

        if (to[i] == DSE_NONE)
            continue;
        op->x1 = moved(to, op->x1);
        op->x2 = moved(to, op->x2);
        op->gradient_of = moved(to, op->gradient_of);
        op->after = moved(to, op->after);
        if (to[i] != i)
            b->op[to[i]] = *op;
    }
    b->n = n;
}

/* Last, when all is known of an operator that its weight's update takes over. Whatever the gradient's sharding, the
 * update asks for that of the weight. */
static void number_operators(wl_operators *o, wl_block *b, dse_arena *a)
{
    for (uint32_t i = 0; i < b->n; i++) {
        wl_operator *op = &b->op[i], *update;

        op->number = o->n_ops++;
        if (!op->is_weight)
            continue;
        update = dse_arena_copy(a, op, 1, sizeof *op);
        update->number = o->n_ops++;
        update->kind = WL_OP_ADD;
        update->x2_shape = update->x1_shape;
        update->makes = WL_TENSOR_UPDATED_WEIGHT;
        update->class = WL_KERNEL_OPTIMIZER;
        op->update = update;
    }
}

/* Absent operators go last, as what is kept for a pass refers to tensors by their index in the block that was read. */
static wl_block *apply(const wl_block *read, wl_passes passes, dse_arena *a)
{
    wl_block *b = wl_block_copy(read, a);

    for (uint32_t i = 0; i < WL_N_PASSES; i++)
        if (passes & WL_PASS_BIT(i))
            b = wl_pass_table[i].apply(b, a);
    drop_absent(b, passes, a);
    return b;
}

void wl_operators_apply(wl_operators *o, wl_passes passes, dse_arena *a)
{
    for (uint32_t e = 0; e < o->n_entries; e++)
        for (uint32_t p = 0; p < o->entry[e].n_parts; p++) {
            wl_block *b = apply(o->entry[e].part[p].block, passes, a);

            number_operators(o, b, a);
            o->entry[e].part[p].block = b;
        }
}
