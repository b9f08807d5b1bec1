#include "trace/nsys.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TEXT_BYTES (64 << 20) /* of one value; longer ones are refused by SQLite itself */

/* ---- errors ---------------------------------------------------------------------------------- */

/* `place` is where in the file: "table t, row 5: ", or empty. */
static dse_status fail(const nsys_db *d, const char *place, dse_error *err)
{
    int code = d->db ? sqlite3_errcode(d->db) & 0xff : SQLITE_NOMEM;

    if (code == SQLITE_NOMEM)
        dse_out_of_memory();
    return dse_fail_at(err, code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? DSE_E_IO : DSE_E_SYNTAX,
                       d->path, "%s%s", place, sqlite3_errmsg(d->db));
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Checks the file's first bytes, which libsqlite3 would read only at the first query. */
static dse_status check_head(const char *path, dse_error *err)
{
    static const char magic[16] = "SQLite format 3";
    char head[sizeof magic];
    FILE *f = fopen(path, "rb");
    size_t n;

    if (!f)
        return dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
    n = fread(head, 1, sizeof head, f);
    fclose(f);
    if (n == sizeof head && memcmp(head, magic, sizeof magic) == 0)
        return DSE_OK;
    if (n > 2 && memcmp(head, "\x1f\x8b", 2) == 0)
        return dse_fail_at(err, DSE_E_SYNTAX, path,
                           "a database cannot be read while it is compressed; unpack it first (gunzip)");
    return dse_fail_at(err, DSE_E_SYNTAX, path, "this is not a SQLite database");
}

/* As a URI: "immutable" also allows files in a folder without write permission. */
static void add_uri(dse_strbuf *b, const char *path)
{
    dse_strbuf_adds(b, *path == '/' ? "file://" : "file:");
    for (; *path; path++) {
        if (*path == '%' || *path == '?' || *path == '#')
            dse_strbuf_addf(b, "%%%02x", (unsigned)*path);
        else
            dse_strbuf_addc(b, *path);
    }
    dse_strbuf_adds(b, "?mode=ro&immutable=1");
}

/* libsqlite3 takes what lacks of the last page for zeros, and so texts for others. */
static dse_status check_end(const nsys_db *d, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    struct stat sb;
    int64_t page = 0;

    if (sqlite3_prepare_v2(d->db, "PRAGMA page_size", -1, &q, NULL) == SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW)
        page = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return page && stat(d->path, &sb) == 0 && sb.st_size % page
               ? dse_fail_at(err, DSE_E_SYNTAX, d->path, "the file is cut off in its last page")
               : DSE_OK;
}

dse_status nsys_open(nsys_db *d, const char *path, dse_error *err)
{
    dse_status st = check_head(path, err);
    dse_strbuf uri;

    *d = (nsys_db){.path = path};
    if (st != DSE_OK)
        return st;
    dse_strbuf_init(&uri);
    add_uri(&uri, path);
    if (sqlite3_open_v2(uri.data, &d->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
        st = fail(d, "", err);
    dse_strbuf_free(&uri);
    if (st != DSE_OK)
        return st;
    sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return check_end(d, err);
}

void nsys_close(nsys_db *d)
{
    sqlite3_close(d->db);
    *d = (nsys_db){0};
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Steps a query once: sets *has if it gives a row whose first column is not NULL, and *out (may be NULL) to
 * the number in it. `a` and `b` are the values of ?1 and ?2; NULL: the query has none. */
static dse_status query(nsys_db *d, const char *sql, const char *a, const char *b, int64_t *out, bool *has,
                        dse_error *err)
{
    sqlite3_stmt *stmt;
    dse_status st = DSE_OK;
    int code;

    if (sqlite3_prepare_v2(d->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return fail(d, "", err);
    if (a)
        sqlite3_bind_text(stmt, 1, a, -1, SQLITE_STATIC);
    if (b)
        sqlite3_bind_text(stmt, 2, b, -1, SQLITE_STATIC);
    code = sqlite3_step(stmt);
    *has = code == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL;
    if (*has && out)
        *out = sqlite3_column_int64(stmt, 0);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        st = fail(d, "", err);
    sqlite3_finalize(stmt);
    return st;
}

dse_status nsys_number(nsys_db *d, const char *sql, int64_t *out, bool *has, dse_error *err)
{
    return query(d, sql, NULL, NULL, out, has, err);
}

/* Excludes views and virtual tables, which have no page: they would run the file author's code. */
dse_status nsys_has_table(nsys_db *d, const char *table, bool *has, dse_error *err)
{
    return query(d, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage > 0", table,
                 NULL, NULL, has, err);
}

/* Excludes generated columns for the same reason: table_info omits them. */
static dse_status has_column(nsys_db *d, const char *table, const char *column, bool *has, dse_error *err)
{
    return query(d, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column, NULL, has, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* "SELECT start, end, NULL, ... FROM table". */
static dse_status add_query(nsys_db *d, const nsys_table *t, dse_strbuf *sql, dse_error *err)
{
    dse_strbuf_adds(sql, "SELECT ");
    for (int i = 0; i < t->n; i++) {
        bool has = false;
        dse_status st = has_column(d, t->name, t->column[i].name, &has, err);

        if (st == DSE_OK && t->column[i].required && !has)
            st = dse_fail_at(err, DSE_E_SYNTAX, d->path,
                             "table %s has no column %s: not what Nsight Systems exports", t->name,
                             t->column[i].name);
        if (st != DSE_OK)
            return st;
        if (has)
            dse_strbuf_addf(sql, "%s\"%s\"", i ? ", " : "", t->column[i].name);
        else
            dse_strbuf_addf(sql, "%sNULL", i ? ", " : "");
    }
    dse_strbuf_addf(sql, " FROM \"%s\"", t->name);
    return DSE_OK;
}

dse_status nsys_rows_open(nsys_rows *r, nsys_db *d, const nsys_table *t, dse_error *err)
{
    dse_strbuf sql;
    dse_status st;
    bool has = false;

    *r = (nsys_rows){.db = d, .table = t};
    st = nsys_has_table(d, t->name, &has, err);
    if (st != DSE_OK || !has)
        return st;
    dse_strbuf_init(&sql);
    st = add_query(d, t, &sql, err);
    if (st == DSE_OK && sqlite3_prepare_v2(d->db, sql.data, -1, &r->stmt, NULL) != SQLITE_OK)
        st = fail(d, "", err);
    dse_strbuf_free(&sql);
    return st;
}

void nsys_rows_close(nsys_rows *r)
{
    sqlite3_finalize(r->stmt);
    r->stmt = NULL;
}

int nsys_rows_next(nsys_rows *r, dse_error *err)
{
    char place[128];
    int code;

    if (!r->stmt)
        return 0;
    code = sqlite3_step(r->stmt);
    r->row++;
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return code == SQLITE_ROW;
    snprintf(place, sizeof place, "table %s, row %" PRIu64 ": ", r->table->name, r->row);
    fail(r->db, place, err);
    return -1;
}

const char *nsys_text(const nsys_rows *r, int column, size_t *n)
{
    const char *text = (const char *)sqlite3_column_text(r->stmt, column);

    if (!text)
        dse_out_of_memory();
    *n = (size_t)sqlite3_column_bytes(r->stmt, column);
    return text;
}
