/* Opening and closing: paths, locks, SQLite's errors. */
#include "base/array.h"
#include "base/fs.h"
#include "store/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS 5000

/* A store belongs to one thread at a time: the locks that SQLite else takes at every value that is bound or
 * read were a tenth of what a sweep does. */
#define ONE_THREAD SQLITE_OPEN_NOMUTEX

/* Whether this error of the system is behind SQLITE_IOERR. Of a commit that fails SQLite keeps it with the files
 * alone: the database and its log. */
static bool was_errno(const store *s, int number)
{
    sqlite3_file *log = NULL;
    int of_file = 0, of_log = 0;

    sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_LAST_ERRNO, &of_file);
    sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &of_log);
    return sqlite3_system_errno(s->db) == number || of_file == number || of_log == number;
}

/* `words` are SQLite's for the code. */
static dse_status fail_code(const store *s, int code, const char *words, const char *doing, dse_error *err)
{
    if (code == SQLITE_NOMEM)
        dse_out_of_memory();
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return dse_fail_at(err, DSE_E_STORE, s->path,
                           "the database is locked by another program; try again when it is done");
    if (code == SQLITE_NOTADB)
        return dse_fail_at(err, DSE_E_STORE, s->path, "this is not a results database");
    if (code == SQLITE_IOERR && was_errno(s, EFBIG))
        return dse_fail_at(err, DSE_E_IO, s->path, "cannot %s: no file may be larger here (ulimit -f)",
                           doing);
    if (code == SQLITE_IOERR && was_errno(s, ENOSPC))
        return dse_fail_at(err, DSE_E_IO, s->path, "cannot %s: no space is left there, or no file (inode)",
                           doing);
    if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_FULL)
        return dse_fail_at(err, DSE_E_IO, s->path, "cannot %s: %s", doing, words);
    return dse_fail_at(err, DSE_E_STORE, s->path, "cannot %s: %s", doing, words);
}

dse_status store_fail(const store *s, dse_error *err, const char *doing)
{
    return fail_code(s, sqlite3_errcode(s->db), sqlite3_errmsg(s->db), doing, err);
}

dse_status store_execute(store *s, const char *sql, const char *doing, dse_error *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? DSE_OK : store_fail(s, err, doing);
}

/* ---- who writes
 * ------------------------------------------------------------------------------------------ */

/* The lock lies where neither content nor a lock of SQLite is. */
#define LOCK_BYTE ((off_t)1 << 60)
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37 /* Linux; POSIX has it since 2024 */
#endif

/* Who writes holds a lock on a file beside the database, which the system takes back when the process
 * ends. */
static dse_status take_lock(store *s, dse_error *err)
{
    struct flock f = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[sizeof s->file + 8];

    snprintf(path, sizeof path, "%s.lock", s->file);
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock < 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot write '%s.lock'", s->path);
    if (fcntl(s->lock, F_SETLK, &f) == 0)
        return DSE_OK;
    if (errno != EACCES && errno != EAGAIN)
        return dse_fail_errno(err, DSE_E_IO, "cannot lock '%s.lock'", s->path);
    f.l_pid = 0;
    fcntl(s->lock, F_GETLK, &f);
    return dse_fail_at(
        err, DSE_E_STORE, s->path,
        "another run (process %ld) is writing to this database; wait for it, or use another --db",
        (long)f.l_pid);
}

/* Two names of one file would have two locks, and two logs, beside it: SQLite cannot bear that. The lock on
 * the file itself holds against a name that is made later. It belongs to the open file and not to the
 * process, whose other locks a close would end. */
static dse_status lock_file(store *s, dse_error *err)
{
    struct flock f = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1};
    struct stat sb;

    s->file_lock = open(s->file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->file_lock < 0 || fstat(s->file_lock, &sb) != 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", s->path);
    if (sb.st_nlink > 1)
        return dse_fail_at(
            err, DSE_E_STORE, s->path,
            "the file has a second name (a hard link), by which another run could write to it; copy it, "
            "and write to the copy");
    if (fcntl(s->file_lock, F_OFD_SETLK, &f) == 0)
        return DSE_OK;
    return errno == EACCES || errno == EAGAIN ? dse_fail_at(err, DSE_E_STORE, s->path,
                                                            "another run is writing to this database by "
                                                            "another name; wait for it, or use another --db")
                                              : dse_fail_errno(err, DSE_E_IO, "cannot lock '%s'", s->path);
}

dse_status store_check_place(const store *s, dse_error *err)
{
    struct stat now, ours;

    if (s->file_lock < 0 || (stat(s->file, &now) == 0 && fstat(s->file_lock, &ours) == 0 &&
                             now.st_dev == ours.st_dev && now.st_ino == ours.st_ino))
        return DSE_OK;
    return dse_fail_at(
        err, DSE_E_STORE, s->path,
        "the database was removed or replaced while this run wrote to it, and the results with it; run it "
        "again");
}

/* ---- opening
 * --------------------------------------------------------------------------------------------- */

static dse_status prepare(store *s, dse_error *err)
{
    dse_strbuf sql;
    size_t n;
    int64_t skipped;
    dse_status st = store_get_numbers(s, "SELECT EXISTS (SELECT 1 FROM skipped)", 1, &skipped, err);

    if (st != DSE_OK)
        return st;
    s->may_have_skipped = skipped != 0;
    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "INSERT INTO result (");
    n = store_add_columns(&sql);
    dse_strbuf_adds(&sql, ", checksum) VALUES (");
    for (size_t i = 1; i <= n; i++)
        dse_strbuf_addf(&sql, "?%zu,", i);
    dse_strbuf_adds(&sql, "row_checksum(");
    for (size_t i = 1; i <= n; i++)
        dse_strbuf_addf(&sql, "%s?%zu", i > 1 ? "," : "", i);
    dse_strbuf_adds(&sql, "))");
    if (sqlite3_prepare_v2(s->db, sql.data, -1, &s->put, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db,
                           "SELECT engine, step_idle IS NOT NULL, wall_time, undercharged_messages,"
                           " flat_ring_collectives, fallback, peak_memory FROM result"
                           " WHERE hash = ? AND " STORE_WHOLE_CONFIG " = ? AND done",
                           -1, &s->find, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db, "DELETE FROM result WHERE hash = ? AND " STORE_WHOLE_CONFIG " = ?", -1,
                           &s->drop, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db,
                           "INSERT OR IGNORE INTO skipped SELECT ?1, ?2"
                           " WHERE NOT EXISTS (SELECT 1 FROM result WHERE hash = ?1)",
                           -1, &s->skip, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db, "DELETE FROM skipped WHERE hash = ?", -1, &s->unskip, NULL) != SQLITE_OK)
        st = store_fail(s, err, "prepare the database");
    dse_strbuf_free(&sql);
    return st;
}

/* Puts a copy of the database into the place of the file: in memory, and what is too much of it in a file of
 * SQLite's own, which has no name. */
static dse_status copy_database(store *s, dse_error *err)
{
    sqlite3 *copy = NULL, *file = s->db;
    sqlite3_backup *b = NULL;
    int code = sqlite3_open_v2("", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | ONE_THREAD, NULL);

    if (!copy)
        dse_out_of_memory();
    if (code == SQLITE_OK && !(b = sqlite3_backup_init(copy, "main", file, "main")))
        code = sqlite3_errcode(copy);
    if (b) {
        code = sqlite3_backup_step(b, -1);
        sqlite3_backup_finish(b); /* does not count a file that is locked as a failure */
    }
    s->db = copy;
    store_add_functions(copy);
    store_add_config_functions(s);
    sqlite3_close(file);
    return b && code == SQLITE_DONE ? DSE_OK
                                    : fail_code(s, code, sqlite3_errstr(code), "read the database", err);
}

/* Whether a file is of an older version, or lacks a column. */
static dse_status is_old(store *s, int version, bool *out, dse_error *err)
{
    dse_strbuf missing;
    dse_status st;

    *out = false;
    if (version == STORE_NEW)
        return DSE_OK;
    dse_strbuf_init(&missing);
    st = store_schema_missing(s, &missing, err);
    *out = version < STORE_SCHEMA_VERSION || missing.len;
    dse_strbuf_free(&missing);
    return st;
}

/* That the tables have their columns: a flipped bit in what the file says of a table would be found by the
 * first who asks for the column, which after a sweep is a reader. Figures are left out: what is wrong with
 * them makes them not count. */
static dse_status check_columns(store *s, dse_error *err)
{
    dse_strbuf sql;
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;
    int code;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(
        &sql, "SELECT p.study, per_device_hour, power, s.id, s.config, k.hash, k.study, a.hash, t.id, t.n,"
              " t.checksum, r.* FROM price p, study s, skipped k, asked a, total t, (SELECT id, checksum, ");
    store_add_columns(&sql);
    dse_strbuf_adds(&sql, " FROM result) r");
    code = sqlite3_prepare_v2(s->db, sql.data, -1, &q, NULL);
    if (code == SQLITE_ERROR) /* there is no such column */
        st = dse_fail_at(err, DSE_E_STORE, s->path,
                         "the database is damaged (%.200s); move it away, and the same sweep makes a new one",
                         sqlite3_errmsg(s->db));
    else if (code != SQLITE_OK)
        st = store_fail(s, err, "read the database");
    sqlite3_finalize(q);
    dse_strbuf_free(&sql);
    return st;
}

/* A reader leaves an old file as it is, which it may not be allowed to write, and migrates a copy. What the
 * copy says of itself counts: since the first look at the file a writer may have brought it forward. */
static dse_status prepare_reading(store *s, int version, dse_error *err)
{
    bool old = false;
    dse_status st = is_old(s, version, &old, err);

    if (st == DSE_OK && old && (st = copy_database(s, err)) == DSE_OK &&
        (st = store_schema_check(s, &version, err)) == DSE_OK)
        st = is_old(s, version, &old, err);
    if (st == DSE_OK && version == STORE_NEW)
        return dse_fail_at(err, DSE_E_STORE, s->path, "the database is empty; run 'ccldse sweep' first");
    if (st == DSE_OK && old)
        st = store_schema_migrate(s, version, err);
    return st == DSE_OK ? check_columns(s, err) : st;
}

static dse_status make_folder(const char *path, dse_error *err)
{
    char folder[1024];
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return DSE_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return dse_mkdirs(folder, err);
}

/* Pages and indexes. A point that its index does not find would get a second row. */
static dse_status check_structure(store *s, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;

    if (sqlite3_prepare_v2(s->db, "PRAGMA integrity_check(1)", -1, &q, NULL) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW)
        st = store_fail(s, err, "read the database");
    else if (strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
        st = dse_fail_at(err, DSE_E_STORE, s->path,
                         "the database is damaged (%.200s); move it away, and the same sweep makes a new one",
                         (const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    return st;
}

/* By which the row of a configuration and the rows of one point are found. They say nothing of their own: a
 * reader of a file without them takes longer, and a program that does not know the second keeps it all the
 * same. So no version of the schema counts it. */
#define INDEXES                                                                                              \
    "CREATE INDEX IF NOT EXISTS result_hash ON result (hash);"                                               \
    "CREATE INDEX IF NOT EXISTS result_point ON result (dp, tp, sp, pp, micro_batch)"

dse_status store_defer_indexes(store *s, dse_error *err)
{
    static const char drop[] = "BEGIN IMMEDIATE;DROP INDEX result_hash;DROP INDEX result_point;COMMIT";
    dse_status st;

    if (s->n_rows)
        return DSE_OK;
    st = store_execute(s, drop, "write a result", err);
    if (st != DSE_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
    s->has_no_indexes = st == DSE_OK;
    return st;
}

/* Pages that a sweep writes again and again, of indexes and totals, are taken from the log into the file when it
 * has 16 MB, and not at 4; so much of the file is held as a batch of rows touches. */
#define LOG_AND_CACHE ";PRAGMA wal_autocheckpoint=4000;PRAGMA cache_size=-8000"

/* A commit waits neither for readers nor for the disk; what is committed survives the death of the
 * process. */
static dse_status prepare_writing(store *s, int version, dse_error *err)
{
    dse_status st = store_execute(s, "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL" LOG_AND_CACHE,
                                  "open the database for writing", err);
    bool old = false;

    if (st == DSE_OK)
        st = is_old(s, version, &old, err);
    if (st == DSE_OK && version == STORE_NEW)
        st = store_schema_make(s, err);
    else if (st == DSE_OK && old)
        st = store_schema_migrate(s, version, err);
    if (st == DSE_OK && old)
        sqlite3_exec(s->db, "VACUUM", NULL, NULL,
                     NULL); /* else it stays as large as it was, which is right, too */
    if (st == DSE_OK)
        st = check_structure(s, err);
    if (st == DSE_OK)
        st = check_columns(s, err);
    if (st == DSE_OK)
        st = store_repair(s, err);
    if (st == DSE_OK) /* a sweep that was killed may have left none */
        st = store_execute(s, INDEXES, "open the database for writing", err);
    return st == DSE_OK ? prepare(s, err) : st;
}

/* Where the path leads: a symbolic link has no log and no lock of its own. */
static dse_status find_file(store *s, const char *path, dse_error *err)
{
    char target[PATH_MAX], folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n;

    if (snprintf(s->path, sizeof s->path, "%s", path) >= (int)sizeof s->path)
        return dse_fail(err, DSE_E_IO, "the path '%.80s...' is too long", path);
    if (realpath(path, target)) {
        n = snprintf(s->file, sizeof s->file, "%s", target);
    } else {
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
        n = realpath(folder, target)
                ? snprintf(s->file, sizeof s->file, "%s/%s", target, slash ? slash + 1 : path)
                : snprintf(s->file, sizeof s->file, "%s", path);
    }
    return n < (int)sizeof s->file ? DSE_OK
                                   : dse_fail(err, DSE_E_IO, "the path '%.80s...' is too long", path);
}

static dse_status open_for_writing(store *s, const char *path, dse_error *err)
{
    dse_status st = make_folder(path, err);

    if (st == DSE_OK)
        st = find_file(s, path, err);
    if (st == DSE_OK)
        st = take_lock(s, err);
    return st == DSE_OK ? lock_file(s, err) : st;
}

/* A log that a killed run left beside the database has to be worked in, also to read. */
static dse_status explain_log(const store *s, dse_error *err)
{
    char log[sizeof s->file + 8];
    struct stat sb;

    snprintf(log, sizeof log, "%s-wal", s->file);
    if (stat(log, &sb) != 0 || !sb.st_size)
        return DSE_E_IO;
    *err = (dse_error)DSE_ERROR_INIT;
    return dse_fail_at(
        err, DSE_E_IO, s->path,
        "a run that was killed left its last results in '%.200s-wal', which can only be read where the "
        "folder may be written to; copy both files into a folder of yours and read them there",
        s->path);
}

static dse_status open_connection(store *s, int flags, dse_error *err)
{
    if (sqlite3_open_v2(s->file, &s->db, flags | ONE_THREAD, NULL) != SQLITE_OK)
        return store_fail(s, err, "open the database");
    store_add_functions(s->db);
    store_add_config_functions(s);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    return DSE_OK;
}

dse_status store_open(const char *path, store_mode mode, store **out, dse_error *err)
{
    store *s = dse_calloc(1, sizeof *s);
    dse_error why = DSE_ERROR_INIT;
    int version = STORE_NEW;
    dse_status st;

    s->lock = s->file_lock = -1;
    dse_strbuf_init(&s->shared);
    dse_strbuf_init(&s->whole);
    if (mode == STORE_WRITE)
        st = open_for_writing(s, path, &why);
    else if ((st = find_file(s, path, &why)) == DSE_OK && !dse_is_file(path))
        st = dse_fail(&why, DSE_E_IO, "there is no database '%s'; run 'ccldse sweep' first, or give --db",
                      path);
    if (st == DSE_OK)
        st = open_connection(
            s, mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY, &why);
    if (st == DSE_OK)
        st = store_schema_check(s, &version, &why);
    if (st == DSE_OK)
        st = (mode == STORE_READ ? prepare_reading : prepare_writing)(s, version, &why);
    if (st == DSE_E_IO && s->db && mode == STORE_READ)
        st = explain_log(s, &why);
    if (st == DSE_OK)
        *out = s;
    else
        store_close(s);
    if (st != DSE_OK && err && err->status == DSE_OK)
        *err = why;
    return st;
}

void store_leave_figures(store *s) { s->leaves_figures = true; }

static void finalize(store *s)
{
    sqlite3_stmt **const statements[] = {&s->find,   &s->drop,  &s->put,         &s->skip,       &s->asking,
                                         &s->unskip, &s->study, &s->read_one[0], &s->read_one[1]};

    for (size_t i = 0; i < DSE_COUNT(statements); i++) {
        sqlite3_finalize(*statements[i]); /* accepts NULL */
        *statements[i] = NULL;
    }
}

/* What is left to do for a writer who was not refused; what of it fails is left to the next one. */
static void make_indexes(store *s)
{
    if (s->has_no_indexes)
        sqlite3_exec(s->db, INDEXES, NULL, NULL, NULL);
    s->has_no_indexes = false;
}

static void close_files(store *s)
{
    finalize(s);
    dse_strbuf_free(&s->shared);
    dse_strbuf_free(&s->whole);
    sqlite3_close(s->db);
    if (s->file_lock >= 0)
        close(s->file_lock);
    if (s->lock >= 0)
        close(s->lock);
    dse_free(s);
}

/* One file again, which those who may not write here can read; left as it is while somebody reads. */
static void close_written(store *s)
{
    finalize(s);
    if (s->db) { /* else it could not be opened again */
        sqlite3_busy_timeout(s->db, 0);
        sqlite3_exec(s->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    }
    close_files(s);
}

void store_close(store *s)
{
    if (!s)
        return;
    if (!s->put) { /* it was opened for reading, or refused */
        close_files(s);
        return;
    }
    if (store_check_place(s, NULL) == DSE_OK) {
        make_indexes(s);
        if (!s->leaves_figures)
            store_make_figures(s);
    }
    close_written(s);
}

/* Through a connection that has read nothing yet; the locks stay. */
static dse_status open_again(store *s, dse_error *err)
{
    finalize(s);
    store_forget_shared(s);
    sqlite3_close(s->db);
    s->db = NULL;
    return open_connection(s, SQLITE_OPEN_READWRITE, err);
}

dse_status store_finish(store *s, dse_error *err)
{
    dse_status st = store_check_place(s, err);
    bool is_checked;

    if (st == DSE_OK)
        make_indexes(s);
    if (st == DSE_OK && (st = open_again(s, err)) == DSE_OK) {
        is_checked = !s->leaves_figures && store_make_figures(s);
        st = store_check_counts(s, s->n_rows, s->n_skipped, is_checked, err);
    }
    if (st == DSE_OK)
        st = store_check_place(s, err);
    close_written(s);
    return st;
}
