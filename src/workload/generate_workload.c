/* From a shape to a workload: sizes filled in; ranks, groups and tags. */
#include "workload/generator.h"

#include <string.h>

/* ---- sizes --------------------------------------------------------------------------------- */

/* What gen_figures come to beside the kernel; the fields of wl_node of the same names. */
typedef struct {
    uint64_t comm_size, y_size;
} figures;

static dse_status work_out_figures(const gen_shape *shape, const gen_sizes *sizes, dse_arena *a,
                                   figures **out, wl_kernel **kernels, dse_error *err)
{
    figures *f = DSE_ARENA_RAW(a, figures, shape->n_figures);
    wl_kernel *k = DSE_ARENA_RAW(a, wl_kernel, shape->n_figures);

    for (uint32_t i = 0; i < shape->n_figures; i++) {
        const gen_figures *of = &shape->figures[i];

        if (!gen_kernel_of(sizes, &of->work, &k[i]) ||
            !gen_count(gen_message(sizes, of->communicated), &f[i].comm_size) ||
            !gen_count(gen_value(sizes, of->result), &f[i].y_size))
            return dse_fail(err, DSE_E_RANGE, "the size of '%.80s' does not fit in 63 bits", shape->user[i]);
    }
    *out = f;
    *kernels = k;
    return DSE_OK;
}

/* Arrays of its own for what sizes are written to. */
static void copy_sized(wl_graph *g, dse_arena *a)
{
    g->node = dse_arena_copy(a, g->node, g->n_nodes, sizeof *g->node);
    g->inputs.item = dse_arena_copy(a, g->inputs.item, g->inputs.start[g->n_nodes], sizeof *g->inputs.item);
    g->outputs.item =
        dse_arena_copy(a, g->outputs.item, g->outputs.start[g->n_nodes], sizeof *g->outputs.item);
    g->tensor = dse_arena_copy(a, g->tensor, g->n_tensors, sizeof *g->tensor);
}

static void fill_io(wl_io_csr *io, uint32_t n_nodes, const uint64_t *tracked)
{
    for (uint32_t i = 0; i < io->start[n_nodes]; i++)
        io->item[i].size = tracked[io->item[i].tensor];
}

/* What the simulator is to count of a tensor while it lives. With a precision that is nothing of what is
 * in the rank's state anyway: a weight, one that is updated in place, and a gradient that is made in the
 * sharding of its weight. One that is not, because weights are sharded, counts as a whole beside its
 * shard. */
static uint64_t track(const gen_sizes *sizes, uint32_t size, uint32_t state, wl_tensor_info *tensor)
{
    const double elements = sizes->value[size];

    tensor->elements = elements * wl_element_bytes(&sizes->precision, tensor->kind);
    if (!wl_in_bytes(&sizes->precision))
        return wl_size_as_read(elements);
    if (state == DSE_NONE)
        return (uint64_t)tensor->elements;
    if (!(elements > sizes->value[state]))
        return 0;
    tensor->kind = WL_TENSOR_WHOLE;
    return (uint64_t)tensor->elements;
}

/* Of the places of an entry, counted as workload/operators.h says, one is on the stage. */
static bool has_entry(const gen_key *key, const wl_entry *e, uint32_t coordinate)
{
    const uint32_t first = e->is_layers ? 1 : e->is_last ? key->layers + 1 : 0;
    const uint32_t n = e->is_layers ? key->layers : 1;
    uint32_t place = first;

    if (key->stages == WL_STAGES_TURNS)
        return (coordinate + key->pp - first % key->pp) % key->pp < n;
    if (e->is_layers) /* the first that could be there */
        place += (uint32_t)(((uint64_t)coordinate * key->layers + key->pp - 1) / key->pp);
    return place < first + n && wl_stage_of(key->stages, place, key->layers, key->pp) == coordinate;
}

/* What a rank of the stage holds through the step, with a precision. Of weights that are gathered for use,
 * those of the largest place are always there. */
static void fill_resident(const gen_key *key, const gen_graph *from, const gen_sizes *sizes,
                          uint64_t out[WL_N_TENSOR_KINDS])
{
    static const wl_tensor_kind state[] = {WL_TENSOR_WEIGHT, WL_TENSOR_WEIGHT_GRADIENT, WL_TENSOR_OPTIMIZER};
    const wl_operators *ops = &key->variant->ops;

    if (!wl_in_bytes(&sizes->precision))
        return;
    for (uint32_t i = 0; i < key->variant->n_sizes; i++)
        for (int k = 0; k < 3 && from->n_weights[i]; k++)
            out[state[k]] += from->n_weights[i] * gen_state(sizes, i, state[k]);
    for (uint32_t i = 0; i < ops->n_entries; i++) {
        uint64_t gathered = has_entry(key, &ops->entry[i], from->coordinate)
                                ? gen_gathered(key->variant, sizes, &ops->entry[i])
                                : 0;

        if (gathered > out[WL_TENSOR_WHOLE])
            out[WL_TENSOR_WHOLE] = gathered;
    }
}

/* `tracked` has room for each tensor. */
static void fill_graph(const gen_graph *from, const figures *f, const gen_sizes *sizes, uint64_t *tracked,
                       wl_graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const figures *of = &f[from->figures[i]];
        wl_node *n = &g->node[i];

        n->num_ops = g->kernel[from->figures[i]].operations;
        n->tensor_size = g->kernel[from->figures[i]].bytes;
        n->comm_size = of->comm_size;
        n->y_size = of->y_size;
    }
    for (uint32_t i = 0; i < g->n_tensors; i++)
        tracked[i] = track(sizes, from->tensor_size[i], from->tensor_state[i], &g->tensor[i]);
    fill_io(&g->inputs, g->n_nodes, tracked);
    fill_io(&g->outputs, g->n_nodes, tracked);
}

dse_status gen_workload_fill(const gen_key *key, const gen_shape *shape, const gen_sizes *sizes,
                             bool in_place, dse_arena *a, wl_workload *out, dse_error *err)
{
    wl_kernel *kernel = NULL;
    figures *f = NULL;
    uint64_t *tracked;
    uint32_t most = 0;
    dse_status st;

    if ((st = work_out_figures(shape, sizes, a, &f, &kernel, err)) != DSE_OK)
        return st;
    for (uint32_t i = 0; i < shape->n_graphs; i++)
        most = shape->graph[i].graph.n_tensors > most ? shape->graph[i].graph.n_tensors : most;
    tracked = DSE_ARENA_RAW(a, uint64_t, most);
    out->in_bytes = wl_in_bytes(&sizes->precision);
    out->n_graphs = shape->n_graphs;
    out->graph = DSE_ARENA_RAW(a, wl_graph, shape->n_graphs);
    for (uint32_t i = 0; i < shape->n_graphs; i++) {
        out->graph[i] = shape->graph[i].graph;
        out->graph[i].n_kernels = shape->n_figures;
        out->graph[i].kernel = kernel;
        out->graph[i].kernel_of = shape->graph[i].figures;
        if (!in_place)
            copy_sized(&out->graph[i], a);
        fill_graph(&shape->graph[i], f, sizes, tracked, &out->graph[i]);
        fill_resident(key, &shape->graph[i], sizes, out->graph[i].resident);
    }
    return DSE_OK;
}

/* ---- groups -------------------------------------------------------------------------------- */

/* The dialect's prefix and "1", "2", ...: all in one piece. Group 0 has all ranks, and no name. */
static void name_groups(wl_piece prefix, wl_workload *w, dse_arena *a)
{
    size_t each = prefix.n + 2; /* digits of the largest number, and the end */
    char *name;

    for (uint32_t left = w->n_groups; left >= 10; left /= 10)
        each++;
    name = dse_arena_alloc(a, w->n_groups * each);
    for (uint32_t i = 0; i < w->n_groups; i++) {
        char *end = name + (i + 1u) * each - 1;

        *end = '\0';
        for (uint32_t left = i; left; left /= 10)
            *--end = (char)('0' + left % 10);
        if (i)
            memcpy(end -= prefix.n, prefix.text, prefix.n);
        w->group[i].name = end;
    }
}

/* As mesh_member of rank 0, but with the last axis fastest. */
static uint32_t lowest_rank(const mesh *m, mesh_set rest, uint32_t i)
{
    uint32_t rank = 0;

    for (uint32_t k = m->n; k-- > 0;) {
        if (!mesh_has(rest, k))
            continue;
        rank += i % m->axis[k].degree * m->axis[k].stride;
        i /= m->axis[k].degree;
    }
    return rank;
}

/* The groups of a slot, numbered as wl_dialect says. */
static void bind_slot(const gen_variant *v, const gen_shape *shape, uint32_t slot, uint32_t first,
                      uint32_t *members, wl_workload *w)
{
    const mesh *m = &w->mesh;
    const uint32_t pipeline = v->axes.pipeline;
    const mesh_set along = shape->slot[slot], rest = mesh_all(m) & ~along & ~mesh_only(pipeline);
    const uint32_t size = (uint32_t)mesh_size(m, along), per_stage = (uint32_t)mesh_size(m, rest);

    for (uint32_t st = 0; st < shape->n_graphs; st++) {
        uint32_t number = first + shape->graph[st].coordinate * per_stage;

        for (uint32_t i = 0; i < per_stage; i++, number++) {
            uint32_t lowest =
                st * m->axis[pipeline].stride +
                (v->dialect->last_axis_fastest ? lowest_rank(m, rest, i) : mesh_member(m, rest, 0, i));

            w->group[number].n = size;
            w->group[number].rank = members;
            for (uint32_t k = 0; k < size; k++) {
                uint32_t rank = mesh_member(m, along, lowest, k);

                w->rank[rank].group[slot] = number;
                *members++ = rank;
            }
        }
    }
}

/* Groups are numbered from 1, slot after slot. */
static void bind_groups(const gen_variant *v, const gen_shape *shape, dse_arena *a, wl_workload *w)
{
    uint32_t *members, first = 1;

    w->n_groups = 1;
    for (uint32_t k = 0; k < shape->n_slots; k++)
        w->n_groups += w->n_ranks / (uint32_t)mesh_size(&w->mesh, shape->slot[k]);
    w->group = DSE_ARENA_RAW(a, wl_group, w->n_groups);
    members = DSE_ARENA_RAW(a, uint32_t, (1u + shape->n_slots) * (size_t)w->n_ranks);
    name_groups(v->dialect->group, w, a);
    w->group[0].n = w->n_ranks;
    w->group[0].rank = members;
    for (uint32_t i = 0; i < w->n_ranks; i++)
        *members++ = i;
    for (uint32_t k = 0; k < shape->n_slots; k++) {
        bind_slot(v, shape, k, first, members, w);
        first += w->n_ranks / (uint32_t)mesh_size(&w->mesh, shape->slot[k]);
        members += w->n_ranks;
    }
}

/* ---- ranks --------------------------------------------------------------------------------- */

/* A message joins the ranks of two stages that have the same place on them. */
static void bind_messages(const gen_variant *v, const wl_workload *w, const gen_graph *g, uint32_t tag_base,
                          uint32_t per_stage, uint32_t place, uint32_t first_rank, uint64_t next_id,
                          wl_p2p *out)
{
    for (uint32_t i = 0; i < g->graph.n_p2p_slots; i++) {
        const gen_p2p *p = &g->p2p[i];
        uint64_t pair = (uint64_t)p->message * per_stage + place;

        out[i] = (wl_p2p){.peer = p->peer_stage * w->mesh.axis[v->axes.pipeline].stride + first_rank,
                          .tag = v->dialect->message_tag(tag_base, pair),
                          .id = v->dialect->message_id(next_id, pair, p->receives)};
    }
}

/* Every rank's arrays in one piece for all of them. */
static void allocate_ranks(const gen_shape *shape, uint32_t per_stage, dse_arena *a, wl_workload *w,
                           uint32_t **group, wl_p2p **p2p)
{
    size_t n_p2p = 0;

    for (uint32_t st = 0; st < shape->n_graphs; st++)
        n_p2p += (size_t)shape->graph[st].graph.n_p2p_slots * per_stage;
    w->rank = DSE_ARENA_RAW(a, wl_rank, w->n_ranks);
    *group = DSE_ARENA_RAW(a, uint32_t, shape->n_slots * (size_t)w->n_ranks);
    *p2p = DSE_ARENA_RAW(a, wl_p2p, n_p2p);
}

void gen_workload_bind(const gen_key *key, const gen_shape *shape, const mesh *m, uint32_t tag_base,
                       dse_arena *a, wl_workload *out)
{
    const uint32_t pipeline = key->variant->axes.pipeline;
    const mesh_set on_stage = mesh_all(m) & ~mesh_only(pipeline);
    const uint32_t per_stage = (uint32_t)mesh_size(m, on_stage);
    const wl_dialect *dialect = key->variant->dialect;
    uint64_t n_ids = 0, base = 0;
    uint32_t *group;
    wl_p2p *p2p;

    out->n_ranks = per_stage * shape->n_graphs;
    out->mesh = *m;
    allocate_ranks(shape, per_stage, a, out, &group, &p2p);
    for (uint32_t i = 0; i < shape->n_graphs; i++)
        n_ids += (uint64_t)shape->graph[i].n_ids * per_stage;
    for (uint32_t i = 0; i < shape->n_graphs; i++) {
        const gen_graph *g = &shape->graph[i];
        const uint64_t next_id = dialect->first_id + (dialect->ids_are_global ? n_ids : g->n_ids);

        for (uint32_t k = 0; k < per_stage; k++) {
            uint32_t first =
                mesh_member(m, on_stage, 0, k); /* the rank of the same place on the first stage */
            wl_rank *rank = &out->rank[first + i * m->axis[pipeline].stride];

            *rank = (wl_rank){.graph = i, .id_base = base, .group = group, .p2p = p2p};
            bind_messages(key->variant, out, g, tag_base, per_stage, k, first, next_id, p2p);
            base += dialect->ids_are_global ? g->n_ids : 0;
            group += shape->n_slots;
            p2p += g->graph.n_p2p_slots;
        }
    }
    bind_groups(key->variant, shape, a, out);
}
