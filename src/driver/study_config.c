/* A study and a point as the text that is sent, stored and hashed: {<study>,"point":{...}}. */
#include "base/array.h"
#include "base/json_writer.h"
#include "cards/device.h"
#include "driver/custom.h"
#include "driver/links.h"
#include "driver/study.h"
#include "driver/training.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HASH_MAX 20

static const char source[] = "configuration"; /* in messages */

/* Stands between the study and the point of a request; no JSON text has it (RFC 7464). */
#define RECORD_SEPARATOR '\x1e'

/* As a configuration has it. */
static const char *spell_hash(uint64_t hash, char out[HASH_MAX])
{
    snprintf(out, HASH_MAX, "%016" PRIx64, hash);
    return out;
}

void drv_point_write_json(const strategy *p, dse_json *j)
{
    dse_json_begin_object(j);
    strategy_write_fields(p, j);
    dse_json_end_object(j);
}

void drv_study_write_config(const drv_study *s, const strategy *point, dse_strbuf *out)
{
    const card_model model = card_model_spelled_out(&s->model);
    const card_system system = s->training ? s->system : card_system_of_stage(&s->system);
    char hash[HASH_MAX];
    dse_json j;

    dse_json_init(&j, out);
    dse_json_begin_object(&j);
    dse_json_key_string(&j, "engine", s->engine);
    dse_json_key_string(&j, "model_name", s->model_name);
    dse_json_key_string(&j, "system_name", s->system_name);
    if (*s->settings)
        dse_json_key_string(&j, "settings", s->settings);
    dse_json_key_string(&j, "operators_hash", spell_hash(s->operators_hash, hash));
    dse_json_key_uint(&j, "tag_base", s->tag_base);
    dse_json_key(&j, "model");
    cfg_table_write_json(&card_model_table, &model, &j);
    dse_json_key(&j, "system");
    cfg_table_write_json(&card_system_table, &system, &j);
    dse_json_end_object(&j);
    if (point)
        drv_config_add_point(point, out);
}

void drv_config_add_point(const strategy *point, dse_strbuf *config)
{
    dse_json j;

    config->data[config->len - 1] = ','; /* was the brace at the end */
    dse_strbuf_adds(config, "\"point\":");
    dse_json_init(&j, config);
    drv_point_write_json(point, &j);
    dse_strbuf_addc(config, '}');
}

void drv_study_write_request(const dse_strbuf *study, const strategy *point, dse_strbuf *out)
{
    dse_json j;

    dse_strbuf_add(out, study->data, study->len);
    dse_strbuf_addc(out, RECORD_SEPARATOR);
    dse_json_init(&j, out);
    drv_point_write_json(point, &j);
}

bool drv_config_of_point(const char *config, const strategy *point, dse_strbuf *out)
{
    cfg_doc doc = {0};
    const cfg_node *last = NULL;
    dse_arena a;
    bool found;

    dse_arena_init(&a);
    if (cfg_parse_json(source, config, strlen(config), &a, &doc, NULL) == DSE_OK &&
        doc.root->kind == CFG_MAP && doc.root->n > 1)
        last = doc.root->key[doc.root->n - 1];
    found = last && last->line == 1 && !strcmp(last->text, "point");
    if (found) {
        dse_strbuf_add(out, config, last->column - 1); /* and the comma, which the closing brace became */
        drv_config_add_point(point, out);
    }
    dse_arena_free(&a);
    return found;
}

static dse_status read_cards(const cfg_doc *doc, drv_study *out, dse_error *err)
{
    const cfg_doc model = {doc->path, (cfg_node *)(uintptr_t)cfg_get(doc->root, "model")};
    const cfg_doc system = {doc->path, (cfg_node *)(uintptr_t)cfg_get(doc->root, "system")};
    dse_status st = card_model_read(&model, NULL, &out->model, err);

    return st == DSE_OK ? card_system_read_stored(&system, &out->system, err) : st;
}

/* What is text or a number; `settings` alone may be missing. */
static dse_status read_names(const cfg_doc *doc, drv_study *out, const char **operators_hash, dse_error *err)
{
    const struct {
        const char *key;
        const char **value;
    } texts[] = {{"engine", &out->engine},
                 {"settings", &out->settings},
                 {"model_name", &out->model_name},
                 {"system_name", &out->system_name},
                 {"operators_hash", operators_hash}};
    int64_t tag_base = 0;
    dse_status st = DSE_OK;

    out->settings = "";
    for (size_t i = 0; st == DSE_OK && i < DSE_COUNT(texts); i++) {
        const cfg_node *node = cfg_get(doc->root, texts[i].key);

        if (node)
            st = cfg_string(doc, node, texts[i].key, texts[i].value, err);
    }
    if (st == DSE_OK)
        st = cfg_int(doc, cfg_get(doc->root, "tag_base"), "tag_base", 0, UINT32_MAX, &tag_base, err);
    out->tag_base = (uint32_t)tag_base;
    return st;
}

static dse_status check_keys(const cfg_doc *doc, bool has_point, dse_error *err)
{
    static const char *const keys[] = {"engine",      "model",    "system",        "model_name",
                                       "system_name", "tag_base", "operators_hash"};
    bool complete = has_point == (cfg_get(doc->root, "point") != NULL);

    for (size_t i = 0; i < DSE_COUNT(keys); i++)
        complete &= cfg_get(doc->root, keys[i]) != NULL;
    return complete ? DSE_OK
                    : dse_fail_at(err, DSE_E_CONFIG, doc->path,
                                  "a configuration has engine, model, system, point, their names, tag_base "
                                  "and operators_hash");
}

static bool is_spelt(uint64_t hash, const char *text)
{
    char own[HASH_MAX];

    return !strcmp(spell_hash(hash, own), text);
}

/* The operators of a study, which must be those of its configuration. */
static dse_status load_operators(drv_study *s, const char *written_hash, dse_arena *a, dse_error *err)
{
    dse_status st = drv_study_load_operators(s, a, err);

    if (st != DSE_OK)
        return st;
    if (!is_spelt(s->operators_hash, written_hash))
        return dse_fail_at(err, DSE_E_CONFIG, s->operators.path,
                           "the operator file has changed since the configuration was made");
    return DSE_OK;
}

/* What of a study is not in its text. */
static dse_status complete(drv_study *s, dse_arena *a, dse_error *err)
{
    return card_model_trains(&s->model) ? drv_training_make(s, a, err) : drv_custom_settle(&s->system, err);
}

/* In texts of older versions the model has what the point does not say. */
static dse_status read_point(const cfg_doc *doc, const cfg_node *map, const drv_study *s, strategy *out,
                             dse_error *err)
{
    const strategy base = card_model_strategy(&s->model);

    return strategy_read(doc, map, &base, out, err);
}

/* What a configuration says itself, from its text. The point of one that has none is not read. */
static dse_status read_text(const char *text, size_t n, dse_arena *a, drv_study *out, strategy *point,
                            const char **operators_hash, dse_error *err)
{
    cfg_doc doc = {0};
    dse_status st = cfg_parse_json(source, text, n, a, &doc, err);

    *out = (drv_study){.tables = {.arena = a}, .shortcuts = SIM_ALL_SHORTCUTS};
    if (st != DSE_OK || (st = check_keys(&doc, point != NULL, err)) != DSE_OK ||
        (st = read_cards(&doc, out, err)) != DSE_OK ||
        (st = read_names(&doc, out, operators_hash, err)) != DSE_OK)
        return st;
    return point ? read_point(&doc, cfg_get(doc.root, "point"), out, point, err) : DSE_OK;
}

dse_status drv_study_read_config(const char *text, size_t n, dse_arena *a, drv_study *out, strategy *point,
                                 dse_error *err)
{
    const char *operators_hash = "";
    dse_status st = read_text(text, n, a, out, point, &operators_hash, err);

    if (st == DSE_OK)
        st = load_operators(out, operators_hash, a, err);
    return st == DSE_OK ? complete(out, a, err) : st;
}

/* ---- one after another --------------------------------------------------------------------- */

void drv_study_reader_init(drv_study_reader *r)
{
    *r = (drv_study_reader){0};
    dse_arena_init(&r->study_arena);
    dse_arena_init(&r->operators_arena);
    dse_arena_init(&r->tables_arena);
    r->tables.arena = &r->tables_arena;
    dse_strbuf_init(&r->text);
    r->orders = sched_keeper_new();
}

static void forget_operators(drv_study_reader *r)
{
    wl_generator_free(r->generator);
    r->generator = NULL;
    r->operators = (cfg_doc){0};
    dse_arena_reset(&r->operators_arena);
}

void drv_study_reader_free(drv_study_reader *r)
{
    forget_operators(r);
    sched_keeper_free(r->orders);
    dse_strbuf_free(&r->text);
    dse_arena_free(&r->study_arena);
    dse_arena_free(&r->operators_arena);
    dse_arena_free(&r->tables_arena);
}

/* Gives the study the operators that are kept, if they are those of its configuration, or else keeps its
 * own. */
static dse_status keep_operators(drv_study_reader *r, const char *operators_hash, dse_error *err)
{
    drv_study *s = &r->study;
    dse_status st;

    if (card_model_is_main(&s->model))
        return load_operators(s, operators_hash, &r->study_arena, err);
    if (!r->generator || !is_spelt(r->operators_hash, operators_hash) ||
        strcmp(s->model.operators, r->operators_name)) {
        forget_operators(r);
        if ((st = load_operators(s, operators_hash, &r->operators_arena, err)) != DSE_OK)
            return st;
        r->operators = s->operators;
        r->generator = wl_generator_new(&r->operators);
        r->operators_hash = s->operators_hash;
        memcpy(r->operators_name, s->model.operators, sizeof r->operators_name);
    }
    s->operators = r->operators;
    s->operators_hash = r->operators_hash;
    s->generator = r->generator;
    s->orders = r->orders;
    return DSE_OK;
}

/* Makes the study of a text the one that is kept; if that fails, none is. */
static dse_status keep_study(drv_study_reader *r, const char *text, size_t n, strategy *point, dse_error *err)
{
    const char *operators_hash = "";
    dse_status st;

    dse_strbuf_clear(&r->text);
    dse_arena_reset(&r->study_arena);
    st = read_text(text, n, &r->study_arena, &r->study, point, &operators_hash, err);
    if (st == DSE_OK)
        st = keep_operators(r, operators_hash, err);
    r->study.tables = r->tables;
    if (st == DSE_OK)
        st = complete(&r->study, &r->study_arena, err);
    r->tables = r->study.tables;
    if (st == DSE_OK && !point)
        dse_strbuf_add(&r->text, text, n);
    return st;
}

/* The study of a request, n bytes, if it is not the one that is kept, and its point, which is behind it. */
static dse_status read_request(drv_study_reader *r, const char *text, size_t n, const char *point_text,
                               size_t n_point, dse_arena *a, strategy *point, dse_error *err)
{
    const bool is_kept = r->text.len && r->text.len == n && !memcmp(r->text.data, text, n);
    cfg_doc doc = {0};
    dse_status st = is_kept ? DSE_OK : keep_study(r, text, n, NULL, err);

    if (st == DSE_OK)
        st = cfg_parse_json(source, point_text, n_point, a, &doc, err);
    return st == DSE_OK ? read_point(&doc, doc.root, &r->study, point, err) : st;
}

dse_status drv_study_reader_read(drv_study_reader *r, const char *text, size_t n, dse_arena *a,
                                 drv_study *out, strategy *point, dse_error *err)
{
    const char *end = memchr(text, RECORD_SEPARATOR, n);
    const size_t n_study = end ? (size_t)(end - text) : n;
    dse_status st = end ? read_request(r, text, n_study, end + 1, n - n_study - 1, a, point, err)
                        : keep_study(r, text, n, point, err);

    *out = r->study;
    return st;
}

dse_status drv_study_machine(const char *text, dse_arena *a, drv_machine *out, dse_error *err)
{
    card_system system;
    cfg_doc doc = {0};
    dse_status st = cfg_parse_json(source, text, strlen(text), a, &doc, err);

    *out = (drv_machine){.hbm_bytes = NAN};
    if (st != DSE_OK)
        return st;
    doc.root = (cfg_node *)(uintptr_t)cfg_get(doc.root, "system");
    if (!doc.root)
        return DSE_OK;
    st = card_system_read_stored(&doc, &system, err);
    if (st == DSE_OK)
        *out = (drv_machine){system.hbm_bytes, drv_say_laws(&system, a),
                             drv_links_check(&system, "", NULL) == DSE_OK};
    return st;
}
