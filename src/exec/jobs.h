/* exec_jobs -- other people's programs, side by side: jobs of one command after the other.
 *
 * Each command is the leader of a session and a process group of its own. Its standard input is empty, its
 * outputs go to a file and never to a pipe, so that a child which it leaves behind cannot hold us. When the
 * leader has ended, what is left of its group is killed; a timeout, Ctrl-C and the end of this program,
 * however it ends, kill the group. Only a process that makes a session of its own gets away. Built on libuv;
 * everything happens in the calling thread, inside exec_jobs_run. */
#ifndef DSE_EXEC_JOBS_H
#define DSE_EXEC_JOBS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define EXEC_JOB_COMMANDS 2

typedef struct {
    const char *const *argv; /* NULL-terminated; argv[0] without a slash is looked up along PATH */
    const char *folder;      /* where it runs; must exist */
    const char *output;      /* file for its standard output and error, made anew; relative to *our* folder */
    double timeout_seconds;  /* 0: none */
} exec_command;

/* Commands that follow each other; the first that does not exit with 0 is the last. All strings are the
 * caller's and stay valid until `done` is called for the job. */
typedef struct {
    uint32_t n;
    exec_command command[EXEC_JOB_COMMANDS];
} exec_job;

typedef enum {
    EXEC_DONE,         /* every command exited with 0 */
    EXEC_CANNOT_START, /* see `reason` */
    EXEC_EXITED,       /* with `code` */
    EXEC_SIGNALLED,    /* killed by signal `code` */
    EXEC_TIMED_OUT     /* after `timeout_seconds` */
} exec_end;

typedef struct {
    exec_end end;
    uint32_t command; /* the one that ended so; with EXEC_DONE the last */
    int code;
    double timeout_seconds;
    char reason[128]; /* the system's words: "no such file or directory" */
    /* Of the commands and the children they waited for. Of two that end in the same instant the first gets
     * both. */
    double cpu_seconds;
} exec_outcome;

typedef struct {
    /* The next job; *any false: there are no more. *task is handed back with the outcome. Anything but DSE_OK
     * stops all. */
    dse_status (*next)(void *user, exec_job *job, uint64_t *task, bool *any, dse_error *err);
    /* A job has ended. Anything but DSE_OK stops all. */
    dse_status (*done)(void *user, uint64_t task, const exec_outcome *outcome, dse_error *err);
    /* Now and then, and after every job: for progress. */
    void (*tick)(void *user);
    void *user;
} exec_job_calls;

/* Runs until every job has ended, or Ctrl-C or SIGTERM (DSE_E_INTERRUPT: jobs under way are killed and given
 * up), or a call fails. n_jobs, at least 1: how many at a time. */
dse_status exec_jobs_run(uint32_t n_jobs, const exec_job_calls *calls, dse_error *err);

/* How a command ended, to stand behind its name: "exited with code 1", "was killed by signal 9", "was stopped
 * after its timeout of 5 s", "cannot be started: no such file or directory". */
void exec_outcome_text(const exec_outcome *o, char *out, size_t size);

#endif
