/* What the sources of this folder share. */
#ifndef DSE_STORE_PARTS_H
#define DSE_STORE_PARTS_H

#include "base/strbuf.h"
#include "store/store.h"

#include <sqlite3.h>

#define STORE_SCHEMA_VERSION 9
#define STORE_NEW            0 /* of a file in which nothing is yet */

struct store {
    sqlite3 *db;
    sqlite3_stmt *find, *drop, *put; /* a writer's, */
    sqlite3_stmt *skip, *unskip;     /* too */
    sqlite3_stmt *asking;            /* between store_asking_begin and _end; else NULL */
    bool may_have_skipped;           /* else no row that is put need be looked up among the skipped points */
    int lock;                        /* the file beside the database that says which process writes; or -1 */
    int file_lock;                   /* the database file itself, open for nothing but its lock; or -1 */
    int64_t n_rows, n_skipped;       /* that a writer left there */
    uint64_t n_repaired;
    bool was_damaged;
    char path[1024]; /* as given, for messages */
    char file[4096]; /* where that leads, without symbolic links */
};

/* row.c: the names of all columns of a row but its checksum; returns how many. */
size_t store_add_columns(dse_strbuf *sql);
void store_bind_row(sqlite3_stmt *q, const store_row *r);
uint64_t store_count_at(sqlite3_stmt *q, int i);

/* " AND dp IS ?3 AND ..." of all parameters, from the number `first` on; and their values. */
void store_add_point(int first, dse_strbuf *sql);
void store_bind_point(sqlite3_stmt *q, int first, const strategy *point);

/* Where nothing is noted, as in a database of an older version, all is. */
#define STORE_IS_ASKED "(NOT EXISTS (SELECT 1 FROM asked) OR hash IN (SELECT hash FROM asked))"

/* Columns as store_add_columns names them, then the count of skipped points. Texts come printable: control
 * characters are masked in what describes a result; a row whose names are no plain names, or have any, is
 * refused, as is a degree that is none. DSE_E_STORE. */
dse_status store_read_row(const store *s, sqlite3_stmt *q, dse_arena *a, store_row *r, dse_error *err);
dse_status store_check_texts(const store *s, const store_row *r, dse_error *err);

/* check.c. row_checksum(...) and xor_all(x), for every connection. */
void store_add_functions(sqlite3 *db);

/* DSE_E_STORE if a row is not what was written, or rows are missing. */
dse_status store_check_whole(store *s, dse_error *err);

/* The same of the rows that the temporary table `listed` has. */
dse_status store_check_listed(store *s, dse_error *err);

/* Removes the rows that are not what was written, sets the totals anew, and counts what there is. */
dse_status store_repair(store *s, dse_error *err);

/* store_check_whole, and the counts are these. */
dse_status store_check_counts(store *s, int64_t rows, int64_t skipped, dse_error *err);

/* The exclusive or of all that result and skipped hold, which triggers keep from then on. */
#define STORE_SET_TOTALS                                                                                     \
    "INSERT OR REPLACE INTO total SELECT 1, count(*), xor_all(checksum) FROM result;"                        \
    "INSERT OR REPLACE INTO total SELECT 2, count(*), xor_all((hash | study) - (hash & study)) FROM "        \
    "skipped;"

/* open.c: the file that was opened is still the one at its path. */
dse_status store_check_place(const store *s, dse_error *err);

/* What SQLite said last, as an error: "cannot <doing>: ...". */
dse_status store_fail(const store *s, dse_error *err, const char *doing);

/* Statements without results; `doing` as above. */
dse_status store_execute(store *s, const char *sql, const char *doing, dse_error *err);

/* The n numbers of the one row that a query yields. */
dse_status store_get_numbers(store *s, const char *sql, int n, int64_t *out, dse_error *err);

/* The version of an open file, which is only read: what is not ours stays as it is. DSE_E_STORE if it is not
 * ours, or newer than this program. */
dse_status store_schema_check(store *s, int *version, dse_error *err);

/* The tables of this version, in a new file. */
dse_status store_schema_make(store *s, dse_error *err);

/* Appends what adds the columns that a file of this version lacks, as their rows (store/columns.c,
 * strategy/parameters.h) are newer than it; "" if there are none. */
dse_status store_schema_missing(store *s, dse_strbuf *alter, dse_error *err);

/* Brings a file of an older version forward, and adds such columns; after a failure it is as it was. */
dse_status store_schema_migrate(store *s, int version, dse_error *err);

#endif
