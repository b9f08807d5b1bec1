/* The nodes of a stage: a computation per tensor, the collectives in front of it, messages between stages,
 * and who waits for whom. */
#include "workload/generator.h"

#include <string.h>

/* ---- nodes --------------------------------------------------------------------------------- */

static gen_draft *add_draft(gen_build *b, gen_stage *s, wl_role role, uint32_t tensor, uint32_t *index)
{
    gen_draft *d;

    DSE_ARENA_GROW(b->scratch, s->drafts, s->cap_drafts, s->n_drafts + 1);
    *index = s->n_drafts;
    d = &s->drafts[s->n_drafts++];
    *d = (gen_draft){
        .tensor = tensor, .slot = DSE_NONE, .next_send = DSE_NONE, .final = DSE_NONE, .role = (uint8_t)role};
    return d;
}

void gen_tensor_name(const gen_build *b, const gen_tensor *t, wl_piece out[GEN_N_TENSOR_PIECES])
{
    static const wl_piece none = WL_PIECE("");
    const wl_tensor *m = gen_model_tensor(b, t);

    out[0] = t->kind == WL_OP_SHADOW ? b->v->dialect->shadow : none;
    out[1] = (wl_piece){m->name, m->name_len};
    out[2] = b->v->dialect->revision[m->revision];
}

const char *gen_node_name(gen_build *b, const gen_stage *s, const gen_draft *d)
{
    wl_piece piece[GEN_N_TENSOR_PIECES + 1];

    gen_tensor_name(b, &s->tensor[d->tensor], piece);
    piece[GEN_N_TENSOR_PIECES] = b->v->dialect->suffix[d->role];
    return wl_name_join(&b->names, piece, GEN_N_TENSOR_PIECES + 1, NULL);
}

static void depend(gen_draft *d, uint32_t on) { d->data[d->n_data++] = on; }

/* ---- figures ------------------------------------------------------------------------------- */

/* Their index; without the result, if the dialect does not show it. */
static uint32_t add_figures(gen_build *b, const gen_stage *s, const gen_draft *d, gen_figures *f)
{
    gen_shape *shape = b->out;
    uint32_t i = 0;

    if (!b->v->dialect->shows_result[d->role])
        f->result = DSE_NONE;
    while (i < shape->n_figures && memcmp(&shape->figures[i], f, sizeof *f) != 0)
        i++;
    if (i < shape->n_figures)
        return i;
    DSE_ARENA_GROW(b->keep, shape->figures, b->cap_figures, i + 1);
    DSE_ARENA_GROW(b->keep, shape->user, b->cap_users, i + 1);
    shape->figures[i] = *f;
    shape->user[i] = gen_node_name(b, s, d);
    return shape->n_figures++;
}

static const gen_figures no_figures = {.work = {.extent = {DSE_NONE, DSE_NONE, DSE_NONE, DSE_NONE},
                                                .operations = DSE_NONE,
                                                .moved = {DSE_NONE, DSE_NONE, DSE_NONE}},
                                       DSE_NONE,
                                       DSE_NONE};

static gen_figures figures_for(gen_use use, const gen_operator *op)
{
    gen_figures f = no_figures;

    switch (use) {
    case GEN_MAKES:
    case GEN_STANDS_FOR:
        f.work = op->work;
        if (use == GEN_STANDS_FOR)
            f.work.operations = DSE_NONE;
        f.result = op->y;
        break;
    case GEN_SENDS:
    case GEN_RECEIVES: f.communicated = f.result = op->y; break;
    case GEN_N_USES: break;
    }
    return f;
}

/* They are the same whichever tensor it is that the operator makes. */
static void set_figures(gen_build *b, const gen_stage *s, gen_use use, gen_draft *d)
{
    const wl_operator *op = gen_model_tensor(b, &s->tensor[d->tensor])->op;
    uint32_t *known = &b->used[op->number][use];

    if (*known == DSE_NONE) {
        gen_figures f = figures_for(use, gen_operator_of(b->v, op));

        *known = add_figures(b, s, d, &f);
    }
    d->figures = *known;
}

/* ---- computations and collectives ---------------------------------------------------------- */

static void add_compute(gen_build *b, gen_stage *s, uint32_t ti)
{
    gen_tensor *t = &s->tensor[ti];
    gen_draft *d = add_draft(b, s, WL_ROLE_COMPUTE, ti, &t->comp);

    t->x1_in = t->x2_in = t->comp;
    set_figures(b, s, t->kind == WL_OP_SHADOW ? GEN_STANDS_FOR : GEN_MAKES, d);
}

/* The collectives that turn the sharding the operand was left in into the one that the operator needs. */
static dse_status match_operand(gen_build *b, const gen_tensor *from, const gen_tensor *t,
                                const wl_operator *to, bool is_x1, gen_met *met)
{
    const wl_operator *from_op = gen_model_tensor(b, from)->op;
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    if (!met->match)
        met->match = DSE_ARENA_RAW(b->scratch, wl_match, b->v->axes.n);
    st =
        b->v->dialect->match(&b->v->axes, b->key->split, &from_op->y_shape, &from_op->y_reduced,
                             is_x1 ? &to->x1_shape : &to->x2_shape, &to->unsummed, met->match, &met->n, &why);
    if (st != DSE_OK)
        return dse_fail_at(b->err, st, b->v->ops.doc.path, "'%.60s' into '%.60s': %.200s",
                           gen_model_tensor(b, from)->name, gen_model_tensor(b, t)->name, why.text);
    met->from = from_op;
    met->figures = DSE_NONE;
    return DSE_OK;
}

static uint32_t slot_of(const gen_shape *shape, mesh_set axes)
{
    uint32_t i = 0;

    while (shape->slot[i] != axes)
        i++;
    return i;
}

/* They go in front of the computation, in a chain. */
static dse_status add_collectives(gen_build *b, gen_stage *s, uint32_t ti, wl_role role)
{
    gen_tensor *t = &s->tensor[ti];
    const wl_operator *op = gen_model_tensor(b, t)->op;
    const gen_operator *sizes = gen_operator_of(b->v, op);
    bool is_x1 = role == WL_ROLE_X1_COLL;
    uint32_t operand = is_x1 ? t->x1 : t->x2, *first = is_x1 ? &t->x1_in : &t->x2_in, previous = DSE_NONE;
    const gen_tensor *from = &s->tensor[operand];
    const wl_operator *from_op = gen_model_tensor(b, from)->op;
    gen_met *met = &b->met[op->number][!is_x1];
    dse_status st;

    if (met->from != from_op && (st = match_operand(b, from, t, op, is_x1, met)) != DSE_OK)
        return st;
    for (uint32_t i = 0; i < met->n; i++) {
        uint32_t index;
        gen_draft *d = add_draft(b, s, role, ti, &index);

        if (met->figures == DSE_NONE) {
            gen_figures f = no_figures;

            f.communicated = gen_operator_of(b->v, from_op)->y;
            f.result = is_x1 ? sizes->x1 : sizes->x2;
            met->figures = add_figures(b, s, d, &f);
        }
        d->figures = met->figures;
        d->coll = met->match[i].coll;
        d->slot = slot_of(b->out, met->match[i].axes);
        if (previous == DSE_NONE)
            *first = index;
        else
            depend(d, previous);
        previous = index;
    }
    if (previous != DSE_NONE)
        depend(&s->drafts[t->comp], previous);
    return DSE_OK;
}

dse_status gen_add_nodes(gen_build *b, gen_stage *s)
{
    /* A transformer has up to 2.1 drafts a tensor; what is never written to takes no memory. */
    s->cap_drafts = s->n_tensors * 3 + 16u;
    s->drafts = DSE_ARENA_RAW(b->scratch, gen_draft, s->cap_drafts);
    for (uint32_t i = 0; i < s->n_tensors; i++) {
        const gen_tensor *t = &s->tensor[i];
        dse_status st = DSE_OK;

        add_compute(b, s, i);
        if (t->x1 != DSE_NONE)
            st = add_collectives(b, s, i, WL_ROLE_X1_COLL);
        if (st == DSE_OK && t->x2 != DSE_NONE)
            st = add_collectives(b, s, i, WL_ROLE_X2_COLL);
        if (st != DSE_OK)
            return st;
    }
    s->n_local = s->n_drafts;
    return DSE_OK;
}

/* ---- messages between stages --------------------------------------------------------------- */

static void add_send(gen_build *b, gen_link *l)
{
    gen_stage *from = &b->stages[l->from_stage];
    gen_tensor *source = &from->tensor[l->from_tensor];
    uint32_t index;
    gen_draft *d = add_draft(b, from, WL_ROLE_SEND, l->from_tensor, &index);

    depend(d, source->comp);
    d->slot = l->send_slot = from->n_p2p++;
    if (source->first_send == DSE_NONE)
        source->first_send = index;
    else
        from->drafts[source->last_send].next_send = index;
    source->last_send = index;
    set_figures(b, from, GEN_SENDS, d);
}

static void add_recv(gen_build *b, gen_link *l)
{
    gen_stage *to = &b->stages[l->to_stage];
    gen_tensor *shadow = &to->tensor[l->to_tensor];
    gen_draft *d = add_draft(b, to, WL_ROLE_RECV, l->to_tensor, &shadow->recv);

    d->slot = l->recv_slot = to->n_p2p++;
    set_figures(b, to, GEN_RECEIVES, d);
}

void gen_add_messages(gen_build *b)
{
    for (uint32_t i = 0; i < b->n_links; i++) {
        add_send(b, &b->links[i]);
        add_recv(b, &b->links[i]);
    }
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

static bool replace_dependency(gen_draft *child, uint32_t gone, uint32_t by)
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
static void list_children(gen_build *b, const gen_stage *s, wl_csr *out)
{
    uint32_t n = s->n_drafts, *fill = DSE_ARENA_RAW(b->scratch, uint32_t, n + 1u);

    out->start = DSE_ARENA_NEW(b->scratch, uint32_t, n + 1u);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->drafts[i].n_data; k++)
            out->start[s->drafts[i].data[k] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        out->start[i + 1] += out->start[i];
    memcpy(fill, out->start, (n + 1u) * sizeof *fill);
    out->item = DSE_ARENA_RAW(b->scratch, uint32_t, out->start[n]);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->drafts[i].n_data; k++)
            out->item[fill[s->drafts[i].data[k]]++] = i;
}

static bool costs_nothing(const gen_build *b, const gen_draft *d)
{
    uint32_t operations = b->out->figures[d->figures].work.operations;

    return operations == DSE_NONE || b->key->is_free[operations];
}

static dse_status fail_waits_for_several(gen_build *b, const gen_stage *s, const gen_draft *d)
{
    return dse_fail_at(b->err, DSE_E_CONFIG, b->v->ops.doc.path,
                       "'%.80s' costs nothing but waits for several nodes", gen_node_name(b, s, d));
}

/* Takes out computations of no operations: who waited for one waits for what it waited for. They go in
 * the order of the tensors, as the dependencies stood before the first one went. */
static dse_status remove_free_nodes(gen_build *b, gen_stage *s)
{
    wl_csr children = {0};

    list_children(b, s, &children);
    for (uint32_t ti = 0; ti < s->n_tensors; ti++) {
        uint32_t i = s->tensor[ti].comp;
        gen_draft *d = &s->drafts[i];

        if (!costs_nothing(b, d))
            continue;
        d->removed = true;
        for (uint32_t k = children.start[i]; k < children.start[i + 1]; k++)
            if (d->n_data > 1 ||
                !replace_dependency(&s->drafts[children.item[k]], i, d->n_data ? d->data[0] : DSE_NONE))
                return fail_waits_for_several(b, s, d);
    }
    return DSE_OK;
}

/* The node that a tensor waits for: what makes it; of a copy, or what was made elsewhere, what brings it
 * here. DSE_NONE: nothing does. */
static uint32_t node_behind(const gen_stage *s, const gen_tensor *t)
{
    const gen_draft *d = &s->drafts[t->comp];

    return !d->removed ? t->comp : d->n_data ? d->data[0] : DSE_NONE;
}

/* A recomputation waits for the tensor named by `after`. */
static dse_status add_recompute_order(gen_build *b, gen_stage *s)
{
    for (uint32_t ti = 0; ti < s->n_tensors; ti++) {
        const wl_tensor *m = gen_model_tensor(b, &s->tensor[ti]);
        uint32_t after;
        gen_draft *d;

        if (m->after == DSE_NONE || s->tensor[ti].kind == WL_OP_SHADOW)
            continue;
        after = node_behind(s, &s->tensor[b->local[m->after]]);
        if (after == DSE_NONE)
            return dse_fail_at(b->err, DSE_E_CONFIG, b->v->ops.doc.path,
                               "'%.80s' cannot wait for '%.80s', which nothing makes", m->name,
                               b->model.tensor[m->after].name);
        d = &s->drafts[s->tensor[ti].x1_in];
        d->ctrl[d->n_ctrl++] = after;
    }
    return DSE_OK;
}

dse_status gen_add_dependencies(gen_build *b, gen_stage *s)
{
    dse_status st;

    connect(s);
    st = remove_free_nodes(b, s);
    return st == DSE_OK ? add_recompute_order(b, s) : st;
}
