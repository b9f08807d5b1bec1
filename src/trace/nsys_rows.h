/* nsys_rows -- the tables of an Nsight Systems export, read row by row.
 *
 * The schema changes between versions, so a table or a column may be missing. Private to the reader
 * (nsys.c). */
#ifndef DSE_TRACE_NSYS_ROWS_H
#define DSE_TRACE_NSYS_ROWS_H

#include "base/status.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *path;
    sqlite3 *db;
    sqlite3_stmt *string; /* of StringIds by id; NULL: not prepared yet */
} nsys_db;

typedef struct {
    const char *name;
    bool required;
} nsys_column;

typedef struct {
    const char *name;
    const nsys_column *column;
    int n;
} nsys_table;

typedef struct {
    nsys_db *db;
    const nsys_table *table;
    sqlite3_stmt *stmt; /* NULL: the file has no such table */
    uint64_t row;       /* of the current one, from 1 */
} nsys_rows;

/* Opens for reading only: the file is neither locked nor written, and nothing of its schema is run. DSE_E_IO,
 * DSE_E_SYNTAX (not a database). Close it in any case. */
dse_status nsys_open(nsys_db *d, const char *path, dse_error *err);
void nsys_close(nsys_db *d);

/* Whether there is such a table; views do not count. */
dse_status nsys_has_table(nsys_db *d, const char *table, bool *has, dse_error *err);

/* The first column of the first row that a query gives, and whether it is there and not NULL. */
dse_status nsys_number(nsys_db *d, const char *sql, int64_t *out, bool *has, dse_error *err);

/* All rows of a table in the order of the file, none if it is missing. DSE_E_SYNTAX if it lacks a required
 * column; an optional one that is missing is NULL. Close in any case. */
dse_status nsys_rows_open(nsys_rows *r, nsys_db *d, const nsys_table *t, dse_error *err);
void nsys_rows_close(nsys_rows *r);

/* 1: there is a next row; 0: no more; -1: the file is damaged, and the error says so. */
int nsys_rows_next(nsys_rows *r, dse_error *err);

static inline int64_t nsys_int(const nsys_rows *r, int column)
{
    return sqlite3_column_int64(r->stmt, column);
}
/* In a genuine export all times and device numbers are. */
static inline bool nsys_is_number(const nsys_rows *r, int column)
{
    int type = sqlite3_column_type(r->stmt, column);

    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}
static inline bool nsys_is_null(const nsys_rows *r, int column)
{
    return sqlite3_column_type(r->stmt, column) == SQLITE_NULL;
}
/* The bytes of a value that is not NULL, valid up to the next row. */
const char *nsys_text(const nsys_rows *r, int column, size_t *n);

/* The text of an id in StringIds, valid up to the next call; *text is NULL if there is none. */
dse_status nsys_string(nsys_db *d, int64_t id, const char **text, size_t *n, dse_error *err);

#endif
