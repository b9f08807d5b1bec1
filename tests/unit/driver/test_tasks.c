/* Configurations that share what their variant has, from slots that variants take from each other. */
#include "base/hash.h"
#include "base/json_writer.h"
#include "driver/tasks.h"
#include "unit/driver/spaces.h"

static spaces s;

/* Two variants more than there are slots, of 20 points each. */
static void begin(void)
{
    spaces_use(TEST_DATA "/cards");
    dse_arena_init(&s.arena);
    assert_ok(spaces_make(&s, SMALL_ON_RING8 "axes: {batch: {from: 1, to: 69}}\n"), &s.err);
    assert_int_equal(s.points.n_variants, DRV_N_TASK_SLOTS + 2);
}

static void end(void) { dse_arena_free(&s.arena); }

CLAIM(a_task_has_its_configuration_in_whatever_order_it_is_entered)
{
    uint64_t seed = 3, hash;
    dse_arena arena;
    dse_strbuf text;
    drv_tasks t;

    begin();
    dse_arena_init(&arena);
    dse_strbuf_init(&text);
    drv_tasks_init(&t, &s.points, NULL);
    for (int i = 0; i < 500; i++) {
        size_t task = unit_random(&seed) % s.points.n;
        drv_study study;
        dse_json j;

        dse_arena_reset(&arena);
        dse_strbuf_clear(&text);
        assert_ok(drv_points_study(&s.points, s.points.point[task].variant, &arena, &study, &s.err), &s.err);
        drv_study_write_config(&study, &s.points.point[task].point, &text);
        assert_ok(drv_tasks_enter(&t, &s.points.point[task], &hash, &s.err), &s.err);
        assert_string_equal(t.config.data, text.data);
        assert_u64(hash, dse_hash_bytes(text.data, text.len));
        assert_string_equal(t.at->study.settings, study.settings);
        dse_strbuf_clear(&text);
        drv_study_write_config(&study, NULL, &text);
        assert_u64(t.at->hash, dse_hash_bytes(text.data, text.len));
        dse_strbuf_addc(&text, '\x1e');
        dse_json_init(&j, &text);
        drv_point_write_json(&s.points.point[task].point, &j);
        assert_ok(drv_tasks_request(&t, &s.points.point[task], &s.err), &s.err);
        assert_string_equal(t.request.data, text.data);
    }
    drv_tasks_free(&t);
    dse_strbuf_free(&text);
    dse_arena_free(&arena);
    end();
}

CLAIM(an_engine_is_that_of_every_task)
{
    uint64_t hash;
    drv_tasks t;

    begin();
    drv_tasks_init(&t, &s.points, "theirs");
    for (size_t task = 0; task < s.points.n; task += 20) {
        assert_ok(drv_tasks_enter(&t, &s.points.point[task], &hash, &s.err), &s.err);
        assert_string_equal(t.at->study.engine, "theirs");
        assert_non_null(strstr(t.config.data, "\"engine\":\"theirs\""));
    }
    drv_tasks_free(&t);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_has_its_configuration_in_whatever_order_it_is_entered),
        cmocka_unit_test(an_engine_is_that_of_every_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
