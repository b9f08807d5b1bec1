#include "unit/store/database.h"

/* ---- rows ----------------------------------------------------------------------------------------- */

CLAIM(a_row_is_read_back_as_it_was_put)
{
    store_row *rows, r = row("{\"a\":\"b'c\"}", 0xffffffffffffffffu, "m", 8, (uint64_t)1 << 63);
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    put(s, r);
    store_close(s);
    s = open_for(STORE_READ);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    store_close(s); /* the rows are the arena's */
    assert_string_equal(rows[0].config, r.config);
    assert_u64(rows[0].hash, r.hash);
    assert_u64(rows[0].study, r.study);
    assert_string_equal(rows[0].model, "m");
    assert_string_equal(rows[0].system, "s");
    assert_string_equal(rows[0].engine, "native-1");
    assert_int_equal(rows[0].strategy.dp, 8);
    assert_int_equal(rows[0].strategy.tp, 1);
    assert_int_equal(rows[0].strategy.sp, 2);
    assert_int_equal(rows[0].strategy.pp, 3);
    assert_true(rows[0].strategy.recompute);
    assert_false(rows[0].strategy.weight_sharded);
    assert_true(rows[0].done);
    assert_string_equal(rows[0].error, "");
    assert_double(rows[0].seconds, 0.125);
    assert_string_equal(rows[0].settings, "layers=4 network.bandwidth[1]=50GB/s");
    assert_true(rows[0].memory_rounded);
    assert_u64(rows[0].metrics.wall_time, (uint64_t)1 << 63);
    assert_u64(rows[0].metrics.exposed_comm, UINT64_MAX - 4);
    assert_double(rows[0].metrics.compute_bound, 92.803);
    assert_double(rows[0].metrics.compute_util, 1.0 / 3);
    assert_double(rows[0].metrics.mem_util, 1e-300);
    assert_true(isnan(rows[0].metrics.op_intensity));
    assert_u64(rows[0].metrics.peak_memory, 81920000);
    assert_u64(rows[0].metrics.peak_memory_rank0, 7);
    assert_u64(rows[0].metrics.step_compute_bound, (uint64_t)1 << 63);
    assert_u64(rows[0].metrics.step_idle, 0);
    assert_u64(rows[0].metrics.peak_activations, 81920000);
    assert_u64(rows[0].metrics.peak_time, 11);
    assert_u64(rows[0].metrics.peak_layer, STORE_ABSENT);
    assert_string_equal(rows[0].metrics.peak_pass, "backward");
    assert_null(rows[0].metrics.peak_node);
    assert_u64(rows[0].metrics.undercharged_messages, 12);
    assert_u64(rows[0].metrics.flat_ring_collectives, STORE_ABSENT);
    assert_double(rows[0].metrics.busiest_link_util, 81.25);
    assert_string_equal(rows[0].metrics.busiest_link, "3 -> switch 8");
    end();
}

static store_time visited[4];
static size_t n_visited;

static dse_status note_visit(void *user, const store_time *t, dse_error *e)
{
    visited[n_visited++] = *t;
    return n_visited == *(const size_t *)user ? dse_fail(e, DSE_E_SIM, "enough") : DSE_OK;
}

CLAIM(times_are_those_of_what_is_done)
{
    store_row done = row("{\"a\":1}", 7, "m", 8, 100), failed = row("{\"a\":2}", 8, "m", 8, 100);
    store_row untracked = row("{\"a\":3}", 9, "m", 8, 300);
    size_t enough = 0;
    store *s;

    begin();
    failed.done = false;
    untracked.metrics.peak_memory = STORE_ABSENT;
    s = open_for(STORE_WRITE);
    put(s, done);
    put(s, failed);
    put(s, untracked);
    n_visited = 0;
    assert_ok(store_times(s, note_visit, &enough, &err), &err);
    assert_int_equal(n_visited, 2);
    assert_u64(visited[0].hash, 7);
    assert_u64(visited[0].study, done.study);
    assert_u64(visited[0].wall_time, 100);
    assert_u64(visited[0].peak_memory, done.metrics.peak_memory);
    assert_u64(visited[1].hash, 9);
    assert_u64(visited[1].peak_memory, STORE_ABSENT);
    n_visited = 0;
    enough = 1;
    assert_failure(store_times(s, note_visit, &enough, &err), &err, DSE_E_SIM, "", "enough");
    assert_int_equal(n_visited, 1);
    store_close(s);
    end();
}

CLAIM(a_failed_row_has_its_reason_and_no_figures)
{
    store_row *rows, r = row("{}", 1, "m", 8, 5);
    store *s;

    begin();
    r.done = false;
    r.error = "rank 3: deadlock";
    s = open_for(STORE_WRITE);
    put(s, r);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    assert_false(rows[0].done);
    assert_string_equal(rows[0].error, "rank 3: deadlock");
    assert_u64(rows[0].metrics.peak_memory, STORE_ABSENT);
    assert_true(isnan(rows[0].metrics.compute_util));
    assert_u64(rows[0].metrics.wall_time, STORE_ABSENT);
    store_close(s);
    end();
}

CLAIM(memory_that_was_not_tracked_is_not_there)
{
    store_row *rows, r = row("{}", 1, "m", 8, 5);
    store *s;

    begin();
    r.metrics.peak_memory = STORE_ABSENT;
    s = open_for(STORE_WRITE);
    put(s, r);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    assert_u64(rows[0].metrics.peak_memory, STORE_ABSENT);
    assert_u64(rows[0].metrics.wall_time, 5);
    store_close(s);
    end();
}

CLAIM(a_row_of_the_same_configuration_is_replaced)
{
    store_row *rows;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    put(s, row("{1}", 7, "m", 8, 100));
    put(s, row("{1}", 7, "m", 8, 200));
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    assert_u64(rows[0].metrics.wall_time, 200);
    store_close(s);
    end();
}

CLAIM(several_rows_are_put_together)
{
    const store_row two[] = {row("{1}", 1, "m", 8, 5), row("{2}", 2, "m", 4, 6)};
    store_row *rows;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    put(s, row("{2}", 2, "m", 4, 7)); /* replaced */
    assert_ok(store_put_all(s, two, 2, &err), &err);
    assert_ok(store_put_all(s, two, 0, &err), &err);
    assert_int_equal(list(s, NULL, NULL, &rows), 2);
    assert_u64(rows[0].metrics.wall_time, 6);
    assert_u64(rows[1].metrics.wall_time, 5);
    store_close(s);
    end();
}

/* A row needs its model. */
CLAIM(of_rows_put_together_all_are_there_or_none)
{
    store_row two[] = {row("{1}", 1, "m", 8, 5), row("{2}", 2, NULL, 4, 6)};
    store_row *rows;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    put(s, row("{1}", 1, "m", 8, 4));
    assert_says(store_put_all(s, two, 2, &err), &err, DSE_E_STORE, "cannot write a result");
    err = (dse_error)DSE_ERROR_INIT;
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    assert_u64(rows[0].metrics.wall_time, 4);
    put(s, two[0]); /* and the next one is */
    store_close(s);
    end();
}

/* A reader beside the writer sees what is committed. A row that is put there is found at once. */
CLAIM(a_transaction_is_seen_when_it_is_committed)
{
    store_row *rows;
    store_brief brief;
    store *s, *reader;
    bool found;

    begin();
    s = open_for(STORE_WRITE);
    put(s, row("{0}", 5, "m", 8, 100));
    for (uint32_t batch = 1; batch <= 2; batch++) {
        assert_ok(store_begin(s, &err), &err);
        put(s, row("{1}", 6, "m", 8, batch));
        put(s, row("{2}", 7, "m", 4, batch));
        assert_ok(store_find(s, 7, "{2}", &found, &brief, &err), &err);
        assert_true(found);
        assert_u64(brief.wall_time, batch);
        reader = open_for(STORE_READ);
        assert_int_equal(list(reader, NULL, NULL, &rows), batch == 1 ? 1 : 3);
        assert_ok(store_commit(s, &err), &err);
        assert_int_equal(list(reader, NULL, NULL, &rows), 3);
        store_close(reader);
    }
    store_close(s);
    end();
}

/* As if the program had been killed there. */
CLAIM(what_is_not_committed_is_not_there)
{
    store_row *rows;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    put(s, row("{1}", 6, "m", 8, 5));
    assert_ok(store_begin(s, &err), &err);
    put(s, row("{2}", 7, "m", 8, 6));
    store_close(s);
    s = open_for(STORE_READ);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    assert_u64(rows[0].metrics.wall_time, 5);
    store_close(s);
    end();
}

/* A row needs its model. Those before it are kept by SQLite, as only the statement is undone. */
CLAIM(a_row_that_cannot_be_put_leaves_the_others)
{
    store_row *rows, bad = row("{2}", 2, NULL, 4, 6);
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    assert_ok(store_begin(s, &err), &err);
    put(s, row("{1}", 1, "m", 8, 4));
    assert_says(store_put(s, &bad, &err), &err, DSE_E_STORE, "cannot write a result");
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(store_commit(s, &err), &err);
    assert_int_equal(list(s, NULL, NULL, &rows), 1);
    store_close(s);
    end();
}

/* The hash finds, the text decides. */
CLAIM(two_configurations_of_one_hash_are_two_rows)
{
    bool found;
    store_brief brief;
    store_row *rows;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    put(s, row("{1}", 7, "m", 8, 100));
    put(s, row("{2}", 7, "m", 9, 200));
    assert_int_equal(list(s, NULL, NULL, &rows), 2);
    assert_ok(store_find(s, 7, "{2}", &found, &brief, &err), &err);
    assert_true(found);
    assert_u64(brief.wall_time, 200);
    assert_ok(store_find(s, 7, "{3}", &found, &brief, &err), &err);
    assert_false(found);
    store_close(s);
    end();
}

CLAIM(a_failed_result_is_not_found_until_it_is_done)
{
    store_row r = row("{1}", 7, "m", 8, 100);
    bool found = true;
    store_brief brief;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    r.done = false;
    r.error = "x";
    put(s, r);
    assert_ok(store_find(s, 7, "{1}", &found, &brief, &err), &err);
    assert_false(found);
    put(s, row("{1}", 7, "m", 8, (uint64_t)3 << 62));
    assert_ok(store_find(s, 7, "{1}", &found, &brief, &err), &err);
    assert_true(found);
    assert_u64(brief.wall_time, (uint64_t)3 << 62);
    assert_ok(store_find(s, 8, "{1}", &found, &brief, &err), &err);
    assert_false(found);
    store_close(s);
    end();
}

/* ---- lists ---------------------------------------------------------------------------------------- */

CLAIM(rows_are_listed_by_model_system_study_and_point)
{
    static const struct {
        const char *config, *model, *system;
        uint32_t pp, dp, tp, sp;
        bool weight_sharded, recompute;
    } ordered[] = {
        {"0", "a", "s", 1, 1, 1, 1, false, false}, {"1", "a", "s", 1, 1, 1, 1, false, true},
        {"2", "a", "s", 1, 1, 1, 1, true, false},  {"3", "a", "s", 1, 1, 1, 2, false, false},
        {"4", "a", "s", 1, 1, 2, 1, false, false}, {"5", "a", "s", 1, 16, 1, 1, false, false},
        {"6", "a", "s", 2, 1, 1, 1, false, false}, {"7", "a", "t", 1, 1, 1, 1, false, false},
        {"8", "b", "s", 1, 1, 1, 1, false, false},
    };
    enum { N = sizeof ordered / sizeof ordered[0] };
    store_row *rows;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    for (int i = 0; i < N; i++) {
        int k = i * 5 % N; /* in another order */
        store_row r = row(ordered[k].config, (uint64_t)k, ordered[k].model, ordered[k].dp, 5);

        r.system = ordered[k].system;
        r.strategy.pp = ordered[k].pp;
        r.strategy.tp = ordered[k].tp;
        r.strategy.sp = ordered[k].sp;
        r.strategy.weight_sharded = ordered[k].weight_sharded;
        r.strategy.recompute = ordered[k].recompute;
        put(s, r);
    }
    assert_int_equal(list(s, NULL, NULL, &rows), N);
    for (int i = 0; i < N; i++)
        assert_string_equal(rows[i].config, ordered[i].config);
    assert_int_equal(list(s, "a", NULL, &rows), 8);
    assert_int_equal(list(s, NULL, "t", &rows), 1);
    assert_int_equal(list(s, "a", "s", &rows), 7);
    assert_int_equal(list(s, "b", "t", &rows), 0);
    assert_int_equal(list(s, "", NULL, &rows), 0);
    store_close(s);
    end();
}

CLAIM(an_empty_database_lists_nothing)
{
    store_row *rows;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    assert_int_equal(list(s, NULL, NULL, &rows), 0);
    store_close(s);
    end();
}

/* ---- skipped ------------------------------------------------------------------------------------------ */

#define STUDY 0xfedcba9876543210u /* of all rows of database.h */

static void note_skipped(store *s, uint64_t hash, uint64_t study)
{
    assert_ok(store_skip(s, hash, study, &err), &err);
}

static bool is_skipped(store *s, uint64_t hash)
{
    bool skipped;

    assert_ok(store_is_skipped(s, hash, &skipped, &err), &err);
    return skipped;
}

static void assert_unlisted(store *s, uint64_t points, uint64_t studies)
{
    store_unlisted u;

    assert_ok(store_count_unlisted(s, false, &u, &err), &err);
    assert_u64(u.points, points);
    assert_u64(u.studies, studies);
}

/* Twice is once. */
CLAIM(rows_know_how_many_points_of_their_study_were_skipped)
{
    store_row *rows, other = row("{2}", 2, "n", 8, 5);
    store *s;

    begin();
    other.study = 17;
    s = open_for(STORE_WRITE);
    put(s, row("{1}", 1, "m", 8, 5));
    put(s, other);
    for (int i = 0; i < 2; i++) {
        note_skipped(s, 0xffffffffffffffffu, STUDY);
        note_skipped(s, 11, STUDY);
    }
    assert_true(is_skipped(s, 0xffffffffffffffffu));
    assert_false(is_skipped(s, 12));
    store_close(s);
    s = open_for(STORE_READ);
    assert_int_equal(list(s, NULL, NULL, &rows), 2);
    assert_u64(rows[0].skipped_of_study, 2);
    assert_u64(rows[1].skipped_of_study, 0);
    assert_true(is_skipped(s, 11));
    assert_unlisted(s, 0, 0);
    store_close(s);
    end();
}

/* Also one that failed: it was run. */
CLAIM(a_point_that_has_a_row_is_not_skipped)
{
    store_row *rows, failed = row("{2}", 2, "m", 8, 5);
    store *s;

    begin();
    failed.done = false;
    s = open_for(STORE_WRITE);
    put(s, row("{1}", 1, "m", 8, 5));
    put(s, failed);
    note_skipped(s, 1, STUDY);
    note_skipped(s, 2, STUDY);
    assert_int_equal(list(s, NULL, NULL, &rows), 2);
    assert_u64(rows[0].skipped_of_study, 0);
    assert_false(is_skipped(s, 1) || is_skipped(s, 2));
    store_close(s);
    end();
}

/* Noted by the writer that runs it, or by one before. */
CLAIM(a_skipped_point_that_is_put_is_no_longer_skipped)
{
    const store_row two[] = {row("{2}", 2, "m", 8, 5), row("{3}", 3, "m", 8, 5)};
    store_row *rows;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    for (uint64_t hash = 1; hash <= 4; hash++)
        note_skipped(s, hash, STUDY);
    put(s, row("{1}", 1, "m", 8, 5));
    assert_false(is_skipped(s, 1));
    store_close(s);
    s = open_for(STORE_WRITE);
    assert_ok(store_put_all(s, two, 2, &err), &err);
    assert_int_equal(list(s, NULL, NULL, &rows), 3);
    assert_u64(rows[2].skipped_of_study, 1);
    assert_true(is_skipped(s, 4));
    store_close(s);
    end();
}

CLAIM(skipped_points_are_part_of_a_transaction)
{
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    assert_ok(store_begin(s, &err), &err);
    note_skipped(s, 1, STUDY);
    assert_ok(store_commit(s, &err), &err);
    assert_ok(store_begin(s, &err), &err);
    note_skipped(s, 2, STUDY);
    put(s, row("{1}", 1, "m", 8, 5));
    store_close(s); /* as if the program had been killed there */
    s = open_for(STORE_READ);
    assert_true(is_skipped(s, 1));
    assert_false(is_skipped(s, 2));
    store_close(s);
    end();
}

CLAIM(studies_of_which_all_was_skipped_are_counted)
{
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    assert_unlisted(s, 0, 0);
    put(s, row("{1}", 1, "m", 8, 5));
    note_skipped(s, 2, STUDY);
    note_skipped(s, 3, 17);
    note_skipped(s, 4, 17);
    note_skipped(s, 5, 18);
    assert_unlisted(s, 3, 2);
    store_close(s);
    end();
}

/* ---- asked for ---------------------------------------------------------------------------------------- */

/* Of three rows with hashes 1, 2 and 3: bit 0 for the first. */
static unsigned asked(store *s)
{
    store_row *rows;
    unsigned bits = 0;

    assert_int_equal(list(s, NULL, NULL, &rows), 3);
    for (int i = 0; i < 3; i++)
        bits |= (unsigned)rows[i].asked << (rows[i].hash - 1);
    return bits;
}

/* Also of points that have no row, or had theirs before. */
CLAIM(a_sweep_asks_for_its_points_in_place_of_the_one_before)
{
    const uint64_t first[] = {1, 2}, second[] = {2, 0xffffffffffffffffu}, third = 3;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    for (uint64_t i = 1; i < 4; i++)
        put(s, row(i == 1 ? "{1}" : i == 2 ? "{2}" : "{3}", i, "m", (uint32_t)i, 5));
    assert_int_equal(asked(s), 7); /* nothing is noted */
    sweep_asks(s, first, 2);
    assert_int_equal(asked(s), 3);
    sweep_asks(s, second, 2);
    assert_int_equal(asked(s), 2);
    assert_ok(store_ask(s, &third, 1, &err), &err);
    assert_int_equal(asked(s), 6);
    store_close(s);
    end();
}

static void ask_one_by_one(store *s, const uint64_t *hashes, size_t n, uint64_t twice[2])
{
    assert_ok(store_asking_begin(s, &err), &err);
    for (size_t i = 0; i < n; i++)
        assert_ok(store_asking_add(s, hashes[i], &err), &err);
    assert_ok(store_asking_end(s, twice, &err), &err);
}

CLAIM(points_are_asked_for_one_by_one_and_two_of_one_hash_are_told)
{
    const uint64_t hashes[] = {3, 0xffffffffffffffffu, 1}, again[] = {7, 2, 9, 9, 2, 9};
    uint64_t twice[2];
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    for (uint64_t i = 1; i < 4; i++)
        put(s, row(i == 1 ? "{1}" : i == 2 ? "{2}" : "{3}", i, "m", (uint32_t)i, 5));
    ask_one_by_one(s, hashes, 3, twice);
    assert_u64(twice[1], 0);
    assert_int_equal(asked(s), 5);
    ask_one_by_one(s, again, 6, twice); /* the first 9 again is before the first 2 again */
    assert_u64(twice[0], 3);
    assert_u64(twice[1], 4);
    assert_int_equal(asked(s), 5); /* nothing is noted */
    ask_one_by_one(s, again + 1, 2, twice);
    assert_u64(twice[1], 0);
    assert_int_equal(asked(s), 2);
    store_close(s);
    end();
}

CLAIM(what_comes_beside_no_sweep_leaves_all_asked_for)
{
    const uint64_t imported = 3;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    for (uint64_t i = 1; i < 4; i++)
        put(s, row(i == 1 ? "{1}" : i == 2 ? "{2}" : "{3}", i, "m", (uint32_t)i, 5));
    assert_ok(store_ask(s, &imported, 1, &err), &err);
    assert_int_equal(asked(s), 7);
    store_close(s);
    end();
}

CLAIM(skipped_points_of_the_last_sweep_are_counted_alone)
{
    const uint64_t of_last[] = {1, 4};
    store_unlisted u;
    store *s;

    begin();
    s = open_for(STORE_WRITE);
    note_skipped(s, 3, 17);
    note_skipped(s, 4, 18);
    sweep_asks(s, of_last, 2);
    assert_ok(store_count_unlisted(s, true, &u, &err), &err);
    assert_u64(u.points, 1);
    assert_unlisted(s, 2, 2);
    store_close(s);
    end();
}

/* ---- rows one after another ---------------------------------------------------------------------- */

typedef struct {
    uint64_t wall_time[8];
    size_t n, fail_after;
} seen_rows;

static dse_status see(void *user, const store_row *r, dse_error *e)
{
    seen_rows *seen = user;

    seen->wall_time[seen->n++] = r->metrics.wall_time;
    return seen->n == seen->fail_after ? dse_fail(e, DSE_E_IO, "enough") : DSE_OK;
}

static bool is_even(void *n_asked, const store_row *r)
{
    ++*(size_t *)n_asked;
    return r->metrics.wall_time % 2 == 0;
}

static store *open_five(void)
{
    store *s = open_for(STORE_WRITE);

    for (uint32_t i = 5; i >= 1; i--) {
        char config[20];

        snprintf(config, sizeof config, "{\"a\":%u}", i);
        put(s, row(config, i, i < 3 ? "m" : "n", i, 100 + i));
    }
    return s;
}

CLAIM(rows_come_one_after_another_in_the_order_of_a_list)
{
    size_t n_asked = 0;
    const store_filter all = {0}, of_n = {.model = "n"}, even = {.has = is_even, .user = &n_asked};
    seen_rows seen = {0}, few = {.fail_after = 2}, some = {0};
    store *s;

    begin();
    s = open_five();
    assert_ok(store_each(s, &all, see, &seen, &err), &err);
    assert_int_equal(seen.n, 5);
    for (size_t i = 0; i < 5; i++)
        assert_u64(seen.wall_time[i], 101 + i);
    assert_ok(store_each(s, &even, see, &some, &err), &err);
    assert_int_equal(some.n, 2);
    assert_int_equal(n_asked, 5);
    assert_u64(some.wall_time[1], 104);
    assert_failure(store_each(s, &of_n, see, &few, &err), &err, DSE_E_IO, "", "enough");
    assert_int_equal(few.n, 2);
    assert_u64(few.wall_time[0], 103);
    err = (dse_error)DSE_ERROR_INIT;
    put(s, row("{\"a\":6}", 6, "m", 6, 106)); /* nothing of a list that failed is in the way */
    store_close(s);
    end();
}

CLAIM(of_a_study_one_configuration_is_enough)
{
    const store_filter all = {0}, one = {.one_config = true};
    store_row *rows, *fewer;
    size_t n;
    store *s;

    begin();
    s = open_five();
    assert_ok(store_select(s, &all, &arena, &rows, &n, &err), &err);
    assert_int_equal(n, 5);
    assert_ok(store_select(s, &one, &arena, &fewer, &n, &err), &err);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++) {
        const bool first = i == 0 || i == 2; /* of a model */

        assert_non_null(rows[i].config);
        if (first)
            assert_string_equal(fewer[i].config, rows[i].config);
        else
            assert_null(fewer[i].config);
        assert_u64(fewer[i].metrics.wall_time, rows[i].metrics.wall_time);
        assert_string_equal(fewer[i].metrics.peak_pass, "backward");
    }
    assert_ptr_equal(rows[1].system, rows[0].system); /* is held once */
    store_close(s);
    end();
}

CLAIM(the_rows_of_one_point_are_found_beside_others)
{
    const strategy third = unit_point("3_1_2_3_1"), none = unit_point("3_1_2_3_0");
    const store_filter of_third = {.point = &third}, of_none = {.point = &none},
                       elsewhere = {.model = "m", .point = &third};
    store_row *rows;
    size_t n;
    store *s;

    begin();
    s = open_five();
    put(s, row("{\"a\":33}", 33, "m2", 3, 133));
    assert_ok(store_select(s, &of_third, &arena, &rows, &n, &err), &err);
    assert_int_equal(n, 2);
    assert_u64(rows[0].metrics.wall_time, 133);
    assert_u64(rows[1].metrics.wall_time, 103);
    assert_ok(store_select(s, &of_none, &arena, &rows, &n, &err), &err);
    assert_int_equal(n, 0);
    assert_ok(store_select(s, &elsewhere, &arena, &rows, &n, &err), &err);
    assert_int_equal(n, 0);
    store_close(s);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_read_back_as_it_was_put),
        cmocka_unit_test(times_are_those_of_what_is_done),
        cmocka_unit_test(a_failed_row_has_its_reason_and_no_figures),
        cmocka_unit_test(memory_that_was_not_tracked_is_not_there),
        cmocka_unit_test(a_row_of_the_same_configuration_is_replaced),
        cmocka_unit_test(several_rows_are_put_together),
        cmocka_unit_test(of_rows_put_together_all_are_there_or_none),
        cmocka_unit_test(a_transaction_is_seen_when_it_is_committed),
        cmocka_unit_test(what_is_not_committed_is_not_there),
        cmocka_unit_test(a_row_that_cannot_be_put_leaves_the_others),
        cmocka_unit_test(two_configurations_of_one_hash_are_two_rows),
        cmocka_unit_test(a_failed_result_is_not_found_until_it_is_done),
        cmocka_unit_test(rows_are_listed_by_model_system_study_and_point),
        cmocka_unit_test(an_empty_database_lists_nothing),
        cmocka_unit_test(rows_know_how_many_points_of_their_study_were_skipped),
        cmocka_unit_test(a_point_that_has_a_row_is_not_skipped),
        cmocka_unit_test(a_skipped_point_that_is_put_is_no_longer_skipped),
        cmocka_unit_test(skipped_points_are_part_of_a_transaction),
        cmocka_unit_test(studies_of_which_all_was_skipped_are_counted),
        cmocka_unit_test(a_sweep_asks_for_its_points_in_place_of_the_one_before),
        cmocka_unit_test(points_are_asked_for_one_by_one_and_two_of_one_hash_are_told),
        cmocka_unit_test(what_comes_beside_no_sweep_leaves_all_asked_for),
        cmocka_unit_test(skipped_points_of_the_last_sweep_are_counted_alone),
        cmocka_unit_test(rows_come_one_after_another_in_the_order_of_a_list),
        cmocka_unit_test(of_a_study_one_configuration_is_enough),
        cmocka_unit_test(the_rows_of_one_point_are_found_beside_others),
    };
    return RUN_TESTS(tests);
}
