/* The columns of a row: in which order they are bound, read, and counted into its checksum. */
#include "base/array.h"
#include "base/names.h"
#include "store/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define REMEDY_BYTES 560 /* with 300 of a path */

/* Columns stand in the order in which they came, and are NULL where a row lacks them, so that older rows
 * and their checksums stay right: parameters that every configuration says among the keys, the metrics,
 * parameters that are omitted at their default; then what profile train brought, metrics and parameters.
 * What comes later than these needs a generation of its own behind them, and behind
 * `shared`. Costs have no column: they are
 * computed (store_set_prices). */
enum { AT_FIRST, OMITTED, OF_TRAINING, NOT_STORED };

#define MOST_METRICS 256 /* columns */

static int generation(uint32_t parameter)
{
    if (!strategy_has_profile(parameter, STRATEGY_PROFILE_STAGE))
        return OF_TRAINING;
    return strategy_parameters[parameter].omit_default ? OMITTED : AT_FIRST;
}

static int look_up_generation(const store_column *c)
{
    if (store_column_is_cost(c))
        return NOT_STORED;
    return store_column_has_profile(c, STRATEGY_PROFILE_STAGE) ? AT_FIRST : OF_TRAINING;
}

/* Looked up once: it is asked twice for each value of each row. */
static int metric_generation(const store_column *c)
{
    static unsigned char known[MOST_METRICS]; /* and 1; 0: not yet */
    size_t n;
    unsigned char *of = &known[c - store_columns(&n)];

    assert(n <= MOST_METRICS);
    if (!*of)
        *of = (unsigned char)(look_up_generation(c) + 1);
    return *of - 1;
}

/* The strategy's columns in their places, then the metrics; in the order of store_bind_row and
 * store_read_row. */
static const char *const keys_before[] = {"hash", "study", "model", "system", "engine", "settings"};
static const char *const keys_behind[] = {"done", "memory_rounded", "error", "seconds"};

static size_t add_names(const char *const *names, size_t n, dse_strbuf *sql)
{
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(sql, "%s, ", names[i]);
    return n;
}

static size_t add_parameters(int of, dse_strbuf *sql)
{
    size_t n = 0;

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (generation(i) == of)
            n += add_names(&strategy_parameters[i].name, 1, sql);
    return n;
}

static size_t add_metrics(int of, dse_strbuf *sql)
{
    size_t n_metrics, n = 0;
    const store_column *c = store_columns(&n_metrics);

    for (size_t i = 0; i < n_metrics; i++)
        if (metric_generation(&c[i]) == of)
            n += add_names(&c[i].name, 1, sql);
    return n;
}

static size_t add_columns(const char *config, dse_strbuf *sql)
{
    size_t n = add_names(&config, 1, sql);

    n += add_names(keys_before, DSE_COUNT(keys_before), sql);

    n += add_parameters(AT_FIRST, sql);
    n += add_names(keys_behind, DSE_COUNT(keys_behind), sql);
    n += add_metrics(AT_FIRST, sql);
    n += add_parameters(OMITTED, sql);
    n += add_metrics(OF_TRAINING, sql);
    n += add_parameters(OF_TRAINING, sql);
    dse_strbuf_adds(sql, "shared");
    return n + 1;
}

size_t store_add_columns(dse_strbuf *sql) { return add_columns("config", sql); }

void store_add_whole_columns(bool config, dse_strbuf *sql)
{
    add_columns(config ? STORE_WHOLE_CONFIG : "NULL", sql);
}

/* ---- the strategy -------------------------------------------------------------------------- */

static void bind_strategy(sqlite3_stmt *q, int of, const strategy *s, int *at)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        const uint32_t value = strategy_get(s, i);
        char text[STRATEGY_VALUE_MAX];

        if (generation(i) != of)
            continue;
        if (of != AT_FIRST && value == p->fallback)
            sqlite3_bind_null(q, *at);
        else if (strategy_is_number(p))
            sqlite3_bind_int64(q, *at, value);
        else if (sqlite3_bind_text(q, *at, strategy_print(p, value, text), -1, SQLITE_TRANSIENT) != SQLITE_OK)
            dse_out_of_memory(); /* for the copy; else the row would have NULL there */
        (*at)++;
    }
}

void store_add_point(int first, dse_strbuf *sql)
{
    for (int of = AT_FIRST; of < NOT_STORED; of++)
        for (uint32_t i = 0; i < STRATEGY_N; i++)
            if (generation(i) == of)
                dse_strbuf_addf(sql, " AND %s IS ?%d", strategy_parameters[i].name, first++);
}

void store_bind_point(sqlite3_stmt *q, int first, const strategy *point)
{
    for (int of = AT_FIRST; of < NOT_STORED; of++)
        bind_strategy(q, of, point, &first);
}

/* False if a value is none of its parameter. */
static bool read_strategy(sqlite3_stmt *q, int of, strategy *s, int *at)
{
    bool whole = true;

    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        const bool is_null = generation(i) == of && sqlite3_column_type(q, *at) == SQLITE_NULL;
        uint32_t value = p->fallback;
        int64_t v;

        if (generation(i) != of)
            continue;
        if (!is_null && strategy_is_number(p)) {
            v = sqlite3_column_int64(q, *at);
            whole &= p->kind == STRATEGY_DEGREE ? v >= p->min && v <= UINT32_MAX : v == 0 || v == 1;
            value = (uint32_t)v;
        } else if (!is_null) {
            whole &=
                strategy_parse(p, p->name, (const char *)sqlite3_column_text(q, *at), &value, NULL) == DSE_OK;
        }
        strategy_set(s, i, value);
        (*at)++;
    }
    return whole;
}

/* ---- rows ---------------------------------------------------------------------------------- */

uint64_t store_count_at(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? STORE_ABSENT : (uint64_t)sqlite3_column_int64(q, i);
}

static void bind_metric(sqlite3_stmt *q, int at, const store_metrics *m, const store_column *c)
{
    if (c->type == STORE_TEXT)
        sqlite3_bind_text(q, at, store_text(m, c), -1, SQLITE_STATIC); /* NULL is null */
    else if (isnan(store_value(m, c)))
        sqlite3_bind_null(q, at);
    else if (c->type == STORE_REAL)
        sqlite3_bind_double(q, at, store_value(m, c));
    else
        sqlite3_bind_int64(q, at, (int64_t)store_count(m, c));
}

static void bind_metrics(sqlite3_stmt *q, int of, const store_row *r, int *at)
{
    size_t n;
    const store_column *c = store_columns(&n);

    for (size_t i = 0; i < n; i++) {
        if (metric_generation(&c[i]) != of)
            continue;
        if (r->done)
            bind_metric(q, *at, &r->metrics, &c[i]);
        else
            sqlite3_bind_null(q, *at);
        (*at)++;
    }
}

void store_bind_row(sqlite3_stmt *q, const store_row *r)
{
    int at = 1;

    sqlite3_bind_text(q, at++, r->config, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, at++, (int64_t)r->hash);
    sqlite3_bind_int64(q, at++, (int64_t)r->study);
    sqlite3_bind_text(q, at++, r->model, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, at++, r->system, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, at++, r->engine, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, at++, r->settings ? r->settings : "", -1, SQLITE_STATIC);
    bind_strategy(q, AT_FIRST, &r->strategy, &at);
    sqlite3_bind_int64(q, at++, r->done);
    sqlite3_bind_int64(q, at++, r->memory_rounded);
    sqlite3_bind_text(q, at++, r->error, -1, SQLITE_STATIC);
    sqlite3_bind_double(q, at++, r->seconds);
    bind_metrics(q, AT_FIRST, r, &at);
    bind_strategy(q, OMITTED, &r->strategy, &at);
    bind_metrics(q, OF_TRAINING, r, &at);
    bind_strategy(q, OF_TRAINING, &r->strategy, &at);
}

double store_real_at(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? NAN : sqlite3_column_double(q, i);
}

const char *store_text_at(sqlite3_stmt *q, int i)
{
    const bool is_text = sqlite3_column_type(q, i) == SQLITE_TEXT;
    const char *text = (const char *)sqlite3_column_text(q, i);

    if (is_text && !text)
        dse_out_of_memory(); /* for the byte behind it */
    return text ? text : "";
}

static char *text_column(sqlite3_stmt *q, int i, dse_arena *a)
{
    return dse_arena_strdup(a, store_text_at(q, i));
}

/* What a terminal would take for a command is not printed by anything that prints a row. */
static char *masked(char *text, dse_lines lines)
{
    dse_mask_controls(text, strlen(text), lines);
    return text;
}

/* A part of a file's name, and of no other folder's. */
static bool is_plain_name(const char *text)
{
    return *text && dse_is_printable(text) && !strchr(text, '/') && strcmp(text, ".") != 0 &&
           strcmp(text, "..") != 0;
}

/* What to do about a row of the file that no sweep has written: "" of one that is to be written. The
 * statement needs none of our functions; triggers keep the totals. */
static const char *remedy(const store *s, const store_row *r, char out[REMEDY_BYTES])
{
    *out = '\0';
    if (r->id)
        snprintf(out, REMEDY_BYTES,
                 ", so no sweep has written it; remove it (sqlite3 '%.300s' 'DELETE FROM result WHERE id = "
                 "%" PRId64 "'), or move the database away, and the same sweep simulates its point",
                 s->path, r->id);
    return out;
}

dse_status store_check_texts(const store *s, const store_row *r, dse_error *err)
{
    const struct {
        const char *what, *text;
        bool plain; /* a plain name; else any printable text */
    } texts[] = {{"model", r->model, true},
                 {"system", r->system, true},
                 {"engine", r->engine, true},
                 {"settings", r->settings, false},
                 {"configuration", r->config, false}};
    char what_to_do[REMEDY_BYTES];

    for (size_t i = 0; i < DSE_COUNT(texts); i++)
        if (texts[i].text && !(texts[i].plain ? is_plain_name : dse_is_printable)(texts[i].text))
            return dse_fail_at(err, DSE_E_STORE, s->path, "a row has the %s '%.80s', which is no %s%s",
                               texts[i].what, texts[i].text, texts[i].plain ? "plain name" : "printable text",
                               remedy(s, r, what_to_do));
    return DSE_OK;
}

static void read_metrics(sqlite3_stmt *q, int of, dse_arena *a, store_metrics *m, int *at)
{
    size_t n;
    const store_column *c = store_columns(&n);

    for (size_t i = 0; i < n; i++) {
        void *field = (char *)m + c[i].offset;
        bool absent = sqlite3_column_type(q, *at) == SQLITE_NULL;

        if (metric_generation(&c[i]) != of)
            continue;
        if (c[i].type == STORE_REAL)
            *(double *)field = store_real_at(q, *at);
        else if (c[i].type == STORE_TEXT)
            *(const char **)field = absent ? NULL : masked(text_column(q, *at, a), DSE_ONE_LINE);
        else
            *(uint64_t *)field = store_count_at(q, *at);
        (*at)++;
    }
}

dse_status store_read_row(const store *s, sqlite3_stmt *q, dse_arena *a, store_row *r, dse_error *err)
{
    char what_to_do[REMEDY_BYTES];
    bool whole = true;
    int at = 0;

    *r = (store_row){0};
    r->config = text_column(q, at++, a);
    r->hash = (uint64_t)sqlite3_column_int64(q, at++);
    r->study = (uint64_t)sqlite3_column_int64(q, at++);
    r->model = text_column(q, at++, a);
    r->system = text_column(q, at++, a);
    r->engine = text_column(q, at++, a);
    r->settings = text_column(q, at++, a);
    whole &= read_strategy(q, AT_FIRST, &r->strategy, &at);
    r->done = sqlite3_column_int(q, at++) != 0;
    r->memory_rounded = sqlite3_column_int(q, at++) != 0;
    r->error = masked(text_column(q, at++, a), DSE_LINES);
    r->seconds = store_real_at(q, at++);
    read_metrics(q, AT_FIRST, a, &r->metrics, &at);
    whole &= read_strategy(q, OMITTED, &r->strategy, &at);
    read_metrics(q, OF_TRAINING, a, &r->metrics, &at);
    whole &= read_strategy(q, OF_TRAINING, &r->strategy, &at);
    at++;                                                          /* shared */
    r->skipped_of_study = (uint64_t)sqlite3_column_int64(q, at++); /* NULL is 0 */
    r->asked = sqlite3_column_int(q, at++) != 0;
    store_add_costs(strategy_ranks(&r->strategy), store_real_at(q, at), store_real_at(q, at + 1),
                    &r->metrics);
    r->id = sqlite3_column_int64(q, at + 2);
    if (!whole)
        return dse_fail_at(err, DSE_E_STORE, s->path,
                           "the row of %.60s on %.60s has a strategy that is none%s", r->model, r->system,
                           remedy(s, r, what_to_do));
    return store_check_texts(s, r, err);
}
