#include "trace/reader.h"

#include "unit/unit.h"

typedef struct {
    trace_record record;
    dse_error err;
} fixture;

static dse_status read_text(const char *text, fixture *f)
{
    trace_source source;
    dse_status st;

    *f = (fixture){0};
    trace_source_open_bytes(&source, text, strlen(text), 256);
    st = trace_et_parse(&source, "et.json", &f->record, &f->err);
    trace_source_close(&source);
    return st;
}

static void stop(fixture *f) { trace_record_free(&f->record); }

static const trace_args *args_of(const fixture *f, size_t event)
{
    const trace_rank *r = &f->record.rank[0];

    assert_true(event < r->n_events && r->event[event].args != DSE_NONE);
    return &r->args[r->event[event].args];
}

#define NAMED(f, id) TRACE_NAME(&(f).record.rank[0], (id))

/* Schema 1.0.1: flat keys, the group is a number, the last number is the group's size. 33554432 halves. */
CLAIM(an_old_schema_gives_collective_size_and_group)
{
    const trace_args *a;
    fixture f;

    assert_ok(read_text("{\"schema\": \"1.0.1\", \"pid\": 42, \"nodes\": [{\"name\": \"record_param_comms\","
                        " \"id\": 150, \"tid\": 1, \"inputs\": [[[131,132,0,33554432,2,\"cuda:0\"]],337,"
                        "93825114103440,0,\"allreduce\",[],[],8], \"input_types\":"
                        " [\"GenericList[Tensor(c10::Half)]\",\"Int\"], \"outputs\":"
                        " [[[131,132,0,33554432,2,\"cuda:0\"]]]}]}",
                        &f),
              &f.err);
    a = args_of(&f, 0);
    assert_string_equal(NAMED(f, a->collective), "allreduce");
    assert_string_equal(NAMED(f, a->dtype), "Half");
    assert_string_equal(NAMED(f, a->group_name), "93825114103440");
    assert_int_equal(a->group_size, 8);
    assert_u64(a->in_elements, 33554432);
    assert_u64(a->bytes, 67108864);
    assert_true(f.record.rank[0].event[0].instant);
    assert_int_equal(f.record.rank[0].kind, TRACE_ET);
    stop(&f);
}

/* Schema 1.0.2: inputs.values, the group is a pair of texts; two tensors of 10 floats and 5 long integers: 80 bytes. */
CLAIM(a_newer_schema_names_the_group)
{
    const trace_args *a;
    fixture f;

    assert_ok(read_text("{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": [{\"id\": 1, \"name\":"
                        " \"record_param_comms\", \"inputs\": {\"values\": [[[1,2,0,10,4,\"cuda:0\"],"
                        "[3,4,0,5,8,\"cuda:0\"]],31,[\"7\",\"tp\"],0,\"broadcast\",[],[],0,1,4],"
                        " \"types\": [\"GenericList[Tensor(float),Tensor(long int)]\"]},"
                        " \"attrs\": [{\"name\": \"tid\", \"type\": \"uint64\", \"value\": 3}]}]}",
                        &f),
              &f.err);
    a = args_of(&f, 0);
    assert_string_equal(NAMED(f, a->group_name), "7");
    assert_string_equal(NAMED(f, a->group_desc), "tp");
    assert_int_equal(a->group_size, 4);
    assert_u64(a->in_elements, 15);
    assert_u64(a->bytes, 80);
    assert_u64(a->out_elements, TRACE_UNKNOWN);
    assert_string_equal(NAMED(f, f.record.rank[0].lane[0].tid), "3");
    stop(&f);
}

CLAIM(attributes_are_believed_first)
{
    const trace_args *a;
    fixture f;

    assert_ok(
        read_text(
            "{\"schema\": \"1.1.1\", \"nodes\": [{\"name\": \"record_param_comms\", \"inputs\": {\"values\":"
            " [[[1,2,0,10,4,\"cuda:0\"]],2,[\"7\",\"tp\"],0,\"all_gather\",[],[],0,1,4]}, \"attrs\": ["
            "{\"name\": \"collective_name\", \"type\": \"string\", \"value\": \"_allgather_base\"},"
            "{\"name\": \"pg_size\", \"type\": \"uint64\", \"value\": 2},"
            "{\"name\": \"out_msg_nelems\", \"type\": \"uint64\", \"value\": \"20\"}]}]}",
            &f),
        &f.err);
    a = args_of(&f, 0);
    assert_string_equal(NAMED(f, a->collective), "_allgather_base");
    assert_int_equal(a->group_size, 2);
    assert_u64(a->out_elements, 20);
    stop(&f);
}

CLAIM(process_groups_are_read_from_their_node)
{
    const trace_rank *r;
    fixture f;

    assert_ok(
        read_text("{\"schema\": \"1.1.0\", \"nodes\": [{\"name\": \"## process_group:init ##\", \"inputs\":"
                  " {\"values\": [\"[{\\\"pg_name\\\": \\\"0\\\", \\\"pg_desc\\\": \\\"default_pg\\\","
                  " \\\"pg_size\\\": 2, \\\"ranks\\\": [0, 1]}]\"]}}]}",
                  &f),
        &f.err);
    r = &f.record.rank[0];
    assert_int_equal(r->n_groups, 1);
    assert_string_equal(NAMED(f, r->group[0].ranks), "[0, 1]");
    assert_int_equal(r->group[0].size, 2);
    assert_int_equal(r->world_size, 2);
    stop(&f);
}

/* 1700000000.000001500 s begins 1.5 us after its second, and lasts 2.25 us. */
CLAIM(times_are_taken_where_there_are_any)
{
    const trace_event *e;
    fixture f;

    assert_ok(read_text("{\"schema\": \"1.1.0\", \"nodes\": [{\"name\": \"a\", \"ts\": 1700000000000001.5,"
                        " \"dur\": 2.25}, {\"name\": \"b\"}]}",
                        &f),
              &f.err);
    e = f.record.rank[0].event;
    assert_false(e[0].instant);
    assert_int_equal(e[0].start_ps, 1500000);
    assert_int_equal(e[0].dur_ps, 2250000);
    assert_true(f.record.rank[0].base_ns == 1700000000000000000);
    assert_true(e[1].instant);
    stop(&f);
}

/* The second node begins at byte 63, behind 30 bytes, a first of 32 and a comma; the third has no time that could be wrong. */
CLAIM(nodes_of_times_beyond_use_are_left_out)
{
    fixture f;

    assert_ok(read_text("{\"schema\": \"1.1.0\", \"nodes\": [{\"name\": \"a\", \"ts\": 5, \"dur\": 1},"
                        "{\"name\": \"b\", \"ts\": 5, \"dur\": -1},"
                        "{\"name\": \"c\", \"ts\": null, \"dur\": 1},"
                        "{\"name\": \"d\", \"ts\": 1e300, \"dur\": 1}]}",
                        &f),
              &f.err);
    assert_int_equal(f.record.rank[0].n_events, 2);
    assert_int_equal(f.record.n_warnings, 1);
    assert_string_equal(
        f.record.warning[0].text,
        "et.json: byte 63: 2 nodes are left out because their durations are negative, or their "
        "times too large; this is the first");
    stop(&f);
}

/* 2^63 elements of 4 bytes are more than 64 bits hold; what is said of them elsewhere stands. */
CLAIM(sizes_beyond_64_bits_are_unknown)
{
    const trace_args *a;
    fixture f;

    assert_ok(read_text("{\"schema\": \"1.1.1\", \"nodes\": [{\"name\": \"record_param_comms\", \"inputs\": "
                        "{\"values\": [[[1,2,0,9223372036854775808,4,\"cuda:0\"]],2,[\"7\",\"tp\"],0,"
                        "\"allreduce\",[],[],0,1,4]}, \"outputs\": {\"values\": "
                        "[[1,2,0,10,4,\"cuda:0\"]]}}]}",
                        &f),
              &f.err);
    a = args_of(&f, 0);
    assert_u64(a->bytes, TRACE_UNKNOWN);
    assert_u64(a->in_elements, TRACE_UNKNOWN);
    assert_u64(a->out_elements, 10);
    stop(&f);
}

/* The text is 63 bytes long. */
CLAIM(nodes_before_the_damage_are_kept)
{
    fixture f;

    assert_ok(read_text("{\"schema\": \"1.1.0\", \"nodes\": [{\"name\": \"a\"}, {\"name\": \"b\", \"inp", &f),
              &f.err);
    assert_int_equal(f.record.rank[0].n_events, 1);
    assert_int_equal(f.record.n_warnings, 1);
    assert_string_equal(
        f.record.warning[0].text,
        "et.json: byte 63: the file ends here; it was cut off; the 1 nodes before it are used");
    stop(&f);
}

CLAIM(what_has_no_nodes_is_refused)
{
    fixture f;

    assert_failure(read_text("{\"schema\": \"1.1.0\"}", &f), &f.err, DSE_E_SYNTAX, "et.json",
                   "not an execution trace: it has no list 'nodes'");
    stop(&f);
    assert_says(read_text("{\"schema\": \"1.1.0\", \"nodes\": [{", &f), &f.err, DSE_E_SYNTAX,
                "no node comes before this");
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_schema_gives_collective_size_and_group),
        cmocka_unit_test(a_newer_schema_names_the_group),
        cmocka_unit_test(attributes_are_believed_first),
        cmocka_unit_test(process_groups_are_read_from_their_node),
        cmocka_unit_test(times_are_taken_where_there_are_any),
        cmocka_unit_test(nodes_of_times_beyond_use_are_left_out),
        cmocka_unit_test(sizes_beyond_64_bits_are_unknown),
        cmocka_unit_test(nodes_before_the_damage_are_kept),
        cmocka_unit_test(what_has_no_nodes_is_refused),
    };

    return RUN_TESTS(tests);
}
