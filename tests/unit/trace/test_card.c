#include "trace/card.h"

#include "unit/unit.h"

static const char whole[] = "version: 1\n"
                            "description: a card\n"
                            "hf_url: https://example.org/model\n"
                            "trace_url:\n"
                            "contributor: nobody\n"
                            "workload:\n"
                            "  model:\n"
                            "    phase: serving\n"
                            "    moe: true\n"
                            "    granularity: model_fwd\n"
                            "    model_family: llama-3.1-8b\n"
                            "    precision: bf16\n"
                            "    epochs: 1\n"
                            "    iteration: 5\n"
                            "    model_arch:\n"
                            "      num_params: 8.03e9\n"
                            "      num_params_embedding: 525336576\n"
                            "      num_params_active: 2e9\n"
                            "      num_layers: 32\n"
                            "      num_heads: 33\n"
                            "      head_dim: 128\n"
                            "  data:\n"
                            "    batch_size: 4\n"
                            "    seq_len: 8192\n"
                            "    input_len: 1024\n"
                            "    output_len: 128\n"
                            "    dataset: c4\n"
                            "  hardware:\n"
                            "    network_topo:\n"
                            "      topology: slingshot\n"
                            "      bandwidth_gbps: [200, 2000.5]\n"
                            "    xpu_spec:\n"
                            "      type: GPU\n"
                            "      model: nvidia_a100\n"
                            "      total_count: 48\n"
                            "      count_per_node: 4\n"
                            "    driver_version: cuda_12.4\n"
                            "Model-executor:\n"
                            "  framework:\n"
                            "    name: torchtitan\n"
                            "    version: '2.1'\n"
                            "    compiler_tool_selection: plain_pytorch\n"
                            "    run_script: run.sh\n"
                            "    trace_dir: out\n"
                            "  model_plan_parallelization:\n"
                            "    dp_replicate: 1\n"
                            "    dp_shard: 2\n"
                            "    tp: 4\n"
                            "    pp: 2\n"
                            "    cp: 3\n"
                            "    ep: 5\n"
                            "    pp_mb: 6\n"
                            "    rank_order: tp,pp\n"
                            "  communication_library:\n"
                            "    name: NCCL\n"
                            "    version: 2.14.3\n"
                            "    env:\n"
                            "      NCCL_IB_QPS_PER_CONNECTION: 8\n"
                            "      NCCL_DEBUG:\n"
                            "  protocol_selection: [rocev2, p2p]\n"
                            "metric_source:\n"
                            "  traces:\n"
                            "    - kineto_trace\n"
                            "    -\n"
                            "    - nsys\n"
                            "  metrics_specific_trace: [memory_trace]\n"
                            "runs:\n"
                            "  - {score: 1}\n";

typedef struct {
    dse_arena arena;
    trace_card card;
    trace_record notes;
    dse_error err;
    dse_status st;
} reading;

static reading read_text(const char *text)
{
    reading r = {.err = DSE_ERROR_INIT};
    cfg_doc doc = {0};

    dse_arena_init(&r.arena);
    r.st = cfg_parse_yaml("card.yaml", text, strlen(text), &r.arena, &doc, &r.err);
    if (r.st == DSE_OK)
        r.st = trace_card_read(&doc, &r.arena, &r.card, &r.notes, &r.err);
    return r;
}

static void done(reading *r)
{
    trace_record_free(&r->notes);
    dse_arena_free(&r->arena);
}

CLAIM(every_field_is_read)
{
    reading r = read_text(whole);
    const trace_card *c = &r.card;

    assert_ok(r.st, &r.err);
    assert_int_equal(r.notes.n_warnings, 0);
    assert_string_equal(c->path, "card.yaml");
    assert_int_equal(c->version, 1);
    assert_int_equal(c->phase, TRACE_PHASE_INFERENCE);
    assert_int_equal(c->moe, 1);
    assert_string_equal(c->granularity, "model_fwd");
    assert_string_equal(c->model_family, "llama-3.1-8b");
    assert_string_equal(c->precision, "bf16");
    assert_int_equal(c->iteration, 5);
    assert_double(c->num_params, 8.03e9);
    assert_double(c->num_params_embedding, 525336576);
    assert_double(c->num_params_active, 2e9);
    assert_int_equal(c->num_layers, 32);
    assert_int_equal(c->num_heads, 33);
    assert_int_equal(c->head_dim, 128);
    assert_int_equal(c->batch_size, 4);
    assert_int_equal(c->seq_len, 8192);
    assert_int_equal(c->input_len, 1024);
    assert_int_equal(c->output_len, 128);
    assert_double(c->bandwidth_gbps[0], 200);
    assert_double(c->bandwidth_gbps[1], 2000.5);
    assert_string_equal(c->xpu_model, "nvidia_a100");
    assert_int_equal(c->total_count, 48);
    assert_int_equal(c->count_per_node, 4);
    done(&r);
}

CLAIM(every_field_of_the_executor_is_read)
{
    reading r = read_text(whole);
    const trace_card *c = &r.card;

    assert_ok(r.st, &r.err);
    assert_string_equal(c->framework, "torchtitan");
    assert_int_equal(c->dp_replicate, 1);
    assert_int_equal(c->dp_shard, 2);
    assert_int_equal(c->tp, 4);
    assert_int_equal(c->pp, 2);
    assert_int_equal(c->cp, 3);
    assert_int_equal(c->ep, 5);
    assert_int_equal(c->pp_mb, 6);
    assert_string_equal(c->rank_order, "tp,pp");
    assert_int_equal(c->n_traces, 2);
    assert_string_equal(c->trace[0], "kineto_trace");
    assert_string_equal(c->trace[1], "nsys");
    done(&r);
}

CLAIM(what_is_not_said_is_absent)
{
    reading r = read_text("workload:\n"
                          "  model:\n"
                          "  data: {batch_size: , seq_len: N/A, input_len: ~, output_len: null}\n"
                          "  hardware:\n"
                          "    network_topo: {bandwidth_gbps: [TBD, 'N/A']}\n"
                          "    xpu_spec: {total_count: unknown}\n");
    const trace_card *c = &r.card;

    assert_ok(r.st, &r.err);
    assert_int_equal(r.notes.n_warnings, 0);
    assert_true(c->batch_size == TRACE_CARD_NONE && c->seq_len == TRACE_CARD_NONE &&
                c->tp == TRACE_CARD_NONE);
    assert_true(c->input_len == TRACE_CARD_NONE && c->output_len == TRACE_CARD_NONE);
    assert_true(c->total_count == TRACE_CARD_NONE && c->moe == TRACE_CARD_NONE &&
                c->version == TRACE_CARD_NONE);
    assert_int_equal(c->phase, TRACE_PHASE_UNKNOWN);
    assert_true(isnan(c->num_params) && isnan(c->bandwidth_gbps[0]) && isnan(c->bandwidth_gbps[1]));
    assert_null(c->framework);
    assert_int_equal(c->n_traces, 0);
    done(&r);
}

CLAIM(sections_are_found_where_cards_have_put_them)
{
    reading r = read_text("workload:\n"
                          "  model: {num_params: 7, num_layers: 2, head_dim: 3}\n"
                          "  Model-executor:\n"
                          "    model_plan_parallelization: {tp: 4}\n");

    assert_ok(r.st, &r.err);
    assert_int_equal(r.notes.n_warnings, 0);
    assert_double(r.card.num_params, 7);
    assert_int_equal(r.card.num_layers, 2);
    assert_int_equal(r.card.head_dim, 3);
    assert_int_equal(r.card.tp, 4);
    done(&r);
}

/* ---- warnings ------------------------------------------------------------------------------ */

static void warns(const char *text, const char *warning)
{
    reading r = read_text(text);

    assert_ok(r.st, &r.err);
    assert_int_equal(r.notes.n_warnings, 1);
    assert_string_equal(r.notes.warning[0].text, warning);
    done(&r);
}

CLAIM(unknown_keys_are_warned_of)
{
    warns("workload:\n  data:\n    batch_sise: 4\n",
          "card.yaml:3:5: unknown key 'workload.data.batch_sise' is ignored; did you mean 'batch_size'?");
    warns("workload:\nzzzzzz: {a: 1}\n", "card.yaml:2:1: unknown key 'zzzzzz' is ignored");
    warns("workload:\nMetric_source:\n",
          "card.yaml:2:1: unknown key 'Metric_source' is ignored; did you mean "
          "'metric_source'?");
}

CLAIM(unknown_words_are_warned_of)
{
    warns("workload:\n  model: {granularity: request}\n",
          "card.yaml:2:24: workload.model.granularity is 'request'; it is one of model_fwd_bwd_pass, "
          "model_fwd, layer, "
          "kernel");
    warns("workload:\nversion: 2\n", "card.yaml: version 2 is read as version 1, the only one known");
}

CLAIM(a_list_of_batches_is_read_and_warned_of)
{
    reading r = read_text("workload: {data: {batch_size: [4], seq_len: 2}}\n");

    assert_ok(r.st, &r.err);
    assert_int_equal(r.notes.n_warnings, 0);
    assert_int_equal(r.card.batch_size, 4);
    assert_true(r.card.batch_is_listed);
    done(&r);
    warns("workload: {data: {batch_size: [4, 8]}}\n",
          "card.yaml:1:31: workload.data.batch_size is a list of 2: the card does not say which of them a "
          "trace has, so what needs it is absent");
}

CLAIM(bandwidths_are_two)
{
    warns("workload:\n  hardware:\n    network_topo:\n      bandwidth_gbps: [600]\n",
          "card.yaml:4:23: workload.hardware.network_topo.bandwidth_gbps has 1 of two values; the first is "
          "scale-out, the "
          "second scale-up");
    warns("workload:\n  hardware:\n    network_topo:\n      bandwidth_gbps: [600, 0]\n",
          "card.yaml:4:29: workload.hardware.network_topo.bandwidth_gbps gives a scale-up bandwidth of 0, "
          "which is left "
          "out");
}

/* 1 * 2 * 4 * 1 * 1 = 8. */
CLAIM(degrees_and_count_must_agree)
{
    warns(
        "workload: {hardware: {xpu_spec: {total_count: 16}}}\n"
        "Model-executor: {model_plan_parallelization: {dp_replicate: 1, dp_shard: 2, tp: 4, pp: 1, cp: 1}}\n",
        "card.yaml: dp_replicate * dp_shard * tp * pp * cp is 8, but total_count is 16");
    warns("workload: {hardware: {xpu_spec: {total_count: 16}}}\n"
          "Model-executor: {model_plan_parallelization: {dp_replicate: 9223372036854775807, dp_shard: 2, tp: "
          "4, pp: 1, "
          "cp: 1}}\n",
          "card.yaml: the product of the degrees is out of range");
}

CLAIM(nodes_are_whole)
{
    warns("workload: {hardware: {xpu_spec: {total_count: 9, count_per_node: 4}}}\n",
          "card.yaml: count_per_node, 4, does not divide total_count, 9");
}

CLAIM(less_than_a_node_is_no_contradiction)
{
    reading r = read_text("workload: {hardware: {xpu_spec: {total_count: 2, count_per_node: 4}}}\n");

    assert_ok(r.st, &r.err);
    assert_int_equal(r.notes.n_warnings, 0);
    done(&r);
}

CLAIM(active_parameters_are_some_of_all)
{
    warns("workload: {model: {model_arch: {num_params: 5, num_params_active: 6}}}\n",
          "card.yaml: num_params_active, 6, is more than num_params, 5");
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void refused(const char *text, dse_status st, const char *where, const char *message)
{
    reading r = read_text(text);

    assert_failure(r.st, &r.err, st, where, message);
    done(&r);
}

CLAIM(wrong_types_are_refused_with_their_place)
{
    refused("workload:\n  data:\n    batch_size: [1, x]\n", DSE_E_CONFIG, "card.yaml:3:21",
            "workload.data.batch_size must be a whole number, not 'x'");
    refused("workload:\n  data:\n    seq_len: [1, 2]\n", DSE_E_CONFIG, "card.yaml:3:14",
            "workload.data.seq_len must be a whole number, not a list");
    refused("workload: {data: {seq_len: '512'}}\n", DSE_E_CONFIG, "card.yaml:1:28",
            "workload.data.seq_len must be a whole number, not '512'");
    refused("workload: {data: {seq_len: 1.5}}\n", DSE_E_CONFIG, "card.yaml:1:28",
            "workload.data.seq_len must be a whole number, not '1.5'");
    refused("workload: {model: {moe: maybe}}\n", DSE_E_CONFIG, "card.yaml:1:25",
            "workload.model.moe must be true or false, not 'maybe'");
    refused("workload: {model: {phase: tuning}}\n", DSE_E_CONFIG, "card.yaml:1:27",
            "workload.model.phase must be training, inference or serving, not 'tuning'");
    refused("workload: {model: {num_params: 7B}}\n", DSE_E_CONFIG, "card.yaml:1:32",
            "workload.model.model_arch.num_params must be a number, not '7B'");
    refused("workload: {model: {precision: {a: 1}}}\n", DSE_E_CONFIG, "card.yaml:1:31",
            "workload.model.precision must be a text, not a mapping");
    refused("workload: 3\n", DSE_E_CONFIG, "card.yaml:1:11", "workload must be a mapping, not '3'");
    refused("workload: {hardware: {network_topo: {bandwidth_gbps: 200}}}\n", DSE_E_CONFIG, "card.yaml:1:54",
            "workload.hardware.network_topo.bandwidth_gbps must be a list of two numbers, scale-out and "
            "scale-up in "
            "Gbit/s, not '200'");
    refused("metric_source: {traces: json}\n", DSE_E_CONFIG, "card.yaml:1:25",
            "metric_source.traces must be a list, not 'json'");
    refused("metric_source: {traces: [{a: 1}]}\n", DSE_E_CONFIG, "card.yaml:1:26",
            "metric_source.traces must be a list of texts, not a mapping");
    refused("Model-executor: {communication_library: {env: [1]}}\n", DSE_E_CONFIG, "card.yaml:1:47",
            "Model-executor.communication_library.env must be a mapping, not a list");
    refused("Model-executor: {communication_library: {env: {A: [1]}}}\n", DSE_E_CONFIG, "card.yaml:1:51",
            "Model-executor.communication_library.env must be names with texts, not a list");
}

CLAIM(numbers_out_of_range_are_refused)
{
    refused(
        "Model-executor: {model_plan_parallelization: {tp: 0}}\n", DSE_E_RANGE, "card.yaml:1:51",
        "Model-executor.model_plan_parallelization.tp is 0; it must be between 1 and 9223372036854775807");
    refused("workload: {model: {num_params: -1}}\n", DSE_E_RANGE, "card.yaml:1:32",
            "workload.model.model_arch.num_params is -1; it cannot be negative");
    refused("workload: {model: {num_params: inf}}\n", DSE_E_CONFIG, "card.yaml:1:32",
            "workload.model.model_arch.num_params must be a number, not 'inf'");
}

CLAIM(a_key_in_two_places_is_refused)
{
    refused("workload: {model: {model_arch: {num_params: 1}, num_params: 2}}\n", DSE_E_CONFIG,
            "card.yaml:1:49", "workload.model.model_arch.num_params is given twice");
}

CLAIM(another_document_is_no_card)
{
    refused("a: 1\n", DSE_E_CONFIG, "card.yaml:1:1",
            "this is no workload card: it has none of workload, Model-executor, metric_source");
    refused("[1, 2]\n", DSE_E_CONFIG, "card.yaml:1:1",
            "this is no workload card: it has none of workload, Model-executor, metric_source");
}

CLAIM(a_long_key_is_cut_in_the_warning_alone)
{
    char text[4096];

    snprintf(text, sizeof text, "workload:\n%0900d: 1\n", 7);
    reading r = read_text(text);
    assert_ok(r.st, &r.err);
    assert_int_equal(r.notes.n_warnings, 1);
    done(&r);
}

/* ---- memory -------------------------------------------------------------------------------- */

CLAIM(a_card_that_is_not_there_is_said)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record notes = {0};
    trace_card card;
    dse_arena a;

    dse_arena_init(&a);
    assert_says(trace_card_load("/nowhere/card.yaml", &a, &card, &notes, &err), &err, DSE_E_IO,
                "/nowhere/card.yaml");
    dse_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(every_field_of_the_executor_is_read),
        cmocka_unit_test(what_is_not_said_is_absent),
        cmocka_unit_test(sections_are_found_where_cards_have_put_them),
        cmocka_unit_test(unknown_keys_are_warned_of),
        cmocka_unit_test(unknown_words_are_warned_of),
        cmocka_unit_test(a_list_of_batches_is_read_and_warned_of),
        cmocka_unit_test(bandwidths_are_two),
        cmocka_unit_test(degrees_and_count_must_agree),
        cmocka_unit_test(nodes_are_whole),
        cmocka_unit_test(less_than_a_node_is_no_contradiction),
        cmocka_unit_test(active_parameters_are_some_of_all),
        cmocka_unit_test(wrong_types_are_refused_with_their_place),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(a_key_in_two_places_is_refused),
        cmocka_unit_test(another_document_is_no_card),
        cmocka_unit_test(a_long_key_is_cut_in_the_warning_alone),
        cmocka_unit_test(a_card_that_is_not_there_is_said),
    };
    return RUN_TESTS(tests);
}
