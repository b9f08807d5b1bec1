#include "unit/unit.h"

#include "base/units.h"

static void check(const char *text, dse_unit unit, double expected, bool expected_unit)
{
    dse_error err = DSE_ERROR_INIT;
    bool had_unit = !expected_unit;
    double v = -1;

    assert_ok(dse_parse_quantity(text, unit, &v, &had_unit, &err), &err);
    assert_double(v, expected);
    assert_int_equal(had_unit, expected_unit);
}

static void refuse(const char *text, dse_unit unit, const char *message)
{
    dse_error err = DSE_ERROR_INIT;
    bool had_unit;
    double v = 4711;

    assert_failure(dse_parse_quantity(text, unit, &v, &had_unit, &err), &err, DSE_E_CONFIG, "", message);
    assert_double(v, 4711); /* out-parameters change only on success */
}

CLAIM(gb_is_10_to_the_9_and_gib_is_2_to_the_30)
{
    check("80GB", DSE_UNIT_BYTES, 80e9, true);
    check("80GiB", DSE_UNIT_BYTES, 80.0 * 1073741824.0, true);
    check("1kB", DSE_UNIT_BYTES, 1000, true);
    check("1KB", DSE_UNIT_BYTES, 1000, true);
    check("1KiB", DSE_UNIT_BYTES, 1024, true);
    check("1kiB", DSE_UNIT_BYTES, 1024, true);
    check("3MB", DSE_UNIT_BYTES, 3e6, true);
    check("1MiB", DSE_UNIT_BYTES, 1048576, true);
    check("2TB", DSE_UNIT_BYTES, 2e12, true);
    check("1TiB", DSE_UNIT_BYTES, 1099511627776.0, true);
    check("1PB", DSE_UNIT_BYTES, 1e15, true);
    check("1PiB", DSE_UNIT_BYTES, 1125899906842624.0, true);
    check("7B", DSE_UNIT_BYTES, 7, true);
}

CLAIM(the_prefix_e_is_not_an_exponent)
{
    check("2EB", DSE_UNIT_BYTES, 2e18, true);
    check("1EiB", DSE_UNIT_BYTES, 1152921504606846976.0, true);
    check("1e3B", DSE_UNIT_BYTES, 1000, true);
    check("1e3EB", DSE_UNIT_BYTES, 1e21, true);
}

CLAIM(a_bare_number_has_no_unit)
{
    check("80", DSE_UNIT_BYTES, 80, false);
    check("1.5", DSE_UNIT_NS, 1.5, false);
    check(".5", DSE_UNIT_NONE, 0.5, false);
    check("-3", DSE_UNIT_NONE, -3, false);
    check("+1e3", DSE_UNIT_NONE, 1000, false);
    check("5.", DSE_UNIT_NONE, 5, false);
}

CLAIM(rates_of_bytes)
{
    check("100GB/s", DSE_UNIT_BYTES_PER_S, 100e9, true);
    check("100GiB/s", DSE_UNIT_BYTES_PER_S, 100.0 * 1073741824.0, true);
    check("1B/s", DSE_UNIT_BYTES_PER_S, 1, true);
    check("50GBps", DSE_UNIT_BYTES_PER_S, 50e9, true);
}

CLAIM(eight_bits_a_second_are_a_byte_a_second)
{
    check("400Gb/s", DSE_UNIT_BYTES_PER_S, 50e9, true);
    check("400Gbps", DSE_UNIT_BYTES_PER_S, 50e9, true);
    check("400 Gbit/s", DSE_UNIT_BYTES_PER_S, 50e9, true);
    check("400gbit/s", DSE_UNIT_BYTES_PER_S, 50e9, true);
    check("8Gib/s", DSE_UNIT_BYTES_PER_S, 1073741824.0, true);
    check("8kb/s", DSE_UNIT_BYTES_PER_S, 1000, true);
    check("8b/s", DSE_UNIT_BYTES_PER_S, 1, true);
}

CLAIM(any_case_of_letters_will_do_where_it_leaves_no_doubt)
{
    check("80gb", DSE_UNIT_BYTES, 80e9, true);
    check("80gib", DSE_UNIT_BYTES, 80.0 * 1073741824.0, true);
    check("50gB/s", DSE_UNIT_BYTES_PER_S, 50e9, true);
    check("989tflops", DSE_UNIT_FLOPS, 989e12, true);
    check("989 Tflop/s", DSE_UNIT_FLOPS, 989e12, true);
    check("3US", DSE_UNIT_NS, 3000, true);
    check("5NS", DSE_UNIT_NS, 5, true);
    check("3\u00b5s", DSE_UNIT_NS, 3000, true);
    refuse("80Gb", DSE_UNIT_BYTES,
           "unknown unit 'Gb' in '80Gb'; expected a size such as 80GB (10^9) or 80GiB (2^30)");
    refuse("50gb/s", DSE_UNIT_BYTES_PER_S, "'gb/s' in '50gb/s' may be bits or bytes; write 50Gb/s or 50GB/s");
    refuse("400GBPS", DSE_UNIT_BYTES_PER_S, "'GBPS' in '400GBPS' may be bits or bytes; write 400Gb/s or 400GB/s");
}

CLAIM(powers_are_in_watts)
{
    check("700W", DSE_UNIT_WATTS, 700, true);
    check("1.2kW", DSE_UNIT_WATTS, 1200, true);
    check("700w", DSE_UNIT_WATTS, 700, true);
    refuse("700mW", DSE_UNIT_WATTS, "unknown unit 'mW' in '700mW'; expected a power such as 700W or 1.2kW");
}

CLAIM(the_rate_of_a_lane_is_not_that_of_a_link)
{
    refuse("32GT/s", DSE_UNIT_BYTES_PER_S,
           "'32GT/s' counts the transfers of one lane; write the rate of the link: of 16 lanes some 64GB/s");
}

CLAIM(rates_of_operations)
{
    check("450TFLOPS", DSE_UNIT_FLOPS, 450e12, true);
    check("450 TFLOP/s", DSE_UNIT_FLOPS, 450e12, true);
    check("1PFLOPS", DSE_UNIT_FLOPS, 1e15, true);
    check("9FLOPS", DSE_UNIT_FLOPS, 9, true);
}

CLAIM(times_are_in_nanoseconds)
{
    check("50ns", DSE_UNIT_NS, 50, true);
    check("1.5us", DSE_UNIT_NS, 1500, true);
    check("3ms", DSE_UNIT_NS, 3e6, true);
    check("2s", DSE_UNIT_NS, 2e9, true);
    check("2min", DSE_UNIT_NS, 120e9, true);
    check("1h", DSE_UNIT_NS, 3600e9, true);
}

CLAIM(one_space_before_the_unit_is_allowed)
{
    check("80 GB", DSE_UNIT_BYTES, 80e9, true);
    refuse("80  GB", DSE_UNIT_BYTES,
           "unknown unit ' GB' in '80  GB'; expected a size such as 80GB (10^9) or 80GiB (2^30)");
}

CLAIM(a_unit_of_another_kind_is_refused)
{
    refuse("80GB/s", DSE_UNIT_BYTES,
           "unknown unit 'GB/s' in '80GB/s'; expected a size such as 80GB (10^9) or 80GiB (2^30)");
    refuse("80GB", DSE_UNIT_BYTES_PER_S,
           "unknown unit 'GB' in '80GB'; expected a rate such as 100GB/s (10^9), 100GiB/s (2^30) or "
           "400Gb/s (bits)");
    refuse("3GHz", DSE_UNIT_FLOPS, "unknown unit 'GHz' in '3GHz'; expected a rate such as 450TFLOPS");
    refuse("1TiFLOPS", DSE_UNIT_FLOPS,
           "unknown unit 'TiFLOPS' in '1TiFLOPS'; expected a rate such as 450TFLOPS");
    refuse("5MHz", DSE_UNIT_NS, "unknown unit 'MHz' in '5MHz'; expected a time such as 50ns, 1.5us, 3ms or 2s");
    refuse("5ns", DSE_UNIT_NONE, "unknown unit 'ns' in '5ns'; expected a number");
    refuse("80fb", DSE_UNIT_BYTES,
           "unknown unit 'fb' in '80fb'; expected a size such as 80GB (10^9) or 80GiB (2^30)");
    refuse("80G", DSE_UNIT_BYTES,
           "unknown unit 'G' in '80G'; expected a size such as 80GB (10^9) or 80GiB (2^30)");
}

CLAIM(what_only_strtod_takes_for_a_number_is_refused)
{
    static const char *const texts[] = {"",       "GB", "nan", "inf", "infinity", "0x10",
                                        "-0x1p3", " 5", "--5", ".",   "1e400",    "+"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char message[80];

        snprintf(message, sizeof message, "'%s' is not a number", texts[i]);
        refuse(texts[i], DSE_UNIT_NONE, message);
    }
}

/* ---- strict numbers ------------------------------------------------------------------------ */

CLAIM(integers_of_64_bits)
{
    int64_t v;

    assert_int_equal(dse_parse_int("9223372036854775807", &v, NULL), DSE_OK);
    assert_true(v == INT64_MAX);
    assert_int_equal(dse_parse_int("-9223372036854775808", &v, NULL), DSE_OK);
    assert_true(v == INT64_MIN);
    assert_int_equal(dse_parse_int("+7", &v, NULL), DSE_OK);
    assert_true(v == 7);
    assert_int_equal(dse_parse_int("007", &v, NULL), DSE_OK); /* decimal, not octal */
    assert_true(v == 7);
}

CLAIM(an_integer_is_the_whole_text)
{
    static const char *const texts[] = {"", "-", "1.0", "1e3", "0x10", " 1", "1 ", "1,2", "abc"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        dse_error err = DSE_ERROR_INIT;
        char message[80];
        int64_t v;

        snprintf(message, sizeof message, "'%s' is not a whole number", texts[i]);
        assert_failure(dse_parse_int(texts[i], &v, &err), &err, DSE_E_CONFIG, "", message);
    }
}

CLAIM(an_integer_beyond_64_bits_is_refused)
{
    dse_error err = DSE_ERROR_INIT;
    int64_t v;

    assert_failure(dse_parse_int("9223372036854775808", &v, &err), &err, DSE_E_CONFIG, "",
                   "'9223372036854775808' does not fit in 64 bits");
}

CLAIM(a_double_is_the_whole_text)
{
    dse_error err = DSE_ERROR_INIT;
    double v = 0;

    assert_ok(dse_parse_double("1.25e2", &v, &err), &err);
    assert_double(v, 125);
    assert_failure(dse_parse_double("1.25 ", &v, &err), &err, DSE_E_CONFIG, "", "'1.25 ' is not a number");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(dse_parse_double("nan", &v, &err), &err, DSE_E_CONFIG, "", "'nan' is not a number");
}

CLAIM(truth_is_spelt_in_many_ways)
{
    static const char *const yes[] = {"true", "yes", "on", "1", "True", "t", "Y"};
    static const char *const no[] = {"false", "no", "off", "0", "FALSE", "F", "n"};
    dse_error err = DSE_ERROR_INIT;
    bool v;

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        v = false;
        assert_ok(dse_parse_bool(yes[i], &v, &err), &err);
        assert_true(v);
        assert_ok(dse_parse_bool(no[i], &v, &err), &err);
        assert_false(v);
    }
    assert_failure(dse_parse_bool("tru", &v, &err), &err, DSE_E_CONFIG, "",
                   "'tru' is neither true nor false");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(dse_parse_bool("2", &v, &err), &err, DSE_E_CONFIG, "", "'2' is neither true nor false");
}

/* ---- for people ---------------------------------------------------------------------------- */

static void check_bytes(double v, const char *expected)
{
    char out[32];

    dse_format_bytes(out, sizeof out, v);
    assert_string_equal(out, expected);
}

static void check_seconds(double v, const char *expected)
{
    char out[32];

    dse_format_seconds(out, sizeof out, v);
    assert_string_equal(out, expected);
}

CLAIM(bytes_are_shown_in_powers_of_1000)
{
    check_bytes(0, "0 B");
    check_bytes(999, "999 B");
    check_bytes(1000, "1.0 kB");
    check_bytes(67.04e9, "67.0 GB");
    check_bytes(999.9e6, "999.9 MB");
    check_bytes(999.96e6, "1.0 GB"); /* would round to 1000.0 MB */
    check_bytes(2e21, "2000.0 EB");
}

CLAIM(seconds_are_shown_in_the_unit_that_fits)
{
    check_seconds(3.2071, "3.207 s");
    check_seconds(0.0166, "16.60 ms");
    check_seconds(0.9999, "999.9 ms");
    check_seconds(0.99996, "1.000 s");
    check_seconds(9.9996, "10.00 s");
    check_seconds(99.996, "100.0 s");
    check_seconds(999.96, "1000 s");
    check_seconds(86400, "86400 s");
    check_seconds(2.5e-6, "2.500 us");
    check_seconds(50e-9, "50 ns");
    check_seconds(0, "0 ns");
}

CLAIM(counts_have_no_sign)
{
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "18446744073709551616"};
    uint64_t v = 7;

    assert_int_equal(dse_parse_u64("18446744073709551615", &v, NULL), DSE_OK);
    assert_u64(v, UINT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dse_error err = DSE_ERROR_INIT;

        assert_says(dse_parse_u64(bad[i], &v, &err), &err, DSE_E_CONFIG, bad[i]);
        assert_u64(v, UINT64_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gb_is_10_to_the_9_and_gib_is_2_to_the_30),
        cmocka_unit_test(the_prefix_e_is_not_an_exponent),
        cmocka_unit_test(a_bare_number_has_no_unit),
        cmocka_unit_test(rates_of_bytes),
        cmocka_unit_test(eight_bits_a_second_are_a_byte_a_second),
        cmocka_unit_test(any_case_of_letters_will_do_where_it_leaves_no_doubt),
        cmocka_unit_test(powers_are_in_watts),
        cmocka_unit_test(the_rate_of_a_lane_is_not_that_of_a_link),
        cmocka_unit_test(rates_of_operations),
        cmocka_unit_test(times_are_in_nanoseconds),
        cmocka_unit_test(counts_have_no_sign),
        cmocka_unit_test(one_space_before_the_unit_is_allowed),
        cmocka_unit_test(a_unit_of_another_kind_is_refused),
        cmocka_unit_test(what_only_strtod_takes_for_a_number_is_refused),
        cmocka_unit_test(integers_of_64_bits),
        cmocka_unit_test(an_integer_is_the_whole_text),
        cmocka_unit_test(an_integer_beyond_64_bits_is_refused),
        cmocka_unit_test(a_double_is_the_whole_text),
        cmocka_unit_test(truth_is_spelt_in_many_ways),
        cmocka_unit_test(bytes_are_shown_in_powers_of_1000),
        cmocka_unit_test(seconds_are_shown_in_the_unit_that_fits),
    };
    return RUN_TESTS(tests);
}
