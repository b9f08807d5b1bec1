#include "step/unroll.h"

#include <inttypes.h>
#include <string.h>

/* From here on tags are those of collectives (sim/README.md). */
#define N_TAGS 1000000u

/* Nodes that an operation or a joint ends with. */
typedef struct {
    uint32_t first, n; /* in `end` */
} ends;

typedef struct {
    const step_passes *passes;
    dse_arena *arena;
    wl_workload *out;
    uint32_t n_places;               /* ranks of the pipeline */
    const dse_time *begin;           /* per place, of an ending alone; else NULL */
    uint32_t slot_of[STEP_N_GROUPS]; /* DSE_NONE: not used */
    uint32_t n_slots;
    step_group group_of[STEP_N_GROUPS]; /* per slot */

    /* The graph that is being made. */
    wl_node *node;
    wl_kernel *kernel;
    uint32_t n, n_p2p, *dep, *dep_start;
    size_t cap_nodes, cap_kernels, cap_starts, n_deps, cap_deps, cap_p2p;
    uint32_t last[2]; /* node of the unit of compute, of communication; DSE_NONE */
    uint32_t *end;
    size_t n_ends, cap_ends, cap_operations;
    ends *of; /* per operation of the pass at hand */
    struct {
        uint32_t tag, to; /* a place in the pipeline; DSE_NONE: along the ring of context parallelism */
        bool is_send;
    } * message; /* per slot */
} unroller;

enum { COMPUTE, COMMUNICATION };

/* ---- nodes ------------------------------------------------------------------------------------- */

static void depend(unroller *u, uint32_t node)
{
    if (node == DSE_NONE)
        return;
    for (size_t i = u->dep_start[u->n]; i < u->n_deps; i++)
        if (u->dep[i] == node)
            return;
    DSE_GROW(u->dep, u->cap_deps, u->n_deps + 1);
    u->dep[u->n_deps++] = node;
}

static void depend_on(unroller *u, ends e)
{
    for (uint32_t i = 0; i < e.n; i++)
        depend(u, u->end[e.first + i]);
}

/* A node with the dependencies that were told since the one before it. */
static uint32_t put(unroller *u, const wl_node *node)
{
    DSE_GROW(u->node, u->cap_nodes, u->n + 1);
    DSE_GROW(u->kernel, u->cap_kernels, u->n + 1);
    DSE_GROW(u->dep_start, u->cap_starts, u->n + 2);
    u->node[u->n] = *node;
    if (node->type != WL_NODE_SEND && node->type != WL_NODE_RECV)
        u->node[u->n].id = u->n + 1;
    u->kernel[u->n] = (wl_kernel){0};
    u->n++;
    u->dep_start[u->n] = (uint32_t)u->n_deps;
    return u->n - 1;
}

/* In the order of its unit. */
static uint32_t put_in_order(unroller *u, int unit, const wl_node *node)
{
    depend(u, u->last[unit]);
    return u->last[unit] = put(u, node);
}

static void begin_ends(unroller *u, ends *e) { *e = (ends){(uint32_t)u->n_ends, 0}; }

static void add_end(unroller *u, ends *e, uint32_t node)
{
    for (uint32_t i = 0; i < e->n; i++)
        if (u->end[e->first + i] == node)
            return;
    DSE_GROW(u->end, u->cap_ends, u->n_ends + 1);
    u->end[u->n_ends++] = node;
    e->n++;
}

static void add_ends(unroller *u, ends *e, ends more)
{
    for (uint32_t i = 0; i < more.n; i++)
        add_end(u, e, u->end[more.first + i]);
}

/* What the kernel is stays as it is, for records of the run. */
static wl_kernel of_ticks(wl_kernel kernel, dse_time ticks)
{
    kernel.operations = STEP_OPERATIONS_OF(ticks);
    kernel.bytes = 1;
    return kernel;
}

static uint32_t put_kernel(unroller *u, const char *name, const wl_kernel *kernel)
{
    uint32_t node = put_in_order(u, COMPUTE,
                                 &(wl_node){.name = name,
                                            .type = WL_NODE_COMP,
                                            .num_ops = kernel->operations,
                                            .tensor_size = kernel->bytes,
                                            .layer = DSE_NONE});

    u->kernel[node] = *kernel;
    return node;
}

/* As it is, if the engine's roofline is its law. */
static uint32_t put_timed(unroller *u, const char *name, const wl_kernel *kernel, dse_time ticks)
{
    const wl_kernel timed = of_ticks(*kernel, ticks);

    return put_kernel(u, name, u->passes->has_laws ? &timed : kernel);
}

static uint32_t put_collective(unroller *u, const char *name, const step_collective *c)
{
    if (u->slot_of[c->group] == DSE_NONE) {
        u->group_of[u->n_slots] = c->group;
        u->slot_of[c->group] = u->n_slots++;
    }
    return put_in_order(u, COMMUNICATION,
                        &(wl_node){.name = name,
                                   .type = WL_NODE_COLL,
                                   .coll = (uint8_t)c->type,
                                   .comm_size = step_clock_bytes(c),
                                   .slot = u->slot_of[c->group],
                                   .layer = DSE_NONE});
}

static uint32_t put_message(unroller *u, const char *name, bool is_send, uint64_t bytes, uint32_t tag,
                            uint32_t to)
{
    const wl_node node = {.name = name,
                          .type = is_send ? WL_NODE_SEND : WL_NODE_RECV,
                          .comm_size = bytes,
                          .slot = u->n_p2p,
                          .layer = DSE_NONE};

    DSE_GROW(u->message, u->cap_p2p, u->n_p2p + 1);
    u->message[u->n_p2p].tag = tag;
    u->message[u->n_p2p].to = to;
    u->message[u->n_p2p++].is_send = is_send;
    return is_send ? put_in_order(u, COMMUNICATION, &node) : put(u, &node);
}

/* ---- passes ------------------------------------------------------------------------------------ */

/* Each rank sends to the next of its ring; receives are posted from the begin on. */
static void put_exchange(unroller *u, const char *name, const step_collective *c, ends *e)
{
    uint32_t tag = sched_n_actions(u->passes->plan) + u->n_p2p;

    add_end(u, e, put_message(u, name, true, c->in_bytes, tag, DSE_NONE));
    add_end(u, e, put_message(u, name, false, c->in_bytes, tag, DSE_NONE));
}

static void put_communication(unroller *u, const char *name, const step_collective *c, ends *e)
{
    if (c->to_next)
        put_exchange(u, name, c, e);
    else
        add_end(u, e, put_collective(u, name, c));
}

static void put_operation(unroller *u, const step_pass *p, uint32_t i, ends begin)
{
    const step_pass_operation *op = &p->operation[i];
    ends e;

    begin_ends(u, &e);
    if (!op->kernel && !op->collective) {
        for (uint32_t k = op->first_need; k < op->first_need + op->n_needs; k++)
            add_ends(u, &e, u->of[p->need[k]]);
        if (!op->n_needs)
            add_ends(u, &e, begin);
        u->of[i] = e;
        return;
    }
    for (uint32_t k = op->first_need; k < op->first_need + op->n_needs; k++)
        depend_on(u, u->of[p->need[k]]);
    if (!op->n_needs)
        depend_on(u, begin);
    if (op->kernel)
        add_end(u, &e, put_timed(u, op->name, op->kernel, op->ticks));
    else
        put_communication(u, op->name, op->collective, &e);
    u->of[i] = e;
}

static void put_receive(unroller *u, uint32_t producer, ends *begin)
{
    const sched_plan *p = u->passes->plan;

    if (producer != DSE_NONE)
        add_end(u, begin,
                put_message(u, "receive", false, u->passes->transfer.in_bytes, producer,
                            p->stage_rank[p->action[producer].stage]));
}

/* An action; `before`: what the one before it on the rank ends with, and then what this one does. The first
 * of a pair begins when both have their tensors. */
static void put_action(unroller *u, uint32_t action, bool ends_pair, ends *before)
{
    const step_passes *all = u->passes;
    const sched_tensors *t = &all->tensors;
    const step_pass *p = &all->pass[all->pass_of[action]];
    ends begin, over;
    uint32_t sent;

    begin_ends(u, &begin);
    add_ends(u, &begin, *before);
    if (!ends_pair)
        put_receive(u, t->producer[action], &begin);
    if (all->plan->action[action].with_next)
        put_receive(u, t->producer[action + 1], &begin);
    DSE_GROW(u->of, u->cap_operations, p->n);
    for (uint32_t i = 0; i < p->n; i++)
        put_operation(u, p, i, begin);
    over = p->over == DSE_NONE ? begin : u->of[p->over];
    *before = over;
    if (t->receiver[action] == DSE_NONE)
        return;
    depend_on(u, over);
    sent = put_message(u, "send", true, all->transfer.in_bytes, action, t->receiver[action]);
    if (!all->waits_for_sends)
        return;
    begin_ends(u, before);
    add_ends(u, before, over);
    add_end(u, before, sent);
}

/* ---- the end of the step ----------------------------------------------------------------------- */

static void put_after_all(unroller *u, const char *name, const step_collective *c)
{
    ends e;

    if (!step_clock_takes_time(&u->passes->ranks, c))
        return;
    begin_ends(u, &e);
    depend(u, u->last[COMPUTE]);
    put_communication(u, name, c, &e);
}

/* What the ranks of a place do for themselves. */
static void put_sums(unroller *u, uint32_t place)
{
    const step_ending *e = &u->passes->ending[place];

    for (uint32_t i = 0; i < e->n_reductions; i++)
        put_after_all(u, "gradients", &e->reduction[i]);
    put_after_all(u, "sum_over_tp", &e->tp_sum);
}

static void put_ending(unroller *u, uint32_t place)
{
    const step_ending *e = &u->passes->ending[place];
    wl_kernel kernel = e->optimizer;
    uint32_t optimizer;

    if (u->begin || (u->passes->has_laws && kernel.bytes))
        kernel = of_ticks(kernel, e->optimizer_ticks);
    if (place == 0 || place + 1 == u->n_places)
        put_after_all(u, "sum_of_embeddings", &e->ends_sum);
    put_after_all(u, "gradient_norm", &e->norm);
    if (!kernel.bytes)
        return;
    depend(u, u->last[COMMUNICATION]);
    optimizer = put_kernel(u, "optimizer", &kernel);
    for (uint32_t i = 0; i < e->n_gathers; i++) {
        depend(u, optimizer);
        put_collective(u, "parameters", &e->gather[i]);
    }
}

/* ---- graphs ------------------------------------------------------------------------------------ */

/* Moves what has been put into the graph. */
static dse_status finish_graph(unroller *u, wl_graph *g, dse_error *err)
{
    dse_arena *a = u->arena;
    uint32_t *none = DSE_ARENA_NEW(a, uint32_t, u->n + 1), *kernel_of = DSE_ARENA_RAW(a, uint32_t, u->n);
    uint64_t *id = DSE_ARENA_RAW(a, uint64_t, u->n);

    for (uint32_t i = 0; i < u->n; i++) {
        id[i] = i + 1;
        kernel_of[i] = i;
    }
    *g = (wl_graph){.n_nodes = u->n,
                    .node = dse_arena_copy(a, u->node, u->n, sizeof *u->node),
                    .data_deps = {dse_arena_copy(a, u->dep_start, u->n + 1, sizeof *u->dep_start),
                                  dse_arena_copy(a, u->dep, u->n_deps, sizeof *u->dep)},
                    .ctrl_deps = {none, NULL},
                    .inputs = {none, NULL},
                    .outputs = {none, NULL},
                    .n_kernels = u->n,
                    .kernel = dse_arena_copy(a, u->kernel, u->n, sizeof *u->kernel),
                    .kernel_of = kernel_of,
                    .n_p2p_slots = u->n_p2p};
    return wl_graph_finish(g, id, "the unrolled step", a, err);
}

static void begin_graph(unroller *u)
{
    u->n = u->n_p2p = 0;
    u->n_deps = u->n_ends = 0;
    u->last[COMPUTE] = u->last[COMMUNICATION] = DSE_NONE;
    DSE_GROW(u->dep_start, u->cap_starts, 1);
    u->dep_start[0] = 0;
}

/* Of the receives and sends of a graph, on each of its ranks. */
static void bind_messages(unroller *u, uint32_t place)
{
    const step_ranks *ranks = &u->passes->ranks;
    const mesh *m = &ranks->mesh;
    const mesh_axis *pp = &m->axis[ranks->pipeline];
    const wl_graph *g = &u->out->graph[place];
    uint64_t *id = DSE_ARENA_RAW(u->arena, uint64_t, u->n_p2p);

    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->node[i].type == WL_NODE_SEND || g->node[i].type == WL_NODE_RECV)
            id[g->node[i].slot] = i + 1;
    for (uint32_t r = 0; r < u->out->n_ranks; r++) {
        mesh_set line = ranks->axes[STEP_GROUP_CP];
        uint32_t n = ranks->size[STEP_GROUP_CP], first = mesh_first(m, line, r), at = 0;
        wl_rank *rank = &u->out->rank[r];

        if (mesh_coordinate(m, ranks->pipeline, r) != place)
            continue;
        while (mesh_member(m, line, first, at) != r)
            at++;
        rank->graph = place;
        rank->p2p = DSE_ARENA_RAW(u->arena, wl_p2p, u->n_p2p);
        for (uint32_t i = 0; i < u->n_p2p; i++) {
            uint32_t peer = r + (u->message[i].to - place) * pp->stride;

            if (u->message[i].to == DSE_NONE)
                peer = mesh_member(m, line, first, (at + (u->message[i].is_send ? 1 : n - 1)) % n);
            rank->p2p[i] = (wl_p2p){.peer = peer, .tag = u->message[i].tag, .id = id[i]};
        }
    }
}

static void put_passes(unroller *u, uint32_t place)
{
    const sched_plan *p = u->passes->plan;
    ends before;

    begin_ends(u, &before);
    for (uint32_t i = p->first[place]; i < p->first[place + 1]; i++)
        put_action(u, i, i > p->first[place] && p->action[i - 1].with_next, &before);
    put_sums(u, place);
}

static dse_status make_graph(unroller *u, uint32_t place, dse_error *err)
{
    const sched_plan *p = u->passes->plan;
    dse_status st;

    begin_graph(u);
    if (u->begin) {
        wl_kernel wait = of_ticks((wl_kernel){0}, u->begin[place]);

        put_kernel(u, "wait", &wait);
    } else {
        put_passes(u, place);
    }
    put_ending(u, place);
    if (sched_n_actions(p) + u->n_p2p >= N_TAGS)
        return dse_fail(err, DSE_E_RANGE,
                        "the unrolled step has %" PRIu32 " messages on a rank; at most %u are possible",
                        u->n_p2p, N_TAGS - sched_n_actions(p));
    if ((st = finish_graph(u, &u->out->graph[place], err)) == DSE_OK)
        bind_messages(u, place);
    return st;
}

/* ---- groups ------------------------------------------------------------------------------------ */

/* Group 0 has all ranks, and no name. */
static void bind_groups(unroller *u)
{
    const step_ranks *ranks = &u->passes->ranks;
    wl_workload *w = u->out;
    uint32_t most = 1;

    for (uint32_t k = 0; k < u->n_slots; k++)
        most += w->n_ranks / ranks->size[u->group_of[k]];
    w->group = DSE_ARENA_NEW(u->arena, wl_group, most);
    w->group[0] = (wl_group){"", w->n_ranks, DSE_ARENA_RAW(u->arena, uint32_t, w->n_ranks)};
    w->n_groups = 1;
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        w->group[0].rank[r] = r;
        w->rank[r].group = DSE_ARENA_NEW(u->arena, uint32_t, u->n_slots);
    }
    for (uint32_t k = 0; k < u->n_slots; k++) {
        uint32_t n = ranks->size[u->group_of[k]], *member;
        uint32_t n_groups = step_ranks_members(ranks, u->group_of[k], u->arena, &member);

        for (uint32_t i = 0; i < n_groups; i++, w->n_groups++) {
            w->group[w->n_groups] =
                (wl_group){dse_arena_printf(u->arena, "%" PRIu32, w->n_groups), n, member + (size_t)i * n};
            for (uint32_t j = 0; j < n; j++)
                w->rank[member[i * n + j]].group[k] = w->n_groups;
        }
    }
    for (uint32_t i = 0; i < w->n_graphs; i++)
        w->graph[i].n_group_slots = u->n_slots;
}

/* ---- the step ---------------------------------------------------------------------------------- */

static dse_status unroll(unroller *u, dse_error *err)
{
    const step_ranks *ranks = &u->passes->ranks;
    wl_workload *out = u->out;
    dse_status st = DSE_OK;

    memset(u->slot_of, 0xff, sizeof u->slot_of); /* DSE_NONE */
    u->n_places = u->passes->plan->n_ranks;
    *out = (wl_workload){.n_ranks = (uint32_t)mesh_size(&ranks->mesh, mesh_all(&ranks->mesh)),
                         .n_graphs = u->n_places,
                         .in_bytes = true,
                         .mesh = ranks->mesh};
    out->graph = DSE_ARENA_NEW(u->arena, wl_graph, out->n_graphs);
    out->rank = DSE_ARENA_NEW(u->arena, wl_rank, out->n_ranks);
    for (uint32_t place = 0; place < u->n_places && st == DSE_OK; place++)
        st = make_graph(u, place, err);
    if (st == DSE_OK)
        bind_groups(u);
    dse_free(u->node);
    dse_free(u->kernel);
    dse_free(u->dep);
    dse_free(u->dep_start);
    dse_free(u->end);
    dse_free(u->of);
    dse_free(u->message);
    return st;
}

dse_status step_unroll(const step_passes *p, dse_arena *a, wl_workload *out, dse_error *err)
{
    return unroll(&(unroller){.passes = p, .arena = a, .out = out}, err);
}

dse_status step_unroll_ending(const step_passes *p, const dse_time *begin, dse_arena *a, wl_workload *out,
                              dse_error *err)
{
    return unroll(&(unroller){.passes = p, .arena = a, .out = out, .begin = begin}, err);
}

uint64_t step_unrolled_nodes(const step_passes *p)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < sched_n_actions(p->plan); i++)
        n += p->pass[p->pass_of[i]].n + 2;
    return n;
}
