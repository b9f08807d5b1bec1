/* Opening databases: of every version, of others, and beside other processes. */
#include "unit/store/database.h"

#include <sqlite3.h>

/* ---- opening --------------------------------------------------------------------------------------- */

CLAIM(opening_for_writing_makes_the_folder)
{
    store *s;

    begin();
    snprintf(path, sizeof path, "%s/a/b/r.db", folder);
    s = open_for(STORE_WRITE);
    put(s, row("{}", 1, "m", 8, 5));
    store_close(s);
    s = open_for(STORE_READ);
    store_close(s);
    end();
}

/* Where nobody may write, such as another user's folder, a database in the write-ahead mode cannot be read. */
CLAIM(a_closed_database_is_one_file_for_all_to_read)
{
    char bytes[20];
    FILE *f;

    begin();
    store_close(open_for(STORE_WRITE));
    f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(bytes, 1, sizeof bytes, f), sizeof bytes);
    fclose(f);
    assert_int_equal(bytes[18], 1); /* rollback journal; 2: write-ahead log */
    store_close(open_for(STORE_READ));
    assert_int_equal(unit_count_files(folder), 2); /* it, and the lock */
    end();
}

CLAIM(closing_nothing_is_fine) { store_close(NULL); }

static void refuse(store_mode mode, dse_status status, const char *where, const char *message)
{
    store *s = (store *)&err; /* *out changes only on success */

    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(store_open(path, mode, &s, &err), &err, status, where, message);
    assert_ptr_equal(s, (store *)&err);
}

CLAIM(a_database_that_is_not_there_is_not_read)
{
    char message[200];

    begin();
    snprintf(message, sizeof message, "there is no database '%s'; run 'ccldse sweep' first, or give --db",
             path);
    refuse(STORE_READ, DSE_E_IO, "", message);
    assert_int_equal(unit_count_files(folder), 0); /* and not made */
    end();
}

CLAIM(an_empty_file_is_no_database_to_read)
{
    begin();
    unit_write_text(path, "");
    refuse(STORE_READ, DSE_E_STORE, path, "the database is empty; run 'ccldse sweep' first");
    end();
}

CLAIM(a_file_of_another_kind_is_refused)
{
    char text[3000];

    begin();
    memset(text, 'x', sizeof text);
    unit_write(path, text, sizeof text);
    refuse(STORE_READ, DSE_E_STORE, path, "this is not a results database");
    refuse(STORE_WRITE, DSE_E_STORE, path, "this is not a results database");
    unit_write_text(path, "dp,tp,sp\n1,2,3\n");
    refuse(STORE_READ, DSE_E_STORE, path, "this is not a results database");
    refuse(STORE_WRITE, DSE_E_STORE, path, "this is not a results database");
    end();
}

/* SQLite's file format: user_version is the big-endian number at byte 60, application_id that at 68. */
static void set_header(long offset, unsigned char last)
{
    FILE *f = fopen(path, "r+b");

    assert_non_null(f);
    fseek(f, offset + 3, SEEK_SET);
    fputc(last, f);
    fclose(f);
}

CLAIM(a_database_of_a_newer_version_is_refused)
{
    begin();
    store_close(open_for(STORE_WRITE));
    set_header(60, 11);
    refuse(STORE_READ, DSE_E_STORE, path,
           "the database is of version 11; this program knows versions up to 10. Use a newer ccldse");
    refuse(STORE_WRITE, DSE_E_STORE, path,
           "the database is of version 11; this program knows versions up to 10. Use a newer ccldse");
    end();
}

CLAIM(a_database_without_a_version_is_refused)
{
    begin();
    store_close(open_for(STORE_WRITE));
    set_header(60, 0);
    refuse(STORE_READ, DSE_E_STORE, path, "the database has no version; it is not whole");
    end();
}

static uint64_t file_hash(void)
{
    dse_strbuf text;
    uint64_t hash;

    dse_strbuf_init(&text);
    assert_int_equal(dse_read_file(path, 0, &text, NULL), DSE_OK);
    hash = dse_hash_bytes(text.data, text.len);
    dse_strbuf_free(&text);
    return hash;
}

/* tests/data/store/version1.db holds two points of the small card on ring8, as version 1 stored them; version2.db and
 * version3.db and version4.db two on boxes8, as those did; so version5.db, version7.db, version9.db. */
static void copy_of(const char *name)
{
    dse_strbuf text;
    char from[sizeof TEST_DATA + 32];

    snprintf(from, sizeof from, TEST_DATA "/store/%s", name);
    dse_strbuf_init(&text);
    assert_int_equal(dse_read_file(from, 0, &text, NULL), DSE_OK);
    unit_write(path, text.data, text.len);
    dse_strbuf_free(&text);
}

static void check_version_1(store *s)
{
    store_row *rows;

    assert_int_equal(list(s, "small", "ring8", &rows), 2);
    for (int i = 0; i < 2; i++) {
        assert_true(rows[i].done);
        assert_string_equal(rows[i].engine, "native-1");
        assert_string_equal(rows[i].settings, "");
        assert_false(rows[i].memory_rounded);
        assert_u64(rows[i].hash, dse_hash_bytes(rows[i].config, strlen(rows[i].config)));
        assert_true(rows[i].metrics.wall_time > 0 && rows[i].metrics.wall_time != STORE_ABSENT);
        assert_u64(rows[i].metrics.wall_time, rows[i].metrics.wall_time_rank0);
        assert_false(store_has_step(&rows[i].metrics));
        assert_u64(rows[i].metrics.peak_time, STORE_ABSENT);
        assert_null(rows[i].metrics.peak_node);
    }
}

CLAIM(a_writer_brings_a_database_of_version_1_to_this_one)
{
    store_row r = row("{\"a\":1}", 1, "m", 8, 5);
    store *s;

    begin();
    copy_of("version1.db");
    s = open_for(STORE_WRITE);
    check_version_1(s);
    put(s, r);
    store_close(s);
    s = open_for(STORE_READ);
    check_version_1(s);
    assert_int_equal(list(s, "m", NULL, &(store_row *){NULL}), 1);
    store_close(s);
    end();
}

/* Version 2 did not count what the model leaves out, nor look at links; its results are good all the same. */
CLAIM(a_database_of_version_2_is_brought_to_this_one_and_its_results_are_found)
{
    store_brief brief;
    store_row *rows, r;
    bool found;
    store *s;

    begin();
    copy_of("version2.db");
    s = open_for(STORE_WRITE);
    assert_int_equal(list(s, "small", "boxes8", &rows), 2);
    for (int i = 0; i < 2; i++) {
        assert_true(store_has_step(&rows[i].metrics));
        assert_u64(rows[i].metrics.undercharged_messages, STORE_ABSENT);
        assert_u64(rows[i].metrics.flat_ring_collectives, STORE_ABSENT);
        assert_true(isnan(rows[i].metrics.busiest_link_util));
        assert_null(rows[i].metrics.busiest_link);
        assert_ok(store_find(s, rows[i].hash, rows[i].config, &found, &brief, &err), &err);
        assert_true(found);
        assert_u64(brief.wall_time, rows[i].metrics.wall_time);
        assert_u64(brief.undercharged_messages, STORE_ABSENT);
        assert_u64(brief.flat_ring_collectives, STORE_ABSENT);
    }
    r = rows[0];
    r.metrics.undercharged_messages = 3;
    r.metrics.flat_ring_collectives = 0;
    put(s, r);
    assert_ok(store_find(s, r.hash, r.config, &found, &brief, &err), &err);
    assert_u64(brief.undercharged_messages, 3);
    assert_u64(brief.flat_ring_collectives, 0);
    store_close(s);
    end();
}

/* Version 3 also kept how many events a run took, which is no property of a point. It knew no skipped points. */
CLAIM(a_database_of_version_3_loses_its_events_and_nothing_else)
{
    store_brief brief;
    store_row *rows;
    bool found;
    store *s;

    begin();
    copy_of("version3.db");
    s = open_for(STORE_WRITE);
    assert_int_equal(list(s, "small", "boxes8", &rows), 2);
    for (int i = 0; i < 2; i++) {
        assert_true(store_has_step(&rows[i].metrics));
        assert_true(rows[i].metrics.messages > 0 && rows[i].metrics.messages != STORE_ABSENT);
        assert_true(rows[i].metrics.undercharged_messages != STORE_ABSENT);
        assert_ok(store_find(s, rows[i].hash, rows[i].config, &found, &brief, &err), &err);
        assert_true(found);
        assert_u64(brief.wall_time, rows[i].metrics.wall_time);
        assert_u64(rows[i].skipped_of_study, 0);
        put(s, rows[i]);
    }
    assert_ok(store_skip(s, 1, rows[0].study, &err), &err);
    assert_int_equal(list(s, NULL, NULL, &rows), 2);
    assert_u64(rows[0].skipped_of_study, 1);
    store_close(s);
    end();
}

/* Version 4 knew no bytes: what only they have is absent, and the parts of the peak add up without it. */
CLAIM(a_database_of_version_4_has_no_state_of_an_optimizer)
{
    store_row *rows;
    store *s;

    begin();
    copy_of("version4.db");
    s = open_for(STORE_WRITE);
    assert_int_equal(list(s, "small", "boxes8", &rows), 2);
    for (int i = 0; i < 2; i++) {
        const store_metrics *m = &rows[i].metrics;

        assert_u64(m->peak_optimizer, STORE_ABSENT);
        assert_u64(m->peak_gathered, STORE_ABSENT);
        assert_u64(m->peak_weights + m->peak_weight_gradients + m->peak_updated_weights +
                       m->peak_activations + m->peak_recomputed + m->peak_activation_gradients +
                       m->peak_inputs,
                   m->peak_memory);
        rows[i].metrics.peak_optimizer = 12;
        put(s, rows[i]);
    }
    assert_int_equal(list(s, "small", "boxes8", &rows), 2);
    assert_u64(rows[0].metrics.peak_optimizer, 12);
    store_close(s);
    end();
}

/* Version 9 had the whole configuration in each row. */
CLAIM(rows_of_version_9_keep_their_configurations)
{
    store_row *rows;
    int64_t n = 0;
    sqlite3_stmt *q;
    sqlite3 *db;
    store *s;

    begin();
    copy_of("version9.db");
    for (int write = 0; write < 2; write++) {
        s = open_for(write ? STORE_WRITE : STORE_READ);
        assert_int_equal(list(s, "small", "boxes8", &rows), 2);
        for (int i = 0; i < 2; i++) {
            store_brief brief;
            bool found;

            assert_u64(rows[i].hash, dse_hash_bytes(rows[i].config, strlen(rows[i].config)));
            if (!write)
                continue;
            assert_ok(store_find(s, rows[i].hash, rows[i].config, &found, &brief, &err), &err);
            assert_true(found);
        }
        store_close(s);
    }
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM study, result WHERE shared AND study = study.id",
                                        -1, &q, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    assert_int_equal(n, 2);
    end();
}

/* The hash of the configuration with another point. */
static uint64_t hash_with(const char *config, const char *point)
{
    const char *at = strstr(config, "\"point\":");
    const char *text;

    assert_non_null(at);
    text = dse_arena_printf(&arena, "%.*s\"point\":%s}", (int)(at - config), config, point);
    return dse_hash_bytes(text, strlen(text));
}

static void check_skipped(store *s, uint64_t hash, bool expected)
{
    bool found;

    assert_ok(store_is_skipped(s, hash, &found, &err), &err);
    assert_int_equal(found, expected);
}

/* Of a database of version 7 it is not known what its last sweep asked for, until the next one. */
CLAIM(rows_of_version_7_were_all_asked_for)
{
    store_row *rows;
    store *s;

    begin();
    copy_of("version7.db");
    s = open_for(STORE_WRITE);
    assert_int_equal(list(s, NULL, NULL, &rows), 2);
    assert_true(rows[0].asked && rows[1].asked);
    sweep_asks(s, &rows[1].hash, 1);
    assert_int_equal(list(s, NULL, NULL, &rows), 2);
    assert_false(rows[0].asked);
    assert_true(rows[1].asked);
    store_close(s);
    end();
}

/* The notes of a study whose placement was in its model: of two points, of one that has a row by now, and of one that
 * is no point. */
CLAIM(skipped_points_of_version_5_are_found_by_the_hash_of_this_one)
{
    static const char old_points[][90] = {
        "{\"dp\":8,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":true,\"weight_sharded\":false}",
        "{\"dp\":1,\"tp\":2,\"sp\":2,\"pp\":2,\"recompute\":false,\"weight_sharded\":true}",
        "{\"dp\":2,\"tp\":4,\"sp\":1,\"pp\":1,\"recompute\":false,\"weight_sharded\":false}",
        "{\"dp\":3,\"tp\":1,\"sp\":1,\"pp\":1,\"recompute\":false,\"weight_sharded\":true}"};
    char sql[120], point[150];
    store_unlisted unlisted;
    store_row *rows;
    uint64_t old_hash[4];
    sqlite3_stmt *q;
    sqlite3 *db;
    store *s;

    begin();
    copy_of("version5.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT config, study FROM result WHERE settings LIKE '%placement%'",
                                        -1, &q, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    for (int i = 0; i < 4; i++) {
        old_hash[i] = hash_with((const char *)sqlite3_column_text(q, 0), old_points[i]);
        snprintf(sql, sizeof sql, "INSERT INTO skipped VALUES (%" PRId64 ", %" PRId64 ")",
                 (int64_t)old_hash[i], (int64_t)sqlite3_column_int64(q, 1));
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    sqlite3_finalize(q);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO skipped VALUES (5, 6)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);

    s = open_for(STORE_WRITE);
    assert_int_equal(list(s, "small", "boxes8", &rows), 2);
    assert_string_equal(rows[1].settings, "layers=4");
    assert_u64(rows[1].skipped_of_study, 3); /* with the note that no point explains */
    assert_u64(rows[0].skipped_of_study, 0);
    for (int i = 0; i < 4; i++) {
        snprintf(point, sizeof point, "%.*s,\"placement\":\"tp-sp-dp-pp\"}", (int)strlen(old_points[i]) - 1,
                 old_points[i]);
        check_skipped(s, hash_with(rows[1].config, point), i < 2);
        check_skipped(s, old_hash[i], i == 3);
    }
    check_skipped(s, 5, true);
    assert_ok(store_count_unlisted(s, false, &unlisted, &err), &err);
    assert_u64(unlisted.points, 1);
    assert_ok(store_finish(s, &err), &err);
    end();
}

/* Version 1 kept no parts of the step: such a result is made again, and takes the place of the old one. */
CLAIM(a_native_result_without_its_parts_is_not_found)
{
    store_brief brief;
    store_row *rows;
    bool found;
    store *s;

    begin();
    copy_of("version1.db");
    s = open_for(STORE_WRITE);
    assert_int_equal(list(s, "small", "ring8", &rows), 2);
    assert_ok(store_find(s, rows[0].hash, rows[0].config, &found, &brief, &err), &err);
    assert_false(found);
    rows[0].metrics.step_compute_bound = rows[0].metrics.wall_time;
    rows[0].metrics.step_idle = 0;
    put(s, rows[0]);
    assert_ok(store_find(s, rows[0].hash, rows[0].config, &found, &brief, &err), &err);
    assert_true(found);
    assert_int_equal(list(s, "small", "ring8", &rows), 2);
    store_close(s);
    end();
}

CLAIM(another_engine_knows_no_parts_and_is_found)
{
    store_row r = row("{1}", 7, "m", 8, 100);
    store_brief brief;
    bool found;
    store *s;

    begin();
    r.engine = "astrasim";
    r.metrics.step_idle = STORE_ABSENT;
    s = open_for(STORE_WRITE);
    put(s, r);
    assert_ok(store_find(s, 7, "{1}", &found, &brief, &err), &err);
    assert_true(found);
    assert_u64(brief.wall_time, 100);
    store_close(s);
    end();
}

CLAIM(a_reader_leaves_a_database_of_version_1_as_it_is)
{
    uint64_t before;
    store *s;

    begin();
    copy_of("version1.db");
    before = file_hash();
    s = open_for(STORE_READ);
    check_version_1(s);
    store_close(s);
    assert_u64(file_hash(), before);
    end();
}

CLAIM(a_database_of_another_program_is_refused)
{
    uint64_t before;

    begin();
    store_close(open_for(STORE_WRITE));
    set_header(68, 0x99);
    refuse(STORE_READ, DSE_E_STORE, path, "this is a database, but not one of ccldse's");
    before = file_hash();
    refuse(STORE_WRITE, DSE_E_STORE, path, "this is a database, but not one of ccldse's");
    assert_u64(file_hash(), before); /* not a bit of it is ours to change */
    end();
}

CLAIM(a_folder_that_cannot_be_made_is_an_io_error)
{
    begin();
    unit_write_text(path, "x");
    snprintf(path + strlen(path), sizeof path - strlen(path), "/sub/r.db");
    err = (dse_error)DSE_ERROR_INIT;
    {
        store *s;

        assert_says(store_open(path, STORE_WRITE, &s, &err), &err, DSE_E_IO, "cannot make the folder");
    }
    end();
}

CLAIM(a_path_too_long_is_an_io_error)
{
    char longer[3000];
    store *s;

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(store_open(longer, STORE_READ, &s, &err), &err, DSE_E_IO, "is too long");
}

/* ---- other processes --------------------------------------------------------------------------------- */

/* Runs `what` in a child without the privileges of root, which may write anywhere. */
static int in_child(int (*what)(void))
{
    pid_t child = fork();
    int status;

    if (!child) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(77);
        _exit(what());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int open_in_read_only_folder(void)
{
    dse_error e = DSE_ERROR_INIT;
    store *s;

    if (store_open(path, STORE_WRITE, &s, &e) != DSE_E_IO || e.status != DSE_E_IO)
        return 1;
    return strstr(e.text, "Permission denied") && strstr(e.text, path) ? 0 : 2;
}

CLAIM(a_folder_that_may_not_be_written_is_an_io_error)
{
    int code;

    begin();
    chmod(folder, 0555);
    code = in_child(open_in_read_only_folder);
    chmod(folder, 0755);
    end();
    if (code == 77)
        skip();
    assert_int_equal(code, 0);
}

/* An old database that may only be read: it is, and a writer says why it cannot go on. */
static int open_read_only_version_1(void)
{
    dse_error e = DSE_ERROR_INIT;
    store_row *rows;
    dse_arena a;
    size_t n = 0;
    store *s;

    if (store_open(path, STORE_WRITE, &s, &e) != DSE_E_IO || !strstr(e.text, "Permission denied"))
        return 1;
    if (store_open(path, STORE_READ, &s, NULL) != DSE_OK)
        return 2;
    dse_arena_init(&a);
    if (store_list(s, NULL, NULL, &a, &rows, &n, NULL) != DSE_OK || n != 2)
        return 3;
    dse_arena_free(&a);
    store_close(s);
    return 0;
}

CLAIM(an_old_database_that_may_not_be_written_is_read_all_the_same)
{
    uint64_t before;
    int code;

    begin();
    copy_of("version1.db");
    before = file_hash();
    chmod(path, 0444);
    chmod(folder, 0777); /* for the lock */
    code = in_child(open_read_only_version_1);
    assert_u64(file_hash(), before);
    end();
    if (code == 77)
        skip();
    assert_int_equal(code, 0);
}

/* A child that opens the database for writing, puts a row, says so, and waits until its pipe is closed. */
static pid_t holding_child(int *to_child)
{
    int ready[2], go[2];
    char c = 0;
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    child = fork();
    if (!child) {
        store_row r = row("{child}", 1, "m", 8, 5);
        store *s;

        close(go[1]);
        if (store_open(path, STORE_WRITE, &s, NULL) != DSE_OK || store_put(s, &r, NULL) != DSE_OK)
            c = 1;
        (void)!write(ready[1], &c, 1);
        (void)!read(go[0], &c, 1);
        _exit(0); /* without closing: as if killed */
    }
    close(go[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(c, 0);
    close(ready[0]);
    *to_child = go[1];
    return child;
}

CLAIM(a_second_writer_is_told_who_the_first_is)
{
    char message[200];
    pid_t child;
    int hold, status;
    store *s;

    begin();
    child = holding_child(&hold);
    snprintf(message, sizeof message,
             "another run (process %ld) is writing to this database; wait for it, or use another --db",
             (long)child);
    refuse(STORE_WRITE, DSE_E_STORE, path, message);
    close(hold);
    assert_int_equal(waitpid(child, &status, 0), child);
    err = (dse_error)DSE_ERROR_INIT;
    s = open_for(STORE_WRITE); /* the lock went with the process */
    store_close(s);
    end();
}

CLAIM(readers_may_read_while_another_process_writes)
{
    store_row *rows;
    pid_t child;
    int hold, status;
    store *s;

    begin();
    child = holding_child(&hold);
    s = open_for(STORE_READ);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    store_close(s);
    close(hold);
    assert_int_equal(waitpid(child, &status, 0), child);
    end();
}

CLAIM(a_result_survives_the_death_of_who_put_it)
{
    store_row *rows;
    pid_t child;
    int hold, status;
    store *s;

    begin();
    child = holding_child(&hold);
    kill(child, SIGKILL);
    close(hold);
    assert_int_equal(waitpid(child, &status, 0), child);
    s = open_for(STORE_READ);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    assert_string_equal(rows[0].config, "{child}");
    store_close(s);
    end();
}

static void put_without_indexes(bool close_it)
{
    store *s = open_for(STORE_WRITE);

    assert_ok(store_defer_indexes(s, &err), &err);
    put(s, row("{a}", 1, "m", 1, 10));
    put(s, row("{b}", 2, "m", 2, 20));
    if (close_it)
        store_close(s);
}

/* Also those that whoever was killed before did not come to: a row that its index lacks would be put twice. */
CLAIM(rows_that_were_put_without_indexes_are_found_and_replaced)
{
    for (int killed = 0; killed < 2; killed++) {
        store_brief brief;
        store_row *rows;
        bool found;
        pid_t child;
        int status;
        store *s;

        begin();
        child = fork();
        if (!child) {
            put_without_indexes(!killed);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        s = open_for(STORE_READ);
        assert_int_equal(list(s, NULL, NULL, &rows), 2);
        store_close(s);
        s = open_for(STORE_WRITE);
        assert_ok(store_defer_indexes(s, &err), &err); /* with rows there, this asks for nothing */
        put(s, row("{b}", 2, "m", 2, 21));
        assert_ok(store_find(s, 1, "{a}", &found, &brief, &err), &err);
        assert_int_equal(list(s, NULL, NULL, &rows), 2);
        assert_u64(rows[1].metrics.wall_time, 21);
        assert_ok(store_finish(s, &err), &err);
        end();
    }
}

static int read_left_log(void)
{
    dse_error e = DSE_ERROR_INIT;
    store *s;

    if (store_open(path, STORE_READ, &s, &e) != DSE_E_IO || e.status != DSE_E_IO)
        return 1;
    return strstr(e.text, "a run that was killed left its last results in") ? 0 : 2;
}

/* Its log has an index, which SQLite has to make anew where it is gone. */
CLAIM(what_a_killed_run_left_in_a_folder_that_may_not_be_written_is_explained)
{
    char index[120];
    pid_t child;
    int hold, status, code;

    begin();
    child = holding_child(&hold);
    kill(child, SIGKILL);
    close(hold);
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(index, sizeof index, "%s-shm", path);
    assert_int_equal(unlink(index), 0);
    chmod(folder, 0555);
    code = in_child(read_left_log);
    chmod(folder, 0755);
    end();
    if (code == 77)
        skip();
    assert_int_equal(code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_for_writing_makes_the_folder),
        cmocka_unit_test(a_closed_database_is_one_file_for_all_to_read),
        cmocka_unit_test(closing_nothing_is_fine),
        cmocka_unit_test(a_database_that_is_not_there_is_not_read),
        cmocka_unit_test(an_empty_file_is_no_database_to_read),
        cmocka_unit_test(a_file_of_another_kind_is_refused),
        cmocka_unit_test(a_database_of_a_newer_version_is_refused),
        cmocka_unit_test(a_database_without_a_version_is_refused),
        cmocka_unit_test(a_writer_brings_a_database_of_version_1_to_this_one),
        cmocka_unit_test(a_database_of_version_2_is_brought_to_this_one_and_its_results_are_found),
        cmocka_unit_test(a_database_of_version_3_loses_its_events_and_nothing_else),
        cmocka_unit_test(a_database_of_version_4_has_no_state_of_an_optimizer),
        cmocka_unit_test(rows_of_version_7_were_all_asked_for),
        cmocka_unit_test(rows_of_version_9_keep_their_configurations),
        cmocka_unit_test(skipped_points_of_version_5_are_found_by_the_hash_of_this_one),
        cmocka_unit_test(a_native_result_without_its_parts_is_not_found),
        cmocka_unit_test(another_engine_knows_no_parts_and_is_found),
        cmocka_unit_test(a_reader_leaves_a_database_of_version_1_as_it_is),
        cmocka_unit_test(a_database_of_another_program_is_refused),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_an_io_error),
        cmocka_unit_test(a_path_too_long_is_an_io_error),
        cmocka_unit_test(a_folder_that_may_not_be_written_is_an_io_error),
        cmocka_unit_test(an_old_database_that_may_not_be_written_is_read_all_the_same),
        cmocka_unit_test(a_second_writer_is_told_who_the_first_is),
        cmocka_unit_test(readers_may_read_while_another_process_writes),
        cmocka_unit_test(a_result_survives_the_death_of_who_put_it),
        cmocka_unit_test(rows_that_were_put_without_indexes_are_found_and_replaced),
        cmocka_unit_test(what_a_killed_run_left_in_a_folder_that_may_not_be_written_is_explained),
    };
    return RUN_TESTS(tests);
}
