/* Configurations read one after another, of which the study is kept: nobody can tell. */
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

/* What one gets who reads the text by itself, and what the reader gives: the text, or the failure. */
static void check_same(const char *text)
{
    dse_error alone_err = DSE_ERROR_INIT, kept_err = DSE_ERROR_INIT;
    strategy alone_point = {0}, kept_point = {0};
    drv_study alone_study, kept_study;
    size_t n = strlen(text);
    dse_status alone = drv_study_read_config(text, n, &arena, &alone_study, &alone_point, &alone_err);
    dse_status kept = drv_study_reader_read(&reader, text, n, &arena, &kept_study, &kept_point, &kept_err);
    dse_strbuf written[2];

    assert_int_equal(kept, alone);
    assert_string_equal(kept_err.text, alone_err.text);
    assert_string_equal(kept_err.where, alone_err.where);
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

CLAIM(studies_in_any_order_are_read_as_if_alone)
{
    static const char *const system[] = {"ring8", "boxes8"}, *const setting[] = {"batch=16", "batch=32"};
    static const char *const broken[] = {"", "{", "nonsense", "{}", ",\"point\":{}}", "{,\"point\":{}}"};
    uint64_t seed = 5;
    size_t at;

    begin();
    for (int i = 0; i < 200; i++) {
        uint64_t r = unit_random(&seed);

        if (r % 8 == 0)
            check_same(broken[r / 8 % (sizeof broken / sizeof broken[0])]);
        else
            check_same(config(system[r >> 8 & 1], setting[r >> 9 & 1], 1u << (r >> 10 & 3), &at));
    }
    end();
}

/* The study before the point is one that is kept, and yet the text is none, or says something else. */
CLAIM(what_follows_a_kept_study_is_looked_at)
{
    static const char *const tails[] = {
        ",\"point\":{}}",
        ",\"point\":{\"dp\":8}}",
        ",\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":2,\"weight_sharded\":false}}",
        ",\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false}",
        ",\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false}}}",
        ",\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false}} ",
        ",\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false},\"x\":"
        "1}",
        ",\"point\":{\"dp\":8},\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,"
        "\"weight_sharded\":false}}",
        ",\"extra\":{\"a\":1,\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,"
        "\"weight_sharded\":false}}}",
        ",\"point\":{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false},"
        "\"extra\":{\"a\":1,\"point\":{\"dp\":1,\"tp\":8,\"sp\":1,\"pp\":1,\"recompute\":true,"
        "\"weight_sharded\":false}}}",
        "}",
        "",
    };
    size_t at;

    begin();
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        const char *whole = config("ring8", "batch=16", 8, &at);

        check_same(whole); /* is kept from here on */
        check_same(dse_arena_printf(&arena, "%.*s%s", (int)at, whole, tails[i]));
        check_same(whole);
    }
    end();
}

/* The point may stand anywhere; only then the whole text is read each time. */
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

/* Neither the cards nor the operators are looked for again, also for another system; other operators are. */
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
    assert_string_equal(text.data, four);
    dse_strbuf_free(&text);
    end();
}

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
    check_same(whole); /* is kept from here on */
    check_same(other);
    check_same(whole);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(studies_in_any_order_are_read_as_if_alone),
        cmocka_unit_test(what_follows_a_kept_study_is_looked_at),
        cmocka_unit_test(a_point_that_stands_first_is_read),
        cmocka_unit_test(another_point_of_a_study_has_the_configuration_that_it_would_be_stored_with),
        cmocka_unit_test(operators_are_read_once),
        cmocka_unit_test(a_hash_in_another_spelling_is_not_that_of_the_operators),
    };
    return RUN_TESTS(tests);
}
