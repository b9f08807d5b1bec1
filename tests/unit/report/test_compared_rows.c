/* Comparisons for programs, and for a README. */
#include "unit/report/compared.h"

static comparison x;

CLAIM(csv_has_a_row_a_run_and_three_columns_a_metric)
{
    static const char *two_notes[] = {"one, two", "three"};
    static cmp_pair of_traces[] = {{"step_time", "s", CMP_LOWER, 0.05, 4, 5, NULL, NULL},
                                   {"mfu", "%", CMP_HIGHER, 0.05, NAN, 40, "no peak", NULL}};

    begin_comparison(&x);
    add_run(&x, 1.5, 1, 4)->name = "a,\"b\"";
    add_run(&x, 4, 5, 5)->n_pairs = 2;
    x.run[1].pair = of_traces;
    x.run[1].n_notes = 2;
    x.run[1].note = two_notes;
    add_run(&x, NAN, 2, 6)->failed = "too small";
    assert_report(
        report_compared_csv, &x.c,
        "run,where,model,point,devices,sizes,group,score,scored_metrics,failed,notes,step_time.simulated,"
        "step_time.measured,step_time.error,mfu.simulated,mfu.measured,mfu.error\n"
        "\"a,\"\"b\"\"\",m.json: row 3,gpt-22b,4_2_1_1_0_ws,8,elements,4,0.5,1,,,1.5,1.0,0.5,,,\n"
        "run-2,m.json: row 3,gpt-22b,4_2_1_1_0_ws,8,elements,5,0.2,1,,\"one, two; three\",4.0,5.0,-0.2,,"
        "40.0,\n"
        "run-3,m.json: row 3,gpt-22b,4_2_1_1_0_ws,8,elements,6,,0,too small,,,2.0,,,,\n");
}

CLAIM(csv_of_no_run_is_its_heading)
{
    begin_comparison(&x);
    assert_report(report_compared_csv, &x.c,
                  "run,where,model,point,devices,sizes,group,score,scored_metrics,failed,notes\n");
}

CLAIM(markdown_shows_degrees_and_escapes_what_ends_a_cell)
{
    begin_comparison(&x);
    add_run(&x, 3.2, 4, 0)->name = "a|b";
    add_run(&x, NAN, 4, 0)->point = "?";
    assert_report(report_compared_markdown, &x.c,
                  "| run | model | devices | dp x tp x sp x pp | measured | simulated | error |\n"
                  "|---|---|---:|---|---:|---:|---:|\n"
                  "| a\\|b | gpt-22b | 8 | 4 x 2 x 1 x 1, sharded weights | 4.000 s | 3.200 s | -20.0% |\n"
                  "| run-2 | gpt-22b | 8 | ? | 4.000 s | - | - |\n");
}

#define OF_RUN(name, group)                                                                                  \
    "{\"run\":\"" name "\",\"where\":\"m.json: row 3\",\"model\":\"gpt-22b\",\"point\":\"4_2_1_1_0_ws\","    \
    "\"devices\":8,\"sizes\":\"elements\",\"group\":" group ","

/* Errors (6 - 4) / 4 = 0.5 and (4 - 4) / 4 = 0, each run alone in its group: MAPE 0.25, geometric and bias sqrt(1.5) - 1. */
CLAIM(json_has_everything_and_null_for_what_is_not)
{
    static const char *each[] = {"moe", "another"};
    static report_left left[] = {{"experts", 2, "moe", each, 0}};

    begin_comparison(&x);
    add_run(&x, 6, 4, 1)->n_notes = 1;
    add_run(&x, 4, 4, 2);
    x.c.n_left = 1;
    x.c.left = left;
    x.c.max_error = 0.25;
    summarize(&x);
    x.c.summary.geometric.value = x.c.summary.bias.value = 0.125; /* sqrt(1.5) - 1 would be 17 digits */
    assert_report(
        report_compared_json, &x.c,
        "{\"system\":\"cluster\",\"weights\":\"configs/scores/default.yaml\",\"settings\":\"\",\"max_error\":0.25,"
        "\"max_error_kept\":false,\"bootstrap\":{\"seed\":7,\"resamples\":0},\"runs\":[\n" OF_RUN(
            "run-1",
            "1") "\"simulated_s\":6.0,\"measured_s\":4.0,\"error\":0.5,\"score\":0.5,\"scored_metrics\":1,"
                 "\"failed\":null,\"notes\":[\"no recomputation: the card does not say\"],\"metrics\":[\n"
                 "{\"metric\":\"step_time\",\"unit\":\"s\",\"better\":\"lower\",\"simulated\":6.0,"
                 "\"measured\":4.0,"
                 "\"error\":0.5,\"tolerance\":0.05,\"within\":false}]},\n" OF_RUN(
                     "run-2", "2") "\"simulated_s\":4.0,\"measured_s\":4.0,\"error\":0.0,\"score\":0.0,"
                                   "\"scored_metrics\":1,"
                                   "\"failed\":null,\"notes\":[],\"metrics\":[\n"
                                   "{\"metric\":\"step_time\",\"unit\":\"s\",\"better\":\"lower\","
                                   "\"simulated\":4.0,\"measured\":4.0,"
                                   "\"error\":0.0,\"tolerance\":0.05,\"within\":true}]}],\"left_out\":[\n"
                                   "{\"reason\":\"experts\",\"runs\":2,\"first\":\"moe\",\"each\":[\"moe\",\"another\"]}],\n"
                                   "\"summary\":{\"runs\":2,\"groups\":0,\"runs_in_groups\":0,\"worst_run\":"
                                   "\"run-1\",\"worst_error\":0.5,\n"
                                   "\"mape\":{\"value\":0.25,\"low\":null,\"high\":null,\"why_no_interval\":"
                                   "\"no resamples were asked for\"},\n"
                                   "\"geometric\":{\"value\":0.125,\"low\":null,\"high\":null,"
                                   "\"why_no_interval\":\"no resamples were asked for\"},\n"
                                   "\"bias\":{\"value\":0.125,\"low\":null,\"high\":null,"
                                   "\"why_no_interval\":\"no resamples were asked for\"},\n"
                                   "\"r2\":{\"value\":null,\"low\":null,\"high\":null,"
                                   "\"why_none\":\"fewer than three runs, or all measured equal\"},\n"
                                   "\"spearman\":{\"value\":null,\"low\":null,\"high\":null,\"groups\":0,"
                                   "\"why_none\":\"no three runs that differ on both sides are choices for "
                                   "the same work\"},\n"
                                   "\"kendall\":{\"value\":null,\"low\":null,\"high\":null,\"groups\":0,"
                                   "\"why_none\":\"no two runs that differ on both sides are choices for the "
                                   "same work\"},\n"
                                   "\"top_1\":{\"value\":null,\"low\":null,\"high\":null,\"k\":1,\"worst\":"
                                   "null,\"groups\":0,"
                                   "\"why_none\":\"no two runs are choices for the same work\"},\n"
                                   "\"top_3\":{\"value\":null,\"low\":null,\"high\":null,\"k\":3,\"worst\":"
                                   "null,\"groups\":0,"
                                   "\"why_none\":\"no four runs are choices for the same work\"},\n"
                                   "\"top_5\":{\"value\":null,\"low\":null,\"high\":null,\"k\":5,\"worst\":"
                                   "null,\"groups\":0,"
                                   "\"why_none\":\"no six runs are choices for the same work\"}}}\n");
}

/* Why a side is absent, and why two that are there have no error. */
CLAIM(json_says_why_a_metric_is_not_compared)
{
    report_compared_run *r;
    static cmp_pair pairs[] = {{"step_time", "s", CMP_LOWER, NAN, NAN, NAN, "it failed", "not timed"},
                               {"lag", "s", CMP_NEITHER, 0.1, 1, 0, NULL, NULL}};

    begin_comparison(&x);
    r = add_run(&x, NAN, NAN, 3);
    r->n_pairs = 2;
    r->pair = pairs;
    assert_report(
        report_compared_json, &x.c,
        "{\"system\":\"cluster\",\"weights\":\"configs/scores/default.yaml\",\"settings\":\"\",\"max_error\":null,"
        "\"max_error_kept\":null,\"bootstrap\":{\"seed\":7,\"resamples\":0},\"runs\":[\n" OF_RUN(
            "run-1",
            "3") "\"simulated_s\":null,\"measured_s\":null,\"error\":null,\"score\":null,\"scored_metrics\":"
                 "0,"
                 "\"failed\":null,\"notes\":[],\"metrics\":[\n"
                 "{\"metric\":\"step_time\",\"unit\":\"s\",\"better\":\"lower\",\"simulated\":null,"
                 "\"measured\":null,"
                 "\"error\":null,\"tolerance\":null,\"within\":null,\"why_not_simulated\":\"it failed\","
                 "\"why_not_measured\":\"not timed\"},\n"
                 "{\"metric\":\"lag\",\"unit\":\"s\",\"better\":\"neither\",\"simulated\":1.0,\"measured\":0."
                 "0,"
                 "\"error\":null,\"tolerance\":0.1,\"within\":null,"
                 "\"why_no_error\":\"nothing is relative to a measured 0\"}]}],\"left_out\":[],\n"
                 "\"summary\":null}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_a_row_a_run_and_three_columns_a_metric),
        cmocka_unit_test(csv_of_no_run_is_its_heading),
        cmocka_unit_test(markdown_shows_degrees_and_escapes_what_ends_a_cell),
        cmocka_unit_test(json_has_everything_and_null_for_what_is_not),
        cmocka_unit_test(json_says_why_a_metric_is_not_compared),
    };
    return RUN_TESTS(tests);
}
