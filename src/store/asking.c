/* What a sweep asks for, point by point: any number, in a temporary table, which SQLite sorts in files. */
#include "store/parts.h"

#define DOING "list the points in a temporary file; SQLITE_TMPDIR says where,"

dse_status store_asking_begin(store *s, dse_error *err)
{
    dse_status st = store_execute(s,
                                  "DROP TABLE IF EXISTS temp.asking;"
                                  "CREATE TEMP TABLE asking (number INTEGER PRIMARY KEY, hash INTEGER)",
                                  DOING, err);

    sqlite3_finalize(s->asking); /* accepts NULL */
    s->asking = NULL;
    if (st == DSE_OK && sqlite3_prepare_v2(s->db, "INSERT INTO temp.asking (hash) VALUES (?1)", -1,
                                           &s->asking, NULL) != SQLITE_OK)
        st = store_fail(s, err, DOING);
    return st;
}

dse_status store_asking_add(store *s, uint64_t hash, dse_error *err)
{
    dse_status st;

    sqlite3_bind_int64(s->asking, 1, (int64_t)hash);
    st = sqlite3_step(s->asking) == SQLITE_DONE ? DSE_OK : store_fail(s, err, DOING);
    sqlite3_reset(s->asking);
    return st;
}

/* Puts the hashes in the place of those that were asked for, unless one is there twice. */
static dse_status replace_asked(store *s, sqlite3_stmt *sorted, sqlite3_stmt *put, uint64_t twice[2],
                                dse_error *err)
{
    int64_t last_hash = 0, last = 0;
    int code;

    while ((code = sqlite3_step(sorted)) == SQLITE_ROW) {
        const int64_t hash = sqlite3_column_int64(sorted, 0), number = sqlite3_column_int64(sorted, 1);

        if (last && hash == last_hash && (!twice[1] || (uint64_t)number < twice[1])) {
            twice[0] = (uint64_t)last;
            twice[1] = (uint64_t)number;
        }
        last_hash = hash;
        last = number;
        sqlite3_bind_int64(put, 1, hash);
        if (!twice[1] && sqlite3_step(put) != SQLITE_DONE)
            return store_fail(s, err, "write a result");
        sqlite3_reset(put);
    }
    return code == SQLITE_DONE ? DSE_OK : store_fail(s, err, DOING);
}

dse_status store_asking_end(store *s, uint64_t twice[2], dse_error *err)
{
    sqlite3_stmt *sorted = NULL, *put = NULL;
    dse_status st = store_begin(s, err);
    uint64_t found[2] = {0};

    if (st != DSE_OK)
        return st;
    st = store_execute(s, "DELETE FROM asked", "write a result", err);
    if (st == DSE_OK &&
        (sqlite3_prepare_v2(s->db, "SELECT hash, number FROM temp.asking ORDER BY hash, number", -1, &sorted,
                            NULL) != SQLITE_OK ||
         sqlite3_prepare_v2(s->db, "INSERT INTO asked VALUES (?1)", -1, &put, NULL) != SQLITE_OK))
        st = store_fail(s, err, "write a result");
    if (st == DSE_OK)
        st = replace_asked(s, sorted, put, found, err);
    sqlite3_finalize(sorted);
    sqlite3_finalize(put);
    if (st == DSE_OK && !found[1])
        st = store_commit(s, err);
    if (st != DSE_OK || found[1])
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* a failure is already told */
    sqlite3_finalize(s->asking);
    s->asking = NULL;
    for (int i = 0; i < 2; i++)
        twice[i] = found[i];
    return st == DSE_OK ? store_execute(s, "DROP TABLE temp.asking", DOING, err) : st;
}
