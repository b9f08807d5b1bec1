/* Chakra schema v0.0.1 (et_def.proto of that version, proto2): length-prefixed Nodes, no metadata.
 *
 * STAGE at 0b44904 ends with a Python error before it writes this schema: its v0.0.1 backend does not
 * take the inputs and outputs that the generator hands over. Written here is what that backend sets, which
 * is everything but those two. Data and control dependencies share one list; repeated fields are not
 * packed; a collective takes part in three network dimensions. */
#include "workload/chakra.h"
#include "workload/protobuf.h"

enum {
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_PARENT = 4,
    NODE_TENSOR_SIZE = 6,
    NODE_NUM_OPS = 12,
    NODE_COMM_TYPE = 13,
    NODE_INVOLVED_DIM = 14,
    NODE_COMMUNICATOR_ID = 15,
    NODE_COMM_SRC = 16,
    NODE_COMM_DST = 17,
    NODE_COMM_SIZE = 18,
    NODE_COMM_TAG = 19
};

/* Both enumerations were renumbered later. */
static const uint8_t node_type[] = {
    [WL_NODE_COMP] = 3, [WL_NODE_SEND] = 4, [WL_NODE_RECV] = 5, [WL_NODE_COLL] = 6};
static const uint8_t coll_type[] = {
    [WL_ALL_REDUCE] = 1, [WL_ALL_TO_ALL] = 2, [WL_ALL_GATHER] = 3, [WL_REDUCE_SCATTER] = 4};

static void add_node(dse_strbuf *b, const wl_workload *w, uint32_t rank, uint32_t i)
{
    const wl_graph *g = wl_rank_graph(w, rank);
    const wl_node *n = &g->node[i];
    const wl_rank *r = &w->rank[rank];

    pb_put_uint(b, NODE_ID, wl_node_id(w, rank, i));
    pb_put_string(b, NODE_NAME, n->name);
    pb_put_uint(b, NODE_TYPE, node_type[n->type]);
    for (uint32_t k = g->parents.start[i]; k < g->parents.start[i + 1]; k++)
        pb_put_uint(b, NODE_PARENT, wl_node_id(w, rank, g->parents.item[k]));
    if (n->type == WL_NODE_COMP) {
        pb_put_uint(b, NODE_TENSOR_SIZE, n->tensor_size);
        pb_put_uint(b, NODE_NUM_OPS, n->num_ops);
        return;
    }
    if (n->type == WL_NODE_COLL) {
        pb_put_uint(b, NODE_COMM_TYPE, coll_type[n->coll]);
        for (int d = 0; d < 3; d++)
            pb_put_uint(b, NODE_INVOLVED_DIM, 1);
        pb_put_uint(b, NODE_COMMUNICATOR_ID, r->group[n->slot]);
        pb_put_uint(b, NODE_COMM_SIZE, n->comm_size);
        return;
    }
    pb_put_uint(b, n->type == WL_NODE_RECV ? NODE_COMM_SRC : NODE_COMM_DST, r->p2p[n->slot].peer);
    pb_put_uint(b, NODE_COMM_SIZE, n->comm_size);
    pb_put_uint(b, NODE_COMM_TAG, r->p2p[n->slot].tag);
}

static void write_v001(const wl_workload *w, uint32_t rank, dse_strbuf *out)
{
    dse_strbuf node;

    dse_strbuf_init(&node);
    for (uint32_t i = 0; i < wl_rank_graph(w, rank)->n_nodes; i++) {
        dse_strbuf_clear(&node);
        add_node(&node, w, rank, i);
        pb_put_varint(out, node.len);
        dse_strbuf_add(out, node.data, node.len);
    }
    out->failed |= node.failed;
    dse_strbuf_free(&node);
}

const wl_schema wl_schema_v001 = {
    .name = "v0.0.1",
    .summary = "protobuf of the first Chakra release",
    .write = write_v001,
};
