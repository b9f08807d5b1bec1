#include "exec/pool.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#define MAX_ATTEMPTS     2
#define LAST_WORDS_BYTES 600u
#define MAX_ANSWER_BYTES (16u << 20)
#define TICK_MS          200

typedef struct pool pool;

/* A slot of the pool: one process at a time. It is reused only when everything of the last one is closed. */
typedef struct {
    pool *pool;
    uv_process_t process;
    uv_pipe_t in, out, words;
    uint32_t open_handles;
    bool exited, started;
    bool busy, retry; /* has a line; the line must be given again */
    uint64_t task;
    uint32_t attempts;
    dse_strbuf line, received, last_words;
    int64_t exit_status;
    int term_signal;
} worker;

struct pool {
    uv_loop_t loop;
    const char *const *argv;
    const exec_calls *calls;
    worker *workers;
    uint32_t n_workers;
    uv_signal_t interrupt, terminate;
    uv_timer_t timer;
    bool no_more, stopping;
    dse_status status;
    dse_error *err;
};

static void start(worker *w);
static void stop(pool *p, dse_status st);

/* ---- closing ------------------------------------------------------------------------------- */

static void give_up_or_retry(worker *w)
{
    pool *p = w->pool;
    char words[LAST_WORDS_BYTES + 200], how[80];
    const char *tail;
    dse_status st;

    if (w->attempts < MAX_ATTEMPTS) {
        w->retry = true;
        return;
    }
    if (w->term_signal)
        snprintf(how, sizeof how, "its worker was killed by signal %d", w->term_signal);
    else
        snprintf(how, sizeof how, "its worker ended with exit code %d without an answer",
                 (int)w->exit_status);
    tail = w->last_words.data;
    while (w->last_words.len && strchr("\r\n ", w->last_words.data[w->last_words.len - 1]))
        w->last_words.data[--w->last_words.len] = '\0';
    snprintf(words, sizeof words, "%s, twice%s%s", how, *tail ? "; its last words: " : "", tail);
    w->busy = false;
    st = p->calls->failed(p->calls->user, w->task, words, p->err);
    if (st != DSE_OK)
        stop(p, st);
}

static bool all_idle(const pool *p)
{
    for (uint32_t i = 0; i < p->n_workers; i++)
        if (p->workers[i].busy || p->workers[i].retry)
            return false;
    return true;
}

/* All handles of the process are closed: the slot may be used again. */
static void slot_free(worker *w)
{
    w->started = false;
    if (w->pool->stopping)
        return;
    if (w->busy)
        give_up_or_retry(w);
    if (w->pool->stopping)
        return;
    if (w->retry || !w->pool->no_more)
        start(w);
    else if (all_idle(w->pool))
        stop(w->pool, DSE_OK);
}

static void on_closed(uv_handle_t *h)
{
    worker *w = h->data;

    if (--w->open_handles == 0)
        slot_free(w);
}

static void close_pipe(uv_pipe_t *pipe)
{
    if (!uv_is_closing((uv_handle_t *)pipe))
        uv_close((uv_handle_t *)pipe, on_closed);
}

static void on_exit(uv_process_t *process, int64_t exit_status, int term_signal)
{
    worker *w = process->data;

    w->exited = true;
    w->exit_status = exit_status;
    w->term_signal = term_signal;
    uv_close((uv_handle_t *)process, on_closed);
    close_pipe(&w->in);
    /* The outputs close at their end, so that the last words are read; a grandchild that holds them open must not
     * hold us. */
    if (w->pool->stopping) {
        close_pipe(&w->out);
        close_pipe(&w->words);
    }
}

/* Ends all workers; the loop runs out when they are gone. */
static void stop(pool *p, dse_status st)
{
    if (p->status == DSE_OK)
        p->status = st;
    if (p->stopping)
        return;
    p->stopping = true;
    uv_close((uv_handle_t *)&p->interrupt, NULL);
    uv_close((uv_handle_t *)&p->terminate, NULL);
    uv_close((uv_handle_t *)&p->timer, NULL);
    for (uint32_t i = 0; i < p->n_workers; i++) {
        worker *w = &p->workers[i];

        if (!w->started)
            continue;
        if (!w->exited)
            uv_process_kill(&w->process, w->busy ? SIGKILL : SIGTERM);
        close_pipe(&w->in);
        close_pipe(&w->out);
        close_pipe(&w->words);
    }
}

/* ---- lines --------------------------------------------------------------------------------- */

/* A worker that cannot be given its line, or whose answer cannot be taken, is as good as dead; its exit does the
 * rest. After its exit the process id may be another's. */
static void kill_worker(worker *w)
{
    if (!w->exited)
        uv_process_kill(&w->process, SIGKILL);
}

static void on_written(uv_write_t *req, int status)
{
    if (status < 0 && status != UV_ECANCELED)
        kill_worker(req->data);
    dse_free(req);
}

static void send_line(worker *w)
{
    uv_buf_t buf = uv_buf_init(w->line.data, (unsigned)w->line.len);
    uv_write_t *req = dse_realloc(NULL, sizeof *req);

    w->busy = true;
    w->retry = false;
    w->attempts++;
    dse_strbuf_clear(&w->received);
    if (!req) {
        stop(w->pool, dse_fail_nomem(w->pool->err));
        return;
    }
    req->data = w;
    if (uv_write(req, (uv_stream_t *)&w->in, &buf, 1, on_written) != 0) {
        kill_worker(w);
        dse_free(req);
    }
}

static void feed(worker *w)
{
    pool *p = w->pool;
    const char *line = NULL;

    if (p->stopping || w->exited)
        return;
    if (!w->retry) {
        if (!p->no_more && !(line = p->calls->next(p->calls->user, &w->task)))
            p->no_more = true;
        if (p->no_more) {
            close_pipe(&w->in); /* the worker ends */
            if (all_idle(p))
                stop(p, DSE_OK);
            return;
        }
        dse_strbuf_clear(&w->line);
        dse_strbuf_adds(&w->line, line);
        dse_strbuf_addc(&w->line, '\n');
        w->attempts = 0;
        if (w->line.failed) {
            stop(p, dse_fail_nomem(p->err));
            return;
        }
    }
    send_line(w);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    (void)h;
    buf->base = dse_realloc(NULL, suggested);
    buf->len = buf->base ? suggested : 0;
}

static void take_answer(worker *w, char *newline)
{
    pool *p = w->pool;
    dse_status st;

    *newline = '\0';
    w->busy = false;
    st = p->calls->answer(p->calls->user, w->task, w->received.data, p->err);
    dse_strbuf_clear(&w->received);
    if (st != DSE_OK) {
        stop(p, st);
        return;
    }
    p->calls->tick(p->calls->user);
    feed(w);
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    worker *w = stream->data;

    if (n > 0 && w->busy) {
        char *newline;

        dse_strbuf_add(&w->received, buf->base, (size_t)n);
        newline = w->received.len ? memchr(w->received.data, '\n', w->received.len) : NULL;
        if (newline)
            take_answer(w, newline);
        else if (w->received.failed || w->received.len > MAX_ANSWER_BYTES)
            kill_worker(w); /* it talks without end */
    } else if (n < 0) {
        close_pipe(&w->out);
        if (w->busy)
            kill_worker(w); /* nothing it says can be heard any more */
    }
    dse_free(buf->base);
}

static void on_words(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    worker *w = stream->data;

    if (n > 0) {
        dse_strbuf_add(&w->last_words, buf->base, (size_t)n);
        if (w->last_words.len > LAST_WORDS_BYTES) {
            size_t drop = w->last_words.len - LAST_WORDS_BYTES;

            memmove(w->last_words.data, w->last_words.data + drop, LAST_WORDS_BYTES + 1);
            w->last_words.len = LAST_WORDS_BYTES;
        }
    } else if (n < 0) {
        close_pipe(&w->words);
    }
    dse_free(buf->base);
}

/* ---- starting ------------------------------------------------------------------------------ */

static void start(worker *w)
{
    pool *p = w->pool;
    uv_pipe_t *pipes[] = {&w->in, &w->out, &w->words};
    uv_stdio_container_t stdio[3];
    uv_process_options_t options = {0};
    int code;

    w->exited = false;
    w->started = true;
    w->open_handles = 4;
    dse_strbuf_clear(&w->last_words);
    for (int i = 0; i < 3; i++) {
        uv_pipe_init(&p->loop, pipes[i], 0);
        pipes[i]->data = w;
        stdio[i].flags = (uv_stdio_flags)(UV_CREATE_PIPE | (i == 0 ? UV_READABLE_PIPE : UV_WRITABLE_PIPE));
        stdio[i].data.stream = (uv_stream_t *)pipes[i];
    }
    options.file = p->argv[0];
    options.args = (char **)(uintptr_t)p->argv;
    options.stdio = stdio;
    options.stdio_count = 3;
    options.exit_cb = on_exit;
    w->process.data = w;
    code = uv_spawn(&p->loop, &w->process, &options);
    if (code != 0) {
        w->exited = true;
        uv_close((uv_handle_t *)&w->process, on_closed);
        for (int i = 0; i < 3; i++)
            close_pipe(pipes[i]);
        stop(p, dse_fail(p->err, DSE_E_CHILD, "cannot start a worker ('%s'): %s", p->argv[0],
                         uv_strerror(code)));
        return;
    }
    uv_read_start((uv_stream_t *)&w->out, on_alloc, on_output);
    uv_read_start((uv_stream_t *)&w->words, on_alloc, on_words);
    feed(w);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    pool *p = handle->data;

    stop(p, dse_fail(p->err, DSE_E_INTERRUPT, "%s", signum == SIGINT ? "interrupted" : "terminated"));
}

static void on_timer(uv_timer_t *timer)
{
    pool *p = timer->data;

    p->calls->tick(p->calls->user);
}

dse_status exec_pool_run(const char *const *argv, uint32_t n_workers, const exec_calls *calls, dse_error *err)
{
    pool p = {.argv = argv, .calls = calls, .n_workers = n_workers, .err = err};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int code;

    p.workers = dse_calloc(n_workers, sizeof *p.workers);
    code = p.workers ? uv_loop_init(&p.loop) : UV_ENOMEM;
    if (code != 0) {
        dse_free(p.workers);
        return code == UV_ENOMEM ? dse_fail_nomem(err)
                                 : dse_fail(err, DSE_E_CHILD, "cannot start workers: %s", uv_strerror(code));
    }
    /* A worker that dies before it reads its line is an error of that write, not the end of this process. */
    sigaction(SIGPIPE, &ignore, &before);
    p.interrupt.data = p.terminate.data = p.timer.data = &p;
    uv_signal_init(&p.loop, &p.interrupt);
    uv_signal_init(&p.loop, &p.terminate);
    uv_timer_init(&p.loop, &p.timer);
    uv_signal_start(&p.interrupt, on_signal, SIGINT);
    uv_signal_start(&p.terminate, on_signal, SIGTERM);
    uv_timer_start(&p.timer, on_timer, TICK_MS, TICK_MS);
    for (uint32_t i = 0; i < n_workers; i++) {
        worker *w = &p.workers[i];

        w->pool = &p;
        dse_strbuf_init(&w->line);
        dse_strbuf_init(&w->received);
        dse_strbuf_init(&w->last_words);
    }
    for (uint32_t i = 0; i < n_workers && !p.stopping && !p.no_more; i++)
        start(&p.workers[i]);
    uv_run(&p.loop, UV_RUN_DEFAULT);
    uv_loop_close(&p.loop);
    sigaction(SIGPIPE, &before, NULL);
    for (uint32_t i = 0; i < n_workers; i++) {
        dse_strbuf_free(&p.workers[i].line);
        dse_strbuf_free(&p.workers[i].received);
        dse_strbuf_free(&p.workers[i].last_words);
    }
    dse_free(p.workers);
    return p.status;
}

uint32_t exec_cores(void)
{
    unsigned n = uv_available_parallelism();

    return n ? n : 1;
}

dse_status exec_self(char *out, size_t size, dse_error *err)
{
    int code = uv_exepath(out, &size);

    return code == 0 ? DSE_OK
                     : dse_fail(err, DSE_E_IO, "cannot find the running program: %s", uv_strerror(code));
}
