/* Comparisons as text. Errors are (simulated - measured) / measured. */
#include "report/compared_parts.h"
#include "unit/report/compared.h"

static comparison x;

/* ---- one run -------------------------------------------------------------------------------- */

static const char no_rings[] = "no all-reduce is a ring";

/* (4 - 5) / 5, (50 - 40) / 40, (0.12 - 0.1) / 0.1, (0.3 - 0.6) / 0.6, (12 - 10) / 10. What a simulation has less of than the
 * machine is too good where less is better, and too bad where more is. */
static const cmp_pair all_kinds[] = {
    {"step_time", "s", CMP_LOWER, 0.05, 4, 5, NULL, NULL},
    {"mfu", "%", CMP_HIGHER, 0.1, 50, 40, NULL, NULL},
    {"exposed_comm", "s", CMP_LOWER, 0.25, 0.12, 0.1, NULL, NULL},
    {"overlap_ratio", "", CMP_HIGHER, 0.1, 0.3, 0.6, NULL, NULL},
    {"calls.AllReduce", "calls", CMP_NEITHER, 0, 12, 12, NULL, NULL},
    {"calls.AllGather", "calls", CMP_NEITHER, 0, 12, 10, NULL, NULL},
    {"bytes.AllGather", "bytes", CMP_NEITHER, 0.01, 2e9, 0, NULL, NULL},
    {"throughput", "tokens/s", CMP_HIGHER, NAN, 40960.4, 40960.4, NULL, NULL},
    {"peak_memory", "bytes", CMP_LOWER, 0.1, 67e9, NAN, NULL, "there is no memory snapshot"},
    {"straggler_lag", "s", CMP_LOWER, 0.5, NAN, 2e-5, "nobody lags", NULL},
    {"hockney_alpha", "s", CMP_LOWER, 0.5, NAN, NAN, no_rings, "no all-reduce is a ring"},
    {"hockney_beta", "s/byte", CMP_LOWER, 0.5, NAN, NAN, no_rings, "there is no memory snapshot"},
};

CLAIM(one_run_is_a_table_of_its_metrics)
{
    report_compared_run *r;

    begin_comparison(&x);
    r = add_run(&x, 4, 5, 0);
    r->n_notes = 1;
    r->n_pairs = sizeof all_kinds / sizeof all_kinds[0];
    r->pair = (cmp_pair *)(uintptr_t)all_kinds;
    r->score = 0.1234;
    r->n_scored = 3;
    assert_report(
        report_compared_print, &x.c,
        "run      run-1\n"
        "measured m.json: row 3\n"
        "system   cluster\n"
        "model    gpt-22b\n"
        "point    4_2_1_1_0_ws\n"
        "devices  8\n"
        "sizes    elements\n"
        "note     no recomputation: the card does not say\n"
        "\n"
        "metric                simulated        measured   error  tolerance\n"
        "step_time               4.000 s         5.000 s  -20.0%  beyond 5%, optimistic\n"
        "mfu                        50 %            40 %  +25.0%  beyond 10%, optimistic\n"
        "exposed_comm           120.0 ms        100.0 ms  +20.0%  within 25%\n"
        "overlap_ratio               0.3             0.6  -50.0%  beyond 10%, pessimistic\n"
        "calls.AllReduce        12 calls        12 calls    0.0%  equal\n"
        "calls.AllGather        12 calls        10 calls  +20.0%  differs\n"
        "bytes.AllGather          2.0 GB         0 bytes       -  -                        (1)\n"
        "throughput       40960 tokens/s  40960 tokens/s    0.0%  -\n"
        "peak_memory             67.0 GB               -       -  -                        (2)\n"
        "straggler_lag                 -        20.00 us       -  -                        (3)\n"
        "hockney_alpha                 -               -       -  -                        (4)\n"
        "hockney_beta                  -               -       -  -                        (5) (2)\n"
        " (1) error: nothing is relative to a measured 0\n"
        " (2) measured: there is no memory snapshot\n"
        " (3) simulated: nobody lags\n"
        " (4) both: no all-reduce is a ring\n"
        " (5) simulated: no all-reduce is a ring\n"
        "\n"
        "score    12.3%, the weighted mean of the errors of 3 of 12 metrics\n"
        "         (configs/scores/default.yaml)\n");
}

CLAIM(a_run_that_failed_says_why_and_has_no_score)
{
    report_compared_run *r;

    begin_comparison(&x);
    r = add_run(&x, NAN, NAN, 0);
    r->n_pairs = 0;
    r->failed = "the machine has 4 NPUs";
    x.c.max_error = 0.1;
    assert_report(report_compared_print, &x.c,
                  "run      run-1\n"
                  "measured m.json: row 3\n"
                  "system   cluster\n"
                  "model    gpt-22b\n"
                  "point    4_2_1_1_0_ws\n"
                  "devices  8\n"
                  "sizes    elements\n"
                  "failed   the machine has 4 NPUs\n"
                  "\n"
                  "score    none: no metric has both a weight and an error\n"
                  "         (configs/scores/default.yaml)\n"
                  "limit    10%, but no step time has an error\n");
}

static void assert_printed(const report_compared *c, const char *part, bool expected)
{
    dse_strbuf out;
    bool found;

    dse_strbuf_init(&out);
    report_compared_print(c, &out);
    found = strstr(out.data, part) != NULL;
    if (found != expected)
        print_error("%s\n'%s' is %sthere\n", out.data, part, expected ? "not " : "");
    dse_strbuf_free(&out);
    assert_true(found == expected);
}

/* (5.5 - 5) / 5 = 0.1 in doubles, too: an error of exactly the limit keeps it. */
CLAIM(a_limit_is_kept_up_to_itself)
{
    begin_comparison(&x);
    add_run(&x, 5.5, 5, 0);
    assert_printed(&x.c, "limit", false);
    x.c.max_error = 0.1;
    assert_printed(&x.c, "limit    10% of the step time: kept, the worst is +10.0%\n", true);
    x.c.max_error = 0.095;
    assert_printed(&x.c, "limit    9.5% of the step time: not kept, the worst is +10.0%\n", true);
    assert_double(report_compared_worst(&x.c), 0.1);
}

CLAIM(a_tolerance_holds_up_to_itself)
{
    begin_comparison(&x);
    add_run(&x, 5.5, 5, 0);
    x.step[0].tolerance = 0.1;
    assert_printed(&x.c, "within 10%", true);
    x.step[0].tolerance = 0.099;
    assert_printed(&x.c, "beyond 9.9%, pessimistic", true);
}

/* 0.04 % is neither +0.0% nor -0.0%. */
CLAIM(an_error_that_rounds_to_nothing_has_no_sign)
{
    begin_comparison(&x);
    add_run(&x, 9996, 10000, 0);
    assert_printed(&x.c, "-0.0%", false);
    assert_printed(&x.c, " 0.0%", true);
    begin_comparison(&x);
    add_run(&x, 9994, 10000, 0);
    assert_printed(&x.c, "-0.1%", true);
}

CLAIM(a_name_cannot_talk_to_the_terminal)
{
    begin_comparison(&x);
    add_run(&x, 1, 1, 0)->name = "a\033[2Jb";
    assert_printed(&x.c, "run      a?[2Jb\n", true);
}

/* At most 4 bytes, two points, at most 3 bytes: a character of two bytes that would be cut is left out. */
CLAIM(a_name_is_cut_between_characters)
{
    assert_string_equal(
        compared_short("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 9).text,
        "\u00e4\u00e4..\u00e4");
    assert_string_equal(compared_short("x\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 9).text,
                        "x\u00e4..\u00e4");
    assert_string_equal(compared_short("abcdefghij", 9).text, "abcd..hij");
    assert_string_equal(compared_short("abcdefghi", 9).text, "abcdefghi");
}

/* ---- several runs --------------------------------------------------------------------------- */

/* Errors -20 % and +10 %. Without signs: mean 15 %; the logarithms of 1.25 and 1.1 average to that of sqrt(1.375) = 1.1726.
 * Bias sqrt(0.8 * 1.1) = sqrt(0.88) = 0.9381. Both in order: tau 1, no regret. Two draws from two: intervals span both.
 * Of regret: the same run twice, or both. */
CLAIM(several_runs_are_a_line_each_and_a_summary)
{
    static report_left left[] = {{"several micro-batches", 45, "gpt-3.6b", NULL, 0}, {"experts", 1, "moe", NULL, 0}};

    begin_comparison(&x);
    add_run(&x, 4, 5, 0)->n_notes = 1;
    add_run(&x, 11, 10, 0);
    add_run(&x, NAN, 3, 0)->failed = "the machine has 4 NPUs";
    x.c.bootstrap.resamples = 1000;
    x.c.n_left = 2;
    x.c.left = left;
    x.c.max_error = 0.25;
    summarize(&x);
    assert_report(report_compared_print, &x.c,
                  "runs     3, and 46 left out\n"
                  "system   cluster\n"
                  "model    gpt-22b\n"
                  "sizes    elements\n"
                  "note     1 run: no recomputation: the card does not say\n"
                  "\n"
                  "run    point         devices  simulated  measured   error\n"
                  "run-1  4_2_1_1_0_ws        8    4.000 s   5.000 s  -20.0%\n"
                  "run-2  4_2_1_1_0_ws        8    11.00 s   10.00 s  +10.0%\n"
                  "run-3  4_2_1_1_0_ws        8          -   3.000 s       -  (1)\n"
                  " (1) simulated: the machine has 4 NPUs\n"
                  "\n"
                  "Left out:\n"
                  "  45  several micro-batches, such as gpt-3.6b\n"
                  "   1  experts: moe\n"
                  "\n"
                  "step time                   value     95 % interval  worst  rests on\n"
                  "mean absolute error (MAPE)  15.0%    10.0% to 20.0%      -    2 runs\n"
                  "geometric mean error        17.3%    10.0% to 25.0%      -    2 runs\n"
                  "bias                        -6.2%  -20.0% to +10.0%      -    2 runs\n"
                  "R2                              -                 -      -         -  (1)\n"
                  "Spearman rank correlation       -                 -      -         -  (2)\n"
                  "Kendall rank correlation    1.000                 -      -   1 group  (3)\n"
                  "top-1 regret                 0.0%      0.0% to 0.0%   0.0%   1 group\n"
                  "top-3 regret                    -                 -      -         -  (4)\n"
                  "top-5 regret                    -                 -      -         -  (5)\n"
                  " (1) fewer than three runs, or all measured equal\n"
                  " (2) no three runs that differ on both sides are choices for the same work\n"
                  " (3) no interval: too many resamples of so few runs lack the figure\n"
                  " (4) no four runs are choices for the same work\n"
                  " (5) no six runs are choices for the same work\n"
                  "\n"
                  "worst    -20.0%: run-1\n"
                  "limit    25% of the step time: kept, the worst is -20.0%\n"
                  "\n"
                  "An error is (simulated - measured) / measured: positive where the simulation is too slow. Ranks and\n"
                  "regret compare choices for the same work (model, batch, sequence, devices, precision); top-k regret\n"
                  "is how much slower than the truly best the best of the k simulated-best was measured. Intervals:\n"
                  "bootstrap, 1000 resamples, seed 7.\n");
}

CLAIM(without_any_run_what_was_left_out_is_all_there_is)
{
    static report_left left[] = {{"experts", 2, "moe", NULL, 0}};

    begin_comparison(&x);
    x.c.n_left = 1;
    x.c.left = left;
    assert_report(report_compared_print, &x.c,
                  "runs     0, and 2 left out\n"
                  "system   cluster\n"
                  "\n"
                  "Left out:\n"
                  "  2  experts, such as moe\n"
                  "\n");
}

/* Each of two models has a column; texts that all runs have stand without a number. */
CLAIM(what_differs_between_runs_is_said_of_each)
{
    begin_comparison(&x);
    add_run(&x, 1, 1, 0)->n_notes = 1;
    add_run(&x, 2, 2, 0)->n_notes = 1;
    x.run[1].model = "gpt-175b";
    x.run[1].sizes = "bytes (bf16 mixed)";
    x.run[1].n_scored = 2;
    assert_report(report_compared_print, &x.c,
                  "runs     2\n"
                  "system   cluster\n"
                  "sizes    1 run: elements\n"
                  "sizes    1 run: bytes (bf16 mixed)\n"
                  "note     no recomputation: the card does not say\n"
                  "\n"
                  "run    model     point         devices  simulated  measured  error  score\n"
                  "run-1  gpt-22b   4_2_1_1_0_ws        8    1.000 s   1.000 s   0.0%   0.0%\n"
                  "run-2  gpt-175b  4_2_1_1_0_ws        8    2.000 s   2.000 s   0.0%   0.0%\n"
                  "score: the weighted mean of the errors of all metrics (configs/scores/default.yaml)\n"
                  "\n");
}

CLAIM(tables_of_long_names_fit_a_hundred_columns)
{
    const char *line, *end;
    dse_strbuf out;

    begin_comparison(&x);
    for (int i = 0; i < 6; i++) {
        report_compared_run *r = add_run(&x, 123.4, 0.9e3 + i, 0);

        r->name = "a-name-of-a-run-that-nobody-wants-to-read-but-which-is-there-all-the-same-and-has-"
                  "\xc3\xa4\xc3\xb6\xc3\xbc";
        r->model = i ? "a-model-whose-name-is-long-as-well-and-longer" : "m";
        r->point = "1024_1024_1024_1024_1_ws";
        r->n_scored = 2;
    }
    x.step[2].simulated = NAN;
    x.step[2].why_simulated =
        "for a reason that takes more than one line because somebody had a lot to say of it, "
        "and said it";
    summarize(&x);
    dse_strbuf_init(&out);
    report_compared_print(&x.c, &out);
    for (line = out.data; (end = strchr(line, '\n')); line = end + 1)
        assert_in_range(end - line, 0, strstr(line, "worst   ") == line ? 200 : 100);
    assert_non_null(strstr(out.data, ".."));
    dse_strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_is_a_table_of_its_metrics),
        cmocka_unit_test(a_run_that_failed_says_why_and_has_no_score),
        cmocka_unit_test(a_limit_is_kept_up_to_itself),
        cmocka_unit_test(a_tolerance_holds_up_to_itself),
        cmocka_unit_test(an_error_that_rounds_to_nothing_has_no_sign),
        cmocka_unit_test(a_name_cannot_talk_to_the_terminal),
        cmocka_unit_test(a_name_is_cut_between_characters),
        cmocka_unit_test(several_runs_are_a_line_each_and_a_summary),
        cmocka_unit_test(without_any_run_what_was_left_out_is_all_there_is),
        cmocka_unit_test(what_differs_between_runs_is_said_of_each),
        cmocka_unit_test(tables_of_long_names_fit_a_hundred_columns),
    };
    return RUN_TESTS(tests);
}
