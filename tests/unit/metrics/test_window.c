#include "unit/metrics/run.h"

/* Data parallel [0,10] and [5,20], tensor parallel [50,60], data parallel [55,70]: in one step dp is 20 + 15
 * us, tp 10. From dp to tp 50 - 20 = 30 us; from tp to dp 55 - 60 = -5. */
static trace_rank *traffic(run *r, uint32_t number)
{
    trace_rank *rank = run_rank(r, number);

    run_step(rank, 0, 0, 100);
    run_comm(rank, "ncclDevKernel_AllGather_RING_LL", 0, 10, 1, 2, "mesh_dp", NULL);
    run_comm(rank, "ncclDevKernel_ReduceScatter_Sum_f16_RING_LL", 5, 20, 2, 1, "mesh_dp", NULL);
    run_comm(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 50, 60, 1, 1, "mesh_tp", NULL);
    run_comm(rank, "ncclDevKernel_AllGather_RING_LL", 55, 70, 1, 2, "mesh_dp", NULL);
    return rank;
}

CLAIM(a_window_is_from_one_classs_end_to_anothers_start)
{
    const metric_value *v;
    run r;

    run_init(&r);
    traffic(&r, 0);
    v = run_metric(&r, "traffic_window");
    assert_value(v, "comm_window_s/dp", 35e-6);
    assert_value(v, "comm_window_s/tp", 10e-6);
    assert_value(v, "comm_window_s/pp", 0);
    assert_value(v, "window_s/dp->tp/count", 1);
    assert_value(v, "window_s/dp->tp/mean", 30e-6);
    assert_value(v, "window_s/tp->dp/p50", -5e-6);
    assert_null(run_get(v, "window_s/dp->dp"));
    run_free(&r);
}

/* The other rank has a second step and so half the time in each: (35 + 17.5) / 2. */
CLAIM(times_are_of_a_step_and_means_over_ranks)
{
    const metric_value *v;
    run r;

    run_init(&r);
    traffic(&r, 0);
    run_step(traffic(&r, 1), 1, 100, 200);
    v = run_metric(&r, "traffic_window");
    assert_value(v, "comm_window_s/dp", 26.25e-6);
    assert_value(v, "window_s/dp->tp/count", 2);
    run_free(&r);
}

CLAIM(without_steps_only_the_windows_are_known)
{
    const metric_value *v;
    run r;

    run_init(&r);
    run_comm(run_rank(&r, 0), "ncclDevKernel_AllGather_RING_LL", 0, 10, 1, 2, "mesh_dp", NULL);
    run_comm(&r.rec.rank[0], "ncclDevKernel_SendRecv", 11, 15, 1, 2, "mesh_pp", NULL);
    v = run_metric(&r, "traffic_window");
    assert_int_equal(run_get(v, "comm_window_s")->kind, METRIC_ABSENT);
    assert_value(v, "window_s/dp->pp/p95", 1e-6);
    run_free(&r);
}

/* An all-reduce that begins in a RedistributeBackward of the first file, its end included, is dp, another tp;
 * gathers and scatters dp. Two such operators and one file: dp (10000 + 10000) / 2 us, tp 5000 / 2, pp 1000 /
 * 2. */
CLAIM(the_original_takes_an_operator_for_the_end_of_a_step)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_event(rank, "cpu_op", "RedistributeBackward", 0, 100, NULL);
    run_event(rank, "cpu_op", "RedistributeBackward", 200, 300, NULL);
    run_kernel(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 100, 10100);
    run_kernel(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 101, 5101);
    run_kernel(rank, "ncclDevKernel_AllGather_RING_LL", 500, 10500);
    run_kernel(rank, "ncclDevKernel_SendRecv", 500, 1500);
    v = run_compat(&r, "traffic_window");
    assert_value(v, "dp_window_sec", 0.01);
    assert_value(v, "tp_window_sec", 0.0025);
    assert_value(v, "pp_window_sec", 0.0005);
    assert_value(v, "other_comm_window_sec", 0);
    assert_value(v, "total_comm_window_sec", 0.013);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_from_one_classs_end_to_anothers_start),
        cmocka_unit_test(times_are_of_a_step_and_means_over_ranks),
        cmocka_unit_test(without_steps_only_the_windows_are_known),
        cmocka_unit_test(the_original_takes_an_operator_for_the_end_of_a_step),
    };
    return RUN_TESTS(tests);
}
