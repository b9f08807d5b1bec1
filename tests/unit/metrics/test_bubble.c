#include "unit/metrics/run.h"

/* One rank: compute [0,100], a receive that waits [100,200] under which compute runs [150,180], a copy
 * [190,220], nothing until an all-to-all by a SendRecv kernel [250,300]. Busy: [0,100] + [150,180] +
 * [190,220] + [250,300] = 210 of a window of 300; bubble 90. */
static trace_rank *pipeline(run *r, uint32_t number)
{
    trace_rank *rank = run_rank(r, number);
    trace_args a;

    run_kernel(rank, "gemm", 0, 100);
    run_kernel(rank, "ncclDevKernel_SendRecv", 100, 200);
    run_kernel(rank, "gemm", 150, 180);
    run_event(rank, "gpu_memcpy", "Memcpy HtoD", 190, 220, NULL);
    trace_args_clear(&a);
    a.collective = run_name(rank, "all_to_all");
    run_event(rank, "kernel", "ncclDevKernel_SendRecv", 250, 300, &a);
    return rank;
}

static void card(run *r)
{
    r->has_card = true;
    r->card.tp = r->card.cp = r->card.dp_shard = r->card.dp_replicate = 1;
    r->card.pp = 2;
    r->card.pp_mb = 3;
}

/* The ideal of 2 stages and 3 micro-batches: 1 / 4. */
CLAIM(waiting_in_a_receive_is_bubble_and_all_to_all_is_not)
{
    const metric_value *v;
    run r;

    run_init(&r);
    card(&r);
    pipeline(&r, 0);
    v = run_metric(&r, "pipeline_bubble");
    assert_value(v, "bubble_ratio", 0.3);
    assert_value(v, "bubble_time_ms", 0.09);
    assert_value(v, "total_time_ms", 0.3);
    assert_value(v, "per_rank/0/span_ms", 0.3);
    assert_value(v, "ideal_bubble_ratio", 0.25);
    run_free(&r);
}

/* The other rank computes all of [0,100]: no bubble. Over both 90 of 400. */
CLAIM(stages_are_told_by_the_card)
{
    const metric_value *v;
    run r;

    run_init(&r);
    card(&r);
    pipeline(&r, 0);
    run_kernel(run_rank(&r, 1), "gemm", 0, 100);
    v = run_metric(&r, "pipeline_bubble");
    assert_value(v, "bubble_ratio", 90.0 / 400);
    assert_value(v, "per_stage/0/bubble_ratio", 0.3);
    assert_value(v, "per_stage/1/bubble_ratio", 0);
    assert_value(v, "per_rank/1/stage", 1);
    run_free(&r);
}

/* GPU-side steps [90,225]: of the events inside, the first begins at 100 and the last ends at 220; busy
 * [150,180] and [190,220], bubble 60 of 120. Stages: by the group that the trace declares. */
CLAIM(the_window_is_what_the_gpu_did_inside_the_steps)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = pipeline(&r, 5);
    run_event(rank, "gpu_user_annotation", "ProfilerStep#1", 90, 150, NULL);
    run_event(rank, "gpu_user_annotation", "ProfilerStep#2", 150, 225, NULL);
    rank->group = dse_calloc(1, sizeof *rank->group);
    rank->n_groups = rank->cap_groups = 1;
    rank->group[0] =
        (trace_group){run_name(rank, "3"), run_name(rank, "mesh_pp"), run_name(rank, "[1, 3, 5, 7]"), 4};
    r.options.force = true;
    v = run_metric(&r, "pipeline_bubble");
    assert_value(v, "per_rank/5/span_ms", 0.12);
    assert_value(v, "per_rank/5/bubble_time_ms", 0.06);
    assert_value(v, "per_rank/5/stage", 2);
    assert_absent(v, "ideal_bubble_ratio");
    run_free(&r);
}

CLAIM(without_a_pipeline_there_is_no_bubble)
{
    run r;

    run_init(&r);
    pipeline(&r, 0);
    assert_null(run_metric(&r, "pipeline_bubble"));
    assert_int_equal(r.err.status, DSE_E_ABSENT);
    card(&r);
    r.card.pp = 1;
    assert_null(run_metric(&r, "pipeline_bubble"));
    assert_non_null(strstr(r.err.text, "pp is 1"));
    run_free(&r);
}

/* Last step in the file: 400 us; busy kernels [0,200] + [250,300] and the operator [300,350] are 300: bubble
 * 100. The copy does not count. "SendRecv" makes it nvtx. */
CLAIM(the_original_compares_one_step_with_all_activity)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = pipeline(&r, 0);
    run_event(rank, "cpu_op", "aten::add", 300, 350, NULL);
    run_step(rank, 2, 400, 800);
    run_step(rank, 1, 0, 400);
    v = run_compat(&r, "pipeline_bubble");
    assert_value(v, "bubble_time_ms", 0.1);
    assert_value(v, "bubble_ratio", 0.25);
    assert_word(v, "method", "nvtx");
    run_free(&r);
}

/* Without steps: kernels [0,10], [1011,1020], [3000,3100] us. The gap of 1001 counts, and that of 1980;
 * window 3100. */
CLAIM(the_original_without_steps_adds_gaps_above_a_millisecond)
{
    const metric_value *v;
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    run_kernel(rank, "gemm", 0, 10);
    run_kernel(rank, "gemm", 1011, 1020);
    run_kernel(rank, "gemm", 3000, 3100);
    v = run_compat(&r, "pipeline_bubble");
    assert_value(v, "bubble_time_ms", 2.981);
    assert_value(v, "total_time_ms", 3.1);
    assert_word(v, "method", "heuristic");
    run_free(&r);
}

/* Rank 4,000,000,000 of a pipeline as deep is its stage of that number; those between have no rank here. */
CLAIM(stages_may_be_far_apart)
{
    const metric_value *v;
    run r;

    run_init(&r);
    run_kernel(run_rank(&r, 0), "gemm", 0, 10);
    run_kernel(run_rank(&r, 4000000000), "gemm", 0, 30);
    r.has_card = true;
    r.card.pp = 4294967294;
    v = run_metric(&r, "pipeline_bubble");
    assert_value(v, "per_stage/0/span_ms", 0.01);
    assert_value(v, "per_stage/4000000000/span_ms", 0.03);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_in_a_receive_is_bubble_and_all_to_all_is_not),
        cmocka_unit_test(stages_are_told_by_the_card),
        cmocka_unit_test(the_window_is_what_the_gpu_did_inside_the_steps),
        cmocka_unit_test(without_a_pipeline_there_is_no_bubble),
        cmocka_unit_test(the_original_compares_one_step_with_all_activity),
        cmocka_unit_test(the_original_without_steps_adds_gaps_above_a_millisecond),
        cmocka_unit_test(stages_may_be_far_apart),
    };
    return RUN_TESTS(tests);
}
