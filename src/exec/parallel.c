#include "exec/parallel.h"

#include "base/alloc.h"
#include "exec/pool.h"

#include <uv.h>

typedef struct {
    exec_task *task;
    void *user;
    size_t n;
    uv_mutex_t lock; /* of all below */
    uv_cond_t ended; /* a task */
    size_t next, done;
    size_t failed_at; /* the lowest; n: none */
    dse_status status;
    dse_error error;
} parallel;

static void finish(parallel *p, size_t i, dse_status st, const dse_error *err)
{
    p->done++;
    if (st != DSE_OK && i < p->failed_at) {
        p->failed_at = i;
        p->status = st;
        p->error = *err;
    }
}

/* Takes indexes until there are no more; in the caller's thread `progress` may be told of each. */
static void take_tasks(parallel *p, exec_progress *progress)
{
    uv_mutex_lock(&p->lock);
    while (p->next < p->n && p->failed_at == p->n) {
        dse_error err = DSE_ERROR_INIT;
        size_t i = p->next++;
        dse_status st;

        uv_mutex_unlock(&p->lock);
        st = p->task(p->user, i, &err);
        uv_mutex_lock(&p->lock);
        finish(p, i, st, &err);
        uv_cond_signal(&p->ended);
        if (progress)
            progress(p->user, p->done, p->n);
    }
    uv_mutex_unlock(&p->lock);
}

static void work(void *arg) { take_tasks(arg, NULL); }

static bool is_over(const parallel *p)
{
    return p->done == p->next && (p->next == p->n || p->failed_at < p->n);
}

/* Until every index that was begun has ended, and none will be begun. */
static void watch(parallel *p, exec_progress *progress)
{
    size_t told = 0;

    uv_mutex_lock(&p->lock);
    for (;;) {
        bool over = is_over(p);

        if (progress && p->done > told) {
            told = p->done;
            uv_mutex_unlock(&p->lock);
            progress(p->user, told, p->n);
            uv_mutex_lock(&p->lock);
        } else if (!over) {
            uv_cond_wait(&p->ended, &p->lock);
        }
        if (over)
            break;
    }
    uv_mutex_unlock(&p->lock);
}

/* By the calling thread itself, if there are no others. */
static void run(parallel *p, uint32_t n_threads, exec_progress *progress)
{
    uv_thread_t *thread = dse_calloc(n_threads, sizeof *thread);
    uint32_t started = 0;

    if (uv_mutex_init(&p->lock) != 0 || uv_cond_init(&p->ended) != 0)
        dse_out_of_memory();
    while (n_threads > 1 && started < n_threads && uv_thread_create(&thread[started], work, p) == 0)
        started++;
    if (started)
        watch(p, progress);
    else
        take_tasks(p, progress);
    for (uint32_t i = 0; i < started; i++)
        uv_thread_join(&thread[i]);
    uv_cond_destroy(&p->ended);
    uv_mutex_destroy(&p->lock);
    dse_free(thread);
}

dse_status exec_parallel(size_t n, uint32_t n_threads, exec_task *task, exec_progress *progress, void *user,
                         dse_error *err)
{
    parallel p = {.task = task, .user = user, .n = n, .failed_at = n, .error = DSE_ERROR_INIT};

    if (!n_threads)
        n_threads = exec_cores();
    if (n_threads > n)
        n_threads = (uint32_t)n;
    run(&p, n_threads, progress);
    if (p.status != DSE_OK && err && err->status == DSE_OK)
        *err = p.error;
    return p.status;
}
