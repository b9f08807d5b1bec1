/* Chakra schema v0.0.4 (et_def.proto): a length-prefixed GlobalMetadata, then length-prefixed Nodes.
 *
 * Fields stand in the order of their numbers and attributes in the order in which STAGE appends them, so
 * the bytes are those of Python's protobuf. A dependency that would stand twice stands once. */
#include "workload/chakra.h"
#include "workload/protobuf.h"

#include <string.h>

enum { NODE_ID = 1, NODE_NAME = 2, NODE_TYPE = 3, NODE_CTRL_DEPS = 4, NODE_DATA_DEPS = 5, NODE_ATTR = 10 };
enum {
    ATTR_NAME = 1,
    ATTR_INT32 = 7,
    ATTR_INT64 = 9,
    ATTR_UINT64 = 13,
    ATTR_STRING = 29,
    ATTR_STRING_LIST = 30
};
enum { STRING_LIST_VALUES = 1, METADATA_ATTR = 2 };

typedef struct {
    dse_strbuf node, attr, list, number;
} scratch;

static void add_attr(scratch *s, const char *name, uint32_t field, uint64_t value)
{
    dse_strbuf_clear(&s->attr);
    pb_put_string(&s->attr, ATTR_NAME, name);
    pb_put_uint(&s->attr, field, value);
    pb_put_bytes(&s->node, NODE_ATTR, s->attr.data, s->attr.len);
}

static void add_string_attr(scratch *s, const char *name, const char *value)
{
    dse_strbuf_clear(&s->attr);
    pb_put_string(&s->attr, ATTR_NAME, name);
    pb_put_string(&s->attr, ATTR_STRING, value);
    pb_put_bytes(&s->node, NODE_ATTR, s->attr.data, s->attr.len);
}

/* name, size, name, size, ...: an empty list leaves an attribute without a value. */
static void add_io(scratch *s, const char *name, const wl_graph *g, const wl_io_csr *io, uint32_t node)
{
    dse_strbuf_clear(&s->list);
    for (uint32_t k = io->start[node]; k < io->start[node + 1]; k++) {
        const wl_tensor_info *t = &g->tensor[io->item[k].tensor];

        dse_strbuf_clear(&s->number);
        dse_strbuf_add_repr(&s->number, t->elements);
        pb_put_string(&s->list, STRING_LIST_VALUES, t->name);
        pb_put_bytes(&s->list, STRING_LIST_VALUES, s->number.data, s->number.len);
    }
    dse_strbuf_clear(&s->attr);
    pb_put_string(&s->attr, ATTR_NAME, name);
    if (s->list.len)
        pb_put_bytes(&s->attr, ATTR_STRING_LIST, s->list.data, s->list.len);
    pb_put_bytes(&s->node, NODE_ATTR, s->attr.data, s->attr.len);
}

static bool stands_before(const wl_csr *deps, uint32_t node, uint32_t k)
{
    for (uint32_t i = deps->start[node]; i < k; i++)
        if (deps->item[i] == deps->item[k])
            return true;
    return false;
}

static void add_deps(scratch *s, uint32_t field, const wl_workload *w, uint32_t rank, const wl_csr *deps,
                     uint32_t node)
{
    dse_strbuf_clear(&s->list);
    for (uint32_t k = deps->start[node]; k < deps->start[node + 1]; k++)
        if (!stands_before(deps, node, k))
            pb_put_varint(&s->list, wl_node_id(w, rank, deps->item[k]));
    if (s->list.len)
        pb_put_bytes(&s->node, field, s->list.data, s->list.len);
}

static void add_node(scratch *s, const wl_workload *w, uint32_t rank, uint32_t i)
{
    const wl_graph *g = wl_rank_graph(w, rank);
    const wl_node *n = &g->node[i];
    const wl_rank *r = &w->rank[rank];

    dse_strbuf_clear(&s->node);
    pb_put_uint(&s->node, NODE_ID, wl_node_id(w, rank, i));
    pb_put_string(&s->node, NODE_NAME, n->name);
    pb_put_uint(&s->node, NODE_TYPE, n->type);
    add_deps(s, NODE_CTRL_DEPS, w, rank, &g->ctrl_deps, i);
    add_deps(s, NODE_DATA_DEPS, w, rank, &g->data_deps, i);
    if (n->has_io) {
        add_io(s, "inputs", g, &g->inputs, i);
        add_io(s, "outputs", g, &g->outputs, i);
    }
    switch (n->type) {
    case WL_NODE_COMP:
        add_attr(s, "num_ops", ATTR_INT64, n->num_ops);
        add_attr(s, "tensor_size", ATTR_UINT64, n->tensor_size);
        break;
    case WL_NODE_COLL:
        add_attr(s, "comm_size", ATTR_INT64, n->comm_size);
        add_attr(s, "comm_type", ATTR_INT64, n->coll);
        add_string_attr(s, "pg_name", w->group[r->group[n->slot]].name);
        add_attr(s, "is_cpu_op", ATTR_INT32, 0);
        break;
    case WL_NODE_SEND:
    case WL_NODE_RECV:
        add_attr(s, "comm_size", ATTR_INT64, n->comm_size);
        add_attr(s, "comm_tag", ATTR_INT32, r->p2p[n->slot].tag);
        add_attr(s, n->type == WL_NODE_SEND ? "comm_dst" : "comm_src", ATTR_INT32, r->p2p[n->slot].peer);
        add_attr(s, "is_cpu_op", ATTR_INT32, 0);
        break;
    default: break;
    }
}

static void write_v004(const wl_workload *w, uint32_t rank, dse_strbuf *out)
{
    scratch s;

    dse_strbuf_init(&s.node);
    dse_strbuf_init(&s.attr);
    dse_strbuf_init(&s.list);
    dse_strbuf_init(&s.number);
    pb_put_string(&s.attr, ATTR_NAME, "schema");
    pb_put_string(&s.attr, ATTR_STRING, "symbolic_tensor_network");
    pb_put_bytes(&s.node, METADATA_ATTR, s.attr.data, s.attr.len);
    pb_put_varint(out, s.node.len);
    dse_strbuf_add(out, s.node.data, s.node.len);
    for (uint32_t i = 0; i < wl_rank_graph(w, rank)->n_nodes; i++) {
        add_node(&s, w, rank, i);
        pb_put_varint(out, s.node.len);
        dse_strbuf_add(out, s.node.data, s.node.len);
    }
    out->failed |= s.node.failed || s.attr.failed || s.list.failed || s.number.failed;
    dse_strbuf_free(&s.node);
    dse_strbuf_free(&s.attr);
    dse_strbuf_free(&s.list);
    dse_strbuf_free(&s.number);
}

const wl_schema wl_schema_v004 = {
    .name = "v0.0.4",
    .summary = "protobuf, what ASTRA-sim reads",
    .write = write_v004,
};
