/* Whether the database is what was written: a checksum for each row, and totals over all rows. */
#include "base/hash.h"
#include "base/strbuf.h"
#include "store/parts.h"

#include <inttypes.h>
#include <string.h>

/* ---- functions for SQL --------------------------------------------------------------------------------- */

static uint64_t add_number(uint64_t h, uint64_t v)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(v >> 8 * i);
    return dse_hash_more(h, bytes, sizeof bytes);
}

static uint64_t add_value(uint64_t h, sqlite3_value *v)
{
    const unsigned char type = (unsigned char)sqlite3_value_type(v);
    double real;
    uint64_t bits;

    h = dse_hash_more(h, &type, 1);
    switch (type) {
    case SQLITE_NULL: return h;
    case SQLITE_INTEGER: return add_number(h, (uint64_t)sqlite3_value_int64(v));
    case SQLITE_FLOAT:
        real = sqlite3_value_double(v);
        memcpy(&bits, &real, sizeof bits);
        return add_number(h, bits);
    default: { /* the bytes before their number: SQLite converts at the first call */
        const void *bytes = sqlite3_value_blob(v);
        size_t n = (size_t)sqlite3_value_bytes(v);

        return dse_hash_more(add_number(h, n), bytes, n);
    }
    }
}

/* NULLs at the end do not count: a column that is added there leaves the checksums of older rows as they
 * are. */
static void row_checksum(sqlite3_context *context, int n, sqlite3_value **v)
{
    uint64_t h = dse_hash_bytes("", 0);

    while (n && sqlite3_value_type(v[n - 1]) == SQLITE_NULL)
        n--;
    for (int i = 0; i < n; i++)
        h = add_value(h, v[i]);
    sqlite3_result_int64(context, (int64_t)h);
}

/* The values may be read so as no other thread uses the database. */
int64_t store_column_checksum(sqlite3_stmt *q, int n)
{
    uint64_t h = dse_hash_bytes("", 0);

    while (n && sqlite3_column_type(q, n - 1) == SQLITE_NULL)
        n--;
    for (int i = 0; i < n; i++)
        h = add_value(h, sqlite3_column_value(q, i));
    return (int64_t)h;
}

/* The hash of a text, as of a row's configuration. */
static void text_hash(sqlite3_context *context, int n, sqlite3_value **v)
{
    const unsigned char *text = sqlite3_value_text(v[0]);

    (void)n;
    sqlite3_result_int64(context, (int64_t)dse_hash_bytes(text, text ? strlen((const char *)text) : 0));
}

static void add_to_xor(sqlite3_context *context, int n, sqlite3_value **v)
{
    int64_t *sum = sqlite3_aggregate_context(context, sizeof *sum);

    (void)n;
    if (!sum)
        dse_out_of_memory();
    *sum ^= sqlite3_value_int64(v[0]);
}

static void end_xor(sqlite3_context *context)
{
    const int64_t *sum = sqlite3_aggregate_context(context, 0);

    sqlite3_result_int64(context, sum ? *sum : 0);
}

void store_add_functions(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;

    if (sqlite3_create_function(db, "row_checksum", -1, flags, NULL, row_checksum, NULL, NULL) != SQLITE_OK ||
        sqlite3_create_function(db, "text_hash", 1, flags, NULL, text_hash, NULL, NULL) != SQLITE_OK ||
        sqlite3_create_function(db, "xor_all", 1, flags, NULL, NULL, add_to_xor, end_xor) != SQLITE_OK)
        dse_out_of_memory();
}

/* ---- checking ------------------------------------------------------------------------------------------ */

/* What the tables hold, then what the totals say of them. */
enum {
    ROWS,
    ROWS_XOR,
    DAMAGED,
    SKIPPED,
    SKIPPED_XOR,
    TOTAL_ROWS,
    TOTAL_ROWS_XOR,
    TOTAL_SKIPPED,
    TOTAL_SKIPPED_XOR,
    N_CONTENTS
};
typedef int64_t contents[N_CONTENTS];

#define OF_TOTALS                                                                                            \
    "(SELECT n FROM total WHERE id = 1), (SELECT checksum FROM total WHERE id = 1),"                         \
    " (SELECT n FROM total WHERE id = 2), (SELECT checksum FROM total WHERE id = 2)"
#define OF_SKIPPED "SELECT count(*), xor_all((hash | study) - (hash & study)) FROM skipped"

/* A row that is not what was written, or whose study is not. */
static void add_is_damaged(dse_strbuf *sql)
{
    dse_strbuf_adds(sql, "(row_checksum(");
    store_add_columns(sql);
    dse_strbuf_adds(sql, ") IS NOT checksum OR config_lost(study, shared))");
}

static dse_status count_contents(store *s, contents c, dse_error *err)
{
    dse_strbuf sql;
    dse_status st;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "SELECT a.*, b.*, " OF_TOTALS " FROM (SELECT count(*), xor_all(checksum), total(");
    add_is_damaged(&sql);
    dse_strbuf_adds(&sql, ") FROM result) a, (" OF_SKIPPED ") b");
    st = store_get_numbers(s, sql.data, N_CONTENTS, c, err);
    dse_strbuf_free(&sql);
    return st;
}

static bool totals_agree(const contents c)
{
    return c[ROWS] == c[TOTAL_ROWS] && c[ROWS_XOR] == c[TOTAL_ROWS_XOR] && c[SKIPPED] == c[TOTAL_SKIPPED] &&
           c[SKIPPED_XOR] == c[TOTAL_SKIPPED_XOR];
}

static dse_status fail_damaged(store *s, bool several, dse_error *err)
{
    int64_t first;
    dse_strbuf sql;
    dse_status st;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "SELECT min(id) FROM result WHERE ");
    add_is_damaged(&sql);
    st = store_get_numbers(s, sql.data, 1, &first, err);
    dse_strbuf_free(&sql);
    return st != DSE_OK ? st
                        : dse_fail_at(err, DSE_E_STORE, s->path,
                                      "row %" PRId64 "%s not what was written; the same sweep removes it"
                                      " and simulates its point again",
                                      first, several ? " and others are" : " is");
}

static dse_status judge_contents(store *s, const contents c, dse_error *err)
{
    if (c[DAMAGED])
        return fail_damaged(s, c[DAMAGED] > 1, err);
    return totals_agree(c) ? DSE_OK
                           : dse_fail_at(err, DSE_E_STORE, s->path,
                                         "the database is damaged: it has %" PRId64 " of %" PRId64
                                         " rows; the same sweep simulates what is missing",
                                         c[ROWS], c[TOTAL_ROWS]);
}

static dse_status check_contents(store *s, contents c, dse_error *err)
{
    dse_status st = count_contents(s, c, err);

    return st == DSE_OK ? judge_contents(s, c, err) : st;
}

dse_status store_check_whole(store *s, dse_error *err)
{
    contents c;

    return check_contents(s, c, err);
}

dse_status store_fail_whole(store *s, dse_error *err)
{
    dse_status st = store_check_whole(s, err);

    return st == DSE_OK ? dse_fail_at(err, DSE_E_STORE, s->path, "the database changes while it is read")
                        : st;
}

dse_status store_check_totals(store *s, int64_t rows, int64_t sum, dse_error *err)
{
    contents c = {rows, sum};
    dse_status st = store_get_numbers(s, "SELECT a.*, " OF_TOTALS " FROM (" OF_SKIPPED ") a",
                                      N_CONTENTS - SKIPPED, &c[SKIPPED], err);

    return st == DSE_OK ? judge_contents(s, c, err) : st;
}

dse_status store_check_listed(store *s, dse_error *err)
{
    int64_t damaged = 0;
    dse_strbuf sql;
    dse_status st;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "SELECT total(");
    add_is_damaged(&sql);
    dse_strbuf_adds(&sql, ") FROM result WHERE id IN (SELECT id FROM temp.listed)");
    st = store_get_numbers(s, sql.data, 1, &damaged, err);
    dse_strbuf_free(&sql);
    return st == DSE_OK && damaged ? store_check_whole(s, err) : st;
}

/* A text of table study that is another study's has a number that is not what was written; else one byte
 * of it may be wrong. */
#define REPAIR_STUDIES                                                                                       \
    "INSERT OR IGNORE INTO study SELECT text_hash(config), config FROM study"                                \
    " WHERE text_hash(config) IS NOT id AND text_hash(config) IN (SELECT study FROM result);"                \
    "UPDATE study SET config = mended(id, config) WHERE text_hash(config) IS NOT id;"                        \
    "DELETE FROM study WHERE text_hash(config) IS NOT id OR id NOT IN (SELECT study FROM result);"

static dse_status repair_studies(store *s, dse_error *err)
{
    int64_t damaged = 0;
    dse_status st =
        store_get_numbers(s, "SELECT total(text_hash(config) IS NOT id) FROM study", 1, &damaged, err);

    if (st == DSE_OK && damaged)
        st = store_execute(s, "BEGIN IMMEDIATE;" REPAIR_STUDIES "COMMIT", "repair the database", err);
    return st;
}

dse_status store_repair(store *s, dse_error *err)
{
    contents c = {0};
    dse_strbuf sql;
    dse_status st = repair_studies(s, err);

    if (st == DSE_OK)
        st = count_contents(s, c, err);

    if (st == DSE_OK && (c[DAMAGED] || !totals_agree(c))) {
        s->n_repaired = (uint64_t)(c[DAMAGED] + (c[TOTAL_ROWS] > c[ROWS] ? c[TOTAL_ROWS] - c[ROWS] : 0));
        s->was_damaged = true;
        dse_strbuf_init(&sql);
        dse_strbuf_adds(&sql, "BEGIN IMMEDIATE;DELETE FROM result WHERE ");
        add_is_damaged(&sql);
        dse_strbuf_adds(&sql, ";" STORE_SET_TOTALS "COMMIT");
        st = store_execute(s, sql.data, "repair the database", err);
        dse_strbuf_free(&sql);
        if (st != DSE_OK)
            sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
        else
            st = count_contents(s, c, err);
    }
    s->n_rows = c[ROWS];
    s->n_skipped = c[SKIPPED];
    return st;
}

bool store_was_damaged(const store *s, uint64_t *rows)
{
    *rows = s->n_repaired;
    return s->was_damaged;
}

static dse_status fail_counts(const store *s, int64_t found, int64_t rows, dse_error *err)
{
    return dse_fail_at(err, DSE_E_STORE, s->path,
                       "the database was changed while this run wrote to it: %" PRId64 " of its %" PRId64
                       " rows are there; run it again",
                       found, rows);
}

dse_status store_check_counts(store *s, int64_t rows, int64_t skipped, bool is_checked, dse_error *err)
{
    contents c;
    dse_status st =
        is_checked ? store_get_numbers(s, "SELECT " OF_TOTALS, N_CONTENTS - TOTAL_ROWS, &c[TOTAL_ROWS], err)
                   : check_contents(s, c, err);

    return st != DSE_OK || (c[TOTAL_ROWS] == rows && c[TOTAL_SKIPPED] == skipped)
               ? st
               : fail_counts(s, c[TOTAL_ROWS], rows, err);
}
