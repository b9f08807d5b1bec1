/* Chrome traces: everything that can be wrong with a file. */
#include "unit/trace/chrome.h"

/* So many events are kept, and this is said. */
static void expect_warning(const char *text, size_t n_events, const char *warning)
{
    trace_record t;

    read_trace(text, &t);
    assert_int_equal(t.rank[0].n_events, n_events);
    assert_int_equal(t.n_warnings, 1);
    assert_string_equal(t.warning[0].text, warning);
    trace_record_free(&t);
}

static void expect_refusal(const char *text, dse_status status, const char *where, const char *message)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record t;

    assert_failure(parse(text, &t, &err), &err, status, where, message);
    trace_record_free(&t);
}

CLAIM(a_file_that_is_cut_off_keeps_its_complete_events)
{
    /* An event has 67 bytes; the first begins at byte 16. */
    const char *text = "{\"traceEvents\":[" EVENT("a", "1", "2") "," EVENT("b", "3", "4") "]}";

    expect_warning("{\"traceEvents\":[" EVENT("a", "1", "2") ",{\"ph\":\"X\",\"ts\":5", 1,
                   "t.json: byte 100: the file is cut off (the text ends within a value); complete events "
                   "before it, which are used: 1");
    expect_warning("[" EVENT("a", "1", "2") ",{\"ph\":\"X\",\"name\":\"abc", 1,
                   "t.json: byte 90: the file is cut off (the text ends within a string); complete events "
                   "before it, which are used: 1");
    for (size_t n = 0; n <= strlen(text); n++)
        for (size_t cap = 64; cap <= 4096; cap *= 8) {
            dse_error err = DSE_ERROR_INIT;
            trace_record t;
            dse_status st = parse_bytes(text, n, cap, &t, &err);
            size_t complete = (size_t)(n >= 83) + (n >= 151);

            assert_int_equal(st, complete ? DSE_OK : DSE_E_SYNTAX);
            if (complete) {
                assert_int_equal(t.rank[0].n_events, complete);
                assert_int_equal(t.n_warnings, n < strlen(text));
            }
            trace_record_free(&t);
        }
}

CLAIM(a_file_that_is_no_json_from_some_byte_on_keeps_what_is_before_it)
{
    expect_warning("[" EVENT("a", "1", "2") ",{\"ph\":\"X\" \"ts\":5}]", 1,
                   "t.json: byte 79: expected ',' or '}'; complete events before it, which are used: 1");
    expect_warning("[" EVENT("a", "1", "2") ",{\"ph\":\"X\",\"args\":{\"x\":[1}}]", 1,
                   "t.json: byte 93: a bracket closes what it did not open; complete events before it, which "
                   "are used: 1");
}

CLAIM(what_follows_the_trace_is_ignored_and_said)
{
    expect_warning("[" EVENT("a", "1", "2") "]\n\n{}", 1,
                   "t.json: byte 71: something follows the end of the trace; it is ignored");
}

CLAIM(what_is_no_trace_is_refused)
{
    expect_refusal("", DSE_E_SYNTAX, "t.json: byte 0", "the file ends before the first event");
    expect_refusal("{\"traceEvents\":[", DSE_E_SYNTAX, "t.json: byte 16",
                   "the file ends before the first event");
    expect_refusal("{\"traceEvents\":[{\"ph\":}", DSE_E_SYNTAX, "t.json: byte 22",
                   "not a Chrome trace: expected a value");
    expect_refusal("{\"schemaVersion\":1}", DSE_E_SYNTAX, "t.json",
                   "not a Chrome trace: it has no list 'traceEvents'");
    expect_refusal("{\"traceEvents\":{}}", DSE_E_SYNTAX, "t.json",
                   "not a Chrome trace: it has no list 'traceEvents'");
    expect_refusal("\"text\"", DSE_E_SYNTAX, "t.json", "not a Chrome trace: it has no list 'traceEvents'");
    expect_refusal(
        "{\"baseTimeNanoseconds\":9223372036854775807,\"traceEvents\":[" EVENT("k", "2000001", "1") "]}",
        DSE_E_RANGE, "t.json", "'baseTimeNanoseconds' and the events' times together are out of range");
}

CLAIM(a_nesting_bomb_is_defused)
{
    char text[2000] = "[" EVENT("a", "1", "2") ",{\"ph\":\"X\",\"args\":{\"x\":";
    size_t n = strlen(text);

    memset(text + n, '[', 1000);
    text[n + 1000] = '\0';
    expect_warning(text, 1,
                   "t.json: byte 155: values are nested more than 64 deep; complete events before it, which "
                   "are used: 1");
    memset(text, '[', 1000);
    text[1000] = '\0';
    expect_refusal(text, DSE_E_SYNTAX, "t.json: byte 65",
                   "not a Chrome trace: values are nested more than 64 deep");
}

CLAIM(events_of_negative_duration_are_left_out)
{
    expect_warning(
        "[" EVENT("a", "1", "2") "," EVENT("b", "3", "-4") "," EVENT("c", "5", "-0.5") "]", 1,
        "t.json: byte 69: events left out because their duration is negative: 2 (this is the first)");
}

CLAIM(events_that_end_elsewhere_are_left_out)
{
    expect_warning(
        "[" EVENT("a", "1", "2") ",{\"ph\":\"B\",\"name\":\"b\",\"ts\":5},{\"ph\":\"E\",\"ts\":7}]", 1,
        "t.json: byte 69: events left out because they say their begin alone (\"ph\": \"B\", and \"E\" "
        "for the end): 1 (this is the first)");
}

CLAIM(clocks_may_run_backwards)
{
    trace_record t;

    read_trace("[" EVENT("a", "5000000", "2") "," EVENT("b", "1.5", "1") "," EVENT("c", "-1000000", "1") "]",
               &t);
    assert_int_equal(t.rank[0].base_ns, 5000000000);
    expect_event(&t.rank[0], 1, "b", -4999998500000, 1000000);
    expect_event(&t.rank[0], 2, "c", -6 * TRACE_PS_PER_S, 1000000);
    assert_int_equal(t.n_warnings, 0);
    trace_record_free(&t);
}

CLAIM(times_out_of_range_are_left_out)
{
    /* 2^62 ps are 4,611,686 s. */
    static const char *const times[] = {"1e300",
                                        "NaN",
                                        "Infinity",
                                        "-Infinity",
                                        "4611687000001",
                                        "1e19",
                                        "-4611687000001",
                                        "99999999999999999999999999",
                                        "1-2"};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char text[400];

        for (int dur = 0; dur < 2; dur++) {
            snprintf(text, sizeof text, "[" EVENT("a", "1", "2") "," EVENT("b", "%s", "%s") "]",
                     dur ? "7" : times[i], dur ? times[i] : "7");
            expect_warning(text, 1,
                           "t.json: byte 69: events left out because their times are no numbers, or more "
                           "than 53 days from the first: 1 (this is the first)");
        }
    }
    expect_warning("[" EVENT("a", "1", "2") "," EVENT("b", "4611686018427", "4611686018427") "]", 1,
                   "t.json: byte 69: events left out because their times are no numbers, or more than 53 "
                   "days from the first: 1 (this is the first)");
}

CLAIM(times_that_are_no_numbers_are_not_there)
{
    trace_record t;

    read_trace("[{\"ph\":\"X\",\"ts\":null,\"dur\":1},{\"ph\":\"X\",\"ts\":\"5\",\"dur\":1},{\"ph\":\"X\","
               "\"ts\":{},\"dur\":1},{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":null}]",
               &t);
    assert_int_equal(t.rank[0].n_events, 1);
    expect_event(&t.rank[0], 0, "a", 1000000, 0);
    assert_int_equal(t.n_warnings, 1); /* null is as if it were not there; the others are said */
    assert_string_equal(t.warning[0].text,
                        "t.json: byte 30: events left out because their times are no numbers, or more than "
                        "53 days from the first: 2 (this is the first)");
    trace_record_free(&t);
}

CLAIM(metadata_with_a_time_of_their_own_do_not_set_the_base)
{
    trace_record t;

    read_trace("[{\"ph\":\"M\",\"name\":\"process_name\",\"ts\":0},{\"ph\":\"M\",\"name\":\"x\",\"ts\":1e300}"
               ",{\"ph\":\"M\",\"name\":\"x\",\"ts\":3},{\"ph\":\"X\",\"name\":\"a\",\"ts\":1706850122815539,"
               "\"dur\":2}]",
               &t);
    expect_event(&t.rank[0], 0, "a", 815539000000, 2000000);
    assert_int_equal(t.rank[0].base_ns, 1706850122000000000);
    assert_int_equal(t.rank[0].all_first_ps, 815539000000);
    trace_record_free(&t);
}

CLAIM(a_huge_correlation_is_none)
{
    trace_record t;

    read_trace("[{\"ph\":\"X\",\"ts\":1,\"args\":{\"correlation\":4294967295}},{\"ph\":\"X\",\"ts\":1,"
               "\"args\":{\"correlation\":4294967296}},{\"ph\":\"X\",\"ts\":1,\"args\":{\"correlation\":-1}},"
               "{\"ph\":\"X\",\"ts\":1,\"args\":{\"correlation\":0}}]",
               &t);
    assert_int_equal(t.rank[0].n_events, 4);
    assert_u64(t.rank[0].event[0].correlation, UINT32_MAX);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(t.rank[0].event[i].correlation, 0);
    assert_int_equal(t.n_warnings, 1);
    assert_string_equal(t.warning[0].text, "t.json: byte 53: events whose correlation is left out because it "
                                           "is no number of 32 bits: 2 (this is the first)");
    trace_record_free(&t);
}

CLAIM(device_times_out_of_range_are_not_given)
{
    trace_record t;

    read_trace("[{\"ph\":\"X\",\"ts\":1,\"args\":{\"device_duration_ps\":\"9223372036854775807\",\"device_"
               "offset_ps\":"
               "-1}},{\"ph\":\"X\",\"ts\":1,\"args\":{\"device_duration_ps\":2305843009213693951}}]",
               &t);
    assert_int_equal(t.rank[0].n_events, 2);
    assert_int_equal(trace_device_time_of(&t.rank[0], 0).dur_ps, -1);
    assert_int_equal(trace_device_time_of(&t.rank[0], 1).dur_ps, 2305843009213693951); /* 2^61 - 1 */
    assert_int_equal(t.n_warnings, 1);
    assert_string_equal(t.warning[0].text,
                        "t.json: byte 1: device times left out because they are no whole numbers of "
                        "picoseconds, or more than 26 days: 2 (this is the first)");
    trace_record_free(&t);
}

CLAIM(invalid_text_is_mended_and_said)
{
    trace_record t;

    read_trace("[" EVENT("a\xff", "1", "2") "," EVENT("\\ud800", "1", "2") "]", &t);
    expect_event(&t.rank[0], 0, "a\xef\xbf\xbd", 1000000, 2000000);
    expect_event(&t.rank[0], 1, "\xef\xbf\xbd", 1000000, 2000000);
    assert_int_equal(t.n_warnings, 1);
    assert_string_equal(t.warning[0].text, "t.json: byte 33: texts that are not valid UTF-8, and have U+FFFD "
                                           "where they are not: 2 (this is the first)");
    trace_record_free(&t);
}

CLAIM(a_text_beyond_the_window_is_cut_and_said)
{
    const size_t n = TRACE_WINDOW_BYTES + 5;
    dse_strbuf text;
    trace_record t;

    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, "[{\"ph\":\"X\",\"ts\":1,\"name\":\"");
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addc(&text, 'x');
    dse_strbuf_adds(&text, "\"}," EVENT("b", "1", "2") "]");
    read_trace(text.data, &t);
    assert_int_equal(t.rank[0].n_events, 2);
    assert_int_equal(t.rank[0].names.length[t.rank[0].event[0].name], TRACE_WINDOW_BYTES);
    assert_string_equal(t.warning[0].text,
                        "t.json: byte 25: texts that are too long, and were cut: 1 (this is the first)");
    trace_record_free(&t);
    dse_strbuf_free(&text);
}

CLAIM(a_broken_gzip_member_ends_the_trace)
{
    /* "[{"ph":"X","ts":1},{"ph":"X","ts":2}]" as gzip writes it stored: ten bytes of header, a block's five, the text, its
     * checksum and length. The checksum is wrong. */
    char bytes[128] = "\x1f\x8b\x08\0\0\0\0\0\0\x03";
    const char *text = "[{\"ph\":\"X\",\"ts\":1},{\"ph\":\"X\",\"ts\":2}]";
    size_t n = strlen(text);
    dse_error err = DSE_ERROR_INIT;
    trace_record t;

    bytes[10] = 1;
    bytes[11] = (char)n;
    bytes[13] = (char)~n;
    bytes[14] = (char)0xff;
    memcpy(bytes + 15, text, n);
    assert_ok(parse_bytes(bytes, 15 + n + 8, 64, &t, &err), &err);
    assert_int_equal(t.rank[0].n_events, 2);
    assert_string_equal(t.warning[0].text,
                        "t.json: the gzip data are broken at byte 56 of the file (incorrect data check); "
                        "complete events before it, which are used: 2");
    trace_record_free(&t);
    assert_ok(parse_bytes(bytes, 15 + 30, 64, &t, &err), &err);
    assert_int_equal(t.rank[0].n_events, 1);
    assert_string_equal(t.warning[0].text, "t.json: byte 30: the gzip data are broken at byte 45 of the file "
                                           "(it is cut off); complete events before it, which are used: 1");
    trace_record_free(&t);
    assert_failure(parse_bytes(bytes, 15 + 5, 64, &t, &err), &err, DSE_E_IO, "t.json: byte 5",
                   "the gzip data are broken at byte 20 of the file (it is cut off), before the first event");
    trace_record_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_cut_off_keeps_its_complete_events),
        cmocka_unit_test(a_file_that_is_no_json_from_some_byte_on_keeps_what_is_before_it),
        cmocka_unit_test(what_follows_the_trace_is_ignored_and_said),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(a_nesting_bomb_is_defused),
        cmocka_unit_test(events_of_negative_duration_are_left_out),
        cmocka_unit_test(events_that_end_elsewhere_are_left_out),
        cmocka_unit_test(clocks_may_run_backwards),
        cmocka_unit_test(times_out_of_range_are_left_out),
        cmocka_unit_test(times_that_are_no_numbers_are_not_there),
        cmocka_unit_test(metadata_with_a_time_of_their_own_do_not_set_the_base),
        cmocka_unit_test(a_huge_correlation_is_none),
        cmocka_unit_test(device_times_out_of_range_are_not_given),
        cmocka_unit_test(invalid_text_is_mended_and_said),
        cmocka_unit_test(a_text_beyond_the_window_is_cut_and_said),
        cmocka_unit_test(a_broken_gzip_member_ends_the_trace),
    };
    return RUN_TESTS(tests);
}
