/* exec_pool -- a pool of worker processes that answer lines with lines.
 *
 * Each worker gets lines on its standard input and answers them in their order, each with one line on its
 * standard output. It may get a few before it has answered, but must not wait for them: whether they come
 * depends on the time that its answers take. What the lines mean is the caller's. A worker that dies is
 * replaced, and the line that it had under way is given once more, and so are those behind it; if that worker
 * dies too before it has answered the line, the line has failed, with the last words of its standard error.
 * Lines behind a slow one are given to workers that have none; of two answers one is taken.
 * Built on libuv; everything happens in the calling thread, inside exec_pool_run. */
#ifndef DSE_EXEC_POOL_H
#define DSE_EXEC_POOL_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    /* The next line to be answered, without a newline, valid until the next call; NULL: there are no more.
     * *task is handed back with the answer. */
    const char *(*next)(void *user, uint64_t *task);
    /* An answer, without its newline; borrowed. DSE_E_CHILD: it is none, as if the worker had died at this
     * line. Anything else but DSE_OK stops the pool. */
    dse_status (*answer)(void *user, uint64_t task, const char *line, dse_error *err);
    /* The line took longer than its limit, or its workers died twice; `words` says so, and quotes their last
     * words. */
    dse_status (*failed)(void *user, uint64_t task, const char *words, dse_error *err);
    /* Now and then, and after every answer: for progress. Anything but DSE_OK stops the pool. */
    dse_status (*tick)(void *user, dse_error *err);
    void *user;
    /* A line that is under way for longer has failed: its worker, which may hang or stand still, is killed,
     * and the line is not given again. 0: none. Only time in which this process runs counts, so that one that
     * slept with the machine kills nobody. */
    double limit_seconds;
    const char *limit_name; /* by which the user sets it: "--point-timeout" */
} exec_calls;

/* Runs until every line is answered, or Ctrl-C (DSE_E_INTERRUPT: lines under way are given up), or a call
 * fails. argv is NULL-terminated; n_workers at least 1. DSE_E_CHILD if no worker can be started. */
dse_status exec_pool_run(const char *const *argv, uint32_t n_workers, const exec_calls *calls,
                         dse_error *err);

/* Raises the limit of open files, if it may, to what n_workers and `others` more files need. DSE_E_CHILD: it
 * is too low (libuv ends the program where it gets none). */
dse_status exec_allow_files(uint32_t n_workers, uint32_t others, dse_error *err);

/* Cores this process may use; at least 1. */
uint32_t exec_cores(void);

/* Path of the running program, to start it again as a worker. DSE_E_IO. */
dse_status exec_self(char *out, size_t size, dse_error *err);

#endif
