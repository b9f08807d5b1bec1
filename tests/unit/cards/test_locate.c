#include "cards/locate.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static const char *path;

static int begin(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return setenv("CCLDSE_CONFIGS", TEST_SOURCE "/configs", 1);
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

CLAIM(weights_of_scores_are_found_by_name_and_by_path)
{
    assert_ok(card_locate(CARD_SCORES, "default", &arena, &path, &err), &err);
    assert_string_equal(path, TEST_SOURCE "/configs/scores/default.yaml");
    assert_ok(card_locate(CARD_SCORES, "default.yaml", &arena, &path, &err), &err);
    assert_string_equal(path, TEST_SOURCE "/configs/scores/default.yaml");
    assert_ok(card_locate(CARD_SCORES, path, &arena, &path, &err), &err);
}

CLAIM(weights_that_are_nowhere_are_told_with_the_nearest)
{
    assert_failure(card_locate(CARD_SCORES, "defalt", &arena, &path, &err), &err, DSE_E_CONFIG, "",
                   "unknown weights 'defalt'; did you mean 'default'? they are in configs/scores");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(card_locate(CARD_SCORES, "nowhere/w.yaml", &arena, &path, &err), &err, DSE_E_CONFIG, "",
                   "cannot find the file of weights 'nowhere/w.yaml'");
}

CLAIM(a_measured_table_has_the_extension_of_json)
{
    static const char expected[] = TEST_SOURCE "/configs/measured/vtrain_a100.json";

    assert_ok(card_locate(CARD_MEASURED, "vtrain_a100", &arena, &path, &err), &err);
    assert_string_equal(path, expected);
    assert_ok(card_locate(CARD_MEASURED, "vtrain_a100.json", &arena, &path, &err), &err);
    assert_string_equal(path, expected);
    assert_ok(card_locate(CARD_MEASURED, expected, &arena, &path, &err), &err);
    assert_string_equal(path, expected);
}

CLAIM(a_measured_table_that_is_misspelt_is_told_with_the_nearest)
{
    assert_failure(
        card_locate(CARD_MEASURED, "vtrain_a10", &arena, &path, &err), &err, DSE_E_CONFIG, "",
        "unknown measured table 'vtrain_a10'; did you mean 'vtrain_a100'? they are in configs/measured");
}

CLAIM(the_beginning_of_a_name_is_told_with_the_first_that_goes_on)
{
    assert_failure(card_locate(CARD_SYSTEMS, "perlmutter.yaml", &arena, &path, &err), &err, DSE_E_CONFIG, "",
                   "unknown system 'perlmutter.yaml'; did you mean 'perlmutter_a100_40gb'? list them with "
                   "'ccldse systems'");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(card_locate(CARD_MEASURED, "vt", &arena, &path, &err), &err, DSE_E_CONFIG, "",
                   "unknown measured table 'vt': no such file, and no table of that name in " TEST_SOURCE
                   "/configs/measured");
}

/* README.md is beside them. */
CLAIM(measured_tables_are_listed_without_other_files)
{
    const char **names, *folder;
    size_t n;

    assert_ok(card_list(CARD_MEASURED, &arena, &names, &n, &folder, &err), &err);
    assert_int_equal(n, 6);
    assert_string_equal(names[0], "ccl_bench_search_sweeps");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(weights_of_scores_are_found_by_name_and_by_path, begin, end),
        cmocka_unit_test_setup_teardown(weights_that_are_nowhere_are_told_with_the_nearest, begin, end),
        cmocka_unit_test_setup_teardown(a_measured_table_has_the_extension_of_json, begin, end),
        cmocka_unit_test_setup_teardown(a_measured_table_that_is_misspelt_is_told_with_the_nearest, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_beginning_of_a_name_is_told_with_the_first_that_goes_on, begin,
                                        end),
        cmocka_unit_test_setup_teardown(measured_tables_are_listed_without_other_files, begin, end),
    };
    return RUN_TESTS(tests);
}
