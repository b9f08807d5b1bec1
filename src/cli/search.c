#include "cli/search.h"

#include "cli/exit.h"
#include "cli/progress.h"
#include "report/certificate.h"
#include "report/rows.h"
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define FIELD(f) .offset = offsetof(search_options, f)

static const option options[] = {
    {"--search", OPT_FLAG, NULL, "false",
     "find the --top best that fit without enumerating the space: of any size, of either profile", FIELD(on)},
    {"--gap", OPT_PERCENT, "PERCENT", "0",
     "with --search: end where no point can take less than the best by more than this part of it: 2%",
     FIELD(gap)},
    {"--time-limit", OPT_DOUBLE, "SECONDS", "0",
     "with --search: end after so long, with what is known by then; 0: none", .min = 0, .max = 1e8,
     FIELD(seconds)},
};

OPTION_ROWS(search_group)

dse_status search_check(const search_options *o, dse_error *err)
{
    if (!o->on && (o->gap > 0 || o->seconds > 0))
        return dse_fail(err, DSE_E_USAGE, "%s needs --search", o->gap > 0 ? "--gap" : "--time-limit");
    return DSE_OK;
}

/* ---- words --------------------------------------------------------------------------------- */

static report_name point_text(const drv_found *f)
{
    return report_strategy_text(&f->strategy, f->tokens ? STRATEGY_PROFILE_TRAIN : STRATEGY_PROFILE_STAGE);
}

static void say_certificate(const drv_search *search, uint32_t study, const drv_searched *s, dse_strbuf *out)
{
    const store_searched note = drv_search_note(search, study, s);

    report_certificate(&note, out);
}

typedef struct {
    progress_screen screen;
    const drv_search *search;
} shown;

static void show_progress(void *user, uint32_t study, const drv_searched *s, const drv_search_result *all)
{
    shown *what = user;
    progress_screen *screen = &what->screen;
    dse_strbuf line;

    if (all->seconds < screen->next_seconds || all->seconds < 1)
        return;
    dse_strbuf_init(&line);
    dse_strbuf_addf(&line, "%" PRIu64 " box%s split, %" PRIu64 " points simulated; ", s->n_boxes,
                    s->n_boxes == 1 ? "" : "es", all->done + all->failed);
    if (s->n)
        dse_strbuf_addf(&line, "best %s; ", report_time(s->best[0].wall_time).text);
    say_certificate(what->search, study, s, &line);
    fprintf(stderr, "%s%s%s", screen->terminal ? "\r\033[2K" : "", line.data, screen->terminal ? "" : "\n");
    fflush(stderr);
    dse_strbuf_free(&line);
    screen->drawn = screen->terminal;
    screen->next_seconds = all->seconds + (screen->terminal ? 0.1 : 10);
}

/* ---- what is printed ----------------------------------------------------------------------- */

static void print_study(const drv_search *search, uint32_t i, const drv_searched *s, dse_arena *a,
                        dse_strbuf *out)
{
    const drv_study *study = &search->space->study[i];
    dse_strbuf settings = dse_strbuf_in(a);

    dse_strbuf_addf(out, "%s on %s: %s%.6g points before constraints; %" PRIu64 " box%s split\n",
                    study->model_name, study->system_name, s->has_all ? "" : "at least ", s->n_points,
                    s->n_boxes, s->n_boxes == 1 ? "" : "es");
    if (s->refusal)
        dse_strbuf_addf(out, "a refusal: %s\n", s->refusal);
    if (s->n) {
        drv_settings_print(study->settings, &s->best[0].settings, &settings);
        dse_strbuf_addf(out, "fastest: %s%s%s%s", settings.len ? "with " : "",
                        settings.len ? settings.data : "", settings.len ? ", " : "",
                        point_text(s->best).text);
        dse_strbuf_addf(out, ": %s", report_time(s->best[0].wall_time).text);
        if (s->best[0].tokens)
            dse_strbuf_addf(out, ", %.0f tokens/s", 1e9 / s->best[0].cost);
        dse_strbuf_addc(out, '\n');
    }
    dse_strbuf_adds(out, "certificate: ");
    say_certificate(search, i, s, out);
    dse_strbuf_addc(out, '\n');
}

static void print_text(const drv_search *search, const drv_search_result *found, dse_arena *a,
                       dse_strbuf *out)
{
    for (uint32_t i = 0; i < search->space->n_studies; i++)
        print_study(search, i, &found->study[i], a, out);
    dse_strbuf_addf(out,
                    "%" PRIu64 " point%s simulated in %.1f s (%.1f s of CPU), %" PRIu64
                    " in %s already, %" PRIu64 " failed\n",
                    found->done + found->failed, found->done + found->failed == 1 ? "" : "s", found->seconds,
                    found->cpu_seconds, found->cached, search->sweep.database, found->failed);
    if (found->first_failure)
        dse_strbuf_addf(out, "a failure: %s\n", found->first_failure);
}

static void print_json(const drv_space *space, const drv_search_result *found, dse_arena *a, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t), *studies;

    report_put(root, V_COUNT("done", found->done), V_COUNT("failed", found->failed),
               V_COUNT("cached", found->cached));
    studies = report_list(root, "studies");
    for (uint32_t i = 0; i < space->n_studies; i++) {
        const drv_searched *s = &found->study[i];
        const double gap = drv_search_gap(s);
        report_node *study =
            report_row(studies, V_TEXT("model", space->study[i].model_name),
                       V_TEXT("system", space->study[i].system_name), V_REAL("points", s->n_points),
                       V_BOOL("all_points", s->has_all), V_COUNT("boxes", s->n_boxes),
                       V_COUNT("bounds", s->n_bounds), V_COUNT("refused", s->n_refused),
                       V_GIVEN(s->refusal, V_TEXT("refusal", s->refusal)), V_BOOL("finished", s->is_finished),
                       V_REAL("least_open_bound", s->least), V_REAL("gap_percent", 100 * gap));
        report_node *best = report_list(study, "best");

        for (uint32_t k = 0; k < s->n; k++) {
            const drv_found *f = &s->best[k];
            dse_strbuf settings = dse_strbuf_in(a);

            drv_settings_print(space->study[i].settings, &f->settings, &settings);
            report_row(best, V_GIVEN(settings.len, V_TEXT("settings", settings.data)),
                       V_TEXT("point", report_strategy_name(&f->strategy).text),
                       V_COUNT("wall_time", f->wall_time),
                       V_KNOWN(f->peak_memory != STORE_ABSENT, "peak_memory",
                               V_COUNT("peak_memory", f->peak_memory)),
                       V_REAL("cost", f->cost));
        }
    }
    report_tree_end(&t, out);
}

/* Ctrl-C: the certificate of what is known, in the error. */
static dse_status fail_interrupted(const drv_search *search, const drv_search_result *found, dse_error *err)
{
    const drv_space *space = search->space;
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    for (uint32_t i = 0; i < space->n_studies; i++) {
        const drv_searched *s = &found->study[i];

        dse_strbuf_addf(&text, "; %s on %s: ", space->study[i].model_name, space->study[i].system_name);
        if (s->n)
            dse_strbuf_addf(&text, "best %s, ", report_time(s->best[0].wall_time).text);
        say_certificate(search, i, s, &text);
    }
    *err = (dse_error)DSE_ERROR_INIT;
    st = dse_fail(err, DSE_E_INTERRUPT, "interrupted, results kept%.900s", text.data);
    dse_strbuf_free(&text);
    return st;
}

dse_status search_run(const search_options *o, const drv_search *what, bool json, command_run *r,
                      dse_error *err)
{
    drv_search search = *what;
    drv_search_result found;
    shown progress = {.search = &search};
    dse_status st;

    search.gap = o->gap;
    search.seconds = o->seconds;
    search.progress = show_progress;
    search.user = &progress;
    progress_init(&progress.screen, "boxes");
    st = drv_search_run(&search, r->arena, &found, err);
    progress_clear(&progress.screen);
    if (st == DSE_E_INTERRUPT)
        return fail_interrupted(what, &found, err);
    if (st != DSE_OK)
        return st;
    if (json)
        print_json(what->space, &found, r->arena, r->out);
    else
        print_text(what, &found, r->arena, r->out);
    for (uint32_t i = 0; i < what->space->n_studies; i++)
        if (!found.study[i].n)
            r->code = EXIT_NO;
    if (found.failed)
        r->code = EXIT_NO;
    return DSE_OK;
}
