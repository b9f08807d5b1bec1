#include "base/array.h"
#include "draw/draw.h"
#include "draw/layout.h"

#include <inttypes.h>
#include <math.h>

static const char *const colours[] = {"blue",     "darkorange", "forestgreen", "purple",   "red",
                                      "darkcyan", "brown",      "gray40",      "deeppink", "olivedrab"};
_Static_assert(DSE_COUNT(colours) == NET_MAX_DIMS, "one for each dimension");

/* Graphviz coordinates are points, y upwards. */
static void put_place(draw_point at, dse_strbuf *out)
{
    dse_strbuf_addf(out, "pos=\"%ld,%ld\"", lround(at.x), -lround(at.y));
}

static void put_name(const char *name, dse_strbuf *out)
{
    dse_strbuf_addc(out, '"');
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            dse_strbuf_addc(out, '\\');
        dse_strbuf_addc(out, *name);
    }
    dse_strbuf_addc(out, '"');
}

/* The corner of the instance of a dimension that contains an NPU. */
static draw_point corner_of(const draw_layout *layout, uint32_t npu, uint32_t level)
{
    draw_point at = {0, 0};

    for (uint32_t i = layout->n_levels; i-- > level + 1;) {
        draw_point inside = draw_inside(&layout->level[i], net_place(layout->level[i].dim, npu));

        at = (draw_point){at.x + inside.x, at.y + inside.y};
    }
    return at;
}

static void put_npu(const draw_layout *layout, uint32_t npu, dse_strbuf *out)
{
    const draw_level *l = &layout->level[0];
    draw_point at = corner_of(layout, npu, 0), centre = l->cell[net_place(l->dim, npu)];

    dse_strbuf_addf(out, "  %" PRIu32 " [", npu);
    put_place((draw_point){at.x + centre.x, at.y + centre.y}, out);
    dse_strbuf_adds(out, "]\n");
}

/* The switches of a dimension above 0 stand side by side in the place of one. */
static void put_switch(const net_graph *g, const draw_layout *layout, uint32_t device, dse_strbuf *out)
{
    uint32_t dim = net_graph_switch_dim(g, device), slot;
    const draw_level *l = &layout->level[dim];
    draw_point at;

    net_graph_ports(g, device, &slot);
    at = corner_of(layout, g->link[slot].to, dim);
    at.x += l->switch_at.x - l->switch_w / 2;
    at.x += l->switch_w * ((device - g->first_switch[dim]) % l->dim->stride + 0.5) / l->dim->stride;
    at.y += l->switch_at.y;
    dse_strbuf_addf(out, "  %" PRIu32 " [label=\"switch %" PRIu32 "\" shape=box style=\"\" ", device, device);
    put_place(at, out);
    dse_strbuf_adds(out, "]\n");
}

void draw_dot(const net_graph *g, const char *name, dse_arena *a, dse_strbuf *out)
{
    draw_layout layout;

    draw_layout_make(g->net, a, &layout);
    dse_strbuf_adds(out, "// neato -n -Tsvg: the places below; dot, fdp, sfdp: places of their own\ngraph ");
    put_name(name, out);
    dse_strbuf_adds(
        out, " {\n  splines=true\n  outputorder=edgesfirst\n"
             "  node [shape=box style=\"rounded,filled\" fillcolor=white fontsize=10 margin=0.05 width=0.3 "
             "height=0.25]\n  edge [dir=both arrowsize=0.4]\n");
    for (uint32_t npu = 0; npu < g->net->n_npus; npu++)
        put_npu(&layout, npu, out);
    for (uint32_t device = g->net->n_npus; device < g->n_devices; device++)
        put_switch(g, &layout, device, out);
    for (uint32_t slot = 0; slot < g->n_slots; slot++) {
        const net_link *l = &g->link[slot];

        if (l->to != DSE_NONE && l->from < l->to) /* the reverse link is the same edge */
            dse_strbuf_addf(out, "  %" PRIu32 " -- %" PRIu32 " [color=%s]\n", l->from, l->to,
                            colours[l->dim]);
    }
    dse_strbuf_adds(out, "}\n");
}
