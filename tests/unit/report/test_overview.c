/* The best of each configuration, side by side. */
#include "report/overview.h"
#include "unit/point.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static dse_strbuf out;
static store_row rows[8];
static size_t n_rows;

static store_row *add(const char *model, const char *settings, uint64_t study, uint32_t dp,
                      uint64_t wall_time)
{
    store_row *r = &rows[n_rows++];

    *r = (store_row){.model = model,
                     .system = "s",
                     .engine = "native-1",
                     .settings = settings,
                     .study = study << 32,
                     .error = "",
                     .strategy = unit_point("%u_1_1_1_0", dp),
                     .done = true};
    store_metrics_clear(&r->metrics);
    r->metrics.wall_time = wall_time;
    return r;
}

/* Prints the overview of the rows. */
static const char *print(double hbm_bytes)
{
    report_study *studies;
    size_t n;

    dse_arena_init(&arena);
    dse_strbuf_init(&out);
    err = (dse_error)DSE_ERROR_INIT;
    dse_strbuf_adds(&out, "");
    studies = report_split(rows, n_rows, &arena, &n);
    for (size_t i = 0; i < n; i++) {
        studies[i].by = store_column_find("wall_time");
        studies[i].hbm_bytes = hbm_bytes;
        report_rank(&studies[i], &arena);
    }
    report_overview_print(studies, n, &arena, &out);
    return out.data;
}

static void end(void)
{
    dse_strbuf_free(&out);
    dse_arena_free(&arena);
    n_rows = 0;
}

/* 6000 / 4000 and 8000 / 4000. "b=1" is common; "b=10" is another word than "b=1". */
CLAIM(winners_are_ranked_by_what_their_settings_do_not_share)
{
    add("m", "b=1 t=Ring", 1, 4, 9000);
    add("m", "b=1 t=Ring", 1, 2, 8000);
    add("m", "b=1 t=Mesh2D", 2, 4, 4000)->metrics.busiest_link_util = 81.25;
    add("m", "b=1 b=10", 3, 8, 6000)->metrics.peak_memory = 5000;
    add("other", "b=2", 4, 8, 1);
    assert_string_equal(print(NAN), "m on s with b=1: the best of each of 3 configurations, by wall_time\n"
                                    "          step  slow-    peak  busiest\n"
                                    "rank      time   down  memory     link  point      settings\n"
                                    "   1  4.000 us  1.00x       -    81.2%  4_1_1_1_0  t=Mesh2D\n"
                                    "   2  6.000 us  1.50x  5.0 kB        -  8_1_1_1_0  b=10\n"
                                    "   3  8.000 us  2.00x       -        -  2_1_1_1_0  t=Ring\n\n");
    end();
}

CLAIM(cards_of_one_name_are_told_apart_by_their_configuration)
{
    add("m", "", 0x1f00ba44, 4, 2000);
    add("m", "", 0x2f00ba44, 4, 2000);
    assert_string_equal(print(NAN),
                        "m on s: the best of each of 2 configurations, by wall_time\n"
                        "          step  slow-    peak\n"
                        "rank      time   down  memory  point      settings\n"
                        "   1  2.000 us  1.00x       -  4_1_1_1_0  none (configuration 1f00ba44)\n"
                        "   2  2.000 us  1.00x       -  4_1_1_1_0  none (configuration 2f00ba44)\n\n");
    end();
}

/* Congestion makes "t=1" no slower a network: it is compared with "t=2" in the same model. That of the card, where no
 * setting says, is one of its own, and one configuration needs no table. */
CLAIM(models_of_the_network_are_ranked_apart)
{
    add("m", "network.backend=congestion_aware t=1", 1, 4, 3000);
    add("m", "network.backend=congestion_aware t=2", 2, 4, 6000);
    add("m", "network.backend=congestion_unaware t=1", 3, 4, 2000);
    add("m", "network.backend=congestion_unaware t=2", 4, 4, 1000);
    add("m", "t=1", 5, 4, 10);
    assert_string_equal(
        print(NAN),
        "m on s with network.backend=congestion_aware: the best of each of 2 configurations, by wall_time\n"
        "          step  slow-    peak\n"
        "rank      time   down  memory  point      settings\n"
        "   1  3.000 us  1.00x       -  4_1_1_1_0  t=1\n"
        "   2  6.000 us  2.00x       -  4_1_1_1_0  t=2\n"
        "\n"
        "m on s with network.backend=congestion_unaware: the best of each of 2 configurations, by wall_time\n"
        "          step  slow-    peak\n"
        "rank      time   down  memory  point      settings\n"
        "   1  1.000 us  1.00x       -  4_1_1_1_0  t=2\n"
        "   2  2.000 us  2.00x       -  4_1_1_1_0  t=1\n\n");
    end();
}

CLAIM(configurations_of_which_nothing_fits_are_counted)
{
    add("m", "a=1", 1, 4, 2000)->metrics.peak_memory = 10;
    add("m", "a=2", 2, 4, 1000)->metrics.peak_memory = 20;
    assert_string_equal(print(10), "m on s: the best of each of 2 configurations, by wall_time\n"
                                   "          step  slow-    peak\n"
                                   "rank      time   down  memory  point      settings\n"
                                   "   1  2.000 us  1.00x    10 B  4_1_1_1_0  a=1\n"
                                   "1 has nothing to rank.\n\n");
    end();
}

/* 3 of the first and 4 of the second. */
CLAIM(skipped_points_of_all_configurations_are_counted)
{
    add("m", "a=1", 1, 4, 2000)->skipped_of_study = 3;
    add("m", "a=1", 1, 8, 3000)->skipped_of_study = 3;
    add("m", "a=2", 2, 4, 1000)->skipped_of_study = 4;
    assert_string_equal(print(NAN),
                        "m on s: the best of each of 2 configurations, by wall_time\n"
                        "          step  slow-    peak\n"
                        "rank      time   down  memory  point      settings\n"
                        "   1  1.000 us  1.00x       -  4_1_1_1_0  a=2\n"
                        "   2  2.000 us  2.00x       -  4_1_1_1_0  a=1\n"
                        "7 more points were skipped by a sweep with --prune: the best are known only "
                        "by wall_time, and for its --top and --hbm.\n\n");
    end();
}

CLAIM(one_configuration_of_a_name_and_none_that_fits_need_no_overview)
{
    add("m", "a=1", 1, 4, 2000);
    add("n", "a=1", 1, 4, 2000);
    assert_string_equal(print(NAN), "");
    end();
    add("m", "a=1", 1, 4, 2000);
    add("m", "a=2", 2, 4, 2000);
    assert_string_equal(print(5), "");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winners_are_ranked_by_what_their_settings_do_not_share),
        cmocka_unit_test(cards_of_one_name_are_told_apart_by_their_configuration),
        cmocka_unit_test(models_of_the_network_are_ranked_apart),
        cmocka_unit_test(configurations_of_which_nothing_fits_are_counted),
        cmocka_unit_test(skipped_points_of_all_configurations_are_counted),
        cmocka_unit_test(one_configuration_of_a_name_and_none_that_fits_need_no_overview),
    };
    return RUN_TESTS(tests);
}
