#include "driver/points.h"

#include "driver/training.h"

#include <stdlib.h>
#include <string.h>

/* ---- what they try ------------------------------------------------------------------------- */

static void note_value(design_axis *axis, uint32_t v)
{
    uint32_t at = 0;

    while (at < axis->n && axis->value[at] < v)
        at++;
    if ((at < axis->n && axis->value[at] == v) || axis->n == DESIGN_MAX_VALUES)
        return;
    memmove(&axis->value[at + 1], &axis->value[at], (axis->n - at) * sizeof *axis->value);
    axis->value[at] = v;
    axis->n++;
}

/* A point of profile train; `last` is the one before it, whose values are known: neighbours share most. */
static void note_point(drv_tried *t, const strategy *p, const strategy *last)
{
    for (uint32_t k = 0; k < STRATEGY_N; k++)
        if (!last || strategy_get(p, k) != strategy_get(last, k))
            note_value(&t->of.of[k], strategy_get(p, k));
}

/* What a variant says of its kernels, in the arena; NULL: it is of profile stage. */
static void note_laws(drv_tried *t, const char *laws, dse_arena *a)
{
    const char **longer;

    t->has_stage |= !laws;
    for (size_t i = 0; laws && i < t->n_laws; i++)
        if (!strcmp(t->laws[i], laws))
            return;
    if (!laws)
        return;
    longer = DSE_ARENA_NEW(a, const char *, t->n_laws + 1);
    if (t->n_laws)
        memcpy(longer, t->laws, t->n_laws * sizeof *longer);
    longer[t->n_laws++] = dse_arena_strdup(a, laws);
    t->laws = longer;
}

const drv_tried *drv_points_tried(const drv_points *p, dse_arena *a)
{
    drv_tried *t;

    if (p->tried)
        return p->tried;
    t = DSE_ARENA_NEW(a, drv_tried, 1);
    for (size_t i = 0; i < p->n_variants; i++)
        note_laws(t, p->variant[i].laws, a);
    for (size_t i = 0; i < p->n; i++)
        if (p->variant[p->point[i].variant].laws)
            note_point(t, &p->point[i].point, NULL);
    return t;
}

/* ---- a list -------------------------------------------------------------------------------- */

static dse_status collect(drv_walk *w, dse_arena *a, drv_points *out, dse_error *err)
{
    size_t cap_variants = 0, cap = 0;
    drv_walk_variant v;
    dse_status st;
    bool more;

    while ((st = drv_walk_next(w, &v, &more, err)) == DSE_OK && more) {
        drv_variant *mine;

        DSE_ARENA_GROW(a, out->variant, cap_variants, out->n_variants + 1);
        DSE_ARENA_GROW(a, out->point, cap, out->n + v.n);
        for (size_t i = 0; i < v.n; i++)
            out->point[out->n++] = (drv_space_point){out->n_variants, v.point[i]};
        mine = &out->variant[out->n_variants++];
        *mine = (drv_variant){.study = v.study,
                              .settings = v.settings,
                              .laws = v.varied->training ? drv_say_laws(&v.varied->system, a) : NULL};
        mine->settings.item = dse_arena_copy(a, v.settings.item, v.settings.n, sizeof *v.settings.item);
    }
    return st == DSE_OK ? drv_walk_check(w, err) : st;
}

static void note_refused(const drv_walk *w, dse_arena *a, drv_points *out)
{
    const char *first;

    out->n_refused = drv_walk_refused(w, &first);
    out->refusal = dse_arena_strdup(a, first);
}

dse_status drv_space_points(const drv_space *s, dse_arena *a, drv_points *out, dse_error *err)
{
    drv_points p = {.space = s};
    drv_walk *w = drv_walk_new(s);
    dse_status st = collect(w, a, &p, err);

    note_refused(w, a, &p);
    if (st == DSE_OK)
        *out = p;
    drv_walk_free(w);
    return st;
}

void drv_points_take_shard(drv_points *p, drv_shard shard)
{
    size_t kept = 0;

    for (size_t i = shard.first; i < p->n; i += shard.step)
        p->point[kept++] = p->point[i];
    p->n = kept;
}

dse_status drv_points_hold(drv_points *p, dse_arena *a, dse_error *err)
{
    drv_space_point *list;
    dse_status st = DSE_OK;
    drv_cursor c;

    if (p->point)
        return DSE_OK;
    list = DSE_ARENA_RAW(a, drv_space_point, p->n);
    drv_cursor_init(&c, p);
    for (size_t i = 0; st == DSE_OK && i < p->n; i++)
        st = drv_cursor_get(&c, i, &list[i], err);
    drv_cursor_free(&c);
    if (st == DSE_OK)
        p->point = list;
    return st;
}

/* ---- made again ---------------------------------------------------------------------------- */

/* Counts the points of a variant, and notes what those of the shard try. */
static void count_variant(const drv_walk_variant *v, drv_shard shard, size_t *n_all, drv_points *out,
                          drv_tried *tried, dse_arena *a)
{
    const strategy *last = NULL;
    dse_arena scratch;

    dse_arena_init(&scratch);
    note_laws(tried, v->varied->training ? drv_say_laws(&v->varied->system, &scratch) : NULL, a);
    dse_arena_free(&scratch);
    for (size_t i = 0; i < v->n; i++, ++*n_all) {
        if (*n_all < shard.first || (*n_all - shard.first) % shard.step)
            continue;
        out->n++;
        if (v->varied->training)
            note_point(tried, &v->point[i], last);
        last = &v->point[i];
    }
}

dse_status drv_space_stream(const drv_space *s, drv_shard shard, dse_arena *a, drv_points *out, size_t *n_all,
                            dse_error *err)
{
    drv_points p = {.space = s, .shard = shard};
    drv_tried *tried = DSE_ARENA_NEW(a, drv_tried, 1);
    drv_walk *w = drv_walk_new(s);
    drv_walk_variant v;
    dse_status st;
    bool more;

    *n_all = 0;
    while ((st = drv_walk_next(w, &v, &more, err)) == DSE_OK && more)
        count_variant(&v, shard, n_all, &p, tried, a);
    if (st == DSE_OK)
        st = drv_walk_check(w, err);
    note_refused(w, a, &p);
    p.tried = tried;
    if (st == DSE_OK)
        *out = p;
    drv_walk_free(w);
    return st;
}

void drv_cursor_init(drv_cursor *c, const drv_points *p) { *c = (drv_cursor){.points = p}; }

void drv_cursor_free(drv_cursor *c) { drv_walk_free(c->walk); }

dse_status drv_cursor_get(drv_cursor *c, size_t i, drv_space_point *out, dse_error *err)
{
    const drv_points *p = c->points;
    const uint64_t wanted = p->shard.first + (uint64_t)i * p->shard.step;
    dse_status st;
    bool more;

    if (p->point) {
        *out = p->point[i];
        return DSE_OK;
    }
    if (!c->walk || wanted < c->begin) {
        drv_walk_free(c->walk);
        *c = (drv_cursor){.points = p, .walk = drv_walk_new(p->space)};
    }
    while (wanted - c->begin >= c->at.n) {
        c->begin += c->at.n;
        if ((st = drv_walk_next(c->walk, &c->at, &more, err)) != DSE_OK)
            return st;
        if (!more)
            return dse_fail(err, DSE_E_CONFIG, "the space has fewer points than it had a moment ago");
    }
    *out = (drv_space_point){c->at.number, c->at.point[wanted - c->begin]};
    return DSE_OK;
}

/* ---- variants ------------------------------------------------------------------------------ */

uint32_t drv_points_base(const drv_points *p, uint64_t variant)
{
    if (p->variant)
        return p->variant[variant].study;
    for (uint32_t i = 0; i < p->space->n_axes; i++)
        variant /= p->space->axis[i].n;
    return (uint32_t)variant;
}

dse_status drv_points_settings(const drv_points *p, uint64_t variant, dse_arena *a, cfg_settings *out,
                               dse_error *err)
{
    if (!p->variant)
        return drv_space_combination(p->space, variant, a, out, err);
    *out = p->variant[variant].settings;
    return DSE_OK;
}

dse_status drv_points_study(const drv_points *p, uint64_t variant, dse_arena *a, drv_study *out,
                            dse_error *err)
{
    cfg_settings settings;
    dse_status st = drv_points_settings(p, variant, a, &settings, err);

    return st == DSE_OK
               ? drv_study_vary(&p->space->study[drv_points_base(p, variant)], &settings, a, out, err)
               : st;
}
