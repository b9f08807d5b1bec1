#include "driver/sample.h"

#include "base/python_random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    drv_space_point point;
} named;

typedef struct {
    size_t n;
    named *point;    /* sorted by name */
    uint32_t *drawn; /* indexes of these */
} pool;

static const char *name_of(const drv_points *p, const drv_space_point *point, dse_arena *a)
{
    const drv_variant *v = &p->variant[point->variant];
    const strategy *d = &point->point;
    dse_strbuf text = dse_strbuf_in(a);

    dse_strbuf_addf(&text, "%s_%" PRIu32 "_%" PRIu32 "_%" PRIu32 "_%" PRIu32 "_%s_%s",
                    p->space->study[v->study].model_name, d->dp, d->tp, d->pp, d->sp,
                    d->weight_sharded ? "True" : "False", d->recompute ? "True" : "False");
    for (size_t i = 0; i < v->settings.n; i++)
        dse_strbuf_addf(&text, "_%s=%s", v->settings.item[i].path, v->settings.item[i].value);
    return text.data;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* The points of one study, which stand together. */
static void make_pool(const drv_points *p, uint32_t study, size_t *next, dse_arena *a, pool *out)
{
    size_t first = *next;

    while (*next < p->n && p->variant[p->point[*next].variant].study == study)
        (*next)++;
    *out = (pool){*next - first, DSE_ARENA_NEW(a, named, *next - first), NULL};
    for (size_t i = 0; i < out->n; i++)
        out->point[i] = (named){name_of(p, &p->point[first + i], a), p->point[first + i]};
    if (out->n)
        qsort(out->point, out->n, sizeof *out->point, compare);
}

static bool same_names(const pool *a, const pool *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->point[i].name, b->point[i].name) != 0)
            return false;
    return true;
}

static void draw(pool *pools, uint32_t i, uint32_t n, dse_python_random *r, dse_arena *a)
{
    for (uint32_t k = 0; k < i; k++) {
        if (same_names(&pools[k], &pools[i])) {
            pools[i].drawn = pools[k].drawn;
            return;
        }
    }
    pools[i].drawn = DSE_ARENA_NEW(a, uint32_t, n);
    dse_python_random_sample(r, (uint32_t)pools[i].n, n, pools[i].drawn);
}

dse_status drv_points_sample(drv_points *p, uint32_t n, int64_t seed, dse_arena *a, dse_error *err)
{
    uint32_t n_studies = p->space->n_studies;
    pool *pools = DSE_ARENA_NEW(a, pool, n_studies);
    drv_space_point *points = DSE_ARENA_NEW(a, drv_space_point, p->n);
    dse_python_random random;
    size_t next = 0;

    dse_python_random_seed(&random, seed);
    for (uint32_t i = 0; i < n_studies; i++) {
        const drv_study *study = &p->space->study[i];

        make_pool(p, i, &next, a, &pools[i]);
        if (pools[i].n < n)
            return dse_fail(err, DSE_E_USAGE, "--sample %" PRIu32 " is more than the %zu points of %s on %s",
                            n, pools[i].n, study->model_name, study->system_name);
        draw(pools, i, n, &random, a);
        for (uint32_t k = 0; k < n; k++)
            points[(size_t)i * n + k] = pools[i].point[pools[i].drawn[k]].point;
    }
    p->point = points;
    p->n = (size_t)n * n_studies;
    return DSE_OK;
}
