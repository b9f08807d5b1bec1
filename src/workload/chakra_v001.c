/* Chakra schema v0.0.1 (et_def.proto of that version, proto2): length-prefixed Nodes, no metadata.
 *
 * STAGE at 0b44904 ends with a Python error before it writes this schema: its v0.0.1 backend does not
 * take the inputs and outputs that the generator hands over. Written here is what that backend sets, which
 * is everything but those two. Data and control dependencies share one list; repeated fields are not
 * packed; a collective takes part in three network dimensions. */
#include "workload/chakra_template.h"

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

static void add_node(wl_template *t, const wl_graph *g, uint32_t i)
{
    const wl_node *n = &g->node[i];
    dse_strbuf *b = &t->text;

    pb_put_tag(b, NODE_ID, PB_VARINT);
    wl_template_id(t, n);
    pb_put_string(b, NODE_NAME, n->name);
    pb_put_uint(b, NODE_TYPE, node_type[n->type]);
    for (uint32_t k = g->parents.start[i]; k < g->parents.start[i + 1]; k++) {
        pb_put_tag(b, NODE_PARENT, PB_VARINT);
        wl_template_id(t, &g->node[g->parents.item[k]]);
    }
    if (n->type == WL_NODE_COMP) {
        pb_put_uint(b, NODE_TENSOR_SIZE, n->tensor_size);
        pb_put_uint(b, NODE_NUM_OPS, n->num_ops);
        return;
    }
    if (n->type == WL_NODE_COLL) {
        pb_put_uint(b, NODE_COMM_TYPE, coll_type[n->coll]);
        for (int d = 0; d < 3; d++)
            pb_put_uint(b, NODE_INVOLVED_DIM, 1);
        pb_put_tag(b, NODE_COMMUNICATOR_ID, PB_VARINT);
        wl_template_hole(t, WL_HOLE_GROUP, n->slot);
        pb_put_uint(b, NODE_COMM_SIZE, n->comm_size);
        return;
    }
    pb_put_tag(b, n->type == WL_NODE_RECV ? NODE_COMM_SRC : NODE_COMM_DST, PB_VARINT);
    wl_template_hole(t, WL_HOLE_PEER, n->slot);
    pb_put_uint(b, NODE_COMM_SIZE, n->comm_size);
    pb_put_tag(b, NODE_COMM_TAG, PB_VARINT);
    wl_template_hole(t, WL_HOLE_TAG, n->slot);
}

static void draft_v001(const wl_graph *g, wl_template *out)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        wl_template_hole(out, WL_HOLE_BEGIN, 0);
        add_node(out, g, i);
        wl_template_hole(out, WL_HOLE_END, 0);
    }
}

const wl_schema wl_schema_v001 = {
    .name = "v0.0.1",
    .summary = "protobuf of the first Chakra release",
    .draft = draft_v001,
};
