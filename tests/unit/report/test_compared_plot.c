/* Step times as characters. Both axes go from a power of ten times 1, 2 or 5 to another; 40 columns, 16 rows. */
#include "report/compared_parts.h"
#include "unit/report/compared.h"

static comparison x;

/* From 1 to 10 s a row is a sixteenth of a decade, a column a fortieth. Measured 1 is column 0, 10 the last, 39; sqrt(10) is the
 * middle, column 20 and, simulated, row 8. Simulated 1 is row 0, 10 row 15. Two at (sqrt 10, sqrt 10) are one "2"; ten at (1, 10)
 * one "#". The diagonal of column c is in row floor((c + 1/2) 16 / 40): columns 0 and 1 in row 0, 2 to 4 in row 1, 5 and 6 in
 * row 2, 7 to 9 in row 3, and so on by fives. */
CLAIM(runs_stand_where_their_logarithms_are)
{
    double middle = sqrt(10) * (1 + 1e-9);

    begin_comparison(&x);
    add_run(&x, middle, middle, 0);
    add_run(&x, middle, middle, 0);
    add_run(&x, 1, 1, 0);
    for (int i = 0; i < 10; i++)
        add_run(&x, 10, 1, 0);
    add_run(&x, 1, 10, 0);
    assert_report(compared_plot, &x.c,
                  "   simulated\n"
                  "   10.00 s |#                                    ...\n"
                  "           |                                   ..\n"
                  "           |                                ...\n"
                  "           |                              ..\n"
                  "           |                           ...\n"
                  "           |                         ..\n"
                  "           |                      ...\n"
                  "           |                    2.\n"
                  "           |                 ...\n"
                  "           |               ..\n"
                  "           |            ...\n"
                  "           |          ..\n"
                  "           |       ...\n"
                  "           |     ..\n"
                  "           |  ...\n"
                  "   1.000 s |o.                                     o\n"
                  "           +----------------------------------------\n"
                  "            1.000 s         measured         10.00 s\n"
                  "            o a run, 2 to 9 so many, # more; . as measured\n"
                  "\n");
}

static void assert_range(double a, double b, const char *low, const char *high)
{
    dse_strbuf out, line;

    begin_comparison(&x);
    for (int i = 0; i < 5; i++)
        add_run(&x, a, b, 0);
    dse_strbuf_init(&out);
    dse_strbuf_init(&line);
    compared_plot(&x.c, &out);
    dse_strbuf_addf(&line, "\n            %s ", low);
    assert_non_null(strstr(out.data, line.data));
    dse_strbuf_clear(&line);
    dse_strbuf_addf(&line, " %s\n", high);
    assert_non_null(strstr(out.data, line.data));
    dse_strbuf_free(&line);
    dse_strbuf_free(&out);
}

CLAIM(axes_end_at_round_numbers)
{
    assert_range(0.3, 40, "200.0 ms", "50.00 s");
    assert_range(1, 1, "1.000 s", "2.000 s");
    assert_range(0.2, 0.2, "200.0 ms", "500.0 ms");
    assert_range(6, 9.5, "5.000 s", "10.00 s");
    assert_range(1e-3, 1e-3, "1.000 ms", "2.000 ms");
}

CLAIM(fewer_than_five_runs_are_no_picture)
{
    begin_comparison(&x);
    for (int i = 0; i < 4; i++)
        add_run(&x, 1 + i, 2, 0);
    add_run(&x, NAN, 2, 0);
    assert_report(compared_plot, &x.c, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_stand_where_their_logarithms_are),
        cmocka_unit_test(axes_end_at_round_numbers),
        cmocka_unit_test(fewer_than_five_runs_are_no_picture),
    };
    return RUN_TESTS(tests);
}
