/* The process that a sweep runs many of: points on stdin, results on stdout. */
#include "cli/command.h"
#include "cli/shortcuts.h"
#include "driver/worker.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef struct {
    int64_t parent;
    shortcuts_options shortcuts;
} worker_options;

#define FIELD(f) .offset = offsetof(worker_options, f)

static const option options[] = {
    {"--parent", OPT_INT, "PID", "", "end as soon as this process, which must be the parent, does", .min = 1,
     .max = INT32_MAX, FIELD(parent)},
    OPTION_GROUP(shortcuts_group, shortcuts),
};

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const worker_options *o = opts;

    (void)r;
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
