#include "driver/box_layout.h"

#include "step/buckets.h"

#include <inttypes.h>
#include <string.h>

static const step_model *model_of(const drv_boxes *b) { return &b->space->study[b->study].training->model; }

/* The most layers that stage i of n may have, or may make again. */
static uint32_t most_of(const drv_boxes *b, uint32_t i, uint32_t n)
{
    const uint32_t most = b->space->axis[b->layout_axis].most,
                   whole = b->recomputes ? step_stage_of(model_of(b), i, n).n_layers : b->whole;

    return most < whole ? most : whole;
}

/* Layers of the stages of a pipeline of n. */
static void set_parts(const drv_boxes *b, uint32_t n, design_part *part)
{
    const drv_axis *axis = &b->space->axis[b->layout_axis];

    for (uint32_t i = 0; i < n; i++) {
        part[i].low = axis->least || b->recomputes || !i || i + 1 == n ? axis->least : 1;
        part[i].high = most_of(b, i, n) + 1;
    }
}

/* Leaves of the ranges what a layout can have; false: there is none. */
static bool tighten(const drv_boxes *b, design_part *part, uint32_t n)
{
    if (!b->recomputes)
        return design_parts_tighten(b->whole, part, n);
    for (uint32_t i = 0; i < n; i++)
        if (part[i].low >= part[i].high)
            return false;
    return true;
}

static void find_first(const drv_boxes *b, const design_part *part, uint32_t n, uint32_t *out)
{
    if (!b->recomputes)
        design_parts_first(b->whole, part, n, out);
    for (uint32_t i = 0; b->recomputes && i < n; i++)
        out[i] = part[i].low;
}

double drv_box_count_layouts(const drv_boxes *b, const drv_box *box)
{
    const design_part *part = &box->range[b->space->n_axes];
    double n = 1;

    if (box->n_stages && !b->recomputes)
        return design_parts_count(b->whole, part, box->n_stages);
    for (uint32_t i = 0; i < box->n_stages; i++)
        n *= part[i].high - part[i].low;
    return n;
}

/* Whether there may be so many stages, and the layers of each, with its comma, can be written down. */
static bool may_have_stages(const drv_boxes *b, uint32_t n)
{
    const step_model *m = model_of(b);
    uint32_t most = 0;

    if (b->recomputes &&
        (n > m->n_layers + 2 || !(step_stages_fit(m, n, true) || step_stages_fit(m, n, false))))
        return false;
    for (uint32_t i = 0; i < n; i++)
        most = most_of(b, i, n) > most ? most_of(b, i, n) : most;
    return n * (most > 99 ? 4 : most > 9 ? 3 : 2) <= CFG_NAME_MAX;
}

/* The numbers of stages of which there are layouts, all of which a card's name can have. */
void drv_box_make_layouts(drv_boxes *b, uint32_t i)
{
    drv_box_axis *out = &b->axis[i];

    b->layout_axis = i;
    b->recomputes = drv_axis_recomputes(&b->space->axis[i]);
    *out = (drv_box_axis){.kind = DRV_AXIS_LAYOUT,
                          .number = DSE_ARENA_NEW(&b->arena, uint32_t, CFG_NAME_MAX / 2),
                          .is_ordered = true};
    for (uint32_t n = 1; n <= CFG_NAME_MAX / 2; n++) {
        design_part part[CFG_NAME_MAX / 2];

        if (!may_have_stages(b, n))
            continue;
        set_parts(b, n, part);
        if (tighten(b, part, n))
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
        return tighten(b, &(*box)->range[b->space->n_axes], (*box)->n_stages);
    if (places.high - places.low != 1)
        return true;
    n = b->axis[b->layout_axis].number[places.low];
    made = dse_calloc(1, drv_box_size(b, *box) + n * sizeof *made->range);
    memcpy(made, *box, drv_box_size(b, *box));
    made->n_stages = n;
    set_parts(b, made->n_stages, &made->range[b->space->n_axes]);
    dse_free(*box);
    *box = made;
    return tighten(b, &made->range[b->space->n_axes], made->n_stages);
}

/* Whether layers of stages are open. */
bool drv_box_has_layouts(const drv_boxes *b, const drv_box *box)
{
    for (uint32_t i = b->space->n_axes; i < drv_box_n_ranges(b, box); i++)
        if (drv_box_is_open(box, i))
            return true;
    return false;
}

bool drv_box_has_all_layouts(const drv_boxes *b, const drv_box *box)
{
    design_part part[CFG_NAME_MAX];

    set_parts(b, box->n_stages, part);
    return design_parts_tighten(b->whole, part, box->n_stages) &&
           !memcmp(part, &box->range[b->space->n_axes], box->n_stages * sizeof *part);
}

/* The first layout of each, of as many stages. A box whose number of stages is open has that of its first
 * one. */
int drv_box_compare_layouts(const drv_boxes *b, const drv_box *x, const drv_box *y)
{
    uint32_t p[CFG_NAME_MAX], q[CFG_NAME_MAX];

    if (!x->n_stages || !y->n_stages)
        return (x->n_stages > 0) - (y->n_stages > 0);
    find_first(b, &x->range[b->space->n_axes], x->n_stages, p);
    find_first(b, &y->range[b->space->n_axes], y->n_stages, q);
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
    tighten(b, part, n);
    find_first(b, part, n, layers);
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
    if ((from == to && !b->recomputes) || stage[from].low <= part[from].low ||
        (from != to && stage[to].high >= part[to].high))
        return false;
    stage[from] = (drv_box_range){stage[from].low - 1, stage[from].high - 1};
    if (from != to)
        stage[to] = (drv_box_range){stage[to].low + 1, stage[to].high + 1};
    return true;
}
