/* What is said of a search whose figures are made up here. */
#include "report/robust.h"
#include "unit/point.h"
#include "unit/unit.h"

#define MOST 8

static store_row rows[MOST];
static const store_row *candidate[MOST];
static double value[MOST];
static uint32_t wins[MOST];
static report_robust_parameter parameter[] = {{"compute.peak_perf", "TFLOPS", 450},
                                              {"network.bandwidth[1]", "GiB/s", 100}};
static double worst_factor[] = {0.9, 1.05};
static cmp_crossover below[] = {{NAN, 0}, {0.621, 1}}, above[] = {{30, CMP_NOBODY}, {NAN, 0}};
static const store_row *ranked[MOST];
static report_study study;
static report_robust robust;
static dse_strbuf out;

/* dp 1, 2, ... of one second each; all fit. */
static void begin(size_t n)
{
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++) {
        rows[i] = (store_row){
            .engine = "native-1", .strategy = unit_point("%u_1_1_1_0", (uint32_t)i + 1), .done = true};
        rows[i].metrics.wall_time = 1000000000;
        rows[i].metrics.peak_memory = 50;
        candidate[i] = ranked[i] = &rows[i];
        value[i] = 1e9;
        wins[i] = 0;
    }
    study = (report_study){.row = rows, .n = n, .hbm_bytes = 60, .ranked = ranked, .n_ranked = n};
    robust = (report_robust){.spread = 0.1,
                             .reach = 10,
                             .seed = 3,
                             .n_ranked = n,
                             .n = n,
                             .candidate = candidate,
                             .n_parameters = 2,
                             .parameter = parameter,
                             .result = {.value = value,
                                        .draws = 200,
                                        .wins = wins,
                                        .worst_factor = worst_factor,
                                        .below = below,
                                        .above = above}};
    dse_strbuf_init(&out);
}

static void end(void) { dse_strbuf_free(&out); }

static void print(void)
{
    dse_strbuf_clear(&out);
    report_robust_print(&study, &robust, &out);
}

static void assert_printed(const char *text)
{
    if (!strstr(out.data, text))
        fail_msg("does not say '%s':\n%s", text, out.data);
}

static void assert_not_printed(const char *text)
{
    if (strstr(out.data, text))
        fail_msg("says '%s':\n%s", text, out.data);
}

/* 0.621 * 100 GiB/s; 30 * 450 TFLOPS. */
CLAIM(crossovers_are_told_in_the_units_of_the_parameters)
{
    begin(2);
    wins[0] = 200;
    print();
    assert_printed("up to 10% off");
    assert_printed("200 draws (seed 3). 1_1_1_1_0\n(dp_tp_sp_pp_recompute) stays the best in all of them.");
    assert_not_printed("share");
    assert_printed("compute.peak_perf     450 TFLOPS    never  -             13500  none fits\n"
                   "network.bandwidth[1]   100 GiB/s     62.1  2_1_1_1_0     never  -\n");
    assert_not_printed("*");
    end();
}

CLAIM(a_winner_that_may_lose_has_a_regret)
{
    begin(2);
    wins[0] = 150;
    wins[1] = 50;
    robust.result.mean_regret = 0.0123;
    robust.result.worst_regret = 0.0456;
    print();
    assert_printed("stays the best in 150 (75.0%).");
    assert_printed("1.23%\nlonger than the best");
    assert_printed("at worst 4.56%, with");
    assert_printed("compute.peak_perf -10.0% and network.bandwidth[1] +5.0%.");
    assert_printed("    150  75.0%  1_1_1_1_0        1.000 s\n     50  25.0%  2_1_1_1_0        1.000 s\n");
    end();
}

CLAIM(five_of_those_that_win_are_listed_most_wins_first)
{
    static const uint32_t made_up[] = {20, 1, 30, 30, 0, 2, 100, 17};

    begin(8);
    memcpy(wins, made_up, sizeof made_up);
    print();
    assert_printed("    100  50.0%  7_1_1_1_0        1.000 s\n"
                   "     30  15.0%  3_1_1_1_0        1.000 s\n"
                   "     30  15.0%  4_1_1_1_0        1.000 s\n"
                   "     20  10.0%  1_1_1_1_0        1.000 s\n"
                   "     17   8.5%  8_1_1_1_0        1.000 s\n"
                   "and 2 more\n");
    end();
}

CLAIM(a_point_that_only_fits_elsewhere_is_marked)
{
    begin(2);
    wins[0] = 200;
    rows[1].metrics.peak_memory = 70;
    print();
    assert_printed(" 62.1  2_1_1_1_0*");
    assert_printed("* needs more than 60 B as the system is");
    end();
}

CLAIM(draws_without_the_winner_and_without_anybody_are_counted)
{
    begin(2);
    wins[0] = 190;
    wins[1] = 6;
    robust.result.dropped = 10;
    robust.result.nobody = 4;
    robust.result.mean_regret = robust.result.worst_regret = 0;
    print();
    assert_printed("In 10 it does not fit. In\n4 no point fits.");
    assert_not_printed("longer");
    end();
}

CLAIM(what_was_not_compared_is_told)
{
    begin(2);
    wins[0] = 200;
    study.n_ranked = 7;
    study.n_skipped = 3;
    robust.n_left = 4;
    rows[0].engine = "astrasim";
    ranked[0] = &rows[1];
    print();
    assert_printed("Only the 2 best of the 7\npoints are compared.");
    assert_printed("4 more might fit\nelsewhere");
    assert_printed("--prune");
    assert_printed("not by astrasim");
    assert_printed("; there 1_1_1_1_0 is the best.");
    end();
}

CLAIM(failures_are_counted_and_the_first_is_told)
{
    begin(2);
    wins[0] = 200;
    robust.n_simulated = 900;
    robust.n_failed = 3;
    robust.failed_first = 1;
    robust.failure = "deadlock at tick 5";
    print();
    assert_printed("3 of 900 simulations failed");
    assert_printed("The first,\n2_1_1_1_0: deadlock at tick 5.\n");
    end();
}

CLAIM(what_is_not_known_has_a_reason)
{
    report_tree t;

    begin(1);
    robust.why_not = "no point is ranked";
    print();
    assert_string_equal(out.data, "How far to trust this is not known: no point is ranked.\n\n");
    dse_strbuf_clear(&out);
    report_put_robust(&study, &robust, report_tree_begin(&t));
    report_tree_write(&t, &out);
    assert_string_equal(out.data, "{\"why_not\":\"no point is ranked\"}");
    end();
}

CLAIM(json_has_null_where_there_is_nothing)
{
    report_tree t;

    begin(2);
    wins[1] = 200;
    robust.result.winner = 0;
    robust.result.dropped = 200;
    robust.result.mean_regret = robust.result.worst_regret = NAN;
    report_put_robust(&study, &robust, report_tree_begin(&t));
    report_tree_write(&t, &out);
    assert_printed("\"winner\":\"1_1_1_1_0\",\"stays_best\":0,\"does_not_fit\":200,\"mean_regret\":null,"
                   "\"worst_regret\":null,\"best_in_draws\":[{\"point\":\"2_1_1_1_0\",\"draws\":200}]");
    assert_printed("\"below\":null,\"above\":{\"value\":13500.0,\"factor\":30.0,\"best\":null}");
    assert_printed("\"below\":{\"value\":62.1,\"factor\":0.621,\"best\":\"2_1_1_1_0\"},\"above\":null");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossovers_are_told_in_the_units_of_the_parameters),
        cmocka_unit_test(a_winner_that_may_lose_has_a_regret),
        cmocka_unit_test(five_of_those_that_win_are_listed_most_wins_first),
        cmocka_unit_test(a_point_that_only_fits_elsewhere_is_marked),
        cmocka_unit_test(draws_without_the_winner_and_without_anybody_are_counted),
        cmocka_unit_test(what_was_not_compared_is_told),
        cmocka_unit_test(failures_are_counted_and_the_first_is_told),
        cmocka_unit_test(what_is_not_known_has_a_reason),
        cmocka_unit_test(json_has_null_where_there_is_nothing),
    };

    return RUN_TESTS(tests);
}
