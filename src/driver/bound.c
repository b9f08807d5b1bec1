#include "driver/bound.h"

#include "workload/pass.h"

typedef struct drv_outline {
    uint64_t operators_hash;
    cfg_doc operators; /* read again: those of a study go with it */
    int64_t layers;
    wl_passes passes;
    const wl_outline *outline;
} drv_outline;

void drv_bounds_init(drv_bounds *b)
{
    *b = (drv_bounds){0};
    dse_arena_init(&b->outlines);
    dse_arena_init(&b->system);
    dse_arena_init(&b->point);
}

void drv_bounds_free(drv_bounds *b)
{
    sim_bounds_free(b->bounds);
    wl_generator_free(b->generator);
    sched_keeper_free(b->orders);
    dse_free(b->outline);
    dse_arena_free(&b->outlines);
    dse_arena_free(&b->system);
    dse_arena_free(&b->point);
}

static bool is_outline_of(const drv_outline *o, const drv_study *s, wl_passes passes)
{
    return o->operators_hash == s->operators_hash && o->layers == s->model.layers && o->passes == passes;
}

/* Makes the operators those of a study, of the same content, that stay. */
static dse_status keep_operators(drv_bounds *b, const drv_study *s, dse_error *err)
{
    drv_study copy = *s;
    dse_status st;

    if (b->operators.root && b->operators_hash == s->operators_hash)
        return DSE_OK;
    b->operators_hash = s->operators_hash;
    for (size_t i = 0; i < b->n_outlines; i++)
        if (b->outline[i].operators_hash == s->operators_hash) {
            b->operators = b->outline[i].operators;
            return DSE_OK;
        }
    b->operators = (cfg_doc){0};
    if ((st = drv_study_load_operators(&copy, &b->outlines, err)) != DSE_OK)
        return st;
    if (copy.operators_hash != s->operators_hash)
        return dse_fail_at(err, DSE_E_CONFIG, copy.operators.path, "the operator file has changed");
    b->operators = copy.operators;
    return DSE_OK;
}

dse_status drv_bounds_check(const drv_study *s, const char *what, dse_error *err)
{
    if (card_model_is_main(&s->model))
        return dse_fail(
            err, DSE_E_CONFIG,
            "%s of %s: there are no bounds of the steps of STAGE's branch main; leave it out, or give "
            "--stage-version recomp",
            what, s->model_name);
    return DSE_OK;
}

dse_status drv_bounds_enter(drv_bounds *b, const drv_study *s, dse_error *err)
{
    dse_status st;

    sim_bounds_free(b->bounds);
    b->bounds = NULL;
    dse_arena_reset(&b->system);
    if ((st = drv_bounds_check(s, "a bound", err)) != DSE_OK || s->training)
        return st;
    if ((st = card_system_build(&s->system, &b->net, &b->settings, err)) != DSE_OK ||
        (st = keep_operators(b, s, err)) != DSE_OK ||
        (st = card_model_symbols(&s->model, &b->operators, &b->symbols, err)) != DSE_OK)
        return st;
    return sim_bounds_make(&b->settings, &b->net, &b->system, &b->bounds, err);
}

static dse_status find_outline(drv_bounds *b, const drv_study *s, wl_passes passes, const wl_outline **out,
                               dse_error *err)
{
    drv_outline made = {.operators_hash = s->operators_hash,
                        .operators = b->operators,
                        .layers = s->model.layers,
                        .passes = passes};
    dse_status st;

    for (size_t i = 0; i < b->n_outlines; i++)
        if (is_outline_of(&b->outline[i], s, passes)) {
            *out = b->outline[i].outline;
            return DSE_OK;
        }
    DSE_GROW(b->outline, b->cap_outlines, b->n_outlines + 1);
    if ((st = wl_outline_make(&b->operators, passes, (uint32_t)made.layers, &b->outlines, &made.outline,
                              err)) != DSE_OK)
        return st;
    *out = made.outline;
    b->outline[b->n_outlines++] = made;
    return DSE_OK;
}

static dse_status bound_training(drv_bounds *b, const drv_study *s, const strategy *p, step_machine machine,
                                 sim_bound *out, dse_error *err)
{
    drv_study with_orders = *s;
    step_result step;
    dse_status st;

    if (!b->orders)
        b->orders = sched_keeper_new();
    with_orders.orders = b->orders;
    dse_arena_reset(&b->point);
    if ((st = drv_training_on(&with_orders, p, machine, &b->point, &step, err)) != DSE_OK)
        return st;
    *out = (sim_bound){.part[SIM_BOUND_CHAIN] = step.step,
                       .wall = step.step,
                       .by = SIM_BOUND_CHAIN,
                       .held = step.memory[step.largest].peak};
    return DSE_OK;
}

dse_status drv_bounds_of_point(drv_bounds *b, const drv_study *s, const strategy *p, sim_bound *out,
                               dse_error *err)
{
    return s->training ? bound_training(b, s, p, STEP_UNITS, out, err) : drv_bounds_of(b, s, p, out, err);
}

/* Of the workload of a point, counted; *paths NULL: not asked for, or they cannot be made. */
typedef struct {
    wl_totals totals;
    wl_paths found;
    const wl_paths *paths;
} counted;

static void find_paths(drv_bounds *b, const drv_study *s, const wl_strategy *request, counted *out)
{
    if (!b->with_paths)
        return;
    if (!b->generator || b->generated_hash != b->operators_hash) {
        wl_generator_free(b->generator);
        b->generator = wl_generator_new(&b->operators);
        b->generated_hash = b->operators_hash;
    }
    if (wl_generator_paths(b->generator, &b->symbols, (uint32_t)s->model.layers, request, &b->point,
                           &out->found, NULL) == DSE_OK)
        out->paths = &out->found;
}

static dse_status count_point(drv_bounds *b, const drv_study *s, const strategy *p, counted *out,
                              dse_error *err)
{
    const wl_strategy request = drv_point_request(s, p);
    const wl_outline *outline = NULL;
    dse_status st;

    *out = (counted){.paths = NULL};
    dse_arena_reset(&b->point);
    if (!b->bounds)
        return dse_fail(err, DSE_E_CONFIG, "the study has no system that could be simulated");
    if ((st = drv_point_check(s, p, err)) != DSE_OK ||
        (st = find_outline(b, s, wl_passes_of(p), &outline, err)) != DSE_OK ||
        (st = wl_totals_of(outline, &b->symbols, &request, &b->point, &out->totals, err)) != DSE_OK)
        return st;
    find_paths(b, s, &request, out);
    return DSE_OK;
}

dse_status drv_bounds_of_any_network(drv_bounds *b, const drv_study *s, const strategy *p, sim_bound *out,
                                     dse_error *err)
{
    counted c;
    dse_status st;

    if (s->training)
        return bound_training(b, s, p, STEP_BOUND_WITHOUT_NETWORK, out, err);
    if ((st = count_point(b, s, p, &c, err)) != DSE_OK)
        return st;
    sim_bounds_of(b->bounds, &c.totals, NULL, out);
    out->wall = sim_bounds_without_network(b->bounds, &c.totals, c.paths);
    out->by = out->wall > out->part[SIM_BOUND_COMPUTE] ? SIM_BOUND_CHAIN : SIM_BOUND_COMPUTE;
    return DSE_OK;
}

dse_status drv_bounds_of(drv_bounds *b, const drv_study *s, const strategy *p, sim_bound *out, dse_error *err)
{
    counted c;
    dse_status st;

    if (s->training)
        return bound_training(b, s, p, STEP_BOUND, out, err);
    if ((st = count_point(b, s, p, &c, err)) != DSE_OK)
        return st;
    sim_bounds_of(b->bounds, &c.totals, c.paths, out);
    return DSE_OK;
}
