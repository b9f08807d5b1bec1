/* Workloads that no generator makes: a few operations, each on all ranks or on some of them, repeated as layers are.
 *
 * The profiles below say what is out of the ordinary: ranks that arrive at different times, groups that overlap or
 * have the same members, messages inside groups, ranks that try their collectives in another order (some of which
 * never end), nodes without work. A rank's nodes are the operations it takes part in; ranks with the same nodes
 * share a graph, unless every rank is to have its own. */
#include "shortcuts/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ADD(c, ...) dse_strbuf_addf(&(c)->text, __VA_ARGS__)

#define MAX_OPS      10 /* of one layer */
#define MAX_LAYERS   6
#define MAX_NODES    (MAX_OPS * MAX_LAYERS)
#define MAX_DEPS     3
#define MAX_FAMILIES 5
#define MAX_RANKS    64
#define ID_SPAN      1000 /* between the ids of one rank and the next */

/* Groups that stand for each other on different ranks: a rank is in one of them, or in none. */
typedef struct {
    uint32_t of[MAX_RANKS]; /* index of the workload's group, or DSE_NONE */
} family;

/* In percent of the operations, or of what the comment says. */
typedef struct {
    const char *name;
    uint32_t collective, message, odd;
    uint32_t stagger;  /* of compute: it takes longer on some ranks */
    uint32_t partial;  /* only some ranks take part */
    uint32_t loose;    /* it does not wait for the operation before */
    uint32_t equal;    /* durations out of a few: what is under way at once ends together */
    uint32_t overlap;  /* of families: one group of some ranks */
    uint32_t twin;     /* of families: the members of another one */
    uint32_t listed;   /* of families: members not in the order of their ranks */
    uint32_t disorder; /* of ranks: other ids, and dependencies missing */
} profile;

static const profile profiles[] = {
    {.name = "alike", .collective = 50, .message = 10},
    {.name = "alike in rings", .collective = 70, .listed = 60},
    {.name = "staggered", .collective = 45, .stagger = 50},
    {.name = "overlapping groups", .collective = 60, .stagger = 20, .overlap = 50, .listed = 20},
    {.name = "same members", .collective = 60, .stagger = 20, .twin = 70, .listed = 10},
    {.name = "messages within groups", .collective = 30, .message = 40, .stagger = 20, .partial = 10},
    {.name = "some take part", .collective = 40, .message = 10, .stagger = 10, .partial = 30},
    {.name = "disordered", .collective = 60, .message = 10, .twin = 30, .disorder = 20},
    {.name = "rivals", .collective = 35, .message = 35, .partial = 25, .loose = 50, .equal = 100},
    {.name = "rivals of a ring", .collective = 25, .message = 25, .loose = 60, .equal = 100},
    {.name = "loose", .collective = 50, .message = 5, .overlap = 40, .loose = 60, .equal = 40},
    {.name = "odd nodes", .collective = 30, .message = 10, .odd = 30, .stagger = 10},
    {.name = "everything",
     .collective = 40,
     .message = 15,
     .odd = 3,
     .stagger = 30,
     .partial = 10,
     .overlap = 20,
     .twin = 20,
     .listed = 20,
     .disorder = 3},
};

/* One node on every rank that takes part. */
typedef struct {
    wl_node node;              /* but for id and slot */
    uint32_t family;           /* of a collective; DSE_NONE: none, by dimensions */
    uint32_t shift;            /* of a message: it goes to the rank so many further on */
    uint32_t one_of, which;    /* the ranks r with r % one_of == which take part; 1: all */
    uint32_t slower, more_ops; /* ranks r with r % slower == 0 compute so much more; 0: none */
    uint32_t back[MAX_DEPS];   /* it waits for the operation so many before; 0: none */
} operation;

typedef struct {
    rng *random;
    const profile *p;
    drawn_case *c;
    uint32_t n_ranks, n_ops, n_layers, n_families;
    operation op[MAX_OPS];
    family fam[MAX_FAMILIES];
    bool disordered[MAX_RANKS], shared;
    bool few_tags; /* messages that only their sizes and order tell apart */
} program;

/* ---- groups -------------------------------------------------------------------------------- */

static void shuffle(rng *r, uint32_t *v, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = rng_below(r, i), last = v[i - 1];

        v[i - 1] = v[k];
        v[k] = last;
    }
}

/* Members in ascending order; listed otherwise now and then. */
static void add_group(program *g, family *f, const uint32_t *member, uint32_t n, dse_arena *a)
{
    wl_workload *w = &g->c->workload;
    wl_group *group = &w->group[w->n_groups];

    *group = (wl_group){dse_arena_printf(a, "%" PRIu32, w->n_groups), n, DSE_ARENA_NEW(a, uint32_t, n)};
    memcpy(group->rank, member, n * sizeof *member);
    if (rng_percent(g->random, g->p->listed))
        shuffle(g->random, group->rank, n);
    for (uint32_t i = 0; i < n; i++)
        f->of[member[i]] = w->n_groups;
    w->n_groups++;
}

static uint32_t draw_divisor(rng *r, uint32_t n)
{
    uint32_t d = rng_range(r, 1, n);

    while (n % d)
        d--;
    return d;
}

/* All ranks, in groups of equal size, members a stride apart. */
static void add_grid(program *g, family *f, dse_arena *a)
{
    uint32_t n = g->n_ranks, stride = draw_divisor(g->random, n), size = draw_divisor(g->random, n / stride);
    uint32_t member[MAX_RANKS];

    if (size == 1) {
        stride = 1;
        size = n;
    }
    for (uint32_t first = 0; first < n; first++) {
        if (f->of[first] != DSE_NONE)
            continue;
        for (uint32_t i = 0; i < size; i++)
            member[i] = first + i * stride;
        add_group(g, f, member, size, a);
    }
}

/* One group of some ranks. */
static void add_some(program *g, family *f, dse_arena *a)
{
    uint32_t member[MAX_RANKS], n = 0;

    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (rng_percent(g->random, 50))
            member[n++] = r;
    if (n < 2) {
        member[0] = 0;
        member[1] = g->n_ranks - 1;
        n = 2;
    }
    add_group(g, f, member, n, a);
}

/* The groups of another family under other names. */
static void add_twin(program *g, family *f, const family *of, dse_arena *a)
{
    for (uint32_t i = 1, end = g->c->workload.n_groups; i < end; i++) {
        uint32_t member[MAX_RANKS], n = 0;

        for (uint32_t r = 0; r < g->n_ranks; r++)
            if (of->of[r] == i)
                member[n++] = r;
        if (n)
            add_group(g, f, member, n, a);
    }
}

static void add_family(program *g, dse_arena *a)
{
    family *f = &g->fam[g->n_families];

    for (uint32_t r = 0; r < MAX_RANKS; r++)
        f->of[r] = DSE_NONE;
    if (g->n_families && rng_percent(g->random, g->p->twin)) {
        const family *of = &g->fam[rng_below(g->random, g->n_families)];

        add_twin(g, f, of, a);
    } else if (rng_percent(g->random, g->p->overlap)) {
        add_some(g, f, a);
    } else {
        add_grid(g, f, a);
    }
    g->n_families++;
}

static void draw_families(program *g, dse_arena *a)
{
    wl_workload *w = &g->c->workload;
    uint32_t n = rng_range(g->random, 1, MAX_FAMILIES), *all = DSE_ARENA_NEW(a, uint32_t, g->n_ranks);

    w->group = DSE_ARENA_NEW(a, wl_group, 1 + MAX_FAMILIES * MAX_RANKS);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        all[r] = r;
    w->group[0] = (wl_group){"", g->n_ranks, all};
    w->n_groups = 1;
    while (g->n_families < n)
        add_family(g, a);
}

/* ---- operations ---------------------------------------------------------------------------- */

static void draw_compute(program *g, operation *op)
{
    static const uint32_t few[] = {10, 20, 30, 50, 100, 110, 10000, 10000};
    rng *r = g->random;
    wl_node *n = &op->node;

    n->type = WL_NODE_COMP;
    n->tensor_size = rng_range(r, 1, 100);
    n->num_ops = g->c->whole ? 10000 * (uint64_t)rng_range(r, 1, 20) : rng_below(r, 2000000);
    if (rng_percent(r, 5))
        n->num_ops = 1; /* 0 ticks */
    if (rng_percent(r, g->p->equal))
        n->num_ops = 1000 * (uint64_t)RNG_PICK(r, few); /* ns in a system of round numbers */
    n->duration_us = rng_range(r, 0, 3);
    if (rng_percent(r, g->p->stagger)) {
        op->slower = rng_range(r, 1, g->n_ranks);
        op->more_ops = g->c->whole ? 10000 * rng_range(r, 1, 50) : rng_below(r, 5000000);
    }
}

static void draw_collective(program *g, operation *op)
{
    static const uint8_t types[] = {WL_ALL_REDUCE, WL_ALL_REDUCE, WL_ALL_GATHER, WL_REDUCE_SCATTER,
                                    WL_ALL_TO_ALL};
    rng *r = g->random;
    wl_node *n = &op->node;

    n->type = WL_NODE_COLL;
    n->coll = RNG_PICK(r, types);
    n->comm_size = g->c->whole ? 960 * (uint64_t)rng_range(r, 1, 20) : rng_range(r, 12, 200000);
    if (rng_percent(r, g->p->equal)) /* packets of a few times 10 bytes */
        n->comm_size = 10 * (uint64_t)g->n_ranks * g->c->settings.splits;
    op->family = rng_below(r, g->n_families);
    if (rng_percent(r, 20)) {
        op->family = DSE_NONE;
        n->n_involved_dims = (uint8_t)g->c->net.n_dims;
        n->involved_dims = (uint16_t)((1u << g->c->net.n_dims) - 1);
        if (rng_percent(r, 40))
            n->involved_dims &= (uint16_t)(1u << rng_below(r, g->c->net.n_dims) | rng_below(r, 16));
    }
}

/* A receive stands behind its send; seldom a send has none, and another does for it or not. */
static void draw_message(program *g, operation *op, uint32_t i)
{
    static const uint32_t few[] = {10, 10, 20, 100};
    rng *r = g->random;
    const operation *before = i ? &g->op[i - 1] : NULL;

    if (before && before->node.type == WL_NODE_SEND && !rng_percent(r, 2)) {
        *op = *before;
        op->node.type = WL_NODE_RECV;
        memset(op->back, 0, sizeof op->back);
        return;
    }
    op->node.type = WL_NODE_SEND;
    op->shift = rng_range(r, 1, g->n_ranks - 1);
    op->node.comm_size = g->c->whole ? 10 * (uint64_t)rng_range(r, 1, 100) : rng_range(r, 1, 100000);
    if (rng_percent(r, g->p->equal))
        op->node.comm_size = RNG_PICK(r, few);
}

static void draw_odd(program *g, operation *op)
{
    static const wl_node odd[] = {
        {.type = WL_NODE_COMP, .num_ops = 1000}, /* moves nothing */
        {.type = WL_NODE_COMP, .num_ops = 1000},
        {.type = WL_NODE_COMP, .num_ops = 7, .tensor_size = 7, .is_cpu_op = true}, /* on the CPU */
        {.type = WL_NODE_COMP, .num_ops = 7, .tensor_size = 7, .is_cpu_op = true, .duration_us = 2},
        {.type = WL_NODE_INVALID},
        {.type = WL_NODE_MEM_LOAD, .tensor_size = 4096},
        {.type = WL_NODE_MEM_STORE, .tensor_size = 100},
        {.type = WL_NODE_COLL, .coll = WL_BROADCAST, .comm_size = 64, .duration_us = 1},
        {.type = WL_NODE_COLL, .coll = WL_ALL_REDUCE, .comm_size = 0},
        {.type = WL_NODE_COLL, .coll = WL_ALL_GATHER, .comm_size = 1}, /* some of them never end */
    };

    op->node = RNG_PICK(g->random, odd);
    if (op->node.type == WL_NODE_COLL)
        op->family = rng_below(g->random, g->n_families);
}

static void draw_operation(program *g, uint32_t i)
{
    rng *r = g->random;
    operation *op = &g->op[i];
    uint32_t kind = rng_below(r, 100);
    bool after_send = i && g->op[i - 1].node.type == WL_NODE_SEND;

    *op = (operation){.family = DSE_NONE, .one_of = 1};
    if (kind < g->p->odd)
        draw_odd(g, op);
    else if (after_send || kind < g->p->odd + g->p->message)
        draw_message(g, op, i);
    else if (kind < g->p->odd + g->p->message + g->p->collective)
        draw_collective(g, op);
    else
        draw_compute(g, op);
    if (op->node.type != WL_NODE_RECV && rng_percent(r, g->p->partial)) {
        op->one_of = rng_range(r, 2, g->n_ranks);
        op->which = rng_below(r, op->one_of);
    }
    if (op->node.type == WL_NODE_RECV && rng_percent(r, 50))
        return; /* posted at tick 0 */
    if (!rng_percent(r, g->p->loose ? g->p->loose : 20))
        op->back[0] = 1;
    for (int k = 1; k < MAX_DEPS; k++)
        if (rng_percent(r, 25))
            op->back[k] = rng_range(r, 1, MAX_OPS);
}

static bool takes_part(const program *g, const operation *op, uint32_t rank)
{
    if (op->node.type == WL_NODE_COLL && op->family != DSE_NONE)
        return g->fam[op->family].of[rank] != DSE_NONE;
    if (op->node.type == WL_NODE_COLL && op->node.coll != WL_BROADCAST)
        return true;
    if (op->node.type == WL_NODE_RECV) /* whose sender takes part */
        rank = (rank + g->n_ranks - op->shift) % g->n_ranks;
    return rank % op->one_of == op->which;
}

/* ---- a rank -------------------------------------------------------------------------------- */

typedef struct {
    uint32_t n, n_deps, n_io[2];
    uint32_t at[MAX_NODES]; /* of each operation: its node, or DSE_NONE */
    uint64_t id[MAX_NODES];
    wl_node *node;
    wl_csr deps;
    wl_io_csr io[2]; /* inputs, outputs */
    uint32_t n_groups, n_messages;
    uint32_t *group;
    wl_p2p *p2p;
} draft;

static void init_draft(draft *d, dse_arena *a)
{
    *d = (draft){
        .node = DSE_ARENA_NEW(a, wl_node, MAX_NODES),
        .deps = {DSE_ARENA_NEW(a, uint32_t, MAX_NODES + 1), DSE_ARENA_NEW(a, uint32_t, MAX_NODES * MAX_DEPS)},
        .group = DSE_ARENA_NEW(a, uint32_t, MAX_NODES),
        .p2p = DSE_ARENA_NEW(a, wl_p2p, MAX_NODES)};
    for (int k = 0; k < 2; k++) {
        d->io[k].start = DSE_ARENA_NEW(a, uint32_t, MAX_NODES + 1);
        d->io[k].item = DSE_ARENA_NEW(a, wl_io, MAX_NODES * MAX_DEPS);
    }
}

static uint32_t group_slot(draft *d, uint32_t group)
{
    uint32_t slot = 0;

    while (slot < d->n_groups && d->group[slot] != group)
        slot++;
    if (slot == d->n_groups)
        d->group[d->n_groups++] = group;
    return slot;
}

/* A message has the number of its send. */
static uint32_t message_slot(const program *g, draft *d, const operation *op, uint32_t rank, uint32_t i)
{
    uint32_t n = g->n_ranks, to = (rank + op->shift) % n, from = (rank + n - op->shift) % n;
    bool send = op->node.type == WL_NODE_SEND;

    d->p2p[d->n_messages] = (wl_p2p){send ? to : from,
                                     g->few_tags ? op->shift % 3
                                     : send      ? i
                                                 : i - 1,
                                     (uint64_t)rank * ID_SPAN + d->id[d->n]};
    return d->n_messages++;
}

/* Field by field: what lies between them stays 0, so that nodes are compared as bytes. */
static void add_node(const program *g, draft *d, const operation *op, uint32_t rank, uint32_t i)
{
    wl_node *n = &d->node[d->n];

    n->name = "n";
    n->num_ops = op->node.num_ops + (op->slower && rank % op->slower == 0 ? op->more_ops : 0);
    n->tensor_size = op->node.tensor_size;
    n->comm_size = op->node.comm_size;
    n->duration_us = op->node.duration_us;
    n->type = op->node.type;
    n->coll = op->node.coll;
    n->is_cpu_op = op->node.is_cpu_op;
    n->has_io = true;
    n->involved_dims = op->node.involved_dims;
    n->n_involved_dims = op->node.n_involved_dims;
    n->layer = DSE_NONE;
    n->slot = DSE_NONE;
    if (n->type == WL_NODE_SEND || n->type == WL_NODE_RECV)
        n->slot = message_slot(g, d, op, rank, i);
    else
        n->id = d->id[d->n];
    if (n->type == WL_NODE_COLL && op->family != DSE_NONE)
        n->slot = group_slot(d, g->fam[op->family].of[rank]);
    d->at[i] = d->n++;
}

/* It waits for operations before, and reads the tensors that these write. */
static void add_deps(const program *g, draft *d, const operation *op, uint32_t rank, uint32_t i)
{
    uint32_t node = d->n - 1;

    for (int k = 0; k < MAX_DEPS; k++) {
        uint32_t parent = op->back[k] && op->back[k] <= i ? d->at[i - op->back[k]] : DSE_NONE;

        if (parent == DSE_NONE || (g->disordered[rank] && rng_percent(g->random, 30)))
            continue;
        d->deps.item[d->n_deps++] = parent;
        d->io[0].item[d->n_io[0]++] = (wl_io){parent, 100 + 10 * parent};
    }
    d->io[1].item[d->n_io[1]++] = (wl_io){node, 100 + 10 * node};
    d->deps.start[node + 1] = d->n_deps;
    d->io[0].start[node + 1] = d->n_io[0];
    d->io[1].start[node + 1] = d->n_io[1];
}

static void make_nodes(const program *g, draft *d, uint32_t rank)
{
    uint32_t ids[MAX_NODES];

    for (uint32_t i = 0; i < MAX_NODES; i++)
        ids[i] = i + 1;
    if (g->disordered[rank])
        shuffle(g->random, ids, g->n_ops * g->n_layers);
    for (uint32_t i = 0; i < g->n_ops * g->n_layers; i++) {
        const operation *op = &g->op[i % g->n_ops];

        d->at[i] = DSE_NONE;
        if (!takes_part(g, op, rank))
            continue;
        d->id[d->n] = ids[i];
        add_node(g, d, op, rank, i);
        add_deps(g, d, op, rank, i);
    }
}

static bool same_nodes(const draft *d, const uint64_t *id, const wl_graph *g)
{
    return d->n == g->n_nodes && !memcmp(d->node, g->node, d->n * sizeof *d->node) &&
           !memcmp(d->deps.start, g->data_deps.start, (d->n + 1) * sizeof *d->deps.start) &&
           !memcmp(d->deps.item, g->data_deps.item, d->n_deps * sizeof *d->deps.item) &&
           !memcmp(d->id, id, d->n * sizeof *id);
}

static dse_status finish_graph(const draft *d, wl_graph *g, dse_arena *a, dse_error *err)
{
    *g = (wl_graph){.n_nodes = d->n,
                    .node = d->node,
                    .data_deps = d->deps,
                    .ctrl_deps = {DSE_ARENA_NEW(a, uint32_t, d->n + 1u), NULL},
                    .inputs = d->io[0],
                    .outputs = d->io[1],
                    .n_tensors = d->n,
                    .tensor = DSE_ARENA_NEW(a, wl_tensor_info, d->n),
                    .n_group_slots = d->n_groups,
                    .n_p2p_slots = d->n_messages};
    for (uint32_t i = 0; i < d->n; i++)
        g->tensor[i] = (wl_tensor_info){dse_arena_printf(a, "t%" PRIu32, i), 100 + 10 * i,
                                        (wl_tensor_kind)(i % WL_N_TENSOR_KINDS), false};
    return wl_graph_finish(g, d->id, "drawn", a, err);
}

static dse_status make_rank(program *g, uint32_t rank, const uint64_t **id_of, dse_arena *a, dse_error *err)
{
    wl_workload *w = &g->c->workload;
    draft *d = DSE_ARENA_NEW(a, draft, 1);
    uint32_t i = 0;

    init_draft(d, a);
    make_nodes(g, d, rank);
    w->rank[rank] = (wl_rank){w->n_graphs, (uint64_t)rank * ID_SPAN, d->group, d->p2p};
    while (i < w->n_graphs && !(g->shared && same_nodes(d, id_of[i], &w->graph[i])))
        i++;
    w->rank[rank].graph = i;
    if (i < w->n_graphs)
        return DSE_OK;
    id_of[w->n_graphs] = d->id;
    return finish_graph(d, &w->graph[w->n_graphs++], a, err);
}

dse_status draw_program(rng *r, dse_arena *a, drawn_case *c, dse_error *err)
{
    program g = {.random = r, .p = &RNG_PICK(r, profiles), .c = c, .n_ranks = c->net.n_npus};
    wl_workload *w = &c->workload;
    const uint64_t **id_of = dse_arena_zero(a, g.n_ranks, sizeof *id_of);
    dse_status st = DSE_OK;

    *w = (wl_workload){.n_ranks = g.n_ranks};
    w->rank = DSE_ARENA_NEW(a, wl_rank, g.n_ranks);
    w->graph = DSE_ARENA_NEW(a, wl_graph, g.n_ranks);
    draw_families(&g, a);
    g.n_ops = rng_range(r, 1, MAX_OPS);
    g.n_layers = rng_range(r, 1, MAX_LAYERS);
    g.shared = rng_percent(r, 70);
    g.few_tags = rng_percent(r, 15);
    for (uint32_t i = 0; i < g.n_ops; i++)
        draw_operation(&g, i);
    while (g.n_ops > 1 && g.op[g.n_ops - 1].node.type == WL_NODE_SEND && !rng_percent(r, 5))
        g.n_ops--;
    for (uint32_t i = 0; i < g.n_ranks; i++)
        g.disordered[i] = rng_percent(r, g.p->disorder);
    for (uint32_t i = 0; st == DSE_OK && i < g.n_ranks; i++)
        st = make_rank(&g, i, id_of, a, err);
    ADD(c,
        "# by hand: %s; %" PRIu32 " operations, %" PRIu32 " times; %" PRIu32 " groups, %" PRIu32 " graphs\n",
        g.p->name, g.n_ops, g.n_layers, w->n_groups - 1, w->n_graphs);
    return st;
}
