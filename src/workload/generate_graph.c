/* From drafts to what is written and simulated: graphs in file order, ids, inputs and outputs; ranks, groups, tags. */
#include "workload/generator.h"

#include <inttypes.h>

/* ---- the finished graph -------------------------------------------------------------------- */

/* Calls out the drafts of a tensor in file order: computation, collectives, sends, receive. */
static uint32_t list_drafts(const gen_stage *s, uint32_t ti, uint32_t *out)
{
    const gen_tensor *t = &s->tensor[ti];
    uint32_t n = 0;

    for (uint32_t i = t->comp; i < s->n_numbered && s->drafts[i].tensor == ti; i++)
        if (!s->drafts[i].removed)
            out[n++] = i;
    for (uint32_t i = t->first_send; i != DSE_NONE; i = s->drafts[i].next_send)
        out[n++] = i;
    if (t->recv != DSE_NONE)
        out[n++] = t->recv;
    return n;
}

/* STAGE chains collectives and sends in file order, but only those that wait for nothing at all, and only
 * if there are more than two of them. */
static void chain_first_communications(const uint32_t *order, uint32_t n, gen_node *drafts)
{
    uint32_t count = 0, previous = DSE_NONE;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n; i++) {
            gen_node *d = &drafts[order[i]];
            bool communicates = d->node.type == WL_NODE_COLL || d->node.type == WL_NODE_SEND;

            if (!communicates || d->n_data || d->n_ctrl)
                continue;
            if (pass == 0) {
                count++;
                continue;
            }
            if (previous != DSE_NONE)
                d->ctrl[d->n_ctrl++] = previous;
            previous = order[i];
        }
        if (count <= 2)
            return;
    }
}

/* The tensor's place in the graph's table of inputs and outputs. A copy goes by the name of what it copies. */
static dse_status io_tensor(generator *g, gen_stage *s, wl_graph *graph, uint32_t ti, wl_io *out)
{
    gen_tensor *t;

    if (s->tensor[ti].kind == WL_OP_COPY)
        ti = s->tensor[ti].x1;
    t = &s->tensor[ti];
    if (t->info == DSE_NONE) {
        const wl_tensor *m = gen_model_tensor(g, t);
        wl_tensor_info *info = &graph->tensor[t->info = graph->n_tensors++];
        dse_strbuf name;

        dse_strbuf_init(&name);
        dse_strbuf_addf(&name, "%s%s@%" PRIu32, t->kind == WL_OP_SHADOW ? "shadow_" : "", m->name,
                        m->revision);
        wl_shape_print(&g->ops.symbols, &m->op->y_shape, &name);
        info->kind = gen_tensor_kind(g, t);
        info->elements = gen_shape_value(g, &m->op->y_shape);
        info->name = name.failed ? NULL : dse_arena_strdup(g->arena, name.data);
        dse_strbuf_free(&name);
        if (!info->name)
            return dse_fail_nomem(g->err);
    }
    *out = (wl_io){t->info, wl_size_as_read(graph->tensor[t->info].elements)};
    return DSE_OK;
}

/* A node's inputs and outputs: what it reads and writes of the memory that the simulator tracks. */
static dse_status fill_io(generator *g, gen_stage *s, wl_graph *graph, const gen_node *d, uint32_t *n_in,
                          uint32_t *n_out)
{
    const gen_tensor *t = &s->tensor[d->tensor];
    wl_io *in = graph->inputs.item, *out = graph->outputs.item;
    dse_status st = DSE_OK;

    switch (d->node.type) {
    case WL_NODE_COMP:
        if (t->x1 != DSE_NONE)
            st = io_tensor(g, s, graph, t->x1, &in[(*n_in)++]);
        if (st == DSE_OK && t->x2 != DSE_NONE)
            st = io_tensor(g, s, graph, t->x2, &in[(*n_in)++]);
        return st == DSE_OK ? io_tensor(g, s, graph, d->tensor, &out[(*n_out)++]) : st;
    case WL_NODE_COLL: return io_tensor(g, s, graph, d->operand, &in[(*n_in)++]);
    case WL_NODE_SEND: return io_tensor(g, s, graph, d->tensor, &in[(*n_in)++]);
    default: return io_tensor(g, s, graph, d->tensor, &out[(*n_out)++]);
    }
}

static dse_status allocate_graph(generator *g, const gen_stage *s, wl_graph *graph, uint32_t n)
{
    wl_csr *deps[] = {&graph->data_deps, &graph->ctrl_deps};

    graph->n_nodes = n;
    graph->n_group_slots = WL_N_PARALLEL;
    graph->n_p2p_slots = s->n_p2p;
    graph->node = DSE_ARENA_NEW(g->arena, wl_node, n);
    graph->tensor = DSE_ARENA_NEW(g->arena, wl_tensor_info, s->n_tensors);
    graph->inputs.start = DSE_ARENA_NEW(g->arena, uint32_t, n + 1u);
    graph->outputs.start = DSE_ARENA_NEW(g->arena, uint32_t, n + 1u);
    graph->inputs.item = DSE_ARENA_NEW(g->arena, wl_io, 2u * n);
    graph->outputs.item = DSE_ARENA_NEW(g->arena, wl_io, n);
    if (!graph->node || !graph->tensor || !graph->inputs.start || !graph->outputs.start ||
        !graph->inputs.item || !graph->outputs.item)
        return dse_fail_nomem(g->err);
    for (int i = 0; i < 2; i++) {
        deps[i]->start = DSE_ARENA_NEW(g->arena, uint32_t, n + 1u);
        deps[i]->item = DSE_ARENA_NEW(g->arena, uint32_t, (i ? 2u : 4u) * n);
        if (!deps[i]->start || !deps[i]->item)
            return dse_fail_nomem(g->err);
    }
    return DSE_OK;
}

dse_status gen_finish_stage(generator *g, gen_stage *s, wl_graph *graph)
{
    uint32_t *order = DSE_ARENA_NEW(g->arena, uint32_t, s->n_drafts), n = 0, n_in = 0, n_out = 0;
    uint32_t n_data = 0, n_ctrl = 0;
    uint64_t *id_of;
    dse_status st;

    if (!order)
        return dse_fail_nomem(g->err);
    for (uint32_t ti = 0; ti < s->n_tensors; ti++)
        n += list_drafts(s, ti, order + n);
    chain_first_communications(order, n, s->drafts);
    if ((st = allocate_graph(g, s, graph, n)) != DSE_OK)
        return st;
    id_of = DSE_ARENA_NEW(g->arena, uint64_t, n);
    if (!id_of)
        return dse_fail_nomem(g->err);
    for (uint32_t i = 0; i < n; i++)
        s->drafts[order[i]].final = i;
    for (uint32_t i = 0; i < n; i++) {
        gen_node *d = &s->drafts[order[i]];

        /* Sends and receives get their ids after everything else, in the order of their slots. */
        id_of[i] = order[i] < s->n_numbered ? order[i] + 1u : (uint64_t)s->n_numbered + d->node.slot + 1u;
        d->node.id = order[i] < s->n_numbered ? id_of[i] : 0;
        graph->node[i] = d->node;
        for (uint32_t k = 0; k < d->n_data; k++)
            graph->data_deps.item[n_data++] = s->drafts[d->data[k]].final;
        for (uint32_t k = 0; k < d->n_ctrl; k++)
            graph->ctrl_deps.item[n_ctrl++] = s->drafts[d->ctrl[k]].final;
        if ((st = fill_io(g, s, graph, d, &n_in, &n_out)) != DSE_OK)
            return st;
        graph->data_deps.start[i + 1] = n_data;
        graph->ctrl_deps.start[i + 1] = n_ctrl;
        graph->inputs.start[i + 1] = n_in;
        graph->outputs.start[i + 1] = n_out;
    }
    for (uint32_t k = 0; k < n_data; k++)
        if (graph->data_deps.item[k] == DSE_NONE)
            return dse_fail_at(g->err, DSE_E_CONFIG, g->ops.doc.path,
                               "a node waits for an operator without cost that stands after it");
    return wl_graph_finish(graph, id_of, g->ops.doc.path, g->arena, g->err);
}

/* ---- ranks and groups ---------------------------------------------------------------------- */

static uint32_t rank_number(const wl_strategy *s, uint32_t stage_index, uint32_t sp, uint32_t tp, uint32_t dp)
{
    return ((stage_index * s->sp + sp) * s->tp + tp) * s->dp + dp;
}

/* Groups are numbered from 1: all along dp, then along tp, then along sp; each by the other coordinates,
 * pp slowest. Group 0 is everybody, under no name. */
static dse_status bind_groups(generator *g)
{
    const wl_strategy *s = g->s;
    wl_workload *w = g->out;
    uint32_t degree[] = {s->dp, s->tp, s->sp}, base = 1;

    w->n_groups = 1;
    for (int k = 0; k < WL_N_PARALLEL; k++)
        w->n_groups += w->n_ranks / degree[k];
    w->group = DSE_ARENA_NEW(g->arena, wl_group, w->n_groups);
    if (!w->group)
        return dse_fail_nomem(g->err);
    for (uint32_t i = 0; i < w->n_groups; i++) {
        w->group[i].name = i ? dse_arena_printf(g->arena, "%" PRIu32, i) : "";
        if (!w->group[i].name)
            return dse_fail_nomem(g->err);
    }
    for (int k = 0; k < WL_N_PARALLEL; k++) {
        for (uint32_t i = 0; i < w->n_ranks / degree[k]; i++) {
            wl_group *group = &w->group[base + i];

            group->rank = DSE_ARENA_NEW(g->arena, uint32_t, degree[k]);
            if (!group->rank)
                return dse_fail_nomem(g->err);
        }
        for (uint32_t st = 0; st < g->n_stages; st++) {
            for (uint32_t i = 0; i < w->n_ranks / g->n_stages; i++) {
                uint32_t at[] = {i % s->dp, i / s->dp % s->tp, i / s->dp / s->tp};
                uint32_t rank = rank_number(s, st, at[2], at[1], at[0]), number = g->stages[st].value;

                for (int other = 0; other < WL_N_PARALLEL; other++)
                    if (other != k)
                        number = number * degree[other] + at[other];
                w->rank[rank].group[k] = base + number;
                w->group[base + number].rank[w->group[base + number].n++] = rank;
            }
        }
        base += w->n_ranks / degree[k];
    }
    w->group[0].n = w->n_ranks;
    w->group[0].rank = DSE_ARENA_NEW(g->arena, uint32_t, w->n_ranks);
    if (!w->group[0].rank)
        return dse_fail_nomem(g->err);
    for (uint32_t i = 0; i < w->n_ranks; i++)
        w->group[0].rank[i] = i;
    return DSE_OK;
}

/* A link joins the ranks of two stages that agree in sp, tp and dp; each such pair has a tag. */
static void bind_messages(generator *g, uint64_t next_id)
{
    const wl_strategy *s = g->s;
    uint32_t per_stage = g->out->n_ranks / g->n_stages;

    for (uint32_t i = 0; i < g->n_links; i++) {
        const gen_link *l = &g->links[i];

        for (uint32_t k = 0; k < per_stage; k++) {
            uint32_t sender = l->from_stage * per_stage + k, receiver = l->to_stage * per_stage + k;
            uint32_t tag = s->tag_base + i * per_stage + k;

            g->out->rank[sender].p2p[l->send_slot] = (wl_p2p){receiver, tag, next_id++};
            g->out->rank[receiver].p2p[l->recv_slot] = (wl_p2p){sender, tag, next_id++};
        }
    }
}

dse_status gen_bind_ranks(generator *g)
{
    wl_workload *w = g->out;
    uint64_t base = 0;
    dse_status st;

    w->rank = DSE_ARENA_NEW(g->arena, wl_rank, w->n_ranks);
    if (!w->rank)
        return dse_fail_nomem(g->err);
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        const gen_stage *s = &g->stages[r / (w->n_ranks / g->n_stages)];
        wl_rank *rank = &w->rank[r];

        rank->graph = (uint32_t)(s - g->stages);
        rank->id_base = base;
        base += s->n_numbered;
        rank->group = DSE_ARENA_NEW(g->arena, uint32_t, WL_N_PARALLEL);
        rank->p2p = DSE_ARENA_NEW(g->arena, wl_p2p, s->n_p2p);
        if (!rank->group || !rank->p2p)
            return dse_fail_nomem(g->err);
    }
    if ((st = bind_groups(g)) != DSE_OK)
        return st;
    bind_messages(g, base + 1);
    return DSE_OK;
}
