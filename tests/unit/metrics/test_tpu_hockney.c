/* Hockney's line of the all-reduces of a GPU trace; test_tpu.c has that of a TPU's operations. */
#include "unit/metrics/run.h"

static run r;

static void all_reduce(trace_rank *rank, int64_t start, int64_t us, uint64_t bytes, uint32_t members)
{
    trace_args a;

    trace_args_clear(&a);
    a.in_elements = a.out_elements = bytes;
    a.dtype = run_name(rank, "Byte");
    a.group_size = members;
    run_event(rank, "kernel", "ncclDevKernel_AllReduce_Sum", start, start + us, &a);
}

static double number(const char *name)
{
    metric_value *v;

    r.err = (dse_error)DSE_ERROR_INIT;
    assert_ok(run_ask(&r, name, &v, &r.err), &r.err);
    return metric_get(v, name)->number;
}

static void is_near(double seen, double expected)
{
    if (!(fabs(seen - expected) < 1e-9 * expected))
        fail_msg("%.17g is not %.17g", seen, expected);
}

/* T = 2(n - 1)(alpha + beta S / n) for n = 2, alpha = 3 us, beta = 1 ns a byte is 6 us + S ns: 7 us of 1,000
 * bytes, 8 us of 2,000. The larger set of another size of group would be another line; those of no known size
 * are left out. */
CLAIM(kernels_that_say_their_size_have_a_latency_and_a_bandwidth)
{
    trace_rank *rank;

    run_init(&r);
    rank = run_rank(&r, 0);
    for (int i = 1; i <= 6; i++)
        all_reduce(rank, 100 * i, 6 + i, 1000 * (uint64_t)i, 2);
    all_reduce(rank, 1000, 50, 4000, 4);
    all_reduce(rank, 1100, 50, 4000, 0);
    run_kernel(rank, "ncclDevKernel_AllReduce_Sum", 1200, 1300);
    is_near(number("hockney_alpha_s"), 3e-6);
    is_near(number("hockney_beta_s_per_byte"), 1e-9);
    is_near(number("hockney_inverse_beta_Bps"), 1e9);
    run_free(&r);
}

CLAIM(kernels_without_a_size_have_no_line)
{
    metric_value *v;

    run_init(&r);
    run_kernel(run_rank(&r, 0), "ncclDevKernel_AllReduce_Sum", 0, 10);
    assert_failure(
        run_ask(&r, "hockney_alpha_s", &v, &r.err), &r.err, DSE_E_ABSENT, "",
        "none of the 1 all-reduces has a size, a time and a group of known size; NCCL kernels do, recorded "
        "with PyTorch 2.2 or newer");
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_say_their_size_have_a_latency_and_a_bandwidth),
        cmocka_unit_test(kernels_without_a_size_have_no_line),
    };
    return RUN_TESTS(tests);
}
