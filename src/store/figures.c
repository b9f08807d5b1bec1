/* The figures that a ranking reads, a column at a time: what it takes of a million rows without reading them.
 *
 * Table `figure` has of each column, in the order of a list, blocks of so many rows: the least value, and
 * what the others are above it in as few bytes as the block needs. `figure_study` has the studies in that
 * order, and `figures` says what all that was made of: it counts only while the totals over all rows are the
 * same. Whoever closes a database that he wrote to makes them; a reader who finds them out of date, or
 * damaged, makes them for himself, in a file of SQLite's own. */
#include "base/array.h"
#include "base/hash.h"
#include "store/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 8192 /* rows */

/* What is done and so on, in bits. */
enum { DONE = 1, ASKED = 2, ROUNDED = 4 };

/* Two columns of their own, the parameters, and numbers. */
enum { ROW_ID, ROW_STATE, FIRST_PARAMETER, FIRST_NUMBER = FIRST_PARAMETER + STRATEGY_N, MOST_COLUMNS = 192 };

static bool is_figure(const store_column *c)
{
    static const size_t noted[] = {offsetof(store_metrics, undercharged_messages),
                                   offsetof(store_metrics, flat_ring_collectives),
                                   offsetof(store_metrics, busiest_link_util)};

    for (size_t i = 0; i < DSE_COUNT(noted); i++)
        if (c->offset == noted[i])
            return true;
    return c->better != STORE_NEITHER && !store_column_is_cost(c);
}

/* The number of the column of a metric. */
static size_t column_of(const store_column *c)
{
    size_t n;

    return FIRST_NUMBER + (size_t)(c - store_columns(&n));
}

static const char *column_name(size_t column)
{
    size_t n;

    if (column < FIRST_PARAMETER)
        return column == ROW_ID ? "id" : "done";
    return column < FIRST_NUMBER ? strategy_parameters[column - FIRST_PARAMETER].name
                                 : store_columns(&n)[column - FIRST_NUMBER].name;
}

/* Which columns there are, as a list. */
static size_t list_columns(size_t *out)
{
    size_t n_metrics, n = 0;
    const store_column *c = store_columns(&n_metrics);

    for (size_t i = 0; i < FIRST_NUMBER; i++)
        out[n++] = i;
    for (size_t i = 0; i < n_metrics && n < MOST_COLUMNS; i++)
        if (is_figure(&c[i]))
            out[n++] = FIRST_NUMBER + i;
    return n;
}

/* The names of the columns, and of the values that have a number here and a name in a row: another program
 * may have others. */
static int64_t layout(void)
{
    size_t column[MOST_COLUMNS], n = list_columns(column);
    uint64_t h = dse_hash_bytes("", 0);
    char text[STRATEGY_VALUE_MAX];

    for (size_t i = 0; i < n; i++) {
        const strategy_parameter *p;

        h = dse_hash_more(h, column_name(column[i]), strlen(column_name(column[i])) + 1);
        if (column[i] < FIRST_PARAMETER || column[i] >= FIRST_NUMBER)
            continue;
        p = &strategy_parameters[column[i] - FIRST_PARAMETER];
        for (uint32_t v = 0; !strategy_is_number(p) && v < strategy_n_values(p); v++) {
            strategy_print(p, v, text);
            h = dse_hash_more(h, text, strlen(text) + 1);
        }
    }
    return (int64_t)h;
}

/* A value as a number that sorts absent ones first, so that they take no byte more. */
static uint64_t pack(const store_row *r, size_t column)
{
    size_t n;
    const store_column *c = store_columns(&n);
    double real;
    uint64_t bits;

    if (column == ROW_ID)
        return (uint64_t)r->id;
    if (column == ROW_STATE)
        return (r->done ? DONE : 0u) | (r->asked ? ASKED : 0u) | (r->memory_rounded ? ROUNDED : 0u);
    if (column < FIRST_NUMBER)
        return strategy_get(&r->strategy, (uint32_t)(column - FIRST_PARAMETER));
    c += column - FIRST_NUMBER;
    if (c->type != STORE_REAL)
        return (r->done ? store_count(&r->metrics, c) : STORE_ABSENT) + 1;
    real = r->done ? store_value(&r->metrics, c) : NAN;
    memcpy(&bits, &real, sizeof bits);
    return isnan(real) ? 0 : bits + 1; /* no number has all bits set */
}

static void unpack(uint64_t v, size_t column, store_row *r)
{
    size_t n;
    const store_column *c = store_columns(&n);
    void *field;

    if (column == ROW_ID) {
        r->id = (int64_t)v;
    } else if (column == ROW_STATE) {
        r->done = v & DONE;
        r->asked = (v & ASKED) != 0;
        r->memory_rounded = (v & ROUNDED) != 0;
    } else if (column < FIRST_NUMBER) {
        strategy_set(&r->strategy, (uint32_t)(column - FIRST_PARAMETER), (uint32_t)v);
    } else {
        c += column - FIRST_NUMBER;
        field = (char *)&r->metrics + c->offset;
        v--;
        if (c->type != STORE_REAL)
            *(uint64_t *)field = v;
        else if (v == UINT64_MAX)
            *(double *)field = NAN;
        else
            memcpy(field, &v, sizeof v);
    }
}

/* ---- making -------------------------------------------------------------------------------------------- */

typedef struct {
    store *s;
    sqlite3_stmt *block, *study;
    size_t column[MOST_COLUMNS], n_columns;
    uint64_t *value[MOST_COLUMNS];
    size_t used;                         /* rows of the block */
    int64_t n_blocks, n_studies, n_rows; /* of the last study: */
    store_row last;                      /* and what its rows have in common, in the arena */
    dse_arena texts;
    unsigned char bytes[BLOCK * 8];
} maker;

static dse_status run_insert(maker *m, sqlite3_stmt *q, dse_error *err)
{
    dse_status st = sqlite3_step(q) == SQLITE_DONE ? DSE_OK : store_fail(m->s, err, "write the figures");

    sqlite3_reset(q);
    return st;
}

static dse_status put_column(maker *m, size_t i, dse_error *err)
{
    uint64_t least = UINT64_MAX, most = 0;
    int width = 0;

    for (size_t k = 0; k < m->used; k++) {
        least = m->value[i][k] < least ? m->value[i][k] : least;
        most = m->value[i][k] > most ? m->value[i][k] : most;
    }
    while (width < 8 && (most - least) >> 8 * width)
        width++;
    for (size_t k = 0; k < m->used; k++)
        for (int b = 0; b < width; b++)
            m->bytes[k * (size_t)width + (size_t)b] = (unsigned char)((m->value[i][k] - least) >> 8 * b);
    sqlite3_bind_text(m->block, 1, column_name(m->column[i]), -1, SQLITE_STATIC);
    sqlite3_bind_int64(m->block, 2, m->n_blocks);
    sqlite3_bind_int64(m->block, 3, (int64_t)least);
    sqlite3_bind_int(m->block, 4, width);
    sqlite3_bind_blob(m->block, 5, m->bytes, (int)m->used * width, SQLITE_STATIC);
    return run_insert(m, m->block, err);
}

static dse_status put_block(maker *m, dse_error *err)
{
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && m->used && i < m->n_columns; i++)
        st = put_column(m, i, err);
    m->n_blocks += m->used != 0;
    m->used = 0;
    return st;
}

static dse_status put_study(maker *m, dse_error *err)
{
    const store_row *r = &m->last;
    int at = 1;

    if (!m->n_rows)
        return DSE_OK;
    sqlite3_bind_int64(m->study, at++, m->n_studies++);
    sqlite3_bind_int64(m->study, at++, (int64_t)r->study);
    sqlite3_bind_text(m->study, at++, r->model, -1, SQLITE_STATIC);
    sqlite3_bind_text(m->study, at++, r->system, -1, SQLITE_STATIC);
    sqlite3_bind_text(m->study, at++, r->engine, -1, SQLITE_STATIC);
    sqlite3_bind_text(m->study, at++, r->settings, -1, SQLITE_STATIC);
    sqlite3_bind_int64(m->study, at++, m->n_rows);
    sqlite3_bind_int64(m->study, at++, (int64_t)r->skipped_of_study);
    m->n_rows = 0;
    return run_insert(m, m->study, err);
}

static bool same_study(const store_row *a, const store_row *b)
{
    return a->study == b->study && !strcmp(a->model, b->model) && !strcmp(a->system, b->system) &&
           !strcmp(a->engine, b->engine) && !strcmp(a->settings, b->settings);
}

static dse_status take_row(void *user, const store_row *r, dse_error *err)
{
    maker *m = user;
    dse_status st = DSE_OK;

    if (m->n_rows && !same_study(&m->last, r))
        st = put_study(m, err);
    if (!m->n_rows) {
        dse_arena_reset(&m->texts);
        m->last = *r;
        m->last.model = dse_arena_strdup(&m->texts, r->model);
        m->last.system = dse_arena_strdup(&m->texts, r->system);
        m->last.engine = dse_arena_strdup(&m->texts, r->engine);
        m->last.settings = dse_arena_strdup(&m->texts, r->settings);
    }
    m->n_rows++;
    for (size_t i = 0; i < m->n_columns; i++)
        m->value[i][m->used] = pack(r, m->column[i]);
    return st == DSE_OK && ++m->used == BLOCK ? put_block(m, err) : st;
}

static dse_status prepare(store *s, const char *sql, sqlite3_stmt **out, dse_error *err)
{
    return sqlite3_prepare_v2(s->db, sql, -1, out, NULL) == SQLITE_OK
               ? DSE_OK
               : store_fail(s, err, "read the database");
}

/* What they were made of: of this database, as it is now. */
static dse_status put_origin(store *s, dse_error *err)
{
    store_unlisted all, asked;
    char sql[700];
    dse_status st;

    if ((st = store_count_unlisted_rows(s, false, &all, err)) != DSE_OK ||
        (st = store_count_unlisted_rows(s, true, &asked, err)) != DSE_OK)
        return st;
    snprintf(sql, sizeof sql,
             "INSERT INTO %s.figures SELECT 1, layout, rows, x, skipped, y, studies, blocks, %" PRIu64
             ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
             ", row_checksum(layout, rows, x, skipped, y, studies, blocks, %" PRIu64 ", %" PRIu64 ", %" PRIu64
             ", %" PRIu64 ") FROM (" STORE_FIGURES_ORIGIN ")",
             s->figures, all.points, all.studies, asked.points, asked.studies, all.points, all.studies,
             asked.points, asked.studies, layout(), s->figures, s->figures);
    return store_execute(s, sql, "write the figures", err);
}

static dse_status make(store *s, dse_error *err)
{
    maker *m = dse_calloc(1, sizeof *m);
    uint64_t *values;
    char sql[400];
    dse_status st;

    m->s = s;
    m->n_columns = list_columns(m->column);
    dse_arena_init(&m->texts);
    values = dse_calloc(m->n_columns * BLOCK, sizeof *values);
    for (size_t i = 0; i < m->n_columns; i++)
        m->value[i] = &values[i * BLOCK];
    snprintf(sql, sizeof sql,
             "INSERT INTO %s.figure VALUES (?1, ?2, ?3, ?4, row_checksum(?1, ?2, ?3, ?4, ?5), ?5)",
             s->figures);
    st = prepare(s, sql, &m->block, err);
    snprintf(sql, sizeof sql,
             "INSERT INTO %s.figure_study VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
             " row_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))",
             s->figures);
    if (st == DSE_OK && (st = prepare(s, sql, &m->study, err)) == DSE_OK &&
        (st = store_each_checked(s, take_row, m, err)) == DSE_OK && (st = put_block(m, err)) == DSE_OK &&
        (st = put_study(m, err)) == DSE_OK)
        st = put_origin(s, err);
    sqlite3_finalize(m->block);
    sqlite3_finalize(m->study);
    dse_arena_free(&m->texts);
    dse_free(values);
    dse_free(m);
    return st;
}

/* ---- whether they are what the rows say ---------------------------------------------------------------- */

/* The blocks of these columns, and all studies, are there and what was written; the origin is. */
static bool is_usable(store *s, const size_t *column, size_t n)
{
    int64_t ok = 0;
    dse_error ignored = DSE_ERROR_INIT;
    dse_strbuf sql;

    dse_strbuf_init(&sql);
    dse_strbuf_addf(
        &sql,
        "SELECT count(*) FROM (" STORE_FIGURES_ORIGIN ") o JOIN %s.figures f ON f.layout = o.layout AND"
        " f.rows = o.rows AND f.rows_checksum = x AND f.skipped = o.skipped AND"
        " f.skipped_checksum = y AND f.studies = o.studies AND f.blocks = o.blocks AND"
        " f.checksum = row_checksum(f.layout, f.rows, f.rows_checksum, f.skipped, f.skipped_checksum,"
        " f.studies, f.blocks, unlisted, unlisted_studies, asked, asked_studies)"
        " AND f.rows = (SELECT total(n) FROM %s.figure_study) AND NOT EXISTS (SELECT 1 FROM"
        " %s.figure_study WHERE checksum IS NOT row_checksum(place, study, model, system, engine, settings, "
        "n,"
        " skipped))",
        layout(), s->figures, s->figures, s->figures, s->figures, s->figures);
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(&sql,
                        " AND f.blocks = (SELECT count(*) FROM %s.figure WHERE name = '%s' AND"
                        " row_checksum(name, block, least, width, data) = checksum)",
                        s->figures, column_name(column[i]));
    if (store_get_numbers(s, sql.data, 1, &ok, &ignored) != DSE_OK)
        ok = 0; /* and so they are made anew */
    dse_strbuf_free(&sql);
    return ok == 1;
}

bool store_figures_unlisted(store *s, bool asked, store_unlisted *out)
{
    int64_t n[2] = {0};
    bool found;

    s->figures = "main";
    found =
        is_usable(s, NULL, 0) && store_get_numbers(s,
                                                   asked ? "SELECT asked, asked_studies FROM figures"
                                                         : "SELECT unlisted, unlisted_studies FROM figures",
                                                   2, n, NULL) == DSE_OK;
    *out = (store_unlisted){(uint64_t)n[0], (uint64_t)n[1]};
    return found;
}

bool store_make_figures(store *s)
{
    static const char begin[] =
        "BEGIN IMMEDIATE;DELETE FROM figures;DELETE FROM figure;DELETE FROM figure_study";
    size_t column[MOST_COLUMNS], n = list_columns(column);
    dse_error ignored = DSE_ERROR_INIT;

    s->figures = "main";
    if (is_usable(s, column, n))
        return false;
    if (store_execute(s, begin, "write the figures", &ignored) == DSE_OK && make(s, &ignored) == DSE_OK &&
        store_execute(s, "COMMIT", "write the figures", &ignored) == DSE_OK)
        return true;
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* a reader makes them, or tells what is wrong */
    return false;
}

/* Of the file, if they are usable, or of a file of one's own, which is not kept: nothing says when what the
 * last sweep asked for has changed. In a transaction. */
static dse_status find_figures(store *s, const size_t *column, size_t n, dse_error *err)
{
    static const char anew[] = "DROP TABLE IF EXISTS temp.figures; DROP TABLE IF EXISTS temp.figure;"
                               "DROP TABLE IF EXISTS temp.figure_study;" STORE_FIGURES("TEMP ");
    dse_status st;

    s->figures = "main";
    if (is_usable(s, column, n))
        return DSE_OK;
    s->figures = "temp";
    if ((st = store_execute(s, anew, "read the database", err)) == DSE_OK)
        st = make(s, err);
    return st;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t least;
    int width;
    unsigned char bytes[BLOCK * 8];
} loaded;

typedef struct {
    store *s;
    size_t column[MOST_COLUMNS], n;
    loaded *block;      /* n of them, that of the rows from `first` on, */
    int64_t first, end; /* to `end`; both 0: none yet */
    sqlite3_stmt *q;
    store_row row;
} scan;

static dse_status load_block(scan *c, int64_t place, dse_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        loaded *b = &c->block[i];
        int n = -1;

        sqlite3_bind_text(c->q, 1, column_name(c->column[i]), -1, SQLITE_STATIC);
        sqlite3_bind_int64(c->q, 2, place / BLOCK);
        if (sqlite3_step(c->q) == SQLITE_ROW) {
            b->least = (uint64_t)sqlite3_column_int64(c->q, 0);
            b->width = sqlite3_column_int(c->q, 1);
            n = sqlite3_column_bytes(c->q, 2);
        }
        if (n < 0 || b->width < 0 || b->width > 8 || n > BLOCK * b->width)
            return store_fail(c->s, err, "read the figures");
        if (n)
            memcpy(b->bytes, sqlite3_column_blob(c->q, 2), (size_t)n);
        sqlite3_reset(c->q);
        if (!b->width)
            unpack(b->least, c->column[i], &c->row);
    }
    c->first = place / BLOCK * BLOCK;
    c->end = c->first + BLOCK;
    return DSE_OK;
}

/* What all rows of a block have was unpacked with it. */
static void read_place(scan *c, int64_t place)
{
    for (size_t i = 0; i < c->n; i++) {
        const loaded *b = &c->block[i];
        const unsigned char *at = &b->bytes[(size_t)(place - c->first) * (size_t)b->width];
        uint64_t v = 0;

        if (!b->width)
            continue;
        for (int k = b->width; k-- > 0;)
            v = v << 8 | at[k];
        unpack(v + b->least, c->column[i], &c->row);
    }
}

static dse_status visit_study(scan *c, const store_filter *which, int64_t first, int64_t n, double price,
                              double power, store_row_visit *visit, void *user, dse_error *err)
{
    const bool costs = !isnan(price) || !isnan(power);
    dse_status st = DSE_OK;

    for (int64_t place = first; st == DSE_OK && place < first + n; place++) {
        if (place >= c->end && (st = load_block(c, place, err)) != DSE_OK)
            return st;
        read_place(c, place);
        if (costs)
            store_add_costs(strategy_ranks(&c->row.strategy), price, power, &c->row.metrics);
        if (!which->has || which->has(which->user, &c->row))
            st = visit(user, &c->row, err);
    }
    return st;
}

static dse_status visit_studies(scan *c, const store_filter *which, store_row_visit *visit, void *user,
                                dse_error *err)
{
    sqlite3_stmt *q = NULL;
    int64_t first = 0, n;
    int code = SQLITE_DONE;
    char sql[300];
    dse_status st;

    snprintf(sql, sizeof sql,
             "SELECT study, model, system, engine, settings, n, skipped, per_device_hour, power FROM"
             " %s.figure_study LEFT JOIN price USING (study) ORDER BY place",
             c->s->figures);
    st = prepare(c->s, sql, &q, err);
    for (; st == DSE_OK && (code = sqlite3_step(q)) == SQLITE_ROW; first += n) {
        store_row *r = &c->row;

        n = sqlite3_column_int64(q, 5);
        r->study = (uint64_t)sqlite3_column_int64(q, 0);
        r->model = store_text_at(q, 1);
        r->system = store_text_at(q, 2);
        r->engine = store_text_at(q, 3);
        r->settings = store_text_at(q, 4);
        r->skipped_of_study = (uint64_t)sqlite3_column_int64(q, 6);
        r->metrics.cost_per_step = r->metrics.cost_per_trillion_tokens = NAN;
        r->metrics.energy_per_step = r->metrics.energy_per_trillion_tokens = NAN;
        if ((!which->model || !strcmp(which->model, r->model)) &&
            (!which->system || !strcmp(which->system, r->system)))
            st = visit_study(c, which, first, n, store_real_at(q, 7), store_real_at(q, 8), visit, user, err);
    }
    if (st == DSE_OK && code != SQLITE_DONE)
        st = store_fail(c->s, err, "read the figures");
    sqlite3_finalize(q);
    return st;
}

static size_t add_column(size_t column, size_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (out[i] == column)
            return n;
    out[n] = column;
    return n + 1;
}

/* What every ranking reads, and what it is by. */
static size_t wanted_columns(const store_column *by, size_t *out)
{
    static const char *const always[] = {
        "wall_time",         "peak_memory", "undercharged_messages", "flat_ring_collectives",
        "busiest_link_util", "step_idle"};
    size_t n = 0;

    for (size_t i = 0; i < FIRST_NUMBER; i++)
        n = add_column(i, out, n);
    for (size_t i = 0; by && i < DSE_COUNT(always); i++)
        n = add_column(column_of(store_column_find(always[i])), out, n);
    if (by && store_column_is_cost(by))
        n = add_column(column_of(store_column_find("tokens_per_s")), out, n);
    if (by && is_figure(by))
        n = add_column(column_of(by), out, n);
    return n;
}

static dse_status scan_all(store *s, const store_filter *which, const store_column *by,
                           store_row_visit *visit, void *user, dse_error *err)
{
    scan *c = dse_calloc(1, sizeof *c);
    char sql[120];
    dse_status st;

    c->s = s;
    c->n = wanted_columns(by, c->column);
    c->row = (store_row){.error = "", .seconds = NAN};
    store_metrics_clear(&c->row.metrics);
    c->block = dse_calloc(c->n, sizeof *c->block);
    st = find_figures(s, c->column, c->n, err);
    snprintf(sql, sizeof sql, "SELECT least, width, data FROM %s.figure WHERE name = ?1 AND block = ?2",
             st == DSE_OK ? s->figures : "main");
    if (st == DSE_OK && (st = prepare(s, sql, &c->q, err)) == DSE_OK)
        st = visit_studies(c, which, visit, user, err);
    sqlite3_finalize(c->q);
    dse_free(c->block);
    dse_free(c);
    return st;
}

dse_status store_each_figures(store *s, const store_filter *which, const store_column *by,
                              store_row_visit *visit, void *user, dse_error *err)
{
    bool alone = sqlite3_get_autocommit(s->db) != 0;
    dse_status st = alone ? store_execute(s, "BEGIN", "read the database", err) : DSE_OK;

    if (st == DSE_OK)
        st = scan_all(s, which, by, visit, user, err);
    if (alone)
        sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL); /* nothing was written to the file */
    return st;
}
