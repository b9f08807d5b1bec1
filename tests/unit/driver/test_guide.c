#include "base/fs.h"
#include "driver/guide.h"
#include "unit/unit.h"

static char folder[64];
static dse_arena arena;

static void make(const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(dse_mkdirs(path, NULL), DSE_OK);
}

static int begin(void **state)
{
    char path[128];

    (void)state;
    dse_arena_init(&arena);
    unit_make_folder(folder);
    make("traces");
    snprintf(path, sizeof path, "%s/workload_card.yaml", folder);
    unit_write_text(path, "version: 1\n");
    return 0;
}

static int end(void **state)
{
    (void)state;
    unit_remove_folder(folder);
    dse_arena_free(&arena);
    return 0;
}

static drv_guide find(void)
{
    dse_error err = DSE_ERROR_INIT;
    drv_guide g;

    assert_ok(drv_guide_find(folder, &arena, &g, &err), &err);
    return g;
}

/* As text it would be 10, 2, 5, and the middle 2. */
CLAIM(iterations_are_in_the_order_of_their_numbers)
{
    drv_guide g;

    make("traces/profile_traces/iteration_10");
    make("traces/profile_traces/iteration_5");
    make("traces/profile_traces/iteration_2");
    make("traces/profile_traces/other_3");
    g = find();
    assert_int_equal(g.n, 3);
    assert_string_equal(g.iteration[0].name, "iteration_2");
    assert_string_equal(g.iteration[1].name, "iteration_5");
    assert_string_equal(g.iteration[2].name, "iteration_10");
    assert_string_equal(g.chosen->name, "iteration_5");
}

/* Of four the second: index (4 - 1) / 2. */
CLAIM(those_of_profile_traces_come_first_and_of_two_middle_ones_the_lower_is_taken)
{
    drv_guide g;

    make("traces/iteration_1");
    make("traces/iteration_2");
    make("traces/profile_traces/iteration_3");
    make("traces/profile_traces/iteration_4");
    g = find();
    assert_int_equal(g.n, 4);
    assert_string_equal(g.chosen->name, "iteration_4");
    assert_string_equal(strrchr(g.chosen->path, '/'), "/iteration_4");
}

CLAIM(numbers_may_be_long_or_missing)
{
    drv_guide g;

    make("traces/iteration_100000000000000000000000000");
    make("traces/iteration_99999999999999999999999999");
    make("traces/iteration_007");
    make("traces/iteration_x");
    make("traces/iteration_");
    g = find();
    assert_string_equal(g.iteration[0].name, "iteration_007");
    assert_string_equal(g.iteration[1].name, "iteration_99999999999999999999999999");
    assert_string_equal(g.iteration[2].name, "iteration_100000000000000000000000000");
    assert_string_equal(g.iteration[3].name, "iteration_");
    assert_string_equal(g.iteration[4].name, "iteration_x");
}

CLAIM(without_iterations_the_traces_are_one_under_the_name_all)
{
    drv_guide g = find();

    assert_int_equal(g.n, 1);
    assert_string_equal(g.chosen->name, "all");
    assert_string_equal(g.chosen->path, g.traces);
}

CLAIM(what_a_workload_lacks_is_named)
{
    dse_error err = DSE_ERROR_INIT;
    char path[128];
    drv_guide g;

    snprintf(path, sizeof path, "%s/workload_card.yaml", folder);
    unlink(path);
    assert_says(drv_guide_find(folder, &arena, &g, &err), &err, DSE_E_IO, "has no workload_card.yaml");
    snprintf(path, sizeof path, "%s/traces", folder);
    rmdir(path);
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(drv_guide_find(folder, &arena, &g, &err), &err, DSE_E_IO, "has no folder traces");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(drv_guide_find("/tmp/ccldse-unit-none", &arena, &g, &err), &err, DSE_E_IO, "",
                   "there is no folder '/tmp/ccldse-unit-none'");
}

CLAIM(a_tool_of_another_name_is_refused)
{
    static const char *const names[] = {"iter_time"};
    dse_error err = DSE_ERROR_INIT;
    const char *const *tools;
    size_t n;

    assert_says(drv_guide_tools(names, 1, &arena, &tools, &n, &err), &err, DSE_E_USAGE,
                "unknown tool 'iter_time'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(iterations_are_in_the_order_of_their_numbers),
        TEST(those_of_profile_traces_come_first_and_of_two_middle_ones_the_lower_is_taken),
        TEST(numbers_may_be_long_or_missing),
        TEST(without_iterations_the_traces_are_one_under_the_name_all),
        TEST(what_a_workload_lacks_is_named),
        TEST(a_tool_of_another_name_is_refused),
    };
    return RUN_TESTS(tests);
}
