/* What the last search is certain of. A table of its own, which files without a search do not have. A sweep ends
 * it, also one of the same points: who asks for these wants them ranked as any others. It says of which points it
 * is, by their number and the exclusive or of their hashes, so that whatever asks for others (an import, a merge,
 * a program that does not know the table) ends it, too. */
#include "store/parts.h"

#define DOING "note what a search found"

#define COLUMNS "place, model, system, n, is_finished, gap, least_step, points, has_all, boxes, hbm_bytes"
#define END     "DROP TABLE IF EXISTS searched;"
#define TABLE                                                                                                \
    END "CREATE TABLE searched (place INTEGER PRIMARY KEY, model TEXT, system TEXT, n INTEGER, is_finished " \
        "INTEGER, gap REAL, least_step INTEGER, points REAL, has_all INTEGER, boxes INTEGER, hbm_bytes "     \
        "REAL,"                                                                                              \
        " asked INTEGER, asked_hashes INTEGER, checksum INTEGER)"
/* Two numbers: of the points that are asked for. */
#define ASKED "(SELECT count(*) FROM asked), (SELECT xor_all(hash) FROM asked)"
#define PUT                                                                                                  \
    "INSERT INTO searched SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, n, x,"                        \
    " row_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, n, x)"                                      \
    " FROM (SELECT count(*) n, xor_all(hash) x FROM asked)"
#define GET                                                                                                  \
    "SELECT " COLUMNS " FROM searched WHERE (asked, asked_hashes) = (" ASKED ")"                             \
    " AND checksum = row_checksum(" COLUMNS ", asked, asked_hashes) ORDER BY place"

static dse_status put_all(store *s, const store_searched *searched, size_t n, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_status st = store_execute(s, TABLE, DOING, err);

    if (st == DSE_OK && sqlite3_prepare_v2(s->db, PUT, -1, &q, NULL) != SQLITE_OK)
        st = store_fail(s, err, DOING);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        const store_searched *c = &searched[i];

        sqlite3_bind_int64(q, 1, (int64_t)i);
        sqlite3_bind_text(q, 2, c->model, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, 3, c->system, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 4, (int64_t)c->n);
        sqlite3_bind_int(q, 5, c->is_finished);
        sqlite3_bind_double(q, 6, c->gap);
        sqlite3_bind_int64(q, 7, (int64_t)c->least_step);
        sqlite3_bind_double(q, 8, c->points);
        sqlite3_bind_int(q, 9, c->has_all);
        sqlite3_bind_int64(q, 10, (int64_t)c->boxes);
        sqlite3_bind_double(q, 11, c->hbm_bytes); /* NaN is NULL there */
        if (sqlite3_step(q) != SQLITE_DONE)
            st = store_fail(s, err, DOING);
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    return st;
}

dse_status store_put_searched(store *s, const store_searched *searched, size_t n, dse_error *err)
{
    dse_status st = store_begin(s, err);

    if (st == DSE_OK && (st = put_all(s, searched, n, err)) == DSE_OK)
        st = store_commit(s, err);
    if (st != DSE_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
    return st;
}

dse_status store_end_searched(store *s, dse_error *err) { return store_execute(s, END, DOING, err); }

static void get_row(sqlite3_stmt *q, dse_arena *a, store_searched *out)
{
    const bool is_limited = sqlite3_column_type(q, 10) != SQLITE_NULL;

    *out = (store_searched){
        .model = dse_arena_strdup(a, store_text_at(q, 1)),
        .system = dse_arena_strdup(a, store_text_at(q, 2)),
        .n = (uint64_t)sqlite3_column_int64(q, 3),
        .is_finished = sqlite3_column_int(q, 4) != 0,
        .gap = sqlite3_column_double(q, 5),
        .least_step = (uint64_t)sqlite3_column_int64(q, 6),
        .points = sqlite3_column_double(q, 7),
        .has_all = sqlite3_column_int(q, 8) != 0,
        .boxes = (uint64_t)sqlite3_column_int64(q, 9),
        .hbm_bytes = is_limited ? sqlite3_column_double(q, 10) : NAN,
    };
}

dse_status store_get_searched(store *s, dse_arena *a, store_searched **out, size_t *n, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    int64_t is_there = 0;
    size_t cap = 0;
    int code;
    dse_status st =
        store_get_numbers(s, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'searched'",
                          1, &is_there, err);

    *out = NULL;
    *n = 0;
    if (st != DSE_OK || !is_there)
        return st;
    code = sqlite3_prepare_v2(s->db, GET, -1, &q, NULL);
    if (code == SQLITE_ERROR)
        return DSE_OK; /* another table of this name: nothing is known */
    if (code != SQLITE_OK)
        return store_fail(s, err, "read the database");
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        DSE_ARENA_GROW(a, *out, cap, *n + 1);
        get_row(q, a, &(*out)[(*n)++]);
    }
    if (code != SQLITE_DONE)
        st = store_fail(s, err, "read the database");
    sqlite3_finalize(q);
    return st;
}
