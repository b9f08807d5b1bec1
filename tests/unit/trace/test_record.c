#include "trace/record.h"

#include "unit/unit.h"

CLAIM(a_warning_says_what_is_wrong_whatever_the_length_of_the_path)
{
    trace_record r = {0};
    char path[2000];

    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    trace_warn(&r, path, "byte %d: %s", 7, "it is cut off");
    assert_int_equal(r.n_warnings, 1);
    assert_memory_equal(r.warning[0].text, path, 400);
    assert_string_equal(r.warning[0].text + 400, ": byte 7: it is cut off");
    trace_record_free(&r);
}

CLAIM(warnings_end_after_a_hundred)
{
    trace_record r = {0}, all = {0};

    for (int i = 0; i < 1000; i++)
        trace_warn(&r, "a.json", "%d", i);
    assert_int_equal(r.n_warnings, 101);
    assert_string_equal(r.warning[99].text, "a.json: 99");
    assert_string_equal(r.warning[100].text, "there are more warnings than these 100");
    trace_record_take(&all, &r);
    assert_int_equal(r.n_warnings, 0);
    assert_int_equal(all.n_warnings, 101);
    trace_record_free(&all);
}

/* An event has a byte for its word. */
CLAIM(words_beyond_256_are_the_last)
{
    trace_record r = {0};
    trace_rank *rank = trace_record_add_rank(&r);

    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(trace_add_word(rank, 1000 + i), i);
    assert_int_equal(trace_add_word(rank, 5), 255);
    assert_int_equal(trace_add_word(rank, 1003), 3);
    assert_int_equal(rank->n_words, 256);
    trace_record_free(&r);
}

CLAIM(a_lane_is_found_again_by_both_of_its_names)
{
    trace_record r = {0};
    trace_rank *rank = trace_record_add_rank(&r);

    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(trace_add_lane(rank, i / 10, i % 10), i);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(trace_add_lane(rank, i / 10, i % 10), i);
    assert_int_equal(trace_add_lane(rank, 10, 100), 1000);
    assert_int_equal(rank->n_lanes, 1001);
    trace_record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warning_says_what_is_wrong_whatever_the_length_of_the_path),
        cmocka_unit_test(warnings_end_after_a_hundred),
        cmocka_unit_test(words_beyond_256_are_the_last),
        cmocka_unit_test(a_lane_is_found_again_by_both_of_its_names),
    };
    return RUN_TESTS(tests);
}
