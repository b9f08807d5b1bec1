/* The main job: every strategy of a space, simulated and stored. */
#include "base/units.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/external.h"
#include "cli/points.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "cli/shortcuts.h"
#include "cli/slurm.h"
#include "driver/points_file.h"
#include "exec/pool.h"
#include "report/prose.h"
#include "report/ranking.h"
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    points_options points;
    external_options external;
    shortcuts_options shortcuts;
    slurm_options slurm;
    search_options search;
    const char *db, *shard;
    int64_t jobs, top;
    double hbm_bytes, point_timeout;
    bool json, dry_run, prune;
} sweep_options;

#define FIELD(f)    .offset = offsetof(sweep_options, f)
#define DEFAULT_TOP "10" /* as `best` has it */
/* Ten times what the slowest points that end take: a minute, of tens of thousands of NPUs without any
 * shortcut. */
#define DEFAULT_TIMEOUT "600"

static const option options[] = {
    OPTION_GROUP(points_group, points),
    {"--shard", OPT_STRING, "K/N", "",
     "only every N-th point, from the K-th on: one of N runs, on as many machines, each with its own --db, "
     "which "
     "'ccldse merge' puts together",
     FIELD(shard)},
    {"--dry-run", OPT_FLAG, NULL, "false",
     "list the points, as --points takes them, and simulate none; with --executor slurm: print the batch "
     "script",
     FIELD(dry_run)},
    OPTION_GROUP(slurm_group, slurm),
    OPTION_ENGINE("native"),
    OPTION_ASTRASIM_VERSION,
    OPTION_STAGE_VERSION,
    OPTION_GROUP(external_group, external),
    {"--prune", OPT_FLAG, NULL, "false",
     "skip points that cannot be among the --top best that fit: lower bounds of their time and memory say so",
     FIELD(prune)},
    OPTION_GROUP(search_group, search),
    {"--top", OPT_INT, "N", DEFAULT_TOP,
     "with --prune, --search: so many per model and system; with --prune 0: all that fit", .min = 0,
     .max = 1e9, FIELD(top)},
    {"--hbm", OPT_SIZE, "SIZE", "",
     "with --prune, --search: memory of an NPU, 80GB (10^9) or 80GiB (2^30); what the system card gives "
     "if not given",
     FIELD(hbm_bytes)},
    {"--jobs", OPT_INT, "N", "0",
     "worker processes, or points side by side; 0: one per core (of a task of Slurm: one)", .min = 0,
     .max = 4096, FIELD(jobs)},
    {"--point-timeout", OPT_DOUBLE, "SECONDS", DEFAULT_TIMEOUT,
     "a point that takes longer has failed; 0: none", .min = 0, .max = 1e8, FIELD(point_timeout)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db",
     "the results database; what is in it is not simulated again", FIELD(db)},
    {"--json", OPT_FLAG, NULL, "false", "print the summary, or the list, as JSON", FIELD(json)},
    OPTION_GROUP(shortcuts_group, shortcuts),
};

/* ---- what is printed ----------------------------------------------------------------------- */

/* Says how many points were not simulated, and by which bound. */
static void print_skipped(const drv_progress *p, dse_strbuf *out)
{
    const char *before = ": ";

    dse_strbuf_addf(out, "%" PRIu64 " skipped, as they cannot be among the best that fit", p->skipped);
    for (int i = 0; i < DRV_N_SKIPS; i++) {
        if (!p->skipped_by[i])
            continue;
        dse_strbuf_addf(out, "%s%" PRIu64 " by %s", before, p->skipped_by[i], drv_skip_name((drv_skip)i));
        before = ", ";
    }
    dse_strbuf_addc(out, '\n');
}

static void put_skipped(const drv_progress *p, report_node *to)
{
    report_node *skipped = report_object(to, "skipped");

    report_put(skipped, V_COUNT("points", p->skipped));
    for (int i = 0; i < DRV_N_SKIPS; i++)
        report_put(skipped, V_COUNT(drv_skip_key((drv_skip)i), p->skipped_by[i]));
}

/* A line for each reason why points took the slow engine. */
static void print_fallbacks(const drv_progress *p, dse_strbuf *out)
{
    for (sim_fallback f = SIM_FALLBACK_NONE + 1; f < SIM_N_FALLBACKS; f++)
        if (p->fallbacks[f])
            dse_strbuf_addf(out, "%" PRIu64 " point%s took the slow engine: %s.\n", p->fallbacks[f],
                            p->fallbacks[f] == 1 ? "" : "s", sim_fallback_text(f));
}

static void print_train_note(const drv_tried *tried, dse_strbuf *out)
{
    dse_strbuf notes;

    dse_strbuf_init(&notes);
    for (size_t i = 0; i < tried->n_laws; i++)
        report_train_note(tried->laws[i], &notes);
    dse_strbuf_adds(out, notes.data);
    dse_strbuf_free(&notes);
}

/* How many values of a parameter the points of profile train have; 0: the default alone. */
static uint32_t count_values(const design_axis *axis, const strategy_parameter *p)
{
    return axis->n == 1 && axis->value[0] == p->fallback ? 0 : axis->n;
}

/* "dp 1 2 4, tp 1 2": what was tried of each parameter that is not always at its default; and what was
 * not. */
static void print_space(const drv_points *points, const drv_tried *tried, dse_strbuf *out)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const strategy_parameter *p = &strategy_parameters[k];
        const uint32_t n = count_values(&tried->of.of[k], p);
        char word[STRATEGY_VALUE_MAX];

        if (!n)
            continue;
        dse_strbuf_addf(&text, "%s%s", text.len ? ", " : "profile train, the space: ", p->name);
        for (uint32_t i = 0; i < n; i++)
            dse_strbuf_addf(&text, " %s", strategy_print(p, tried->of.of[k].value[i], word));
    }
    if (points->n_refused)
        dse_strbuf_addf(&text, "%s%" PRIu64 "%s combination%s refused by rules, the first as %s",
                        text.len ? "; " : "", points->n_refused, text.len ? " more" : "",
                        points->n_refused == 1 ? " is" : "s are", points->refusal);
    if (text.len) {
        dse_strbuf_add_wrapped(out, text.data, 0, REPORT_WIDTH);
        dse_strbuf_addc(out, '\n');
    }
    dse_strbuf_free(&text);
}

static void put_space(const drv_points *points, const drv_tried *tried, report_node *to)
{
    report_node *space = NULL;

    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const strategy_parameter *p = &strategy_parameters[k];
        const uint32_t n = count_values(&tried->of.of[k], p);
        report_node *list;

        if (!n)
            continue;
        space = space ? space : report_object(to, "space");
        list = report_list(space, p->name);
        for (uint32_t i = 0; i < n; i++)
            report_put_parameter(list, NULL, p, tried->of.of[k].value[i]);
    }
    report_put(to, V_GIVEN(space, V_COUNT("refused", points->n_refused)));
}

/* The fastest of what fits, as `best` ranks first; which of them do is said where some do not. */
static void print_best(const drv_progress *p, dse_strbuf *out)
{
    if (p->too_large && !p->has_best)
        dse_strbuf_adds(out, "fastest: none, as no point is known to fit into the memory of an NPU\n");
    if (!p->has_best)
        return;
    dse_strbuf_adds(out, "fastest");
    if (p->too_large)
        dse_strbuf_addf(out, " of the %" PRIu64 " that fit", p->cached + p->done - p->too_large);
    dse_strbuf_addf(out, ": %s on %s%s%s, %s%s: %s", p->best_model, p->best_system,
                    *p->best_settings ? " with " : "", p->best_settings, progress_best_text(p).text,
                    p->best_tokens ? "" : " (dp_tp_sp_pp_recompute)", report_time(p->best_wall_time).text);
    if (p->best_tokens && p->best_wall_time)
        dse_strbuf_addf(out, ", %.0f tokens/s", (double)p->best_tokens / ((double)p->best_wall_time * 1e-9));
    dse_strbuf_addc(out, '\n');
}

static void print_summary(const sweep_options *o, const drv_points *points, const drv_tried *tried,
                          const drv_progress *p, dse_strbuf *out)
{
    const uint64_t run = p->done + p->failed, left = p->total - p->cached - p->skipped - run;

    dse_strbuf_addf(out, "%" PRIu64 " point%s: ", p->total, p->total == 1 ? "" : "s");
    if (!run && (p->skipped || left))
        dse_strbuf_addf(out, "nothing simulated, %" PRIu64 " in %s already\n", p->cached, o->db);
    else if (!run)
        dse_strbuf_addf(out, "all in %s already, nothing simulated\n", o->db);
    else
        dse_strbuf_addf(out,
                        "%" PRIu64 " simulated in %.1f s (%.1f s of CPU), %" PRIu64 " in %s already, %" PRIu64
                        " failed\n",
                        run, p->seconds, p->cpu_seconds, p->cached, o->db, p->failed);
    if (left)
        dse_strbuf_addf(out,
                        "%" PRIu64
                        " %s with Slurm; the same command with --attach instead of --detach collects %s\n",
                        left, left == 1 ? "is" : "are", left == 1 ? "it" : "them");
    print_space(points, tried, out);
    if (o->prune)
        print_skipped(p, out);
    if (p->first_failure)
        dse_strbuf_addf(out, "a failure: %s\n", p->first_failure);
    print_best(p, out);
    if (p->sizes.n)
        report_sizes_print(&p->sizes, out);
    report_traps_print(&p->traps, NULL, out);
    print_train_note(tried, out);
    print_fallbacks(p, out);
}

/* "slow_engine": {"congestion": 4}; nothing where there is none. */
static void put_fallbacks(const drv_progress *p, report_node *to)
{
    report_node *object = NULL;

    for (sim_fallback f = SIM_FALLBACK_NONE + 1; f < SIM_N_FALLBACKS; f++)
        if (p->fallbacks[f]) {
            object = object ? object : report_object(to, "slow_engine");
            report_put(object, V_COUNT(sim_fallback_name(f), p->fallbacks[f]));
        }
}

static void print_summary_json(const sweep_options *o, const drv_points *points, const drv_tried *tried,
                               const drv_progress *p, dse_strbuf *out)
{
    const uint64_t left = p->total - p->cached - p->skipped - p->done - p->failed;
    report_tree t;
    report_node *root = report_tree_begin(&t);

    report_put(root, V_COUNT("points", p->total), V_COUNT("cached", p->cached), V_COUNT("done", p->done),
               V_COUNT("failed", p->failed), V_GIVEN(left, V_COUNT("left", left)),
               V_GIVEN(p->too_large, V_COUNT("too_large", p->too_large)));
    if (o->prune)
        put_skipped(p, root);
    put_space(points, tried, root);
    put_fallbacks(p, root);
    if (p->sizes.n)
        report_put(root, V_TEXT("memory_counts", report_sizes_key(&p->sizes)));
    if (p->has_best)
        report_put(
            report_object(root, "best"), V_TEXT("model", p->best_model), V_TEXT("system", p->best_system),
            V_GIVEN(*p->best_settings, V_TEXT("settings", p->best_settings)),
            V_TEXT("point", report_strategy_name(&p->best).text), V_COUNT("wall_time", p->best_wall_time));
    report_tree_end(&t, out);
}

static dse_status put_point(const drv_points *points, const drv_space_point *point, report_node *to,
                            dse_error *err)
{
    const drv_study *s = &points->space->study[drv_points_base(points, point->variant)];
    cfg_settings settings;
    dse_strbuf text;
    dse_arena a;
    dse_status st;

    dse_arena_init(&a);
    text = dse_strbuf_in(&a);
    st = drv_points_settings(points, point->variant, &a, &settings, err);
    if (st == DSE_OK) {
        drv_settings_print(s->settings, &settings, &text);
        report_row(to, V_TEXT("model", s->model_path), V_TEXT("system", s->system_path),
                   V_TEXT("point", report_strategy_name(&point->point).text),
                   V_GIVEN(text.len, V_TEXT("settings", text.data)));
    }
    dse_arena_free(&a);
    return st;
}

static dse_status list_points(const drv_points *points, bool json, dse_strbuf *out, dse_error *err)
{
    dse_status st = DSE_OK;
    drv_space_point p;
    drv_cursor c;
    report_tree t;
    report_node *root = report_tree_begin(&t);

    drv_cursor_init(&c, points);
    root->value.kind = REPORT_LIST;
    if (!json)
        dse_strbuf_addf(out, "# %zu point%s\n", points->n, points->n == 1 ? "" : "s");
    for (size_t i = 0; st == DSE_OK && i < points->n; i++) {
        if ((st = drv_cursor_get(&c, i, &p, err)) != DSE_OK)
            break;
        st = json ? put_point(points, &p, root, err) : drv_point_write_line(points, &p, out, err);
        if (!json)
            dse_strbuf_addc(out, '\n');
    }
    drv_cursor_free(&c);
    if (json)
        report_tree_end(&t, out);
    else
        report_tree_free(&t);
    return st;
}

static const char *path_of(const drv_study *s, bool system)
{
    return system ? s->system_path : s->model_path;
}

static bool is_first(const drv_study *s, uint32_t i, bool system)
{
    uint32_t first = 0;

    while (strcmp(path_of(&s[first], system), path_of(&s[i], system)) != 0)
        first++;
    return first == i;
}

/* Whether a variant has the steps of STAGE's branch main. */
static bool has_main(const drv_space *s)
{
    bool found = false;

    for (uint32_t i = 0; i < s->n_studies; i++)
        found |= card_model_is_main(&s->study[i].model);
    for (uint32_t i = 0; i < s->n_axes; i++)
        for (uint32_t k = 0; k < s->axis[i].n && !strcmp(s->axis[i].path, "stage.version"); k++)
            found |= !strcmp(s->axis[i].value[k], wl_stage_versions[WL_STAGE_MAIN]);
    return found;
}

/* Once for each model, then once for each system. */
static void warn_of_cards(const drv_space *s)
{
    for (uint32_t i = 0; i < s->n_studies; i++)
        if (is_first(s->study, i, false) && s->study[i].model_note)
            report_warning("%s", s->study[i].model_note);
    for (uint32_t i = 0; i < s->n_studies; i++)
        if (is_first(s->study, i, true))
            report_unknown_keys(s->study[i].system_path, s->study[i].system.n_unknown_keys,
                                s->study[i].system.unknown_key);
    if (has_main(s))
        report_note(
            "STAGE's branch main has the cost of attention, the work of experts and the bytes of messages "
            "wrong, and profile train right; 'ccldse simulate' says what it is of a point");
}

/* ---- the command --------------------------------------------------------------------------- */

/* Options without effect where all points are of profile train. */
static dse_status check_train(const sweep_options *o, const drv_tried *tried, dse_error *err)
{
    const char *given = shortcuts_given(&o->shortcuts);

    return given && !tried->has_stage
               ? dse_fail(err, DSE_E_USAGE,
                          "%s has no effect on a sweep of profile train, whose steps are added up; 'ccldse "
                          "simulate "
                          "--no-symmetry' has every rank of a point simulated",
                          given)
               : DSE_OK;
}

/* Options that --search excludes, and options that need it. */
static dse_status check_search(const sweep_options *o, const drv_sweep *sweep, dse_error *err)
{
    const char *other = o->prune       ? "--prune"
                        : o->shard     ? "--shard"
                        : o->dry_run   ? "--dry-run"
                        : sweep->tools ? "--engine astrasim"
                        : sweep->slurm ? "--executor slurm"
                                       : NULL;

    if (o->search.on && other)
        return dse_fail(err, DSE_E_USAGE, "give either --search or %s, not both", other);
    if (o->search.on && !o->top)
        return dse_fail(err, DSE_E_USAGE, "--search needs a --top of at least 1");
    return search_check(&o->search, err);
}

/* Options that --prune excludes, and options that need it. */
static dse_status check_prune(const sweep_options *o, const drv_external *tools, dse_error *err)
{
    if (!o->prune && !o->search.on && (o->top != strtoll(DEFAULT_TOP, NULL, 10) || !isnan(o->hbm_bytes)))
        return dse_fail(err, DSE_E_USAGE, "%s needs --prune or --search",
                        isnan(o->hbm_bytes) ? "--top" : "--hbm");
    if (o->prune && o->dry_run)
        return dse_fail(err, DSE_E_USAGE,
                        "give either --prune or --dry-run, not both: what is skipped depends on results");
    if (o->prune && tools)
        return dse_fail(
            err, DSE_E_USAGE,
            "--prune bounds what ccldse itself simulates; it cannot skip points of --engine astrasim");
    return DSE_OK;
}

/* With points that nobody but this process can choose, or tools of this machine, there is nothing for
 * Slurm. */
static dse_status choose_slurm(const sweep_options *o, drv_sweep *sweep, dse_arena *a, dse_error *err)
{
    dse_status st = slurm_choose(&o->slurm, o->db, o->jobs, a, &sweep->slurm, err);

    if (st == DSE_OK && sweep->slurm && (sweep->prune || sweep->tools))
        return dse_fail(err, DSE_E_USAGE, "give either %s or --executor slurm, not both",
                        sweep->prune ? "--prune" : "--engine astrasim");
    if (st == DSE_OK && sweep->slurm && o->dry_run && o->json)
        return dse_fail(err, DSE_E_USAGE,
                        "--dry-run prints the batch script of --executor slurm, which is no JSON; leave out "
                        "--json, or --executor to list the points");
    return st;
}

static dse_status fail_interrupted(const sweep_options *o, const drv_sweep *sweep, const drv_progress *p,
                                   dse_error *err)
{
    char slurm[sizeof err->text];

    snprintf(slurm, sizeof slurm, "%s", err->text);
    *err = (dse_error)DSE_ERROR_INIT;
    if (sweep->slurm)
        return dse_fail(err, DSE_E_INTERRUPT, "interrupted; %" PRIu64 " of %" PRIu64 " points are in %s; %s",
                        p->cached + p->done, p->total, o->db, slurm);
    return dse_fail(err, DSE_E_INTERRUPT,
                    "interrupted; %" PRIu64 " of %" PRIu64
                    " points are in %s, and the same command finishes the rest",
                    p->cached + p->done, p->total, o->db);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const sweep_options *o = opts;
    progress_screen screen;
    char self[4096];
    drv_progress p = {0};
    drv_space space;
    drv_points points;
    const drv_tried *tried;
    const drv_prune prune = {.top = (uint64_t)o->top, .hbm_bytes = o->hbm_bytes};
    drv_sweep sweep = {.points = &points,
                       .database = o->db,
                       .jobs = o->jobs ? (uint32_t)o->jobs : exec_cores(),
                       .point_timeout = o->point_timeout,
                       .worker = self,
                       .shortcuts = shortcuts_left(&o->shortcuts),
                       .prune = o->prune ? &prune : NULL,
                       .begin = progress_begin,
                       .progress = progress_show,
                       .user = &screen};
    points_options which = o->points;
    dse_status st;

    which.set = external_settings(&o->external, &which.set, r->arena);
    if ((st = external_choose(&o->external, true, r->arena, &sweep.tools, err)) != DSE_OK ||
        (st = shortcuts_check(&o->shortcuts, !sweep.tools, err)) != DSE_OK ||
        (st = check_prune(o, sweep.tools, err)) != DSE_OK ||
        (st = choose_slurm(o, &sweep, r->arena, err)) != DSE_OK ||
        (st = check_search(o, &sweep, err)) != DSE_OK || (st = exec_self(self, sizeof self, err)) != DSE_OK)
        return st;
    if (o->search.on) {
        if ((st = points_space(&which, r->arena, &space, err)) != DSE_OK)
            return st;
        warn_of_cards(&space);
        return search_run(
            &o->search,
            &(drv_search){
                .space = &space, .sweep = sweep, .top = (uint64_t)o->top, .hbm_bytes = o->hbm_bytes},
            o->json, r, err);
    }
    if ((st = points_shard(&which, o->shard, r->arena, &space, &points, err)) != DSE_OK)
        return st;
    tried = drv_points_tried(&points, r->arena);
    if ((st = check_train(o, tried, err)) != DSE_OK)
        return st;
    warn_of_cards(&space);
    if (o->dry_run && sweep.slurm) {
        r->as_it_is = true;
        drv_sweep_script(&sweep, r->out);
        return DSE_OK;
    }
    if (o->dry_run) {
        r->as_it_is = true;
        return list_points(&points, o->json, r->out, err);
    }
    progress_init(&screen, "points");
    st = drv_sweep_run(&sweep, r->arena, &p, err);
    progress_clear(&screen);
    if (p.was_damaged)
        report_warning("%s: " STORE_DAMAGE_WORDS, o->db, p.damaged_rows);
    if (st == DSE_E_INTERRUPT)
        return fail_interrupted(o, &sweep, &p, err);
    if (st != DSE_OK)
        return st;
    if (o->json)
        print_summary_json(o, &points, tried, &p, r->out);
    else
        print_summary(o, &points, tried, &p, r->out);
    if (p.failed)
        r->code = EXIT_NO;
    return DSE_OK;
}

const command command_sweep = {
    .name = "sweep",
    .summary = "simulate every strategy of a model on a system and store the results",
    .details =
        "Enumerates the strategies (dp * tp * sp * pp = NPUs of the system; with a model of profile train "
        "what engineers try of tp, pp, vp, micro-batches, sharding and recomputation, and dp takes the other "
        "NPUs), or takes the points of a space, a list or a sample, simulates each in a pool of worker "
        "processes, and stores every result "
        "in the database as it arrives. What is there is not simulated again; after Ctrl-C the same "
        "command finishes the rest. Points that failed are tried again; one that takes longer than "
        "--point-timeout has failed, and holds up no other. With --prune points are skipped "
        "that cannot be among the --top fastest that fit into --hbm; 'best' with the same --top and --hbm "
        "then ranks the same. With --search nothing is enumerated: the --top best of a space of any size are "
        "found by branch and bound, with a certificate of how much better an unknown point may be. "
        "configs/spaces/links.yaml shows and explains a space. Exit code 1 if some "
        "points failed. With --engine astrasim STAGE and ASTRA-sim themselves generate and simulate each "
        "point; their logs stay in results/astrasim.",
    .example = "ccldse sweep --model llama70b --system system1.yaml\n"
               "ccldse sweep --model llama-3.1-70b --system hgx_h100 --nodes 16 --batch 1024",
    COMMAND_OPTIONS(options, sweep_options),
    .is_prose = true,
    .run = run,
};
