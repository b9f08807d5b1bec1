/* Within chart*.c: the frame of a chart, and axes with round numbers. */
#ifndef DSE_DRAW_CHART_PARTS_H
#define DSE_DRAW_CHART_PARTS_H

#include "draw/chart.h"
#include "draw/elements.h"

#define CHART_WIDTH  760.0
#define CHART_MARGIN 16.0
#define CHART_TITLE  30.0
#define CHART_LETTER 6.6  /* of 12 pixels, on average */
#define CHART_LEGEND 20.0 /* height of a line of it */

/* An axis over pixels from `from` to `to`. */
typedef struct {
    double low, high; /* values at its ends; low > 0 where is_log */
    double from, to;
    bool is_log;
} chart_axis;

double chart_at(const chart_axis *a, double v);

/* The values at which an axis has numbers: 1, 2, 5 times powers of ten. Returns how many. */
#define CHART_TICKS 16
size_t chart_ticks(const chart_axis *a, double out[CHART_TICKS]);

/* The number of a tick, without more decimals than the distance of ticks needs. */
typedef struct {
    char text[32];
} chart_number;
chart_number chart_tick_text(const chart_axis *a, double v);
chart_number chart_value_text(double v); /* three digits, or more of a larger number */

/* "<svg ...>" with title, style and background, of so many pixels. */
/* A subtitle (NULL: none) takes CHART_SUBTITLE pixels. */
#define CHART_SUBTITLE 20.0
void chart_begin(const char *title, const char *subtitle, double w, double h, dse_strbuf *out);
void chart_end(dse_strbuf *out);

/* A text whose x is its left end, its middle or its right end. */
typedef enum { CHART_START, CHART_MIDDLE, CHART_END } chart_anchor;
void chart_text(const char *class, chart_anchor anchor, double x, double y, const char *text,
                dse_strbuf *out);
void chart_line(const char *class, double x1, double y1, double x2, double y2, dse_strbuf *out);

/* Grid lines and numbers of an axis at the bottom (from top to bottom), at the left (from left to right). */
void chart_put_x_axis(const chart_axis *a, double top, double bottom, const char *label, dse_strbuf *out);
void chart_put_y_axis(const chart_axis *a, double left, double right, const char *label, dse_strbuf *out);

/* A name of at most `w` pixels, its end cut off. */
void chart_put_short(const char *class, chart_anchor anchor, double x, double y, const char *name, double w,
                     dse_strbuf *out);

/* Entries of a legend in lines, the first at `y`. Gives the place of each, and returns the lines. */
size_t chart_legend_places(const char *const *name, size_t n, double y, draw_point *at);

#endif
