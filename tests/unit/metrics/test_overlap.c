#include "unit/metrics/run.h"

/* Rank 0:  compute [0,100] and [50,150]   communication [120,220] and [200,260] so compute is 150 us,
 * communication 140, both at once [120,150] = 30, exposed 110. Rank 1 does not communicate. */
static void two_ranks(run *r)
{
    trace_rank *rank;

    run_init(r);
    rank = run_rank(r, 0);
    run_kernel(rank, "gemm", 0, 100);
    run_kernel(rank, "gemm", 50, 150);
    run_kernel(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 120, 220);
    run_kernel(rank, "ncclDevKernel_AllGather_RING_LL", 200, 260);
    run_event(rank, "cpu_op", "aten::mm", 0, 130, NULL);
    run_event(rank, "gpu_memcpy", "Memcpy DtoD", 200, 260, NULL);
    rank = run_rank(r, 1);
    run_kernel(rank, "gemm", 0, 50);
}

CLAIM(what_compute_covers_is_measured_on_unions_of_kernels)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    v = run_metric(&r, "comm_comp_overlap");
    assert_value(v, "per_rank/0/comm_time_ms", 0.14);
    assert_value(v, "per_rank/0/comp_time_ms", 0.15);
    assert_value(v, "per_rank/0/overlap_time_ms", 0.03);
    assert_value(v, "per_rank/0/exposed_comm_time_ms", 0.11);
    assert_value(v, "per_rank/0/overlap_ratio_of_comm", 30.0 / 140);
    assert_value(v, "per_rank/0/overlap_ratio_of_comp", 30.0 / 150);
    assert_absent(v, "per_rank/1/overlap_ratio_of_comm");
    assert_value(v, "per_rank/1/overlap_ratio_of_comp", 0);
    run_free(&r);
}

/* A world of one launches no communication kernel; what the host says of its collectives is no time of the
 * GPU. */
CLAIM(annotations_are_no_kernels)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_kernel(rank, "gemm", 0, 100);
    run_event(rank, "user_annotation", "nccl:all_reduce", 20, 60, NULL);
    v = run_metric(&r, "comm_comp_overlap");
    assert_value(v, "per_rank/0/comm_time_ms", 0);
    assert_value(v, "num_comm_kernels", 0);
    assert_absent(v, "overlap_ratio_of_comm");
    v = run_metric(&r, "overlap");
    assert_value(v, "total_comm_kernels", 0);
    assert_absent(v, "avg_overlap_efficiency");
    run_free(&r);
}

CLAIM(a_trace_of_the_host_alone_has_no_overlap)
{
    run r;

    run_init(&r);
    run_event(run_rank(&r, 0), "cpu_op", "aten::mm", 0, 100, NULL);
    assert_null(run_metric(&r, "comm_comp_overlap"));
    assert_non_null(strstr(r.err.text, "rank 0 has no GPU events"));
    run_free(&r);
}

/* The mean leaves out a rank that has no communication; times are sums. */
CLAIM(ratios_are_means_over_the_ranks_that_have_one)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    v = run_metric(&r, "comm_comp_overlap");
    assert_value(v, "overlap_ratio_of_comm", 30.0 / 140);
    assert_value(v, "overlap_ratio_of_comp", 30.0 / 150 / 2);
    assert_value(v, "comp_time_ms", 0.2);
    assert_value(v, "num_comp_kernels", 3);
    run_free(&r);
}

/* Steps [0,100], [100,140], [140,300]: only the second counts. There, compute has [100,140] and communication
 * [120,140]; of kernels, the communication at 120 begins in it. */
CLAIM(the_inner_steps_can_be_looked_at_alone)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    run_step(&r.rec.rank[0], 0, 0, 100);
    run_step(&r.rec.rank[0], 1, 100, 140);
    run_step(&r.rec.rank[0], 2, 140, 300);
    r.options.inner_steps = true;
    assert_null(run_metric(&r, "comm_comp_overlap"));
    assert_non_null(strstr(r.err.text, "rank 1 has no step markers"));
    run_step(&r.rec.rank[1], 0, 0, 100);
    v = run_metric(&r, "comm_comp_overlap");
    assert_value(v, "per_rank/0/comp_time_ms", 0.04);
    assert_value(v, "per_rank/0/comm_time_ms", 0.02);
    assert_value(v, "per_rank/0/overlap_time_ms", 0.02);
    assert_value(v, "per_rank/0/num_comm_kernels", 1);
    assert_value(v, "per_rank/0/num_comp_kernels", 0);
    run_free(&r);
}

/* Compute is gemm 100 + 100 and the operator 130, communication 100 + 60: sums. At once: [120,150]. */
CLAIM(the_original_adds_up_operators_and_kernels)
{
    const metric_value *v;
    run r;

    two_ranks(&r);
    v = run_compat(&r, "comm_comp_overlap");
    assert_value(v, "comp_time_ms", 0.33);
    assert_value(v, "comm_time_ms", 0.16);
    assert_value(v, "overlap_time_ms", 0.03);
    assert_value(v, "overlap_ratio_of_comm", 30.0 / 160);
    assert_value(v, "num_comp_kernels", 3);
    run_free(&r);
}

/* Steps, and what of the kernels lies in them: a thousand spans of 16 bytes each. The result has some dozen
 * entries. */
CLAIM(what_a_metric_works_with_is_gone_when_it_is_done)
{
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    for (int i = 0; i < 1000; i++) {
        run_kernel(rank, i & 1 ? "gemm" : "ncclDevKernel_AllReduce_Sum", 10 * i, 10 * i + 5);
        run_step(rank, i, 10 * i, 10 * i + 10);
    }
    r.options.inner_steps = true;
    assert_value(run_metric(&r, "comm_comp_overlap"), "num_comm_kernels", 499);
    assert_true(r.arena.total_bytes < 8000);
    run_free(&r);
}

/* At first rank 0 says where its threads are and nothing else; then not even that. */
CLAIM(the_original_takes_the_first_file_that_has_anything)
{
    run r;

    run_init(&r);
    trace_extend(run_rank(&r, 0), 0, 0, true);
    run_kernel(run_rank(&r, 1), "gemm", 0, 50);
    assert_value(run_compat(&r, "comm_comp_overlap"), "num_comp_kernels", 0);
    trace_clear_extent(&r.rec.rank[0]);
    assert_value(run_compat(&r, "comm_comp_overlap"), "num_comp_kernels", 1);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_compute_covers_is_measured_on_unions_of_kernels),
        cmocka_unit_test(annotations_are_no_kernels),
        cmocka_unit_test(a_trace_of_the_host_alone_has_no_overlap),
        cmocka_unit_test(ratios_are_means_over_the_ranks_that_have_one),
        cmocka_unit_test(the_inner_steps_can_be_looked_at_alone),
        cmocka_unit_test(the_original_takes_the_first_file_that_has_anything),
        cmocka_unit_test(the_original_adds_up_operators_and_kernels),
        cmocka_unit_test(what_a_metric_works_with_is_gone_when_it_is_done),
    };
    return RUN_TESTS(tests);
}
