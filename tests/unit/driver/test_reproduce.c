/* The commands that give stored results again, and what is said where there is none. */
#include "base/fs.h"
#include "driver/reproduce.h"
#include "driver/study.h"
#include "unit/point.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static dse_strbuf text;

static void begin(void)
{
    setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1);
    dse_arena_init(&arena);
    dse_strbuf_init(&text);
    err = (dse_error)DSE_ERROR_INIT;
}

static void end(void)
{
    dse_strbuf_free(&text);
    dse_arena_free(&arena);
}

/* A row as a sweep of the small card on ring8 with these settings would store it. */
static store_row row(const char *const *settings, size_t n, const char *engine)
{
    const strategy p = unit_point("8_1_1_1_0_ws");
    cfg_settings parsed;
    drv_study study;

    assert_ok(drv_settings_parse(settings, n, &arena, &parsed, &err), &err);
    assert_ok(drv_study_load("small", "ring8", &parsed, &arena, &study, &err), &err);
    study.engine = engine;
    dse_strbuf_clear(&text);
    drv_study_write_config(&study, &p, &text);
    return (store_row){.config = dse_arena_strdup(&arena, text.data),
                       .model = study.model_name,
                       .system = study.system_name,
                       .engine = study.engine,
                       .settings = study.settings,
                       .study = 0x0123456789abcdef,
                       .strategy = p,
                       .done = true};
}

static void check(const store_row *r, const char *db, const char *command, const char *note)
{
    drv_reproduction again;

    assert_ok(drv_reproduce(r, db, &arena, &again, &err), &err);
    if (command)
        assert_string_equal(again.command, command);
    else
        assert_null(again.command);
    assert_string_equal(again.note, note);
}

CLAIM(the_cards_that_made_a_result_make_it_again)
{
    static const char *const settings[] = {"network.bandwidth[0]=25GiB/s", "layers=4"};
    store_row r;

    begin();
    r = row(NULL, 0, DRV_ENGINE);
    check(&r, "r.db", "ccldse simulate --model small --system ring8 --point 8_1_1_1_0_ws", "");
    r = row(settings, 2, DRV_ENGINE);
    check(&r, "r.db",
          "ccldse simulate --model small --system ring8 --point 8_1_1_1_0_ws --set layers=4 --set "
          "'network.bandwidth[0]=25GiB/s'",
          "");
    end();
}

CLAIM(a_configuration_that_no_card_has_goes_to_a_worker)
{
    store_row r;

    begin();
    r = row(NULL, 0, DRV_ENGINE);
    r.settings = "layers=2";
    check(&r, "it's a.db",
          "ccldse show 8_1_1_1_0_ws --db 'it'\\''s a.db' --configuration 0123456789abcdef --config | ccldse "
          "worker",
          "the cards 'small' and 'ring8' are not, or no longer, what this was made from");
    r.settings = "";
    r.model = "gone";
    check(&r, "r.db",
          "ccldse show 8_1_1_1_0_ws --db r.db --configuration 0123456789abcdef --config | ccldse worker",
          "unknown model 'gone': no such file, and no card of that name in " TEST_DATA "/cards/models");
    end();
}

CLAIM(another_engine_is_named)
{
    store_row r;

    begin();
    r = row(NULL, 0, "native-0");
    check(&r, "r.db",
          "ccldse show 8_1_1_1_0_ws --db r.db --configuration 0123456789abcdef --config | ccldse worker",
          "by another version of this program; figures may differ");
    r = row(NULL, 0, "other");
    check(&r, "r.db",
          "ccldse show 8_1_1_1_0_ws --db r.db --configuration 0123456789abcdef --config | ccldse worker",
          "by another program; this one simulates the same natively");
    r = row(NULL, 0, "astrasim");
    check(&r, "r.db",
          "ccldse simulate --model small --system ring8 --point 8_1_1_1_0_ws --engine astrasim "
          "--stage-cmd \"python3 PATH/main.py\" --astrasim-bin PATH/AstraSim_Analytical_Congestion_Unaware",
          "with the STAGE and ASTRA-sim it was made with; without the last three options this program gives "
          "the "
          "same");
    end();
}

CLAIM(what_was_imported_cannot_be_made_again)
{
    const store_row r = {
        .config = "{\"engine\":\"imported\",\"point\":{}}", .engine = "imported", .settings = ""};

    begin();
    check(&r, "r.db", NULL, "imported: there is no configuration to simulate again");
    end();
}

CLAIM(another_operator_file_makes_another_result)
{
    store_row r;
    char *hash;

    begin();
    r = row(NULL, 0, "native-0");
    hash = dse_arena_strdup(&arena, r.config);
    r.config = hash;
    hash = strstr(hash, "\"operators_hash\":\"") + strlen("\"operators_hash\":\"");
    hash[0] = hash[0] == '0' ? '1' : '0';
    {
        drv_reproduction again;

        assert_ok(drv_reproduce(&r, "r.db", &arena, &again, &err), &err);
        assert_null(again.command);
        assert_non_null(strstr(again.note, "the operator file has changed since the configuration was made"));
    }
    end();
}

CLAIM(a_configuration_is_printed_in_groups_with_units)
{
    static const char config[] =
        "{\"engine\":\"e\",\"model\":{\"layers\":3},\"system\":{\"network.bandwidth\":[50,25],"
        "\"memory.bandwidth\":3000},\"tag_base\":7}";

    begin();
    assert_ok(drv_config_print(config, &arena, &text, &err), &err);
    assert_string_equal(text.data, "  engine    e\n  tag_base  7\n  model\n    layers  3\n  system\n"
                                   "    network.bandwidth  50, 25 GiB/s\n    memory.bandwidth   3000 GB/s\n");
    assert_says(drv_config_print("{", &arena, &text, &err), &err, DSE_E_SYNTAX, "");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cards_that_made_a_result_make_it_again),
        cmocka_unit_test(a_configuration_that_no_card_has_goes_to_a_worker),
        cmocka_unit_test(another_engine_is_named),
        cmocka_unit_test(what_was_imported_cannot_be_made_again),
        cmocka_unit_test(another_operator_file_makes_another_result),
        cmocka_unit_test(a_configuration_is_printed_in_groups_with_units),
    };
    return RUN_TESTS(tests);
}
