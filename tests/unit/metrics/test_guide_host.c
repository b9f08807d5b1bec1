/* The guide's metrics of what the host does: phases, FSDP, stragglers. The README of
 * tests/data/traces/fsdp_two_ranks derives the figures of that trace. */
#include "unit/metrics/run.h"

#define OPEN(name, compat)                                                                                   \
    run t;                                                                                                   \
    const metric_value *v;                                                                                   \
                                                                                                             \
    run_load(&t, "fsdp_two_ranks", 2);                                                                       \
    v = (compat) ? run_compat(&t, (name)) : run_metric(&t, (name))

#define HOST(cat, name, tid, ts, dur)                                                                        \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" #tid ",\"ts\":" #ts         \
    ",\"dur\":" #dur "}"
#define STEP HOST("user_annotation", "ProfilerStep#0", 1, 1000, 1000)

/* ---- training_phases ----------------------------------------------------------------------- */

CLAIM(phases_divide_the_step)
{
    OPEN("training_phases", false);

    assert_value(v, "per_rank/0/step_time_ms", 1);
    assert_value(v, "per_rank/0/optimizer_time_ms", 0.1);
    assert_value(v, "per_rank/0/backward_time_ms", 0.2);
    assert_value(v, "per_rank/0/forward_time_ms", 0.1);
    assert_value(v, "per_rank/0/other_time_ms", 0.6);
    assert_value(v, "avg_backward_percentage", 20);
    /* [10, 90] of pre_forward with what is in it, [420, 480] of post_backward_reduce */
    assert_value(v, "layer_breakdown_ms/layer_0", 0.14);
    run_free(&t);
}

/* Forward: the first gemm, launched in aten::linear. Backward: the second one [400, 600] and the
 * reduce-scatter to 650. Optimizer: 50. Other: the all-gather, 100 and 50. */
CLAIM(a_kernel_belongs_to_the_phase_of_its_launch)
{
    OPEN("training_phases", false);

    assert_value(v, "per_rank/0/gpu_forward_time_ms", 0.2);
    assert_value(v, "per_rank/0/gpu_backward_time_ms", 0.25);
    assert_value(v, "per_rank/0/gpu_optimizer_time_ms", 0.05);
    assert_value(v, "per_rank/0/gpu_other_time_ms", 0.1);
    assert_value(v, "avg_gpu_other_time_ms", 0.075);
    assert_value(v, "per_rank/0/gpu_unattributed_time_ms", 0);
    run_free(&t);
}

CLAIM(a_forward_pass_alone_is_no_training)
{
    const char *events = STEP "," HOST("cpu_op", "aten::linear", 1, 1100, 100);
    run t;

    run_of(&t, &events, 1);
    assert_null(run_metric(&t, "training_phases"));
    assert_non_null(strstr(t.err.text, "neither a backward pass nor an optimizer was recorded"));
    run_free(&t);
}

/* A step: forward aten:: 100 + 40 + 90 + 10 + 40; backward 200; optimizer 1000 + 100, with ProfilerStep#;
 * FSDP 80 + 40 + 10 + 60: 1770 in all. */
CLAIM(phases_compat_take_the_step_for_an_optimizer)
{
    OPEN("training_phases", true);

    assert_value(v, "avg_forward_time_ms", 0.56);
    assert_value(v, "avg_backward_time_ms", 0.4);
    assert_value(v, "avg_optimizer_time_ms", 2.2);
    assert_value(v, "avg_optimizer_percentage", 62.15);
    assert_value(v, "avg_fsdp_total_time_ms", 0.38);
    assert_value(v, "per_rank_stats/0/fsdp_forward_time_ms", 0.16);
    assert_value(v, "per_rank_stats/0/fsdp_backward_count", 2);
    assert_value(v, "layer_breakdown_ms/layer_0", 0.36); /* 80 + 40 + 60 */
    run_free(&t);
}

CLAIM(backward_is_absent_where_autograd_has_no_ranges)
{
    static const char events[] =
        STEP "," HOST("cpu_op", "aten::mm", 1, 1100, 50) "," HOST("cpu_op", "MmBackward", 2, 1200, 50);
    run t;
    const metric_value *v;

    run_of(&t, (const char *const[]){events}, 1);
    v = run_metric(&t, "training_phases");
    assert_value(v, "avg_forward_time_ms", 0.05);
    assert_absent_because(v, "avg_backward_time_ms", "autograd's ranges are not recorded");
    assert_absent_because(v, "per_rank/0/gpu_backward_time_ms", "autograd's ranges are not recorded");
    run_free(&t);
}

CLAIM(phases_need_operators_of_the_host)
{
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;
    run t;

    run_of(&t, (const char *const[]){STEP}, 1);
    assert_says(run_ask(&t, "training_phases", &v, &err), &err, DSE_E_ABSENT,
                "rank0_trace has no operators of the host");
    run_free(&t);
}

/* ---- fsdp ---------------------------------------------------------------------------------- */

CLAIM(nested_ranges_count_once_and_the_innermost_has_the_time)
{
    OPEN("fsdp", false);

    assert_value(v, "avg_fsdp_overhead_percentage", 14);
    assert_value(v, "per_rank/0/operation_breakdown/pre_forward/self_time_ms", 0.04);
    assert_value(v, "per_rank/0/operation_breakdown/all_gather/self_time_ms", 0.03);
    assert_value(v, "per_rank/0/operation_breakdown/copy_in/self_time_ms", 0.01);
    assert_value(v, "per_rank/0/operation_breakdown/reduce_scatter/self_time_ms", 0.06);
    assert_value(v, "per_rank/0/operation_breakdown/all_gather/count_per_step", 1);
    assert_value(v, "per_rank/0/layer_breakdown/layers.0/self_time_ms", 0.13); /* copy_in names none */
    run_free(&t);
}

/* Launched in the all-gather's range, and in post_backward_reduce on autograd's thread. */
CLAIM(kernels_belong_to_the_range_that_launched_them)
{
    OPEN("fsdp", false);

    assert_value(v, "per_rank/0/operation_breakdown/all_gather/gpu_time_ms", 0.1);
    assert_value(v, "per_rank/1/operation_breakdown/all_gather/gpu_time_ms", 0.05);
    assert_value(v, "operation_breakdown/reduce_scatter/avg_gpu_time_ms", 0.075);
    assert_value(v, "per_rank/0/operation_breakdown/pre_forward/gpu_time_ms", 0);
    run_free(&t);
}

/* 80 + 40 + 10 + 60 a step, of a recording of 2000 us. */
CLAIM(fsdp_compat_counts_nested_ranges_again)
{
    OPEN("fsdp", true);

    assert_value(v, "avg_fsdp_time_ms", 0.38);
    assert_value(v, "avg_fsdp_overhead_percentage", 19);
    assert_value(v, "avg_communication_time_ms", 0.2);
    assert_value(v, "avg_copy_overhead_ms", 0.02);
    assert_value(v, "per_rank_stats/0/operation_breakdown/all_gather/percentage_of_fsdp",
                 21.05); /* 4 of 19 */
    assert_value(v, "per_rank_stats/0/layer_breakdown/layers.0/count", 6);
    assert_value(v, "per_rank_stats/0/num_layers", 1);
    run_free(&t);
}

/* The ends of the step cut ranges off: 100 of one, 50 of the other. */
CLAIM(fsdp_ranges_count_within_the_steps)
{
    static const char events[] =
        HOST("user_annotation", "FSDP::pre_forward (a)", 1, 900,
             200) "," STEP "," HOST("user_annotation", "FSDP::pre_forward (b)", 1, 1950, 100);
    run t;
    const metric_value *v;

    run_of(&t, (const char *const[]){events}, 1);
    v = run_metric(&t, "fsdp");
    assert_value(v, "avg_fsdp_time_ms", 0.15);
    assert_value(v, "per_rank/0/operation_breakdown/pre_forward/self_time_ms", 0.15);
    assert_value(v, "per_rank/0/num_layers", 2);
    assert_absent_because(v, "per_rank/0/operation_breakdown/pre_forward/gpu_time_ms", "launched");
    run_free(&t);
}

CLAIM(fsdp_does_not_apply_without_its_ranges)
{
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;
    run t;

    run_of(&t, (const char *const[]){STEP}, 1);
    assert_says(run_ask(&t, "fsdp", &v, &err), &err, DSE_E_ABSENT, "no FSDP range");
    assert_value(run_compat(&t, "fsdp"), "avg_fsdp_time_ms", 0);
    run_free(&t);
}

CLAIM(the_classes_of_fsdp_are_tried_in_order)
{
    static const struct {
        const char *name, *class;
    } cases[] = {{"FSDP::all_gather (layers.0)", "all_gather"},
                 {"FSDP::all_gather", "other_fsdp"}, /* without a layer it is another one */
                 {"FSDP::all_gather ()", "other_fsdp"},
                 {"FSDP::all_gather_copy_in", "copy_in"},
                 {"FSDP::all_gather_copy_out", "copy_out"},
                 {"FSDP::post_backward_reduce", "reduce_scatter"},
                 {"FSDP::post_backward_reshard", "reshard"},
                 {"FSDP::backward_prefetch for x", "prefetch"},
                 {"FSDP::post_backward (norm)", "post_backward"},
                 {"FSDP::post_backward_accumulate", "accumulate"},
                 {"fsdp::chunk_cat", "other_fsdp"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char events[512], path[128];
        run t;

        snprintf(events, sizeof events,
                 "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"%s\",\"pid\":0,\"tid\":1,\"ts\":10,"
                 "\"dur\":5}",
                 cases[i].name);
        run_of(&t, (const char *const[]){events}, 1);
        snprintf(path, sizeof path, "operation_breakdown/%s/avg_count", cases[i].class);
        assert_value(run_compat(&t, "fsdp"), path, 1);
        run_free(&t);
    }
}

/* ---- straggler ----------------------------------------------------------------------------- */

/* 1000 less 100 and 50 of exposed communication. 950 is not 5 % above the median 925. */
CLAIM(own_time_is_the_step_without_exposed_communication)
{
    OPEN("straggler", false);

    assert_value(v, "per_rank/0/self_time_ms", 0.9);
    assert_value(v, "per_rank/1/self_time_ms", 0.95);
    assert_value(v, "per_rank/1/exposed_comm_ms", 0.05);
    assert_value(v, "median_self_time_ms", 0.925);
    assert_value(v, "num_stragglers", 0);
    assert_value(v, "slowest_rank/rank", 1);
    assert_value(v, "lag/max_lag_us", 50);
    run_free(&t);
}

/* Steps of 1000: 600 and 0 us of waiting, so 400 and 1000 of their own; the median is 700. */
CLAIM(the_straggler_is_the_rank_that_waits_least)
{
    static const char wait[] = HOST("kernel", "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 7, 1300, 600);
    char waits[1024];
    run t;
    const metric_value *v;

    snprintf(waits, sizeof waits, "%s,%s", STEP, wait);
    run_of(&t, (const char *const[]){waits, STEP}, 2);
    v = run_metric(&t, "straggler");
    assert_value(v, "num_stragglers", 1);
    assert_value(v, "has_stragglers", 1);
    assert_value(v, "stragglers/0/rank", 1);
    assert_value(v, "stragglers/0/slowdown_percentage", 300.0 / 7);
    assert_value(v, "sync_overhead_ms", 0.6);
    run_free(&t);
}

CLAIM(one_rank_has_nobody_to_wait_for)
{
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;
    run t;

    run_of(&t, (const char *const[]){STEP}, 1);
    assert_int_equal(run_ask(&t, "straggler", &v, &err), DSE_E_ABSENT);
    assert_value(run_compat(&t, "straggler"), "num_stragglers", 0);
    run_free(&t);
}

/* The recordings last 2000 us each. Names with all_gather or nccl: 40 + 10 + 200 us a step, on rank 1 100
 * less. */
CLAIM(straggler_compat_compares_recordings)
{
    OPEN("straggler", true);

    assert_value(v, "duration_stats/mean", 2);
    assert_value(v, "per_rank_metrics/0/communication_time_ms", 0.5);
    assert_value(v, "per_rank_metrics/1/communication_time_ms", 0.3);
    assert_value(v, "communication_time_stats/mean", 0.4);
    assert_value(v, "communication_time_stats/std", 0.14); /* 0.2 / sqrt(2) */
    assert_value(v, "load_imbalance_percentage", 0);
    assert_string_equal(run_get(v, "slowest_rank/rank")->text, "rank0_trace");
    run_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_divide_the_step),
        cmocka_unit_test(a_kernel_belongs_to_the_phase_of_its_launch),
        cmocka_unit_test(a_forward_pass_alone_is_no_training),
        cmocka_unit_test(phases_compat_take_the_step_for_an_optimizer),
        cmocka_unit_test(backward_is_absent_where_autograd_has_no_ranges),
        cmocka_unit_test(phases_need_operators_of_the_host),
        cmocka_unit_test(nested_ranges_count_once_and_the_innermost_has_the_time),
        cmocka_unit_test(kernels_belong_to_the_range_that_launched_them),
        cmocka_unit_test(fsdp_compat_counts_nested_ranges_again),
        cmocka_unit_test(fsdp_ranges_count_within_the_steps),
        cmocka_unit_test(fsdp_does_not_apply_without_its_ranges),
        cmocka_unit_test(the_classes_of_fsdp_are_tried_in_order),
        cmocka_unit_test(own_time_is_the_step_without_exposed_communication),
        cmocka_unit_test(the_straggler_is_the_rank_that_waits_least),
        cmocka_unit_test(one_rank_has_nobody_to_wait_for),
        cmocka_unit_test(straggler_compat_compares_recordings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
