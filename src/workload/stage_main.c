/* From nodes to graphs and ranks, as STAGE's main branch numbers them; and what it prints of memory. */
#include "workload/stage_main.h"

#include "base/array.h"
#include "workload/generate.h"
#include "workload/stage_main_parts.h"

#include <stdio.h>
#include <string.h>

/* ---- graphs ---------------------------------------------------------------------------------- */

typedef struct {
    const sm_step *step_of;
    const sm_nodes *nodes;
    dse_arena *arena;
    wl_name_pool names;
    const wl_main_options *options;
    uint32_t copies;    /* of each node, for micro-batches */
    uint32_t *index;    /* node -> its place in the file, */
    uint32_t *step;     /* and how far behind its first copy the next one is */
    uint32_t *slot;     /* copy and node -> slot of a message */
    uint32_t *info;     /* tensor -> index into the graph's tensors, or DSE_NONE */
    size_t cap_tensors; /* of the graph under construction */
    size_t n_in, n_out;
    uint64_t *id;
    dse_error *err;
} finisher;

static const sm_kind *kind_of(const finisher *f, uint32_t tensor)
{
    return &f->step_of->t->kind[f->step_of->tensor[tensor].kind];
}

/* A copy under another name is the tensor that it copies. */
static uint32_t stored_as(const finisher *f, uint32_t tensor)
{
    const sm_tensor *t = &f->step_of->tensor[tensor];

    return !t->is_shadow && kind_of(f, tensor)->op == SM_IDENTICAL ? t->x1 : tensor;
}

static wl_io io_of(finisher *f, wl_graph *g, uint32_t tensor)
{
    const uint32_t as = stored_as(f, tensor);
    const sm_kind *k = kind_of(f, as);
    const sm_tensor *t = &f->step_of->tensor[as];

    if (f->info[as] == DSE_NONE) {
        const wl_piece piece[] = {{t->name, t->name_len}, {k->text, strlen(k->text)}};

        DSE_ARENA_GROW(f->arena, g->tensor, f->cap_tensors, g->n_tensors + 1);
        f->info[as] = g->n_tensors++;
        g->tensor[f->info[as]] = (wl_tensor_info){.name = wl_name_join(&f->names, piece, 2, NULL),
                                                  .elements = k->stored,
                                                  .kind = (wl_tensor_kind)k->makes,
                                                  .is_whole = k->stored_whole};
    }
    return (wl_io){f->info[as], k->stored_whole ? (uint64_t)k->stored : wl_size_as_read(k->stored)};
}

static void add_io(finisher *f, wl_graph *g, const sm_node *n)
{
    const sm_tensor *t = &f->step_of->tensor[n->tensor];
    uint32_t in[2], n_in = 0;
    const bool makes = n->role == WL_ROLE_COMPUTE || n->role == WL_ROLE_RECV;

    if (n->role == WL_ROLE_SEND)
        in[n_in++] = n->tensor;
    if ((n->role == WL_ROLE_COMPUTE || n->role == WL_ROLE_X1_COLL) && t->x1 != DSE_NONE)
        in[n_in++] = t->x1;
    if ((n->role == WL_ROLE_COMPUTE || n->role == WL_ROLE_X2_COLL) && t->x2 != DSE_NONE)
        in[n_in++] = t->x2;
    for (uint32_t i = 0; i < n_in; i++)
        g->inputs.item[f->n_in++] = io_of(f, g, in[i]);
    if (makes)
        g->outputs.item[f->n_out++] = io_of(f, g, n->tensor);
}

static bool to_count(double v, uint64_t *out)
{
    *out = v < 9223372036854775808.0 ? (uint64_t)v : 0;
    return v < 9223372036854775808.0;
}

/* Slots of groups: the axes with degrees above 1, in their order. */
static uint32_t slot_of(const sm_template *t, uint32_t axis)
{
    uint32_t slot = 0;

    for (uint32_t i = 0; i < axis; i++)
        slot += t->degree[i] > 1;
    return slot;
}

#define MAX_NODES (1 << 26)

/* The ids of a micro-batch's copies. Source: MicroBatchReplicatorPostProcess. */
#define COPY_IDS 1000000000

static uint32_t place_of(const finisher *f, uint32_t node, uint32_t copy)
{
    return f->index[node] + copy * f->step[node];
}

static dse_status fill_node(finisher *f, wl_graph *g, uint32_t from, uint32_t copy)
{
    static const uint8_t types[WL_N_ROLES] = {[WL_ROLE_COMPUTE] = WL_NODE_COMP,
                                              [WL_ROLE_X1_COLL] = WL_NODE_COLL,
                                              [WL_ROLE_X2_COLL] = WL_NODE_COLL,
                                              [WL_ROLE_SEND] = WL_NODE_SEND,
                                              [WL_ROLE_RECV] = WL_NODE_RECV};
    const sm_node *n = &f->nodes->node[from];
    const sm_tensor *t = &f->step_of->tensor[n->tensor];
    const sm_kind *k = kind_of(f, n->tensor);
    char batch[16] = "";
    const int n_batch = copy ? snprintf(batch, sizeof batch, "mb%u.", copy) : 0;
    const wl_piece piece[] = {
        {batch, (size_t)n_batch}, {t->name, t->name_len}, wl_dialect_stage.suffix[n->role]};
    const bool is_comp = n->role == WL_ROLE_COMPUTE;
    const bool is_message = n->role == WL_ROLE_SEND || n->role == WL_ROLE_RECV;
    const uint32_t to = place_of(f, from, copy);
    wl_node *out = &g->node[to];

    f->id[to] = n->id + (uint64_t)copy * COPY_IDS;
    if (is_message)
        f->slot[copy * f->nodes->n + from] = g->n_p2p_slots;
    *out = (wl_node){.name = wl_name_join(&f->names, piece, 3, NULL),
                     .id = is_message ? 0 : f->id[to],
                     .type = types[n->role],
                     .coll = n->coll,
                     .slot = is_comp      ? DSE_NONE
                             : is_message ? g->n_p2p_slots++
                                          : slot_of(f->step_of->t, n->axis),
                     .has_io = true,
                     .tensor_kind = k->makes,
                     .layer = DSE_NONE};
    g->op_type[to] = sm_op_name(t->is_shadow ? SM_SHADOW : k->op);
    if (!(is_comp ? to_count(k->operations, &out->num_ops) && to_count(k->elements, &out->tensor_size)
                  : to_count(n->comm_size, &out->comm_size)))
        return dse_fail(f->err, DSE_E_RANGE, "the size of '%.80s' does not fit in 63 bits", out->name);
    for (uint32_t i = 0; i < n->deps.n; i++)
        g->data_deps.item[g->data_deps.start[to] + i] = place_of(f, f->nodes->dep[n->deps.first + i], copy);
    g->data_deps.start[to + 1] = g->data_deps.start[to] + n->deps.n;
    add_io(f, g, n);
    g->inputs.start[to + 1] = (uint32_t)f->n_in;
    g->outputs.start[to + 1] = (uint32_t)f->n_out;
    return DSE_OK;
}

/* Nodes of a tensor stand together, copy by copy. */
static void place_nodes(finisher *f, const uint32_t *order, uint32_t n)
{
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first;
             end < n && f->nodes->node[order[end]].tensor == f->nodes->node[order[first]].tensor;)
            end++;
        for (uint32_t i = first; i < end; i++) {
            f->index[order[i]] = first * f->copies + (i - first);
            f->step[order[i]] = end - first;
        }
    }
}

static dse_status finish_graph(finisher *f, const uint32_t *order, uint32_t n_order, wl_graph *g)
{
    dse_arena *a = f->arena;
    const uint32_t n = n_order * f->copies;
    size_t n_deps = 0;
    dse_status st;

    *g = (wl_graph){.n_nodes = n, .n_group_slots = slot_of(f->step_of->t, f->step_of->t->n_axes)};
    g->node = DSE_ARENA_RAW(a, wl_node, n);
    g->op_type = DSE_ARENA_RAW(a, const char *, n);
    for (uint32_t i = 0; i < n_order; i++)
        n_deps += (size_t)f->copies * f->nodes->node[order[i]].deps.n;
    g->data_deps = (wl_csr){DSE_ARENA_NEW(a, uint32_t, n + 1), DSE_ARENA_RAW(a, uint32_t, n_deps)};
    g->ctrl_deps = (wl_csr){DSE_ARENA_NEW(a, uint32_t, n + 1), NULL};
    g->inputs = (wl_io_csr){DSE_ARENA_NEW(a, uint32_t, n + 1), DSE_ARENA_RAW(a, wl_io, 2 * (size_t)n)};
    g->outputs = (wl_io_csr){DSE_ARENA_NEW(a, uint32_t, n + 1), DSE_ARENA_RAW(a, wl_io, n)};
    f->id = DSE_ARENA_RAW(a, uint64_t, n);
    f->n_in = f->n_out = f->cap_tensors = 0;
    memset(f->info, 0xff, f->step_of->n * sizeof *f->info);
    place_nodes(f, order, n_order);
    for (uint32_t first = 0, end; first < n_order; first = end) {
        end = first + f->step[order[first]];
        for (uint32_t copy = 0; copy < f->copies; copy++)
            for (uint32_t i = first; i < end; i++)
                if ((st = fill_node(f, g, order[i], copy)) != DSE_OK)
                    return st;
    }
    return wl_graph_finish(g, f->id, "the generated workload", a, f->err);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* dp counts fastest, then tp, cp, ep; then the stages. */
static uint32_t ranks_of_stage(const sm_template *t)
{
    uint32_t n = 1;

    for (uint32_t i = 0; i < t->n_axes; i++)
        n *= t->degree[i];
    return n;
}

static uint32_t coordinate(const sm_template *t, uint32_t rank, uint32_t axis)
{
    for (uint32_t i = 0; i < axis; i++)
        rank /= t->degree[i];
    return rank % t->degree[axis];
}

/* The group of a rank along an axis, counted from 0 in the axis' groups: by stage, then by the other
 * coordinates, of which the last runs fastest. */
static uint32_t group_along(const sm_template *t, uint32_t rank, uint32_t axis)
{
    uint32_t g = rank / ranks_of_stage(t);

    for (uint32_t i = 0; i < t->n_axes; i++)
        if (i != axis)
            g = g * t->degree[i] + coordinate(t, rank, i);
    return g;
}

static void bind_groups(const sm_template *t, dse_arena *a, wl_workload *w)
{
    uint32_t *members = DSE_ARENA_RAW(a, uint32_t, (t->n_axes + 1) * (size_t)w->n_ranks), first = 1;

    for (uint32_t axis = 0; axis < t->n_axes; axis++)
        first += w->n_ranks / t->degree[axis];
    w->n_groups = first;
    w->group = DSE_ARENA_NEW(a, wl_group, w->n_groups);
    w->group[0] = (wl_group){"", w->n_ranks, members};
    for (uint32_t i = 0; i < w->n_ranks; i++)
        *members++ = i;
    first = 1;
    for (uint32_t axis = 0; axis < t->n_axes; axis++) {
        const uint32_t n = w->n_ranks / t->degree[axis];

        for (uint32_t i = 0; i < n; i++, members += t->degree[axis])
            w->group[first + i] = (wl_group){dse_arena_printf(a, "%u", first + i), 0, members};
        for (uint32_t rank = 0; rank < w->n_ranks; rank++) {
            wl_group *g = &w->group[first + group_along(t, rank, axis)];

            g->rank[g->n++] = rank; /* along the axis: ranks ascend with the coordinate */
            if (t->degree[axis] > 1)
                w->rank[rank].group[slot_of(t, axis)] = first + group_along(t, rank, axis);
        }
        first += n;
    }
}

static void bind_messages(const finisher *f, wl_workload *w)
{
    const sm_step *s = f->step_of;
    const sm_nodes *nodes = f->nodes;
    const uint32_t each = ranks_of_stage(s->t);

    for (size_t i = 0; i < nodes->n_links * f->copies; i++) {
        const size_t copy = i / nodes->n_links;
        const uint32_t link = (uint32_t)(i % nodes->n_links), tag = f->options->tag_base + link;
        const sm_link *l = &nodes->link[link];
        const uint32_t from = s->tensor[l->from].stage, to = s->tensor[l->to].stage;
        const uint32_t *slot = f->slot + copy * nodes->n;
        const uint64_t more = copy * COPY_IDS;

        for (uint32_t r = 0; r < each; r++) {
            w->rank[from * each + r].p2p[slot[l->send]] =
                (wl_p2p){to * each + r, tag, nodes->node[l->send].id + more};
            w->rank[to * each + r].p2p[slot[l->recv]] =
                (wl_p2p){from * each + r, tag, nodes->node[l->recv].id + more};
        }
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { WEIGHTS, OPTIMIZER, ACTIVATIONS, GRADIENTS, N_SHARES };

/* What STAGE counts of a stage, in what it takes for bytes: of parameters four times the elements, of others
 * what their inputs and outputs say. Source: vram_counting.py. */
static void count_memory(finisher *f, uint32_t stage, double out[N_SHARES])
{
    const sm_step *s = f->step_of;

    memset(out, 0, N_SHARES * sizeof *out);
    for (uint32_t i = s->start[stage]; i < s->start[stage + 1]; i++) {
        const uint32_t tensor = s->of_stage[i];
        const sm_tensor *t = &s->tensor[tensor];
        const sm_kind *k = kind_of(f, tensor);

        if (strstr(t->name, "_assembled_"))
            continue;
        if (k->is_weight && !t->is_shadow) {
            out[WEIGHTS] +=
                f->options->mixed_precision ? (double)(int64_t)(k->elements * 1.5) * 4 : k->elements * 4;
            out[OPTIMIZER] += k->elements * 4;
        } else if (strstr(t->name, "_sharded_grad") &&
                   (f->options->copies_nodes || strncmp(t->name, "transformer", 11) != 0)) {
            out[GRADIENTS] +=
                kind_of(f, stored_as(f, tensor))->stored; /* of a micro-batch; their sum is an activation */
        } else if (!k->is_transient) {
            out[ACTIVATIONS] += kind_of(f, stored_as(f, tensor))->stored;
        }
    }
}

static void print_memory(finisher *f, uint32_t n_ranks, dse_strbuf *out)
{
    static const char *const models[] = {
        [WL_MAIN_DENSE] = "Dense", [WL_MAIN_LLAMA] = "Dense", [WL_MAIN_GPT] = "GPT", [WL_MAIN_MOE] = "MoE"};
    static const char *const axes[] = {"dp", "tp", "cp", "ep"};
    const sm_template *t = f->step_of->t;
    const double gib = 1024.0 * 1024 * 1024;
    double share[N_SHARES] = {0};
    uint32_t stage = DSE_NONE;

    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        if (rank / ranks_of_stage(t) != stage)
            count_memory(f, stage = rank / ranks_of_stage(t), share);
        dse_strbuf_addf(out, "[%s] [GPU pp=%u", models[f->options->model_type], stage);
        for (uint32_t axis = t->n_axes; axis-- > 0;)
            dse_strbuf_addf(out, ",%s=%u", axes[axis], coordinate(t, rank, axis));
        dse_strbuf_addf(out, "] total=%.3f GiB | weights=%.3f | opt=%.3f | acts=%.3f | grads=%.3f\n",
                        (share[WEIGHTS] + share[OPTIMIZER] + share[ACTIVATIONS] + share[GRADIENTS]) / gib,
                        share[WEIGHTS] / gib, share[OPTIMIZER] / gib, share[ACTIVATIONS] / gib,
                        share[GRADIENTS] / gib);
    }
}

/* ---- what is wrong --------------------------------------------------------------------------- */

/* Its attention; no other generator has a node of this name. */
static bool is_attention(const wl_node *n) { return strstr(n->name, ".mha.attn_kernel.qkv@") != NULL; }

static bool is_routing(const wl_node *n)
{
    return n->type == WL_NODE_COLL && n->coll == WL_ALL_TO_ALL && strstr(n->name, ".moe.");
}

static bool reduces_again(const wl_node *n)
{
    return n->type == WL_NODE_COLL && !strncmp(n->name, "mb1.transformer.", 16) &&
           strstr(n->name, "._sharded_grad@");
}

static bool communicates(const wl_node *n)
{
    return n->type == WL_NODE_COLL || n->type == WL_NODE_SEND || n->type == WL_NODE_RECV;
}

static bool is_loss(const wl_node *n) { return strstr(n->name, "loss.loss@") != NULL; }

const char *const *wl_stage_main_flaws(const wl_workload *w, dse_arena *a)
{
    enum { ATTENTION, LOSS = 4 };
    static const struct {
        bool (*shows)(const wl_node *n);
        const char *text;
    } flaws[] = {[ATTENTION] = {is_attention, "the cost of attention is linear in the sequence"},
                 {is_routing, "the work of experts is divided by ep twice"},
                 {reduces_again, "gradients of layers are reduced in every micro-batch"},
                 {communicates, "messages are elements, which ASTRA-sim takes for bytes"},
                 [LOSS] = {is_loss, "the output embedding is not on the last stage"}};
    const size_t n_flaws = DSE_COUNT(flaws);
    const wl_graph *last = wl_rank_graph(w, w->n_ranks - 1);
    bool found[DSE_COUNT(flaws)] = {false};
    const char **out = DSE_ARENA_NEW(a, const char *, n_flaws + 1);
    size_t n = 0;

    for (uint32_t g = 0; g < w->n_graphs; g++)
        for (uint32_t i = 0; i < w->graph[g].n_nodes; i++)
            for (size_t k = 0; k < n_flaws; k++)
                if (!found[k])
                    found[k] = flaws[k].shows(&w->graph[g].node[i]);
    for (uint32_t i = 0; i < last->n_nodes; i++)
        if (is_loss(&last->node[i]))
            found[LOSS] = false;
    for (size_t k = 0; found[ATTENTION] && k < n_flaws; k++)
        if (found[k])
            out[n++] = flaws[k].text;
    return out;
}

/* ---- all ------------------------------------------------------------------------------------- */

static dse_status count_ranks(const wl_main_options *o, uint32_t *out, dse_error *err)
{
    const int64_t degrees[] = {o->dp, o->tp, o->sp, o->ep, o->pp};
    uint64_t n = 1;

    for (size_t i = 0; i < DSE_COUNT(degrees); i++)
        if ((n *= (uint64_t)degrees[i]) > WL_MAX_RANKS)
            return dse_fail(err, DSE_E_RANGE, "more than %u ranks", WL_MAX_RANKS);
    *out = (uint32_t)n;
    return DSE_OK;
}

/* The graphs of a stage, and the ranks that have them. */
static dse_status finish_stage(finisher *f, uint32_t stage, sm_nodes *nodes, wl_workload *w)
{
    dse_arena *a = f->arena;
    uint32_t *order = DSE_ARENA_RAW(a, uint32_t, nodes->n), *kept = DSE_ARENA_RAW(a, uint32_t, nodes->n);
    bool *left_out = DSE_ARENA_NEW(a, bool, nodes->n);
    const uint32_t n = sm_nodes_in_order(nodes, stage, order), each = ranks_of_stage(f->step_of->t);
    bool changes = true; /* the next rank has another file than the one before */

    for (uint32_t r = stage * each; r < (stage + 1) * each; r++) {
        wl_graph *g;

        if (changes) {
            uint32_t n_kept = 0;
            dse_status st;

            changes = f->options->merges_collectives && sm_nodes_merge(nodes, order, n, left_out);
            for (uint32_t i = 0; i < n; i++)
                if (!left_out[order[i]])
                    kept[n_kept++] = order[i];
            if ((st = finish_graph(f, kept, n_kept, &w->graph[w->n_graphs++])) != DSE_OK)
                return st;
        }
        g = &w->graph[w->n_graphs - 1];
        w->rank[r] = (wl_rank){.graph = w->n_graphs - 1,
                               .group = DSE_ARENA_NEW(a, uint32_t, g->n_group_slots),
                               .p2p = DSE_ARENA_NEW(a, wl_p2p, g->n_p2p_slots)};
    }
    return DSE_OK;
}

dse_status wl_stage_main_generate(const wl_main_options *o, dse_arena *a, wl_workload *out,
                                  dse_strbuf *memory, dse_error *err)
{
    sm_template t;
    sm_step s;
    sm_nodes nodes;
    finisher f;
    wl_workload w = {0};
    int64_t copies;
    dse_status st;

    if ((st = count_ranks(o, &w.n_ranks, err)) != DSE_OK ||
        (st = sm_template_build(o, a, &t, err)) != DSE_OK || (st = sm_step_build(&t, a, &s, err)) != DSE_OK ||
        (st = sm_nodes_build(&s, a, &nodes, err)) != DSE_OK)
        return st;
    copies = o->copies_nodes ? o->batch / o->micro_batch : 1;
    if (copies > 1 && copies > (int64_t)(MAX_NODES / nodes.n))
        return dse_fail(err, DSE_E_RANGE, "%lld micro-batches are more than %d nodes", (long long)copies,
                        MAX_NODES);
    f = (finisher){.step_of = &s,
                   .nodes = &nodes,
                   .arena = a,
                   .names = {.arena = a},
                   .options = o,
                   .copies = copies > 1 ? (uint32_t)copies : 1,
                   .index = DSE_ARENA_RAW(a, uint32_t, nodes.n),
                   .step = DSE_ARENA_RAW(a, uint32_t, nodes.n),
                   .info = DSE_ARENA_RAW(a, uint32_t, s.n),
                   .err = err};
    f.slot = DSE_ARENA_RAW(a, uint32_t, f.copies * (size_t)nodes.n);
    w.graph = DSE_ARENA_NEW(a, wl_graph, o->merges_collectives ? w.n_ranks : s.n_stages);
    w.rank = DSE_ARENA_NEW(a, wl_rank, w.n_ranks);
    for (uint32_t stage = 0; stage < s.n_stages; stage++)
        if ((st = finish_stage(&f, stage, &nodes, &w)) != DSE_OK)
            return st;
    bind_groups(&t, a, &w);
    bind_messages(&f, &w);
    if (memory && o->model_type != WL_MAIN_DEBUG)
        print_memory(&f, w.n_ranks, memory);
    *out = w;
    return DSE_OK;
}
