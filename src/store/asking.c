/* What a sweep asks for, point by point: any number, in a temporary table, which SQLite sorts in files. */
#include "base/array.h"
#include "store/parts.h"

#include <inttypes.h>
#include <stdio.h>

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

/* The statements that go through what is asked for, sorted, and through what was. */
typedef struct {
    sqlite3_stmt *sorted, *before, *put;
    bool differs; /* so far they are not the same */
} replacing;

static dse_status prepare(store *s, replacing *r, dse_error *err)
{
    const char *const sql[] = {"SELECT hash, number FROM temp.asking ORDER BY hash, number",
                               "SELECT hash FROM asked ORDER BY hash", "INSERT INTO asked VALUES (?1)"};
    sqlite3_stmt **const to[] = {&r->sorted, &r->before, &r->put};

    for (size_t i = 0; i < DSE_COUNT(sql); i++)
        if (sqlite3_prepare_v2(s->db, sql[i], -1, to[i], NULL) != SQLITE_OK)
            return store_fail(s, err, "write a result");
    return DSE_OK;
}

/* From the first difference on: what was asked for above the last hash that both have, is there no more, and the
 * figures of a ranking, which know what was asked for, end. */
static dse_status begin_difference(store *s, replacing *r, bool any, int64_t last, dse_error *err)
{
    char sql[120];

    r->differs = true;
    sqlite3_reset(r->before);
    if (any)
        snprintf(sql, sizeof sql, "DELETE FROM figures;DELETE FROM asked WHERE hash > %" PRId64, last);
    else
        snprintf(sql, sizeof sql, "DELETE FROM figures;DELETE FROM asked");
    return store_execute(s, sql, "write a result", err);
}

/* Whether what was asked for before goes on with this hash; `end`: with none. */
static dse_status compare(store *s, replacing *r, bool end, int64_t hash, bool *same, dse_error *err)
{
    const int code = sqlite3_step(r->before);

    *same = end ? code == SQLITE_DONE : code == SQLITE_ROW && sqlite3_column_int64(r->before, 0) == hash;
    return code == SQLITE_ROW || code == SQLITE_DONE ? DSE_OK : store_fail(s, err, "read the database");
}

/* One hash, or the end, after the last one. */
static dse_status replace_one(store *s, replacing *r, bool any, int64_t last, bool end, int64_t hash,
                              dse_error *err)
{
    dse_status st = DSE_OK;
    bool same = true;

    if (!r->differs && (st = compare(s, r, end, hash, &same, err)) == DSE_OK && !same)
        st = begin_difference(s, r, any, last, err);
    if (st != DSE_OK || !r->differs || end)
        return st;
    sqlite3_bind_int64(r->put, 1, hash);
    st = sqlite3_step(r->put) == SQLITE_DONE ? DSE_OK : store_fail(s, err, "write a result");
    sqlite3_reset(r->put);
    return st;
}

/* Asked for where no point is: a hash that no row has. Without any, all rows count as asked for. */
#define NO_POINT 0

/* Puts the hashes in the place of those that were asked for, unless one is there twice. Those that are there already
 * are not written. */
static dse_status replace_asked(store *s, replacing *r, uint64_t twice[2], dse_error *err)
{
    int64_t last_hash = 0, last = 0;
    dse_status st = DSE_OK;
    int code;

    while ((code = sqlite3_step(r->sorted)) == SQLITE_ROW) {
        const int64_t hash = sqlite3_column_int64(r->sorted, 0), number = sqlite3_column_int64(r->sorted, 1);

        if (last && hash == last_hash && (!twice[1] || (uint64_t)number < twice[1])) {
            twice[0] = (uint64_t)last;
            twice[1] = (uint64_t)number;
        }
        if (!twice[1] && (st = replace_one(s, r, last != 0, last_hash, false, hash, err)) != DSE_OK)
            return st;
        last_hash = hash;
        last = number;
    }
    if (code != SQLITE_DONE)
        return store_fail(s, err, DOING);
    if (!last && (st = replace_one(s, r, false, 0, false, NO_POINT, err)) != DSE_OK)
        return st;
    return twice[1] ? DSE_OK : replace_one(s, r, true, last ? last_hash : NO_POINT, true, 0, err);
}

dse_status store_asking_end(store *s, uint64_t twice[2], dse_error *err)
{
    replacing r = {0};
    dse_status st = store_begin_finding(s, err);
    uint64_t found[2] = {0};

    if (st != DSE_OK)
        return st;
    if ((st = store_end_searched(s, err)) == DSE_OK && (st = prepare(s, &r, err)) == DSE_OK)
        st = replace_asked(s, &r, found, err);
    sqlite3_finalize(r.sorted);
    sqlite3_finalize(r.before);
    sqlite3_finalize(r.put);
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
