#include "compare/score.h"
#include "unit/unit.h"

/* (12 - 10) / 10 = +0.2; (8 - 10) / 10 = -0.2. */
CLAIM(an_error_is_positive_where_the_simulation_is_too_slow)
{
    assert_double(cmp_error(12, 10), 0.2);
    assert_double(cmp_error(8, 10), -0.2);
    assert_double(cmp_error(10, 10), 0);
}

CLAIM(an_error_relative_to_nothing_cannot_be_said)
{
    assert_true(isnan(cmp_error(1, 0)));
    assert_true(isnan(cmp_error(NAN, 1)));
    assert_true(isnan(cmp_error(1, NAN)));
    assert_true(isnan(cmp_error(NAN, 0)));
    assert_double(cmp_error(0, 0), 0);
    assert_double(cmp_error(0, 4), -1);
}

static const char *names[] = {"step", "mfu", "lag"};
static double weights[] = {3, 1, 0};
static const cmp_weights w = {.path = "w.yaml", .n = 3, .name = names, .weight = weights};

/* |+0.2| with 3 and |-0.4| with 1: (0.6 + 0.4) / 4 = 0.25. */
CLAIM(a_score_is_the_weighted_mean_of_errors_without_their_signs)
{
    const cmp_pair pairs[] = {{.name = "step", .simulated = 12, .measured = 10},
                              {.name = "mfu", .simulated = 6, .measured = 10}};
    size_t used = 9;

    assert_double(cmp_score(pairs, 2, &w, &used), (3 * 0.2 + 0.4) / 4);
    assert_int_equal(used, 2);
}

CLAIM(what_has_no_error_or_no_weight_is_not_in_a_score)
{
    const cmp_pair pairs[] = {{.name = "step", .simulated = NAN, .measured = 10},
                              {.name = "mfu", .simulated = 6, .measured = 10},
                              {.name = "lag", .simulated = 900, .measured = 1},
                              {.name = "other", .simulated = 900, .measured = 1}};
    size_t used;

    assert_double(cmp_score(pairs, 4, &w, &used), 0.4);
    assert_int_equal(used, 1);
}

CLAIM(a_score_of_nothing_cannot_be_said)
{
    const cmp_pair pairs[] = {{.name = "step", .simulated = NAN, .measured = 10},
                              {.name = "lag", .simulated = 2, .measured = 1}};
    size_t used = 9;

    assert_true(isnan(cmp_score(pairs, 2, &w, &used)));
    assert_int_equal(used, 0);
    assert_true(isnan(cmp_score(NULL, 0, &w, &used)));
}

/* Sizes 0.01 0.02 0.05 0.1 0.2 0.3 of +0.2 -0.3 +0.05 -0.02 +0.01 -0.1: sum 0.68, with signs -0.16. Half of 6 is the third,
 * nine tenths, 5.4, the sixth. Four are at most a tenth. */
CLAIM(errors_of_many_are_told_by_what_occurs)
{
    const double error[] = {NAN, 0.2, -0.3, 0.05, -0.02, 0.01, -0.1, NAN};
    cmp_spread s = cmp_spread_of(error, 8);

    assert_int_equal(s.n, 6);
    assert_true(fabs(s.mean - 0.68 / 6) < 1e-15);
    assert_double(s.median, 0.05);
    assert_double(s.p90, 0.3);
    assert_double(s.worst, -0.3);
    assert_int_equal(s.which, 2);
    assert_true(fabs(s.bias + 0.16 / 6) < 1e-15);
    assert_double(s.within, 4.0 / 6);
    s = cmp_spread_of(error, 1);
    assert_int_equal(s.n, 0);
    assert_true(isnan(s.mean) && isnan(s.worst) && isnan(s.within));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_positive_where_the_simulation_is_too_slow),
        cmocka_unit_test(an_error_relative_to_nothing_cannot_be_said),
        cmocka_unit_test(a_score_is_the_weighted_mean_of_errors_without_their_signs),
        cmocka_unit_test(what_has_no_error_or_no_weight_is_not_in_a_score),
        cmocka_unit_test(a_score_of_nothing_cannot_be_said),
        cmocka_unit_test(errors_of_many_are_told_by_what_occurs),
    };
    return RUN_TESTS(tests);
}
