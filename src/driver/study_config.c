/* A study and a point as the text that is sent, stored and hashed. */
#include "base/json_writer.h"
#include "driver/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void drv_point_write_json(const design_point *p, dse_json *j)
{
    dse_json_begin_object(j);
    design_point_write_fields(p, j);
    dse_json_end_object(j);
}

void drv_study_write_config(const drv_study *s, const design_point *point, dse_strbuf *out)
{
    char hash[20];
    dse_json j;

    dse_json_init(&j, out);
    dse_json_begin_object(&j);
    dse_json_key(&j, "engine");
    dse_json_string(&j, s->engine);
    dse_json_key(&j, "model_name");
    dse_json_string(&j, s->model_name);
    dse_json_key(&j, "system_name");
    dse_json_string(&j, s->system_name);
    if (*s->settings) {
        dse_json_key(&j, "settings");
        dse_json_string(&j, s->settings);
    }
    dse_json_key(&j, "operators_hash");
    snprintf(hash, sizeof hash, "%016" PRIx64, s->operators_hash);
    dse_json_string(&j, hash);
    dse_json_key(&j, "tag_base");
    dse_json_uint(&j, s->tag_base);
    dse_json_key(&j, "model");
    cfg_table_write_json(&card_model_table, &s->model, &j);
    dse_json_key(&j, "system");
    cfg_table_write_json(&card_system_table, &s->system, &j);
    if (point) {
        dse_json_key(&j, "point");
        drv_point_write_json(point, &j);
    }
    dse_json_end_object(&j);
}

static dse_status read_degree(const cfg_doc *doc, const cfg_node *map, const char *key, uint32_t *out,
                              dse_error *err)
{
    const cfg_node *node = cfg_get(map, key);
    int64_t v = 0;
    dse_status st;

    if (!node)
        return dse_fail_at(err, DSE_E_CONFIG, doc->path, "'%s' is missing", key);
    st = cfg_int(doc, node, key, 1, 1 << 24, &v, err);
    *out = (uint32_t)v;
    return st;
}

static dse_status read_flag(const cfg_doc *doc, const cfg_node *map, const char *key, bool *out,
                            dse_error *err)
{
    const cfg_node *node = cfg_get(map, key);

    if (!node || node->kind != CFG_SCALAR || dse_parse_bool(node->text, out, NULL) != DSE_OK)
        return dse_fail_at(err, DSE_E_CONFIG, doc->path, "'%s' is missing, or neither true nor false", key);
    return DSE_OK;
}

static dse_status read_point(const cfg_doc *doc, design_point *out, dse_error *err)
{
    const struct {
        const char *key;
        uint32_t *value;
    } degrees[] = {{"dp", &out->dp}, {"tp", &out->tp}, {"sp", &out->sp}, {"pp", &out->pp}};
    const struct {
        const char *key;
        bool *value;
    } flags[] = {{"recompute", &out->recompute}, {"weight_sharded", &out->weight_sharded}};
    const cfg_node *map = cfg_get(doc->root, "point");
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < sizeof degrees / sizeof degrees[0]; i++)
        st = read_degree(doc, map, degrees[i].key, degrees[i].value, err);
    for (size_t i = 0; st == DSE_OK && i < sizeof flags / sizeof flags[0]; i++)
        st = read_flag(doc, map, flags[i].key, flags[i].value, err);
    return st;
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
    for (size_t i = 0; st == DSE_OK && i < sizeof texts / sizeof texts[0]; i++) {
        const cfg_node *node = cfg_get(doc->root, texts[i].key);

        if (node)
            st = cfg_string(doc, node, texts[i].key, texts[i].value, err);
    }
    if (st == DSE_OK)
        st = cfg_int(doc, cfg_get(doc->root, "tag_base"), "tag_base", 0, UINT32_MAX, &tag_base, err);
    out->tag_base = (uint32_t)tag_base;
    return st;
}

static bool has_all_keys(const cfg_doc *doc)
{
    static const char *const keys[] = {"engine",     "model",       "system",   "point",
                                       "model_name", "system_name", "tag_base", "operators_hash"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!cfg_get(doc->root, keys[i]))
            return false;
    return true;
}

dse_status drv_study_read_config(const char *text, size_t n, dse_arena *a, drv_study *out,
                                 design_point *point, dse_error *err)
{
    cfg_doc doc = {0};
    const char *written_hash = "";
    char own_hash[20];
    dse_status st = cfg_parse_json("configuration", text, n, a, &doc, err);

    *out = (drv_study){.shortcuts = SIM_ALL_SHORTCUTS};
    if (st != DSE_OK)
        return st;
    if (!has_all_keys(&doc))
        return dse_fail_at(
            err, DSE_E_CONFIG, doc.path,
            "a configuration has engine, model, system, point, their names, tag_base and operators_hash");
    if ((st = read_cards(&doc, out, err)) != DSE_OK ||
        (st = read_names(&doc, out, &written_hash, err)) != DSE_OK ||
        (st = read_point(&doc, point, err)) != DSE_OK ||
        (st = drv_study_load_operators(out, a, err)) != DSE_OK)
        return st;
    snprintf(own_hash, sizeof own_hash, "%016" PRIx64, out->operators_hash);
    if (strcmp(own_hash, written_hash))
        return dse_fail_at(err, DSE_E_CONFIG, out->operators.path,
                           "the operator file has changed since the configuration was made");
    return DSE_OK;
}

dse_status drv_study_capacity(const char *text, dse_arena *a, double *out, dse_error *err)
{
    card_system system;
    cfg_doc doc = {0};
    dse_status st = cfg_parse_json("configuration", text, strlen(text), a, &doc, err);

    *out = NAN;
    if (st != DSE_OK)
        return st;
    doc.root = (cfg_node *)(uintptr_t)cfg_get(doc.root, "system");
    if (!doc.root)
        return DSE_OK;
    st = card_system_read_stored(&doc, &system, err);
    if (st == DSE_OK)
        *out = system.memory_capacity;
    return st;
}
