/* The later metrics of a GPU trace: data/traces/later_two_ranks, whose README.md derives what is expected
 * here. */
#include "unit/metrics/run.h"

#include "metrics/kinds.h"
#include "metrics/later_words.h"

#define RANK(k) TEST_DATA "/traces/later_two_ranks/rank" #k "_trace.json"
#define US      1e-6

static int load(void **state)
{
    run *t = calloc(1, sizeof *t);

    run_init(t);
    run_read(t, RANK(0));
    run_read(t, RANK(1));
    *state = t;
    return 0;
}

static int load_one(void **state)
{
    run *t = calloc(1, sizeof *t);

    run_init(t);
    run_read(t, RANK(1));
    *state = t;
    return 0;
}

static int unload(void **state)
{
    run_free(*state);
    free(*state);
    return 0;
}

#define WITH(name) static void name(void **state)

WITH(times_of_steps_and_kernels)
{
    run *t = *state;

    assert_metric(t, "avg_step_time", "avg_step_time", 100 * US);
    assert_metric(t, "avg_step_time", "per_rank/1/avg_step_time", 100 * US);
    assert_metric(t, "total_kernel_time", "total_kernel_time", 410 * US);
    assert_metric(t, "total_trace_time", "total_trace_time", 220 * US);
    assert_metric(t, "aggregate_gpu_utilization", "aggregate_gpu_utilization", 100 * 185.0 / 220);
    assert_metric(t, "load_imbalance_ratio", "load_imbalance_ratio", 190.0 / 180);
    /* 2 GPUs of one run: 0.5 x 16/2 + 0.5 x 0.44/1e-4 */
    assert_metric(t, "gpu_step_score", "gpu_step_score", 2204);
}

/* The original tool knows the marks of Kineto's files alone, and so does what builds on it. */
WITH(upstream_finds_no_steps_in_a_database)
{
    run *t = *state;

    for (uint32_t i = 0; i < t->rec.n_ranks; i++)
        t->rec.rank[i].kind = TRACE_NSYS;
    assert_metric(t, "avg_step_time", "avg_step_time", 100 * US);
    t->options.compat = true;
    assert_null(run_metric(t, "gpu_step_score"));
    assert_string_equal(t->err.text, "the original tool does not read databases of Nsight Systems");
}

WITH(shares_of_communication)
{
    run *t = *state;

    assert_metric(t, "communication_fraction", "communication_fraction", (40 + (100.0 / 3 + 25) / 2) / 2);
    assert_metric(t, "communication_ratio", "communication_ratio", 100 * 130.0 / 410);
    assert_metric(t, "communication_overhead", "communication_overhead", (80.0 / 220 + 50.0 / 190) / 2);
    assert_metric(t, "total_communication_time", "total_communication_time", 32.5 * US);
    assert_metric(t, "compute_comm_overlap", "compute_comm_overlap", 28.75);
    assert_metric(t, "communication_overlap_ratio", "communication_overlap_ratio", 0.2875);
}

WITH(kinds_of_kernels)
{
    run *t = *state;

    assert_metric(t, "dominant_kernel_concentration", "dominant_kernel_concentration", 100 * 240.0 / 410);
    assert_metric(t, "memory_bound_fraction", "memory_bound_fraction", 100 * 40.0 / 410);
    assert_metric(t, "moe_fraction", "moe_fraction", 0);
    assert_metric(t, "average_memory_bandwidth", "average_memory_bandwidth", 1);
    assert_metric(t, "memory_transfer_overhead", "memory_transfer_overhead", 100 * 20.0 / 240);
}

WITH(bandwidths_and_volumes)
{
    run *t = *state;

    assert_metric(t, "bandwidth_utilization_allreduce_group_6", "bandwidth_utilization_allreduce_group_6",
                  (0.1 + 4.0 / 30) / 2);
    assert_metric(t, "collective_vol_allreduce_gb", "collective_vol_allreduce_gb", 8e-6);
    assert_metric(t, "collective_vol_total_gb", "collective_vol_total_gb", 8e-6);
    assert_metric(t, "collective_vol_alltoall_gb", "collective_vol_alltoall_gb", 0);
}

CLAIM(a_collective_without_a_name_may_be_any)
{
    static const char *const names[] = {"collective_vol_total_gb", "collective_vol_allreduce_gb"};
    run r;

    run_init(&r);
    run_kernel(run_rank(&r, 0), "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 0, 10);
    for (size_t i = 0; i < 2; i++) {
        assert_null(run_metric(&r, names[i]));
        assert_non_null(strstr(r.err.text, "none of the 1 calls says how much it moves"));
        assert_value(run_compat(&r, names[i]), names[i], 0);
    }
    run_free(&r);
}

static void check_list(run *t, double first, double second)
{
    dse_error err = DSE_ERROR_INIT;
    const metric_value *list;
    metric_value *v;

    assert_ok(run_ask(t, "straggler_metrics", &v, &err), &err);
    list = metric_get(v, "straggler_metrics");
    assert_true(fabs(list->first->number - first) < 1e-12 && fabs(list->last->number - second) < 1e-12);
    assert_ptr_equal(list->first->next, list->last);
}

WITH(ranks_that_wait_less_are_the_stragglers)
{
    check_list(*state, 0.375, 1.6);
    assert_metric(*state, "straggler_pct", "straggler_pct", 37.5);
    assert_metric(*state, "straggler_pct", "num_events", 2);
}

WITH(upstream_takes_the_first_rank_and_its_own_units)
{
    run *t = *state;

    t->options.compat = true;
    assert_metric(t, "bandwidth_utilization_allreduce_group_6", "bandwidth_utilization_allreduce_group_6",
                  1e8 / 1073741824);
    assert_metric(t, "communication_overhead", "communication_overhead", 80.0 / 220);
    assert_metric(t, "bandwidth_utilization", "bandwidth_utilization",
                  5e-4); /* 2000 B / 100 GB/s over 40 us */
    assert_metric(t, "memory_bound_fraction", "memory_bound_fraction", 9.7561);
    check_list(t, 0.375, 1.6);
}

static void refused(run *t, const char *name, const char *why)
{
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;

    assert_failure(run_ask(t, name, &v, &err), &err, DSE_E_ABSENT, "", why);
}

WITH(what_the_trace_lacks_is_refused)
{
    run *t = *state;

    refused(t, "bandwidth_utilization_alltoall_group_6", "the trace has no AllToAll");
    refused(t, "bandwidth_utilization",
            "it needs a workload card with hardware.network_topo.bandwidth_gbps and xpu_spec.count_per_node");
    t->options.compat = true;
    refused(t, "memory_transfer_overhead", "the trace has no copies"); /* a real one is none to upstream */
    refused(t, "bandwidth_utilization_alltoall_group_6", "no AllToAll kernel has a size");
}

WITH(one_rank_cannot_be_compared)
{
    run *t = *state;

    refused(t, "load_imbalance_ratio", "it compares ranks: kernels of 1 of them are not enough");
    refused(t, "straggler_metrics", "it compares ranks, and fewer than two of the trace communicate");
    refused(t, "straggler_pct", "no collective was recorded on two ranks");
    t->options.compat = true;
    check_list(t, 0, 0);
    refused(t, "communication_overhead", "rank 0 has no kernels"); /* this is rank 1 */
}

CLAIM(words_may_be_bound_to_a_place)
{
    assert_true(metric_says("NCCL_kernel", LATER_COMM_PLAIN));
    assert_false(metric_says("my_nccl", LATER_COMM_PLAIN));
    assert_true(metric_says("my_nccl", LATER_COMM_WIDE));
    assert_true(metric_says("x dma y", LATER_MEMCPY));
    assert_false(metric_says("admad", LATER_MEMCPY));
    assert_false(metric_says("k_gate (x)", LATER_MOE));
    assert_true(metric_says("a gate b", LATER_MOE_NSYS));
    assert_true(metric_says("reducescatter", LATER_COMM_NAMED));
    assert_true(metric_says("reduce_kernel", LATER_BOUND) && !metric_says("reduce_kernel", LATER_COMM_NAMED));
    assert_true(metric_says("cutlass_gemm_softmax", LATER_GEMM));
    assert_true(metric_says("rmsnorm", LATER_BOUND) && !metric_says("rmsnorm", LATER_GEMM));
    assert_false(metric_says("something", LATER_COMM_NAMED "|" LATER_MEMCPY "|" LATER_GEMM "|" LATER_BOUND));
}

CLAIM(words_have_signs_for_case_and_place)
{
    assert_true(metric_says("x_NCCL", "gemm|nccl"));
    assert_false(metric_says("x_NCCL", "gemm|=nccl"));
    assert_true(metric_says("nccl:send 0->1", "=^nccl:send") && !metric_says("a nccl:send", "=^nccl:send"));
    assert_true(metric_says("nccl:coalesced", "=^nccl:coalesced$") &&
                !metric_says("nccl:coalesced2", "=^nccl:coalesced$"));
    assert_true(metric_says("q.py(1): run_batch", "=: run_batch$"));
    assert_true(metric_says("reduce_scatter reduce_x", "reduce!_scatter!_gather"));
    assert_false(metric_says("reduce_scatter reduce_gather", "reduce!_scatter!_gather"));
    assert_true(metric_says("flash_fwd_attn", "flash*attn") && !metric_says("attn_flash", "flash*attn"));
    assert_true(metric_says("", "") && !metric_says("", "a") && metric_says("anything", ""));
}

int main(void)
{
#define ON(name) cmocka_unit_test_setup_teardown(name, load, unload)
    const struct CMUnitTest tests[] = {
        ON(times_of_steps_and_kernels),
        ON(upstream_finds_no_steps_in_a_database),
        ON(shares_of_communication),
        ON(kinds_of_kernels),
        ON(bandwidths_and_volumes),
        ON(ranks_that_wait_less_are_the_stragglers),
        ON(upstream_takes_the_first_rank_and_its_own_units),
        ON(what_the_trace_lacks_is_refused),
        cmocka_unit_test_setup_teardown(one_rank_cannot_be_compared, load_one, unload),
        cmocka_unit_test(a_collective_without_a_name_may_be_any),
        cmocka_unit_test(words_may_be_bound_to_a_place),
        cmocka_unit_test(words_have_signs_for_case_and_place),
    };

    return RUN_TESTS(tests);
}
