/* Stored rows against tools that are shell scripts. */
#include "driver/verify.h"

#include "unit/point.h"
#include "unit/unit.h"

#include <limits.h>

#define SMALL TEST_DATA "/cards/models/small.yaml"
#define RING8 TEST_DATA "/cards/systems/ring8.yaml"

#define N_ROWS 3

static char folder[64], before[PATH_MAX];
static dse_arena arena;
static dse_error err;
static drv_external tools;
static store_row rows[N_ROWS];
static drv_verified found[N_ROWS];
static size_t last_finished, last_total;

static void progress(void *user, size_t finished, size_t total)
{
    (void)user;
    last_finished = finished;
    last_total = total;
}

static const char *config_of(const drv_study *s, const strategy *p)
{
    dse_strbuf text;
    const char *copy;

    dse_strbuf_init(&text);
    drv_study_write_config(s, p, &text);
    assert_non_null(copy = dse_arena_strdup(&arena, text.data));
    dse_strbuf_free(&text);
    return copy;
}

/* Three strategies, stored with the figures of the script below. */
static int begin(void **state)
{
    static const char *const points[N_ROWS] = {"8_1_1_1_0", "4_2_1_1_0", "2_4_1_1_0"};
    const drv_external_options options = {
        .stage = "true", .simulator = {"sh ./sim.sh"}, .timeout_seconds = 20};
    drv_study study;

    (void)state;
    err = (dse_error)DSE_ERROR_INIT;
    assert_non_null(getcwd(before, sizeof before));
    unit_make_folder(folder);
    assert_int_equal(chdir(folder), 0);
    dse_arena_init(&arena);
    assert_ok(drv_study_load(SMALL, RING8, NULL, &arena, &study, &err), &err);
    for (size_t i = 0; i < N_ROWS; i++) {
        const strategy p = unit_point("%s", points[i]);

        rows[i] = (store_row){.config = config_of(&study, &p), .done = true};
        store_metrics_clear(&rows[i].metrics);
        rows[i].metrics.wall_time = rows[i].metrics.wall_time_rank0 = 90;
        rows[i].metrics.gpu_time = 80;
        rows[i].metrics.comm_time = 0;
        rows[i].metrics.compute_bound = 1.0004;
        rows[i].metrics.compute_util = 2;
        rows[i].metrics.mem_util = 3;
        rows[i].metrics.op_intensity = 4;
        rows[i].metrics.peak_memory = rows[i].metrics.peak_memory_rank0 = 5123; /* 5.0029... KB */
    }
    unit_write_text("sim.sh", "echo 'sys[0], Wall time: 90'; echo 'sys[0], GPU time: 80';"
                              "echo 'sys[0], Compute bound percentage: 1.000%';"
                              "echo 'sys[0], Average compute utilization: 2.000$';"
                              "echo 'sys[0], Average memory utilization: 3.000%';"
                              "echo 'sys[0], Average operation intensity: 4.000';"
                              "echo 'sys[0] peak memory usage: 5.00 KB'");
    assert_ok(drv_external_init(&options, &arena, &tools, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    assert_int_equal(chdir(before), 0);
    unit_remove_folder(folder);
    return 0;
}

static dse_status verify(void)
{
    const drv_verification v = {&tools, rows, N_ROWS, 2, progress, NULL};

    return drv_verify(&v, &arena, found, &err);
}

/* Both wall times, two times, four rates, both peaks. */
CLAIM(figures_that_print_alike_do_not_differ)
{
    assert_ok(verify(), &err);
    for (size_t i = 0; i < N_ROWS; i++) {
        assert_null(found[i].failure);
        assert_int_equal(found[i].n_compared, 10);
        assert_int_equal(found[i].n_differences, 0);
    }
    assert_int_equal(last_finished, N_ROWS);
    assert_int_equal(last_total, N_ROWS);
}

CLAIM(every_figure_that_differs_is_named_with_both_values)
{
    rows[1].metrics.wall_time = 91;
    rows[1].metrics.comm_time = 1;
    rows[1].metrics.compute_bound = 1.0006;
    rows[1].metrics.peak_memory = 5130; /* 5.0097... KB */
    rows[1].metrics.gpu_time = STORE_ABSENT;
    assert_ok(verify(), &err);
    assert_int_equal(found[0].n_differences, 0);
    assert_int_equal(found[1].n_differences, 5);
    for (size_t i = 0; i < 5; i++) {
        static const char *const expected[][3] = {{"wall_time", "91", "90"},
                                                  {"peak_memory", "5.01 KB", "5.00 KB"},
                                                  {"gpu_time", "none", "80"},
                                                  {"comm_time", "1", "0"},
                                                  {"compute_bound", "1.001", "1.000"}};

        assert_string_equal(found[1].difference[i].statistic, expected[i][0]);
        assert_string_equal(found[1].difference[i].stored, expected[i][1]);
        assert_string_equal(found[1].difference[i].external, expected[i][2]);
    }
}

CLAIM(a_row_that_cannot_be_run_does_not_stop_the_others)
{
    rows[0].config = "{}";
    unit_write_text("sim.sh",
                    "case $1 in *_4_2_1_1_0_*) echo oh; exit 1 ;; esac; echo 'sys[0], Wall time: x'");
    assert_ok(verify(), &err);
    assert_non_null(strstr(found[0].failure, "a configuration has engine, model, system, point"));
    assert_non_null(strstr(found[1].failure, "ASTRA-sim ('sh') exited with code 1; "));
    assert_non_null(strstr(found[2].failure, "/astrasim.log:1: no number, or one that cannot be, of sys[0]"));
    assert_int_equal(last_finished, N_ROWS);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(figures_that_print_alike_do_not_differ),
        TEST(every_figure_that_differs_is_named_with_both_values),
        TEST(a_row_that_cannot_be_run_does_not_stop_the_others),
    };
    return RUN_TESTS(tests);
}
