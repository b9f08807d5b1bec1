#include "unit/metrics/run.h"

#include "metrics/glance.h"

static glance look(run *r)
{
    metric_context x;

    run_look(r);
    x = run_context(r);
    return glance_of(&x);
}

/* Of the 100 us of a step [10,40] computes, [40,60] only communicates, [60,70] only copies. */
CLAIM(each_instant_of_the_steps_is_of_one_part)
{
    trace_rank *rank;
    glance g;
    run r;

    run_init(&r);
    rank = run_rank(&r, 3);
    run_step(rank, 0, 0, 100);
    run_kernel(rank, "gemm", 10, 40);
    run_comm(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 30, 60, 1000, 1000, "dp", "[0, 1]");
    run_event(rank, "gpu_memcpy", "Memcpy HtoD", 50, 70, NULL);
    g = look(&r);
    assert_int_equal(g.n_devices, 1);
    assert_int_equal(g.device->number, 3);
    assert_int_equal(g.device->window_ps, 100 * TRACE_PS_PER_US);
    assert_int_equal(g.device->span_ps, 60 * TRACE_PS_PER_US);
    assert_int_equal(g.device->part_ps[GLANCE_COMPUTE], 30 * TRACE_PS_PER_US);
    assert_int_equal(g.device->part_ps[GLANCE_EXPOSED], 20 * TRACE_PS_PER_US);
    assert_int_equal(g.device->part_ps[GLANCE_COPIES], 10 * TRACE_PS_PER_US);
    assert_int_equal(g.device->part_ps[GLANCE_IDLE], 40 * TRACE_PS_PER_US);
    assert_int_equal(g.device->gap_ps, 30 * TRACE_PS_PER_US);
    run_free(&r);
}

static void launched(trace_rank *rank, const char *call, int64_t start, int64_t end, int64_t kernel,
                     uint32_t by)
{
    run_event(rank, "cuda_runtime", call, start, end, NULL);
    rank->event[rank->n_events - 1].correlation = by;
    run_kernel(rank, "gemm", kernel, kernel + 10);
    rank->event[rank->n_events - 1].correlation = by;
}

/* Gaps [10,30]: a synchronisation until 18, then the host until 25, then the launch. [40,50]: launched at
 * 30 already. [60,80]: no launch in the file. */
CLAIM(causes_of_idle_time_are_by_the_launch_of_what_comes_next)
{
    trace_rank *rank;
    glance g;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_step(rank, 0, 0, 90);
    launched(rank, "cudaLaunchKernel", -5, -2, 0, 1);
    run_event(rank, "cuda_runtime", "cudaStreamSynchronize", 2, 18, NULL);
    launched(rank, "cudaLaunchKernel", 22, 25, 30, 2);
    launched(rank, "cudaLaunchKernel", 30, 33, 50, 3);
    run_kernel(rank, "gemm", 80, 90);
    g = look(&r);
    assert_int_equal(g.device->cause_ps[GLANCE_BLOCKED], 8 * TRACE_PS_PER_US);
    assert_int_equal(g.device->cause_ps[GLANCE_HOST], 7 * TRACE_PS_PER_US);
    assert_int_equal(g.device->cause_ps[GLANCE_LAUNCH], 5 * TRACE_PS_PER_US);
    assert_int_equal(g.device->cause_ps[GLANCE_STREAM], 10 * TRACE_PS_PER_US);
    assert_int_equal(g.device->cause_ps[GLANCE_UNTOLD], 20 * TRACE_PS_PER_US);
    assert_int_equal(g.device->part_ps[GLANCE_IDLE], 50 * TRACE_PS_PER_US);
    assert_int_equal(g.blocking.n, 1);
    assert_string_equal(g.blocking.row->name, "cudaStreamSynchronize");
    assert_int_equal(g.blocking.row->most_ps, 16 * TRACE_PS_PER_US);
    run_free(&r);
}

/* Two all-reduces of 1000 bytes in 10 + 30 us: 2 (n - 1)/n is 1 of two ranks, so 2000 bytes in 40 us. */
CLAIM(kernels_and_collectives_add_up_over_ranks)
{
    glance g;
    run r;

    run_init(&r);
    for (uint32_t i = 0; i < 2; i++) {
        trace_rank *rank = run_rank(&r, i);

        run_kernel(rank, "gemm", 0, 50 + i);
        run_comm(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 100, 110 + 20 * i, 1000, 1000, "dp",
                 "[0, 1]");
        rank->args[0].group_size = 2;
    }
    g = look(&r);
    assert_int_equal(g.kernels.n, 2);
    assert_string_equal(g.kernels.row[0].name, "gemm");
    assert_int_equal(g.kernels.row[0].n, 2);
    assert_int_equal(g.kernels.row[0].ps, 101 * TRACE_PS_PER_US);
    assert_int_equal(g.kernels.row[0].least_ps, 50 * TRACE_PS_PER_US);
    assert_int_equal(g.kernels.ps, 141 * TRACE_PS_PER_US);
    assert_int_equal(g.collectives.n, 1);
    assert_string_equal(g.collectives.row->name, "AllReduce");
    assert_string_equal(g.collectives.row->of, "dp");
    assert_int_equal(g.collectives.row->members, 2);
    assert_true(fabs(g.collectives.row->bytes - 1000) < 0.5);
    assert_true(fabs(g.collectives.row->bus_bytes_per_s - 2000 / 40e-6) < 1);
    run_free(&r);
}

/* Copies of one name add up, with the sizes that are given; kernels of one kind of work, too. */
CLAIM(copies_and_kinds_add_up_by_name)
{
    trace_rank *rank;
    trace_args args;
    glance_rows kinds;
    glance g;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    trace_args_clear(&args);
    args.bytes = 3000;
    run_event(rank, "gpu_memcpy", "Memcpy HtoD", 0, 10, &args);
    run_event(rank, "gpu_memcpy", "Memcpy HtoD", 20, 40, &args);
    run_event(rank, "gpu_memset", "Memset", 40, 41, NULL);
    run_kernel(rank, "sgemm_a", 50, 60);
    run_kernel(rank, "sgemm_b", 60, 75);
    run_kernel(rank, "softmax", 75, 80);
    g = look(&r);
    assert_int_equal(g.copies.n, 2);
    assert_string_equal(g.copies.row[0].name, "Memcpy HtoD");
    assert_int_equal(g.copies.row[0].ps, 30 * TRACE_PS_PER_US);
    assert_true(fabs(g.copies.row[0].bytes - 6000) < 0.5);
    assert_true(g.copies.row[1].bytes < 0.5);
    kinds = glance_kinds(&g.kernels, &r.arena);
    assert_int_equal(kinds.n, 2);
    assert_string_equal(kinds.row[0].name, "gemm");
    assert_int_equal(kinds.row[0].n, 2);
    assert_int_equal(kinds.row[0].ps, 25 * TRACE_PS_PER_US);
    run_free(&r);
}

/* The outermost operator of the launching thread, and the class of the innermost module. */
CLAIM(kernels_belong_to_operators_and_modules)
{
    static const char *const events[] = {
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: "
        "Block_0\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":50},"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: "
        "Linear_12\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":20},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::linear\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":10},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::addmm\",\"pid\":1,\"tid\":1,\"ts\":4,\"dur\":8},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":5,"
        "\"dur\":2,"
        "\"args\":{\"correlation\":7}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":30,"
        "\"args\":{\"correlation\":7,\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"other\",\"pid\":0,\"tid\":7,\"ts\":60,\"dur\":5,"
        "\"args\":{\"stream\":7}}"};
    metric_context x;
    glance_rows ops;
    run r;

    run_of(&r, events, 1);
    run_look(&r);
    x = run_context(&r);
    ops = glance_operators(&x);
    assert_int_equal(ops.n, 2);
    assert_string_equal(ops.row[0].name, "aten::linear");
    assert_string_equal(ops.row[0].of, "Linear");
    assert_int_equal(ops.row[0].ps, 30 * TRACE_PS_PER_US);
    assert_string_equal(ops.row[1].name, "(not recorded)");
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instant_of_the_steps_is_of_one_part),
        cmocka_unit_test(causes_of_idle_time_are_by_the_launch_of_what_comes_next),
        cmocka_unit_test(kernels_and_collectives_add_up_over_ranks),
        cmocka_unit_test(copies_and_kinds_add_up_by_name),
        cmocka_unit_test(kernels_belong_to_operators_and_modules),
    };
    return RUN_TESTS(tests);
}
