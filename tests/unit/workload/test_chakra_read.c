/* Reading a whole workload: files per rank, compressed or not, in protobuf or JSON, and the group file. */
#include "unit/unit.h"

#include "unit/workload/et.h"
#include "workload/chakra.h"

#include <sys/wait.h>

static dse_arena arena;
static dse_error err;
static wl_workload w;
static char folder[64], prefix[80], groups[80];

static void begin(void)
{
    unit_make_folder(folder);
    snprintf(prefix, sizeof prefix, "%s/w", folder);
    snprintf(groups, sizeof groups, "%s/g.json", folder);
}

static dse_status read_all(const char *groups_path, uint32_t n_ranks)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return wl_chakra_read(prefix, groups_path, n_ranks, NULL, &arena, &w, &err);
}

static void end(void)
{
    dse_arena_free(&arena);
    unit_remove_folder(folder);
}

/* The trace of a rank: a compute node and a collective of `group`. */
static void make_trace(dse_strbuf *file, uint32_t rank, const char *group)
{
    dse_strbuf node;

    et_begin(file, &node);
    et_comp(&node, 10 * rank, "comp", 100, 8);
    et_message(file, &node);
    et_coll(&node, 10 * rank + 1, "coll", WL_ALL_REDUCE, 64, group);
    et_message(file, &node);
    dse_strbuf_free(&node);
}

static void write_trace(uint32_t rank, const char *group)
{
    char path[128];
    dse_strbuf file;

    make_trace(&file, rank, group);
    snprintf(path, sizeof path, "%s.%u.et", prefix, rank);
    unit_write(path, file.data, file.len);
    dse_strbuf_free(&file);
}

/* ---- files ---------------------------------------------------------------------------------- */

CLAIM(each_rank_has_a_file)
{
    begin();
    write_trace(0, NULL);
    write_trace(1, NULL);
    assert_ok(read_all(NULL, 2), &err);
    assert_int_equal(w.n_ranks, 2);
    assert_u64(wl_node_id(&w, 1, 0), 10);
    assert_u64(wl_node_id(&w, 1, 1), 11);
    assert_int_equal(w.n_groups, 1); /* no group file: everybody */
    assert_string_equal(w.group[0].name, "");
    assert_int_equal(w.group[0].n, 2);
    assert_int_equal(w.rank[1].group[0], 0);
    end();
}

CLAIM(ranks_whose_files_say_the_same_share_a_graph)
{
    begin();
    unit_write_text(groups, "{\"5\": [0, 2], \"6\": [1, 3]}");
    write_trace(0, "5");
    write_trace(1, NULL);
    write_trace(2, "5");
    write_trace(3, "6");
    assert_ok(read_all(groups, 4), &err);
    assert_int_equal(w.n_graphs, 2);
    assert_int_equal(w.rank[0].graph, 0);
    assert_int_equal(w.rank[1].graph, 1); /* no group is not a group of another name */
    assert_int_equal(w.rank[2].graph, 0);
    assert_int_equal(w.rank[3].graph, 0);
    assert_u64(wl_node_id(&w, 2, 0), 20);
    assert_u64(wl_node_id(&w, 3, 1), 31);
    assert_int_equal(w.rank[2].group[0], 1);
    assert_int_equal(w.rank[3].group[0], 2);
    end();
}

/* The ids of a shared graph are the first file's; the message says the file's own. */
CLAIM(errors_of_a_rank_that_shares_a_graph_have_its_own_ids)
{
    char where[128];

    begin();
    unit_write_text(groups, "{\"5\": [0, 1]}");
    write_trace(0, "5");
    write_trace(1, "5");
    write_trace(2, "5");
    snprintf(where, sizeof where, "%s.2.et", prefix);
    assert_failure(read_all(groups, 3), &err, DSE_E_WORKLOAD, where,
                   "node 21: rank 2 is not a member of group '5'");
    end();
}

CLAIM(a_missing_file_is_named)
{
    char path[128];

    begin();
    write_trace(0, NULL);
    snprintf(path, sizeof path, "%s.1.et", prefix);
    assert_failure(read_all(NULL, 2), &err, DSE_E_IO, path, "the workload file does not exist");
    end();
}

CLAIM(errors_in_a_file_name_the_file)
{
    char path[128];

    begin();
    write_trace(0, NULL);
    snprintf(path, sizeof path, "%s.1.et", prefix);
    unit_write(path, "\0\x05\x08", 3);
    assert_failure(read_all(NULL, 2), &err, DSE_E_SYNTAX, path,
                   "a message that is longer than the file at byte 1; the file is corrupt or truncated");
    end();
}

CLAIM(a_path_too_long_is_refused)
{
    char longer[5000];

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(wl_chakra_read(longer, NULL, 1, NULL, &arena, &w, &err), &err, DSE_E_IO, "is too long");
    dse_arena_free(&arena);
}

/* gzip(1) makes the file, so that it is not zlib alone that agrees with itself. */
static void compress_file(const char *path)
{
    char command[512];

    snprintf(command, sizeof command, "gzip -n '%s' && mv '%s.gz' '%s'", path, path, path);
    assert_int_equal(system(command), 0);
}

CLAIM(compressed_traces_are_read)
{
    char path[128];
    dse_strbuf file;

    begin();
    write_trace(0, NULL);
    snprintf(path, sizeof path, "%s.0.et", prefix);
    compress_file(path);
    dse_strbuf_init(&file);
    assert_int_equal(access(path, R_OK), 0);
    dse_strbuf_free(&file);
    assert_ok(read_all(NULL, 1), &err);
    assert_int_equal(w.graph[0].n_nodes, 2);
    end();
}

CLAIM(a_truncated_compressed_trace_is_refused)
{
    char path[128];
    struct stat sb;

    begin();
    write_trace(0, NULL);
    snprintf(path, sizeof path, "%s.0.et", prefix);
    compress_file(path);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(truncate(path, sb.st_size - 10), 0);
    assert_says(read_all(NULL, 1), &err, DSE_E_SYNTAX, "cannot read: unexpected end of");
    assert_string_equal(err.where, path);
    end();
}

CLAIM(a_corrupt_compressed_trace_is_refused)
{
    char path[128];
    FILE *f;

    begin();
    write_trace(0, NULL);
    snprintf(path, sizeof path, "%s.0.et", prefix);
    compress_file(path);
    f = fopen(path, "r+b");
    fseek(f, -8, SEEK_END); /* the checksum */
    fputs("????", f);
    fclose(f);
    assert_says(read_all(NULL, 1), &err, DSE_E_SYNTAX, "cannot read: ");
    end();
}

static const char json_trace[] = "{\"nodes\": [{\"id\": 1, \"name\": \"j\", \"node_type\": \"comp_node\", "
                                 "\"num_ops\": 1, \"tensor_size\": 1}]}";

CLAIM(json_is_taken_where_there_is_no_protobuf_file)
{
    char path[128];

    begin();
    snprintf(path, sizeof path, "%s.0.json", prefix);
    unit_write_text(path, json_trace);
    assert_ok(read_all(NULL, 1), &err);
    assert_string_equal(w.graph[0].node[0].name, "j");
    end();
}

CLAIM(a_protobuf_file_goes_before_a_json_file)
{
    char path[128];

    begin();
    snprintf(path, sizeof path, "%s.0.json", prefix);
    unit_write_text(path, json_trace);
    write_trace(0, NULL);
    assert_ok(read_all(NULL, 1), &err);
    assert_string_equal(w.graph[0].node[0].name, "comp");
    end();
}

/* STAGE writes its JSON as "w.0.et". */
CLAIM(json_under_the_name_of_a_trace_is_recognised)
{
    char path[128];

    begin();
    snprintf(path, sizeof path, "%s.0.et", prefix);
    unit_write_text(path, json_trace);
    assert_ok(read_all(NULL, 1), &err);
    assert_string_equal(w.graph[0].node[0].name, "j");
    end();
}

/* A metadata message of 123 bytes begins with '{', too. */
CLAIM(a_protobuf_file_that_begins_with_a_brace_is_not_json)
{
    char path[128], version[122];
    dse_strbuf file, node;

    begin();
    memset(version, 'v', sizeof version);
    version[121] = '\0';
    dse_strbuf_init(&file);
    dse_strbuf_init(&node);
    pb_put_string(&node, 1, version);
    assert_int_equal(node.len, '{');
    et_message(&file, &node);
    et_comp(&node, 1, "p", 1, 1);
    et_message(&file, &node);
    assert_int_equal(file.data[0], '{');
    snprintf(path, sizeof path, "%s.0.et", prefix);
    unit_write(path, file.data, file.len);
    dse_strbuf_free(&file);
    dse_strbuf_free(&node);
    assert_ok(read_all(NULL, 1), &err);
    assert_string_equal(w.graph[0].node[0].name, "p");
    end();
}

/* ---- groups ---------------------------------------------------------------------------------- */

CLAIM(groups_are_bound_by_name_in_the_order_of_the_file)
{
    begin();
    unit_write_text(groups, "{\"5\": [2, 0], \"1\": [1]}");
    write_trace(0, "5");
    write_trace(1, "1");
    write_trace(2, "5");
    assert_ok(read_all(groups, 3), &err);
    assert_int_equal(w.n_groups, 3);
    assert_string_equal(w.group[1].name, "5");
    assert_int_equal(w.group[1].n, 2);
    assert_int_equal(w.group[1].rank[0], 2); /* listed order is the order of the ring */
    assert_int_equal(w.group[1].rank[1], 0);
    assert_string_equal(w.group[2].name, "1");
    assert_int_equal(w.rank[0].group[0], 1);
    assert_int_equal(w.rank[1].group[0], 2);
    assert_int_equal(w.rank[2].group[0], 1);
    end();
}

CLAIM(an_unknown_group_is_refused_with_the_node)
{
    char where[128];

    begin();
    unit_write_text(groups, "{\"5\": [0, 1]}");
    write_trace(0, "5");
    write_trace(1, "6");
    snprintf(where, sizeof where, "%s.1.et", prefix);
    assert_failure(read_all(groups, 2), &err, DSE_E_WORKLOAD, where,
                   "node 11: unknown communicator group '6'; it is not in the group file");
    end();
}

CLAIM(the_file_that_was_read_is_named)
{
    char path[128];

    begin();
    snprintf(path, sizeof path, "%s.0.json", prefix);
    unit_write_text(path, "{\"nodes\": [{\"id\": 7, \"node_type\": \"coll_comm_node\", \"comm_size\": 1, "
                          "\"comm_type\": \"ALL_REDUCE\", \"comm_group\": 6}]}");
    assert_failure(read_all(NULL, 1), &err, DSE_E_WORKLOAD, path,
                   "node 7: unknown communicator group '6'; it is not in the group file");
    end();
}

CLAIM(a_rank_outside_of_its_group_is_refused)
{
    char where[128];

    begin();
    unit_write_text(groups, "{\"5\": [0]}");
    write_trace(0, "5");
    write_trace(1, "5");
    snprintf(where, sizeof where, "%s.1.et", prefix);
    assert_failure(read_all(groups, 2), &err, DSE_E_WORKLOAD, where,
                   "node 11: rank 1 is not a member of group '5'");
    end();
}

static void refuse_groups(const char *text, dse_status status, const char *place, const char *message)
{
    char where[128];

    begin();
    unit_write_text(groups, text);
    write_trace(0, NULL);
    write_trace(1, NULL);
    snprintf(where, sizeof where, "%s%s", groups, place);
    assert_failure(read_all(groups, 2), &err, status, where, message);
    end();
}

CLAIM(group_files_are_checked)
{
    refuse_groups("[[0, 1]]", DSE_E_CONFIG, "", "a group file maps names to lists of ranks");
    refuse_groups("{\"1\": 5}", DSE_E_CONFIG, ":1:7", "group '1' must be a list of ranks");
    refuse_groups("{\"1\": []}", DSE_E_CONFIG, ":1:7", "group '1' must be a list of ranks");
    refuse_groups("{\"1\": [0, 2]}", DSE_E_RANGE, ":1:11", "a rank is 2; it must be between 0 and 1");
    refuse_groups("{\"1\": [-1]}", DSE_E_RANGE, ":1:8", "a rank is -1; it must be between 0 and 1");
    refuse_groups("{\"1\": [0.5]}", DSE_E_CONFIG, ":1:8", "a rank must be a whole number, not '0.5'");
    refuse_groups("{\"1\": [0],\n \"\": [0]}", DSE_E_CONFIG, ":2:2",
                  "a group without a name; \"\" is the group of all ranks");
    refuse_groups("{\"1\": [0], \"1\": [1]}", DSE_E_SYNTAX, ":1:14", "duplicate object key near '\"1\"'");
    refuse_groups("{\"1\": [0, 1, 0]}", DSE_E_CONFIG, "", "group '1' names rank 0 twice");
    begin();
    assert_says(read_all("/tmp/ccldse-unit-none.json", 1), &err, DSE_E_IO, "cannot open");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rank_has_a_file),
        cmocka_unit_test(ranks_whose_files_say_the_same_share_a_graph),
        cmocka_unit_test(errors_of_a_rank_that_shares_a_graph_have_its_own_ids),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(errors_in_a_file_name_the_file),
        cmocka_unit_test(a_path_too_long_is_refused),
        cmocka_unit_test(compressed_traces_are_read),
        cmocka_unit_test(a_truncated_compressed_trace_is_refused),
        cmocka_unit_test(a_corrupt_compressed_trace_is_refused),
        cmocka_unit_test(json_is_taken_where_there_is_no_protobuf_file),
        cmocka_unit_test(a_protobuf_file_goes_before_a_json_file),
        cmocka_unit_test(json_under_the_name_of_a_trace_is_recognised),
        cmocka_unit_test(a_protobuf_file_that_begins_with_a_brace_is_not_json),
        cmocka_unit_test(groups_are_bound_by_name_in_the_order_of_the_file),
        cmocka_unit_test(an_unknown_group_is_refused_with_the_node),
        cmocka_unit_test(the_file_that_was_read_is_named),
        cmocka_unit_test(a_rank_outside_of_its_group_is_refused),
        cmocka_unit_test(group_files_are_checked),
    };
    return RUN_TESTS(tests);
}
