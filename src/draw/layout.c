#include "draw/layout.h"

#include <math.h>

#define NPU_HEIGHT    22
#define DIGIT_WIDTH   7
#define NPU_GAP       34 /* between NPUs, and between boxes: room for lines */
#define BOX_GAP       46
#define SWITCH_HEIGHT 24
#define SWITCH_WIDTH  120 /* at least, for its label */
#define ONE_ROW       8   /* NPUs under a switch; more stand above and below it */
#define ONE_BOX_ROW   4
#define TWO_ROWS      32 /* more stand around it */
#define MOST_COMPARED 1024

static double largest(double a, double b) { return a > b ? a : b; }

static double gap_of(const draw_level *l) { return l->dim->stride == 1 ? NPU_GAP : BOX_GAP; }

/* ---- on a circle --------------------------------------------------------------------------- */

/* An even number of cells begins beside the top, so that four form a square. */
static draw_point on_circle(uint32_t i, uint32_t n)
{
    double turn = -0.25 + (n % 2 ? 0 : -0.5 / n) + (double)i / n;

    return (draw_point){cos(2 * M_PI * turn), sin(2 * M_PI * turn)};
}

/* The radius at which two cells do not overlap, side by side or one above the other. */
static double radius_for(const draw_level *l, draw_point a, draw_point b)
{
    double dx = fabs(a.x - b.x), dy = fabs(a.y - b.y), gap = gap_of(l);
    double beside = dx > 1e-9 ? (l->cell_w + gap) / dx : INFINITY;
    double above = dy > 1e-9 ? (l->cell_h + gap) / dy : INFINITY;

    return beside < above ? beside : above;
}

static void place_on_circle(draw_level *l, double radius)
{
    uint32_t n = l->dim->shape.n;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t compared = n <= MOST_COMPARED ? i : i ? 1 : 0;

        l->cell[i] = on_circle(i, n);
        for (uint32_t k = 1; k <= compared; k++)
            radius = largest(radius, radius_for(l, l->cell[i], l->cell[i - k]));
    }
    for (uint32_t i = 0; i < n; i++)
        l->cell[i] = (draw_point){l->cell[i].x * radius, l->cell[i].y * radius};
}

static void place_circle(draw_level *l) { place_on_circle(l, 0); }

/* ---- along a switch ------------------------------------------------------------------------ */

static void place_bar(draw_level *l)
{
    uint32_t n = l->dim->shape.n, rows = n > (l->dim->stride == 1 ? ONE_ROW : ONE_BOX_ROW) ? 2 : 1;
    uint32_t columns = (n + rows - 1) / rows;
    double gap = gap_of(l), step = l->cell_w + gap * (l->dim->stride == 1 ? 0.5 : 1);
    double away = SWITCH_HEIGHT / 2.0 + gap + l->cell_h / 2;

    l->has_switch = true;
    l->switch_h = SWITCH_HEIGHT;
    if (n > TWO_ROWS) {
        l->star = true;
        l->switch_w = SWITCH_WIDTH;
        place_on_circle(l, SWITCH_WIDTH);
        return;
    }
    l->switch_w = largest(SWITCH_WIDTH, (columns - 1) * step + l->cell_w);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = i / columns, in_row = row + 1 < rows || rows == 1 ? columns : n - columns;

        l->cell[i].x = (i % columns - (in_row - 1) / 2.0) * step;
        l->cell[i].y = rows == 1 || row == 1 ? away : -away;
    }
}

/* ---- on a grid ----------------------------------------------------------------------------- */

static void place_grid(draw_level *l, const uint32_t *extent)
{
    double gap = gap_of(l), x = l->cell_w + gap, y = l->cell_h + gap;

    for (uint32_t i = 0; i < extent[0] * extent[1]; i++) {
        const uint32_t column = i % extent[0], row = i / extent[0];

        l->cell[i] = (draw_point){column * x, row * y};
    }
    l->around[0] = (draw_point){0, -(l->cell_h / 2 + 0.3 * gap)};
    l->around[1] = (draw_point){-(l->cell_w / 2 + 0.3 * gap), 0};
}

/* Planes above each other, each seen from the side: a row is further to the left than the one behind it. So
 * far that no NPU is above another one of its plane, and the lines between planes, which go straight down,
 * pass between NPUs. */
static void place_planes(draw_level *l, const uint32_t *extent)
{
    uint32_t plane = extent[0] * extent[1];
    double gap = gap_of(l), aside = l->cell_w + 12, y = l->cell_h + 0.7 * gap;
    double x = largest(l->cell_w + gap, aside * extent[1]), z = extent[1] * y + gap;

    for (uint32_t i = 0; i < plane * extent[2]; i++) {
        const uint32_t level = i / plane, row = i % plane / extent[0];

        l->cell[i].x = i % extent[0] * x + (extent[1] - 1 - row) * aside;
        l->cell[i].y = row * y + level * z;
    }
    l->around[0] = (draw_point){0, -(l->cell_h / 2 + 0.25 * gap)};
    l->around[1] = (draw_point){-(l->cell_w / 2 + 6), 0};
    l->around[2] = (draw_point){l->cell_w / 2 + 6, 0};
}

static void place_axes(draw_level *l)
{
    const uint32_t *extent = l->dim->shape.extent;

    (extent[2] > 1 ? place_planes : place_grid)(l, extent);
}

/* A cube of the lowest three bits; each further bit has a copy of everything, in turn to the right and below,
 * a little aside so that lines of several bits do not cover each other. */
static void place_cubes(draw_level *l)
{
    uint32_t n = l->dim->shape.n, block = n < 8 ? n : 8;
    uint32_t extent[NET_MAX_AXES] = {2, block > 2 ? 2 : 1, block > 4 ? 2 : 1};
    double gap = gap_of(l), w, h;

    (block > 4 ? place_planes : place_grid)(l, extent);
    w = l->cell[1].x + l->cell[block > 4 ? 2 : 0].x + l->cell_w + 2 * gap;
    h = l->cell[block - 1].y + l->cell_h + 2 * gap;
    for (uint32_t right = 1; block < n; block *= 2, right = !right) {
        draw_point shift = {right ? w : 1.5 * l->cell_w, right ? 1.5 * l->cell_h : h};

        for (uint32_t i = 0; i < block; i++)
            l->cell[block + i] = (draw_point){l->cell[i].x + shift.x, l->cell[i].y + shift.y};
        w += shift.x;
        h += shift.y;
    }
}

/* ---- all of them --------------------------------------------------------------------------- */

typedef struct {
    double left, top, right, bottom;
} extents;

static void include(extents *e, draw_point centre, double w, double h)
{
    e->left = fmin(e->left, centre.x - w / 2);
    e->right = fmax(e->right, centre.x + w / 2);
    e->top = fmin(e->top, centre.y - h / 2);
    e->bottom = fmax(e->bottom, centre.y + h / 2);
}

static bool goes_around(const draw_level *l, uint32_t axis)
{
    const net_shape *s = &l->dim->shape;

    return axis < l->dim->topology->n_axes && s->wraps && s->extent[axis] > 2;
}

/* Moves everything so that it begins at (0, 0), with room for the lines that pass beside cells. */
static void fit(draw_level *l)
{
    extents e = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    uint32_t n = l->dim->shape.n;

    for (uint32_t i = 0; i < n; i++) {
        include(&e, l->cell[i], l->cell_w, l->cell_h);
        for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
            if (goes_around(l, axis))
                include(&e, (draw_point){l->cell[i].x + l->around[axis].x, l->cell[i].y + l->around[axis].y},
                        8, 8);
    }
    if (l->has_switch)
        include(&e, l->switch_at, l->switch_w, l->switch_h);
    for (uint32_t i = 0; i < n; i++)
        l->cell[i] = (draw_point){l->cell[i].x - e.left, l->cell[i].y - e.top};
    l->switch_at = (draw_point){l->switch_at.x - e.left, l->switch_at.y - e.top};
    l->w = e.right - e.left;
    l->h = e.bottom - e.top;
}

void draw_layout_make(const net_network *net, dse_arena *a, draw_layout *out)
{
    static void (*const place[])(draw_level * l) = {[NET_FORM_CIRCLE] = place_circle,
                                                    [NET_FORM_BAR] = place_bar,
                                                    [NET_FORM_GRID] = place_axes,
                                                    [NET_FORM_CUBES] = place_cubes};
    int digits = 1;

    for (uint32_t id = net->n_npus - 1; id >= 10; id /= 10)
        digits++;
    *out = (draw_layout){.n_levels = net->n_dims};
    for (uint32_t i = 0; i < net->n_dims; i++) {
        draw_level *l = &out->level[i], *below = i ? l - 1 : NULL;

        l->dim = &net->dim[i];
        l->cell_w = below ? below->w + 2 * DRAW_BOX_PAD : 12 + DIGIT_WIDTH * (digits < 2 ? 2 : digits);
        l->cell_h = below ? below->h + 2 * DRAW_BOX_PAD + DRAW_BOX_CAPTION : NPU_HEIGHT;
        l->cell = DSE_ARENA_NEW(a, draw_point, l->dim->shape.n);
        place[l->dim->topology->form](l);
        fit(l);
    }
}

draw_point draw_corner(const draw_level *l, uint32_t cell)
{
    return (draw_point){l->cell[cell].x - l->cell_w / 2, l->cell[cell].y - l->cell_h / 2};
}

draw_point draw_inside(const draw_level *l, uint32_t cell)
{
    draw_point corner = draw_corner(l, cell);

    return (draw_point){corner.x + DRAW_BOX_PAD, corner.y + DRAW_BOX_PAD + DRAW_BOX_CAPTION};
}

uint32_t draw_axis_around(const draw_level *l, uint32_t a, uint32_t b)
{
    const net_dimension *d = l->dim;

    for (uint32_t axis = 0; axis < d->topology->n_axes; axis++) {
        uint32_t n = d->shape.extent[axis], from = a % n, to = b % n;

        if (from + 1 < to || to + 1 < from)
            return axis;
        a /= n;
        b /= n;
    }
    return DSE_NONE;
}
