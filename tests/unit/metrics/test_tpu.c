/* Metrics of TPUs. The traces are data/traces/tpu_leaves and tpu_hockney; each README.md derives what is
 * expected here. */
#include "unit/metrics/run.h"

#define LEAVES  TEST_DATA "/traces/tpu_leaves/trace.json"
#define HOCKNEY TEST_DATA "/traces/tpu_hockney/trace.json"
#define US      1e-6

static int load(void **state, const char *file)
{
    run *t = calloc(1, sizeof *t);

    run_init(t);
    run_read(t, file);
    *state = t;
    return 0;
}

static int load_leaves(void **state) { return load(state, LEAVES); }
static int load_hockney(void **state) { return load(state, HOCKNEY); }

static int unload(void **state)
{
    run_free(*state);
    free(*state);
    return 0;
}

#define WITH(name) static void name(void **state)

WITH(only_leaves_of_the_op_lines_of_devices_count)
{
    run *t = *state;

    assert_metric(t, "wall_time_s", "wall_time_s", 115 * US);
    assert_metric(t, "wall_time_s", "host_wall_time_s", 1010 * US); /* 1990 to 3000, the SparseCore's end */
    assert_metric(t, "wall_time_s", "per_device/0/busy_s", 94 * US);
    assert_metric(t, "wall_time_s", "per_device/1/span_s", 60 * US);
    assert_metric(t, "total_compute_time_s", "total_compute_time_s", 50 * US);
    assert_metric(t, "total_compute_time_s", "total_compute_time_sum_s", 100 * US);
    assert_metric(t, "total_compute_time_s", "per_device/0/memory_or_async_s", 2 * US);
}

WITH(start_and_done_are_one_communication)
{
    run *t = *state;

    assert_metric(t, "total_comm_time_s", "total_comm_time_s", 41 * US);
    assert_metric(t, "total_comm_time_s", "by_type/0/comm_time_s_by_type/all-gather", 42 * US);
    assert_metric(t, "num_comm_kernels", "num_comm_kernels", 2);
    assert_metric(t, "num_comm_kernels", "num_comm_kernels_all_devices", 4);
    assert_metric(t, "num_comm_kernels", "by_type/0/comm_by_type/reduce-scatter", 1);
    assert_metric(t, "avg_comm_kernel_time_s", "avg_comm_kernel_time_s", 20.5 * US);
    assert_metric(t, "num_comm_kernels_w_size_and_time", "num_comm_kernels_w_size_and_time", 4);
}

WITH(shares_are_means_over_devices)
{
    run *t = *state;

    assert_metric(t, "compute_utilization_proxy", "compute_utilization_proxy", (60.0 / 115 + 40.0 / 60) / 2);
    assert_metric(t, "communication_fraction", "communication_fraction", (62.0 / 115 + 20.0 / 60) / 2);
    assert_metric(t, "allreduce_comm_time_s", "allreduce_comm_time_s", 15 * US);
}

/* A trace of this text. */
static void load_text(run *t, const char *text, size_t n)
{
    char folder[64], path[96];

    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    unit_write(path, text, n);
    run_init(t);
    run_read(t, path);
    unit_remove_folder(folder);
}

/* One with a device, of these events on its line "XLA Ops". */
static void load_events(run *t, const char *events)
{
    char text[2048];
    int n = snprintf(
        text, sizeof text,
        "[{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}},"
        "{\"ph\":\"M\",\"pid\":3,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}},"
        "%s]",
        events);

    assert_true(n > 0 && (size_t)n < sizeof text);
    load_text(t, text, (size_t)n);
}

#define OP(name, ts, rest) "{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"name\":\"" name "\",\"ts\":" ts "," rest "}"

/* An operation that says how long it took and not when has no place on the device's clock, so that none is
 * taken from there: 10 to 14 and 20 to 26 us of the trace's, not from picosecond -1 to 2004 us. */
CLAIM(an_operation_without_an_offset_puts_its_device_on_the_trace_s_clock)
{
    run t;

    load_events(&t, OP("f.1", "10",
                       "\"dur\":4,\"args\":{\"device_offset_ps\":\"2000000000\","
                       "\"device_duration_ps\":\"4000000\"}") "," OP("f.2", "20",
                                                                     "\"dur\":6,\"args\":{\"device_duration_"
                                                                     "ps\":\"6000000\"}"));
    assert_metric(&t, "wall_time_s", "wall_time_s", 16 * US);
    assert_metric(&t, "total_compute_time_s", "total_compute_time_s", 10 * US);
    run_free(&t);
}

/* Without names of processes only what has a device duration ran on a device; the host's call around it did
 * not. */
CLAIM(without_names_operations_are_what_has_a_device_duration)
{
    static const char text[] =
        "[" OP("host.1", "0", "\"dur\":100") "," OP("f.1", "10",
                                                    "\"dur\":4,\"args\":{\"device_offset_ps\":\"2000000000\","
                                                    "\"device_duration_ps\":\"4000000\"}") "]";
    run t;

    load_text(&t, text, sizeof text - 1);
    assert_metric(&t, "wall_time_s", "wall_time_s", 4 * US);
    assert_metric(&t, "total_compute_time_s", "total_compute_time_s", 4 * US);
    assert_null(run_metric(&t, "total_model_flops_from_args")); /* none says any, which is not 0 */
    run_free(&t);
}

/* Four modules of 10, 20, 40 and 80 us: the inner two count. */
CLAIM(steps_of_xla_s_gpus_are_their_modules)
{
    static const char text[] =
        "[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Modules\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream #1\"}},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"gemm\",\"ts\":0,\"dur\":9},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"jit_train_step(7)\",\"ts\":0,\"dur\":10},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"jit_train_step(7)\",\"ts\":10,\"dur\":20},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"jit_train_step(7)\",\"ts\":30,\"dur\":40},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"jit_train_step(7)\",\"ts\":70,\"dur\":80}]";
    run t;

    load_text(&t, text, sizeof text - 1);
    assert_metric(&t, "avg_step_time", "avg_step_time", 30 * US);
    assert_metric(&t, "avg_step_time", "num_steps", 2);
    assert_metric(&t, "avg_step_time", "num_marked_steps", 4);
    run_free(&t);
}

/* Time and memory are in proportion to the events, also where each has a process of its own: devices times
 * events would take minutes here. */
CLAIM(processes_may_be_as_many_as_events)
{
    enum { N = 200000 };
    dse_strbuf text;
    run t;

    dse_strbuf_init(&text);
    for (int i = 0; i < N; i++)
        dse_strbuf_addf(&text,
                        "%s{\"ph\":\"X\",\"pid\":%d,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"f\",\"args\":{"
                        "\"device_offset_ps\":5,\"device_duration_ps\":%d}}",
                        i ? "," : "[", i, i + 1);
    dse_strbuf_adds(&text, "]");
    load_text(&t, text.data, text.len);
    run_look(&t);
    assert_int_equal(t.view[0].tpu.n, N);
    assert_metric(&t, "wall_time_s", "wall_time_s", N * 1e-12);
    run_free(&t);
    dse_strbuf_free(&text);
}

/* The later tools have device durations in ns and others in us, and add them: an all-reduce of 4 us is 4000,
 * a fusion of 6 us without a device duration is 6. An event without dur ends nothing: the lines last from 0
 * to 16 us, of which the tool makes ns. The copy needs offsets alone: 8000 bytes from 30 to 32 us. The
 * all-reduces of the table are two, one of which does not last. */
CLAIM(the_original_tools_take_events_that_lack_a_time)
{
    run t;

    load_events(
        &t,
        OP("all-reduce", "0", "\"dur\":5,\"args\":{\"device_duration_ps\":\"4000000\"}") "," OP(
            "fusion.1", "10",
            "\"dur\":6") "," OP("copy-start.7", "11",
                                "\"dur\":1,\"args\":{\"device_offset_ps\":\"30000000\","
                                "\"bytes_accessed\":\"8000\"}") "," OP("copy-done.7", "12",
                                                                       "\"dur\":1,\"args\":{\"device_offset_"
                                                                       "ps\":\"32000000\"}") "," OP("all-"
                                                                                                    "reduce."
                                                                                                    "1",
                                                                                                    "40",
                                                                                                    "\"args\""
                                                                                                    ":{"
                                                                                                    "\"bytes_"
                                                                                                    "accessed"
                                                                                                    "\":"
                                                                                                    "\"8\""
                                                                                                    "}"));
    t.has_card = true;
    t.card.iteration = 2;
    t.options.compat = true;
    t.options.n_chips = 2;
    assert_metric(&t, "communication_ratio", "communication_ratio", 100 * 4000.0 / 4008);
    assert_metric(&t, "total_trace_time", "total_trace_time", 16 * US / 1000);
    assert_metric(&t, "average_memory_bandwidth", "average_memory_bandwidth", 4);
    assert_metric(&t, "avg_step_time", "avg_step_time", 20 * US); /* 0 to 40 us, two iterations */
    assert_metric(&t, "num_comm_kernels", "num_comm_kernels", 1);
    run_free(&t);
}

WITH(bandwidth_is_bus_bytes_over_time)
{
    assert_metric(*state, "avg_comm_bandwidth_GBps", "avg_comm_bandwidth_GBps", 19968 / (82 * US) / 1e9);
}

WITH(flops_are_over_the_time_of_operations_that_have_them)
{
    run *t = *state;

    assert_metric(t, "achieved_flops_from_trace_json", "achieved_flops_from_trace_json", 8.75e10);
    assert_metric(t, "achieved_flops_from_trace_json", "achieved_flops_slice", 1.75e11);
    assert_metric(t, "total_model_flops_from_args", "total_model_flops_from_args", 6e6);
    assert_metric(t, "flops_per_token_used", "flops_per_token_used", 42e9);
    assert_metric(t, "estimated_total_tokens", "estimated_total_tokens", 6e6 / 42e9);
    assert_metric(t, "throughput", "estimated_throughput_tokens_per_s", 6e6 / 42e9 / (115 * US));
}

WITH(inference_takes_two_operations_a_parameter)
{
    run *t = *state;

    t->options.phase = TRACE_PHASE_INFERENCE;
    assert_metric(t, "flops_per_token_used", "flops_per_token_used", 14e9);
}

/* Upstream counts by words in names: the host's all_reduce_on_the_host has none of them, all-gather-start,
 * -done, reduce-scatter and the SparseCore's all-reduce have, the two psum have not. 1 + 2 + 10 + 1000 us. */
WITH(upstream_knows_collectives_by_their_names)
{
    run *t = *state;

    t->options.compat = true;
    t->options.n_chips = 4;
    assert_metric(t, "num_comm_kernels", "num_comm_kernels", 4);
    assert_metric(t, "total_comm_time_s", "total_comm_time_s", 1013 * US);
    assert_metric(t, "wall_time_s", "wall_time_s", 0.00101);
}

WITH(upstream_demands_the_number_of_chips)
{
    run *t = *state;
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;

    t->options.compat = true;
    assert_failure(run_ask(t, "num_comm_kernels", &v, &err), &err, DSE_E_ABSENT, "",
                   "it needs --n_chips under --compat");
}

WITH(one_size_of_messages_cannot_be_fitted)
{
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;

    assert_failure(run_ask(*state, "hockney_alpha_s", &v, &err), &err, DSE_E_ABSENT, "",
                   "the trace has 2 all-reduces of 1 size; a fit needs 5 in groups of one size, of 2 sizes");
}

WITH(upstream_prints_nan_where_it_cannot_fit)
{
    run *t = *state;
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;

    t->options.compat = true;
    t->options.n_chips = 4;
    assert_ok(run_ask(t, "hockney_beta_s_per_byte", &v, &err), &err);
    assert_int_equal(metric_get(v, "hockney_beta_s_per_byte")->kind, METRIC_ABSENT);
}

WITH(later_metrics_read_the_same_operations)
{
    run *t = *state;

    /* Sums of leaves: 30 + 42 + 30 + 10 + 1 + 1 + 10 = 124 on device 0, 60 on device 1. */
    assert_metric(t, "later.communication_fraction", "communication_fraction",
                  100 * (62.0 / 124 + 20.0 / 60) / 2);
    assert_metric(t, "communication_ratio", "communication_ratio", 100 * 82.0 / 184);
    assert_metric(t, "compute_comm_overlap", "compute_comm_overlap", 100 * 30.0 / 82);
    assert_metric(t, "total_communication_time", "total_communication_time", 41 * US);
    assert_metric(t, "average_memory_bandwidth", "average_memory_bandwidth", 8000 / (9 * US) / 1e9);
    /* The copy 90 - 99 lies behind all compute. */
    assert_metric(t, "memory_transfer_overhead", "memory_transfer_overhead", 100 * 9.0 / 115);
    /* fusion.1, of 70 us, is most of what has a category: 30 + 42 + 30 + 10 + 2 + 60. */
    assert_metric(t, "dominant_kernel_concentration", "dominant_kernel_concentration", 100 * 70.0 / 174);
    assert_metric(t, "bandwidth_utilization_allgather_group_6", "bandwidth_utilization_allgather_group_6",
                  6144 / (42 * US) / 1e9);
    assert_metric(t, "collective_vol_total_gb", "collective_vol_total_gb", (8192 + 4096 + 4096 + 2048) / 2e9);
}

WITH(the_group_size_with_most_samples_is_the_headline)
{
    run *t = *state;
    dse_error err = DSE_ERROR_INIT;
    metric_value *v;

    assert_metric(t, "hockney_inverse_beta_Bps", "group_size", 4);
    assert_ok(run_ask(t, "hockney_alpha_s", &v, &err), &err);
    assert_true(fabs(run_number(v, "hockney_alpha_s") - 1e-6) < 1e-15);
    assert_true(fabs(run_number(v, "beta_s_per_byte") - 2e-12) < 1e-21);
    assert_true(fabs(run_number(v, "robust/alpha_s") - 1e-6) < 1e-15);
    assert_int_equal(run_number(v, "samples"), 6);
    assert_int_equal(run_number(v, "distinct_sizes"), 6);
    assert_int_equal(run_number(v, "fits/0/group_size"), 2);
    assert_true(fabs(run_number(v, "fits/0/alpha_s") - 2e-6) < 1e-15);
    assert_null(metric_get(v, "warning"));
}

int main(void)
{
#define ON(file, name) cmocka_unit_test_setup_teardown(name, load_##file, unload)
    const struct CMUnitTest tests[] = {
        ON(leaves, only_leaves_of_the_op_lines_of_devices_count),
        ON(leaves, start_and_done_are_one_communication),
        ON(leaves, shares_are_means_over_devices),
        cmocka_unit_test(without_names_operations_are_what_has_a_device_duration),
        cmocka_unit_test(steps_of_xla_s_gpus_are_their_modules),
        cmocka_unit_test(processes_may_be_as_many_as_events),
        cmocka_unit_test(the_original_tools_take_events_that_lack_a_time),
        cmocka_unit_test(an_operation_without_an_offset_puts_its_device_on_the_trace_s_clock),
        ON(leaves, bandwidth_is_bus_bytes_over_time),
        ON(leaves, flops_are_over_the_time_of_operations_that_have_them),
        ON(leaves, inference_takes_two_operations_a_parameter),
        ON(leaves, upstream_knows_collectives_by_their_names),
        ON(leaves, upstream_demands_the_number_of_chips),
        ON(leaves, one_size_of_messages_cannot_be_fitted),
        ON(leaves, upstream_prints_nan_where_it_cannot_fit),
        ON(leaves, later_metrics_read_the_same_operations),
        ON(hockney, the_group_size_with_most_samples_is_the_headline),
    };

    return RUN_TESTS(tests);
}
