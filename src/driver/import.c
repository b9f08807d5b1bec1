#include "driver/import.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/units.h"
#include "cards/locate.h"
#include "config/doc.h"
#include "driver/study.h"
#include "report/keyed.h"
#include "report/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENGINE_NAME 64

typedef struct {
    const cfg_doc *doc;
    const drv_import_as *as;
    dse_arena *arena;
    drv_import *io;
    dse_strbuf text; /* of a configuration */
    dse_error *err;
} reader;

/* ---- names --------------------------------------------------------------------------------- */

dse_status drv_import_check_engine(const char *name, dse_error *err)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-");

    if (!n || name[n] || n > MAX_ENGINE_NAME)
        return dse_fail(err, DSE_E_USAGE,
                        "'%.80s' is no name of an engine; use letters, digits and any of . _ + -", name);
    if (!strcmp(name, "native") || store_is_native(name))
        return dse_fail(err, DSE_E_USAGE,
                        "engine '%.80s': results of that name are simulated here and not imported", name);
    return DSE_OK;
}

/* A key is a name as rows have it: without folder and extension. */
static dse_status check_name(reader *r, const char *what, const cfg_node *key)
{
    dse_error why = DSE_ERROR_INIT;
    const char *stem = "";
    dse_status st = card_name(key->text, r->arena, &stem, &why);

    if (st == DSE_OK && !strcmp(stem, key->text))
        return DSE_OK;
    if (st == DSE_OK)
        st = dse_fail(&why, DSE_E_CONFIG,
                      "'%.80s' is no name of a %s: without folder and extension it is '%.80s'", key->text,
                      what, stem);
    return dse_fail_at(r->err, st, cfg_at(r->doc, key).text, "%s", why.text);
}

/* ---- figures ------------------------------------------------------------------------------- */

static bool is_bare(const cfg_node *node, const char *text)
{
    return node->kind == CFG_SCALAR && !node->quoted && !strcmp(node->text, text);
}

/* Digits, or what a script made of them on the way: "1.2e10", "35.0". */
static bool parse_count(const char *text, uint64_t *out)
{
    const double exact = 9007199254740992.0; /* 2^53: above it a double is not any whole number */
    double v;

    if (dse_parse_u64(text, out, NULL) == DSE_OK)
        return *out != STORE_ABSENT;
    if (dse_parse_double(text, &v, NULL) != DSE_OK || !(v >= 0 && v <= exact) || v != floor(v))
        return false;
    *out = (uint64_t)v;
    return true;
}

/* "inf", in quotes, is what the export writes for it: JSON has no such number. */
static bool parse_real(const cfg_node *node, double *out)
{
    if (node->quoted) {
        *out = INFINITY;
        return !strcmp(node->text, "inf");
    }
    return dse_parse_double(node->text, out, NULL) == DSE_OK && *out >= 0;
}

static dse_status read_figure(reader *r, const report_keyed_figure *f, const cfg_node *node, store_metrics *m)
{
    const store_column *c = store_column_find(f->column);
    void *field = (char *)m + c->offset;
    /* Every ranking and comparison divides by it. */
    bool is_step_time = !strcmp(f->name, "wall_time");
    bool understood;

    if (is_bare(node, "null") && !is_step_time)
        return DSE_OK;
    if (node->kind != CFG_SCALAR)
        understood = false;
    else if (c->type == STORE_REAL)
        understood = parse_real(node, field);
    else
        understood = !node->quoted && parse_count(node->text, field) && !(is_step_time && m->wall_time == 0);
    return understood ? DSE_OK
                      : cfg_fail(r->err, r->doc, node, "%s must be a %s, %d or more, not %s", f->name,
                                 c->type == STORE_REAL ? "number" : "whole number", is_step_time,
                                 cfg_seen(node).text);
}

/* The key has said it already: a file that disagrees with itself is not to be trusted. */
static dse_status check_degree(reader *r, const char *name, const cfg_node *node, const cfg_node *key,
                               uint32_t expected)
{
    uint64_t v = 0;
    bool flag = false;

    if (node->kind == CFG_SCALAR && !node->quoted && parse_count(node->text, &v) && v == expected)
        return DSE_OK;
    /* "ar": Python's json writes a bool as true or false. */
    if (!strcmp(name, "ar") && (is_bare(node, "true") || is_bare(node, "false")) &&
        dse_parse_bool(node->text, &flag, NULL) == DSE_OK && flag == (expected != 0))
        return DSE_OK;
    return cfg_fail(r->err, r->doc, node, "%s is %s, but the key '%s' says %" PRIu32, name,
                    cfg_seen(node).text, key->text, expected);
}

static dse_status lacks(reader *r, const cfg_node *key, const char *name)
{
    return cfg_fail(r->err, r->doc, key, "point '%s' lacks '%s'", key->text, name);
}

static bool is_known(const char *name)
{
    size_t n;
    const report_keyed_figure *f = report_keyed_figures(&n);

    for (size_t i = 0; i < n; i++)
        if (!strcmp(f[i].name, name))
            return true;
    for (size_t i = 0; i < REPORT_KEYED_DEGREES; i++)
        if (!strcmp(report_keyed_degrees[i], name))
            return true;
    return false;
}

static void count_unknown(reader *r, const cfg_node *point)
{
    for (uint32_t i = 0; i < point->n; i++) {
        if (is_known(point->key[i]->text))
            continue;
        if (!r->io->n_unknown++)
            r->io->unknown = dse_arena_printf(r->arena, "%s: '%.80s'", cfg_at(r->doc, point->key[i]).text,
                                              point->key[i]->text);
    }
}

static dse_status read_fields(reader *r, const cfg_node *key, const cfg_node *point, store_row *row)
{
    uint32_t degree[REPORT_KEYED_DEGREES];
    size_t n;
    const report_keyed_figure *f = report_keyed_figures(&n);
    dse_status st = DSE_OK;

    store_metrics_clear(&row->metrics);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        const cfg_node *node = cfg_get(point, f[i].name);

        st = node ? read_figure(r, &f[i], node, &row->metrics) : lacks(r, key, f[i].name);
    }
    report_keyed_values(row, degree);
    for (size_t i = 0; st == DSE_OK && i < REPORT_KEYED_DEGREES; i++) {
        const cfg_node *node = cfg_get(point, report_keyed_degrees[i]);

        st = node ? check_degree(r, report_keyed_degrees[i], node, key, degree[i])
                  : lacks(r, key, report_keyed_degrees[i]);
    }
    if (st == DSE_OK)
        count_unknown(r, point);
    return st;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* point NULL: of the study. In the arena. */
static const char *config_text(reader *r, const char *model, const char *system, const strategy *point)
{
    const struct {
        const char *key, *value;
    } names[] = {{"engine", r->as->engine}, {"model_name", model}, {"system_name", system}};
    dse_json j;

    dse_strbuf_clear(&r->text);
    dse_json_init(&j, &r->text);
    dse_json_begin_object(&j);
    for (size_t i = 0; i < DSE_COUNT(names); i++)
        dse_json_key_string(&j, names[i].key, names[i].value);
    if (point) {
        dse_json_key(&j, "point");
        drv_point_write_json(point, &j);
    }
    dse_json_end_object(&j);
    return dse_arena_strdup(r->arena, r->text.data);
}

static bool same_config(const void *rows, uint32_t id, const void *key)
{
    return !strcmp(((const store_row *)rows)[id].config, key);
}

static dse_status add_row(reader *r, const cfg_node *key, const store_row *row)
{
    drv_import *io = r->io;
    dse_idslot *slot;

    DSE_ARENA_GROW(r->arena, io->row, io->cap, io->n + 1);
    DSE_ARENA_GROW(r->arena, io->place, io->cap_places, io->n + 1);
    dse_idtable_reserve(&io->by_config);
    io->place[io->n] = dse_arena_strdup(r->arena, cfg_at(r->doc, key).text);
    slot = dse_idtable_find(&io->by_config, (uint32_t)row->hash, same_config, io->row, row->config);
    if (slot->id != DSE_NONE)
        return dse_fail_at(r->err, DSE_E_CONFIG, io->place[io->n],
                           "point '%s' of %.60s on %.60s stands in %.200s already", key->text, row->model,
                           row->system, io->place[slot->id]);
    dse_idtable_put(&io->by_config, slot, (uint32_t)row->hash, (uint32_t)io->n);
    io->row[io->n++] = *row;
    return DSE_OK;
}

static dse_status read_point(reader *r, const char *model, const char *system, uint64_t study,
                             const cfg_node *key, const cfg_node *node)
{
    strategy p;
    store_row row;
    dse_status st;

    if (strategy_parse_name(key->text, NULL, &p, NULL, NULL) != DSE_OK || p.weight_sharded)
        return cfg_fail(r->err, r->doc, key, "'%.60s' is not a point; a key is %s, for example 32_1_2_1_0",
                        key->text, strategy_name_form());
    if (node->kind != CFG_MAP)
        return cfg_fail(r->err, r->doc, node, "point '%s' must be an object of figures, not %s", key->text,
                        cfg_seen(node).text);
    row = (store_row){.config = config_text(r, model, system, &p),
                      .study = study,
                      .model = model,
                      .system = system,
                      .engine = r->as->engine,
                      .settings = "",
                      .strategy = p,
                      .done = true,
                      .error = "",
                      .seconds = NAN};
    row.hash = dse_hash_bytes(row.config, strlen(row.config));
    st = read_fields(r, key, node, &row);
    return st == DSE_OK ? add_row(r, key, &row) : st;
}

static dse_status read_points(reader *r, const char *model, const char *system, const cfg_node *map)
{
    const char *study = config_text(r, model, system, NULL);
    dse_status st = DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < map->n; i++)
        st = read_point(r, model, system, dse_hash_bytes(study, strlen(study)), map->key[i], map->item[i]);
    return st;
}

/* ---- files --------------------------------------------------------------------------------- */

static const cfg_node *first_of(const cfg_node *node)
{
    return node && node->kind == CFG_MAP && node->n ? node->item[0] : NULL;
}

static dse_status no_points(reader *r)
{
    return cfg_fail(r->err, r->doc, r->doc->root,
                    "no points; the file is an object of points, such as {\"32_1_2_1_0\": {...}}");
}

/* {model: {system: {point: {...}}}} */
static dse_status read_nested(reader *r, const cfg_node *root)
{
    const size_t before = r->io->n;
    dse_status st = DSE_OK;

    for (uint32_t m = 0; st == DSE_OK && m < root->n; m++) {
        const cfg_node *systems = root->item[m];

        if (systems->kind != CFG_MAP)
            return cfg_fail(r->err, r->doc, systems, "model '%.80s' must be an object of systems",
                            root->key[m]->text);
        st = check_name(r, "model", root->key[m]);
        for (uint32_t s = 0; st == DSE_OK && s < systems->n; s++) {
            if (systems->item[s]->kind != CFG_MAP)
                return cfg_fail(r->err, r->doc, systems->item[s],
                                "system '%.80s' must be an object of points", systems->key[s]->text);
            if ((st = check_name(r, "system", systems->key[s])) == DSE_OK)
                st = read_points(r, root->key[m]->text, systems->key[s]->text, systems->item[s]);
        }
    }
    return st == DSE_OK && r->io->n == before ? no_points(r) : st;
}

static dse_status read_root(reader *r)
{
    const cfg_node *root = r->doc->root;
    const drv_import_as *as = r->as;
    bool nested = first_of(first_of(root)) && first_of(first_of(root))->kind == CFG_MAP;

    if (root->kind != CFG_MAP || !root->n)
        return no_points(r);
    if (nested && (as->model || as->system))
        return dse_fail_at(r->err, DSE_E_CONFIG, r->doc->path,
                           "the file names its models and systems itself; leave out --model and --system");
    if (!nested && !(as->model && as->system))
        return dse_fail_at(r->err, DSE_E_CONFIG, r->doc->path,
                           "the file does not say whose points these are; give --model and --system");
    return nested ? read_nested(r, root) : read_points(r, as->model, as->system, root);
}

dse_status drv_import_parse(const char *path, const char *text, size_t n, const drv_import_as *as,
                            dse_arena *a, drv_import *io, dse_error *err)
{
    cfg_doc doc = {0};
    reader r = {.doc = &doc, .as = as, .arena = a, .io = io, .err = err};
    dse_status st = cfg_parse_json(path, text, n, a, &doc, err);

    if (st != DSE_OK)
        return st;
    dse_strbuf_init(&r.text);
    st = read_root(&r);
    dse_strbuf_free(&r.text);
    return st;
}

dse_status drv_import_file(const char *path, const drv_import_as *as, dse_arena *a, drv_import *io,
                           dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(a);
    dse_status st = dse_read_file(path, CFG_MAX_BYTES, &text, err);

    return st == DSE_OK ? drv_import_parse(path, text.data, text.len, as, a, io, err) : st;
}

static int compare_rows(const void *x, const void *y) { return report_compare(x, y); }

void drv_import_sort(drv_import *io)
{
    if (io->n)
        qsort(io->row, io->n, sizeof *io->row, compare_rows);
}

void drv_import_free(drv_import *io)
{
    dse_idtable_free(&io->by_config);
    *io = (drv_import){0};
}
