#include "store/store.h"

#include "base/strbuf.h"
#include "store/parts.h"

#include <stdio.h>
#include <string.h>

/* ---- rows ---------------------------------------------------------------------------------- */

dse_status store_find(store *s, uint64_t hash, const char *config, bool *found, store_brief *out,
                      dse_error *err)
{
    dse_status st = DSE_OK;
    int code;

    sqlite3_bind_int64(s->find, 1, (int64_t)hash);
    sqlite3_bind_text(s->find, 2, config, -1, SQLITE_STATIC);
    code = sqlite3_step(s->find);
    *found = code == SQLITE_ROW && (sqlite3_column_int(s->find, 1) ||
                                    !store_is_native((const char *)sqlite3_column_text(s->find, 0)));
    if (*found) {
        const char *fallback = (const char *)sqlite3_column_text(s->find, 5);

        *out = (store_brief){.wall_time = store_count_at(s->find, 2),
                             .undercharged_messages = store_count_at(s->find, 3),
                             .flat_ring_collectives = store_count_at(s->find, 4),
                             .peak_memory = store_count_at(s->find, 6)};
        snprintf(out->fallback, sizeof out->fallback, "%s", fallback ? fallback : "");
    }
    if (code != SQLITE_DONE && code != SQLITE_ROW)
        st = store_fail(s, err, "read the database");
    sqlite3_reset(s->find);
    return st;
}

dse_status store_times(store *s, store_visit *visit, void *user, dse_error *err)
{
    static const char sql[] = "SELECT hash, study, wall_time, peak_memory FROM result WHERE done";
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;
    int code = SQLITE_DONE;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        st = store_fail(s, err, "read the database");
    while (st == DSE_OK && (code = sqlite3_step(q)) == SQLITE_ROW) {
        const store_time t = {store_count_at(q, 0), store_count_at(q, 1), store_count_at(q, 2),
                              store_count_at(q, 3)};

        st = visit(user, &t, err);
    }
    if (st == DSE_OK && code != SQLITE_DONE)
        st = store_fail(s, err, "read the database");
    sqlite3_finalize(q);
    return st;
}

bool store_is_native(const char *engine) { return !strncmp(engine, "native-", 7); }

dse_status store_begin_finding(store *s, dse_error *err)
{
    store_forget_shared(s);
    return store_execute(s, "BEGIN IMMEDIATE", "write a result", err);
}

dse_status store_begin(store *s, dse_error *err)
{
    dse_status st = store_begin_finding(s, err);

    if (st == DSE_OK && (st = store_execute(s, "DELETE FROM figures", "write a result", err)) != DSE_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* else what is put next would wait for a commit */
    return st;
}

dse_status store_begin_reading(store *s, dse_error *err)
{
    return store_execute(s, "BEGIN", "read the database", err);
}

void store_end_reading(store *s)
{
    sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL); /* nothing was written to the file */
}

dse_status store_commit(store *s, dse_error *err)
{
    dse_status st = store_execute(s, "COMMIT", "write a result", err);

    return st == DSE_OK ? store_check_place(s, err) : st;
}

/* Runs a statement that writes, and whose values are bound. */
static dse_status write_now(store *s, sqlite3_stmt *q, dse_error *err)
{
    dse_status st = sqlite3_step(q) == SQLITE_DONE ? DSE_OK : store_fail(s, err, "write a result");

    sqlite3_reset(q);
    return st;
}

static dse_status bind_put(store *s, const store_row *row, dse_error *err)
{
    const int shared = sqlite3_bind_parameter_count(s->put);
    const char *point;
    size_t n;
    dse_status st = store_share_config(s, row, &point, &n, err);

    if (st != DSE_OK)
        return st;
    store_bind_row(s->put, row);
    if (point) {
        sqlite3_bind_text(s->put, 1, point, (int)n, SQLITE_STATIC);
        sqlite3_bind_int(s->put, shared, 1);
    } else {
        sqlite3_bind_null(s->put, shared);
    }
    return DSE_OK;
}

static dse_status replace_row(store *s, const store_row *row, dse_error *err)
{
    dse_status st = store_check_texts(s, row, err);

    if (st != DSE_OK || (st = bind_put(s, row, err)) != DSE_OK)
        return st;
    sqlite3_bind_int64(s->drop, 1, (int64_t)row->hash);
    sqlite3_bind_text(s->drop, 2, row->config, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s->unskip, 1, (int64_t)row->hash);
    if (!s->has_no_indexes) {
        if ((st = write_now(s, s->drop, err)) != DSE_OK)
            return st;
        s->n_rows -= sqlite3_changes(s->db);
    }
    if ((st = write_now(s, s->put, err)) != DSE_OK)
        return st;
    s->n_rows++;
    if (s->may_have_skipped && (st = write_now(s, s->unskip, err)) == DSE_OK)
        s->n_skipped -= sqlite3_changes(s->db);
    return st;
}

dse_status store_put_all(store *s, const store_row *rows, size_t n, dse_error *err)
{
    dse_status st = store_begin(s, err);

    if (st != DSE_OK)
        return st;
    for (size_t i = 0; st == DSE_OK && i < n; i++)
        st = replace_row(s, &rows[i], err);
    if (st == DSE_OK)
        st = store_commit(s, err);
    if (st != DSE_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
    return st;
}

dse_status store_put(store *s, const store_row *row, dse_error *err)
{
    bool alone = sqlite3_get_autocommit(s->db) != 0;

    return alone ? store_put_all(s, row, 1, err) : replace_row(s, row, err);
}

/* ---- points that were skipped -------------------------------------------------------------- */

dse_status store_skip(store *s, uint64_t hash, uint64_t study, dse_error *err)
{
    dse_status st;

    s->may_have_skipped = true;
    sqlite3_bind_int64(s->skip, 1, (int64_t)hash);
    sqlite3_bind_int64(s->skip, 2, (int64_t)study);
    if ((st = write_now(s, s->skip, err)) == DSE_OK)
        s->n_skipped += sqlite3_changes(s->db);
    return st;
}

dse_status store_is_skipped(store *s, uint64_t hash, bool *out, dse_error *err)
{
    char sql[80];
    int64_t found = 0;
    dse_status st;

    snprintf(sql, sizeof sql, "SELECT EXISTS (SELECT 1 FROM skipped WHERE hash = %" PRId64 ")",
             (int64_t)hash);
    st = store_get_numbers(s, sql, 1, &found, err);
    *out = found != 0;
    return st;
}

dse_status store_count_unlisted(store *s, bool asked, store_unlisted *out, dse_error *err)
{
    int64_t any = 0;
    dse_status st = store_get_numbers(s, "SELECT EXISTS (SELECT 1 FROM skipped)", 1, &any, err);

    *out = (store_unlisted){0};
    if (st != DSE_OK || !any || store_figures_unlisted(s, asked, out))
        return st;
    return store_count_unlisted_rows(s, asked, out, err);
}

dse_status store_count_unlisted_rows(store *s, bool asked, store_unlisted *out, dse_error *err)
{
    static const char all[] = "SELECT count(*), count(DISTINCT study) FROM skipped"
                              " WHERE study NOT IN (SELECT study FROM result)";
    static const char asked_for[] =
        "SELECT count(*), count(DISTINCT study) FROM skipped"
        " WHERE study NOT IN (SELECT study FROM result WHERE " STORE_IS_ASKED ") AND " STORE_IS_ASKED;
    int64_t n[2] = {0};
    dse_status st = store_get_numbers(s, asked ? asked_for : all, 2, n, err);

    if (st == DSE_OK)
        *out = (store_unlisted){(uint64_t)n[0], (uint64_t)n[1]};
    return st;
}

/* ---- what was asked for -------------------------------------------------------------------- */

static dse_status insert_asked(store *s, const uint64_t *hashes, size_t n, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;

    if (sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO asked VALUES (?1)", -1, &q, NULL) != SQLITE_OK)
        st = store_fail(s, err, "write a result");
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        sqlite3_bind_int64(q, 1, (int64_t)hashes[i]);
        st = write_now(s, q, err);
    }
    sqlite3_finalize(q);
    return st;
}

dse_status store_add_asked(store *s, const uint64_t *hashes, size_t n, dse_error *err)
{
    /* Beside nothing that is noted, all that is there stays asked for. */
    static const char before[] =
        "INSERT OR IGNORE INTO asked SELECT hash FROM result WHERE NOT EXISTS (SELECT 1 FROM asked)";
    dse_status st = store_execute(s, before, "write a result", err);

    return st == DSE_OK ? insert_asked(s, hashes, n, err) : st;
}

dse_status store_ask(store *s, const uint64_t *hashes, size_t n, dse_error *err)
{
    dse_status st = store_begin(s, err);

    if (st != DSE_OK)
        return st;
    if ((st = store_add_asked(s, hashes, n, err)) == DSE_OK)
        st = store_commit(s, err);
    if (st != DSE_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
    return st;
}

/* ---- prices -------------------------------------------------------------------------------- */

dse_status store_set_prices(store *s, uint64_t study, double per_device_hour, double power, dse_error *err)
{
    static const char sql[] = "INSERT OR REPLACE INTO price VALUES (?1, ?2, ?3)";
    sqlite3_stmt *q = NULL;
    dse_status st;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        return store_fail(s, err, "write a result");
    sqlite3_bind_int64(q, 1, (int64_t)study);
    sqlite3_bind_double(q, 2, per_device_hour); /* NaN is NULL */
    sqlite3_bind_double(q, 3, power);
    st = write_now(s, q, err);
    sqlite3_finalize(q);
    return st;
}

dse_status store_has_prices(store *s, bool *out, dse_error *err)
{
    int64_t found = 0;
    dse_status st = store_get_numbers(
        s, "SELECT EXISTS (SELECT 1 FROM price WHERE per_device_hour IS NOT NULL OR power IS NOT NULL)", 1,
        &found, err);

    *out = found != 0;
    return st;
}

const char *store_sqlite_version(void) { return sqlite3_libversion(); }
