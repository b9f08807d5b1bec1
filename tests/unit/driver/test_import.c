/* Results in the keyed format: what is taken, and every refusal with its place. */
#include "driver/import.h"
#include "unit/unit.h"

#define FIGURES                                                                                              \
    "\"wall_time\":10,\"gpu_time\":2,\"comm_time\":3,\"per_comp_bound\":92.803,\"comp_util\":95.1,"          \
    "\"mem_util\":11,\"op_intensity\":3094.688,\"peak_memory_usage\":143896084480"
#define DEGREES "\"dp\":32,\"tp\":1,\"sp\":2,\"pp\":4,\"ar\":1"
#define POINT   "\"32_1_2_4_1\":{" FIGURES "," DEGREES "}"

static const drv_import_as named = {"m", "s", "imported"}, unnamed = {NULL, NULL, "imported"};
static dse_arena arena;
static dse_error err;
static drv_import io;

static dse_status parse(const char *text, const drv_import_as *as)
{
    drv_import_free(&io);
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return drv_import_parse("f.json", text, strlen(text), as, &arena, &io, &err);
}

CLAIM(a_point_becomes_a_row_without_cards)
{
    static const char config[] =
        "{\"engine\":\"imported\",\"model_name\":\"m\",\"system_name\":\"s\",\"point\":"
        "{\"dp\":32,\"tp\":1,\"sp\":2,\"pp\":4,\"recompute\":true,"
        "\"weight_sharded\":false}}";
    static const char study[] = "{\"engine\":\"imported\",\"model_name\":\"m\",\"system_name\":\"s\"}";
    const store_row *r;

    assert_ok(parse("{" POINT "}", &named), &err);
    assert_int_equal(io.n, 1);
    r = io.row;
    assert_string_equal(r->config, config);
    assert_u64(r->hash, dse_hash_bytes(config, strlen(config)));
    assert_u64(r->study, dse_hash_bytes(study, strlen(study)));
    assert_string_equal(r->model, "m");
    assert_string_equal(r->system, "s");
    assert_string_equal(r->engine, "imported");
    assert_string_equal(r->settings, "");
    assert_true(r->done && r->strategy.recompute && !r->strategy.weight_sharded && !r->memory_rounded);
    assert_int_equal(r->strategy.dp, 32);
    assert_int_equal(r->strategy.pp, 4);
    assert_double(r->seconds, NAN);
    assert_u64(r->metrics.wall_time, 10);
    assert_u64(r->metrics.gpu_time, 2);
    assert_u64(r->metrics.comm_time, 3);
    assert_u64(r->metrics.peak_memory, 143896084480);
    assert_double(r->metrics.compute_bound, 92.803);
    assert_double(r->metrics.compute_util, 95.1);
    assert_double(r->metrics.mem_util, 11);
    assert_double(r->metrics.op_intensity, 3094.688);
    assert_u64(r->metrics.exposed_comm, STORE_ABSENT); /* the format does not have it */
    assert_u64(r->metrics.nodes, STORE_ABSENT);
}

CLAIM(models_and_systems_may_be_in_the_file)
{
    assert_ok(parse("{\"n\":{\"t\":{" POINT "}},\"m\":{\"t\":{},\"s\":{" POINT "}}}", &unnamed), &err);
    assert_int_equal(io.n, 2);
    assert_string_equal(io.row[0].model, "n");
    drv_import_sort(&io);
    assert_string_equal(io.row[0].model, "m");
    assert_string_equal(io.row[0].system, "s");
    assert_string_equal(io.row[1].model, "n");
}

CLAIM(figures_may_be_null_but_for_the_step_time)
{
    assert_ok(parse("{\"32_1_2_4_1\":{\"wall_time\":10,\"gpu_time\":null,\"comm_time\":null,"
                    "\"per_comp_bound\":null,\"comp_util\":null,\"mem_util\":null,\"op_intensity\":null,"
                    "\"peak_memory_usage\":null," DEGREES "}}",
                    &named),
              &err);
    assert_u64(io.row[0].metrics.gpu_time, STORE_ABSENT);
    assert_u64(io.row[0].metrics.peak_memory, STORE_ABSENT);
    assert_double(io.row[0].metrics.op_intensity, NAN);
}

/* What scripts make of whole numbers and of Python's True on the way. */
CLAIM(other_spellings_of_a_number_are_taken)
{
    assert_ok(parse("{\"1_1_1_1_1\":{\"wall_time\":5298936306.0,\"gpu_time\":1e9,\"comm_time\":0,"
                    "\"per_comp_bound\":0,\"comp_util\":100,\"mem_util\":1e-3,\"op_intensity\":\"inf\","
                    "\"peak_memory_usage\":1.5e10,\"dp\":1,\"tp\":1,\"sp\":1,\"pp\":1,\"ar\":true}}",
                    &named),
              &err);
    assert_u64(io.row[0].metrics.wall_time, 5298936306);
    assert_u64(io.row[0].metrics.gpu_time, 1000000000);
    assert_u64(io.row[0].metrics.peak_memory, 15000000000);
    assert_double(io.row[0].metrics.mem_util, 1e-3);
    assert_double(io.row[0].metrics.op_intensity, INFINITY);
    assert_ok(parse("{\"1_1_1_1_0\":{" FIGURES ",\"dp\":1,\"tp\":1,\"sp\":1,\"pp\":1,\"ar\":false}}", &named),
              &err);
}

CLAIM(other_fields_are_counted_and_passed_over)
{
    assert_ok(parse("{\"32_1_2_4_1\":{\"note\":[1]," FIGURES "," DEGREES ",\"by\":\"them\"}}", &named), &err);
    assert_int_equal(io.n_unknown, 2);
    assert_string_equal(io.unknown, "f.json:1:16: 'note'");
}

static void refuse(const char *text, const drv_import_as *as, const char *place, const char *message)
{
    const dse_status st = parse(text, as);

    assert_failure(st, &err, DSE_E_CONFIG, place, message);
}

/* Each figure and each degree in turn. */
CLAIM(a_missing_field_is_named)
{
    static const char *const fields[] = {"wall_time", "gpu_time", "comm_time",    "per_comp_bound",
                                         "comp_util", "mem_util", "op_intensity", "peak_memory_usage",
                                         "dp",        "tp",       "sp",           "pp",
                                         "ar"};

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char text[600] = "{\n \"32_1_2_4_1\": {" FIGURES "," DEGREES "}}", name[40], message[80];
        char *at;

        snprintf(name, sizeof name, "\"%s\"", fields[i]);
        at = strstr(text, name);
        assert_non_null(at);
        at[1] = 'X'; /* another field */
        snprintf(message, sizeof message, "point '32_1_2_4_1' lacks '%s'", fields[i]);
        refuse(text, &named, "f.json:2:2", message);
    }
}

CLAIM(a_figure_that_is_none_is_refused_with_its_place)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"wall_time\":10", "\"wall_time\":-1", "wall_time must be a whole number, 1 or more, not '-1'"},
        {"\"wall_time\":10", "\"wall_time\":null", "wall_time must be a whole number, 1 or more, not 'null'"},
        {"\"wall_time\":10", "\"wall_time\":\"10\"", "wall_time must be a whole number, 1 or more, not '10'"},
        {"\"wall_time\":10", "\"wall_time\":1.5", "wall_time must be a whole number, 1 or more, not '1.5'"},
        {"\"wall_time\":10", "\"wall_time\":[1]", "wall_time must be a whole number, 1 or more, not a list"},
        {"\"wall_time\":10", "\"wall_time\":true", "wall_time must be a whole number, 1 or more, not 'true'"},
        {"\"wall_time\":10", "\"wall_time\":1e19", "wall_time must be a whole number, 1 or more, not '1e19'"},
        {"\"wall_time\":10", "\"wall_time\":18446744073709551615",
         "wall_time must be a whole number, 1 or more, not '18446744073709551615'"},
        {"\"wall_time\":10", "\"wall_time\":0", "wall_time must be a whole number, 1 or more, not '0'"},
        {"\"gpu_time\":2", "\"gpu_time\":-1", "gpu_time must be a whole number, 0 or more, not '-1'"},
        {"\"mem_util\":11", "\"mem_util\":-0.5", "mem_util must be a number, 0 or more, not '-0.5'"},
        {"\"mem_util\":11", "\"mem_util\":{}", "mem_util must be a number, 0 or more, not a mapping"},
        {"\"mem_util\":11", "\"mem_util\":\"high\"", "mem_util must be a number, 0 or more, not 'high'"},
        {"\"dp\":32", "\"dp\":16", "dp is '16', but the key '32_1_2_4_1' says 32"},
        {"\"dp\":32", "\"dp\":[]", "dp is a list, but the key '32_1_2_4_1' says 32"},
        {"\"tp\":1", "\"tp\":true", "tp is 'true', but the key '32_1_2_4_1' says 1"},
        {"\"ar\":1", "\"ar\":0", "ar is '0', but the key '32_1_2_4_1' says 1"},
        {"\"ar\":1", "\"ar\":false", "ar is 'false', but the key '32_1_2_4_1' says 1"},
        {"\"ar\":1", "\"ar\":null", "ar is 'null', but the key '32_1_2_4_1' says 1"},
    };
    static const char whole[] = "{" POINT "}";

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *at = strstr(whole, cases[i].from);
        char text[600], place[40];

        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, cases[i].to,
                 at + strlen(cases[i].from));
        snprintf(place, sizeof place, "f.json:1:%zu", (size_t)(at - whole) + strcspn(cases[i].from, ":") + 2);
        refuse(text, &named, place, cases[i].message);
    }
}

CLAIM(a_key_that_is_no_point_is_refused)
{
    static const char *const keys[] = {"32_1_2_4", "32_1_2_4_2", "032_1_2_4_1",  "0_1_2_4_1",
                                       "a",        "",           "32_1_2_4_1_ws"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char text[100], message[140];

        snprintf(text, sizeof text, "{\"%s\":{\"dp\":1}}", keys[i]);
        snprintf(message, sizeof message,
                 "'%s' is not a point; a key is dp_tp_sp_pp_recompute, for example 32_1_2_1_0", keys[i]);
        refuse(text, &named, "f.json:1:2", message);
    }
    refuse("{\"1_1_1_1_0\":5}", &named, "f.json:1:14",
           "point '1_1_1_1_0' must be an object of figures, not '5'");
}

CLAIM(a_file_without_points_is_refused)
{
    static const char message[] =
        "no points; the file is an object of points, such as {\"32_1_2_1_0\": {...}}";

    refuse("{}", &named, "f.json:1:1", message);
    refuse("[]", &named, "f.json:1:1", message);
    refuse("\n5", &unnamed, "f.json:2:1", message);
    refuse("\n{\"m\":{\"s\":{}}}", &unnamed, "f.json:2:1", message);
    refuse("{\"m\":{\"s\":{},\"t\":{}},\"n\":{}}", &unnamed, "f.json:1:1", message);
    assert_says(parse("", &named), &err, DSE_E_SYNTAX, "");
    assert_says(parse("{\"1_1_1_1_0\":{", &named), &err, DSE_E_SYNTAX, "");
}

CLAIM(names_are_given_once)
{
    refuse("{" POINT "}", &unnamed, "f.json",
           "the file does not say whose points these are; give --model and --system");
    refuse("{\"m\":{\"s\":{" POINT "}}}", &named, "f.json",
           "the file names its models and systems itself; leave out --model and --system");
    refuse("{\"m\":{\"s\":{" POINT "}},\n\"n\":1}", &unnamed, "f.json:2:5",
           "model 'n' must be an object of systems");
    refuse("{\"m\":{\"s\":{" POINT "},\n\"t\":1}}", &unnamed, "f.json:2:5",
           "system 't' must be an object of points");
    refuse("{\"a/m\":{\"s\":{" POINT "}}}", &unnamed, "f.json:1:2",
           "'a/m' is no name of a model: without folder and extension it is 'm'");
    refuse("{\"m\":{\"s.yaml\":{" POINT "}}}", &unnamed, "f.json:1:7",
           "'s.yaml' is no name of a system: without folder and extension it is 's'");
    refuse("{\"m\":{\"\":{" POINT "}}}", &unnamed, "f.json:1:7",
           "results cannot be kept under the name of ''; rename it");
}

CLAIM(a_key_that_stands_twice_is_refused)
{
    assert_says(parse("{" POINT ",\n" POINT "}", &named), &err, DSE_E_SYNTAX, "duplicate object key");
    assert_string_equal(err.where, "f.json:2:12");
    assert_says(parse("{\"1_1_1_1_0\":{\"dp\":1,\"dp\":1}}", &named), &err, DSE_E_SYNTAX,
                "duplicate object key");
}

CLAIM(a_point_of_two_files_is_refused)
{
    static const char text[] = "{\n" POINT "}";

    assert_ok(parse(text, &named), &err);
    assert_failure(drv_import_parse("g.json", text, strlen(text), &named, &arena, &io, &err), &err,
                   DSE_E_CONFIG, "g.json:2:1", "point '32_1_2_4_1' of m on s stands in f.json:2:1 already");
}

CLAIM(engines_have_plain_names)
{
    static const char *const wrong[] = {"", "two words", "a,b", "\xc3\xa4", "native", "native-1"};

    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(drv_import_check_engine("astrasim-2024.1_x+y", &err), &err);
    assert_ok(drv_import_check_engine("natively", &err), &err);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        err = (dse_error)DSE_ERROR_INIT;
        assert_says(drv_import_check_engine(wrong[i], &err), &err, DSE_E_USAGE, "");
    }
}

CLAIM(a_file_that_is_not_there_is_an_io_error)
{
    drv_import none = {0};

    err = (dse_error)DSE_ERROR_INIT;
    assert_says(drv_import_file("/no/such/file.json", &named, &arena, &none, &err), &err, DSE_E_IO,
                "/no/such/file.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_becomes_a_row_without_cards),
        cmocka_unit_test(models_and_systems_may_be_in_the_file),
        cmocka_unit_test(figures_may_be_null_but_for_the_step_time),
        cmocka_unit_test(other_spellings_of_a_number_are_taken),
        cmocka_unit_test(other_fields_are_counted_and_passed_over),
        cmocka_unit_test(a_missing_field_is_named),
        cmocka_unit_test(a_figure_that_is_none_is_refused_with_its_place),
        cmocka_unit_test(a_key_that_is_no_point_is_refused),
        cmocka_unit_test(a_file_without_points_is_refused),
        cmocka_unit_test(names_are_given_once),
        cmocka_unit_test(a_key_that_stands_twice_is_refused),
        cmocka_unit_test(a_point_of_two_files_is_refused),
        cmocka_unit_test(engines_have_plain_names),
        cmocka_unit_test(a_file_that_is_not_there_is_an_io_error),
    };
    int failures;

    dse_arena_init(&arena);
    failures = RUN_TESTS(tests);
    drv_import_free(&io);
    dse_arena_free(&arena);
    return failures;
}
