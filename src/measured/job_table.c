/* A file of measured runs: its rows, whichever of the forms that README.md describes it has. */
#include "base/array.h"
#include "base/fs.h"
#include "base/names.h"
#include "measured/board.h"
#include "measured/job_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    cfg_doc doc;
    const cfg_node *rows, *columns, *common, *units, *models, *defined;
    bool refuses_rows; /* a row that cannot be read does not fail the table, if others can */
    bool may_lack;     /* nor do rows that are not there */
    const msr_stated *stated;
    size_t n_stated;
    dse_arena *arena;
} table;

static dse_status wrong(const table *t, const cfg_node *node, const char *key, const char *must,
                        dse_error *err)
{
    return cfg_fail(err, &t->doc, node, "'%s' must be %s, not %s", key, must, cfg_seen(node).text);
}

/* Refuses two columns of one name, as a row would lose a value, and units that are no names, as their numbers
 * would be read in another unit. */
static dse_status check_names(const table *t, dse_error *err)
{
    for (uint32_t i = 0; t->columns && i < t->columns->n; i++) {
        const cfg_node *name = t->columns->item[i];

        if (name->kind != CFG_SCALAR)
            return wrong(t, name, "columns", "a list of names", err);
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(t->columns->item[k]->text, name->text))
                return cfg_fail(err, &t->doc, name, "'columns' has '%.80s' twice; leave one out", name->text);
    }
    for (uint32_t i = 0; t->units && i < t->units->n; i++)
        if (t->units->item[i]->kind != CFG_SCALAR)
            return wrong(t, t->units->item[i], t->units->key[i]->text, "the name of a unit", err);
    return DSE_OK;
}

static dse_status open_table(table *t, dse_error *err)
{
    const struct {
        const char *key;
        const cfg_node **out;
        cfg_kind kind;
        const char *must;
    } parts[] = {{"rows", &t->rows, CFG_LIST, "a list of rows"},
                 {"columns", &t->columns, CFG_LIST, "a list of names"},
                 {"common", &t->common, CFG_MAP, "an object of fields"},
                 {"units", &t->units, CFG_MAP, "an object of names and units"},
                 {"models", &t->models, CFG_MAP, "an object of models"},
                 {"metric_info", &t->defined, CFG_MAP, "an object of metrics"},
                 {"metric_definitions", &t->defined, CFG_MAP, "an object of metrics"}};

    for (size_t i = 0; i < DSE_COUNT(parts); i++) {
        const cfg_node *node = cfg_get(t->doc.root, parts[i].key);

        if (node && node->kind != parts[i].kind)
            return wrong(t, node, parts[i].key, parts[i].must, err);
        if (node)
            *parts[i].out = node;
    }
    if (!t->rows)
        return dse_fail_at(err, DSE_E_CONFIG, t->doc.path,
                           "this is no table of measured runs: it is to be an object with 'rows'");
    return check_names(t, err);
}

/* ---- a row --------------------------------------------------------------------------------- */

/* "f.json: row 3 ('id')", from 1. */
static const char *place_of(const table *t, const cfg_node *row, uint32_t number)
{
    const cfg_node *id = cfg_get(row, "id");

    return id && id->kind == CFG_SCALAR && *id->text
               ? dse_arena_printf(t->arena, "%s: row %" PRIu32 " ('%.80s')", t->doc.path, number, id->text)
               : dse_arena_printf(t->arena, "%s: row %" PRIu32, t->doc.path, number);
}

/* A row as an object: a list gets the columns as its keys. */
static dse_status row_object(const table *t, uint32_t i, const cfg_node **out, dse_error *err)
{
    const cfg_node *row = t->rows->item[i];
    cfg_node *map;

    *out = row;
    if (row->kind == CFG_MAP)
        return DSE_OK;
    if (row->kind != CFG_LIST || !t->columns)
        return dse_fail_at(err, DSE_E_CONFIG, place_of(t, row, i + 1),
                           "a row must be an object, or a list if 'columns' names its fields, not %s",
                           cfg_seen(row).text);
    if (row->n != t->columns->n)
        return dse_fail_at(err, DSE_E_CONFIG, place_of(t, row, i + 1),
                           "the row has %" PRIu32 " values, and there are %" PRIu32 " columns", row->n,
                           t->columns->n);
    map = dse_arena_copy(t->arena, row, 1, sizeof *row);
    map->kind = CFG_MAP;
    map->key = t->columns->item;
    *out = map;
    return DSE_OK;
}

/* What the figures of a row are: the nearest that speaks of it, the row, `common` or the table. No spelling
 * of job_spellings.c, as `models` has kinds of models. */
static dse_status read_kind(const table *t, const cfg_node *row, const char *where, const char **out,
                            dse_error *err)
{
    const cfg_node *const from[] = {row, t->common, t->doc.root};
    const cfg_node *kind = NULL;

    for (size_t i = 0; !kind && i < DSE_COUNT(from); i++)
        kind = cfg_get(from[i], "kind");
    *out = NULL;
    if (!kind || (kind->kind == CFG_SCALAR && !kind->quoted && !strcmp(kind->text, "null")))
        return DSE_OK;
    if (kind->kind != CFG_SCALAR || !kind->quoted)
        return dse_fail_at(err, DSE_E_CONFIG, where, "kind must be a text, as 'measured', not %s",
                           cfg_seen(kind).text);
    *out = kind->text;
    return DSE_OK;
}

const char *msr_job_unmeasured(const msr_job *j, bool must_say, dse_arena *a)
{
    if (!j->kind)
        return must_say ? "nothing says that it was measured; the table needs \"kind\": \"measured\", or "
                          "'kind: measured' in the list of tables"
                        : NULL;
    return strcmp(j->kind, "measured") != 0
               ? dse_arena_printf(a, "its kind is '%.40s', which is no measurement", j->kind)
               : NULL;
}

static dse_status read_row(const table *t, const cfg_node *object, uint32_t i, msr_job *out, dse_error *err)
{
    const msr_row_place at = {&t->doc, place_of(t, object, i + 1), t->units, t->models, t->defined};
    const char *kind;
    msr_row row;
    dse_status st;

    if ((st = read_kind(t, object, at.where, &kind, err)) != DSE_OK ||
        (st = msr_row_read(&at, object, t->common, t->arena, &row, err)) != DSE_OK)
        return st;
    row.job.kind = kind;
    return msr_row_derive(&at, &row, t->arena, out, err);
}

/* What is left of a row that cannot be read: the name by which it is counted, and why. */
static void refuse_row(const table *t, const cfg_node *row, uint32_t i, const dse_error *why, msr_job *out)
{
    const cfg_node *id = cfg_get(row, "id");

    msr_job_clear(out);
    out->where = place_of(t, row, i + 1);
    out->name = id && id->kind == CFG_SCALAR && *id->text ? id->text
                                                          : dse_arena_printf(t->arena, "row %" PRIu32, i + 1);
    out->refused = dse_arena_strdup(t->arena, why->text);
}

/* ---- which rows ---------------------------------------------------------------------------- */

/* The value of a dotted key; NULL if there is none. */
static const cfg_node *value_at(const cfg_node *node, const char *key, size_t n)
{
    while (node && n) {
        const size_t word = strcspn(key, ".=") < n ? strcspn(key, ".=") : n, more = word < n;
        const cfg_node *next = NULL;

        for (uint32_t i = 0; node->kind == CFG_MAP && i < node->n; i++)
            if (strlen(node->key[i]->text) == word && !strncmp(node->key[i]->text, key, word))
                next = node->item[i];
        node = next;
        key += word + more;
        n -= word + more;
    }
    return node;
}

/* Whether "KEY=VALUE" holds; *has_key if the row has the key, or all rows have. */
static bool holds(const table *t, const cfg_node *row, const char *word, bool *has_key)
{
    const size_t n = strcspn(word, "=");
    const cfg_node *v = value_at(row, word, n);

    if (!v)
        v = value_at(t->common, word, n);
    *has_key = *has_key || v;
    return v && v->kind == CFG_SCALAR && !strcmp(v->text, word + n + 1);
}

static dse_status check_words(const char *const *only, size_t n, dse_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr(only[i], '=') || only[i][0] == '=')
            return dse_fail(err, DSE_E_USAGE, "'%.80s' selects no rows; write KEY=VALUE, as 'pp=1'", only[i]);
    return DSE_OK;
}

/* The first key that no row has; its nearest among those of the first row. */
static dse_status nothing_selected(const table *t, const char *const *only, size_t n, const bool *has_key,
                                   dse_error *err)
{
    const char *known[64], *near;
    size_t n_known = 0;
    char key[80];

    for (size_t i = 0; i < n; i++) {
        const cfg_node *keys = t->columns ? NULL : t->rows->item[0];

        if (has_key[i])
            continue;
        for (uint32_t k = 0; t->columns && k < t->columns->n && n_known < 64; k++)
            known[n_known++] = t->columns->item[k]->text;
        for (uint32_t k = 0; keys && keys->kind == CFG_MAP && k < keys->n && n_known < 64; k++)
            known[n_known++] = keys->key[k]->text;
        snprintf(key, sizeof key, "%.*s", (int)strcspn(only[i], "="), only[i]);
        near = dse_nearest(key, known, n_known);
        return dse_fail_at(err, DSE_E_CONFIG, t->doc.path,
                           near ? "no row has '%s'; did you mean '%s'?" : "no row has '%s'", key, near);
    }
    return dse_fail_at(err, DSE_E_CONFIG, t->doc.path, "no row has all of what selects them, first '%.80s'",
                       only[0]);
}

/* ---- what is said of rows elsewhere ---------------------------------------------------------- */

static bool all_hold(const table *t, const cfg_node *row, const char *const *only, size_t n, bool *has_key)
{
    bool all = true;

    for (size_t i = 0; i < n; i++)
        all = holds(t, row, only[i], &has_key[i]) && all;
    return all;
}

/* The entry of a mapping with room for one more that has the key, or a new one. */
static cfg_node **entry_of(cfg_node *map, cfg_node *key)
{
    uint32_t i = 0;

    while (i < map->n && strcmp(map->key[i]->text, key->text) != 0)
        i++;
    if (i == map->n)
        map->key[map->n++] = key;
    return &map->item[i];
}

static const cfg_node *with_fields(const table *t, const cfg_node *row, const cfg_node *fields)
{
    cfg_node *map = dse_arena_copy(t->arena, row, 1, sizeof *row);

    map->key = DSE_ARENA_NEW(t->arena, cfg_node *, row->n + fields->n);
    map->item = DSE_ARENA_NEW(t->arena, cfg_node *, row->n + fields->n);
    memcpy(map->key, row->key, row->n * sizeof *row->key);
    memcpy(map->item, row->item, row->n * sizeof *row->item);
    for (uint32_t i = 0; i < fields->n; i++)
        *entry_of(map, fields->key[i]) = fields->item[i];
    return map;
}

/* The row with what is said of it elsewhere. */
static const cfg_node *complete(const table *t, const cfg_node *row)
{
    const cfg_node *out = row;

    for (size_t i = 0; i < t->n_stated; i++) {
        bool *has_key = DSE_ARENA_NEW(t->arena, bool, t->stated[i].n_only + 1);

        if (all_hold(t, row, t->stated[i].only, t->stated[i].n_only, has_key))
            out = with_fields(t, out, t->stated[i].fields);
    }
    return out;
}

/* The notes of a job whose row it is: where more is said of it. */
static void note_stated(const table *t, const cfg_node *row, msr_job *job)
{
    for (size_t i = 0; i < t->n_stated; i++) {
        const msr_stated *s = &t->stated[i];
        bool *has_key = DSE_ARENA_NEW(t->arena, bool, s->n_only + 1);
        const char *text = "";

        if (!all_hold(t, row, s->only, s->n_only, has_key))
            continue;
        for (uint32_t k = 0; k < s->fields->n; k++)
            text = dse_arena_printf(t->arena, "%s%s%s %s", text, k ? ", " : "", s->fields->key[k]->text,
                                    s->fields->item[k]->text);
        if (job->n_notes < MSR_JOB_NOTES)
            job->note[job->n_notes++] = dse_arena_printf(t->arena, "%s: %s", text, s->source);
    }
}

/* Refuses what holds of no row of the table. */
static dse_status check_stated(const table *t, dse_error *err)
{
    for (size_t i = 0; i < t->n_stated; i++) {
        const msr_stated *s = &t->stated[i];
        bool *has_key = DSE_ARENA_NEW(t->arena, bool, s->n_only + 1), is_used = false;

        for (uint32_t r = 0; r < t->rows->n; r++) {
            const cfg_node *row;
            dse_status st = row_object(t, r, &row, err);

            if (st != DSE_OK)
                return st;
            is_used = all_hold(t, row, s->only, s->n_only, has_key) || is_used;
        }
        if (!is_used && !t->may_lack)
            return nothing_selected(t, s->only, s->n_only, has_key, err);
    }
    return DSE_OK;
}

/* ---- all of them --------------------------------------------------------------------------- */

static dse_status read_rows(const table *t, const char *const *only, size_t n_only, msr_job **out, size_t *n,
                            dse_error *err)
{
    msr_job *jobs = DSE_ARENA_NEW(t->arena, msr_job, t->rows->n);
    bool *has_key = DSE_ARENA_NEW(t->arena, bool, n_only + 1);
    dse_error first = DSE_ERROR_INIT;
    size_t count = 0, refused = 0;
    dse_status st;

    if (!t->rows->n)
        return dse_fail_at(err, DSE_E_CONFIG, t->doc.path, "the table has no rows");
    for (uint32_t i = 0; i < t->rows->n; i++) {
        dse_error why = DSE_ERROR_INIT;
        const cfg_node *row;

        if ((st = row_object(t, i, &row, err)) != DSE_OK)
            return st;
        if (!all_hold(t, row, only, n_only, has_key))
            continue;
        if ((st = read_row(t, complete(t, row), i, &jobs[count++], &why)) == DSE_OK) {
            note_stated(t, row, &jobs[count - 1]);
            continue;
        }
        if (st != DSE_E_CONFIG || !t->refuses_rows)
            return dse_fail_at(err, st, why.where, "%s", why.text);
        if (!refused++)
            first = why;
        refuse_row(t, row, i, &why, &jobs[count - 1]);
    }
    if (count && refused == count && !t->may_lack)
        return dse_fail_at(err, DSE_E_CONFIG, first.where, "%s", first.text);
    if (!count && !t->may_lack)
        return nothing_selected(t, only, n_only, has_key, err);
    *out = jobs;
    *n = count;
    return DSE_OK;
}

static dse_status parse(const char *path, const char *text, size_t length, const char *const *only,
                        size_t n_only, table *t, msr_job **out, size_t *n, dse_error *err)
{
    dse_status st;

    if ((st = check_words(only, n_only, err)) != DSE_OK ||
        (st = cfg_parse_json(path, text, length, t->arena, &t->doc, err)) != DSE_OK ||
        (st = open_table(t, err)) != DSE_OK || (st = check_stated(t, err)) != DSE_OK)
        return st;
    return read_rows(t, only, n_only, out, n, err);
}

dse_status msr_jobs_parse(const char *path, const char *text, size_t length, const char *const *only,
                          size_t n_only, dse_arena *a, msr_job **out, size_t *n, dse_error *err)
{
    table t = {.arena = a};

    return parse(path, text, length, only, n_only, &t, out, n, err);
}

dse_status msr_jobs_read(const char *path, const char *const *only, size_t n_only, dse_arena *a,
                         msr_job **out, size_t *n, dse_error *err)
{
    return msr_jobs_read_stated(path, only, n_only, NULL, 0, false, a, out, n, err);
}

dse_status msr_jobs_read_stated(const char *path, const char *const *only, size_t n_only,
                                const msr_stated *stated, size_t n_stated, bool may_lack, dse_arena *a,
                                msr_job **out, size_t *n, dse_error *err)
{
    table t = {
        .refuses_rows = true, .may_lack = may_lack, .stated = stated, .n_stated = n_stated, .arena = a};
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    st = msr_board_is_database(path) ? msr_board_table(path, a, &text, err)
                                     : dse_read_file(path, CFG_MAX_BYTES, &text, err);
    if (st == DSE_OK)
        st = parse(path, text.data, text.len, only, n_only, &t, out, n, err);
    dse_strbuf_free(&text);
    return st;
}
