/* Stacked bars, and heat maps. */
#include "draw/chart_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR      18.0
#define BAR_GAP  6.0
#define MAX_NAME 300.0 /* pixels of the names of bars */

static double widest(const char *const *name, size_t n)
{
    double w = 0;

    for (size_t i = 0; i < n; i++)
        w = fmax(w, CHART_LETTER * (double)strlen(name[i]));
    return fmin(w, MAX_NAME);
}

/* ---- bars ------------------------------------------------------------------------------------- */

static const char *colour_of_part(const draw_bars *c, size_t i)
{
    return draw_part_colours[(c->colour ? c->colour[i] : i) % DRAW_PARTS];
}

static double sum_of(const draw_bars *c, size_t bar)
{
    double sum = 0;

    for (size_t i = 0; i < c->n_parts; i++)
        sum += isnan(c->value[bar * c->n_parts + i]) ? 0 : c->value[bar * c->n_parts + i];
    return sum;
}

static void put_coloured(const char *colour, double x, double y, double w, double h, const char *tooltip,
                         dse_strbuf *out)
{
    dse_strbuf_addf(out, "<rect fill=\"%s\"", colour);
    draw_attribute("x", x, out);
    draw_attribute("y", y, out);
    draw_attribute("width", w, out);
    draw_attribute("height", h, out);
    if (!tooltip) {
        dse_strbuf_adds(out, "/>\n");
        return;
    }
    dse_strbuf_adds(out, "><title>");
    draw_escaped(tooltip, out);
    dse_strbuf_adds(out, "</title></rect>\n");
}

static void put_one(const draw_bars *c, size_t bar, const chart_axis *x, double y, dse_strbuf *out)
{
    double sum = 0;

    for (size_t i = 0; i < c->n_parts; i++) {
        const double v = c->value[bar * c->n_parts + i], from = chart_at(x, sum);
        char tooltip[256];

        if (!(v > 0))
            continue;
        sum += v;
        snprintf(tooltip, sizeof tooltip, "%.160s: %s", c->part[i], chart_value_text(v).text);
        put_coloured(colour_of_part(c, i), from, y, chart_at(x, sum) - from, BAR, tooltip, out);
    }
    chart_text("", CHART_START, chart_at(x, sum) + 5, y + BAR / 2 + 4, chart_value_text(sum).text, out);
}

void draw_bars_svg(const draw_bars *c, dse_strbuf *out)
{
    draw_point at[DRAW_PARTS];
    const size_t n_legend = c->n_parts > 1 ? (c->n_parts < DRAW_PARTS ? c->n_parts : DRAW_PARTS) : 0;
    const double legend = CHART_MARGIN + CHART_TITLE + (c->subtitle ? CHART_SUBTITLE : 0);
    const double lines = (double)chart_legend_places(c->part, n_legend, legend, at);
    const double top = legend + (n_legend ? 6 : -8) + CHART_LEGEND * lines;
    const double bottom = top + (BAR + BAR_GAP) * (double)c->n_bars + BAR_GAP;
    chart_axis x = {.from = CHART_MARGIN + widest(c->bar, c->n_bars) + 8,
                    .to = CHART_WIDTH - CHART_MARGIN - 44};

    for (size_t i = 0; i < c->n_bars; i++)
        x.high = fmax(x.high, sum_of(c, i));
    x.high = x.high > 0 ? x.high : 1;
    chart_begin(c->title, c->subtitle, CHART_WIDTH, bottom + 44, out);
    for (size_t i = 0; i < n_legend; i++) {
        put_coloured(colour_of_part(c, i), at[i].x, at[i].y - 10, 12, 12, NULL, out);
        chart_text("", CHART_START, at[i].x + 18, at[i].y, c->part[i], out);
    }
    chart_put_x_axis(&x, top, bottom, c->label, out);
    for (size_t i = 0; i < c->n_bars; i++) {
        const double y = top + BAR_GAP + (BAR + BAR_GAP) * (double)i;

        chart_put_short("e", CHART_END, x.from - 8, y + BAR / 2 + 4, c->bar[i], MAX_NAME, out);
        put_one(c, i, &x, y, out);
    }
    chart_end(out);
}

/* ---- heat ------------------------------------------------------------------------------------- */

#define CELL_H  30.0
#define MAX_W   90.0
#define N_STOPS 5

/* Viridis, from its darkest. Its two darkest take light text. */
static const double viridis[N_STOPS][3] = {
    {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};

/* share: from 0, the darkest, to 1. */
static void colour_of(double share, char out[8])
{
    const double place = fmin(fmax(share, 0), 1) * (N_STOPS - 1);
    const int i = place >= N_STOPS - 1 ? N_STOPS - 2 : (int)place;
    int rgb[3];

    for (int k = 0; k < 3; k++)
        rgb[k] = (int)lround(viridis[i][k] + (place - i) * (viridis[i + 1][k] - viridis[i][k])) & 255;
    snprintf(out, 8, "#%02x%02x%02x", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
}

/* Values of a design space spread over powers of ten, so that colours go by the logarithm where all are
 * positive. */
static double share_of(double v, double low, double high, bool less_is_better)
{
    double share = high > low ? (low > 0 ? log(v / low) / log(high / low) : (v - low) / (high - low)) : 0.5;

    return less_is_better ? 1 - share : share;
}

void draw_heat_svg(const draw_heat *c, dse_strbuf *out)
{
    const double left =
        CHART_MARGIN + fmax(widest(c->y, c->n_y), CHART_LETTER * (double)strlen(c->y_label)) + 10;
    const double cell = fmin((CHART_WIDTH - CHART_MARGIN - left) / (double)(c->n_x ? c->n_x : 1), MAX_W);
    const double top = CHART_MARGIN + CHART_TITLE + 46;
    double low = NAN, high = NAN;

    for (size_t i = 0; i < c->n_x * c->n_y; i++) {
        low = fmin(low, c->value[i]);
        high = fmax(high, c->value[i]);
    }
    chart_begin(c->title, NULL, CHART_WIDTH, top + CELL_H * (double)c->n_y + 20, out);
    chart_text("", CHART_START, CHART_MARGIN, CHART_MARGIN + CHART_TITLE, c->label, out);
    chart_text("e", CHART_END, left - 8, top - 10, c->y_label, out);
    chart_text("", CHART_START, left, top - 26, c->x_label, out);
    for (size_t x = 0; x < c->n_x; x++)
        chart_text("m", CHART_MIDDLE, left + cell * ((double)x + 0.5), top - 8, c->x[x], out);
    for (size_t y = 0; y < c->n_y; y++) {
        const double at = top + CELL_H * (double)y;

        chart_text("e", CHART_END, left - 8, at + CELL_H / 2 + 4, c->y[y], out);
        for (size_t x = 0; x < c->n_x; x++) {
            const double v = c->value[y * c->n_x + x], share = share_of(v, low, high, c->less_is_better);
            char colour[8];

            if (isnan(v))
                continue;
            colour_of(share, colour);
            put_coloured(colour, left + cell * (double)x + 1, at + 1, cell - 2, CELL_H - 2, NULL, out);
            chart_text(share < 0.55 ? "light" : "dark", CHART_MIDDLE, left + cell * ((double)x + 0.5),
                       at + CELL_H / 2 + 4, chart_value_text(v).text, out);
        }
    }
    chart_end(out);
}
