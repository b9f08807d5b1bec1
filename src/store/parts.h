/* What the sources of this folder share. */
#ifndef DSE_STORE_PARTS_H
#define DSE_STORE_PARTS_H

#include "store/store.h"

#include <sqlite3.h>

#define STORE_SCHEMA_VERSION 5
#define STORE_NEW            0 /* of a file in which nothing is yet */

struct store {
    sqlite3 *db;
    sqlite3_stmt *find, *drop, *put; /* a writer's, */
    sqlite3_stmt *skip, *unskip;     /* too */
    bool may_have_skipped;           /* else no row that is put need be looked up among the skipped points */
    int lock;                        /* the advisory lock's file, or -1 */
    char path[1024];
};

/* What SQLite said last, as an error: "cannot <doing>: ...". */
dse_status store_fail(const store *s, dse_error *err, const char *doing);

/* Statements without results; `doing` as above. */
dse_status store_execute(store *s, const char *sql, const char *doing, dse_error *err);

/* The n numbers of the one row that a query yields. */
dse_status store_get_numbers(store *s, const char *sql, int n, int64_t *out, dse_error *err);

/* The version of an open file, which is only read: what is not ours stays as it is. DSE_E_STORE if it is not ours, or
 * newer than this program. */
dse_status store_schema_check(store *s, int *version, dse_error *err);

/* The tables of this version, in a new file. */
dse_status store_schema_make(store *s, dse_error *err);

/* Brings a file of an older version forward; after a failure it is as it was. */
dse_status store_schema_migrate(store *s, int version, dse_error *err);

#endif
