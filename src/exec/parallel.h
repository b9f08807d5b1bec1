/* exec_parallel -- a function called for 0..n-1 by several threads.
 *
 * Indexes are taken in ascending order, each by whichever thread is free. The result does not depend on the
 * number of threads: after a failure no index is begun any more, those under way are finished, and the
 * failure of the lowest index is the one that is returned. */
#ifndef DSE_EXEC_PARALLEL_H
#define DSE_EXEC_PARALLEL_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Called in a thread of its own choice, at the same time as for other indexes. */
typedef dse_status exec_task(void *user, size_t i, dse_error *err);

/* `done` of n are finished: called in the thread that called exec_parallel, now and then, and not more often
 * than a task ends. */
typedef void exec_progress(void *user, size_t done, size_t n);

/* n_threads 0: as many as there are cores (exec_cores in pool.h). With one, or if no thread can be started,
 * everything happens in the calling thread. progress may be NULL. */
dse_status exec_parallel(size_t n, uint32_t n_threads, exec_task *task, exec_progress *progress, void *user,
                         dse_error *err);

#endif
