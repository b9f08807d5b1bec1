#include "store/parts.h"

#include "base/array.h"

typedef struct {
    store *into, *from;
    store_merged *out;
} merging;

/* Calls `take` with each row of a query of the source. */
static dse_status each(const merging *m, const char *sql,
                       dse_status (*take)(const merging *m, sqlite3_stmt *q, void *user, dse_error *err),
                       void *user, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;
    int code = SQLITE_DONE;

    if (sqlite3_prepare_v2(m->from->db, sql, -1, &q, NULL) != SQLITE_OK)
        st = store_fail(m->from, err, "read the database");
    while (st == DSE_OK && (code = sqlite3_step(q)) == SQLITE_ROW)
        st = take(m, q, user, err);
    if (st == DSE_OK && code != SQLITE_DONE)
        st = store_fail(m->from, err, "read the database");
    sqlite3_finalize(q);
    return st;
}

static double real_at(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? NAN : sqlite3_column_double(q, i);
}

static dse_status take_price(const merging *m, sqlite3_stmt *q, void *user, dse_error *err)
{
    (void)user;
    return store_set_prices(m->into, (uint64_t)sqlite3_column_int64(q, 0), real_at(q, 1), real_at(q, 2), err);
}

static dse_status take_skipped(const merging *m, sqlite3_stmt *q, void *user, dse_error *err)
{
    (void)user;
    return store_skip(m->into, (uint64_t)sqlite3_column_int64(q, 0), (uint64_t)sqlite3_column_int64(q, 1),
                      err);
}

typedef struct {
    uint64_t *hash;
    size_t n, cap;
} hash_list;

static dse_status take_asked(const merging *m, sqlite3_stmt *q, void *user, dse_error *err)
{
    hash_list *l = user;

    (void)m, (void)err;
    DSE_GROW(l->hash, l->cap, l->n + 1);
    l->hash[l->n++] = (uint64_t)sqlite3_column_int64(q, 0);
    return DSE_OK;
}

/* A result that is done stays: of one configuration all that are done are the same. */
static dse_status take_row(void *user, const store_row *row, dse_error *err)
{
    const merging *m = user;
    store_brief brief;
    bool found;
    dse_status st = store_find(m->into, row->hash, row->config, &found, &brief, err);

    if (st != DSE_OK)
        return st;
    if (found) {
        m->out->known++;
        return DSE_OK;
    }
    m->out->added++;
    m->out->failed += !row->done;
    return store_put(m->into, row, err);
}

/* What the last sweep of the source asked for; where none is noted, all that is there. Before the rows, as what
 * is there already stays asked for where nothing is noted of it. */
static dse_status ask(const merging *m, dse_error *err)
{
    hash_list asked = {0};
    dse_status st = each(m, "SELECT hash FROM asked", take_asked, &asked, err);

    if (st == DSE_OK && !asked.n)
        st = each(m, "SELECT hash FROM result", take_asked, &asked, err);
    if (st == DSE_OK)
        st = store_add_asked(m->into, asked.hash, asked.n, err);
    dse_free(asked.hash);
    return st;
}

dse_status store_merge(store *into, store *from, store_merged *out, dse_error *err)
{
    const store_filter all = {0};
    merging m = {into, from, out};
    dse_status st = store_begin(into, err);

    *out = (store_merged){0};
    if (st != DSE_OK)
        return st;
    if ((st = ask(&m, err)) == DSE_OK && (st = store_each(from, &all, take_row, &m, err)) == DSE_OK &&
        (st = each(&m, "SELECT study, per_device_hour, power FROM price", take_price, NULL, err)) == DSE_OK &&
        (st = each(&m, "SELECT hash, study FROM skipped", take_skipped, NULL, err)) == DSE_OK)
        st = store_commit(into, err);
    if (st != DSE_OK)
        sqlite3_exec(into->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
    return st;
}
