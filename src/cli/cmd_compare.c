/* Simulated against measured. */
#include "cards/locate.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/measured_runs.h"
#include "cli/progress.h"
#include "measured/compare.h"
#include "measured/pairs.h"

#include <math.h>

typedef struct {
    measured_runs_options runs;
    const char *weights, *format;
    int64_t seed, resamples, jobs;
    double max_error;
    bool json;
} compare_options;

/* One sample lies in either tail of a 95 % interval. */
#define LEAST_RESAMPLES 40

static const char *const formats[] = {"text", "json", "csv", "markdown", NULL};

#define FIELD(f) .offset = offsetof(compare_options, f)

static const option options[] = {
    OPTION_GROUP(measured_runs_group, runs),
    {"--weights", OPT_STRING, "NAME", "default",
     "what each metric counts in the score: a name in configs/scores, or a path", FIELD(weights)},
    {"--max-error", OPT_PERCENT, "PERCENT", "",
     "exit with 1 if the step time of a run is further off than this: 10%", FIELD(max_error)},
    {"--resamples", OPT_INT, "N", "1000",
     "bootstrap samples behind each interval, 40 at least; 0: no intervals", .min = 0, .max = 1e6,
     FIELD(resamples)},
    {"--seed", OPT_INT, "N", "0", "of the bootstrap", .min = 0, .max = 4294967295.0, FIELD(seed)},
    {"--jobs", OPT_INT, "N", "", "runs simulated at a time; as many as there are cores unless given",
     .min = 1, .max = 4096, FIELD(jobs)},
    {"--format", OPT_STRING, "FORMAT", "text", "of the output", .choices = formats, FIELD(format)},
    {"--json", OPT_FLAG, NULL, "false", "the same as --format json", FIELD(json)},
};

static dse_status load_weights(const char *name, dse_arena *a, cmp_weights *out, dse_error *err)
{
    const char **known = DSE_ARENA_NEW(a, const char *, msr_n_pair_kinds);
    const char *path;
    dse_status st = card_locate(CARD_SCORES, name, a, &path, err);

    for (size_t i = 0; i < msr_n_pair_kinds; i++)
        known[i] = msr_pair_kind_at(i).name;
    return st == DSE_OK ? cmp_weights_load(path, known, msr_n_pair_kinds, a, out, err) : st;
}

/* In the order of `formats`. */
static void (*const printers[])(const report_compared *c, dse_strbuf *out) = {
    report_compared_print, report_compared_json, report_compared_csv, report_compared_markdown};

/* Nothing was compared, or something is too far off. */
static bool is_no(const report_compared *c)
{
    double worst = report_compared_worst(c);

    return isnan(worst) ? !c->n_runs || !isnan(c->max_error) : worst > c->max_error;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const compare_options *o = opts;
    msr_compare_options how = {.bootstrap = {(uint64_t)o->seed, (uint32_t)o->resamples},
                               .max_error = o->max_error,
                               .n_threads = (uint32_t)o->jobs};
    cmp_weights weights;
    report_compared compared;
    progress_screen screen;
    dse_status st;

    if (o->resamples && o->resamples < LEAST_RESAMPLES)
        return dse_fail(
            err, DSE_E_USAGE,
            "--resamples must be 0 or at least %d, not %d: the ends of a 95 %% interval are beyond "
            "a fortieth of the samples",
            LEAST_RESAMPLES, (int)o->resamples);
    if ((st = load_weights(o->weights, r->arena, &weights, err)) != DSE_OK ||
        (st = measured_runs_parse(&o->runs, r->arena, &how.runs, err)) != DSE_OK)
        return st;
    progress_init(&screen, "runs simulated");
    how.weights = &weights;
    how.progress = progress_count;
    how.user = &screen;
    st = msr_compare(&how, r->arena, &compared, err);
    progress_clear(&screen);
    if (st != DSE_OK)
        return st;
    printers[option_place(formats, o->json ? "json" : o->format)](&compared, r->out);
    r->code = is_no(&compared) ? EXIT_NO : EXIT_DONE;
    return DSE_OK;
}

const command command_compare = {
    .name = "compare",
    .summary = "simulate what was measured, and say how far apart the two are",
    .details = "Takes runs that were measured: directories of traces with the workload card that says what "
               "ran, or rows of a table of step times. Simulates each on as many NPUs of the system as it "
               "had devices, a model of a family as the training step of its program, with its "
               "micro-batches, schedule "
               "and sharding, and compares: of traces metric by metric, the same code over both sides; over "
               "several runs the errors of the step time, and whether the simulator would have chosen right: "
               "rank correlation, and how much slower its choice is than the truly best. What the simulator "
               "cannot represent, or the source does not say, is counted by reason; --approximate takes the "
               "substitutes that it names. "
               "Exit code 1 if nothing could be simulated, or a step time is further off than --max-error.",
    .example = "ccldse compare --measured vtrain_a100 --system vtrain_a100 --only pp=1",
    COMMAND_OPTIONS(options, compare_options),
    .run = run,
};
