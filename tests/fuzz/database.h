/* What a database may be asked, and claims about the answers. SQLite parses thousands of columns for each input, so the
 * targets give it memory of their own (fuzz_use_sqlite_pool), and few inputs have figures made. */
#ifndef CCLDSE_FUZZ_DATABASE_H
#define CCLDSE_FUZZ_DATABASE_H

#include "base/hash.h"
#include "driver/reproduce.h"
#include "fuzz/fuzz.h"
#include "report/sizes.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void fuzz_remove_database(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".lock"};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char name[128];

        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static inline dse_status fuzz_see_time(void *user, const store_time *t, dse_error *err)
{
    (void)err;
    ENSURE(t);
    ++*(uint64_t *)user;
    return DSE_OK;
}

/* Whatever is listed can be printed, and looked up. */
static inline void fuzz_see_row(store_row *r, const char *path, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    drv_reproduction how;
    drv_study study;
    strategy point;

    ENSURE(r->config && r->model && r->system && r->engine && r->settings && r->error);
    for (const char *c = r->model; *c; c++)
        ENSURE((unsigned char)*c >= ' ');
    ENSURE(r->strategy.dp && r->strategy.tp && r->strategy.sp && r->strategy.pp);
    report_sizes_read(r, 1);
    fuzz_ok(drv_reproduce(r, path, a, &how, &err), &err);
    err = (dse_error)DSE_ERROR_INIT;
    fuzz_ok(drv_study_read_config(r->config, strlen(r->config), a, &study, &point, &err), &err);
}

/* By a reader. `mended`: a writer has been there, after which it lists, but for rows with names or degrees that nobody
 * would have written, and a checksum that fits. */
static inline void fuzz_read_database(const char *path, bool mended, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    uint64_t n_times = 0;
    store_unlisted unlisted;
    store_row *row;
    store *s = NULL;
    bool prices, lists;
    size_t n = 0;

    if (!fuzz_ok(store_open(path, STORE_READ, &s, &err), &err)) {
        ENSURE(!mended);
        return;
    }
    lists = fuzz_ok(store_list(s, NULL, NULL, a, &row, &n, &err), &err);
    ENSURE(lists || !mended || strstr(err.text, ", which is no ") ||
           strstr(err.text, "strategy that is none"));
    for (size_t i = 0; lists && i < n; i++)
        fuzz_see_row(&row[i], path, a);
    err = (dse_error)DSE_ERROR_INIT;
    fuzz_ok(store_times(s, fuzz_see_time, &n_times, &err), &err);
    err = (dse_error)DSE_ERROR_INIT;
    fuzz_ok(store_has_prices(s, &prices, &err), &err);
    err = (dse_error)DSE_ERROR_INIT;
    fuzz_ok(store_count_unlisted(s, true, &unlisted, &err), &err);
    store_close(s);
}

static inline store_row fuzz_row(const char *config, uint64_t hash)
{
    strategy point = {0};

    ENSURE(strategy_parse_name("2_1_1_1_0", NULL, &point, NULL, NULL) == DSE_OK);
    return (store_row){.config = config,
                       .hash = hash,
                       .study = 7,
                       .model = "m",
                       .system = "s",
                       .engine = "native-1",
                       .settings = "layers=4",
                       .strategy = point,
                       .done = true,
                       .error = "",
                       .seconds = 0.125,
                       .metrics = {.wall_time = hash, .peak_node = "n", .mfu = 40}};
}

/* By a writer, which mends it; true: it could, and a row was put and is found. `finish`: it looks whether it is there
 * once more, and makes the figures, which is most of the work. */
static inline bool fuzz_write_database(const char *path, bool finish)
{
    const store_row row = fuzz_row("{\"put\":1}", 12345);
    dse_error err = DSE_ERROR_INIT;
    bool found, skipped, wrote;
    store_brief brief;
    store *s = NULL;

    if (!fuzz_ok(store_open(path, STORE_WRITE, &s, &err), &err))
        return false;
    wrote = fuzz_ok(store_find(s, 1, "{\"config\":1}", &found, &brief, &err), &err) &&
            fuzz_ok(store_put(s, &row, &err), &err) && fuzz_ok(store_skip(s, 99, 7, &err), &err) &&
            fuzz_ok(store_is_skipped(s, 99, &skipped, &err), &err) &&
            fuzz_ok(store_find(s, row.hash, row.config, &found, &brief, &err), &err);
    ENSURE(!wrote || (found && brief.wall_time == 12345));
    if (wrote && finish)
        return fuzz_ok(store_finish(s, &err), &err);
    store_leave_figures(s);
    store_close(s);
    return wrote;
}

/* A file: read, then mended by a writer, and read again. Of every fourth input the writer looks at the end whether what
 * it wrote is there; of the others, whose triggers may be damaged, it is not known. */
static inline void fuzz_use_database(const char *path, const uint8_t *data, size_t size)
{
    const bool finish = dse_hash_bytes(data, size) % 4 == 0;
    dse_arena arena;

    dse_arena_init(&arena);
    fuzz_read_database(path, false, &arena);
    if (fuzz_write_database(path, finish))
        fuzz_read_database(path, finish, &arena);
    fuzz_remove_database(path);
    dse_arena_free(&arena);
}

#endif
