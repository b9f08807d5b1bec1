/* draw -- a network as a picture. Text is appended; the same network has the same bytes. */
#ifndef DSE_DRAW_DRAW_H
#define DSE_DRAW_DRAW_H

#include "base/strbuf.h"
#include "network/graph.h"

/* An SVG for light and dark pages; `name` is the title. DSE_E_RANGE for pictures too dense to read: more than
 * 1,024 NPUs, or more than 20,000 lines. */
dse_status draw_svg(const net_graph *g, const char *name, dse_arena *a, dse_strbuf *out, dse_error *err);

/* Graphviz: a node for each device, with its place; an edge for each connection, which is a link each way. */
void draw_dot(const net_graph *g, const char *name, dse_arena *a, dse_strbuf *out);

#endif
