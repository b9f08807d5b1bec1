/* Metrics of traces. Exit codes differ from the other commands': scripts that were written for the original
 * tools take 1 for whatever fails, 2 for a wrong command line. */
#include "base/array.h"
#include "cli/exit.h"
#include "cli/metrics.h"
#include "cli/terminal.h"
#include "driver/measure.h"
#include "report/glance.h"

#include <unistd.h>

typedef struct {
    option_list trace, metric, tools, more_tools;
    const char *profile_mode, *format, *align, *attention, *phase, *steps, *card;
    const char *workload_dir, *output, *tools_dir;
    int64_t n_chips, max_ranks, jobs;
    double model_params;
    bool all, kernels, collectives, ranks, idle, operators;
    bool list, output_json, json, html, compat, trim, force;
} metrics_options;

static const char *const formats[] = {"text", "json", "csv", "html", NULL};
static const char *const profile_modes[] = {"auto", "torch", "nsys", NULL};
static const char *const alignments[] = {"auto", "none", "end", NULL};
static const char *const attentions[] = {"full", "causal", NULL};
static const char *const phases[] = {"card", "training", "inference", NULL};
static const char *const step_choices[] = {"all", "inner", NULL};

#define FIELD(f) .offset = offsetof(metrics_options, f)
/* Values are the places in the list of choices. */
#define CHOICE(list) .choices = (list)

static const option options[] = {
    {"--trace", OPT_LIST, "DIR", "", "a directory of traces, or one file; again for another", FIELD(trace)},
    {"--metric", OPT_LIST, "NAME", "", "a metric; again for another", .complete = COMPLETE_TRACE_METRIC,
     FIELD(metric)},
    {"--all", OPT_FLAG, NULL, "false", "all that the trace supports, and why not the rest", FIELD(all)},
    {"--kernels", OPT_FLAG, NULL, "false", "tables of kernels, their kinds, copies, and what shapes achieve",
     FIELD(kernels)},
    {"--collectives", OPT_FLAG, NULL, "false", "one of collectives by group and size, against the link",
     FIELD(collectives)},
    {"--ranks", OPT_FLAG, NULL, "false", "one of where the time of each rank goes", FIELD(ranks)},
    {"--idle", OPT_FLAG, NULL, "false", "one of why devices were idle, and of blocking calls", FIELD(idle)},
    {"--operators", OPT_FLAG, NULL, "false", "one of operators and modules by the time of their kernels",
     FIELD(operators)},
    {"--list-metrics", OPT_FLAG, NULL, "false", "the names; with --json what each is", FIELD(list)},
    {"--format", OPT_STRING, "FORMAT", "text", "of the output", CHOICE(formats), FIELD(format)},
    {"--output-json", OPT_FLAG, NULL, "false", "the same as --format json", FIELD(output_json)},
    {"--json", OPT_FLAG, NULL, "false", "the same", FIELD(json)},
    {"--html", OPT_FLAG, NULL, "false", "the same as --format html", FIELD(html)},
    {"--profile-mode", OPT_STRING, "MODE", "auto", "traces to take where there are several kinds",
     CHOICE(profile_modes), FIELD(profile_mode)},
    {"--card", OPT_STRING, "FILE", "", "the workload card, instead of the one beside the trace", FIELD(card)},
    {"--n_chips", OPT_INT, "N", "", "chips that a collective joins", .min = 1, .max = 1e9, FIELD(n_chips)},
    {"--model_params", OPT_DOUBLE, "N", "7e9", "parameters of the model", .min = 1, .max = 1e18,
     FIELD(model_params)},
    {"--phase", OPT_STRING, "PHASE", "card", "what the workload does", CHOICE(phases), FIELD(phase)},
    {"--attention", OPT_STRING, "KIND", "full", "operations that mfu counts", CHOICE(attentions),
     FIELD(attention)},
    {"--steps", OPT_STRING, "WHICH", "all", "steps that comm_comp_overlap is of", CHOICE(step_choices),
     FIELD(steps)},
    {"--trim", OPT_FLAG, NULL, "false", "leave out the first and the last of three steps or more",
     FIELD(trim)},
    {"--align", OPT_STRING, "HOW", "auto", "clocks of the ranks: by the ends of collectives or not at all",
     CHOICE(alignments), FIELD(align)},
    {"--compat", OPT_FLAG, NULL, "false", "as the original tools compute and print it, flaws included",
     FIELD(compat)},
    {"--force", OPT_FLAG, NULL, "false", "compute what the workload card speaks against", FIELD(force)},
    {"--max-ranks", OPT_INT, "N", "", "the first N ranks only", .min = 1, .max = 1e9, FIELD(max_ranks)},
    {"--jobs", OPT_INT, "N", "", "files read at a time; as many as there are cores unless given", .min = 1,
     .max = 4096, FIELD(jobs)},
    {"--workload-dir", OPT_STRING, "DIR", "", "report.html and report.json of DIR/traces, middle iteration",
     FIELD(workload_dir)},
    {"--output", OPT_STRING, "DIR", "", "where they go instead of DIR/analysis_output", FIELD(output)},
    {"--tools", OPT_LIST, "NAME", "", "only these metrics of the guide in it",
     .complete = COMPLETE_GUIDE_METRIC, FIELD(tools)},
    {"--tools-dir", OPT_STRING, "DIR", "", "refused: metrics are built in", FIELD(tools_dir)},
    {"TOOL", OPT_LIST, NULL, "", "more names for --tools", .complete = COMPLETE_GUIDE_METRIC,
     FIELD(more_tools)},
};

/* The tables that are asked for, a bit each (REPORT_GLANCE_*). */
static unsigned parts_of(const metrics_options *o)
{
    return (o->kernels ? REPORT_GLANCE_KERNELS : 0u) | (o->collectives ? REPORT_GLANCE_COLLECTIVES : 0u) |
           (o->ranks ? REPORT_GLANCE_RANKS : 0u) | (o->idle ? REPORT_GLANCE_IDLE : 0u) |
           (o->operators ? REPORT_GLANCE_OPERATORS : 0u);
}

static metrics_job job_of(const metrics_options *o)
{
    static const drv_profile_mode modes[] = {DRV_PROFILE_AUTO, DRV_PROFILE_TORCH, DRV_PROFILE_NSYS};
    static const trace_phase by_place[] = {TRACE_PHASE_UNKNOWN, TRACE_PHASE_TRAINING, TRACE_PHASE_INFERENCE};
    static const metric_align by_alignment[] = {METRIC_ALIGN_AUTO, METRIC_ALIGN_NONE, METRIC_ALIGN_END};
    static const metrics_format by_format[] = {METRICS_TEXT, METRICS_JSON, METRICS_CSV, METRICS_HTML};
    bool json = o->output_json || o->json;

    return (metrics_job){
        .format = json      ? METRICS_JSON
                  : o->html ? METRICS_HTML
                            : by_format[option_place(formats, o->format)],
        .all = o->all,
        .glance = !o->all && !o->metric.n,
        .parts = parts_of(o),
        .metric = o->metric,
        .trace = o->trace,
        .how = {.n_chips = o->n_chips,
                .model_params = o->model_params,
                .trim = o->trim,
                .inner_steps = option_place(step_choices, o->steps) == 1,
                .force = o->force,
                .causal = option_place(attentions, o->attention) == 1,
                .compat = o->compat,
                .phase = by_place[option_place(phases, o->phase)],
                .align = by_alignment[option_place(alignments, o->align)]},
        .read = {.mode = modes[option_place(profile_modes, o->profile_mode)],
                 .max_ranks = (uint32_t)o->max_ranks,
                 .n_threads = (uint32_t)o->jobs,
                 .card = o->card},
    };
}

/* What goes with tables, or with pages. */
static dse_status check_tables(const metrics_options *o, const metrics_job *job, dse_error *err)
{
    const unsigned parts = job->parts;

    if (parts && (o->all || o->metric.n))
        return dse_fail(err, DSE_E_USAGE, "give either tables (--kernels, ...) or metrics (--all, --metric)");
    if (job->format == METRICS_CSV && job->glance && (!parts || parts & (parts - 1)))
        return dse_fail(err, DSE_E_USAGE,
                        "--format csv is of one table (--kernels, --collectives, --ranks, --idle or "
                        "--operators), or of metrics (--all, --metric)");
    if (job->format == METRICS_HTML && o->trace.n > 1)
        return dse_fail(err, DSE_E_USAGE, "--html is a page of one trace: give one --trace");
    return DSE_OK;
}

static dse_status check(const metrics_options *o, const metrics_job *job, dse_error *err)
{
    if (o->tools_dir)
        return dse_fail(err, DSE_E_USAGE,
                        "--tools-dir has no meaning here: the metrics are built in, and --tools "
                        "chooses among them");
    if (o->more_tools.n && !o->tools.n)
        return dse_fail(err, DSE_E_USAGE, "'%.80s' is not an option", o->more_tools.item[0]);
    if ((o->output || o->tools.n) && !o->workload_dir)
        return dse_fail(err, DSE_E_USAGE, "%s needs --workload-dir", o->output ? "--output" : "--tools");
    if (o->list)
        return DSE_OK;
    if (o->workload_dir && (o->trace.n || o->metric.n || o->all))
        return dse_fail(err, DSE_E_USAGE, "give either --workload-dir, or --trace and what to compute");
    if (o->all && o->metric.n)
        return dse_fail(err, DSE_E_USAGE, "give either --all or --metric");
    if (!o->workload_dir && (!o->trace.n || (o->compat && job->glance)))
        return dse_fail(err, DSE_E_USAGE,
                        "--trace and --metric, or --trace and --all, are required when not using "
                        "--list-metrics or --workload-dir");
    return check_tables(o, job, err);
}

/* Those of both lists. */
static option_list join(const option_list *a, const option_list *b, dse_arena *arena)
{
    const char **item = DSE_ARENA_NEW(arena, const char *, a->n + b->n);

    for (size_t i = 0; i < a->n + b->n; i++)
        item[i] = i < a->n ? a->item[i] : b->item[i - a->n];
    return (option_list){a->n + b->n, item};
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const metrics_options *o = opts;
    metrics_job job = job_of(o);
    dse_status st = check(o, &job, err);

    if (st != DSE_OK)
        return st;
    if (o->list) {
        metrics_list(job.format, r->arena, r->out);
        return DSE_OK;
    }
    if (o->workload_dir) {
        const option_list tools = join(&o->tools, &o->more_tools, r->arena);

        return metrics_guide(&job, o->workload_dir, o->output, &tools, r, err);
    }
    if (job.glance) {
        report_use_colours(job.format == METRICS_TEXT && terminal_has_colours(STDOUT_FILENO));
        metrics_measure(&job, r);
        return DSE_OK;
    }
    if (!metrics_known(&o->metric, r->arena)) {
        r->code = EXIT_USAGE;
        return DSE_OK;
    }
    job.read.kinds = drv_measure_kinds(o->metric.item, o->metric.n, o->compat, r->arena);
    metrics_measure(&job, r);
    return DSE_OK;
}

static const exit_text exits[] = {
    {EXIT_DONE, "done"},
    {EXIT_NO, "whatever fails, also a metric that this trace does not have"},
    {EXIT_USAGE, "usage"},
    {EXIT_INTERNAL, "out of memory or internal"},
};

const command command_metrics = {
    .name = "metrics",
    .summary = "metrics of a profiler trace",
    .details =
        "Reads profiler traces of one run, of all ranks (Kineto, XLA, Nsight Systems, PyTorch execution "
        "traces and memory snapshots, simulated timelines; what a file is, its content says) and computes "
        "metrics. Without --metric and --all it shows what the run was, where its time went and what to "
        "look at first; --kernels, --collectives, --ranks, --idle and --operators show more of that. Exit "
        "codes: 0 done, 1 whatever fails, also a metric that this trace does not have, 2 "
        "usage.",
    .example = "ccldse metrics --trace traces/run1 --metric iter_time",
    COMMAND_OPTIONS(options, metrics_options),
    .exits = exits,
    .n_exits = DSE_COUNT(exits),
    .run = run,
};
