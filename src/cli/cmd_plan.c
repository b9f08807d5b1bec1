/* What to run on a cluster: one command from its cards to the answer. */
#include "base/fs.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/one_point.h"
#include "cli/points.h"
#include "cli/progress.h"
#include "driver/launch.h"
#include "driver/plan.h"
#include "driver/programs.h"
#include "driver/sweep.h"
#include "exec/pool.h"
#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *model, *system, *db, *tokens;
    strategy_options strategy;
    sizing_options sizing;
    option_list set;
    int64_t top, jobs;
    double point_timeout;
    bool no_db, json;
} plan_options;

#define FIELD(f)   .offset = offsetof(plan_options, f)
#define DEFAULT_DB "results/ccldse.db" /* as sweep and best have it */

static const option options[] = {
    OPTION_MODEL,
    {"--system", OPT_STRING, "NAME", NULL, "system card: a name in configs/systems or a path", FIELD(system)},
    OPTION_GROUP(sizing_group, sizing),
    {"--tokens", OPT_STRING, "COUNT", "", "of the whole training run, for its days: 15T, 300B, 2e12",
     FIELD(tokens)},
    {"--top", OPT_INT, "N", "5", "so many strategies; 0: all that fit", .min = 0, .max = 1e9, FIELD(top)},
    OPTION_GROUP(strategy_list_options, strategy),
    OPTION_SET,
    {"--jobs", OPT_INT, "N", "0", "points side by side; 0: one per core", .min = 0, .max = 4096, FIELD(jobs)},
    {"--point-timeout", OPT_DOUBLE, "SECONDS", "600", "a point that takes longer has failed; 0: none",
     .min = 0, .max = 1e8, FIELD(point_timeout)},
    {"--db", OPT_STRING, "FILE", DEFAULT_DB, "the results database; what is in it is not simulated again",
     FIELD(db)},
    {"--no-db", OPT_FLAG, NULL, "false", "keep nothing: results go to a temporary database", FIELD(no_db)},
    {"--json", OPT_FLAG, NULL, "false", "print the plan as JSON", FIELD(json)},
};

/* "15T" is 15e12, "300B" 300e9; NaN: not given. */
static dse_status read_tokens(const char *text, double *out, dse_error *err)
{
    static const struct {
        char letter;
        double factor;
    } units[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}};
    char *end;

    *out = NAN;
    if (!text)
        return DSE_OK;
    *out = strtod(text, &end);
    for (size_t i = 0; i < DSE_COUNT(units); i++)
        if (*end && (*end == units[i].letter || *end == units[i].letter - 'A' + 'a') && !end[1]) {
            *out *= units[i].factor;
            end++;
        }
    return end != text && !*end && *out >= 1 && *out <= 1e18
               ? DSE_OK
               : dse_fail(err, DSE_E_USAGE,
                          "--tokens takes a number of tokens, such as 15T, 300B or 2e12, not '%.40s'", text);
}

/* A database for --no-db, in a folder of its own; *folder is to be removed. */
static dse_status make_database(dse_arena *a, char **folder, const char **path, dse_error *err)
{
    const char *top = getenv("TMPDIR");

    *folder = dse_arena_printf(a, "%s/ccldse-plan-XXXXXX", top && *top ? top : "/tmp");
    if (!mkdtemp(*folder)) {
        *folder = NULL;
        return dse_fail_errno(err, DSE_E_IO, "cannot make a folder for a temporary database; set TMPDIR");
    }
    *path = dse_arena_printf(a, "%s/plan.db", *folder);
    return DSE_OK;
}

/* Every point into the database, as a sweep; `more`: behind those that are there, of which nothing need be
 * told. */
static dse_status sweep(const plan_options *o, const char *db, const drv_points *points, bool more,
                        dse_arena *a, dse_error *err)
{
    progress_screen screen;
    drv_progress p = {0};
    char self[4096];
    const drv_sweep sweep = {.points = points,
                             .database = db,
                             .jobs = o->jobs ? (uint32_t)o->jobs : exec_cores(),
                             .point_timeout = o->point_timeout,
                             .worker = self,
                             .shortcuts = {.memo = true, .symmetry = true},
                             .begin = more ? NULL : progress_begin,
                             .progress = progress_show,
                             .user = &screen};
    dse_status st = exec_self(self, sizeof self, err);

    if (st != DSE_OK)
        return st;
    progress_init(&screen, "points");
    st = drv_sweep_run(&sweep, a, &p, err);
    progress_clear(&screen);
    if (p.was_damaged)
        report_warning("%s: " STORE_DAMAGE_WORDS, db, p.damaged_rows);
    if (st != DSE_E_INTERRUPT)
        return st;
    *err = (dse_error)DSE_ERROR_INIT;
    return dse_fail(err, st, "interrupted; %" PRIu64 " of %" PRIu64 " points are done%s%s%s",
                    p.cached + p.done, p.total, o->no_db ? "" : " and in ", o->no_db ? "" : db,
                    o->no_db ? "" : ", and the same command goes on from there");
}

/* A line for each option behind the third, so that a terminal breaks none of them. */
static void print_command(const char *line, dse_strbuf *out)
{
    size_t n = 0;

    dse_strbuf_adds(out, "  ");
    for (const char *c = line; *c; c++) {
        n += !strncmp(c, " --", 3);
        if (!strncmp(c, " --", 3) && n > 2)
            dse_strbuf_adds(out, " \\\n     ");
        dse_strbuf_addc(out, *c);
    }
    dse_strbuf_addc(out, '\n');
}

/* What starts the winner, a point of the study, in the program that it is like; a program that refuses it
 * says why. */
static void find_launch(const drv_study *study, report_plan *p, dse_arena *a)
{
    const strategy *winner = &p->why.winner->strategy;
    const launch_program *program = launch_of(winner->like);
    dse_strbuf text = dse_strbuf_in(a);
    dse_error why = DSE_ERROR_INIT;
    launch_job job;
    dse_status st = drv_launch_job(study, winner, program, 0, &job, &why);

    p->launch_program = program->title;
    if (st == DSE_OK)
        st = launch_write(&job, program, &text, &why);
    if (st == DSE_OK)
        p->launch = text.data;
    else
        p->why_no_launch =
            dse_arena_printf(a, "%s%s", dse_error_say(&why).text,
                             st == DSE_E_RANGE && winner->like == DRV_ANY
                                 ? "; with --like all that is tried runs in the program that you name"
                                 : "");
}

static void print_launch(const report_plan *p, dse_strbuf *out)
{
    dse_strbuf_addf(out, "\nWHAT STARTS IT IN %s\n\n", p->launch_program);
    if (p->launch)
        dse_strbuf_addf(out, "%s\n", p->launch);
    else
        report_paragraph(out, "It does not run there: %s.", p->why_no_launch);
    dse_strbuf_adds(out, "TO SEE IT IN FULL\n\n");
    print_command(p->command, out);
}

static void print(const plan_options *o, const report_plan *p, const char *db, command_run *r)
{
    if (o->json) {
        report_plan_json(p, (size_t)o->top, r->out);
        return;
    }
    report_plan_print(p, (size_t)o->top, r->out);
    if (p->study->n_ranked)
        print_launch(p, r->out);
    if (o->no_db)
        return;
    dse_strbuf_addc(r->out, '\n');
    dse_strbuf_add_wrapped(
        r->out,
        dse_arena_printf(r->arena, "All results are in %s; 'ccldse best', 'show' and 'export' read them%s%s.",
                         db, strcmp(db, DEFAULT_DB) ? " with --db " : "", strcmp(db, DEFAULT_DB) ? db : ""),
        0, REPORT_WIDTH);
    dse_strbuf_addc(r->out, '\n');
}

/* `folder`, of a temporary database, is gone before what takes longest begins. */
static dse_status make_plan(const plan_options *o, const char *db, const char *folder, const drv_study *whole,
                            const drv_points *given, double tokens, command_run *r, dse_error *err)
{
    drv_points points;
    progress_screen screen;
    const drv_plan_options how = {.points = &points,
                                  .whole = whole,
                                  .given = strategy_options_mask(&o->strategy),
                                  .threads = o->jobs ? (uint32_t)o->jobs : exec_cores(),
                                  .progress = progress_count,
                                  .user = &screen};
    report_study study;
    report_plan plan;
    dse_status st;

    if ((st = sweep(o, db, given, false, r->arena, err)) != DSE_OK ||
        (st = drv_plan_rank(db, given, r->arena, &study, err)) != DSE_OK)
        return st;
    if ((st = drv_plan_refine(given, &study, how.given, how.threads, r->arena, &points, err)) != DSE_OK)
        return st;
    if (points.n > given->n && ((st = sweep(o, db, &points, true, r->arena, err)) != DSE_OK ||
                                (st = drv_plan_rank(db, &points, r->arena, &study, err)) != DSE_OK))
        return st;
    if (folder)
        dse_remove_tree(folder, NULL);
    progress_init(&screen, "changes of the system");
    st = drv_plan(&how, &study, r->arena, &plan, err);
    progress_clear(&screen);
    if (st != DSE_OK)
        return st;
    plan.train_tokens = tokens;
    if (study.n_ranked)
        find_launch(given->space->study, &plan, r->arena);
    print(o, &plan, db, r);
    r->code = study.n_ranked ? EXIT_DONE : EXIT_NO;
    return DSE_OK;
}

/* The study on the system of the card: --nodes and --npus left out. */
static dse_status load_whole(const plan_options *o, dse_arena *a, drv_study *out, dse_error *err)
{
    sizing_options sizing = o->sizing;
    cfg_settings settings;
    option_list all;
    dse_status st;

    sizing.nodes = sizing.npus = 0;
    if ((st = sizing_settings(&sizing, NULL, 0, &o->set, a, &all, err)) != DSE_OK ||
        (st = drv_settings_parse(all.item, all.n, a, &settings, err)) != DSE_OK)
        return st;
    return drv_study_load(o->model, o->system, &settings, a, out, err);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const plan_options *o = opts;
    const points_options which = {
        .model = o->model, .system = o->system, .strategy = o->strategy, .set = o->set, .sizing = o->sizing};
    const char *db = o->db;
    char *folder = NULL;
    double tokens;
    drv_space space;
    drv_points points;
    drv_study whole;
    dse_status st;

    if ((st = read_tokens(o->tokens, &tokens, err)) != DSE_OK ||
        (st = points_list(&which, r->arena, &space, &points, err)) != DSE_OK ||
        (st = drv_plan_check(&points, err)) != DSE_OK ||
        (st = drv_plan_widen(&space, strategy_options_mask(&o->strategy), r->arena, &points, err)) !=
            DSE_OK ||
        (st = load_whole(o, r->arena, &whole, err)) != DSE_OK ||
        (o->no_db && (st = make_database(r->arena, &folder, &db, err)) != DSE_OK))
        return st;
    if (space.study->model_note)
        report_warning("%s", space.study->model_note);
    report_unknown_keys(o->system, space.study->system.n_unknown_keys, space.study->system.unknown_key);
    st = make_plan(o, db, folder, &whole, &points, tokens, r, err);
    if (folder)
        dse_remove_tree(folder, NULL);
    return st;
}

const command command_plan = {
    .name = "plan",
    .summary = "say what to run on a cluster, why, and what would change that",
    .details =
        "Tries what engineers try of degrees, micro-batches, schedules, sharding and recomputation, as "
        "'ccldse sweep' does, and prints the best that fits, with its step time and how far that may be off; "
        "why it wins; what would change it: more memory, and half and double of each rate and latency of the "
        "system, with the strategy that would be the best then; what was assumed. Options of the strategy "
        "narrow what is tried. Results go to the database, and the same command answers from there; what is "
        "simulated of changed systems is not kept. If nothing fits it says what comes nearest, tries what "
        "would make it fit, up to 64 times the nodes, and the exit code is 1. NPU: an accelerator; MFU: "
        "operations of the model by the peak.",
    .example = "ccldse plan --model llama-3.1-70b --system hgx_h100 --nodes 16 --batch 1024 --sequence 8192 "
               "--like megatron",
    COMMAND_OPTIONS(options, plan_options),
    .run = run,
};
