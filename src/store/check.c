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

/* What the tables hold, beside what the totals say of them. */
typedef struct {
    int64_t rows, rows_xor, skipped, skipped_xor, damaged;
    int64_t total_rows, total_rows_xor, total_skipped, total_skipped_xor;
} contents;
#define N_CONTENTS 9

static dse_status count_contents(store *s, contents *c, dse_error *err)
{
    int64_t number[N_CONTENTS];
    dse_strbuf sql;
    dse_status st;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "SELECT a.*, b.*, (SELECT n FROM total WHERE id = 1),"
                          " (SELECT checksum FROM total WHERE id = 1), (SELECT n FROM total WHERE id = 2),"
                          " (SELECT checksum FROM total WHERE id = 2)"
                          " FROM (SELECT count(*), xor_all(checksum), coalesce(sum(row_checksum(");
    store_add_columns(&sql);
    dse_strbuf_adds(&sql, ") IS NOT checksum), 0) FROM result) a,"
                          " (SELECT count(*), xor_all((hash | study) - (hash & study)) FROM skipped) b");
    st = store_get_numbers(s, sql.data, N_CONTENTS, number, err);
    dse_strbuf_free(&sql);
    if (st == DSE_OK)
        *c = (contents){.rows = number[0],
                        .rows_xor = number[1],
                        .damaged = number[2],
                        .skipped = number[3],
                        .skipped_xor = number[4],
                        .total_rows = number[5],
                        .total_rows_xor = number[6],
                        .total_skipped = number[7],
                        .total_skipped_xor = number[8]};
    return st;
}

static bool totals_agree(const contents *c)
{
    return c->rows == c->total_rows && c->rows_xor == c->total_rows_xor && c->skipped == c->total_skipped &&
           c->skipped_xor == c->total_skipped_xor;
}

/* The number of the first damaged row. */
static dse_status first_damaged(store *s, int64_t *id, dse_error *err)
{
    dse_strbuf sql;
    dse_status st;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "SELECT min(id) FROM result WHERE row_checksum(");
    store_add_columns(&sql);
    dse_strbuf_adds(&sql, ") IS NOT checksum");
    st = store_get_numbers(s, sql.data, 1, id, err);
    dse_strbuf_free(&sql);
    return st;
}

static dse_status check_contents(store *s, contents *c, dse_error *err)
{
    int64_t id;
    dse_status st = count_contents(s, c, err);

    if (st != DSE_OK)
        return st;
    if (c->damaged) {
        st = first_damaged(s, &id, err);
        return st != DSE_OK ? st
                            : dse_fail_at(err, DSE_E_STORE, s->path,
                                          "row %" PRId64 "%s not what was written; the same sweep removes it"
                                          " and simulates its point again",
                                          id, c->damaged > 1 ? " and others are" : " is");
    }
    return totals_agree(c) ? DSE_OK
                           : dse_fail_at(err, DSE_E_STORE, s->path,
                                         "the database is damaged: it has %" PRId64 " of %" PRId64
                                         " rows; the same sweep simulates what is missing",
                                         c->rows, c->total_rows);
}

dse_status store_check_whole(store *s, dse_error *err)
{
    contents c;

    return check_contents(s, &c, err);
}

dse_status store_repair(store *s, dse_error *err)
{
    contents c;
    dse_strbuf sql;
    dse_status st = count_contents(s, &c, err);

    if (st == DSE_OK && (c.damaged || !totals_agree(&c))) {
        s->n_repaired = (uint64_t)(c.damaged + (c.total_rows > c.rows ? c.total_rows - c.rows : 0));
        s->was_damaged = true;
        dse_strbuf_init(&sql);
        dse_strbuf_adds(&sql, "BEGIN IMMEDIATE;DELETE FROM result WHERE row_checksum(");
        store_add_columns(&sql);
        dse_strbuf_adds(&sql, ") IS NOT checksum;" STORE_SET_TOTALS "COMMIT");
        st = store_execute(s, sql.data, "repair the database", err);
        dse_strbuf_free(&sql);
        if (st != DSE_OK)
            sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
        else
            st = count_contents(s, &c, err);
    }
    s->n_rows = c.rows;
    s->n_skipped = c.skipped;
    return st;
}

bool store_was_damaged(const store *s, uint64_t *rows)
{
    *rows = s->n_repaired;
    return s->was_damaged;
}

dse_status store_check_counts(store *s, int64_t rows, int64_t skipped, dse_error *err)
{
    contents c;
    dse_status st = check_contents(s, &c, err);

    if (st != DSE_OK || (c.rows == rows && c.skipped == skipped))
        return st;
    return dse_fail_at(err, DSE_E_STORE, s->path,
                       "the database was changed while this run wrote to it: %" PRId64 " of its %" PRId64
                       " rows are there; run it again",
                       c.rows, rows);
}
