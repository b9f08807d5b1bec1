/* The guide's metrics of tests/data/traces/fsdp_two_ranks; its README has the times and derives what follows
 * from them. */
#include "unit/metrics/run.h"

#define OPEN(name, compat)                                                                                   \
    run t;                                                                                                   \
    const metric_value *v;                                                                                   \
                                                                                                             \
    run_load(&t, "fsdp_two_ranks", 2);                                                                       \
    v = (compat) ? run_compat(&t, (name)) : run_metric(&t, (name))

/* ---- overlap ------------------------------------------------------------------------------- */

/* Two steps: 900 us of compute on both ranks; 400 and 200 of communication, 200 and 100 of it covered. */
CLAIM(overlap_is_of_unions_and_means_are_over_ranks)
{
    OPEN("overlap", false);

    assert_value(v, "avg_compute_time_ms", 0.9);
    assert_value(v, "avg_communication_time_ms", 0.3);
    assert_value(v, "avg_overlap_time_ms", 0.15);
    assert_value(v, "avg_overlap_efficiency", 50);
    assert_value(v, "per_rank/0/overlap_efficiency", 50);
    assert_value(v, "per_rank/1/overlap_efficiency", 50);
    /* 1100 to 2900 less twice 550; 1150 to 2900 less twice 500 */
    assert_value(v, "per_rank/0/bubble_time_ms", 0.7);
    assert_value(v, "per_rank/1/bubble_time_ms", 0.75);
    assert_value(v, "total_compute_kernels", 12);
    assert_value(v, "total_comm_kernels", 8);
    run_free(&t);
}

/* 700 of 1800, 750 of 1750: 38.888..., 42.857... */
CLAIM(overlap_compat_rounds_percentages)
{
    OPEN("overlap", true);

    assert_value(v, "per_rank_stats/0/bubble_percentage", 38.89);
    assert_value(v, "per_rank_stats/1/bubble_percentage", 42.86);
    assert_string_equal(run_get(v, "per_rank_stats/1/rank")->text, "rank1_trace");
    assert_value(v, "avg_bubble_time_ms", 0.72); /* 0.725, which doubles have as 0.72499... */
    run_free(&t);
}

/* ---- kernel -------------------------------------------------------------------------------- */

/* Of rank 0: 2 (200 + 200) gemm, 2 (100 + 100) communication, 2 * 50 elementwise: 1300. Rank 1 has 200
 * less. */
CLAIM(communication_is_no_reduction)
{
    OPEN("kernel", false);

    assert_value(v, "per_rank/0/total_kernel_time_ms_sum", 1.3);
    assert_value(v, "per_rank/0/launches", 10);
    assert_value(v, "per_rank/0/unique_names", 4);
    assert_value(v, "per_rank/0/by_type/nccl/count", 4);
    assert_value(v, "per_rank/0/by_type/nccl/time_ms_sum", 0.4);
    assert_value(v, "per_rank/0/by_type/gemm/time_ms_sum", 0.8);
    assert_value(v, "per_rank/0/by_type/elementwise/time_ms_sum", 0.1);
    assert_null(run_get(v, "per_rank/0/by_type/reduction"));
    assert_value(v, "type_breakdown/nccl/avg_time_ms", 0.3);
    assert_value(v, "type_breakdown/gemm/avg_percentage", 1600 * 100.0 / 2400);
    run_free(&t);
}

/* gemm 1600 of both ranks, then 300 each of all-gather and reduce-scatter, the earlier one first. */
CLAIM(top_kernels_are_of_all_ranks_and_keep_their_names)
{
    OPEN("kernel", false);

    assert_string_equal(run_get(v, "top_kernels/0/name")->text, "ampere_bf16_s16816gemm_bf16_128x128");
    assert_value(v, "top_kernels/0/count", 8);
    assert_value(v, "top_kernels/0/total_time_ms", 1.6);
    assert_value(v, "top_kernels/0/avg_time_us", 200);
    assert_string_equal(run_get(v, "top_kernels/1/name")->text,
                        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    assert_value(v, "top_kernels/1/total_time_ms", 0.3);
    assert_null(run_get(v, "top_kernels/4"));
    run_free(&t);
}

/* ReduceScatter_Sum is a reduction there, AllGather is nccl; names end after 80 characters. */
CLAIM(kernel_compat_tries_reductions_first)
{
    OPEN("kernel", true);

    assert_value(v, "per_rank_stats/0/type_breakdown/reduction/total_time_ms", 0.2);
    assert_value(v, "per_rank_stats/0/type_breakdown/nccl/total_time_ms", 0.2);
    assert_value(v, "per_rank_stats/0/type_breakdown/gemm/percentage", 61.54); /* 800 of 1300 */
    assert_string_equal(
        run_get(v, "top_kernels/3/name")->text,
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<fl...");
    run_free(&t);
}

/* ---- gpu_utilization ----------------------------------------------------------------------- */

/* Twice 550 of kernels and 20 of copies from 1100 to 2940; in the steps' 2000 us as much. */
CLAIM(utilization_is_of_the_span_the_steps_and_the_recording)
{
    OPEN("gpu_utilization", false);

    assert_value(v, "per_rank/0/gpu_span_ms", 1.84);
    assert_value(v, "per_rank/0/busy_time_ms", 1.14);
    assert_value(v, "per_rank/0/idle_time_ms", 0.7);
    assert_value(v, "per_rank/0/memory_op_busy_ms", 0.04);
    assert_value(v, "per_rank/0/compute_busy_ms", 0.9);
    assert_value(v, "per_rank/0/utilization_of_gpu_span_pct", 114 * 100.0 / 184);
    assert_value(v, "per_rank/0/trace_span_ms", 2);
    assert_value(v, "per_rank/0/utilization_of_trace_span_pct", 57);
    assert_value(v, "per_rank/0/utilization_of_step_window_pct", 57);
    assert_value(v, "per_rank/0/cpu_overhead_ms_per_step", 0.43);
    assert_value(v, "per_rank/0/memcpy_bandwidth_GBps", 0.1); /* 2000 bytes in 20 us */
    assert_string_equal(run_get(v, "device_info/compute_capability")->text, "8.0");
    assert_value(v, "device_info/total_memory_gb", 40);
    run_free(&t);
}

CLAIM(utilization_compat_divides_by_the_recording)
{
    OPEN("gpu_utilization", true);

    assert_value(v, "per_rank_stats/0/kernel_utilization_pct", 55);
    assert_value(v, "per_rank_stats/0/memcpy_utilization_pct", 2);
    assert_value(v, "per_rank_stats/0/idle_percentage", 43);
    assert_value(v, "avg_idle_percentage", 45.5); /* rank 1: 520 of 1000 */
    assert_value(v, "avg_memcpy_ops", 2);
    run_free(&t);
}

/* ---- communication ------------------------------------------------------------------------- */

CLAIM(bandwidths_are_sums_over_sums)
{
    OPEN("communication", false);

    assert_value(v, "per_rank/0/union_ms_all", 0.4);
    assert_value(v, "per_rank/0/time_sum_ms_by_type/AllGather", 0.2);
    assert_value(v, "per_rank/0/count_by_type/ReduceScatter", 2);
    assert_value(v, "per_rank/0/input_bytes_by_type/AllGather", 4000);     /* 2 of 1000 elements of 2 bytes */
    assert_value(v, "per_rank/0/input_bytes_by_type/ReduceScatter", 8000); /* 2 of 2000 */
    assert_value(v, "per_rank/0/bytes_by_type/AllGather", 8000);           /* what comes out */
    assert_value(v, "per_rank/0/algorithm_bandwidth_GBps_by_type/AllGather", 0.04);
    assert_value(v, "per_rank/0/bus_bandwidth_GBps_by_type/AllGather", 0.02);
    assert_value(v, "per_rank/1/bus_bandwidth_GBps_by_type/AllGather", 0.04);
    /* of both ranks: half of 16000 bytes in 300 us */
    assert_value(v, "bus_bandwidth_GBps_by_type/AllGather", 8000.0 / 300e3);
    assert_value(v, "per_rank/0/percentage_of_gpu_span", 400 * 100.0 / 1840);
    assert_value(v, "per_rank/0/calls_per_step", 2);
    assert_value(v, "per_rank/0/kernels_with_size", 4);
    run_free(&t);
}

/* Of the all-gather's [100, 200] compute covers [150, 200]; on rank 1 all that is left of it. */
CLAIM(prefetch_efficiency_is_the_share_of_all_gathers_under_compute)
{
    OPEN("communication", false);

    assert_value(v, "per_rank/0/prefetch_efficiency_pct", 50);
    assert_value(v, "per_rank/1/prefetch_efficiency_pct", 100);
    assert_value(v, "prefetch_efficiency_pct", 75);
    run_free(&t);
}

/* FSDP::all_gather 40 and fsdp::all_gather_copy_in 10 a step: 100 of 2000 us. The kernels stand beside it. */
CLAIM(communication_compat_adds_up_the_host)
{
    OPEN("communication", true);

    assert_value(v, "total_communication_time_ms", 0.1);
    assert_value(v, "total_communication_count", 4);
    assert_value(v, "communication_percentage", 5);
    assert_value(v, "per_operation_stats/all_gather/total_count", 8);
    assert_value(v, "per_operation_stats/all_gather_kernel/min_rank_time_ms", 0.1);
    assert_value(v, "per_operation_stats/reduce_scatter_kernel/max_rank_time_ms", 0.2);
    assert_null(run_get(v, "per_operation_stats/reduce_scatter"));
    run_free(&t);
}

static const char plain[] =
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":5}";

CLAIM(what_needs_sizes_is_absent_without_them)
{
    char event[256];
    run t;
    const metric_value *v;

    snprintf(event, sizeof event, plain, "ncclDevKernel_AllReduce_Sum_f16_RING_LL");
    run_of(&t, (const char *const[]){event}, 1);
    v = run_metric(&t, "communication");
    assert_value(v, "per_rank/0/time_union_ms_by_type/AllReduce", 0.005);
    assert_absent_because(v, "per_rank/0/input_bytes_by_type", "no kernel says its size");
    assert_absent_because(v, "bus_bandwidth_GBps_by_type", "no kernel says its size");
    assert_absent_because(v, "per_rank/0/calls_per_step", "no step markers");
    assert_absent_because(v, "prefetch_efficiency_pct", "no all-gather");
    run_free(&t);
}

CLAIM(a_run_without_communication_has_none_of_it)
{
    char event[256];
    run t;
    const metric_value *v;

    snprintf(event, sizeof event, plain, "sgemm");
    run_of(&t, (const char *const[]){event}, 1);
    v = run_metric(&t, "communication");
    assert_value(v, "per_rank/0/union_ms_all", 0);
    assert_value(v, "total_communication_count", 0);
    assert_absent_because(v, "bytes_by_type", "no communication");
    v = run_metric(&t, "overlap");
    assert_absent_because(v, "avg_overlap_efficiency", "no communication");
    assert_absent_because(v, "per_rank/0/overlap_efficiency", "no communication");
    run_free(&t);
}

/* A device with a name and nothing else; the original writes zeros. */
CLAIM(what_a_trace_does_not_say_of_its_device_is_absent)
{
    static const char events[] =
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"sgemm\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":5}"
        "], \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}], \"more\": [";
    run t;
    const metric_value *v;

    run_of(&t, (const char *const[]){events}, 1);
    v = run_metric(&t, "gpu_utilization");
    assert_string_equal(run_get(v, "device_info/device_name")->text, "GPU");
    assert_absent_because(v, "device_info/total_memory_gb", "the trace does not say");
    assert_absent_because(v, "device_info/num_sms", "the trace does not say");
    assert_absent_because(v, "device_info/compute_capability", "the trace does not say");
    assert_value(run_compat(&t, "gpu_utilization"), "device_info/num_sms", 0);
    run_free(&t);
}

/* The originals know only `kernel`; the definitions know what older versions wrote too. */
CLAIM(capitalised_categories_count_by_definition_only)
{
    static const char event[] =
        "{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"sgemm\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":5}";
    run t;

    run_of(&t, (const char *const[]){event}, 1);
    assert_value(run_metric(&t, "kernel"), "avg_kernel_launches", 1);
    assert_value(run_compat(&t, "kernel"), "avg_kernel_launches", 0);
    assert_value(run_compat(&t, "gpu_utilization"), "avg_gpu_utilization_pct", 0);
    assert_value(run_compat(&t, "overlap"), "total_compute_kernels", 0);
    run_free(&t);
}

static void call(trace_rank *r, uint32_t number, const char *path)
{
    dse_free(r->path);
    r->path = strdup(path);
    r->rank = number;
}

/* rank10_trace.json stands before rank1_trace.json, and the first rank's kernels stand for all. */
CLAIM(the_originals_go_by_file_name)
{
    char event[2][256];
    const metric_value *v;
    run t;

    snprintf(event[0], sizeof event[0], plain, "one");
    snprintf(event[1], sizeof event[1], plain, "ten");
    run_of(&t, (const char *const[]){event[0], event[1]}, 2);
    call(&t.rec.rank[0], 1, "a/rank1_trace.json");
    call(&t.rec.rank[1], 10, "a/rank10_trace.json");
    v = run_compat(&t, "kernel");
    assert_string_equal(run_get(v, "per_rank_stats/0/rank")->text, "rank10_trace");
    assert_string_equal(run_get(v, "top_kernels/0/name")->text, "ten");
    run_free(&t);
}

/* They know a file by its name, and take none that ends otherwise: it would have to be renamed. */
CLAIM(ranks_are_called_as_the_originals_would_call_their_files)
{
    char event[2][256];
    const metric_value *v;
    run t;

    snprintf(event[0], sizeof event[0], plain, "zero");
    snprintf(event[1], sizeof event[1], plain, "one");
    run_of(&t, (const char *const[]){event[0], event[1]}, 2);
    call(&t.rec.rank[0], 0, "a/worker0.17.pt.trace.json");
    call(&t.rec.rank[1], 1, "a/worker1.17.pt.trace.json.gz");
    v = run_compat(&t, "kernel");
    assert_string_equal(run_get(v, "per_rank_stats/0/rank")->text, "rank1_trace");
    assert_string_equal(run_get(v, "per_rank_stats/1/rank")->text, "worker0.17.pt.trace");
    run_free(&t);
}

/* ---- throughput ---------------------------------------------------------------------------- */

CLAIM(throughput_is_a_steps_tokens_over_its_time)
{
    run t;
    const metric_value *v;

    run_load(&t, "fsdp_two_ranks", 2);
    t.has_card = true;
    t.card.batch_size = 8;
    t.card.seq_len = 128;
    v = run_metric(&t, "throughput");
    assert_value(v, "throughput_tokens_per_sec", 1024000); /* 1024 in 1 ms */
    assert_value(v, "window_throughput_tokens_per_sec", 1024000);
    assert_value(v, "iteration_time_sec", 0.001);
    /* No markers: from the first start to the last, 1000 to 2920. */
    v = run_compat(&t, "throughput");
    assert_value(v, "iteration_time_sec", 0.00192);
    assert_value(v, "per_rank_throughput/1", 1024 / 0.00192);
    run_free(&t);
}

CLAIM(throughput_compat_measures_between_the_last_markers)
{
    static const char events[] =
        "{\"ph\":\"i\",\"name\":\"Iteration Start: PyTorch Profiler\",\"pid\":0,\"tid\":0,\"ts\":100},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1000,\"dur\":5},"
        "{\"ph\":\"i\",\"name\":\"Record Window End\",\"pid\":0,\"tid\":0,\"ts\":2100}";
    run t;
    const metric_value *v;

    run_of(&t, (const char *const[]){events}, 1);
    v = run_compat(&t, "throughput");
    assert_value(v, "iteration_time_sec", 0.002);
    assert_value(v, "tokens_per_step", 8192); /* without a card */
    run_free(&t);
}

/* The arrow to a kernel that the recording no longer has starts at 3000. */
CLAIM(throughput_compat_goes_to_the_last_start_of_anything)
{
    static const char events[] =
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":0,\"tid\":0,\"ts\":1000,\"dur\":5},"
        "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":0,\"tid\":0,\"id\":1,\"ts\":1000},"
        "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":0,\"tid\":7,\"id\":1,\"ts\":3000}";
    run t;

    run_of(&t, (const char *const[]){events}, 1);
    assert_value(run_compat(&t, "throughput"), "iteration_time_sec", 0.002);
    run_free(&t);
    run_of(&t, (const char *const[]){strchr(events, '}') + 2}, 1); /* the arrow alone */
    assert_value(run_compat(&t, "throughput"), "iteration_time_sec", 0.002);
    run_free(&t);
}

/* Starts at 0 and 1000; ends at 5000 and 1100. */
CLAIM(the_guides_recording_begins_at_zero_where_a_clock_does)
{
    static const char events[] =
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":0,\"tid\":0,\"ts\":0,\"dur\":5000},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1000,\"dur\":100}";
    run t;

    run_of(&t, (const char *const[]){events}, 1);
    assert_value(run_compat(&t, "throughput"), "iteration_time_sec", 0.001);
    assert_value(run_compat(&t, "straggler"), "per_rank_metrics/0/total_duration_ms", 5);
    run_free(&t);
}

CLAIM(throughput_of_inference_is_refused_with_the_metric_that_has_it)
{
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;
    run t;

    run_load(&t, "fsdp_two_ranks", 1);
    t.has_card = true;
    t.card.batch_size = 8;
    t.card.seq_len = 128;
    t.card.phase = TRACE_PHASE_INFERENCE;
    assert_says(run_ask(&t, "throughput", &v, &err), &err, DSE_E_ABSENT, "throughput_tokens");
    run_free(&t);
}

/* ---- memory -------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_is_of_unions_and_means_are_over_ranks),
        cmocka_unit_test(overlap_compat_rounds_percentages),
        cmocka_unit_test(communication_is_no_reduction),
        cmocka_unit_test(top_kernels_are_of_all_ranks_and_keep_their_names),
        cmocka_unit_test(kernel_compat_tries_reductions_first),
        cmocka_unit_test(utilization_is_of_the_span_the_steps_and_the_recording),
        cmocka_unit_test(utilization_compat_divides_by_the_recording),
        cmocka_unit_test(bandwidths_are_sums_over_sums),
        cmocka_unit_test(prefetch_efficiency_is_the_share_of_all_gathers_under_compute),
        cmocka_unit_test(communication_compat_adds_up_the_host),
        cmocka_unit_test(what_needs_sizes_is_absent_without_them),
        cmocka_unit_test(a_run_without_communication_has_none_of_it),
        cmocka_unit_test(what_a_trace_does_not_say_of_its_device_is_absent),
        cmocka_unit_test(capitalised_categories_count_by_definition_only),
        cmocka_unit_test(the_originals_go_by_file_name),
        cmocka_unit_test(ranks_are_called_as_the_originals_would_call_their_files),
        cmocka_unit_test(throughput_is_a_steps_tokens_over_its_time),
        cmocka_unit_test(throughput_compat_measures_between_the_last_markers),
        cmocka_unit_test(throughput_compat_goes_to_the_last_start_of_anything),
        cmocka_unit_test(the_guides_recording_begins_at_zero_where_a_clock_does),
        cmocka_unit_test(throughput_of_inference_is_refused_with_the_metric_that_has_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
