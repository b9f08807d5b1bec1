/* One row in full. */
#include "report/details.h"
#include "unit/point.h"
#include "unit/unit.h"

static store_row row(void)
{
    store_row r = {.model = "m",
                   .system = "s",
                   .engine = "e",
                   .settings = "",
                   .study = 0x0123456789abcdef,
                   .strategy = unit_point("32_1_2_1_0"),
                   .done = true,
                   .error = "",
                   .seconds = 0.25};

    store_metrics_clear(&r.metrics);
    return r;
}

static void assert_says_that(const store_row *r, const char *const *parts, size_t n)
{
    dse_strbuf out;

    dse_strbuf_init(&out);
    report_details_print(r, &out);
    for (size_t i = 0; i < n; i++)
        if (!strstr(out.data, parts[i]))
            fail_msg("'%s' is not in\n%s", parts[i], out.data);
    dse_strbuf_free(&out);
}

CLAIM(a_result_has_every_figure_readable_and_exact)
{
    static const char *const parts[] = {
        "m on s: 32_1_2_1_1_ws\n",
        "  strategy       dp 32, tp 1, sp 2, pp 1, recomputing, sharded weights\n",
        "  status         done\n",
        "  settings       layers=4\n",
        "  configuration  01234567\n",
        "  CPU time       250.0 ms\n",
        "3206889878  ns ",
        "33.333333333333336  % ",
        "not bytes. The engine printed it rounded.\nnote: collectives of groups smaller"};
    store_row r = row();

    r.strategy.recompute = r.strategy.weight_sharded = r.memory_rounded = true;
    r.settings = "layers=4";
    r.metrics.wall_time = 3206889878;
    r.metrics.mem_util = 33.333333333333336;
    r.metrics.flat_ring_collectives = 5;
    assert_says_that(&r, parts, sizeof parts / sizeof parts[0]);
}

/* Every column that the row's profile has is there, so that a new one needs no change here; costs where they are known. */
CLAIM(every_column_of_its_profile_has_its_line)
{
    size_t n;
    const store_column *c = store_columns(&n);

    for (int training = 0; training < 2; training++) {
        store_row r = row();
        dse_strbuf out;

        r.sizes.training = training;
        dse_strbuf_init(&out);
        report_details_print(&r, &out);
        for (size_t i = 0; i < n; i++) {
            char line[80];

            snprintf(line, sizeof line, "\n%s ", c[i].name);
            assert_int_equal(strstr(out.data, line) != NULL,
                             store_column_has_profile(&c[i], store_row_profile(&r)) &&
                                 !store_column_is_cost(&c[i]));
        }
        assert_int_equal(strstr(out.data, "\nmfu ") != NULL, training);
        assert_int_equal(strstr(out.data, "\nstep_comm_sp ") != NULL, !training);
        dse_strbuf_free(&out);
    }
}

CLAIM(a_failure_has_its_reason_and_no_figures)
{
    static const char *const parts[] = {"  status         failed: rank 3 waits\n",
                                        "  CPU time       unknown\n"};
    store_row r = row();
    dse_strbuf out;

    r.done = false;
    r.error = "rank 3 waits";
    r.seconds = NAN;
    assert_says_that(&r, parts, 2);
    dse_strbuf_init(&out);
    report_details_print(&r, &out);
    assert_null(strstr(out.data, "wall_time"));
    dse_strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_has_every_figure_readable_and_exact),
        cmocka_unit_test(every_column_of_its_profile_has_its_line),
        cmocka_unit_test(a_failure_has_its_reason_and_no_figures),
    };
    return RUN_TESTS(tests);
}
