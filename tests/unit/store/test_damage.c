/* Databases that are not what was written, by accident or by intent. */
#define _GNU_SOURCE /* memmem */
#include "base/strbuf.h"
#include "unit/store/database.h"

#include <sqlite3.h>
#include <sys/stat.h>

/* ---- one flipped bit ------------------------------------------------------------------------------------- */

/* All that a reader gets of the database, or what it is told instead. */
static dse_status print_rows(dse_strbuf *out, dse_error *e)
{
    size_t n, n_columns;
    const store_column *c = store_columns(&n_columns);
    dse_arena a;
    store_row *rows;
    store *s;
    dse_status st = store_open(path, STORE_READ, &s, e);

    if (st != DSE_OK)
        return st;
    dse_arena_init(&a);
    st = store_list(s, NULL, NULL, &a, &rows, &n, e);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        const store_row *r = &rows[i];

        dse_strbuf_addf(out,
                        "%s|%s|%s|%s|%s|%s|%d|%g|%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %u %d %d",
                        r->config, r->model, r->system, r->engine, r->settings, r->error, r->done, r->seconds,
                        r->memory_rounded, r->hash, r->study, r->skipped_of_study, r->strategy.dp, r->strategy.tp, r->strategy.sp, r->strategy.pp,
                        r->strategy.recompute, r->strategy.weight_sharded);
        for (size_t k = 0; k < n_columns; k++) {
            dse_strbuf_addf(out, "|%.17g", store_value(&r->metrics, &c[k]));
            if (c[k].type == STORE_TEXT && store_text(&r->metrics, &c[k]))
                dse_strbuf_adds(out, store_text(&r->metrics, &c[k]));
        }
    }
    dse_arena_free(&a);
    store_close(s);
    return st;
}

static void make_database(void)
{
    store_row failed = row("{\"a\":9}", 9, "n", 4, 8);
    store *s = open_for(STORE_WRITE);
    char config[40];

    failed.done = false;
    failed.error = "rank 3: deadlock";
    for (uint32_t i = 1; i <= 6; i++) {
        snprintf(config, sizeof config, "{\"a\":%u}", i);
        put(s, row(config, i * 0x9e3779b97f4a7c15u, i % 2 ? "m" : "n", i, 100 + i));
    }
    put(s, failed);
    assert_ok(store_skip(s, 77, 0xfedcba9876543210u, &err), &err);
    assert_ok(store_skip(s, 78, 5, &err), &err);
    assert_ok(store_finish(s, &err), &err);
}

static void flip(long offset, int bit)
{
    FILE *f = fopen(path, "r+b");
    int c;

    assert_non_null(f);
    fseek(f, offset, SEEK_SET);
    c = fgetc(f);
    fseek(f, offset, SEEK_SET);
    fputc(c ^ 1 << bit, f);
    fclose(f);
}

/* Every byte of the pages in turn would take a minute; a step that divides no page comes to every part of them. */
CLAIM(a_flipped_bit_changes_nothing_or_is_told)
{
    const char *step = getenv("DAMAGE_STEP");
    dse_strbuf whole, seen;
    struct stat sb;
    size_t told = 0, n = 0;

    begin();
    make_database();
    dse_strbuf_init(&whole);
    dse_strbuf_init(&seen);
    assert_ok(print_rows(&whole, &err), &err);
    assert_int_equal(stat(path, &sb), 0);
    for (long i = 0; i < sb.st_size; i += step ? atol(step) : 23) {
        dse_error e = DSE_ERROR_INIT;

        flip(i, (int)(i % 8));
        dse_strbuf_clear(&seen);
        n++;
        if (print_rows(&seen, &e) != DSE_OK) {
            assert_true(e.text[0] != '\0');
            told++;
        } else if (strcmp(whole.data, seen.data) != 0) {
            fail_msg("byte %ld, bit %ld: other rows without a word", i, i % 8);
        }
        flip(i, (int)(i % 8));
    }
    assert_true(told > n / 20); /* most of a page is empty */
    dse_strbuf_free(&whole);
    dse_strbuf_free(&seen);
    end();
}

static void run_sql(const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void refuse_to_list(const char *text)
{
    store *s = open_for(STORE_READ);
    store_row *rows;
    size_t n;

    assert_failure(store_list(s, "m", NULL, &arena, &rows, &n, &err), &err, DSE_E_STORE, path, text);
    err = (dse_error)DSE_ERROR_INIT;
    store_close(s);
}

/* ---- the configuration of a study ------------------------------------------------------------------------ */

#define STUDY "{\"engine\":\"native-1\",\"model\":{\"layers\":4,\"d_model\":512},\"settings\":\"\""

/* Rows of one study with two points. */
static void make_study(void)
{
    store *s = open_for(STORE_WRITE);
    char config[200];

    for (uint32_t i = 1; i <= 2; i++) {
        store_row r;

        snprintf(config, sizeof config, STUDY ",\"point\":{\"dp\":%u}}", i);
        r = row(config, dse_hash_bytes(config, strlen(config)), "m", i, 100 + i);
        r.study = dse_hash_bytes(STUDY "}", strlen(STUDY "}"));
        put(s, r);
    }
    assert_ok(store_finish(s, &err), &err);
}

/* Where the study's text is in the file; it is there once. */
static long find_study(void)
{
    dse_strbuf text;
    const char *at;
    long found;

    dse_strbuf_init(&text);
    assert_int_equal(dse_read_file(path, 0, &text, NULL), DSE_OK);
    at = memmem(text.data, text.len, STUDY, strlen(STUDY));
    assert_non_null(at);
    found = at - text.data;
    assert_null(memmem(at + 1, text.len - (size_t)found - 1, STUDY, strlen(STUDY)));
    dse_strbuf_free(&text);
    return found;
}

static void check_configurations(store *s)
{
    store_row *rows;

    assert_int_equal(list(s, NULL, NULL, &rows), 2);
    assert_string_equal(rows[0].config, STUDY ",\"point\":{\"dp\":1}}");
    assert_string_equal(rows[1].config, STUDY ",\"point\":{\"dp\":2}}");
}

CLAIM(one_byte_of_a_configuration_that_rows_share_is_mended)
{
    store *s;
    long at;

    begin();
    make_study();
    at = find_study();
    for (int i = 0; i < (int)strlen(STUDY "}"); i++) {
        flip(at + i, i % 8);
        s = open_for(STORE_READ);
        check_configurations(s);
        store_close(s);
        flip(at + i, i % 8);
    }
    flip(at + 5, 3);
    store_close(open_for(STORE_WRITE)); /* mends the file */
    assert_int_equal(find_study(), at);
    end();
}

CLAIM(rows_whose_common_configuration_is_lost_are_told_and_made_again)
{
    store_row *rows;
    uint64_t lost;
    store *s;
    long at;

    begin();
    make_study();
    at = find_study();
    flip(at + 3, 3);
    flip(at + 9, 1);
    refuse_to_list("row 1 and others are not what was written; the same sweep removes it and simulates its point again");
    s = open_for(STORE_WRITE);
    assert_true(store_was_damaged(s, &lost));
    assert_u64(lost, 2);
    assert_int_equal(list(s, NULL, NULL, &rows), 0);
    store_close(s);
    make_study();
    s = open_for(STORE_READ);
    check_configurations(s);
    store_close(s);
    end();
}

/* A configuration that is not its study's and a point, in this order, stays as it is. */
CLAIM(other_configurations_are_not_shared)
{
    static const char *const configs[] = {STUDY ",\"point\":{\"dp\":1}}", "{\"a\":1,\"point\":{\"dp\":1},\"b\":2}",
                                          ",\"point\":}", "{,\"point\":}", "}", ""};
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    for (uint32_t i = 0; i < sizeof configs / sizeof configs[0]; i++)
        put(s, row(configs[i], i + 1, "m", i + 1, 5));
    for (uint32_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        store_brief brief;
        bool found;

        assert_ok(store_find(s, i + 1, configs[i], &found, &brief, &err), &err);
        assert_true(found);
    }
    store_close(s);
    end();
}

/* ---- rows that another program changed --------------------------------------------------------------------- */

/* Also if the row is of another model than those asked for: what it is of may be what changed. */
CLAIM(a_row_that_is_not_what_was_written_is_told_and_made_again)
{
    bool found;
    uint64_t lost;
    store_brief brief;
    store_row *rows;
    store *s;

    begin();
    make_database();
    run_sql("UPDATE result SET wall_time = 1 WHERE id = 2");
    refuse_to_list("row 2 is not what was written; the same sweep removes it and simulates its point again");
    run_sql("UPDATE result SET peak_pass = 'forward' WHERE id = 3");
    refuse_to_list(
        "row 2 and others are not what was written; the same sweep removes it and simulates its point again");
    s = open_for(STORE_WRITE);
    assert_true(store_was_damaged(s, &lost));
    assert_u64(lost, 2);
    assert_int_equal(list(s, NULL, NULL, &rows), 5);
    assert_ok(store_find(s, 2 * 0x9e3779b97f4a7c15u, "{\"a\":2}", &found, &brief, &err), &err);
    assert_false(found);
    put(s, row("{\"a\":2}", 2 * 0x9e3779b97f4a7c15u, "n", 2, 102));
    assert_ok(store_finish(s, &err), &err);
    s = open_for(STORE_WRITE);
    assert_false(store_was_damaged(s, &lost));
    assert_int_equal(list(s, NULL, NULL, &rows), 6);
    store_close(s);
    end();
}

/* What is shown is what was written, also of a file without the index of points; what is wrong elsewhere is
 * told by a list. */
CLAIM(of_one_point_its_rows_alone_are_checked)
{
    const strategy first = unit_point("1_1_2_3_1"), second = unit_point("2_1_2_3_1");
    const store_filter of_first = {.point = &first}, of_second = {.point = &second};
    store_row *rows;
    size_t n;
    store *s;

    begin();
    make_database();
    run_sql("UPDATE result SET wall_time = 1 WHERE id = 2; DROP INDEX result_point");
    s = open_for(STORE_READ);
    assert_ok(store_select(s, &of_first, &arena, &rows, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_u64(rows[0].metrics.wall_time, 101);
    assert_failure(store_select(s, &of_second, &arena, &rows, &n, &err), &err, DSE_E_STORE, path,
                   "row 2 is not what was written; the same sweep removes it and simulates its point again");
    err = (dse_error)DSE_ERROR_INIT;
    store_close(s);
    s = open_for(STORE_WRITE); /* which makes the index again */
    store_close(s);
    run_sql("DROP INDEX result_point");
    end();
}

/* Another program may remove rows; it cannot lose them. */
CLAIM(rows_may_be_removed_but_not_lost)
{
    store_row *rows;
    uint64_t lost;
    store *s;

    begin();
    make_database();
    run_sql("DELETE FROM result WHERE id = 2; DELETE FROM skipped");
    s = open_for(STORE_READ);
    assert_int_equal(list(s, NULL, NULL, &rows), 6);
    store_close(s);
    run_sql("DROP TRIGGER result_removed; DELETE FROM result WHERE id = 3");
    refuse_to_list("the database is damaged: it has 5 of 6 rows; the same sweep simulates what is missing");
    s = open_for(STORE_WRITE);
    assert_true(store_was_damaged(s, &lost));
    assert_u64(lost, 1);
    assert_int_equal(list(s, NULL, NULL, &rows), 5);
    store_close(s);
    end();
}

/* Bringing a file to this version makes its checksums anew. */
CLAIM(damage_of_an_older_version_is_told_after_its_migration)
{
    store_row *rows;
    uint64_t lost;
    store *s;

    begin();
    make_database();
    run_sql("UPDATE result SET wall_time = 1 WHERE id = 2; PRAGMA user_version = 8");
    refuse_to_list("row 2 is not what was written; the same sweep removes it and simulates its point again");
    run_sql("DROP TRIGGER result_removed; DELETE FROM result WHERE id IN (2, 3); DROP TABLE price");
    refuse_to_list("the database is damaged: it has 5 of 7 rows; the same sweep simulates what is missing");
    s = open_for(STORE_WRITE);
    assert_true(store_was_damaged(s, &lost));
    assert_u64(lost, 2);
    assert_int_equal(list(s, NULL, NULL, &rows), 5);
    store_close(s);
    end();
}

/* What the file says of its tables is text, too: nothing of it shows before somebody asks for the column. */
CLAIM(a_column_whose_name_is_damaged_is_told_before_a_sweep)
{
    static const char *const names[][2] = {{"price", "study"},   {"price", "power"},  {"asked", "hash"},
                                           {"skipped", "hash"},  {"study", "config"}, {"result", "engine"},
                                           {"total", "checksum"}};
    static const store_mode modes[] = {STORE_READ, STORE_WRITE};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int m = 0; m < 2; m++) {
            char sql[300];
            store *s;

            begin();
            make_database();
            snprintf(
                sql, sizeof sql,
                "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '%s', 'damaged')"
                " WHERE name = '%s'",
                names[i][1], names[i][0]);
            run_sql(sql);
            assert_says(store_open(path, modes[m], &s, &err), &err, DSE_E_STORE,
                        "move it away, and the same sweep makes a new one");
            end();
        }
}

/* ---- names that would leave a folder, or command a terminal -------------------------------------------------- */

static void refuse_row(store_row r, const char *text)
{
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    assert_says(store_put(s, &r, &err), &err, DSE_E_STORE, text);
    store_close(s);
    end();
}

CLAIM(names_of_a_row_are_plain)
{
    static const char *const names[] = {"../../escaped",
                                        "",
                                        "..",
                                        "a/b",
                                        "a\033[2J",
                                        "a\nb",
                                        "\xe2\x80\xae"
                                        "gnp",
                                        "\xe2\x81\xa6x",
                                        "\xc2\x9b"
                                        "1m",
                                        "\xff"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        store_row r = row("{}", 1, names[i], 8, 5);

        refuse_row(r, "which is no plain name");
        r.model = "m";
        r.system = names[i];
        refuse_row(r, "which is no plain name");
        r.system = "s";
        r.engine = names[i];
        refuse_row(r, "which is no plain name");
    }
    refuse_row(row("{\"\033\"}", 1, "m", 8, 5),
               "a row has the configuration '{\"\033\"}', which is no printable text");
}

/* Written by another program, and as old as before there were checksums. */
static void make_old_database_with(const char *column, const char *value)
{
    char sql[400];

    make_database();
    snprintf(sql, sizeof sql,
             "DROP TRIGGER result_added; DROP TRIGGER result_removed; DROP TRIGGER skipped_added;"
             "DROP TRIGGER skipped_removed; DROP TABLE total; ALTER TABLE result DROP COLUMN checksum;"
             "ALTER TABLE result DROP COLUMN placement; ALTER TABLE result DROP COLUMN stages;"
             "UPDATE result SET %s = %s WHERE id = 1; PRAGMA user_version = 5",
             column, value);
    run_sql(sql);
}

CLAIM(a_row_with_such_a_name_or_degree_is_refused_when_it_is_read)
{
    static const char *const refused[][3] = {
        {"model", "'../../escaped'", "a row has the model '../../escaped', which is no plain name"},
        {"system", "'a/b'", "a row has the system 'a/b', which is no plain name"},
        {"dp", "0", "the row of m on s has a strategy that is none"},
        {"tp", "4294967297", "the row of m on s has a strategy that is none"}};

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char says[600];
        store_row *rows;
        size_t n;
        store *s;

        begin();
        make_old_database_with(refused[i][0], refused[i][1]);
        s = open_for(STORE_READ);
        snprintf(
            says, sizeof says,
            "%s, so no sweep has written it; remove it (sqlite3 '%s' 'DELETE FROM result WHERE id = 1'), or "
            "move the database away, and the same sweep simulates its point",
            refused[i][2], path);
        assert_failure(store_list(s, NULL, NULL, &arena, &rows, &n, &err), &err, DSE_E_STORE, path, says);
        store_close(s);
        err = (dse_error)DSE_ERROR_INIT;
        run_sql("DELETE FROM result WHERE id = 1");
        s = open_for(STORE_WRITE);
        assert_int_equal(list(s, NULL, NULL, &rows), 6);
        store_close(s);
        end();
    }
}

/* Reasons of failures come from other programs, and may hold anything. */
CLAIM(commands_to_a_terminal_are_masked_in_what_is_read)
{
    store_row *rows, r = row("{}", 1, "m", 8, 5);
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    r.metrics.peak_node = "a\033[2Jb\xe2\x80\xae";
    put(s, r);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    assert_string_equal(rows[0].metrics.peak_node, "a?[2Jb???");
    r.done = false;
    r.error = "one\n\033two\xe2\x81\xa9";
    put(s, r);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    assert_string_equal(rows[0].error, "one\n?two???");
    store_close(s);
    end();
}

/* ---- files --------------------------------------------------------------------------------------------------- */

CLAIM(a_file_with_a_second_name_is_not_written_to)
{
    char other[120];
    store *s;

    begin();
    make_database();
    snprintf(other, sizeof other, "%s.other", path);
    assert_int_equal(link(path, other), 0);
    assert_failure(store_open(path, STORE_WRITE, &s, &err), &err, DSE_E_STORE, path,
                   "the file has a second name (a hard link), by which another run could write to it; copy "
                   "it, and write "
                   "to the copy");
    err = (dse_error)DSE_ERROR_INIT;
    store_close(open_for(STORE_READ));
    end();
}

/* A name that is made while the first writes. */
CLAIM(a_writer_locks_the_file_and_not_its_name)
{
    char other[120];
    store *s, *second;

    begin();
    s = open_for(STORE_WRITE);
    snprintf(other, sizeof other, "%s.other", path);
    assert_int_equal(rename(path, other), 0);
    assert_failure(
        store_open(other, STORE_WRITE, &second, &err), &err, DSE_E_STORE, other,
        "another run is writing to this database by another name; wait for it, or use another --db");
    store_close(s);
    end();
}

CLAIM(a_symbolic_link_is_the_file_that_it_leads_to)
{
    char other[120];
    store_row *rows;
    store *s;

    begin();
    make_database();
    snprintf(other, sizeof other, "%s.other", path);
    assert_int_equal(symlink(path, other), 0);
    assert_ok(store_open(other, STORE_WRITE, &s, &err), &err);
    put(s, row("{\"new\":1}", 1, "m", 8, 5));
    assert_ok(store_finish(s, &err), &err);
    s = open_for(STORE_READ);
    assert_int_equal(list(s, NULL, NULL, &rows), 8);
    store_close(s);
    end();
}

CLAIM(a_writer_whose_file_is_gone_says_so)
{
    static const char gone[] = "the database was removed or replaced while this run wrote to it, and the "
                               "results with it; run it again";
    store_row r = row("{1}", 1, "m", 8, 5);
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    assert_int_equal(unlink(path), 0);
    assert_failure(store_put(s, &r, &err), &err, DSE_E_STORE, path, gone);
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(store_finish(s, &err), &err, DSE_E_STORE, path, gone);
    end();
}

/* What was committed lies in the log until the end. */
/* What is put after that would else wait for a commit that nobody asks for. */
CLAIM(a_transaction_that_cannot_begin_is_none)
{
    store_row r = row("{}", 1, "m", 8, 5), *rows;
    sqlite3 *db;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "ALTER TABLE figures RENAME TO other", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_begin(s, &err), DSE_E_STORE);
    assert_int_equal(sqlite3_exec(db, "ALTER TABLE other RENAME TO figures", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(store_put(s, &r, &err), &err);
    store_close(s);
    s = open_for(STORE_READ);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    store_close(s);
    end();
}

CLAIM(a_writer_whose_log_is_cut_says_so)
{
    char log[120];
    store *s;

    begin();
    make_database();
    s = open_for(STORE_WRITE);
    for (uint32_t i = 1; i <= 20; i++)
        put(s, row("{1}", i, "m", i, 5));
    snprintf(log, sizeof log, "%s-wal", path);
    assert_int_equal(truncate(log, 0), 0);
    assert_int_not_equal(store_finish(s, &err), DSE_OK);
    assert_true(err.text[0] != '\0');
    end();
}

/* ---- certificates of a search ---------------------------------------------------------------------------- */

/* How many there are, the first into *out. */
static size_t get_searched(store_searched *out)
{
    store *s = open_for(STORE_READ);
    store_searched *all;
    size_t n;

    assert_ok(store_get_searched(s, &arena, &all, &n, &err), &err);
    store_close(s);
    if (n)
        *out = all[0];
    return n;
}

static void ask_and_note(void)
{
    const store_searched notes[] = {
        {"m", "s", 3, false, 0.0625, 16000000000000000000u, 5.2e40, true, 99, NAN},
        {"n", "s", 0, true, 0, 0, 7, false, 1, 80e9}};
    const uint64_t hashes[] = {1, (uint64_t)1 << 63, 5};
    store *s = open_for(STORE_WRITE);

    sweep_asks(s, hashes, 3);
    assert_ok(store_put_searched(s, notes, 2, &err), &err);
    assert_ok(store_finish(s, &err), &err);
}

CLAIM(a_certificate_lasts_as_long_as_its_points_are_asked_for)
{
    const uint64_t other = 6;
    store_searched c;
    store *s;

    begin();
    store_close(open_for(STORE_WRITE));
    assert_int_equal(get_searched(&c), 0); /* there was no search */
    ask_and_note();
    ask_and_note(); /* in the place of the first */
    assert_int_equal(get_searched(&c), 2);
    assert_string_equal(c.model, "m");
    assert_string_equal(c.system, "s");
    assert_u64(c.n, 3);
    assert_false(c.is_finished);
    assert_double(c.gap, 0.0625);
    assert_u64(c.least_step, 16000000000000000000u);
    assert_double(c.points, 5.2e40);
    assert_true(c.has_all);
    assert_u64(c.boxes, 99);
    assert_true(isnan(c.hbm_bytes));
    s = open_for(STORE_WRITE);
    assert_ok(store_ask(s, &other, 1, &err), &err); /* as an import does */
    assert_ok(store_finish(s, &err), &err);
    assert_int_equal(get_searched(&c), 0);
    end();
}

static void sweep_of(const uint64_t *hashes, size_t n)
{
    store *s = open_for(STORE_WRITE);

    sweep_asks(s, hashes, n);
    assert_ok(store_finish(s, &err), &err);
}

/* Whoever asks for the points without a search wants them ranked as any others. */
CLAIM(a_sweep_of_the_same_points_ends_a_certificate)
{
    const uint64_t same[] = {1, (uint64_t)1 << 63, 5};
    store_searched c;

    begin();
    ask_and_note();
    assert_int_equal(get_searched(&c), 2);
    sweep_of(same, 3);
    assert_int_equal(get_searched(&c), 0);
    end();
}

/* No row is asked for then, and not all, as where nothing was noted ever; what is imported is. */
CLAIM(a_search_that_finds_nothing_asks_for_nothing)
{
    const store_searched note = {"m", "s", 0, true, 0, 0, 7, true, 1, 80e9};
    const uint64_t known = 7;
    store_row r = row("{}", known, "m", 4, 5), *rows;
    store_searched c;
    store *s;
    size_t n;

    begin();
    s = open_for(STORE_WRITE);
    assert_ok(store_put(s, &r, &err), &err);
    sweep_asks(s, &known, 1);
    assert_ok(store_finish(s, &err), &err);
    for (int asked = 0; asked < 2; asked++) {
        s = open_for(STORE_WRITE);
        if (asked) {
            assert_ok(store_ask(s, &known, 1, &err), &err);
        } else {
            sweep_asks(s, NULL, 0);
            assert_ok(store_put_searched(s, &note, 1, &err), &err);
        }
        assert_ok(store_finish(s, &err), &err);
        assert_int_equal(get_searched(&c), asked ? 0 : 1);
        s = open_for(STORE_READ);
        assert_ok(store_list(s, NULL, NULL, &arena, &rows, &n, &err), &err);
        store_close(s);
        assert_int_equal(n, 1);
        assert_int_equal(rows[0].asked, asked);
    }
    end();
}

CLAIM(a_certificate_that_is_not_what_was_written_is_none)
{
    store_searched c;
    sqlite3 *db;

    begin();
    ask_and_note();
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "UPDATE searched SET gap = 0 WHERE place = 0", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(get_searched(&c), 1);
    assert_string_equal(c.model, "n");
    assert_double(c.hbm_bytes, 80e9);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flipped_bit_changes_nothing_or_is_told),
        cmocka_unit_test(one_byte_of_a_configuration_that_rows_share_is_mended),
        cmocka_unit_test(rows_whose_common_configuration_is_lost_are_told_and_made_again),
        cmocka_unit_test(other_configurations_are_not_shared),
        cmocka_unit_test(a_row_that_is_not_what_was_written_is_told_and_made_again),
        cmocka_unit_test(of_one_point_its_rows_alone_are_checked),
        cmocka_unit_test(rows_may_be_removed_but_not_lost),
        cmocka_unit_test(damage_of_an_older_version_is_told_after_its_migration),
        cmocka_unit_test(a_column_whose_name_is_damaged_is_told_before_a_sweep),
        cmocka_unit_test(names_of_a_row_are_plain),
        cmocka_unit_test(a_row_with_such_a_name_or_degree_is_refused_when_it_is_read),
        cmocka_unit_test(commands_to_a_terminal_are_masked_in_what_is_read),
        cmocka_unit_test(a_file_with_a_second_name_is_not_written_to),
        cmocka_unit_test(a_writer_locks_the_file_and_not_its_name),
        cmocka_unit_test(a_symbolic_link_is_the_file_that_it_leads_to),
        cmocka_unit_test(a_writer_whose_file_is_gone_says_so),
        cmocka_unit_test(a_transaction_that_cannot_begin_is_none),
        cmocka_unit_test(a_writer_whose_log_is_cut_says_so),
        cmocka_unit_test(a_certificate_lasts_as_long_as_its_points_are_asked_for),
        cmocka_unit_test(a_sweep_of_the_same_points_ends_a_certificate),
        cmocka_unit_test(a_search_that_finds_nothing_asks_for_nothing),
        cmocka_unit_test(a_certificate_that_is_not_what_was_written_is_none),
    };

    return RUN_TESTS(tests);
}
