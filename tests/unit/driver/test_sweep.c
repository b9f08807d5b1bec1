/* Sweeps whose workers are a script, so that times and memory are what a test wants. */
#include "driver/sweep.h"
#include "driver/worker.h"
#include "unit/driver/spaces.h"

#include <assert.h>
#include <sys/stat.h>
#include <unistd.h>

static spaces s;
static char worker[] = "/tmp/test_sweep_XXXXXX";

/* A worker that answers with the time $t and the memory $m, which the script sets for each $line. */
static void make_worker(const char *script)
{
    FILE *f = fopen(worker, "w");
    store_metrics m;
    dse_strbuf text;
    dse_json j;

    store_metrics_clear(&m);
    m.wall_time = 1234567;
    m.peak_memory = 7654321;
    dse_strbuf_init(&text);
    dse_json_init(&j, &text);
    drv_answer_write_metrics(&m, &j);
    assert_non_null(f);
    assert_true(fprintf(f,
                        "#!/bin/sh\nwhile read -r line; do\n%s\n"
                        "echo '{\"seconds\":0,\"metrics\":%s}' | sed \"s/1234567/$t/; s/7654321/$m/\"\ndone\n",
                        script, text.data) > 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(worker, 0700), 0);
    dse_strbuf_free(&text);
}

/* Sweeps a space into a database of its own. */
static drv_progress sweep(const char *space, const char *script)
{
    char database[sizeof worker + 4];
    const drv_sweep sweep = {.points = &s.points, .database = database, .jobs = 1, .worker = worker};
    drv_progress p = {0};

    make_worker(script);
    snprintf(database, sizeof database, "%s.db", worker);
    unlink(database);
    assert_ok(spaces_make(&s, space), &s.err);
    assert_ok(drv_sweep_run(&sweep, &s.arena, &p, &s.err), &s.err);
    unlink(database);
    return p;
}

/* A step of twice the sequences in twice the time is as fast for each token. */
CLAIM(of_equals_the_first_of_the_space_is_the_fastest)
{
    const drv_progress p =
        sweep(SMALL_ON_RING8 "set: {operators: gpt}\n"
                             "axes: {batch: [16, 32], tp: 8, micro_batch: 1, zero: 1, recompute_granularity: none}\n",
              "m=1; case $line in *'\"batch\":16,'*) t=1000;; *) t=2000;; esac");

    assert_u64(p.done, 2);
    assert_true(p.has_best);
    assert_u64(p.best_wall_time, 1000);
    assert_string_equal(p.best_settings, "batch=16 operators=gpt");
}

/* boxes8 has 12 MB: dp 8 is faster, and needs more. */
CLAIM(the_fastest_is_one_that_fits)
{
    static const char space[] = "models: [small]\nsystems: [boxes8]\naxes: {recompute: no, dp: [4, 8], tp: [1, 2]}\n";
    drv_progress p = sweep(space, "t=2000 m=12000000; case $line in *'\"dp\":8'*) t=1000 m=12000001;; esac");

    assert_u64(p.too_large, 1);
    assert_u64(p.best_wall_time, 2000);
    assert_int_equal(p.best.dp, 4);
    p = sweep(space, "t=2000 m=13000000");
    assert_u64(p.too_large, p.done);
    assert_false(p.has_best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_equals_the_first_of_the_space_is_the_fastest),
        cmocka_unit_test(the_fastest_is_one_that_fits),
    };
    int failures, fd = mkstemp(worker);

    assert(fd >= 0);
    close(fd);
    spaces_use(TEST_DATA "/cards");
    dse_arena_init(&s.arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&s.arena);
    unlink(worker);
    return failures;
}
