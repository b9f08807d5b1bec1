/* draw_layout -- where the devices of a network are in a picture, in pixels, y downwards.
 *
 * A level is the picture of one instance of a dimension. Its cells are NPUs at dimension 0, and boxes that
 * hold the level below at the others. All instances of a dimension look alike, so a dimension has one
 * level. */
#ifndef DSE_DRAW_LAYOUT_H
#define DSE_DRAW_LAYOUT_H

#include "network/graph.h"

#define DRAW_BOX_PAD     12 /* around the contents of a box */
#define DRAW_BOX_CAPTION 16 /* above it */

typedef struct {
    double x, y;
} draw_point;

typedef struct {
    const net_dimension *dim;
    double cell_w, cell_h;
    draw_point *cell;     /* centres, dim->shape.n of them */
    double w, h;          /* everything is within (0, 0) and this */
    bool has_switch;      /* of a dimension above 0 it stands for `stride` switches */
    draw_point switch_at; /* its centre */
    double switch_w, switch_h;
    bool star; /* lines go to the middle of the switch, else straight up or down to it */
    draw_point around[NET_MAX_AXES]; /* by axis: offset of lines that pass beside cells */
} draw_level;

typedef struct {
    uint32_t n_levels;
    draw_level level[NET_MAX_DIMS]; /* by dimension */
} draw_layout;

/* The cells belong to the arena. */
void draw_layout_make(const net_network *net, dse_arena *a, draw_layout *out);

/* The upper left corner of a cell, and of the cell's contents, relative to that of the level. */
draw_point draw_corner(const draw_level *l, uint32_t cell);
draw_point draw_inside(const draw_level *l, uint32_t cell);

/* The axis along which a line between two cells must pass beside the cells between them, or DSE_NONE. */
uint32_t draw_axis_around(const draw_level *l, uint32_t a, uint32_t b);

#endif
