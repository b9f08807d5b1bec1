/* The results of a database as one HTML page for colleagues. */
#include "base/textset.h"
#include "cli/command.h"
#include "cli/pictures.h"
#include "driver/bands.h"

#include <string.h>

typedef struct {
    pictures_options what;
    const char *title, *output;
} page_options;

#define FIELD(f) .offset = offsetof(page_options, f)

static const option options[] = {
    OPTION_GROUP(pictures_group, what),
    {"--title", OPT_STRING, "TEXT", "", "title of the page (default: the models and systems)", FIELD(title)},
    {"--output", OPT_STRING, "FILE", "", "write to a file instead of standard output; -o for short",
     FIELD(output)},
};

/* Actions that a browser still draws at once. */
#define MOST_ACTIONS 4000
#define BARS         15

/* "llama70b, gpt175b on system1": names in their order, each once. */
static void add_names(const pictures *p, bool systems, dse_strbuf *out)
{
    dse_textset names = {0};

    for (size_t i = 0; i < p->n; i++) {
        const char *name = systems ? p->study[i].row[0].system : p->study[i].row[0].model;

        if (dse_textset_takes(&names, name))
            dse_strbuf_addf(out, "%s%s", i ? ", " : "", name);
    }
    dse_textset_free(&names);
}

static const char *title_of(const pictures *p, dse_arena *a)
{
    dse_strbuf text = dse_strbuf_in(a);

    dse_strbuf_adds(&text, "Training ");
    add_names(p, false, &text);
    dse_strbuf_adds(&text, " on ");
    add_names(p, true, &text);
    return text.data;
}

/* What cannot be drawn says why, in the place of the picture. */
static report_picture picture_of(picture_kind kind, const pictures_options *o, pictures *p, dse_arena *a)
{
    const picture_details details = {.top = BARS, .actions = MOST_ACTIONS};
    report_picture out = {.id = dse_arena_printf(a, "picture-%s", picture_names[kind]),
                          .title = picture_defs[kind].title};
    dse_strbuf svg = dse_strbuf_in(a);
    dse_error err = DSE_ERROR_INIT;

    if (picture_draw(kind, o, p, &details, a, &svg, &out.note, &err) == DSE_OK)
        out.svg = svg.data;
    else
        out.note = dse_arena_printf(a, "%s", err.text);
    return out;
}

/* The error bands of the best of each study, as text; NULL: not known. */
static dse_status find_bands(const pictures *p, dse_arena *a, const char ***out, dse_error *err)
{
    drv_best_band *band;
    dse_status st = drv_bands_of_best(p->study, p->n, a, &band, err);

    *out = DSE_ARENA_NEW(a, const char *, p->n + 1);
    for (size_t i = 0; st == DSE_OK && i < p->n; i++)
        if (band[i].band.level != CMP_BAND_NONE) {
            const double step = (double)p->study[i].ranked[0]->metrics.wall_time * 1e-9;

            (*out)[i] = dse_arena_printf(a, "%s .. %s", report_seconds(band[i].band.low * step).text,
                                         report_seconds(band[i].band.high * step).text);
        }
    return st;
}

static dse_status write_page(const page_options *o, pictures *p, command_run *r, dse_error *err)
{
    const pictures_needs needs = {
        .points = REPORT_SWEEP_POINTS, .dots = !report_sweep_has_charts(), .failures = true};
    report_picture picture[PICTURE_KINDS];
    size_t n_pictures = 0;
    const char **band;
    dse_status st = pictures_load(&o->what, &needs, r->arena, p, err);

    if (st != DSE_OK || (st = find_bands(p, r->arena, &band, err)) != DSE_OK)
        return st;
    for (int k = 0; k < PICTURE_KINDS; k++) {
        if (picture_defs[k].follows && (report_sweep_has_charts() || k == PICTURE_HEATMAP))
            continue; /* the page draws it, heat maps without a library */
        if (k == PICTURE_COMPARED && !o->what.compared)
            continue;
        picture[n_pictures++] = picture_of((picture_kind)k, &o->what, p, r->arena);
    }
    if (!report_sweep_has_charts())
        report_warning("built without Chart.js (Debian: libjs-chart.js), so that the page has tables and "
                       "fixed pictures, "
                       "and no charts that follow the ranking");
    report_sweep_html(
        &(report_sweep){.title = o->title ? o->title : title_of(p, r->arena),
                        .made_by = "Made by ccldse " CCLDSE_VERSION " from its results database.",
                        .points = &p->points,
                        .failed = &p->failed,
                        .by = p->by,
                        .band = band,
                        .n_pictures = n_pictures,
                        .picture = picture},
        r->arena, r->out);
    return DSE_OK;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const page_options *o = opts;
    pictures p = {0};
    dse_status st = write_page(o, &p, r, err);

    pictures_free(&p);
    return st == DSE_OK ? command_save(o->output, r, err) : st;
}

const command command_report = {
    .name = "report",
    .summary = "write the results of sweeps as one HTML page",
    .details =
        "Writes one HTML file that needs no other file and no network: a ranking that sorts and "
        "filters, step time against memory with the Pareto front and the limit, a heat map over two "
        "parameters, where the step goes; and of the best point, or of --point, its step on half and "
        "twice of each figure of the system, memory over time, the timeline of the pipeline, and with "
        "congestion the load of the links. --compare adds simulated against measured runs. Of more than "
        "100,000 points it has the best and the Pareto front, and says so. It opens in "
        "any browser, in light and dark, and prints. The same results give the same bytes.",
    .example = "ccldse report -o report.html",
    COMMAND_OPTIONS(options, page_options),
    .run = run,
};
