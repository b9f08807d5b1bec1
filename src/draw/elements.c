#include "draw/elements.h"

#include <math.h>

void draw_number(double v, dse_strbuf *out)
{
    long tenths = lround(v * 10), whole = tenths < 0 ? -tenths : tenths;

    dse_strbuf_addf(out, "%s%ld", tenths < 0 ? "-" : "", whole / 10);
    if (whole % 10)
        dse_strbuf_addf(out, ".%ld", whole % 10);
}

void draw_attribute(const char *name, double v, dse_strbuf *out)
{
    dse_strbuf_addf(out, " %s=\"", name);
    draw_number(v, out);
    dse_strbuf_addc(out, '"');
}

void draw_rect(const char *class, draw_point corner, double w, double h, double round, dse_strbuf *out)
{
    dse_strbuf_addf(out, "<rect class=\"%s\"", class);
    draw_attribute("x", corner.x, out);
    draw_attribute("y", corner.y, out);
    draw_attribute("width", w, out);
    draw_attribute("height", h, out);
    draw_attribute("rx", round, out);
    dse_strbuf_adds(out, "/>\n");
}

void draw_text(const char *class, draw_point at, dse_strbuf *out)
{
    dse_strbuf_adds(out, "<text");
    if (*class)
        dse_strbuf_addf(out, " class=\"%s\"", class);
    draw_attribute("x", at.x, out);
    draw_attribute("y", at.y, out);
    dse_strbuf_addc(out, '>');
}

void draw_escaped(const char *text, dse_strbuf *out)
{
    for (; *text; text++) {
        if (*text == '&' || *text == '<' || *text == '>')
            dse_strbuf_adds(out, *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&gt;");
        else
            dse_strbuf_addc(out, *text);
    }
}
