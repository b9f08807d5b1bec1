#include "driver/space_file.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/names.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the values of a range: 2^53, above which a double does not count in ones. */
#define MAX_COUNT 9007199254740992.0

typedef struct {
    const cfg_doc *doc;
    dse_arena *arena;
    drv_space_file *out;
    dse_error *err;
} reader;

static dse_status fail(const reader *r, const cfg_node *node, const char *what, const char *which)
{
    return cfg_fail(r->err, r->doc, node, what, which);
}

/* ---- values -------------------------------------------------------------------------------- */

/* A list of scalars as a card would write it: "[Ring,Switch]". */
static dse_status text_of_list(const reader *r, const cfg_node *list, const char *what, const char **out)
{
    dse_status st = DSE_OK;
    dse_strbuf text = dse_strbuf_in(r->arena);

    for (uint32_t i = 0; st == DSE_OK && i < list->n; i++) {
        if (list->item[i]->kind != CFG_SCALAR)
            st = fail(r, list->item[i], "'%s': a list within a list of values", what);
        else if (!*list->item[i]->text || strpbrk(list->item[i]->text, ",[]"))
            st = fail(r, list->item[i], "'%s': not an entry of a list of values", what);
        else
            dse_strbuf_addf(&text, "%s%s", i ? "," : "[", list->item[i]->text);
    }
    dse_strbuf_addc(&text, ']');
    *out = text.data;
    return st;
}

static dse_status text_of(const reader *r, const cfg_node *node, const char *what, const char **out)
{
    if (node->kind == CFG_LIST && node->n)
        return text_of_list(r, node, what, out);
    if (node->kind != CFG_SCALAR || !*node->text)
        return fail(r, node, "'%s' takes values, and this is none", what);
    *out = node->text;
    return DSE_OK;
}

typedef struct {
    uint32_t n;
    const char **text;
} values;

/* The values of a list, as they stand there or, later, as a card has them: "50 GB/s" is 50GB/s. */
static dse_status check_twice(const reader *r, const cfg_node *list, const char *what, const values *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(v->text[k], v->text[i]))
                return fail(r, list->item[i], "'%s' has this value twice", what);
    return DSE_OK;
}

static dse_status values_of_list(const reader *r, const cfg_node *list, const char *what, values *out)
{
    dse_status st = DSE_OK;

    if (!list->n)
        return fail(r, list, "'%s' has no values", what);
    *out = (values){list->n, DSE_ARENA_NEW(r->arena, const char *, list->n)};
    for (uint32_t i = 0; st == DSE_OK && i < list->n; i++)
        st = text_of(r, list->item[i], what, &out->text[i]);
    return st == DSE_OK ? check_twice(r, list, what, out) : st;
}

/* {from: 8, to: 64, step: 8} or {powers_of: 2, from: 1, to: 64}, each with `unit: GB/s` if it has one. */
typedef struct {
    double from, to, step, powers_of;
    const char *unit;
} range;

static dse_status read_range(const reader *r, const cfg_node *map, const char *what, range *out)
{
    const struct {
        const char *key;
        double *value;
    } numbers[] = {
        {"from", &out->from}, {"to", &out->to}, {"step", &out->step}, {"powers_of", &out->powers_of}};
    static const char *const keys[] = {"from", "to", "step", "powers_of", "unit"};

    *out = (range){NAN, NAN, NAN, NAN, ""};
    for (uint32_t i = 0; i < map->n; i++) {
        const char *key = map->key[i]->text;
        const cfg_node *item = map->item[i];
        size_t k = 0;

        while (k < 4 && strcmp(numbers[k].key, key) != 0)
            k++;
        if (k == 4 && strcmp(key, "unit") != 0)
            return dse_fail_unknown(r->err, DSE_E_CONFIG, cfg_at(r->doc, map->key[i]).text, "key of a range",
                                    key, keys, DSE_COUNT(keys));
        if (item->kind != CFG_SCALAR ||
            (k < 4 && (dse_parse_double(item->text, numbers[k].value, NULL) != DSE_OK ||
                       !isfinite(*numbers[k].value))))
            return fail(r, item, k < 4 ? "'%s' takes a number" : "'%s' takes a name", key);
        if (k == 4)
            out->unit = item->text;
    }
    if (isnan(out->from) || isnan(out->to))
        return fail(r, map, "the range of '%s' needs from and to", what);
    if (!isnan(out->powers_of) && (!isnan(out->step) || out->powers_of <= 1 || out->from <= 0))
        return fail(r, map,
                    "the powers of '%s' are of a number above 1, from a number above 0, without a step",
                    what);
    if (isnan(out->step))
        out->step = 1;
    if (out->step <= 0 || out->to < out->from)
        return fail(r, map, "the range of '%s' goes from its least value up, by a step above 0", what);
    return DSE_OK;
}

/* How many values a range has: of powers, those of from * base^k. A last value that only rounding keeps out
 * is in. */
static double range_count(const range *r)
{
    double steps =
        isnan(r->powers_of) ? (r->to - r->from) / r->step : log(r->to / r->from) / log(r->powers_of);

    return floor(steps + steps * 1e-12 + 1e-9) + 1;
}

static dse_status values_of_range(const reader *r, const cfg_node *map, const char *what, values *out)
{
    range g;
    double count;
    dse_status st = read_range(r, map, what, &g);

    if (st != DSE_OK)
        return st;
    count = range_count(&g);
    if (count > MAX_COUNT)
        return fail(r, map, "'%s' has more values than can be counted", what);
    if (count > DRV_MAX_AXIS_VALUES)
        return dse_fail_at(r->err, DSE_E_RANGE, cfg_at(r->doc, map).text,
                           "'%s' has %.0f values; an axis may have %u", what, count, DRV_MAX_AXIS_VALUES);
    *out = (values){(uint32_t)count, DSE_ARENA_NEW(r->arena, const char *, (size_t)count)};
    for (uint32_t i = 0; i < out->n; i++) {
        double v = isnan(g.powers_of) ? g.from + i * g.step : g.from * pow(g.powers_of, i);

        /* A whole number is written as one: %g makes 1e+15 of the largest that a size of a model may be. */
        out->text[i] =
            dse_arena_printf(r->arena, v == floor(v) && fabs(v) <= 1e15 ? "%.0f%s" : "%.15g%s", v, g.unit);
        if (i && !strcmp(out->text[i], out->text[i - 1]))
            return fail(r, map, "the values of '%s' cannot be told apart in 15 digits", what);
    }
    return DSE_OK;
}

static dse_status values_of(const reader *r, const cfg_node *node, const char *what, values *out)
{
    if (node->kind == CFG_MAP)
        return values_of_range(r, node, what, out);
    if (node->kind == CFG_LIST)
        return values_of_list(r, node, what, out);
    *out = (values){1, DSE_ARENA_NEW(r->arena, const char *, 1)};
    return text_of(r, node, what, out->text);
}

/* ---- sections ------------------------------------------------------------------------------ */

static dse_status read_names(const reader *r, const cfg_node *node, const char *what, const char ***out,
                             size_t *n)
{
    values v = {0};
    dse_status st = node->kind == CFG_MAP ? fail(r, node, "'%s' are names, or one name", what)
                                          : values_of(r, node, what, &v);

    *out = v.text;
    *n = v.n;
    return st;
}

static dse_status read_models(const reader *r, const cfg_node *node)
{
    return read_names(r, node, "models", &r->out->model, &r->out->n_models);
}

static dse_status read_systems(const reader *r, const cfg_node *node)
{
    return read_names(r, node, "systems", &r->out->system, &r->out->n_systems);
}

/* An axis of the strategy; *known is false if `name` is none. */
static dse_status read_strategy_axis(const reader *r, const cfg_node *node, const char *name, const values *v,
                                     bool *known)
{
    const uint32_t parameter = strategy_find(name);
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    *known = parameter < STRATEGY_N;
    if (!*known)
        return DSE_OK;
    st = design_axis_of(parameter, name, v->text, v->n, &r->out->space.strategy.of[parameter], &why);
    return st == DSE_OK ? st : fail(r, node, "%s", why.text);
}

/* Whether a value is one for its path, before the cards are known: to it, every list is as long as lists can
 * be. */
static dse_status check_value(const cfg_setting *s, dse_error *err)
{
    card_model model = {0};
    card_system system = {0};

    if (cfg_table_has(&card_model_table, s->path))
        return cfg_table_set(&card_model_table, s, &model, err);
    cfg_table_fill_lists(&card_system_table, &system);
    return cfg_table_set(&card_system_table, s, &system, err);
}

/* A value at its place; spaces are dropped, as those of --set are. */
static dse_status setting_of(const reader *r, const cfg_node *node, const char *path, const char *value,
                             cfg_setting *out)
{
    const char *text = dse_arena_printf(r->arena, "%s=%s", path, value);
    dse_error why = DSE_ERROR_INIT;
    dse_status st = cfg_setting_parse(text, r->arena, out, &why);

    if (st == DSE_OK)
        st = check_value(out, &why);
    return st == DSE_OK ? st : fail(r, node, "%s", why.text);
}

/* An axis over a value of a card. */
static dse_status read_card_axis(const reader *r, const cfg_node *key, const cfg_node *node, const values *v)
{
    drv_axis *axis = &r->out->space.axis[r->out->space.n_axes++];
    const cfg_param *p = cfg_param_find(&card_system_table, key->text);
    dse_error why = DSE_ERROR_INIT;
    dse_status st = drv_path_check(key->text, &why);

    if (st != DSE_OK)
        return dse_fail_at(r->err, st, cfg_at(r->doc, key).text, "'%.60s' is none of %s, and %s", key->text,
                           strategy_names(), why.text);
    if (p && p->unhashed && v->n > 1) /* points that differ in it alone are one */
        return fail(r, node, "'%s' takes one value here: no step depends on it", key->text);
    *axis = (drv_axis){.path = key->text, .n = v->n, .value = v->text};
    for (uint32_t i = 0; st == DSE_OK && i < v->n; i++) {
        cfg_setting s = {0};

        st = setting_of(r, node->kind == CFG_LIST ? node->item[i] : node, key->text, v->text[i], &s);
        axis->value[i] = s.value;
    }
    return st == DSE_OK && node->kind == CFG_LIST ? check_twice(r, node, key->text, v) : st;
}

/* pipeline_layout: any, or {from: 4, to: 6}: all ways to share the layers out to the stages; recompute_layout
 * likewise: all numbers of layers of each stage that are made again. *is_one: it is that. */
static dse_status read_layouts(const reader *r, const cfg_node *key, const cfg_node *node, bool *is_one)
{
    range g = {.from = 0, .to = DRV_MAX_AXIS_VALUES};
    drv_axis *axis;
    dse_status st;

    *is_one = (!strcmp(key->text, DRV_LAYOUT_KEY) || !strcmp(key->text, DRV_RECOMPUTE_KEY)) &&
              (node->kind == CFG_MAP || (node->kind == CFG_SCALAR && !strcmp(node->text, DRV_LAYOUT_ANY)));
    if (!*is_one)
        return DSE_OK;
    if (node->kind == CFG_MAP && (st = read_range(r, node, key->text, &g)) != DSE_OK)
        return st;
    if (node->kind == CFG_MAP &&
        (g.from < 0 || g.to < 1 || g.to > DRV_MAX_AXIS_VALUES || g.from != floor(g.from) ||
         g.to != floor(g.to) || g.step < 1 || g.step > 1 || !isnan(g.powers_of) || *g.unit))
        return fail(r, node, "'%s' from .. to are layers of a stage, whole numbers, without a step",
                    key->text);
    axis = &r->out->space.axis[r->out->space.n_axes++];
    *axis =
        (drv_axis){key->text, 1, DSE_ARENA_NEW(r->arena, const char *, 1), (uint32_t)g.from, (uint32_t)g.to};
    axis->value[0] = DRV_LAYOUT_ANY;
    return DSE_OK;
}

static dse_status read_axes(const reader *r, const cfg_node *map)
{
    drv_space *s = &r->out->space;
    dse_status st = DSE_OK;

    if (map->kind != CFG_MAP)
        return fail(r, map, "'%s' maps names to values, for example tp: [1, 2, 4]", "axes");
    s->axis = DSE_ARENA_NEW(r->arena, drv_axis, map->n);
    for (uint32_t i = 0; st == DSE_OK && i < map->n; i++) {
        bool known = false;
        values v = {0};

        if ((st = read_layouts(r, map->key[i], map->item[i], &known)) != DSE_OK || known)
            continue;
        st = values_of(r, map->item[i], map->key[i]->text, &v);
        if (st == DSE_OK)
            st = read_strategy_axis(r, map->item[i], map->key[i]->text, &v, &known);
        if (st == DSE_OK && !known)
            st = read_card_axis(r, map->key[i], map->item[i], &v);
    }
    return st;
}

static dse_status read_constraints(const reader *r, const cfg_node *list)
{
    drv_space *s = &r->out->space;
    dse_status st = DSE_OK;

    if (list->kind != CFG_LIST)
        return fail(r, list, "'%s' is a list of expressions, for example - tp <= 8", "constraints");
    s->constraint = DSE_ARENA_NEW(r->arena, drv_constraint, list->n);
    for (uint32_t i = 0; st == DSE_OK && i < list->n; i++) {
        drv_constraint *c = &s->constraint[s->n_constraints++];
        dse_error why = DSE_ERROR_INIT;

        if (list->item[i]->kind != CFG_SCALAR || !*list->item[i]->text)
            return fail(r, list->item[i], "a constraint is an expression, for example %s", "tp <= 8");
        c->where = dse_arena_strdup(r->arena, cfg_at(r->doc, list->item[i]).text);
        st = design_expr_parse(list->item[i]->text, r->arena, &c->expr, &why);
        if (st != DSE_OK)
            dse_fail_at(r->err, st, c->where, "%s", why.text);
    }
    return st;
}

static dse_status read_set(const reader *r, const cfg_node *map)
{
    cfg_setting *items;
    dse_status st = DSE_OK;

    if (map->kind != CFG_MAP)
        return fail(r, map, "'%s' maps keys of cards to values", "set");
    items = DSE_ARENA_NEW(r->arena, cfg_setting, map->n);
    for (uint32_t i = 0; st == DSE_OK && i < map->n; i++) {
        const char *path = map->key[i]->text, *value = NULL;
        dse_error why = DSE_ERROR_INIT;

        if (drv_path_check(path, &why) != DSE_OK)
            return fail(r, map->key[i], "%s", why.text);
        st = text_of(r, map->item[i], path, &value);
        if (st == DSE_OK)
            st = setting_of(r, map->item[i], path, value, &items[i]);
    }
    if (st == DSE_OK)
        st = cfg_settings_sort(items, map->n, r->err);
    r->out->settings = (cfg_settings){map->n, items};
    return st;
}

static const struct {
    const char *key;
    dse_status (*read)(const reader *r, const cfg_node *node);
} sections[] = {{"models", read_models},
                {"systems", read_systems},
                {"axes", read_axes},
                {"constraints", read_constraints},
                {"set", read_set}};
#define N_SECTIONS DSE_COUNT(sections)

static dse_status read_file(reader *r, const cfg_node *root)
{
    const char *known[N_SECTIONS];
    dse_status st = DSE_OK;

    if (root->kind != CFG_MAP)
        return dse_fail_at(r->err, DSE_E_CONFIG, r->doc->path,
                           "a space maps models, systems, axes, constraints and set to what they are");
    for (size_t k = 0; k < N_SECTIONS; k++)
        known[k] = sections[k].key;
    for (uint32_t i = 0; st == DSE_OK && i < root->n; i++) {
        size_t k = 0;

        while (k < N_SECTIONS && strcmp(known[k], root->key[i]->text) != 0)
            k++;
        if (k == N_SECTIONS)
            return dse_fail_unknown(r->err, DSE_E_CONFIG, cfg_at(r->doc, root->key[i]).text, "key of a space",
                                    root->key[i]->text, known, N_SECTIONS);
        if (root->item[i]->kind == CFG_SCALAR && !*root->item[i]->text)
            continue; /* its lines are all comments */
        st = sections[k].read(r, root->item[i]);
    }
    return st;
}

dse_status drv_space_file_parse(const char *path, const char *text, size_t n, dse_arena *a,
                                drv_space_file *out, dse_error *err)
{
    cfg_doc doc;
    reader r = {&doc, a, out, err};
    dse_status st = cfg_parse_yaml(path, text, n, a, &doc, err);

    *out = (drv_space_file){0};
    return st == DSE_OK ? read_file(&r, doc.root) : st;
}

dse_status drv_space_file_read(const char *path, dse_arena *a, drv_space_file *out, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(a);
    dse_status st = dse_read_file(path, CFG_MAX_BYTES, &text, err);

    return st == DSE_OK ? drv_space_file_parse(path, text.data, text.len, a, out, err) : st;
}
