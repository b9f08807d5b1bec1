/* Which rows are ranked, and what is said of those that are not. */
#include "report/ranking.h"
#include "unit/point.h"
#include "unit/unit.h"

#include <math.h>

static dse_arena arena;
static dse_error err;
static dse_strbuf out;
static store_row rows[4];
static report_study study;

static void begin(const char *by, double hbm_bytes)
{
    dse_arena_init(&arena);
    dse_strbuf_init(&out);
    err = (dse_error)DSE_ERROR_INIT;
    study = (report_study){.row = rows, .hbm_bytes = hbm_bytes, .by = store_column_find(by)};
}

static void end(void)
{
    dse_strbuf_free(&out);
    dse_arena_free(&arena);
}

static store_row *add(uint32_t dp, uint64_t wall_time, uint64_t peak_memory)
{
    store_row *r = &rows[study.n++];

    *r = (store_row){.model = "m",
                     .system = "s",
                     .engine = "imported",
                     .settings = "",
                     .error = "",
                     .strategy = unit_point("%u_1_1_1_0", dp),
                     .done = true};
    store_metrics_clear(&r->metrics);
    r->metrics.wall_time = wall_time;
    r->metrics.peak_memory = peak_memory;
    return r;
}

static void rank(void) { report_rank(&study, &arena); }

static void assert_printed(const char *text)
{
    if (!strstr(out.data, text))
        fail_msg("does not say '%s':\n%s", text, out.data);
}

/* Of the two that compute_util is known of, the one with more is better, and does not fit 50 bytes. */
CLAIM(what_is_ranked_by_must_be_known)
{
    store_row *slow, *fast;

    begin("compute_util", 50);
    add(1, 1, 1);
    slow = add(2, 9, 40);
    fast = add(4, 3, 60);
    add(8, 2, STORE_ABSENT);
    slow->metrics.compute_util = 10;
    fast->metrics.compute_util = 90;
    rank();
    assert_int_equal(study.n_ranked, 1);
    assert_ptr_equal(study.ranked[0], slow);
    assert_ptr_equal(study.unlimited_best, fast);
    assert_int_equal(study.n_too_large, 1);
    assert_int_equal(study.n_unknown_memory, 0);
    assert_int_equal(study.n_unknown_value, 2);
    report_ranking_print(&study, 0, false, &out);
    assert_printed("1 of 4 points dropped: they need more than 50 B.\n");
    assert_printed("2 of 4 points not ranked: their compute_util is not known.\n");
    end();
}

/* Infinite is not unknown: no byte was moved, and more operations a byte are better. */
CLAIM(an_infinite_figure_is_known)
{
    store_row *r;

    begin("op_intensity", NAN);
    add(1, 1, 1)->metrics.op_intensity = 5;
    r = add(2, 1, 1);
    r->metrics.op_intensity = INFINITY;
    rank();
    assert_int_equal(study.n_ranked, 2);
    assert_ptr_equal(study.ranked[0], r);
    end();
}

CLAIM(nothing_is_ranked_by_what_nobody_knows)
{
    begin("step_idle", 50);
    add(1, 1, 1);
    rank();
    assert_int_equal(study.n_ranked, 0);
    assert_null(study.unlimited_best);
    report_ranking_print(&study, 0, false, &out);
    assert_printed("0 of 1 points dropped: they need more than 50 B.\n1 of 1 points not ranked");
    dse_strbuf_clear(&out);
    report_ranking_json(&study, 1, NULL, 0, 0, NULL, NULL, &out);
    assert_printed("\"not_ranked\":1,\"failed\":0,\"ranking\":[],\"best_without_limit\":null");
    end();
}

/* 9 / 3; against 0 there is none. */
CLAIM(a_slowdown_is_against_a_step_that_takes_time)
{
    begin("wall_time", NAN);
    add(1, 3, 1);
    add(2, 9, 1);
    rank();
    report_ranking_json(&study, 1, NULL, 0, 0, NULL, NULL, &out);
    assert_printed("\"rank\":2,\"slowdown\":3.000000");
    end();

    begin("wall_time", NAN);
    add(1, 0, 1);
    add(2, 9, 1);
    rank();
    report_ranking_json(&study, 1, NULL, 0, 0, NULL, NULL, &out);
    assert_printed("\"rank\":1,\"slowdown\":null");
    assert_printed("\"rank\":2,\"slowdown\":null");
    report_ranking_print(&study, 0, false, &out);
    assert_null(strstr(out.data, "nan"));
    assert_null(strstr(out.data, "inf"));
    end();
}

/* Two of the three that are done; the one that failed is not counted. */
CLAIM(what_the_model_leaves_out_is_noted_below)
{
    begin("wall_time", NAN);
    add(1, 1, 1)->metrics.undercharged_messages = 4;
    add(2, 2, 1)->metrics.undercharged_messages = 0;
    add(4, 3, 1)->metrics.undercharged_messages = 1;
    add(8, 4, 1)->done = false;
    rank();
    report_ranking_notes(&study, 1, &out);
    assert_printed("note: in 2 of 3 points messages between NPUs that differ");
    assert_null(strstr(out.data, "flat rings"));
    end();
}

/* Two studies on "a", of one point each, and one on "b", which met nothing, and one on "c". */
CLAIM(notes_are_one_line_a_system)
{
    store_row row[4];
    report_study studies[4];

    begin("wall_time", NAN);
    for (size_t i = 0; i < 4; i++) {
        row[i] = *add((uint32_t)i + 1, 1, 1);
        row[i].system = (const char *const[]){"a", "a", "b", "c"}[i];
        row[i].metrics.flat_ring_collectives = i == 1 || i == 3;
        studies[i] = (report_study){.row = &row[i], .n = 1, .hbm_bytes = NAN, .by = study.by};
        report_rank(&studies[i], &arena);
    }
    report_ranking_notes(studies, 4, &out);
    assert_printed("note: on a, in 1 of 2 points collectives of groups");
    assert_null(strstr(out.data, "on b"));
    assert_printed("\nnote: on c, collectives of groups");
    end();
}

CLAIM(with_congestion_the_busiest_link_is_shown)
{
    begin("wall_time", NAN);
    add(1, 1, 1)->metrics.busiest_link_util = 81.25;
    add(2, 2, 1);
    rank();
    report_ranking_print(&study, 0, false, &out);
    assert_printed(" busiest\n");
    assert_printed("       -       -    -   81.2%\n");
    assert_printed("       -       -    -       -\n");
    end();
}

/* Of 3 points with and without 7 that were skipped: 30 bytes fit 2. Nothing is said of what the 7 would change. */
CLAIM(of_points_that_were_skipped_nothing_is_claimed)
{
    static const char skipped[] =
        "7 more points were skipped by a sweep with --prune: the best are known only by "
        "wall_time, and for its --top and --hbm.\n";

    begin("wall_time", 30);
    add(1, 5, 10)->skipped_of_study = 7;
    add(2, 6, 30);
    add(4, 7, 40);
    rank();
    assert_u64(study.n_skipped, 7);
    report_ranking_print(&study, 0, false, &out);
    assert_printed("1 of 3 points dropped: they need more than 30 B.\n7 more points");
    assert_printed(skipped);
    dse_strbuf_clear(&out);
    report_ranking_json(&study, 1, NULL, 0, 0, NULL, NULL, &out);
    assert_printed("\"points\":3,\"skipped\":7,\"dropped_for_memory\":1,");
    dse_strbuf_clear(&out);
    rows[0].skipped_of_study = 0;
    study.n_ranked = study.n_too_large = 0;
    rank();
    report_ranking_print(&study, 0, false, &out);
    assert_printed(
        "1 of 3 points dropped: they need more than 30 B. The best is the same without the limit.\n");
    end();
}

CLAIM(without_the_limit_it_is_the_best_of_those_that_were_run)
{
    begin("wall_time", 30);
    add(1, 5, 40)->skipped_of_study = 1;
    rank();
    report_ranking_print(&study, 0, false, &out);
    assert_printed("1 of 1 points dropped: they need more than 30 B. None that was run fits.\n"
                   "Without the limit the best of those that were run would be dp 1,");
    assert_printed("\n1 more point was skipped by a sweep");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_ranked_by_must_be_known),
        cmocka_unit_test(an_infinite_figure_is_known),
        cmocka_unit_test(nothing_is_ranked_by_what_nobody_knows),
        cmocka_unit_test(a_slowdown_is_against_a_step_that_takes_time),
        cmocka_unit_test(what_the_model_leaves_out_is_noted_below),
        cmocka_unit_test(notes_are_one_line_a_system),
        cmocka_unit_test(with_congestion_the_busiest_link_is_shown),
        cmocka_unit_test(of_points_that_were_skipped_nothing_is_claimed),
        cmocka_unit_test(without_the_limit_it_is_the_best_of_those_that_were_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
