#include "unit/metrics/run.h"

static void kernel(trace_rank *rank, int64_t start, int64_t end, double blocks, double occupancy)
{
    trace_args a;

    trace_args_clear(&a);
    a.blocks_per_sm = blocks;
    a.occupancy_pct = occupancy;
    run_event(rank, "kernel", "gemm", start, end, &a);
}

/* 100 us at 3 blocks (all covered), 300 us at half a block, 50 us that say nothing: (100 * 100 + 300 * 50) /
 * 400 = 62.5 %; occupancy (100 * 40 + 300 * 20) / 400 = 25 %. Without weights 75 %. */
static void two_kernels(run *r)
{
    trace_rank *rank;

    run_init(r);
    rank = run_rank(r, 0);
    kernel(rank, 0, 100, 3, 40);
    kernel(rank, 100, 400, 0.5, 20);
    run_kernel(rank, "gemm", 400, 450);
}

CLAIM(coverage_is_a_mean_by_duration)
{
    const metric_value *v;
    run r;

    two_kernels(&r);
    v = run_metric(&r, "sm");
    assert_value(v, "mean_sm_coverage", 62.5);
    assert_value(v, "mean_est_occupancy", 25);
    assert_value(v, "num_kernels_with_coverage", 2);
    assert_value(run_compat(&r, "mean_sm_coverage"), "mean_sm_coverage", 62.5);
    run_free(&r);
}

CLAIM(the_original_does_not_weight_kernels_of_nsight_systems)
{
    run r;

    two_kernels(&r);
    r.rec.rank[0].kind = TRACE_NSYS;
    assert_value(run_metric(&r, "sm"), "mean_sm_coverage", 62.5);
    assert_value(run_compat(&r, "sm"), "mean_sm_coverage", 75);
    run_free(&r);
}

/* Another rank, 400 us all covered: over all kernels (62.5 + 100) / 2. */
CLAIM(ranks_are_pooled)
{
    const metric_value *v;
    run r;

    two_kernels(&r);
    kernel(run_rank(&r, 1), 0, 400, 1, NAN);
    v = run_metric(&r, "sm");
    assert_value(v, "mean_sm_coverage", 81.25);
    assert_value(v, "per_rank/1/mean_sm_coverage", 100);
    assert_absent(v, "per_rank/1/mean_est_occupancy");
    run_free(&r);
}

CLAIM(kernels_that_say_nothing_have_no_coverage)
{
    run r;

    run_init(&r);
    run_kernel(run_rank(&r, 0), "gemm", 0, 10);
    assert_null(run_metric(&r, "sm"));
    assert_int_equal(r.err.status, DSE_E_ABSENT);
    assert_null(run_compat(&r, "sm"));
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage_is_a_mean_by_duration),
        cmocka_unit_test(the_original_does_not_weight_kernels_of_nsight_systems),
        cmocka_unit_test(ranks_are_pooled),
        cmocka_unit_test(kernels_that_say_nothing_have_no_coverage),
    };
    return RUN_TESTS(tests);
}
