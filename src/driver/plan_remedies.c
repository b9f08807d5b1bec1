/* What makes a model fit where no strategy that was asked for does. */
#include "cards/resize.h"
#include "driver/plan_parts.h"

#include <inttypes.h>

#define DOUBLINGS 6 /* of the system, in search of one on which something fits */

/* Keeps the fastest of what fits, or what needs least memory. */
static bool is_better(const report_plan_remedy *r, const store_metrics *m, bool fits)
{
    if (m->wall_time == STORE_ABSENT || (r->n_tried && r->fits && !fits))
        return false;
    if (!r->n_tried || r->fits != fits)
        return true;
    return fits ? m->wall_time < r->metrics.wall_time : m->peak_memory < r->metrics.peak_memory;
}

/* The space of what the user gave alone, but for dp, which follows. */
static drv_space space_as_given(const drv_plan_state *p)
{
    drv_space space = *p->o->points->space;

    for (uint32_t k = 0; k < STRATEGY_N; k++)
        if (!(p->o->given >> k & 1) || k == STRATEGY_dp)
            space.strategy.of[k].n = 0;
    return space;
}

/* Simulates the points of a space of one study. A space without points is no remedy. */
static dse_status try_space(drv_plan_state *p, const drv_space *space, const char *what, dse_error *err)
{
    report_plan_remedy *r = &p->out->remedy[p->out->n_remedies];
    drv_points points;
    strategy *point;
    store_metrics *m;
    dse_status st;

    if (drv_space_points(space, p->arena, &points, NULL) != DSE_OK)
        return DSE_OK;
    point = DSE_ARENA_RAW(p->arena, strategy, points.n);
    for (size_t i = 0; i < points.n; i++)
        point[i] = points.point[i].point;
    if ((st = drv_plan_simulate(space->study, NULL, 0, point, points.n, p->o->threads, p->arena, &m, err)) !=
        DSE_OK)
        return st;
    *r = (report_plan_remedy){.what = what};
    for (size_t i = 0; i < points.n; i++) {
        const bool fits = store_fits(m[i].peak_memory, p->ranked->hbm_bytes);

        if (!is_better(r, &m[i], fits))
            continue;
        r->n_tried = points.n;
        r->fits = fits;
        r->point = point[i];
        r->metrics = m[i];
    }
    p->out->n_remedies += r->n_tried > 0;
    return DSE_OK;
}

/* Leaves out one after the other what the user gave, so that a sweep takes what it takes of it; then all of
 * it. */
static dse_status try_without(drv_plan_state *p, dse_error *err)
{
    drv_space without = space_as_given(p);
    dse_strbuf names = dse_strbuf_in(p->arena);
    unsigned n = 0;
    dse_status st = DSE_OK;

    for (uint32_t k = 0; st == DSE_OK && k < STRATEGY_N; k++) {
        drv_space space = space_as_given(p);

        if (!(p->o->given >> k & 1) || k == STRATEGY_like || k == STRATEGY_dp)
            continue;
        space.strategy.of[k].n = without.strategy.of[k].n = 0;
        st = try_space(p, &space, dse_arena_printf(p->arena, "without %s", strategy_option_name(k)), err);
        dse_strbuf_addf(&names, "%s%s", n++ ? " " : "without ", strategy_option_name(k));
    }
    return st == DSE_OK && n > 1 ? try_space(p, &without, names.data, err) : st;
}

/* A sweep splits long sequences alone over NPUs. */
static dse_status try_context(drv_plan_state *p, dse_error *err)
{
    static const design_axis degrees = {4, {1, 2, 4, 8}};
    drv_space space = space_as_given(p);

    if (p->o->given >> STRATEGY_cp & 1)
        return DSE_OK;
    for (size_t i = 0; i < p->ranked->n; i++)
        if (p->ranked->row[i].strategy.cp > 1)
            return DSE_OK;
    space.every_value = false;
    space.strategy.of[STRATEGY_cp] = degrees;
    return try_space(p, &space, "with --cp 1,2,4,8", err);
}

/* Twice as many NPUs, and again, until something fits. */
static dse_status try_nodes(drv_plan_state *p, dse_error *err)
{
    const card_system *machine = &p->o->whole->system;
    const uint64_t npus = card_system_npus(&p->study->system), inner = card_system_inner(machine);
    drv_space space = space_as_given(p);
    const size_t first = p->out->n_remedies;
    dse_status st = DSE_OK;

    for (uint64_t f = 2; st == DSE_OK && f <= 1 << DOUBLINGS; f *= 2) {
        drv_study base = *p->o->whole, *larger = DSE_ARENA_NEW(p->arena, drv_study, 1);
        const bool of_nodes = machine->npus_count.n == 2 && npus * f % inner == 0;
        const char *set;
        cfg_settings settings;

        base.settings = "";
        if (card_system_size(machine, npus * f, p->arena, &set, NULL) != DSE_OK)
            break; /* this network has no such part */
        if ((st = drv_settings_parse(&set, 1, p->arena, &settings, err)) != DSE_OK)
            return st;
        if (drv_study_vary(&base, &settings, p->arena, larger, NULL) != DSE_OK)
            break; /* this network cannot be larger */
        space.study = larger;
        p->out->n_remedies = first; /* of several sizes the last counts */
        st = try_space(p, &space,
                       of_nodes ? dse_arena_printf(p->arena, "with --nodes %" PRIu64 " (%" PRIu64 " NPUs)",
                                                   npus * f / inner, npus * f)
                                : dse_arena_printf(p->arena, "with --npus %" PRIu64, npus * f),
                       err);
        if (p->out->n_remedies == first || p->out->remedy[first].fits)
            break;
    }
    return st;
}

dse_status drv_plan_find_remedies(drv_plan_state *p, dse_error *err)
{
    dse_status st;

    for (size_t i = 0; i < p->ranked->n; i++) {
        const store_row *r = &p->ranked->row[i];

        if (r->done && (!p->out->nearest || r->metrics.peak_memory < p->out->nearest->metrics.peak_memory))
            p->out->nearest = r;
    }
    p->out->remedy = DSE_ARENA_NEW(p->arena, report_plan_remedy, STRATEGY_N + 3);
    if ((st = try_without(p, err)) == DSE_OK && (st = try_context(p, err)) == DSE_OK)
        st = try_nodes(p, err);
    return st;
}
