/* Rankings whose crossovers and regrets can be worked out by hand. Values are a / x + b * y: x is a rate, y a time. */
#include "compare/robust.h"
#include "unit/unit.h"

#define MOST      8
#define MOST_P    41
#define X         0
#define Y         1
#define N(values) (sizeof(values) / sizeof(values)[0])

typedef struct {
    double a, b, floor;   /* the value is at least `floor` */
    double x_low, x_high; /* it is ruled out below and above; 0: nowhere */
} candidate;

static dse_arena arena;
static dse_error err;
static const candidate *candidates;
static size_t n_candidates, rate; /* rate: which parameter is x */
static cmp_robust_problem problem;
static cmp_robust_result result;
static size_t n_calls, n_values[MOST], fail_at;
static size_t last_done;
static bool unknown_outside; /* values of what is ruled out are not told */

static double value_of(size_t i, const double *factor, bool has_time)
{
    double v = candidates[i].a / factor[rate] + candidates[i].b * (has_time ? factor[Y] : 1);

    return v < candidates[i].floor ? candidates[i].floor : v;
}

static bool fits(size_t i, const double *factor)
{
    const candidate *c = &candidates[i];

    return !(factor[rate] < c->x_low) && (!(c->x_high > 0) || factor[rate] <= c->x_high);
}

/* Whatever is left out must not be better than all that is asked for. */
static void check_left_out(const double *factor, const size_t *which, size_t n, const cmp_outcome *outcome)
{
    double best = INFINITY;

    for (size_t k = 0; k < n; k++)
        if (outcome[which[k]].fits)
            best = fmin(best, outcome[which[k]].value);
    for (size_t i = 0; i < n_candidates && best < INFINITY; i++)
        assert_true(!fits(i, factor) || value_of(i, factor, problem.p > 1) >= best);
}

static dse_status evaluate(void *user, const double *factor, const size_t *which, size_t n,
                           cmp_outcome *outcome, dse_error *e)
{
    assert_ptr_equal(user, &candidates);
    if (++n_calls == fail_at)
        return dse_fail(e, DSE_E_SIM, "call %zu", n_calls);
    for (size_t k = 0; k < n; k++) {
        size_t i = which[k];

        assert_true(k == 0 || which[k - 1] < i);
        outcome[i] = (cmp_outcome){value_of(i, factor, problem.p > 1), fits(i, factor)};
        if (unknown_outside && !outcome[i].fits)
            outcome[i].value = NAN;
        n_values[i]++;
    }
    check_left_out(factor, which, n, outcome);
    return DSE_OK;
}

static void begin(const candidate *c, size_t n, size_t p)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    candidates = c;
    n_candidates = n;
    rate = X;
    unknown_outside = false;
    n_calls = fail_at = last_done = 0;
    memset(n_values, 0, sizeof n_values);
    problem = (cmp_robust_problem){.n = n,
                                   .p = p,
                                   .evaluate = evaluate,
                                   .user = &candidates,
                                   .spread = 0.1,
                                   .draws = 256,
                                   .seed = 1,
                                   .reach = 10};
}

static void run(void) { assert_ok(cmp_robust(&problem, &arena, &result, &err), &err); }

static void end(void) { dse_arena_free(&arena); }

/* Where the other is ahead, at most 1e-4 beyond the crossover (2e-4 allows for the interval's two ends). */
static void assert_crossover(const cmp_crossover *c, double factor, size_t by)
{
    double beyond = (c->factor - factor) / factor * (factor < 1 ? -1 : 1);

    if (!(beyond >= -1e-12 && beyond < 2e-4) || c->by != by)
        fail_msg("overtaken by %zu at %.9g, not by %zu at %.9g", c->by, c->factor, by, factor);
}

/* At x = y = 1 they have 10, 11, 11, 12. Against the first,
 *   the second:  6/x + 4y = 3/x + 8y   at  x y = 3/4, and is ahead below
 *   the third:   6/x + 4y = 10/x + y   at  x y = 4/3, and is ahead above
 *   the fourth is larger in both terms. */
static const candidate four[] = {{6, 4, 0, 0, 0}, {3, 8, 0, 0, 0}, {10, 1, 0, 0, 0}, {7, 5, 0, 0, 0}};

CLAIM(crossovers_are_where_the_terms_say)
{
    begin(four, N(four), 2);
    run();
    assert_u64(result.winner, 0);
    assert_double(result.value[0], 10);
    assert_double(result.value[3], 12);
    for (size_t k = X; k <= Y; k++) {
        assert_crossover(&result.below[k], 0.75, 1);
        assert_crossover(&result.above[k], 4.0 / 3, 2);
    }
    end();
}

CLAIM(out_of_reach_is_no_crossover)
{
    begin(four, N(four), 2);
    problem.reach = 1.3; /* 1 / 1.3 = 0.77 */
    run();
    for (size_t k = X; k <= Y; k++) {
        assert_true(isnan(result.below[k].factor));
        assert_true(isnan(result.above[k].factor));
    }
    end();
}

/* Within 10 %: x y is between 0.81 and 1.21, so that nobody else ever wins. */
CLAIM(a_winner_that_nobody_reaches_has_no_regret)
{
    begin(four, N(four), 2);
    run();
    assert_u64(result.wins[0], 256);
    assert_double(result.mean_regret, 0);
    assert_double(result.worst_regret, 0);
    assert_double(result.worst_factor[X], 1);
    assert_double(result.worst_factor[Y], 1);
    end();
}

/* Within 30 %: x y is between 0.49 and 1.69; all but the fourth win somewhere. */
CLAIM(a_candidate_that_is_behind_in_every_term_never_wins)
{
    begin(four, N(four), 2);
    problem.spread = 0.3;
    run();
    assert_true(result.wins[0] && result.wins[1] && result.wins[2]);
    assert_u64(result.wins[3], 0);
    assert_u64(result.wins[0] + result.wins[1] + result.wins[2], 256);
    end();
}

/* The worst is where both are at an end, x = y = 0.7: 6/0.7 + 2.8 = 11.371 against 3/0.7 + 5.6 = 9.886, 15.03 %; at
 * x = y = 1.3 it is 9.815 against 8.992, 9.15 %. Of 256 draws one comes near to that corner. */
CLAIM(the_worst_regret_is_told_with_its_factors)
{
    double x, y, winner, best;

    begin(four, N(four), 2);
    problem.spread = 0.3;
    run();
    x = result.worst_factor[X];
    y = result.worst_factor[Y];
    winner = 6 / x + 4 * y;
    best = 3 / x + 8 * y;
    assert_true(x >= 0.7 && x < 0.8 && y >= 0.7 && y < 0.8);
    assert_true(fabs(result.worst_regret - (winner / best - 1)) < 1e-12);
    assert_true(result.worst_regret > 0.10 && result.worst_regret <= 0.1503);
    assert_true(result.mean_regret > 0 && result.mean_regret < result.worst_regret);
    end();
}

/* 10 against 10.5 / x, which is ahead for x > 1.05. ln x is even over ln 0.9 .. ln 1.1, 0.20067 wide:
 *   wins    (ln 1.1 - ln 1.05) / 0.20067 = 0.2318, of 256 draws 59.3
 *   worst   10 / (10.5 / 1.1) - 1 = 0.047619
 *   mean    integral of (x / 1.05 - 1) d ln x from 1.05 to 1.1, / 0.20067
 *           = (0.05 / 1.05 - 0.046520) / 0.20067 = 0.005477 */
static const candidate two[] = {{0, 0, 10, 0, 0}, {10.5, 0, 0, 0, 0}};

static void check_two(void)
{
    assert_in_range(result.wins[1], 58, 61);
    assert_u64(result.wins[0] + result.wins[1], 256);
    assert_true(result.worst_regret > 0.0465 && result.worst_regret <= 0.047620);
    assert_true(fabs(result.mean_regret - 0.005477) < 0.00015);
    assert_true(isnan(result.below[rate].factor));
    assert_crossover(&result.above[rate], 1.05, 1);
    assert_true(fabs(result.worst_factor[rate] - 1.05 * (result.worst_regret + 1)) < 1e-12);
}

CLAIM(draws_are_even_in_the_logarithm)
{
    begin(two, N(two), 1);
    run();
    check_two();
    end();
}

/* 41 parameters are more than the Sobol sequence has. All but the last have no effect; of the 256 parts of its range the
 * hypercube has a draw in each: 59 are above 1.05 and one lies across it. */
CLAIM(beyond_forty_parameters_each_part_of_a_range_has_a_draw)
{
    begin(two, N(two), MOST_P);
    rate = MOST_P - 1;
    run();
    assert_in_range(result.wins[1], 59, 60);
    check_two();
    for (size_t k = 0; k < rate; k++)
        assert_true(isnan(result.below[k].factor) && isnan(result.above[k].factor));
    end();
}

/* From x = 1.2 on the first has 10, as the second always has. */
CLAIM(among_equals_the_first_is_ahead)
{
    static const candidate first[] = {{12, 0, 10, 0, 0}, {0, 0, 10, 0, 0}},
                           second[] = {{0, 0, 10, 0, 0}, {12, 0, 10, 0, 0}};

    begin(first, N(first), 1);
    run();
    assert_u64(result.winner, 1);
    assert_crossover(&result.above[X], 1.2, 0);
    end();
    begin(second, N(second), 1);
    run();
    assert_u64(result.winner, 0);
    assert_true(isnan(result.above[X].factor));
    end();
}

CLAIM(of_two_equal_candidates_the_first_always_wins)
{
    static const candidate same[] = {{6, 4, 0, 0, 0}, {6, 4, 0, 0, 0}};

    begin(same, N(same), 2);
    run();
    assert_u64(result.winner, 0);
    assert_u64(result.wins[0], 256);
    assert_u64(result.wins[1], 0);
    assert_true(isnan(result.below[X].factor) && isnan(result.above[Y].factor));
    end();
}

CLAIM(a_candidate_alone_always_wins)
{
    begin(four, 1, 2);
    run();
    assert_u64(result.wins[0], 256);
    assert_true(isnan(result.below[X].factor));
    assert_u64(n_calls, 257); /* nobody could overtake it: no search evaluates anything */
    end();
}

/* 100 times slower: with factors up to 10 it cannot be ahead. */
CLAIM(what_cannot_win_is_evaluated_once)
{
    static const candidate far[] = {{6, 4, 0, 0, 0}, {3, 8, 0, 0, 0}, {1000, 1, 0, 0, 0}};

    begin(far, N(far), 2);
    run();
    assert_u64(n_values[2], 1);
    assert_true(n_values[1] > 128); /* 1.1 times: in the draws with F^2 above 1.1 / 1.01 */
    end();
}

CLAIM(the_seed_alone_decides_the_draws)
{
    cmp_robust_result first;

    begin(four, N(four), 2);
    problem.spread = 0.3;
    run();
    first = result;
    run();
    assert_double(result.mean_regret, first.mean_regret);
    assert_memory_equal(result.wins, first.wins, N(four) * sizeof *first.wins);
    assert_memory_equal(result.worst_factor, first.worst_factor, 2 * sizeof *first.worst_factor);
    problem.seed = 2;
    run();
    assert_true(result.mean_regret != first.mean_regret);
    assert_true(fabs(result.mean_regret - first.mean_regret) < 0.1 * first.mean_regret);
    end();
}

/* ---- ruled out ------------------------------------------------------------------------------ */

/* The first has 9 and comes in from x = 1.2 on, the second 10 and goes out above x = 2; the third always has 30. */
static const candidate coming_and_going[] = {{0, 0, 9, 1.2, 0}, {0, 0, 10, 0, 2}, {0, 0, 30, 0, 0}};

CLAIM(a_better_one_that_is_ruled_out_does_not_win_until_it_comes_in)
{
    for (int unknown = 0; unknown < 2; unknown++) {
        begin(coming_and_going, N(coming_and_going), 1);
        problem.limited = true;
        unknown_outside = unknown;
        run();
        assert_u64(result.winner, 1);
        assert_double(result.value[0], unknown ? NAN : 9);
        assert_u64(result.wins[1], 256);
        assert_true(isnan(result.below[X].factor));
        assert_crossover(&result.above[X], 1.2, 0);
        end();
    }
}

/* Without the first: nobody else comes near, but above 2 the winner is ruled out. */
CLAIM(a_winner_that_is_ruled_out_has_lost)
{
    for (int unknown = 0; unknown < 2; unknown++) {
        begin(coming_and_going + 1, 2, 1);
        problem.limited = true;
        unknown_outside = unknown;
        run();
        assert_u64(result.winner, 0);
        assert_crossover(&result.above[X], 2, 1);
        end();
        begin(coming_and_going + 1, 1, 1);
        problem.limited = true;
        unknown_outside = unknown;
        run();
        assert_crossover(&result.above[X], 2, CMP_NOBODY);
        end();
    }
}

/* The first fits only up to x = 1.05: of ln 0.9 .. ln 1.1, 0.20067 wide, that is 0.7682, of 256 draws 196.7. The other
 * takes the rest although it is twice as slow, or nobody does. Where the first fits it is the best: no regret. */
CLAIM(draws_in_which_the_winner_is_ruled_out_have_no_regret)
{
    static const candidate brief[] = {{0, 0, 10, 0, 1.05}, {0, 0, 20, 0, 0}};

    begin(brief, 2, 1);
    problem.limited = true;
    run();
    assert_in_range(result.wins[0], 195, 198);
    assert_u64(result.dropped, 256 - result.wins[0]);
    assert_u64(result.wins[1], result.dropped);
    assert_u64(result.nobody, 0);
    assert_double(result.mean_regret, 0);
    assert_double(result.worst_regret, 0);
    end();
    begin(brief, 1, 1);
    problem.limited = true;
    run();
    assert_in_range(result.wins[0], 195, 198);
    assert_u64(result.nobody, 256 - result.wins[0]);
    assert_u64(result.dropped, result.nobody);
    end();
}

CLAIM(nobody_to_begin_with_is_refused)
{
    static const candidate none[] = {{0, 0, 10, 2, 0}};

    begin(none, 1, 1);
    problem.limited = true;
    assert_failure(cmp_robust(&problem, &arena, &result, &err), &err, DSE_E_RANGE, "",
                   "none of the candidates fits");
    end();
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Whichever evaluation fails: of the start, of a draw, of a grid or of a root's. */
CLAIM(a_failure_of_an_evaluation_is_passed_on)
{
    size_t calls;

    begin(four, N(four), 2);
    problem.draws = 4;
    run();
    calls = n_calls;
    assert_true(calls > 1 + 4 + 8);
    for (fail_at = 1; fail_at <= calls; fail_at++) {
        char text[32];

        n_calls = 0;
        result.winner = 4711;
        err = (dse_error)DSE_ERROR_INIT;
        snprintf(text, sizeof text, "call %zu", fail_at);
        assert_failure(cmp_robust(&problem, &arena, &result, &err), &err, DSE_E_SIM, "", text);
        assert_u64(result.winner, 4711);
        assert_u64(n_calls, fail_at); /* and it is the last */
    }
    end();
}

static void progress(void *user, size_t done, size_t total)
{
    assert_ptr_equal(user, &candidates);
    assert_true(done > last_done && done <= total);
    last_done = done;
    assert_true(total > 256);
    if (done == total)
        fail_at = SIZE_MAX; /* seen */
}

/* With crossovers, and without any within reach. */
CLAIM(the_progress_comes_to_its_end)
{
    static const double reach[] = {10, 1.3};

    for (int i = 0; i < 2; i++) {
        begin(four, N(four), 2);
        problem.reach = reach[i];
        problem.progress = progress;
        run();
        assert_true(fail_at == SIZE_MAX);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossovers_are_where_the_terms_say),
        cmocka_unit_test(out_of_reach_is_no_crossover),
        cmocka_unit_test(a_winner_that_nobody_reaches_has_no_regret),
        cmocka_unit_test(a_candidate_that_is_behind_in_every_term_never_wins),
        cmocka_unit_test(the_worst_regret_is_told_with_its_factors),
        cmocka_unit_test(draws_are_even_in_the_logarithm),
        cmocka_unit_test(beyond_forty_parameters_each_part_of_a_range_has_a_draw),
        cmocka_unit_test(among_equals_the_first_is_ahead),
        cmocka_unit_test(of_two_equal_candidates_the_first_always_wins),
        cmocka_unit_test(a_candidate_alone_always_wins),
        cmocka_unit_test(what_cannot_win_is_evaluated_once),
        cmocka_unit_test(the_seed_alone_decides_the_draws),
        cmocka_unit_test(a_better_one_that_is_ruled_out_does_not_win_until_it_comes_in),
        cmocka_unit_test(a_winner_that_is_ruled_out_has_lost),
        cmocka_unit_test(draws_in_which_the_winner_is_ruled_out_have_no_regret),
        cmocka_unit_test(nobody_to_begin_with_is_refused),
        cmocka_unit_test(a_failure_of_an_evaluation_is_passed_on),
        cmocka_unit_test(the_progress_comes_to_its_end),
    };

    return RUN_TESTS(tests);
}
