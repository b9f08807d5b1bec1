/* What always comes after what in the graphs of a shape.
 *
 * Let "before" mean: has ended when the other is issued, in every run. A node is before another one if that
 * depends on it, if it is the send of a receive that is the other one, or by these:
 *
 *   order  W and X, computations of one rank, or collectives and sends of one rank, W of the lower id;
 *          everything that W depends on is before X. Then W is before X. For when the last of what W
 *          depends on ended, W became ready, and the rank went on to issue what was ready: X was issued
 *          then or later. X and W need the same unit, and of those that are ready for a unit the one of the
 *          lowest id is issued (rank.c): W was issued first, and had to end before the unit was free for X.
 *          (This needs that a rank goes on to issue only when a node has ended, which is not so of
 *          computations that move nothing and end as they are issued: bound_path.c claims nothing where
 *          there are such.)
 *
 *   jump   All computations, or all collectives and sends, of one rank that are behind I and before J are
 *          done one after the other: J begins no earlier than I's end and all their time.
 *
 * "Before" is kept as a row of bits for each node. Each pass goes through the nodes in an order that
 * respects what is known, and adds to it by the rule of orders; what a pass misses is found by the next one
 * or not at all, which makes bounds weaker, not wrong. */
#include "workload/paths.h"

#include "workload/generator.h"
#include "workload/paths_shape.h"

#include <string.h>

#define MOST_PASSES 4 /* of transformers the third adds next to nothing */
/* Where a jump may begin: so many nodes are looked at, and so many of those before the one at hand tried. */
#define MOST_STEPS 512u
#define MOST_TRIES 64u
/* Of unordered work between two nodes; there is more only around a node that everything else is before or
 * behind. */
#define MOST_BETWEEN 256u
/* Jumps to the end of the step, per stage and unit. */
#define MOST_LAST 64u

enum { COMPUTES, COMMUNICATES, N_UNITS, RECEIVES = N_UNITS };

typedef uint64_t *bits;

static bool has(const uint64_t *set, uint32_t i) { return set[i / 64] >> (i % 64) & 1; }

static void put(bits set, uint32_t i) { set[i / 64] |= UINT64_C(1) << (i % 64); }

typedef struct {
    uint32_t from, next;
} edge;

typedef struct {
    const gen_shape *shape;
    gen_paths *out;
    dse_arena *keep, *scratch;
    uint32_t n, words;
    uint32_t *base;    /* per stage: its first node; a rank's nodes stand in the order of their ids */
    uint8_t *stage_of; /* per node, as what follows */
    uint8_t *unit;
    uint32_t *first_edge; /* a list of what is before it; DSE_NONE: the end */
    size_t n_edges, cap_edges;
    edge *edge;
    wl_csr parents, children; /* dependencies and messages */
    uint64_t *before;         /* [node * words]: bits of nodes */
    uint64_t *near;           /* [node * words]: that depend on one of these */
    uint64_t *roots;          /* that depend on nothing */
    uint64_t **of_unit;       /* [stage * N_UNITS + unit] */
    uint32_t *order, *place;  /* respects the edges; and the other way round */
    size_t cap_jumps, cap_work, cap_kinds;
    uint32_t *n_of_kind; /* scratch, 0 */
} pather;

static bits row(const pather *p, uint64_t *rows, uint32_t node) { return &rows[(size_t)node * p->words]; }

static void join(const pather *p, bits to, const uint64_t *from)
{
    for (uint32_t w = 0; w < p->words; w++)
        to[w] |= from[w];
}

/* ---- nodes and dependencies ---------------------------------------------------------------- */

static void add_edge(pather *p, uint32_t from, uint32_t to)
{
    DSE_ARENA_GROW(p->scratch, p->edge, p->cap_edges, p->n_edges + 1);
    p->edge[p->n_edges] = (edge){from, p->first_edge[to]};
    p->first_edge[to] = (uint32_t)p->n_edges++;
}

static bool is_same(const gen_path_kind *a, const gen_path_kind *b)
{
    return a->type == b->type && a->coll == b->coll && a->figures == b->figures && a->stage == b->stage &&
           a->to == b->to && a->axes == b->axes;
}

static uint32_t add_kind(pather *p, const gen_path_kind *kind)
{
    gen_paths *out = p->out;

    for (uint32_t i = 0; i < out->n_kinds; i++)
        if (is_same(&out->kind[i], kind))
            return i;
    DSE_ARENA_GROW(p->keep, out->kind, p->cap_kinds, out->n_kinds + 1);
    out->kind[out->n_kinds] = *kind;
    return out->n_kinds++;
}

static uint32_t kind_of(pather *p, uint32_t stage, uint32_t node)
{
    const gen_graph *g = &p->shape->graph[stage];
    const wl_node *n = &g->graph.node[node];
    gen_path_kind kind = {.type = n->type, .stage = stage, .figures = g->figures[node]};

    if (n->type == WL_NODE_COLL) {
        kind.coll = n->coll;
        kind.axes = p->shape->slot[n->slot];
    } else if (n->type == WL_NODE_SEND) {
        kind.to = g->p2p[n->slot].peer_stage;
    }
    return add_kind(p, &kind);
}

static void add_nodes(pather *p, uint32_t stage, uint32_t *kind)
{
    const wl_graph *g = &p->shape->graph[stage].graph;
    uint32_t *at = DSE_ARENA_RAW(p->scratch, uint32_t, g->n_nodes);

    for (uint32_t i = 0; i < g->n_nodes; i++)
        at[g->by_id[i]] = p->base[stage] + i;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const uint32_t node = at[i];

        p->stage_of[node] = (uint8_t)stage;
        p->unit[node] = g->node[i].type == WL_NODE_COMP   ? COMPUTES
                        : g->node[i].type == WL_NODE_RECV ? RECEIVES
                                                          : COMMUNICATES;
        if (p->unit[node] < N_UNITS)
            put(p->of_unit[stage * N_UNITS + p->unit[node]], node);
        kind[node] = kind_of(p, stage, i);
        for (uint32_t k = g->parents.start[i]; k < g->parents.start[i + 1]; k++)
            add_edge(p, at[g->parents.item[k]], node);
    }
}

/* Of each message the send is before the receive. */
static void add_messages(pather *p)
{
    uint32_t n = 0, *sender;

    for (uint32_t s = 0; s < p->shape->n_graphs; s++)
        n += p->shape->graph[s].graph.n_p2p_slots;
    sender = DSE_ARENA_RAW(p->scratch, uint32_t, n + 1u);
    for (int receives = 0; receives < 2; receives++)
        for (uint32_t s = 0; s < p->shape->n_graphs; s++) {
            const gen_graph *g = &p->shape->graph[s];

            for (uint32_t i = 0; i < g->graph.n_nodes; i++) {
                const wl_node *node = &g->graph.node[g->graph.by_id[i]];

                if (node->type != (receives ? WL_NODE_RECV : WL_NODE_SEND))
                    continue;
                if (receives)
                    add_edge(p, sender[g->p2p[node->slot].message], p->base[s] + i);
                else
                    sender[g->p2p[node->slot].message] = p->base[s] + i;
            }
        }
}

/* Both ends of the edges so far. */
static void list_ends(const pather *p, dse_arena *a, wl_csr *parents, wl_csr *children)
{
    uint32_t *fill = DSE_ARENA_RAW(p->scratch, uint32_t, p->n + 1u), at = 0;

    *parents = (wl_csr){DSE_ARENA_NEW(a, uint32_t, p->n + 1u), DSE_ARENA_RAW(a, uint32_t, p->n_edges + 1)};
    *children = (wl_csr){DSE_ARENA_NEW(a, uint32_t, p->n + 1u), DSE_ARENA_RAW(a, uint32_t, p->n_edges + 1)};
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t e = p->first_edge[i]; e != DSE_NONE; e = p->edge[e].next) {
            parents->item[at++] = p->edge[e].from;
            children->start[p->edge[e].from + 1]++;
        }
        parents->start[i + 1] = at;
    }
    for (uint32_t i = 0; i < p->n; i++)
        children->start[i + 1] += children->start[i];
    memcpy(fill, children->start, (p->n + 1u) * sizeof *fill);
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = parents->start[i]; k < parents->start[i + 1]; k++)
            children->item[fill[parents->item[k]]++] = i;
}

static void begin(pather *p, uint32_t *kind)
{
    const gen_shape *shape = p->shape;

    p->stage_of = DSE_ARENA_NEW(p->scratch, uint8_t, p->n);
    p->unit = DSE_ARENA_NEW(p->scratch, uint8_t, p->n);
    p->first_edge = DSE_ARENA_RAW(p->scratch, uint32_t, p->n);
    memset(p->first_edge, 0xff, p->n * sizeof *p->first_edge); /* DSE_NONE */
    p->before = DSE_ARENA_NEW(p->scratch, uint64_t, (size_t)p->n * p->words);
    p->near = DSE_ARENA_NEW(p->scratch, uint64_t, (size_t)p->n * p->words);
    p->roots = DSE_ARENA_NEW(p->scratch, uint64_t, p->words);
    p->order = DSE_ARENA_RAW(p->scratch, uint32_t, p->n);
    p->place = DSE_ARENA_RAW(p->scratch, uint32_t, p->n);
    p->of_unit = DSE_ARENA_RAW(p->scratch, uint64_t *, (size_t)shape->n_graphs * N_UNITS);
    for (uint32_t i = 0; i < shape->n_graphs * N_UNITS; i++)
        p->of_unit[i] = DSE_ARENA_NEW(p->scratch, uint64_t, p->words);
    for (uint32_t s = 0; s < shape->n_graphs; s++)
        add_nodes(p, s, kind);
    add_messages(p);
    list_ends(p, p->scratch, &p->parents, &p->children);
    for (uint32_t i = 0; i < p->n; i++)
        if (p->parents.start[i] == p->parents.start[i + 1])
            put(p->roots, i);
}

/* ---- orders -------------------------------------------------------------------------------- */

/* False: what is known is a cycle, as of a workload that cannot end. */
static bool sort_nodes(pather *p)
{
    uint32_t *left = DSE_ARENA_RAW(p->scratch, uint32_t, p->n), n = 0;
    wl_csr parents, children;

    list_ends(p, p->scratch, &parents, &children);
    for (uint32_t i = 0; i < p->n; i++)
        if (!(left[i] = parents.start[i + 1] - parents.start[i]))
            p->order[n++] = i;
    for (uint32_t at = 0; at < n; at++)
        for (uint32_t k = children.start[p->order[at]]; k < children.start[p->order[at] + 1]; k++)
            if (!--left[children.item[k]])
                p->order[n++] = children.item[k];
    for (uint32_t i = 0; i < n; i++)
        p->place[p->order[i]] = i;
    return n == p->n;
}

/* A node and what is before it is before X. */
static void put_before(pather *p, uint32_t node, uint32_t x)
{
    bits before = row(p, p->before, x), near = row(p, p->near, x);

    join(p, before, row(p, p->before, node));
    join(p, near, row(p, p->near, node));
    put(before, node);
    for (uint32_t k = p->children.start[node]; k < p->children.start[node + 1]; k++)
        put(near, p->children.item[k]);
}

static bool waits_for_nothing_else(const pather *p, uint32_t node, const uint64_t *before)
{
    uint32_t k = p->parents.start[node];

    while (k < p->parents.start[node + 1] && has(before, p->parents.item[k]))
        k++;
    return k == p->parents.start[node + 1];
}

/* The rule of orders, of all that may be before X, those of the highest ids first: much else is before
 * them. */
static bool add_orders(pather *p, uint32_t x)
{
    const uint64_t *of_unit = p->of_unit[p->stage_of[x] * N_UNITS + p->unit[x]];
    const uint64_t *before = row(p, p->before, x), *near = row(p, p->near, x);
    bool added = false;

    for (uint32_t w = x / 64 + 1; w-- > 0;) {
        const uint64_t below = w == x / 64 ? (UINT64_C(1) << (x % 64)) - 1 : UINT64_MAX;
        uint64_t left = (near[w] | p->roots[w]) & of_unit[w] & ~before[w] & below;

        while (left) {
            const uint32_t bit = 63u - (uint32_t)__builtin_clzll(left), node = w * 64 + bit;

            left &= ~(UINT64_C(1) << bit);
            if (has(before, node) || !waits_for_nothing_else(p, node, before))
                continue;
            add_edge(p, node, x);
            put_before(p, node, x);
            added = true;
        }
    }
    return added;
}

static bool find_orders(pather *p)
{
    bool added = true;

    for (int pass = 0; added; pass++) {
        if (!sort_nodes(p))
            return false;
        added = false;
        for (uint32_t i = 0; i < p->n; i++) {
            const uint32_t x = p->order[i];

            for (uint32_t e = p->first_edge[x]; e != DSE_NONE; e = p->edge[e].next)
                put_before(p, p->edge[e].from, x);
            if (pass < MOST_PASSES && p->unit[x] < N_UNITS)
                added |= add_orders(p, x);
        }
    }
    return true;
}

/* ---- jumps --------------------------------------------------------------------------------- */

/* Adds a jump whose work are these nodes. */
static void add_jump(pather *p, uint32_t from, const uint32_t *node, uint32_t n)
{
    gen_paths *out = p->out;
    const uint32_t first = out->n_work;

    for (uint32_t i = 0; i < n; i++)
        p->n_of_kind[out->kind_of[node[i]]]++;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t kind = out->kind_of[node[i]];

        if (!p->n_of_kind[kind])
            continue;
        DSE_ARENA_GROW(p->keep, out->work, p->cap_work, out->n_work + 1);
        out->work[out->n_work++] = (wl_path_work){kind, p->n_of_kind[kind]};
        p->n_of_kind[kind] = 0;
    }
    DSE_ARENA_GROW(p->keep, out->jump, p->cap_jumps, out->n_jumps + 1);
    out->jump[out->n_jumps++] = (wl_path_jump){from, first, out->n_work - first};
}

/* Whether a path goes through all of them; they are sorted for that. */
static bool is_path(const pather *p, uint32_t *node, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && p->place[node[k - 1]] > p->place[node[k]]; k--) {
            const uint32_t swap = node[k];

            node[k] = node[k - 1];
            node[k - 1] = swap;
        }
    for (uint32_t i = 1; i < n; i++)
        if (!has(row(p, p->before, node[i]), node[i - 1]))
            return false;
    return true;
}

/* Nodes of the set that are behind `from`; DSE_NONE: one is neither that, nor before it, nor itself, or there
 * are too many. */
static uint32_t list_between(const pather *p, uint32_t from, const uint64_t *set, uint32_t *node)
{
    const uint64_t *before = row(p, p->before, from);
    uint32_t n = 0;

    for (uint32_t w = 0; w < p->words; w++)
        for (uint64_t left = set[w] & ~before[w]; left; left &= left - 1) {
            const uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(left);

            if (i == from)
                continue;
            if (n == MOST_BETWEEN || !has(row(p, p->before, i), from))
                return DSE_NONE;
            node[n++] = i;
        }
    return n;
}

/* From the last node that all of the unit's work before this one is before or behind. */
static void add_jump_to(pather *p, uint32_t to, const uint64_t *of_unit, uint64_t *set)
{
    const uint64_t *before = row(p, p->before, to);
    const uint32_t at = p->place[to], end = at > MOST_STEPS ? at - MOST_STEPS : 0;
    uint32_t node[MOST_BETWEEN], tries = 0;

    for (uint32_t w = 0; w < p->words; w++)
        set[w] = before[w] & of_unit[w];
    for (uint32_t i = at; i-- > end && tries < MOST_TRIES;) {
        const uint32_t from = p->order[i];
        uint32_t n;

        if (!has(before, from))
            continue;
        tries++;
        n = list_between(p, from, set, node);
        if (n == DSE_NONE)
            continue;
        if (!is_path(p, node, n))
            add_jump(p, from, node, n);
        return;
    }
}

/* To the end of the step: from nodes of the stage that most of the unit's work is before or behind, here and
 * there. */
static void add_jumps_to_end(pather *p, const uint64_t *of_unit)
{
    uint32_t *ordered = DSE_ARENA_NEW(p->scratch, uint32_t, p->n),
             *node = DSE_ARENA_RAW(p->scratch, uint32_t, p->n);

    for (uint32_t w = 0; w < p->words; w++)
        for (uint64_t left = of_unit[w]; left; left &= left - 1) {
            const uint64_t *before = row(p, p->before, w * 64 + (uint32_t)__builtin_ctzll(left));

            for (uint32_t v = 0; v < p->words; v++)
                for (uint64_t b = before[v]; b; b &= b - 1)
                    ordered[v * 64 + (uint32_t)__builtin_ctzll(b)]++;
        }
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t w = 0; w < p->words; w++)
            ordered[i] += (uint32_t)__builtin_popcountll(row(p, p->before, i)[w] & of_unit[w]);
    for (uint32_t k = 0; k < MOST_LAST; k++) {
        const uint32_t end = (uint32_t)((k + 1) * (uint64_t)p->n / MOST_LAST);
        uint32_t best = (uint32_t)(k * (uint64_t)p->n / MOST_LAST), n = 0;

        if (best == end)
            continue;
        for (uint32_t i = best; i < end; i++)
            best = ordered[p->order[i]] > ordered[p->order[best]] ? i : best;
        for (uint32_t w = 0; w < p->words; w++)
            for (uint64_t left = of_unit[w]; left; left &= left - 1) {
                const uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(left);

                if (has(row(p, p->before, i), p->order[best]))
                    node[n++] = i;
            }
        if (n)
            add_jump(p, p->order[best], node, n);
    }
}

static void find_jumps(pather *p)
{
    uint64_t *set = DSE_ARENA_NEW(p->scratch, uint64_t, p->words);

    p->n_of_kind = DSE_ARENA_NEW(p->scratch, uint32_t, p->out->n_kinds + 1u);
    for (uint32_t i = 0; i < p->n; i++) {
        const uint32_t to = p->order[i], e = p->first_edge[to];

        p->out->first_jump[i] = p->out->n_jumps;
        if (e == DSE_NONE || p->edge[e].next == DSE_NONE)
            continue;
        for (uint32_t unit = 0; unit < N_UNITS; unit++)
            add_jump_to(p, to, p->of_unit[p->stage_of[to] * N_UNITS + unit], set);
    }
    p->out->first_jump[p->n] = p->out->n_jumps;
    for (uint32_t i = 0; i < p->shape->n_graphs * N_UNITS; i++)
        add_jumps_to_end(p, p->of_unit[i]);
    p->out->first_jump[p->n + 1u] = p->out->n_jumps;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Nodes get their places in the order as numbers. */
static void number_nodes(pather *p)
{
    gen_paths *out = p->out;
    uint32_t *kind = DSE_ARENA_RAW(p->keep, uint32_t, p->n), at = 0;

    out->before = (wl_csr){DSE_ARENA_NEW(p->keep, uint32_t, p->n + 1u),
                           DSE_ARENA_RAW(p->keep, uint32_t, p->n_edges + 1)};
    for (uint32_t i = 0; i < p->n; i++) {
        kind[i] = out->kind_of[p->order[i]];
        for (uint32_t e = p->first_edge[p->order[i]]; e != DSE_NONE; e = p->edge[e].next)
            out->before.item[at++] = p->place[p->edge[e].from];
        out->before.start[i + 1] = at;
    }
    for (uint32_t i = 0; i < out->n_jumps; i++)
        out->jump[i].from = p->place[out->jump[i].from];
    out->kind_of = kind;
}

void gen_paths_find(const gen_shape *shape, dse_arena *keep, dse_arena *scratch, gen_paths *out)
{
    pather p = {.shape = shape, .out = out, .keep = keep, .scratch = scratch};

    *out = (gen_paths){.is_known = true};
    p.base = DSE_ARENA_RAW(scratch, uint32_t, shape->n_graphs + 1u);
    for (uint32_t s = 0; s < shape->n_graphs; s++) {
        p.base[s] = p.n;
        p.n += shape->graph[s].graph.n_nodes;
        if (p.n > WL_PATHS_MAX_NODES || shape->n_graphs > UINT8_MAX)
            return;
    }
    p.words = (p.n + 63) / 64;
    out->kind_of = DSE_ARENA_RAW(scratch, uint32_t, p.n);
    out->first_jump = DSE_ARENA_RAW(keep, uint32_t, p.n + 2u);
    begin(&p, out->kind_of);
    if (!find_orders(&p))
        return;
    find_jumps(&p);
    number_nodes(&p);
    out->n_nodes = p.n;
}
