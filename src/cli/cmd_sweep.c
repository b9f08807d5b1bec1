/* The main job: every strategy of a space, simulated and stored. */
#include "base/json_writer.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "driver/points_file.h"
#include "driver/sample.h"
#include "driver/space_file.h"
#include "driver/sweep.h"
#include "exec/pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

typedef struct {
    const char *model, *system, *dp, *tp, *sp, *pp, *recompute, *weight_sharded, *space, *points, *db;
    int64_t jobs, sample, seed;
    bool json, dry_run, force;
    option_list set;
} sweep_options;

#define FIELD(f) .offset = offsetof(sweep_options, f)

static const option options[] = {
    {"--model", OPT_STRING, "NAME[,...]", "", "model cards: names in configs/models, or paths", FIELD(model)},
    {"--system", OPT_STRING, "NAME[,...]", "",
     "system cards: names in configs/systems, paths, or folders with ASTRA-sim's files", FIELD(system)},
    {"--dp", OPT_STRING, "N[,...]", "",
     "data parallel degrees; every divisor of the number of NPUs if not given", FIELD(dp)},
    {"--tp", OPT_STRING, "N[,...]", "", "tensor parallel degrees, likewise", FIELD(tp)},
    {"--sp", OPT_STRING, "N[,...]", "", "sequence parallel degrees, likewise", FIELD(sp)},
    {"--pp", OPT_STRING, "N[,...]", "", "pipeline parallel degrees; 1 if not given", FIELD(pp)},
    {"--recompute", OPT_STRING, "WHICH", "", "activation recomputation: yes, no or both; both if not given",
     FIELD(recompute)},
    {"--weight-sharded", OPT_STRING, "WHICH", "",
     "weights sharded over dp and sp: yes, no or both; no if not given", FIELD(weight_sharded)},
    {"--space", OPT_STRING, "FILE", "",
     "a space in YAML: models, systems, axes over strategies and values of cards, constraints", FIELD(space)},
    {"--points", OPT_STRING, "FILE", "",
     "the points themselves, one a line: POINT, or MODEL SYSTEM POINT [KEY=VALUE...]", FIELD(points)},
    {"--sample", OPT_INT, "N", "0",
     "only so many of each model's points, drawn as Python's random.sample draws them", .min = 0, .max = 1e9,
     FIELD(sample)},
    {"--seed", OPT_INT, "N", "0", "seed of the sample", FIELD(seed)},
    {"--dry-run", OPT_FLAG, NULL, "false", "list the points, as --points takes them, and simulate none",
     FIELD(dry_run)},
    {"--force", OPT_FLAG, NULL, "false", "also a space of more than 1000000 points", FIELD(force)},
    OPTION_SET,
    {"--jobs", OPT_INT, "N", "0", "worker processes; 0: one per core", .min = 0, .max = 4096, FIELD(jobs)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db",
     "the results database; what is in it is not simulated again", FIELD(db)},
    {"--json", OPT_FLAG, NULL, "false", "print the summary as JSON", FIELD(json)},
};

/* ---- progress ------------------------------------------------------------------------------ */

typedef struct {
    bool terminal, drawn;
    double next_seconds; /* of a plain line */
    uint64_t last_count;
} screen;

static void format_left(char *out, size_t size, double seconds)
{
    uint64_t left = (uint64_t)seconds;

    if (left < 60)
        snprintf(out, size, "%" PRIu64 " s", left);
    else if (left < 3600)
        snprintf(out, size, "%" PRIu64 ":%02" PRIu64 " min", left / 60, left % 60);
    else
        snprintf(out, size, "%" PRIu64 ":%02" PRIu64 " h", left / 3600, left % 3600 / 60);
}

static void format_progress(const drv_progress *p, char *out, size_t size)
{
    uint64_t run = p->done + p->failed, left = p->total - p->cached - run;
    double rate = p->seconds > 0 ? (double)run / p->seconds : 0;
    char best[160] = "", remaining[48] = "", time[32], name[DESIGN_NAME_MAX], failed[48] = "";

    if (p->has_best) {
        dse_format_seconds(time, sizeof time, (double)p->best_wall_time * 1e-9);
        design_point_name(&p->best, name);
        snprintf(best, sizeof best, ", best %s with %s", time, name);
    }
    if (rate > 0) {
        format_left(time, sizeof time, (double)left / rate);
        snprintf(remaining, sizeof remaining, ", %s left", time);
    }
    if (p->failed)
        snprintf(failed, sizeof failed, ", %" PRIu64 " failed", p->failed);
    snprintf(out, size, "%" PRIu64 "/%" PRIu64 " points, %.2f/s%s%s%s", p->cached + run, p->total, rate,
             remaining, failed, best);
}

static void show(void *user, const drv_progress *p)
{
    screen *s = user;
    uint64_t count = p->done + p->failed;
    char line[400];

    if (s->terminal) {
        struct winsize size = {0};

        /* A line that wraps would be cleared in its last row only. */
        format_progress(p, line, sizeof line);
        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_col < sizeof line)
            line[size.ws_col - 1] = '\0';
        fprintf(stderr, "\r\033[2K%s", line);
        fflush(stderr);
        s->drawn = true;
        return;
    }
    /* Without a terminal a line now and then: when something has changed, ever more rarely. */
    if (p->seconds < s->next_seconds || count == s->last_count)
        return;
    format_progress(p, line, sizeof line);
    fprintf(stderr, "%s\n", line);
    s->last_count = count;
    s->next_seconds = p->seconds < 60 ? p->seconds + 10 : p->seconds * 7 / 6;
}

static void clear(const screen *s)
{
    if (s->drawn)
        fprintf(stderr, "\r\033[2K");
}

/* ---- the summary --------------------------------------------------------------------------- */

static void print_summary(const sweep_options *o, const drv_progress *p, dse_strbuf *out)
{
    uint64_t run = p->done + p->failed;
    char time[32], name[DESIGN_NAME_MAX];

    if (!run)
        dse_strbuf_addf(out, "%" PRIu64 " points: all in %s already, nothing simulated\n", p->total, o->db);
    else
        dse_strbuf_addf(out,
                        "%" PRIu64 " points: %" PRIu64 " simulated in %.1f s (%.1f s of CPU), %" PRIu64
                        " in %s already, %" PRIu64 " failed\n",
                        p->total, run, p->seconds, p->cpu_seconds, p->cached, o->db, p->failed);
    if (p->first_failure)
        dse_strbuf_addf(out, "a failure: %s\n", p->first_failure);
    if (p->has_best) {
        dse_format_seconds(time, sizeof time, (double)p->best_wall_time * 1e-9);
        design_point_name(&p->best, name);
        dse_strbuf_addf(out, "fastest: %s on %s%s%s, %s (dp_tp_sp_pp_recompute): %s\n", p->best_model,
                        p->best_system, *p->best_settings ? " with " : "", p->best_settings, name, time);
    }
}

static void print_summary_json(const drv_progress *p, dse_strbuf *out)
{
    dse_json j;

    dse_json_init(&j, out);
    dse_json_begin_object(&j);
    dse_json_key(&j, "points");
    dse_json_uint(&j, p->total);
    dse_json_key(&j, "cached");
    dse_json_uint(&j, p->cached);
    dse_json_key(&j, "done");
    dse_json_uint(&j, p->done);
    dse_json_key(&j, "failed");
    dse_json_uint(&j, p->failed);
    if (p->has_best) {
        char name[DESIGN_NAME_MAX];

        design_point_name(&p->best, name);
        dse_json_key(&j, "best");
        dse_json_begin_object(&j);
        dse_json_key(&j, "model");
        dse_json_string(&j, p->best_model);
        dse_json_key(&j, "system");
        dse_json_string(&j, p->best_system);
        if (*p->best_settings) {
            dse_json_key(&j, "settings");
            dse_json_string(&j, p->best_settings);
        }
        dse_json_key(&j, "point");
        dse_json_string(&j, name);
        dse_json_key(&j, "wall_time");
        dse_json_uint(&j, p->best_wall_time);
        dse_json_end_object(&j);
    }
    dse_json_end_object(&j);
    dse_strbuf_addc(out, '\n');
}

/* ---- which points -------------------------------------------------------------------------- */

#define MANY_POINTS 1000000u

/* What the options, or a file, say. */
typedef struct {
    const char **model, **system; /* names or paths */
    size_t n_models, n_systems;
    cfg_settings settings;
    drv_space space;
} request;

static dse_status parse_axes(const sweep_options *o, design_axes *out, dse_error *err)
{
    const struct {
        const char *name, *text;
        design_axis *axis;
    } axes[] = {{"--dp", o->dp, &out->dp},
                {"--tp", o->tp, &out->tp},
                {"--sp", o->sp, &out->sp},
                {"--pp", o->pp, &out->pp}};
    dse_status st = DSE_OK;

    *out = (design_axes){.recompute = DESIGN_BOTH, .weight_sharded = DESIGN_NO};
    for (int i = 0; st == DSE_OK && i < 4; i++)
        if (axes[i].text)
            st = design_axis_parse(axes[i].name, axes[i].text, axes[i].axis, err);
    if (st == DSE_OK && o->recompute)
        st = design_switch_parse("--recompute", o->recompute, &out->recompute, err);
    if (st == DSE_OK && o->weight_sharded)
        st = design_switch_parse("--weight-sharded", o->weight_sharded, &out->weight_sharded, err);
    return st;
}

/* "a,b" -> "a", "b" in the arena. */
static dse_status split(const char *text, dse_arena *a, const char ***out, size_t *n, dse_error *err)
{
    char *copy = dse_arena_strdup(a, text);

    *out = DSE_ARENA_NEW(a, const char *, strlen(text) + 1);
    *n = 0;
    if (!copy || !*out)
        return dse_fail_nomem(err);
    for (char *p = copy; p;) {
        char *comma = strchr(p, ',');

        if (comma)
            *comma = '\0';
        if (!*p)
            return dse_fail(err, DSE_E_USAGE, "an empty name in '%s'", text);
        for (size_t i = 0; i < *n; i++)
            if (!strcmp((*out)[i], p))
                return dse_fail(err, DSE_E_USAGE, "'%s' stands twice in '%s'", p, text);
        (*out)[(*n)++] = p;
        p = comma ? comma + 1 : NULL;
    }
    return DSE_OK;
}

/* Options that say what a file says already, or that need another one. */
static dse_status check_options(const sweep_options *o, dse_error *err)
{
    const struct {
        const char *name;
        bool given;
    } axes[] = {{"--dp", o->dp != NULL},
                {"--tp", o->tp != NULL},
                {"--sp", o->sp != NULL},
                {"--pp", o->pp != NULL},
                {"--recompute", o->recompute != NULL},
                {"--weight-sharded", o->weight_sharded != NULL}};
    const char *file = o->space ? "--space" : o->points ? "--points" : NULL;

    if (o->space && o->points)
        return dse_fail(err, DSE_E_USAGE, "give either --space or --points, not both");
    for (size_t i = 0; file && i < sizeof axes / sizeof axes[0]; i++)
        if (axes[i].given)
            return dse_fail(err, DSE_E_USAGE, "%s says which points there are; %s cannot be given as well",
                            file, axes[i].name);
    if (o->points && o->sample)
        return dse_fail(err, DSE_E_USAGE,
                        "--points says which points there are; --sample draws from a space");
    if (o->seed && !o->sample)
        return dse_fail(err, DSE_E_USAGE, "--seed needs --sample N");
    return DSE_OK;
}

/* The settings of the file and of the command line. */
static dse_status join_settings(const cfg_settings *file, const option_list *set, dse_arena *a,
                                cfg_settings *out, dse_error *err)
{
    const char **words = DSE_ARENA_NEW(a, const char *, file->n + set->n);

    if (!words)
        return dse_fail_nomem(err);
    for (size_t i = 0; i < file->n; i++)
        if (!(words[i] = dse_arena_printf(a, "%s=%s", file->item[i].path, file->item[i].value)))
            return dse_fail_nomem(err);
    for (size_t i = 0; i < set->n; i++)
        words[file->n + i] = set->item[i];
    return drv_settings_parse(words, file->n + set->n, a, out, err);
}

/* Models and systems come from the file or from the options. */
static dse_status choose_cards(const char *name, const char *text, const char *section,
                               const sweep_options *o, dse_arena *a, const char ***out, size_t *n,
                               dse_error *err)
{
    if (text && *n)
        return dse_fail(err, DSE_E_USAGE, "%s names its %s; %s cannot be given as well", o->space, section,
                        name);
    if (text)
        return split(text, a, out, n, err);
    if (!*n && o->space)
        return dse_fail(err, DSE_E_USAGE, "%s has no %s, and %s is missing", o->space, section, name);
    if (!*n && !o->points)
        return dse_fail(err, DSE_E_USAGE, "%s is missing; see 'ccldse sweep --help'", name);
    return DSE_OK;
}

static dse_status read_request(const sweep_options *o, dse_arena *a, request *out, dse_error *err)
{
    drv_space_file file = {0};
    dse_status st = check_options(o, err);

    if (st == DSE_OK && o->space)
        st = drv_space_file_read(o->space, a, &file, err);
    *out = (request){file.model, file.system, file.n_models, file.n_systems, {0}, file.space};
    if (st != DSE_OK ||
        (st = choose_cards("--model", o->model, "models", o, a, &out->model, &out->n_models, err)) !=
            DSE_OK ||
        (st = choose_cards("--system", o->system, "systems", o, a, &out->system, &out->n_systems, err)) !=
            DSE_OK ||
        (st = join_settings(&file.settings, &o->set, a, &out->settings, err)) != DSE_OK)
        return st;
    if (o->points && !out->n_models != !out->n_systems)
        return dse_fail(err, DSE_E_USAGE, "--points needs both --model and --system, or neither");
    out->space.every_value = !o->space;
    return o->space ? DSE_OK : parse_axes(o, &out->space.strategy, err);
}

static dse_status list_points(const sweep_options *o, request *q, dse_arena *a, drv_points *out,
                              dse_error *err)
{
    const drv_points_context context = {q->model, q->system, q->n_models, q->n_systems, &q->settings};
    uint64_t n;
    dse_status st;

    if (o->points)
        return drv_points_file_read(o->points, &context, a, &q->space, out, err);
    if ((st = drv_space_load(q->model, q->n_models, q->system, q->n_systems, &q->settings, a, &q->space,
                             err)) != DSE_OK ||
        (st = drv_space_count(&q->space, &n, err)) != DSE_OK)
        return st;
    if (n > MANY_POINTS && !o->force)
        return dse_fail(err, DSE_E_RANGE, "the space has %s%" PRIu64 " points; --force goes on all the same",
                        n == UINT64_MAX ? "more than " : "", n);
    st = drv_space_points(&q->space, a, out, err);
    return st == DSE_OK && o->sample ? drv_points_sample(out, (uint32_t)o->sample, o->seed, a, err) : st;
}

/* ---- the command --------------------------------------------------------------------------- */

static void announce(void *user, const drv_progress *p)
{
    screen *s = user;

    fprintf(stderr, "%" PRIu64 " points, %" PRIu64 " to simulate\n", p->total, p->total - p->cached);
    s->drawn = false;
}

static void print_points(const sweep_options *o, const drv_points *points, dse_strbuf *out)
{
    if (!o->json)
        dse_strbuf_addf(out, "# %zu points\n", points->n);
    else
        dse_strbuf_addf(out, "{\"points\":%zu}\n", points->n);
    for (size_t i = 0; !o->json && i < points->n; i++) {
        drv_point_write_line(points, i, out);
        dse_strbuf_addc(out, '\n');
    }
}

static void warn_of_unknown_keys(const drv_space *s)
{
    for (uint32_t i = 0; i < s->n_studies; i++)
        if (!i || strcmp(s->model[i], s->model[0]) == 0) /* each system once */
            report_unknown_keys(s->system[i], s->study[i].system.n_unknown_keys,
                                s->study[i].system.unknown_key);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const sweep_options *o = opts;
    const char *term = getenv("TERM");
    screen s = {.terminal = isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb")), .next_seconds = 5};
    char self[4096];
    drv_progress p = {0};
    drv_points points;
    request q;
    drv_sweep sweep = {.points = &points,
                       .database = o->db,
                       .jobs = o->jobs ? (uint32_t)o->jobs : exec_cores(),
                       .worker = self,
                       .begin = announce,
                       .progress = show,
                       .user = &s};
    dse_status st;

    if ((st = read_request(o, r->arena, &q, err)) != DSE_OK ||
        (st = list_points(o, &q, r->arena, &points, err)) != DSE_OK)
        return st;
    warn_of_unknown_keys(&q.space);
    if (o->dry_run) {
        print_points(o, &points, r->out);
        return DSE_OK;
    }
    if ((st = exec_self(self, sizeof self, err)) != DSE_OK)
        return st;
    st = drv_sweep_run(&sweep, r->arena, &p, err);
    clear(&s);
    if (st == DSE_E_INTERRUPT) {
        *err = (dse_error)DSE_ERROR_INIT;
        return dse_fail(err, st,
                        "interrupted; %" PRIu64 " of %" PRIu64
                        " points are in %s, and the same command finishes the rest",
                        p.cached + p.done, p.total, o->db);
    }
    if (st != DSE_OK)
        return st;
    if (o->json)
        print_summary_json(&p, r->out);
    else
        print_summary(o, &p, r->out);
    if (p.failed)
        r->code = EXIT_NO;
    return DSE_OK;
}

extern const command command_sweep;
const command command_sweep = {
    .name = "sweep",
    .summary = "simulate every strategy of a model on a system and store the results",
    .details = "Enumerates the strategies (dp * tp * sp * pp = NPUs of the system), simulates each in a pool "
               "of worker "
               "processes, and stores every result in the database as it arrives. What is there is not "
               "simulated again; "
               "after Ctrl-C the same command finishes the rest. Points that failed are tried again. Exit "
               "code 1 if some points failed.",
    .example = "ccldse sweep --model llama70b --system system1.yaml",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .size = sizeof(sweep_options),
    .run = run,
};
