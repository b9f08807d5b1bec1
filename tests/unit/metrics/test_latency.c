#include "unit/metrics/run.h"

#include "metrics/latency.h"

static void pass(trace_rank *rank, const char *name, int64_t start, int64_t end)
{
    run_event(rank, "user_annotation", name, start, end, NULL);
}

static void inference(run *r)
{
    run_init(r);
    r->has_card = true;
    r->card.phase = TRACE_PHASE_INFERENCE;
    run_rank(r, 0);
}

/* A prompt in chunks of 100, 90 and 50 us, the last of which emits the first token: 240 us. Then 10, 12 and
 * 99 us: the last is left out, 11 us. */
CLAIM(a_prompt_in_chunks_is_the_time_to_the_first_token)
{
    trace_rank *rank;
    run r;

    inference(&r);
    rank = &r.rec.rank[0];
    pass(rank, "execute_context_1(512_262144)_generation_0(0)", 0, 100);
    pass(rank, "execute_context_1(512)_generation_0(0)", 100, 190);
    pass(rank, "execute_context_1(7)_generation_0(0)", 200, 250);
    pass(rank, "execute_context_0(0)_generation_1(1)", 300, 310);
    pass(rank, "execute_context_0(0)_generation_1(1)", 400, 412);
    pass(rank, "execute_context_0(0)_generation_1(1)", 500, 599);
    assert_value(run_metric(&r, "TTFT"), "ttft", 240e-6);
    assert_word(run_metric(&r, "ttft"), "source", "trace");
    assert_word(run_metric(&r, "ttft"), "marker", "execute_context_*");
    assert_value(run_metric(&r, "TPOT"), "tpot", 11e-6);
    run_free(&r);
}

/* The first pass is 100 us; the others but the last are 90, 50, 10 and 12: 40.5. */
CLAIM(the_original_takes_the_first_pass_for_the_prompt)
{
    trace_rank *rank;
    run r;

    inference(&r);
    rank = &r.rec.rank[0];
    pass(rank, "execute_context_1(512)_generation_0(0)", 0, 100);
    pass(rank, "execute_context_1(512)_generation_0(0)", 100, 190);
    pass(rank, "execute_context_1(7)_generation_0(0)", 200, 250);
    pass(rank, "execute_context_0(0)_generation_1(1)", 300, 310);
    pass(rank, "execute_context_0(0)_generation_1(1)", 400, 412);
    pass(rank, "execute_context_0(0)_generation_1(1)", 500, 599);
    assert_value(run_compat(&r, "ttft"), "ttft", 100e-6);
    assert_value(run_compat(&r, "tpot"), "tpot", 40.5e-6);
    run_free(&r);
}

/* SGLang says no counts: rank 0 has 100, 20 and 30 us, so 100 and 20; rank 1 has 200 and 40. Means: 150 and
 * 30. */
CLAIM(latencies_are_means_over_ranks)
{
    static const char name[] = "scheduler.py(2919): run_batch";
    trace_rank *rank;
    run r;

    inference(&r);
    rank = &r.rec.rank[0];
    run_event(rank, "python_function", name, 0, 100, NULL);
    run_event(rank, "python_function", "scheduler.py(1): _run_batch_inner", 0, 90, NULL);
    run_event(rank, "python_function", name, 200, 220, NULL);
    run_event(rank, "python_function", name, 300, 330, NULL);
    rank = run_rank(&r, 1);
    run_event(rank, "python_function", "run_batch", 0, 200, NULL);
    run_event(rank, "python_function", "run_batch", 300, 340, NULL);
    assert_value(run_metric(&r, "TTFT"), "ttft", 150e-6);
    assert_value(run_metric(&r, "TPOT"), "tpot", 30e-6);
    run_free(&r);
}

/* The engine core's step of whatever line; what lies within another is part of it. */
CLAIM(steps_of_the_engine_core_are_its_outermost)
{
    trace_rank *rank;
    run r;

    inference(&r);
    rank = &r.rec.rank[0];
    rank->kind = TRACE_XLA;
    run_event(rank, "", "$core.py:378 step_with_batch_queue", 10, 60, NULL);
    run_event(rank, "", "$core.py:1000 _process_engine_step", 0, 70, NULL);
    run_event(rank, "", "$core.py:1000 _process_engine_step", 100, 130, NULL);
    run_event(rank, "", "$core.py:324 log_error_detail", 200, 230, NULL);
    assert_value(run_metric(&r, "TTFT"), "ttft", 70e-6);
    assert_value(run_metric(&r, "TPOT"), "tpot", 30e-6);
    assert_null(run_compat(&r, "TTFT"));
    run_free(&r);
}

/* The device works in [5, 65] and [100, 120]; the engine's last two steps wait for nothing. */
CLAIM(polls_of_an_idle_engine_are_no_steps)
{
    static const char *const events =
        "{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}},"
        "{\"ph\":\"M\",\"pid\":3,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}},"
        "{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"ts\":5,\"dur\":60,\"name\":\"fusion.1\"},"
        "{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"ts\":100,\"dur\":20,\"name\":\"fusion.2\"},"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":1,\"dur\":70,\"name\":\"$core.py:9 _process_engine_step\"},"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":90,\"dur\":30,\"name\":\"$core.py:9 "
        "_process_engine_step\"},"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":130,\"dur\":1,\"name\":\"$core.py:9 "
        "_process_engine_step\"},"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":140,\"dur\":1,\"name\":\"$core.py:9 "
        "_process_engine_step\"}";
    const metric_value *v;
    run r;

    run_of(&r, &events, 1);
    r.options.phase = TRACE_PHASE_INFERENCE;
    v = run_metric(&r, "avg_step_time");
    assert_value(v, "avg_step_time", 50e-6);
    assert_value(v, "num_steps", 2);
    assert_value(v, "min_step_time", 30e-6);
    assert_value(v, "max_step_time", 70e-6);
    assert_value(run_metric(&r, "TPOT"), "tpot", 30e-6);
    run_free(&r);
}

CLAIM(the_names_of_the_leaderboard_are_known)
{
    static const char *const names[][2] = {{"ttft", "TTFT"},
                                           {"tpot_group_6", "TPOT"},
                                           {"mean_sm_coverage", "sm"},
                                           {"break_down_steps", "kernel"},
                                           {"throughput_group_6", "throughput_tokens"},
                                           {"kernel_compute_time_group_6", "kernel_compute_time_group_6"},
                                           {"estimated_bandwidth", "estimated_bandwidth"}};
    dse_error err = DSE_ERROR_INIT;
    const metric *m;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_ok(metric_find(names[i][0], TRACE_KINETO, false, &m, &err), &err);
        assert_string_equal(m->name, names[i][1]);
    }
}

CLAIM(a_recording_that_begins_in_decode_has_no_first_token)
{
    run r;

    inference(&r);
    pass(&r.rec.rank[0], "execute_context_0(0)_generation_8(8)", 0, 100);
    pass(&r.rec.rank[0], "execute_context_0(0)_generation_8(8)", 100, 210);
    assert_null(run_metric(&r, "TTFT"));
    assert_non_null(strstr(r.err.text, "begins in decode"));
    assert_value(run_metric(&r, "TPOT"), "tpot", 105e-6);
    run_free(&r);
}

CLAIM(what_cannot_be_told_is_refused)
{
    run r;

    inference(&r);
    run_kernel(&r.rec.rank[0], "gemm", 0, 1);
    assert_null(run_metric(&r, "TTFT"));
    assert_non_null(strstr(r.err.text, "neither a benchmark's record"));
    pass(&r.rec.rank[0], "execute_context_1(512)_generation_0(0)", 0, 100);
    assert_value(run_metric(&r, "TTFT"), "ttft", 100e-6);
    assert_null(run_metric(&r, "TPOT"));
    assert_non_null(strstr(r.err.text, "no pass after the first token"));
    r.card.output_len = 1;
    assert_null(run_metric(&r, "TPOT"));
    assert_non_null(strstr(r.err.text, "output_len is 1"));
    r.card.phase = TRACE_PHASE_TRAINING;
    assert_null(run_metric(&r, "TTFT"));
    assert_null(run_compat(&r, "TTFT"));
    run_free(&r);
}

/* The clients saw 50 and 5 ms; the trace's markers are not asked. */
CLAIM(a_benchmarks_record_comes_before_the_trace)
{
    char folder[64], path[128];
    run r;

    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/bench_results.jsonl", folder);
    unit_write_text(path, "{\"median_ttft_ms\": 50, \"median_tpot_ms\": 5, \"total_output_tokens\": 600, "
                          "\"duration\": 2}\n");
    inference(&r);
    pass(&r.rec.rank[0], "execute_context_1(512)_generation_0(0)", 0, 100);
    r.rec.path = strdup(folder);
    assert_value(run_metric(&r, "TTFT"), "ttft", 0.05);
    assert_word(run_metric(&r, "TTFT"), "source", "benchmark");
    assert_value(run_metric(&r, "TPOT"), "tpot", 0.005);
    assert_value(run_metric(&r, "throughput_tokens"), "throughput_tokens_per_s", 300);
    run_free(&r);
    unit_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_in_chunks_is_the_time_to_the_first_token),
        cmocka_unit_test(the_original_takes_the_first_pass_for_the_prompt),
        cmocka_unit_test(latencies_are_means_over_ranks),
        cmocka_unit_test(steps_of_the_engine_core_are_its_outermost),
        cmocka_unit_test(polls_of_an_idle_engine_are_no_steps),
        cmocka_unit_test(the_names_of_the_leaderboard_are_known),
        cmocka_unit_test(a_recording_that_begins_in_decode_has_no_first_token),
        cmocka_unit_test(what_cannot_be_told_is_refused),
        cmocka_unit_test(a_benchmarks_record_comes_before_the_trace),
    };
    return RUN_TESTS(tests);
}
