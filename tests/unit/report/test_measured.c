#include "report/measured_page.h"
#include "unit/unit.h"

static const metric overlap = {.name = "overlap", .group = "guide", .unit = "", .help = "a < b & c"};
static const metric alpha = {
    .name = "hockney_alpha_s", .group = "tpu", .unit = "s", .help = "latency", .headline = "hockney_alpha_s"};
static const metric step = {
    .name = "avg_step_time", .group = "later", .unit = "s", .help = "step", .headline = "avg_step_time"};

static dse_arena arena;
static dse_strbuf out;

static int begin(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    dse_strbuf_init(&out);
    return 0;
}

static int end(void **state)
{
    (void)state;
    dse_strbuf_free(&out);
    dse_arena_free(&arena);
    return 0;
}

/* An object of everything there is: {"n": 2, "ms": 0.1, "x": null, "list": [1, 2], "per_rank": {"0": {"a,b": "q\"r"}}} */
static report_measured everything(void)
{
    metric_value *v = metric_object_new(&arena), *list;

    metric_put_integer(v, "n", 2);
    metric_put_number(v, "ms", 0.1);
    metric_put_absent(v, "x", "no copies");
    list = metric_put_list(v, "list");
    metric_put_integer(list, NULL, 1);
    metric_put_integer(list, NULL, 2);
    metric_put_text(metric_put_object(metric_put_object(v, "per_rank"), "0"), "a,b", "q\"r");
    return (report_measured){.name = "overlap", .row = &overlap, .value = v};
}

static report_measured scalar(const metric *row, double value)
{
    metric_value *v = metric_object_new(&arena);

    metric_put_number(v, row->headline, value);
    metric_put_integer(v, "samples", 5);
    return (report_measured){.name = row->name, .row = row, .value = v};
}

CLAIM(csv_has_a_row_for_each_scalar_and_quotes_what_must_be)
{
    report_measured m[] = {
        everything(), scalar(&alpha, 2e-6), {.name = "mfu", .row = &step, .why = "there is no card"}};

    report_measured_csv_heading(false, &out);
    report_measured_csv(NULL, m, 3, &out);
    assert_string_equal(out.data, "metric,value\n"
                                  "overlap.n,2\n"
                                  "overlap.ms,0.1\n"
                                  "overlap.x,N/A\n"
                                  "overlap.list.0,1\n"
                                  "overlap.list.1,2\n"
                                  "\"overlap.per_rank.0.a,b\",\"q\"\"r\"\n"
                                  "hockney_alpha_s,2e-06\n"
                                  "hockney_alpha_s.samples,5\n"
                                  "mfu,N/A\n");
}

CLAIM(csv_of_several_traces_names_each)
{
    report_measured m = scalar(&alpha, 3);

    report_measured_csv_heading(true, &out);
    report_measured_csv("a,b", &m, 1, &out);
    assert_string_equal(out.data, "workload,metric,value\n"
                                  "\"a,b\",hockney_alpha_s,3.0\n"
                                  "\"a,b\",hockney_alpha_s.samples,5\n");
}

CLAIM(json_gives_the_reason_of_what_is_absent)
{
    report_measured m[] = {scalar(&alpha, 3), {.name = "mfu", .row = &step, .why = "there is no \"card\""}};

    report_measured_json(m, 2, 0, &out);
    assert_string_equal(out.data, "{\n"
                                  "  \"hockney_alpha_s\": {\n"
                                  "    \"hockney_alpha_s\": 3.0,\n"
                                  "    \"samples\": 5\n"
                                  "  },\n"
                                  "  \"mfu\": {\"absent\": \"there is no \\\"card\\\"\"}\n"
                                  "}");
}

CLAIM(a_scalar_is_printed_bare)
{
    report_measured m = scalar(&alpha, 2e-6);

    report_measured_bare(&m, &out);
    assert_string_equal(out.data, "2e-06\n");
}

/* As the original tools do. */
CLAIM(an_absent_scalar_is_nan_on_tpus_and_minus_1_on_the_leaderboard)
{
    report_measured tpu = scalar(&alpha, NAN), later = scalar(&step, NAN);

    report_measured_bare(&tpu, &out);
    report_measured_bare(&later, &out);
    assert_string_equal(out.data, "nan\n-1\n");
}

CLAIM(text_leaves_ranks_out_where_something_is_said_of_all)
{
    report_measured m[] = {
        everything(), scalar(&alpha, 2e-6), {.name = "mfu", .row = &step, .why = "no card"}};

    report_measured_text(m, 3, &out);
    assert_string_equal(out.data, "overlap\n"
                                  "  n                                       2\n"
                                  "  ms                                      0.1\n"
                                  "  x                                       absent: no copies\n"
                                  "  list                                    1, 2\n"
                                  "hockney_alpha_s                           2e-06 s\n"
                                  "  samples                                 5\n");
}

CLAIM(sums_over_ranks_say_so_and_long_texts_lose_their_middle)
{
    static const metric summed = {.name = "overlap", .group = "kineto", .unit = "", .sums = "ms|n"};
    metric_value *v = metric_object_new(&arena), *ranks;
    report_measured m = {.name = "overlap", .row = &summed, .value = v};
    char name[101];

    memset(name, 'a', 50);
    memset(name + 50, 'z', 50);
    name[100] = '\0';
    metric_put_integer(v, "n", 2);
    metric_put_number(v, "mean", 1);
    metric_put_text(v, "kernel", name);
    ranks = metric_put_object(v, "per_rank");
    metric_put_object(ranks, "0");
    metric_put_object(ranks, "1");
    report_measured_text(&m, 1, &out);
    /* 78 columns are left behind the name: 37 letters, the dots, 38 letters. */
    assert_string_equal(out.data,
                        "overlap\n"
                        "  n                                       2 (sum over 2 ranks)\n"
                        "  mean                                    1\n"
                        "  kernel                                  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
                        "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n");
}

/* 64 ranks would be 64 lines; 40,907,046,912 is no number for reading. */
CLAIM(text_is_short_where_there_is_little_to_say)
{
    metric_value *v = metric_object_new(&arena), *few, *many, *same;
    report_measured m = {.name = "overlap", .row = &overlap, .value = v};
    char rank[12];

    metric_put_object(v, "layers");
    metric_put_list(v, "slow");
    few = metric_put_object(v, "few");
    same = metric_put_object(v, "same");
    many = metric_put_object(v, "many");
    for (int i = 0; i < 9; i++) {
        snprintf(rank, sizeof rank, "%d", i);
        if (i < 2)
            metric_put_integer(few, rank, 3 + i);
        metric_put_integer(same, rank, 0);
        metric_put_number(many, rank, 0.5 * i);
    }
    metric_put_absent(v, "bytes", "no sizes");
    metric_put_absent(v, "GBps", "no sizes");
    metric_put_absent(v, "ratio", "no copies");
    metric_put_integer(v, "peak_bytes", 40907046912);
    metric_put_integer(v, "small_bytes", 999);
    report_measured_text(&m, 1, &out);
    assert_string_equal(out.data, "overlap\n"
                                  "  layers                                  none\n"
                                  "  slow                                    none\n"
                                  "  few                                     0: 3, 1: 4\n"
                                  "  same                                    0 in each of 9\n"
                                  "  many                                    0 to 4 in 9\n"
                                  "  bytes                                   absent: no sizes\n"
                                  "  GBps                                    absent, as above\n"
                                  "  ratio                                   absent: no copies\n"
                                  "  peak_bytes                              40907046912 (40.9 GB)\n"
                                  "  small_bytes                             999\n");
}

CLAIM(text_shows_a_headline_that_is_a_list_in_its_line)
{
    metric_value *v = metric_object_new(&arena), *list = metric_put_list(v, step.headline);
    report_measured m = {.name = step.name, .row = &step, .value = v};

    metric_put_number(list, NULL, 0.25);
    metric_put_number(list, NULL, 2);
    report_measured_text(&m, 1, &out);
    assert_string_equal(out.data, "avg_step_time                             0.25, 2 s\n");
}

/* Devices are numbered as ranks are; stages are few, and of each there is something to say. */
CLAIM(text_leaves_devices_out_but_not_stages)
{
    metric_value *v = metric_object_new(&arena);
    report_measured m = {.name = step.name, .row = &step, .value = v};

    metric_put_number(v, step.headline, 2);
    metric_put_integer(metric_put_object(metric_put_object(v, "per_device"), "0"), "n", 1);
    metric_put_integer(metric_put_object(metric_put_object(v, "by_type"), "0"), "n", 1);
    metric_put_integer(metric_put_object(metric_put_object(v, "per_stage"), "0"), "n", 1);
    report_measured_text(&m, 1, &out);
    assert_string_equal(out.data, "avg_step_time                             2 s\n"
                                  "  per_stage\n"
                                  "    0\n"
                                  "      n                                   1\n");
}

/* Columns are as wide as what is in them, two blanks between; 120 columns less 2 + 6 for the place (a list's rows are
 * numbered from 1), 3 for "n", and two blanks before the text leave room for 107 of its characters, less the dots. */
CLAIM(rows_of_the_same_figures_are_a_table_in_text)
{
    metric_value *v = metric_object_new(&arena), *types = metric_put_object(v, "types"), *row, *list;
    report_measured m = {.name = "overlap", .row = &overlap, .value = v};
    char name[121];

    row = metric_put_object(types, "gemm");
    metric_put_integer(row, "n", 12345);
    metric_put_number(row, "ms", 0.5);
    row = metric_put_object(types, "attention");
    metric_put_integer(row, "n", 6);
    metric_put_absent(row, "ms", "none is timed");
    list = metric_put_list(v, "top");
    memset(name, 'k', 120);
    name[120] = '\0';
    for (int i = 0; i < 2; i++) {
        row = metric_put_object(list, NULL);
        metric_put_text(row, "name", i ? "short" : name);
        metric_put_integer(row, "n", i);
    }
    report_measured_text(&m, 1, &out);
    name[(120 - 8 - 3 - 2 - 3) / 2] =
        '\0'; /* half of what the line has room for, on both sides of the dots */
    dse_strbuf_addc(&out, '|');
    dse_strbuf expected;
    dse_strbuf_init(&expected);
    dse_strbuf_addf(&expected,
                    "overlap\n"
                    "  types            n   ms\n"
                    "    gemm       12345  0.5\n"
                    "    attention      6    -\n"
                    "  top     n  name\n"
                    "    1     0  %s...%s\n"
                    "    2     1  short\n|",
                    name, name);
    assert_string_equal(out.data, expected.data);
    dse_strbuf_free(&expected);
}

CLAIM(text_shows_ranks_where_that_is_all_there_is)
{
    metric_value *v = metric_object_new(&arena);
    report_measured m = {.name = "overlap", .row = &overlap, .value = v};

    metric_put_integer(metric_put_object(metric_put_object(v, "per_rank"), "7"), "n", 3);
    report_measured_text(&m, 1, &out);
    assert_string_equal(out.data, "overlap\n"
                                  "  per_rank\n"
                                  "    7\n"
                                  "      n                                   3\n");
}

/* ---- the page ------------------------------------------------------------------------------- */

CLAIM(a_page_escapes_what_it_shows)
{
    report_measured m[] = {everything(), {.name = "mfu", .row = &step, .why = "<b>no card</b>"}};
    const report_fact fact = {"traces", "a&b/<script>alert(1)</script>"};

    report_page_html(&(report_page){.title = "T<", .n_facts = 1, .fact = &fact, .n = 2, .m = m}, &out);
    assert_null(strstr(out.data, "<script"));
    assert_null(strstr(out.data, "<b>"));
    assert_non_null(strstr(out.data, "<title>T&lt;</title>"));
    assert_non_null(strstr(out.data, "a&amp;b/&lt;script&gt;"));
    assert_non_null(strstr(out.data, "<p class=note>a &lt; b &amp; c</p>"));
    assert_non_null(strstr(out.data, "<td>q&quot;r</td>"));
    assert_non_null(strstr(out.data, "<p class=absent>&lt;b&gt;no card&lt;/b&gt;</p>"));
}

CLAIM(a_page_refers_to_nothing_outside)
{
    report_measured m = everything();

    report_page_html(&(report_page){.title = "T", .n = 1, .m = &m}, &out);
    assert_null(strstr(out.data, "http"));
    assert_null(strstr(out.data, "src="));
    assert_null(strstr(out.data, "url("));
}

/* {"0": {"time_ms": 1, "n": 2}, "1": {"n": 3}}: two rows, two columns, an empty cell. */
CLAIM(objects_of_a_kind_are_a_table)
{
    metric_value *v = metric_object_new(&arena), *ranks = metric_put_object(v, "per_rank"), *row;
    report_measured m = {.name = "overlap", .row = &overlap, .value = v};

    row = metric_put_object(ranks, "0");
    metric_put_number(row, "time_ms", 1);
    metric_put_integer(row, "n", 2);
    metric_put_integer(metric_put_object(ranks, "1"), "n", 3);
    report_page_html(&(report_page){.title = "T", .n = 1, .m = &m}, &out);
    assert_non_null(strstr(out.data, "<h3>per_rank</h3>\n<div class=wide><table>\n"
                                     "<tr><th></th><th class=n>time_<wbr>ms</th><th class=n>n</th></tr>\n"
                                     "<tr><th>0</th><td class=n>1</td><td class=n>2</td></tr>\n"
                                     "<tr><th>1</th><td></td><td class=n>3</td></tr>\n"
                                     "</table></div>\n"));
}

/* A row is as long as the heading, whatever is absent; a column of nothing else is left out, and why is said once. */
CLAIM(what_is_absent_moves_no_column_of_a_table)
{
    metric_value *v = metric_object_new(&arena), *ranks = metric_put_object(v, "per_rank"), *row;
    report_measured m = {.name = "overlap", .row = &overlap, .value = v};

    row = metric_put_object(ranks, "0");
    metric_put_absent(row, "bytes", "no <sizes>");
    metric_put_absent(row, "ratio", "no copies");
    metric_put_absent(row, "GBps", "no <sizes>");
    metric_put_integer(row, "n", 2);
    row = metric_put_object(ranks, "1");
    metric_put_absent(row, "bytes", "no <sizes>");
    metric_put_number(row, "ratio", 0.5);
    metric_put_absent(row, "GBps", "no <sizes>");
    metric_put_integer(row, "n", 3);
    report_page_html(&(report_page){.title = "T", .n = 1, .m = &m}, &out);
    assert_non_null(strstr(out.data,
                           "<tr><th></th><th class=n>ratio</th><th class=n>n</th></tr>\n"
                           "<tr><th>0</th><td title=\"no copies\">&ndash;</td><td class=n>2</td></tr>\n"
                           "<tr><th>1</th><td class=n>0.5</td><td class=n>3</td></tr>\n"
                           "</table></div>\n"
                           "<p class=note>bytes, GBps: no &lt;sizes&gt;</p>\n"
                           "<p class=note>ratio: no copies</p>\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(csv_has_a_row_for_each_scalar_and_quotes_what_must_be),
        TEST(csv_of_several_traces_names_each),
        TEST(json_gives_the_reason_of_what_is_absent),
        TEST(a_scalar_is_printed_bare),
        TEST(an_absent_scalar_is_nan_on_tpus_and_minus_1_on_the_leaderboard),
        TEST(text_leaves_ranks_out_where_something_is_said_of_all),
        TEST(sums_over_ranks_say_so_and_long_texts_lose_their_middle),
        TEST(text_is_short_where_there_is_little_to_say),
        TEST(text_shows_a_headline_that_is_a_list_in_its_line),
        TEST(text_leaves_devices_out_but_not_stages),
        TEST(rows_of_the_same_figures_are_a_table_in_text),
        TEST(text_shows_ranks_where_that_is_all_there_is),
        TEST(a_page_escapes_what_it_shows),
        TEST(a_page_refers_to_nothing_outside),
        TEST(objects_of_a_kind_are_a_table),
        TEST(what_is_absent_moves_no_column_of_a_table),
    };
    return RUN_TESTS(tests);
}
