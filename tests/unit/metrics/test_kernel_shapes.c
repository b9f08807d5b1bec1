/* Operators with sizes, the calls that launch kernels, and the kernels, as torch.profiler writes them. */
#include "unit/metrics/run.h"

/* An operator on thread 1 from `ts`, which launches kernel `c` a microsecond after it has begun; the kernel lasts `dur`. */
#define OP(name, ts, dims, types)                                                                            \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts                  \
    ",\"dur\":8,\"args\":{\"Input Dims\":" dims ",\"Input type\":" types "}},"
#define KERNEL(c, ts, dur)                                                                                   \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":" ts    \
    ",\"dur\":1,\"args\":{\"correlation\":" c "}},"                                                          \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1" ts ",\"dur\":" dur        \
    ",\"args\":{\"correlation\":" c ",\"stream\":7}}"

#define MM     "[[100,50],[50,20]]"
#define HALVES "[\"c10::Half\",\"c10::Half\"]"

/* A product 100 x 50 by 50 x 20 has 200,000 operations and (5000 + 1000 + 2000) 2 bytes. It lasts 10 us, then 20 us in two
 * kernels, of which the second adds up: 0.02 and 0.01 TFLOP/s, in the median 15 us. */
CLAIM(kernels_count_with_the_operator_that_launched_them)
{
    const char *events = OP("aten::matmul", "9", MM, HALVES) OP("aten::mm", "10", MM, HALVES)
        KERNEL("1", "11", "10") "," OP("aten::mm", "20", MM, HALVES) KERNEL("2", "21", "15") "," KERNEL(
            "3", "22", "5") "," KERNEL("4", "50", "70"); /* no operator's */
    const metric_value *v;
    run r;

    run_of(&r, &events, 1);
    v = run_metric(&r, "kernel_shapes");
    assert_non_null(v);
    assert_value(v, "tflops_per_s", 400000.0 / 30e6);
    assert_value(v, "attributed", 0.3);
    assert_value(v, "classes/matmul/calls", 2);
    assert_value(v, "classes/matmul/time_ms", 0.03);
    assert_value(v, "classes/matmul/shapes/0/m", 100);
    assert_value(v, "classes/matmul/shapes/0/n", 20);
    assert_value(v, "classes/matmul/shapes/0/k", 50);
    assert_value(v, "classes/matmul/shapes/0/batch", 1);
    assert_value(v, "classes/matmul/shapes/0/median_us", 15);
    assert_value(v, "classes/matmul/shapes/0/operations", 200000);
    assert_value(v, "classes/matmul/shapes/0/bytes", 16000);
    assert_value(v, "classes/matmul/shapes/0/gb_per_s", 16e6 / 15e6);
    assert_null(run_get(v, "classes/matmul/shapes/1"));
    run_free(&r);
}

/* Attention of 2 x 4 heads of 16, 8 tokens: 4 x 8 x 8 x 16 x 8 operations, half of them with --attention causal, 2.5 times
 * backward; q, k, v and the result of 1024 elements of 2 bytes. The layout of FlashAttention has the tokens first. */
CLAIM(each_class_has_its_own_sizes)
{
    const char *events = OP("aten::addmm", "10", "[[20],[100,50],[50,20],[],[]]",
                            "[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]")
        KERNEL("1", "11", "10") "," OP("aten::bmm", "20", "[[3,4,5],[3,5,6]]", HALVES)
            KERNEL("2", "21", "1") "," OP(
                "aten::_scaled_dot_product_flash_attention", "30", "[[2,4,8,16],[2,4,8,16],[2,4,8,16],[],[]]",
                "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\",\"Scalar\"]")
                KERNEL("3", "31", "4") "," OP(
                    "flash_attn::_flash_attn_backward", "40", "[[2,8,4,16],[2,8,4,16],[2,8,4,16],[2,8,4,16]]",
                    "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"]")
                    KERNEL("4", "41", "8") "," OP("aten::add_", "50", "[[10,10],[10],[]]",
                                                  "[\"float\",\"c10::Half\",\"Scalar\"]")
                        KERNEL("5", "51", "2") "," OP("aten::copy_", "60", "[[10,10],[10,10],[]]",
                                                      "[\"float\",\"c10::Half\",\"Scalar\"]")
                            KERNEL("6", "61",
                                   "2") "," OP("aten::embedding", "70", "[[1000,64],[5],[],[],[]]",
                                               "[\"float\",\"long int\",\"Scalar\",\"Scalar\",\"Scalar\"]")
                                KERNEL("7", "71", "2") "," OP("aten::cat", "80", "[[[2,2],[2,2]],[]]",
                                                              "[\"TensorList\",\"Scalar\"]")
                                    KERNEL("8", "81", "2");
    const metric_value *v;
    run r;

    run_of(&r, &events, 1);
    r.options.causal = true;
    v = run_metric(&r, "kernel_shapes");
    assert_value(v, "classes/matmul/shapes/0/bytes", 32000);
    assert_value(v, "classes/attention_product/shapes/0/operations", 2 * 3 * 4 * 5 * 6);
    assert_value(v, "classes/attention/shapes/0/operations", 2 * 8 * 8 * 16 * 8);
    assert_value(v, "classes/attention/shapes/0/bytes", 4 * 1024 * 2);
    assert_value(v, "classes/attention/shapes/0/batch", 8);
    assert_value(v, "classes/attention_backward/shapes/0/operations", 2.5 * 2 * 8 * 8 * 16 * 8);
    assert_value(v, "classes/attention_backward/shapes/0/m", 8);
    assert_value(v, "classes/lookup/shapes/0/bytes", 2 * 5 * 64 * 4 + 5 * 8);
    assert_value(v, "classes/elementwise/calls", 2);
    /* copy_: 100 x (4 + 2); add_: reads 100 x 4 and 10 x 2, writes 100 x 4. Both last 2 us; more bytes come first. */
    assert_value(v, "classes/elementwise/shapes/0/bytes", 820);
    assert_value(v, "classes/elementwise/shapes/1/bytes", 600);
    run_free(&r);
}

CLAIM(without_sizes_it_is_absent)
{
    const char *events = KERNEL("1", "11", "10");
    run r;

    run_of(&r, &events, 1);
    assert_null(run_metric(&r, "kernel_shapes"));
    assert_string_equal(r.err.text,
                        "no operator that launched a kernel says the sizes of its inputs (torch.profiler "
                        "writes them with record_shapes)");
    run_free(&r);
}

/* A simulated product of 100 x 50 by 50 x 20 that lasts 10 us. */
CLAIM(simulated_kernels_say_their_shapes_themselves)
{
    trace_args a;
    trace_rank *rank;
    const metric_value *v;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    trace_args_clear(&a);
    a.kernel_class = run_name(rank, "matmul");
    a.m = 100;
    a.n = 20;
    a.k = 50;
    a.batch = 1;
    run_event(rank, "kernel", "gemm", 0, 10, &a);
    v = run_metric(&r, "kernel_shapes");
    assert_value(v, "tflops_per_s", 0.02);
    assert_null(run_get(v, "classes/matmul/shapes/0/bytes"));
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_count_with_the_operator_that_launched_them),
        cmocka_unit_test(each_class_has_its_own_sizes),
        cmocka_unit_test(without_sizes_it_is_absent),
        cmocka_unit_test(simulated_kernels_say_their_shapes_themselves),
    };

    return RUN_TESTS(tests);
}
