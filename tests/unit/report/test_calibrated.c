/* A calibration of more parameters than a table has columns. */
#include "report/calibrated.h"

#include "unit/unit.h"

#define P 20 /* four single ones, and bandwidth and latency of eight dimensions */

static double correlation[P * P], one[] = {1};
static cmp_parameter parameter[P];
static cmp_fitted fitted[P];
static double card[P];

/* The table has a column for the name and 15 for parameters, so that 5 of 20 are not there. */
CLAIM(correlations_that_find_no_room_are_counted)
{
    const report_calibrated_run run = {
        .name = "run", .where = "table", .point = "1_1_1_1_0", .measured_s = 1};
    const cmp_fit_result fit = {
        .parameter = fitted, .correlation = correlation, .n_fitted = P, .before = one, .after = one};
    const report_calibrated c = {.system = "s",
                                 .p = P,
                                 .n = 1,
                                 .parameter = parameter,
                                 .card = card,
                                 .fit = &fit,
                                 .run = &run,
                                 .starts = 1};
    dse_strbuf out;

    for (size_t i = 0; i < P; i++) {
        parameter[i] = (cmp_parameter){.name = "x", .unit = "ns", .start = 1, .max = 2};
        fitted[i] = (cmp_fitted){.value = 1, .error = 0.1};
        correlation[i * P + i] = 1;
    }
    dse_strbuf_init(&out);
    report_calibrated_print(&c, &out);
    assert_non_null(strstr(out.data, "\n15  x "));
    assert_null(strstr(out.data, "\n16  x "));
    assert_non_null(strstr(out.data, "\nand 5 more, in the JSON\n"));
    dse_strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(correlations_that_find_no_room_are_counted)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
