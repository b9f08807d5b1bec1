#include "trace/pickle.h"
#include "trace/snapshot.h"

#include "unit/unit.h"

typedef struct {
    trace_record record;
    dse_error err;
} fixture;

static dse_status read_bytes(trace_snapshot_reader *read, const void *bytes, size_t n, fixture *f)
{
    trace_source source;
    dse_status st;

    *f = (fixture){0};
    trace_source_open_bytes(&source, bytes, n, 256);
    st = trace_snapshot_parse(read, &source, "s", &f->record, &f->err);
    trace_source_close(&source);
    return st;
}

static dse_status read_json(const char *text, fixture *f)
{
    return read_bytes(trace_snapshot_read_json, text, strlen(text), f);
}

static void stop(fixture *f) { trace_record_free(&f->record); }

static void refused(const char *text, const char *message)
{
    fixture f;

    assert_says(read_json(text, &f), &f.err, DSE_E_SYNTAX, message);
    stop(&f);
}

#define SEGMENT(blocks)                                                                                      \
    "{\"device\": 1, \"total_size\": 4096, \"allocated_size\": 1024, \"active_size\": 1536,"                 \
    " \"requested_size\": 1500, \"blocks\": [" blocks "]}"
#define BLOCK(state, requested) "{\"state\": \"" state "\", \"requested_size\": " requested "}"

CLAIM(a_snapshot_has_segments_histories_settings)
{
    const trace_allocator *a;
    fixture f;

    assert_ok(
        read_json(
            "{\"segments\": [" SEGMENT(
                BLOCK("active_allocated", "1000") "," BLOCK("active_pending_free", "500") "," BLOCK(
                    "inactive",
                    "0")) "],"
                          " \"device_traces\": [[], [{\"action\": \"alloc\", \"addr\": 64, \"size\": 1000,"
                          " \"time_us\": 5, \"frames\": [{\"name\": \"f\", \"filename\": \"alloc\"}]},"
                          " {\"action\": \"oom\", \"device_free\": 7, \"size\": 9}]],"
                          " \"allocator_settings\": {\"conf\": \"x\", \"deep\": {\"1\": 2.5}}}",
            &f),
        &f.err);
    assert_int_equal(f.record.n_ranks, 1);
    assert_int_equal(f.record.rank[0].kind, TRACE_SNAPSHOT);
    assert_false(f.record.rank[0].has_rank);
    a = f.record.rank[0].allocator;
    assert_int_equal(a->n_segments, 1);
    assert_int_equal(a->segment[0].device, 1);
    assert_u64(a->segment[0].total_size, 4096);
    assert_u64(a->segment[0].requested[TRACE_ACTIVE_PENDING_FREE], 500);
    assert_int_equal(a->segment[0].n_blocks[TRACE_INACTIVE], 1);
    assert_true(a->segment[0].has_requested);
    assert_int_equal(a->n_histories, 2);
    assert_int_equal(a->history[0].n, 0);
    assert_int_equal(a->history[1].n, 2);
    assert_int_equal(a->history[1].entry[0].action, TRACE_ALLOC);
    assert_int_equal(a->history[1].entry[0].time_us, 5);
    assert_u64(a->history[1].entry[1].address, 7);
    assert_int_equal(a->history[1].entry[1].time_us, INT64_MIN);
    assert_int_equal(a->n_settings, 4);
    assert_int_equal(a->setting[0].kind, TRACE_SETTING_MAP);
    assert_double(a->setting[a->setting[2].first].number, 2.5);
    stop(&f);
}

/* {"segments": [], "allocator_settings": {"k": "a\0b"}} */
CLAIM(both_readers_replace_a_nul_in_a_text_alike)
{
    static const char pickle[] = "\x80\x04}(\x8c\x08segments]\x8c\x12"
                                 "allocator_settings}\x8c\x01k\x8c\x03"
                                 "a\x00"
                                 "bsu.";
    fixture f[2];

    assert_ok(read_bytes(trace_pickle_read, pickle, sizeof pickle - 1, &f[0]), &f[0].err);
    assert_ok(read_json("{\"segments\": [], \"allocator_settings\": {\"k\": \"a\\u0000b\"}}", &f[1]),
              &f[1].err);
    for (int i = 0; i < 2; i++) {
        const trace_rank *r = &f[i].record.rank[0];

        assert_int_equal(r->allocator->n_settings, 2);
        assert_string_equal(r->names.text[r->allocator->setting[1].text], "a\xef\xbf\xbd"
                                                                          "b");
        stop(&f[i]);
    }
}

CLAIM(blocks_that_do_not_say_what_was_requested_are_noted)
{
    fixture f;

    assert_ok(read_json("{\"segments\": [" SEGMENT("{\"state\": \"inactive\"}") "]}", &f), &f.err);
    assert_false(f.record.rank[0].allocator->segment[0].has_requested);
    assert_int_equal(f.record.rank[0].allocator->n_histories, 0);
    stop(&f);
}

CLAIM(unknown_actions_and_states_are_counted_in_a_warning)
{
    fixture f;

    assert_ok(
        read_json(
            "{\"segments\": [" SEGMENT(BLOCK(
                "odd",
                "1")) "], \"device_traces\":"
                      " [[{\"action\": \"levitate\", \"size\": 1}, {\"action\": \"alloc\", \"size\": 2}]]}",
            &f),
        &f.err);
    assert_u64(f.record.rank[0].allocator->n_unknown_actions, 1);
    assert_int_equal(f.record.rank[0].allocator->history[0].n, 1);
    assert_int_equal(f.record.rank[0].allocator->segment[0].n_other_blocks, 1);
    assert_int_equal(f.record.n_warnings, 2);
    assert_string_equal(f.record.warning[0].text,
                        "s: 1 entries of the history have an action that is not known");
    stop(&f);
}

CLAIM(what_is_no_snapshot_is_refused)
{
    refused("[]", "no memory snapshot");
    refused("{\"weights\": []}", "no memory snapshot");
    refused("{\"device_traces\": []}", "no memory snapshot");
    refused("{\"segments\": {}}", "'segments' is to be a list");
    refused("{\"segments\": [{\"state\": \"inactive\"}]}", "'segments' holds something else");
    refused("{\"segments\": [{\"total_size\": 1}]}", "a segment has no 'allocated_size'");
    refused("{\"segments\": [" SEGMENT("1") "]}", "a segment's blocks hold something else");
    refused("{\"segments\": [], \"device_traces\": [3]}",
            "a device's list in 'device_traces' is to be a list");
    refused("{\"segments\": [], \"device_traces\": [[3]]}", "'device_traces' holds something else");
    refused("{\"segments\": [], \"device_traces\": [[{\"action\": \"alloc\"}]]}",
            "an entry of a history has no 'size'");
    refused("{\"segments\": [], \"device_traces\": [[{\"action\": \"alloc\", \"size\": -1}]]}",
            "is to be a whole number from 0 to 2^63 - 1");
    refused("{\"segments\": [", "the file ends here");
    refused("{\"segments\": []} {}", "something follows the snapshot");
}

CLAIM(a_place_is_named_by_file_and_byte)
{
    fixture f;

    assert_failure(read_json("{\"segments\": [}", &f), &f.err, DSE_E_SYNTAX, "s: byte 14", f.err.text);
    stop(&f);
}

/* One history that two devices share would make work out of nothing: a file of n bytes could ask for n * n entries. */
CLAIM(a_history_in_two_places_is_refused)
{
    static const char bytes[] = "\x80\x04}(\x8c\x08segments]\x8c\x0d"
                                "device_traces](]\x94}(\x8c\x06"
                                "action"
                                "\x8c\x05"
                                "alloc\x8c\x04"
                                "sizeK\x01ua"
                                "h\x00"
                                "eu.";
    fixture f;

    assert_says(read_bytes(trace_pickle_read, bytes, sizeof bytes - 1, &f), &f.err, DSE_E_SYNTAX,
                "a device's list in 'device_traces' stands in a second place");
    stop(&f);
}

/* d0 = {}, d(i+1) = {a: di, b: di}: 2^20 values in 20 dictionaries. */
CLAIM(settings_that_unfold_without_end_are_refused)
{
    dse_strbuf bytes;
    fixture f;

    dse_strbuf_init(&bytes);
    dse_strbuf_add(&bytes,
                   "\x80\x02}(U\x08segments]U\x12"
                   "allocator_settings}q",
                   37);
    dse_strbuf_addc(&bytes, '\0');
    dse_strbuf_adds(&bytes, "(U\x01kK\x01u"); /* at least one item */
    for (char i = 0; i < 14; i++) {
        const char more[] = {'0', '}', '(', 'U', 1, 'a', 'h', i,
                             'U', 1,   'b', 'h', i, 'u', 'q', (char)(i + 1)};

        dse_strbuf_add(&bytes, more, sizeof more);
    }
    dse_strbuf_adds(&bytes, "u.");
    assert_says(read_bytes(trace_pickle_read, bytes.data, bytes.len, &f), &f.err, DSE_E_SYNTAX,
                "'allocator_settings' holds more than 10000 values");
    dse_strbuf_free(&bytes);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_has_segments_histories_settings),
        cmocka_unit_test(both_readers_replace_a_nul_in_a_text_alike),
        cmocka_unit_test(blocks_that_do_not_say_what_was_requested_are_noted),
        cmocka_unit_test(unknown_actions_and_states_are_counted_in_a_warning),
        cmocka_unit_test(what_is_no_snapshot_is_refused),
        cmocka_unit_test(a_place_is_named_by_file_and_byte),
        cmocka_unit_test(a_history_in_two_places_is_refused),
        cmocka_unit_test(settings_that_unfold_without_end_are_refused),
    };

    return RUN_TESTS(tests);
}
