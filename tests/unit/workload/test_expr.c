#include "unit/unit.h"

#include "workload/expr.h"

static const wl_symbols symbols = {
    .n = 7,
    .name = {"Batch", "Seq", "Dmodel", "Head", "dp", "tp", "sp"},
    .value = {512, 1024, 8192, 64, 8, 1, 8},
};

static wl_dim dim(const char *text)
{
    dse_error err = DSE_ERROR_INIT;
    wl_dim d;

    assert_ok(wl_dim_parse(&symbols, text, &d, &err), &err);
    return d;
}

/* ---- parsing ------------------------------------------------------------------------------- */

static void assert_powers(const char *text, int batch, int seq, int dmodel, int head, int dp, int tp, int sp)
{
    const int expected[] = {batch, seq, dmodel, head, dp, tp, sp};
    wl_dim d = dim(text);

    for (int i = 0; i < WL_MAX_SYMBOLS; i++)
        assert_int_equal(d.power[i], i < 7 ? expected[i] : 0);
}

CLAIM(dimensions_are_products_of_powers)
{
    assert_powers("Batch", 1, 0, 0, 0, 0, 0, 0);
    assert_powers("Batch/dp", 1, 0, 0, 0, -1, 0, 0);
    assert_powers("Dmodel/(Head*sp)", 0, 0, 1, -1, 0, 0, -1);
    assert_powers("Batch*Seq*Seq/(dp*sp)", 1, 2, 0, 0, -1, 0, -1);
    assert_powers(" Batch * Seq / ( dp * sp ) ", 1, 1, 0, 0, -1, 0, -1);
    assert_powers("1", 0, 0, 0, 0, 0, 0, 0);
    assert_powers("1/dp", 0, 0, 0, 0, -1, 0, 0);
    assert_powers("Head/Head", 0, 0, 0, 0, 0, 0, 0);
}

static void refuse(const char *text, dse_status status, const char *why)
{
    dse_error err = DSE_ERROR_INIT;
    char message[200];
    wl_dim d = {{7}};

    snprintf(message, sizeof message, "'%s' is not a dimension: %s", text, why);
    assert_failure(wl_dim_parse(&symbols, text, &d, &err), &err, status, "", message);
    assert_int_equal(d.power[0], 7); /* *out changes only on success */
}

CLAIM(what_is_no_product_is_refused)
{
    refuse("", DSE_E_CONFIG, "a symbol is missing");
    refuse("Batch*", DSE_E_CONFIG, "a symbol is missing");
    refuse("Batch/", DSE_E_CONFIG, "a symbol is missing");
    refuse("/dp", DSE_E_CONFIG, "a symbol is missing");
    refuse("Batch/()", DSE_E_CONFIG, "a symbol is missing");
    refuse("Batch/(dp*sp", DSE_E_CONFIG, "a ')' is missing");
    refuse("Batch/(dp/sp)", DSE_E_CONFIG, "a ')' is missing");
    refuse("Batch/dp/sp", DSE_E_CONFIG, "unexpected '/'");
    refuse("Batch/dp*sp", DSE_E_CONFIG, "unexpected '*'");
    refuse("Batch+1", DSE_E_CONFIG, "unexpected '+'");
    refuse("(Batch)", DSE_E_CONFIG, "a symbol is missing");
    refuse("Batch/(dp*sp))", DSE_E_CONFIG, "unexpected ')'");
    refuse("Batch Seq", DSE_E_CONFIG, "unexpected 'S'");
}

CLAIM(unknown_symbols_are_refused_by_name)
{
    refuse("batch/dp", DSE_E_CONFIG, "unknown symbol 'batch'; did you mean 'Batch'?");
    refuse("Batch/pp", DSE_E_CONFIG, "unknown symbol 'pp'; did you mean 'dp'?");
    refuse("2*Batch", DSE_E_CONFIG, "unknown symbol '2'");
}

CLAIM(a_power_above_eight_is_refused)
{
    wl_dim d = dim("Seq*Seq*Seq*Seq*Seq*Seq*Seq*Seq");

    assert_int_equal(d.power[1], 8);
    refuse("Seq*Seq*Seq*Seq*Seq*Seq*Seq*Seq*Seq", DSE_E_RANGE, "too high a power of 'Seq'");
}

CLAIM(symbols_are_found_by_name)
{
    assert_int_equal(wl_symbol_find(&symbols, "Dmodel"), 2);
    assert_int_equal(wl_symbol_find(&symbols, "sp"), 6);
    assert_int_equal(wl_symbol_find(&symbols, "Dmode"), -1);
    assert_int_equal(wl_symbol_find(&symbols, ""), -1);
}

/* ---- algebra ------------------------------------------------------------------------------- */

CLAIM(multiplying_adds_powers)
{
    wl_dim a = dim("Batch/dp"), b = dim("Seq/(dp*sp)"), ab = dim("Batch*Seq/(dp*dp*sp)");

    wl_dim_multiply(&a, &b);
    assert_true(wl_dim_equal(&a, &ab));
    b = dim("dp*dp*sp");
    wl_dim_multiply(&a, &b);
    ab = dim("Seq*Batch");
    assert_true(wl_dim_equal(&a, &ab));
}

CLAIM(equal_dimensions_have_equal_powers)
{
    wl_dim a = dim("Batch/(dp*sp)"), b = dim("Batch/(sp*dp)"), c = dim("Batch/dp");

    assert_true(wl_dim_equal(&a, &b));
    assert_false(wl_dim_equal(&a, &c));
}

CLAIM(a_dimension_has_the_symbols_above_and_below_the_bar)
{
    wl_dim a = dim("Batch/dp");

    assert_true(wl_dim_has(&a, 0));
    assert_true(wl_dim_has(&a, 4));
    assert_false(wl_dim_has(&a, 5));
    assert_false(wl_dim_has(&a, -1)); /* a symbol that is not there */
}

CLAIM(the_elements_of_a_shape_are_the_product_of_its_dimensions)
{
    wl_shape s = {.n = 3, .dim = {dim("Batch/dp"), dim("Seq/sp"), dim("Dmodel/tp")}}, scalar = {.n = 0};
    wl_dim all = wl_shape_elements(&s), expected = dim("Batch*Seq*Dmodel/(dp*sp*tp)"), one = dim("1");

    assert_true(wl_dim_equal(&all, &expected));
    all = wl_shape_elements(&scalar);
    assert_true(wl_dim_equal(&all, &one));
}

/* ---- printing ------------------------------------------------------------------------------ */

static void assert_prints(const char *text, const char *expected)
{
    dse_strbuf b;
    wl_dim d = dim(text);

    dse_strbuf_init(&b);
    wl_dim_print(&symbols, &d, &b);
    assert_string_equal(b.data, expected);
    dse_strbuf_free(&b);
}

/* str() of the same expression in sympy 1.14; ASCII order, so capitals come first. */
CLAIM(dimensions_print_as_sympy_prints_them)
{
    assert_prints("Batch/dp", "Batch/dp");
    assert_prints("Dmodel/(sp*Head)", "Dmodel/(Head*sp)");
    assert_prints("sp*dp*Batch", "Batch*dp*sp");
    assert_prints("1/dp", "1/dp");
    assert_prints("1/(tp*dp)", "1/(dp*tp)");
    assert_prints("1", "1");
    assert_prints("Seq*Seq*Batch/(dp*dp)", "Batch*Seq**2/dp**2");
    assert_prints("Head/Head", "1");
}

CLAIM(shapes_print_their_dimensions_with_commas)
{
    wl_shape s = {.n = 2, .dim = {dim("Batch/dp"), dim("Dmodel/(Head*sp)")}}, scalar = {.n = 0};
    dse_strbuf b;

    dse_strbuf_init(&b);
    wl_shape_print(&symbols, &s, &b);
    dse_strbuf_addc(&b, ' ');
    wl_shape_print(&symbols, &scalar, &b);
    assert_string_equal(b.data, "Batch/dp,Dmodel/(Head*sp) 1");
    dse_strbuf_free(&b);
}

CLAIM(what_is_printed_parses_to_the_same)
{
    uint64_t seed = 11;

    for (int i = 0; i < 500; i++) {
        dse_error err = DSE_ERROR_INIT;
        wl_dim d = {{0}}, again;
        dse_strbuf b;

        for (int k = 0; k < 7; k++) /* powers of -1, 0, 1: "**" is sympy's, not ours to read */
            d.power[k] = (int8_t)(unit_random(&seed) % 3) - 1;
        dse_strbuf_init(&b);
        wl_dim_print(&symbols, &d, &b);
        assert_ok(wl_dim_parse(&symbols, b.data, &again, &err), &err);
        assert_true(wl_dim_equal(&d, &again));
        dse_strbuf_free(&b);
    }
}

/* ---- values -------------------------------------------------------------------------------- */

static double value(const char *text, double scale)
{
    wl_dim d = dim(text);

    return wl_dim_value(&symbols, &d, scale);
}

CLAIM(degrees_that_divide_give_the_plain_integer)
{
    assert_double(value("1", 1), 1);
    assert_double(value("Batch/dp", 1), 64);
    assert_double(value("Batch*Seq*Dmodel/(dp*sp*tp)", 1), 512.0 * 1024 * 8192 / 64);
    assert_double(value("Dmodel/(Head*sp)", 1), 16);
    assert_double(value("1/dp", 1), 0.125);
    assert_double(value("Batch*Seq*Seq*Dmodel*Dmodel", 1), 512.0 * 1024 * 1024 * 8192 * 8192);
}

CLAIM(the_scale_multiplies)
{
    assert_double(value("Batch/dp", 5), 320);
    assert_double(value("1", 5), 5);
    assert_double(value("Batch/dp", 0.5), 32);
}

/* Products of dimensions that divide, over random models: integer arithmetic is exact below 2^53. */
CLAIM(random_products_that_divide_are_exact)
{
    uint64_t seed = 12;

    for (int i = 0; i < 3000; i++) {
        wl_symbols s = {.n = 4, .name = {"a", "b", "dp", "sp"}};
        uint64_t dp = 1 + unit_random(&seed) % 100, sp = 1 + unit_random(&seed) % 100;
        uint64_t a = dp * (1 + unit_random(&seed) % 10000), b = sp * (1 + unit_random(&seed) % 10000);
        wl_dim d = {{1, 1, -1, -1}};

        s.value[0] = (int64_t)a;
        s.value[1] = (int64_t)b;
        s.value[2] = (int64_t)dp;
        s.value[3] = (int64_t)sp;
        assert_double(wl_dim_value(&s, &d, 1), (double)(a / dp * (b / sp)));
    }
}

static void assert_sympy(int64_t batch, int64_t seq, int64_t dmodel, int64_t dp, int64_t tp, int64_t sp,
                         double expected)
{
    wl_symbols s = {.n = 6, .name = {"Batch", "Seq", "Dmodel", "dp", "tp", "sp"}};
    const int64_t v[] = {batch, seq, dmodel, dp, tp, sp};
    wl_dim d = {{1, 1, 1, -1, -1, -1}};

    memcpy(s.value, v, sizeof v);
    assert_double(wl_dim_value(&s, &d, 1), expected);
}

/* float((Batch*Seq*Dmodel/(dp*tp*sp)).evalf(subs={...})) of sympy 1.14.0 with mpmath 1.3.0; in the first eight the
 * correctly rounded quotient is another double. */
CLAIM(degrees_that_do_not_divide_give_sympy_s_value)
{
    assert_sympy(512, 1024, 12288, 7, 7, 6, 21913098.448979594); /* rounded: ...59  */
    assert_sympy(77, 128, 512, 9, 1, 6, 93449.48148148149);      /* ...8147 */
    assert_sympy(512, 77, 8192, 6, 3, 6, 2990383.4074074076);    /* ...407  */
    assert_sympy(16, 128, 512, 3, 3, 11, 10591.676767676767);    /* ...769  */
    assert_sympy(77, 1024, 512, 9, 1, 3, 1495191.7037037038);    /* ...036  */
    assert_sympy(77, 128, 8192, 3, 3, 6, 1495191.7037037038);    /* ...036  */
    assert_sympy(16, 1723, 640, 7, 7, 1, 360071.83673469385);    /* ...939  */
    assert_sympy(16, 128, 12288, 3, 49, 1, 171196.08163265308);  /* ...305  */
    assert_sympy(512, 1024, 512, 9, 3, 1, 9942053.925925925);
    assert_sympy(16, 128, 512, 6, 49, 6, 594.4308390022676);
    assert_sympy(20, 128, 12288, 7, 1, 6, 748982.8571428572);
}

/* As they stand in STAGE's own traces (reference cases in the comments). */
CLAIM(sizes_in_stage_s_traces_are_reproduced)
{
    assert_sympy(16, 128, 512, 3, 1, 1, 349525.3333333333);   /* L2_A_s1_3_1_1_1: Batch/dp,Seq/sp,Dmodel/tp */
    assert_sympy(16, 128, 2048, 3, 1, 1, 1398101.3333333333); /* the same: Batch/dp,Seq/sp,Dff/tp */
    assert_sympy(16, 128, 1000, 1, 1, 3, 682666.6666666666);  /* L2_A_s1_1_1_3_1: Batch/dp,Seq/sp,Din/tp */
    assert_sympy(1, 640, 640, 1, 7, 1, 58514.28571428572); /* L2_E_s1_1_7_1_1: Dmodel,Dmodel/Head,Head/tp */
}

CLAIM(a_third_of_2097152000_prints_as_stage_prints_it)
{
    wl_symbols s = {.n = 2, .name = {"x", "y"}, .value = {2097152000, 3}};
    wl_dim d = {{1, -1}};
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_add_repr(&b, wl_dim_value(&s, &d, 1));
    assert_string_equal(b.data, "699050666.6666666");
    dse_strbuf_free(&b);
}

/* (2*Dff*Dmodel/tp + 4*Dmodel**2/tp)/dp */
static double weights(int64_t dff, int64_t dmodel, int64_t tp, int64_t dp)
{
    wl_symbols s = {.n = 4, .name = {"Dff", "Dmodel", "tp", "dp"}, .value = {dff, dmodel, tp, dp}};
    const wl_dim term[] = {{{1, 1, -1}}, {{0, 2, -1}}}, over = {{0, 0, 0, -1}};
    const double scale[] = {2, 4};

    return wl_sum_value(&s, term, scale, 2, dp > 1 ? &over : NULL);
}

/* float(e.evalf(subs={...})) of sympy 1.11.1; in the last four the correctly rounded value is another double. */
CLAIM(sums_have_sympy_s_value)
{
    assert_double(weights(1024, 256, 1, 1), 2.0 * 1024 * 256 + 4.0 * 256 * 256);
    assert_double(weights(1024, 256, 2, 4), (2.0 * 1024 * 256 + 4.0 * 256 * 256) / 8);
    assert_double(weights(11008, 640, 7, 1), 2246948.5714285714);
    assert_double(weights(11008, 640, 7, 7), 320992.6530612245);
    assert_double(weights(11008, 4097, 13, 9), 1344796.4786324785); /* rounded: ...787 */
    assert_double(weights(700, 4097, 13, 3), 1868652.205128205);    /* ...052 */
    assert_double(weights(333, 4097, 3, 9), 2587786.5925925924);    /* ...593  */
    assert_double(weights(11008, 1000, 13, 9), 222358.97435897437); /* ...434 */
}

/* ---- sizes as the simulator reads them ----------------------------------------------------- */

CLAIM(a_size_is_read_up_to_the_point)
{
    assert_u64(wl_size_as_read(0.0), 0);
    assert_u64(wl_size_as_read(81920000.0), 81920000);
    assert_u64(wl_size_as_read(699050666.6666666), 699050666);
    assert_u64(wl_size_as_read(0.75), 0);
    assert_u64(wl_size_as_read(9999999999999998.0), 9999999999999998u);
}

CLAIM(a_size_with_an_exponent_is_read_as_its_first_digit)
{
    assert_u64(wl_size_as_read(1e16), 1);                   /* "1e+16" */
    assert_u64(wl_size_as_read(1.2345678901234568e+17), 1); /* "1.2345678901234568e+17" */
    assert_u64(wl_size_as_read(9e20), 9);
    assert_u64(wl_size_as_read(5e-05), 5); /* "5e-05" */
    assert_u64(wl_size_as_read(0.0001), 0);
    /* The digits of the shortest spelling: "1e+23", though the nearest double is 9.999999999999999161e22. */
    assert_u64(wl_size_as_read(1e23), 1);
    assert_u64(wl_size_as_read(9.999999999999997e22), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions_are_products_of_powers),
        cmocka_unit_test(what_is_no_product_is_refused),
        cmocka_unit_test(unknown_symbols_are_refused_by_name),
        cmocka_unit_test(a_power_above_eight_is_refused),
        cmocka_unit_test(symbols_are_found_by_name),
        cmocka_unit_test(multiplying_adds_powers),
        cmocka_unit_test(equal_dimensions_have_equal_powers),
        cmocka_unit_test(a_dimension_has_the_symbols_above_and_below_the_bar),
        cmocka_unit_test(the_elements_of_a_shape_are_the_product_of_its_dimensions),
        cmocka_unit_test(dimensions_print_as_sympy_prints_them),
        cmocka_unit_test(shapes_print_their_dimensions_with_commas),
        cmocka_unit_test(what_is_printed_parses_to_the_same),
        cmocka_unit_test(degrees_that_divide_give_the_plain_integer),
        cmocka_unit_test(the_scale_multiplies),
        cmocka_unit_test(random_products_that_divide_are_exact),
        cmocka_unit_test(degrees_that_do_not_divide_give_sympy_s_value),
        cmocka_unit_test(sizes_in_stage_s_traces_are_reproduced),
        cmocka_unit_test(a_third_of_2097152000_prints_as_stage_prints_it),
        cmocka_unit_test(sums_have_sympy_s_value),
        cmocka_unit_test(a_size_is_read_up_to_the_point),
        cmocka_unit_test(a_size_with_an_exponent_is_read_as_its_first_digit),
    };
    return RUN_TESTS(tests);
}
