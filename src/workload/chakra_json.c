/* STAGE's JSON: {"nodes": [...]}, spaced as Python's json.dump does it. A dependency that STAGE lists
 * twice stands twice. */
#include "base/json_writer.h"
#include "workload/chakra_template.h"

#include <inttypes.h>

static const char *const type_names[] = {
    [WL_NODE_COMP] = "comp_node",
    [WL_NODE_SEND] = "comm_send_node",
    [WL_NODE_RECV] = "comm_recv_node",
    [WL_NODE_COLL] = "coll_comm_node",
};

static void add_io(dse_strbuf *b, const char *key, const wl_graph *g, const wl_io_csr *io, uint32_t node)
{
    dse_strbuf_addf(b, ", \"%s\": [", key);
    for (uint32_t k = io->start[node]; k < io->start[node + 1]; k++) {
        const wl_tensor_info *t = &g->tensor[io->item[k].tensor];

        dse_strbuf_addf(b, "%s{\"name\": ", k > io->start[node] ? ", " : "");
        dse_json_quote(b, t->name);
        dse_strbuf_adds(b, ", \"size\": ");
        dse_strbuf_add_repr(b, t->elements);
        dse_strbuf_addc(b, '}');
    }
    dse_strbuf_addc(b, ']');
}

static void add_deps(wl_template *t, const char *key, const wl_graph *g, const wl_csr *deps, uint32_t node)
{
    dse_strbuf_addf(&t->text, ", \"%s\": [", key);
    for (uint32_t k = deps->start[node]; k < deps->start[node + 1]; k++) {
        if (k > deps->start[node])
            dse_strbuf_adds(&t->text, ", ");
        wl_template_id(t, &g->node[deps->item[k]]);
    }
    dse_strbuf_addc(&t->text, ']');
}

/* The name of a generated group is a number. */
static void add_collective(wl_template *t, const wl_node *n)
{
    dse_strbuf_addf(&t->text,
                    ", \"comm_size\": %" PRIu64 ", \"comm_type\": \"%s\", \"comm_group\": ", n->comm_size,
                    wl_coll_type_name(n->coll));
    wl_template_hole(t, WL_HOLE_GROUP_NAME, n->slot);
}

static void add_message(wl_template *t, const wl_node *n)
{
    dse_strbuf_addf(&t->text, ", \"comm_size\": %" PRIu64 ", \"comm_tag\": ", n->comm_size);
    wl_template_hole(t, WL_HOLE_TAG, n->slot);
    dse_strbuf_addf(&t->text, ", \"%s\": ", n->type == WL_NODE_SEND ? "comm_dst" : "comm_src");
    wl_template_hole(t, WL_HOLE_PEER, n->slot);
}

static void add_node(wl_template *t, const wl_graph *g, uint32_t i)
{
    const wl_node *n = &g->node[i];
    dse_strbuf *b = &t->text;

    dse_strbuf_adds(b, "{\"id\": ");
    wl_template_id(t, n);
    dse_strbuf_adds(b, ", \"name\": ");
    dse_json_quote(b, n->name);
    dse_strbuf_addf(b, ", \"node_type\": \"%s\", \"y_tensor_size\": %" PRIu64, type_names[n->type],
                    n->y_size);
    add_io(b, "inputs", g, &g->inputs, i);
    add_io(b, "outputs", g, &g->outputs, i);
    add_deps(t, "data_deps", g, &g->data_deps, i);
    add_deps(t, "ctrl_deps", g, &g->ctrl_deps, i);
    if (n->type == WL_NODE_COMP)
        dse_strbuf_addf(b, ", \"num_ops\": %" PRIu64 ", \"tensor_size\": %" PRIu64, n->num_ops,
                        n->tensor_size);
    else if (n->type == WL_NODE_COLL)
        add_collective(t, n);
    else
        add_message(t, n);
    dse_strbuf_addc(b, '}');
}

static void draft_json(const wl_graph *g, wl_template *out)
{
    out->decimal = true;
    dse_strbuf_adds(&out->text, "{\"nodes\": [");
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (i)
            dse_strbuf_adds(&out->text, ", ");
        add_node(out, g, i);
    }
    dse_strbuf_adds(&out->text, "]}");
}

const wl_schema wl_schema_json = {
    .name = "json",
    .summary = "STAGE's JSON, for people",
    .draft = draft_json,
};
