/* The process that a sweep runs many of: points on stdin, results on stdout. */
#include "cli/command.h"
#include "driver/worker.h"

#include <signal.h>

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    (void)opts, (void)r;
    signal(SIGINT, SIG_IGN); /* a terminal's Ctrl-C reaches everybody; the sweep decides what becomes of us */
    return drv_worker_serve(stdin, stdout, err);
}

extern const command command_worker;
const command command_worker = {
    .name = "worker",
    .summary = "simulate the points that come on stdin (what a sweep runs many of)",
    .details = "Reads one point's configuration a line, as JSON, and answers each with one line: its "
               "metrics, or why it "
               "failed. 'ccldse export --format json --config' prints such configurations.",
    .run = run,
};
