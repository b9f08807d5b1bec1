/* Jobs with shell scripts for programs. */
#include "exec/jobs.h"
#include "unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_JOBS 16

static char folder[64];
static dse_error err;

static struct {
    const char *argv[EXEC_JOB_COMMANDS][4];
    char output[EXEC_JOB_COMMANDS][100];
    exec_job job;
    exec_outcome outcome;
    uint32_t ended;
} jobs[MAX_JOBS];

static struct {
    uint32_t n, next, n_ended, ticks, under_way, most_under_way;
    dse_status stop_with; /* what `done` returns */
    int raise_in_tick;    /* signal, once, when the file "grandchild" is there */
    bool tell_in_tick;    /* by a file "ticked" */
} run;

static const char *text_of(const char *name);
static bool is_there(const char *name) { return strcmp(text_of(name), "(no file)") && *text_of(name); }

static dse_status next(void *user, exec_job *job, uint64_t *task, bool *any, dse_error *e)
{
    (void)e;
    assert_ptr_equal(user, &run);
    *any = run.next < run.n;
    if (!*any)
        return DSE_OK;
    *task = run.next + 1000;
    *job = jobs[run.next++].job;
    if (++run.under_way > run.most_under_way)
        run.most_under_way = run.under_way;
    return DSE_OK;
}

static dse_status done(void *user, uint64_t task, const exec_outcome *outcome, dse_error *e)
{
    (void)user;
    jobs[task - 1000].outcome = *outcome;
    jobs[task - 1000].ended++;
    run.n_ended++;
    run.under_way--;
    return run.stop_with == DSE_OK ? DSE_OK : dse_fail(e, run.stop_with, "the caller stops");
}

static void tick(void *user)
{
    (void)user;
    run.ticks++;
    if (run.raise_in_tick && is_there("grandchild")) {
        raise(run.raise_in_tick);
        run.raise_in_tick = 0;
    }
    if (run.tell_in_tick) {
        char path[100];

        snprintf(path, sizeof path, "%s/ticked", folder);
        unit_write_text(path, "yes\n");
    }
}

static const exec_job_calls calls = {next, done, tick, &run};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int begin(void **state)
{
    (void)state;
    unit_make_folder(folder);
    memset(jobs, 0, sizeof jobs);
    memset(&run, 0, sizeof run);
    err = (dse_error)DSE_ERROR_INIT;
    return 0;
}

static int end(void **state)
{
    (void)state;
    unit_remove_folder(folder);
    return 0;
}

/* Adds a command to job i: a shell script that runs in the test's folder and writes to <i>.<command>. */
static exec_command *script(uint32_t i, const char *text)
{
    exec_job *job = &jobs[i].job;
    uint32_t k = job->n++;
    const char *argv[] = {"/bin/sh", "-c", text, NULL};

    memcpy(jobs[i].argv[k], argv, sizeof argv);
    snprintf(jobs[i].output[k], sizeof jobs[i].output[k], "%s/%u.%u", folder, i, k);
    job->command[k] = (exec_command){jobs[i].argv[k], folder, jobs[i].output[k], 0};
    if (run.n <= i)
        run.n = i + 1;
    return &job->command[k];
}

static dse_status run_jobs(uint32_t side_by_side)
{
    dse_status st = exec_jobs_run(side_by_side, &calls, &err);

    /* Nobody is left behind, whatever happened: no child of ours. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return st;
}

/* What is in a file of the folder, without its last newline. */
static const char *text_of(const char *name)
{
    static char text[4096];
    char path[200];
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "r");
    if (!f)
        return "(no file)";
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    if (n && text[n - 1] == '\n')
        text[n - 1] = '\0';
    return text;
}

/* The process whose id a script wrote into a file is gone: not there, or dead and not yet waited for. */
static bool is_gone(const char *name)
{
    char path[64], state = 'X';
    int pid = atoi(text_of(name));
    FILE *f;

    assert_true(pid > 1);
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "r");
    if (!f)
        return true;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 'X';
    fclose(f);
    return state == 'Z' || state == 'X';
}

static void wait_a_moment(void)
{
    const struct timespec moment = {0, 20000000};

    nanosleep(&moment, NULL);
}

static void assert_gone(const char *name)
{
    for (int i = 0; i < 200 && !is_gone(name); i++)
        wait_a_moment();
    assert_true(is_gone(name));
}

static void assert_text(uint32_t i, const char *expected)
{
    char text[200];

    exec_outcome_text(&jobs[i].outcome, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(jobs[i].ended, 1);
}

/* ---- commands ------------------------------------------------------------------------------- */

CLAIM(the_commands_of_a_job_follow_each_other)
{
    script(0, "sleep 0.2; echo first >order");
    script(0, "cat order; echo second");
    assert_ok(run_jobs(1), &err);
    assert_text(0, "exited with code 0");
    assert_int_equal(jobs[0].outcome.command, 1);
    assert_string_equal(text_of("0.1"), "first\nsecond");
}

CLAIM(both_outputs_go_to_one_file_and_the_input_is_empty)
{
    script(0, "echo out; echo err >&2; cat; echo end");
    assert_ok(run_jobs(1), &err);
    assert_string_equal(text_of("0.0"), "out\nerr\nend");
}

CLAIM(the_output_file_is_made_anew)
{
    char path[100];

    snprintf(path, sizeof path, "%s/0.0", folder);
    unit_write_text(path, "a long text of an earlier run\n");
    script(0, "echo new");
    assert_ok(run_jobs(1), &err);
    assert_string_equal(text_of("0.0"), "new");
}

CLAIM(a_command_runs_in_its_folder)
{
    script(0, "pwd -P >where");
    assert_ok(run_jobs(1), &err);
    assert_non_null(strstr(text_of("where"), strrchr(folder, '/')));
}

CLAIM(a_program_without_a_slash_is_looked_up)
{
    script(0, "");
    jobs[0].argv[0][0] = "sh";
    jobs[0].argv[0][2] = "echo found";
    assert_ok(run_jobs(1), &err);
    assert_string_equal(text_of("0.0"), "found");
}

/* Each of three waits for the other two, and none waits for more. */
CLAIM(as_many_run_side_by_side_as_asked)
{
    static const char *const meet[] = {"echo >a0; until [ -e a1 ] && [ -e a2 ]; do sleep 0.02; done",
                                       "echo >a1; until [ -e a0 ] && [ -e a2 ]; do sleep 0.02; done",
                                       "echo >a2; until [ -e a0 ] && [ -e a1 ]; do sleep 0.02; done"};

    for (uint32_t i = 0; i < 3; i++)
        script(i, meet[i])->timeout_seconds = 60;
    for (uint32_t i = 3; i < 6; i++)
        script(i, "exit 0");
    assert_ok(run_jobs(3), &err);
    for (uint32_t i = 0; i < 6; i++)
        assert_text(i, "exited with code 0");
    assert_int_equal(run.most_under_way, 3);
    assert_true(run.ticks >= 6);
}

CLAIM(without_jobs_nothing_happens)
{
    assert_ok(run_jobs(2), &err);
    assert_int_equal(run.n_ended, 0);
}

CLAIM(more_slots_than_jobs_are_fine)
{
    script(0, "exit 0");
    script(1, "exit 0");
    assert_ok(run_jobs(8), &err);
    assert_int_equal(run.n_ended, 2);
}

CLAIM(the_processor_time_of_a_command_is_measured)
{
    script(0, "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done");
    assert_ok(run_jobs(1), &err);
    assert_true(jobs[0].outcome.cpu_seconds > 0.001 && jobs[0].outcome.cpu_seconds < 60);
}

/* ---- failures ------------------------------------------------------------------------------- */

CLAIM(a_command_that_fails_is_the_last_of_its_job)
{
    script(0, "exit 7");
    script(0, "echo never");
    script(1, "echo fine");
    assert_ok(run_jobs(1), &err);
    assert_text(0, "exited with code 7");
    assert_int_equal(jobs[0].outcome.command, 0);
    assert_string_equal(text_of("0.1"), "(no file)");
    assert_text(1, "exited with code 0");
}

CLAIM(a_signal_is_told_from_an_exit_code)
{
    script(0, "kill -9 $$");
    assert_ok(run_jobs(1), &err);
    assert_text(0, "was killed by signal 9");
}

CLAIM(a_missing_program_fails_its_job_alone)
{
    script(0, "");
    jobs[0].argv[0][0] = "no-such-program";
    script(1, "");
    jobs[1].argv[0][0] = "/nonexistent/program";
    script(2, "echo fine");
    assert_ok(run_jobs(1), &err);
    assert_text(0, "cannot be started: no such file or directory");
    assert_text(1, "cannot be started: no such file or directory");
    assert_text(2, "exited with code 0");
}

CLAIM(a_program_that_may_not_be_run_is_told_so)
{
    char path[100];

    snprintf(path, sizeof path, "%s/plain", folder);
    unit_write_text(path, "no program\n");
    script(0, "");
    jobs[0].argv[0][0] = path;
    assert_ok(run_jobs(1), &err);
    assert_text(0, "cannot be started: permission denied");
}

CLAIM(a_missing_folder_is_told_from_a_missing_program)
{
    script(0, "exit 0")->folder = "/nonexistent/folder";
    assert_ok(run_jobs(1), &err);
    assert_text(0, "cannot be started: there is no folder '/nonexistent/folder'");
}

CLAIM(an_output_that_cannot_be_written_fails_its_job_alone)
{
    script(0, "exit 0")->output = "/nonexistent/output";
    script(1, "exit 0");
    assert_ok(run_jobs(1), &err);
    assert_text(0, "cannot be started: cannot write its output: No such file or directory");
    assert_text(1, "exited with code 0");
}

/* ---- groups --------------------------------------------------------------------------------- */

#define GRANDCHILD "sleep 60 & echo $! >grandchild; "

CLAIM(a_timeout_kills_the_whole_group)
{
    double start = seconds();

    script(0, GRANDCHILD "echo half; wait")->timeout_seconds = 1.5; /* in which a shell has begun */
    script(1, "echo fine");
    assert_ok(run_jobs(1), &err);
    assert_text(0, "was stopped after its timeout of 1.5 s");
    assert_true(seconds() - start < 30); /* the grandchild would take 60 */
    assert_gone("grandchild");
    assert_string_equal(text_of("0.0"), "half");
    assert_text(1, "exited with code 0");
}

/* SIGTERM first; who does not mind it gets SIGKILL. */
CLAIM(a_timeout_kills_who_ignores_the_first_signal)
{
    script(0, "trap '' TERM; echo $$ >leader; (trap '' TERM; exec sleep 60) & echo $! >grandchild; "
              "while :; do sleep 0.1; done")
        ->timeout_seconds = 1.5;
    assert_ok(run_jobs(1), &err);
    assert_text(0, "was stopped after its timeout of 1.5 s");
    assert_gone("leader");
    assert_gone("grandchild");
}

/* Together they take longer than the timeout. */
CLAIM(the_timeout_is_of_each_command)
{
    script(0, "sleep 1.3")->timeout_seconds = 2.5;
    script(0, "sleep 1.3")->timeout_seconds = 2.5;
    assert_ok(run_jobs(1), &err);
    assert_text(0, "exited with code 0");
}

/* It has the output open; nobody waits for it, and it does not outlive its leader. */
CLAIM(a_child_that_stays_neither_delays_nor_survives)
{
    double start = seconds();

    script(0, GRANDCHILD "echo left");
    script(0, "echo next");
    assert_ok(run_jobs(1), &err);
    assert_text(0, "exited with code 0");
    assert_true(seconds() - start < 30);
    assert_gone("grandchild");
    assert_string_equal(text_of("0.1"), "next");
}

/* ---- stopping ------------------------------------------------------------------------------- */

static void assert_interrupts(int signum, const char *text)
{
    double start = seconds();

    for (uint32_t i = 0; i < 4; i++)
        script(i, i ? "sleep 60" : GRANDCHILD "wait");
    run.raise_in_tick = signum;
    assert_failure(run_jobs(2), &err, DSE_E_INTERRUPT, "", text);
    assert_int_equal(run.n_ended, 0); /* given up is not failed */
    assert_true(seconds() - start < 30);
    assert_gone("grandchild");
}

CLAIM(ctrl_c_kills_every_group) { assert_interrupts(SIGINT, "interrupted"); }
CLAIM(being_terminated_is_told_from_ctrl_c) { assert_interrupts(SIGTERM, "terminated"); }

CLAIM(a_call_that_fails_stops_everything)
{
    script(0, "until [ -s grandchild ]; do sleep 0.02; done")->timeout_seconds = 60;
    script(1, GRANDCHILD "wait");
    run.stop_with = DSE_E_STORE;
    assert_failure(run_jobs(2), &err, DSE_E_STORE, "", "the caller stops");
    assert_int_equal(run.n_ended, 1);
    assert_gone("grandchild");
}

/* As kill -9 of this program would. */
CLAIM(the_groups_of_a_killed_program_are_killed)
{
    pid_t runner;
    int status;

    script(0, GRANDCHILD "echo $$ >leader; wait");
    run.tell_in_tick = true; /* which the loop does: by then the guard has been told */
    runner = fork();
    if (runner == 0) {
        exec_jobs_run(1, &calls, &err);
        _exit(1);
    }
    for (int i = 0; i < 1000 && !(is_there("leader") && is_there("ticked")); i++)
        wait_a_moment();
    assert_false(is_gone("leader"));
    assert_int_equal(kill(runner, SIGKILL), 0);
    assert_int_equal(waitpid(runner, &status, 0), runner);
    assert_gone("leader");
    assert_gone("grandchild");
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_commands_of_a_job_follow_each_other),
        TEST(both_outputs_go_to_one_file_and_the_input_is_empty),
        TEST(the_output_file_is_made_anew),
        TEST(a_command_runs_in_its_folder),
        TEST(a_program_without_a_slash_is_looked_up),
        TEST(as_many_run_side_by_side_as_asked),
        TEST(without_jobs_nothing_happens),
        TEST(more_slots_than_jobs_are_fine),
        TEST(the_processor_time_of_a_command_is_measured),
        TEST(a_command_that_fails_is_the_last_of_its_job),
        TEST(a_signal_is_told_from_an_exit_code),
        TEST(a_missing_program_fails_its_job_alone),
        TEST(a_program_that_may_not_be_run_is_told_so),
        TEST(a_missing_folder_is_told_from_a_missing_program),
        TEST(an_output_that_cannot_be_written_fails_its_job_alone),
        TEST(a_timeout_kills_the_whole_group),
        TEST(a_timeout_kills_who_ignores_the_first_signal),
        TEST(the_timeout_is_of_each_command),
        TEST(a_child_that_stays_neither_delays_nor_survives),
        TEST(ctrl_c_kills_every_group),
        TEST(being_terminated_is_told_from_ctrl_c),
        TEST(a_call_that_fails_stops_everything),
        TEST(the_groups_of_a_killed_program_are_killed),
    };
    /* A folder of it that may not be searched would turn "no such file" into "permission denied". */
    setenv("PATH", "/usr/bin:/bin", 1);
    return RUN_TESTS(tests);
}
