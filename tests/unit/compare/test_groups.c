/* Values in groups, and where one of a new group lies; all figures by hand. */
#include "compare/groups.h"
#include "unit/unit.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* Means 2, 4, 6: m = 4, s_b = 4. Within (1 + 1) / (6 - 3) = 2/3, and 1/n is 1/2: V = 4/3 x 4 + 1/2 x 2/3 = 17/3, with
 * (17/3)^2 / ((16/3)^2 / 2 + (1/3)^2 / 3) = 289 / (128 + 1/3) degrees of freedom. */
CLAIM(variance_between_groups_and_within_add_up)
{
    const double value[] = {1, 4, 6, 3, 4, 6};
    const uint32_t group[] = {0, 1, 2, 0, 1, 2};
    const cmp_new_group g = cmp_new_group_of(value, group, 6, 3);

    NEAR(g.mean, 4);
    NEAR(g.variance, 17.0 / 3);
    NEAR(g.freedom, 867.0 / 385);
}

/* {1, 3} and {4}: the mean of means is 3, not that of values; s_b = 2, s_w = 2 / (3 - 2), the mean of 1/n 3/4:
 * V = 3/2 x 2 + 1/4 x 2 = 7/2, with (7/2)^2 / (3^2 / 1 + (1/2)^2 / 1) = 49/37. */
CLAIM(each_group_counts_alike)
{
    const double value[] = {1, 3, 4};
    const uint32_t group[] = {0, 0, 1};
    const cmp_new_group g = cmp_new_group_of(value, group, 3, 2);

    NEAR(g.mean, 3);
    NEAR(g.variance, 3.5);
    NEAR(g.freedom, 49.0 / 37);
}

/* The textbook's interval for one more value: s^2 (1 + 1/n), n - 1 degrees of freedom. */
CLAIM(groups_of_one_are_plain_values)
{
    const double value[] = {1, 2, 3};
    const uint32_t group[] = {0, 1, 2};
    const cmp_new_group g = cmp_new_group_of(value, group, 3, 3);

    NEAR(g.variance, 4.0 / 3);
    NEAR(g.freedom, 2);
}

/* Table of t: 2.919986 leaves a twentieth above with 2 degrees of freedom, 6.313752 with one. */
CLAIM(the_interval_is_students)
{
    const cmp_new_group two = {.variance = 4, .freedom = 2}, one = {.variance = 1, .freedom = 1};

    assert_true(fabs(cmp_new_group_half(&two, 0.9) - 2 * 2.919986) < 1e-5);
    assert_true(fabs(cmp_new_group_half(&one, 0.9) - 6.313752) < 1e-5);
}

CLAIM(equal_values_have_no_width)
{
    const double value[] = {2, 2, 2};
    const uint32_t group[] = {0, 1, 1};
    const cmp_new_group g = cmp_new_group_of(value, group, 3, 2);

    assert_double(g.mean, 2);
    assert_double(cmp_new_group_half(&g, 0.9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variance_between_groups_and_within_add_up),
        cmocka_unit_test(each_group_counts_alike),
        cmocka_unit_test(groups_of_one_are_plain_values),
        cmocka_unit_test(the_interval_is_students),
        cmocka_unit_test(equal_values_have_no_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
