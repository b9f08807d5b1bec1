#include "draw/chart_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const draw_series_colours[DRAW_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                       "#e69f00", "#56b4e9", "#7f6a00", "#8c8c8c"};

/* Compute in blues, communication in warm colours, what waits in grey: as report_step_parts are ordered. */
const char *const draw_part_colours[DRAW_PARTS] = {"#0072b2", "#56b4e9", "#a3d0ee", "#d55e00", "#e69f00",
                                                   "#f0e442", "#009e73", "#cc79a7", "#8a5a83", "#9a9a9a"};

/* All rules are below one class, so that they do not affect a page that embeds the picture. A page with a
 * theme of its own sets these again. */
static const char style[] = "<style>\n"
                            ".chart{font-family:system-ui,sans-serif}\n"
                            ".chart .page{fill:#fff}\n"
                            ".chart text{fill:#1f2328;font-size:12px}\n"
                            ".chart .title{font-size:15px;font-weight:600}\n"
                            ".chart .m{text-anchor:middle}.chart .e{text-anchor:end}\n"
                            ".chart .grid{stroke:#8b949e;stroke-opacity:.25}\n"
                            ".chart .axis{stroke:#8b949e}\n"
                            ".chart .limit{stroke:#c4320a;stroke-width:1.5;stroke-dasharray:6 4}\n"
                            ".chart .diagonal{stroke:#8b949e;stroke-dasharray:3 3}\n"
                            ".chart .dark{fill:#101418}.chart .light{fill:#fff}\n"
                            "@media (prefers-color-scheme:dark){\n"
                            ".chart .page{fill:#0d1117}\n"
                            ".chart text{fill:#e6edf3}\n"
                            ".chart .limit{stroke:#ff8a5c}\n"
                            ".chart .dark{fill:#101418}.chart .light{fill:#fff}\n"
                            "}\n"
                            "</style>\n";

/* ---- axes ------------------------------------------------------------------------------------- */

double chart_at(const chart_axis *a, double v)
{
    const double part =
        a->is_log ? log(v / a->low) / log(a->high / a->low) : (v - a->low) / (a->high - a->low);

    return a->from + part * (a->to - a->from);
}

/* The distance of ticks of a linear axis: some 70 pixels. */
static double tick_step(const chart_axis *a)
{
    const double wish = (a->high - a->low) / fmax(fabs(a->to - a->from) / 70, 2);
    const double power = pow(10, floor(log10(wish)));

    return wish <= power ? power : wish <= 2 * power ? 2 * power : wish <= 5 * power ? 5 * power : 10 * power;
}

size_t chart_ticks(const chart_axis *a, double out[CHART_TICKS])
{
    size_t n = 0;

    if (!a->is_log) {
        const double step = tick_step(a);

        for (double k = ceil(a->low / step - 1e-9); k * step <= a->high * (1 + 1e-9) && n < CHART_TICKS; k++)
            out[n++] = k * step;
        return n;
    }
    for (double power = pow(10, floor(log10(a->low))); power <= a->high; power *= 10)
        for (int i = 0; i < 3; i++) {
            const double v = power * (i == 0 ? 1 : i == 1 ? 2 : 5);

            if (v >= a->low * (1 - 1e-9) && v <= a->high * (1 + 1e-9) && n < CHART_TICKS)
                out[n++] = v;
        }
    return n;
}

chart_number chart_tick_text(const chart_axis *a, double v)
{
    const double step = a->is_log ? v : tick_step(a);
    const int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
    chart_number number;

    snprintf(number.text, sizeof number.text, "%.*f", decimals < 12 ? decimals : 12, v + 0.0); /* no "-0" */
    return number;
}

chart_number chart_value_text(double v)
{
    chart_number number;

    snprintf(number.text, sizeof number.text,
             fabs(v) >= 100  ? "%.0f"
             : fabs(v) >= 10 ? "%.1f"
             : fabs(v) >= 1  ? "%.2f"
                             : "%.3g",
             v);
    return number;
}

void chart_put_x_axis(const chart_axis *a, double top, double bottom, const char *label, dse_strbuf *out)
{
    double tick[CHART_TICKS];
    const size_t n = chart_ticks(a, tick);

    for (size_t i = 0; i < n; i++) {
        const double x = chart_at(a, tick[i]);

        chart_line("grid", x, top, x, bottom, out);
        chart_text("m", CHART_MIDDLE, x, bottom + 16, chart_tick_text(a, tick[i]).text, out);
    }
    chart_line("axis", a->from, bottom, a->to, bottom, out);
    chart_text("e", CHART_END, a->to, bottom + 33, label, out);
}

void chart_put_y_axis(const chart_axis *a, double left, double right, const char *label, dse_strbuf *out)
{
    double tick[CHART_TICKS];
    const size_t n = chart_ticks(a, tick);

    for (size_t i = 0; i < n; i++) {
        const double y = chart_at(a, tick[i]);

        chart_line("grid", left, y, right, y, out);
        chart_text("e", CHART_END, left - 6, y + 4, chart_tick_text(a, tick[i]).text, out);
    }
    chart_line("axis", left, a->from, left, a->to, out);
    chart_text("", CHART_START, CHART_MARGIN, a->to - 10, label, out);
}

/* ---- elements --------------------------------------------------------------------------------- */

void chart_text(const char *class, chart_anchor anchor, double x, double y, const char *text, dse_strbuf *out)
{
    static const char *const anchors[] = {"", "m", "e"};
    char both[32];

    snprintf(both, sizeof both, "%s%s%s", class, *class && strcmp(class, anchors[anchor]) ? " " : "",
             strcmp(class, anchors[anchor]) ? anchors[anchor] : "");
    draw_text(anchor == CHART_START ? class : both, (draw_point){x, y}, out);
    draw_escaped(text, out);
    dse_strbuf_adds(out, "</text>\n");
}

void chart_line(const char *class, double x1, double y1, double x2, double y2, dse_strbuf *out)
{
    dse_strbuf_addf(out, "<line class=\"%s\"", class);
    draw_attribute("x1", x1, out);
    draw_attribute("y1", y1, out);
    draw_attribute("x2", x2, out);
    draw_attribute("y2", y2, out);
    dse_strbuf_adds(out, "/>\n");
}

void chart_begin(const char *title, const char *subtitle, double w, double h, dse_strbuf *out)
{
    dse_strbuf_adds(out, "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
    draw_attribute("width", w, out);
    draw_attribute("height", h, out);
    dse_strbuf_adds(out, " viewBox=\"0 0 ");
    draw_number(w, out);
    dse_strbuf_addc(out, ' ');
    draw_number(h, out);
    dse_strbuf_adds(out, "\">\n<title>");
    draw_escaped(title, out);
    dse_strbuf_addf(out, "</title>\n%s", style);
    draw_rect("page", (draw_point){0, 0}, w, h, 0, out);
    chart_text("title", CHART_START, CHART_MARGIN, CHART_MARGIN + 8, title, out);
    if (subtitle)
        chart_put_short("", CHART_START, CHART_MARGIN, CHART_MARGIN + CHART_TITLE - 2, subtitle,
                        w - 2 * CHART_MARGIN, out);
}

void chart_put_short(const char *class, chart_anchor anchor, double x, double y, const char *name, double w,
                     dse_strbuf *out)
{
    const size_t most = (size_t)fmin(w / CHART_LETTER, 150), length = strlen(name);
    size_t n = length > most ? most : length;
    char text[160];

    while (n < length && n && (name[n] & 0xc0) == 0x80) /* not within a character of several bytes */
        n--;
    snprintf(text, sizeof text, "%.*s%s", (int)n, name, n < length ? "…" : "");
    chart_text(class, anchor, x, y, text, out);
}

void chart_end(dse_strbuf *out) { dse_strbuf_adds(out, "</svg>\n"); }

size_t chart_legend_places(const char *const *name, size_t n, double y, draw_point *at)
{
    draw_point next = {CHART_MARGIN, y};
    size_t lines = n ? 1 : 0;

    for (size_t i = 0; i < n; i++) {
        const double w = 34 + CHART_LETTER * (double)strlen(name[i]);

        if (i && next.x + w > CHART_WIDTH - CHART_MARGIN) {
            next = (draw_point){CHART_MARGIN, next.y + CHART_LEGEND};
            lines++;
        }
        at[i] = next;
        next.x += w;
    }
    return lines;
}
