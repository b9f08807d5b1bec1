/* Hockney's fit. With n = 2 members x is S/2 and y is T/2, so points are given doubled. */
#include "metrics/hockney.h"

#include "unit/unit.h"

static void near(double seen, double expected, double tolerance)
{
    if (!(fabs(seen - expected) <= tolerance * fabs(expected)))
        fail_msg("%.17g is not %.17g", seen, expected);
}

static hockney_fit fit(hockney_sample *s, size_t n)
{
    dse_error err = DSE_ERROR_INIT;
    hockney_fit f;

    hockney_sort(s, n);
    assert_ok(hockney_fit_samples(s, n, &f, &err), &err);
    return f;
}

static hockney_sample point(double x, double y) { return (hockney_sample){2 * x, 2 * y, 2}; }

/* T = 2 (n - 1) (alpha + beta S / n), n = 8, alpha = 3 us, beta = 1e-11 s/B, S = 1 to 6 MB. */
CLAIM(times_of_the_model_give_its_parameters)
{
    hockney_sample s[6];
    hockney_fit f;

    for (int k = 0; k < 6; k++)
        s[k] = (hockney_sample){1e6 * (k + 1), 14 * (3e-6 + 1e-11 * 1e6 * (k + 1) / 8), 8};
    f = fit(s, 6);
    near(f.ordinary.alpha, 3e-6, 1e-12);
    near(f.ordinary.beta, 1e-11, 1e-12);
    near(f.ordinary.r2, 1, 1e-12);
    assert_true(f.has_robust);
    near(f.robust.alpha, 3e-6, 1e-9);
    near(f.robust.beta, 1e-11, 1e-9);
    assert_int_equal(f.n, 8);
    assert_int_equal(f.samples, 6);
    assert_int_equal(f.sizes, 6);
}

/* x = 1..5, y = 1 2 3 4 6: means 3 and 3.2; Sxx = 10, Sxy = 4.4 + 1.2 + 0 + 0.8 + 5.6 = 12, so the slope is
 * 1.2 and the intercept -0.4. Residuals 0.2 0 -0.2 -0.4 0.4: their squares sum to 0.4, those of y about its
 * mean to 14.8. s^2 = 0.4 / 3; var(slope) = s^2 / 10, var(intercept) = s^2 (1/5 + 9/10). */
CLAIM(errors_are_those_of_least_squares)
{
    static const double y[] = {1, 2, 3, 4, 6};
    hockney_sample s[5];
    hockney_fit f;

    for (int k = 0; k < 5; k++)
        s[k] = point(k + 1, y[k]);
    f = fit(s, 5);
    near(f.ordinary.alpha, -0.4, 1e-12);
    near(f.ordinary.beta, 1.2, 1e-12);
    near(f.ordinary.alpha_error, sqrt(0.4 / 3 * 1.1), 1e-12);
    near(f.ordinary.beta_error, sqrt(0.4 / 30), 1e-12);
    near(f.ordinary.r2, 1 - 0.4 / 14.8, 1e-12);
}

/* y = 1 + x, but the last of 20 took 50 longer: the ordinary line leans to it, the robust one does not. */
CLAIM(one_late_call_does_not_turn_the_robust_line)
{
    hockney_sample s[20];
    hockney_fit f;

    for (int k = 0; k < 20; k++)
        s[k] = point(k + 1, k + 2 + (k == 19 ? 50 : 0));
    f = fit(s, 20);
    assert_true(f.ordinary.beta > 1.5);
    assert_true(f.has_robust);
    near(f.robust.beta, 1, 1e-3);
    near(f.robust.alpha, 1, 1e-2);
}

CLAIM(times_that_are_all_the_same_explain_nothing)
{
    hockney_sample s[5];
    hockney_fit f;

    for (int k = 0; k < 5; k++)
        s[k] = point(k + 1, 2);
    f = fit(s, 5);
    near(f.ordinary.alpha, 2, 1e-12);
    assert_true(fabs(f.ordinary.beta) < 1e-12);
    assert_true(isnan(f.ordinary.r2));
}

CLAIM(sizes_are_counted_once_each)
{
    hockney_sample s[] = {{8, 1, 4}, {4, 1, 4}, {8, 2, 4}, {4, 1, 2}, {4, 3, 4}};

    hockney_sort(s, 5);
    assert_int_equal(s[0].n, 2);
    assert_int_equal(hockney_sizes(s + 1, 4), 2);
    assert_int_equal(hockney_sizes(s, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_the_model_give_its_parameters),
        cmocka_unit_test(errors_are_those_of_least_squares),
        cmocka_unit_test(one_late_call_does_not_turn_the_robust_line),
        cmocka_unit_test(times_that_are_all_the_same_explain_nothing),
        cmocka_unit_test(sizes_are_counted_once_each),
    };

    return RUN_TESTS(tests);
}
