#include "unit/unit.h"

CLAIM(an_empty_buffer_is_an_empty_string)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    assert_string_equal(b.data, "");
    dse_strbuf_clear(&b);
    dse_strbuf_free(&b);
    dse_strbuf_add(&b, "", 0);
    assert_string_equal(b.data, "");
    assert_int_equal(b.cap, 0); /* and needs no memory */
    dse_strbuf_free(&b);
}

CLAIM(appending_keeps_the_terminator_through_every_growth)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    for (size_t i = 0; i < 1000; i++) {
        dse_strbuf_addc(&b, (char)('a' + i % 26));
        assert_int_equal(b.len, i + 1);
        assert_int_equal(b.data[i], 'a' + i % 26);
        assert_int_equal(b.data[i + 1], '\0');
    }
    dse_strbuf_free(&b);
}

CLAIM(a_buffer_in_an_arena_grows_there_and_needs_no_free)
{
    dse_arena a;
    dse_strbuf b;

    dse_arena_init(&a);
    b = dse_strbuf_in(&a);
    assert_string_equal(b.data, "");
    for (size_t i = 0; i < 1000; i++)
        dse_strbuf_addf(&b, "%zu,", i % 10);
    assert_int_equal(b.len, 2000);
    assert_memory_equal(b.data, "0,1,2,3,4,5,6,7,8,9,0,", 22);
    assert_string_equal(b.data + 1996, "8,9,");
    dse_strbuf_free(&b); /* leaves the memory to the arena */
    assert_string_equal(b.data, "");
    dse_arena_free(&a);
}

CLAIM(bytes_may_contain_nul)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_add(&b, "a\0b", 3);
    dse_strbuf_adds(&b, "c");
    assert_int_equal(b.len, 4);
    assert_memory_equal(b.data, "a\0bc", 5);
    dse_strbuf_free(&b);
}

CLAIM(clearing_keeps_the_memory)
{
    dse_strbuf b;
    char *before;

    dse_strbuf_init(&b);
    dse_strbuf_adds(&b, "abc");
    before = b.data;
    dse_strbuf_clear(&b);
    assert_string_equal(b.data, "");
    assert_ptr_equal(b.data, before);
    dse_strbuf_free(&b);
}

CLAIM(unsigned_numbers_are_decimal)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_addu(&b, 0);
    dse_strbuf_addc(&b, ' ');
    dse_strbuf_addu(&b, 10);
    dse_strbuf_addc(&b, ' ');
    dse_strbuf_addu(&b, UINT64_MAX);
    assert_string_equal(b.data, "0 10 18446744073709551615");
    dse_strbuf_free(&b);
}

CLAIM(formatted_text_of_any_length_is_appended)
{
    char longer[600];
    dse_strbuf b;

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    dse_strbuf_init(&b);
    dse_strbuf_addf(&b, "%s", "");
    assert_int_equal(b.len, 0);
    dse_strbuf_addf(&b, "%d,%s", 5, longer);
    assert_int_equal(b.len, 2 + 599);
    assert_memory_equal(b.data, "5,xxx", 5);
    dse_strbuf_free(&b);
}

CLAIM(a_length_that_overflows_is_no_memory)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_adds(&b, "abc");
    assert_out_of_memory(dse_strbuf_add(&b, "x", SIZE_MAX - 2));
    assert_string_equal(b.data, "abc");
    dse_strbuf_free(&b);
}

/* ---- repr ---------------------------------------------------------------------------------- */

static void check_repr(double v, const char *expected)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_add_repr(&b, v);
    assert_string_equal(b.data, expected);
    dse_strbuf_free(&b);
}

/* Python's float_repr_style 'short': plain notation while -4 <= exponent < 16, always with a point. */
CLAIM(repr_of_whole_numbers_ends_in_point_zero_below_1e16)
{
    check_repr(0.0, "0.0");
    check_repr(-0.0, "-0.0");
    check_repr(1.0, "1.0");
    check_repr(-3.0, "-3.0");
    check_repr(81920000.0, "81920000.0");
    check_repr(1e15, "1000000000000000.0");
    check_repr(9007199254740993.0, "9007199254740992.0"); /* 2^53 + 1 is no double */
    check_repr(9999999999999998.0, "9999999999999998.0"); /* the last double below 1e16 */
}

CLAIM(repr_has_an_exponent_from_1e16_on)
{
    check_repr(1e16, "1e+16");
    check_repr(1.2e16, "1.2e+16");
    check_repr(123456789012345680.0, "1.2345678901234568e+17");
    check_repr(1e22, "1e+22");
    check_repr(1e100, "1e+100");
    check_repr(1.7976931348623157e308, "1.7976931348623157e+308"); /* DBL_MAX */
    check_repr(-1e16, "-1e+16");
}

CLAIM(repr_has_an_exponent_below_1e_minus_4)
{
    check_repr(0.0001, "0.0001");
    check_repr(0.00012, "0.00012");
    check_repr(0.00005, "5e-05");
    check_repr(-0.000099, "-9.9e-05");
    check_repr(1e-100, "1e-100");
    check_repr(2.2250738585072014e-308, "2.2250738585072014e-308"); /* DBL_MIN */
    check_repr(5e-324, "5e-324");                                   /* the smallest there is */
}

/* Fractions as they stand in STAGE's traces: 2097152000/3, 1048576/3 (L2_A_s1_1_1_3_1), 409600/7 (L2_E_s1_1_7_1_1). */
CLAIM(repr_of_fractions_is_the_shortest_that_reads_back)
{
    check_repr(2097152000.0 / 3, "699050666.6666666");
    check_repr(1048576.0 / 3, "349525.3333333333");
    check_repr(409600.0 / 7, "58514.28571428572");
    check_repr(0.1, "0.1");
    check_repr(0.1 + 0.2, "0.30000000000000004");
    check_repr(1.5, "1.5");
    check_repr(-2.75, "-2.75");
    check_repr(1e15 + 0.5, "1000000000000000.5");
    check_repr(123456.789, "123456.789");
}

CLAIM(repr_of_what_is_no_number)
{
    check_repr((double)NAN, "nan");
    check_repr(INFINITY, "inf");
    check_repr(-INFINITY, "-inf");
}

CLAIM(repr_reads_back_as_the_same_number)
{
    uint64_t seed = 4;

    for (int i = 0; i < 20000; i++) {
        uint64_t bits = unit_random(&seed);
        double v, again;
        dse_strbuf b;

        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        if (i % 2) /* half of them of sizes that occur */
            v = ldexp((double)(bits >> 11), -(int)(bits % 60));
        dse_strbuf_init(&b);
        dse_strbuf_add_repr(&b, v);
        again = strtod(b.data, NULL);
        assert_double(again, v);
        /* 17 digits, sign, point, exponent: never longer than "-d.dddddddddddddddde-308" or 0.000 and 17 digits. */
        assert_true(b.len <= 24);
        dse_strbuf_free(&b);
    }
}

CLAIM(words_are_wrapped_from_a_column_on)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_add_wrapped(&b, "one two  three", 4, 11); /* 4 + "one two" is 11, " three" would be 17 */
    assert_string_equal(b.data, "one two\n    three");
    dse_strbuf_clear(&b);
    dse_strbuf_add_wrapped(&b, "a longer_than_a_line b", 0, 8);
    assert_string_equal(b.data, "a\nlonger_than_a_line\nb");
    dse_strbuf_clear(&b);
    dse_strbuf_add_wrapped(&b, "", 4, 8);
    assert_int_equal(b.len, 0);
    dse_strbuf_free(&b);
}

CLAIM(a_csv_field_is_quoted_where_it_must_be_and_no_formula)
{
    static const char *const fields[][2] = {{"a b", "a b"},
                                            {"a,b", "\"a,b\""},
                                            {"a\"", "\"a\"\"\""},
                                            {"=1+2", "'=1+2"},
                                            {"@a,b", "\"'@a,b\""},
                                            {"-1.5e3", "-1.5e3"},
                                            {"-1+cmd", "'-1+cmd"},
                                            {"+", "'+"},
                                            {"\tx", "'\tx"},
                                            {"\r", "\"'\r\""},
                                            {"", ""},
                                            {"a=b", "a=b"}};
    dse_strbuf b;

    dse_strbuf_init(&b);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        dse_strbuf_clear(&b);
        dse_strbuf_add_csv(&b, fields[i][0]);
        assert_string_equal(b.data, fields[i][1]);
    }
    dse_strbuf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_an_empty_string),
        cmocka_unit_test(appending_keeps_the_terminator_through_every_growth),
        cmocka_unit_test(a_buffer_in_an_arena_grows_there_and_needs_no_free),
        cmocka_unit_test(bytes_may_contain_nul),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(unsigned_numbers_are_decimal),
        cmocka_unit_test(formatted_text_of_any_length_is_appended),
        cmocka_unit_test(a_length_that_overflows_is_no_memory),
        cmocka_unit_test(repr_of_whole_numbers_ends_in_point_zero_below_1e16),
        cmocka_unit_test(repr_has_an_exponent_from_1e16_on),
        cmocka_unit_test(repr_has_an_exponent_below_1e_minus_4),
        cmocka_unit_test(repr_of_fractions_is_the_shortest_that_reads_back),
        cmocka_unit_test(repr_of_what_is_no_number),
        cmocka_unit_test(repr_reads_back_as_the_same_number),
        cmocka_unit_test(words_are_wrapped_from_a_column_on),
        cmocka_unit_test(a_csv_field_is_quoted_where_it_must_be_and_no_formula),
    };
    return RUN_TESTS(tests);
}
