/* Every figure is derived by hand above its check. */
#include "compare/score.h"
#include "unit/unit.h"

#define NEAR(seen, expected) assert_true(fabs((seen) - (expected)) < 1e-12)

static const cmp_bootstrap none = {.seed = 1, .resamples = 0}, some = {.seed = 1, .resamples = 1000};
static cmp_summary s;

static void summarize(const cmp_run *runs, size_t n, const cmp_bootstrap *b)
{
    dse_arena arena;

    dse_arena_init(&arena);
    s = cmp_summarize(runs, n, b, &arena);
    dse_arena_free(&arena);
}

static bool is_unknown(const cmp_estimate *e) { return isnan(e->value) && isnan(e->low) && isnan(e->high); }

/* Ratios 2, 1/2 and 1: errors +1, -0.5, 0, their mean without signs 0.5. |ln| is ln 2, ln 2, 0: exp(2/3 ln 2) - 1 = 4^(1/3) - 1.
 * The logarithms cancel: no bias. SS of residuals 1 + 4 + 0 = 5 (2 - 1, 2 - 4, 7 - 7); measured 1, 4, 7 about 4: 18. */
CLAIM(errors_of_several_runs)
{
    const cmp_run runs[] = {{2, 1, 0}, {2, 4, 1}, {7, 7, 2}};

    summarize(runs, 3, &none);
    assert_int_equal(s.n, 3);
    assert_double(s.mape.value, 0.5);
    NEAR(s.geometric.value, cbrt(4) - 1);
    NEAR(s.bias.value, 0);
    NEAR(s.r2.value, 1 - 5.0 / 18);
    assert_int_equal(s.worst, 0);
    assert_double(s.worst_error, 1);
    assert_int_equal(s.n_groups, 0);
    assert_int_equal(s.n_runs, 0);
}

/* 10 % too fast, all of them: bias -0.1; |ln 0.9| = ln(1 / 0.9): 1 / 0.9 - 1. */
CLAIM(bias_is_negative_where_the_simulation_is_too_fast)
{
    const cmp_run runs[] = {{0.9, 1, 0}, {1.8, 2, 0}};

    summarize(runs, 2, &none);
    NEAR(s.bias.value, -0.1);
    NEAR(s.geometric.value, 1 / 0.9 - 1);
}

CLAIM(the_worst_is_the_first_of_equals_and_keeps_its_sign)
{
    const cmp_run runs[] = {{11, 10, 0}, {5, 10, 0}, {15, 10, 1}};

    summarize(runs, 3, &none);
    assert_int_equal(s.worst, 1);
    assert_double(s.worst_error, -0.5);
}

CLAIM(r2_needs_three_runs_that_differ)
{
    const cmp_run two[] = {{1, 1, 0}, {2, 2, 0}}, equal[] = {{1, 3, 0}, {2, 3, 0}, {3, 3, 0}};

    summarize(two, 2, &some);
    assert_true(is_unknown(&s.r2));
    summarize(equal, 3, &some);
    assert_true(is_unknown(&s.r2));
}

/* Group 5: 4 runs, simulated 1 2 3 4, measured 1 3 2 4: rho = 1 - 6 * 2 / 60 = 0.8, and of 6 pairs one is out of order.
 * Group 9: 3 runs in reverse: rho -1, 3 pairs out of order. Group 2: two runs in order, too few for rho. 7: one run.
 * rho = (4 * 0.8 - 3 * 1) / 7; tau = (5 - 1 - 3 + 1) / (6 + 3 + 1).
 * Regret of the best: 0 (group 5), 3 / 1 - 1 = 2 (group 9), 0 (group 2): mean 2/3, worst 2. Of three only group 5 has more: 0. */
CLAIM(ranks_and_regret_are_taken_within_groups)
{
    const cmp_run runs[] = {{1, 1, 5}, {1, 3, 9}, {2, 3, 5}, {100, 1, 7}, {3, 2, 5},
                            {2, 2, 9}, {8, 4, 2}, {4, 4, 5}, {9, 5, 2},   {3, 1, 9}};

    summarize(runs, 10, &none);
    assert_int_equal(s.n_groups, 3);
    assert_int_equal(s.n_runs, 9);
    NEAR(s.spearman.value, (4 * 0.8 - 3) / 7);
    assert_int_equal(s.spearman_groups, 2);
    NEAR(s.kendall.value, 0.2);
    NEAR(s.regret[0].value, 2.0 / 3);
    assert_double(s.worst_regret[0], 2);
    assert_int_equal(s.regret_groups[0], 3);
    assert_double(s.regret[1].value, 0);
    assert_int_equal(s.regret_groups[1], 1);
    assert_true(is_unknown(&s.regret[2]));
    assert_true(isnan(s.worst_regret[2]));
    assert_int_equal(s.regret_groups[2], 0);
}

/* What is simulated equal is not ordered: such a group says nothing of rho, and is not in its mean. */
CLAIM(a_group_that_is_simulated_equal_has_no_rank_correlation)
{
    const cmp_run runs[] = {{1, 1, 0}, {1, 2, 0}, {1, 3, 0}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}};

    summarize(runs, 6, &none);
    assert_double(s.spearman.value, 1);
    assert_int_equal(s.spearman_groups, 1);
    summarize(runs, 3, &none);
    assert_true(isnan(s.spearman.value));
    assert_true(isnan(s.kendall.value));
    assert_double(s.regret[0].value, 0); /* the first of equals happens to be the best */
}

CLAIM(of_no_runs_nothing_can_be_said)
{
    summarize(NULL, 0, &some);
    assert_int_equal(s.n, 0);
    assert_true(is_unknown(&s.mape) && is_unknown(&s.geometric) && is_unknown(&s.bias) && is_unknown(&s.r2));
    assert_true(is_unknown(&s.spearman) && is_unknown(&s.kendall) && isnan(s.worst_error));
    for (int t = 0; t < CMP_TOPS; t++)
        assert_true(is_unknown(&s.regret[t]) && isnan(s.worst_regret[t]));
}

CLAIM(one_run_has_errors_without_an_interval)
{
    const cmp_run run = {3, 2, 0};

    summarize(&run, 1, &some);
    assert_double(s.mape.value, 0.5);
    NEAR(s.bias.value, 0.5);
    assert_true(isnan(s.mape.low) && isnan(s.mape.high));
    assert_true(is_unknown(&s.kendall) && is_unknown(&s.regret[0]));
}

/* ---- intervals ------------------------------------------------------------------------------ */

CLAIM(without_resamples_there_are_no_intervals)
{
    const cmp_run runs[] = {{11, 10, 0}, {13, 10, 0}};

    summarize(runs, 2, &none);
    assert_double(s.mape.value, (0.1 + 0.3) / 2);
    assert_true(isnan(s.mape.low) && isnan(s.mape.high));
}

/* Two draws from errors 1/4 and 3/4: 1/4, 1/2, 3/4 with probabilities 1/4, 1/2, 1/4: both ends are far beyond 2.5 %. Whether the
 * two are choices for the same work or each is alone, they are drawn from among each other. */
CLAIM(an_interval_of_two_runs_spans_both)
{
    const cmp_run together[] = {{5, 4, 0}, {7, 4, 0}}, alone[] = {{5, 4, 0}, {7, 4, 1}};

    summarize(together, 2, &some);
    assert_double(s.mape.value, 0.5);
    assert_double(s.mape.low, 0.25);
    assert_double(s.mape.high, 0.75);
    summarize(alone, 2, &some);
    assert_double(s.mape.low, 0.25);
    assert_double(s.mape.high, 0.75);
}

/* Each group has two runs of the same error: whatever is drawn, one half has 1/4 and the other 3/4. */
CLAIM(groups_keep_their_sizes_in_every_resample)
{
    const cmp_run runs[] = {{5, 4, 0}, {10, 8, 0}, {7, 4, 1}, {14, 8, 1}};

    summarize(runs, 4, &some);
    assert_double(s.mape.value, 0.5);
    assert_double(s.mape.low, 0.5);
    assert_double(s.mape.high, 0.5);
}

/* Of n runs in one group a resample is n times the same one with probability n^(1 - n): 1/9 of 3, 1/64 of 4; the limit is 1/20.
 * Kendall of 2: one half. Regret has a value in any resample. */
CLAIM(an_interval_that_many_resamples_lack_cannot_be_said)
{
    const cmp_run runs[] = {{1, 1, 0}, {2, 3, 0}, {3, 2, 0}, {4, 4, 0}};

    summarize(runs, 2, &some);
    assert_double(s.kendall.value, 1);
    assert_true(isnan(s.kendall.low) && isnan(s.kendall.high));
    summarize(runs, 3, &some);
    assert_double(s.spearman.value, 0.5);
    assert_true(isnan(s.spearman.low) && isnan(s.spearman.high));
    assert_true(s.regret[0].low >= 0);
    summarize(runs, 4, &some);
    assert_true(s.spearman.low < 0.8 && s.spearman.high == 1);
}

#define MANY 40

/* Forty runs in eight groups and four alone, by splitmix64; step times are all different. */
static void make_many(cmp_run runs[MANY])
{
    uint64_t state = 5;

    for (uint32_t i = 0; i < MANY; i++) {
        runs[i].measured = 1 + (double)(unit_random(&state) >> 11) * 0x1p-53;
        runs[i].simulated = runs[i].measured * (0.8 + 0.4 * (double)(unit_random(&state) >> 11) * 0x1p-53);
        runs[i].group = i < 4 ? 100 + i : i % 8;
    }
}

CLAIM(the_same_seed_gives_the_same_bytes_and_another_one_other_intervals)
{
    const cmp_bootstrap other = {.seed = 2, .resamples = 1000};
    cmp_run runs[MANY];
    cmp_summary first;

    make_many(runs);
    summarize(runs, MANY, &some);
    first = s;
    summarize(runs, MANY, &some);
    assert_memory_equal(&first, &s, sizeof s);
    summarize(runs, MANY, &other);
    assert_double(s.mape.value, first.mape.value);
    assert_true(s.mape.low != first.mape.low && s.mape.high != first.mape.high);
    assert_true(s.mape.low < s.mape.value && s.mape.value < s.mape.high);
}

CLAIM(neither_the_order_of_the_runs_nor_the_numbers_of_groups_matter)
{
    cmp_run runs[MANY], shuffled[MANY];
    cmp_summary first;
    uint64_t random = 9;

    make_many(runs);
    summarize(runs, MANY, &some);
    first = s;
    memcpy(shuffled, runs, sizeof runs);
    for (size_t i = MANY - 1; i > 0; i--) {
        size_t j = unit_random(&random) % (i + 1);
        cmp_run swap = shuffled[i];

        shuffled[i] = shuffled[j];
        shuffled[j] = swap;
    }
    for (size_t i = 0; i < MANY; i++)
        shuffled[i].group = 1000003u - shuffled[i].group * 77u;
    summarize(shuffled, MANY, &some);
    assert_double(shuffled[s.worst].measured, runs[first.worst].measured);
    s.worst = first.worst;
    assert_memory_equal(&first, &s, sizeof s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_several_runs),
        cmocka_unit_test(bias_is_negative_where_the_simulation_is_too_fast),
        cmocka_unit_test(the_worst_is_the_first_of_equals_and_keeps_its_sign),
        cmocka_unit_test(r2_needs_three_runs_that_differ),
        cmocka_unit_test(ranks_and_regret_are_taken_within_groups),
        cmocka_unit_test(a_group_that_is_simulated_equal_has_no_rank_correlation),
        cmocka_unit_test(of_no_runs_nothing_can_be_said),
        cmocka_unit_test(one_run_has_errors_without_an_interval),
        cmocka_unit_test(without_resamples_there_are_no_intervals),
        cmocka_unit_test(an_interval_of_two_runs_spans_both),
        cmocka_unit_test(groups_keep_their_sizes_in_every_resample),
        cmocka_unit_test(an_interval_that_many_resamples_lack_cannot_be_said),
        cmocka_unit_test(the_same_seed_gives_the_same_bytes_and_another_one_other_intervals),
        cmocka_unit_test(neither_the_order_of_the_runs_nor_the_numbers_of_groups_matter),
    };
    return RUN_TESTS(tests);
}
