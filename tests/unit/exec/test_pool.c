/* The pool with shell scripts for workers. */
#include "exec/pool.h"
#include "unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_TASKS 64

static struct {
    uint32_t n_lines, next;
    char line[MAX_TASKS][32];
    char answer[MAX_TASKS][700];
    uint32_t answered[MAX_TASKS], failed[MAX_TASKS];
    uint32_t order[MAX_TASKS], n_answered;
    uint32_t most_given; /* lines at a time that were not answered yet */
    uint32_t ticks;
    size_t answer_bytes;
    dse_status stop_with; /* what `answer` returns */
    int raise_in_tick;    /* signal, once */
    bool fail_tick;
} job;

static const char *next(void *user, uint64_t *task)
{
    static char line[32];

    assert_ptr_equal(user, &job);
    if (job.next == job.n_lines)
        return NULL;
    if (job.next + 1 - job.n_answered > job.most_given)
        job.most_given = job.next + 1 - job.n_answered;
    *task = job.next + 1000;
    strcpy(line, job.line[job.next++]); /* valid until the next call, and no longer */
    return line;
}

static dse_status answer(void *user, uint64_t task, const char *line, dse_error *err)
{
    uint32_t i = (uint32_t)(task - 1000);

    (void)user;
    assert_true(i < job.next);
    if (!strncmp(line, "garbage", 7))
        return dse_fail(err, DSE_E_CHILD, "not an answer");
    job.answered[i]++;
    job.order[job.n_answered++] = i;
    job.answer_bytes = strlen(line);
    snprintf(job.answer[i], sizeof job.answer[i], "%s", line);
    return job.stop_with == DSE_OK ? DSE_OK : dse_fail(err, job.stop_with, "the caller stops");
}

static dse_status failed(void *user, uint64_t task, const char *words, dse_error *err)
{
    uint32_t i = (uint32_t)(task - 1000);

    (void)user, (void)err;
    assert_true(i < job.next);
    job.failed[i]++;
    snprintf(job.answer[i], sizeof job.answer[i], "%s", words);
    return DSE_OK;
}

static dse_status tick(void *user, dse_error *e)
{
    (void)user;
    job.ticks++;
    if (job.raise_in_tick) {
        raise(job.raise_in_tick);
        job.raise_in_tick = 0;
    }
    return job.fail_tick ? dse_fail(e, DSE_E_STORE, "the caller's tick fails") : DSE_OK;
}

static exec_calls calls = {next, answer, failed, tick, &job, 0, "--limit"};
static dse_error err;

static void lines(uint32_t n)
{
    memset(&job, 0, sizeof job);
    err = (dse_error)DSE_ERROR_INIT;
    job.n_lines = n;
    for (uint32_t i = 0; i < n; i++)
        snprintf(job.line[i], sizeof job.line[i], "line %u", i);
}

static dse_status run(const char *script, uint32_t workers)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    dse_status st = exec_pool_run(argv, workers, &calls, &err);

    /* Nobody is left behind, whatever happened. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return st;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- answers --------------------------------------------------------------------------------------- */

static void assert_all_echoed(uint32_t n)
{
    assert_int_equal(job.n_answered, n);
    for (uint32_t i = 0; i < n; i++) {
        char expected[40];

        snprintf(expected, sizeof expected, "got line %u", i);
        assert_string_equal(job.answer[i], expected);
        assert_int_equal(job.answered[i], 1);
        assert_int_equal(job.failed[i], 0);
    }
}

#define ECHO "while read l; do echo \"got $l\"; done"

CLAIM(one_worker_answers_every_line)
{
    lines(20);
    assert_ok(run(ECHO, 1), &err);
    assert_all_echoed(20);
    assert_true(job.ticks >= 20); /* after every answer */
}

CLAIM(several_workers_answer_every_line_once)
{
    lines(60);
    assert_ok(run(ECHO, 4), &err);
    assert_all_echoed(60);
}

CLAIM(more_workers_than_lines_are_fine)
{
    lines(2);
    assert_ok(run(ECHO, 8), &err);
    assert_all_echoed(2);
}

CLAIM(without_lines_nothing_is_answered)
{
    lines(0);
    assert_ok(run(ECHO, 2), &err);
    assert_int_equal(job.n_answered, 0);
}

/* The first line takes longest: its answer comes last, and is known as that of the first line. */
CLAIM(answers_may_come_in_any_order)
{
    lines(4);
    assert_ok(run("while read l; do [ \"$l\" = 'line 0' ] && sleep 0.5; echo \"got $l\"; done", 2), &err);
    assert_all_echoed(4);
    assert_int_equal(job.order[3], 0);
}

CLAIM(answers_of_any_length_arrive_whole)
{
    lines(2);
    assert_ok(run("while read l; do head -c 3000000 /dev/zero | tr '\\0' x; echo; done", 1), &err);
    assert_int_equal(job.n_answered, 2);
    assert_int_equal(job.answer_bytes, 3000000);
}

CLAIM(an_answer_may_come_in_pieces)
{
    lines(2);
    assert_ok(run("while read l; do printf 'got '; sleep 0.1; echo \"$l\"; done", 1), &err);
    assert_all_echoed(2);
}

CLAIM(an_empty_line_is_an_answer)
{
    lines(1);
    assert_ok(run("while read l; do echo; done", 1), &err);
    assert_int_equal(job.answered[0], 1);
    assert_string_equal(job.answer[0], "");
}

CLAIM(what_a_worker_says_on_standard_error_is_no_answer)
{
    lines(3);
    assert_ok(run("while read l; do echo noise >&2; echo \"got $l\"; done", 1), &err);
    assert_all_echoed(3);
}

CLAIM(progress_is_called_while_nothing_happens)
{
    lines(1);
    assert_ok(run("read l; sleep 0.9; echo x; read l", 1), &err);
    assert_true(job.ticks >= 3); /* every 200 ms, and after the answer */
}

/* ---- lines ahead ------------------------------------------------------------------------------------ */

/* This worker answers its second line when it has its third. It gets both at once if it answered the first one
 * quickly. On a loaded machine it may not: then the second line fails at its limit, and another worker tries. */
CLAIM(a_quick_worker_is_given_lines_before_it_has_answered)
{
    static const char script[] =
        "read a; echo \"got $a\"; read a; read b; echo \"got $a\"; echo \"got $b\"; read a";
    int tries = 0;

    calls.limit_seconds = 1;
    do {
        lines(3);
        assert_ok(run(script, 1), &err);
    } while (job.n_answered < 3 && ++tries < 30);
    calls.limit_seconds = 0;
    assert_all_echoed(3);
    assert_true(job.most_given >= 2);
}

/* Its lines would wait for it while another worker has nothing to do. */
CLAIM(a_slow_worker_has_one_line_at_a_time)
{
    lines(6);
    assert_ok(run("while read l; do sleep 0.1; echo \"got $l\"; done", 2), &err);
    assert_all_echoed(6);
    assert_int_equal(job.most_given, 2);
}

/* The first 40 lines take no time but the second, so that its worker finds that the other one has been given all
 * the rest: 24 lines of 0.2 s. It takes some 12 of them. */
CLAIM(slow_lines_behind_quick_ones_are_taken_by_workers_that_have_none)
{
    uint32_t most = 0;

    lines(MAX_TASKS);
    assert_ok(run("while read l; do n=${l#line }; [ $n -lt 40 ] && [ $n != 1 ] || sleep 0.2; echo \"$$ got "
                  "$l\"; done",
                  2),
              &err);
    assert_int_equal(job.n_answered, MAX_TASKS);
    for (uint32_t i = 0; i < MAX_TASKS; i++) {
        char *got = strchr(job.answer[i], ' ');

        assert_int_equal(job.answered[i], 1);
        assert_non_null(got);
        assert_string_equal(strchr(got, 'l'), job.line[i]);
        *got = '\0';
    }
    for (uint32_t i = 40; i < MAX_TASKS; i++) {
        uint32_t n = 0;

        for (uint32_t k = 40; k < MAX_TASKS; k++)
            n += !strcmp(job.answer[i], job.answer[k]);
        most = n > most ? n : most;
    }
    assert_true(most <= 18);
}

/* The others were given to it before it died, and are given again; none has a death held against it but the one that
 * was under way, which is the first that was not answered. */
CLAIM(lines_behind_the_one_that_kills_are_answered)
{
    lines(20);
    assert_ok(
        run("while read l; do [ \"$l\" = 'line 9' ] && { sleep 0.1; exit 1; }; echo \"got $l\"; done", 1),
        &err);
    assert_true(job.most_given > 2);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(job.answered[i], i != 9);
        assert_int_equal(job.failed[i], i == 9);
    }
}

/* It hangs, or stands still: the others go on, and it is not given again. */
CLAIM(a_line_that_takes_too_long_has_failed)
{
    static const char *const scripts[] = {
        "while read l; do [ \"$l\" = 'line 3' ] && sleep 25; echo \"got $l\"; done",
        "while read l; do [ \"$l\" = 'line 3' ] && kill -STOP $$; echo \"got $l\"; done"};

    for (size_t k = 0; k < sizeof scripts / sizeof scripts[0]; k++) {
        double start = seconds();

        lines(12);
        calls.limit_seconds = 1;
        assert_ok(run(scripts[k], 2), &err);
        calls.limit_seconds = 0;
        for (uint32_t i = 0; i < 12; i++) {
            assert_int_equal(job.answered[i], i != 3);
            assert_int_equal(job.failed[i], i == 3);
        }
        assert_string_equal(job.answer[3], "took longer than 1 s (--limit)");
        assert_true(seconds() - start < 20);
    }
}

/* Time of lines before it does not count against a line. */
CLAIM(each_line_has_the_limit_for_itself)
{
    lines(6);
    calls.limit_seconds = 0.9;
    assert_ok(run("while read l; do sleep 0.3; echo \"got $l\"; done", 1), &err);
    calls.limit_seconds = 0;
    assert_all_echoed(6);
}

CLAIM(too_few_files_are_told_before_anything_starts)
{
    struct rlimit before, few;

    lines(4);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){8, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_ok(exec_allow_files(2, 0, &err), &err); /* by raising it */
    assert_says(exec_allow_files(UINT32_MAX, 0, &err), &err, DSE_E_CHILD, "files may be open");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Each worker ends after five answers, whatever it has been given: the sixth line has had one death, and its second
 * worker answers it. */
CLAIM(workers_that_end_now_and_then_answer_every_line_once)
{
    lines(33);
    assert_ok(run("for i in 1 2 3 4 5; do read l; echo \"got $l\"; done", 1), &err);
    assert_all_echoed(33);
}

/* ---- deaths ----------------------------------------------------------------------------------------- */

CLAIM(a_worker_that_dies_once_is_replaced_and_the_line_given_again)
{
    char folder[64], script[300];

    unit_make_folder(folder);
    snprintf(script, sizeof script,
             "while read l; do if mkdir %s/died 2>/dev/null; then exit 3; fi; echo \"got $l\"; done", folder);
    lines(5);
    assert_ok(run(script, 1), &err);
    assert_all_echoed(5);
    unit_remove_folder(folder);
}

CLAIM(a_line_whose_workers_die_twice_has_failed_with_their_last_words)
{
    lines(1);
    assert_ok(run("read l; echo first >&2; echo 'no more memory' >&2; exit 3", 1), &err);
    assert_int_equal(job.failed[0], 1);
    assert_int_equal(job.answered[0], 0);
    assert_string_equal(job.answer[0],
                        "its worker ended with exit code 3 without an answer, twice; its last words: "
                        "first\nno more memory");
}

CLAIM(a_worker_killed_by_a_signal_is_told_so)
{
    lines(1);
    assert_ok(run("read l; kill -9 $$", 1), &err);
    assert_string_equal(job.answer[0], "its worker was killed by signal 9, twice");
}

CLAIM(a_worker_that_ends_without_a_newline_has_not_answered)
{
    lines(1);
    assert_ok(run("read l; printf 'half an answer'", 1), &err);
    assert_int_equal(job.failed[0], 1);
    assert_string_equal(job.answer[0], "its worker ended with exit code 0 without an answer, twice");
}

/* Half an answer of the first worker must not run into the answer of the second. */
CLAIM(a_retry_begins_afresh)
{
    char folder[64], script[300];

    unit_make_folder(folder);
    snprintf(
        script, sizeof script,
        "while read l; do if mkdir %s/died 2>/dev/null; then printf half; exit 3; fi; echo \"got $l\"; done",
        folder);
    lines(2);
    assert_ok(run(script, 1), &err);
    assert_all_echoed(2);
    unit_remove_folder(folder);
}

CLAIM(the_other_lines_are_answered_all_the_same)
{
    lines(12);
    assert_ok(run("while read l; do [ \"$l\" = 'line 5' ] && exit 1; echo \"got $l\"; done", 3), &err);
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(job.answered[i], i != 5);
        assert_int_equal(job.failed[i], i == 5);
    }
}

CLAIM(workers_that_always_die_fail_every_line)
{
    lines(4);
    assert_ok(run("read l; exit 9", 2), &err);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(job.failed[i], 1);
}

/* 600 bytes of them: 100 lines of 10 bytes end with "line 0099". */
CLAIM(long_last_words_are_cut_at_their_beginning)
{
    lines(1);
    assert_ok(
        run("read l; i=0; while [ $i -lt 100 ]; do printf 'line %04d\\n' $i >&2; i=$((i+1)); done; exit 1",
            1),
        &err);
    assert_null(strstr(job.answer[0], "line 0039"));
    assert_non_null(strstr(job.answer[0], "line 0041"));
    assert_string_equal(job.answer[0] + strlen(job.answer[0]) - 9, "line 0099");
}

CLAIM(a_worker_that_talks_without_end_is_killed)
{
    lines(1);
    assert_ok(run("read l; exec tr '\\0' x </dev/zero", 1), &err);
    assert_int_equal(job.failed[0], 1);
    assert_non_null(strstr(job.answer[0], "its worker was killed by signal 9, twice"));
}

/* Also where more is said behind it, and lines were given ahead. */
CLAIM(a_worker_that_says_garbage_once_is_replaced_and_the_line_given_again)
{
    char folder[64], script[300];

    unit_make_folder(folder);
    snprintf(script, sizeof script,
             "n=0; while read l; do n=$((n + 1)); if [ $n -eq 5 ] && mkdir %s/said 2>/dev/null; then "
             "echo garbage; echo \"got more\"; fi; echo \"got $l\"; done",
             folder);
    lines(20);
    assert_ok(run(script, 1), &err);
    assert_all_echoed(20);
    unit_remove_folder(folder);
}

CLAIM(a_line_that_gets_garbage_twice_has_failed_and_the_others_are_answered)
{
    lines(6);
    assert_ok(run("while read l; do case $l in *3) echo \"garbage of $l\" ;; *) echo \"got $l\" ;; esac; done", 2),
              &err);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(job.failed[i], i == 3);
        assert_int_equal(job.answered[i], i != 3);
    }
    assert_string_equal(job.answer[3],
                        "what its worker said was no answer, twice; its last words: garbage of line 3");
}

CLAIM(a_worker_that_closes_its_input_is_killed)
{
    char folder[64], script[300];

    unit_make_folder(folder);
    snprintf(
        script, sizeof script,
        "if mkdir %s/first 2>/dev/null; then read l; exec 0<&-; echo \"got $l\"; exec sleep 30; fi; " ECHO,
        folder);
    lines(2);
    assert_ok(run(script, 1), &err);
    assert_all_echoed(2);
    unit_remove_folder(folder);
}

/* Before it reads: the write must not end this process. */
CLAIM(a_worker_that_exits_at_once_fails_its_line)
{
    lines(3);
    for (int i = 0; i < 3; i++)
        memset(job.line[i], 'x', sizeof job.line[i] - 1);
    assert_ok(run("exit 1", 2), &err);
    for (int i = 0; i < 3; i++)
        assert_int_equal(job.failed[i], 1);
}

CLAIM(a_worker_that_closes_its_output_is_killed)
{
    lines(1);
    assert_ok(run("read l; exec >&-; exec sleep 30", 1), &err);
    assert_int_equal(job.failed[0], 1);
    assert_non_null(strstr(job.answer[0], "its worker was killed by signal 9, twice"));
}

CLAIM(a_program_that_cannot_be_started_is_an_error)
{
    const char *const argv[] = {"/nonexistent/worker", NULL};

    lines(3);
    assert_failure(exec_pool_run(argv, 2, &calls, &err), &err, DSE_E_CHILD, "",
                   "cannot start a worker ('/nonexistent/worker'): no such file or directory");
    assert_int_equal(job.n_answered, 0);
}

/* ---- stopping ---------------------------------------------------------------------------------------- */

CLAIM(a_call_that_fails_stops_the_pool)
{
    lines(20);
    job.stop_with = DSE_E_STORE;
    assert_failure(run(ECHO, 2), &err, DSE_E_STORE, "", "the caller stops");
    assert_true(job.n_answered < 20);
}

CLAIM(a_tick_that_fails_stops_the_pool)
{
    lines(20);
    job.fail_tick = true;
    assert_failure(run(ECHO, 2), &err, DSE_E_STORE, "", "the caller's tick fails");
    assert_true(job.n_answered < 20);
}

CLAIM(ctrl_c_gives_up_the_lines_under_way)
{
    double start = seconds();

    lines(6);
    job.raise_in_tick = SIGINT;
    assert_failure(run("while read l; do exec sleep 30; done", 3), &err, DSE_E_INTERRUPT, "", "interrupted");
    assert_int_equal(job.n_answered, 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(job.failed[i], 0); /* given up is not failed */
    assert_true(seconds() - start < 10);
}

CLAIM(being_terminated_is_told_from_ctrl_c)
{
    lines(2);
    job.raise_in_tick = SIGTERM;
    assert_failure(run("while read l; do exec sleep 30; done", 1), &err, DSE_E_INTERRUPT, "", "terminated");
}

CLAIM(what_was_answered_before_ctrl_c_stays)
{
    lines(10);
    job.raise_in_tick = 0;
    assert_failure((job.raise_in_tick = SIGINT, run("read l; echo \"got $l\"; exec sleep 30", 1)), &err,
                   DSE_E_INTERRUPT, "", "interrupted");
    assert_int_equal(job.answered[0], 1);
}

static volatile sig_atomic_t caught;

static void note_signal(int signum) { caught = signum; }

CLAIM(signals_are_the_callers_again)
{
    const struct sigaction own = {.sa_handler = note_signal};
    struct sigaction before[2];

    sigaction(SIGINT, &own, &before[0]);
    sigaction(SIGTERM, &own, &before[1]);
    lines(1);
    assert_int_equal(run("read l && echo $l", 1), DSE_OK);
    raise(SIGINT);
    assert_int_equal(caught, SIGINT);
    raise(SIGTERM);
    assert_int_equal(caught, SIGTERM);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
}

/* A worker's child that keeps the pipes open must not keep the pool waiting when all is done. */
CLAIM(a_grandchild_does_not_hold_the_pool_when_all_is_answered)
{
    double start = seconds();

    lines(2);
    assert_ok(run("sleep 20 & " ECHO, 1), &err);
    assert_all_echoed(2);
    assert_true(seconds() - start < 10);
}

CLAIM(a_grandchild_does_not_hold_the_line_of_a_worker_that_died)
{
    double start = seconds();

    lines(2);
    assert_ok(run("sleep 20 & read l; echo gone >&2; exit 3", 1), &err);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(job.failed[i], 1);
        assert_string_equal(
            job.answer[i],
            "its worker ended with exit code 3 without an answer, twice; its last words: gone");
    }
    assert_true(seconds() - start < 15);
}

/* ---- this process ------------------------------------------------------------------------------------- */

CLAIM(there_is_at_least_one_core) { assert_true(exec_cores() >= 1); }

CLAIM(the_running_program_is_found)
{
    char path[4096];

    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(exec_self(path, sizeof path, &err), &err);
    assert_int_equal(access(path, X_OK), 0);
    assert_non_null(strstr(path, "test_exec_pool"));
}

CLAIM(the_pool_can_run_again)
{
    for (int i = 0; i < 3; i++) {
        lines(5);
        assert_ok(run(ECHO, 2), &err);
        assert_all_echoed(5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_worker_answers_every_line),
        cmocka_unit_test(several_workers_answer_every_line_once),
        cmocka_unit_test(more_workers_than_lines_are_fine),
        cmocka_unit_test(without_lines_nothing_is_answered),
        cmocka_unit_test(answers_may_come_in_any_order),
        cmocka_unit_test(answers_of_any_length_arrive_whole),
        cmocka_unit_test(an_answer_may_come_in_pieces),
        cmocka_unit_test(an_empty_line_is_an_answer),
        cmocka_unit_test(what_a_worker_says_on_standard_error_is_no_answer),
        cmocka_unit_test(progress_is_called_while_nothing_happens),
        cmocka_unit_test(a_quick_worker_is_given_lines_before_it_has_answered),
        cmocka_unit_test(a_slow_worker_has_one_line_at_a_time),
        cmocka_unit_test(slow_lines_behind_quick_ones_are_taken_by_workers_that_have_none),
        cmocka_unit_test(lines_behind_the_one_that_kills_are_answered),
        cmocka_unit_test(workers_that_end_now_and_then_answer_every_line_once),
        cmocka_unit_test(a_worker_that_dies_once_is_replaced_and_the_line_given_again),
        cmocka_unit_test(a_line_whose_workers_die_twice_has_failed_with_their_last_words),
        cmocka_unit_test(a_worker_killed_by_a_signal_is_told_so),
        cmocka_unit_test(a_worker_that_ends_without_a_newline_has_not_answered),
        cmocka_unit_test(a_retry_begins_afresh),
        cmocka_unit_test(the_other_lines_are_answered_all_the_same),
        cmocka_unit_test(workers_that_always_die_fail_every_line),
        cmocka_unit_test(long_last_words_are_cut_at_their_beginning),
        cmocka_unit_test(a_worker_that_talks_without_end_is_killed),
        cmocka_unit_test(a_worker_that_says_garbage_once_is_replaced_and_the_line_given_again),
        cmocka_unit_test(a_line_that_gets_garbage_twice_has_failed_and_the_others_are_answered),
        cmocka_unit_test(a_worker_that_closes_its_input_is_killed),
        cmocka_unit_test(a_worker_that_exits_at_once_fails_its_line),
        cmocka_unit_test(a_worker_that_closes_its_output_is_killed),
        cmocka_unit_test(a_program_that_cannot_be_started_is_an_error),
        cmocka_unit_test(a_call_that_fails_stops_the_pool),
        cmocka_unit_test(a_tick_that_fails_stops_the_pool),
        cmocka_unit_test(ctrl_c_gives_up_the_lines_under_way),
        cmocka_unit_test(being_terminated_is_told_from_ctrl_c),
        cmocka_unit_test(what_was_answered_before_ctrl_c_stays),
        cmocka_unit_test(signals_are_the_callers_again),
        cmocka_unit_test(a_grandchild_does_not_hold_the_pool_when_all_is_answered),
        cmocka_unit_test(a_grandchild_does_not_hold_the_line_of_a_worker_that_died),
        cmocka_unit_test(there_is_at_least_one_core),
        cmocka_unit_test(the_running_program_is_found),
        cmocka_unit_test(the_pool_can_run_again),
        cmocka_unit_test(a_line_that_takes_too_long_has_failed),
        cmocka_unit_test(each_line_has_the_limit_for_itself),
        cmocka_unit_test(too_few_files_are_told_before_anything_starts),
    };
    return RUN_TESTS(tests);
}
