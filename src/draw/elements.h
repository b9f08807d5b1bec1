/* elements -- what SVG pictures consist of. All of it is appended; numbers are in tenths of a pixel. */
#ifndef DSE_DRAW_ELEMENTS_H
#define DSE_DRAW_ELEMENTS_H

#include "base/strbuf.h"
#include "draw/layout.h"

/* Without "-0" and ".0". */
void draw_number(double v, dse_strbuf *out);
/* ' name="1.5"' */
void draw_attribute(const char *name, double v, dse_strbuf *out);
void draw_rect(const char *class, draw_point corner, double w, double h, double round, dse_strbuf *out);
/* "<text ...>", which the caller ends; an empty class is none. */
void draw_text(const char *class, draw_point at, dse_strbuf *out);
/* Text as content of an element. */
void draw_escaped(const char *text, dse_strbuf *out);

#endif
