/* What the sources of this folder share. */
#ifndef DSE_STORE_PARTS_H
#define DSE_STORE_PARTS_H

#include "base/strbuf.h"
#include "store/store.h"

#include <sqlite3.h>

#define STORE_SCHEMA_VERSION 10
#define STORE_NEW            0 /* of a file in which nothing is yet */

struct store {
    sqlite3 *db;
    sqlite3_stmt *find, *drop, *put; /* a writer's, */
    sqlite3_stmt *skip, *unskip;     /* too */
    sqlite3_stmt *asking;            /* between store_asking_begin and _end; else NULL */
    bool has_no_indexes;             /* until it is closed: store_defer_indexes */
    bool may_have_skipped;           /* else no row that is put need be looked up among the skipped points */
    int lock;                        /* the file beside the database that says which process writes; or -1 */
    int file_lock;                   /* the database file itself, open for nothing but its lock; or -1 */
    sqlite3_stmt *study;             /* reads the configuration of one, */
    bool has_shared;                 /* the last that was read, if any was: */
    uint64_t shared_study;
    sqlite3_stmt *read_one[2]; /* one row, without and with its configuration; NULL: not prepared yet */
    bool leaves_figures;
    const char *figures;       /* the schema of those that are read or made */
    dse_strbuf shared, whole;  /* its configuration; one of a row, while it is put together */
    int64_t n_rows, n_skipped; /* that a writer left there */
    uint64_t n_repaired;
    bool was_damaged;
    char path[1024]; /* as given, for messages */
    char file[4096]; /* where that leads, without symbolic links */
};

/* row.c: the names of all columns of a row but its checksum; returns how many. The last is `shared`: whether
 * `config` has the point alone, behind the study's. */
size_t store_add_columns(dse_strbuf *sql);

/* The same for store_read_row: the configuration is whole, or not read. */
void store_add_whole_columns(bool config, dse_strbuf *sql);

/* All of them but `shared`. */
void store_bind_row(sqlite3_stmt *q, const store_row *r);
uint64_t store_count_at(sqlite3_stmt *q, int i);
double store_real_at(sqlite3_stmt *q, int i);      /* NaN for NULL */
const char *store_text_at(sqlite3_stmt *q, int i); /* "" for NULL; as sqlite3_column_text lives */

/* " AND dp IS ?3 AND ..." of all parameters, from the number `first` on; and their values. */
void store_add_point(int first, dse_strbuf *sql);
void store_bind_point(sqlite3_stmt *q, int first, const strategy *point);

/* Where nothing is noted, as in a database of an older version, all is. */
#define STORE_IS_ASKED "(NOT EXISTS (SELECT 1 FROM asked) OR hash IN (SELECT hash FROM asked))"

/* Columns as store_add_whole_columns names them, then the count of skipped points, whether the row was asked
 * for, price and power of an NPU, and the row's number. Texts come printable:
 * control characters are masked in what describes a result; a row whose names are no plain names, or have
 * any, is refused, as is a degree that is none. DSE_E_STORE. */
dse_status store_read_row(const store *s, sqlite3_stmt *q, dse_arena *a, store_row *r, dse_error *err);
dse_status store_check_texts(const store *s, const store_row *r, dse_error *err);

/* config.c. The configuration of a row whose `config` is shared. */
#define STORE_WHOLE_CONFIG "whole_config(study, config, shared)"

/* Functions for SQL: whole_config; config_lost(study, shared), whether there is none; the parts of a
 * configuration, study_part(config), point_part(config); mended(study, config), of table study. */
void store_add_config_functions(store *s);

/* The part of a row's configuration that is the point's, in n bytes at *point, with the study's in the
 * database; *point NULL: nothing is shared. In a transaction. */
dse_status store_share_config(store *s, const store_row *r, const char **point, size_t *n, dse_error *err);

/* After what may have been rolled back. */
void store_forget_shared(store *s);

/* check.c. row_checksum(...) and xor_all(x), for every connection. */
void store_add_functions(sqlite3 *db);

/* DSE_E_STORE if a row is not what was written, or rows are missing. */
dse_status store_check_whole(store *s, dse_error *err);

/* The same of the rows that the temporary table `listed` has. */
dse_status store_check_listed(store *s, dse_error *err);

/* The checksum of the values that a query yields first, as row_checksum of them. */
int64_t store_column_checksum(sqlite3_stmt *q, int n);

/* store_check_whole, which fails: what it does not find is there no more. */
dse_status store_fail_whole(store *s, dse_error *err);

/* So many rows, of which each is what was written, and the exclusive or of their checksums, are what the totals
 * say, and so is what was skipped. */
dse_status store_check_totals(store *s, int64_t rows, int64_t sum, dse_error *err);

/* list.c: store_each of all rows without their configurations, of which each is checked as it comes: what fails
 * has visited some before. In a transaction. */
dse_status store_each_checked(store *s, store_row_visit *visit, void *user, dse_error *err);

/* Removes the rows that are not what was written, sets the totals anew, and counts what there is. */
dse_status store_repair(store *s, dse_error *err);

/* store_check_whole, unless that was just done, and the counts are these. */
dse_status store_check_counts(store *s, int64_t rows, int64_t skipped, bool is_checked, dse_error *err);

/* The exclusive or of all that result and skipped hold, which triggers keep from then on. */
#define STORE_SET_TOTALS                                                                                     \
    "INSERT OR REPLACE INTO total SELECT 1, count(*), xor_all(checksum) FROM result;"                        \
    "INSERT OR REPLACE INTO total SELECT 2, count(*), xor_all((hash | study) - (hash & study)) FROM "        \
    "skipped;"

/* figures.c: the tables, and what figures are made of, as a query: the layout, the schema of the tables, and
 * again. */
#define STORE_FIGURES(temp)                                                                                  \
    "CREATE " temp "TABLE IF NOT EXISTS figures (id INTEGER PRIMARY KEY, layout INTEGER, rows INTEGER,"      \
    " rows_checksum INTEGER, skipped INTEGER, skipped_checksum INTEGER, studies INTEGER, blocks INTEGER,"    \
    " unlisted INTEGER, unlisted_studies INTEGER, asked INTEGER, asked_studies INTEGER, checksum INTEGER);"  \
    "CREATE " temp "TABLE IF NOT EXISTS figure_study (place INTEGER PRIMARY KEY, study INTEGER, model TEXT," \
    " system TEXT, engine TEXT, settings TEXT, n INTEGER, skipped INTEGER, checksum INTEGER);"               \
    "CREATE " temp "TABLE IF NOT EXISTS figure (name TEXT, block INTEGER, least INTEGER, width INTEGER,"     \
    " checksum INTEGER, data BLOB, PRIMARY KEY (name, block));"
#define STORE_FIGURES_ORIGIN                                                                                 \
    "SELECT %" PRId64 " layout, a.n rows, a.checksum x, b.n skipped, b.checksum y,"                          \
    " (SELECT count(*) FROM %s.figure_study) studies,"                                                       \
    " (SELECT count(*) FROM %s.figure WHERE name = 'id') blocks FROM total a, total b"                       \
    " WHERE a.id = 1 AND b.id = 2"

/* Makes the figures of the file, unless they are right. What fails is left to readers. Whether they were made:
 * then all rows were checked. */
bool store_make_figures(store *s);

/* Skipped points of studies without rows, by the figures of the file; false: these are not right. */
bool store_figures_unlisted(store *s, bool asked, store_unlisted *out);
dse_status store_count_unlisted_rows(store *s, bool asked, store_unlisted *out, dse_error *err);

/* store.c: store_ask within a transaction. */
dse_status store_add_asked(store *s, const uint64_t *hashes, size_t n, dse_error *err);

/* searched.c: the points are no longer those of a search. In a transaction. */
dse_status store_end_searched(store *s, dse_error *err);

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
