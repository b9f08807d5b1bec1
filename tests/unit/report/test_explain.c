/* Rows made by hand, and what is said about them. */
#include "report/explain.h"
#include "unit/point.h"
#include "unit/unit.h"

#define MS 1000000u
#define GB 1e9

static dse_arena arena;
static dse_error err;
static dse_strbuf text;
static store_row rows[8];
static report_study study;
static report_explanation why;

/* A point without parts. */
static store_row *add(uint32_t dp, uint32_t tp, uint32_t sp, uint32_t pp, bool recompute, uint64_t wall_ms,
                      double memory)
{
    store_row *r = &rows[study.n++];

    *r = (store_row){.model = "m",
                     .system = "s",
                     .engine = "native-1",
                     .settings = "",
                     .error = "",
                     .strategy = unit_point("%u_%u_%u_%u_%d", dp, tp, sp, pp, recompute),
                     .done = true};
    store_metrics_clear(&r->metrics);
    r->metrics.wall_time = wall_ms * MS;
    if (!isnan(memory))
        r->metrics.peak_memory = (uint64_t)memory;
    return r;
}

/* What the step goes to, in ms; the rest is idle. */
static void step(store_row *r, uint64_t compute, uint64_t memory, uint64_t dp, uint64_t tp)
{
    store_metrics *m = &r->metrics;

    m->step_compute_bound = compute * MS;
    m->step_memory_bound = memory * MS;
    m->step_comm[STRATEGY_AXIS_dp] = dp * MS;
    m->step_comm[STRATEGY_AXIS_tp] = tp * MS;
    m->step_compute_other = m->step_comm[STRATEGY_AXIS_sp] = m->step_comm[STRATEGY_AXIS_pp] = m->step_comm_mixed = 0;
    m->step_idle = m->wall_time - (compute + memory + dp + tp) * MS;
}

/* What the peak holds, in GB; the rest is gradients of activations. */
static void peak(store_row *r, uint64_t weights, uint64_t activations, uint64_t at_ms)
{
    store_metrics *m = &r->metrics;

    m->peak_weights = weights * (uint64_t)GB;
    m->peak_activations = activations * (uint64_t)GB;
    m->peak_activation_gradients = m->peak_memory - m->peak_weights - m->peak_activations;
    m->peak_weight_gradients = m->peak_updated_weights = m->peak_recomputed = m->peak_inputs = 0;
    m->peak_time = at_ms * MS;
    m->peak_layer = 3;
    m->peak_pass = "backward";
    m->peak_node = "n_3";
}

static void begin(double limit)
{
    dse_arena_init(&arena);
    dse_strbuf_init(&text);
    err = (dse_error)DSE_ERROR_INIT;
    study = (report_study){.row = rows, .hbm_bytes = limit, .by = store_column_find("wall_time")};
}

static void explain(void)
{
    report_rank(&study, &arena);
    report_explain(&study, &arena, &why);
    report_explain_print(&study, &why, &text);
}

static void end(void)
{
    dse_strbuf_free(&text);
    dse_arena_free(&arena);
}

/* Wherever lines are broken. */
static void assert_says_all(const char *const *lines, size_t n)
{
    for (char *c = text.data; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    for (size_t i = 0; i < n; i++)
        if (!strstr(text.data, lines[i]))
            fail_msg("does not say '%s':\n%s", lines[i], text.data);
}
#define SAYS(...)                                                                                            \
    assert_says_all((const char *const[]){__VA_ARGS__},                                                      \
                    sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

/* ---- all of it ------------------------------------------------------------------------------ */

/* 100 GB fit 80 (1.5 s), 90 (1.6 s) and 60 (2 s). Without the limit 4_1_1_1_0 (1 s, 160 GB) would win. Of those that fit,
 * 1_4_1_1_0 differs from it by one factor moved from dp to tp; 2_2_1_1_1 by one and recomputation. */
static void six_points(void)
{
    store_row *r;

    begin(100 * GB);
    r = add(1, 4, 1, 1, false, 1600, 90 * GB);
    step(r, 600, 150, 0, 850);
    peak(r, 30, 50, 800);
    r = add(1, 4, 1, 1, true, 2000, 60 * GB);
    step(r, 850, 150, 0, 1000);
    peak(r, 30, 20, 800);
    r = add(2, 2, 1, 1, false, 1200, 110 * GB);
    step(r, 600, 100, 200, 300);
    peak(r, 30, 70, 800);
    r = add(2, 2, 1, 1, true, 1500, 80 * GB);
    step(r, 850, 150, 200, 295);
    peak(r, 30, 40, 900);
    r = add(4, 1, 1, 1, false, 1000, 160 * GB);
    step(r, 600, 100, 300, 0);
    peak(r, 40, 100, 400);
    r = add(4, 1, 1, 1, true, 1250, 120 * GB);
    step(r, 850, 100, 300, 0);
    peak(r, 40, 60, 400);
}

/* Shares: of 1500 ms 850 are 56.7 %, 200 13.3 %, 295 19.7 %, 150 10.0 %, 5 0.3 %; of 1600 600 are 37.5 %, 150 9.4 %, 850
 * 53.1 %; of 1000 600, 300, 100. Of 80 GB 30 are 37.5 %, 40 50 %, 10 12.5 %; of 90 30, 50, 10 are 33.3, 55.6, 11.1 %; of 160
 * 40, 100, 20 are 25, 62.5, 12.5 %. The runner-up is 100 ms, 6.7 % of 1500, longer: +555 tp, -250 compute, -200 dp, -5
 * idle. The best without the limit is 500 ms, 33.3 %, shorter: -295 tp, -250 compute, +100 dp, -50 memory, -5 idle. Its
 * peak is 60 GB above 100, at 400 of 1000 ms; the winner's at 900 of 1500, 60 %. */
CLAIM(the_winner_is_explained_against_the_others)
{
    six_points();
    explain();
    assert_string_equal(text.data,
                        "                            winner         runner-up     without limit\n"
                        "dp, tp, sp, pp          2, 2, 1, 1        1, 4, 1, 1        4, 1, 1, 1\n"
                        "recomputation                  yes                no                no\n"
                        "step               1.500 s  100.0%   1.600 s  100.0%   1.000 s  100.0%\n"
                        "  compute-bound   850.0 ms   56.7%  600.0 ms   37.5%  600.0 ms   60.0%\n"
                        "  memory-bound    150.0 ms   10.0%  150.0 ms    9.4%  100.0 ms   10.0%\n"
                        "  exposed dp      200.0 ms   13.3%      0 ns    0.0%  300.0 ms   30.0%\n"
                        "  exposed tp      295.0 ms   19.7%  850.0 ms   53.1%      0 ns    0.0%\n"
                        "  idle            5.000 ms    0.3%      0 ns    0.0%      0 ns    0.0%\n"
                        "peak memory        80.0 GB  100.0%   90.0 GB  100.0%  160.0 GB  100.0%\n"
                        "  weights          30.0 GB   37.5%   30.0 GB   33.3%   40.0 GB   25.0%\n"
                        "  activations      40.0 GB   50.0%   50.0 GB   55.6%  100.0 GB   62.5%\n"
                        "  act. gradients   10.0 GB   12.5%   10.0 GB   11.1%   20.0 GB   12.5%\n"
                        "\n"
                        "The winner of what fits is dp 2, tp 2, sp 1, pp 1, recomputing. Most of its step\n"
                        "of 1.500 s is compute-bound compute (850.0 ms, 56.7%); the rest is communication\n"
                        "along tp (295.0 ms, 19.7%), communication along dp (200.0 ms, 13.3%),\n"
                        "memory-bound compute (150.0 ms, 10.0%) and idle time (5.000 ms, 0.3%).\n"
                        "Communication counts where no compute covers it.\n"
                        "\n"
                        "The runner-up is dp 1, tp 4, sp 1, pp 1, no recomputation. Its step of 1.600 s\n"
                        "is 100.0 ms (6.7%) longer than the winner's: 555.0 ms more for communication\n"
                        "along tp, 250.0 ms less for compute-bound compute, 200.0 ms less for\n"
                        "communication along dp and 5.000 ms less for idle time.\n"
                        "\n"
                        "Without the limit dp 4, tp 1, sp 1, pp 1, no recomputation would win. Its step\n"
                        "of 1.000 s is 500.0 ms (33.3%) shorter than the winner's: 295.0 ms less for\n"
                        "communication along tp, 250.0 ms less for compute-bound compute, 100.0 ms more\n"
                        "for communication along dp, 50.00 ms less for memory-bound compute and 5.000 ms\n"
                        "less for idle time. It needs 160.0 GB of memory, 60.0 GB more than the limit of\n"
                        "100.0 GB.\n"
                        "\n"
                        "The smallest change (fewest axes) that makes it fit: dp 1 instead of 4, tp 4\n"
                        "instead of 1. That is the runner-up. As it is, it would take NPUs with at least\n"
                        "160.0 GB (160000000000 bytes).\n"
                        "\n"
                        "The winner's memory peaks at 80.0 GB, 900.0 ms into the step (60.0%), in the\n"
                        "backward pass of layer 3, while n_3 runs. It holds activations (40.0 GB, 50.0%),\n"
                        "weights (30.0 GB, 37.5%) and gradients of activations (10.0 GB, 12.5%).\n"
                        "\n"
                        "The memory of the best without the limit peaks at 160.0 GB, 400.0 ms into the\n"
                        "step (40.0%), in the backward pass of layer 3, while n_3 runs. It holds\n"
                        "activations (100.0 GB, 62.5%), weights (40.0 GB, 25.0%) and gradients of\n"
                        "activations (20.0 GB, 12.5%).\n"
                        "\n"
                        "The best point by wall_time at each value of an axis; the other axes follow.\n"
                        "\n"
                        "               best      peak                that     peak\n"
                        "               step    memory  point         fits   memory  point\n"
                        "dp 1        1.600 s   90.0 GB  1_4_1_1_0  1.600 s  90.0 GB  1_4_1_1_0\n"
                        "dp 2        1.200 s  110.0 GB  2_2_1_1_0  1.500 s  80.0 GB  2_2_1_1_1\n"
                        "dp 4        1.000 s  160.0 GB  4_1_1_1_0     none        -  -\n"
                        "tp 1        1.000 s  160.0 GB  4_1_1_1_0     none        -  -\n"
                        "tp 2        1.200 s  110.0 GB  2_2_1_1_0  1.500 s  80.0 GB  2_2_1_1_1\n"
                        "tp 4        1.600 s   90.0 GB  1_4_1_1_0  1.600 s  90.0 GB  1_4_1_1_0\n"
                        "recomp no   1.000 s  160.0 GB  4_1_1_1_0  1.600 s  90.0 GB  1_4_1_1_0\n"
                        "recomp yes  1.250 s  120.0 GB  4_1_1_1_1  1.500 s  80.0 GB  2_2_1_1_1\n"
                        "\n"
                        "Along dp the best point's step falls from 1.600 s at dp 1 to 1.000 s at dp 4;\n"
                        "its memory rises from 90.0 GB at dp 1 to 160.0 GB at dp 4. Of the points that\n"
                        "fit, the best one's step falls from 1.600 s at dp 1 to 1.500 s at dp 2; nothing\n"
                        "fits at dp 4.\n"
                        "\n"
                        "Along tp the best point's step rises from 1.000 s at tp 1 to 1.600 s at tp 4;\n"
                        "its memory falls from 160.0 GB at tp 1 to 90.0 GB at tp 4. Of the points that\n"
                        "fit, the best one's step rises from 1.500 s at tp 2 to 1.600 s at tp 4; nothing\n"
                        "fits at tp 1.\n"
                        "\n"
                        "With recomputation the best point's step is 1.250 s instead of 1.000 s (+25.0%),\n"
                        "its memory 120.0 GB instead of 160.0 GB (-25.0%). Of the points that fit, the\n"
                        "best one's step is 1.500 s instead of 1.600 s (-6.2%).\n"
                        "\n");
    end();
}

CLAIM(the_explanation_for_programs_has_the_same_figures)
{
    report_tree t;
    dse_strbuf json;

    six_points();
    explain();
    dse_strbuf_init(&json);
    report_put_explanation(&study, &why, report_tree_begin(&t));
    report_tree_write(&t, &json);
    dse_strbuf_clear(&text);
    dse_strbuf_adds(&text, json.data);
    dse_strbuf_free(&json);
    SAYS("{\"winner\":{\"dp\":2,\"tp\":2,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false,"
         "\"wall_time\":1500000000,\"peak_memory\":80000000000,\"step_compute_bound\":850000000,",
         "\"peak_pass\":\"backward\",\"peak_node\":\"n_3\"},\"runner_up\":{\"dp\":1,\"tp\":4,",
         "\"more_than_winner\":{\"wall_time\":100000000,\"step_compute_bound\":-250000000,\"step_memory_"
         "bound\":0,"
         "\"step_compute_other\":0,\"step_comm_dp\":-200000000,\"step_comm_tp\":555000000,",
         "\"step_idle\":-5000000}},\"without_limit\":{\"dp\":4,",
         "\"smallest_change_that_fits\":{\"dp\":1,\"tp\":4,\"sp\":1,\"pp\":1,\"recompute\":false,"
         "\"weight_sharded\":false,\"wall_time\":1600000000,\"peak_memory\":90000000000},\"changes\":2,",
         "\"trends\":{\"dp\":[{\"value\":1,\"best\":{\"dp\":1,",
         "\"best_that_fits\":null}],\"tp\":[{\"value\":1,",
         "\"recompute\":[{\"value\":false,\"best\":{\"dp\":4,");
    end();
}

/* ---- other outcomes ------------------------------------------------------------------------- */

CLAIM(of_a_single_point_there_is_no_trend)
{
    begin((double)NAN);
    step(add(4, 1, 1, 1, false, 1000, 160 * GB), 400, 300, 300, 0);
    explain();
    assert_null(why.runner_up);
    assert_null(why.unlimited);
    assert_null(why.nearest);
    assert_int_equal(why.n_trends, 0);
    SAYS("The winner is dp 4, tp 1, sp 1, pp 1, no recomputation. The largest part of its "
         "step of 1.000 s is compute-bound compute (400.0 ms, 40.0%); the rest is",
         "Communication counts where no compute covers it. There is no other point.");
    end();
}

CLAIM(if_nothing_fits_the_best_of_all_is_explained)
{
    begin(50 * GB);
    step(add(4, 1, 1, 1, false, 1000, 160 * GB), 1000, 0, 0, 0);
    step(add(2, 2, 1, 1, false, 1100, 60 * GB), 600, 100, 300, 0);
    explain();
    assert_null(why.winner);
    assert_null(why.nearest);
    SAYS("Nothing fits. Without the limit dp 4, tp 1, sp 1, pp 1, no recomputation would "
         "win. Most of its step of 1.000 s is compute-bound compute (1.000 s, 100.0%). It "
         "needs 160.0 GB of memory, 110.0 GB more than the limit of 50.0 GB.",
         "No change that was tried makes it fit. It would take NPUs with at least 160.0 GB",
         "dp 2  1.100 s   60.0 GB  2_2_1_1_0", "Along dp the best point's step falls from 1.100 s at dp 2");
    assert_null(strstr(text.data, "Of the points that fit"));
    end();
}

/* As with all points, but for what is said of all. */
CLAIM(of_points_that_were_skipped_nothing_is_said)
{
    six_points();
    rows[0].skipped_of_study = 9;
    explain();
    SAYS("What follows is said of the 6 points that were run, not of the 9 skipped.",
         "would win of those that were run. Its step",
         "The best point by wall_time at each value of an axis, of those that were run; the other axes "
         "follow.",
         "nothing that was run fits at dp 4.");
    end();

    begin(50 * GB);
    add(4, 1, 1, 1, false, 1000, 40 * GB)->skipped_of_study = 1;
    add(4, 1, 1, 1, true, 1100, 60 * GB);
    explain();
    SAYS("Nothing else that was run fits.", "Nothing that was run fits with recomputation.");
    end();

    begin(50 * GB);
    add(4, 1, 1, 1, false, 1000, 160 * GB)->skipped_of_study = 1;
    explain();
    SAYS("Nothing that was run fits. Without the limit dp 4,");
    end();

    begin((double)NAN);
    add(4, 1, 1, 1, false, 1000, 160 * GB)->skipped_of_study = 1;
    explain();
    SAYS("No other point was run.");
    end();
}

CLAIM(failed_points_are_no_points)
{
    begin((double)NAN);
    add(4, 1, 1, 1, false, 1000, 160 * GB)->done = false;
    explain();
    assert_string_equal(text.data, "");
    end();

    begin((double)NAN);
    add(4, 1, 1, 1, false, 1000, 160 * GB)->done = false;
    add(2, 2, 1, 1, false, 1100, 60 * GB);
    explain();
    assert_ptr_equal(why.winner, &rows[1]);
    assert_int_equal(why.n_trends, 0);
    end();
}

/* Of equals the first: so it is ranked. */
CLAIM(equals_are_told_to_be_equal)
{
    begin((double)NAN);
    step(add(2, 2, 1, 1, false, 1000, 60 * GB), 600, 100, 200, 100);
    step(add(4, 1, 1, 1, false, 1000, 60 * GB), 600, 100, 300, 0);
    explain();
    assert_ptr_equal(why.winner, &rows[0]);
    SAYS("Its step of 1.000 s is as long as the winner's: 100.0 ms more for communication along dp and "
         "100.0 ms "
         "less for communication along tp.",
         "Along dp the best point's step stays 1.000 s; its memory stays 60.0 GB.");
    end();

    begin((double)NAN);
    step(add(2, 2, 1, 1, false, 1000, 60 * GB), 600, 100, 200, 100);
    step(add(4, 1, 1, 1, false, 1000, 60 * GB), 600, 100, 200, 100);
    explain();
    SAYS("is as long as the winner's.");
    end();
}

CLAIM(what_is_not_known_is_said)
{
    begin(100 * GB);
    add(2, 2, 1, 1, false, 1000, 60 * GB);
    add(4, 1, 1, 1, false, 2000, 60 * GB)->engine = "astrasim";
    add(8, 1, 1, 1, false, 500, (double)NAN);
    explain();
    SAYS("step            1.000 s  100.0%  2.000 s  100.0%  500.0 ms  100.0% "
         "peak memory     60.0 GB  100.0%  60.0 GB  100.0%                 -",
         "is 1.000 s (100.0%) longer than the winner's.", "Whether it fits is not known.",
         "The memory of the best without the limit was not tracked.",
         "Where the step of the winner (dp 2, tp 2, sp 1, pp 1, no recomputation) goes, "
         "and what its memory holds, is not known: it was stored by an older version; "
         "'ccldse sweep' simulates it again.",
         "Where the step of the runner-up (dp 4, tp 1, sp 1, pp 1, no recomputation) goes, "
         "and what its memory holds, is not known: it is a result of astrasim, and only "
         "ccldse's own simulator tells.",
         "Where the step of the best without the limit (dp 8, tp 1, sp 1, pp 1, "
         "no recomputation) goes is not known: it was stored");
    end();
}

CLAIM(a_trend_may_have_its_least_in_the_middle)
{
    begin((double)NAN);
    add(1, 8, 1, 1, false, 3000, 10 * GB);
    add(2, 4, 1, 1, false, 1000, 30 * GB);
    add(4, 2, 1, 1, false, 1500, 20 * GB);
    add(8, 1, 1, 1, false, 2000, 40 * GB);
    explain();
    SAYS("Along dp the best point's step is least, 1.000 s at dp 2, against 3.000 s at "
         "dp 1 and 2.000 s at dp 8; its memory is least, 10.0 GB at dp 1, against 40.0 GB "
         "at dp 8.");
    end();
}

/* ---- the smallest change -------------------------------------------------------------------- */

/* From 4_3_2_1 without recomputation. */
CLAIM(every_axis_that_differs_is_a_change)
{
    static const struct {
        uint32_t dp, tp, sp, pp;
        bool recompute;
        unsigned changes;
    } cases[] = {
        {4, 3, 2, 1, true, 1},  /* the switch */
        {2, 3, 4, 1, false, 2}, /* dp and sp */
        {2, 3, 4, 1, true, 3},  /* and the switch */
        {8, 1, 3, 1, false, 3}, /* dp, tp and sp */
        {1, 1, 4, 6, true, 5},  /* all */
        {2, 3, 2, 1, false, 1}, /* fewer NPUs */
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(100 * GB);
        add(4, 3, 2, 1, false, 1000, 160 * GB);
        add(cases[i].dp, cases[i].tp, cases[i].sp, cases[i].pp, cases[i].recompute, 2000, 60 * GB);
        explain();
        assert_ptr_equal(why.nearest, &rows[1]);
        if (why.n_changes != cases[i].changes)
            fail_msg("case %zu: %u changes, not %u", i, why.n_changes, cases[i].changes);
        end();
    }
}

CLAIM(of_equal_changes_the_best_counts)
{
    begin(100 * GB);
    add(4, 1, 1, 1, false, 1000, 160 * GB);
    add(1, 1, 4, 1, true, 1100, 60 * GB); /* the winner, three axes away */
    add(1, 4, 1, 1, false, 1200, 60 * GB);
    add(2, 2, 1, 1, false, 1300, 60 * GB);
    add(2, 1, 2, 1, false, 1150, 150 * GB);
    add(2, 1, 1, 2, false, 1170, 70 * GB);
    explain();
    assert_ptr_equal(why.nearest, &rows[5]);
    SAYS("The smallest change (fewest axes) that makes it fit: dp 2 instead of 4, pp 2 instead of 1. That is "
         "the "
         "runner-up.");
    end();

    begin(100 * GB);
    add(4, 1, 1, 1, false, 1000, 160 * GB);
    add(1, 1, 4, 1, true, 1100, 60 * GB);
    add(1, 4, 1, 1, true, 1200, 60 * GB);
    add(4, 1, 1, 1, true, 1300, 70 * GB);
    explain();
    SAYS("The smallest change (fewest axes) that makes it fit: with recomputation. Then the step takes 1.300 "
         "s and 70.0 "
         "GB.");
    end();
}

CLAIM(another_metric_ranks_and_the_step_is_explained)
{
    begin((double)NAN);
    study.by = store_column_find("peak_memory");
    step(add(2, 2, 1, 1, false, 1500, 60 * GB), 600, 100, 800, 0);
    step(add(4, 1, 1, 1, false, 1000, 80 * GB), 600, 100, 300, 0);
    explain();
    SAYS("Its step of 1.000 s is 500.0 ms (33.3%) shorter than the winner's: 500.0 ms less for "
         "communication "
         "along dp.",
         "The best point by peak_memory at each value of an axis; the other axes follow.");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_winner_is_explained_against_the_others),
        cmocka_unit_test(the_explanation_for_programs_has_the_same_figures),
        cmocka_unit_test(of_a_single_point_there_is_no_trend),
        cmocka_unit_test(if_nothing_fits_the_best_of_all_is_explained),
        cmocka_unit_test(of_points_that_were_skipped_nothing_is_said),
        cmocka_unit_test(failed_points_are_no_points),
        cmocka_unit_test(equals_are_told_to_be_equal),
        cmocka_unit_test(what_is_not_known_is_said),
        cmocka_unit_test(a_trend_may_have_its_least_in_the_middle),
        cmocka_unit_test(every_axis_that_differs_is_a_change),
        cmocka_unit_test(of_equal_changes_the_best_counts),
        cmocka_unit_test(another_metric_ranks_and_the_step_is_explained),
    };
    return RUN_TESTS(tests);
}
