/* STAGE's JSON: {"nodes": [...]}, spaced as Python's json.dump does it. A dependency that STAGE lists
 * twice stands twice. */
#include "base/json_writer.h"
#include "workload/chakra.h"

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

static void add_deps(dse_strbuf *b, const char *key, const wl_workload *w, uint32_t rank, const wl_csr *deps,
                     uint32_t node)
{
    dse_strbuf_addf(b, ", \"%s\": [", key);
    for (uint32_t k = deps->start[node]; k < deps->start[node + 1]; k++) {
        if (k > deps->start[node])
            dse_strbuf_adds(b, ", ");
        dse_strbuf_addu(b, wl_node_id(w, rank, deps->item[k]));
    }
    dse_strbuf_addc(b, ']');
}

static void add_node(dse_strbuf *b, const wl_workload *w, uint32_t rank, uint32_t i)
{
    const wl_graph *g = wl_rank_graph(w, rank);
    const wl_node *n = &g->node[i];
    const wl_rank *r = &w->rank[rank];

    dse_strbuf_addf(b, "{\"id\": %" PRIu64 ", \"name\": ", wl_node_id(w, rank, i));
    dse_json_quote(b, n->name);
    dse_strbuf_addf(b, ", \"node_type\": \"%s\", \"y_tensor_size\": %" PRIu64, type_names[n->type],
                    n->y_size);
    add_io(b, "inputs", g, &g->inputs, i);
    add_io(b, "outputs", g, &g->outputs, i);
    add_deps(b, "data_deps", w, rank, &g->data_deps, i);
    add_deps(b, "ctrl_deps", w, rank, &g->ctrl_deps, i);
    if (n->type == WL_NODE_COMP)
        dse_strbuf_addf(b, ", \"num_ops\": %" PRIu64 ", \"tensor_size\": %" PRIu64 "}", n->num_ops,
                        n->tensor_size);
    else if (n->type == WL_NODE_COLL) /* the name of a generated group is a number */
        dse_strbuf_addf(b, ", \"comm_size\": %" PRIu64 ", \"comm_type\": \"%s\", \"comm_group\": %s}",
                        n->comm_size, wl_coll_type_name(n->coll), w->group[r->group[n->slot]].name);
    else
        dse_strbuf_addf(b, ", \"comm_size\": %" PRIu64 ", \"comm_tag\": %" PRIu32 ", \"%s\": %" PRIu32 "}",
                        n->comm_size, r->p2p[n->slot].tag, n->type == WL_NODE_SEND ? "comm_dst" : "comm_src",
                        r->p2p[n->slot].peer);
}

static void write_json(const wl_workload *w, uint32_t rank, dse_strbuf *out)
{
    dse_strbuf_adds(out, "{\"nodes\": [");
    for (uint32_t i = 0; i < wl_rank_graph(w, rank)->n_nodes; i++) {
        if (i)
            dse_strbuf_adds(out, ", ");
        add_node(out, w, rank, i);
    }
    dse_strbuf_adds(out, "]}");
}

const wl_schema wl_schema_json = {
    .name = "json",
    .summary = "STAGE's JSON, for people",
    .write = write_json,
};
