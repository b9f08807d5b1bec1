#include "exec/jobs.h"

#include "base/alloc.h"
#include "exec/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define TICK_MS 200
/* Between SIGTERM and SIGKILL: time to write a last line, not to end the work. */
#define GRACE_MS 1000

typedef struct jobs jobs;

/* One job at a time. The process handle is used again from its close callback only. */
typedef struct {
    jobs *all;
    uv_process_t process;
    uv_timer_t timer;
    pid_t group; /* 0: no command is running */
    bool has_job, timed_out;
    uint64_t task;
    exec_job job;
    exec_outcome outcome;
} slot;

struct jobs {
    uv_loop_t loop;
    const exec_job_calls *calls;
    slot *slots;
    uint32_t n_slots;
    exec_guard guard;
    double cpu_seconds; /* of all children that have ended */
    uv_signal_t interrupt, terminate;
    uv_timer_t timer;
    bool no_more, stopping;
    dse_status status;
    dse_error *err;
};

static void take_job(slot *s);
static void start_command(slot *s);

/* ---- groups -------------------------------------------------------------------------------- */

static void kill_group(const slot *s, int signum)
{
    if (s->group)
        kill(-s->group, signum);
}

static void set_group(slot *s, pid_t group)
{
    s->group = group;
    exec_guard_set(&s->all->guard, (uint32_t)(s - s->all->slots), group);
}

/* Ends everything; the loop runs out when the leaders are gone. */
static void stop(jobs *all, dse_status st)
{
    if (all->status == DSE_OK)
        all->status = st;
    if (all->stopping)
        return;
    all->stopping = true;
    uv_close((uv_handle_t *)&all->interrupt, NULL);
    uv_close((uv_handle_t *)&all->terminate, NULL);
    uv_close((uv_handle_t *)&all->timer, NULL);
    for (uint32_t i = 0; i < all->n_slots; i++) {
        uv_close((uv_handle_t *)&all->slots[i].timer, NULL);
        kill_group(&all->slots[i], SIGKILL);
    }
}

static void on_timeout(uv_timer_t *timer)
{
    slot *s = timer->data;

    kill_group(s, s->timed_out ? SIGKILL : SIGTERM);
    if (!s->timed_out)
        uv_timer_start(timer, on_timeout, GRACE_MS, 0);
    s->timed_out = true;
}

/* ---- ends ---------------------------------------------------------------------------------- */

static double children_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static bool all_idle(const jobs *all)
{
    for (uint32_t i = 0; i < all->n_slots; i++)
        if (all->slots[i].has_job)
            return false;
    return true;
}

static void end_job(slot *s)
{
    jobs *all = s->all;
    dse_status st = all->calls->done(all->calls->user, s->task, &s->outcome, all->err);

    s->has_job = false;
    if (st != DSE_OK) {
        stop(all, st);
        return;
    }
    all->calls->tick(all->calls->user);
    take_job(s);
}

/* The command is over, its handle may be used again. */
static void on_closed(uv_handle_t *h)
{
    slot *s = h->data;

    if (s->all->stopping)
        return;
    if (s->outcome.end == EXEC_DONE && s->outcome.command + 1 < s->job.n) {
        s->outcome.command++;
        start_command(s);
    } else {
        end_job(s);
    }
}

static void on_exit(uv_process_t *process, int64_t exit_status, int term_signal)
{
    slot *s = process->data;
    double seconds = children_seconds();

    kill_group(s, SIGKILL); /* what the leader left behind */
    set_group(s, 0);
    s->outcome.cpu_seconds += seconds - s->all->cpu_seconds;
    s->all->cpu_seconds = seconds;
    if (s->timed_out) {
        s->outcome.end = EXEC_TIMED_OUT;
        s->outcome.timeout_seconds = s->job.command[s->outcome.command].timeout_seconds;
    } else if (term_signal || exit_status) {
        s->outcome.end = term_signal ? EXEC_SIGNALLED : EXEC_EXITED;
        s->outcome.code = term_signal ? term_signal : (int)exit_status;
    }
    if (!s->all->stopping)
        uv_timer_stop(&s->timer);
    uv_close((uv_handle_t *)process, on_closed);
}

/* ---- starting ------------------------------------------------------------------------------ */

static void on_no_output(uv_timer_t *timer) { end_job(timer->data); }

/* 0, or libuv's number of what is wrong. */
static int spawn(slot *s, const exec_command *c, int fd)
{
    uv_process_options_t options = {0};
    uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE}};

    for (int i = 1; i < 3; i++) {
        stdio[i].flags = UV_INHERIT_FD;
        stdio[i].data.fd = fd;
    }
    options.file = c->argv[0];
    options.args = (char **)(uintptr_t)c->argv;
    options.cwd = c->folder;
    options.flags = UV_PROCESS_DETACHED;
    options.stdio = stdio;
    options.stdio_count = 3;
    options.exit_cb = on_exit;
    s->process.data = s;
    return uv_spawn(&s->all->loop, &s->process, &options);
}

static void start_command(slot *s)
{
    const exec_command *c = &s->job.command[s->outcome.command];
    int code, fd = open(c->output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);

    s->timed_out = false;
    if (fd < 0) {
        s->outcome.end = EXEC_CANNOT_START;
        snprintf(s->outcome.reason, sizeof s->outcome.reason, "cannot write its output: %s", strerror(errno));
        uv_timer_start(&s->timer, on_no_output, 0, 0); /* `done` is never called from within `next` */
        return;
    }
    code = spawn(s, c, fd);
    close(fd);
    if (code != 0) {
        struct stat sb;

        s->outcome.end = EXEC_CANNOT_START;
        if (stat(c->folder, &sb) != 0)
            snprintf(s->outcome.reason, sizeof s->outcome.reason, "there is no folder '%.80s'", c->folder);
        else
            snprintf(s->outcome.reason, sizeof s->outcome.reason, "%s", uv_strerror(code));
        uv_close((uv_handle_t *)&s->process, on_closed); /* it is initialised also then */
        return;
    }
    set_group(s, s->process.pid);
    uv_update_time(&s->all->loop); /* the timeout counts from now */
    if (c->timeout_seconds > 0)
        uv_timer_start(&s->timer, on_timeout, (uint64_t)(c->timeout_seconds * 1000 + 0.5), 0);
}

static void take_job(slot *s)
{
    jobs *all = s->all;
    bool any = false;
    dse_status st = DSE_OK;

    if (!all->no_more)
        st = all->calls->next(all->calls->user, &s->job, &s->task, &any, all->err);
    if (st != DSE_OK) {
        stop(all, st);
    } else if (any) {
        s->has_job = true;
        s->outcome = (exec_outcome){0};
        start_command(s);
    } else {
        all->no_more = true;
        if (all_idle(all))
            stop(all, DSE_OK);
    }
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void on_signal(uv_signal_t *handle, int signum)
{
    jobs *all = handle->data;

    stop(all, dse_fail(all->err, DSE_E_INTERRUPT, "%s", signum == SIGINT ? "interrupted" : "terminated"));
}

static void on_tick(uv_timer_t *timer)
{
    jobs *all = timer->data;

    all->calls->tick(all->calls->user);
}

static void open_handles(jobs *all)
{
    all->interrupt.data = all->terminate.data = all->timer.data = all;
    uv_signal_init(&all->loop, &all->interrupt);
    uv_signal_init(&all->loop, &all->terminate);
    uv_timer_init(&all->loop, &all->timer);
    uv_signal_start(&all->interrupt, on_signal, SIGINT);
    uv_signal_start(&all->terminate, on_signal, SIGTERM);
    uv_timer_start(&all->timer, on_tick, TICK_MS, TICK_MS);
    for (uint32_t i = 0; i < all->n_slots; i++) {
        all->slots[i].all = all;
        all->slots[i].timer.data = &all->slots[i];
        uv_timer_init(&all->loop, &all->slots[i].timer);
    }
}

dse_status exec_jobs_run(uint32_t n_jobs, const exec_job_calls *calls, dse_error *err)
{
    jobs all = {.calls = calls, .n_slots = n_jobs, .err = err};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int code;

    all.slots = dse_calloc(n_jobs, sizeof *all.slots);
    sigaction(SIGPIPE, &ignore, &before); /* should the guard be gone */
    all.status = exec_guard_start(n_jobs, &all.guard, err);
    if (all.status == DSE_OK && (code = uv_loop_init(&all.loop)) != 0) {
        all.status = dse_fail(err, DSE_E_CHILD, "cannot start processes: %s", uv_strerror(code));
        exec_guard_stop(&all.guard);
    }
    if (all.status == DSE_OK) {
        all.cpu_seconds = children_seconds();
        open_handles(&all);
        for (uint32_t i = 0; i < n_jobs && !all.stopping && !all.no_more; i++)
            take_job(&all.slots[i]);
        uv_run(&all.loop, UV_RUN_DEFAULT);
        uv_loop_close(&all.loop);
        exec_guard_stop(&all.guard);
    }
    sigaction(SIGPIPE, &before, NULL);
    dse_free(all.slots);
    return all.status;
}

void exec_outcome_text(const exec_outcome *o, char *out, size_t size)
{
    switch (o->end) {
    case EXEC_DONE: snprintf(out, size, "exited with code 0"); break;
    case EXEC_CANNOT_START: snprintf(out, size, "cannot be started: %s", o->reason); break;
    case EXEC_EXITED: snprintf(out, size, "exited with code %d", o->code); break;
    case EXEC_SIGNALLED: snprintf(out, size, "was killed by signal %d", o->code); break;
    case EXEC_TIMED_OUT:
        snprintf(out, size, "was stopped after its timeout of %g s", o->timeout_seconds);
        break;
    }
}
