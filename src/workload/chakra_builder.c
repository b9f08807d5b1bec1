#include "workload/chakra_builder.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME(s)                                                                                              \
    {                                                                                                        \
        s, sizeof s - 1                                                                                      \
    }
const struct wl_fact_name wl_fact_names[WL_N_FACTS] = {
    [WL_FACT_NUM_OPS] = NAME("num_ops"),
    [WL_FACT_TENSOR_SIZE] = NAME("tensor_size"),
    [WL_FACT_COMM_SIZE] = NAME("comm_size"),
    [WL_FACT_COMM_TAG] = NAME("comm_tag"),
    [WL_FACT_COMM_SRC] = NAME("comm_src"),
    [WL_FACT_COMM_DST] = NAME("comm_dst"),
    [WL_FACT_IS_CPU_OP] = NAME("is_cpu_op"),
    [WL_FACT_COMM_TYPE] = NAME("comm_type"),
    [WL_FACT_PG_NAME] = NAME("pg_name"),
    [WL_FACT_INVOLVE_DIMS] = NAME("involve_dims"),
    [WL_FACT_INPUTS] = NAME("inputs"),
    [WL_FACT_OUTPUTS] = NAME("outputs"),
    [WL_FACT_INVOLVED_DIM] = NAME("involved_dim"),
};

void wl_builder_init(wl_builder *b, const char *path, uint32_t rank, wl_reading *how, dse_arena *a,
                     dse_error *err)
{
    *b = (wl_builder){.path = path, .rank = rank, .how = how, .arena = a, .err = err};
    if (!how)
        b->how = DSE_ARENA_NEW(a, wl_reading, 1);
}

void wl_builder_free(wl_builder *b)
{
    dse_free(b->node);
    dse_free(b->id);
    for (int i = 0; i < 2; i++) {
        dse_free(b->deps[i].item);
        dse_free(b->deps[i].start);
        dse_free(b->io[i].item);
        dse_free(b->io[i].start);
    }
    dse_free(b->tensor);
    dse_free(b->group);
    dse_free(b->p2p);
    dse_idtable_free(&b->tensor_by_name);
    dse_idtable_free(&b->group_by_name);
}

dse_status wl_builder_fail(wl_builder *b, uint64_t id, const char *fmt, ...)
{
    char text[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return dse_fail_at(b->err, DSE_E_WORKLOAD, b->path, "node %" PRIu64 ": %s", id, text);
}

dse_status wl_builder_begin_node(wl_builder *b)
{
    if (b->n_nodes >= UINT32_MAX / 2)
        return dse_fail_at(b->err, DSE_E_RANGE, b->path, "too many nodes");
    DSE_GROW(b->node, b->cap_nodes, b->n_nodes + 1);
    DSE_GROW(b->id, b->cap_id, b->n_nodes + 1);
    for (int i = 0; i < 2; i++) {
        DSE_GROW(b->deps[i].start, b->deps[i].cap_start, b->n_nodes + 1);
        DSE_GROW(b->io[i].start, b->io[i].cap_start, b->n_nodes + 1);
        b->deps[i].start[b->n_nodes] = (uint32_t)b->deps[i].n;
        b->io[i].start[b->n_nodes] = (uint32_t)b->io[i].n;
    }
    return DSE_OK;
}

dse_status wl_builder_add_dep(wl_builder *b, bool control, uint64_t id)
{
    if (b->deps[control].n >= UINT32_MAX / 2)
        return dse_fail_at(b->err, DSE_E_RANGE, b->path, "too many dependencies");
    DSE_GROW(b->deps[control].item, b->deps[control].cap, b->deps[control].n + 1);
    b->deps[control].item[b->deps[control].n++] = id;
    return DSE_OK;
}

/* ---- tensors ------------------------------------------------------------------------------- */

typedef struct {
    const char *text;
    size_t n;
} name_key;

static bool tensor_has_name(const void *tensors, uint32_t id, const void *key)
{
    const char *name = ((const wl_tensor_info *)tensors)[id].name;
    const name_key *k = key;

    return !strncmp(name, k->text, k->n) && !name[k->n];
}

static uint32_t intern_tensor(wl_builder *b, const char *name, size_t n)
{
    name_key key = {name, n};
    uint32_t id = dse_idtable_intern(&b->tensor_by_name, (uint32_t)dse_hash_words(name, n), tensor_has_name,
                                     b->tensor, &key, (uint32_t)b->n_tensors);

    if (id == b->n_tensors) {
        DSE_GROW(b->tensor, b->cap_tensors, b->n_tensors + 1);
        b->tensor[b->n_tensors++] = (wl_tensor_info){.name = dse_arena_strndup(b->arena, name, n)};
    }
    return id;
}

dse_status wl_builder_add_io(wl_builder *b, bool output, const char *name, size_t name_n, const char *size,
                             size_t size_n)
{
    uint64_t value = 0;
    size_t i = 0;

    if (memchr(name, '\0', name_n))
        return dse_fail_at(b->err, DSE_E_WORKLOAD, b->path, "a NUL character in a tensor's name");
    while (i < size_n && isspace((unsigned char)size[i]))
        i++;
    if (i == size_n || !isdigit((unsigned char)size[i]))
        return dse_fail_at(b->err, DSE_E_WORKLOAD, b->path,
                           "the size '%.*s' of tensor '%.*s' is not a number",
                           (int)(size_n < 40 ? size_n : 40), size, (int)(name_n < 80 ? name_n : 80), name);
    for (; i < size_n && isdigit((unsigned char)size[i]); i++) {
        if (value > (UINT64_MAX - 9) / 10)
            return dse_fail_at(b->err, DSE_E_WORKLOAD, b->path,
                               "the size of tensor '%.*s' does not fit in 64 bits",
                               (int)(name_n < 80 ? name_n : 80), name);
        value = value * 10 + (uint64_t)(size[i] - '0');
    }
    if (b->io[output].n >= UINT32_MAX / 2)
        return dse_fail_at(b->err, DSE_E_RANGE, b->path, "too many tensors");
    DSE_GROW(b->io[output].item, b->io[output].cap, b->io[output].n + 1);
    b->io[output].item[b->io[output].n++] = (wl_io){intern_tensor(b, name, name_n), value};
    return DSE_OK;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static bool group_has_name(const void *groups, uint32_t id, const void *name)
{
    return !strcmp(((const char *const *)groups)[id], name);
}

static uint32_t group_slot(wl_builder *b, const char *name)
{
    uint32_t id = dse_idtable_intern(&b->group_by_name, (uint32_t)dse_hash_words(name, strlen(name)),
                                     group_has_name, b->group, name, (uint32_t)b->n_groups);

    if (id == b->n_groups) {
        DSE_GROW(b->group, b->cap_groups, b->n_groups + 1);
        b->group[b->n_groups++] = name;
    }
    return id;
}

static bool has(const wl_node_facts *f, wl_fact fact) { return f->has >> fact & 1; }

/* The attribute without which the node cannot be run, or NULL. */
static const char *missing(uint32_t type, const wl_node_facts *f)
{
    static const struct {
        uint8_t n, fact[3];
    } needed[] = {[WL_NODE_COMP] = {2, {WL_FACT_NUM_OPS, WL_FACT_TENSOR_SIZE}},
                  [WL_NODE_MEM_LOAD] = {1, {WL_FACT_TENSOR_SIZE}},
                  [WL_NODE_MEM_STORE] = {1, {WL_FACT_TENSOR_SIZE}},
                  [WL_NODE_COLL] = {2, {WL_FACT_COMM_TYPE, WL_FACT_COMM_SIZE}},
                  [WL_NODE_SEND] = {3, {WL_FACT_COMM_DST, WL_FACT_COMM_SIZE, WL_FACT_COMM_TAG}},
                  [WL_NODE_RECV] = {3, {WL_FACT_COMM_SRC, WL_FACT_COMM_SIZE, WL_FACT_COMM_TAG}}};

    for (int i = 0; i < needed[type].n; i++)
        if (!has(f, needed[type].fact[i]))
            return wl_fact_names[needed[type].fact[i]].text;
    return NULL;
}

static dse_status bind_message(wl_builder *b, uint64_t id, wl_node *node, const wl_node_facts *f)
{
    bool send = node->type == WL_NODE_SEND;
    wl_fact here = send ? WL_FACT_COMM_SRC : WL_FACT_COMM_DST,
            there = send ? WL_FACT_COMM_DST : WL_FACT_COMM_SRC;
    uint32_t rank = (uint32_t)f->value[here];

    if (has(f, here) && rank != b->rank)
        return wl_builder_fail(b, id, "a %s of rank %" PRIu32 " in the file of rank %" PRIu32,
                               send ? "send" : "receive", rank, b->rank);
    DSE_GROW(b->p2p, b->cap_p2p, b->n_p2p + 1);
    node->slot = (uint32_t)b->n_p2p;
    b->p2p[b->n_p2p++] = (wl_p2p){(uint32_t)f->value[there], (uint32_t)f->value[WL_FACT_COMM_TAG], id};
    return DSE_OK;
}

#define ASSUMED_DIMS 4 /* that a collective without a group and without its attribute goes over */

/* Whom a collective is of: the slot of a group, or the dimensions of the network. */
static void bind_collective(wl_builder *b, wl_node *node, const wl_node_facts *f)
{
    const char *group = f->group ? f->group : "";
    const bool has_dims = has(f, wl_builder_dims(b));

    if (!b->how->numbered_groups) {
        if (!has_dims)
            node->slot = group_slot(b, group);
    } else if (*group && strcmp(group, "0") != 0) {
        node->slot = group_slot(b, group);
    } else if (!has_dims) {
        node->involved_dims = (1u << ASSUMED_DIMS) - 1;
        node->n_involved_dims = WL_MAX_INVOLVED_DIMS;
    }
}

dse_status wl_builder_end_node(wl_builder *b, uint64_t id, wl_node node, const wl_node_facts *f)
{
    const uint64_t *value = f->value, coll = value[WL_FACT_COMM_TYPE];
    dse_status st = DSE_OK;

    if (node.type > WL_NODE_COLL)
        return wl_builder_fail(b, id, "unknown node type %u", node.type);
    node.id = node.type == WL_NODE_SEND || node.type == WL_NODE_RECV ? 0 : id;
    node.num_ops = value[WL_FACT_NUM_OPS];
    node.tensor_size = value[WL_FACT_TENSOR_SIZE];
    node.comm_size = value[WL_FACT_COMM_SIZE];
    node.coll = coll < 255 ? (uint8_t)coll : 255;
    node.is_cpu_op = value[WL_FACT_IS_CPU_OP] != 0;
    node.has_io = has(f, WL_FACT_INPUTS) && has(f, WL_FACT_OUTPUTS);
    node.lacks = missing(node.type, f);
    node.slot = DSE_NONE;
    if (!node.name)
        node.name = "";
    if (node.type == WL_NODE_COLL)
        bind_collective(b, &node, f);
    else if (node.type == WL_NODE_SEND || node.type == WL_NODE_RECV)
        st = bind_message(b, id, &node, f);
    if (st != DSE_OK)
        return st;
    b->id[b->n_nodes] = id;
    b->node[b->n_nodes++] = node;
    return DSE_OK;
}

/* ---- the finished graph -------------------------------------------------------------------- */

static bool node_has_id(const void *ids, uint32_t node, const void *id)
{
    return ((const uint64_t *)ids)[node] == *(const uint64_t *)id;
}

static dse_status index_ids(wl_builder *b, dse_idtable *t)
{
    for (uint32_t i = 0; i < b->n_nodes; i++)
        if (dse_idtable_intern(t, (uint32_t)dse_hash_u64(b->id[i]), node_has_id, b->id, &b->id[i], i) != i)
            return dse_fail_at(b->err, DSE_E_WORKLOAD, b->path, "node id %" PRIu64 " stands twice", b->id[i]);
    return DSE_OK;
}

static void note_dropped(wl_reading *how, const char *path, uint64_t node, uint64_t on)
{
    if (!how->n_dropped++) {
        how->dropped_path = path;
        how->dropped_node = node;
        how->dropped_on = on;
    }
}

/* Dependencies by id become dependencies by index. */
static dse_status resolve_deps(wl_builder *b, const dse_idtable *t, int kind, wl_csr *out)
{
    size_t n = b->deps[kind].n;
    uint32_t kept = 0;

    out->start = DSE_ARENA_RAW(b->arena, uint32_t, b->n_nodes + 1);
    out->item = DSE_ARENA_RAW(b->arena, uint32_t, n);
    for (size_t i = 0; i < b->n_nodes; i++) {
        uint32_t end = i + 1 < b->n_nodes ? b->deps[kind].start[i + 1] : (uint32_t)n;

        out->start[i] = kept;
        for (uint32_t k = b->deps[kind].start[i]; k < end; k++) {
            const uint64_t *on = &b->deps[kind].item[k];
            const dse_idslot *slot = dse_idtable_find(t, (uint32_t)dse_hash_u64(*on), node_has_id, b->id, on);

            if (slot->id != DSE_NONE)
                out->item[kept++] = slot->id;
            else if (b->how->drop_absent)
                note_dropped(b->how, b->path, b->id[i], *on);
            else
                return wl_builder_fail(b, b->id[i], "depends on node %" PRIu64 ", which is not in the file",
                                       *on);
        }
    }
    out->start[b->n_nodes] = kept;
    return DSE_OK;
}

static void keep_io(wl_builder *b, int kind, wl_io_csr *out)
{
    out->start = DSE_ARENA_RAW(b->arena, uint32_t, b->n_nodes + 1);
    out->item = dse_arena_copy(b->arena, b->io[kind].item, b->io[kind].n, sizeof *b->io[kind].item);
    memcpy(out->start, b->io[kind].start, b->n_nodes * sizeof *out->start);
    out->start[b->n_nodes] = (uint32_t)b->io[kind].n;
}

dse_status wl_builder_finish(wl_builder *b, wl_trace *out)
{
    wl_graph *g = &out->graph;
    dse_idtable by_id = {0};
    dse_status st;

    *out = (wl_trace){.path = b->path};
    if (!b->n_nodes)
        return dse_fail_at(b->err, DSE_E_WORKLOAD, b->path, "the trace has no nodes");
    g->n_nodes = (uint32_t)b->n_nodes;
    g->n_tensors = (uint32_t)b->n_tensors;
    g->n_group_slots = (uint32_t)b->n_groups;
    g->n_p2p_slots = (uint32_t)b->n_p2p;
    g->node = dse_arena_copy(b->arena, b->node, b->n_nodes, sizeof *b->node);
    g->tensor = dse_arena_copy(b->arena, b->tensor, b->n_tensors, sizeof *b->tensor);
    out->id = dse_arena_copy(b->arena, b->id, b->n_nodes, sizeof *b->id);
    out->p2p = dse_arena_copy(b->arena, b->p2p, b->n_p2p, sizeof *b->p2p);
    out->group_name = dse_arena_copy(b->arena, b->group, b->n_groups, sizeof *b->group);
    keep_io(b, 0, &g->inputs);
    keep_io(b, 1, &g->outputs);
    st = index_ids(b, &by_id);
    if (st == DSE_OK)
        st = resolve_deps(b, &by_id, 0, &g->data_deps);
    if (st == DSE_OK)
        st = resolve_deps(b, &by_id, 1, &g->ctrl_deps);
    if (st == DSE_OK)
        st = wl_graph_finish(g, out->id, b->path, b->arena, b->err);
    dse_idtable_free(&by_id);
    return st;
}
