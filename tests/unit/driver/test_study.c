/* A study and the generator that its owner may give it. */
#include "base/fs.h"
#include "driver/training.h"
#include "unit/workload/same.h"

static dse_arena arena;
static dse_error err;
static drv_study study;

static void load(void)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_int_equal(chdir(TEST_SOURCE), 0);
    assert_ok(drv_study_load("llama70b", "system1", NULL, &arena, &study, &err), &err);
    study.model.layers = 2;
    study.generator = wl_generator_new(&study.operators);
}

CLAIM(a_generator_changes_no_workload)
{
    static const char *const points[] = {"8_1_8_1_1", "4_1_16_1_1", "16_2_1_2_0", "8_1_8_1_1"};
    drv_study plain;

    load();
    plain = study;
    plain.generator = NULL;
    for (int i = 0; i < 4; i++) {
        strategy point;
        wl_workload kept, fresh;

        assert_ok(strategy_parse_name(points[i], NULL, &point, NULL, &err), &err);
        assert_ok(drv_point_generate(&study, &point, &arena, &kept, &err), &err);
        assert_ok(drv_point_generate(&plain, &point, &arena, &fresh, &err), &err);
        assert_same_workload(&kept, &fresh);
    }
    assert_u64(wl_generator_usage(study.generator)->n_built,
               2); /* the first two and the last have one shape */
    wl_generator_free(study.generator);
    dse_arena_free(&arena);
}

/* A copy of the study may use the generator as long as its operators are the same. */
CLAIM(a_generator_stays_with_its_operators)
{
    char folder[64], path[96];
    cfg_setting batch = {.path = "batch", .value = "256"}, operators = {.path = "operators", .value = path};
    drv_study varied;
    dse_strbuf text;

    load();
    dse_strbuf_init(&text);
    assert_ok(dse_read_file("configs/operators/transformer.yaml", CFG_MAX_BYTES, &text, &err), &err);
    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/another.yaml", folder);
    unit_write_text(path, text.data);
    assert_ok(drv_study_vary(&study, &(cfg_settings){1, &batch}, &arena, &varied, &err), &err);
    assert_ptr_equal(varied.generator, study.generator);
    assert_ok(drv_study_vary(&study, &(cfg_settings){1, &operators}, &arena, &varied, &err), &err);
    assert_null(varied.generator);
    unit_remove_folder(folder);
    dse_strbuf_free(&text);
    wl_generator_free(study.generator);
    dse_arena_free(&arena);
}

/* Results of a step by other rules must not be taken for those of this program: the engine is part of what they are of. */
CLAIM(the_engine_is_that_of_the_profile)
{
    cfg_setting train = {.path = "operators", .value = "gpt"}, stage = {.path = "profile", .value = "stage"};
    drv_study stepping, back;

    load();
    assert_string_equal(study.engine, DRV_ENGINE);
    assert_ok(drv_study_vary(&study, &(cfg_settings){1, &train}, &arena, &stepping, &err), &err);
    assert_string_equal(stepping.engine, DRV_STEP_ENGINE);
    assert_ok(drv_study_vary(&stepping, &(cfg_settings){1, &stage}, &arena, &back, &err), &err);
    assert_string_equal(back.engine, DRV_ENGINE);
    wl_generator_free(study.generator);
    dse_arena_free(&arena);
}

static drv_study with(const char *path, const char *value)
{
    cfg_setting one;
    drv_study varied;

    assert_ok(cfg_setting_parse(dse_arena_printf(&arena, "%s=%s", path, value), &arena, &one, &err), &err);
    assert_ok(drv_study_vary(&study, &(cfg_settings){1, &one}, &arena, &varied, &err), &err);
    assert_non_null(varied.training);
    return varied;
}

static const struct sim_table *table_of(const drv_study *s) { return s->training->settings.law[WL_KERNEL_MATMUL_FP8].table; }

/* A sweep of a bandwidth has hundreds of variants. */
CLAIM(a_table_is_read_once)
{
    drv_study varied;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(drv_study_load("gpt3-175b", "hgx_h100", NULL, &arena, &study, &err), &err);
    assert_non_null(table_of(&study));
    varied = with("network.bandwidth[1]", "20GB/s");
    assert_ptr_equal(varied.tables.first, study.tables.first);
    assert_ptr_equal(table_of(&varied), table_of(&study));
    assert_memory_equal(varied.system.kernels, study.system.kernels, sizeof study.system.kernels);
    varied = with("kernels.laws", "affine");
    assert_null(table_of(&varied));
    varied = with("device", "nvidia_b200");
    assert_ptr_not_equal(varied.tables.first, study.tables.first);
    assert_ptr_not_equal(table_of(&varied), table_of(&study));
    varied = with("compute.peak_perf", "500TFLOPS");
    assert_true(varied.system.peak_fp8 < study.system.peak_fp8);
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_generator_changes_no_workload),
        cmocka_unit_test(a_generator_stays_with_its_operators),
        cmocka_unit_test(the_engine_is_that_of_the_profile),
        cmocka_unit_test(a_table_is_read_once),
    };
    return RUN_TESTS(tests);
}
