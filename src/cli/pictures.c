#include "cli/pictures.h"

#include "cli/ranked.h"
#include "draw/chart.h"
#include "draw/schedule.h"
#include "driver/links.h"
#include "driver/plan.h"
#include "driver/unrolled.h"
#include "report/rows.h"
#include "report/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 7  /* lines of a picture of memory */
#define MOST_LINKS 20 /* bars */

#define FIELD(f) .offset = offsetof(pictures_options, f)

static const option options[] = {
    OPTION_GROUP(results_group, which),
    {"--hbm", OPT_SIZE, "SIZE", "",
     "memory of an NPU, over that of the system card: 80GB (10^9), 80GiB (2^30)", FIELD(hbm_bytes)},
    {"--by", OPT_STRING, "METRIC", "wall_time", "what to rank by, as of 'ccldse best'",
     .complete = COMPLETE_METRIC, FIELD(by)},
    {"--point", OPT_STRING, "POINT", "",
     "whose step to draw: sensitivity, memory, timeline, links (default: the best that fits); by the name "
     "that 'ccldse show' takes",
     FIELD(point)},
    {"--compare", OPT_STRING, "FILE", "", "measured runs to draw, as 'ccldse compare --json' writes them",
     FIELD(compared)},
    {"--db", OPT_STRING, "FILE", "results/ccldse.db", "the results database", FIELD(db)},
};

OPTION_ROWS(pictures_group)

const picture_def picture_defs[PICTURE_KINDS] = {
    [PICTURE_TRADEOFF] = {"tradeoff", "Step time against memory", true},
    [PICTURE_HEATMAP] = {"heatmap", "Heat map", true},
    [PICTURE_PARTS] = {"parts", "Where the step goes", true},
    [PICTURE_SENSITIVITY] = {"sensitivity", "What another system would change", false},
    [PICTURE_MEMORY] = {"memory", "Memory over time", false},
    [PICTURE_TIMELINE] = {"timeline", "Timeline of the pipeline", false},
    [PICTURE_LINKS] = {"links", "Load of the links", false},
    [PICTURE_COMPARED] = {"compared", "Simulated against measured", false},
};

const char *const picture_names[PICTURE_KINDS + 1] = {
    "tradeoff", "heatmap", "parts", "sensitivity", "memory", "timeline", "links", "compared", NULL};

/* ---- what is drawn ---------------------------------------------------------------------------- */

/* The figures of one row, and of which study. */
typedef struct {
    bool is_there;
    size_t study;
    double value; /* smaller is better */
    store_row figures;
} found_row;

/* All that is found in the first look at the figures, a row after another. */
typedef struct {
    const pictures_options *o;
    const pictures_needs *needs;
    results_reader in;
    dse_arena *a, scratch;
    pictures *p;
    size_t n_studies; /* so far */
    bool *has_congestion;
    size_t cap_congestion;
    found_row chosen;
    strategy first; /* of the done rows */
    uint64_t n_done;
    report_shown shown;
} finding;

static dse_status begin_study(void *user, report_study *s, dse_error *err)
{
    finding *f = user;
    drv_machine machine;
    dse_status st;

    dse_arena_reset(&f->scratch);
    if ((st = drv_study_machine(s->row->config, &f->scratch, &machine, err)) != DSE_OK)
        return st;
    s->laws = machine.laws ? dse_arena_strdup(f->a, machine.laws) : NULL;
    s->hbm_bytes = isnan(f->o->hbm_bytes) ? machine.hbm_bytes : f->o->hbm_bytes;
    DSE_GROW(f->has_congestion, f->cap_congestion, f->n_studies + 1);
    f->has_congestion[f->n_studies++] = machine.has_congestion;
    return DSE_OK;
}

/* The best of all, or the first of the name; texts of figures do not last, but are not looked at. */
static void look_at(finding *f, const report_study *s, const store_row *r, unsigned is)
{
    const double value = report_rank_value(s, r);

    if (f->o->point ? f->chosen.is_there || strcmp(report_point_name(r).text, f->o->point) != 0
                    : !(is & REPORT_RANKED) || (f->chosen.is_there && !(value < f->chosen.value)))
        return;
    f->chosen = (found_row){true, f->n_studies - 1, value, *r};
}

static dse_status count_failure(finding *f, const store_row *r, dse_error *err)
{
    store_row failed;
    dse_status st;

    dse_arena_reset(&f->scratch);
    if ((st = store_read(f->in.store, r, false, &f->scratch, &failed, err)) == DSE_OK)
        report_reasons_add(&f->p->failed, failed.error, f->a);
    return st;
}

static dse_status find_in_row(void *user, const report_study *s, const store_row *r, unsigned is,
                              dse_error *err)
{
    finding *f = user;

    if (f->needs->points)
        report_shown_add(&f->shown, s, f->n_studies - 1, r, is);
    if (!r->done)
        return f->needs->failures ? count_failure(f, r, err) : DSE_OK;
    if (!f->n_done++)
        f->first = r->strategy;
    if (memcmp(&r->strategy, &f->first, sizeof f->first) != 0)
        for (uint32_t k = 0; k < STRATEGY_N; k++)
            if (strategy_get(&r->strategy, k) != strategy_get(&f->first, k))
                f->p->points.varied |= (uint64_t)1 << k;
    look_at(f, s, r, is);
    if (f->needs->dots)
        report_dots_add(&f->p->dots, &r->metrics, (uint32_t)(f->n_studies - 1));
    return DSE_OK;
}

/* The second look: whole rows of what is shown, and the heat map, whose parameters vary among all points. */
typedef struct {
    finding *f;
    size_t study; /* of the row */
    uint64_t place;
    size_t at; /* of the places that are shown */
    const store_row **row;
    uint32_t *of;
} reading;

static dse_status read_shown(void *user, const store_row *r, dse_error *err)
{
    reading *k = user;
    pictures *p = k->f->p;
    const report_study *s;

    while (!ranked_is_of(r, &p->study[k->study]))
        k->study++;
    s = &p->study[k->study];
    if (k->f->needs->heat && r->done)
        report_heat_add(&p->heat, r,
                        !isnan(report_rank_value(s, r)) && store_fits(r->metrics.peak_memory, s->hbm_bytes));
    if (!report_shown_has(&k->f->shown, k->place++, &k->at))
        return DSE_OK;
    k->of[p->points.n] = (uint32_t)k->study;
    return ranked_read(&k->f->in, s, r, false, k->f->a, &k->row[p->points.n++], err);
}

static dse_status look_again(finding *f, dse_error *err)
{
    reading k = {.f = f};
    pictures *p = f->p;
    dse_status st = DSE_OK;

    report_shown_end(&f->shown);
    k.row = DSE_ARENA_RAW(f->a, const store_row *, f->shown.n + 1);
    k.of = DSE_ARENA_RAW(f->a, uint32_t, f->shown.n + 1);
    p->points.row = k.row;
    p->points.of = k.of;
    if (f->needs->heat)
        st = report_heat_begin(&p->heat, p->points.varied, p->by, f->needs->x, f->needs->y, err);
    return st == DSE_OK && (f->needs->heat || f->shown.n)
               ? results_each_figures(&f->in, p->by, read_shown, &k, err)
               : st;
}

static dse_status read_chosen(finding *f, dse_error *err)
{
    if (f->chosen.is_there)
        return ranked_read(&f->in, &f->p->study[f->chosen.study], &f->chosen.figures, true, f->a,
                           &f->p->chosen, err);
    return !f->o->point ? DSE_OK
                        : dse_fail(err, DSE_E_CONFIG,
                                   "no result of point '%.100s' among the %" PRIu64
                                   " in '%.150s'; 'ccldse best --top 0' lists them",
                                   f->o->point, f->n_done, f->o->db);
}

static dse_status find_all(finding *f, dse_error *err)
{
    const ranked_how how = {.by = f->p->by, .top = 1, .user = f, .begin = begin_study, .row = find_in_row};
    pictures *p = f->p;
    uint64_t varied;
    dse_status st;

    if ((st = results_open(f->o->db, &f->o->which, &f->in, err)) != DSE_OK ||
        (st = ranked_studies(&f->in, &how, f->a, &p->study, &p->n, err)) != DSE_OK)
        return st;
    if (!p->n)
        return results_none(f->o->db, &f->o->which, err);
    varied = p->points.varied;
    p->points = report_points_of(p->study, p->n, f->a);
    p->points.n_done = f->n_done;
    p->points.varied = varied;
    p->has_congestion = dse_arena_copy(f->a, f->has_congestion, p->n, sizeof *f->has_congestion);
    st = read_chosen(f, err);
    return st == DSE_OK ? look_again(f, err) : st;
}

dse_status pictures_load(const pictures_options *o, const pictures_needs *needs, dse_arena *a, pictures *out,
                         dse_error *err)
{
    finding f = {.o = o,
                 .needs = needs,
                 .a = a,
                 .p = out,
                 .shown = {.most = needs->points, .steps_alone = needs->steps_alone}};
    dse_status st;

    *out = (pictures){0};
    dse_arena_init(&f.scratch);
    if ((st = results_column(o->by, true, &out->by, err)) == DSE_OK) {
        st = find_all(&f, err);
        results_close(&f.in);
    }
    dse_arena_free(&f.scratch);
    report_shown_free(&f.shown);
    dse_free(f.has_congestion);
    return st;
}

void pictures_free(pictures *p)
{
    report_dots_free(&p->dots);
    report_heat_free(&p->heat);
}

/* ---- the step of one point -------------------------------------------------------------------- */

typedef struct {
    drv_study study;
    strategy point;
    const char *name; /* for titles */
} chosen_point;

static dse_status read_point(const store_row *r, dse_arena *a, chosen_point *out, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(a);
    dse_status st;

    if (!r)
        return dse_fail(err, DSE_E_CONFIG, "no point fits in memory, so that there is none to draw");
    if (!store_is_native(r->engine))
        return dse_fail(err, DSE_E_CONFIG,
                        "the best point is of engine %s, which this program cannot run again", r->engine);
    if ((st = drv_study_read_config(r->config, strlen(r->config), a, &out->study, &out->point, err)) !=
        DSE_OK)
        return st;
    dse_strbuf_addf(&text, "%s on %s%s%s: ", r->model, r->system, *r->settings ? ", " : "", r->settings);
    strategy_say(&r->strategy, store_row_profile(r), " ", &text);
    out->name = text.data;
    return DSE_OK;
}

static dse_status run_step(const pictures *p, dse_arena *a, chosen_point *c, step_result *step,
                           dse_error *err)
{
    dse_status st = read_point(p->chosen, a, c, err);

    if (st == DSE_OK && !c->study.training)
        return dse_fail(err, DSE_E_CONFIG, "it needs a point of profile train, and %s has profile stage",
                        p->chosen->model);
    return st == DSE_OK ? drv_training_on(&c->study, &c->point, STEP_UNITS, a, step, err) : st;
}

static dse_status draw_sensitivity(const pictures *p, dse_arena *a, dse_strbuf *out, const char **note,
                                   dse_error *err)
{
    static const char *const part[] = {"step time", "longer than on this system"};
    static const uint32_t colour[] = {0, 4};
    step_result *step = DSE_ARENA_NEW(a, step_result, 1);
    report_plan_change *change;
    const char **name;
    double *value;
    chosen_point c;
    size_t n;
    dse_status st = run_step(p, a, &c, step, err);

    if (st != DSE_OK || (st = drv_plan_sensitivities(&c.study, &c.point, a, &change, &n, err)) != DSE_OK)
        return st;
    name = DSE_ARENA_NEW(a, const char *, n + 1);
    value = DSE_ARENA_NEW(a, double, 2 * (n + 1));
    name[0] = "this system";
    value[0] = (double)step->step * 1e-9;
    for (size_t i = 0; i < n; i++) {
        const double then = change[i].wall_time == STORE_ABSENT ? NAN : (double)change[i].wall_time * 1e-9;

        name[i + 1] = dse_arena_printf(a, "%s: %s", change[i].what, change[i].to);
        value[2 * (i + 1)] = then > value[0] ? value[0] : then;
        value[2 * (i + 1) + 1] = then > value[0] ? then - value[0] : 0;
    }
    draw_bars_svg(&(draw_bars){.title = picture_defs[PICTURE_SENSITIVITY].title,
                               .subtitle = c.name,
                               .label = "step time (s)",
                               .n_bars = n + 1,
                               .n_parts = 2,
                               .bar = name,
                               .part = part,
                               .colour = colour,
                               .value = value},
                  out);
    *note =
        "Half and twice of each figure, the strategy being the same. 'ccldse plan' says which one would be "
        "best then.";
    return DSE_OK;
}

static dse_status draw_timeline(const pictures *p, const picture_details *d, dse_arena *a, dse_strbuf *out,
                                const char **note, dse_error *err)
{
    chosen_point c;
    step_result *step = DSE_ARENA_NEW(a, step_result, 1);
    uint64_t until;
    dse_status st = run_step(p, a, &c, step, err);

    if (st != DSE_OK)
        return st;
    draw_step_svg(&step->plan, &step->times, c.name, d->actions, out, &until);
    if (until < step->times.makespan)
        *note = dse_arena_printf(
            a,
            "The first %s of the %s that the passes take; a number is a micro-batch. 'ccldse simulate "
            "--timeline' writes all of it for Perfetto.",
            report_time(until).text, report_time(step->times.makespan).text);
    else
        *note = dse_arena_printf(
            a,
            "The passes of one pipeline; a number is a micro-batch. The step of %s ends %s after them, with "
            "the optimizer.",
            report_time(step->step).text, report_time(step->step - step->times.makespan).text);
    return DSE_OK;
}

/* A rank holds `during` from the start of an action, and `after` from its end. In gigabytes; `unit` is a
 * tick in that of time. */
static draw_series memory_of(const chosen_point *c, const step_result *step, uint32_t rank, double unit,
                             dse_arena *a)
{
    const uint32_t first = step->plan.first[rank];
    const size_t n = step->plan.first[rank + 1] - first;
    uint64_t *during = DSE_ARENA_NEW(a, uint64_t, n + 1), *after = DSE_ARENA_NEW(a, uint64_t, n + 1);
    double *x = DSE_ARENA_NEW(a, double, 2 * n + 1), *y = DSE_ARENA_NEW(a, double, 2 * n + 1);
    draw_series s = {.name = dse_arena_printf(a, "pipeline rank %" PRIu32, rank),
                     .mark = DRAW_STEPS,
                     .n = 2 * n,
                     .x = x,
                     .y = y};

    drv_training_memory(&c->study, &c->point, step, rank, a, during, after);
    for (size_t i = 0; i < n; i++) {
        x[2 * i] = (double)step->times.start[first + i] * unit;
        y[2 * i] = (double)during[i] * 1e-9;
        x[2 * i + 1] = (double)step->times.end[first + i] * unit;
        y[2 * i + 1] = (double)after[i] * 1e-9;
    }
    return s;
}

static dse_status draw_memory(const pictures_options *o, const pictures *p, dse_arena *a, dse_strbuf *out,
                              const char **note, dse_error *err)
{
    step_result *step = DSE_ARENA_NEW(a, step_result, 1);
    draw_series series[MOST_RANKS];
    chosen_point c;
    uint32_t n;
    double limit;
    bool is_long;
    dse_status st = run_step(p, a, &c, step, err);

    if (st != DSE_OK)
        return st;
    is_long = step->step > 10000 * (dse_time)1000000;
    n = step->plan.n_ranks < MOST_RANKS ? step->plan.n_ranks : MOST_RANKS;
    for (uint32_t i = 0; i < n; i++) /* the first, the last, and what lies between them evenly */
        series[i] =
            memory_of(&c, step, n > 1 ? i * (step->plan.n_ranks - 1) / (n - 1) : 0, is_long ? 1e-9 : 1e-6, a);
    limit = isnan(o->hbm_bytes) ? c.study.system.hbm_bytes : o->hbm_bytes;
    draw_xy_svg(&(draw_xy){.title = picture_defs[PICTURE_MEMORY].title,
                           .subtitle = c.name,
                           .x_label = is_long ? "time since the start of the step (s)"
                                              : "time since the start of the step (ms)",
                           .y_label = "memory of an NPU (GB)",
                           .n_series = n,
                           .series = series,
                           .limit = limit * 1e-9,
                           .limit_label = isnan(limit) ? ""
                                                       : dse_arena_printf(a, "memory of an NPU, %s",
                                                                          report_size(limit).text)},
                out);
    *note = dse_arena_printf(a,
                             "What a rank holds while each of its passes runs, and between them%s. The most "
                             "is %s, on pipeline rank %" PRIu32 ".",
                             n < step->plan.n_ranks ? "; not all ranks are drawn" : "",
                             report_bytes(step->memory[step->largest].peak).text, step->largest);
    return DSE_OK;
}

/* ---- links ------------------------------------------------------------------------------------ */

/* A study by the best of its points. */
typedef struct {
    double value; /* smaller is better */
    size_t study;
} best_point;

static int by_best(const void *x, const void *y)
{
    const best_point *a = x, *b = y;

    if (a->value < b->value || a->value > b->value)
        return a->value < b->value ? -1 : 1;
    return (a->study > b->study) - (a->study < b->study);
}

/* The chosen point; if its network has no congestion and nobody asked for this point, the best one of
 * those that have. */
static dse_status read_congested(const pictures_options *o, const pictures *p, dse_arena *a,
                                 chosen_point *out, dse_error *err)
{
    best_point *best = DSE_ARENA_NEW(a, best_point, p->n);
    size_t n = 0;
    bool found;
    dse_status st = read_point(p->chosen, a, out, err);

    if (st != DSE_OK)
        return st;
    found = drv_links_check(&out->study.system, "", NULL) == DSE_OK;
    for (size_t i = 0; !found && !o->point && i < p->n; i++)
        if (p->study[i].n_ranked)
            best[n++] = (best_point){report_rank_value(&p->study[i], p->study[i].ranked[0]), i};
    qsort(best, n, sizeof *best, by_best);
    for (size_t i = 0; st == DSE_OK && !found && i < n; i++) {
        const report_study *s = &p->study[best[i].study];
        store_row row = *s->ranked[0];

        found = p->has_congestion[best[i].study];
        row.config = s->row->config; /* of another point of the study */
        if (found || !store_is_native(row.engine))
            st = read_point(&row, a, out, err);
        out->point = row.strategy;
    }
    if (st == DSE_OK && !found)
        return dse_fail(
            err, DSE_E_CONFIG,
            "only links with congestion have a load; sweep with --set network.backend=congestion_aware");
    return st;
}

static dse_status simulate_links(chosen_point *c, dse_arena *a, const net_load **out, const char **whose,
                                 dse_error *err)
{
    sim_result *result = DSE_ARENA_NEW(a, sim_result, 1);
    step_result *step = DSE_ARENA_NEW(a, step_result, 1);
    drv_unrolled *u = DSE_ARENA_NEW(a, drv_unrolled, 1);
    wl_workload w;
    dse_status st;

    if (c->study.training) {
        *whose = "of the step written out as a workload, in which all communication of a rank is one unit";
        st = drv_training_on(&c->study, &c->point, STEP_UNITS, a, step, err);
        if (st == DSE_OK && (st = drv_unrolled_make(&c->study, &c->point, step, a, u, err)) == DSE_OK &&
            (st = drv_unrolled_simulate(&c->study, &c->point, a, u, NULL, err)) == DSE_OK)
            *out = u->result.load;
        return st;
    }
    *whose = "of the step";
    if ((st = drv_point_generate(&c->study, &c->point, a, &w, err)) == DSE_OK &&
        (st = drv_point_simulate(&c->study, &w, a, result, NULL, err)) == DSE_OK)
        *out = result->load;
    return st;
}

static dse_status draw_links(const pictures_options *o, const pictures *p, dse_arena *a, dse_strbuf *out,
                             const char **note, dse_error *err)
{
    const char *name[MOST_LINKS], *whose, *part = "busy";
    double value[MOST_LINKS];
    const net_load *load = NULL;
    const uint32_t *slots;
    chosen_point c;
    uint32_t n;
    dse_status st = read_congested(o, p, a, &c, err);

    if (st != DSE_OK || (st = simulate_links(&c, a, &load, &whose, err)) != DSE_OK)
        return st;
    slots = net_load_sort(load, a);
    n = load->n_used < MOST_LINKS ? load->n_used : MOST_LINKS;
    if (!n)
        return dse_fail(err, DSE_E_CONFIG, "no link was used: the best point sends nothing");
    for (uint32_t i = 0; i < n; i++) {
        char link[NET_LINK_NAME];

        net_link_name(load->graph, slots[i], link, sizeof link);
        name[i] = dse_arena_strdup(a, link);
        value[i] = 100 * net_load_util(load, slots[i]);
    }
    draw_bars_svg(&(draw_bars){.title = picture_defs[PICTURE_LINKS].title,
                               .subtitle = c.name,
                               .label = "share of the step that a link is busy (%)",
                               .n_bars = n,
                               .n_parts = 1,
                               .bar = name,
                               .part = &part,
                               .value = value},
                  out);
    *note = dse_arena_printf(a,
                             "The %" PRIu32 " busiest of %" PRIu32
                             " links, each of one direction, %s; %" PRIu32 " are used at all.",
                             n, load->graph->n_links, whose, load->n_used);
    return DSE_OK;
}

/* ---- measured --------------------------------------------------------------------------------- */

static dse_status draw_compared(const pictures_options *o, dse_arena *a, dse_strbuf *out, const char **note,
                                dse_error *err)
{
    cfg_doc doc;
    dse_status st;

    if (!o->compared)
        return dse_fail(
            err, DSE_E_CONFIG,
            "measured runs are not in a results database; give --compare a file of 'ccldse compare --json'");
    st = cfg_load(o->compared, a, &doc, err);
    *note = "On the dotted line both are equal. A bar is the error band of a simulated step time: where it "
            "meets the line, it holds the measured one.";
    return st == DSE_OK ? report_chart_compared(&doc, a, out, err) : st;
}

dse_status picture_draw(picture_kind kind, const pictures_options *o, pictures *p, const picture_details *d,
                        dse_arena *a, dse_strbuf *out, const char **note, dse_error *err)
{
    *note = NULL;
    switch (kind) {
    case PICTURE_TRADEOFF: return report_chart_tradeoff(&p->points, &p->dots, a, out, err);
    case PICTURE_HEATMAP:
        report_heat_svg(&p->heat, p->points.profiles & STRATEGY_PROFILE_TRAIN, a, out);
        return DSE_OK;
    case PICTURE_PARTS: return report_chart_parts(&p->points, p->by, d->top, a, out, err);
    case PICTURE_SENSITIVITY: return draw_sensitivity(p, a, out, note, err);
    case PICTURE_MEMORY: return draw_memory(o, p, a, out, note, err);
    case PICTURE_TIMELINE: return draw_timeline(p, d, a, out, note, err);
    case PICTURE_LINKS: return draw_links(o, p, a, out, note, err);
    default: return draw_compared(o, a, out, note, err);
    }
}
