#include "unit/metrics/run.h"

/* By description: dp all-gather, 400 bytes come out, 10 us; tp all-reduce, 100 bytes, 20 us. By the card (tp
 * 2, pp 2): the send to [0, 2] is the pipeline's, 50 bytes, 30 us. By its kind: a reduce-scatter of
 * default_pg, 8 bytes, 40 us, is taken for data parallel. A broadcast of default_pg, 2 bytes, 100 us, is
 * unknown. */
static void classes(run *r)
{
    trace_rank *rank;

    run_init(r);
    r->has_card = true;
    r->card.tp = r->card.pp = 2;
    rank = run_rank(r, 0);
    run_comm(rank, "ncclDevKernel_AllGather_RING_LL", 0, 10, 100, 400, "mesh_dp_shard", NULL);
    run_comm(rank, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 10, 30, 100, 100, "mesh_tp", NULL);
    run_comm(rank, "ncclDevKernel_SendRecv", 30, 60, 50, 0, "undefined", "[0, 2]");
    run_comm(rank, "ncclDevKernel_ReduceScatter_Sum_f16_RING_LL", 60, 100, 8, 1, "default_pg",
             "[0, 1, 2, 3]");
    run_comm(rank, "ncclDevKernel_Broadcast_RING_LL", 100, 200, 2, 2, "default_pg", "[0, 1, 2, 3]");
}

CLAIM(traffic_is_told_by_description_then_by_ranks_then_by_kind)
{
    const metric_value *v;
    run r;

    classes(&r);
    v = run_metric(&r, "traffic_distribution");
    assert_value(v, "dp_bytes", 408);
    assert_value(v, "tp_bytes", 100);
    assert_value(v, "pp_bytes", 50);
    assert_value(v, "unknown_bytes", 2);
    assert_value(v, "total_bytes", 560);
    assert_value(v, "fractions/dp", 408.0 / 560);
    assert_value(v, "dp_time_ms", 0.05);
    assert_value(v, "time_fractions/unknown", 0.5);
    assert_value(v, "total_comm_calls", 5);
    assert_value(v, "low_confidence_calls", 1);
    assert_word(v, "confidence", "low");
    assert_value(v, "per_rank/0/pp_bytes", 50);
    run_free(&r);
}

CLAIM(bytes_that_no_event_gives_are_absent_and_time_is_not)
{
    const metric_value *v;
    run r;

    classes(&r);
    run_kernel(&r.rec.rank[0], "ncclDevKernel_AllToAll", 200, 300);
    v = run_metric(&r, "traffic_distribution");
    assert_absent(v, "ep_bytes");
    assert_absent(v, "total_bytes");
    assert_value(v, "ep_time_ms", 0.1);
    assert_value(v, "dp_bytes", 408);
    assert_value(v, "cp_bytes", 0);
    assert_value(v, "calls_without_size", 1);
    run_free(&r);
}

CLAIM(an_unknown_dtype_is_an_error_of_its_event)
{
    const metric_value *v;
    trace_rank *rank;
    trace_args a;
    run r;

    classes(&r);
    rank = &r.rec.rank[0];
    trace_args_clear(&a);
    a.in_elements = a.out_elements = 1000;
    a.dtype = run_name(rank, "QInt4x2");
    a.group_desc = run_name(rank, "mesh_tp");
    run_event(rank, "kernel", "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 300, 310, &a);
    v = run_metric(&r, "traffic_distribution");
    assert_value(v, "calls_of_unknown_dtype", 1);
    assert_value(v, "tp_bytes", 100);
    run_free(&r);
}

CLAIM(a_group_that_the_file_declares_need_not_be_described_by_each_event)
{
    const metric_value *v;
    trace_rank *rank;
    trace_args a;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    trace_args_clear(&a);
    a.group_name = run_name(rank, "7");
    run_event(rank, "kernel", "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 0, 10, &a);
    rank->group = dse_calloc(1, sizeof *rank->group);
    rank->n_groups = rank->cap_groups = 1;
    rank->group[0] = (trace_group){a.group_name, run_name(rank, "mesh_cp"), run_name(rank, "[0, 1]"), 2};
    v = run_metric(&r, "traffic_distribution");
    assert_value(v, "cp_time_ms", 0.01);
    assert_word(v, "confidence", "high");
    run_free(&r);
}

CLAIM(where_no_parallelism_is_known_there_is_no_confidence)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_comm(rank, "ncclDevKernel_Broadcast_RING_LL", 100, 200, 2, 2, "default_pg", "[0, 1, 2, 3]");
    v = run_metric(&r, "traffic_distribution");
    assert_absent_because(v, "confidence", "nothing says which parallelism");
    run_free(&r);
}

CLAIM(without_communication_there_is_no_traffic)
{
    run r;

    run_init(&r);
    run_kernel(run_rank(&r, 0), "gemm", 0, 10);
    assert_null(run_metric(&r, "traffic_distribution"));
    assert_int_equal(r.err.status, DSE_E_ABSENT);
    run_free(&r);
}

/* Names: SendRecv 30 -> pp; ReduceScatter 40 -> dp; all-gather 10, all-reduce 20, broadcast 100 -> unknown;
 * an operator c10d::alltoall_base_ 5 -> ep; a reduce_kernel, which computes, 7 -> unknown. No range:
 * heuristic. */
CLAIM(the_original_adds_times_of_what_is_named_like_communication)
{
    const metric_value *v;
    run r;

    classes(&r);
    run_event(&r.rec.rank[0], "cpu_op", "c10d::alltoall_base_", 0, 5, NULL);
    run_kernel(&r.rec.rank[0], "at::native::reduce_kernel", 300, 307);
    v = run_compat(&r, "traffic_distribution");
    assert_value(v, "pp_bytes", 30);
    assert_value(v, "dp_bytes", 40);
    assert_value(v, "ep_bytes", 5);
    assert_value(v, "tp_bytes", 0);
    assert_value(v, "unknown_bytes", 137);
    assert_value(v, "total_comm_calls", 7);
    assert_word(v, "mode", "heuristic");
    run_free(&r);
}

/* The first range of the file that holds the start decides: [0,35] names tp, [0,5] dp, but later in the file.
 * So all-gather, all-reduce and send are tp (60), the reduce-scatter at 60 is not in any. "ProfilerStep" has
 * ep in it, which makes the mode nvtx but names no class. */
CLAIM(the_original_lets_ranges_decide)
{
    const metric_value *v;
    run r;

    classes(&r);
    run_event(&r.rec.rank[0], "user_annotation", "layer_tp_0", 0, 35, NULL);
    run_event(&r.rec.rank[0], "user_annotation", "dp", 0, 5, NULL);
    run_step(&r.rec.rank[0], 1, 0, 500);
    v = run_compat(&r, "traffic_distribution");
    assert_value(v, "tp_bytes", 60);
    assert_value(v, "dp_bytes", 40);
    assert_value(v, "pp_bytes", 0);
    assert_word(v, "mode", "nvtx");
    run_free(&r);
}

/* Of the operators that start in [10,30]: a send at its very end makes it the pipeline's; in [40,50] an
 * all-reduce and a receive: unknown; in [60,70] an alltoall: the experts'. Operators: send 1 pp, allreduce 1
 * unknown, recv 1 pp, alltoall 1 ep. */
CLAIM(the_original_classes_coalesced_calls_by_the_operators_inside)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_event(rank, "user_annotation", "nccl:coalesced", 10, 30, NULL);
    run_event(rank, "user_annotation", "nccl:coalesced", 40, 50, NULL);
    run_event(rank, "user_annotation", "nccl:coalesced", 60, 70, NULL);
    run_event(rank, "cpu_op", "c10d::send", 30, 31, NULL);
    run_event(rank, "cpu_op", "c10d::allreduce_", 41, 42, NULL);
    run_event(rank, "cpu_op", "c10d::recv_", 43, 44, NULL);
    run_event(rank, "cpu_op", "c10d::alltoall_", 61, 62, NULL);
    v = run_compat(&r, "traffic_distribution");
    assert_value(v, "pp_bytes", 22);
    assert_value(v, "unknown_bytes", 11);
    assert_value(v, "ep_bytes", 11);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_is_told_by_description_then_by_ranks_then_by_kind),
        cmocka_unit_test(bytes_that_no_event_gives_are_absent_and_time_is_not),
        cmocka_unit_test(an_unknown_dtype_is_an_error_of_its_event),
        cmocka_unit_test(a_group_that_the_file_declares_need_not_be_described_by_each_event),
        cmocka_unit_test(where_no_parallelism_is_known_there_is_no_confidence),
        cmocka_unit_test(without_communication_there_is_no_traffic),
        cmocka_unit_test(the_original_adds_times_of_what_is_named_like_communication),
        cmocka_unit_test(the_original_lets_ranges_decide),
        cmocka_unit_test(the_original_classes_coalesced_calls_by_the_operators_inside),
    };
    return RUN_TESTS(tests);
}
