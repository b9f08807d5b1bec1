/* The chain of a step: what must happen one after the other.
 *
 * Of all tensors between the one farthest before the loss and the one farthest behind it, some come before or
 * after every other: links of the chain. All that stands between two links is made after the one and before
 * the other, so that pieces of the chain follow each other in time, also from stage to stage. A piece takes
 * no less than its computations, and no less than its collectives, on the place where it ends; those of other
 * places are left out. A collective belongs to the piece if what it brings along, or what it must wait for,
 * does. */
#include "base/order.h"
#include "workload/outline.h"

#include <stdlib.h>
#include <string.h>

/* Tensors of the chain in an order in which each stands behind what it waits for. */
typedef struct {
    uint32_t n, *tensor;
    uint32_t *position; /* per tensor of the model; DSE_NONE: not in it */
    uint32_t *last;     /* per position: the last of what it waits for; DSE_NONE of the first */
    uint32_t *next;     /* per position: the first that waits for it; DSE_NONE of the last */
} chain_order;

/* All tensors, each behind what it waits for. */
static void sort_tensors(const outliner *o, uint32_t *order)
{
    uint32_t n = o->model->n, *left = DSE_ARENA_NEW(o->scratch, uint32_t, n), ready = 0;

    for (uint32_t i = 0; i < n; i++) {
        for (int w = 0; w < OUTLINE_N_WAITS; w++)
            left[i] += outline_wait(&o->model->tensor[i], w) != DSE_NONE;
        if (!left[i])
            order[ready++] = i;
    }
    for (uint32_t at = 0; at < ready; at++)
        for (int w = 0; w < OUTLINE_N_WAITS; w++)
            for (uint32_t i = o->readers[order[at]].first[w]; i != DSE_NONE; i = o->readers[i].next[w])
                if (!--left[i])
                    order[ready++] = i;
    /* fewer of a model that is a cycle: the generator refuses it */
}

/* The one of `among` with most computations on the way to or from the loss. */
static uint32_t find_farthest(const outliner *o, const uint32_t *order, const bool *among, bool behind)
{
    uint32_t n = o->model->n, *steps = DSE_ARENA_NEW(o->scratch, uint32_t, n), farthest = o->loss;

    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = order[behind ? k : n - 1 - k];

        if (!among[i])
            continue;
        for (int w = 0; w < OUTLINE_N_WAITS; w++) {
            uint32_t other = behind ? outline_wait(&o->model->tensor[i], w) : o->readers[i].first[w];

            for (; other != DSE_NONE; other = behind ? DSE_NONE : o->readers[other].next[w])
                if ((among[other] || other == o->loss) && steps[other] > steps[i])
                    steps[i] = steps[other];
        }
        steps[i] += outline_has_cost(o->model->tensor[i].kind);
        if (steps[i] > steps[farthest])
            farthest = i;
    }
    return farthest;
}

/* What waits for `first`, and what `last` waits for, and they themselves. */
static void order_chain(const outliner *o, const uint32_t *order, uint32_t first, uint32_t last,
                        chain_order *c)
{
    uint32_t n = o->model->n;
    bool *behind = DSE_ARENA_NEW(o->scratch, bool, n), *before = DSE_ARENA_NEW(o->scratch, bool, n);

    *c = (chain_order){.tensor = DSE_ARENA_NEW(o->scratch, uint32_t, n),
                       .position = DSE_ARENA_NEW(o->scratch, uint32_t, n),
                       .last = DSE_ARENA_NEW(o->scratch, uint32_t, n),
                       .next = DSE_ARENA_NEW(o->scratch, uint32_t, n)};
    outline_mark(o, first, true, behind);
    outline_mark(o, last, false, before);
    behind[first] = before[last] = true;
    memset(c->position, 0xff, n * sizeof *c->position); /* DSE_NONE */
    memset(c->next, 0xff, n * sizeof *c->next);
    memset(c->last, 0xff, n * sizeof *c->last);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = order[k], at = c->n;

        if (!behind[i] || !before[i])
            continue;
        c->tensor[c->n++] = i;
        c->position[i] = at;
        for (int w = 0; w < OUTLINE_N_WAITS; w++) {
            uint32_t from = outline_wait(&o->model->tensor[i], w);
            uint32_t p = from == DSE_NONE ? DSE_NONE : c->position[from];

            if (p == DSE_NONE)
                continue;
            if (c->last[at] == DSE_NONE || p > c->last[at])
                c->last[at] = p;
            if (c->next[p] == DSE_NONE)
                c->next[p] = at;
        }
    }
}

/* A link: everything before it leads to it, as each thing leads to something that is not behind it;
 * everything behind it comes from it, as each thing waits for something that is not before it. */
static void find_links(const outliner *o, const chain_order *c, bool *link)
{
    uint32_t *from = DSE_ARENA_NEW(o->scratch, uint32_t, c->n + 1u), to = 0;

    from[c->n] = DSE_NONE;
    for (uint32_t p = c->n; p-- > 0;) /* the least `last` of what stands at p or behind */
        from[p] = c->last[p] < from[p + 1] ? c->last[p] : from[p + 1];
    for (uint32_t p = 0; p < c->n; p++) {
        link[p] = to <= p && from[p + 1] >= p;
        to = c->next[p] > to ? c->next[p] : to; /* the greatest `next` of what stands before */
    }
}

/* ---- segments ------------------------------------------------------------------------------ */

static void add_item(outliner *o, uint32_t item)
{
    wl_outline *out = o->out;

    DSE_ARENA_GROW(o->scratch, out->item, o->cap_items, out->n_items + 1);
    out->item[out->n_items++] = item;
}

static bool stands_behind(const chain_order *c, uint32_t tensor, uint32_t position)
{
    return tensor != DSE_NONE && c->position[tensor] != DSE_NONE && c->position[tensor] >= position;
}

/* Of a tensor in the segment that begins with the link at `begin`. */
static void add_tensor(outliner *o, const chain_order *c, uint32_t begin, uint32_t i)
{
    const wl_tensor *t = &o->model->tensor[i];
    const outline_facts *f = &o->facts[i];
    const bool inside[] = {stands_behind(c, t->x1, begin) || stands_behind(c, t->after, begin),
                           stands_behind(c, t->x2, begin)};

    if (f->compute != DSE_NONE)
        add_item(o, f->compute);
    for (int w = 0; w < 2; w++)
        if (inside[w] && f->operand[w] != DSE_NONE)
            add_item(o, outline_operands_at(o->out) + f->operand[w]);
}

/* What follows the link at `begin` up to the one at `end`. Equal segments are one. */
static void add_segment(outliner *o, const chain_order *c, uint32_t begin, uint32_t end)
{
    wl_outline *out = o->out;
    const wl_tensor *t = o->model->tensor;
    uint32_t place = t[c->tensor[end]].place, first = out->n_items, n, k;

    for (uint32_t p = begin + 1; p <= end; p++)
        if (t[c->tensor[p]].place == place)
            add_tensor(o, c, begin, c->tensor[p]);
    n = out->n_items - first;
    if (!n)
        return;
    qsort(&out->item[first], n, sizeof *out->item, dse_by_u32);
    for (k = 0; k < out->n_segments; k++)
        if (out->segment[k].n == n &&
            !memcmp(&out->item[out->segment[k].first], &out->item[first], n * sizeof *out->item))
            break;
    o->facts[c->tensor[end]].segment = k;
    if (k < out->n_segments) {
        out->n_items = first;
        return;
    }
    DSE_ARENA_GROW(o->scratch, out->segment, o->cap_segments, out->n_segments + 1);
    out->segment[out->n_segments++] = (outline_segment){first, n};
}

void outline_add_chain(outliner *o)
{
    uint32_t n = o->model->n, *order = DSE_ARENA_NEW(o->scratch, uint32_t, n), begin = 0;
    bool *link = DSE_ARENA_NEW(o->scratch, bool, n);
    chain_order c;

    if (o->loss == DSE_NONE)
        return;
    sort_tensors(o, order);
    order_chain(o, order, find_farthest(o, order, o->before, false), find_farthest(o, order, o->after, true),
                &c);
    find_links(o, &c, link);
    for (uint32_t p = 1; p < c.n; p++) {
        if (!link[p])
            continue;
        add_segment(o, &c, begin, p);
        begin = p;
    }
}
