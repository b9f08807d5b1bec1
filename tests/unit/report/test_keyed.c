/* The classic file of results, byte for byte. */
#include "report/keyed.h"
#include "unit/point.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static dse_strbuf out;

static void begin(void)
{
    dse_arena_init(&arena);
    dse_strbuf_init(&out);
    err = (dse_error)DSE_ERROR_INIT;
}

static void end(void)
{
    dse_strbuf_free(&out);
    dse_arena_free(&arena);
}

static store_row row(const char *model, const char *system, uint64_t study, uint32_t dp)
{
    store_row r = {.model = model,
                   .system = system,
                   .engine = "native-1",
                   .settings = "",
                   .study = study,
                   .strategy = unit_point("%u_1_2_1_0", dp),
                   .done = true};

    store_metrics_clear(&r.metrics);
    r.metrics.wall_time = 7;
    return r;
}

static void print(const store_row *rows, size_t n)
{
    report_keyed k;

    assert_ok(report_keyed_select(rows, n, &arena, &k, &err), &err);
    report_keyed_print_all(&k, &out);
}

/* The reference case L5_llama70b_s80_32_1_2_1_0. */
CLAIM(a_point_has_the_fields_of_the_format_in_their_order)
{
    store_row r = row("llama70b", "system1", 1, 32);

    begin();
    r.metrics.wall_time = 3206889878;
    r.metrics.gpu_time = 3190251398;
    r.metrics.comm_time = 583491804;
    r.metrics.compute_bound = 92.803;
    r.metrics.compute_util = 95.115;
    r.metrics.mem_util = 11.441;
    r.metrics.op_intensity = 3094.688;
    r.metrics.peak_memory = 143896084480;
    print(&r, 1);
    assert_string_equal(out.data,
                        "{\n\"32_1_2_1_0\":{\"wall_time\":3206889878,\"gpu_time\":3190251398,"
                        "\"comm_time\":583491804,\"per_comp_bound\":92.803,\"comp_util\":95.115,"
                        "\"mem_util\":11.441,\"op_intensity\":3094.688,\"peak_memory_usage\":143896084480,"
                        "\"dp\":32,\"tp\":1,\"sp\":2,\"pp\":1,\"ar\":0}\n}\n");
    end();
}

#define UNKNOWN                                                                                              \
    "\"gpu_time\":null,\"comm_time\":null,\"per_comp_bound\":null,\"comp_util\":null,\"mem_util\":null,"     \
    "\"op_intensity\":null,\"peak_memory_usage\":null,"

CLAIM(what_is_not_known_is_null)
{
    store_row r = row("m", "s", 1, 8);

    begin();
    r.strategy.recompute = true;
    print(&r, 1);
    assert_string_equal(out.data, "{\n\"8_1_2_1_1\":{\"wall_time\":7," UNKNOWN
                                  "\"dp\":8,\"tp\":1,\"sp\":2,\"pp\":1,\"ar\":1}\n}\n");
    end();
}

CLAIM(several_models_and_systems_are_objects_within_objects)
{
    const store_row rows[] = {row("a", "s", 1, 1), row("a", "s", 1, 2), row("a", "t", 2, 1),
                              row("b", "s", 3, 1)};

    begin();
    print(rows, 4);
#define POINT(dp)                                                                                            \
    "\n\"" #dp "_1_2_1_0\":{\"wall_time\":7," UNKNOWN "\"dp\":" #dp ",\"tp\":1,\"sp\":2,\"pp\":1,\"ar\":0}"
    assert_string_equal(out.data, "{\"a\":{\"s\":{" POINT(1) "," POINT(2) "\n},\"t\":{" POINT(
                                      1) "\n}},\"b\":"
                                         "{\"s\":{" POINT(1) "\n}}}\n");
    end();
}

CLAIM(nothing_is_an_empty_object)
{
    begin();
    print(NULL, 0);
    assert_string_equal(out.data, "{}\n");
    end();
}

CLAIM(rows_without_figures_or_key_are_counted)
{
    store_row rows[] = {row("m", "s", 1, 1), row("m", "s", 1, 2), row("m", "s", 1, 4), row("m", "s", 1, 8)};
    report_keyed k;

    begin();
    rows[0].done = false;
    rows[1].strategy.weight_sharded = true;
    rows[2].strategy.weight_sharded = true;
    assert_ok(report_keyed_select(rows, 4, &arena, &k, &err), &err);
    assert_int_equal(k.n_failed, 1);
    assert_int_equal(k.n_sharded, 2);
    assert_int_equal(k.n, 1);
    assert_int_equal(k.pair[0].n, 1);
    assert_int_equal(k.pair[0].row[0].strategy.dp, 8);
    end();
}

CLAIM(two_configurations_of_a_model_and_a_system_are_refused)
{
    store_row rows[] = {row("m", "s", 0x0123456789abcdef, 1), row("m", "s", 0xfedcba9876543210, 1),
                        row("m", "t", 5, 1)};
    report_keyed k;

    begin();
    rows[1].engine = "imported";
    rows[0].settings = "layers=4";
    assert_failure(
        report_keyed_select(rows, 3, &arena, &k, &err), &err, DSE_E_CONFIG, "",
        "m on s has results of several configurations, and a keyed file has one place for each point; "
        "choose with --engine, --settings or --configuration: 01234567 (native-1, layers=4), fedcba98 "
        "(imported)");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_has_the_fields_of_the_format_in_their_order),
        cmocka_unit_test(what_is_not_known_is_null),
        cmocka_unit_test(several_models_and_systems_are_objects_within_objects),
        cmocka_unit_test(nothing_is_an_empty_object),
        cmocka_unit_test(rows_without_figures_or_key_are_counted),
        cmocka_unit_test(two_configurations_of_a_model_and_a_system_are_refused),
    };
    return RUN_TESTS(tests);
}
