/* Rankings of small on ring8, simulated again: stored rows are made here as a sweep would make them. */
#include "driver/bound.h"
#include "driver/robust.h"
#include "report/rows.h"
#include "unit/driver/spaces.h"

#include <inttypes.h>

#define MOST 110

static dse_arena arena;
static dse_error err;
static drv_study study;
static store_row rows[MOST];
static report_study ranked;
static report_robust robust;
static drv_robust_options options;

static const char *const few[] = {"8_1_1_1_0", "4_2_1_1_0", "2_4_1_1_0", "2_2_2_1_0"};
#define N_FEW (sizeof few / sizeof few[0])

static cfg_settings parse_settings(const char *const *set, size_t n)
{
    cfg_settings settings;

    assert_ok(drv_settings_parse(set, n, &arena, &settings, &err), &err);
    return settings;
}

static void begin(const char *system, const char *const *set, size_t n_set)
{
    cfg_settings settings;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    spaces_use(TEST_DATA "/cards");
    settings = parse_settings(set, n_set);
    assert_ok(drv_study_load("small", system, &settings, &arena, &study, &err), &err);
    options = (drv_robust_options){.spread = 0.1, .draws = 16, .seed = 1, .threads = 1};
}

static void end(void) { dse_arena_free(&arena); }

static void fill_row(store_row *r, const strategy *p)
{
    dse_strbuf config;

    dse_strbuf_init(&config);
    drv_study_write_config(&study, p, &config);
    *r = (store_row){.config = dse_arena_strdup(&arena, config.data),
                     .model = "small",
                     .system = study.system_name,
                     .engine = DRV_ENGINE,
                     .settings = "",
                     .error = "",
                     .strategy = *p,
                     .done = true};
    assert_non_null(r->config);
    dse_strbuf_free(&config);
    store_metrics_clear(&r->metrics);
}

/* Simulates the points, and ranks them. */
static void rank(const char *const *points, size_t n, double limit)
{
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++) {
        strategy p;

        assert_ok(strategy_parse_name(points[i], NULL, &p, NULL, &err), &err);
        fill_row(&rows[i], &p);
        assert_ok(drv_point_run(&study, &p, &arena, &rows[i].metrics, &err), &err);
    }
    ranked = (report_study){.row = rows, .n = n, .hbm_bytes = limit, .by = store_column_find("wall_time")};
    report_rank(&ranked, &arena);
}

static void run(void)
{
    assert_ok(drv_robust_choose(&ranked, &arena, &robust, &err), &err);
    drv_robust(&ranked, &options, &arena, &robust);
}

static void assert_parameters(const char *const *key, size_t n)
{
    assert_u64(robust.n_parameters, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(robust.parameter[i].key, key[i]);
}

CLAIM(the_rates_and_times_of_the_system_are_perturbed)
{
    static const char *const keys[] = {"compute.peak_perf",    "memory.bandwidth",   "network.bandwidth[0]",
                                       "network.bandwidth[1]", "network.latency[0]", "network.latency[1]"};

    begin("boxes8", NULL, 0);
    rank(few, N_FEW, NAN);
    run();
    assert_null(robust.why_not);
    assert_parameters(keys, 6);
    assert_double(robust.parameter[0].value, 45); /* as in boxes8.yaml */
    assert_string_equal(robust.parameter[0].unit, "TFLOPS");
    assert_double(robust.parameter[5].value, 100); /* 0.1us */
    assert_string_equal(robust.parameter[5].unit, "ns");
    end();
}

CLAIM(what_is_0_or_not_given_is_not_perturbed)
{
    static const char *const set[] = {"network.latency[0]=0"};
    static const char *const keys[] = {"compute.peak_perf", "memory.bandwidth", "network.bandwidth[0]",
                                       "network.bandwidth[1]", "network.latency[1]"};

    begin("boxes8", set, 1);
    rank(few, N_FEW, NAN);
    run();
    assert_parameters(keys, 5);
    end();
}

CLAIM(unperturbed_the_points_have_their_stored_times)
{
    begin("ring8", NULL, 0);
    rank(few, N_FEW, NAN);
    run();
    assert_u64(robust.n, N_FEW);
    assert_ptr_equal(robust.candidate[robust.result.winner], ranked.ranked[0]);
    for (size_t i = 0; i < robust.n; i++) {
        assert_ptr_equal(robust.candidate[i], ranked.ranked[i]);
        assert_double(robust.result.value[i], (double)robust.candidate[i]->metrics.wall_time);
    }
    end();
}

CLAIM(the_result_does_not_depend_on_the_threads)
{
    report_robust one;

    begin("ring8", NULL, 0);
    options.spread = 0.6;
    rank(few, N_FEW, 12e6);
    run();
    one = robust;
    options.threads = 4;
    run();
    assert_memory_equal(robust.result.wins, one.result.wins, robust.n * sizeof *one.result.wins);
    assert_double(robust.result.mean_regret, one.result.mean_regret);
    assert_u64(robust.n_simulated, one.n_simulated);
    for (size_t k = 0; k < robust.n_parameters; k++) {
        assert_double(robust.result.below[k].factor, one.result.below[k].factor);
        assert_double(robust.result.above[k].factor, one.result.above[k].factor);
    }
    end();
}

static uint64_t time_of(const store_row *r, const char *setting)
{
    const char *const set[] = {setting};
    cfg_settings settings = parse_settings(set, 1);
    strategy p = r->strategy;
    drv_study varied;
    store_metrics m;

    assert_ok(drv_study_vary(&study, &settings, &arena, &varied, &err), &err);
    assert_ok(drv_point_run(&varied, &p, &arena, &m, &err), &err);
    return m.wall_time;
}

/* A study of the same cards with the parameter set to the value at the crossover, and to one just short of it. */
CLAIM(beyond_a_crossover_the_other_is_faster)
{
    size_t found = 0;

    begin("ring8", NULL, 0);
    rank(few, N_FEW, NAN);
    run();
    for (size_t k = 0; k < robust.n_parameters; k++) {
        const cmp_crossover *c = &robust.result.below[k];
        char at[80], before[80];

        if (isnan(c->factor))
            continue;
        found++;
        snprintf(at, sizeof at, "%s=%.17g", robust.parameter[k].key, robust.parameter[k].value * c->factor);
        snprintf(before, sizeof before, "%s=%.17g", robust.parameter[k].key,
                 robust.parameter[k].value * c->factor * 1.0002);
        assert_true(time_of(robust.candidate[c->by], at) < time_of(ranked.ranked[0], at));
        assert_true(time_of(robust.candidate[c->by], before) >= time_of(ranked.ranked[0], before));
    }
    assert_true(found > 0);
    end();
}

/* What a step costs is the same for every point, so that it makes none the best. What a kernel costs is not: with tp 2 the
 * longest path has 110 kernels, without it 108 (how both grow where nothing else counts). */
CLAIM(fixed_costs_are_perturbed)
{
    static const char *const points[] = {"4_1_1_2_0", "2_2_1_2_0"};
    static const char *const set[] = {"overheads.per_kernel=1000", "overheads.per_step=20000"};
    static const char *const keys[] = {"compute.peak_perf",  "memory.bandwidth",     "network.bandwidth[0]",
                                       "network.latency[0]", "overheads.per_kernel", "overheads.per_step"};
    enum { KERNEL = 4, STEP };
    const cmp_crossover *c;
    cfg_settings step;
    char at[80], before[80];

    begin("ring8", set, 2);
    rank(points, 2, NAN);
    run();
    assert_parameters(keys, 6);
    assert_double(robust.parameter[KERNEL].value, 1000);
    assert_string_equal(robust.parameter[KERNEL].unit, "ns");
    assert_double(robust.parameter[STEP].value, 20000);
    assert_true(isnan(robust.result.below[STEP].factor) && isnan(robust.result.above[STEP].factor));
    c = &robust.result.above[KERNEL];
    assert_true(c->factor > 1 && c->by == 1);
    step = parse_settings(&set[1], 1); /* the other is set below */
    assert_ok(drv_study_load("small", "ring8", &step, &arena, &study, &err), &err);
    snprintf(at, sizeof at, "overheads.per_kernel=%.17g", 1000 * c->factor);
    snprintf(before, sizeof before, "overheads.per_kernel=%.17g", 1000 * c->factor / 1.0002);
    assert_true(time_of(robust.candidate[1], at) < time_of(robust.candidate[0], at));
    assert_true(time_of(robust.candidate[1], before) >= time_of(robust.candidate[0], before));
    end();
}

/* Of a limit between the two: both hold what they hold at once whatever the network, or one might hold less. */
CLAIM(of_the_points_above_the_limit_those_are_compared_that_might_fit)
{
    static const char *const points[] = {"8_1_1_1_0", "8_1_1_1_1", "4_2_1_1_0", "4_2_1_1_1", "2_4_1_1_0",
                                         "2_2_2_1_0", "2_1_4_1_0", "1_8_1_1_0", "1_2_4_1_0", "1_1_8_1_0"};
    size_t n_others = 0, n_hopeless = 0;
    drv_bounds bounds;

    begin("ring8", NULL, 0);
    rank(points, sizeof points / sizeof points[0], 12e6);
    run();
    drv_bounds_init(&bounds);
    assert_ok(drv_bounds_enter(&bounds, &study, &err), &err);
    for (size_t i = 0; i < ranked.n; i++) {
        strategy p = rows[i].strategy;
        sim_bound bound;
        bool compared = false;

        for (size_t k = 0; k < robust.n; k++)
            compared |= robust.candidate[k] == &rows[i];
        assert_ok(drv_bounds_of(&bounds, &study, &p, &bound, &err), &err);
        assert_int_equal(compared, (double)bound.held <= 12e6);
        n_others += compared && !store_fits(rows[i].metrics.peak_memory, ranked.hbm_bytes);
        n_hopeless += !compared;
    }
    drv_bounds_free(&bounds);
    assert_true(n_others > 0 && n_hopeless > 0);
    assert_u64(robust.n_ranked, ranked.n_ranked);
    assert_u64(robust.n, ranked.n_ranked + n_others);
    for (size_t k = 1; k < robust.n; k++)
        assert_true(robust.candidate[k - 1]->metrics.wall_time <= robust.candidate[k]->metrics.wall_time);
    end();
}

/* 70 rows of points that fit, and 40 of one that is above a limit which its bound is below: of them 64 and 32. Most are
 * slow, so that few of them are simulated again and again. */
CLAIM(of_many_points_the_first_are_compared)
{
    static const char *const set[] = {"layers=1"};
    const char *points[MOST];

    begin("ring8", set, 1);
    options.draws = 1;
    for (size_t i = 0; i < MOST; i++)
        points[i] = !i ? "4_2_1_1_0" : i < 70 ? "1_8_1_1_1" : "1_1_8_1_1";
    rank(points, 71, NAN);
    rank(points, MOST, (double)rows[70].metrics.peak_memory - 1);
    assert_u64(ranked.n_ranked, 70);
    run();
    assert_u64(robust.n_ranked, DRV_ROBUST_RANKED);
    assert_u64(robust.n, DRV_ROBUST_RANKED + DRV_ROBUST_OTHERS);
    assert_u64(robust.n_left, 40 - DRV_ROBUST_OTHERS);
    assert_ptr_equal(robust.candidate[robust.result.winner], &rows[0]);
    assert_u64(robust.result.wins[robust.result.winner], 1);
    end();
}

CLAIM(with_congestion_it_is_the_same_search)
{
    static const char *const set[] = {"layers=1", "network.backend=congestion_aware"};

    begin("ring8", set, 2);
    options.draws = 2;
    rank(few, 2, NAN);
    run();
    assert_null(robust.why_not);
    assert_u64(robust.result.wins[0] + robust.result.wins[1], 2);
    assert_double(robust.result.value[0], (double)ranked.ranked[0]->metrics.wall_time);
    end();
}

static void assert_not_known(const char *why)
{
    run();
    assert_non_null(robust.why_not);
    assert_string_equal(robust.why_not, why);
}

CLAIM(what_cannot_be_simulated_is_told)
{
    char *config, *hash;

    begin("ring8", NULL, 0);
    rank(few, N_FEW, 1);
    assert_not_known("no point is ranked");
    rank(few, 1, NAN);
    config = dse_arena_strdup(&arena, rows[0].config);
    hash = strstr(config, "\"operators_hash\":\"");
    assert_non_null(hash);
    memcpy(hash + strlen("\"operators_hash\":\""), "0123456789abcdef", 16);
    rows[0].config = config;
    run();
    assert_non_null(robust.why_not);
    assert_non_null(strstr(robust.why_not, "transformer"));
    rows[0].engine = "mine";
    rows[0].config = "{\"engine\":\"mine\",\"model_name\":\"m\",\"system_name\":\"s\","
                     "\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":false,"
                     "\"weight_sharded\":false}}";
    assert_not_known("results of 'mine' came without a system whose parameters could be changed");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rates_and_times_of_the_system_are_perturbed),
        cmocka_unit_test(what_is_0_or_not_given_is_not_perturbed),
        cmocka_unit_test(unperturbed_the_points_have_their_stored_times),
        cmocka_unit_test(the_result_does_not_depend_on_the_threads),
        cmocka_unit_test(beyond_a_crossover_the_other_is_faster),
        cmocka_unit_test(fixed_costs_are_perturbed),
        cmocka_unit_test(of_the_points_above_the_limit_those_are_compared_that_might_fit),
        cmocka_unit_test(of_many_points_the_first_are_compared),
        cmocka_unit_test(with_congestion_it_is_the_same_search),
        cmocka_unit_test(what_cannot_be_simulated_is_told),
    };

    return RUN_TESTS(tests);
}
