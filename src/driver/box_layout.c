#include "driver/box_layout.h"

#include <inttypes.h>
#include <string.h>

/* Layers of the stages of a pipeline of n. */
static void set_parts(const drv_boxes *b, uint32_t n, design_part *part)
{
    const drv_axis *axis = &b->space->axis[b->layout_axis];

    for (uint32_t i = 0; i < n; i++) {
        part[i].low = axis->least || !i || i + 1 == n ? axis->least : 1;
        part[i].high = (axis->most < b->whole ? axis->most : b->whole) + 1;
    }
}

/* The numbers of stages of which there are layouts, all of which a card's name can have, each with its
 * comma. */
void drv_box_make_layouts(drv_boxes *b, uint32_t i)
{
    const drv_axis *axis = &b->space->axis[i];
    const uint32_t most = axis->most < b->whole ? axis->most : b->whole;
    const uint32_t letters = most > 99 ? 4 : most > 9 ? 3 : 2;
    drv_box_axis *out = &b->axis[i];

    b->layout_axis = i;
    *out = (drv_box_axis){.kind = DRV_AXIS_LAYOUT,
                          .number = DSE_ARENA_NEW(&b->arena, uint32_t, CFG_NAME_MAX / 2),
                          .is_ordered = true};
    for (uint32_t n = 1; n <= CFG_NAME_MAX / letters; n++) {
        design_part part[CFG_NAME_MAX / 2];

        set_parts(b, n, part);
        if (design_parts_tighten(b->whole, part, n))
            out->number[out->n++] = b->max_stages = n;
    }
}

/* A box whose number of stages has become known gets their ranges; false: there is no layout. */
bool drv_box_settle_layout(const drv_boxes *b, drv_box **box)
{
    const drv_box_range places =
        b->layout_axis == DSE_NONE ? (drv_box_range){0} : (*box)->range[b->layout_axis];
    drv_box *made;
    uint32_t n;

    if ((*box)->n_stages)
        return design_parts_tighten(b->whole, &(*box)->range[b->space->n_axes], (*box)->n_stages);
    if (places.high - places.low != 1)
        return true;
    n = b->axis[b->layout_axis].number[places.low];
    made = dse_calloc(1, drv_box_size(b, *box) + n * sizeof *made->range);
    memcpy(made, *box, drv_box_size(b, *box));
    made->n_stages = n;
    set_parts(b, made->n_stages, &made->range[b->space->n_axes]);
    dse_free(*box);
    *box = made;
    return design_parts_tighten(b->whole, &made->range[b->space->n_axes], made->n_stages);
}

/* Whether layers of stages are open. */
bool drv_box_has_layouts(const drv_boxes *b, const drv_box *box)
{
    for (uint32_t i = b->space->n_axes; i < drv_box_n_ranges(b, box); i++)
        if (drv_box_is_open(box, i))
            return true;
    return false;
}

/* The first layout of each, of as many stages. A box whose number of stages is open has that of its first
 * one. */
int drv_box_compare_layouts(const drv_boxes *b, const drv_box *x, const drv_box *y)
{
    uint32_t p[CFG_NAME_MAX], q[CFG_NAME_MAX];

    if (!x->n_stages || !y->n_stages)
        return (x->n_stages > 0) - (y->n_stages > 0);
    design_parts_first(b->whole, &x->range[b->space->n_axes], x->n_stages, p);
    design_parts_first(b->whole, &y->range[b->space->n_axes], y->n_stages, q);
    for (uint32_t i = 0; i < x->n_stages; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* "7,8x6,5": layers by stage; an even layout of as many stages where they are open. */
const char *drv_box_say_layout(const drv_boxes *b, const uint32_t *number, uint32_t n_numbers, dse_arena *a)
{
    const uint32_t n_axes = b->space->n_axes, n = b->axis[b->layout_axis].number[number[b->layout_axis]];
    design_part part[CFG_NAME_MAX];
    uint32_t layers[CFG_NAME_MAX];
    dse_strbuf text = dse_strbuf_in(a);

    set_parts(b, n, part);
    design_parts_tighten(b->whole, part, n);
    design_parts_first(b->whole, part, n, layers);
    if (n_numbers > n_axes)
        memcpy(layers, &number[n_axes], n * sizeof *layers);
    for (uint32_t i = 0, times; i < n; i += times) {
        for (times = 1; i + times < n && layers[i + times] == layers[i]; times++)
            continue;
        dse_strbuf_addf(&text, times > 1 ? "%s%" PRIu32 "x%" PRIu32 : "%s%" PRIu32, i ? "," : "", layers[i],
                        times);
    }
    return text.data;
}

bool drv_box_give_layer(const drv_boxes *b, drv_box *box, uint32_t from, uint32_t to)
{
    drv_box_range *stage = &box->range[b->space->n_axes];
    design_part part[CFG_NAME_MAX];

    set_parts(b, box->n_stages, part);
    if (from == to || stage[from].low <= part[from].low || stage[to].high >= part[to].high)
        return false;
    stage[from] = (drv_box_range){stage[from].low - 1, stage[from].high - 1};
    stage[to] = (drv_box_range){stage[to].low + 1, stage[to].high + 1};
    return true;
}
