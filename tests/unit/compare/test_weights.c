#include "compare/weights.h"
#include "unit/unit.h"

static const char *const known[] = {"step_time", "mfu", "peak_memory"};
static char folder[64], path[96];
static dse_arena arena;
static dse_error err;
static cmp_weights w;

static int begin(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/w.yaml", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unit_remove_folder(folder);
    dse_arena_free(&arena);
    return 0;
}

static dse_status load(const char *text)
{
    err = (dse_error)DSE_ERROR_INIT;
    w = (cmp_weights){.n = 77};
    unit_write_text(path, text);
    return cmp_weights_load(path, known, 3, &arena, &w, &err);
}

/* The message, and the place behind the name of the file. */
static void refuses(const char *text, const char *place, const char *message)
{
    dse_strbuf where;

    dse_strbuf_init(&where);
    dse_strbuf_addf(&where, "%s%s", path, place);
    assert_failure(load(text), &err, DSE_E_CONFIG, where.data, message);
    assert_int_equal(w.n, 77);
    dse_strbuf_free(&where);
}

CLAIM(weights_are_read_in_the_order_of_the_file)
{
    assert_ok(load("mfu: 2.5 # why\nstep_time: 1e1\npeak_memory: 0\n"), &err);
    assert_int_equal(w.n, 3);
    assert_string_equal(w.path, path);
    assert_string_equal(w.name[0], "mfu");
    assert_string_equal(w.name[1], "step_time");
    assert_double(w.weight[0], 2.5);
    assert_double(w.weight[1], 10);
    assert_double(cmp_weight_of(&w, "step_time"), 10);
    assert_double(cmp_weight_of(&w, "peak_memory"), 0);
    assert_double(cmp_weight_of(&w, "none"), 0);
}

CLAIM(an_unknown_metric_is_told_with_the_nearest)
{
    refuses("mfu: 1\nstep_tme: 1\n", ":2:1",
            "unknown metric 'step_tme'; did you mean 'step_time'? known: step_time, mfu, peak_memory");
}

CLAIM(any_name_is_taken_where_none_is_known)
{
    err = (dse_error)DSE_ERROR_INIT;
    unit_write_text(path, "whatever: 1\n");
    assert_ok(cmp_weights_load(path, NULL, 0, &arena, &w, &err), &err);
    assert_double(cmp_weight_of(&w, "whatever"), 1);
}

CLAIM(a_weight_is_a_number_from_0_on)
{
    refuses("mfu: much\n", ":1:6", "the weight of 'mfu' must be a number, not 'much'");
    refuses("mfu: '1'\n", ":1:6", "the weight of 'mfu' must be a number, not '1'");
    refuses("mfu: 10%\n", ":1:6", "the weight of 'mfu' must be a number, not '10%'");
    refuses("mfu: [1]\n", ":1:6", "the weight of 'mfu' must be a number, not a list");
    refuses("mfu: {a: 1}\n", ":1:6", "the weight of 'mfu' must be a number, not a mapping");
    refuses("step_time: 1\nmfu: -1\n", ":2:6", "the weight of 'mfu' is -1; a weight is between 0 and 1e+09");
}

CLAIM(infinite_weights_are_refused)
{
    assert_int_not_equal(load("mfu: inf\n"), DSE_OK);
    assert_int_not_equal(load("mfu: nan\n"), DSE_OK);
    assert_int_not_equal(load("mfu: 1e999\n"), DSE_OK);
}

/* Two of 1e308 sum up to infinity, and any error by that is 0. */
CLAIM(weights_that_do_not_add_up_are_refused)
{
    refuses("mfu: 1e308\nstep_time: 1e308\n", ":1:6",
            "the weight of 'mfu' is 1e308; a weight is between 0 and 1e+09");
}

CLAIM(weights_that_weigh_nothing_are_refused)
{
    refuses("mfu: 0\n", "", "no metric has a weight above 0; give one a weight: 'METRIC: 1'");
    refuses("{}\n", "", "no metric has a weight above 0; give one a weight: 'METRIC: 1'");
}

CLAIM(a_file_of_something_else_is_refused)
{
    refuses("- mfu\n", ":1:1", "weights are lines of 'METRIC: WEIGHT', not a list");
    refuses("mfu\n", ":1:1", "weights are lines of 'METRIC: WEIGHT', not 'mfu'");
    assert_says(load(""), &err, DSE_E_SYNTAX, "the file is empty");
    assert_says(load("mfu: 1\nmfu: 2\n"), &err, DSE_E_SYNTAX, "mfu");
    err = (dse_error)DSE_ERROR_INIT;
    assert_int_equal(cmp_weights_load("/nonexistent/w.yaml", NULL, 0, &arena, &w, &err), DSE_E_IO);
}

/* Read by whoever measures; here only that it is one. */
CLAIM(the_weights_that_ship_can_be_read)
{
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cmp_weights_load(TEST_SOURCE "/configs/scores/default.yaml", NULL, 0, &arena, &w, &err), &err);
    for (size_t i = 1; i < w.n; i++)
        assert_true(w.weight[i] < w.weight[0]); /* the step time weighs most */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(weights_are_read_in_the_order_of_the_file, begin, end),
        cmocka_unit_test_setup_teardown(an_unknown_metric_is_told_with_the_nearest, begin, end),
        cmocka_unit_test_setup_teardown(any_name_is_taken_where_none_is_known, begin, end),
        cmocka_unit_test_setup_teardown(a_weight_is_a_number_from_0_on, begin, end),
        cmocka_unit_test_setup_teardown(infinite_weights_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(weights_that_do_not_add_up_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(weights_that_weigh_nothing_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_file_of_something_else_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(the_weights_that_ship_can_be_read, begin, end),
    };
    return RUN_TESTS(tests);
}
