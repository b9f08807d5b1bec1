/* Points that a sweep does not try: pipelines whose stages are equal if the embedding and the loss count as
 * layers, and recomputation of some layers. */
#include "driver/plan_parts.h"

#include "driver/programs.h"
#include "driver/training.h"

#include <math.h>
#include <stdlib.h>

#define MOST_OF_STAGE 4 /* stages of a pipeline that are added have so many layers, at least */

/* ---- pipelines ------------------------------------------------------------------------------ */

/* Whether all programs of the points have Megatron's options. */
static bool are_megatrons(const drv_points *points)
{
    for (size_t i = 0; i < points->n; i++) {
        const uint32_t like = points->point[i].point.like;

        if (like != DRV_ANY && like != DRV_MEGATRON && like != DRV_BRIDGE)
            return false;
    }
    return true;
}

static bool has_value(const design_axis *axis, uint32_t value)
{
    for (uint32_t i = 0; i < axis->n; i++)
        if (axis->value[i] == value)
            return true;
    return false;
}

/* Adds the powers of two from 2 to `most` that divide layers + 2, and `whole`. Returns how many. */
static uint32_t add_powers(design_axis *axis, uint64_t most, uint64_t layers, uint64_t whole)
{
    uint32_t n = 0;

    for (uint32_t v = 2; v <= most && axis->n < DESIGN_MAX_VALUES; v *= 2)
        if ((layers + 2) % v == 0 && whole % v == 0 && !has_value(axis, v)) {
            axis->value[axis->n++] = v;
            n++;
        }
    return n;
}

dse_status drv_plan_widen(drv_space *space, uint64_t given, dse_arena *a, drv_points *points, dse_error *err)
{
    const drv_study *s = space->study;
    const uint64_t layers = (uint64_t)s->model.layers, npus = card_system_npus(&s->system);
    design_axes usual = space->strategy;
    design_axis *pp = &space->strategy.of[STRATEGY_pp], *vp = &space->strategy.of[STRATEGY_vp];
    size_t n = 0;
    dse_status st;

    if (given >> STRATEGY_pp & 1 || !are_megatrons(points))
        return DSE_OK;
    drv_training_axes(s, &usual);
    *pp = usual.of[STRATEGY_pp];
    if (!add_powers(pp, (layers + 2) / MOST_OF_STAGE, layers, npus)) {
        pp->n = 0;
        return DSE_OK;
    }
    if (!(given >> STRATEGY_vp & 1)) {
        *vp = usual.of[STRATEGY_vp];
        add_powers(vp, 8, layers, layers + 2);
    }
    space->every_value = false;
    if ((st = drv_space_points(space, a, points, err)) != DSE_OK)
        return st;
    for (size_t i = 0; i < points->n; i++) {
        const strategy *p = &points->point[i].point;
        const bool is_usual =
            has_value(&usual.of[STRATEGY_pp], p->pp) && has_value(&usual.of[STRATEGY_vp], p->vp);

        if (is_usual || (layers + 2) % ((uint64_t)p->pp * p->vp) == 0)
            points->point[n++] = points->point[i];
    }
    points->n = n;
    return DSE_OK;
}

/* ---- some layers made again ------------------------------------------------------------------ */

static int compare_points(const void *a, const void *b)
{
    return strategy_compare(&(*(const store_row *const *)a)->strategy,
                            &(*(const store_row *const *)b)->strategy);
}

/* The row that makes all layers again where this one makes none; NULL: it is not there. `sorted` by the
 * strategies. */
static const store_row *find_full(const store_row *r, const store_row *const *sorted, size_t n)
{
    store_row wanted = {.strategy = r->strategy};
    const store_row *key = &wanted, *const * found;

    wanted.strategy.recompute_granularity = STEP_RECOMPUTE_FULL;
    found = bsearch(&key, sorted, n, sizeof *sorted, compare_points);
    return found && (*found)->done ? *found : NULL;
}

/* The least share of the layers to make again with which a point fits, as time and memory are about linear in
 * it; NaN: it fits without, not even with all of them, or would be too slow to be among the best. */
static double share_of(const report_study *s, const store_row *none, const store_row *full)
{
    const double peak = (double)none->metrics.peak_memory, time = (double)none->metrics.wall_time;
    double share;

    if (none->strategy.recompute_granularity != STEP_RECOMPUTE_NONE || !none->done || !full ||
        store_fits(none->metrics.peak_memory, s->hbm_bytes) ||
        !store_fits(full->metrics.peak_memory, s->hbm_bytes))
        return NAN;
    share = (peak - s->hbm_bytes) / (peak - (double)full->metrics.peak_memory);
    return time + share * ((double)full->metrics.wall_time - time) >
                   DRV_PLAN_MARGIN * (double)s->ranked[0]->metrics.wall_time
               ? NAN
               : share;
}

/* Points about the least that fits, ascending by base and number of layers. In the arena. */
static strategy *list_partial(const drv_study *study, const report_study *ranked, dse_arena *a, size_t *n)
{
    const store_row **sorted = DSE_ARENA_NEW(a, const store_row *, ranked->n);
    strategy *out = NULL;
    size_t cap = 0;

    *n = 0;
    for (size_t i = 0; i < ranked->n; i++)
        sorted[i] = &ranked->row[i];
    qsort(sorted, ranked->n, sizeof *sorted, compare_points);
    for (size_t i = 0; i < ranked->n; i++) {
        const store_row *r = &ranked->row[i];
        const uint32_t layers =
            (uint32_t)study->model.layers / (r->strategy.pp * r->strategy.vp); /* of a chunk */
        const double share = share_of(ranked, r, find_full(r, sorted, ranked->n));
        const uint32_t least = isnan(share) ? 0 : (uint32_t)(share * layers);

        for (uint32_t k = least > 2 ? least - 2 : 1; !isnan(share) && k < layers && k <= least + 3; k++) {
            DSE_ARENA_GROW(a, out, cap, *n + 1);
            out[*n] = r->strategy;
            out[*n].recompute_granularity = STEP_RECOMPUTE_FULL;
            out[(*n)++].recompute_layers = k;
        }
    }
    return out;
}

dse_status drv_plan_refine(const drv_points *points, const report_study *ranked, uint64_t given,
                           uint32_t threads, dse_arena *a, drv_points *out, dse_error *err)
{
    const uint64_t says = (uint64_t)1 << STRATEGY_recompute | (uint64_t)1 << STRATEGY_recompute_granularity |
                          (uint64_t)1 << STRATEGY_recompute_layers | (uint64_t)1 << STRATEGY_recompute_every;
    size_t n, cap = points->n;
    store_metrics *m;
    strategy *point;
    dse_status st;

    *out = *points;
    if (!ranked->n_ranked || given & says || !are_megatrons(points))
        return DSE_OK;
    out->point = dse_arena_copy(a, points->point, points->n, sizeof *points->point);
    point = list_partial(drv_plan_study(points), ranked, a, &n);
    if ((st = drv_plan_simulate(drv_plan_study(points), NULL, 0, point, n, threads, a, &m, err)) != DSE_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        strategy before = i ? point[i - 1] : strategy_default();

        before.recompute_layers++;
        if (!store_fits(m[i].peak_memory, ranked->hbm_bytes) ||
            (i && !strategy_compare(&before, &point[i]) &&
             store_fits(m[i - 1].peak_memory, ranked->hbm_bytes)))
            continue;
        DSE_ARENA_GROW(a, out->point, cap, out->n + 1);
        out->point[out->n++] = (drv_space_point){0, point[i]};
    }
    return DSE_OK;
}
