#include "trace/ticks.h"
#include "unit/unit.h"

CLAIM(a_record_without_events_is_its_heading)
{
    trace_ticks r = {.n_ranks = 2};
    dse_strbuf b;

    dse_strbuf_init(&b);
    trace_ticks_write_csv(&r, &b);
    assert_string_equal(b.data, "sys,node_id,issue_tick,finish_tick,node_type,node_name\n");
    dse_strbuf_free(&b);
}

CLAIM(each_event_is_a_line)
{
    uint32_t rank[] = {0, 3};
    uint64_t id[] = {7, UINT64_MAX}, bytes[] = {0, 8};
    dse_time start[] = {0, 953}, end[] = {953, UINT64_MAX};
    uint8_t category[] = {TRACE_TICKS_COMPUTE, TRACE_TICKS_SEND}, type[] = {4, 5};
    const char *name[] = {"a@0_COMP", "s"};
    trace_ticks r = {.n_ranks = 4,
                     .n = 2,
                     .rank = rank,
                     .id = id,
                     .start = start,
                     .end = end,
                     .category = category,
                     .type = type,
                     .bytes = bytes,
                     .name = name};
    dse_strbuf b;

    dse_strbuf_init(&b);
    trace_ticks_write_csv(&r, &b);
    assert_string_equal(b.data, "sys,node_id,issue_tick,finish_tick,node_type,node_name\n"
                                "0,7,0,953,4,a@0_COMP\n"
                                "3,18446744073709551615,953,18446744073709551615,5,s\n");
    dse_strbuf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_without_events_is_its_heading),
        cmocka_unit_test(each_event_is_a_line),
    };
    return RUN_TESTS(tests);
}
