#include "unit/unit.h"

#include "workload/chakra.h"

static dse_arena arena;
static dse_error err;
static wl_trace trace;

static dse_status parse(const char *text)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return wl_chakra_parse_json("w.3.json", text, strlen(text), 3, NULL, &arena, &trace, &err);
}

static void refuse(const char *text, dse_status status, const char *where, const char *message)
{
    assert_failure(parse(text), &err, status, where, message);
    dse_arena_free(&arena);
}

/* ---- STAGE's spelling -------------------------------------------------------------------------- */

CLAIM(stage_s_spelling_is_read)
{
    const wl_graph *g;

    assert_ok(
        parse("{\"nodes\": ["
              "{\"id\": 3, \"name\": \"a@0_COMP\", \"node_type\": \"comp_node\", \"y_tensor_size\": 32, "
              "\"inputs\": [{\"name\": \"x\", \"size\": 10.5}], \"outputs\": [{\"name\": \"y\", \"size\": "
              "1e+16}], "
              "\"data_deps\": [], \"ctrl_deps\": [4], \"num_ops\": 512, \"tensor_size\": 224}, "
              "{\"id\": 4, \"name\": \"c\", \"node_type\": \"coll_comm_node\", \"inputs\": [], \"outputs\": "
              "[], "
              "\"data_deps\": [], \"ctrl_deps\": [], \"comm_size\": 64, \"comm_type\": \"ALL_GATHER\", "
              "\"comm_group\": 7}, "
              "{\"id\": 5, \"name\": \"s\", \"node_type\": \"comm_send_node\", \"data_deps\": [3, 4], "
              "\"comm_size\": 9, \"comm_tag\": 885440, \"comm_dst\": 1}, "
              "{\"id\": 6, \"name\": \"r\", \"node_type\": \"comm_recv_node\", "
              "\"comm_size\": 8, \"comm_tag\": 12, \"comm_src\": 2}]}"),
        &err);
    g = &trace.graph;
    assert_int_equal(g->n_nodes, 4);
    assert_string_equal(g->node[0].name, "a@0_COMP");
    assert_int_equal(g->node[0].type, WL_NODE_COMP);
    assert_u64(g->node[0].num_ops, 512);
    assert_u64(g->node[0].tensor_size, 224);
    assert_true(g->node[0].has_io);
    assert_u64(g->inputs.item[0].size, 10);
    assert_u64(g->outputs.item[0].size, 1);
    assert_int_equal(g->ctrl_deps.item[0], 1);
    assert_int_equal(g->node[1].coll, WL_ALL_GATHER);
    assert_string_equal(trace.group_name[g->node[1].slot], "7");
    assert_int_equal(g->data_deps.start[3] - g->data_deps.start[2], 2);
    assert_int_equal(trace.p2p[g->node[2].slot].peer, 1);
    assert_int_equal(trace.p2p[g->node[2].slot].tag, 885440);
    assert_int_equal(trace.p2p[g->node[3].slot].peer, 2);
    assert_false(g->node[3].has_io);
    dse_arena_free(&arena);
}

/* ---- the feeder's spelling --------------------------------------------------------------------- */

CLAIM(the_feeder_s_spelling_is_read)
{
    const wl_graph *g;

    assert_ok(
        parse("{\"workload_graph\": ["
              "{\"Id\": 1, \"Name\": \"c\", \"NodeType\": 4, \"is_cpu_op\": true, \"runtime\": 12, "
              "\"num_ops\": 5, \"tensor_size\": 6},"
              "{\"Id\": 2, \"Name\": \"g\", \"NodeType\": 7, \"comm_type\": 7, \"comm_size\": 8, "
              "\"is_cpu_op\": false, \"pg_name\": \"x\", \"data_deps\": [1]},"
              "{\"Id\": 3, \"Name\": \"m\", \"NodeType\": 2, \"tensor_size\": 6, \"duration_micros\": 4}]}"),
        &err);
    g = &trace.graph;
    assert_int_equal(g->n_nodes, 3);
    assert_true(g->node[0].is_cpu_op);
    assert_u64(g->node[0].duration_us, 12);
    assert_int_equal(g->node[1].type, WL_NODE_COLL);
    assert_int_equal(g->node[1].coll, WL_REDUCE_SCATTER);
    assert_false(g->node[1].is_cpu_op);
    assert_string_equal(trace.group_name[g->node[1].slot], "x");
    assert_int_equal(g->node[2].type, WL_NODE_MEM_LOAD);
    assert_u64(g->node[2].duration_us, 4);
    dse_arena_free(&arena);
}

CLAIM(missing_attributes_are_noted_by_name)
{
    assert_ok(parse("{\"nodes\": [{\"id\": 1, \"node_type\": \"comp_node\", \"num_ops\": 1}]}"), &err);
    assert_string_equal(trace.graph.node[0].lacks, "tensor_size");
    assert_string_equal(trace.graph.node[0].name, "");
    dse_arena_free(&arena);
}

/* ---- refusals ----------------------------------------------------------------------------------- */

CLAIM(a_trace_is_a_list_of_nodes)
{
    refuse("{}", DSE_E_SYNTAX, "w.3.json", "a trace in JSON has a list 'nodes' or 'workload_graph'");
    refuse("[]", DSE_E_SYNTAX, "w.3.json", "a trace in JSON has a list 'nodes' or 'workload_graph'");
    refuse("{\"nodes\": {}}", DSE_E_SYNTAX, "w.3.json",
           "a trace in JSON has a list 'nodes' or 'workload_graph'");
    refuse("{\"nodes\": []}", DSE_E_WORKLOAD, "w.3.json", "the trace has no nodes");
    refuse("{\"nodes\": [5]}", DSE_E_WORKLOAD, "w.3.json:1:12", "a node is an object");
}

CLAIM(broken_json_is_refused_where_it_breaks)
{
    assert_says(parse("{\"nodes\": ["), &err, DSE_E_SYNTAX, "near end of file");
    dse_arena_free(&arena);
}

#define NODE(text) "{\"nodes\": [{" text "}]}" /* the text begins at column 13 */

CLAIM(values_of_nodes_are_checked_where_they_stand)
{
    refuse(NODE("\"node_type\": 4"), DSE_E_WORKLOAD, "w.3.json:1:12", "the node has no id");
    refuse(NODE("\"id\": 1"), DSE_E_WORKLOAD, "w.3.json:1:12", "the node has no type");
    refuse(NODE("\"id\": 1, \"node_type\": \"comp\""), DSE_E_WORKLOAD, "w.3.json:1:35", "unknown node type");
    refuse(NODE("\"id\": 1, \"node_type\": 8"), DSE_E_WORKLOAD, "w.3.json:1:35", "unknown node type");
    refuse(NODE("\"id\": 1, \"node_type\": [4]"), DSE_E_WORKLOAD, "w.3.json:1:35", "the node has no type");
    refuse(NODE("\"id\": \"1\", \"node_type\": 4"), DSE_E_WORKLOAD, "w.3.json:1:19",
           "a whole number is expected here");
    refuse(NODE("\"id\": 1, \"node_type\": 4, \"num_ops\": 1.5"), DSE_E_WORKLOAD, "w.3.json:1:49",
           "a whole number is expected here");
    refuse(NODE("\"id\": 1, \"node_type\": 7, \"comm_type\": \"GATHER_ALL\""), DSE_E_WORKLOAD,
           "w.3.json:1:51", "unknown collective type");
    refuse(NODE("\"id\": 1, \"node_type\": 4, \"data_deps\": 5"), DSE_E_WORKLOAD, "w.3.json:1:51",
           "dependencies are a list of node ids");
    refuse(NODE("\"id\": 1, \"node_type\": 4, \"ctrl_deps\": [-1]"), DSE_E_WORKLOAD, "w.3.json:1:52",
           "a dependency is a node id");
    refuse(NODE("\"id\": 1, \"node_type\": 4, \"inputs\": 5"), DSE_E_WORKLOAD, "w.3.json:1:48",
           "inputs and outputs are lists of {name, size}");
    refuse(NODE("\"id\": 1, \"node_type\": 4, \"inputs\": [{\"name\": \"x\"}]"), DSE_E_WORKLOAD,
           "w.3.json:1:49", "inputs and outputs are lists of {name, size}");
    refuse(NODE("\"id\": 1, \"node_type\": 4, \"inputs\": [5]"), DSE_E_WORKLOAD, "w.3.json:1:49",
           "inputs and outputs are lists of {name, size}");
}

CLAIM(workloads_that_cannot_be_run_are_refused)
{
    refuse(NODE("\"id\": 5, \"node_type\": 4, \"data_deps\": [6]"), DSE_E_WORKLOAD, "w.3.json",
           "node 5: depends on node 6, which is not in the file");
    refuse(NODE("\"id\": 5, \"node_type\": 4, \"data_deps\": [5]"), DSE_E_WORKLOAD, "w.3.json",
           "node 5 '' is on a dependency cycle; 1 of 1 nodes can never start");
    refuse(NODE("\"id\": 5, \"node_type\": 4}, {\"id\": 5, \"node_type\": 4"), DSE_E_WORKLOAD, "w.3.json",
           "node id 5 stands twice");
    refuse(NODE("\"id\": 5, \"node_type\": 5, \"comm_src\": 1, \"comm_dst\": 2"), DSE_E_WORKLOAD, "w.3.json",
           "node 5: a send of rank 1 in the file of rank 3");
    refuse(NODE("\"id\": 5, \"node_type\": 4, \"inputs\": [{\"name\": \"x\", \"size\": \"big\"}]"),
           DSE_E_WORKLOAD, "w.3.json", "the size 'big' of tensor 'x' is not a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stage_s_spelling_is_read),
        cmocka_unit_test(the_feeder_s_spelling_is_read),
        cmocka_unit_test(missing_attributes_are_noted_by_name),
        cmocka_unit_test(a_trace_is_a_list_of_nodes),
        cmocka_unit_test(broken_json_is_refused_where_it_breaks),
        cmocka_unit_test(values_of_nodes_are_checked_where_they_stand),
        cmocka_unit_test(workloads_that_cannot_be_run_are_refused),
    };
    return RUN_TESTS(tests);
}
