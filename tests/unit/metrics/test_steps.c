#include "unit/metrics/run.h"

#include "metrics/steps.h"

/* Rank 0: steps of 100, 200, 300 us, the second beginning 10 us after the first; rank 1: one of 400 us. */
static void two_ranks(run *r)
{
    trace_rank *rank;

    run_init(r);
    rank = run_rank(r, 0);
    run_step(rank, 7, 1110, 1310);
    run_step(rank, 6, 1000, 1100);
    run_step(rank, 8, 1310, 1610);
    run_event(rank, "gpu_user_annotation", "ProfilerStep#6", 1050, 1150, NULL);
    rank = run_rank(r, 1);
    run_step(rank, 6, 1000, 1400);
}

/* Rank 0: (100 + 200 + 300) / 3 = 200 us, deviation 100 us; rank 1: 400 us. Mean over ranks 300 us. */
CLAIM(a_step_is_the_mean_over_ranks_of_their_means)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    v = run_metric(&r, "iter_time");
    assert_value(v, "avg_iter_time_ms", 0.3);
    assert_value(v, "per_rank/0/avg_iter_time_ms", 0.2);
    assert_value(v, "per_rank/0/min_iter_time_ms", 0.1);
    assert_value(v, "per_rank/0/max_iter_time_ms", 0.3);
    assert_value(v, "per_rank/0/std_iter_time_ms", 0.1);
    assert_value(v, "per_rank/0/num_iterations", 3);
    assert_value(v, "per_rank/0/gpu_side_step_events_ignored", 1);
    assert_value(v, "per_rank/1/std_iter_time_ms", 0);
    assert_double(run_get(v, "per_rank/0/iter_times_ms")->first->number, 0.1);
    run_free(&r);
}

CLAIM(trimming_drops_the_first_and_the_last_of_more_than_two)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    r.options.trim = true;
    v = run_metric(&r, "iter_time");
    assert_value(v, "per_rank/0/num_iterations", 1);
    assert_value(v, "per_rank/0/avg_iter_time_ms", 0.2);
    assert_value(v, "per_rank/1/avg_iter_time_ms", 0.4);
    run_free(&r);
}

/* The GPU's copy of a step counts, and only the first file: 100, 100, 200, 300 us in the order of start. */
CLAIM(the_original_counts_steps_of_both_sides_of_the_first_file)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    v = run_compat(&r, "iter_time");
    assert_value(v, "num_iterations", 4);
    assert_value(v, "avg_iter_time_ms", 0.175);
    run_free(&r);
}

/* Markers that last no time: starts 0, 40, 100 us by number; differences 40 and 60. */
CLAIM(the_original_takes_differences_where_no_marker_lasts)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_step(rank, 10, 1100, 1100);
    run_step(rank, 9, 1040, 1040);
    run_step(rank, 8, 1000, 1000);
    v = run_compat(&r, "iter_time");
    assert_value(v, "num_iterations", 2);
    assert_double(run_get(v, "iter_times_ms")->first->number, 0.04);
    assert_double(run_get(v, "iter_times_ms")->last->number, 0.06);
    run_free(&r);
}

CLAIM(without_markers_there_is_no_step_time_and_the_original_says_zero)
{
    const metric_value *v;
    run r;

    run_init(&r);
    run_kernel(run_rank(&r, 0), "gemm", 0, 10);
    assert_null(run_metric(&r, "iter_time"));
    assert_int_equal(r.err.status, DSE_E_ABSENT);
    assert_non_null(strstr(r.err.text, "no step markers"));
    v = run_compat(&r, "iter_time");
    assert_value(v, "avg_iter_time_ms", 0);
    assert_null(run_get(v, "iter_times_ms")->first);
    run_free(&r);
}

/* Steps [0,100] and [300,400] with kernels [50,150] and [300,320]: idle 50 and 80 of them, 65 a step. The
 * window of both steps is 400 long, and the GPU works 120 of it. */
CLAIM(time_between_steps_is_no_overhead_of_the_host)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_step(rank, 0, 0, 100);
    run_step(rank, 1, 300, 400);
    run_kernel(rank, "gemm", 50, 150);
    run_kernel(rank, "gemm", 300, 320);
    v = run_metric(&r, "gpu_utilization");
    assert_value(v, "per_rank/0/cpu_overhead_ms_per_step", 0.065);
    assert_value(v, "per_rank/0/step_window_ms", 0.4);
    assert_value(v, "per_rank/0/utilization_of_step_window_pct", 30);
    run_free(&r);
}

/* 100 and 300 bytes in 0 and 4 us: a clock of microseconds rounds short copies down as often as up. */
CLAIM(copies_too_short_for_the_clock_have_copied_too)
{
    const metric_value *v;
    trace_rank *rank;
    trace_args a;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    trace_args_clear(&a);
    a.bytes = 100;
    run_event(rank, "gpu_memcpy", "Memcpy HtoD", 10, 10, &a);
    a.bytes = 300;
    run_event(rank, "gpu_memcpy", "Memcpy HtoD", 20, 24, &a);
    v = run_metric(&r, "gpu_utilization");
    assert_value(v, "per_rank/0/memcpy_bandwidth_GBps", 0.1);
    run_free(&r);
}

/* A timeline of our own begins at 0. */
CLAIM(what_begins_at_the_zero_of_the_clock_is_recorded)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    rank->base_ns = 0;
    run_kernel(rank, "gemm", 0, 30);
    run_kernel(rank, "gemm", 50, 60);
    v = run_metric(&r, "gpu_utilization");
    assert_value(v, "per_rank/0/trace_span_ms", 0.06);
    assert_value(v, "per_rank/0/utilization_of_trace_span_pct", 100 * 40.0 / 60);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_mean_over_ranks_of_their_means),
        cmocka_unit_test(trimming_drops_the_first_and_the_last_of_more_than_two),
        cmocka_unit_test(the_original_counts_steps_of_both_sides_of_the_first_file),
        cmocka_unit_test(the_original_takes_differences_where_no_marker_lasts),
        cmocka_unit_test(without_markers_there_is_no_step_time_and_the_original_says_zero),
        cmocka_unit_test(time_between_steps_is_no_overhead_of_the_host),
        cmocka_unit_test(copies_too_short_for_the_clock_have_copied_too),
        cmocka_unit_test(what_begins_at_the_zero_of_the_clock_is_recorded),
    };
    return RUN_TESTS(tests);
}
