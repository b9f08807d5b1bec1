/* From drafts to the graph of a shape: file order, ids, dependencies, inputs and outputs. */
#include "workload/generator.h"

/* Lists the collectives of one operand, which stand in a row. */
static uint32_t list_collectives(const gen_stage *s, uint32_t ti, uint32_t first, uint32_t *out)
{
    const uint8_t role = s->drafts[first].role;
    uint32_t n = 0;

    for (uint32_t i = first; i < s->n_local && s->drafts[i].tensor == ti && s->drafts[i].role == role; i++)
        out[n++] = i;
    return n;
}

/* Lists the drafts of a tensor in file order. */
static uint32_t list_drafts(const wl_dialect *dialect, const gen_stage *s, uint32_t ti, uint32_t *out)
{
    const gen_tensor *t = &s->tensor[ti];
    uint32_t n = 0;

    for (int k = 0; k < WL_N_ROLES; k++) {
        switch ((wl_role)dialect->file_order[k]) {
        case WL_ROLE_COMPUTE:
            if (!s->drafts[t->comp].removed)
                out[n++] = t->comp;
            break;
        case WL_ROLE_X1_COLL:
            if (t->x1_in != t->comp)
                n += list_collectives(s, ti, t->x1_in, out + n);
            break;
        case WL_ROLE_X2_COLL:
            if (t->x2_in != t->comp)
                n += list_collectives(s, ti, t->x2_in, out + n);
            break;
        case WL_ROLE_SEND:
            for (uint32_t i = t->first_send; i != DSE_NONE; i = s->drafts[i].next_send)
                out[n++] = i;
            break;
        case WL_ROLE_RECV:
            if (t->recv != DSE_NONE)
                out[n++] = t->recv;
            break;
        }
    }
    return n;
}

/* Chains the communications that wait for nothing, if there are enough of them (wl_dialect.least_chained). */
static void chain_first_communications(const uint32_t *order, uint32_t n, uint32_t least, gen_draft *drafts)
{
    uint32_t count = 0, previous = DSE_NONE;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n; i++) {
            gen_draft *d = &drafts[order[i]];
            bool communicates = d->role != WL_ROLE_COMPUTE && d->role != WL_ROLE_RECV;

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
        if (count < least)
            return;
    }
}

/* ---- inputs and outputs -------------------------------------------------------------------- */

/* The size in which a rank keeps the weight that a tensor is, is the gradient of, or becomes; of a shadow,
 * which is a copy, DSE_NONE. */
static uint32_t state_of(const gen_build *b, const gen_tensor *t)
{
    const wl_tensor *m = gen_model_tensor(b, t);

    if (t->kind == WL_OP_SHADOW)
        return DSE_NONE;
    if (m->op->makes == WL_TENSOR_WEIGHT_GRADIENT && m->gradient_of != DSE_NONE)
        m = &b->model.tensor[m->gradient_of];
    return m->op->is_weight ? gen_operator_of(b->v, m->op)->y : DSE_NONE;
}

static void count_weights(const gen_build *b, const gen_stage *s, uint32_t *out)
{
    for (uint32_t i = 0; i < s->n_tensors; i++)
        if (s->tensor[i].kind == WL_OP_INPUT && gen_model_tensor(b, &s->tensor[i])->op->is_weight)
            out[state_of(b, &s->tensor[i])]++;
}

/* The tensor's place in the graph's table of inputs and outputs. A copy goes by the name of what it
 * copies. */
static wl_io io_tensor(gen_build *b, gen_stage *s, gen_graph *out, uint32_t ti)
{
    wl_graph *graph = &out->graph;
    gen_tensor *t;

    if (s->tensor[ti].kind == WL_OP_COPY)
        ti = s->tensor[ti].x1;
    t = &s->tensor[ti];
    if (t->info == DSE_NONE) {
        const gen_operator *op = gen_operator_of(b->v, gen_model_tensor(b, t)->op);
        wl_tensor_info *info = &graph->tensor[t->info = graph->n_tensors++];
        wl_piece piece[GEN_N_TENSOR_PIECES + 1];

        gen_tensor_name(b, t, piece);
        piece[GEN_N_TENSOR_PIECES] = op->y_text;
        *info = (wl_tensor_info){.kind = gen_tensor_kind(b, t),
                                 .name = wl_name_join(&b->names, piece, GEN_N_TENSOR_PIECES + 1, NULL)};
        out->tensor_size[t->info] = op->y;
        out->tensor_state[t->info] = state_of(b, t);
    }
    return (wl_io){.tensor = t->info};
}

/* What a node reads and writes of the memory that the simulator tracks: tensors of the stage. */
typedef struct {
    uint32_t n_in, n_out;
    uint32_t in[2], out;
} touched;

static touched touched_by(const gen_stage *s, const gen_draft *d)
{
    const gen_tensor *t = &s->tensor[d->tensor];
    touched out = {.out = d->tensor};

    switch ((wl_role)d->role) {
    case WL_ROLE_COMPUTE:
        if (t->x1 != DSE_NONE)
            out.in[out.n_in++] = t->x1;
        if (t->x2 != DSE_NONE)
            out.in[out.n_in++] = t->x2;
        out.n_out = 1;
        break;
    case WL_ROLE_X1_COLL: out.in[out.n_in++] = t->x1; break;
    case WL_ROLE_X2_COLL: out.in[out.n_in++] = t->x2; break;
    case WL_ROLE_SEND: out.in[out.n_in++] = d->tensor; break;
    case WL_ROLE_RECV: out.n_out = 1; break;
    }
    return out;
}

static void fill_io(gen_build *b, gen_stage *s, gen_graph *out, const uint32_t *order)
{
    wl_io_csr *in = &out->graph.inputs, *made = &out->graph.outputs;
    uint32_t n_in = 0, n_out = 0;

    for (uint32_t i = 0; i < out->graph.n_nodes; i++) {
        const touched t = touched_by(s, &s->drafts[order[i]]);

        for (uint32_t k = 0; k < t.n_in; k++)
            in->item[n_in++] = io_tensor(b, s, out, t.in[k]);
        if (t.n_out)
            made->item[n_out++] = io_tensor(b, s, out, t.out);
        in->start[i + 1] = n_in;
        made->start[i + 1] = n_out;
    }
}

/* ---- the graph ----------------------------------------------------------------------------- */

static void allocate_graph(gen_build *b, const gen_stage *s, const uint32_t *order, uint32_t n,
                           gen_graph *out)
{
    wl_graph *g = &out->graph;
    uint32_t n_in = 0, n_out = 0, n_data = 0, n_ctrl = 0;

    for (uint32_t i = 0; i < n; i++) {
        const gen_draft *d = &s->drafts[order[i]];
        const touched t = touched_by(s, d);

        n_in += t.n_in;
        n_out += t.n_out;
        n_data += d->n_data;
        n_ctrl += d->n_ctrl;
    }
    g->n_nodes = n;
    g->n_group_slots = b->out->n_slots;
    g->slot_axes = b->out->slot;
    g->n_p2p_slots = s->n_p2p;
    g->node = DSE_ARENA_RAW(b->keep, wl_node, n);
    g->by_id = DSE_ARENA_RAW(b->keep, uint32_t, n);
    g->tensor = DSE_ARENA_RAW(b->keep, wl_tensor_info, s->n_tensors);
    g->inputs = (wl_io_csr){DSE_ARENA_NEW(b->keep, uint32_t, n + 1u), DSE_ARENA_RAW(b->keep, wl_io, n_in)};
    g->outputs = (wl_io_csr){DSE_ARENA_NEW(b->keep, uint32_t, n + 1u), DSE_ARENA_RAW(b->keep, wl_io, n_out)};
    g->data_deps =
        (wl_csr){DSE_ARENA_NEW(b->keep, uint32_t, n + 1u), DSE_ARENA_RAW(b->keep, uint32_t, n_data)};
    g->ctrl_deps =
        (wl_csr){DSE_ARENA_NEW(b->keep, uint32_t, n + 1u), DSE_ARENA_RAW(b->keep, uint32_t, n_ctrl)};
    out->figures = DSE_ARENA_RAW(b->keep, uint32_t, n);
    out->tensor_size = DSE_ARENA_RAW(b->keep, uint32_t, s->n_tensors);
    out->tensor_state = DSE_ARENA_RAW(b->keep, uint32_t, s->n_tensors);
    out->n_weights = DSE_ARENA_NEW(b->keep, uint32_t, b->v->n_sizes);
}

static wl_node make_node(gen_build *b, const gen_stage *s, uint32_t draft)
{
    static const uint8_t types[] = {[WL_ROLE_COMPUTE] = WL_NODE_COMP,
                                    [WL_ROLE_X1_COLL] = WL_NODE_COLL,
                                    [WL_ROLE_X2_COLL] = WL_NODE_COLL,
                                    [WL_ROLE_SEND] = WL_NODE_SEND,
                                    [WL_ROLE_RECV] = WL_NODE_RECV};
    const gen_draft *d = &s->drafts[draft];
    uint32_t place = gen_model_tensor(b, &s->tensor[d->tensor])->place;

    return (wl_node){.name = gen_node_name(b, s, d),
                     .slot = d->slot,
                     .type = types[d->role],
                     .coll = d->coll,
                     .has_io = true,
                     .tensor_kind = (uint8_t)gen_tensor_kind(b, &s->tensor[d->tensor]),
                     .layer = place >= 1 && place <= b->key->layers ? place - 1 : DSE_NONE};
}

static dse_status fill_nodes(gen_build *b, const gen_stage *s, const uint32_t *order, gen_graph *out)
{
    wl_csr *data = &out->graph.data_deps, *ctrl = &out->graph.ctrl_deps;
    uint32_t n_data = 0, n_ctrl = 0;

    for (uint32_t i = 0; i < out->graph.n_nodes; i++) {
        const gen_draft *d = &s->drafts[order[i]];

        out->graph.node[i] = make_node(b, s, order[i]);
        out->figures[i] = d->figures;
        for (uint32_t k = 0; k < d->n_data; k++) {
            uint32_t parent = s->drafts[d->data[k]].final;

            if (parent == DSE_NONE)
                return dse_fail_at(b->err, DSE_E_CONFIG, b->v->ops.doc.path,
                                   "a node waits for an operator without cost that stands after it");
            data->item[n_data++] = parent;
        }
        for (uint32_t k = 0; k < d->n_ctrl; k++)
            ctrl->item[n_ctrl++] = s->drafts[d->ctrl[k]].final;
        data->start[i + 1] = n_data;
        ctrl->start[i + 1] = n_ctrl;
    }
    return DSE_OK;
}

/* Sends and receives get their ids after all other nodes, in the order of their slots. Until ranks are
 * bound these ids are for messages about the graph alone. */
static const uint64_t *number_nodes(gen_build *b, const gen_stage *s, gen_graph *out)
{
    const wl_dialect *dialect = b->v->dialect;
    wl_graph *g = &out->graph;
    uint32_t n_local = g->n_nodes - s->n_p2p, id = dialect->first_id, n = 0;
    uint64_t *id_of = DSE_ARENA_RAW(b->scratch, uint64_t, g->n_nodes);

    for (uint32_t i = 0; i < s->n_local; i++) {
        const uint32_t node = s->drafts[i].final;

        if (node != DSE_NONE) {
            g->by_id[n++] = node;
            id_of[node] = g->node[node].id = id;
        }
        id += node != DSE_NONE || dialect->removed_takes_id;
    }
    out->n_ids = id - dialect->first_id;
    for (uint32_t i = s->n_local; i < s->n_drafts; i++) {
        const gen_draft *d = &s->drafts[i];

        g->by_id[n_local + d->slot] = d->final;
        id_of[d->final] = (uint64_t)id + d->slot;
    }
    return id_of;
}

dse_status gen_finish_stage(gen_build *b, gen_stage *s, gen_graph *out)
{
    uint32_t *order = DSE_ARENA_RAW(b->scratch, uint32_t, s->n_drafts), n = 0;
    const uint64_t *id_of;
    dse_status st;

    for (uint32_t ti = 0; ti < s->n_tensors; ti++)
        n += list_drafts(b->v->dialect, s, ti, order + n);
    chain_first_communications(order, n, b->v->dialect->least_chained, s->drafts);
    for (uint32_t i = 0; i < n; i++)
        s->drafts[order[i]].final = i;
    out->coordinate = s->value;
    allocate_graph(b, s, order, n, out);
    if ((st = fill_nodes(b, s, order, out)) != DSE_OK)
        return st;
    fill_io(b, s, out, order);
    id_of = number_nodes(b, s, out);
    count_weights(b, s, out->n_weights);
    return wl_graph_link(&out->graph, id_of, b->v->ops.doc.path, b->keep, b->scratch, b->err);
}
