/* One chart of results as SVG or PNG. */
#include "base/fs.h"
#include "base/names.h"
#include "cli/command.h"
#include "cli/pictures.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

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
    {"--output", OPT_STRING, "FILE", "",
     "write to a file instead of standard output, as SVG, or as PNG if it ends in .png; -o for short",
     FIELD(output)},
};

#define MOST_ACTIONS 20000

/* Twice the size of the SVG, so that text is sharp on a slide. The shell reads the name of the file from the
 * environment, whatever characters it has. */
static dse_status save_png(const char *path, const dse_strbuf *svg, dse_error *err)
{
    static const char how[] =
        "command -v rsvg-convert >/dev/null || exit 127; exec rsvg-convert -z 2 -o \"$CCLDSE_PNG\"";
    dse_replacement file;
    FILE *to;
    int status = -1;
    dse_status st = dse_replacement_open(&file, path, err);

    if (st != DSE_OK)
        return st;
    signal(SIGPIPE, SIG_IGN); /* a converter that ends early says why by its status */
    if (setenv("CCLDSE_PNG", *file.target ? file.temporary : file.path, 1) == 0 &&
        (to = popen(how, "w"))) { /* NOLINT(cert-env33-c): the fixed text above */
        fwrite(svg->data, 1, svg->len, to);
        status = pclose(to);
    }
    if (status == 0)
        return dse_replacement_commit(&file, err);
    dse_replacement_give_up(&file);
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return dse_fail(
            err, DSE_E_CONFIG,
            "no PNG without rsvg-convert (Debian: librsvg2-bin); install it, or write '%.100s' as "
            "SVG, which browsers and slides take as well",
            path);
    return dse_fail(err, DSE_E_IO, "rsvg-convert made no '%s' of the SVG; write the SVG instead (-o x.svg)",
                    path);
}

static dse_status draw(const plot_options *o, picture_kind kind, pictures *p, command_run *r, dse_error *err)
{
    const picture_details details = {.top = (uint32_t)o->top, .actions = MOST_ACTIONS};
    const pictures_needs needs = {.points = kind == PICTURE_PARTS ? (size_t)o->top : 0,
                                  .steps_alone = true,
                                  .dots = kind == PICTURE_TRADEOFF,
                                  .heat = kind == PICTURE_HEATMAP,
                                  .x = o->x,
                                  .y = o->y};
    const char *note;
    dse_status st = DSE_OK;

    /* Measured runs come from their own file: a database is not needed. */
    if (kind != PICTURE_COMPARED)
        st = pictures_load(&o->what, &needs, r->arena, p, err);
    return st == DSE_OK ? picture_draw(kind, &o->what, p, &details, r->arena, r->out, &note, err) : st;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const plot_options *o = opts;
    pictures p = {0};
    dse_status st = draw(o, (picture_kind)option_place(picture_names, o->kind), &p, r, err);

    pictures_free(&p);
    if (st != DSE_OK || !o->output || !dse_ends(o->output, ".png"))
        return st == DSE_OK ? command_save(o->output, r, err) : st;
    st = save_png(o->output, r->out, err);
    dse_strbuf_clear(r->out);
    return st;
}

const command command_plot = {
    .name = "plot",
    .summary = "draw one chart of the results of sweeps as SVG or PNG",
    .details =
        "Draws one of the charts of 'ccldse report' by itself. tradeoff: step time against memory; "
        "heatmap: the best of each pair of values of two parameters; parts: where the step goes; of the "
        "best point, or of --point, sensitivity: its step on half and twice of each figure of the "
        "system, memory: memory over time, timeline: the passes of the pipeline, links: the load of "
        "the links, with congestion; compared: simulated against measured, of the file of --compare.",
    .example = "ccldse plot tradeoff -o tradeoff.svg\n"
               "ccldse plot heatmap --x tp --y pp --by mfu -o heatmap.png",
    COMMAND_OPTIONS(options, plot_options),
    .run = run,
};
