#include "driver/box_layout.h"

#include "base/array.h"
#include "exec/interrupt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- axes ---------------------------------------------------------------------------------- */

/* Keys of systems of which no step gets longer as they get better: more of it (1), or less (-1). */
static const struct {
    const char *key;
    int better;
} rates[] = {
    {"compute.peak_perf", 1},     {"compute.peak_fp8", 1},
    {"compute.peak_nvfp4", 1},    {"compute.peak_fp32", 1},
    {"compute.clock", 1},         {"memory.bandwidth", 1},
    {"memory.capacity", 1},       {"network.bandwidth", 1},
    {"network.latency", -1},      {"network.collective_latency", -1},
    {"network.step_latency", -1}, {"network.compute_share", -1},
    {"overheads.per_kernel", -1}, {"overheads.per_step", -1},
    {"overheads.per_layer", -1},  {"overheads.per_collective", -1},
};

static bool starts_with(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

/* Its index in a list of values aside: network.bandwidth[1]. False: it is no rate. */
static bool find_rate(const char *path, int *better)
{
    for (size_t i = 0; i < DSE_COUNT(rates); i++) {
        const size_t n = strlen(rates[i].key);

        if (strncmp(path, rates[i].key, n) != 0 || (path[n] && path[n] != '['))
            continue;
        *better = rates[i].better;
        return true;
    }
    return false;
}

/* The number that a card has for a value; false: it has none. */
static bool read_value(const drv_study *s, const char *path, const char *text, design_value *out)
{
    const cfg_setting setting = {path, text};
    card_model model = s->model;
    card_system system = s->system;
    cfg_value v;

    if (cfg_table_has(&card_model_table, path)) {
        if (cfg_table_set(&card_model_table, &setting, &model, NULL) != DSE_OK ||
            !cfg_table_get(&card_model_table, &model, path, &v))
            return false;
    } else if (cfg_table_set(&card_system_table, &setting, &system, NULL) != DSE_OK ||
               !cfg_table_get(&card_system_table, &system, path, &v)) {
        return false;
    }
    if (v.type == CFG_T_INT)
        *out = (design_value){DESIGN_INT, {v.integer}};
    else if (v.type == CFG_T_DOUBLE)
        *out = (design_value){.kind = DESIGN_REAL, .real = v.number};
    return v.type == CFG_T_INT || v.type == CFG_T_DOUBLE;
}

typedef struct {
    design_value value;
    double key; /* smaller is better */
    uint32_t number;
} valued;

static int by_key(const void *a, const void *b)
{
    const valued *x = a, *y = b;

    if (x->key < y->key || x->key > y->key)
        return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool read_values(const drv_study *s, const drv_axis *axis, int better, valued *out)
{
    for (uint32_t i = 0; i < axis->n; i++) {
        design_value *v = &out[i].value;

        if (!read_value(s, axis->path, axis->value[i], v))
            return false;
        out[i].number = i;
        out[i].key = (v->kind == DESIGN_INT ? (double)v->integer : v->real) * -better;
    }
    return true;
}

static bool are_ordered(const uint32_t *number, uint32_t n)
{
    for (uint32_t i = 2; i < n; i++)
        if ((number[i] > number[i - 1]) != (number[1] > number[0]))
            return false;
    return true;
}

static drv_axis_kind kind_of(const drv_space *s, const drv_axis *axis, bool has_values, bool is_rate)
{
    if (drv_axis_is_layout(axis))
        return DRV_AXIS_LAYOUT;
    if (drv_axis_shapes(s, axis) || cfg_table_has(&card_model_table, axis->path))
        return DRV_AXIS_SHAPE;
    if (is_rate && has_values)
        return DRV_AXIS_RATE;
    return starts_with(axis->path, "network.") || starts_with(axis->path, "collectives.") ? DRV_AXIS_NETWORK
                                                                                          : DRV_AXIS_SHAPE;
}

static void make_axis(drv_boxes *b, uint32_t i)
{
    const drv_axis *axis = &b->space->axis[i];
    drv_box_axis *out = &b->axis[i];
    valued *v = dse_calloc(axis->n, sizeof *v);
    int better = 0;
    const bool is_rate = find_rate(axis->path, &better);
    const bool has_values = read_values(&b->space->study[b->study], axis, better, v);

    *out = (drv_box_axis){.kind = kind_of(b->space, axis, has_values, is_rate),
                          .n = axis->n,
                          .number = DSE_ARENA_NEW(&b->arena, uint32_t, axis->n)};
    if (has_values && out->kind == DRV_AXIS_RATE) {
        out->value = DSE_ARENA_NEW(&b->arena, design_value, axis->n);
        qsort(v, axis->n, sizeof *v, by_key);
    }
    for (uint32_t k = 0; k < axis->n; k++) {
        out->number[k] = out->value ? v[k].number : k;
        if (out->value)
            out->value[k] = v[k].value;
    }
    out->is_ordered = are_ordered(out->number, axis->n);
    dse_free(v);
}

/* ---- boxes --------------------------------------------------------------------------------- */

void drv_boxes_init(drv_boxes *b, const drv_space *s, uint32_t study, double hbm_bytes)
{
    memset(b, 0, sizeof *b);
    b->space = s;
    b->study = study;
    b->hbm_bytes = hbm_bytes;
    dse_arena_init(&b->arena);
    dse_arena_init(&b->scratch);
    drv_bounds_init(&b->bounds);
    b->bounds.with_paths = true;
    for (size_t i = 0; i < DRV_BOX_CORNERS; i++)
        dse_arena_init(&b->corner[i].arena);
    b->axis = DSE_ARENA_NEW(&b->arena, drv_box_axis, s->n_axes + 1);
    b->layout_axis = DSE_NONE;
    b->whole = (uint32_t)s->study[study].model.layers;
    for (uint32_t i = 0; i < s->n_axes; i++)
        (drv_axis_is_layout(&s->axis[i]) ? drv_box_make_layouts : make_axis)(b, i);
    b->number = DSE_ARENA_NEW(&b->arena, uint32_t, s->n_axes + b->max_stages + 1);
    b->stages = drv_stages_new();
    b->recompute = drv_recomputes_new();
    b->axis_of = DSE_ARENA_NEW(&b->arena, uint32_t *, s->n_constraints + 1);
    for (uint32_t c = 0; c < s->n_constraints; c++) {
        const design_expr *e = &s->constraint[c].expr;

        b->axis_of[c] = DSE_ARENA_NEW(&b->arena, uint32_t, e->n_names + 1);
        for (uint32_t k = 0; k < e->n_names; k++) {
            b->axis_of[c][k] = DSE_NONE;
            for (uint32_t i = 0; i < s->n_axes; i++)
                if (!strcmp(s->axis[i].path, e->name[k]))
                    b->axis_of[c][k] = i;
        }
    }
}

void drv_boxes_free(drv_boxes *b)
{
    drv_bounds_free(&b->bounds);
    drv_stages_free(b->stages);
    drv_recomputes_free(b->recompute);
    for (size_t i = 0; i < DRV_BOX_CORNERS; i++)
        dse_arena_free(&b->corner[i].arena);
    dse_arena_free(&b->scratch);
    dse_arena_free(&b->arena);
}

drv_box *drv_box_copy(const drv_boxes *b, const drv_box *box)
{
    return memcpy(dse_calloc(1, drv_box_size(b, box)), box, drv_box_size(b, box));
}

drv_box *drv_boxes_whole(const drv_boxes *b)
{
    drv_box *box = dse_calloc(1, sizeof *box + b->space->n_axes * sizeof *box->range);

    for (uint32_t i = 0; i < b->space->n_axes; i++)
        box->range[i].high = b->axis[i].n;
    drv_box_settle_layout(b, &box);
    return box;
}

/* The longest open axis of a kind; DSE_NONE: none is open. */
static uint32_t find_open(const drv_boxes *b, const drv_box *box, drv_axis_kind kind)
{
    uint32_t best = DSE_NONE, most = 1;

    for (uint32_t i = 0; i < b->space->n_axes; i++) {
        const uint32_t n = box->range[i].high - box->range[i].low;

        if (b->axis[i].kind != kind || n <= most)
            continue;
        best = i;
        most = n;
    }
    return best;
}

/* Whether one value of each axis is left. */
static bool is_variant(const drv_boxes *b, const drv_box *box)
{
    for (uint32_t i = 0; i < drv_box_n_ranges(b, box); i++)
        if (drv_box_is_open(box, i))
            return false;
    return true;
}

bool drv_box_is_point(const drv_boxes *b, const drv_box *box)
{
    return box->has_strategy && is_variant(b, box);
}

static uint32_t first_number(const drv_box_axis *a, drv_box_range r)
{
    uint32_t first = a->number[r.low];

    if (a->is_ordered)
        return first < a->number[r.high - 1] ? first : a->number[r.high - 1];
    for (uint32_t i = r.low; i < r.high; i++)
        first = a->number[i] < first ? a->number[i] : first;
    return first;
}

int drv_box_order(const drv_boxes *b, const drv_box *x, const drv_box *y)
{
    for (uint32_t i = 0; i < b->space->n_axes; i++) {
        const uint32_t p = first_number(&b->axis[i], x->range[i]), q = first_number(&b->axis[i], y->range[i]);

        const int c = p != q ? (p < q ? -1 : 1) : i == b->layout_axis ? drv_box_compare_layouts(b, x, y) : 0;

        if (c)
            return c;
    }
    return (x->place > y->place) - (x->place < y->place);
}

/* ---- corners ------------------------------------------------------------------------------- */

/* What the axes set with these numbers. */
static dse_status settings_of(const drv_boxes *b, const uint32_t *number, uint32_t n_numbers, dse_arena *a,
                              cfg_settings *out, dse_error *err)
{
    uint32_t *of_axis = dse_arena_copy(a, number, b->space->n_axes, sizeof *number);
    cfg_setting *item;
    dse_status st;

    if (b->layout_axis == DSE_NONE)
        return drv_space_settings(b->space, number, a, out, err);
    of_axis[b->layout_axis] = 0;
    st = drv_space_settings(b->space, of_axis, a, out, err);
    if (st != DSE_OK)
        return st;
    item = dse_arena_copy(a, out->item, out->n, sizeof *item);
    for (size_t i = 0; i < out->n; i++)
        if (!strcmp(item[i].path, b->space->axis[b->layout_axis].path))
            item[i].value = drv_box_say_layout(b, number, n_numbers, a);
    out->item = item;
    return DSE_OK;
}

static void build(drv_boxes *b, drv_box_corner *c, uint32_t n_numbers)
{
    const drv_space *s = b->space;
    dse_status st;

    if (b->entered == c)
        b->entered = NULL;
    dse_arena_reset(&c->arena);
    c->number = dse_arena_copy(&c->arena, b->number, n_numbers + 1, sizeof *b->number);
    c->n_numbers = n_numbers;
    c->why = (dse_error)DSE_ERROR_INIT;
    c->is_dropped = false;
    st = settings_of(b, c->number, n_numbers, &c->arena, &c->settings, &c->why);
    c->is_built = false;
    if (st != DSE_OK)
        return;
    c->is_built = drv_study_vary(&s->study[b->study], &c->settings, &c->arena, &c->study, &c->why) == DSE_OK;
    if (!c->is_built)
        c->is_dropped = drv_space_drops(s, &c->study, &c->arena);
}

const drv_box_corner *drv_boxes_corner(drv_boxes *b, const drv_box *box)
{
    const uint32_t n_axes = b->space->n_axes,
                   n = drv_box_has_layouts(b, box) ? n_axes : drv_box_n_ranges(b, box);
    drv_box_corner *oldest = &b->corner[0];

    for (uint32_t i = 0; i < n; i++)
        b->number[i] =
            i < n_axes && i != b->layout_axis ? b->axis[i].number[box->range[i].low] : box->range[i].low;
    for (size_t i = 0; i < DRV_BOX_CORNERS; i++) {
        drv_box_corner *c = &b->corner[i];

        if (c->number && c->n_numbers == n && !memcmp(c->number, b->number, n * sizeof *b->number)) {
            c->used = ++b->clock;
            return c;
        }
        oldest = c->used < oldest->used ? c : oldest;
    }
    build(b, oldest, n);
    oldest->used = ++b->clock;
    return oldest;
}

void drv_boxes_settings(drv_boxes *b, const drv_box *box, dse_arena *a, cfg_settings *out)
{
    const drv_box_corner *c = drv_boxes_corner(b, box);

    settings_of(b, c->number, c->n_numbers, a, out, NULL); /* as it did of the corner */
}

/* ---- constraints --------------------------------------------------------------------------- */

/* What name k of constraint c may be in a box. */
static dse_status range_of(drv_boxes *b, const drv_box *box, uint32_t c, uint32_t k,
                           const drv_box_corner *corner, design_range *out, dse_error *err)
{
    const drv_constraint *constraint = &b->space->constraint[c];
    const char *name = constraint->expr.name[k];
    const uint32_t own = b->axis_of[c][k];

    *out = (design_range){0};
    if (own != DSE_NONE && (drv_box_is_open(box, own) || b->axis[own].value)) {
        const design_value *value = b->axis[own].value;
        const drv_box_range r = box->range[own];

        out->is_known = value != NULL;
        if (value) {
            const design_value x = value[r.low], y = value[r.high - 1];
            const bool ascends = x.kind == DESIGN_INT ? x.integer <= y.integer : x.real <= y.real;

            out->low = ascends ? x : y;
            out->high = ascends ? y : x;
        }
        return DSE_OK;
    }
    for (uint32_t i = 0; i < b->space->n_axes; i++)
        if (drv_box_is_open(box, i) && drv_axis_changes(&b->space->axis[i], name))
            return DSE_OK;
    if (!corner->is_built)
        return DSE_OK;
    if (drv_constraint_value(constraint, k, &corner->study, box->has_strategy ? &box->strategy : NULL,
                             &b->scratch, &out->low, &out->is_known, err) != DSE_OK)
        return err->status;
    out->high = out->low;
    return DSE_OK;
}

static dse_status check_constraint(drv_boxes *b, const drv_box *box, uint32_t c, const drv_box_corner *corner,
                                   bool *may_hold, dse_error *err)
{
    const drv_constraint *constraint = &b->space->constraint[c];
    const uint32_t n = constraint->expr.n_names;
    design_range *range = DSE_ARENA_NEW(&b->scratch, design_range, n + 1);
    design_value *value = DSE_ARENA_NEW(&b->scratch, design_value, n + 1);
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    for (uint32_t k = 0; k < n; k++) {
        if ((st = range_of(b, box, c, k, corner, &range[k], &why)) != DSE_OK)
            return dse_fail_at(err, st, why.where, "%s", why.text);
        value[k] = range[k].low;
    }
    if (!drv_box_is_point(b, box)) {
        *may_hold = design_expr_may_hold(&constraint->expr, range);
        return DSE_OK;
    }
    st = design_expr_holds(&constraint->expr, value, may_hold, &why);
    return st == DSE_OK ? st : dse_fail_at(err, st, constraint->where, "%s", why.text);
}

static dse_status check_constraints(drv_boxes *b, const drv_box *box, const drv_box_corner *corner,
                                    bool *may_hold, dse_error *err)
{
    dse_status st = DSE_OK;

    *may_hold = true;
    for (uint32_t c = 0; st == DSE_OK && *may_hold && c < b->space->n_constraints; c++)
        st = check_constraint(b, box, c, corner, may_hold, err);
    return st;
}

/* A variant that is built and differs from the corner in rates alone: what is neither a rate nor the
 * strategy's has the same value in a constraint. */
static const drv_box_corner *find_kin(drv_boxes *b, const drv_box *box)
{
    for (size_t i = 0; i < DRV_BOX_CORNERS; i++) {
        const drv_box_corner *c = &b->corner[i];
        bool is_kin = c->number && c->is_built;

        for (uint32_t k = 0; is_kin && k < b->space->n_axes; k++)
            is_kin = b->axis[k].kind == DRV_AXIS_RATE ||
                     c->number[k] ==
                         (k == b->layout_axis ? box->range[k].low : b->axis[k].number[box->range[k].low]);
        if (is_kin)
            return c;
    }
    return drv_boxes_corner(b, box);
}

bool drv_boxes_may_hold(drv_boxes *b, const drv_box *box)
{
    bool may_hold;

    dse_arena_reset(&b->scratch);
    return check_constraints(b, box, find_kin(b, box), &may_hold, NULL) != DSE_OK || may_hold;
}

/* Leaves out the best places of a rate that no point of the box can have. */
static void shave(drv_boxes *b, drv_box *box, uint32_t axis)
{
    drv_box_range *r = &box->range[axis];
    const uint32_t high = r->high;
    uint32_t step = 1;

    while (2 * step < high - r->low)
        step *= 2;
    for (; step; step /= 2)
        while (high - r->low > step) {
            r->high = r->low + step;
            if (drv_boxes_may_hold(b, box))
                break;
            r->low += step;
        }
    r->high = high;
}

static void shave_rates(drv_boxes *b, drv_box *box)
{
    for (uint32_t i = 0; b->space->n_constraints && i < b->space->n_axes; i++)
        if (b->axis[i].kind == DRV_AXIS_RATE && drv_box_is_open(box, i))
            shave(b, box, i);
}

/* ---- bounds -------------------------------------------------------------------------------- */

static double limit_of(const drv_boxes *b, const drv_study *s)
{
    return isnan(b->hbm_bytes) ? s->system.hbm_bytes : b->hbm_bytes;
}

static bool fits(const drv_boxes *b, const drv_study *s, uint64_t held)
{
    return store_fits(held, limit_of(b, s));
}

static void note_refusal(drv_boxes *b, const dse_error *why)
{
    if (!b->n_refused++)
        b->refusal = *why;
}

static dse_status enter(drv_boxes *b, const drv_box_corner *c, dse_error *err)
{
    dse_status st = b->entered == c ? DSE_OK : drv_bounds_enter(&b->bounds, &c->study, err);

    b->entered = st == DSE_OK ? c : NULL;
    return st;
}

static double tokens_of(const drv_study *s)
{
    return s->training ? (double)(uint64_t)(s->model.batch * s->model.sequence) : 1;
}

/* Whose steps are bounds of a box. */
static step_machine machine_of(const drv_boxes *b, const drv_box *box)
{
    return find_open(b, box, DRV_AXIS_NETWORK) == DSE_NONE ? STEP_BOUND : STEP_BOUND_WITHOUT_NETWORK;
}

/* The least of all layouts of a box of one strategy. Boxes that have all of them are many, and most are never
 * split: they get no close look, unless a layout is asked for. */
static dse_status bound_layouts(drv_boxes *b, const drv_box *box, const drv_box_corner *c,
                                double part_of_memory, drv_stages_bound *out, dse_error *err)
{
    return drv_stages_least(b->stages, c->number, b->space->n_axes, &c->study, &box->strategy,
                            machine_of(b, box), &box->range[b->space->n_axes],
                            part_of_memory * limit_of(b, &c->study),
                            out->layout || !drv_box_has_all_layouts(b, box), out, err);
}

/* What tells the study of a corner from others by what drv_recomputes keeps of it: where each rank has one
 * stage that is what is held, which depends on no rate and no network. Good until drv_boxes_* is called
 * again. */
static const uint32_t *key_of(drv_boxes *b, const drv_box *box, const drv_box_corner *c)
{
    for (uint32_t i = 0; i < b->space->n_axes; i++)
        b->number[i] =
            box->strategy.vp == 1 && (b->axis[i].kind == DRV_AXIS_RATE || b->axis[i].kind == DRV_AXIS_NETWORK)
                ? 0
                : c->number[i];
    return b->number;
}

/* Of a variant: what the sweep would refuse. */
static dse_status check_built(drv_boxes *b, const drv_box_corner *c, dse_error *err)
{
    return c->is_built || c->is_dropped
               ? DSE_OK
               : drv_space_fail(&b->space->study[b->study], &c->settings, &c->why, &b->scratch, err);
}

typedef dse_status bounding(drv_bounds *b, const drv_study *s, const strategy *p, sim_bound *out,
                            dse_error *err);

dse_status drv_boxes_bound(drv_boxes *b, drv_box *box, bool *is_empty, dse_error *err)
{
    const drv_box_corner *c;
    const drv_study *least;
    dse_time by_ranks = 0;
    bounding *bound_by;
    dse_error why = DSE_ERROR_INIT;
    sim_bound bound;
    bool may_hold;
    dse_status st;

    *is_empty = !drv_boxes_may_hold(b, box);
    if (*is_empty)
        return DSE_OK;
    shave_rates(b, box);
    c = drv_boxes_corner(b, box);
    dse_arena_reset(&b->scratch);
    if (!c->is_built && is_variant(b, box)) {
        *is_empty = c->is_dropped;
        return check_built(b, c, err);
    }
    if ((st = check_constraints(b, box, c, &may_hold, err)) != DSE_OK)
        return st;
    *is_empty = !may_hold;
    if (!may_hold || !box->has_strategy || !c->is_built)
        return DSE_OK;
    if ((st = drv_bounds_check(&c->study, "--search", err)) != DSE_OK)
        return st;
    b->n_bounds++;
    if (drv_box_has_layouts(b, box) && !b->recomputes) {
        drv_stages_bound of_layouts = {.layout = NULL};

        if (bound_layouts(b, box, c, 1, &of_layouts, &why) != DSE_OK) {
            note_refusal(b, &why);
            of_layouts.is_empty = true;
        }
        box->bound = fmax(box->bound, (double)of_layouts.wall / tokens_of(&c->study));
        *is_empty = of_layouts.is_empty;
        return DSE_OK;
    }
    least = &c->study;
    if (drv_box_has_layouts(b, box)) {
        least = drv_recomputes_least(b->recompute, key_of(b, box, c), b->space->n_axes, &c->study,
                                     &box->strategy, machine_of(b, box), limit_of(b, &c->study),
                                     &box->range[b->space->n_axes], &by_ranks);
        *is_empty = !least;
        if (*is_empty)
            return DSE_OK;
        if (!drv_box_has_layouts(b, box)) /* one is left, of which there is another corner */
            return drv_boxes_bound(b, box, is_empty, err);
    }
    bound_by = is_variant(b, box)                                ? drv_bounds_of_point
               : find_open(b, box, DRV_AXIS_NETWORK) != DSE_NONE ? drv_bounds_of_any_network
                                                                 : drv_bounds_of;
    if (enter(b, c, &why) != DSE_OK || bound_by(&b->bounds, least, &box->strategy, &bound, &why) != DSE_OK) {
        note_refusal(b, &why);
        *is_empty = true;
        return DSE_OK;
    }
    box->bound =
        fmax(box->bound, (double)(bound.wall > by_ranks ? bound.wall : by_ranks) / tokens_of(&c->study));
    if (least != &c->study) /* those with more layers made again need less memory */
        return DSE_OK;
    box->held = bound.held > box->held ? bound.held : box->held;
    box->is_exact = c->study.training && is_variant(b, box);
    *is_empty = !fits(b, &c->study, box->held);
    return DSE_OK;
}

static void fix_layout(const drv_boxes *b, drv_box *box, const uint32_t *layout)
{
    for (uint32_t i = 0; i < box->n_stages; i++)
        box->range[b->space->n_axes + i] = (drv_box_range){layout[i], layout[i] + 1};
}

/* Where ranks have several stages their memory is known in the mean alone: if the layout does not fit, then
 * one that would fit into less is tried. */
static bool lay_out_stages(drv_boxes *b, drv_box *box)
{
    static const double part_of_memory[] = {1, 0.98, 0.96, 0.94, 0.92, 0.88, 0.84};
    uint32_t layout[CFG_NAME_MAX];
    bool fits = false;

    for (size_t k = 0; !fits && k < DSE_COUNT(part_of_memory); k++) {
        drv_stages_bound least = {.layout = layout};
        const drv_box_corner *c = drv_boxes_corner(b, box);
        drv_box *fixed;
        bool is_empty = true;

        if (!c->is_built || bound_layouts(b, box, c, part_of_memory[k], &least, NULL) != DSE_OK ||
            least.is_empty)
            return false;
        fixed = drv_box_copy(b, box);
        fix_layout(b, fixed, layout);
        fits = drv_boxes_bound(b, fixed, &is_empty, NULL) == DSE_OK && !is_empty;
        dse_free(fixed);
    }
    if (fits)
        fix_layout(b, box, layout);
    return fits;
}

static bool lay_out_recomputed(drv_boxes *b, drv_box *box)
{
    uint32_t layout[CFG_NAME_MAX];
    const drv_box_corner *c = drv_boxes_corner(b, box);

    if (!c->is_built || !drv_recomputes_fit(b->recompute, key_of(b, box, c), b->space->n_axes, &c->study,
                                            &box->strategy, machine_of(b, box), limit_of(b, &c->study),
                                            &box->range[b->space->n_axes], layout))
        return false;
    fix_layout(b, box, layout);
    return true;
}

bool drv_boxes_lay_out(drv_boxes *b, drv_box *box)
{
    if (!drv_box_has_layouts(b, box))
        return true;
    return b->recomputes ? lay_out_recomputed(b, box) : lay_out_stages(b, box);
}

/* ---- splitting ----------------------------------------------------------------------------- */

/* The halves of a box along an axis, each bounded; NULL: it is empty. */
typedef struct {
    drv_box *half[2];
} halves;

static void free_halves(halves *h)
{
    dse_free(h->half[0]);
    dse_free(h->half[1]);
}

static dse_status halve(drv_boxes *b, const drv_box *box, uint32_t axis, halves *out, dse_error *err)
{
    const drv_box_range r = box->range[axis];
    const uint32_t ends[] = {r.low, r.low + (r.high - r.low + 1) / 2, r.high};
    dse_status st = DSE_OK;

    *out = (halves){{NULL, NULL}};
    for (int i = 0; i < 2 && st == DSE_OK; i++) {
        drv_box *half = drv_box_copy(b, box);
        bool is_empty;

        half->range[axis] = (drv_box_range){ends[i], ends[i + 1]};
        is_empty = !drv_box_settle_layout(b, &half);
        if (!is_empty)
            st = drv_boxes_bound(b, half, &is_empty, err);
        if (st == DSE_OK && !is_empty) {
            out->half[i] = half;
        } else {
            b->has_unlisted |= !half->has_strategy;
            dse_free(half);
        }
    }
    if (st != DSE_OK)
        free_halves(out);
    return st;
}

/* The lesser bound of two halves, or the larger. */
static double bound_of(const halves *h, bool larger)
{
    const double x = h->half[0] ? h->half[0]->bound : INFINITY, y = h->half[1] ? h->half[1]->bound : INFINITY;

    return larger ? fmax(x, y) : fmin(x, y);
}

/* Whether a split moves the bound more than another one: of both halves, then of one. */
static bool moves_more(const halves *h, uint32_t length, const halves *other, uint32_t other_length)
{
    for (int larger = 0; larger < 2; larger++) {
        const double x = bound_of(h, larger), y = bound_of(other, larger);

        if (x < y || x > y)
            return x > y;
    }
    return length > other_length;
}

/* Along the open axis that moves the bound most. */
static dse_status halve_best(drv_boxes *b, const drv_box *box, halves *out, dse_error *err)
{
    uint32_t length = 0;

    *out = (halves){{NULL, NULL}};
    for (uint32_t i = 0; i < drv_box_n_ranges(b, box); i++) {
        const uint32_t n = box->range[i].high - box->range[i].low;
        halves h;
        dse_status st;

        if (n < 2)
            continue;
        if ((st = halve(b, box, i, &h, err)) != DSE_OK) {
            free_halves(out);
            return st;
        }
        if (length && !moves_more(&h, n, out, length)) {
            free_halves(&h);
            continue;
        }
        free_halves(out);
        *out = h;
        length = n;
    }
    return DSE_OK;
}

/* One box for each strategy. */
static dse_status spread(drv_boxes *b, const drv_box *box, const drv_study *study, drv_box_take *take,
                         void *user, dse_error *err)
{
    dse_arena list;
    strategy *point;
    double each = 1;
    size_t n;
    dse_status st;

    dse_arena_init(&list);
    st = drv_space_strategies(b->space, study, &list, &point, &n,
                              b->none.status == DSE_OK && !box->n_stages ? &b->none : NULL, err);
    for (uint32_t i = 0; i < b->space->n_axes; i++)
        each *= b->axis[i].kind == DRV_AXIS_RATE ? b->axis[i].n : box->range[i].high - box->range[i].low;
    each *= drv_box_count_layouts(b, box);
    b->n_points += st == DSE_OK ? each * (double)n : 0;
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        drv_box *part = drv_box_copy(b, box);
        bool is_empty;

        part->has_strategy = true;
        part->place = (uint32_t)i;
        part->strategy = point[i];
        st = drv_boxes_bound(b, part, &is_empty, err);
        if (st == DSE_OK && !is_empty)
            take(user, part);
        else
            dse_free(part);
        if (st == DSE_OK && exec_was_interrupted())
            st = dse_fail(err, DSE_E_INTERRUPT, "interrupted");
    }
    dse_arena_free(&list);
    return st;
}

dse_status drv_boxes_split(drv_boxes *b, const drv_box *box, drv_box_take *take, void *user, dse_error *err)
{
    const uint32_t shape = find_open(b, box, DRV_AXIS_SHAPE);
    uint32_t axis = shape == DSE_NONE ? find_open(b, box, DRV_AXIS_LAYOUT) : shape;
    const drv_box_corner *c;
    dse_status st;
    halves h;

    if (axis == DSE_NONE && !box->has_strategy) {
        c = drv_boxes_corner(b, box);
        if (c->is_built)
            return spread(b, box, &c->study, take, user, err);
        if (is_variant(b, box)) {
            b->has_unlisted = true;
            return check_built(b, c, err);
        }
    }
    if (axis == DSE_NONE)
        axis = find_open(b, box, DRV_AXIS_NETWORK);
    st = axis == DSE_NONE ? halve_best(b, box, &h, err) : halve(b, box, axis, &h, err);
    for (int i = 0; i < 2 && st == DSE_OK; i++)
        if (h.half[i])
            take(user, h.half[i]);
    return st;
}
