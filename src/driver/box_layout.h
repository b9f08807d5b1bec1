/* Layouts of boxes (box.h): layers by stage of a pipeline, as ranges behind those of the axes. */
#ifndef DSE_DRIVER_BOX_LAYOUT_H
#define DSE_DRIVER_BOX_LAYOUT_H

#include "driver/box.h"

/* Ranges of a box: of axes, and of stages. */
static inline uint32_t drv_box_n_ranges(const drv_boxes *b, const drv_box *box)
{
    return b->space->n_axes + box->n_stages;
}

static inline bool drv_box_is_open(const drv_box *box, uint32_t range)
{
    return box->range[range].high - box->range[range].low > 1;
}

/* Bytes. */
static inline size_t drv_box_size(const drv_boxes *b, const drv_box *box)
{
    return sizeof *box + drv_box_n_ranges(b, box) * sizeof *box->range;
}

/* Makes the axis of layouts: the numbers of stages of which there are any, as far as a card's name has
 * room for whatever layers they have. */
void drv_box_make_layouts(drv_boxes *b, uint32_t axis);

/* A box whose number of stages has become known gets their ranges, in its place; ranges that are there
 * are left what a layout can have. False: there is no layout. */
bool drv_box_settle_layout(const drv_boxes *b, drv_box **box);

/* Whether layers of stages are open; whether no layout of as many stages has been left out. */
bool drv_box_has_layouts(const drv_boxes *b, const drv_box *box);
bool drv_box_has_all_layouts(const drv_boxes *b, const drv_box *box);

/* The first layout of each, of as many stages; <0, 0, >0. A box whose number of stages is open has that
 * of its first one. */
int drv_box_compare_layouts(const drv_boxes *b, const drv_box *x, const drv_box *y);

/* "7,8x6,5" of a corner's numbers: layers by stage, in the arena; where they are open, any layout of as
 * many stages. */
const char *drv_box_say_layout(const drv_boxes *b, const uint32_t *number, uint32_t n_numbers, dse_arena *a);

/* How many there are, as a double counts; 1: there is no axis of layouts, or the number of stages is open. */
double drv_box_count_layouts(const drv_boxes *b, const drv_box *box);

/* Has one stage of a box with a fixed layout give a layer to another one, or the same stage make one layer
 * less again; false: it must not. */
bool drv_box_give_layer(const drv_boxes *b, drv_box *box, uint32_t from, uint32_t to);

#endif
