#include "config/param.h"

#include "base/names.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
    [CFG_T_INT] = "integer",     [CFG_T_DOUBLE] = "number",     [CFG_T_BOOL] = "true/false",
    [CFG_T_NAME] = "name",       [CFG_T_INT_LIST] = "integers", [CFG_T_DOUBLE_LIST] = "numbers",
    [CFG_T_NAME_LIST] = "names",
};

static void *field(const cfg_param *p, void *values) { return (char *)values + p->offset; }

static const void *const_field(const cfg_param *p, const void *values)
{
    return (const char *)values + p->offset;
}

static bool is_list(const cfg_param *p)
{
    return p->type == CFG_T_INT_LIST || p->type == CFG_T_DOUBLE_LIST || p->type == CFG_T_NAME_LIST;
}

/* Every kind of list begins with its length. */
_Static_assert(offsetof(cfg_int_list, n) == 0 && offsetof(cfg_double_list, n) == 0 &&
                   offsetof(cfg_name_list, n) == 0,
               "the length of a list is its first member");

static uint32_t list_length(const cfg_param *p, const void *values)
{
    return *(const uint32_t *)const_field(p, values);
}

static void set_list_length(const cfg_param *p, void *values, uint32_t n)
{
    *(uint32_t *)field(p, values) = n;
}

/* ---- one element --------------------------------------------------------------------------- */

/* `text` is the value as written, which may have a unit of its own. */
static dse_status check_range(const cfg_param *p, const char *text, double v, dse_error *err)
{
    if (v >= p->min && v <= p->max)
        return DSE_OK;
    if (isinf(p->max))
        return dse_fail(err, DSE_E_RANGE, "%s is %.40s; it must be at least %.15g%s%s", p->key, text, p->min,
                        *p->unit_name ? " " : "", p->unit_name);
    return dse_fail(err, DSE_E_RANGE, "%s is %.40s; it must be between %.15g and %.15g%s%s", p->key, text,
                    p->min, p->max, *p->unit_name ? " " : "", p->unit_name);
}

static dse_status parse_number(const cfg_param *p, const char *text, double *out, dse_error *err)
{
    bool had_unit;
    double v;
    dse_error why = DSE_ERROR_INIT;

    if (dse_parse_quantity(text, p->unit, &v, &had_unit, &why) != DSE_OK)
        return dse_fail(err, DSE_E_CONFIG, "%s: %s", p->key, why.text);
    *out = had_unit ? v / p->unit_scale : v;
    return check_range(p, text, *out, err);
}

static dse_status parse_integer(const cfg_param *p, const char *text, int64_t *out, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    dse_status st;
    double v;

    if (dse_parse_int(text, out, &why) == DSE_OK)
        return check_range(p, text, (double)*out, err);
    if (p->unit == DSE_UNIT_NONE)
        return dse_fail(err, DSE_E_CONFIG, "%s: %s", p->key, why.text);
    st = parse_number(p, text, &v, err); /* "10ns"; its range keeps it in 64 bits */
    if (st == DSE_OK && v != floor(v))
        return dse_fail(err, DSE_E_CONFIG, "%s: '%.80s' is not a whole number of %s", p->key, text,
                        p->unit_name);
    if (st == DSE_OK)
        *out = (int64_t)v;
    return st;
}

static dse_status parse_name(const cfg_param *p, const char *text, char *out, dse_error *err)
{
    const size_t room = p->room ? p->room : CFG_NAME_MAX;
    char known[256];
    const char *nearest;
    size_t n = 0;

    if (strlen(text) >= room)
        return dse_fail(err, DSE_E_CONFIG, "%s: the name '%.40s...' is too long", p->key, text);
    snprintf(out, room, "%s", text);
    if (p->check) {
        dse_error why = DSE_ERROR_INIT;
        if (p->check(text, &why) != DSE_OK)
            return dse_fail(err, DSE_E_CONFIG, "%s: %s", p->key, why.text);
    }
    if (!p->choices)
        return DSE_OK;
    for (; p->choices[n]; n++)
        if (!strcmp(p->choices[n], text))
            return DSE_OK;
    nearest = dse_nearest(text, p->choices, n);
    dse_join(known, sizeof known, p->choices, n);
    if (nearest)
        return dse_fail(err, DSE_E_CONFIG, "%s: unknown '%s'; did you mean '%s'? known: %s", p->key, text,
                        nearest, known);
    return dse_fail(err, DSE_E_CONFIG, "%s: unknown '%s'; known: %s", p->key, text, known);
}

/* Element i of a list, or the value itself (i is 0). */
static dse_status parse_element(const cfg_param *p, const char *text, void *values, uint32_t i,
                                dse_error *err)
{
    void *f = field(p, values);
    dse_error why = DSE_ERROR_INIT;

    switch (p->type) {
    case CFG_T_INT: return parse_integer(p, text, f, err);
    case CFG_T_DOUBLE: return parse_number(p, text, f, err);
    case CFG_T_NAME: return parse_name(p, text, f, err);
    case CFG_T_INT_LIST: return parse_integer(p, text, &((cfg_int_list *)f)->v[i], err);
    case CFG_T_DOUBLE_LIST: return parse_number(p, text, &((cfg_double_list *)f)->v[i], err);
    case CFG_T_NAME_LIST: return parse_name(p, text, ((cfg_name_list *)f)->v[i], err);
    case CFG_T_BOOL:
        if (dse_parse_bool(text, f, &why) != DSE_OK)
            return dse_fail(err, DSE_E_CONFIG, "%s: %s", p->key, why.text);
        return DSE_OK;
    }
    return DSE_OK;
}

static bool is_null(const cfg_node *n)
{
    return n->kind == CFG_SCALAR && !n->quoted &&
           (!*n->text || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
}

static void clear_element(const cfg_param *p, void *values, uint32_t i)
{
    assert(p->type == CFG_T_INT_LIST ||
           p->type == CFG_T_NAME_LIST); /* of others nothing stands for "absent" */
    if (p->type == CFG_T_INT_LIST)
        ((cfg_int_list *)field(p, values))->v[i] = 0;
    else
        ((cfg_name_list *)field(p, values))->v[i][0] = '\0';
}

/* ---- one row ------------------------------------------------------------------------------- */

dse_status cfg_param_set(const cfg_param *p, const cfg_doc *doc, const cfg_node *node, void *out,
                         dse_error *err)
{
    const cfg_node *const *items = (const cfg_node *const *)node->item;
    uint32_t n = node->n;

    if (p->listed && node->kind == CFG_LIST) {
        if (n != 1)
            return cfg_fail(err, doc, node, "%s is a list of one, for all dimensions, not of %" PRIu32,
                            p->key, n);
    } else if (!is_list(p) || (p->bare && node->kind == CFG_SCALAR)) {
        items = &node;
        n = 1;
        if (is_list(p))
            set_list_length(p, out, n);
    } else if (node->kind != CFG_LIST) {
        return cfg_fail(err, doc, node, "%s must be a list of %s, not %s; write [%s]", p->key,
                        type_names[p->type], cfg_seen(node).text,
                        node->kind == CFG_SCALAR ? node->text : "...");
    } else if (n > CFG_MAX_DIMS) {
        return dse_fail_at(err, DSE_E_RANGE, cfg_at(doc, node).text,
                           "%s has %" PRIu32 " entries; at most %d dimensions are possible", p->key, n,
                           CFG_MAX_DIMS);
    } else {
        set_list_length(p, out, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        dse_error why = DSE_ERROR_INIT;
        bool wants_name = p->type == CFG_T_NAME || p->type == CFG_T_NAME_LIST;
        dse_status st;

        if (p->sparse && is_null(items[i])) {
            clear_element(p, out, i);
            continue;
        }
        if (items[i]->kind != CFG_SCALAR || !items[i]->text[0] ||
            (items[i]->quoted && !wants_name && p->unit == DSE_UNIT_NONE))
            return cfg_fail(err, doc, items[i], "%s must be %s %s, not %s", p->key,
                            is_list(p)                                ? "a list of"
                            : strchr("aeiou", type_names[p->type][0]) ? "an"
                                                                      : "a",
                            type_names[p->type], cfg_seen(items[i]).text);
        st = parse_element(p, items[i]->text, out, i, &why);
        if (st != DSE_OK)
            return dse_fail_at(err, st, cfg_at(doc, items[i]).text, "%s", why.text);
    }
    return DSE_OK;
}

dse_status cfg_param_default(const cfg_param *p, const char *text, void *out, dse_error *err)
{
    if (is_list(p)) {
        set_list_length(p, out, 0);
        return DSE_OK; /* lists are required or absent: a default would invent a fact */
    }
    if (!*text) {
        assert(p->type == CFG_T_DOUBLE || p->type == CFG_T_NAME); /* the others have no value for "absent" */
        if (p->type == CFG_T_DOUBLE)
            *(double *)field(p, out) = NAN;
        else
            ((char *)field(p, out))[0] = '\0';
        return DSE_OK;
    }
    return parse_element(p, text, out, 0, err);
}

/* A row to be omitted that holds its default. */
static bool is_omitted(const cfg_param *p, const void *values)
{
    const void *f = const_field(p, values);

    if (!p->omit_default || p->moved)
        return p->moved;
    switch (p->type) {
    case CFG_T_NAME: return !strcmp(f, p->fallback);
    case CFG_T_INT: return *(const int64_t *)f == strtoll(p->fallback, NULL, 10);
    case CFG_T_DOUBLE: return *(const double *)f == strtod(p->fallback, NULL);
    case CFG_T_BOOL: return *(const bool *)f == !strcmp(p->fallback, "true");
    default: return false;
    }
}

static bool holds_nothing(const cfg_param *p, const void *values)
{
    const void *f = const_field(p, values);

    if (is_list(p))
        return list_length(p, values) == 0;
    switch (p->type) {
    case CFG_T_DOUBLE: return isnan(*(const double *)f);
    case CFG_T_NAME: return *(const char *)f == '\0';
    default: return false;
    }
}

bool cfg_param_is_absent(const cfg_param *p, const void *values)
{
    return is_omitted(p, values) || holds_nothing(p, values);
}

/* ---- a whole card -------------------------------------------------------------------------- */

const cfg_param *cfg_param_find(const cfg_table *t, const char *key)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!strcmp(t->rows[i].key, key))
            return &t->rows[i];
    return NULL;
}

bool cfg_is_section(const cfg_table *t, const char *path)
{
    size_t n = strlen(path);

    for (uint32_t i = 0; i < t->n; i++)
        if (!strncmp(t->rows[i].key, path, n) && t->rows[i].key[n] == '.')
            return true;
    return false;
}

dse_status cfg_unknown_key(const cfg_table *t, const cfg_doc *doc, const cfg_node *key, const char *path,
                           dse_error *err)
{
    const char *known[CFG_MAX_ROWS], *nearest;
    char section[CFG_MAX_ROWS][32];

    for (uint32_t i = 0; i < t->n; i++)
        known[i] = t->rows[i].key;
    nearest = dse_nearest(path, known, t->n);
    if (!nearest && !strchr(path, '.')) {
        for (uint32_t i = 0; i < t->n; i++) {
            snprintf(section[i], sizeof section[i], "%.*s", (int)strcspn(t->rows[i].key, "."),
                     t->rows[i].key);
            known[i] = section[i];
        }
        nearest = dse_nearest(path, known, t->n);
    }
    if (!nearest) { /* the right word in the wrong section */
        const char *word = strrchr(path, '.');

        word = word ? word + 1 : path;
        for (uint32_t i = 0; i < t->n && !nearest; i++) {
            const char *last = strrchr(t->rows[i].key, '.');
            if (!strcmp(last ? last + 1 : t->rows[i].key, word))
                nearest = t->rows[i].key;
        }
    }
    if (nearest)
        return cfg_fail(err, doc, key, "unknown key '%s' in a %s; did you mean '%s'?", path, t->title,
                        nearest);
    return cfg_fail(err, doc, key, "unknown key '%s' in a %s; list the keys with 'ccldse %ss --keys'", path,
                    t->title, strncmp(t->title, "model", 5) ? "system" : "model");
}

static dse_status read_section(const cfg_table *t, const cfg_doc *doc, const cfg_node *map,
                               const char *prefix, void *out, cfg_given *given, dse_error *err)
{
    for (uint32_t i = 0; i < map->n; i++) {
        char path[192];
        const cfg_param *row;
        bool is_section;
        dse_status st = DSE_OK;

        snprintf(path, sizeof path, "%s%s%.80s", prefix, *prefix ? "." : "", map->key[i]->text);
        row = cfg_param_find(t, path);
        is_section = cfg_is_section(t, path);
        if (is_section && map->item[i]->kind == CFG_MAP) {
            st = read_section(t, doc, map->item[i], path, out, given, err);
        } else if (is_section && map->item[i]->kind == CFG_SCALAR && !*map->item[i]->text) {
            continue; /* its lines are all comments */
        } else if (!row && is_section) {
            return cfg_fail(err, doc, map->key[i], "'%s' must be a mapping of keys to values", path);
        } else if (!row) {
            return cfg_unknown_key(t, doc, map->key[i], path, err);
        } else {
            if (cfg_given_has(given,
                              (size_t)(row - t->rows))) /* once in its section, once as 'section.key' */
                return cfg_fail(err, doc, map->key[i], "the key '%s' stands twice", path);
            st = cfg_param_set(row, doc, map->item[i], out, err);
            cfg_given_put(given, (size_t)(row - t->rows));
        }
        if (st != DSE_OK)
            return st;
    }
    return DSE_OK;
}

dse_status cfg_table_read_part(const cfg_table *t, const cfg_doc *doc, const cfg_settings *settings,
                               void *out, dse_error *err)
{
    cfg_given *given = out;
    dse_status st;

    assert(t->n <= CFG_MAX_ROWS);
    if (doc->root->kind != CFG_MAP)
        return cfg_fail(err, doc, doc->root, "a %s is a mapping of keys to values", t->title);
    *given = (cfg_given){0};
    st = read_section(t, doc, doc->root, "", out, given, err);
    for (size_t i = 0; st == DSE_OK && settings && i < settings->n; i++)
        if (cfg_table_has(t, settings->item[i].path))
            st = cfg_table_set(t, &settings->item[i], out, err);
    for (uint32_t i = 0; st == DSE_OK && i < t->n; i++)
        if (!cfg_given_has(given, i) && t->rows[i].fallback)
            st = cfg_param_default(&t->rows[i], t->rows[i].fallback, out, err);
    return st;
}

dse_status cfg_table_check(const cfg_table *t, const char *path, const void *values, dse_error *err)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->rows[i].fallback && !cfg_given_has(values, i))
            return dse_fail_at(err, DSE_E_CONFIG, path, "the %s lacks '%s' (%s)", t->title, t->rows[i].key,
                               t->rows[i].help);
    return DSE_OK;
}

dse_status cfg_table_read(const cfg_table *t, const cfg_doc *doc, const cfg_settings *settings, void *out,
                          dse_error *err)
{
    dse_status st = cfg_table_read_part(t, doc, settings, out, err);

    return st == DSE_OK ? cfg_table_check(t, doc->path, out, err) : st;
}

bool cfg_is_given(const cfg_table *t, const void *values, const char *key)
{
    const cfg_param *row = cfg_param_find(t, key);

    return row && cfg_given_has(values, (size_t)(row - t->rows));
}

/* ---- settings ------------------------------------------------------------------------------ */

/* The row of "key" or "key[3]"; *index is the element, or -1. NULL if there is none, or if what is indexed is
 * no list. An element has one spelling, not [03]: paths are compared as texts. */
static const cfg_param *find_path(const cfg_table *t, const char *path, int *index)
{
    size_t n = strcspn(path, "["), digits;
    char key[80];
    const cfg_param *row;

    *index = -1;
    if (n >= sizeof key)
        return NULL;
    snprintf(key, sizeof key, "%.*s", (int)n, path);
    row = cfg_param_find(t, key);
    if (!path[n])
        return row;
    digits = strspn(path + n + 1, "0123456789");
    if (!row || !is_list(row) || !digits || digits > 4 || (digits > 1 && path[n + 1] == '0') ||
        strcmp(path + n + 1 + digits, "]") != 0)
        return NULL;
    *index = (int)strtol(path + n + 1, NULL, 10);
    return row;
}

bool cfg_path_covers(const char *path, const char *other)
{
    size_t n = strlen(path);

    return !strncmp(path, other, n) && (!other[n] || other[n] == '[' || other[n] == '.');
}

bool cfg_table_has(const cfg_table *t, const char *path)
{
    int index;

    return find_path(t, path, &index) != NULL;
}

static dse_status set_element(const cfg_param *row, const cfg_setting *s, uint32_t i, void *values,
                              dse_error *err)
{
    uint32_t n = list_length(row, values);

    if (i >= n)
        return dse_fail(err, DSE_E_CONFIG, "'%s' is not there: %s has %" PRIu32 " entries, counted from 0",
                        s->path, row->key, n);
    return parse_element(row, s->value, values, i, err);
}

/* A list is written as in a card: "[50,25]". */
static dse_status set_whole(const cfg_param *row, const cfg_setting *s, void *values, dse_error *err)
{
    dse_arena a;
    cfg_doc doc;
    dse_status st;

    if (!is_list(row))
        return parse_element(row, s->value, values, 0, err);
    dse_arena_init(&a);
    st = cfg_parse_yaml(s->path, s->value, strlen(s->value), &a, &doc, err);
    if (st == DSE_OK)
        st = cfg_param_set(row, &doc, doc.root, values, err);
    dse_arena_free(&a);
    return st;
}

/* What a value takes the place of, where there may be a mapping. */
static dse_status clear_below(const cfg_table *t, const char *key, void *values, dse_error *err)
{
    const size_t n = strlen(key);
    dse_status st = DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < t->n; i++) {
        const cfg_param *p = &t->rows[i];

        if (strncmp(p->key, key, n) != 0 || p->key[n] != '.')
            continue;
        cfg_given_take(values, i);
        st = cfg_param_default(p, p->fallback, values, err);
    }
    return st;
}

void cfg_table_fill_lists(const cfg_table *t, void *values)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (is_list(&t->rows[i]))
            set_list_length(&t->rows[i], values, CFG_MAX_DIMS);
}

dse_status cfg_table_set(const cfg_table *t, const cfg_setting *s, void *values, dse_error *err)
{
    int index;
    const cfg_param *row = find_path(t, s->path, &index);
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    if (!row)
        return dse_fail(err, DSE_E_CONFIG, "a %s has no '%s'", t->title, s->path);
    st = index >= 0 ? set_element(row, s, (uint32_t)index, values, &why) : set_whole(row, s, values, &why);
    if (st != DSE_OK)
        return dse_fail(err, st, "cannot set '%s' to '%s': %s", s->path, s->value, why.text);
    cfg_given_put(values, (size_t)(row - t->rows));
    return clear_below(t, row->key, values, err);
}

/* Element i of a list, or the value itself (i is 0). */
static cfg_value element(const cfg_param *p, const void *values, uint32_t i)
{
    const void *f = const_field(p, values);
    cfg_value v = {.type = CFG_T_INT};

    switch (p->type) {
    case CFG_T_INT: v.integer = *(const int64_t *)f; break;
    case CFG_T_BOOL: v.integer = *(const bool *)f; break;
    case CFG_T_INT_LIST: v.integer = ((const cfg_int_list *)f)->v[i]; break;
    case CFG_T_DOUBLE: v = (cfg_value){CFG_T_DOUBLE, {.number = *(const double *)f}}; break;
    case CFG_T_DOUBLE_LIST:
        v = (cfg_value){CFG_T_DOUBLE, {.number = ((const cfg_double_list *)f)->v[i]}};
        break;
    case CFG_T_NAME: v = (cfg_value){CFG_T_NAME, {.name = f}}; break;
    case CFG_T_NAME_LIST: v = (cfg_value){CFG_T_NAME, {.name = ((const cfg_name_list *)f)->v[i]}}; break;
    }
    return v;
}

bool cfg_table_get(const cfg_table *t, const void *values, const char *path, cfg_value *out)
{
    int index;
    const cfg_param *row = find_path(t, path, &index);
    uint32_t n;

    if (!row || is_list(row) != (index >= 0))
        return false;
    /* A number that is omitted is a number still: a cost of 0. */
    if (row->type == CFG_T_DOUBLE ? holds_nothing(row, values) : cfg_param_is_absent(row, values))
        return false;
    n = is_list(row) ? list_length(row, values) : 1;
    if (index >= (int)n)
        return false;
    *out = element(row, values, index < 0 ? 0 : (uint32_t)index);
    return true;
}

static const char blanks[] = " \t\r\n", no_word[] = " \t\r\n=,[]{}:";

/* Takes the blanks out: "network.bandwidth = [50 GB/s, 25]". False if that would make one word of two, but
 * for a number and its unit: "my file". */
static bool remove_blanks(char *text)
{
    char *to = text, *word = text;

    while (*text) {
        size_t n = strspn(text, blanks);

        if (n && to > word && text[n] && !strchr(no_word, text[n]) &&
            !isdigit((unsigned char)word[strspn(word, "+-.")]))
            return false;
        for (text += n; *text && !strchr(blanks, *text); text++) {
            if (strchr(no_word, *text))
                word = to + 1;
            *to++ = *text;
        }
    }
    *to = '\0';
    return true;
}

dse_status cfg_setting_parse(const char *text, dse_arena *a, cfg_setting *out, dse_error *err)
{
    char *path = dse_arena_strdup(a, text), *equals;

    if (!remove_blanks(path))
        return dse_fail(err, DSE_E_USAGE, "a blank within a word of '%.80s'; a value cannot hold one", text);
    equals = strchr(path, '=');
    if (!equals || equals == path || !equals[1])
        return dse_fail(err, DSE_E_USAGE, "'%.80s' sets nothing; write KEY=VALUE, for example batch=256",
                        text);
    *equals = '\0';
    *out = (cfg_setting){path, equals + 1};
    return DSE_OK;
}

static int compare_settings(const void *a, const void *b)
{
    return strcmp(((const cfg_setting *)a)->path, ((const cfg_setting *)b)->path);
}

dse_status cfg_settings_sort(cfg_setting *items, size_t n, dse_error *err)
{
    if (n)
        qsort(items, n, sizeof *items, compare_settings);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(items[i - 1].path, items[i].path))
            return dse_fail(err, DSE_E_USAGE, "'%s' is set twice", items[i].path);
    return DSE_OK;
}

/* ---- output -------------------------------------------------------------------------------- */

/* Whole numbers without a point, so that 100 written in a card is 100 again. */
static void write_double(dse_json *j, double v)
{
    if (v == floor(v) && fabs(v) < 1e15)
        dse_json_fixed(j, v, 0);
    else
        dse_json_double(j, v);
}

static void write_element(const cfg_param *p, const void *values, uint32_t i, dse_json *j)
{
    cfg_value v = element(p, values, i);

    if (p->sparse && (v.type == CFG_T_NAME ? !*v.name : !v.integer))
        dse_json_null(j);
    else if (v.type == CFG_T_DOUBLE)
        write_double(j, v.number);
    else if (v.type == CFG_T_NAME)
        dse_json_string(j, v.name);
    else if (p->type == CFG_T_BOOL)
        dse_json_bool(j, v.integer != 0);
    else
        dse_json_int(j, v.integer);
}

void cfg_param_write_json(const cfg_param *p, const void *values, dse_json *j)
{
    const uint32_t n = is_list(p) ? list_length(p, values) : 1;

    if (!is_list(p) && !p->listed) {
        write_element(p, values, 0, j);
        return;
    }
    dse_json_begin_array(j);
    for (uint32_t i = 0; i < n; i++)
        write_element(p, values, i, j);
    dse_json_end_array(j);
}

void cfg_table_write_json(const cfg_table *t, const void *values, dse_json *j)
{
    dse_json_begin_object(j);
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->rows[i].unhashed || cfg_param_is_absent(&t->rows[i], values))
            continue;
        dse_json_key(j, t->rows[i].key);
        cfg_param_write_json(&t->rows[i], values, j);
    }
    dse_json_end_object(j);
}

static void describe_range(const cfg_param *p, dse_strbuf *out)
{
    if (p->type == CFG_T_NAME || p->type == CFG_T_NAME_LIST) {
        for (size_t i = 0; p->choices && p->choices[i]; i++)
            dse_strbuf_addf(out, "%s%s", i ? "|" : "", p->choices[i]);
    } else if (p->type != CFG_T_BOOL) {
        if (isinf(p->max))
            dse_strbuf_addf(out, ">= %.15g", p->min);
        else
            dse_strbuf_addf(out, "%.15g .. %.15g", p->min, p->max);
    }
}

void cfg_table_describe(const cfg_table *t, dse_strbuf *out)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const cfg_param *p = &t->rows[i];

        dse_strbuf_addf(out, "%s\n    %s\n    %s%s%s", p->key, p->help, type_names[p->type],
                        *p->unit_name ? ", " : "", p->unit_name);
        if ((p->type != CFG_T_BOOL) &&
            (p->choices || (p->type != CFG_T_NAME && p->type != CFG_T_NAME_LIST))) {
            dse_strbuf_adds(out, ", ");
            describe_range(p, out);
        }
        if (!p->fallback)
            dse_strbuf_adds(out, ", required");
        else if (!*p->fallback)
            dse_strbuf_adds(out, ", optional");
        else
            dse_strbuf_addf(out, ", default %s", p->fallback);
        if (p->astra_lacks)
            dse_strbuf_addf(out, "; in ASTRA-sim's file: %s, which it does not read itself", p->astra_key);
        else if (p->astra_key)
            dse_strbuf_addf(out, "; ASTRA-sim: %s", p->astra_key);
        dse_strbuf_addc(out, '\n');
    }
}
