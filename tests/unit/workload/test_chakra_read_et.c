#include "unit/unit.h"

#include "unit/workload/et.h"
#include "workload/chakra.h"

static dse_arena arena;
static dse_error err;
static wl_trace trace;
static dse_strbuf file, node;
static wl_reading *how; /* NULL: as branch stage */

/* Parses what was written into `file` as the trace of rank 3. */
static dse_status parse_bytes(const void *bytes, size_t n)
{
    unsigned char *copy =
        malloc(n ? n : 1); /* a block of its own: the sanitizer sees a read beyond its end */
    dse_status st;

    memcpy(copy, bytes, n);
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    st = wl_chakra_parse_et("w.3.et", copy, n, 3, how, &arena, &trace, &err);
    free(copy);
    return st;
}

static dse_status parse(void) { return parse_bytes(file.data, file.len); }

static void done(void)
{
    dse_arena_free(&arena);
    dse_strbuf_free(&file);
    dse_strbuf_free(&node);
}

/* The one node in `node` is refused. */
static void refuse(dse_status status, const char *message)
{
    et_message(&file, &node);
    assert_failure(parse(), &err, status, "w.3.et", message);
    done();
}

/* ---- what is read ---------------------------------------------------------------------------- */

CLAIM(every_kind_of_node_is_read)
{
    static const char *const in[] = {"a", "10.5", "b", "20.0", NULL}, *const out[] = {"c", "1e+16", NULL};
    const wl_graph *g;

    et_begin(&file, &node);
    et_comp(&node, 7, "comp", 1000, 24);
    pb_put_uint(&node, ET_DURATION, 12);
    et_strings_attr(&node, "inputs", in);
    et_strings_attr(&node, "outputs", out);
    et_message(&file, &node);
    et_coll(&node, 9, "coll", WL_REDUCE_SCATTER, 4096, "5");
    et_dep(&node, 7);
    et_message(&file, &node);
    et_message_node(&node, 1000, "send", true, 4, 128, 885440);
    et_message(&file, &node);
    et_message_node(&node, 1001, "recv", false, 2, 64, 17);
    et_message(&file, &node);
    et_node(&node, 8, "load", WL_NODE_MEM_LOAD);
    et_attr(&node, "tensor_size", ET_UINT64, 99);
    et_attr(&node, "is_cpu_op", ET_INT32, 1);
    et_message(&file, &node);
    assert_ok(parse(), &err);
    g = &trace.graph;
    assert_int_equal(g->n_nodes, 5);
    assert_string_equal(g->node[0].name, "comp");
    assert_int_equal(g->node[0].type, WL_NODE_COMP);
    assert_u64(g->node[0].num_ops, 1000);
    assert_u64(g->node[0].tensor_size, 24);
    assert_u64(g->node[0].duration_us, 12);
    assert_true(g->node[0].has_io);
    assert_null(g->node[0].lacks);
    assert_int_equal(g->inputs.start[1], 2);
    assert_string_equal(g->tensor[g->inputs.item[1].tensor].name, "b");
    assert_u64(g->inputs.item[0].size, 10); /* up to the point */
    assert_u64(g->outputs.item[0].size, 1); /* up to the 'e' */
    assert_int_equal(g->node[1].type, WL_NODE_COLL);
    assert_int_equal(g->node[1].coll, WL_REDUCE_SCATTER);
    assert_u64(g->node[1].comm_size, 4096);
    assert_false(g->node[1].has_io);
    assert_string_equal(trace.group_name[g->node[1].slot], "5");
    assert_int_equal(g->data_deps.item[0], 0);
    assert_int_equal(g->node[2].type, WL_NODE_SEND);
    assert_int_equal(trace.p2p[g->node[2].slot].peer, 4);
    assert_int_equal(trace.p2p[g->node[2].slot].tag, 885440);
    assert_u64(trace.p2p[g->node[2].slot].id, 1000);
    assert_int_equal(trace.p2p[g->node[3].slot].peer, 2);
    assert_int_equal(g->node[4].type, WL_NODE_MEM_LOAD);
    assert_true(g->node[4].is_cpu_op);
    assert_u64(trace.id[4], 8);
    /* In ascending id: 7, 8, 9, 1000, 1001. */
    assert_int_equal(g->by_id[1], 4);
    assert_int_equal(g->by_id[4], 3);
    done();
}

CLAIM(groups_and_tensors_of_one_name_are_one)
{
    static const char *const x[] = {"x", "1.0", NULL}, *const none[] = {NULL};

    et_begin(&file, &node);
    for (uint64_t i = 0; i < 4; i++) {
        et_coll(&node, i, "c", WL_ALL_REDUCE, 8, i % 2 ? "one" : "two");
        et_strings_attr(&node, "inputs", x);
        et_strings_attr(&node, "outputs", none);
        et_message(&file, &node);
    }
    assert_ok(parse(), &err);
    assert_int_equal(trace.graph.n_group_slots, 2);
    assert_int_equal(trace.graph.n_tensors, 1);
    assert_int_equal(trace.graph.node[0].slot, trace.graph.node[2].slot);
    assert_int_not_equal(trace.graph.node[0].slot, trace.graph.node[1].slot);
    done();
}

CLAIM(a_collective_without_a_group_is_of_all_ranks)
{
    et_begin(&file, &node);
    et_coll(&node, 1, "c", WL_ALL_REDUCE, 8, NULL);
    et_message(&file, &node);
    assert_ok(parse(), &err);
    assert_string_equal(trace.group_name[trace.graph.node[0].slot], "");
    done();
}

static void put_dims(const char *name, const char *list, size_t n)
{
    dse_strbuf a;

    dse_strbuf_init(&a);
    pb_put_string(&a, 1, name);
    pb_put_bytes(&a, ET_BOOL_LIST, list, n);
    pb_put_bytes(&node, ET_ATTR, a.data, a.len);
    dse_strbuf_free(&a);
}

static void put_involve_dims(const char *list, size_t n) { put_dims("involve_dims", list, n); }

/* BoolList is {repeated bool values = 1}: packed 0a 03 01 00 01, or one tag each 08 01 08 00 08 01. */
CLAIM(involved_dimensions_may_be_packed_or_not)
{
    static const struct {
        const char *bytes;
        size_t n;
    } lists[] = {
        {"\x0a\x03\x01\x00\x01", 5}, {"\x08\x01\x08\x00\x08\x01", 6}, {"\x0a\x02\x01\x00\x08\x01", 6}};

    for (size_t i = 0; i < 3; i++) {
        et_begin(&file, &node);
        et_coll(&node, 1, "c", WL_ALL_REDUCE, 8, NULL);
        put_involve_dims(lists[i].bytes, lists[i].n);
        et_message(&file, &node);
        assert_ok(parse(), &err);
        assert_int_equal(trace.graph.node[0].slot, DSE_NONE);
        assert_int_equal(trace.graph.node[0].n_involved_dims, 3);
        assert_int_equal(trace.graph.node[0].involved_dims, 5); /* bits 0 and 2 */
        done();
    }
}

/* Dimensions 0 and 2 by the one attribute, the first four without; the other attribute has no effect, and neither
 * has with a group. */
CLAIM(with_numbered_groups_a_collective_without_one_goes_over_dimensions)
{
    static const struct {
        const char *group, *attribute;
        uint32_t n_dims, dims;
    } cases[] = {{NULL, "involved_dim", 3, 5}, {"0", "involved_dim", 3, 5}, {"", "involve_dims", 16, 15},
                 {"7", "involved_dim", 3, 5}, {"7", "involve_dims", 0, 0}};
    wl_reading numbered = {.numbered_groups = true};

    how = &numbered;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool has_group = cases[i].group && *cases[i].group == '7';

        et_begin(&file, &node);
        et_coll(&node, 1, "c", WL_ALL_REDUCE, 8, cases[i].group);
        put_dims(cases[i].attribute, "\x0a\x03\x01\x00\x01", 5);
        et_message(&file, &node);
        assert_ok(parse(), &err);
        assert_int_equal(trace.graph.node[0].slot, has_group ? 0 : DSE_NONE);
        assert_int_equal(trace.graph.node[0].n_involved_dims, cases[i].n_dims);
        assert_int_equal(trace.graph.node[0].involved_dims, cases[i].dims);
        if (has_group)
            assert_string_equal(trace.group_name[0], "7");
        done();
    }
    how = NULL;
}

CLAIM(dependencies_on_absent_nodes_are_dropped_where_that_is_asked_for)
{
    wl_reading drop = {.drop_absent = true};

    how = &drop;
    et_begin(&file, &node);
    et_comp(&node, 5, "a", 1, 1);
    et_dep(&node, 4711);
    et_message(&file, &node);
    et_comp(&node, 6, "b", 1, 1);
    et_dep(&node, 4712);
    et_dep(&node, 5);
    et_message(&file, &node);
    assert_ok(parse(), &err);
    assert_int_equal(wl_n_parents(&trace.graph, 0), 0);
    assert_int_equal(wl_n_parents(&trace.graph, 1), 1);
    assert_int_equal(trace.graph.data_deps.item[0], 0);
    assert_int_equal(drop.n_dropped, 2);
    assert_int_equal(drop.dropped_node, 5);
    assert_int_equal(drop.dropped_on, 4711);
    assert_string_equal(drop.dropped_path, "w.3.et");
    done();
    how = NULL;
}

CLAIM(too_many_involved_dimensions_are_refused)
{
    et_begin(&file, &node);
    et_coll(&node, 4, "c", WL_ALL_REDUCE, 8, NULL);
    put_involve_dims("\x0a\x11\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1", 19);
    refuse(DSE_E_WORKLOAD, "node 4: involve_dims has more than 16 entries");
}

/* Chakra's feeder takes an attribute of any integer type: int32, int64, uint32, uint64, sint32, sint64, fixed32,
 * fixed64, sfixed32, sfixed64, bool. */
CLAIM(integers_are_taken_in_any_of_protobuf_s_types)
{
    static const struct {
        uint32_t field, wire;
        uint64_t written, expected;
    } cases[] = {
        {7, PB_VARINT, 300, 300},   {9, PB_VARINT, 300, 300},
        {11, PB_VARINT, 300, 300},  {13, PB_VARINT, 300, 300},
        {15, PB_VARINT, 600, 300},  {17, PB_VARINT, 600, 300}, /* zigzag: twice the value */
        {19, PB_FIXED32, 300, 300}, {21, PB_FIXED64, 300, 300},
        {23, PB_FIXED32, 300, 300}, {25, PB_FIXED64, 300, 300},
        {27, PB_VARINT, 1, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dse_strbuf a;

        et_begin(&file, &node);
        et_node(&node, 1, "c", WL_NODE_COMP);
        et_attr(&node, "tensor_size", ET_UINT64, 1);
        dse_strbuf_init(&a);
        pb_put_string(&a, 1, "num_ops");
        pb_put_tag(&a, cases[i].field, cases[i].wire);
        if (cases[i].wire == PB_VARINT)
            pb_put_varint(&a, cases[i].written);
        else
            for (int byte = 0; byte < (cases[i].wire == PB_FIXED32 ? 4 : 8); byte++)
                dse_strbuf_addc(&a, (char)(cases[i].written >> 8 * byte));
        pb_put_bytes(&node, ET_ATTR, a.data, a.len);
        dse_strbuf_free(&a);
        et_message(&file, &node);
        assert_ok(parse(), &err);
        assert_u64(trace.graph.node[0].num_ops, cases[i].expected);
        done();
    }
}

CLAIM(of_two_attributes_of_one_name_the_first_counts)
{
    et_begin(&file, &node);
    et_comp(&node, 1, "c", 5, 6);
    et_attr(&node, "num_ops", ET_INT64, 7);
    et_message(&file, &node);
    assert_ok(parse(), &err);
    assert_u64(trace.graph.node[0].num_ops, 5);
    done();
}

CLAIM(unknown_attributes_and_fields_are_skipped)
{
    et_begin(&file, &node);
    et_comp(&node, 1, "c", 5, 6);
    et_attr(&node, "comm_priority", ET_UINT32, 7);
    et_string_attr(&node, "tensor_loc", "LOCAL");
    pb_put_uint(&node, 6, 123);    /* start_time_micros */
    pb_put_string(&node, 8, "io"); /* a message of another version */
    et_message(&file, &node);
    assert_ok(parse(), &err);
    assert_int_equal(trace.graph.n_nodes, 1);
    done();
}

CLAIM(metadata_may_say_anything)
{
    dse_strbuf_init(&file);
    dse_strbuf_init(&node);
    et_string_attr(&node, "schema", "symbolic_tensor_network"); /* field 10 */
    pb_put_string(&node, 1, "0.0.4");                           /* version, a string */
    et_message(&file, &node);
    et_comp(&node, 1, "c", 5, 6);
    et_message(&file, &node);
    assert_ok(parse(), &err);
    done();
}

/* What a node needs to be run is told, not demanded: a run that replays it does not need it. */
CLAIM(missing_attributes_are_noted_by_name)
{
    static const struct {
        uint32_t type;
        const char *has[3], *lacks;
    } cases[] = {
        {WL_NODE_COMP, {NULL}, "num_ops"},
        {WL_NODE_COMP, {"num_ops"}, "tensor_size"},
        {WL_NODE_COLL, {NULL}, "comm_type"},
        {WL_NODE_COLL, {"comm_type"}, "comm_size"},
        {WL_NODE_SEND, {NULL}, "comm_dst"},
        {WL_NODE_SEND, {"comm_dst"}, "comm_size"},
        {WL_NODE_SEND, {"comm_dst", "comm_size"}, "comm_tag"},
        {WL_NODE_RECV, {NULL}, "comm_src"},
        {WL_NODE_RECV, {"comm_src", "comm_size"}, "comm_tag"},
        {WL_NODE_MEM_LOAD, {NULL}, "tensor_size"},
        {WL_NODE_MEM_STORE, {NULL}, "tensor_size"},
        {WL_NODE_METADATA, {NULL}, NULL},
        {WL_NODE_INVALID, {NULL}, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        et_begin(&file, &node);
        et_node(&node, 1, "n", cases[i].type);
        for (int k = 0; k < 3 && cases[i].has[k]; k++)
            et_attr(&node, cases[i].has[k], ET_INT64, 1);
        et_message(&file, &node);
        assert_ok(parse(), &err);
        if (cases[i].lacks)
            assert_string_equal(trace.graph.node[0].lacks, cases[i].lacks);
        else
            assert_null(trace.graph.node[0].lacks);
        done();
    }
}

CLAIM(memory_can_be_tracked_if_inputs_and_outputs_are_there)
{
    static const char *const none[] = {NULL};

    et_begin(&file, &node);
    et_comp(&node, 1, "both", 1, 1);
    et_strings_attr(&node, "inputs", none);
    et_strings_attr(&node, "outputs", none);
    et_message(&file, &node);
    et_comp(&node, 2, "one", 1, 1);
    et_strings_attr(&node, "inputs", none);
    et_message(&file, &node);
    et_comp(&node, 3, "no value", 1, 1);
    for (int i = 0; i < 2; i++) { /* as STAGE writes an empty list: an attribute with a name alone */
        dse_strbuf a;

        dse_strbuf_init(&a);
        pb_put_string(&a, 1, i ? "outputs" : "inputs");
        pb_put_bytes(&node, ET_ATTR, a.data, a.len);
        dse_strbuf_free(&a);
    }
    et_message(&file, &node);
    assert_ok(parse(), &err);
    assert_true(trace.graph.node[0].has_io);
    assert_false(trace.graph.node[1].has_io);
    assert_true(trace.graph.node[2].has_io);
    done();
}

CLAIM(dependencies_may_be_packed_or_not)
{
    static const uint64_t both[] = {1, 2};

    et_begin(&file, &node);
    et_comp(&node, 1, "a", 1, 1);
    et_message(&file, &node);
    et_comp(&node, 2, "b", 1, 1);
    et_message(&file, &node);
    et_comp(&node, 3, "c", 1, 1);
    et_deps(&node, false, both, 2);
    pb_put_uint(&node, ET_CTRL_DEPS, 1);
    pb_put_uint(&node, ET_CTRL_DEPS, 2);
    et_message(&file, &node);
    assert_ok(parse(), &err);
    assert_int_equal(trace.graph.data_deps.start[3], 2);
    assert_int_equal(trace.graph.ctrl_deps.start[3], 2);
    assert_int_equal(trace.graph.ctrl_deps.item[1], 1);
    assert_int_equal(wl_n_parents(&trace.graph, 2), 2);
    done();
}

/* 00 is the empty metadata, 08 the length of the node; its id takes 2 bytes more: the list is at byte 4. */
CLAIM(a_dependency_that_is_no_number_is_refused_where_it_stands)
{
    et_begin(&file, &node);
    pb_put_uint(&node, ET_ID, 5);
    pb_put_tag(&node, ET_DATA_DEPS, PB_FIXED32);
    dse_strbuf_add(&node, "\1\0\0\0", 4);
    refuse(DSE_E_SYNTAX, "a malformed dependency list at byte 4; the file is corrupt or truncated");
}

CLAIM(groups_may_be_many)
{
    char name[16];

    et_begin(&file, &node);
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "g%u", i % 500);
        et_coll(&node, i, "c", WL_ALL_REDUCE, 8, name);
        et_message(&file, &node);
    }
    assert_ok(parse(), &err);
    assert_int_equal(trace.graph.n_group_slots, 500);
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "g%u", i % 500);
        assert_int_equal(trace.graph.node[i].slot, i % 500); /* in the order of the file */
        assert_string_equal(trace.group_name[i % 500], name);
    }
    done();
}

CLAIM(a_dependency_may_stand_later_in_the_file)
{
    et_begin(&file, &node);
    et_comp(&node, 5, "a", 1, 1);
    et_dep(&node, 3);
    et_message(&file, &node);
    et_comp(&node, 3, "b", 1, 1);
    et_message(&file, &node);
    assert_ok(parse(), &err);
    assert_int_equal(trace.graph.parents.item[0], 1);
    done();
}

/* ---- workloads that cannot be run ------------------------------------------------------------- */

CLAIM(a_dangling_dependency_is_refused)
{
    et_begin(&file, &node);
    et_comp(&node, 5, "a", 1, 1);
    et_dep(&node, 4711);
    refuse(DSE_E_WORKLOAD, "node 5: depends on node 4711, which is not in the file");
}

CLAIM(an_id_that_stands_twice_is_refused)
{
    et_begin(&file, &node);
    et_comp(&node, 5, "a", 1, 1);
    et_message(&file, &node);
    et_comp(&node, 5, "b", 1, 1);
    refuse(DSE_E_WORKLOAD, "node id 5 stands twice");
}

CLAIM(a_cycle_is_refused)
{
    et_begin(&file, &node);
    et_comp(&node, 5, "a", 1, 1);
    et_dep(&node, 5);
    refuse(DSE_E_WORKLOAD, "node 5 'a' is on a dependency cycle; 1 of 1 nodes can never start");
}

CLAIM(a_trace_without_nodes_is_refused)
{
    et_begin(&file, &node);
    assert_failure(parse(), &err, DSE_E_WORKLOAD, "w.3.et", "the trace has no nodes");
    done();
}

CLAIM(messages_of_another_rank_are_refused)
{
    et_begin(&file, &node);
    et_message_node(&node, 5, "s", true, 4, 1, 1);
    et_attr(&node, "comm_src", ET_INT32, 2);
    refuse(DSE_E_WORKLOAD, "node 5: a send of rank 2 in the file of rank 3");
    et_begin(&file, &node);
    et_message_node(&node, 5, "r", false, 4, 1, 1);
    et_attr(&node, "comm_dst", ET_INT32, 2);
    refuse(DSE_E_WORKLOAD, "node 5: a receive of rank 2 in the file of rank 3");
    et_begin(&file, &node);
    et_message_node(&node, 5, "r", false, 4, 1, 1);
    et_attr(&node, "comm_dst", ET_INT32, 3); /* its own: fine */
    et_message(&file, &node);
    assert_ok(parse(), &err);
    done();
}

CLAIM(unknown_types_are_refused)
{
    et_begin(&file, &node);
    et_node(&node, 5, "x", 8);
    refuse(DSE_E_WORKLOAD, "node 5: unknown node type 8");
}

CLAIM(attributes_of_another_type_are_refused)
{
    et_begin(&file, &node);
    et_node(&node, 5, "x", WL_NODE_COMP);
    et_string_attr(&node, "num_ops", "many");
    refuse(DSE_E_WORKLOAD, "node 5: num_ops is not an integer");
    et_begin(&file, &node);
    et_node(&node, 5, "x", WL_NODE_COLL);
    et_attr(&node, "pg_name", ET_INT64, 1);
    refuse(DSE_E_WORKLOAD, "node 5: pg_name is not a string");
    et_begin(&file, &node);
    et_node(&node, 5, "x", WL_NODE_COLL);
    et_attr(&node, "involve_dims", ET_INT64, 1);
    refuse(DSE_E_WORKLOAD, "node 5: involve_dims is not a list of booleans");
}

CLAIM(tensor_lists_are_checked)
{
    static const char *const odd[] = {"a", "1.0", "b", NULL}, *const words[] = {"a", "big", NULL},
                             *const empty[] = {"a", "", NULL},
                             *const huge[] = {"a", "99999999999999999999", NULL};

    et_begin(&file, &node);
    et_comp(&node, 5, "x", 1, 1);
    et_strings_attr(&node, "inputs", odd);
    refuse(DSE_E_WORKLOAD, "node 5: the list of inputs has a name without a size");
    et_begin(&file, &node);
    et_comp(&node, 5, "x", 1, 1);
    et_strings_attr(&node, "outputs", odd);
    refuse(DSE_E_WORKLOAD, "node 5: the list of outputs has a name without a size");
    et_begin(&file, &node);
    et_comp(&node, 5, "x", 1, 1);
    et_strings_attr(&node, "inputs", words);
    refuse(DSE_E_WORKLOAD, "the size 'big' of tensor 'a' is not a number");
    et_begin(&file, &node);
    et_comp(&node, 5, "x", 1, 1);
    et_strings_attr(&node, "inputs", empty);
    refuse(DSE_E_WORKLOAD, "the size '' of tensor 'a' is not a number");
    et_begin(&file, &node);
    et_comp(&node, 5, "x", 1, 1);
    et_strings_attr(&node, "inputs", huge);
    refuse(DSE_E_WORKLOAD, "the size of tensor 'a' does not fit in 64 bits");
}

CLAIM(nul_characters_in_names_are_refused)
{
    et_begin(&file, &node);
    pb_put_uint(&node, ET_ID, 5);
    pb_put_bytes(&node, ET_NAME, "a\0b", 3);
    refuse(DSE_E_WORKLOAD, "node 5: a NUL character in a name");
}

/* ---- damaged files ----------------------------------------------------------------------------- */

CLAIM(an_empty_file_is_refused)
{
    assert_failure(parse_bytes("", 0), &err, DSE_E_SYNTAX, "w.3.et", "the file is empty");
    dse_arena_free(&arena);
}

/* Schema v0.0.1 has no metadata: its first message begins with the node's id, a number. */
CLAIM(a_file_of_an_older_schema_is_told_apart)
{
    dse_strbuf_init(&file);
    dse_strbuf_init(&node);
    et_comp(&node, 5, "x", 1, 1);
    refuse(DSE_E_SYNTAX, "the file begins with a node, not with metadata: it is not of schema v0.0.4");
}

/* Offsets count from 0: one byte of metadata (its length 0), then the node's length at byte 1. */
CLAIM(a_message_longer_than_the_file_is_refused_with_its_place)
{
    et_begin(&file, &node);
    dse_strbuf_adds(&file, "\x05\x08\x01");
    assert_failure(parse(), &err, DSE_E_SYNTAX, "w.3.et",
                   "a message that is longer than the file at byte 1; the file is corrupt or truncated");
    done();
}

CLAIM(a_malformed_node_is_refused_with_its_place)
{
    et_begin(&file, &node);
    /* 3 bytes: id 1, then a tag without a value; the reader stands at byte 5, behind the tag. */
    dse_strbuf_add(&file, "\x03\x08\x01\x18", 4);
    assert_failure(parse(), &err, DSE_E_SYNTAX, "w.3.et",
                   "a malformed node at byte 5; the file is corrupt or truncated");
    done();
}

static void write_some(void)
{
    static const char *const in[] = {"a", "10.0", NULL}, *const out[] = {"b", "20.0", NULL};
    static const uint64_t both[] = {1, 300};

    et_begin(&file, &node);
    et_comp(&node, 1, "first", 1000, 24);
    et_strings_attr(&node, "inputs", in);
    et_strings_attr(&node, "outputs", out);
    et_message(&file, &node);
    et_coll(&node, 300, "second", WL_ALL_REDUCE, 4096, "5");
    et_dep(&node, 1);
    et_message(&file, &node);
    et_message_node(&node, 301, "third", true, 1, 128, 17);
    et_deps(&node, true, both, 2);
    et_message(&file, &node);
}

/* A cut in the middle of a message is refused; one between messages cannot be seen and loses nodes, of which
 * the first is then waited for in vain or all are gone. */
CLAIM(a_truncated_file_is_refused_or_ends_between_two_nodes)
{
    uint32_t whole = 0;

    write_some();
    for (size_t n = 0; n < file.len; n++) {
        dse_status st = parse_bytes(file.data, n);

        if (st == DSE_OK)
            whole++;
        else
            assert_true(err.status == st && (st == DSE_E_SYNTAX || (st == DSE_E_WORKLOAD && n == 1)));
        dse_arena_free(&arena);
    }
    assert_int_equal(whole, 2); /* after the first node, after the second */
    done();
}

CLAIM(damaged_bytes_never_break_the_reader)
{
    uint64_t seed = 31;

    write_some();
    for (int i = 0; i < 4000; i++) {
        unsigned char bytes[1000];

        memcpy(bytes, file.data, file.len);
        for (uint64_t k = 1 + unit_random(&seed) % 4; k > 0; k--)
            bytes[unit_random(&seed) % file.len] = (unsigned char)unit_random(&seed);
        if (parse_bytes(bytes, file.len) == DSE_OK)
            assert_true(trace.graph.n_nodes <= 3);
        else
            assert_true(err.status != DSE_OK && err.text[0]);
        dse_arena_free(&arena);
    }
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_node_is_read),
        cmocka_unit_test(groups_and_tensors_of_one_name_are_one),
        cmocka_unit_test(a_collective_without_a_group_is_of_all_ranks),
        cmocka_unit_test(involved_dimensions_may_be_packed_or_not),
        cmocka_unit_test(with_numbered_groups_a_collective_without_one_goes_over_dimensions),
        cmocka_unit_test(dependencies_on_absent_nodes_are_dropped_where_that_is_asked_for),
        cmocka_unit_test(too_many_involved_dimensions_are_refused),
        cmocka_unit_test(integers_are_taken_in_any_of_protobuf_s_types),
        cmocka_unit_test(of_two_attributes_of_one_name_the_first_counts),
        cmocka_unit_test(unknown_attributes_and_fields_are_skipped),
        cmocka_unit_test(metadata_may_say_anything),
        cmocka_unit_test(missing_attributes_are_noted_by_name),
        cmocka_unit_test(memory_can_be_tracked_if_inputs_and_outputs_are_there),
        cmocka_unit_test(dependencies_may_be_packed_or_not),
        cmocka_unit_test(a_dependency_that_is_no_number_is_refused_where_it_stands),
        cmocka_unit_test(groups_may_be_many),
        cmocka_unit_test(a_dependency_may_stand_later_in_the_file),
        cmocka_unit_test(a_dangling_dependency_is_refused),
        cmocka_unit_test(an_id_that_stands_twice_is_refused),
        cmocka_unit_test(a_cycle_is_refused),
        cmocka_unit_test(a_trace_without_nodes_is_refused),
        cmocka_unit_test(messages_of_another_rank_are_refused),
        cmocka_unit_test(unknown_types_are_refused),
        cmocka_unit_test(attributes_of_another_type_are_refused),
        cmocka_unit_test(tensor_lists_are_checked),
        cmocka_unit_test(nul_characters_in_names_are_refused),
        cmocka_unit_test(an_empty_file_is_refused),
        cmocka_unit_test(a_file_of_an_older_schema_is_told_apart),
        cmocka_unit_test(a_message_longer_than_the_file_is_refused_with_its_place),
        cmocka_unit_test(a_malformed_node_is_refused_with_its_place),
        cmocka_unit_test(a_truncated_file_is_refused_or_ends_between_two_nodes),
        cmocka_unit_test(damaged_bytes_never_break_the_reader),
    };
    return RUN_TESTS(tests);
}
