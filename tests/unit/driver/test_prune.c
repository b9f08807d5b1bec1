/* What a pruned sweep runs, and what it skips. */
#include "driver/prune.h"

#include "base/array.h"
#include "unit/driver/spaces.h"
#include "unit/point.h"
#include "unit/unit.h"

#include <inttypes.h>

#define STUDY 17u /* a hash, as far as the pruner knows */

static dse_arena arena;
static dse_error err;
static drv_study study;
static drv_pruner *pruner;
static const size_t *tasks;
static size_t n_tasks;
static uint64_t skipped[DRV_N_SKIPS];

/* On the eight NPUs of ring8, from few to many bytes of memory. */
static const char *const names[] = {"1_8_1_1_1", "2_4_1_1_1", "4_2_1_1_1", "8_1_1_1_1",
                                    "1_8_1_1_0", "2_4_1_1_0", "4_2_1_1_0", "8_1_1_1_0"};
#define N_POINTS DSE_COUNT(names)

static strategy points[N_POINTS];
static sim_bound bound[N_POINTS];

static int set_up(void **state)
{
    drv_bounds bounds;

    (void)state;
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    memset(skipped, 0, sizeof skipped);
    spaces_use(TEST_DATA "/cards");
    assert_ok(drv_study_load("small", "ring8", NULL, &arena, &study, &err), &err);
    drv_bounds_init(&bounds);
    assert_ok(drv_bounds_enter(&bounds, &study, &err), &err);
    for (size_t i = 0; i < N_POINTS; i++) {
        points[i] = unit_point("%s", names[i]);
        assert_ok(drv_bounds_of(&bounds, &study, &points[i], &bound[i], &err), &err);
    }
    drv_bounds_free(&bounds);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    drv_pruner_free(pruner);
    pruner = NULL;
    dse_arena_free(&arena);
    return 0;
}

/* All points are to be run; their rows have the hashes 100, 101, ... */
static void begin(uint64_t top, double hbm)
{
    pruner = drv_pruner_make(&(drv_prune){top, hbm});
    for (size_t i = 0; i < N_POINTS; i++)
        drv_pruner_add(pruner, i, &study, STUDY, 100 + i, &points[i]);
}

static void next_round(void) { drv_pruner_round(pruner, &tasks, &n_tasks, skipped); }

static void result(uint64_t study_hash, uint64_t hash, uint64_t wall, uint64_t peak)
{
    const store_time t = {hash, study_hash, wall, peak};

    drv_pruner_result(pruner, &t);
}

static uint64_t n_skipped(void)
{
    uint64_t n = 0;

    for (int i = 0; i < DRV_N_SKIPS; i++)
        n += skipped[i];
    return n;
}

static dse_time least_bound(void)
{
    dse_time least = bound[0].wall;

    for (size_t i = 0; i < N_POINTS; i++)
        least = bound[i].wall < least ? bound[i].wall : least;
    return least;
}

/* Rounds of 4, 6, ... points if fewer are wanted. */
CLAIM(points_run_in_rounds_in_the_order_of_their_bounds)
{
    dse_time last = 0;
    size_t n = 0;

    begin(1, NAN);
    for (next_round(); n_tasks; next_round()) {
        assert_int_equal(n_tasks, n ? N_POINTS - 4 : 4);
        for (size_t i = 0; i < n_tasks; i++) {
            assert_true(bound[tasks[i]].wall >= last);
            last = bound[tasks[i]].wall;
        }
        n += n_tasks;
    }
    assert_int_equal(n, N_POINTS);
    assert_u64(n_skipped(), 0);
}

CLAIM(a_result_that_is_strictly_faster_than_a_bound_skips_its_point)
{
    begin(1, NAN);
    result(STUDY, 1, least_bound() - 1, 0);
    next_round();
    assert_int_equal(n_tasks, 0);
    assert_u64(n_skipped(), N_POINTS);
    assert_u64(skipped[DRV_SKIP_MEMORY], 0);
}

/* Of equals `best` ranks the first: the point may be it. */
CLAIM(a_result_as_fast_as_a_bound_does_not)
{
    begin(1, NAN);
    result(STUDY, 1, least_bound(), 0);
    next_round();
    assert_true(n_tasks >= 1);
    assert_u64(bound[tasks[0]].wall, least_bound());
}

CLAIM(as_many_results_are_needed_as_are_wanted)
{
    begin(2, NAN);
    result(STUDY, 1, 1, 0);
    next_round();
    assert_int_equal(n_tasks, 4);
    result(STUDY, 100 + tasks[0], 1, 0);
    next_round();
    assert_int_equal(n_tasks, 0);
    assert_u64(n_skipped(), N_POINTS - 4);
}

CLAIM(results_that_best_does_not_rank_do_not_count)
{
    begin(1, 1e12);
    result(STUDY, 1, 1, 1000000000001); /* does not fit */
    result(STUDY, 2, 1, STORE_ABSENT);  /* nobody knows if it fits */
    result(STUDY, 3, STORE_ABSENT, 1);  /* nor how fast it is */
    result(STUDY + 1, 4, 1, 1);         /* another study */
    result(STUDY, 100, 1, 1);           /* is to be run again */
    next_round();
    assert_int_equal(n_tasks, 4);
    result(STUDY, 100, 1, 1); /* has been run */
    next_round();
    assert_int_equal(n_tasks, 0);
}

CLAIM(what_cannot_fit_is_not_run)
{
    uint64_t too_large = 0, limit = bound[0].held;

    for (size_t i = 0; i < N_POINTS; i++)
        too_large += bound[i].held > limit;
    assert_true(too_large > 0 && too_large < N_POINTS);
    begin(0, (double)limit);
    next_round();
    assert_int_equal(n_tasks, N_POINTS - too_large);
    assert_u64(skipped[DRV_SKIP_MEMORY], too_large);
    assert_u64(n_skipped(), too_large);
}

CLAIM(if_all_are_wanted_one_round_has_them)
{
    begin(0, NAN);
    result(STUDY, 1, 1, 0);
    next_round();
    assert_int_equal(n_tasks, N_POINTS);
    next_round();
    assert_int_equal(n_tasks, 0);
    assert_u64(n_skipped(), 0);
}

/* ring8 has not three NPUs. */
CLAIM(a_point_without_a_bound_is_run_first)
{
    const strategy odd = unit_point("3_1_1_1_0");

    begin(1, NAN);
    drv_pruner_add(pruner, N_POINTS, &study, STUDY, 99, &odd);
    result(STUDY, 1, 1, 0);
    next_round();
    assert_int_equal(n_tasks, 1);
    assert_int_equal(tasks[0], N_POINTS);
}

CLAIM(studies_are_apart_also_when_their_points_alternate)
{
    pruner = drv_pruner_make(&(drv_prune){1, NAN});
    for (size_t i = 0; i < N_POINTS; i++)
        drv_pruner_add(pruner, i, &study, STUDY + i % 2, 100 + i, &points[i]);
    result(STUDY, 1, 1, 0);
    next_round();
    assert_int_equal(n_tasks, N_POINTS / 2);
    for (size_t i = 0; i < n_tasks; i++)
        assert_int_equal(tasks[i] % 2, 1);
    assert_u64(n_skipped(), N_POINTS / 2);
}

/* As a sweep's does when many variants lie between two of its points: the next one comes with a copy of it. */
CLAIM(a_study_may_go_between_its_points)
{
    pruner = drv_pruner_make(&(drv_prune){1, NAN});
    for (size_t i = 0; i < N_POINTS; i++) {
        dse_arena own_arena;
        drv_study *own;

        dse_arena_init(&own_arena);
        own = DSE_ARENA_NEW(&own_arena, drv_study, 1);
        assert_non_null(own);
        assert_ok(drv_study_load("small", "ring8", NULL, &own_arena, own, &err), &err);
        drv_pruner_add(pruner, i, own, STUDY, 100 + i, &points[i]);
        dse_arena_free(&own_arena);
    }
    result(STUDY, 1, least_bound() - 1, 0);
    next_round();
    assert_int_equal(n_tasks, 0);
    assert_u64(n_skipped(), N_POINTS);
}

CLAIM(every_reason_has_a_name)
{
    for (int i = 0; i < DRV_N_SKIPS; i++)
        assert_true(drv_skip_name((drv_skip)i) && drv_skip_key((drv_skip)i));
    assert_string_equal(drv_skip_name(DRV_SKIP_COMPUTE), "the compute of the longest rank");
    assert_string_equal(drv_skip_key(DRV_SKIP_COMPUTE), "compute");
    assert_string_equal(drv_skip_name(DRV_SKIP_MEMORY), "the memory that a rank holds at once");
    assert_string_equal(drv_skip_key(DRV_SKIP_MEMORY), "memory");
    assert_string_equal(drv_skip_key(DRV_SKIP_COMM), "communication");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(points_run_in_rounds_in_the_order_of_their_bounds),
        TEST(a_result_that_is_strictly_faster_than_a_bound_skips_its_point),
        TEST(a_result_as_fast_as_a_bound_does_not),
        TEST(as_many_results_are_needed_as_are_wanted),
        TEST(results_that_best_does_not_rank_do_not_count),
        TEST(what_cannot_fit_is_not_run),
        TEST(if_all_are_wanted_one_round_has_them),
        TEST(a_point_without_a_bound_is_run_first),
        TEST(studies_are_apart_also_when_their_points_alternate),
        TEST(a_study_may_go_between_its_points),
        TEST(every_reason_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
