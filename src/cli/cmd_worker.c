/* The process that a sweep runs many of: points on stdin, results on stdout. */
#include "cli/command.h"
#include "cli/shortcuts.h"
#include "driver/worker.h"
#include "exec/chunk.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef struct {
    int64_t parent, jobs;
    double point_timeout;
    const char *chunk;
    shortcuts_options shortcuts;
} worker_options;

#define FIELD(f) .offset = offsetof(worker_options, f)

static const option options[] = {
    {"--parent", OPT_INT, "PID", "", "end as soon as this process, which must be the parent, does", .min = 1,
     .max = INT32_MAX, FIELD(parent)},
    {"--chunk", OPT_STRING, "PREFIX", "",
     "instead of stdin: the points in PREFIX.lines, as 'ccldse sweep --executor slurm' writes them, in "
     "workers of this "
     "one's own; the answers go to a file of PREFIX.*.answers that nobody else writes",
     FIELD(chunk)},
    {"--jobs", OPT_INT, "N", "1", "with --chunk: worker processes", .min = 1, .max = 4096, FIELD(jobs)},
    {"--point-timeout", OPT_DOUBLE, "SECONDS", "0",
     "with --chunk: a point that takes longer has failed; 0: none", .min = 0, .max = 1e8,
     FIELD(point_timeout)},
    OPTION_GROUP(shortcuts_group, shortcuts),
};

static dse_status serve_chunk(const worker_options *o, dse_error *err)
{
    drv_worker_command c;
    char self[4096], pid[24];
    dse_status st = exec_self(self, sizeof self, err);

    if (st == DSE_OK)
        st = exec_allow_files((uint32_t)o->jobs, 4, err);
    if (st != DSE_OK)
        return st;
    drv_worker_command_init(&c, self, shortcuts_left(&o->shortcuts));
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    c.word[c.n++] = "--parent";
    c.word[c.n] = pid;
    return exec_chunk_serve(o->chunk, c.word, (uint32_t)o->jobs, o->point_timeout, "--point-timeout", err);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const worker_options *o = opts;

    (void)r;
    if (o->chunk)
        return serve_chunk(o, err);
    /* A point may take minutes, and its answer would be lost. */
    if (o->parent && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != o->parent))
        return dse_fail(err, DSE_E_CHILD, "process %d is not the parent of this one", (int)o->parent);
    signal(SIGINT, SIG_IGN); /* a terminal's Ctrl-C reaches everybody; the sweep decides what becomes of us */
    return drv_worker_serve(stdin, stdout, shortcuts_left(&o->shortcuts), err);
}

const command command_worker = {
    .name = "worker",
    .summary = "simulate the points that come on stdin (what a sweep runs many of)",
    .details = "Reads one point's configuration a line, as JSON, and answers each with one line: its "
               "metrics, or why it "
               "failed. 'ccldse export --format json --config' prints such configurations.",
    COMMAND_OPTIONS(options, worker_options),
    .run = run,
};
