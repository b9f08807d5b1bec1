/* Metrics of a trace. */
#include "cli/command.h"
#include "cli/exit.h"
#include "driver/recording.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    option_list trace;
    const char *metric;
    bool compat, trim, force;
} metrics_options;

#define FIELD(f) .offset = offsetof(metrics_options, f)

static const option options[] = {
    {"--trace", OPT_LIST, "DIR", "", "a directory of traces, or one file; again for another", FIELD(trace)},
    {"--metric", OPT_STRING, "NAME", "", "the metric", FIELD(metric)},
    {"--compat", OPT_FLAG, NULL, "false", "as the original tools compute it, flaws included", FIELD(compat)},
    {"--trim", OPT_FLAG, NULL, "false", "leave out the first and the last step", FIELD(trim)},
    {"--force", OPT_FLAG, NULL, "false", "compute what the workload card speaks against", FIELD(force)},
};

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const metrics_options *o = opts;
    metric_options how = {.model_params = 7e9, .trim = o->trim, .force = o->force, .compat = o->compat};
    drv_recording rec = {0};
    metric_value *v;
    const metric *m;
    dse_status st;

    if (!o->trace.n || !o->metric)
        return dse_fail(err, DSE_E_USAGE, "--trace and --metric are required");
    st = drv_recording_load(o->trace.item[0], &(drv_recording_options){0}, &rec, err);
    if (st == DSE_OK)
        st = metric_find(o->metric, rec.record.rank[0].kind, o->compat, &m, err);
    if (st == DSE_OK) {
        metric_context x = {.record = &rec.record,
                            .view = rec.view,
                            .n_views = rec.n_views,
                            .card = rec.has_card ? &rec.card : NULL,
                            .options = &how,
                            .arena = r->arena};
        st = metric_compute(m, &x, &v, err);
    }
    if (st == DSE_OK) {
        metric_write_json(v, 0, r->out);
        dse_strbuf_addc(r->out, '\n');
    }
    drv_recording_free(&rec);
    return st;
}

extern const command command_metrics;
const command command_metrics = {
    .name = "metrics",
    .summary = "metrics of a profiler trace",
    .example = "ccldse metrics --trace traces/run1 --metric iter_time",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .size = sizeof(metrics_options),
    .run = run,
};
