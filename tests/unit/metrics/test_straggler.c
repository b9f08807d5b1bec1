#include "unit/metrics/run.h"

#define REDUCE "ncclDevKernel_AllReduce_Sum_f16_RING_LL"
#define GATHER "ncclDevKernel_AllGather_RING_LL"

static void both(run *r, const char *name, const char *ranks, int64_t start0, int64_t start1, int64_t end0,
                 int64_t end1)
{
    run_comm(&r->rec.rank[0], name, start0, end0, 1, 1, NULL, ranks);
    run_comm(&r->rec.rank[1], name, start1, end1, 1, 1, NULL, ranks);
}

/* Ranks 0 and 1 of one group. Reduces start at (0, 10) and (100, 130), a gather at (200, 180): lags 10, 30,
 * 20. A second gather is on rank 0 alone. */
static void two_ranks(run *r)
{
    run_init(r);
    run_rank(r, 0);
    run_rank(r, 1);
    both(r, REDUCE, "[0, 1]", 0, 10, 50, 50);
    both(r, REDUCE, "[0, 1]", 100, 130, 150, 150);
    both(r, GATHER, "[0, 1]", 200, 180, 250, 250);
    run_comm(&r->rec.rank[0], GATHER, 260, 270, 1, 1, NULL, "[0, 1]");
}

/* Lags 10, 20, 30: mean and median 20; the 95th percentile is at 0.95 * 2 = 1.9 of them: 20 + 0.9 * 10 = 29.
 * Rank 1 is late by 10, 30 and 0, mean 40/3. */
CLAIM(a_lag_is_from_the_first_start_of_a_collective_to_the_last)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    v = run_metric(&r, "straggler_lag");
    assert_value(v, "num_collectives", 3);
    assert_value(v, "mean_lag_us", 20);
    assert_value(v, "p50_lag_us", 20);
    assert_value(v, "p95_lag_us", 29);
    assert_value(v, "max_lag_us", 30);
    assert_value(v, "min_lag_us", 10);
    assert_value(v, "unmatched/0", 1);
    assert_value(v, "unmatched/1", 0);
    assert_value(v, "per_rank/1/mean_lag_us", 40.0 / 3);
    assert_value(v, "per_rank/1/times_last", 2);
    assert_absent(v, "normalized_lag");
    assert_word(v, "align", "none");
    run_free(&r);
}

/* Steps of 200 us on both: 20 / 200. */
CLAIM(a_lag_is_set_against_the_step)
{
    run r;

    two_ranks(&r);
    run_step(&r.rec.rank[0], 1, 0, 300);
    run_step(&r.rec.rank[1], 1, 0, 100);
    assert_value(run_metric(&r, "straggler_lag"), "normalized_lag", 0.1);
    run_free(&r);
}

/* Groups [0, 1] and [0, 2] run reduces in another order on rank 0 than it seems by counting: only those of
 * one group are compared. Ranks 0 and 2: (20, 25). Rank 1's group [1, 3] has no other rank here. */
CLAIM(collectives_of_different_groups_are_not_mixed)
{
    const metric_value *v;
    run r;

    run_init(&r);
    run_rank(&r, 0);
    run_rank(&r, 1);
    run_comm(run_rank(&r, 2), REDUCE, 25, 40, 1, 1, NULL, "[0, 2]");
    both(&r, REDUCE, "[0, 1]", 0, 3, 10, 10);
    run_comm(&r.rec.rank[0], REDUCE, 20, 40, 1, 1, NULL, "[0, 2]");
    run_comm(&r.rec.rank[1], REDUCE, 20, 30, 1, 1, NULL, "[1, 3]");
    v = run_metric(&r, "straggler_lag");
    assert_value(v, "num_collectives", 2);
    assert_value(v, "min_lag_us", 3);
    assert_value(v, "max_lag_us", 5);
    assert_value(v, "unmatched/1", 1);
    assert_value(v, "unmatched/2", 0);
    run_free(&r);
}

/* Rank 1's clock is 40 us ahead: it ends collectives 40, 40 and 40 after rank 0. Taken off, the lags are 10,
 * 30 and 20 again. The card puts the ranks on two nodes, so that is the default. */
CLAIM(clocks_of_nodes_are_aligned_by_the_ends_of_collectives)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    for (size_t i = 0; i < r.rec.rank[1].n_events; i++)
        r.rec.rank[1].event[i].start_ps += 40 * (int64_t)TRACE_PS_PER_US;
    assert_value(run_metric(&r, "straggler_lag"), "max_lag_us", 70);
    r.has_card = true;
    r.card.count_per_node = 1;
    v = run_metric(&r, "straggler_lag");
    assert_word(v, "align", "end");
    assert_value(v, "per_rank/1/clock_later_by_us", 40);
    assert_value(v, "mean_lag_us", 20);
    r.options.align = 1;
    assert_word(run_metric(&r, "straggler_lag"), "align", "none");
    run_free(&r);
}

/* Times of a file count from its base: rank 1's is a millisecond later, and its times a millisecond less. */
CLAIM(ranks_are_compared_on_the_clock_of_the_trace)
{
    run r;

    two_ranks(&r);
    r.rec.rank[1].base_ns += 1000000;
    for (size_t i = 0; i < r.rec.rank[1].n_events; i++)
        r.rec.rank[1].event[i].start_ps -= TRACE_PS_PER_MS;
    r.rec.rank[1].all_first_ps -= TRACE_PS_PER_MS;
    r.rec.rank[1].all_last_ps -= TRACE_PS_PER_MS;
    assert_value(run_metric(&r, "straggler_lag"), "mean_lag_us", 20);
    assert_value(run_compat(&r, "straggler_lag"), "max_lag_us", 30);
    run_free(&r);
}

/* Rank 1 was recorded a second later, by its clock. Its step of 100 us has 40 of exposed communication, rank
 * 0's 10: own times of 60 and 90 compare nevertheless. */
CLAIM(own_times_need_no_common_clock)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_step(rank, 0, 0, 100);
    run_kernel(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 80, 90);
    rank = run_rank(&r, 1);
    rank->base_ns += 1000000000;
    run_step(rank, 0, 0, 100);
    run_kernel(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 50, 90);
    v = run_metric(&r, "straggler");
    assert_value(v, "per_rank/0/self_time_ms", 0.09);
    assert_value(v, "per_rank/1/self_time_ms", 0.06);
    assert_absent(v, "lag");
    assert_null(run_metric(&r, "straggler_lag"));
    assert_non_null(strstr(r.err.text, "--align end"));
    run_free(&r);
}

/* One counts from its start, the other from 1970: 53 years, of which picoseconds count 106 days. The lags of
 * 30 and less are below what a double of so many microseconds says to nine digits. */
CLAIM(the_original_compares_clocks_however_far_apart_they_are)
{
    run r;

    two_ranks(&r);
    r.rec.rank[1].base_ns += 1683000000000000000;
    assert_value(run_compat(&r, "straggler_lag"), "max_lag_us", 1683000000000000);
    run_free(&r);
}

CLAIM(ranks_without_a_collective_in_common_are_refused)
{
    run r;

    run_init(&r);
    run_comm(run_rank(&r, 0), REDUCE, 0, 10, 1, 1, NULL, "[0, 2]");
    run_comm(run_rank(&r, 1), REDUCE, 0, 10, 1, 1, NULL, "[1, 3]");
    assert_null(run_metric(&r, "straggler_lag"));
    assert_failure(DSE_E_ABSENT, &r.err, DSE_E_ABSENT, "",
                   "no collective is in the traces of two ranks of its group");
    run_free(&r);
}

/* The k-th of any kind: lags 10, 30, and |200 - 180|; the fourth of rank 0 has no partner. n = 3: p50 is
 * sorted[1] = 20, p95 sorted[min(2, 2)] = 30. Ends: 1 s and 270 and 250 us. */
CLAIM(the_original_matches_by_count_and_does_not_interpolate)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    v = run_compat(&r, "straggler_lag");
    assert_value(v, "num_collectives", 3);
    assert_value(v, "p50_lag_us", 20);
    assert_value(v, "p95_lag_us", 30);
    assert_value(v, "num_ranks", 2);
    assert_value(v, "per_rank_end_times_us/0", 1000270);
    assert_value(v, "per_rank_end_times_us/1", 1000250);
    assert_value(v, "normalized_lag", 0);
    run_free(&r);
}

CLAIM(the_original_says_zero_of_one_rank)
{
    const metric_value *v;
    run r;

    run_init(&r);
    run_kernel(run_rank(&r, 0), REDUCE, 0, 10);
    assert_null(run_metric(&r, "straggler_lag"));
    v = run_compat(&r, "straggler_lag");
    assert_value(v, "mean_lag_us", 0);
    assert_value(v, "num_ranks", 1);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lag_is_from_the_first_start_of_a_collective_to_the_last),
        cmocka_unit_test(a_lag_is_set_against_the_step),
        cmocka_unit_test(collectives_of_different_groups_are_not_mixed),
        cmocka_unit_test(clocks_of_nodes_are_aligned_by_the_ends_of_collectives),
        cmocka_unit_test(ranks_are_compared_on_the_clock_of_the_trace),
        cmocka_unit_test(own_times_need_no_common_clock),
        cmocka_unit_test(the_original_compares_clocks_however_far_apart_they_are),
        cmocka_unit_test(ranks_without_a_collective_in_common_are_refused),
        cmocka_unit_test(the_original_matches_by_count_and_does_not_interpolate),
        cmocka_unit_test(the_original_says_zero_of_one_rank),
    };
    return RUN_TESTS(tests);
}
