/* One chart of results as SVG. */
#include "base/names.h"
#include "cli/command.h"
#include "cli/pictures.h"

typedef struct {
    const char *kind, *x, *y, *output;
    pictures_options what;
    int64_t top;
} plot_options;

#define FIELD(f) .offset = offsetof(plot_options, f)

static const option options[] = {
    {"KIND", OPT_STRING, NULL, NULL, "what to draw", .choices = picture_names, FIELD(kind)},
    OPTION_GROUP(pictures_group, what),
    {"--x", OPT_STRING, "PARAMETER", "", "of a heat map: across, as tp (default: one that varies)", FIELD(x)},
    {"--y", OPT_STRING, "PARAMETER", "", "of a heat map: down, as pp (default: another one)", FIELD(y)},
    {"--top", OPT_INT, "N", "15", "of parts: bars of so many points, the best first", .min = 1, .max = 200,
     FIELD(top)},
    {"--output", OPT_STRING, "FILE", "", "write to a file instead of standard output; -o for short",
     FIELD(output)},
};

#define MOST_ACTIONS 20000

static dse_status check_output(const plot_options *o, dse_error *err)
{
    if (!o->output || !dse_ends(o->output, ".png"))
        return DSE_OK;
    return dse_fail(
        err, DSE_E_USAGE,
        "plot writes SVG; make a PNG of it with: rsvg-convert -z 2 -o %.100s x.svg (Debian: librsvg2-bin)",
        o->output);
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const plot_options *o = opts;
    const picture_details details = {.x = o->x, .y = o->y, .top = (uint32_t)o->top, .actions = MOST_ACTIONS};
    const char *note;
    pictures p = {0};
    const picture_kind kind = (picture_kind)option_place(picture_names, o->kind);
    dse_status st = check_output(o, err);

    /* Measured runs come from their own file: a database is not needed. */
    if (st == DSE_OK && kind != PICTURE_COMPARED)
        st = pictures_load(&o->what, r->arena, &p, err);
    if (st == DSE_OK)
        st = picture_draw(kind, &o->what, &p, &details, r->arena, r->out, &note, err);
    return st == DSE_OK ? command_save(o->output, r, err) : st;
}

const command command_plot = {
    .name = "plot",
    .summary = "draw one chart of the results of sweeps as SVG",
    .details = "Draws one of the charts of 'ccldse report' by itself. tradeoff: step time against memory; "
               "heatmap: the best of each pair of values of two parameters; parts: where the step goes; of the "
               "best point, or of --point, sensitivity: its step on half and twice of each figure of the "
               "system, memory: memory over time, timeline: the passes of the pipeline, links: the load of "
               "the links, with congestion; compared: simulated against measured, of the file of --compare.",
    .example = "ccldse plot tradeoff -o tradeoff.svg\n"
               "ccldse plot heatmap --x tp --y pp --by mfu -o heatmap.svg",
    COMMAND_OPTIONS(options, plot_options),
    .run = run,
};
