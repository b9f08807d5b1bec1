/* Recomputation: what the backward pass needs of the forward pass is made again.
 *
 * A file says how, operator by operator (`when: recompute`, and einsums that read what these make), or names for a whole
 * block the tensor `after` which that begins. Then, of what the forward pass makes, the backward pass gets nothing but the
 * block's inputs and weights: all that it reads else, and what that is made of, is made again under the name
 * <tensor>_recomp, in front of the first gradient. What is made again of inputs and weights alone waits for `after`. Sharded
 * weights that are read by both are gathered once for both: <weight>_recomp. */
#include "workload/pass.h"

#include <string.h>

/* By the old index of a tensor. */
typedef struct {
    const wl_block *old;
    uint32_t at, n;  /* where those made again go, and how many there are */
    uint32_t *again; /* new index of what is made again; DSE_NONE: nothing is */
} plan;

static bool is_gradient(const wl_operator *op) { return op->makes >= WL_TENSOR_GRADIENT; }

static bool can_be_made_again(const wl_operator *op)
{
    return op->makes == WL_TENSOR_ACTIVATION && op->kind != WL_OP_INPUT;
}

/* What gradients read, and what this is made of. */
static void mark(const wl_block *b, uint32_t tensor, bool *wanted)
{
    const wl_operator *op = tensor == DSE_NONE ? NULL : &b->op[tensor];

    if (!op || wanted[tensor] || !can_be_made_again(op))
        return;
    wanted[tensor] = true;
    mark(b, op->x1, wanted);
    mark(b, op->x2, wanted);
    if (op->kind == WL_OP_COPY && !wanted[op->x1])
        wanted[tensor] = false; /* of what is kept */
}

/* A weight that both what is made again and a gradient take. */
static bool is_taken_twice(const wl_block *b, uint32_t weight, const bool *wanted)
{
    bool forward = false, back = false;

    for (uint32_t i = 0; i < b->n; i++) {
        bool takes = b->op[i].x1 == weight || b->op[i].x2 == weight;

        forward |= takes && wanted[i];
        back |= takes && is_gradient(&b->op[i]);
    }
    return forward && back;
}

static void make_plan(const wl_block *b, dse_arena *a, plan *out)
{
    bool *wanted = DSE_ARENA_NEW(a, bool, b->n);

    *out = (plan){.old = b, .again = DSE_ARENA_NEW(a, uint32_t, b->n)};
    while (out->at < b->n && !is_gradient(&b->op[out->at]))
        out->at++;
    for (uint32_t i = 0; i < b->n; i++)
        if (is_gradient(&b->op[i])) {
            mark(b, b->op[i].x1, wanted);
            mark(b, b->op[i].x2, wanted);
        }
    for (uint32_t i = 0; i < b->n; i++)
        if (b->op[i].is_sharded && is_taken_twice(b, i, wanted))
            wanted[i] = true;
    for (uint32_t i = 0; i < b->n; i++)
        out->again[i] = wanted[i] ? out->at + out->n++ : DSE_NONE;
}

static uint32_t moved(const plan *p, uint32_t old)
{
    return old == DSE_NONE || old < p->at ? old : old + p->n;
}

static uint32_t again(const plan *p, uint32_t old)
{
    return old != DSE_NONE && p->again[old] != DSE_NONE ? p->again[old] : moved(p, old);
}

/* The shape in which the forward pass takes a weight. */
static wl_shape taken_shape(const wl_block *b, uint32_t weight)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (!is_gradient(&b->op[i]) && (b->op[i].x1 == weight || b->op[i].x2 == weight))
            return b->op[i].x1 == weight ? b->op[i].x1_shape : b->op[i].x2_shape;
    return b->op[weight].y_shape;
}

/* A weight is gathered again as a copy. That waits for nothing: it may come ahead of its use. */
static void make_again(const plan *p, uint32_t i, wl_operator *out)
{
    *out = p->old->op[i];
    out->makes = WL_TENSOR_RECOMPUTED;
    if (out->is_weight) {
        out->kind = WL_OP_COPY;
        out->is_weight = out->is_sharded = false;
        out->x1 = moved(p, i);
        out->x1_shape = out->y_shape = taken_shape(p->old, i);
        return;
    }
    out->x1 = again(p, p->old->op[i].x1);
    out->x2 = again(p, p->old->op[i].x2);
    if (out->x1 == moved(p, p->old->op[i].x1) && out->after == DSE_NONE)
        out->after = moved(p, p->old->again_after);
}

static void keep(const plan *p, const wl_operator *from, wl_operator *out)
{
    uint32_t (*find)(const plan *, uint32_t) = is_gradient(from) ? again : moved;

    *out = *from;
    out->x1 = find(p, from->x1);
    out->x2 = find(p, from->x2);
    out->gradient_of = moved(p, from->gradient_of);
    out->after = moved(p, from->after);
}

static void make_block_again(wl_block *b, dse_arena *a)
{
    const wl_block old = *b;
    plan p;
    wl_operator *op;

    make_plan(&old, a, &p);
    op = DSE_ARENA_RAW(a, wl_operator, old.n + p.n);
    for (uint32_t i = 0; i < old.n; i++) {
        keep(&p, &old.op[i], &op[moved(&p, i)]);
        if (p.again[i] == DSE_NONE)
            continue;
        make_again(&p, i, &op[p.again[i]]);
        op[p.again[i]].name = dse_arena_printf(a, "%s_recomp", old.op[i].name);
    }
    b->op = op;
    b->n = old.n + p.n;
    b->again_after = DSE_NONE; /* done */
}

wl_block *wl_pass_recompute(const wl_block *read, dse_arena *a)
{
    wl_block *b = wl_block_copy(read, a);

    for (uint32_t i = 0; i < b->n; i++)
        if (b->op[i].recomputed)
            b->op[i] = *b->op[i].recomputed;
    wl_block_describe(b);
    if (b->again_after != DSE_NONE)
        make_block_again(b, a);
    return b;
}
