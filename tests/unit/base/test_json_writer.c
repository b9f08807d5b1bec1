#include "unit/unit.h"

#include "base/json_writer.h"

static dse_strbuf b;
static dse_json j;

static void begin(void)
{
    dse_strbuf_init(&b);
    dse_json_init(&j, &b);
}

static void assert_written(const char *expected)
{
    assert_string_equal(b.data, expected);
    assert_int_equal(j.depth, 0);
    dse_strbuf_free(&b);
}

CLAIM(commas_stand_between_values_only)
{
    begin();
    dse_json_begin_object(&j);
    dse_json_key(&j, "a");
    dse_json_begin_array(&j);
    dse_json_uint(&j, 1);
    dse_json_begin_object(&j);
    dse_json_end_object(&j);
    dse_json_begin_array(&j);
    dse_json_end_array(&j);
    dse_json_null(&j);
    dse_json_end_array(&j);
    dse_json_key(&j, "b");
    dse_json_bool(&j, true);
    dse_json_key(&j, "c");
    dse_json_bool(&j, false);
    dse_json_end_object(&j);
    assert_written("{\"a\":[1,{},[],null],\"b\":true,\"c\":false}");
}

CLAIM(integers_are_written_whole)
{
    begin();
    dse_json_begin_array(&j);
    dse_json_uint(&j, UINT64_MAX);
    dse_json_int(&j, INT64_MIN);
    dse_json_int(&j, 0);
    dse_json_end_array(&j);
    assert_written("[18446744073709551615,-9223372036854775808,0]");
}

CLAIM(doubles_are_the_shortest_that_read_back)
{
    begin();
    dse_json_begin_array(&j);
    dse_json_double(&j, 0.1);
    dse_json_double(&j, 1e16);
    dse_json_double(&j, 5.0);
    dse_json_end_array(&j);
    assert_written("[0.1,1e+16,5.0]");
}

CLAIM(fixed_keeps_trailing_zeros)
{
    begin();
    dse_json_begin_array(&j);
    dse_json_fixed(&j, 92.8, 3);
    dse_json_fixed(&j, 2.0, 0);
    dse_json_fixed(&j, -0.0005, 3); /* a tie in decimal; in binary it is a little above: away from 0 */
    dse_json_end_array(&j);
    assert_written("[92.800,2,-0.001]");
}

CLAIM(what_json_lacks_becomes_a_string)
{
    begin();
    dse_json_begin_array(&j);
    dse_json_double(&j, INFINITY);
    dse_json_double(&j, -INFINITY);
    dse_json_double(&j, (double)NAN);
    dse_json_fixed(&j, (double)NAN, 3);
    dse_json_fixed(&j, INFINITY, 3);
    dse_json_end_array(&j);
    assert_written("[\"inf\",\"-inf\",\"nan\",\"nan\",\"inf\"]");
}

CLAIM(what_is_absent_behind_a_key_is_null)
{
    begin();
    dse_json_begin_object(&j);
    dse_json_key_double(&j, "a", 0.5);
    dse_json_key_double(&j, "b", (double)NAN);
    dse_json_key_double(&j, "c", -INFINITY);
    dse_json_key_string(&j, "d", "x");
    dse_json_key_string(&j, "e", NULL);
    dse_json_end_object(&j);
    assert_written("{\"a\":0.5,\"b\":null,\"c\":null,\"d\":\"x\",\"e\":null}");
}

CLAIM(strings_are_escaped)
{
    begin();
    dse_json_string(&j, "a\"b\\c\n\t\r\x01 \xc3\xa9 /");
    assert_written("\"a\\\"b\\\\c\\n\\t\\u000d\\u0001 \xc3\xa9 /\"");
}

/* A byte of Latin-1, a character that is cut off, and one that is whole. */
CLAIM(what_is_no_utf8_is_replaced)
{
    begin();
    dse_json_string(&j, "t\xe9t \xe2\x82 \xe2\x82\xac");
    assert_written("\"t\\ufffdt \\ufffd\\ufffd \xe2\x82\xac\"");
}

CLAIM(keys_are_escaped)
{
    begin();
    dse_json_begin_object(&j);
    dse_json_key(&j, "a\"b");
    dse_json_string(&j, "");
    dse_json_end_object(&j);
    assert_written("{\"a\\\"b\":\"\"}");
}

CLAIM(raw_values_get_their_comma)
{
    begin();
    dse_json_begin_array(&j);
    dse_json_uint(&j, 1);
    dse_json_raw(&j);
    dse_strbuf_adds(&b, "{\"x\":2}");
    dse_json_uint(&j, 3);
    dse_json_end_array(&j);
    assert_written("[1,{\"x\":2},3]");
}

CLAIM(a_newline_stands_behind_the_comma)
{
    begin();
    dse_json_begin_object(&j);
    dse_json_newline(&j);
    dse_json_key(&j, "a");
    dse_json_uint(&j, 1);
    dse_json_newline(&j);
    dse_json_key(&j, "b");
    dse_json_uint(&j, 2);
    dse_json_key(&j, "c");
    dse_json_uint(&j, 3);
    dse_json_end_object(&j);
    assert_written("{\n\"a\":1,\n\"b\":2,\"c\":3}");
}

/* 32 entries of has_value: the outermost value and 31 levels of nesting. */
CLAIM(thirty_one_levels_nest)
{
    begin();
    for (int i = 0; i < 31; i++)
        dse_json_begin_array(&j);
    dse_json_uint(&j, 1);
    dse_json_uint(&j, 2);
    for (int i = 0; i < 31; i++)
        dse_json_end_array(&j);
    assert_written("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1,2]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_stand_between_values_only),
        cmocka_unit_test(integers_are_written_whole),
        cmocka_unit_test(doubles_are_the_shortest_that_read_back),
        cmocka_unit_test(fixed_keeps_trailing_zeros),
        cmocka_unit_test(what_json_lacks_becomes_a_string),
        cmocka_unit_test(what_is_absent_behind_a_key_is_null),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(what_is_no_utf8_is_replaced),
        cmocka_unit_test(keys_are_escaped),
        cmocka_unit_test(raw_values_get_their_comma),
        cmocka_unit_test(a_newline_stands_behind_the_comma),
        cmocka_unit_test(thirty_one_levels_nest),
    };
    return RUN_TESTS(tests);
}
