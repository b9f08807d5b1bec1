/* exec_pool -- a pool of worker processes that answer lines with lines.
 *
 * Each worker gets lines on its standard input and answers them in their order, each with one line on its standard
 * output; it may get a few before it has answered. What the lines mean is the caller's. A worker that dies is
 * replaced, and the line that it had under way is given once more, and so are those behind it; if that worker dies
 * too before it has answered the line, the line has failed, with the last words of its standard error. Built on
 * libuv; everything happens in the calling thread, inside exec_pool_run. */
#ifndef DSE_EXEC_POOL_H
#define DSE_EXEC_POOL_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    /* The next line to be answered, without a newline, valid until the next call; NULL: there are no more.
     * *task is handed back with the answer. */
    const char *(*next)(void *user, uint64_t *task);
    /* An answer, without its newline; borrowed. Anything but DSE_OK stops the pool. */
    dse_status (*answer)(void *user, uint64_t task, const char *line, dse_error *err);
    /* The line's workers died twice; `words` says how and quotes their last words. */
    dse_status (*failed)(void *user, uint64_t task, const char *words, dse_error *err);
    /* Now and then, and after every answer: for progress. Anything but DSE_OK stops the pool. */
    dse_status (*tick)(void *user, dse_error *err);
    void *user;
} exec_calls;

/* Runs until every line is answered, or Ctrl-C (DSE_E_INTERRUPT: lines under way are given up), or a call fails.
 * argv is NULL-terminated; n_workers at least 1. DSE_E_CHILD if no worker can be started. */
dse_status exec_pool_run(const char *const *argv, uint32_t n_workers, const exec_calls *calls,
                         dse_error *err);

/* Cores this process may use; at least 1. */
uint32_t exec_cores(void);

/* Path of the running program, to start it again as a worker. DSE_E_IO. */
dse_status exec_self(char *out, size_t size, dse_error *err);

#endif
