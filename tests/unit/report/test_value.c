/* A figure as text and as JSON. */
#include "report/tree.h"
#include "unit/unit.h"

static void check(const char *column, double real, uint64_t count, const char *exact, const char *readable,
                  const char *json)
{
    const store_column *c = store_column_find(column);
    store_metrics m;
    dse_strbuf out;
    report_tree t;

    store_metrics_clear(&m);
    if (c->type == STORE_REAL)
        *(double *)(void *)((char *)&m + c->offset) = real;
    else
        *(uint64_t *)(void *)((char *)&m + c->offset) = count;
    assert_string_equal(report_value_exact(&m, c).text, exact);
    assert_string_equal(report_value_readable(&m, c).text, readable);
    dse_strbuf_init(&out);
    report_put(report_tree_begin(&t), report_figure(&m, c));
    report_tree_write(&t, &out);
    out.data[out.len - 1] = '\0'; /* the brace */
    assert_string_equal(strchr(out.data, ':') + 1, json);
    dse_strbuf_free(&out);
}

CLAIM(times_and_sizes_are_readable_beside_the_exact_number)
{
    check("wall_time", 0, 3206889878, "3206889878", "3.207 s", "3206889878");
    check("peak_memory", 0, 143896084480, "143896084480", "143.9 GB", "143896084480");
    check("nodes", 0, 12345, "12345", "12345", "12345");
}

CLAIM(rates_have_three_decimals)
{
    check("compute_util", 95.1149, 0, "95.115", "95.115 %", "95.115");
    check("op_intensity", INFINITY, 0, "inf", "inf op/B", "\"inf\"");
}

CLAIM(no_double_is_too_long)
{
    store_metrics m;

    store_metrics_clear(&m);
    m.op_intensity = 1.7976931348623157e308;
    assert_int_equal(strlen(report_value_readable(&m, store_column_find("op_intensity")).text),
                     309 + 4 + strlen(" op/B"));
}

CLAIM(what_is_not_known_is_a_dash)
{
    check("wall_time", 0, STORE_ABSENT, "-", "-", "null");
    check("mem_util", NAN, 0, "-", "-", "null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_sizes_are_readable_beside_the_exact_number),
        cmocka_unit_test(rates_have_three_decimals),
        cmocka_unit_test(no_double_is_too_long),
        cmocka_unit_test(what_is_not_known_is_a_dash),
    };
    return RUN_TESTS(tests);
}
