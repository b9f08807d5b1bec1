/* What a ranking reads instead of the rows: the same figures, or those of the rows, whatever happened to the file. */
#include "base/strbuf.h"
#include "unit/store/database.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_sql(const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

typedef struct {
    store *s;
    dse_strbuf *out;
    const store_column *by;
    bool whole; /* rows are read whole, too */
} printing;

/* All that store_each_figures promises. */
static dse_status print_row(void *user, const store_row *r, dse_error *e)
{
    const printing *p = user;
    char name[STRATEGY_NAME_MAX];
    store_row whole;
    dse_arena a;
    dse_status st = DSE_OK;

    strategy_name(&r->strategy, NULL, name);
    dse_strbuf_addf(
        p->out,
        "%" PRId64 "|%s|%s|%s|%s|%" PRIx64 "|%s|%d%d%d|%" PRIu64 "|%.17g|%.17g|%.17g|%.17g|%.17g|%.17g\n",
        r->id, r->model, r->system, r->engine, r->settings, r->study, name, r->done, r->asked,
        r->memory_rounded, r->skipped_of_study, store_value(&r->metrics, store_column_find("wall_time")),
        store_value(&r->metrics, store_column_find("peak_memory")), r->metrics.busiest_link_util,
        store_value(&r->metrics, store_column_find("undercharged_messages")),
        store_value(&r->metrics, store_column_find("flat_ring_collectives")),
        store_value(&r->metrics, p->by));
    if (!p->whole)
        return DSE_OK;
    dse_arena_init(&a);
    st = store_read(p->s, r, true, &a, &whole, e);
    if (st == DSE_OK)
        dse_strbuf_addf(p->out, "%s|%.17g\n", whole.config, whole.seconds);
    dse_arena_free(&a);
    return st;
}

static dse_status print_figures(store *s, const char *by, bool whole, dse_strbuf *out, dse_error *e)
{
    const store_filter all = {0};
    printing p = {s, out, store_column_find(by), whole};

    return store_each_figures(s, &all, p.by, print_row, &p, e);
}

static dse_status print_file(const char *by, dse_strbuf *out, dse_error *e)
{
    store *s;
    dse_status st = store_open(path, STORE_READ, &s, e);

    if (st != DSE_OK)
        return st;
    st = print_figures(s, by, true, out, e);
    store_close(s);
    return st;
}

static void check_same_as_rows(store *s)
{
    size_t n;
    const store_column *c = store_columns(&n);
    const store_filter all = {0};

    for (size_t i = 0; i < n; i++) {
        dse_strbuf figures, rows;
        printing p = {s, &rows, &c[i], false};

        if (c[i].better == STORE_NEITHER)
            continue;
        dse_strbuf_init(&figures);
        dse_strbuf_init(&rows);
        assert_ok(print_figures(s, c[i].name, false, &figures, &err), &err);
        assert_ok(store_each(s, &all, print_row, &p, &err), &err);
        assert_string_equal(figures.data, rows.data);
        dse_strbuf_free(&figures);
        dse_strbuf_free(&rows);
    }
}

/* Two studies in three runs of names, of which one row failed; some points are asked for, and one was skipped. */
static void make_database(uint32_t n)
{
    uint64_t asked[] = {1, 2, 5};
    store *s = open_for(STORE_WRITE);

    assert_ok(store_begin(s, &err), &err);
    for (uint32_t i = 1; i <= n; i++) {
        store_row r;
        char config[40];

        snprintf(config, sizeof config, "{\"a\":%u}", i);
        r = row(config, i, i % 3 ? "m" : "n", i, 100 + i * 1000003);
        r.done = i != 4;
        r.error = i != 4 ? "" : "rank 3: deadlock";
        r.study += i % 2;
        r.metrics.busiest_link_util = i % 5 ? (double)i : (double)NAN;
        r.metrics.tokens_per_s = -0.5 * i;
        r.metrics.mfu = (double)INFINITY;
        r.metrics.step_idle = i;
        r.memory_rounded = i == 2;
        put(s, r);
    }
    assert_ok(store_skip(s, 1000000, 0xfedcba9876543210u, &err), &err);
    assert_ok(store_set_prices(s, 0xfedcba9876543210u, 2.5, (double)NAN, &err), &err);
    assert_ok(store_commit(s, &err), &err);
    sweep_asks(s, asked, 3);
    assert_ok(store_finish(s, &err), &err);
}

CLAIM(figures_are_those_of_the_rows)
{
    store *s;

    begin();
    make_database(9);
    s = open_for(STORE_READ);
    check_same_as_rows(s);
    store_close(s);
    end();
}

/* More rows than a block has, of which a filter leaves out whole blocks. */
CLAIM(figures_of_many_rows_are_those_of_the_rows)
{
    dse_strbuf figures, rows;
    const store_filter of_n = {.model = "n"};
    printing p = {NULL, &figures, store_column_find("exposed_comm"), false};

    begin();
    make_database(30000);
    p.s = open_for(STORE_READ);
    dse_strbuf_init(&figures);
    dse_strbuf_init(&rows);
    assert_ok(store_each_figures(p.s, &of_n, p.by, print_row, &p, &err), &err);
    p.out = &rows;
    assert_ok(store_each(p.s, &of_n, print_row, &p, &err), &err);
    assert_string_equal(figures.data, rows.data);
    dse_strbuf_free(&figures);
    dse_strbuf_free(&rows);
    store_close(p.s);
    end();
}

static int count_figures(void)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    int n;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM figures", -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    n = sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return n;
}

/* Asks for those of four hashes whose bits are set. */
static void ask_for(store *s, unsigned bits)
{
    static const uint64_t hashes[] = {5, 0xffffffffffffffffu, 1, 2};
    uint64_t twice[2];

    assert_ok(store_asking_begin(s, &err), &err);
    for (size_t i = 0; i < 4; i++)
        if (bits >> i & 1)
            assert_ok(store_asking_add(s, hashes[i], &err), &err);
    assert_ok(store_asking_end(s, twice, &err), &err);
    assert_u64(twice[1], 0);
}

/* A sweep that has nothing to do need not make them again. */
CLAIM(figures_stay_where_the_same_points_are_asked_for_and_nothing_is_put)
{
    begin();
    make_database(9);
    for (unsigned before = 0; before < 16; before++)
        for (unsigned after = 0; after < 16; after++) {
            store *s = open_for(STORE_WRITE);

            ask_for(s, before);
            assert_ok(store_finish(s, &err), &err);
            s = open_for(STORE_WRITE);
            assert_ok(store_begin_finding(s, &err), &err);
            assert_ok(store_set_prices(s, 0xfedcba9876543210u, 2.5 + before, 7, &err), &err);
            assert_ok(store_commit(s, &err), &err);
            ask_for(s, after);
            assert_int_equal(count_figures(), before == after);
            if (before % 5 == after % 5)
                check_same_as_rows(s);
            store_close(s);
        }
    end();
}

/* What was committed since the figures were made counts: of a writer, of another program, of a sweep that asked
 * for other points; rows that were put again have other numbers. */
CLAIM(figures_that_are_out_of_date_are_not_used)
{
    const uint64_t one = 3;
    store_row *rows, r;
    store *s, *reader;

    begin();
    make_database(9);
    s = open_for(STORE_WRITE);
    list(s, NULL, NULL, &rows);
    put(s, rows[0]);
    reader = open_for(STORE_READ);
    check_same_as_rows(reader);
    r = row("{\"more\":1}", 99, "m", 7, 5);
    put(s, r);
    check_same_as_rows(reader);
    sweep_asks(s, &one, 1);
    check_same_as_rows(reader);
    store_close(reader);
    store_close(s);
    run_sql("DELETE FROM result WHERE id = 2");
    reader = open_for(STORE_READ);
    check_same_as_rows(reader);
    store_close(reader);
    run_sql("DELETE FROM skipped");
    reader = open_for(STORE_READ);
    check_same_as_rows(reader);
    store_close(reader);
    end();
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

/* Of the rows, the figures, or the pages of either. */
CLAIM(a_flipped_bit_changes_no_figure_or_is_told)
{
    const char *step = getenv("DAMAGE_STEP");
    dse_strbuf whole, seen;
    struct stat sb;

    begin();
    make_database(9);
    dse_strbuf_init(&whole);
    dse_strbuf_init(&seen);
    assert_ok(print_file("mfu", &whole, &err), &err);
    assert_int_equal(stat(path, &sb), 0);
    for (long i = 0; i < sb.st_size; i += step ? atol(step) : 43) {
        dse_error e = DSE_ERROR_INIT;

        flip(i, (int)(i % 8));
        dse_strbuf_clear(&seen);
        if (print_file("mfu", &seen, &e) != DSE_OK)
            assert_true(e.text[0] != '\0');
        else if (strcmp(whole.data, seen.data) != 0)
            fail_msg("byte %ld, bit %ld: other figures without a word:\n%s---\n%s", i, i % 8, whole.data,
                     seen.data);
        flip(i, (int)(i % 8));
    }
    dse_strbuf_free(&whole);
    dse_strbuf_free(&seen);
    end();
}

/* Figures that are not what was written are made again: by a reader for itself, by a writer in the file. */
CLAIM(damaged_figures_are_made_from_the_rows)
{
    static const char *const damage[] = {"UPDATE figure SET least = least + 1 WHERE name = 'wall_time'",
                                         "DELETE FROM figure WHERE name = 'mfu'",
                                         "UPDATE figure_study SET n = n + 1 WHERE place = 1",
                                         "UPDATE figures SET rows = rows + 1",
                                         "UPDATE figures SET unlisted = 7",
                                         "DELETE FROM figures"};

    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        dse_strbuf before, after;
        store *s;

        begin();
        make_database(9);
        dse_strbuf_init(&before);
        dse_strbuf_init(&after);
        assert_ok(print_file("mfu", &before, &err), &err);
        run_sql(damage[i]);
        assert_ok(print_file("mfu", &after, &err), &err);
        assert_string_equal(before.data, after.data);
        store_close(open_for(STORE_WRITE));
        run_sql("UPDATE result SET wall_time = wall_time WHERE id = 1");
        s = open_for(STORE_READ);
        check_same_as_rows(s);
        store_close(s);
        dse_strbuf_free(&before);
        dse_strbuf_free(&after);
        end();
    }
}

/* The figures say what was written; a row is checked when it is read. */
CLAIM(a_row_that_is_not_what_its_figures_say_is_told)
{
    dse_strbuf text;

    begin();
    make_database(9);
    run_sql("UPDATE result SET wall_time = 1 WHERE id = 2");
    dse_strbuf_init(&text);
    assert_failure(print_file("mfu", &text, &err), &err, DSE_E_STORE, path,
                   "row 2 is not what was written; the same sweep removes it and simulates its point again");
    dse_strbuf_free(&text);
    end();
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

/* SQLite's own, but that one allocation fails. */
static sqlite3_mem_methods memory;
static int64_t n_asked, fail_at; /* 0: none */
static int64_t to_fail;          /* while the first row is read */

static void *ask(int n) { return ++n_asked == fail_at ? NULL : memory.xMalloc(n); }

static void *ask_again(void *at, int n) { return ++n_asked == fail_at ? NULL : memory.xRealloc(at, n); }

static void count_allocations(void)
{
    sqlite3_mem_methods counted;

    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory), SQLITE_OK);
    counted = memory;
    counted.xMalloc = ask;
    counted.xRealloc = ask_again;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &counted), SQLITE_OK);
}

enum { WAS_READ, REFUSED, OUT_OF_MEMORY, FEWER };

static void leave(void) { _exit(OUT_OF_MEMORY); }

/* Of the first row, the allocation of this number fails. */
static dse_status read_first(void *user, const store_row *r, dse_error *e)
{
    store *s = user;
    store_row whole;
    dse_arena a;

    dse_arena_init(&a);
    n_asked = 0;
    fail_at = to_fail;
    _exit(store_read(s, r, true, &a, &whole, e) != DSE_OK ? REFUSED : n_asked < fail_at ? FEWER : WAS_READ);
}

static int read_without(int64_t allocation)
{
    const store_filter all = {0};
    pid_t child = fork();
    int status;
    store *s;

    assert_true(child >= 0);
    if (child) {
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
    }
    dse_on_out_of_memory(leave);
    s = open_for(STORE_READ);
    to_fail = allocation;
    (void)store_each_figures(s, &all, store_column_find("wall_time"), read_first, s, &err);
    _exit(REFUSED);
}

static void read_without_each(void)
{
    unsigned n = 0;
    int end_of;

    for (int64_t i = 1; (end_of = read_without(i)) != FEWER; i++) {
        assert_int_not_equal(end_of, REFUSED);
        n += end_of == OUT_OF_MEMORY;
    }
    assert_true(n > 100);
}

/* A row as a study of a long configuration has it, whose strategy has a text. */
static store_row long_row(char config[8000], uint64_t hash)
{
    store_row r = row(config, hash, "m", 8, 5);
    int n = snprintf(config, 8000, "{\"model\":\"%06000d\"}", 7);

    r.strategy = unit_point("8_1_1_1_0_recompute_granularity=full");
    r.study = dse_hash_bytes(config, (size_t)n);
    snprintf(config + n - 1, 100, ",\"point\":{\"a\":%" PRIu64 "}}", hash);
    return r;
}

/* Wherever it fails: nobody is told that the file is damaged, or that another program has changed it. */
CLAIM(want_of_memory_is_no_damage)
{
    char config[8000];
    store *s;

    begin();
    make_database(3);
    read_without_each();
    end();
    begin();
    s = open_for(STORE_WRITE);
    put(s, long_row(config, 1));
    assert_ok(store_finish(s, &err), &err);
    read_without_each();
    end();
}

/* Puts a second row, in a transaction that is left open. */
static int put_without(int64_t allocation)
{
    char config[8000];
    const store_row r = long_row(config, 2);
    pid_t child = fork();
    store_row *rows;
    int status;
    store *s;

    assert_true(child >= 0);
    if (child) {
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
    }
    dse_on_out_of_memory(leave);
    s = open_for(STORE_WRITE);
    n_asked = 0;
    fail_at = allocation;
    if (store_begin(s, &err) != DSE_OK || store_put(s, &r, &err) != DSE_OK)
        _exit(REFUSED);
    if (n_asked < fail_at)
        _exit(FEWER);
    fail_at = 0;
    if (list(s, NULL, NULL, &rows) != 2 || strcmp(rows[1].config, config) ||
        strategy_compare(&rows[1].strategy, &r.strategy))
        _exit(REFUSED);
    _exit(WAS_READ);
}

/* Wherever it fails: the row is whole, or want of memory is told. */
CLAIM(want_of_memory_changes_no_row)
{
    char config[8000];
    store_row r = long_row(config, 1);
    unsigned n = 0;
    int end_of;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    put(s, r);
    assert_ok(store_finish(s, &err), &err);
    for (int64_t i = 1; (end_of = put_without(i)) != FEWER; i++) {
        assert_int_not_equal(end_of, REFUSED);
        n += end_of == OUT_OF_MEMORY;
    }
    assert_true(n > 20);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_rows),
        cmocka_unit_test(figures_of_many_rows_are_those_of_the_rows),
        cmocka_unit_test(figures_stay_where_the_same_points_are_asked_for_and_nothing_is_put),
        cmocka_unit_test(figures_that_are_out_of_date_are_not_used),
        cmocka_unit_test(a_flipped_bit_changes_no_figure_or_is_told),
        cmocka_unit_test(damaged_figures_are_made_from_the_rows),
        cmocka_unit_test(a_row_that_is_not_what_its_figures_say_is_told),
        cmocka_unit_test(want_of_memory_is_no_damage),
        cmocka_unit_test(want_of_memory_changes_no_row),
    };

    count_allocations();
    return RUN_TESTS(tests);
}
