#include "unit/metrics/run.h"

/* One all-reduce in four layers, and a reduce-scatter whose annotation has the name that FSDP uses; two
 * steps. */
static void layers(run *r)
{
    trace_rank *rank;

    run_init(r);
    rank = run_rank(r, 0);
    run_step(rank, 0, 0, 50);
    run_step(rank, 1, 50, 100);
    run_event(rank, "cpu_op", "c10d::allreduce_", 0, 10, NULL);
    run_event(rank, "user_annotation", "nccl:all_reduce", 1, 9, NULL);
    run_event(rank, "gpu_user_annotation", "nccl:all_reduce", 20, 30, NULL);
    run_kernel(rank, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 30);
    run_event(rank, "user_annotation", "nccl:_reduce_scatter_base", 31, 32, NULL);
    run_kernel(rank, "ncclKernel_ReduceScatter_RING_LL_Sum", 40, 50);
}

CLAIM(a_collective_counts_once_whatever_layers_report_it)
{
    const metric_value *v;
    run r;

    layers(&r);
    v = run_metric(&r, "coll_call_num");
    assert_value(v, "total_calls", 2);
    assert_value(v, "calls_by_type/AllReduce", 1);
    assert_value(v, "calls_by_type/ReduceScatter", 1);
    assert_value(v, "calls_per_iteration", 1);
    assert_word(v, "per_rank/0/layer", "kernel");
    run_free(&r);
}

/* Five: three layers of the all-reduce that are not kernels, and both kernels. */
CLAIM(the_original_counts_every_layer_that_it_knows_by_name)
{
    const metric_value *v;
    run r;

    layers(&r);
    r.rec.rank[0].path = strdup("traces/rank0_trace.json");
    v = run_compat(&r, "coll_call_num");
    assert_value(v, "total_calls", 5);
    assert_value(v, "calls_by_type/AllReduce", 4);
    assert_value(v, "calls_per_rank/rank0_trace.json", 5);
    assert_value(v, "num_traces", 1);
    run_free(&r);
}

/* Each underscore of all_to_all may lack; a template's arguments may be long, and the algorithm's name ends
 * what is read. */
CLAIM(a_kernels_name_tells_its_collective)
{
    char name[400];

    assert_int_equal(metric_comm_type_of_kernel("mscclKernel_allto_all"), METRIC_ALL_TO_ALL);
    assert_int_equal(metric_comm_type_of_kernel("mscclKernel_all_toall"), METRIC_ALL_TO_ALL);
    assert_int_equal(metric_comm_type_of_kernel("ncclKernel_ReduceScatter_RING_AllReduce"),
                     METRIC_REDUCE_SCATTER);
    memset(name, 'x', sizeof name);
    memcpy(name + 300, "::all_gather_kernel", sizeof "::all_gather_kernel");
    assert_int_equal(metric_comm_type_of_kernel(name), METRIC_ALL_GATHER);
}

CLAIM(annotations_stand_in_for_kernels_and_steps_may_lack)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_kernel(rank, "gemm", 0, 10);
    run_event(rank, "user_annotation", "nccl:all_gather", 1, 9, NULL);
    v = run_metric(&r, "coll_call_num");
    assert_value(v, "calls_by_type/AllGather", 1);
    assert_word(v, "per_rank/0/layer", "user_annotation");
    assert_absent(v, "calls_per_iteration");
    run_free(&r);
}

CLAIM(the_original_passes_over_what_calls_itself_metadata)
{
    run r;

    run_init(&r);
    run_kernel(run_rank(&r, 0), "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 0, 1);
    r.rec.rank[0].path = strdup("traces/rank0_Metadata_trace.json");
    assert_value(run_compat(&r, "coll_call_num"), "total_calls", 0);
    assert_value(run_compat(&r, "coll_call_num"), "num_traces", 0);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collective_counts_once_whatever_layers_report_it),
        cmocka_unit_test(the_original_counts_every_layer_that_it_knows_by_name),
        cmocka_unit_test(a_kernels_name_tells_its_collective),
        cmocka_unit_test(annotations_stand_in_for_kernels_and_steps_may_lack),
        cmocka_unit_test(the_original_passes_over_what_calls_itself_metadata),
    };
    return RUN_TESTS(tests);
}
