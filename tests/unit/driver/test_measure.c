#include "driver/measure.h"
#include "unit/unit.h"

/* tests/data/traces: two ranks of three steps; one rank with a kernel and no step. */
static drv_recording two_ranks, no_steps;
static dse_arena arena;
static const metric_options plain = {.model_params = 7e9};

static void load(const char *name, drv_recording *out)
{
    dse_error err = DSE_ERROR_INIT;
    char path[512];

    snprintf(path, sizeof path, "%s/traces/%s", TEST_DATA, name);
    assert_ok(drv_recording_load(path, &(drv_recording_options){.n_threads = 1}, out, &err), &err);
}

static int begin(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    load("two_ranks", &two_ranks);
    load("no_steps", &no_steps);
    return 0;
}

static int end(void **state)
{
    (void)state;
    drv_recording_free(&two_ranks);
    drv_recording_free(&no_steps);
    dse_arena_free(&arena);
    return 0;
}

static const report_measured *find(const report_measured *m, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(m[i].name, name) == 0)
            return &m[i];
    fail_msg("no %s", name);
    return NULL;
}

/* The mean of 100, 120, 140 us, and of 110, 120, 130 us. */
CLAIM(a_metric_is_found_by_its_name_and_computed)
{
    dse_error err = DSE_ERROR_INIT;
    report_measured out;
    const metric *m;

    assert_ok(drv_measure_find(&two_ranks, "iter_time", false, &m, &err), &err);
    assert_ok(drv_measure(&two_ranks, m, "iter_time", &plain, &arena, &out, &err), &err);
    assert_non_null(out.value);
    assert_null(out.why);
    assert_double(metric_get(out.value, "avg_iter_time_ms")->number, 0.12);
}

CLAIM(what_is_absent_has_a_reason)
{
    dse_error err = DSE_ERROR_INIT;
    report_measured out;
    const metric *m;

    assert_ok(drv_measure_find(&no_steps, "kineto.iter_time", false, &m, &err), &err);
    assert_ok(drv_measure(&no_steps, m, "iter_time", &plain, &arena, &out, &err), &err);
    assert_null(out.value);
    assert_false(out.other_kind);
    assert_non_null(strstr(out.why, "step"));
}

CLAIM(all_are_there_once_by_name_each_with_a_value_or_a_reason)
{
    dse_error err = DSE_ERROR_INIT;
    report_measured *m;
    size_t n;

    assert_ok(drv_measure_all(&two_ranks, &plain, &arena, &m, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        assert_true((m[i].value != NULL) != (m[i].why != NULL));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(m[i].name, m[k].name);
        if (i)
            assert_true(strcmp(m[i - 1].row->name, m[i].row->name) <= 0);
    }
    assert_non_null(find(m, n, "iter_time")->value);
    assert_non_null(find(m, n, "comm_comp_overlap")->value);
}

/* iter_time is of GPU traces, never of a TPU's or a snapshot. */
CLAIM(the_kinds_of_traces_that_names_need_are_those_of_their_rows)
{
    static const char *const names[] = {"iter_time"};
    const unsigned kinds = drv_measure_kinds(names, 1, false, &arena);

    assert_true(kinds & METRIC_ON(TRACE_KINETO));
    assert_true(kinds & METRIC_ON(TRACE_SIMULATED));
    assert_false(kinds & METRIC_ON(TRACE_XLA));
    assert_false(kinds & METRIC_ON(TRACE_SNAPSHOT));
    assert_int_equal(drv_measure_kinds(names, 0, false, &arena), 0);
}

CLAIM(an_unknown_name_is_refused)
{
    dse_error err = DSE_ERROR_INIT;
    const metric *m;

    assert_says(drv_measure_find(&two_ranks, "itertime", false, &m, &err), &err, DSE_E_USAGE,
                "unknown metric 'itertime'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_metric_is_found_by_its_name_and_computed),
        TEST(what_is_absent_has_a_reason),
        TEST(all_are_there_once_by_name_each_with_a_value_or_a_reason),
        TEST(the_kinds_of_traces_that_names_need_are_those_of_their_rows),
        TEST(an_unknown_name_is_refused),
    };
    return RUN_TESTS(tests);
}
