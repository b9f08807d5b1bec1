/* A system card fitted to measured runs. */
#include "base/array.h"
#include "base/fs.h"
#include "cards/locate.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/measured_runs.h"
#include "cli/progress.h"
#include "measured/calibrate_card.h"
#include "measured/calibrate_gather.h"
#include "measured/laws.h"
#include "report/calibrated.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    measured_runs_options runs;
    option_list fit, fix;
    const char *output, *o, *laws, *format, *leave_out, *loss;
    int64_t starts, seed, jobs;
    double max_rate;
    bool no_leave_one_out, json;
} calibrate_options;

#define FIELD(f) .offset = offsetof(calibrate_options, f)

static const char *const formats[] = {"text", "json", "markdown", NULL};
static const char *const losses[] = {"squares", "absolute", NULL};
static const char *const leave_out_choices[] = {"run", "model", NULL};

static const option options[] = {
    OPTION_GROUP(measured_runs_group, runs),
    {"--output", OPT_STRING, "FILE", "", "system card to write; without it none is", FIELD(output)},
    {"-o", OPT_STRING, "FILE", "", "the same", FIELD(o)},
    {"--laws", OPT_STRING, "FILE", "",
     "fit laws of kernels to the traces' kernels instead, without simulation, and write them as a device "
     "file",
     FIELD(laws)},
    {"--fit", OPT_LIST, "PARAM[,...]", "",
     "fit these alone, for example network.latency[1]; all if not given", FIELD(fit)},
    {"--fix", OPT_LIST, "PARAM[,...]", "", "leave these as the card has them", FIELD(fix)},
    {"--max-rate", OPT_DOUBLE, "FACTOR", "1",
     "how far a rate may be fitted above the card's, which is taken for a data sheet's", .min = 1,
     .max = 1000, FIELD(max_rate)},
    {"--starts", OPT_INT, "N", "8", "fits from other starts as well, drawn between the bounds", .min = 1,
     .max = 1000, FIELD(starts)},
    {"--seed", OPT_INT, "N", "1", "of the starts", .min = 0, .max = 4294967295.0, FIELD(seed)},
    {"--loss", OPT_STRING, "LOSS", "squares",
     "what is minimised: the squares of the errors' logarithms, or of one rate alone their absolute mean, "
     "which odd runs move little",
     .choices = losses, FIELD(loss)},
    {"--leave-out", OPT_STRING, "WHAT", "run",
     "what is predicted by a fit to all others: each run with its repeats, or each whole model, known by its "
     "width",
     .choices = leave_out_choices, FIELD(leave_out)},
    {"--no-leave-one-out", OPT_FLAG, NULL, "false", "do not fit without each in turn",
     FIELD(no_leave_one_out)},
    {"--jobs", OPT_INT, "N", "", "runs simulated at a time; as many as there are cores unless given",
     .min = 1, .max = 4096, FIELD(jobs)},
    {"--format", OPT_STRING, "FORMAT", "text", "of the output", .choices = formats, FIELD(format)},
    {"--json", OPT_FLAG, NULL, "false", "the same as --format json", FIELD(json)},
};

/* ---- options --------------------------------------------------------------------------------------- */

/* The words between commas. */
static option_list split(const option_list *l, dse_arena *a)
{
    option_list out;
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        n++;
        for (const char *p = l->item[i]; *p; p++)
            n += *p == ',';
    }
    out = (option_list){0, DSE_ARENA_NEW(a, const char *, n)};
    for (size_t i = 0; i < l->n; i++)
        for (const char *p = l->item[i]; *p; p += *p == ',') {
            size_t length = strcspn(p, ",");

            if (length)
                out.item[out.n++] = dse_arena_strndup(a, p, length);
            p += length;
        }
    return out;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_absolute(const calibrate_options *o) { return !strcmp(o->loss, "absolute"); }

/* Before anything is simulated; what a word covers is known with the card alone. */
static dse_status check_loss(const calibrate_options *o, dse_arena *a, dse_error *err)
{
    const size_t n = split(&o->fit, a).n;

    return is_absolute(o) && (n > 1 || (!n && !o->fix.n))
               ? dse_fail(
                     err, DSE_E_USAGE,
                     "--loss absolute fits one rate alone: name one with --fit (compute.clock), or leave "
                     "--loss out")
               : DSE_OK;
}

static const char *output_of(const calibrate_options *o) { return o->output ? o->output : o->o; }

/* Inputs are not overwritten: measurements cannot be recovered. */
static dse_status check(const calibrate_options *o, const char *system_path, dse_error *err)
{
    const char *output = o->laws ? o->laws : output_of(o);
    const option_list lists[] = {o->runs.trace, o->runs.measured};

    if (o->output && o->o)
        return dse_fail(err, DSE_E_USAGE, "give either --output or -o");
    if (output && is_same_file(output, system_path))
        return dse_fail(err, DSE_E_USAGE,
                        "'%s' is the card to begin with; write the fitted one to another file", output);
    for (size_t l = 0; output && l < DSE_COUNT(lists); l++)
        for (size_t i = 0; i < lists[l].n; i++)
            if (is_same_file(output, lists[l].item[i]))
                return dse_fail(err, DSE_E_USAGE,
                                "'%s' is what was measured; write the fitted %s to another file", output,
                                o->laws ? "laws" : "card");
    return DSE_OK;
}

/* ---- the fit --------------------------------------------------------------------------------------- */

typedef struct {
    const calibrate_options *o;
    command_run *r;
    progress_screen screen;
    msr_gathered gathered;
    msr_calibrated result;
    const char *settings; /* of the runs' models */
} calibrating;

/* Says on stderr which runs were left out, where no report says it. */
static void say_left(const calibrating *c)
{
    dse_strbuf text = dse_strbuf_in(c->r->arena);

    report_left_print(c->gathered.runs.left, c->gathered.runs.n_left, &text);
    fputs(text.data, stderr);
}

static dse_status gather(calibrating *c, dse_error *err)
{
    msr_runs_options how;
    dse_status st = measured_runs_parse(&c->o->runs, c->r->arena, &how, err);

    if (st != DSE_OK)
        return st;
    progress_init(&c->screen, "files of traces read");
    how.read.n_threads = (uint32_t)c->o->jobs;
    how.read.progress = progress_count;
    how.read.user = &c->screen;
    st = msr_gather(&how, c->r->arena, &c->gathered, err);
    progress_clear(&c->screen);
    if (st != DSE_OK)
        return st;
    c->settings = msr_runs_settings(c->gathered.of, c->gathered.n, c->r->arena);
    if (c->gathered.n)
        return DSE_OK;
    say_left(c);
    return dse_fail(err, DSE_E_CONFIG, "no run can be simulated: there is nothing to fit to%s",
                    c->o->runs.approximate ? ""
                                           : "; --approximate takes the nearest thing where there is one");
}

static bool leaves_models_out(const calibrate_options *o) { return !strcmp(o->leave_out, "model"); }

static dse_status fit(calibrating *c, dse_error *err)
{
    const calibrate_options *o = c->o;
    const option_list chosen = split(&o->fit, c->r->arena), fixed = split(&o->fix, c->r->arena);
    dse_status st;

    progress_init(&c->screen, "fits");
    st = msr_calibrate(&c->gathered.runs.machine, c->gathered.run, c->gathered.n,
                       &(msr_calibrate_options){.n_fit = chosen.n,
                                                .fit = chosen.item,
                                                .n_fix = fixed.n,
                                                .fix = fixed.item,
                                                .n_starts_known = c->gathered.n_starts,
                                                .start_known = c->gathered.start,
                                                .absolute = is_absolute(o),
                                                .max_rate = o->max_rate,
                                                .starts = is_absolute(o) ? 1 : (uint32_t)o->starts,
                                                .seed = (uint64_t)o->seed,
                                                .leave_one_out = !o->no_leave_one_out && c->gathered.n > 1,
                                                .leave_models_out = leaves_models_out(o),
                                                .n_threads = (uint32_t)o->jobs,
                                                .progress = progress_count,
                                                .user = &c->screen},
                       c->r->arena, &c->result, err);
    progress_clear(&c->screen);
    if (st == DSE_E_RANGE)
        say_left(c);
    return st;
}

/* ---- output ---------------------------------------------------------------------------------------- */

static dse_status write_card(const calibrating *c, dse_error *err)
{
    const calibrate_options *o = c->o;
    option_list sources = {0, DSE_ARENA_NEW(c->r->arena, const char *, o->runs.trace.n + o->runs.measured.n)};
    dse_strbuf text = dse_strbuf_in(c->r->arena);

    for (size_t i = 0; i < o->runs.trace.n; i++)
        sources.item[sources.n++] = o->runs.trace.item[i];
    for (size_t i = 0; i < o->runs.measured.n; i++)
        sources.item[sources.n++] = o->runs.measured.item[i];
    msr_calibrated_card(&c->result,
                        &(msr_calibrated_about){.system = c->gathered.runs.machine_name,
                                                .source_before = c->gathered.runs.machine.source,
                                                .n_sources = sources.n,
                                                .source = sources.item,
                                                .n_runs = c->gathered.n,
                                                .run = c->gathered.run,
                                                .settings = c->settings,
                                                .seed = (uint64_t)o->seed,
                                                .starts = (uint32_t)o->starts},
                        &text);
    return dse_write_text(output_of(o), &text, err);
}

/* In the order of `formats`. */
static void (*const printers[])(const report_calibrated *c, dse_strbuf *out) = {
    report_calibrated_print, report_calibrated_json, report_calibrated_markdown};

static void print(const calibrating *c)
{
    const msr_gathered *g = &c->gathered;
    dse_arena *a = c->r->arena;
    report_calibrated_run *run = DSE_ARENA_NEW(a, report_calibrated_run, g->n);
    const size_t format = option_place(formats, c->o->json ? "json" : c->o->format);

    for (size_t i = 0; i < g->n; i++) {
        const msr_run *of = g->of[i];

        run[i] = (report_calibrated_run){.name = of->job.name,
                                         .where = of->job.where,
                                         .point = msr_plan_point_name(&of->plan, a),
                                         .profile = card_model_profile(&of->study.model),
                                         .n_devices = strategy_ranks(&of->plan.point),
                                         .measured_s = of->job.step_time_s,
                                         .n_notes = of->n_notes,
                                         .note = of->note};
    }
    printers[format](&(report_calibrated){.system = c->gathered.runs.machine_name,
                                          .p = c->result.p,
                                          .n = g->n,
                                          .parameter = c->result.parameter,
                                          .card = c->result.card,
                                          .fit = &c->result.fit,
                                          .run = run,
                                          .n_left = g->runs.n_left,
                                          .n_hockney = g->n_hockney,
                                          .left = g->runs.left,
                                          .hockney = g->hockney,
                                          .leaves_models_out = leaves_models_out(c->o),
                                          .starts = is_absolute(c->o) ? 1 : (uint32_t)c->o->starts,
                                          .seed = (uint64_t)c->o->seed,
                                          .settings = c->settings,
                                          .output = output_of(c->o)},
                     c->r->out);
}

/* ---- laws of kernels ------------------------------------------------------------------------------- */

static dse_status fit_laws(const calibrate_options *o, command_run *r, dse_error *err)
{
    msr_runs_options runs;
    progress_screen screen;
    report_laws laws;
    dse_strbuf text = dse_strbuf_in(r->arena);
    dse_status st;

    if (output_of(o) || o->fit.n || o->runs.measured.n)
        return dse_fail(err, DSE_E_USAGE, "--laws fits kernels of traces alone; leave out %s",
                        output_of(o) ? "--output"
                        : o->fit.n   ? "--fit"
                                     : "--measured");
    if ((st = measured_runs_parse(&o->runs, r->arena, &runs, err)) != DSE_OK)
        return st;
    progress_init(&screen, "files of traces read");
    st = msr_laws(&(msr_laws_options){.system = o->runs.system,
                                      .settings = runs.plan.settings,
                                      .n_traces = runs.n_traces,
                                      .trace = runs.trace,
                                      .read = {.card = runs.read.card,
                                               .n_threads = (uint32_t)o->jobs,
                                               .progress = progress_count,
                                               .user = &screen},
                                      .warn = runs.warn},
                  r->arena, &laws, err);
    progress_clear(&screen);
    if (st != DSE_OK)
        return st;
    msr_laws_write(&laws, runs.trace, runs.n_traces, &text);
    if ((st = dse_write_text(o->laws, &text, err)) != DSE_OK)
        return st;
    laws.output = o->laws;
    (o->json || !strcmp(o->format, "json") ? report_laws_json : report_laws_print)(&laws, r->out);
    return DSE_OK;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    calibrating c = {.o = opts, .r = r};
    const char *path;
    dse_status st = card_locate(CARD_SYSTEMS, c.o->runs.system, r->arena, &path, err);

    if (st != DSE_OK || (st = check(c.o, path, err)) != DSE_OK ||
        (st = check_loss(c.o, r->arena, err)) != DSE_OK)
        return st;
    if (c.o->laws)
        return fit_laws(c.o, r, err);
    if ((st = gather(&c, err)) != DSE_OK || (st = fit(&c, err)) != DSE_OK)
        return st;
    if (output_of(c.o) && (st = write_card(&c, err)) != DSE_OK)
        return st;
    print(&c);
    return DSE_OK;
}

const command command_calibrate = {
    .name = "calibrate",
    .summary = "fit a system card to measured runs",
    .details =
        "Fits what the runs identify, by nonlinear least squares of the logarithms of step times: "
        "compute.peak_perf, memory.bandwidth, bandwidth and latency of each network dimension, "
        "overheads.per_kernel and overheads.per_step; if --fit names them, laws of kernels "
        "(kernels.matmul.flop_factor, ...), what collectives reach (network.efficiency, .collective_latency, "
        ".step_latency, .compute_share), compute.clock, overheads.per_layer and overheads.per_collective, "
        "too. What no run shows stays as it is, and is said to. A rate lies between a hundredth of the "
        "card's and --max-rate times it; a latency is at most 1 ms, a kernel's overhead 10 ms, a step's 10 "
        "s. All-reduces of traces give the start of their dimension's bandwidth and latency (Hockney). "
        "--laws fits laws of kernels to the traces' kernels by class and shape (the metric kernel_shapes), "
        "by least squares of relative errors, and writes them in the format of configs/devices. The error of "
        "each run by a fit to all others says how far to trust the card.",
    .example = "ccldse calibrate --measured ccl_bench_training --system perlmutter_a100_40gb --fit "
               "compute.peak_perf,network.bandwidth",
    COMMAND_OPTIONS(options, calibrate_options),
    .run = run,
};
