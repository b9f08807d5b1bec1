/* Published tables of measured step times against the simulator. */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "measured/validate.h"

#include "base/fs.h"

typedef struct {
    const char *list, *folder, *errors, *format;
    option_list only;
    int64_t seed, jobs;
    bool rows, json;
} validate_options;

static const char *const formats[] = {"markdown", "json", NULL};

#define FIELD(f) .offset = offsetof(validate_options, f)

static const option options[] = {
    {"--list", OPT_STRING, "NAME", "tables", "what to compare: a name in configs/errors, or a path",
     FIELD(list)},
    {"--folder", OPT_STRING, "DIR", "", "where those tables of the list are that do not ship", FIELD(folder)},
    {"--table", OPT_LIST, "NAME", "", "only this table, as the list has it; again for another", FIELD(only)},
    {"--rows", OPT_FLAG, NULL, "false", "also print every run of every table", FIELD(rows)},
    {"--errors", OPT_STRING, "FILE", "", "also write the errors, which error bands are made of",
     FIELD(errors)},
    {"--seed", OPT_INT, "N", "1", "of the draws that say what repeats allow", .min = 0, .max = 4294967295.0,
     FIELD(seed)},
    {"--jobs", OPT_INT, "N", "", "runs simulated at a time; as many as there are cores unless given",
     .min = 1, .max = 4096, FIELD(jobs)},
    {"--format", OPT_STRING, "FORMAT", "markdown", "of the output", .choices = formats, FIELD(format)},
    {"--json", OPT_FLAG, NULL, "false", "the same as --format json", FIELD(json)},
};

/* In the order of `formats`. */
static void (*const printers[])(const report_validated *v, dse_strbuf *out) = {report_validated_markdown,
                                                                               report_validated_json};

static dse_status write_errors(const msr_validated *v, const char *path, dse_arena *a, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(a);

    msr_evidence_write(&v->evidence, &text);
    return dse_write_text(path, &text, err);
}

static int code_of(const report_validated *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n; i++)
        n += v->table[i].n;
    return n ? EXIT_DONE : EXIT_NO;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const validate_options *o = opts;
    progress_screen screen;
    msr_validated v;
    dse_status st;

    progress_init(&screen, "tables");
    st = msr_validate(&(msr_validate_options){.list = o->list,
                                              .folder = o->folder,
                                              .n_only = o->only.n,
                                              .only = o->only.item,
                                              .seed = (uint64_t)o->seed,
                                              .n_threads = (uint32_t)o->jobs,
                                              .progress = progress_count,
                                              .user = &screen},
                      r->arena, &v, err);
    progress_clear(&screen);
    if (st == DSE_OK && o->errors)
        st = write_errors(&v, o->errors, r->arena, err);
    if (st != DSE_OK)
        return st;
    v.report.rows = o->rows;
    printers[option_place(formats, o->json ? "json" : o->format)](&v.report, r->out);
    r->code = code_of(&v.report);
    return DSE_OK;
}

const command command_validate = {
    .name = "validate",
    .summary = "say how far simulated step times are from published measured ones",
    .details = "Compares the tables of measured runs that a list names (configs/errors/tables.yaml), each on "
               "the system that it was measured on. Of each: the errors of the step time with nothing "
               "fitted; by a fit of one factor (or of what the list names, three at most) to the runs of "
               "other models, so that no run is predicted by a fit that has seen its model; where strategies "
               "of one job were measured, Kendall's tau-b and the regret of our choice, beside what the "
               "repeats' own noise allows; and what others published of the same rows. --errors writes the "
               "evidence of which simulate, best and compare make error bands. Exit code 1 if no run was "
               "compared.",
    .example = "ccldse validate --table vtrain_a100 --rows",
    COMMAND_OPTIONS(options, validate_options),
    .run = run,
};
