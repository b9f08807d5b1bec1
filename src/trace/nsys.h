/* An Nsight Systems export being read: its tables row by row (nsys_rows.c), and which rank its rows belong to
 * (nsys_owner.c). The schema changes between versions, so a table or a column may be missing. Private to the
 * reader (nsys.c).
 *
 * Functions that return bool return false after filling the import's error. */
#ifndef DSE_TRACE_NSYS_H
#define DSE_TRACE_NSYS_H

#include "base/array.h"
#include "trace/pairs.h"
#include "trace/record.h"

#include <sqlite3.h>

/* ---- tables, row by row ---------------------------------------------------------------------- */

typedef struct {
    const char *path;
    sqlite3 *db;
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

/* ---- ranks ----------------------------------------------------------------------------------- */

#define NSYS_ANYONE INT64_MIN /* stands for an unknown process */

#define NSYS_TABLE(variable, text, columns)                                                                  \
    static const nsys_table variable = {text, columns, DSE_COUNT(columns)}

/* The first category words of each rank, in this order. */
enum { NSYS_KERNEL, NSYS_MEMCPY, NSYS_MEMSET, NSYS_RUNTIME, NSYS_DRIVER, NSYS_RANGE, NSYS_WORDS };
extern const trace_category nsys_category[NSYS_WORDS];

/* A process's number for a GPU. */
typedef struct {
    int64_t cuda_id, pid, gpu_id;
    uint32_t n_sms;
} nsys_cuda_device;

/* The physical GPU of a rank. */
typedef struct {
    int64_t id;
    uint32_t n_sms;
} nsys_rank_device;

/* A rank that a thread or a process uses; a linked list. */
typedef struct {
    uint32_t rank, next;
} nsys_use;

/* Initially zero, except db, path, out, err, first and the two times. */
typedef struct {
    nsys_db db;
    const char *path;
    trace_record *out;
    dse_error *err;
    uint32_t first; /* the file's first rank in the record */
    int64_t base_ns, first_ps, last_ps;
    uint64_t n_left_out, first_left_out; /* of the current table */
    size_t n_cuda, cap_cuda, n_rank_devices, cap_rank_devices, n_uses, cap_uses;
    nsys_cuda_device *cuda;
    nsys_rank_device *rank_device; /* beside each rank of the file */
    nsys_use *use;
    bool by_gpu;           /* ranks are physical GPUs, as processes number them differently */
    trace_pairs devices;   /* device, process -> rank */
    bool has_strings;      /* those of StringIds were read: when the first of them is asked for */
    trace_names texts;     /* of StringIds */
    trace_pairs strings;   /* 0, number in StringIds -> its text; DSE_NONE: it is NULL */
    trace_pairs lanes;     /* 2 * rank + (1 of the host), stream or thread -> lane */
    trace_pairs launches;  /* process, correlation -> rank; place + 1 is the correlation in the record */
    trace_pairs users;     /* 0, thread or process -> first use */
    trace_pairs processes; /* rank, process -> name */
} nsys_import;

/* Calls row for each row of a table until it returns false, then warns of rows that were left out. */
typedef bool nsys_row_fn(nsys_import *x, const nsys_rows *r, int word);
bool nsys_each_row(nsys_import *x, const nsys_table *t, nsys_row_fn *row, int word);

/* Sets *out to the name in a column, which holds a number of StringIds or, in some versions, the text;
 * DSE_NONE if NULL. */
bool nsys_name_of(nsys_import *x, const nsys_rows *r, int column, uint32_t rank, uint32_t *out);

/* Reads how processes number the physical GPUs; before any rank is found. */
bool nsys_read_cuda_devices(nsys_import *x);

/* Sets *out to the index in the record of the rank of a process's device, a new one if need be. */
bool nsys_find_rank(nsys_import *x, int64_t device, int64_t process, uint32_t *out);

/* Adds each rank's GPU: its name, its processors, and the blocks per processor of its kernels. */
bool nsys_describe_devices(nsys_import *x);

/* Notes that a thread or a process uses a rank. */
void nsys_add_use(nsys_import *x, int64_t user, uint32_t rank);

/* The first use of a thread, or else of its process, or else (kernels without a process) of NSYS_ANYONE;
 * DSE_NONE: none. */
uint32_t nsys_first_use(const nsys_import *x, int64_t tid);

/* The lane of a rank's stream, or of a thread by its globalTid. */
bool nsys_find_lane(nsys_import *x, uint32_t rank, bool is_host, int64_t number, uint32_t *out);

static inline trace_rank *nsys_rank(nsys_import *x, uint32_t rank) { return &x->out->rank[rank]; }

/* A globalTid holds the thread in its lower 24 bits and the process in the next 24. */
static inline int64_t nsys_process_of(int64_t tid) { return tid & ~(int64_t)0xffffff; }
static inline int64_t nsys_pid_of(int64_t tid) { return tid >> 24 & 0xffffff; }

#endif
