/* Every figure is derived by hand above its check. */
#include "compare/rank.h"
#include "unit/unit.h"

#define NEAR(seen, expected) assert_true(fabs((seen) - (expected)) < 1e-14)

static cmp_item items[16], scratch[32];

static size_t fill(const double *simulated, const double *measured, size_t n)
{
    for (size_t i = 0; i < n; i++)
        items[i] = (cmp_item){simulated[i], measured[i], i};
    return n;
}
#define FILL(simulated, measured)                                                                            \
    fill((const double[])simulated, (const double[])measured,                                                \
         sizeof((const double[])simulated) / sizeof(double))
#define LIST(...)                                                                                            \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

static cmp_pair_counts count(size_t n)
{
    cmp_pair_counts c = {0};

    cmp_count_pairs(items, n, scratch, &c);
    return c;
}

/* 1 2 3 4 against 1 3 2 4: of 6 pairs only (2, 3) is in the opposite order: 5 - 1 = 4; tau = 4 / 6. */
CLAIM(kendall_counts_pairs_in_order_and_out_of_order)
{
    cmp_pair_counts c = count(FILL(LIST(1, 2, 3, 4), LIST(1, 3, 2, 4)));

    assert_double(c.all, 6);
    assert_double(c.tied_simulated, 0);
    assert_double(c.tied_measured, 0);
    assert_double(c.difference, 4);
    NEAR(cmp_tau_b(&c), 2.0 / 3.0);
}

/* Simulated 1 1 2 3, measured 10 20 20 30: (a, b) is tied as simulated, (b, c) as measured; the four others, (a, c), (a, d),
 * (b, d), (c, d), are in order. tau-b = 4 / sqrt((6 - 1) (6 - 1)) = 0.8. */
CLAIM(kendall_leaves_ties_of_a_side_out_of_its_factor)
{
    cmp_pair_counts c = count(FILL(LIST(1, 1, 2, 3), LIST(10, 20, 20, 30)));

    assert_double(c.tied_simulated, 1);
    assert_double(c.tied_measured, 1);
    assert_double(c.difference, 4);
    assert_double(cmp_tau_b(&c), 0.8);
}

/* Two runs equal on both sides: tied on each, and neither in order nor out of it. Of 5, 5, 7 against 2, 2, 1 the two pairs with
 * the third are out of order: -2 / sqrt((3 - 1) (3 - 1)) = -1. */
CLAIM(a_pair_that_is_tied_on_both_sides_is_counted_once_on_each)
{
    cmp_pair_counts c = count(FILL(LIST(5, 5, 7), LIST(2, 2, 1)));

    assert_double(c.tied_simulated, 1);
    assert_double(c.tied_measured, 1);
    assert_double(c.difference, -2);
    assert_double(cmp_tau_b(&c), -1);
}

CLAIM(kendall_adds_groups_up)
{
    cmp_pair_counts c = {0};

    cmp_count_pairs(items, FILL(LIST(1, 2), LIST(1, 2)), scratch, &c);       /* +1 */
    cmp_count_pairs(items, FILL(LIST(1, 2, 3), LIST(3, 2, 1)), scratch, &c); /* -3 */
    assert_double(c.all, 4);
    assert_double(c.difference, -2);
    assert_double(cmp_tau_b(&c), -0.5);
}

/* All 6 * 5 / 2 pairs are out of order; of 4 5 6 1 2 3 the nine with one of each half are, and the six within halves are not. */
CLAIM(kendall_counts_every_pair_that_is_out_of_order)
{
    cmp_pair_counts c = count(FILL(LIST(1, 2, 3, 4, 5, 6), LIST(6, 5, 4, 3, 2, 1)));

    assert_double(c.difference, -15);
    assert_double(cmp_tau_b(&c), -1);
    c = count(FILL(LIST(1, 2, 3, 4, 5, 6), LIST(4, 5, 6, 1, 2, 3)));
    assert_double(c.difference, 6 - 9);
}

/* Against all pairs one by one, of 0 to 15 runs with many ties. */
CLAIM(kendall_counts_as_one_would_by_hand)
{
    uint64_t random = 3;

    for (int round = 0; round < 400; round++) {
        cmp_pair_counts one_by_one = {0}, c;
        size_t n = unit_random(&random) % 16;

        for (size_t i = 0; i < n; i++)
            items[i] = (cmp_item){(double)(unit_random(&random) % 6), (double)(unit_random(&random) % 6), i};
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < i; j++) {
                double a = items[i].simulated - items[j].simulated, b = items[i].measured - items[j].measured;

                one_by_one.all++;
                one_by_one.tied_simulated += a == 0;
                one_by_one.tied_measured += b == 0;
                one_by_one.difference += (a * b > 0) - (a * b < 0);
            }
        }
        c = count(n);
        assert_double(c.all, one_by_one.all);
        assert_double(c.tied_simulated, one_by_one.tied_simulated);
        assert_double(c.tied_measured, one_by_one.tied_measured);
        assert_double(c.difference, one_by_one.difference);
    }
}

CLAIM(kendall_of_nothing_to_order_cannot_be_said)
{
    cmp_pair_counts c = count(0);

    assert_true(isnan(cmp_tau_b(&c)));
    c = count(FILL(LIST(1), LIST(1)));
    assert_true(isnan(cmp_tau_b(&c)));
    c = count(FILL(LIST(2, 2, 2), LIST(1, 2, 3)));
    assert_true(isnan(cmp_tau_b(&c)));
    c = count(FILL(LIST(1, 2, 3), LIST(4, 4, 4)));
    assert_true(isnan(cmp_tau_b(&c)));
}

/* Ranks 1 2 3 4 5 against 2 1 4 3 5: sum of d^2 = 4; rho = 1 - 6 * 4 / (5 * 24) = 0.8. */
CLAIM(spearman_is_one_less_the_squares_of_rank_differences)
{
    assert_double(cmp_spearman(items, FILL(LIST(1, 2, 3, 4, 5), LIST(20, 10, 40, 30, 50)), scratch), 0.8);
    assert_double(cmp_spearman(items, FILL(LIST(1, 2, 3), LIST(7, 8, 100)), scratch), 1);
    assert_double(cmp_spearman(items, FILL(LIST(1, 2, 3), LIST(9, 8, 1)), scratch), -1);
}

/* Simulated 1 1 2 3: ranks 1.5 1.5 3 4, about 2.5: -1 -1 .5 1.5. Measured 1 2 3 4: -1.5 -.5 .5 1.5. Products: 1.5 + .5 + .25 +
 * 2.25 = 4.5; squares 1 + 1 + .25 + 2.25 = 4.5 and 5. rho = 4.5 / sqrt(4.5 * 5) = sqrt(0.9). */
CLAIM(spearman_gives_equal_ones_the_mean_of_their_ranks)
{
    NEAR(cmp_spearman(items, FILL(LIST(1, 1, 2, 3), LIST(1, 2, 3, 4)), scratch), sqrt(0.9));
}

CLAIM(spearman_needs_three_that_are_not_all_equal)
{
    assert_true(isnan(cmp_spearman(items, FILL(LIST(1, 2), LIST(1, 2)), scratch)));
    assert_true(isnan(cmp_spearman(items, FILL(LIST(2, 2, 2), LIST(1, 2, 3)), scratch)));
    assert_true(isnan(cmp_spearman(items, FILL(LIST(1, 2, 3), LIST(2, 2, 2)), scratch)));
}

/* By simulation the order is 12, 10, 15, 11, 20, 8 (measured): the first is 12 / 8 - 1 = 50 % slower than the best, the best of
 * three 10 / 8 - 1 = 25 %, of five the same; the sixth, truly best, would be the sixth choice. */
CLAIM(regret_is_what_the_best_of_the_first_few_costs_more)
{
    double regret[CMP_TOPS];

    cmp_regret(items, FILL(LIST(6, 1, 3, 2, 5, 4), LIST(8, 12, 15, 10, 20, 11)), regret);
    assert_double(regret[0], 0.5);
    assert_double(regret[1], 0.25);
    assert_double(regret[2], 0.25);
    cmp_regret(items, FILL(LIST(1, 2, 3), LIST(4, 5, 6)), regret);
    assert_double(regret[0], 0);
    /* The third and the fifth choice are the first that are better: 8 / 4 - 1, 6 / 4 - 1, 5 / 4 - 1. */
    cmp_regret(items, FILL(LIST(6, 1, 2, 3, 4, 5), LIST(4, 8, 9, 6, 7, 5)), regret);
    assert_double(regret[0], 1);
    assert_double(regret[1], 0.5);
    assert_double(regret[2], 0.25);
}

/* Whoever tries k of k runs has tried the best. */
CLAIM(regret_needs_more_runs_than_are_tried)
{
    double regret[CMP_TOPS];

    cmp_regret(items, FILL(LIST(1), LIST(1)), regret);
    assert_true(isnan(regret[0]));
    cmp_regret(items, FILL(LIST(1, 2, 3), LIST(3, 2, 1)), regret);
    assert_double(regret[0], 2);
    assert_true(isnan(regret[1]));
    cmp_regret(items, FILL(LIST(1, 2, 3, 4, 5), LIST(5, 4, 3, 2, 1)), regret);
    assert_double(regret[1], 2);
    assert_true(isnan(regret[2]));
}

/* Both are simulated at 1 s: the one that the caller has first is picked, wherever it stands here. */
CLAIM(regret_takes_the_earlier_of_equals)
{
    double regret[CMP_TOPS];
    cmp_item later_first[] = {{1, 4, 7}, {1, 2, 3}, {5, 1, 0}};

    cmp_regret(later_first, 3, regret);
    assert_double(regret[0], 1); /* 2 / 1 - 1 */
    later_first[0].index = 2;
    cmp_regret(later_first, 3, regret);
    assert_double(regret[0], 3); /* 4 / 1 - 1 */
}

/* Two things of one work: the first measured as 1 and e^0.2, the second as 3 once. Their means are e^0.1 and 3; deviations from
 * the mean are 0.1 each, of one degree of freedom: sqrt(0.02). Errors of a tenth never turn 1.1 and 3 around. */
CLAIM(repeats_say_what_is_possible)
{
    const cmp_run run[] = {{2, 1, 7}, {2, 3, 7}, {2, exp(0.2), 7}};
    const size_t repeats[] = {0, 1, 0}, none[] = {0, 1, 2};
    dse_arena a;
    cmp_repeats r;

    dse_arena_init(&a);
    r = cmp_merge_repeats(run, repeats, 3, 1, &a);
    assert_int_equal(r.n, 2);
    assert_int_equal(r.n_repeated, 1);
    NEAR(r.run[0].measured, exp(0.1));
    NEAR(r.run[1].measured, 3);
    assert_double(r.count[0], 2);
    NEAR(r.deviation, sqrt(0.02));
    assert_double(r.kendall, 1);
    assert_double(r.regret, 0);
    r = cmp_merge_repeats(run, none, 3, 1, &a);
    assert_int_equal(r.n, 3);
    assert_true(isnan(r.deviation) && isnan(r.kendall));
    dse_arena_free(&a);
}

/* Two things whose times differ by 0.1 in the logarithm, as known as 0.1 allows: with the first measured twice, each is off by
 * 0.1 / sqrt(2) and 0.1, their difference by sqrt(0.015): in the right order with the chance Phi(0.1 / 0.1225) = 0.793, so a
 * tau of 0.586 on average; turned around, the choice loses e^0.1 - 1 with the chance 0.207: 2.2 %. */
CLAIM(noise_limits_what_a_perfect_model_reaches)
{
    const cmp_run run[] = {{2, exp(-0.05 * sqrt(2)), 7}, {2, exp(0.1), 7}, {2, exp(0.05 * sqrt(2)), 7}};
    const size_t repeats[] = {0, 1, 0};
    dse_arena a;
    cmp_repeats r;

    dse_arena_init(&a);
    r = cmp_merge_repeats(run, repeats, 3, 2, &a);
    NEAR(r.deviation, 0.1);
    assert_true(fabs(r.kendall - 0.586) < 0.1);
    assert_true(fabs(r.regret - 0.207 * expm1(0.1)) < 0.006);
    dse_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kendall_counts_pairs_in_order_and_out_of_order),
        cmocka_unit_test(kendall_leaves_ties_of_a_side_out_of_its_factor),
        cmocka_unit_test(a_pair_that_is_tied_on_both_sides_is_counted_once_on_each),
        cmocka_unit_test(kendall_adds_groups_up),
        cmocka_unit_test(kendall_counts_every_pair_that_is_out_of_order),
        cmocka_unit_test(kendall_counts_as_one_would_by_hand),
        cmocka_unit_test(kendall_of_nothing_to_order_cannot_be_said),
        cmocka_unit_test(spearman_is_one_less_the_squares_of_rank_differences),
        cmocka_unit_test(spearman_gives_equal_ones_the_mean_of_their_ranks),
        cmocka_unit_test(spearman_needs_three_that_are_not_all_equal),
        cmocka_unit_test(regret_is_what_the_best_of_the_first_few_costs_more),
        cmocka_unit_test(regret_needs_more_runs_than_are_tried),
        cmocka_unit_test(regret_takes_the_earlier_of_equals),
        cmocka_unit_test(repeats_say_what_is_possible),
        cmocka_unit_test(noise_limits_what_a_perfect_model_reaches),
    };
    return RUN_TESTS(tests);
}
