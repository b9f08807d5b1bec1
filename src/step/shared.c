/* Exchanges of experts beside the experts that all tokens take, as Megatron-LM runs them with
 * moe_shared_expert_overlap (transformer/moe/shared_experts.py, token_dispatcher.py): on a stream of its own
 * the first part of the shared expert, up to its activation, goes on beside the dispatch, its second beside
 * the combine; backward the second part beside what the combine makes, the first beside the dispatch.
 *
 * A program is made in the order of its modules, with the shared expert on one side of the routed ones. Here
 * it is cut and put anew: all operations stay what they are.
 *
 *   what gathers the tokens for the shared expert | up to the first exchange | first part of the shared one |
 *   up to the second exchange | second part | the rest
 *
 * What tensor parallelism gathers or sums for the shared expert is of the same unit as the exchanges, and is
 * done behind the one that it stands beside. */
#include "base/array.h"
#include "step/module.h"

#include <string.h>

/* Where an operation goes. */
enum { BEFORE, FIRST_EXCHANGE, FIRST_PART, SECOND_EXCHANGE, SECOND_PART, REST, N_PLACES };

typedef enum { OTHER, SHARED, ROUTED } side;

typedef struct {
    const step_block *block;
    step_program *p;
    uint32_t first;                    /* operation from which on the pass begins */
    uint32_t shared_from, shared_to;   /* modules of the shared expert, the last one its second part */
    uint32_t routed_from, routed_to;   /* and of the routed ones */
    uint32_t exchange[2];              /* the last operation of the first and of the second exchange */
    uint32_t side_from[3], side_to[3]; /* operations, per side */
} cutter;

static uint32_t module_of(const cutter *c, uint32_t at)
{
    return (uint32_t)(c->p->operation[at].module - c->block->module);
}

static side side_of(const cutter *c, uint32_t at)
{
    const uint32_t m = module_of(c, at);

    if (m >= c->shared_from && m <= c->shared_to)
        return SHARED;
    return m >= c->routed_from && m <= c->routed_to ? ROUTED : OTHER;
}

static bool is_exchange(const step_operation *op) { return op->unit == STEP_UNIT_LAYER; }

/* The modules; false: the block has no shared expert beside routed ones. */
static bool find_modules(cutter *c)
{
    const step_block *b = c->block;

    c->shared_from = c->routed_from = DSE_NONE;
    for (uint32_t i = 0; i < b->n; i++) {
        const step_module *m = &b->module[i];

        if (m->is_shared_expert) {
            c->shared_from = c->shared_from == DSE_NONE ? i : c->shared_from;
            c->shared_to = i;
        }
        if (m->kind == &step_module_router && m->top_k)
            c->routed_from = i;
        if (m->kind == &step_module_combine)
            c->routed_to = i;
    }
    if (c->shared_from == DSE_NONE || c->routed_from == DSE_NONE)
        return false;
    c->shared_from -=
        c->shared_from && b->module[c->shared_from - 1].kind == &step_module_router; /* its gate */
    return true;
}

/* The operations of each side, and the exchanges; false: one of them is missing. */
static bool find_operations(cutter *c)
{
    const step_module_kind *seen = NULL; /* of the first exchange */

    for (int s = 0; s < 3; s++)
        c->side_from[s] = c->side_to[s] = DSE_NONE;
    c->exchange[0] = c->exchange[1] = DSE_NONE;
    for (uint32_t i = c->first; i < c->p->n; i++) {
        const step_operation *op = &c->p->operation[i];
        const side s = side_of(c, i);

        c->side_from[s] = c->side_from[s] == DSE_NONE ? i : c->side_from[s];
        c->side_to[s] = i;
        if (!is_exchange(op) ||
            (op->module->kind != &step_module_dispatch && op->module->kind != &step_module_combine))
            continue;
        seen = seen ? seen : op->module->kind;
        c->exchange[op->module->kind != seen] = i;
    }
    return c->side_from[SHARED] != DSE_NONE && c->exchange[0] != DSE_NONE && c->exchange[1] != DSE_NONE;
}

static int place_of(const cutter *c, uint32_t at, bool is_backward)
{
    const uint32_t begin =
        c->side_from[SHARED] < c->side_from[ROUTED] ? c->side_from[SHARED] : c->side_from[ROUTED];
    bool is_down;

    switch (side_of(c, at)) {
    case ROUTED: return at <= c->exchange[0] ? FIRST_EXCHANGE : at <= c->exchange[1] ? SECOND_EXCHANGE : REST;
    case SHARED:
        is_down = module_of(c, at) == c->shared_to;
        for (uint32_t i = c->side_from[SHARED]; i <= at; i++)
            if (!is_exchange(&c->p->operation[i]))
                return is_down == is_backward ? FIRST_PART : SECOND_PART;
        return BEFORE;
    default: return at < begin ? BEFORE : REST;
    }
}

static bool reads(const step_operation *op, const cutter *c, side s)
{
    for (size_t k = 0; k < DSE_COUNT(op->needs); k++)
        if (op->needs[k] != DSE_NONE && op->needs[k] >= c->side_from[s] && op->needs[k] <= c->side_to[s])
            return true;
    return false;
}

static void add_needs(step_operation *op, const uint32_t *needs, size_t n)
{
    size_t at = 0;

    while (at < DSE_COUNT(op->needs) && op->needs[at] != DSE_NONE)
        at++;
    for (size_t k = 0; k < n && at < DSE_COUNT(op->needs); k++)
        if (needs[k] != DSE_NONE)
            op->needs[at++] = needs[k];
}

/* The side that comes second reads what the first one reads, and what comes after both waits for both. */
static void part_sides(const cutter *c)
{
    const side one = c->side_from[SHARED] < c->side_from[ROUTED] ? SHARED : ROUTED,
               two = SHARED + ROUTED - one;
    step_operation *op = c->p->operation, begin = op[c->side_from[one]], over = op[c->side_from[two]];

    for (uint32_t i = c->side_from[two]; i <= c->side_to[two]; i++)
        if (side_of(c, i) == two && reads(&op[i], c, one))
            memcpy(op[i].needs, begin.needs, sizeof begin.needs);
    for (uint32_t i = c->side_to[two] + 1; i < c->p->n; i++)
        if (reads(&op[i], c, two))
            add_needs(&op[i], over.needs, DSE_COUNT(over.needs));
}

void step_overlap_shared(const step_block *block, uint32_t first, bool is_backward, dse_arena *a,
                         step_program *p)
{
    cutter c = {.block = block, .p = p, .first = first};
    const uint32_t n = p->n - first;
    step_operation *cut;
    uint32_t *place, at = first;

    if (!find_modules(&c) || !find_operations(&c))
        return;
    part_sides(&c);
    cut = dse_arena_copy(a, p->operation + first, n, sizeof *cut);
    place = DSE_ARENA_RAW(a, uint32_t, n);
    for (int want = BEFORE; want < N_PLACES; want++)
        for (uint32_t i = 0; i < n; i++)
            if (place_of(&c, first + i, is_backward) == want)
                place[i] = at++;
    for (uint32_t i = 0; i < n; i++) {
        step_operation *op = &cut[i];

        for (size_t k = 0; k < DSE_COUNT(op->needs); k++)
            if (op->needs[k] != DSE_NONE && op->needs[k] >= first)
                op->needs[k] = place[op->needs[k] - first];
    }
    for (uint32_t i = 0; i < n; i++)
        p->operation[place[i]] = cut[i];
}
