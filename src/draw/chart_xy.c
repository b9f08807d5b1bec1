/* Dots and lines over two axes. */
#include "draw/chart_parts.h"

#include "base/array.h"

#include <inttypes.h>
#include <math.h>

#define PLOT_HEIGHT 340.0
#define LEFT        74.0
#define MAX_LEGEND  16

typedef struct {
    const draw_xy *c;
    chart_axis x, y;
    dse_strbuf *out;
} picture;

/* ---- ranges ----------------------------------------------------------------------------------- */

static void widen(double v, bool is_log, double *low, double *high)
{
    if (!isfinite(v) || (is_log && !(v > 0)))
        return;
    *low = isnan(*low) || v < *low ? v : *low;
    *high = isnan(*high) || v > *high ? v : *high;
}

/* A linear axis begins at 0; that of x with the values if these are all far from it, and differ. */
static void set_range(chart_axis *a, double low, double high, bool is_log, bool is_x)
{
    a->is_log = is_log;
    if (isnan(low) || !(high > 0)) {
        low = is_log ? 1 : 0;
        high = is_log ? 10 : 1;
    }
    a->low = is_log                                               ? low / 1.15
             : is_x && low > high / 3 && high - low > high * 1e-6 ? low - (high - low) * 0.05
                                                                  : 0;
    a->high = is_log ? high * 1.15 : high + (high - a->low) * 0.05;
}

static void find_ranges(picture *p)
{
    const draw_xy *c = p->c;
    double x[2] = {NAN, NAN}, y[2] = {NAN, NAN};

    for (size_t s = 0; s < c->n_series; s++) {
        const draw_series *of = &c->series[s];

        for (size_t i = 0; i < of->n; i++) {
            widen(of->x[i], c->log_x, &x[0], &x[1]);
            widen(of->y[i], c->log_y, &y[0], &y[1]);
            if (of->low) {
                widen(of->low[i], c->log_y, &y[0], &y[1]);
                widen(of->high[i], c->log_y, &y[0], &y[1]);
            }
        }
    }
    /* A limit far above all dots would squeeze them: then it is not drawn. */
    if (!isnan(c->limit) && (isnan(y[1]) || c->limit < 3 * y[1]))
        widen(c->limit, c->log_y, &y[0], &y[1]);
    if (c->has_diagonal) {
        widen(y[0], c->log_x, &x[0], &x[1]);
        widen(y[1], c->log_x, &x[0], &x[1]);
        y[0] = x[0];
        y[1] = x[1];
    }
    set_range(&p->x, x[0], x[1], c->log_x, true);
    set_range(&p->y, y[0], y[1], c->log_y, false);
}

/* ---- series ----------------------------------------------------------------------------------- */

static bool is_drawn(const picture *p, const draw_series *s, size_t i)
{
    return isfinite(s->x[i]) && isfinite(s->y[i]) && (!p->c->log_x || s->x[i] > 0) &&
           (!p->c->log_y || s->y[i] > 0);
}

static void put_bar(const picture *p, const draw_series *s, size_t i)
{
    const double x = chart_at(&p->x, s->x[i]), low = s->low[i], high = s->high[i];

    if (!isfinite(low) || !isfinite(high) || (p->c->log_y && !(low > 0)))
        return;
    dse_strbuf_adds(p->out, "<path class=\"axis\" fill=\"none\" d=\"M");
    draw_number(x - 3, p->out);
    dse_strbuf_addc(p->out, ' ');
    draw_number(chart_at(&p->y, low), p->out);
    dse_strbuf_adds(p->out, "h6m-3 0V");
    draw_number(chart_at(&p->y, high), p->out);
    dse_strbuf_adds(p->out, "m-3 0h6\"/>\n");
}

static void put_dots(const picture *p, const draw_series *s, const char *colour)
{
    const size_t width = (size_t)CHART_WIDTH + 1;
    uint8_t *taken =
        dse_calloc(width * ((size_t)PLOT_HEIGHT + 1), 1); /* of a pixel of the plot: it has a dot */

    for (size_t i = 0; s->low && i < s->n; i++)
        if (is_drawn(p, s, i))
            put_bar(p, s, i);
    dse_strbuf_addf(p->out, "<g fill=\"%s\" fill-opacity=\".75\">\n", colour);
    for (size_t i = 0; i < s->n; i++) {
        double x, y;
        size_t pixel;

        if (!is_drawn(p, s, i))
            continue;
        x = chart_at(&p->x, s->x[i]);
        y = chart_at(&p->y, s->y[i]);
        pixel = (size_t)(y - p->y.to) * width + (size_t)x;
        if (taken[pixel])
            continue;
        taken[pixel] = 1;
        dse_strbuf_adds(p->out, "<circle");
        draw_attribute("cx", x, p->out);
        draw_attribute("cy", y, p->out);
        dse_strbuf_adds(p->out, s->tooltip ? " r=\"4\"><title>" : " r=\"3\"/>\n");
        if (s->tooltip) {
            draw_escaped(s->tooltip[i], p->out);
            dse_strbuf_adds(p->out, "</title></circle>\n");
        }
    }
    dse_strbuf_adds(p->out, "</g>\n");
    dse_free(taken);
}

static void put_line(const picture *p, const draw_series *s, const char *colour)
{
    bool begun = false;
    double last = 0;

    dse_strbuf_addf(p->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" d=\"", colour);
    for (size_t i = 0; i < s->n; i++) {
        const double x = is_drawn(p, s, i) ? chart_at(&p->x, s->x[i]) : NAN, y = chart_at(&p->y, s->y[i]);

        if (isnan(x))
            continue;
        dse_strbuf_addc(p->out, begun ? s->mark == DRAW_STEPS ? 'H' : 'L' : 'M');
        draw_number(x, p->out);
        if (begun && s->mark == DRAW_STEPS) {
            if (fabs(y - last) >= 0.05) {
                dse_strbuf_addc(p->out, 'V');
                draw_number(y, p->out);
            }
        } else {
            dse_strbuf_addc(p->out, ' ');
            draw_number(y, p->out);
        }
        begun = true;
        last = y;
    }
    dse_strbuf_adds(p->out, begun ? "\"/>\n" : "M0 0\"/>\n");
}

static void put_lines_across(const picture *p)
{
    if (!isnan(p->c->limit) && p->c->limit <= p->y.high) {
        const double y = chart_at(&p->y, p->c->limit);

        chart_line("limit", p->x.from, y, p->x.to, y, p->out);
        chart_text("e", CHART_END, p->x.to - 4, y - 5, p->c->limit_label, p->out);
    }
    if (p->c->has_diagonal)
        chart_line("diagonal", p->x.from, p->y.from, p->x.to, p->y.to, p->out);
}

static void put_legend(const picture *p, const char *const *name, const size_t *of, const draw_point *at,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const draw_series *s = &p->c->series[of[i]];
        const char *colour = draw_series_colours[of[i] % DRAW_COLOURS];

        if (s->mark == DRAW_DOTS)
            dse_strbuf_addf(p->out, "<circle fill=\"%s\"", colour);
        else
            dse_strbuf_addf(p->out, "<rect fill=\"%s\" width=\"14\" height=\"3\"", colour);
        draw_attribute(s->mark == DRAW_DOTS ? "cx" : "x", at[i].x + (s->mark == DRAW_DOTS ? 7 : 0), p->out);
        draw_attribute(s->mark == DRAW_DOTS ? "cy" : "y", at[i].y - (s->mark == DRAW_DOTS ? 4 : 5.5), p->out);
        dse_strbuf_adds(p->out, s->mark == DRAW_DOTS ? " r=\"4\"/>\n" : "/>\n");
        chart_text("", CHART_START, at[i].x + 19, at[i].y, name[i], p->out);
    }
}

void draw_xy_svg(const draw_xy *c, dse_strbuf *out)
{
    picture p = {.c = c, .out = out};
    const char *name[MAX_LEGEND];
    const double legend = CHART_MARGIN + CHART_TITLE + (c->subtitle ? CHART_SUBTITLE : 0);
    draw_point at[MAX_LEGEND];
    size_t of[MAX_LEGEND], n = 0;
    double top;

    for (size_t i = 0; i < c->n_series && n < MAX_LEGEND; i++)
        if (c->series[i].name) {
            name[n] = c->series[i].name;
            of[n++] = i;
        }
    top = legend + 22 + CHART_LEGEND * (double)chart_legend_places(name, n, legend, at);
    p.x = (chart_axis){.from = LEFT, .to = CHART_WIDTH - CHART_MARGIN};
    p.y = (chart_axis){.from = top + PLOT_HEIGHT, .to = top};
    find_ranges(&p);
    chart_begin(c->title, c->subtitle, CHART_WIDTH, top + PLOT_HEIGHT + 44, out);
    put_legend(&p, name, of, at, n);
    chart_put_x_axis(&p.x, top, top + PLOT_HEIGHT, c->x_label, out);
    chart_put_y_axis(&p.y, LEFT, p.x.to, c->y_label, out);
    for (size_t i = 0; i < c->n_series; i++)
        (c->series[i].mark == DRAW_DOTS ? put_dots : put_line)(&p, &c->series[i],
                                                               draw_series_colours[i % DRAW_COLOURS]);
    put_lines_across(&p);
    chart_end(out);
}
