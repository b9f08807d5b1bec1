#include "unit/metrics/run.h"

#include "metrics/pick.h"

enum { COMM, COPY, REST };

static const metric_pick pick =
    METRIC_PICK(METRIC_LASTING, {COMM, "kernel", .names = "nccl"}, {METRIC_NOT_PICKED, .names = "=^skip"},
                {COPY, .categories = 1 << TRACE_MEMCPY}, {REST, .words = "kernel|cpu_op"});

/* Kernels of communication [0, 10) and [5, 20), which unite to 20 us, a copy of 7 us, an operator of 3 us;
 * a kernel that is skipped, one without duration, and one of an older profiler's word, which is none of
 * these. */
static void five(run *r)
{
    trace_rank *rank;

    run_init(r);
    rank = run_rank(r, 0);
    run_kernel(rank, "NCCL_b", 5, 20);
    run_kernel(rank, "nccl_a", 0, 10);
    run_event(rank, "gpu_memcpy", "copy", 30, 37, NULL);
    run_event(rank, "cpu_op", "nccl", 40, 43, NULL);
    run_kernel(rank, "skip_nccl", 50, 60);
    run_kernel(rank, "skipped", 60, 70);
    run_kernel(rank, "gemm", 80, 80);
    run_event(rank, "Kernel", "gemm", 90, 95, NULL);
}

CLAIM(the_first_row_that_an_event_meets_decides)
{
    const trace_rank *rank;
    metric_picked p;
    run r;

    five(&r);
    rank = &r.rec.rank[0];
    p = metric_pick_of(rank, NULL, &pick, &r.arena);
    assert_int_equal(p.list.n, 5);
    assert_int_equal(p.class[0], COMM);
    assert_int_equal(p.class[2], COPY);
    assert_int_equal(p.class[3], REST); /* of another category, nccl is no communication */
    assert_int_equal(p.class[4], COMM); /* its first row comes before the one that skips */
    assert_int_equal(p.list.event[4], 4);
    metric_picked_sort(&p, &r.arena);
    assert_int_equal(p.list.event[0], 1);
    p = metric_pick_of(rank, &(metric_events){2, (uint32_t[]){2, 5}}, &pick, &r.arena);
    assert_int_equal(p.list.n, 1);
    run_free(&r);
}

CLAIM(classes_have_sums_and_unions)
{
    metric_sums s[3] = {{0}};
    metric_picked p;
    metric_spans time;
    metric_span all;
    run r;

    five(&r);
    p = metric_pick_of(&r.rec.rank[0], NULL, &pick, &r.arena);
    metric_picked_sum(&p, s);
    assert_int_equal(s[COMM].n, 3);
    assert_int_equal(s[COMM].sum_ps, 35 * TRACE_PS_PER_US);
    assert_int_equal(s[COMM].least_ps, 10 * TRACE_PS_PER_US);
    assert_int_equal(s[COMM].most_ps, 15 * TRACE_PS_PER_US);
    metric_pick_sum(&r.rec.rank[0], &pick, &r.arena, s);
    assert_int_equal(s[COPY].n, 2);
    time = metric_picked_time(&p, COMM, &r.arena);
    assert_int_equal(metric_spans_length(&time), 30 * TRACE_PS_PER_US);
    time = metric_picked_time(&p, METRIC_ANY_CLASS, &r.arena);
    assert_int_equal(metric_spans_length(&time), 40 * TRACE_PS_PER_US);
    all = metric_pick_span(&r.rec.rank[0], &pick, &r.arena);
    assert_int_equal(all.end - all.start, 60 * TRACE_PS_PER_US);
    run_free(&r);
}

static const metric_pick everything = METRIC_PICK(METRIC_INSTANTS, {0}), durations = METRIC_PICK(0, {0}),
                         timed = METRIC_PICK(METRIC_INSTANTS | METRIC_TIMED, {0});

CLAIM(instants_and_times_before_0_are_left_out_unless_asked_for)
{
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    rank->base_ns = 0;
    run_kernel(rank, NULL, -5, 5);
    run_kernel(rank, "gemm", 5, 10);
    rank->event[1].instant = true;
    assert_int_equal(metric_pick_of(rank, NULL, &everything, &r.arena).list.n, 2);
    assert_int_equal(metric_pick_of(rank, NULL, &durations, &r.arena).list.event[0], 0);
    assert_int_equal(metric_pick_of(rank, NULL, &timed, &r.arena).list.event[0], 1);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_row_that_an_event_meets_decides),
        cmocka_unit_test(classes_have_sums_and_unions),
        cmocka_unit_test(instants_and_times_before_0_are_left_out_unless_asked_for),
    };

    return RUN_TESTS(tests);
}
