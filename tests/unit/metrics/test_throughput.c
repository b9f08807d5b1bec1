#include "unit/metrics/run.h"

/* Steps [0,100] and [150,250] us of 4 sequences of 8 tokens: 32 tokens in 100 us, 320,000 a second; in the
 * window 64 tokens in 250 us, 256,000 a second. */
static void training(run *r)
{
    trace_rank *rank;

    run_init(r);
    r->has_card = true;
    r->card.phase = TRACE_PHASE_TRAINING;
    r->card.batch_size = 4;
    r->card.seq_len = 8;
    rank = run_rank(r, 0);
    run_step(rank, 0, 0, 100);
    run_step(rank, 1, 150, 250);
}

CLAIM(a_steps_tokens_are_set_against_a_step)
{
    const metric_value *v;
    run r;

    training(&r);
    v = run_metric(&r, "throughput_tokens");
    assert_value(v, "throughput_tokens_per_s", 320000);
    assert_value(v, "window_throughput_tokens_per_s", 256000);
    assert_value(v, "tokens_per_step", 32);
    assert_value(v, "step_time_s", 1e-4);
    assert_value(v, "per_rank/0/window_throughput_tokens_per_s", 256000);
    run_free(&r);
}

/* A second recording begins again with step 0, [300,400]: 96 tokens in 400 us. */
CLAIM(the_window_is_of_all_steps_whatever_their_numbers)
{
    run r;

    training(&r);
    run_step(&r.rec.rank[0], 0, 300, 400);
    assert_value(run_metric(&r, "throughput_tokens"), "window_throughput_tokens_per_s", 240000);
    assert_value(run_metric(&r, "throughput"), "per_rank/0/window_throughput_tokens_per_sec", 240000);
    run_free(&r);
}

/* Another rank with one step of 300 us: mean step 200 us, 160,000 tokens a second; windows 250 + 300 us for 3
 * steps. */
CLAIM(the_step_is_the_mean_over_ranks)
{
    const metric_value *v;
    run r;

    training(&r);
    run_step(run_rank(&r, 1), 0, 0, 300);
    v = run_metric(&r, "throughput_tokens");
    assert_value(v, "throughput_tokens_per_s", 160000);
    assert_value(v, "window_throughput_tokens_per_s", 96 / 550e-6);
    run_free(&r);
}

/* 4 sequences of 16 output tokens: of a step of 100 us, 640,000 a second. Of passes of 40 us for the first
 * token and 4 us for each of the other 15: 64 tokens in 100 us, the same. */
CLAIM(inference_counts_output_tokens)
{
    trace_rank *rank;
    run r;

    training(&r);
    r.card.phase = TRACE_PHASE_INFERENCE;
    r.card.output_len = 16;
    assert_value(run_metric(&r, "throughput_tokens"), "throughput_tokens_per_s", 640000);
    run_free(&r);

    run_init(&r);
    r.has_card = true;
    r.card.phase = TRACE_PHASE_INFERENCE;
    r.card.batch_size = 4;
    r.card.output_len = 16;
    rank = run_rank(&r, 0);
    run_event(rank, "user_annotation", "execute_context_4(32)_generation_0(0)", 0, 40, NULL);
    run_event(rank, "user_annotation", "execute_context_0(0)_generation_4(4)", 50, 54, NULL);
    assert_value(run_metric(&r, "throughput_tokens"), "throughput_tokens_per_s", 640000);
    run_free(&r);
}

CLAIM(what_the_card_or_the_trace_lacks_is_named)
{
    run r;

    training(&r);
    r.card.seq_len = TRACE_CARD_NONE;
    assert_null(run_metric(&r, "throughput_tokens"));
    assert_non_null(strstr(r.err.text, "workload.data.seq_len"));
    r.card.batch_size = TRACE_CARD_NONE;
    assert_null(run_metric(&r, "throughput_tokens"));
    assert_non_null(strstr(r.err.text, "workload.data.batch_size"));
    r.card.phase = TRACE_PHASE_INFERENCE;
    r.card.batch_size = 1;
    assert_null(run_metric(&r, "throughput_tokens"));
    assert_non_null(strstr(r.err.text, "workload.data.output_len"));
    r.has_card = false;
    assert_null(run_metric(&r, "throughput_tokens"));
    assert_int_equal(r.err.status, DSE_E_ABSENT);
    run_free(&r);
}

/* The card's iterations are of the run: 10 * 32 tokens, in all the file's 250 us. Without a card 4 * 8192
 * tokens for each of the two markers. */
CLAIM(the_original_sets_the_runs_tokens_against_the_file)
{
    const metric_value *v;
    run r;

    training(&r);
    r.card.iteration = 10;
    v = run_compat(&r, "throughput_tokens");
    assert_value(v, "total_tokens", 320);
    assert_value(v, "measured_duration_s", 250e-6);
    assert_value(v, "throughput_tokens_per_s", 320 / 250e-6);
    r.has_card = false;
    v = run_compat(&r, "throughput_tokens");
    assert_value(v, "total_tokens", 65536);
    assert_value(v, "num_iterations", 2);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steps_tokens_are_set_against_a_step),
        cmocka_unit_test(the_window_is_of_all_steps_whatever_their_numbers),
        cmocka_unit_test(the_step_is_the_mean_over_ranks),
        cmocka_unit_test(inference_counts_output_tokens),
        cmocka_unit_test(what_the_card_or_the_trace_lacks_is_named),
        cmocka_unit_test(the_original_sets_the_runs_tokens_against_the_file),
    };
    return RUN_TESTS(tests);
}
