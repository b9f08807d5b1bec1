#include "driver/reproduce.h"

#include "base/array.h"
#include "driver/external.h"
#include "report/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- command lines ------------------------------------------------------------------------- */

static void add_option(dse_strbuf *out, const char *name, const char *value)
{
    dse_strbuf_addf(out, " %s ", name);
    dse_strbuf_add_shell(out, value);
}

static void write_simulate(const char *model, const char *system, const strategy *p,
                           const cfg_settings *settings, dse_arena *a, dse_strbuf *out)
{
    dse_strbuf_adds(out, "ccldse simulate");
    add_option(out, "--model", model);
    add_option(out, "--system", system);
    add_option(out, "--point", report_strategy_name(p).text);
    for (size_t i = 0; i < settings->n; i++)
        add_option(out, "--set",
                   dse_arena_printf(a, "%s=%s", settings->item[i].path, settings->item[i].value));
}

static void write_worker(const store_row *r, const char *db, dse_strbuf *out)
{
    dse_strbuf_addf(out, "ccldse show %s", report_point_name(r).text);
    add_option(out, "--db", db);
    dse_strbuf_addf(out, " --configuration %016" PRIx64 " --config | ccldse worker", r->study);
}

/* ---- the command --------------------------------------------------------------------------- */

/* Parses a row's settings, "batch=256 layers=4"; none contains a space. */
static dse_status read_settings(const char *text, dse_arena *a, cfg_settings *out, dse_error *err)
{
    char *copy = dse_arena_strdup(a, text), *rest = NULL;
    const char **words = DSE_ARENA_NEW(a, const char *, strlen(text) + 1);
    size_t n = 0;

    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    return drv_settings_parse(words, n, a, out, err);
}

dse_status drv_simulate_command(const drv_study *s, const strategy *p, dse_arena *a, const char **out,
                                dse_error *err)
{
    dse_strbuf command = dse_strbuf_in(a);
    cfg_settings settings;
    dse_status st = read_settings(s->settings, a, &settings, err);

    if (st != DSE_OK)
        return st;
    write_simulate(s->model_path, s->system_path, p, &settings, a, &command);
    *out = command.data;
    return DSE_OK;
}

/* DSE_OK: the row's cards still give its configuration. */
static dse_status check_cards(const store_row *r, dse_arena *a, cfg_settings *settings,
                              drv_simulator *simulator, dse_error *why)
{
    drv_study study;
    dse_status st;
    dse_strbuf text = dse_strbuf_in(a);

    if ((st = read_settings(r->settings, a, settings, why)) != DSE_OK ||
        (st = drv_study_load(r->model, r->system, settings, a, &study, why)) != DSE_OK)
        return st;
    study.engine = r->engine;
    *simulator = drv_simulator_of(&study.system);
    drv_study_write_config(&study, &r->strategy, &text);
    if (strcmp(text.data, r->config))
        st = dse_fail(why, DSE_E_CONFIG,
                      "the cards '%.60s' and '%.60s' are not, or no longer, what this was made from",
                      r->model, r->system);
    return st;
}

dse_status drv_has_cards(const store_row *r, dse_arena *a, bool *out, dse_error *err)
{
    cfg_doc doc = {0};
    dse_status st = cfg_parse_json("configuration", r->config, strlen(r->config), a, &doc, err);

    *out = st == DSE_OK && cfg_get(doc.root, "model") && cfg_get(doc.root, "system");
    return st;
}

/* By the stored configuration: a worker simulates it whatever the cards are now. */
static void by_configuration(const store_row *r, const char *db, const char *note, dse_arena *a,
                             drv_reproduction *out)
{
    dse_error why = DSE_ERROR_INIT;
    strategy p;
    drv_study study;
    dse_strbuf command = dse_strbuf_in(a);

    *out = (drv_reproduction){NULL, note};
    if (drv_study_read_config(r->config, strlen(r->config), a, &study, &p, &why) != DSE_OK) {
        out->note = dse_arena_strdup(a, dse_error_say(&why).text);
        return;
    }
    write_worker(r, db, &command);
    out->command = command.data;
}

/* By the cards, which are what the result was made from. */
static void by_cards(const store_row *r, const cfg_settings *settings, drv_simulator simulator, dse_arena *a,
                     drv_reproduction *out)
{
    dse_strbuf command = dse_strbuf_in(a);

    write_simulate(r->model, r->system, &r->strategy, settings, a, &command);
    out->note = "";
    if (!strcmp(r->engine, DRV_EXTERNAL_ENGINE)) {
        add_option(&command, "--engine", r->engine);
        dse_strbuf_addf(&command, " --stage-cmd \"python3 PATH/main.py\" %s PATH/%s",
                        drv_simulators[simulator].option, drv_simulators[simulator].program);
        out->note = "with the STAGE and ASTRA-sim it was made with; without the last three options this "
                    "program gives the same";
    }
    out->command = command.data;
}

dse_status drv_reproduce(const store_row *r, const char *db, dse_arena *a, drv_reproduction *out,
                         dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    drv_simulator simulator;
    cfg_settings settings;
    bool has_cards;
    dse_status st = drv_has_cards(r, a, &has_cards, err);

    if (st != DSE_OK)
        return st;
    if (!has_cards)
        *out = (drv_reproduction){NULL, "imported: there is no configuration to simulate again"};
    else if (strcmp(r->engine, DRV_ENGINE) && strcmp(r->engine, DRV_STEP_ENGINE) &&
             strcmp(r->engine, DRV_EXTERNAL_ENGINE))
        by_configuration(r, db,
                         store_is_native(r->engine)
                             ? "by another version of this program; figures may differ"
                             : "by another program; this one simulates the same natively",
                         a, out);
    else if (check_cards(r, a, &settings, &simulator, &why) != DSE_OK)
        by_configuration(r, db, dse_arena_strdup(a, dse_error_say(&why).text), a, out);
    else
        by_cards(r, &settings, simulator, a, out);
    return DSE_OK;
}

/* ---- a configuration for people ------------------------------------------------------------ */

static const char *unit_of(const char *key)
{
    const cfg_table *tables[] = {&card_model_table, &card_system_table};

    for (size_t t = 0; t < DSE_COUNT(tables); t++)
        for (uint32_t i = 0; i < tables[t]->n; i++)
            if (!strcmp(tables[t]->rows[i].key, key))
                return tables[t]->rows[i].unit_name;
    return "";
}

static void print_value(const cfg_node *node, dse_strbuf *out)
{
    if (node->kind == CFG_SCALAR) {
        dse_strbuf_adds(out, node->text);
        return;
    }
    for (uint32_t i = 0; i < node->n; i++) {
        dse_strbuf_adds(out, i ? ", " : "");
        if (node->kind == CFG_MAP)
            dse_strbuf_addf(out, "%s ", node->key[i]->text);
        print_value(node->item[i], out);
    }
}

/* The values of one object; those that are objects themselves follow as groups of their own. */
static void print_group(const cfg_node *map, int indent, dse_strbuf *out)
{
    int width = 0;

    for (uint32_t i = 0; i < map->n; i++) {
        int n = (int)strlen(map->key[i]->text);

        if (map->item[i]->kind != CFG_MAP && n > width)
            width = n;
    }
    for (int groups = 0; groups < 2; groups++) {
        for (uint32_t i = 0; i < map->n; i++) {
            const char *key = map->key[i]->text, *unit = unit_of(key);

            if ((map->item[i]->kind == CFG_MAP) != (groups == 1))
                continue;
            dse_strbuf_addf(out, "%*s", indent, "");
            if (groups && indent < CFG_MAX_DEPTH) {
                dse_strbuf_addf(out, "%s\n", key);
                print_group(map->item[i], indent + 2, out);
                continue;
            }
            dse_strbuf_addf(out, "%-*s  ", width, key);
            print_value(map->item[i], out);
            dse_strbuf_addf(out, "%s%s\n", *unit ? " " : "", unit);
        }
    }
}

dse_status drv_config_print(const char *config, dse_arena *a, dse_strbuf *out, dse_error *err)
{
    cfg_doc doc = {0};
    dse_status st = cfg_parse_json("configuration", config, strlen(config), a, &doc, err);

    if (st == DSE_OK)
        print_group(doc.root, 2, out);
    return st;
}
