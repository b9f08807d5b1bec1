/* Damaged values in a database of three rows that is well-formed otherwise. Each edit is six bytes, TABLE COLUMN ROW KIND
 * LENGTH FLAGS, and LENGTH bytes of the value; with flag 1 the row's checksum and the totals are made to fit, as if another
 * program had written the values. What does not fit is not listed; a writer mends the file. */
#include "fuzz/database.h"
#include "store/parts.h"

#include <stdlib.h>

static const char *const tables[] = {"result", "skipped", "asked", "price", "total"};

/* The bytes of the database, made once. */
static const uint8_t *template(size_t *size)
{
    static uint8_t *bytes;
    static size_t n;
    dse_error err = DSE_ERROR_INIT;
    const char *path;
    store *s = NULL;
    FILE *f;

    if (bytes)
        return *size = n, bytes;
    path = fuzz_file(1, (const uint8_t *)"", 0);
    ENSURE(fuzz_ok(store_open(path, STORE_WRITE, &s, &err), &err));
    for (uint64_t i = 1; i <= 3; i++) {
        store_row row = fuzz_row(i == 1 ? "{\"config\":1}" : i == 2 ? "{\"config\":2}" : "{\"config\":3}", i);

        row.done = i != 3;
        row.error = i != 3 ? "" : "it failed";
        ENSURE(store_put(s, &row, &err) == DSE_OK);
    }
    ENSURE(store_skip(s, 50, 7, &err) == DSE_OK && store_set_prices(s, 7, 2, 700, &err) == DSE_OK &&
           store_asking_begin(s, &err) == DSE_OK && store_asking_add(s, 1, &err) == DSE_OK &&
           store_asking_add(s, 50, &err) == DSE_OK && store_asking_end(s, (uint64_t[2]){0}, &err) == DSE_OK);
    ENSURE(fuzz_ok(store_finish(s, &err), &err));
    f = fopen(path, "rb");
    bytes = malloc(FUZZ_MAX_BYTES * 4);
    ENSURE(f && bytes);
    n = fread(bytes, 1, FUZZ_MAX_BYTES * 4, f);
    fclose(f);
    fuzz_remove_database(path);
    return *size = n, bytes;
}

static void run(sqlite3 *db, const char *sql, const uint8_t *edit, size_t n)
{
    const uint8_t *value = edit + 6;
    sqlite3_stmt *q = NULL;
    int64_t number = 0;
    double real = 0;

    memcpy(&number, value, n < 8 ? n : 8);
    memcpy(&real, value, n < 8 ? n : 8);
    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
        return;
    switch (edit[3] % 5) {
    case 0: sqlite3_bind_int64(q, 1, number); break;
    case 1: sqlite3_bind_double(q, 1, real); break;
    case 2: sqlite3_bind_text(q, 1, (const char *)value, (int)n, SQLITE_TRANSIENT); break;
    case 3: sqlite3_bind_blob(q, 1, value, (int)n, SQLITE_TRANSIENT); break;
    default: sqlite3_bind_null(q, 1);
    }
    sqlite3_step(q); /* may be refused, as by NOT NULL */
    sqlite3_finalize(q);
}

/* The name of a column, of those that a table has. */
static void find_column(sqlite3 *db, const char *table, unsigned which, char *out, size_t size)
{
    char sql[80];
    sqlite3_stmt *q;

    snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
    ENSURE(sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK);
    snprintf(out, size, "%s", sqlite3_column_name(q, (int)which % sqlite3_column_count(q)));
    sqlite3_finalize(q);
}

static void make_fit(sqlite3 *db)
{
    dse_strbuf sql;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "UPDATE result SET checksum = row_checksum(");
    store_add_columns(&sql);
    dse_strbuf_adds(&sql, ");" STORE_SET_TOTALS);
    sqlite3_exec(db, sql.data, NULL, NULL, NULL);
    dse_strbuf_free(&sql);
}

static void edit_all(const char *path, const uint8_t *data, size_t size)
{
    sqlite3 *db;

    ENSURE(sqlite3_open(path, &db) == SQLITE_OK);
    store_add_functions(db);
    for (int i = 0; i < 16 && size >= 6; i++) {
        const char *table = tables[data[0] % (sizeof tables / sizeof tables[0])];
        size_t n = data[4] < size - 6 ? data[4] : size - 6;
        char column[80], sql[240];

        find_column(db, table, data[1], column, sizeof column);
        snprintf(sql, sizeof sql,
                 "UPDATE %s SET \"%s\" = ? WHERE rowid IN (SELECT rowid FROM %s LIMIT 1 OFFSET %d)", table,
                 column, table, data[2] % 3);
        run(db, sql, data, n);
        if (data[5] & 1)
            make_fit(db);
        data += 6 + n;
        size -= 6 + n;
    }
    ENSURE(sqlite3_close(db) == SQLITE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *bytes;
    const char *path;
    size_t n;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    fuzz_use_sqlite_pool();
    bytes = template(&n);
    path = fuzz_file(0, bytes, n);
    edit_all(path, data, size);
    fuzz_use_database(path, data, size);
    return 0;
}
