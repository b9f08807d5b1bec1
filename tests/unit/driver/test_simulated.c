/* A simulated point as a recording: the same as its timeline read back, metric for metric. */
#include "driver/simulated.h"

#include "driver/measure.h"
#include "driver/timeline.h"
#include "unit/point.h"
#include "unit/unit.h"

#define CARDS TEST_DATA "/cards"

static dse_arena arena;
static dse_error err;
static drv_study study;
static strategy point;

static int load(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    point = unit_point("2_2_1_2_0");
    err = (dse_error)DSE_ERROR_INIT;
    return drv_study_load(CARDS "/models/small.yaml", CARDS "/systems/ring8.yaml", NULL, &arena, &study,
                          &err) != DSE_OK;
}

static int forget(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

static void save(const char *path)
{
    trace_ticks ticks;
    sim_result result;
    wl_workload w;

    assert_ok(drv_point_generate(&study, &point, &arena, &w, &err), &err);
    assert_ok(drv_point_simulate(&study, &w, &arena, &result, &ticks, &err), &err);
    assert_ok(drv_timeline_save(&w, &result, &ticks, path, &arena, &err), &err);
}

static void same(const report_measured *a, const report_measured *b)
{
    dse_strbuf x, y;

    dse_strbuf_init(&x);
    dse_strbuf_init(&y);
    if (a->value)
        metric_write_json(a->value, 0, &x);
    if (b->value)
        metric_write_json(b->value, 0, &y);
    assert_string_equal(a->name, b->name);
    if (strcmp(x.data, y.data) != 0)
        fail_msg("%s is '%.300s', but '%.300s' of the timeline", a->name, x.data, y.data);
    dse_strbuf_free(&x);
    dse_strbuf_free(&y);
}

/* And none of them minds that there is no file. */
CLAIM(every_metric_is_that_of_the_timeline)
{
    const metric_options o = {.model_params = 7e9, .n_chips = 8, .force = true};
    drv_recording at_once, through_file;
    report_measured *a, *b;
    size_t n, m, there = 0;
    char folder[64], path[128];

    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.json", folder);
    save(path);
    assert_ok(drv_simulated_run(&study, &point, NULL, &at_once, NULL, &err), &err);
    assert_ok(drv_recording_load(path, &(drv_recording_options){0}, &through_file, &err), &err);
    assert_false(at_once.has_card);
    assert_ok(drv_measure_all(&at_once, &o, &arena, &a, &n, &err), &err);
    assert_ok(drv_measure_all(&through_file, &o, &arena, &b, &m, &err), &err);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) {
        same(&a[i], &b[i]);
        there += a[i].value != NULL;
    }
    assert_true(there > 20);
    drv_recording_free(&at_once);
    drv_recording_free(&through_file);
    unit_remove_folder(folder);
}

CLAIM(its_summary_is_what_is_stored_of_the_point)
{
    drv_recording r;
    store_metrics summary, stored;

    assert_ok(drv_simulated_run(&study, &point, NULL, &r, &summary, &err), &err);
    assert_ok(drv_point_run(&study, &point, &arena, &stored, &err), &err);
    assert_u64(summary.wall_time, stored.wall_time);
    assert_u64(summary.peak_memory, stored.peak_memory);
    assert_u64(summary.step_comm[STRATEGY_AXIS_pp], stored.step_comm[STRATEGY_AXIS_pp]);
    assert_string_equal(summary.peak_node, stored.peak_node);
    assert_int_equal(r.n_views, 8);
    drv_recording_free(&r);
}

/* Its nodes, and then the fixed cost of a step: without it 1 ms less. */
CLAIM(a_step_has_its_fixed_cost)
{
    drv_recording with, without;

    assert_ok(drv_simulated_run(&study, &point, NULL, &without, NULL, &err), &err);
    study.system.per_step = 1e6; /* ns */
    assert_ok(drv_simulated_run(&study, &point, NULL, &with, NULL, &err), &err);
    for (size_t i = 0; i < with.n_views; i++) {
        assert_int_equal(with.view[i].n_steps, 1);
        assert_u64((uint64_t)(with.view[i].step[0].span.end - without.view[i].step[0].span.end),
                   UINT64_C(1000000) * TRACE_PS_PER_NS);
    }
    drv_recording_free(&with);
    drv_recording_free(&without);
}

/* The ranks of a simulated run are the generator's, whatever the machine of the trace has. */
CLAIM(the_card_is_its_own_but_for_the_order_of_ranks)
{
    const trace_card card = {.path = "card.yaml", .tp = 2, .rank_order = "tp,pp,cp,dp_shard,dp_replicate"};
    strategy other;
    drv_recording r;

    assert_ok(drv_simulated_run(&study, &point, &card, &r, NULL, &err), &err);
    assert_true(r.has_card);
    assert_int_equal(r.card.tp, 2);
    assert_string_equal(r.card.rank_order, "dp_shard,dp_replicate,tp,cp,pp");
    drv_recording_free(&r);
    other = unit_point("2_2_1_2_0_placement=pp-tp-sp-dp");
    assert_ok(drv_simulated_run(&study, &other, &card, &r, NULL, &err), &err);
    assert_string_equal(r.card.rank_order, "pp,tp,cp,dp_shard,dp_replicate");
    drv_recording_free(&r);
}

CLAIM(a_point_that_does_not_fit_leaves_nothing)
{
    const strategy odd = unit_point("3_1_1_1_0");
    drv_recording r;

    assert_says(
        drv_simulated_run(&study, &odd, NULL, &r, NULL, &err),
        &err, DSE_E_RANGE, "has 8 NPUs");
    assert_int_equal(r.record.n_ranks, 0);
    drv_recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_metric_is_that_of_the_timeline, load, forget),
        cmocka_unit_test_setup_teardown(its_summary_is_what_is_stored_of_the_point, load, forget),
        cmocka_unit_test_setup_teardown(a_step_has_its_fixed_cost, load, forget),
        cmocka_unit_test_setup_teardown(the_card_is_its_own_but_for_the_order_of_ranks, load, forget),
        cmocka_unit_test_setup_teardown(a_point_that_does_not_fit_leaves_nothing, load, forget),
    };
    return RUN_TESTS(tests);
}
