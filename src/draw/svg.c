/* SVG pictures. Lines are drawn first and covered by the cells that they join, so a line may begin in the
 * middle of a cell. */
#include "draw/draw.h"
#include "draw/elements.h"
#include "draw/layout.h"

#include <inttypes.h>
#include <math.h>

#define MAX_NPUS  1024
#define MAX_LINES 20000

#define MARGIN      20
#define TITLE       28
#define LEGEND_LINE 20
#define LETTER      6.6 /* of the legend, on average */

/* Legible on white and on black; one for each dimension. */
static const char *const colours[NET_MAX_DIMS] = {"#2f7ed8", "#d9730d", "#2e9e5b", "#b04cc9", "#c23b3b",
                                                  "#0e9aa7", "#8a6d3b", "#6b7280", "#d6336c", "#5c7c1f"};

/* All rules are below one class, so that they do not affect a page that embeds the picture. */
static const char style[] = "<style>\n"
                            ".topology{font-family:sans-serif}\n"
                            ".topology .page,.topology .under{fill:#fff}\n"
                            ".topology .box{fill:#8b949e;fill-opacity:.08;stroke:#8b949e;stroke-opacity:.6}\n"
                            ".topology .npu,.topology .switch{fill:#f6f8fa;stroke:#57606a}\n"
                            ".topology text{fill:#1f2328;text-anchor:middle;font-size:11px}\n"
                            ".topology .caption,.topology .legend,.topology .title{text-anchor:start}\n"
                            ".topology .caption{fill:#57606a;font-size:10px}\n"
                            ".topology .legend{font-size:12px}\n"
                            ".topology .title{font-size:15px;font-weight:bold}\n"
                            ".topology .line{fill:none;stroke-linecap:round}\n"
                            ".topology .around{stroke-opacity:.6}\n"
                            "@media (prefers-color-scheme:dark){\n"
                            ".topology .page,.topology .under{fill:#0d1117}\n"
                            ".topology .npu,.topology .switch{fill:#161b22;stroke:#8b949e}\n"
                            ".topology text{fill:#e6edf3}\n"
                            ".topology .caption{fill:#9da7b3}\n"
                            "}\n";

typedef struct {
    const net_graph *graph;
    const draw_layout *layout;
    dse_strbuf *out;
} picture;

/* ---- paths ---------------------------------------------------------------------------------- */

static void put_point(const char *command, draw_point p, dse_strbuf *out)
{
    dse_strbuf_adds(out, command);
    draw_number(p.x, out);
    dse_strbuf_addc(out, ' ');
    draw_number(p.y, out);
}

static draw_point plus(draw_point a, draw_point b) { return (draw_point){a.x + b.x, a.y + b.y}; }
static draw_point times(double f, draw_point p) { return (draw_point){f * p.x, f * p.y}; }

/* ---- lines --------------------------------------------------------------------------------- */

/* Steps aside, passes the cells in between, and steps back, with round corners. */
static void put_around(draw_point from, draw_point to, draw_point aside, dse_strbuf *out)
{
    draw_point way = {to.x - from.x, to.y - from.y};
    double length = hypot(way.x, way.y);
    draw_point corner = times(fmin(14, length / 4) / length, way);

    from = plus(from, aside);
    to = plus(to, aside);
    put_point("Q", from, out);
    put_point(" ", plus(from, corner), out);
    put_point("L", plus(to, times(-1, corner)), out);
    put_point("Q", to, out);
    put_point(" ", plus(to, times(-1, aside)), out);
}

/* From a cell to another one, or to the switch. */
static void put_line(const picture *p, uint32_t level, draw_point at, uint32_t from, uint32_t to)
{
    const draw_level *l = &p->layout->level[level];
    bool is_switch = to == l->dim->shape.n;
    uint32_t axis = is_switch ? DSE_NONE : draw_axis_around(l, from, to);
    draw_point start = plus(at, l->cell[from]), end = plus(at, is_switch ? l->switch_at : l->cell[to]);

    if (is_switch && !l->star)
        end.x = start.x;
    put_point("M", start, p->out);
    if (axis == DSE_NONE)
        put_point("L", end, p->out);
    else
        put_around(start, end, l->around[axis], p->out);
}

/* The lines of one instance, in one path: either those that pass beside cells, or the straight ones. */
static void put_lines(const picture *p, uint32_t level, draw_point at, bool around)
{
    const draw_level *l = &p->layout->level[level];
    const net_topology *t = l->dim->topology;
    const net_shape *s = &l->dim->shape;
    bool begun = false;

    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t port = 0; port < t->n_ports(s); port++) {
            uint32_t to = t->neighbour(s, i, port);

            if (to == DSE_NONE || to < i) /* drawn from the other end */
                continue;
            if ((to < s->n && draw_axis_around(l, i, to) != DSE_NONE) != around)
                continue;
            if (!begun)
                dse_strbuf_addf(p->out, "<path class=\"line d%" PRIu32 "%s\" d=\"", level,
                                around ? " around" : "");
            begun = true;
            put_line(p, level, at, i, to);
        }
    }
    if (begun)
        dse_strbuf_adds(p->out, "\"/>\n");
}

/* ---- devices ------------------------------------------------------------------------------- */

/* In a dimension above 0 it stands for the switches of all NPUs of a cell, whose ids are consecutive. */
static void put_switch(const picture *p, uint32_t level, uint32_t npu, draw_point at)
{
    const draw_level *l = &p->layout->level[level];
    draw_point centre = plus(at, l->switch_at);
    uint32_t slot = net_graph_next(p->graph, npu, npu + l->dim->stride), id = p->graph->link[slot].to;

    draw_rect("switch", (draw_point){centre.x - l->switch_w / 2, centre.y - l->switch_h / 2}, l->switch_w,
              l->switch_h, 3, p->out);
    draw_text("", (draw_point){centre.x, centre.y + 4}, p->out);
    if (l->dim->stride == 1)
        dse_strbuf_addf(p->out, "switch %" PRIu32 "</text>\n", id);
    else
        dse_strbuf_addf(p->out, "switches %" PRIu32 "-%" PRIu32 "</text>\n", id, id + l->dim->stride - 1);
}

/* One instance of a dimension, whose first NPU is `npu`, with its contents. */
static void put_level(const picture *p, uint32_t level, uint32_t npu, draw_point at)
{
    const draw_level *l = &p->layout->level[level];

    put_lines(p, level, at, true);
    put_lines(p, level, at, false);
    if (l->has_switch)
        put_switch(p, level, npu, at);
    for (uint32_t i = 0; i < l->dim->shape.n; i++) {
        draw_point corner = plus(at, draw_corner(l, i)), centre = plus(at, l->cell[i]);
        uint32_t first = npu + i * l->dim->stride;

        if (level == 0) {
            draw_rect("npu", corner, l->cell_w, l->cell_h, l->cell_h / 2, p->out);
            draw_text("", (draw_point){centre.x, centre.y + 4}, p->out);
            dse_strbuf_addf(p->out, "%" PRIu32 "</text>\n", first);
            continue;
        }
        draw_rect("under", corner, l->cell_w, l->cell_h, 8, p->out); /* boxes are opaque */
        draw_rect("box", corner, l->cell_w, l->cell_h, 8, p->out);
        draw_text("caption", (draw_point){corner.x + 8, corner.y + 15}, p->out);
        dse_strbuf_addf(p->out, "NPUs %" PRIu32 "-%" PRIu32 "</text>\n", first, first + l->dim->stride - 1);
        put_level(p, level - 1, first, plus(at, draw_inside(l, i)));
    }
}

/* ---- the page ------------------------------------------------------------------------------ */

static void describe(const net_network *net, uint32_t dim, dse_strbuf *out)
{
    const net_dimension *d = &net->dim[dim];
    char name[NET_DIMENSION_NAME];

    net_dimension_name(d, name, sizeof name);
    dse_strbuf_addf(out, "dimension %" PRIu32 ": %s, links of %.10g GiB/s each way, %.10g ns", dim, name,
                    d->gib_per_s, d->latency_ns);
    if (dim)
        dse_strbuf_addf(out, "; a line: %" PRIu32 " links, one of each NPU of the box", d->stride);
}

static void put_legend(const picture *p, double y)
{
    for (uint32_t i = 0; i < p->layout->n_levels; i++, y += LEGEND_LINE) {
        dse_strbuf_addf(p->out, "<path class=\"line d%" PRIu32 "\" d=\"", i);
        put_point("M", (draw_point){MARGIN, y}, p->out);
        put_point("L", (draw_point){MARGIN + 26, y}, p->out);
        dse_strbuf_adds(p->out, "\"/>\n");
        draw_text("legend", (draw_point){MARGIN + 36, y + 4}, p->out);
        describe(p->graph->net, i, p->out);
        dse_strbuf_adds(p->out, "</text>\n");
    }
}

static double legend_width(const net_network *net, dse_strbuf *scratch)
{
    double width = 0;

    for (uint32_t i = 0; i < net->n_dims; i++) {
        dse_strbuf_clear(scratch);
        describe(net, i, scratch);
        width = fmax(width, 36 + LETTER * (double)scratch->len);
    }
    return width;
}

static void put_page(const picture *p, const char *name, double legend)
{
    const draw_level *top = &p->layout->level[p->layout->n_levels - 1];
    double inner = fmax(top->w, legend), w = inner + 2 * MARGIN;
    double below = MARGIN + TITLE + top->h + MARGIN,
           h = below + LEGEND_LINE * p->layout->n_levels + MARGIN / 2.0;

    dse_strbuf_adds(p->out, "<svg class=\"topology\" xmlns=\"http://www.w3.org/2000/svg\"");
    draw_attribute("width", w, p->out);
    draw_attribute("height", h, p->out);
    dse_strbuf_adds(p->out, " viewBox=\"0 0 ");
    put_point("", (draw_point){w, h}, p->out);
    dse_strbuf_adds(p->out, "\">\n<title>");
    draw_escaped(name, p->out);
    dse_strbuf_addf(p->out, "</title>\n%s", style);
    for (uint32_t i = 0; i < p->layout->n_levels; i++)
        dse_strbuf_addf(p->out, ".topology .d%" PRIu32 "{stroke:%s;stroke-width:%.1f}\n", i, colours[i],
                        i ? 2 + i * 1.5 : 1.5);
    dse_strbuf_adds(p->out, "</style>\n");
    draw_rect("page", (draw_point){0, 0}, w, h, 0, p->out);
    draw_text("title", (draw_point){MARGIN, MARGIN + 8}, p->out);
    draw_escaped(name, p->out);
    dse_strbuf_addf(p->out, ", %" PRIu32 " NPUs</text>\n", p->graph->net->n_npus);
    put_level(p, p->layout->n_levels - 1, 0, (draw_point){MARGIN + (inner - top->w) / 2, MARGIN + TITLE});
    put_legend(p, below + LEGEND_LINE / 2.0);
    dse_strbuf_adds(p->out, "</svg>\n");
}

/* A line between boxes stands for `stride` links, of which the first is counted. */
static uint64_t count_lines(const net_graph *g)
{
    uint64_t lines = 0;

    for (uint32_t slot = 0; slot < g->n_slots; slot++) {
        const net_link *l = &g->link[slot];

        if (l->to != DSE_NONE && l->from < l->to && l->from % g->net->dim[l->dim].stride == 0)
            lines++;
    }
    return lines;
}

dse_status draw_svg(const net_graph *g, const char *name, dse_arena *a, dse_strbuf *out, dse_error *err)
{
    const uint64_t n_lines = count_lines(g);
    draw_layout layout;
    dse_strbuf scratch;
    double legend;

    if (g->net->n_npus > MAX_NPUS)
        return dse_fail(err, DSE_E_RANGE,
                        "a picture of %" PRIu32
                        " NPUs cannot be read; at most %u are drawn; --set makes the network "
                        "smaller, --dot takes any",
                        g->net->n_npus, MAX_NPUS);
    if (n_lines > MAX_LINES)
        return dse_fail(err, DSE_E_RANGE,
                        "a picture of %" PRIu64
                        " lines cannot be read; at most %u are drawn; --set makes the network "
                        "smaller, --dot takes any",
                        n_lines, MAX_LINES);
    draw_layout_make(g->net, a, &layout);
    dse_strbuf_init(&scratch);
    legend = legend_width(g->net, &scratch);
    dse_strbuf_free(&scratch);
    put_page(&(picture){g, &layout, out}, name, legend);
    return DSE_OK;
}
