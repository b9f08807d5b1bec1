/* Two databases, or two engines in one, strategy by strategy. */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/results.h"
#include "report/diff.h"

typedef struct {
    const char *a, *b, *engine_a, *engine_b, *by;
    double tolerance;
    results_selection which; /* of both */
    option_list metrics;
    bool json;
} diff_options;

#define FIELD(f) .offset = offsetof(diff_options, f)

static const option options[] = {
    {"A.db", OPT_STRING, NULL, NULL, "a results database", FIELD(a)},
    {"B.db", OPT_STRING, NULL, NULL, "the one to compare it with; may be the same, with other engines",
     FIELD(b)},
    {"--model", OPT_STRING, "NAME", "", "only this model", FIELD(which.model)},
    {"--system", OPT_STRING, "NAME", "", "only this system", FIELD(which.system)},
    {"--settings", OPT_STRING, "TEXT", "",
     "only results with just these settings over the cards, as 'best' and 'show' print them; none: without "
     "any",
     FIELD(which.settings)},
    {"--engine-a", OPT_STRING, "NAME", "", "of A only what this engine gave: native, imported, ...",
     FIELD(engine_a)},
    {"--engine-b", OPT_STRING, "NAME", "", "of B likewise", FIELD(engine_b)},
    {"--metric", OPT_LIST, "METRIC", "", "compare this figure only; again for another; without it, all",
     FIELD(metrics)},
    {"--by", OPT_STRING, "METRIC", "wall_time", "what the best point is best by", FIELD(by)},
    {"--tolerance", OPT_PERCENT, "PERCENT", "0", "take figures that differ by at most so much as equal: 1%",
     FIELD(tolerance)},
    {"--json", OPT_FLAG, NULL, "false", "JSON instead of tables", FIELD(json)},
};

static dse_status choose_columns(const diff_options *o, dse_arena *a, report_diff_options *out,
                                 dse_error *err)
{
    size_t n;
    const store_column *c = store_columns(&n);
    dse_status st = results_column(o->by, true, &out->by, err);

    out->n_columns = o->metrics.n ? o->metrics.n : n;
    out->columns = DSE_ARENA_NEW(a, const store_column *, out->n_columns);
    for (size_t i = 0; st == DSE_OK && i < out->n_columns; i++) {
        if (o->metrics.n)
            st = results_column(o->metrics.item[i], false, &out->columns[i], err);
        else
            out->columns[i] = &c[i];
    }
    return st;
}

typedef struct {
    const char *name; /* "a.db", or "a.db, native" */
    results_selection which;
    store_row *row;
    size_t n;
} diff_side;

static dse_status read_side(const diff_options *o, const char *db, const char *engine, dse_arena *a,
                            diff_side *out, dse_error *err)
{
    out->name = engine ? dse_arena_printf(a, "%s, %s", db, engine) : db;
    out->which = o->which;
    out->which.engine = engine;
    out->which.one_config = true;
    return results_select(db, &out->which, a, &out->row, &out->n, err);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const diff_options *o = opts;
    report_diff_options how = {0};
    report_pair *pairs;
    diff_side a, b;
    size_t n;
    dse_status st;

    how.tolerance = o->tolerance;
    if ((st = choose_columns(o, r->arena, &how, err)) != DSE_OK ||
        (st = read_side(o, o->a, o->engine_a, r->arena, &a, err)) != DSE_OK ||
        (st = read_side(o, o->b, o->engine_b, r->arena, &b, err)) != DSE_OK)
        return st;
    if (!a.n && !b.n)
        return results_none(o->a, &a.which, err);
    pairs = report_diff_pair(a.row, a.n, b.row, b.n, r->arena, &n);
    how.name_a = a.name;
    how.name_b = b.name;
    (o->json ? report_diff_json : report_diff_print)(pairs, n, &how, r->out);
    if (!report_diff_same(pairs, n, &how))
        r->code = EXIT_NO;
    return DSE_OK;
}

const command command_diff = {
    .name = "diff",
    .summary = "compare two databases, or two engines, point by point",
    .details =
        "Pairs the results of the same model, system, settings and point, whoever gave them, and prints "
        "what one side alone has, every figure that differs, and whether the best point is another one. "
        "Whole numbers are compared exactly, rates to the three decimals that are printed, memory that "
        "an engine printed rounded to that precision; what one side does not know is not compared. Exit "
        "code 0 if nothing differs, 1 if something does.",
    .example = "ccldse diff results/ccldse.db theirs.db --tolerance 1%",
    COMMAND_OPTIONS(options, diff_options),
    .is_prose = true,
    .run = run,
};
