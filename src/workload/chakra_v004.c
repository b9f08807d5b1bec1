/* Chakra schema v0.0.4 (et_def.proto): a length-prefixed GlobalMetadata, then length-prefixed Nodes.
 *
 * Fields stand in the order of their numbers and attributes in the order in which STAGE appends them, so
 * the bytes are those of Python's protobuf. A dependency that would stand twice stands once. */
#include "workload/chakra_v004.h"

#include "workload/chakra_template.h"

typedef struct {
    wl_template *out;
    bool is_legacy; /* a group is a number, and nothing says where a node runs */
    dse_strbuf attr, list, number;
} draft;

static void add_attr(draft *s, const char *name, uint32_t field, uint64_t value)
{
    dse_strbuf_clear(&s->attr);
    pb_put_string(&s->attr, ATTR_NAME, name);
    pb_put_uint(&s->attr, field, value);
    pb_put_bytes(&s->out->text, NODE_ATTR, s->attr.data, s->attr.len);
}

static void add_text(draft *s, const char *name, const char *value)
{
    dse_strbuf_clear(&s->attr);
    pb_put_string(&s->attr, ATTR_NAME, name);
    pb_put_string(&s->attr, ATTR_STRING, value);
    pb_put_bytes(&s->out->text, NODE_ATTR, s->attr.data, s->attr.len);
}

static void begin(wl_template *t, uint32_t field)
{
    pb_put_tag(&t->text, field, PB_BYTES);
    wl_template_hole(t, WL_HOLE_BEGIN, 0);
}

static void end(wl_template *t) { wl_template_hole(t, WL_HOLE_END, 0); }

/* An attribute whose number is the rank's. */
static void add_open_attr(wl_template *t, const char *name, wl_hole_kind kind, uint32_t slot)
{
    begin(t, NODE_ATTR);
    pb_put_string(&t->text, ATTR_NAME, name);
    pb_put_tag(&t->text, ATTR_INT32, PB_VARINT);
    wl_template_hole(t, kind, slot);
    end(t);
}

static void add_group(const draft *s, uint32_t slot)
{
    wl_template *t = s->out;

    if (s->is_legacy) {
        add_open_attr(t, "comm_group", WL_HOLE_GROUP, slot);
        return;
    }
    begin(t, NODE_ATTR);
    pb_put_string(&t->text, ATTR_NAME, "pg_name");
    begin(t, ATTR_STRING);
    wl_template_hole(t, WL_HOLE_GROUP_NAME, slot);
    end(t);
    end(t);
}

/* name, size, name, size, ...: an empty list leaves an attribute without a value. */
static void add_io(draft *s, const char *name, const wl_graph *g, const wl_io_csr *io, uint32_t node)
{
    dse_strbuf_clear(&s->list);
    for (uint32_t k = io->start[node]; k < io->start[node + 1]; k++) {
        const wl_tensor_info *t = &g->tensor[io->item[k].tensor];

        dse_strbuf_clear(&s->number);
        if (t->is_whole)
            dse_strbuf_addf(&s->number, "%.0f", t->elements);
        else
            dse_strbuf_add_repr(&s->number, t->elements);
        pb_put_string(&s->list, STRING_LIST_VALUES, t->name);
        pb_put_bytes(&s->list, STRING_LIST_VALUES, s->number.data, s->number.len);
    }
    dse_strbuf_clear(&s->attr);
    pb_put_string(&s->attr, ATTR_NAME, name);
    if (s->list.len)
        pb_put_bytes(&s->attr, ATTR_STRING_LIST, s->list.data, s->list.len);
    pb_put_bytes(&s->out->text, NODE_ATTR, s->attr.data, s->attr.len);
}

static bool stands_before(const wl_csr *deps, uint32_t node, uint32_t k)
{
    for (uint32_t i = deps->start[node]; i < k; i++)
        if (deps->item[i] == deps->item[k])
            return true;
    return false;
}

static void add_deps(wl_template *t, uint32_t field, const wl_graph *g, const wl_csr *deps, uint32_t node)
{
    if (deps->start[node] == deps->start[node + 1])
        return;
    begin(t, field);
    for (uint32_t k = deps->start[node]; k < deps->start[node + 1]; k++)
        if (!stands_before(deps, node, k))
            wl_template_id(t, &g->node[deps->item[k]]);
    end(t);
}

static void add_node(draft *s, const wl_graph *g, uint32_t i)
{
    const wl_node *n = &g->node[i];
    wl_template *t = s->out;

    pb_put_tag(&t->text, NODE_ID, PB_VARINT);
    wl_template_id(t, n);
    pb_put_string(&t->text, NODE_NAME, n->name);
    pb_put_uint(&t->text, NODE_TYPE, n->type);
    add_deps(t, NODE_CTRL_DEPS, g, &g->ctrl_deps, i);
    add_deps(t, NODE_DATA_DEPS, g, &g->data_deps, i);
    if (n->has_io) {
        add_io(s, "inputs", g, &g->inputs, i);
        add_io(s, "outputs", g, &g->outputs, i);
    }
    switch (n->type) {
    case WL_NODE_COMP:
        add_attr(s, "num_ops", ATTR_INT64, n->num_ops);
        add_attr(s, "tensor_size", ATTR_UINT64, n->tensor_size);
        if (g->op_type)
            add_text(s, "op_type", g->op_type[i]);
        break;
    case WL_NODE_COLL:
        add_attr(s, "comm_size", ATTR_INT64, n->comm_size);
        add_attr(s, "comm_type", ATTR_INT64, n->coll);
        add_group(s, n->slot);
        break;
    case WL_NODE_SEND:
    case WL_NODE_RECV:
        add_attr(s, "comm_size", ATTR_INT64, n->comm_size);
        add_open_attr(t, "comm_tag", WL_HOLE_TAG, n->slot);
        add_open_attr(t, n->type == WL_NODE_SEND ? "comm_dst" : "comm_src", WL_HOLE_PEER, n->slot);
        break;
    default: break;
    }
    if (n->type != WL_NODE_COMP && !s->is_legacy)
        add_attr(s, "is_cpu_op", ATTR_INT32, 0);
}

static void add_metadata(draft *s)
{
    dse_strbuf *text = &s->out->text;

    dse_strbuf_clear(&s->attr);
    pb_put_string(&s->attr, ATTR_NAME, "schema");
    pb_put_string(&s->attr, ATTR_STRING, "symbolic_tensor_network");
    dse_strbuf_clear(&s->list);
    pb_put_bytes(&s->list, METADATA_ATTR, s->attr.data, s->attr.len);
    pb_put_varint(text, s->list.len);
    dse_strbuf_add(text, s->list.data, s->list.len);
}

static void draft_all(const wl_graph *g, bool is_legacy, wl_template *out)
{
    draft s = {.out = out, .is_legacy = is_legacy};

    dse_strbuf_init(&s.attr);
    dse_strbuf_init(&s.list);
    dse_strbuf_init(&s.number);
    add_metadata(&s);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        wl_template_hole(out, WL_HOLE_BEGIN, 0);
        add_node(&s, g, i);
        wl_template_hole(out, WL_HOLE_END, 0);
    }
    dse_strbuf_free(&s.attr);
    dse_strbuf_free(&s.list);
    dse_strbuf_free(&s.number);
}

static void draft_v004(const wl_graph *g, wl_template *out) { draft_all(g, false, out); }
static void draft_legacy(const wl_graph *g, wl_template *out) { draft_all(g, true, out); }

const wl_schema wl_schema_v004 = {
    .name = "v0.0.4",
    .summary = "protobuf, what ASTRA-sim reads",
    .draft = draft_v004,
};

const wl_schema wl_schema_v004_legacy = {
    .name = "v0.0.4 with STAGE_LEGACY_ATTR",
    .summary = "protobuf, with numbers for groups",
    .draft = draft_legacy,
};
