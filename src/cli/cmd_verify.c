/* Stored results, simulated again by the upstream tools and compared. */
#include "cli/exit.h"
#include "cli/external.h"
#include "cli/results.h"
#include "driver/verify.h"
#include "exec/pool.h"
#include "report/rows.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *db, *model, *system;
    option_list points;
    int64_t jobs;
    bool json;
    external_options external;
} verify_options;

#define FIELD(f) .offset = offsetof(verify_options, f)

static const option options[] = {
    OPTION_ENGINE(DRV_EXTERNAL_ENGINE),
    OPTION_GROUP(external_group, external),
    {"--model", OPT_STRING, "NAME", "", "only results of this model", FIELD(model)},
    {"--system", OPT_STRING, "NAME", "", "only results on this system", FIELD(system)},
    {"--point", OPT_LIST, "POINT", "", "only this strategy, dp_tp_sp_pp_recompute; again for another",
     FIELD(points)},
    {"--jobs", OPT_INT, "N", "0", "points side by side; 0: one per core", .min = 0, .max = 4096, FIELD(jobs)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the results database; only read", FIELD(db)},
    {"--json", OPT_FLAG, NULL, "false", "print what was found as JSON", FIELD(json)},
};

/* ---- which results ------------------------------------------------------------------------- */

/* Each --point as `sweep` spells it, and whether it has been seen. */
static dse_status read_points(const option_list *points, dse_arena *a, const char ***names, bool **seen,
                              dse_error *err)
{
    dse_status st = DSE_OK;

    *names = DSE_ARENA_NEW(a, const char *, points->n);
    *seen = DSE_ARENA_NEW(a, bool, points->n);
    for (size_t i = 0; st == DSE_OK && i < points->n; i++) {
        strategy p;

        if ((st = strategy_parse_name(points->item[i], NULL, &p, NULL, err)) == DSE_OK)
            (*names)[i] = dse_arena_strdup(a, report_strategy_name(&p).text);
    }
    return st;
}

/* Which rows are to be verified; the others are not held. */
typedef struct {
    const char **names; /* of the points; none: all */
    bool *seen;
    size_t n;
} wanted_points;

static bool is_wanted(void *user, const store_row *row)
{
    const wanted_points *w = user;
    report_name name;
    bool wanted = w->n == 0;

    if (!row->done || !store_is_native(row->engine))
        return false;
    if (!wanted)
        name = report_point_name(row);
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->names[i], name.text))
            wanted = w->seen[i] = true;
    return wanted;
}

static dse_status choose_rows(const verify_options *o, dse_arena *a, store_row **rows, size_t *n,
                              dse_error *err)
{
    wanted_points w = {.n = o->points.n};
    const results_selection which = {.model = o->model, .system = o->system, .has = is_wanted, .user = &w};
    dse_status st;

    if ((st = read_points(&o->points, a, &w.names, &w.seen, err)) != DSE_OK ||
        (st = results_select(o->db, &which, a, rows, n, err)) != DSE_OK)
        return st;
    for (size_t i = 0; i < w.n; i++)
        if (!w.seen[i])
            return dse_fail(err, DSE_E_CONFIG, "'%s' has no native result of the point %s", o->db,
                            w.names[i]);
    return *n ? DSE_OK
              : dse_fail(err, DSE_E_CONFIG, "'%s' has no native results to verify; run 'ccldse sweep' first",
                         o->db);
}

/* ---- output -------------------------------------------------------------------------------- */

typedef struct {
    size_t compared, differ, failed;
} totals;

static totals add_up(const drv_verified *v, size_t n)
{
    totals t = {0};

    for (size_t i = 0; i < n; i++) {
        t.compared += v[i].n_compared;
        t.differ += v[i].n_differences;
        t.failed += v[i].failure != NULL;
    }
    return t;
}

static dse_status interrupted(const drv_verified *v, size_t n, dse_error *err)
{
    totals t = add_up(v, n);
    size_t finished = t.failed;

    for (size_t i = 0; i < n; i++)
        finished += v[i].n_compared > 0;
    *err = (dse_error)DSE_ERROR_INIT;
    return dse_fail(err, DSE_E_INTERRUPT, "interrupted after %zu of %zu points; %zu statistics differ so far",
                    finished, n, t.differ);
}

static void print_name(const store_row *row, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s on %s%s%s, %s: ", row->model, row->system, *row->settings ? " with " : "",
                    row->settings, report_point_name(row).text);
}

static void print_text(const store_row *rows, const drv_verified *v, size_t n, dse_strbuf *out)
{
    totals t = add_up(v, n);

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < v[i].n_differences; k++) {
            const drv_difference *d = &v[i].difference[k];

            print_name(&rows[i], out);
            dse_strbuf_addf(out, "%s is %s, and %s by ASTRA-sim\n", d->statistic, d->stored, d->external);
        }
        if (v[i].failure) {
            print_name(&rows[i], out);
            dse_strbuf_addf(out, "could not be run: %s\n", v[i].failure);
        }
    }
    dse_strbuf_addf(out, "%zu point%s verified, %zu statistics compared, %zu differ, %zu could not be run\n",
                    n - t.failed, n - t.failed == 1 ? "" : "s", t.compared, t.differ, t.failed);
}

static report_node *put_name(const store_row *row, report_node *list)
{
    return report_row(list, V_TEXT("model", row->model), V_TEXT("system", row->system),
                      V_TEXT("settings", row->settings), V_TEXT("point", report_point_name(row).text));
}

static void print_json(const store_row *rows, const drv_verified *v, size_t n, dse_strbuf *out)
{
    totals t = add_up(v, n);
    report_tree tree;
    report_node *root = report_tree_begin(&tree), *differences, *failures;

    report_put(root, V_COUNT("verified", n - t.failed), V_COUNT("compared", t.compared),
               V_COUNT("differ", t.differ), V_COUNT("failed", t.failed));
    differences = report_list(root, "differences");
    failures = report_list(root, "failures");
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < v[i].n_differences; k++) {
            const drv_difference *d = &v[i].difference[k];

            report_put(put_name(&rows[i], differences), V_TEXT("statistic", d->statistic),
                       V_TEXT("stored", d->stored), V_TEXT("external", d->external));
        }
        if (v[i].failure)
            report_put(put_name(&rows[i], failures), V_TEXT("error", v[i].failure));
    }
    report_tree_end(&tree, out);
}

static void progress(void *user, size_t finished, size_t total)
{
    const bool *terminal = user;

    if (*terminal)
        fprintf(stderr, "\r\033[2K%zu/%zu points", finished, total);
}

/* ---- the command --------------------------------------------------------------------------- */

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const verify_options *o = opts;
    drv_verification v = {.jobs = o->jobs ? (uint32_t)o->jobs : exec_cores(), .progress = progress};
    bool terminal = isatty(STDERR_FILENO);
    drv_verified *found;
    store_row *rows;
    totals t;
    dse_status st;

    v.user = &terminal;
    if ((st = external_choose(&o->external, false, r->arena, &v.tools, err)) != DSE_OK)
        return st;
    if (!v.tools)
        return dse_fail(err, DSE_E_USAGE,
                        "the native engine cannot verify itself; give --engine " DRV_EXTERNAL_ENGINE);
    if ((st = choose_rows(o, r->arena, &rows, &v.n_rows, err)) != DSE_OK)
        return st;
    v.rows = rows;
    if (v.jobs > v.n_rows)
        v.jobs = (uint32_t)v.n_rows;
    found = DSE_ARENA_NEW(r->arena, drv_verified, v.n_rows);
    st = drv_verify(&v, r->arena, found, err);
    if (terminal)
        fprintf(stderr, "\r\033[2K");
    if (st == DSE_E_INTERRUPT)
        return interrupted(found, v.n_rows, err);
    if (st != DSE_OK)
        return st;
    if (o->json)
        print_json(rows, found, v.n_rows, r->out);
    else
        print_text(rows, found, v.n_rows, r->out);
    t = add_up(found, v.n_rows);
    if (t.differ || t.failed)
        r->code = EXIT_NO;
    return DSE_OK;
}

const command command_verify = {
    .name = "verify",
    .summary = "run stored results again with STAGE and ASTRA-sim themselves, and compare",
    .details =
        "Takes the native results of the database, has each simulated by the tools, and prints every "
        "statistic that differs: times must be equal, percentages and memory as ASTRA-sim prints them. Of "
        "profile train ASTRA-sim runs the step unrolled, up to 8 micro-batches, and is compared with the "
        "same step added up with one unit for all communication, as its ranks have; STAGE is not needed. The "
        "database is only read; what the tools write stays in workloads/, astrasim_configs/ and "
        "results/astrasim/. Exit code 1 if a statistic differs or a point could not be run.",
    .example = "ccldse verify --engine astrasim --stage-cmd \"python3 stage/main.py\" "
               "--astrasim-bin bin/" DRV_UNAWARE_PROGRAM " --point 8_1_8_1_1",
    COMMAND_OPTIONS(options, verify_options),
    .run = run,
};
