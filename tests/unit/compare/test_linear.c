#include "compare/linear.h"
#include "unit/unit.h"

/* y = 2 a + 0.5 b + 3, exactly. */
CLAIM(an_exact_line_is_found)
{
    const double x[] = {1, 8, 1, 5, 2, 1, 3, 30, 1, 10, 1, 1}, y[] = {9, 14, 24, 23.5};
    cmp_linear l;

    assert_int_equal(cmp_linear_fit(x, 3, y, 4, &l, NULL), DSE_OK);
    assert_true(fabs(l.c[0] - 2) < 1e-9 && fabs(l.c[1] - 0.5) < 1e-9 && fabs(l.c[2] - 3) < 1e-9);
    assert_true(l.worst < 1e-9);
    assert_double(l.c[3], 0);
}

/* y = 2 a - b / 2: with b at 0 the least squares of relative errors of y / a = 1.5, 1 and 1.75 ... c minimises the sum of (c / r -
 * 1)^2 with r = y / a: c = sum(1/r) / sum(1/r^2). */
CLAIM(what_would_be_negative_is_left_out)
{
    const double x[] = {1, 1, 1, 2, 2, 1}, y[] = {1.5, 1, 3.5};
    const double r[] = {1.5, 1, 1.75};
    double one = 0, two = 0;
    cmp_linear l;

    for (int i = 0; i < 3; i++) {
        one += 1 / r[i];
        two += 1 / (r[i] * r[i]);
    }
    assert_int_equal(cmp_linear_fit(x, 2, y, 3, &l, NULL), DSE_OK);
    assert_true(fabs(l.c[0] - one / two) < 1e-12);
    assert_double(l.c[1], 0);
}

/* Two rows say one number; one row as well. */
CLAIM(few_rows_give_few_columns)
{
    const double x[] = {1, 1, 2, 1}, y[] = {2, 4};
    cmp_linear l;

    assert_int_equal(cmp_linear_fit(x, 2, y, 2, &l, NULL), DSE_OK);
    assert_true(fabs(l.c[0] - 2) < 1e-12);
    assert_double(l.c[1], 0);
    assert_int_equal(cmp_linear_fit(x, 2, y, 1, &l, NULL), DSE_OK);
    assert_int_equal(cmp_linear_fit(x, 2, y, 0, &l, NULL), DSE_E_RANGE);
    assert_int_equal(cmp_linear_fit((const double[]){0, 0}, 1, y, 2, &l, NULL), DSE_E_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_line_is_found),
        cmocka_unit_test(what_would_be_negative_is_left_out),
        cmocka_unit_test(few_rows_give_few_columns),
    };

    return RUN_TESTS(tests);
}
