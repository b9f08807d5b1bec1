/* One tree of values, rendered as JSON, CSV and Markdown; test_table.c has the tables of text. */
#include "report/tree.h"
#include "unit/unit.h"

static report_tree tree;
static report_node *root;
static dse_strbuf out;

static void begin(void)
{
    dse_strbuf_init(&out);
    root = report_tree_begin(&tree);
}

static void end(const char *expected)
{
    assert_string_equal(out.data, expected);
    dse_strbuf_free(&out);
}

CLAIM(json_has_each_kind_of_value_under_its_key)
{
    begin();
    report_put(root, V_TEXT("text", "a\"b"), V_BOOL("yes", true), V_COUNT("count", UINT64_MAX),
               V_TIME("ns", 5), V_BYTES("bytes", 6), V_INTEGER("less", -7), V_REAL("real", 0.1),
               V_FIXED("fixed", 1, 3), V_RAW("raw", "[1]"));
    report_tree_end(&tree, &out);
    end("{\"text\":\"a\\\"b\",\"yes\":true,\"count\":18446744073709551615,\"ns\":5,\"bytes\":6,\"less\":-7,"
        "\"real\":0.1,\"fixed\":1.000,\"raw\":[1]}\n");
}

CLAIM(what_is_not_known_is_null_and_what_is_not_given_is_not_there)
{
    begin();
    report_put(root, V_TEXT("text", NULL), V_TIME("ns", STORE_ABSENT), V_BYTES("bytes", STORE_ABSENT),
               V_REAL("real", INFINITY), V_UNKNOWN("unknown"), V_GIVEN(false, V_COUNT("hidden", 1)),
               V_KNOWN(false, "half", V_COUNT("half", 1)), V_KNOWN(true, "one", V_COUNT("one", 1)),
               V_FIXED("infinite", INFINITY, 3), V_NOTE("for people", "x"));
    report_tree_write(&tree, &out);
    end("{\"text\":null,\"ns\":null,\"bytes\":null,\"real\":null,\"unknown\":null,\"half\":null,\"one\":1,"
        "\"infinite\":\"inf\"}");
}

CLAIM(lists_and_objects_nest_and_lines_hold_an_item_each)
{
    report_node *lines;

    begin();
    report_put(report_object(root, "object"), V_COUNT("a", 1));
    report_texts(root, "texts", (const char *const[]){"x", "y"}, 2);
    lines = report_lines(root, "lines");
    report_row(lines, V_COUNT("b", 2));
    report_row(lines, V_COUNT("b", 3));
    report_list(root, "empty");
    report_tree_write(&tree, &out);
    end("{\"object\":{\"a\":1},\"texts\":[\"x\",\"y\"],\"lines\":[\n{\"b\":2},\n{\"b\":3}],\"empty\":[]}");
}

/* Texts may be those of a buffer that is used again. */
CLAIM(texts_are_copied)
{
    char text[] = "before";

    begin();
    report_put(root, V_TEXT("a", text));
    text[0] = 'B';
    report_tree_write(&tree, &out);
    end("{\"a\":\"before\"}");
}

CLAIM(csv_has_the_keys_as_its_heading_and_nothing_for_what_is_not_known)
{
    begin();
    report_put(root, V_TEXT("name", "a,b"), V_NOTE("for people", "x"), V_BOOL("on", true), V_REAL("r", NAN),
               V_FIXED("f", 2.5, 3), V_TIME("t", STORE_ABSENT), V_INTEGER("i", -1));
    report_csv_line(root, true, &out);
    report_csv_line(root, false, &out);
    report_tree_clear(&tree);
    report_put(root, V_COUNT("again", 2));
    report_csv_line(root, false, &out);
    report_tree_free(&tree);
    end("name,on,r,f,t,i\n\"a,b\",1,,2.500,,-1\n2\n");
}

CLAIM(markdown_has_the_headings_and_escapes_what_ends_a_cell)
{
    begin();
    report_row(root, V_NOTE("run", "a|b\nc"), V_COUNT("for programs", 1), V_AS("n", V_COUNT("n", 7)),
               V_CELL("error", "-"));
    report_markdown_end(&tree, &out);
    end("| run | n | error |\n|---|---:|---:|\n| a\\|b c | 7 | - |\n");
}

CLAIM(texts_for_people_have_a_dash_for_what_is_not_known)
{
    assert_string_equal(report_time(3206889878).text, "3.207 s");
    assert_string_equal(report_time(STORE_ABSENT).text, "-");
    assert_string_equal(report_seconds(NAN).text, "-");
    assert_string_equal(report_bytes(67000000000).text, "67.0 GB");
    assert_string_equal(report_bytes(STORE_ABSENT).text, "-");
    assert_string_equal(report_size(NAN).text, "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_each_kind_of_value_under_its_key),
        cmocka_unit_test(what_is_not_known_is_null_and_what_is_not_given_is_not_there),
        cmocka_unit_test(lists_and_objects_nest_and_lines_hold_an_item_each),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(csv_has_the_keys_as_its_heading_and_nothing_for_what_is_not_known),
        cmocka_unit_test(markdown_has_the_headings_and_escapes_what_ends_a_cell),
        cmocka_unit_test(texts_for_people_have_a_dash_for_what_is_not_known),
    };
    return RUN_TESTS(tests);
}
