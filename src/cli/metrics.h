/* The parts of `ccldse metrics`. */
#ifndef DSE_CLI_METRICS_H
#define DSE_CLI_METRICS_H

#include "cli/command.h"
#include "driver/recording.h"

typedef enum { METRICS_TEXT, METRICS_JSON, METRICS_CSV, METRICS_HTML } metrics_format;

/* The job that the options describe. */
typedef struct {
    metrics_format format;
    bool all;
    bool glance;    /* neither all metrics nor some: the first page, */
    unsigned parts; /* or these tables (REPORT_GLANCE_*) */
    option_list metric, trace;
    metric_options how;
    drv_recording_options read;
} metrics_job;

/* metrics_list.c. Names once each, sorted; as JSON everything there is to say of each row. */
void metrics_list(metrics_format format, dse_arena *a, dse_strbuf *out);

/* Whether there are metrics of all these names; if not, says so on stderr, with all names. */
bool metrics_known(const option_list *names, dse_arena *a);

/* metrics_traces.c. Every trace; what fails is said on stderr, and r->code becomes EXIT_NO. */
void metrics_measure(const metrics_job *job, command_run *r);

/* metrics_glance.c: the first page, or the tables, of a trace that was read; in JSON without a newline. */
void metrics_glance(const metrics_job *job, const drv_recording *rec, const char *path, dse_arena *a,
                    dse_strbuf *out);

/* metrics_guide.c: --workload-dir. */
dse_status metrics_guide(const metrics_job *job, const char *workload, const char *output,
                         const option_list *tools, command_run *r, dse_error *err);

/* Says an error on stderr and sets the exit code of a failure. */
void metrics_failed(const dse_error *failure, command_run *r);

/* Reads a trace, how far it is on stderr if that is a terminal, and says there what its record warns of.
 * Fails as drv_recording_load does; *out is to be freed in any case. */
dse_status metrics_load(const char *path, const drv_recording_options *how, drv_recording *out,
                        dse_error *err);

#endif
