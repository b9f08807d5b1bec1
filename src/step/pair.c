#include "step/pair.h"

#include <string.h>

/* A pass of the pair, as far as its operations have been taken. */
typedef struct {
    const step_pass *pass;
    uint32_t next;
    uint32_t *place; /* per operation: in the pair */
} chain;

typedef struct {
    chain chain[2];
    dse_time free_at[STEP_N_UNITS];
    dse_time *end; /* per operation of the pair, if nothing else is under way */
    step_pass *out;
    uint32_t n_needs;
} merger;

static bool has_next(const chain *c) { return c->next < c->pass->n; }

static bool is_joint(const step_pass_operation *op) { return !op->kernel && !op->collective; }

/* When the next operation of a pass can begin. */
static dse_time begin_of(const merger *m, const chain *c)
{
    const step_pass_operation *op = &c->pass->operation[c->next];
    dse_time begin = is_joint(op) ? 0 : m->free_at[op->unit];

    for (uint32_t k = op->first_need; k < op->first_need + op->n_needs; k++) {
        const dse_time end = m->end[c->place[c->pass->need[k]]];

        begin = end > begin ? end : begin;
    }
    return begin;
}

/* Operation 0 of the pair is the joint with which it begins; the floors of blocks are added up there. */
static void take(merger *m, chain *c)
{
    const step_pass_operation *op = &c->pass->operation[c->next];
    step_pass_operation *new = &m->out->operation[m->out->n];
    const dse_time begin = begin_of(m, c);

    *new = *op;
    new->first_need = m->n_needs;
    new->least = 0;
    for (uint32_t k = op->first_need; k < op->first_need + op->n_needs; k++)
        m->out->need[m->n_needs++] = c->place[c->pass->need[k]];
    m->end[m->out->n] = begin + (is_joint(op) ? 0 : op->ticks);
    if (!is_joint(op))
        m->free_at[op->unit] = m->end[m->out->n];
    c->place[c->next++] = m->out->n++;
}

/* Of what the host takes at least for both. */
static dse_time floors_of(const step_pass *p)
{
    dse_time sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        sum += p->operation[i].least;
    return sum;
}

/* The joint with which both are over. */
static void put_over(merger *m, dse_time least)
{
    step_pass *out = m->out;

    out->operation[out->n] =
        (step_pass_operation){.name = "joint", .first_need = m->n_needs, .least = least, .since = 0};
    for (int k = 0; k < 2; k++)
        if (m->chain[k].pass->over != DSE_NONE) {
            out->need[m->n_needs++] = m->chain[k].place[m->chain[k].pass->over];
            out->operation[out->n].n_needs++;
        }
    out->over = out->n++;
}

static dse_time kernels_of(const step_pass *p)
{
    dse_time sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        sum += p->operation[i].kernel ? p->operation[i].ticks : 0;
    return sum;
}

static uint32_t needs_of(const step_pass *p)
{
    return p->n ? p->operation[p->n - 1].first_need + p->operation[p->n - 1].n_needs : 0;
}

void step_pair_make(const step_pass *forward, const step_pass *backward, dse_arena *a, step_pass *out)
{
    const uint32_t n = forward->n + backward->n;
    const dse_time ticks[2] = {kernels_of(forward), kernels_of(backward)};
    merger m = {.chain = {{.pass = backward}, {.pass = forward}}, .out = out};
    chain *at = &m.chain[0];

    *out = (step_pass){.operation = DSE_ARENA_RAW(a, step_pass_operation, n + 2),
                       .need = DSE_ARENA_RAW(a, uint32_t, needs_of(forward) + needs_of(backward) + 2),
                       .ahead = forward->ahead + backward->ahead,
                       .has_shard = forward->has_shard || backward->has_shard,
                       .first_share =
                           ticks[0] + ticks[1] ? (double)ticks[0] / (double)(ticks[0] + ticks[1]) : 0.5};
    m.end = DSE_ARENA_NEW(a, dse_time, n + 2);
    for (int k = 0; k < 2; k++)
        m.chain[k].place = DSE_ARENA_RAW(a, uint32_t, m.chain[k].pass->n);
    out->operation[out->n++] = (step_pass_operation){.name = "joint"};
    while (has_next(&m.chain[0]) || has_next(&m.chain[1])) {
        chain *other = at == &m.chain[0] ? &m.chain[1] : &m.chain[0];

        if (!has_next(at) || (has_next(other) && begin_of(&m, other) < begin_of(&m, at)))
            at = other;
        take(&m, at);
    }
    put_over(&m, floors_of(forward) + floors_of(backward));
}
