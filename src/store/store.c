#include "store/store.h"

#include "base/fs.h"
#include "base/strbuf.h"
#include "store/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 5000

/* The columns that are not metrics, in the order of bind_row and read_row. */
#define KEY_COLUMNS                                                                                          \
    "config, hash, study, model, system, engine, settings, dp, tp, sp, pp, recompute, weight_sharded, "      \
    "done, memory_rounded, error, seconds"
#define N_KEY_COLUMNS 17

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

/* One sweep at a time: two would simulate the same points. The lock goes with the process. */
static dse_status take_lock(store *s, dse_error *err)
{
    struct flock f = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[1100];

    snprintf(path, sizeof path, "%s.lock", s->path);
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock < 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
    if (fcntl(s->lock, F_SETLK, &f) == 0)
        return DSE_OK;
    if (errno != EACCES && errno != EAGAIN)
        return dse_fail_errno(err, DSE_E_IO, "cannot lock '%s'", path);
    f.l_pid = 0;
    fcntl(s->lock, F_GETLK, &f);
    return dse_fail_at(
        err, DSE_E_STORE, s->path,
        "another run (process %ld) is writing to this database; wait for it, or use another --db",
        (long)f.l_pid);
}

/* The names of all columns; returns how many. */
static size_t add_columns(dse_strbuf *sql)
{
    size_t n;
    const store_column *c = store_columns(&n);

    dse_strbuf_adds(sql, KEY_COLUMNS);
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(sql, ", %s", c[i].name);
    return N_KEY_COLUMNS + n;
}

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
    n = add_columns(&sql);
    dse_strbuf_adds(&sql, ") VALUES (?");
    for (size_t i = 1; i < n; i++)
        dse_strbuf_adds(&sql, ",?");
    dse_strbuf_addc(&sql, ')');
    if (sqlite3_prepare_v2(s->db, sql.data, -1, &s->put, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db,
                           "SELECT engine, step_idle IS NOT NULL, wall_time, undercharged_messages,"
                           " flat_ring_collectives FROM result"
                           " WHERE hash = ? AND config = ? AND done",
                           -1, &s->find, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db, "DELETE FROM result WHERE hash = ? AND config = ?", -1, &s->drop, NULL) !=
            SQLITE_OK ||
        sqlite3_prepare_v2(s->db,
                           "INSERT OR IGNORE INTO skipped SELECT ?1, ?2"
                           " WHERE NOT EXISTS (SELECT 1 FROM result WHERE hash = ?1)",
                           -1, &s->skip, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db, "DELETE FROM skipped WHERE hash = ?", -1, &s->unskip, NULL) != SQLITE_OK)
        st = store_fail(s, err, "prepare the database");
    dse_strbuf_free(&sql);
    return st;
}

/* Puts a copy of the database, in memory, into the place of the file. */
static dse_status copy_to_memory(store *s, dse_error *err)
{
    sqlite3 *copy = NULL, *file = s->db;
    sqlite3_backup *b = NULL;
    int code = sqlite3_open(":memory:", &copy);

    if (!copy)
        dse_out_of_memory();
    if (code == SQLITE_OK && !(b = sqlite3_backup_init(copy, "main", file, "main")))
        code = sqlite3_errcode(copy);
    if (b) {
        code = sqlite3_backup_step(b, -1);
        sqlite3_backup_finish(b); /* does not count a file that is locked as a failure */
    }
    s->db = copy;
    sqlite3_close(file);
    return b && code == SQLITE_DONE ? DSE_OK
                                    : fail_code(s, code, sqlite3_errstr(code), "read the database", err);
}

/* A reader leaves an old file as it is, which it may not be allowed to write, and migrates a copy. What the copy says
 * of itself counts: since the first look at the file a writer may have brought it forward. */
static dse_status prepare_reading(store *s, int version, dse_error *err)
{
    dse_status st = DSE_OK;

    if (version != STORE_NEW && version < STORE_SCHEMA_VERSION && (st = copy_to_memory(s, err)) == DSE_OK)
        st = store_schema_check(s, &version, err);
    if (st == DSE_OK && version == STORE_NEW)
        return dse_fail_at(err, DSE_E_STORE, s->path, "the database is empty; run 'ccldse sweep' first");
    return st == DSE_OK && version < STORE_SCHEMA_VERSION ? store_schema_migrate(s, version, err) : st;
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

/* A commit waits neither for readers nor for the disk; what is committed survives the death of the process. */
static dse_status prepare_writing(store *s, int version, dse_error *err)
{
    dse_status st = store_execute(s, "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL",
                                  "open the database for writing", err);

    if (st == DSE_OK && version == STORE_NEW)
        st = store_schema_make(s, err);
    else if (st == DSE_OK && version < STORE_SCHEMA_VERSION)
        st = store_schema_migrate(s, version, err);
    return st == DSE_OK ? prepare(s, err) : st;
}

dse_status store_open(const char *path, store_mode mode, store **out, dse_error *err)
{
    store *s = dse_calloc(1, sizeof *s);
    char file[sizeof s->path + 2];
    int version = STORE_NEW;
    dse_status st = DSE_OK;

    s->lock = -1;
    /* SQLite would keep ":memory:" nowhere; with a folder it is a name like others. */
    snprintf(file, sizeof file, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (snprintf(s->path, sizeof s->path, "%s", path) >= (int)sizeof s->path)
        st = dse_fail(err, DSE_E_IO, "the path '%.80s...' is too long", path);
    else if (mode == STORE_READ && !dse_is_file(path))
        st = dse_fail(err, DSE_E_IO, "there is no database '%s'; run 'ccldse sweep' first, or give --db",
                      path);
    else if (mode == STORE_WRITE && (st = make_folder(path, err)) == DSE_OK)
        st = take_lock(s, err);
    if (st == DSE_OK && sqlite3_open_v2(file, &s->db,
                                        mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                            : SQLITE_OPEN_READONLY,
                                        NULL) != SQLITE_OK)
        st = store_fail(s, err, "open the database");
    if (st == DSE_OK) {
        sqlite3_busy_timeout(s->db, BUSY_MS);
        st = store_schema_check(s, &version, err);
    }
    if (st == DSE_OK)
        st = (mode == STORE_READ ? prepare_reading : prepare_writing)(s, version, err);
    if (st == DSE_OK)
        *out = s;
    else
        store_close(s);
    return st;
}

void store_close(store *s)
{
    bool ours = s && s->put; /* it was opened for writing, and not refused */

    if (!s)
        return;
    sqlite3_finalize(s->find);
    sqlite3_finalize(s->drop);
    sqlite3_finalize(s->put);
    sqlite3_finalize(s->skip);
    sqlite3_finalize(s->unskip);
    if (ours) {
        /* One file again, which those who may not write here can read; left as it is while somebody reads. */
        sqlite3_busy_timeout(s->db, 0);
        sqlite3_exec(s->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    }
    sqlite3_close(s->db);
    if (s->lock >= 0)
        close(s->lock);
    dse_free(s);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static uint64_t count_column(sqlite3_stmt *q, int i)
{
    return sqlite3_column_type(q, i) == SQLITE_NULL ? STORE_ABSENT : (uint64_t)sqlite3_column_int64(q, i);
}

dse_status store_find(store *s, uint64_t hash, const char *config, bool *found, store_brief *out,
                      dse_error *err)
{
    dse_status st = DSE_OK;
    int code;

    sqlite3_bind_int64(s->find, 1, (int64_t)hash);
    sqlite3_bind_text(s->find, 2, config, -1, SQLITE_STATIC);
    code = sqlite3_step(s->find);
    *found = code == SQLITE_ROW && (sqlite3_column_int(s->find, 1) ||
                                    !store_is_native((const char *)sqlite3_column_text(s->find, 0)));
    if (*found)
        *out = (store_brief){count_column(s->find, 2), count_column(s->find, 3), count_column(s->find, 4)};
    else if (code != SQLITE_DONE && code != SQLITE_ROW)
        st = store_fail(s, err, "read the database");
    sqlite3_reset(s->find);
    return st;
}

dse_status store_times(store *s, store_visit *visit, void *user, dse_error *err)
{
    static const char sql[] = "SELECT hash, study, wall_time, peak_memory FROM result WHERE done";
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;
    int code = SQLITE_DONE;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        st = store_fail(s, err, "read the database");
    while (st == DSE_OK && (code = sqlite3_step(q)) == SQLITE_ROW) {
        const store_time t = {count_column(q, 0), count_column(q, 1), count_column(q, 2), count_column(q, 3)};

        st = visit(user, &t, err);
    }
    if (st == DSE_OK && code != SQLITE_DONE)
        st = store_fail(s, err, "read the database");
    sqlite3_finalize(q);
    return st;
}

bool store_is_native(const char *engine) { return !strncmp(engine, "native-", 7); }

static void bind_metric(sqlite3_stmt *q, int at, const store_metrics *m, const store_column *c)
{
    if (c->type == STORE_TEXT)
        sqlite3_bind_text(q, at, store_text(m, c), -1, SQLITE_STATIC); /* NULL is null */
    else if (isnan(store_value(m, c)))
        sqlite3_bind_null(q, at);
    else if (c->type == STORE_REAL)
        sqlite3_bind_double(q, at, store_value(m, c));
    else
        sqlite3_bind_int64(q, at, (int64_t)store_count(m, c));
}

static void bind_row(sqlite3_stmt *q, const store_row *r)
{
    const int64_t numbers[] = {
        r->dp, r->tp, r->sp, r->pp, r->recompute, r->weight_sharded, r->done, r->memory_rounded};
    const store_column *c;
    size_t n;
    int at = 1;

    sqlite3_bind_text(q, at++, r->config, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, at++, (int64_t)r->hash);
    sqlite3_bind_int64(q, at++, (int64_t)r->study);
    sqlite3_bind_text(q, at++, r->model, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, at++, r->system, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, at++, r->engine, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, at++, r->settings ? r->settings : "", -1, SQLITE_STATIC);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sqlite3_bind_int64(q, at++, numbers[i]);
    sqlite3_bind_text(q, at++, r->error, -1, SQLITE_STATIC);
    sqlite3_bind_double(q, at++, r->seconds);
    c = store_columns(&n);
    for (size_t i = 0; i < n; i++, at++) {
        if (r->done)
            bind_metric(q, at, &r->metrics, &c[i]);
        else
            sqlite3_bind_null(q, at);
    }
}

dse_status store_begin(store *s, dse_error *err)
{
    return store_execute(s, "BEGIN IMMEDIATE", "write a result", err);
}

dse_status store_commit(store *s, dse_error *err)
{
    return store_execute(s, "COMMIT", "write a result", err);
}

/* Runs a statement that writes, and whose values are bound. */
static dse_status write_now(store *s, sqlite3_stmt *q, dse_error *err)
{
    dse_status st = sqlite3_step(q) == SQLITE_DONE ? DSE_OK : store_fail(s, err, "write a result");

    sqlite3_reset(q);
    return st;
}

static dse_status replace_row(store *s, const store_row *row, dse_error *err)
{
    dse_status st;

    sqlite3_bind_int64(s->drop, 1, (int64_t)row->hash);
    sqlite3_bind_text(s->drop, 2, row->config, -1, SQLITE_STATIC);
    bind_row(s->put, row);
    sqlite3_bind_int64(s->unskip, 1, (int64_t)row->hash);
    st = write_now(s, s->drop, err);
    if (st == DSE_OK)
        st = write_now(s, s->put, err);
    return st == DSE_OK && s->may_have_skipped ? write_now(s, s->unskip, err) : st;
}

dse_status store_put_all(store *s, const store_row *rows, size_t n, dse_error *err)
{
    dse_status st = store_begin(s, err);

    if (st != DSE_OK)
        return st;
    for (size_t i = 0; st == DSE_OK && i < n; i++)
        st = replace_row(s, &rows[i], err);
    if (st == DSE_OK)
        st = store_commit(s, err);
    if (st != DSE_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
    return st;
}

dse_status store_put(store *s, const store_row *row, dse_error *err)
{
    bool alone = sqlite3_get_autocommit(s->db) != 0;

    return alone ? store_put_all(s, row, 1, err) : replace_row(s, row, err);
}

/* ---- points that were skipped -------------------------------------------------------------- */

dse_status store_skip(store *s, uint64_t hash, uint64_t study, dse_error *err)
{
    s->may_have_skipped = true;
    sqlite3_bind_int64(s->skip, 1, (int64_t)hash);
    sqlite3_bind_int64(s->skip, 2, (int64_t)study);
    return write_now(s, s->skip, err);
}

dse_status store_is_skipped(store *s, uint64_t hash, bool *out, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;
    int code = SQLITE_ERROR;

    if (sqlite3_prepare_v2(s->db, "SELECT 1 FROM skipped WHERE hash = ?", -1, &q, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(q, 1, (int64_t)hash);
        code = sqlite3_step(q);
    }
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        *out = code == SQLITE_ROW;
    else
        st = store_fail(s, err, "read the database");
    sqlite3_finalize(q);
    return st;
}

dse_status store_count_unlisted(store *s, store_unlisted *out, dse_error *err)
{
    int64_t n[2] = {0};
    dse_status st = store_get_numbers(s,
                                      "SELECT count(*), count(DISTINCT study) FROM skipped"
                                      " WHERE study NOT IN (SELECT study FROM result)",
                                      2, n, err);

    if (st == DSE_OK)
        *out = (store_unlisted){(uint64_t)n[0], (uint64_t)n[1]};
    return st;
}

/* ---- lists --------------------------------------------------------------------------------- */

static const char *text_column(sqlite3_stmt *q, int i, dse_arena *a)
{
    const char *text = (const char *)sqlite3_column_text(q, i);

    return dse_arena_strdup(a, text ? text : "");
}

static void read_row(sqlite3_stmt *q, dse_arena *a, store_row *r)
{
    const store_column *c;
    size_t n;
    int at = 0;

    *r = (store_row){0};
    r->config = text_column(q, at++, a);
    r->hash = (uint64_t)sqlite3_column_int64(q, at++);
    r->study = (uint64_t)sqlite3_column_int64(q, at++);
    r->model = text_column(q, at++, a);
    r->system = text_column(q, at++, a);
    r->engine = text_column(q, at++, a);
    r->settings = text_column(q, at++, a);
    r->dp = (uint32_t)sqlite3_column_int64(q, at++);
    r->tp = (uint32_t)sqlite3_column_int64(q, at++);
    r->sp = (uint32_t)sqlite3_column_int64(q, at++);
    r->pp = (uint32_t)sqlite3_column_int64(q, at++);
    r->recompute = sqlite3_column_int(q, at++) != 0;
    r->weight_sharded = sqlite3_column_int(q, at++) != 0;
    r->done = sqlite3_column_int(q, at++) != 0;
    r->memory_rounded = sqlite3_column_int(q, at++) != 0;
    r->error = text_column(q, at++, a);
    r->seconds = sqlite3_column_type(q, at) == SQLITE_NULL ? NAN : sqlite3_column_double(q, at);
    at++;
    c = store_columns(&n);
    for (size_t i = 0; i < n; i++, at++) {
        void *field = (char *)&r->metrics + c[i].offset;
        bool absent = sqlite3_column_type(q, at) == SQLITE_NULL;

        if (c[i].type == STORE_REAL)
            *(double *)field = absent ? NAN : sqlite3_column_double(q, at);
        else if (c[i].type == STORE_TEXT)
            *(const char **)field = absent ? NULL : text_column(q, at, a);
        else
            *(uint64_t *)field = count_column(q, at);
    }
    r->skipped_of_study = (uint64_t)sqlite3_column_int64(q, at); /* NULL is 0 */
}

dse_status store_list(store *s, const char *model, const char *system, dse_arena *a, store_row **rows,
                      size_t *n, dse_error *err)
{
    store_row *list = NULL;
    size_t cap = 0, count = 0;
    sqlite3_stmt *q = NULL;
    dse_strbuf sql;
    dse_status st = DSE_OK;
    int code = SQLITE_DONE;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "SELECT ");
    add_columns(&sql);
    dse_strbuf_adds(&sql, ", n_skipped FROM result"
                          " LEFT JOIN (SELECT study, count(*) AS n_skipped FROM skipped GROUP BY study)"
                          " USING (study)"
                          " WHERE (?1 IS NULL OR model = ?1) AND (?2 IS NULL OR system = ?2)"
                          " ORDER BY model, system, engine NOT GLOB 'native-*', engine, settings, study, pp, "
                          "dp, tp, sp, weight_sharded, recompute, engine");
    if (sqlite3_prepare_v2(s->db, sql.data, -1, &q, NULL) != SQLITE_OK)
        st = store_fail(s, err, "read the database");
    if (st == DSE_OK) {
        sqlite3_bind_text(q, 1, model, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, 2, system, -1, SQLITE_STATIC);
    }
    while (st == DSE_OK && (code = sqlite3_step(q)) == SQLITE_ROW) {
        DSE_GROW(list, cap, count + 1);
        read_row(q, a, &list[count++]);
    }
    if (st == DSE_OK && code != SQLITE_DONE)
        st = store_fail(s, err, "read the database");
    sqlite3_finalize(q);
    dse_strbuf_free(&sql);
    if (st == DSE_OK) {
        *rows = dse_arena_copy(a, list, count, sizeof *list);
        *n = count;
    }
    dse_free(list);
    return st;
}

const char *store_sqlite_version(void) { return sqlite3_libversion(); }
