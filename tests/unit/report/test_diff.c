/* Which rows are paired, when figures are equal, and what is said. */
#include "report/diff.h"
#include "unit/point.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static dse_strbuf out;
static report_pair *pairs;
static size_t n_pairs;

static void begin(void)
{
    dse_arena_init(&arena);
    dse_strbuf_init(&out);
    err = (dse_error)DSE_ERROR_INIT;
}

static void end(void)
{
    dse_strbuf_free(&out);
    dse_arena_free(&arena);
}

static store_row row(const char *system, const char *engine, uint64_t study, uint32_t dp, uint64_t wall_time)
{
    store_row r = {.model = "m",
                   .system = system,
                   .engine = engine,
                   .settings = "",
                   .study = study,
                   .strategy = unit_point("%u_1_1_1_0", dp),
                   .done = true,
                   .error = ""};

    store_metrics_clear(&r.metrics);
    r.metrics.wall_time = wall_time;
    return r;
}

static void pair(const store_row *a, size_t n_a, const store_row *b, size_t n_b)
{
    pairs = report_diff_pair(a, n_a, b, n_b, &arena, &n_pairs);
}

static void assert_pair(size_t i, const store_row *a, const store_row *b)
{
    assert_true(i < n_pairs);
    assert_ptr_equal(pairs[i].a, a);
    assert_ptr_equal(pairs[i].b, b);
}

/* ---- pairs --------------------------------------------------------------------------------- */

CLAIM(one_row_on_each_side_is_a_pair_whatever_the_engines)
{
    const store_row a[] = {row("s", "native-1", 1, 2, 5)}, b[] = {row("s", "imported", 9, 2, 5)};

    begin();
    pair(a, 1, b, 1);
    assert_int_equal(n_pairs, 1);
    assert_pair(0, &a[0], &b[0]);
    end();
}

CLAIM(rows_of_one_side_alone_stay_alone)
{
    const store_row a[] = {row("s", "e", 1, 1, 5), row("s", "e", 1, 4, 5), row("t", "e", 2, 1, 5)};
    const store_row b[] = {row("s", "e", 1, 2, 5), row("s", "e", 1, 4, 5), row("r", "e", 3, 1, 5)};

    begin();
    pair(a, 3, b, 3);
    assert_int_equal(n_pairs, 5);
    assert_pair(0, NULL, &b[2]);
    assert_pair(1, &a[0], NULL);
    assert_pair(2, NULL, &b[0]);
    assert_pair(3, &a[1], &b[1]);
    assert_pair(4, &a[2], NULL);
    pair(a, 3, NULL, 0);
    assert_int_equal(n_pairs, 3);
    pair(NULL, 0, NULL, 0);
    assert_int_equal(n_pairs, 0);
    end();
}

CLAIM(settings_tell_strategies_apart)
{
    store_row a = row("s", "e", 1, 1, 5), b = row("s", "e", 2, 1, 5);

    begin();
    b.settings = "layers=4";
    pair(&a, 1, &b, 1);
    assert_int_equal(n_pairs, 2);
    assert_pair(0, &a, NULL);
    assert_pair(1, NULL, &b);
    end();
}

CLAIM(where_a_side_has_several_engines_the_engine_decides)
{
    const store_row a[] = {row("s", "x", 1, 1, 5), row("s", "y", 2, 1, 5)};
    const store_row b[] = {row("s", "y", 7, 1, 5), row("s", "z", 8, 1, 5)};

    begin();
    pair(a, 2, b, 2);
    assert_int_equal(n_pairs, 3);
    assert_pair(0, &a[0], NULL);
    assert_pair(1, &a[1], &b[0]); /* of two configurations: one each, so it is clear */
    assert_pair(2, NULL, &b[1]);
    end();
}

CLAIM(versions_of_an_engine_are_one_engine)
{
    const store_row a[] = {row("s", "imported", 1, 1, 5), row("s", "native-1", 2, 1, 5)};
    const store_row b[] = {row("s", "imported", 1, 1, 5), row("s", "nativ", 3, 1, 5),
                           row("s", "native-2", 4, 1, 5)};

    begin();
    pair(a, 2, b, 3);
    assert_int_equal(n_pairs, 3);
    assert_pair(0, &a[0], &b[0]);
    assert_pair(1, NULL, &b[1]);
    assert_pair(2, &a[1], &b[2]);
    end();
}

CLAIM(where_an_engine_has_several_configurations_they_decide)
{
    const store_row a[] = {row("s", "x", 1, 1, 5), row("s", "x", 2, 1, 5)};
    const store_row b[] = {row("s", "x", 2, 1, 5)};

    begin();
    pair(a, 2, b, 1);
    assert_int_equal(n_pairs, 2);
    assert_pair(0, &a[0], NULL);
    assert_pair(1, &a[1], &b[0]);
    end();
}

/* ---- figures ------------------------------------------------------------------------------- */

static bool equal_walls(uint64_t x, uint64_t y, double tolerance)
{
    const store_row a = row("s", "e", 1, 1, x), b = row("s", "e", 1, 1, y);

    return report_diff_equal(&a, &b, store_column_find("wall_time"), tolerance);
}

CLAIM(whole_numbers_are_equal_to_the_last_digit)
{
    assert_true(equal_walls(100, 100, 0));
    assert_false(equal_walls(100, 101, 0));
    assert_false(equal_walls(((uint64_t)1 << 60) + 1, (uint64_t)1 << 60, 0)); /* one double */
    assert_false(equal_walls(STORE_ABSENT, STORE_ABSENT, 0));
}

CLAIM(the_tolerance_is_of_the_value_of_a)
{
    assert_true(equal_walls(100, 110, 0.1));
    assert_true(equal_walls(100, 90, 0.1));
    assert_false(equal_walls(100, 111, 0.1));
    assert_false(equal_walls(0, 1, 0.1));
}

CLAIM(rates_are_equal_if_they_are_printed_the_same)
{
    store_row a = row("s", "e", 1, 1, 1), b = a;
    const store_column *c = store_column_find("compute_util");

    a.metrics.compute_util = 58.54814205345544;
    b.metrics.compute_util = 58.548;
    assert_true(report_diff_equal(&a, &b, c, 0));
    b.metrics.compute_util = 58.549;
    assert_false(report_diff_equal(&a, &b, c, 0));
    a.metrics.compute_util = b.metrics.compute_util = INFINITY;
    assert_true(report_diff_equal(&a, &b, c, 0));
    b.metrics.compute_util = NAN;
    assert_false(report_diff_equal(&a, &b, c, 0));
}

/* 143896084480 bytes are 134.0136... GB of 2^30; printed as 134.01, which is 0.0036 * 2^30 = 3.9e6 less. */
CLAIM(rounded_memory_is_compared_as_it_is_printed)
{
    store_row a = row("s", "e", 1, 1, 1), b = a;
    const store_column *c = store_column_find("peak_memory");

    a.metrics.peak_memory = 143896084480;
    b.metrics.peak_memory = 143892141834; /* 134.01 * 2^30 */
    assert_false(report_diff_equal(&a, &b, c, 0));
    b.memory_rounded = true;
    assert_true(report_diff_equal(&a, &b, c, 0));
    b.metrics.peak_memory = 143881404416; /* 134.00 * 2^30 */
    assert_false(report_diff_equal(&a, &b, c, 0));
    a.metrics.peak_memory = 1000; /* bytes are printed with two decimals, too */
    b.metrics.peak_memory = 1001;
    assert_false(report_diff_equal(&a, &b, c, 0));
}

/* ---- output -------------------------------------------------------------------------------- */

static const store_column *wall[1];

static report_diff_options options(void)
{
    wall[0] = store_column_find("wall_time");
    return (report_diff_options){"a.db", "b.db", wall, 1, wall[0], 0};
}

CLAIM(differences_are_a_table_and_the_best_point_is_named)
{
    const store_row a[] = {row("s", "x", 1, 1, 100), row("s", "x", 1, 2, 200), row("s", "x", 1, 4, 50),
                           row("s", "x", 1, 8, 400)};
    store_row b[] = {row("s", "y", 1, 1, 100), row("s", "y", 1, 2, 90), row("s", "y", 1, 8, 400),
                     row("s", "y", 1, 16, 500)};
    const report_diff_options o = options();

    begin();
    b[2].done = false;
    pair(a, 4, b, 4);
    assert_false(report_diff_same(pairs, n_pairs, &o));
    report_diff_print(pairs, n_pairs, &o, &out);
    assert_string_equal(out.data,
                        "A: a.db\nB: b.db\nMemory counts elements, as ASTRA-sim does, not bytes.\n\n"
                        "m on s: 1 of the 3 points that both have are equal\n"
                        "only in A, by x:\n  4_1_1_1_0\n"
                        "only in B, by y:\n  16_1_1_1_0\n"
                        "point      engine  figure        A       B   change\n"
                        "2_1_1_1_0  x, y    wall_time   200      90  -55.00%\n"
                        "8_1_1_1_0  x, y    status     done  failed        -\n"
                        "The best point by wall_time is 4_1_1_1_0 in A and 2_1_1_1_0 in B.\n");
    dse_strbuf_clear(&out);
    report_diff_json(pairs, n_pairs, &o, &out);
    assert_string_equal(
        out.data,
        "{\"a\":\"a.db\",\"b\":\"b.db\",\"by\":\"wall_time\",\"memory_counts\":\"elements\",\"same\":false,"
        "\"studies\":[{\"model\":\"m\","
        "\"system\":\"s\",\"settings\":\"\",\"both\":3,\"equal\":1,"
        "\"only_a\":[{\"point\":\"4_1_1_1_0\",\"engine\":\"x\"}],\"only_b\":[{\"point\":\"16_1_1_1_0\","
        "\"engine\":\"y\"}],\"changes\":[{\"point\":\"2_1_1_1_0\",\"engine_a\":\"x\",\"engine_b\":\"y\","
        "\"figure\":\"wall_time\",\"a\":200,\"b\":90,\"change_pct\":-55.0},{\"point\":\"8_1_1_1_0\","
        "\"engine_a\":\"x\",\"engine_b\":\"y\",\"figure\":\"status\",\"a\":\"done\",\"b\":\"failed\"}],"
        "\"best_a\":\"4_1_1_1_0\",\"best_b\":\"2_1_1_1_0\"}]}\n");
    end();
}

CLAIM(equal_results_say_so)
{
    const store_row a[] = {row("s", "x", 1, 1, 100)}, b[] = {row("s", "x", 1, 1, 100)};
    const report_diff_options o = options();

    begin();
    pair(a, 1, b, 1);
    assert_true(report_diff_same(pairs, n_pairs, &o));
    report_diff_print(pairs, n_pairs, &o, &out);
    assert_string_equal(out.data, "A: a.db\nB: b.db\nMemory counts elements, as ASTRA-sim does, not "
                                  "bytes.\n\nm on s: 1 of the 1 points that both have are equal\n"
                                  "The best point by wall_time is 1_1_1_1_0 in both.\n");
    end();
}

CLAIM(sides_of_which_points_were_skipped_are_named)
{
    static const char *const words[2][2] = {
        {"", "In B not all points were run: a sweep with --prune skipped some.\n"},
        {"In A not all", "In A and B not all"}};
    const report_diff_options o = options();

    for (int i = 0; i < 4; i++) {
        const bool in_a = i / 2, in_b = i % 2;
        store_row a[] = {row("s", "x", 1, 1, 100)}, b[] = {row("s", "x", 1, 1, 100)};

        begin();
        a->skipped_of_study = in_a ? 5 : 0;
        b->skipped_of_study = in_b ? 6 : 0;
        pair(a, 1, b, 1);
        report_diff_print(pairs, n_pairs, &o, &out);
        assert_non_null(strstr(out.data, words[in_a][in_b]));
        assert_int_equal(strstr(out.data, "--prune") != NULL, in_a || in_b);
        dse_strbuf_clear(&out);
        report_diff_json(pairs, n_pairs, &o, &out);
        assert_int_equal(strstr(out.data, "\"skipped_a\":true") != NULL, in_a);
        assert_int_equal(strstr(out.data, "\"skipped_b\":true") != NULL, in_b);
        end();
    }
}

CLAIM(what_one_side_does_not_know_is_not_compared_but_named)
{
    store_row a[] = {row("s", "x", 1, 1, 100)}, b[] = {row("s", "y", 1, 1, 100)};
    const store_column *columns[] = {store_column_find("wall_time"), store_column_find("nodes")};
    report_diff_options o = options();

    begin();
    o.columns = columns;
    o.n_columns = 2;
    a[0].metrics.nodes = 7;
    pair(a, 1, b, 1);
    assert_true(report_diff_same(pairs, n_pairs, &o));
    report_diff_print(pairs, n_pairs, &o, &out);
    assert_non_null(strstr(out.data, "\nNot compared, as one side does not know it: nodes.\n"));
    end();
}

CLAIM(small_changes_keep_a_digit_and_changes_from_0_have_none)
{
    const store_row a[] = {row("s", "x", 1, 1, 1000000), row("s", "x", 1, 2, 0)};
    const store_row b[] = {row("s", "x", 1, 1, 1000050), row("s", "x", 1, 2, 5)};
    const report_diff_options o = options();

    begin();
    pair(a, 2, b, 2);
    report_diff_print(pairs, n_pairs, &o, &out);
    assert_non_null(strstr(out.data, "1000000  1000050  +5.0e-03%\n")); /* 50 / 1000000 = 0.005 % */
    assert_non_null(strstr(out.data, "0        5          -\n"));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_row_on_each_side_is_a_pair_whatever_the_engines),
        cmocka_unit_test(rows_of_one_side_alone_stay_alone),
        cmocka_unit_test(settings_tell_strategies_apart),
        cmocka_unit_test(where_a_side_has_several_engines_the_engine_decides),
        cmocka_unit_test(versions_of_an_engine_are_one_engine),
        cmocka_unit_test(where_an_engine_has_several_configurations_they_decide),
        cmocka_unit_test(whole_numbers_are_equal_to_the_last_digit),
        cmocka_unit_test(the_tolerance_is_of_the_value_of_a),
        cmocka_unit_test(rates_are_equal_if_they_are_printed_the_same),
        cmocka_unit_test(rounded_memory_is_compared_as_it_is_printed),
        cmocka_unit_test(differences_are_a_table_and_the_best_point_is_named),
        cmocka_unit_test(equal_results_say_so),
        cmocka_unit_test(sides_of_which_points_were_skipped_are_named),
        cmocka_unit_test(what_one_side_does_not_know_is_not_compared_but_named),
        cmocka_unit_test(small_changes_keep_a_digit_and_changes_from_0_have_none),
    };
    return RUN_TESTS(tests);
}
