/* Lists of rows: one after another, in their order, or all at once. */
#include "store/parts.h"

#include <string.h>

/* The rows' numbers in their order: SQLite sorts keys, on disk if they are many, and no row. */
#define LISTED "CREATE TEMP TABLE listed (place INTEGER PRIMARY KEY, id INTEGER NOT NULL)"
enum { FIRST_OF_POINT = 3 }; /* parameters of the statement: model, system, the point's */

static dse_status fail_reading(store *s, dse_error *err) { return store_fail(s, err, "read the database"); }

static void add_order(const store_filter *which, dse_strbuf *sql)
{
    dse_strbuf_adds(sql, "INSERT INTO temp.listed (id) SELECT id FROM result"
                         " WHERE (?1 IS NULL OR model = ?1) AND (?2 IS NULL OR system = ?2)");
    if (which->point)
        store_add_point(FIRST_OF_POINT, sql);
    dse_strbuf_adds(sql, " ORDER BY model, system, engine NOT GLOB 'native-*', engine, settings, study");
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        dse_strbuf_addf(sql, ", %s", strategy_parameters[strategy_in_order(i)].name);
}

static dse_status order_rows(store *s, const store_filter *which, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_strbuf sql;
    dse_status st = DSE_OK;

    dse_strbuf_init(&sql);
    add_order(which, &sql);
    if (sqlite3_prepare_v2(s->db, sql.data, -1, &q, NULL) != SQLITE_OK) {
        st = fail_reading(s, err);
    } else {
        sqlite3_bind_text(q, 1, which->model, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, 2, which->system, -1, SQLITE_STATIC);
        if (which->point)
            store_bind_point(q, FIRST_OF_POINT, which->point);
        if (sqlite3_step(q) != SQLITE_DONE)
            st = fail_reading(s, err);
    }
    sqlite3_finalize(q);
    dse_strbuf_free(&sql);
    return st;
}

static dse_status fail_lost(const store *s, int64_t found, int64_t n, dse_error *err)
{
    return dse_fail_at(err, DSE_E_STORE, s->path,
                       "the database is damaged: %" PRId64 " of %" PRId64
                       " rows are where they belong; move it away, and the same sweep makes a new one",
                       found, n);
}

/* What is to be done once it is known how many rows there are at most. */
typedef struct {
    const store_filter *which;
    store_row_visit *visit;
    void *user;
    void (*begin)(void *user, size_t n); /* NULL: nothing */
    bool checks_on_the_way;              /* each row as it comes, and not all of them before the first */
} listing;

/* The columns that store_read_row reads; what is checked is what was written. Returns how many that is. */
static int add_select(const listing *l, dse_strbuf *sql)
{
    int n_written = 0;

    dse_strbuf_adds(sql, "SELECT ");
    if (l->checks_on_the_way)
        n_written = (int)store_add_columns(sql);
    else
        store_add_whole_columns(!l->which->no_config, sql);
    /* CROSS: `listed` first, so that nothing is sorted again */
    dse_strbuf_adds(sql, ", n_skipped, " STORE_IS_ASKED ", per_device_hour, power, id, checksum,"
                         " config_lost(study, shared) FROM temp.listed CROSS JOIN result USING (id)"
                         " LEFT JOIN (SELECT study, count(*) AS n_skipped FROM skipped GROUP BY study)"
                         " USING (study)"
                         " LEFT JOIN price USING (study) ORDER BY place");
    return n_written;
}

/* Of a row that is checked on the way, whose checksum goes into the exclusive or of all. */
static dse_status check_row(store *s, sqlite3_stmt *q, int n_written, int64_t *sum, dse_error *err)
{
    const int last = sqlite3_column_count(q) - 1;
    const int64_t checksum = sqlite3_column_int64(q, last - 1);

    *sum ^= checksum;
    if (!sqlite3_column_int(q, last) && store_column_checksum(q, n_written) == checksum)
        return DSE_OK;
    return store_fail_whole(s, err);
}

/* A row whose number is not what was written is not found by it: n rows are to come. */
static dse_status visit_rows(store *s, const listing *l, int64_t n, dse_error *err)
{
    const store_filter *which = l->which;
    sqlite3_stmt *q = NULL;
    dse_strbuf sql;
    dse_arena texts;
    int64_t found = 0, sum = 0;
    dse_status st = DSE_OK;
    int code = SQLITE_DONE, n_written;

    dse_arena_init(&texts);
    dse_strbuf_init(&sql);
    n_written = add_select(l, &sql);
    if (sqlite3_prepare_v2(s->db, sql.data, -1, &q, NULL) != SQLITE_OK)
        st = fail_reading(s, err);
    dse_strbuf_free(&sql);
    for (; st == DSE_OK && (code = sqlite3_step(q)) == SQLITE_ROW; found++) {
        store_row r;

        dse_arena_reset(&texts);
        if (l->checks_on_the_way && (st = check_row(s, q, n_written, &sum, err)) != DSE_OK)
            break;
        st = store_read_row(s, q, &texts, &r, err);
        if (st == DSE_OK && (!which->has || which->has(which->user, &r)))
            st = l->visit(l->user, &r, err);
    }
    if (st == DSE_OK && code != SQLITE_DONE)
        st = fail_reading(s, err);
    if (st == DSE_OK && found < n)
        st = fail_lost(s, found, n, err);
    if (st == DSE_OK && l->checks_on_the_way)
        st = store_check_totals(s, found, sum, err);
    sqlite3_finalize(q);
    dse_arena_free(&texts);
    return st;
}

static dse_status list_ordered(store *s, const listing *l, dse_error *err)
{
    int64_t n = 0;
    dse_status st = l->which->point || l->checks_on_the_way ? DSE_OK : store_check_whole(s, err);

    if (st != DSE_OK || (st = order_rows(s, l->which, err)) != DSE_OK ||
        (l->which->point && (st = store_check_listed(s, err)) != DSE_OK) ||
        (st = store_get_numbers(s, "SELECT count(*) FROM temp.listed", 1, &n, err)) != DSE_OK)
        return st;
    if (l->begin)
        l->begin(l->user, (size_t)n);
    return visit_rows(s, l, n, err);
}

/* What is checked and what is listed is one state of the database: a writer may commit between the two. */
static dse_status list_rows(store *s, const listing *l, dse_error *err)
{
    bool alone = sqlite3_get_autocommit(s->db) != 0;
    dse_status st = alone ? store_execute(s, "BEGIN", "read the database", err) : DSE_OK;

    if (st == DSE_OK && (st = store_execute(s, LISTED, "read the database", err)) == DSE_OK)
        st = list_ordered(s, l, err);
    sqlite3_exec(s->db, "DROP TABLE IF EXISTS temp.listed", NULL, NULL, NULL); /* as it was */
    if (alone)
        sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL); /* nothing was written */
    return st;
}

/* ---- one row ------------------------------------------------------------------------------- */

/* Whether a row is the one whose figures these are. */
static bool is_row_of(const store_row *figures, const store_row *r)
{
    return r->study == figures->study && r->done == figures->done &&
           r->metrics.wall_time == figures->metrics.wall_time &&
           r->metrics.peak_memory == figures->metrics.peak_memory &&
           !strategy_compare(&r->strategy, &figures->strategy);
}

/* Kept, as a ranking of many studies reads many rows, and to say what is read takes longer than to read it. */
static dse_status prepare_reading_one(store *s, bool config, dse_error *err)
{
    dse_strbuf sql;
    dse_status st = DSE_OK;

    if (s->read_one[config])
        return DSE_OK;
    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "SELECT ");
    store_add_whole_columns(config, &sql);
    dse_strbuf_adds(&sql, ", ?1, ?2, per_device_hour, power, id, row_checksum(");
    store_add_columns(&sql);
    dse_strbuf_adds(&sql, ") = checksum FROM result LEFT JOIN price USING (study) WHERE id = ?3");
    if (sqlite3_prepare_v2(s->db, sql.data, -1, &s->read_one[config], NULL) != SQLITE_OK)
        st = fail_reading(s, err);
    dse_strbuf_free(&sql);
    return st;
}

dse_status store_read(store *s, const store_row *figures, bool config, dse_arena *a, store_row *out,
                      dse_error *err)
{
    sqlite3_stmt *q;
    bool right = false;
    dse_status st = prepare_reading_one(s, config, err);

    if (st != DSE_OK)
        return st;
    q = s->read_one[config];
    sqlite3_bind_int64(q, 1, (int64_t)figures->skipped_of_study);
    sqlite3_bind_int(q, 2, figures->asked);
    sqlite3_bind_int64(q, 3, figures->id);
    if (sqlite3_step(q) == SQLITE_ROW && sqlite3_column_int(q, sqlite3_column_count(q) - 1)) {
        st = store_read_row(s, q, a, out, err);
        right = st == DSE_OK && is_row_of(figures, out);
    }
    if (st == DSE_OK && !right && sqlite3_errcode(s->db) == SQLITE_NOMEM)
        st = fail_reading(s, err); /* nothing is wrong with the row */
    sqlite3_reset(q);
    if (st != DSE_OK || right || (st = store_check_whole(s, err)) != DSE_OK)
        return st;
    return dse_fail_at(err, DSE_E_STORE, s->path,
                       "rows have other numbers than this program gave them, as after another one has "
                       "changed the file; the same sweep mends that, and loses nothing");
}

dse_status store_each(store *s, const store_filter *which, store_row_visit *visit, void *user, dse_error *err)
{
    return list_rows(s, &(listing){which, visit, user, NULL, false}, err);
}

dse_status store_each_checked(store *s, store_row_visit *visit, void *user, dse_error *err)
{
    static const store_filter all = {.no_config = true};

    return list_rows(s, &(listing){&all, visit, user, NULL, true}, err);
}

/* ---- rows in memory ------------------------------------------------------------------------ */

typedef struct {
    store_row *row;
    size_t n;
    dse_arena *arena;
    bool one_config;
} kept_rows;

static void make_room(void *user, size_t n)
{
    kept_rows *k = user;

    k->row = DSE_ARENA_RAW(k->arena, store_row, n); /* not touched, and so not held, before it is used */
}

/* The text of the row before is taken where it is the same, as names of a sweep are. */
static void keep_text(const char **text, const char *before, dse_arena *a)
{
    if (*text)
        *text = before && !strcmp(before, *text) ? before : dse_arena_strdup(a, *text);
}

store_row store_copy_row(const store_row *r, const store_row *before, dse_arena *a)
{
    store_row to = *r;
    size_t n;
    const store_column *c = store_columns(&n);

    keep_text(&to.model, before->model, a);
    keep_text(&to.system, before->system, a);
    keep_text(&to.engine, before->engine, a);
    keep_text(&to.settings, before->settings, a);
    keep_text(&to.error, before->error, a);
    keep_text(&to.config, before->config, a);
    for (size_t i = 0; i < n; i++)
        if (c[i].type == STORE_TEXT)
            keep_text((const char **)(void *)((char *)&to.metrics + c[i].offset),
                      store_text(&before->metrics, &c[i]), a);
    return to;
}

static dse_status keep_row(void *user, const store_row *r, dse_error *err)
{
    static const store_row none;
    kept_rows *k = user;
    const store_row *before = k->n ? &k->row[k->n - 1] : &none;
    store_row now = *r;

    (void)err;
    if (k->one_config && k->n && before->study == r->study && !strcmp(before->model, r->model) &&
        !strcmp(before->system, r->system))
        now.config = NULL;
    k->row[k->n++] = store_copy_row(&now, before, k->arena);
    return DSE_OK;
}

dse_status store_select(store *s, const store_filter *which, dse_arena *a, store_row **rows, size_t *n,
                        dse_error *err)
{
    kept_rows k = {.arena = a, .one_config = which->one_config};
    dse_status st = list_rows(s, &(listing){which, keep_row, &k, make_room, false}, err);

    *rows = k.row;
    *n = k.n;
    return st;
}

dse_status store_list(store *s, const char *model, const char *system, dse_arena *a, store_row **rows,
                      size_t *n, dse_error *err)
{
    return store_select(s, &(store_filter){.model = model, .system = system}, a, rows, n, err);
}
