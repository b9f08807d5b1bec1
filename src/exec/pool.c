#include "exec/pool.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#define MAX_ATTEMPTS     2
#define MAX_AHEAD        256u
#define AHEAD_NS         20000000u
#define PAUSE_MS         4 /* a fifth of that: nobody runs out of lines meanwhile */
#define QUICK_LINES      8u
#define LAST_WORDS_BYTES 600u
#define MAX_ANSWER_BYTES (16u << 20)
#define TICK_MS          200
#define WORDS_TICKS      5u /* after its exit: then only a grandchild can hold its outputs open */

typedef struct pool pool;

typedef struct {
    uint64_t task;
    dse_strbuf text; /* with its newline */
} line;

/* A slot of the pool: one process at a time. It is reused only when everything of the last one is closed.
 *
 * A worker that answers quickly is given lines ahead, so that it need not wait for the next: work for
 * AHEAD_NS, judged by the answers before. The first of its lines is the one under way, and the only one that
 * its death is held against. Where its lines turn out to be slow, and there are no more for others, those take
 * them from its end; its process, which has been sent them, is ended when it has come to them.
 *
 * The answers of one that has QUICK_LINES or more ahead are left to gather for PAUSE_MS before they are read:
 * to wake for each of them would cost this process, and the core that it takes from a worker, more than the
 * answer. */
typedef struct {
    pool *pool;
    uv_process_t process;
    uv_pipe_t in, out, words;
    uint32_t open_handles;
    bool exited, started;
    bool paused;          /* its answers are not read until the pool's pause ends */
    line line[MAX_AHEAD]; /* a ring */
    uint32_t first, n_lines, n_sent;
    uint32_t ahead;          /* so many lines it may have */
    bool is_robbed;          /* its process has been sent lines that are another's now */
    uint32_t deaths;         /* of workers that had the first line under way */
    uint64_t begun_ns;       /* when it was, if nothing waited for anybody */
    uint32_t ticks;          /* of the pool since then; since its exit */
    bool timed_out, garbled; /* why it was killed: its line took too long; what it said was no answer */
    dse_strbuf received, last_words;
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
    struct sigaction callers_interrupt, callers_terminate;
    uv_timer_t timer, pause;
    bool no_more, stopping;
    dse_status status;
    dse_error *err;
};

static void start(worker *w);
static void stop(pool *p, dse_status st);
static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

/* ---- closing ------------------------------------------------------------------------------- */

static line *first_line(worker *w) { return &w->line[w->first]; }

static void drop_first(worker *w)
{
    w->first = (w->first + 1) % MAX_AHEAD;
    w->n_lines--;
    w->deaths = 0;
}

static void give_up_or_retry(worker *w)
{
    pool *p = w->pool;
    uint64_t task = first_line(w)->task;
    char words[LAST_WORDS_BYTES + 200], how[80];
    const char *tail;
    dse_status st;

    if (!w->timed_out && ++w->deaths < MAX_ATTEMPTS)
        return;
    if (w->timed_out)
        snprintf(how, sizeof how, "took longer than %g s (%s)", p->calls->limit_seconds,
                 p->calls->limit_name);
    else if (w->garbled)
        snprintf(how, sizeof how, "what its worker said was no answer");
    else if (w->term_signal)
        snprintf(how, sizeof how, "its worker was killed by signal %d", w->term_signal);
    else
        snprintf(how, sizeof how, "its worker ended with exit code %d without an answer",
                 (int)w->exit_status);
    tail = w->last_words.data;
    while (w->last_words.len && strchr("\r\n ", w->last_words.data[w->last_words.len - 1]))
        w->last_words.data[--w->last_words.len] = '\0';
    snprintf(words, sizeof words, "%s%s%s%s", how, w->timed_out ? "" : ", twice",
             *tail ? "; its last words: " : "", tail);
    drop_first(w);
    st = p->calls->failed(p->calls->user, task, words, p->err);
    if (st != DSE_OK)
        stop(p, st);
}

static bool all_idle(const pool *p)
{
    for (uint32_t i = 0; i < p->n_workers; i++)
        if (p->workers[i].n_lines)
            return false;
    return true;
}

/* All handles of the process are closed: the slot may be used again. */
static void slot_free(worker *w)
{
    w->started = false;
    if (w->pool->stopping)
        return;
    if (w->n_sent)
        give_up_or_retry(w);
    w->n_sent = 0;
    if (w->pool->stopping)
        return;
    if (w->n_lines || !w->pool->no_more)
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

static void close_outputs(worker *w)
{
    close_pipe(&w->out);
    close_pipe(&w->words);
}

static void on_exit(uv_process_t *process, int64_t exit_status, int term_signal)
{
    worker *w = process->data;

    w->exited = true;
    w->ticks = 0;
    w->exit_status = exit_status;
    w->term_signal = term_signal;
    uv_close((uv_handle_t *)process, on_closed);
    close_pipe(&w->in);
    /* The outputs close at their end, so that the last words are read, or soon. */
    if (w->pool->stopping || w->timed_out)
        close_outputs(w);
}

/* Ctrl-C and SIGTERM are the caller's again; they wait meanwhile, as libuv leaves the default behind, which
 * ends the process. */
static void release_signals(pool *p)
{
    sigset_t both, before;

    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &both, &before);
    uv_close((uv_handle_t *)&p->interrupt, NULL);
    uv_close((uv_handle_t *)&p->terminate, NULL);
    sigaction(SIGINT, &p->callers_interrupt, NULL);
    sigaction(SIGTERM, &p->callers_terminate, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Ends all workers; the loop runs out when they are gone. */
static void stop(pool *p, dse_status st)
{
    if (p->status == DSE_OK)
        p->status = st;
    if (p->stopping)
        return;
    p->stopping = true;
    release_signals(p);
    uv_close((uv_handle_t *)&p->timer, NULL);
    uv_close((uv_handle_t *)&p->pause, NULL);
    for (uint32_t i = 0; i < p->n_workers; i++) {
        worker *w = &p->workers[i];

        if (!w->started)
            continue;
        if (!w->exited)
            uv_process_kill(&w->process, SIGKILL); /* one that stands still would not hear SIGTERM */
        close_pipe(&w->in);
        close_outputs(w);
    }
}

/* ---- lines --------------------------------------------------------------------------------- */

/* A worker that cannot be given its line, or whose answer cannot be taken, is as good as dead; its exit does
 * the rest. After its exit the process id may be another's. */
static void kill_worker(worker *w)
{
    if (!w->exited)
        uv_process_kill(&w->process, SIGKILL);
}

/* Lines on their way, in bytes of their own: who answers before it has read may be given others meanwhile. */
typedef struct {
    uv_write_t req;
    char bytes[];
} write_request;

static void on_written(uv_write_t *req, int status)
{
    if (status < 0 && status != UV_ECANCELED)
        kill_worker(req->data);
    dse_free(req);
}

/* The lines that the worker has not been sent yet, in one write. */
static void send_lines(worker *w)
{
    size_t n = 0, at = 0;
    write_request *r;
    uv_buf_t buf;

    for (uint32_t i = w->n_sent; i < w->n_lines; i++)
        n += w->line[(w->first + i) % MAX_AHEAD].text.len;
    if (!n)
        return;
    r = dse_realloc(NULL, sizeof *r + n);
    if (!w->n_sent) {
        w->begun_ns = uv_hrtime();
        w->ticks = 0;
    }
    for (; w->n_sent < w->n_lines; w->n_sent++) {
        const dse_strbuf *text = &w->line[(w->first + w->n_sent) % MAX_AHEAD].text;

        memcpy(r->bytes + at, text->data, text->len);
        at += text->len;
    }
    r->req.data = w;
    buf = uv_buf_init(r->bytes, (unsigned)n);
    if (uv_write(&r->req, (uv_stream_t *)&w->in, &buf, 1, on_written) != 0) {
        kill_worker(w);
        dse_free(r);
    }
}

/* The worker for which most lines wait, if it has been at one for as long as all of them should take, or if by
 * its last answers they take twice as long. NULL: for none. */
static worker *find_behind(pool *p)
{
    const uint64_t now = uv_hrtime();
    worker *found = NULL;

    for (uint32_t i = 0; i < p->n_workers; i++) {
        worker *w = &p->workers[i];

        if (w->n_sent > 1 && (now - w->begun_ns > AHEAD_NS || w->n_sent > 2 * w->ahead) &&
            (!found || w->n_sent > found->n_sent))
            found = w;
    }
    return found;
}

/* A line of another worker, if one is behind. */
static void take_over(worker *w)
{
    worker *from = find_behind(w->pool);
    line *mine = first_line(w), *last, keep = *mine;

    if (!from)
        return;
    last = &from->line[(from->first + --from->n_sent) % MAX_AHEAD];
    from->n_lines = from->n_sent;
    from->is_robbed = true;
    *mine = *last;
    *last = keep;
    w->n_lines = 1;
}

/* Takes as many lines as the worker may have. */
static void take_lines(worker *w)
{
    pool *p = w->pool;

    while (!p->no_more && w->n_lines < w->ahead) {
        line *l = &w->line[(w->first + w->n_lines) % MAX_AHEAD];
        const char *text = p->calls->next(p->calls->user, &l->task);

        if (!text) {
            p->no_more = true;
            break;
        }
        dse_strbuf_clear(&l->text);
        dse_strbuf_adds(&l->text, text);
        dse_strbuf_addc(&l->text, '\n');
        w->n_lines++;
    }
    if (!w->n_lines)
        take_over(w);
}

static void feed(worker *w)
{
    pool *p = w->pool;

    if (p->stopping || w->exited)
        return;
    if (w->is_robbed && !w->n_lines) {
        kill_worker(w);
    } else {
        take_lines(w);
        send_lines(w);
    }
    if (!w->n_lines) {
        close_pipe(&w->in); /* the worker ends */
        if (all_idle(p))
            stop(p, DSE_OK);
    }
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    (void)h;
    buf->base = dse_realloc(NULL, suggested);
    buf->len = suggested;
}

/* After so many answers. */
static void look_ahead(worker *w, uint32_t answers)
{
    uint64_t now = uv_hrtime(), lines = AHEAD_NS * (uint64_t)answers / (now - w->begun_ns + 1);

    w->ahead = lines < 1 ? 1 : lines < MAX_AHEAD ? (uint32_t)lines : MAX_AHEAD;
    w->begun_ns = now;
    w->ticks = 0;
}

/* Of the first line. What is no answer counts as the worker's death at that line. */
static dse_status take_answer(worker *w, const char *text)
{
    pool *p = w->pool;
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    st = p->calls->answer(p->calls->user, first_line(w)->task, text, &why);
    if (st == DSE_E_CHILD) {
        w->garbled = true;
        dse_strbuf_clear(&w->last_words);
        dse_strbuf_addf(&w->last_words, "%.200s", text);
        kill_worker(w);
        return DSE_OK;
    }
    drop_first(w);
    w->n_sent--;
    if (st != DSE_OK && p->err && p->err->status == DSE_OK)
        *p->err = why;
    return st == DSE_OK ? p->calls->tick(p->calls->user, p->err) : st;
}

/* All that have come. What is said unasked is dropped. */
static void take_answers(worker *w)
{
    dse_strbuf *b = &w->received;
    size_t at = 0;
    uint32_t n = 0;
    char *newline;
    dse_status st = DSE_OK;

    while (st == DSE_OK && w->n_sent && !w->garbled && at < b->len &&
           (newline = memchr(b->data + at, '\n', b->len - at))) {
        *newline = '\0';
        st = take_answer(w, b->data + at);
        n++;
        at = (size_t)(newline + 1 - b->data);
    }
    if (st != DSE_OK)
        stop(w->pool, st);
    if (!at || w->garbled)
        return;
    look_ahead(w, n);
    b->len = w->n_sent ? b->len - at : 0;
    memmove(b->data, b->data + at, b->len);
    b->data[b->len] = '\0';
    feed(w);
}

static void on_pause_end(uv_timer_t *timer)
{
    pool *p = timer->data;

    for (uint32_t i = 0; i < p->n_workers; i++) {
        worker *w = &p->workers[i];

        if (w->paused && w->started && !uv_is_closing((uv_handle_t *)&w->out))
            uv_read_start((uv_stream_t *)&w->out, on_alloc, on_output);
        w->paused = false;
    }
}

static void pause_reading(worker *w)
{
    w->paused = true;
    uv_read_stop((uv_stream_t *)&w->out);
    if (!uv_is_active((uv_handle_t *)&w->pool->pause))
        uv_timer_start(&w->pool->pause, on_pause_end, PAUSE_MS, 0);
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    worker *w = stream->data;

    if (n > 0 && w->garbled) {
        dse_strbuf_clear(&w->received);
    } else if (n > 0 && w->n_sent) {
        dse_strbuf_add(&w->received, buf->base, (size_t)n);
        take_answers(w);
        if (w->received.len > MAX_ANSWER_BYTES)
            kill_worker(w); /* it talks without end */
        else if (w->ahead >= QUICK_LINES && (size_t)n < buf->len && !w->pool->no_more && !w->pool->stopping)
            pause_reading(w);
    } else if (n < 0) {
        close_pipe(&w->out);
        if (w->n_sent)
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

    w->exited = w->timed_out = w->garbled = w->paused = w->is_robbed = false;
    w->started = true;
    w->open_handles = 4;
    w->ahead = 1;
    dse_strbuf_clear(&w->received);
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
    const double limit = p->calls->limit_seconds;
    dse_status st = p->calls->tick(p->calls->user, p->err);

    for (uint32_t i = 0; i < p->n_workers; i++) {
        worker *w = &p->workers[i];

        if (!w->started && p->no_more && !p->stopping && find_behind(p))
            start(w);
        if (!w->started)
            continue;
        w->ticks++;
        if (w->exited && w->ticks > WORDS_TICKS)
            close_outputs(w);
        if (!w->exited && w->n_sent && limit > 0 && w->ticks * (TICK_MS / 1000.0) > limit) {
            w->timed_out = true;
            kill_worker(w);
        }
    }
    if (st != DSE_OK)
        stop(p, st);
}

dse_status exec_pool_run(const char *const *argv, uint32_t n_workers, const exec_calls *calls, dse_error *err)
{
    pool p = {.argv = argv, .calls = calls, .n_workers = n_workers, .err = err};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int code;

    p.workers = dse_calloc(n_workers, sizeof *p.workers);
    code = uv_loop_init(&p.loop);
    if (code != 0) {
        dse_free(p.workers);
        return dse_fail(err, DSE_E_CHILD, "cannot start workers: %s", uv_strerror(code));
    }
    sigaction(SIGINT, NULL, &p.callers_interrupt);
    sigaction(SIGTERM, NULL, &p.callers_terminate);
    /* A worker that dies before it reads its line is an error of that write, not the end of this process. */
    sigaction(SIGPIPE, &ignore, &before);
    p.interrupt.data = p.terminate.data = p.timer.data = p.pause.data = &p;
    uv_signal_init(&p.loop, &p.interrupt);
    uv_signal_init(&p.loop, &p.terminate);
    uv_timer_init(&p.loop, &p.timer);
    uv_timer_init(&p.loop, &p.pause);
    uv_signal_start(&p.interrupt, on_signal, SIGINT);
    uv_signal_start(&p.terminate, on_signal, SIGTERM);
    uv_timer_start(&p.timer, on_timer, TICK_MS, TICK_MS);
    for (uint32_t i = 0; i < n_workers; i++) {
        worker *w = &p.workers[i];

        w->pool = &p;
        for (uint32_t k = 0; k < MAX_AHEAD; k++)
            dse_strbuf_init(&w->line[k].text);
        dse_strbuf_init(&w->received);
        dse_strbuf_init(&w->last_words);
    }
    for (uint32_t i = 0; i < n_workers && !p.stopping && !p.no_more; i++)
        start(&p.workers[i]);
    uv_run(&p.loop, UV_RUN_DEFAULT);
    uv_loop_close(&p.loop);
    sigaction(SIGPIPE, &before, NULL);
    for (uint32_t i = 0; i < n_workers; i++) {
        for (uint32_t k = 0; k < MAX_AHEAD; k++)
            dse_strbuf_free(&p.workers[i].line[k].text);
        dse_strbuf_free(&p.workers[i].received);
        dse_strbuf_free(&p.workers[i].last_words);
    }
    dse_free(p.workers);
    return p.status;
}

/* ---- what there is to run on
 * ----------------------------------------------------------------------------- */

#define FILES_OF_LOOP   10 /* its own, and those of a process that is being started */
#define FILES_OF_WORKER 3

dse_status exec_allow_files(uint32_t n_workers, uint32_t others, dse_error *err)
{
    rlim_t need = (rlim_t)n_workers * FILES_OF_WORKER + FILES_OF_LOOP + others;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return dse_fail_errno(err, DSE_E_CHILD, "cannot read the limit of open files");
    for (rlim_t i = 0; i < limit.rlim_cur && i < 1024; i++)
        need += fcntl((int)i, F_GETFD) >= 0;
    if (limit.rlim_cur >= need)
        return DSE_OK;
    if (limit.rlim_max >= need) {
        limit.rlim_cur = need;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
            return DSE_OK;
    }
    return dse_fail(err, DSE_E_CHILD,
                    "only %llu files may be open, and %llu are needed for %" PRIu32
                    " workers; raise the limit (ulimit -n), or give fewer --jobs",
                    (unsigned long long)limit.rlim_max, (unsigned long long)need, n_workers);
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
