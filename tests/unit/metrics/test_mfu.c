#include "unit/metrics/run.h"

#include "metrics/peak.h"

/* N 1000, embeddings 200, L 2, H 4, Q 8; S = 10: attention 2 * 4 * 8 * 10 = 640.
 * Training: 6 * 800 + 12 * 640 = 12,480 FLOP a token. */
static void model(run *r, trace_phase phase)
{
    run_init(r);
    r->has_card = true;
    r->card.phase = phase;
    r->card.num_params = 1000;
    r->card.num_params_embedding = 200;
    r->card.num_layers = 2;
    r->card.head_dim = 4;
    r->card.num_heads = 8;
    r->card.batch_size = 3;
    r->card.seq_len = 10;
    r->card.total_count = 2;
    r->card.xpu_model = "nvidia_a100";
    r->card.precision = "bf16";
    run_rank(r, 0);
}

#define PEAK (2 * 312e12)

/* 30 tokens in 100 us. Causal attention: 6 * 800 + 6 * 640 = 8,640. */
CLAIM(training_counts_the_tokens_of_a_step)
{
    const metric_value *v;
    run r;

    model(&r, TRACE_PHASE_TRAINING);
    run_step(&r.rec.rank[0], 0, 0, 100);
    v = run_metric(&r, "mfu");
    assert_value(v, "flops_per_token", 12480);
    assert_value(v, "mfu", 100 * 12480.0 * 30 / 100e-6 / PEAK);
    assert_value(v, "tokens_per_s", 300000);
    assert_word(v, "attention", "full");
    r.options.causal = true;
    assert_value(run_metric(&r, "mfu"), "flops_per_token", 8640);
    r.card.num_params_active = 500;
    assert_value(run_metric(&r, "mfu"), "flops_per_token", 6 * 300 + 6 * 640);
    run_free(&r);
}

/* Prompts of 6 tokens: a prefill of 3 * 6 tokens of 2 * 800 + 4 * 64 * 6 = 3,136 FLOP in 50 us. Decodes of a
 * token a sequence attend to 6 + 4 / 2 = 8: 2 * 800 + 4 * 64 * 8 = 3,648 FLOP; the last of three passes is
 * left out: one of 10. */
CLAIM(inference_counts_what_a_pass_processes)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    model(&r, TRACE_PHASE_INFERENCE);
    r.card.input_len = 6;
    r.card.output_len = 4;
    rank = &r.rec.rank[0];
    run_event(rank, "python_function", "run_batch", 0, 50, NULL);
    run_event(rank, "python_function", "run_batch", 60, 70, NULL);
    run_event(rank, "python_function", "run_batch", 80, 95, NULL);
    v = run_metric(&r, "mfu");
    assert_value(v, "prefill/mfu", 100 * 3136.0 * 18 / 50e-6 / PEAK);
    assert_value(v, "decode/mfu", 100 * 3648.0 * 3 / 10e-6 / PEAK);
    assert_value(v, "mfu", 100 * (3136.0 * 18 + 3648.0 * 3) / 60e-6 / PEAK);
    run_free(&r);
}

/* vLLM says the tokens itself: 5 and 2. */
CLAIM(counts_of_the_engine_come_before_the_cards)
{
    const metric_value *v;
    run r;

    model(&r, TRACE_PHASE_INFERENCE);
    run_event(&r.rec.rank[0], "user_annotation", "execute_context_1(5)_generation_0(0)", 0, 50, NULL);
    run_event(&r.rec.rank[0], "user_annotation", "execute_context_0(0)_generation_2(2)", 60, 70, NULL);
    v = run_metric(&r, "mfu");
    assert_value(v, "prefill/tokens", 5);
    assert_value(v, "decode/tokens", 2);
    run_free(&r);
}

/* A step without markers inside is a prefill where nothing is generated; where something is, nobody can
 * tell. */
CLAIM(a_step_without_markers_can_only_be_a_prefill)
{
    const metric_value *v;
    run r;

    model(&r, TRACE_PHASE_INFERENCE);
    run_step(&r.rec.rank[0], 0, 0, 100);
    v = run_metric(&r, "mfu");
    assert_value(v, "mfu", 100 * (2 * 800 + 4 * 640.0) * 30 / 100e-6 / PEAK);
    assert_null(run_get(v, "decode")->first);
    r.card.output_len = 4;
    assert_null(run_metric(&r, "mfu"));
    assert_non_null(strstr(r.err.text, "nothing tells prefill from decode"));
    run_free(&r);
}

/* Three steps, the inner one of 200 us. 6 * (1e12 - 200) + 7680 = 6e12 + 6480 FLOP a token, 30 tokens, of
 * 6.24e14 FLOP/s: 6e12 make 144230.769231 %, 6480 another 0.000156: 144230.7694 on four decimals. */
CLAIM(the_original_trims_steps_and_knows_three_devices)
{
    run r;

    model(&r, TRACE_PHASE_TRAINING);
    r.card.num_params = 1e12;
    run_step(&r.rec.rank[0], 0, 0, 100);
    run_step(&r.rec.rank[0], 1, 100, 300);
    run_step(&r.rec.rank[0], 2, 300, 310);
    assert_value(run_compat(&r, "mfu"), "mfu", 144230.7694);
    r.card.batch_is_listed = true; /* a list times a length is a longer list, which has no rate */
    for (size_t i = 0; i < 3; i++)
        assert_null(run_compat(&r, (const char *const[]){"mfu", "throughput_tokens", "throughput"}[i]));
    r.card.batch_is_listed = false;
    r.card.xpu_model = "nvidia_h200";
    assert_null(run_compat(&r, "mfu"));
    assert_int_equal(r.err.status, DSE_E_ABSENT);
    run_free(&r);
}

/* A vLLM latency benchmark's record, in a folder below, goes before the markers: 400 us, half of the
 * above. */
CLAIM(the_original_prefers_a_latency_record)
{
    char folder[64], below[96], path[128];
    run r;

    unit_make_folder(folder);
    snprintf(below, sizeof below, "%s/results", folder);
    assert_int_equal(mkdir(below, 0700), 0);
    snprintf(path, sizeof path, "%s/a.latency.json", below);
    unit_write_text(path, "{\"avg_latency\": 4e-4, \"latencies\": [4e-4]}");
    model(&r, TRACE_PHASE_TRAINING);
    r.card.num_params = 1e12;
    run_step(&r.rec.rank[0], 1, 100, 300);
    r.rec.path = strdup(folder);
    assert_value(run_compat(&r, "mfu"), "mfu", 72115.3847);
    run_free(&r);
    unit_remove_folder(folder);
}

/* 6e9 FLOP over the union [0,20] + [40,50] = 30 us of the events that have them: 200 TFLOP/s of 2 * 918. */
CLAIM(xla_counts_the_flops_itself)
{
    trace_rank *rank;
    trace_args a;
    run r;

    model(&r, TRACE_PHASE_INFERENCE);
    r.card.xpu_model = "tpu_v6e";
    rank = &r.rec.rank[0];
    rank->kind = TRACE_XLA;
    trace_args_clear(&a);
    a.model_flops = 2e9;
    run_event(rank, "", "fusion.1", 0, 20, &a);
    run_event(rank, "", "fusion.2", 10, 20, &a);
    run_event(rank, "", "fusion.3", 40, 50, &a);
    run_event(rank, "", "copy", 50, 500, NULL);
    assert_value(run_metric(&r, "mfu"), "mfu", 100 * 200.0 / (2 * 918));
    assert_value(run_compat(&r, "mfu"), "mfu", 10.8932);
    r.card.num_params = NAN; /* it takes no model */
    assert_value(run_metric(&r, "tpu.mfu"), "active_tflops", 200);
    r.card.total_count = TRACE_CARD_NONE;
    assert_null(run_metric(&r, "mfu"));
    assert_non_null(strstr(r.err.text, "total_count"));
    run_free(&r);
}

CLAIM(a_peak_is_of_a_device_in_a_precision)
{
    dse_error err = DSE_ERROR_INIT;
    double v;

    assert_ok(metric_peak_tflops("nvidia_a100", "bf16", &v, &err), &err);
    assert_double(v, 312);
    assert_ok(metric_peak_tflops("NVIDIA_H100", "FP8", &v, &err), &err);
    assert_double(v, 1979);
    assert_ok(metric_peak_tflops("nvidia_a100", "float32", &v, &err), &err);
    assert_double(v, 19.5);
    assert_failure(
        metric_peak_tflops("nvidia_v100", "bf16", &v, &err), &err, DSE_E_ABSENT, "",
        "the peak of nvidia_v100 in precision 'bf16' (workload.model.precision) is unknown; known: fp64, "
        "fp32, fp16");
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(metric_peak_tflops("abacus", "bf16", &v, &err), &err, DSE_E_ABSENT, "device 'abacus'");
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(metric_peak_tflops("tpu_v4", NULL, &v, &err), &err, DSE_E_ABSENT, "known: bf16, int8");
}

CLAIM(a_model_that_the_card_does_not_describe_is_refused)
{
    run r;

    model(&r, TRACE_PHASE_TRAINING);
    run_step(&r.rec.rank[0], 0, 0, 100);
    r.card.num_layers = TRACE_CARD_NONE;
    assert_null(run_metric(&r, "mfu"));
    assert_non_null(strstr(r.err.text, "num_layers"));
    assert_null(run_compat(&r, "mfu"));
    r.has_card = false;
    assert_null(run_metric(&r, "mfu"));
    assert_null(run_compat(&r, "mfu"));
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_counts_the_tokens_of_a_step),
        cmocka_unit_test(inference_counts_what_a_pass_processes),
        cmocka_unit_test(counts_of_the_engine_come_before_the_cards),
        cmocka_unit_test(a_step_without_markers_can_only_be_a_prefill),
        cmocka_unit_test(the_original_trims_steps_and_knows_three_devices),
        cmocka_unit_test(the_original_prefers_a_latency_record),
        cmocka_unit_test(xla_counts_the_flops_itself),
        cmocka_unit_test(a_peak_is_of_a_device_in_a_precision),
        cmocka_unit_test(a_model_that_the_card_does_not_describe_is_refused),
    };
    return RUN_TESTS(tests);
}
