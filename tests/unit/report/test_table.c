/* Tables, character by character. */
#include "report/tree.h"
#include "unit/unit.h"

static report_tree tree;
static report_node *list;

static void begin(void) { list = report_list(report_tree_begin(&tree), NULL); }

static void assert_printed(const char *expected)
{
    dse_strbuf out;

    dse_strbuf_init(&out);
    report_rows_table(list, &out);
    assert_string_equal(out.data, expected);
    report_tree_free(&tree);
    dse_strbuf_free(&out);
}

CLAIM(columns_are_as_wide_as_their_widest_cell)
{
    begin();
    report_row(list, V_NOTE("name", "a"), V_AS("n", V_COUNT(NULL, 1000)), V_NOTE("note", "x"));
    report_row(list, V_NOTE("name", "longer"), V_AS("n", V_COUNT(NULL, 7)), V_NOTE("note", "yy"));
    assert_printed("name       n  note\n"
                   "a       1000  x\n"
                   "longer     7  yy\n");
}

CLAIM(headings_may_take_two_lines)
{
    begin();
    report_row(list, V_NOTE("point", "p"), V_CELL("peak\nmemory", "1"), V_CELL("exposed\ntime", "2"));
    assert_printed("         peak  exposed\n"
                   "point  memory     time\n"
                   "p           1        2\n");
}

CLAIM(what_is_for_programs_alone_has_no_column)
{
    begin();
    report_row(list, V_AS("a", V_TEXT("a", "x")), V_COUNT("hidden", 7), V_NOTE("b", "y"));
    assert_printed("a  b\nx  y\n");
}

CLAIM(without_rows_there_is_nothing)
{
    begin();
    assert_printed("");
}

CLAIM(values_are_readable_and_unknown_ones_a_dash)
{
    begin();
    report_row(list, V_AS("t", V_TIME("t", 3206889878)), V_AS("b", V_BYTES("b", 67000000000)),
               V_AS("r", V_REAL("r", 0.5)), V_AS("y", V_BOOL("y", true)), V_AS("i", V_INTEGER("i", -3)),
               V_AS("f", V_FIXED("f", 2, 1)));
    report_row(list, V_AS("t", V_TIME("t", STORE_ABSENT)), V_AS("b", V_BYTES("b", STORE_ABSENT)),
               V_AS("r", V_REAL("r", NAN)), V_AS("y", V_UNKNOWN("y")), V_AS("i", V_UNKNOWN("i")),
               V_AS("f", V_FIXED("f", NAN, 1)));
    assert_printed("      t        b    r    y   i    f\n"
                   "3.207 s  67.0 GB  0.5  yes  -3  2.0\n"
                   "      -        -    -    -   -    -\n");
}

CLAIM(a_cell_may_be_long)
{
    char lengthy[1000], expected[1100];

    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    begin();
    report_row(list, V_NOTE("a", lengthy));
    snprintf(expected, sizeof expected, "a\n%s\n", lengthy);
    assert_printed(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(headings_may_take_two_lines),
        cmocka_unit_test(what_is_for_programs_alone_has_no_column),
        cmocka_unit_test(without_rows_there_is_nothing),
        cmocka_unit_test(values_are_readable_and_unknown_ones_a_dash),
        cmocka_unit_test(a_cell_may_be_long),
    };
    return RUN_TESTS(tests);
}
