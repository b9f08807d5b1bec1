/* Tables, character by character. */
#include "report/table.h"
#include "unit/unit.h"

static report_table table;
static dse_strbuf out;

static void begin(void)
{
    report_table_init(&table);
    dse_strbuf_init(&out);
}

static void assert_printed(const char *expected)
{
    report_table_print(&table, &out);
    assert_string_equal(out.data, expected);
    report_table_free(&table);
    dse_strbuf_free(&out);
}

CLAIM(columns_are_as_wide_as_their_widest_cell)
{
    begin();
    report_table_column(&table, "name", true);
    report_table_column(&table, "n", false);
    report_table_column(&table, "note", true);
    report_table_cell(&table, "a");
    report_table_cell(&table, "%d", 1000);
    report_table_cell(&table, "x");
    report_table_cell(&table, "longer");
    report_table_cell(&table, "7");
    report_table_cell(&table, "yy");
    assert_printed("name       n  note\n"
                   "a       1000  x\n"
                   "longer     7  yy\n");
}

CLAIM(headings_may_take_two_lines)
{
    begin();
    report_table_column(&table, "point", true);
    report_table_column(&table, "peak\nmemory", false);
    report_table_column(&table, "exposed\ntime", false);
    report_table_cell(&table, "p");
    report_table_cell(&table, "1");
    report_table_cell(&table, "2");
    assert_printed("         peak  exposed\n"
                   "point  memory     time\n"
                   "p           1        2\n");
}

CLAIM(without_rows_there_are_headings)
{
    begin();
    report_table_column(&table, "a", true);
    report_table_column(&table, "b", true);
    assert_printed("a  b\n");
}

CLAIM(a_cell_may_be_long)
{
    char lengthy[1000], expected[1100];

    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    begin();
    report_table_column(&table, "a", true);
    report_table_cell(&table, "%s", lengthy);
    snprintf(expected, sizeof expected, "a\n%s\n", lengthy);
    assert_printed(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(headings_may_take_two_lines),
        cmocka_unit_test(without_rows_there_are_headings),
        cmocka_unit_test(a_cell_may_be_long),
    };
    return RUN_TESTS(tests);
}
