/* The most memory that tensors took: the same row over a snapshot and over a simulated run. */
#include "unit/metrics/run.h"

static run r;

static trace_rank *simulated(uint32_t number, uint64_t peak)
{
    trace_rank *rank = run_rank(&r, number);

    rank->kind = TRACE_SIMULATED;
    rank->peak_memory = peak;
    return rank;
}

/* A device with 200 bytes reserved, of which blocks of tensors asked for 100. Its history: 60, 40 and 30 are
 * allocated, 30 are freed; at most there were 130. */
static void snapshot(uint32_t number)
{
    static const trace_allocation history[] = {
        {1, 200, 0, TRACE_SEGMENT_ALLOC, 0}, {1, 60, 1, TRACE_ALLOC, 0},
        {2, 40, 2, TRACE_ALLOC, 0},          {3, 30, 3, TRACE_ALLOC, 0},
        {3, 30, 4, TRACE_FREE_REQUESTED, 0}, {3, 30, 5, TRACE_FREE_COMPLETED, 0}};
    trace_rank *rank = run_rank(&r, number);
    trace_allocator *a = rank->allocator = dse_calloc(1, sizeof *a);
    size_t n = sizeof history / sizeof history[0];

    rank->kind = TRACE_SNAPSHOT;
    DSE_GROW(a->segment, a->cap_segments, 1);
    DSE_GROW(a->history, a->cap_histories, 1);
    a->n_segments = a->n_histories = 1;
    a->segment[0] = (trace_segment){.total_size = 200,
                                    .allocated_size = 128,
                                    .active_size = 128,
                                    .requested_size = 100,
                                    .has_requested = true};
    a->segment[0].requested[TRACE_ACTIVE_ALLOCATED] = 100;
    a->history[0] = (trace_history){0};
    DSE_GROW(a->history[0].entry, a->history[0].cap, n);
    memcpy(a->history[0].entry, history, sizeof history);
    a->history[0].n = n;
}

static void peak_is(int64_t bytes)
{
    metric_value *v;

    r.err = (dse_error)DSE_ERROR_INIT;
    assert_ok(run_ask(&r, "peak_memory", &v, &r.err), &r.err);
    assert_int_equal(metric_get(v, "peak_memory")->integer, bytes);
    assert_double(metric_get(v, "peak_memory_gib")->number, (double)bytes / 1073741824);
    assert_int_equal(metric_get(v, "peak_is_lower_bound")->integer, 0);
}

static void absent_since(const char *why)
{
    metric_value *v;

    r.err = (dse_error)DSE_ERROR_INIT;
    assert_failure(run_ask(&r, "peak_memory", &v, &r.err), &r.err, DSE_E_ABSENT, "", why);
}

CLAIM(the_fullest_rank_of_a_simulated_run_counts)
{
    run_init(&r);
    simulated(0, 1000);
    simulated(1, 3000000000);
    simulated(2, 0);
    peak_is(3000000000);
    run_free(&r);
}

CLAIM(a_snapshot_s_peak_is_what_its_tensors_asked_for)
{
    run_init(&r);
    snapshot(0);
    peak_is(130);
    run_free(&r);
}

CLAIM(elements_are_no_bytes)
{
    run_init(&r);
    simulated(0, 1000)->in_elements = true;
    absent_since("the simulation counts elements, not bytes: its model card has no section 'precision'");
    run_free(&r);
}

CLAIM(memory_that_was_not_tracked_is_unknown)
{
    run_init(&r);
    simulated(0, 1000);
    simulated(1, TRACE_UNKNOWN);
    absent_since("the simulated run did not track memory (track-local-mem)");
    run_free(&r);
}

/* The peak may be that of the rank without a history. */
CLAIM(one_snapshot_without_a_history_makes_the_peak_unknown)
{
    run_init(&r);
    snapshot(0);
    snapshot(1);
    r.rec.rank[1].allocator->history[0].n = 0;
    absent_since("the snapshot has no history of this device; record one with "
                 "torch.cuda.memory._record_memory_history()");
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fullest_rank_of_a_simulated_run_counts),
        cmocka_unit_test(a_snapshot_s_peak_is_what_its_tensors_asked_for),
        cmocka_unit_test(elements_are_no_bytes),
        cmocka_unit_test(memory_that_was_not_tracked_is_unknown),
        cmocka_unit_test(one_snapshot_without_a_history_makes_the_peak_unknown),
    };
    return RUN_TESTS(tests);
}
