/* Shows one point in full. */
#include "base/idtable.h"
#include "base/names.h"
#include "cli/command.h"
#include "cli/results.h"
#include "driver/launch.h"
#include "driver/reproduce.h"
#include "report/details.h"
#include "report/rows.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const char *point, *db, *launch;
    results_selection which;
    bool config, json;
} show_options;

#define FIELD(f) .offset = offsetof(show_options, f)

static const option options[] = {
    {"POINT", OPT_STRING, NULL, NULL,
     "the strategy, dp_tp_sp_pp_recompute: 8_1_8_1_1; with _ws behind it: sharded weights", FIELD(point)},
    OPTION_GROUP(results_group, which),
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the results database", FIELD(db)},
    {"--config", OPT_FLAG, NULL, "false",
     "print the configurations alone, one a line, as 'ccldse worker' takes them", FIELD(config)},
    {"--launch", OPT_STRING, "PROGRAM", "", "print what starts the point alone, as 'ccldse launch'",
     .choices = launch_names, FIELD(launch)},
    {"--json", OPT_FLAG, NULL, "false", "print everything as JSON", FIELD(json)},
};

/* ---- which rows ---------------------------------------------------------------------------- */

/* What is known of the rows when there is none of the point: their strategies, each once, and where points were
 * skipped the first row of each study, whole. */
typedef struct {
    results_reader in;
    dse_arena *a;
    const strategy *point;
    bool is_there; /* a row of the point, which its index did not find */
    dse_idtable table;
    strategy *known;
    const char **name; /* of each */
    size_t n_known, cap_known, cap_name;
    size_t next; /* the strategy that came behind the last one before: studies have the same ones */
    size_t n;    /* rows */
    store_row *first;
    size_t n_first, cap_first;
} other_rows;

static bool is_known(const void *known, uint32_t id, const void *key)
{
    return !strategy_compare(&((const strategy *)known)[id], key);
}

static void add_strategy(other_rows *k, const store_row *r)
{
    uint32_t value[STRATEGY_N], id;

    if (k->next < k->n_known && is_known(k->known, (uint32_t)k->next, &r->strategy)) {
        k->next++;
        return;
    }
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        value[i] = strategy_get(&r->strategy, i);
    id = dse_idtable_intern(&k->table, (uint32_t)dse_hash_words(value, sizeof value), is_known, k->known,
                            &r->strategy, (uint32_t)k->n_known);
    if (id == k->n_known) {
        DSE_GROW(k->known, k->cap_known, k->n_known + 1);
        DSE_GROW(k->name, k->cap_name, k->n_known + 1);
        k->known[k->n_known] = r->strategy;
        k->name[k->n_known++] = dse_arena_strdup(k->a, report_point_name(r).text);
    }
    k->next = (size_t)id + 1;
}

static dse_status add_other(void *user, const store_row *r, dse_error *err)
{
    other_rows *k = user;

    k->is_there |= !strategy_compare(&r->strategy, k->point);
    k->n++;
    add_strategy(k, r);
    if (!r->skipped_of_study || (k->n_first && k->first[k->n_first - 1].study == r->study))
        return DSE_OK;
    DSE_GROW(k->first, k->cap_first, k->n_first + 1);
    return store_read(k->in.store, r, true, k->a, &k->first[k->n_first++], err);
}

static dse_status no_such_point(const show_options *o, const other_rows *k, dse_error *err)
{
    const char *nearest = dse_nearest(o->point, k->name, k->n_known);

    return dse_fail(err, DSE_E_CONFIG, "no result of point '%s' among the %zu in '%.150s'%s%s%s", o->point,
                    k->n, o->db, nearest ? "; did you mean '" : "; 'ccldse best --top 0' lists them",
                    nearest ? nearest : "", nearest ? "'?" : "");
}

/* Explains why the point has no row. */
static dse_status no_row(const show_options *o, const strategy *point, const other_rows *k, dse_error *err)
{
    bool skipped;
    dse_status st = results_find_skipped(o->db, k->first, k->n_first, point, &skipped, err);

    if (st != DSE_OK)
        return st;
    return skipped
               ? dse_fail(err, DSE_E_CONFIG,
                          "point '%s' was skipped by a sweep with --prune, and has no result in '%.150s'; "
                          "'ccldse sweep' without --prune runs it",
                          o->point, o->db)
               : no_such_point(o, k, err);
}

/* The rows of the point. Where there are none, the figures of all others say what is nearest, and that there
 * is no row of the point, which damage could hide from the index of points. */
static dse_status find_rows(const show_options *o, const strategy *point, dse_arena *a, store_row **rows,
                            size_t *n, dse_error *err)
{
    results_selection which = o->which;
    other_rows others = {.a = a, .point = point};
    dse_status st;

    which.point = point;
    if ((st = results_select(o->db, &which, a, rows, n, err)) != DSE_OK || *n)
        return st;
    which.point = NULL;
    if ((st = results_open(o->db, &which, &others.in, err)) == DSE_OK)
        st = results_each_figures(&others.in, store_column_find("wall_time"), add_other, &others, err);
    results_close(&others.in);
    if (st == DSE_OK && others.is_there) { /* perhaps a sweep has put it there since */
        which.point = point;
        st = results_select(o->db, &which, a, rows, n, err);
    }
    if (st == DSE_OK && others.is_there && !*n)
        st = dse_fail_at(err, DSE_E_STORE, o->db,
                         "the database is damaged: a row of point '%s' is not where it belongs; "
                         "move it away, and the same sweep makes a new one",
                         o->point);
    else if (st == DSE_OK && !*n)
        st = others.n ? no_row(o, point, &others, err) : results_none(o->db, &o->which, err);
    dse_idtable_free(&others.table);
    dse_free(others.known);
    dse_free(others.name);
    dse_free(others.first);
    return st;
}

/* ---- output -------------------------------------------------------------------------------- */

static dse_status print_text(const show_options *o, const store_row *r, command_run *run, dse_error *err)
{
    drv_reproduction again;
    dse_status st = drv_reproduce(r, o->db, run->arena, &again, err);

    if (st != DSE_OK)
        return st;
    report_details_print(r, run->out);
    dse_strbuf_adds(run->out, "configuration\n");
    if ((st = drv_config_print(r->config, run->arena, run->out, err)) != DSE_OK)
        return st;
    dse_strbuf_adds(run->out, "\nto reproduce it\n");
    if (again.command)
        dse_strbuf_addf(run->out, "  %s\n", again.command);
    if (*again.note)
        dse_strbuf_addf(run->out, "  (%s)\n", again.note);
    return DSE_OK;
}

static dse_status print_json(const show_options *o, const store_row *r, command_run *run, dse_error *err)
{
    drv_reproduction again;
    report_tree t;
    report_node *root;
    dse_status st = drv_reproduce(r, o->db, run->arena, &again, err);

    if (st != DSE_OK)
        return st;
    root = report_tree_begin(&t);
    report_put_row(r, root);
    report_put(root, V_REAL("seconds", r->seconds),
               V_TEXT("configuration", report_format("%08" PRIx64, r->study >> 32).text),
               V_RAW("config", r->config), V_TEXT("reproduce", again.command), V_TEXT("note", again.note));
    report_tree_write(&t, run->out);
    return DSE_OK;
}

static dse_status require_cards(const show_options *o, const store_row *r, command_run *run, dse_error *err)
{
    bool has_cards;
    dse_status st = drv_has_cards(r, run->arena, &has_cards, err);

    if (st != DSE_OK || has_cards)
        return st;
    return dse_fail(err, DSE_E_CONFIG, "point '%s' of engine '%s' was imported and has no configuration",
                    o->point, r->engine);
}

static dse_status print_config(const show_options *o, const store_row *r, command_run *run, dse_error *err)
{
    dse_status st = require_cards(o, r, run, err);

    if (st == DSE_OK)
        dse_strbuf_adds(run->out, r->config);
    return st;
}

static dse_status print_launch(const show_options *o, const store_row *r, command_run *run, dse_error *err)
{
    const launch_program *program = launch_find(o->launch);
    drv_study study;
    strategy point;
    launch_job job;
    dse_status st;

    /* What was imported is refused as it is for its configuration. */
    if ((st = require_cards(o, r, run, err)) != DSE_OK ||
        (st = drv_study_read_config(r->config, strlen(r->config), run->arena, &study, &point, err)) !=
            DSE_OK ||
        (st = drv_launch_job(&study, &point, program, 0, &job, err)) != DSE_OK)
        return st;
    return launch_write(&job, program, run->out, err);
}

/* How rows are printed, with the texts before, between and after them. */
typedef struct {
    dse_status (*print)(const show_options *o, const store_row *r, command_run *run, dse_error *err);
    const char *before, *between, *after;
} show_form;

static const show_form text = {print_text, "", "\n\n", ""}, json = {print_json, "[\n", ",\n", "\n]\n"},
                       config = {print_config, "", "\n", "\n"}, launch = {print_launch, "", "\n", ""};

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const show_options *o = opts;
    const show_form *form = o->config ? &config : o->launch ? &launch : o->json ? &json : &text;
    strategy p;
    store_row *rows;
    size_t n;
    dse_status st;

    if (o->config && o->json)
        return dse_fail(err, DSE_E_USAGE, "give either --config or --json, not both");
    if (o->launch && (o->config || o->json))
        return dse_fail(err, DSE_E_USAGE, "give either --launch or %s, not both",
                        o->config ? "--config" : "--json");
    if ((st = strategy_parse_name(o->point, NULL, &p, NULL, err)) != DSE_OK ||
        (st = find_rows(o, &p, r->arena, &rows, &n, err)) != DSE_OK)
        return st;
    dse_strbuf_adds(r->out, form->before);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        dse_strbuf_adds(r->out, i ? form->between : "");
        st = form->print(o, &rows[i], r, err);
    }
    dse_strbuf_adds(r->out, form->after);
    return st;
}

const command command_show = {
    .name = "show",
    .summary = "show everything about one point, and how to reproduce it",
    .details =
        "Prints all figures of a strategy with their units, the configuration that they are a function "
        "of, and the command that gives them again; one result after another if several models, "
        "systems, settings or engines have the point.",
    .example = "ccldse show 32_1_2_1_0 --model llama70b --system system1",
    COMMAND_OPTIONS(options, show_options),
    .run = run,
};
