/* draw_chart -- charts of figures as SVG: dots and lines over two axes, stacked bars, a heat map.
 *
 * Values are in the units of their labels ("step time (s)"): a chart knows none. NaN is a value that is
 * not known and is left out. Pictures are for light and dark pages, in colours that colour-blind readers
 * tell apart (after Okabe and Ito; heat after viridis). The same chart has the same bytes. All is
 * borrowed. */
#ifndef DSE_DRAW_CHART_H
#define DSE_DRAW_CHART_H

#include "base/strbuf.h"

#define DRAW_COLOURS 8  /* of series; further ones begin again */
#define DRAW_PARTS   10 /* colours of the parts of bars */

typedef enum {
    DRAW_DOTS,
    DRAW_LINE,  /* from point to point */
    DRAW_STEPS, /* a value holds until the next x */
} draw_mark;

typedef struct {
    const char *name; /* in the legend; NULL: it has no entry */
    draw_mark mark;
    size_t n;
    const double *x, *y;
    const double *low, *high;   /* of y, an error bar; NULL: none */
    const char *const *tooltip; /* of each dot; NULL: none */
} draw_series;

typedef struct {
    const char *title, *x_label, *y_label;
    const char *subtitle; /* what is drawn; NULL: none. What does not fit is left out */
    bool log_x, log_y;    /* else the y axis begins at 0, and that of x unless all values are far from it */
    size_t n_series;
    const draw_series *series;
    double limit; /* a dashed line across, on the y axis; NaN: none */
    const char *limit_label;
    bool has_diagonal; /* where x and y are equal; both axes then have one range */
} draw_xy;

/* Dots that would cover each other within a pixel are drawn once. */
void draw_xy_svg(const draw_xy *c, dse_strbuf *out);

/* Horizontal bars, the first on top, each made of parts in their order. */
typedef struct {
    const char *title, *label; /* of the axis */
    const char *subtitle;      /* as above */
    size_t n_bars, n_parts;
    const char *const *bar, *const *part; /* names; a single part has no legend */
    const double *value;                  /* [bar * n_parts + part], not negative */
    const uint32_t *colour;               /* of each part, below DRAW_PARTS; NULL: in their order */
} draw_bars;

void draw_bars_svg(const draw_bars *c, dse_strbuf *out);

/* A cell for each x and y. */
typedef struct {
    const char *title, *x_label, *y_label, *label; /* of the values */
    size_t n_x, n_y;
    const char *const *x, *const *y; /* names of columns and rows */
    const double *value;             /* [y * n_x + x] */
    bool less_is_better;             /* the brightest colour is the best */
} draw_heat;

void draw_heat_svg(const draw_heat *c, dse_strbuf *out);

/* "#0072b2": of a series, of a part of a bar; what a page that draws for itself takes, too. */
extern const char *const draw_series_colours[DRAW_COLOURS], *const draw_part_colours[DRAW_PARTS];

#endif
