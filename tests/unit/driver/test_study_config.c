/* Configurations and requests read one after another, of which the study is kept: nobody can tell. */
#include "driver/study.h"
#include "unit/point.h"
#include "unit/unit.h"

#include <ctype.h>

static dse_arena arena;
static dse_error err;
static drv_study_reader reader;

static void begin(void)
{
    setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1);
    dse_arena_init(&arena);
    drv_study_reader_init(&reader);
    err = (dse_error)DSE_ERROR_INIT;
}

static void end(void)
{
    drv_study_reader_free(&reader);
    dse_arena_free(&arena);
}

/* A configuration of the small card; *point_at is where its point begins. */
static const char *config(const char *system, const char *setting, uint32_t dp, size_t *point_at)
{
    const strategy p = unit_point("%u_%u_1_1_0_ws", dp, 8 / dp);
    cfg_settings settings;
    const char *copy;
    drv_study study;
    dse_strbuf text;

    assert_ok(drv_settings_parse(&setting, 1, &arena, &settings, &err), &err);
    assert_ok(drv_study_load("small", system, &settings, &arena, &study, &err), &err);
    dse_strbuf_init(&text);
    drv_study_write_config(&study, &p, &text);
    copy = dse_arena_strdup(&arena, text.data);
    assert_non_null(copy);
    *point_at = (size_t)(strstr(copy, ",\"point\"") - copy);
    dse_strbuf_free(&text);
    return copy;
}

/* What one gets who reads the text by itself, and what the reader makes of `asked`: the text, or a failure. */
static void check_asked(const char *text, const char *asked)
{
    dse_error alone_err = DSE_ERROR_INIT, kept_err = DSE_ERROR_INIT;
    strategy alone_point = {0}, kept_point = {0};
    drv_study alone_study, kept_study;
    dse_status alone =
        drv_study_read_config(text, strlen(text), &arena, &alone_study, &alone_point, &alone_err);
    dse_status kept =
        drv_study_reader_read(&reader, asked, strlen(asked), &arena, &kept_study, &kept_point, &kept_err);
    dse_strbuf written[2];

    assert_int_equal(kept, alone);
    if (asked == text) {
        assert_string_equal(kept_err.text, alone_err.text);
        assert_string_equal(kept_err.where, alone_err.where);
    }
    if (alone != DSE_OK)
        return;
    for (int i = 0; i < 2; i++)
        dse_strbuf_init(&written[i]);
    drv_study_write_config(&alone_study, &alone_point, &written[0]);
    drv_study_write_config(&kept_study, &kept_point, &written[1]);
    assert_string_equal(written[1].data, written[0].data);
    assert_string_equal(kept_study.operators.path, alone_study.operators.path);
    assert_int_equal(kept_study.operators.root->n, alone_study.operators.root->n);
    for (int i = 0; i < 2; i++)
        dse_strbuf_free(&written[i]);
}

static void check_same(const char *text) { check_asked(text, text); }

/* The request of a configuration whose point begins there. */
static const char *request(const char *whole, size_t at)
{
    return dse_arena_printf(&arena, "%.*s}\x1e%.*s", (int)at, whole, (int)strlen(whole + at) - 10,
                            whole + at + 9);
}

CLAIM(studies_in_any_order_are_read_as_if_alone)
{
    static const char *const system[] = {"ring8", "boxes8"}, *const setting[] = {"batch=16", "batch=32"};
    static const char *const broken[] = {"", "{", "nonsense", "{}", ",\"point\":{}}", "{,\"point\":{}}"};
    uint64_t seed = 5;
    const char *whole;
    size_t at;

    begin();
    for (int i = 0; i < 200; i++) {
        uint64_t r = unit_random(&seed);

        whole = config(system[r >> 8 & 1], setting[r >> 9 & 1], 1u << (r >> 10 & 3), &at);
        if (r % 8 == 0)
            check_same(broken[r / 8 % (sizeof broken / sizeof broken[0])]);
        else
            check_asked(whole, r >> 12 & 1 ? whole : request(whole, at));
    }
    end();
}

/* Also if the study is the one that is kept. */
CLAIM(both_parts_of_a_request_are_looked_at)
{
    static const char *const points[] = {
        "{}",
        "{\"dp\":8}",
        "{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":2,\"weight_sharded\":false}",
        "{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false",
        "{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false}}",
        "{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false} ",
        "{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false},\"x\":1",
        ("{\"dp\":8},\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,"
         "\"weight_sharded\":false}"), /* clang takes two for a slip */
        "{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false}\x1e{}",
        "[]",
        "8",
        "",
    };
    static const char *const studies[] = {"", "{}", "{", "nonsense"};
    const char *whole, *asked;
    strategy point;
    drv_study study;
    size_t at;

    begin();
    whole = config("ring8", "batch=16", 8, &at);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        check_asked(whole, request(whole, at)); /* is kept from here on */
        asked = dse_arena_printf(&arena, "%.*s}\x1e%s", (int)at, whole, points[i]);
        /* RS is no JSON: whatever stands behind a second one is none either. */
        if (strstr(points[i], "},"))
            assert_int_not_equal(
                drv_study_reader_read(&reader, asked, strlen(asked), &arena, &study, &point, NULL), DSE_OK);
        else
            check_asked(dse_arena_printf(&arena, "%.*s,\"point\":%s}", (int)at, whole, points[i]), asked);
    }
    for (size_t i = 0; i < sizeof studies / sizeof studies[0]; i++) {
        asked = dse_arena_printf(&arena, "%s\x1e%s", studies[i], request(whole, at) + at + 2);
        assert_int_not_equal(
            drv_study_reader_read(&reader, asked, strlen(asked), &arena, &study, &point, NULL), DSE_OK);
    }
    asked = dse_arena_printf(&arena, "%s\x1e%s", whole, request(whole, at) + at + 2); /* two points */
    assert_says(drv_study_reader_read(&reader, asked, strlen(asked), &arena, &study, &point, &err), &err,
                DSE_E_CONFIG, "a configuration has engine, model, system, point");
    check_asked(whole, request(whole, at));
    end();
}

/* The point of a configuration may stand anywhere. */
CLAIM(a_point_that_stands_first_is_read)
{
    size_t at;
    const char *whole, *other;

    begin();
    whole = config("boxes8", "batch=16", 4, &at);
    other = dse_arena_printf(&arena, "{%.*s,%.*s}", (int)(strlen(whole + at) - 2), whole + at + 1,
                             (int)at - 1, whole + 1);
    check_same(other);
    check_same(other);
    end();
}

/* As a sweep writes and hashes it. */
CLAIM(another_point_of_a_study_has_the_configuration_that_it_would_be_stored_with)
{
    const strategy p = unit_point("4_2_1_1_0_ws"); /* as config() makes it of dp 4 */
    const char *eight, *four;
    dse_strbuf text;
    size_t at;

    begin();
    dse_strbuf_init(&text);
    eight = config("ring8", "layers=2", 8, &at);
    four = config("ring8", "layers=2", 4, &at);
    assert_true(drv_config_of_point(eight, &p, &text));
    assert_string_equal(text.data, four);
    assert_false(drv_config_of_point("{\"engine\":\"imported\"}", &p, &text));
    assert_false(drv_config_of_point("", &p, &text));
    assert_false(drv_config_of_point("[1,\"point\"]", &p, &text));
    assert_false(drv_config_of_point("{\"a\":{\"b\":1,\"point\":{}}}", &p, &text));
    assert_string_equal(text.data, four);
    dse_strbuf_free(&text);
    end();
}

/* Neither the cards nor the operators are looked for again, also for another system; other operators are. */
CLAIM(operators_are_read_once)
{
    const char *first, *second, *other;
    strategy point;
    drv_study study;
    size_t at;

    begin();
    first = config("ring8", "batch=16", 8, &at);
    second = config("boxes8", "batch=16", 4, &at);
    other = dse_arena_printf(&arena, "%.*s0000000000000000%s",
                             (int)(strstr(second, "operators_hash") - second) + 17, second,
                             strstr(second, "operators_hash") + 33);
    assert_ok(drv_study_reader_read(&reader, first, strlen(first), &arena, &study, &point, &err), &err);
    setenv("CCLDSE_CONFIGS", "/nonexistent", 1);
    assert_ok(drv_study_reader_read(&reader, second, strlen(second), &arena, &study, &point, &err), &err);
    assert_string_equal(study.system_name, "boxes8");
    assert_non_null(study.operators.root);
    setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1);
    assert_says(drv_study_reader_read(&reader, other, strlen(other), &arena, &study, &point, &err), &err,
                DSE_E_CONFIG, "the operator file has changed since the configuration was made");
    check_same(first);
    end();
}

/* Also when the right ones are kept: a hash is compared as a text, not as a number. */
CLAIM(a_hash_in_another_spelling_is_not_that_of_the_operators)
{
    char *other;
    const char *whole;
    size_t at;

    begin();
    whole = config("ring8", "batch=16", 8, &at);
    other = dse_arena_strdup(&arena, whole);
    assert_non_null(other);
    for (char *c = strstr(other, "operators_hash") + 17; *c != '"'; c++)
        *c = (char)toupper((unsigned char)*c);
    assert_string_not_equal(other, whole);
    check_same(whole); /* its operators are kept from here on */
    check_same(other);
    check_same(whole);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(studies_in_any_order_are_read_as_if_alone),
        cmocka_unit_test(both_parts_of_a_request_are_looked_at),
        cmocka_unit_test(a_point_that_stands_first_is_read),
        cmocka_unit_test(another_point_of_a_study_has_the_configuration_that_it_would_be_stored_with),
        cmocka_unit_test(operators_are_read_once),
        cmocka_unit_test(a_hash_in_another_spelling_is_not_that_of_the_operators),
    };
    return RUN_TESTS(tests);
}
