/* The nodes of a stage: a computation per tensor, the collectives in front of it, messages between stages, and who
 * waits for whom. */
#include "workload/generator.h"

#include <inttypes.h>
#include <string.h>

/* ---- nodes --------------------------------------------------------------------------------- */

static gen_node *add_draft(generator *g, gen_stage *s, uint32_t type, uint32_t tensor, uint32_t *index)
{
    uint32_t place = gen_model_tensor(g, &s->tensor[tensor])->place;
    gen_node *d;

    if (s->n_drafts == s->cap_drafts) {
        uint32_t cap = s->cap_drafts ? s->cap_drafts * 2 : s->n_tensors * 2 + 16;
        gen_node *more = dse_arena_alloc(g->arena, cap * sizeof *more);

        if (!more)
            return NULL;
        if (s->n_drafts)
            memcpy(more, s->drafts, s->n_drafts * sizeof *more);
        s->drafts = more;
        s->cap_drafts = cap;
    }
    *index = s->n_drafts;
    d = &s->drafts[s->n_drafts++];
    *d = (gen_node){.tensor = tensor, .operand = DSE_NONE, .next_send = DSE_NONE, .final = DSE_NONE};
    d->node.type = (uint8_t)type;
    d->node.slot = DSE_NONE;
    d->node.has_io = true;
    d->node.tensor_kind = (uint8_t)gen_tensor_kind(g, &s->tensor[tensor]);
    d->node.layer = place >= 1 && place <= g->layers ? place - 1 : DSE_NONE;
    return d;
}

static void depend(gen_node *d, uint32_t on) { d->data[d->n_data++] = on; }

static dse_status to_count(generator *g, double v, const char *name, uint64_t *out)
{
    if (!(v < 9223372036854775808.0))
        return dse_fail(g->err, DSE_E_RANGE, "the size of '%.80s' does not fit in 63 bits", name);
    *out = (uint64_t)v;
    return DSE_OK;
}

static const char *node_name(generator *g, const gen_tensor *t, const char *suffix)
{
    const wl_tensor *m = gen_model_tensor(g, t);

    return dse_arena_printf(g->arena, "%s%s@%" PRIu32 "_%s", t->kind == WL_OP_SHADOW ? "shadow_" : "",
                            m->name, m->revision, suffix);
}

/* Operations of the operator, 0 for what costs nothing. */
static double operations(generator *g, const gen_tensor *t)
{
    const wl_operator *op = gen_model_tensor(g, t)->op;
    wl_dim elements = wl_shape_elements(&op->y_shape);

    switch (t->kind) {
    case WL_OP_EINSUM:
        for (uint32_t i = 0; i < op->y_reduced.n; i++)
            wl_dim_multiply(&elements, &op->y_reduced.dim[i]);
        return gen_value_of(g, &elements, 1.0);
    case WL_OP_ADD:
    case WL_OP_RESHAPE: return gen_value_of(g, &elements, 1.0);
    case WL_OP_SCALE: return gen_value_of(g, &elements, op->scale);
    default: return 0.0;
    }
}

static dse_status add_compute(generator *g, gen_stage *s, uint32_t ti)
{
    gen_tensor *t = &s->tensor[ti];
    const wl_operator *op = gen_model_tensor(g, t)->op;
    gen_node *d = add_draft(g, s, WL_NODE_COMP, ti, &t->comp);
    double y;
    dse_status st;

    if (!d || !(d->node.name = node_name(g, t, "COMP")))
        return dse_fail_nomem(g->err);
    y = gen_shape_value(g, &op->y_shape);
    if ((st = to_count(g, operations(g, t), d->node.name, &d->node.num_ops)) != DSE_OK ||
        (st = to_count(g, y, d->node.name, &d->node.y_size)) != DSE_OK)
        return st;
    t->x1_in = t->x2_in = t->comp;
    return to_count(g, y + gen_shape_value(g, &op->x1_shape) + gen_shape_value(g, &op->x2_shape),
                    d->node.name, &d->node.tensor_size);
}

/* The collectives that turn the sharding `operand` was left in into the one `need` asks for, in a chain
 * in front of the computation. */
static dse_status add_collectives(generator *g, gen_stage *s, uint32_t ti, uint32_t operand,
                                  const wl_shape *need, const char *suffix, uint32_t *first)
{
    const gen_tensor *from = &s->tensor[operand];
    const wl_operator *from_op = gen_model_tensor(g, from)->op;
    wl_match matches[WL_N_PARALLEL];
    uint32_t n, previous = DSE_NONE;
    dse_error why = DSE_ERROR_INIT;
    dse_status st =
        wl_match_collectives(&g->parallel, &from_op->y_shape, &from_op->y_reduced, need, matches, &n, &why);

    if (st != DSE_OK)
        return dse_fail_at(g->err, st, g->ops.doc.path, "'%.60s' into '%.60s': %.200s",
                           gen_model_tensor(g, from)->name, gen_model_tensor(g, &s->tensor[ti])->name,
                           why.text);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index;
        gen_node *d = add_draft(g, s, WL_NODE_COLL, ti, &index);

        if (!d || !(d->node.name = node_name(g, &s->tensor[ti], suffix)))
            return dse_fail_nomem(g->err);
        d->operand = operand;
        d->node.coll = matches[i].coll;
        d->node.slot = matches[i].dimension;
        if ((st = to_count(g, gen_shape_value(g, &from_op->y_shape), d->node.name, &d->node.comm_size)) !=
                DSE_OK ||
            (st = to_count(g, gen_shape_value(g, need), d->node.name, &d->node.y_size)) != DSE_OK)
            return st;
        if (previous == DSE_NONE)
            *first = index;
        else
            depend(d, previous);
        previous = index;
    }
    if (previous != DSE_NONE)
        depend(&s->drafts[s->tensor[ti].comp], previous);
    return DSE_OK;
}

dse_status gen_add_nodes(generator *g, gen_stage *s)
{
    for (uint32_t i = 0; i < s->n_tensors; i++) {
        gen_tensor *t = &s->tensor[i];
        const wl_operator *op = gen_model_tensor(g, t)->op;
        dse_status st = add_compute(g, s, i);

        if (st == DSE_OK && t->x1 != DSE_NONE)
            st = add_collectives(g, s, i, t->x1, &op->x1_shape, "X1COMM", &t->x1_in);
        if (st == DSE_OK && t->x2 != DSE_NONE)
            st = add_collectives(g, s, i, t->x2, &op->x2_shape, "X2_COMM", &t->x2_in);
        if (st != DSE_OK)
            return st;
    }
    s->n_numbered = s->n_drafts;
    return DSE_OK;
}

/* ---- messages between stages --------------------------------------------------------------- */

dse_status gen_add_messages(generator *g)
{
    for (uint32_t i = 0; i < g->n_links; i++) {
        gen_link *l = &g->links[i];
        gen_stage *from = &g->stages[l->from_stage], *to = &g->stages[l->to_stage];
        gen_tensor *source = &from->tensor[l->from_tensor], *shadow = &to->tensor[l->to_tensor];
        double elements = gen_shape_value(g, &gen_model_tensor(g, source)->op->y_shape);
        uint32_t index;
        dse_status st;
        gen_node *d = add_draft(g, from, WL_NODE_SEND, l->from_tensor, &index);

        if (!d || !(d->node.name = node_name(g, source, "Y_SEND")))
            return dse_fail_nomem(g->err);
        depend(d, source->comp);
        d->node.slot = l->send_slot = from->n_p2p++;
        if ((st = to_count(g, elements, d->node.name, &d->node.comm_size)) != DSE_OK)
            return st;
        if (source->first_send == DSE_NONE)
            source->first_send = index;
        else
            from->drafts[source->last_send].next_send = index;
        source->last_send = index;

        d = add_draft(g, to, WL_NODE_RECV, l->to_tensor, &shadow->recv);
        if (!d || !(d->node.name = node_name(g, shadow, "Y_RECV")))
            return dse_fail_nomem(g->err);
        d->node.slot = l->recv_slot = to->n_p2p++;
        d->node.y_size = d->node.comm_size = from->drafts[index].node.comm_size;
    }
    return DSE_OK;
}

/* ---- dependencies -------------------------------------------------------------------------- */

static void connect(gen_stage *s)
{
    for (uint32_t i = 0; i < s->n_tensors; i++) {
        const gen_tensor *t = &s->tensor[i];
        const uint32_t operand[] = {t->x1, t->x2}, in[] = {t->x1_in, t->x2_in};

        for (int k = 0; k < 2; k++) {
            if (operand[k] == DSE_NONE)
                continue;
            const gen_tensor *p = &s->tensor[operand[k]];
            depend(&s->drafts[in[k]], p->recv != DSE_NONE ? p->recv : p->comp);
        }
    }
}

static bool replace_dependency(gen_node *child, uint32_t gone, uint32_t by)
{
    uint32_t i = 0;

    while (i < child->n_data && child->data[i] != gone)
        i++;
    if (i == child->n_data)
        return false;
    for (; i + 1 < child->n_data; i++)
        child->data[i] = child->data[i + 1];
    child->n_data--;
    if (by != DSE_NONE)
        depend(child, by);
    return true;
}

/* Who waits for whom: children of draft i are item[start[i]] .. item[start[i + 1] - 1]. */
static dse_status list_children(generator *g, const gen_stage *s, wl_csr *out)
{
    uint32_t n = s->n_drafts, *fill = DSE_ARENA_NEW(g->arena, uint32_t, n + 1u);

    out->start = DSE_ARENA_NEW(g->arena, uint32_t, n + 1u);
    if (!fill || !out->start)
        return dse_fail_nomem(g->err);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->drafts[i].n_data; k++)
            out->start[s->drafts[i].data[k] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        out->start[i + 1] += out->start[i];
    memcpy(fill, out->start, (n + 1u) * sizeof *fill);
    out->item = DSE_ARENA_NEW(g->arena, uint32_t, out->start[n]);
    if (!out->item)
        return dse_fail_nomem(g->err);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->drafts[i].n_data; k++)
            out->item[fill[s->drafts[i].data[k]]++] = i;
    return DSE_OK;
}

/* Takes out computations of no operations: who waited for one waits for what it waited for. They go in
 * the order of the tensors, as the dependencies stood before the first one went. */
static dse_status remove_free_nodes(generator *g, gen_stage *s)
{
    wl_csr children = {0};
    dse_status st = list_children(g, s, &children);

    for (uint32_t ti = 0; st == DSE_OK && ti < s->n_tensors; ti++) {
        uint32_t i = s->tensor[ti].comp;
        gen_node *d = &s->drafts[i];

        if (d->node.num_ops)
            continue;
        d->removed = true;
        for (uint32_t k = children.start[i]; k < children.start[i + 1]; k++)
            if (d->n_data > 1 ||
                !replace_dependency(&s->drafts[children.item[k]], i, d->n_data ? d->data[0] : DSE_NONE))
                return dse_fail_at(g->err, DSE_E_CONFIG, g->ops.doc.path,
                                   "'%.80s' costs nothing but waits for several nodes", d->node.name);
    }
    return st;
}

/* A recomputation waits for the tensor named by `after`. */
static dse_status add_recompute_order(generator *g, gen_stage *s)
{
    for (uint32_t ti = 0; ti < s->n_tensors; ti++) {
        const wl_tensor *m = gen_model_tensor(g, &s->tensor[ti]);
        const gen_tensor *after;
        gen_node *d;

        if (m->after == DSE_NONE || s->tensor[ti].kind == WL_OP_SHADOW)
            continue;
        after = &s->tensor[g->local[m->after]];
        if (s->drafts[after->comp].removed)
            return dse_fail_at(g->err, DSE_E_CONFIG, g->ops.doc.path,
                               "'%.80s' cannot wait for '%.80s', which costs nothing", m->name,
                               g->model.tensor[m->after].name);
        d = &s->drafts[s->tensor[ti].x1_in];
        d->ctrl[d->n_ctrl++] = after->comp;
    }
    return DSE_OK;
}

dse_status gen_add_dependencies(generator *g, gen_stage *s)
{
    dse_status st;

    connect(s);
    st = remove_free_nodes(g, s);
    return st == DSE_OK ? add_recompute_order(g, s) : st;
}
