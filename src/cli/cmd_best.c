/* The best strategies of a database. */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/results.h"
#include "driver/study.h"
#include "report/explain.h"
#include "report/overview.h"
#include "report/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    const char *db, *model, *system, *by;
    double hbm;
    int64_t top;
    bool json, explain;
} best_options;

#define FIELD(f) .offset = offsetof(best_options, f)

static const option options[] = {
    {"--hbm", OPT_SIZE, "SIZE", "",
     "memory of an NPU; points that need more are dropped: 80GB (10^9), 80GiB (2^30)", FIELD(hbm)},
    {"--model", OPT_STRING, "NAME", "", "only this model", FIELD(model)},
    {"--system", OPT_STRING, "NAME", "", "only this system", FIELD(system)},
    {"--top", OPT_INT, "N", "10", "so many per model and system; 0: all", .min = 0, .max = 1e9, FIELD(top)},
    {"--by", OPT_STRING, "METRIC", "wall_time",
     "what to rank by: wall_time, peak_memory, exposed_comm, compute_util, ...", .complete = COMPLETE_METRIC,
     FIELD(by)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the results database", FIELD(db)},
    {"--explain", OPT_FLAG, NULL, "false", "also say why the winner wins, and what would change that",
     FIELD(explain)},
    {"--json", OPT_FLAG, NULL, "false", "JSON instead of tables", FIELD(json)},
};

/* Without --hbm, the capacity that the system card gave, if it gave one; NAN is no limit. */
static dse_status limit_of(const best_options *o, const store_row *row, dse_arena *a, double *out,
                           dse_error *err)
{
    *out = o->hbm;
    return isnan(o->hbm) ? drv_study_capacity(row->config, a, out, err) : DSE_OK;
}

static bool same_names(const report_study *a, const report_study *b)
{
    return !strcmp(a->row[0].model, b->row[0].model) && !strcmp(a->row[0].system, b->row[0].system) &&
           !strcmp(a->row[0].settings, b->row[0].settings) && !strcmp(a->row[0].engine, b->row[0].engine);
}

static void explain_json(const report_study *s, size_t index, void *explanations, dse_json *j)
{
    dse_json_key(j, "explanation");
    report_explain_json(s, &((const report_explanation *)explanations)[index], j);
}

/* Studies that have no row to be told apart by. */
static void print_unlisted(const store_unlisted *u, dse_strbuf *out)
{
    if (u->points)
        dse_strbuf_addf(out,
                        "All %" PRIu64 " points of %" PRIu64 " configuration%s were skipped by a sweep with "
                        "--prune: they need more memory than it allowed.\n",
                        u->points, u->studies, u->studies == 1 ? "" : "s");
}

/* A limit in bytes says nothing of memory that counts elements. One line, with each model once. */
static void warn_of_elements(const report_study *studies, size_t n, dse_strbuf *names)
{
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;

        if (isnan(studies[i].limit_bytes) || report_in_bytes(studies[i].row[0].config))
            continue;
        while (before < i &&
               (strcmp(studies[before].row[0].model, studies[i].row[0].model) != 0 ||
                isnan(studies[before].limit_bytes) || report_in_bytes(studies[before].row[0].config)))
            before++;
        if (before == i)
            dse_strbuf_addf(names, "%s%s", names->len ? ", " : "", studies[i].row[0].model);
    }
    if (names->len && !names->failed)
        report_warning(
            "the limit is in bytes, and the memory of %.300s counts elements: set precision=mixed in the "
            "model card",
            names->data);
}

/* `why` has an explanation a study; NULL: none was asked for. */
static dse_status print(const report_study *studies, size_t n, const store_unlisted *unlisted,
                        report_explanation *why, const best_options *o, command_run *r, dse_error *err)
{
    report_sizes sizes = {0};
    dse_strbuf *out = r->out;
    dse_status st;

    if (o->json) {
        report_ranking_json(studies, n, (size_t)o->top, why ? explain_json : NULL, why, out);
        return DSE_OK;
    }
    for (size_t i = 0; i < n; i++)
        report_sizes_add(&sizes, studies[i].row[0].config);
    for (size_t i = 0; i < n; i++) {
        bool ambiguous = (i && same_names(&studies[i], &studies[i - 1])) ||
                         (i + 1 < n && same_names(&studies[i], &studies[i + 1]));

        if (i && !why) /* an explanation ends with an empty line */
            dse_strbuf_addc(out, '\n');
        report_ranking_print(&studies[i], (size_t)o->top, ambiguous, out);
        if (sizes.differ) {
            report_sizes_print_one(studies[i].row[0].config, out);
            dse_strbuf_addc(out, '\n');
        }
        if (why) {
            dse_strbuf_addc(out, '\n');
            report_explain_print(&studies[i], &why[i], out);
        }
    }
    dse_strbuf_adds(out, why || !n ? "" : "\n");
    st = report_overview_print(studies, n, r->arena, out, err);
    print_unlisted(unlisted, out);
    report_ranking_notes(studies, n, out);
    if (!sizes.differ) {
        report_sizes_print(&sizes, out);
        dse_strbuf_addc(out, '\n');
    }
    return st;
}

static dse_status no_results(const best_options *o, const store_unlisted *unlisted, dse_error *err)
{
    return dse_fail(err, DSE_E_CONFIG, "'%s' has no results%s%s%s%s; %s", o->db,
                    o->model ? " for model " : "", o->model ? o->model : "", o->system ? " on system " : "",
                    o->system ? o->system : "",
                    unlisted->points ? "a sweep with --prune may have skipped all of these points"
                                     : "run 'ccldse sweep' first");
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const best_options *o = opts;
    dse_arena *a = r->arena;
    report_explanation *why = NULL;
    report_study *studies;
    const store_column *by;
    store_unlisted unlisted;
    dse_strbuf names;
    store_row *rows;
    size_t n_rows, n;
    dse_status st;

    if ((st = results_column(o->by, true, &by, err)) != DSE_OK ||
        (st = results_read(o->db, o->model, o->system, a, &rows, &n_rows, err)) != DSE_OK ||
        (st = results_count_unlisted(o->db, &unlisted, err)) != DSE_OK)
        return st;
    if (!n_rows && (!unlisted.points || o->model || o->system))
        return no_results(o, &unlisted, err);
    if (o->model || o->system)
        unlisted = (store_unlisted){0}; /* which of them they are of is not stored */
    if (unlisted.points)
        r->code = EXIT_NO;
    st = report_split(rows, n_rows, a, &studies, &n, err);
    if (st == DSE_OK && o->explain && !(why = DSE_ARENA_NEW(a, report_explanation, n)))
        st = dse_fail_nomem(err);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        studies[i].by = by;
        st = limit_of(o, studies[i].row, a, &studies[i].limit_bytes, err);
        if (st == DSE_OK)
            st = report_rank(&studies[i], a, err);
        if (st == DSE_OK && why)
            st = report_explain(&studies[i], a, &why[i], err);
        if (!studies[i].n_ranked)
            r->code = EXIT_NO;
    }
    if (st == DSE_OK) {
        dse_strbuf_init(&names);
        warn_of_elements(studies, n, &names);
        dse_strbuf_free(&names);
        st = print(studies, n, &unlisted, why, o, r, err);
    }
    return st;
}

extern const command command_best;
const command command_best = {
    .name = "best",
    .summary = "rank what a sweep found and what fits in memory",
    .details =
        "Prints one table per model and system: the best strategies that fit in memory, how many "
        "points were dropped because they do not, and what the best would be without the limit. Of several "
        "configurations of one model and system, as a space makes them, it then ranks the best of each, "
        "those "
        "with and without congestion apart. "
        "--explain says why: where the winner's step and memory go, against the runner-up and the best "
        "without the limit; how the best step changes along each axis; the smallest change that would "
        "make the best without the limit fit. Exit code 1 if for some model and system nothing fits, or "
        "nothing is known of the metric to rank by.",
    .example = "ccldse best --hbm 80GB --top 5 --explain",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .size = sizeof(best_options),
    .run = run,
};
