#include "driver/prune.h"

#include "base/idtable.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#define MIN_ROUND 4

typedef struct {
    size_t task;
    uint64_t hash;
    uint64_t bound; /* ns; 0: none */
    uint32_t group;
    drv_skip by; /* the reason if it is skipped for its time */
} candidate;

/* The points of one study. If all results are wanted, one round takes all of them. */
typedef struct {
    uint64_t study;
    double hbm_bytes; /* NaN: no limit */
    size_t next, end; /* its candidates that are neither run nor skipped, in their final order */
    size_t round;     /* size of the next round */
    uint64_t *wall;   /* of the results that fit */
    size_t n, cap;
} group;

struct drv_pruner {
    drv_prune want;
    drv_bounds bounds;
    candidate *candidate;
    size_t n_candidates, cap_candidates;
    uint64_t *hash; /* of all candidates, sorted, once the first result comes */
    group *group;
    size_t n_groups, cap_groups;
    dse_idtable by_study;
    uint32_t entered;              /* group */
    uint64_t skipped[DRV_N_SKIPS]; /* not reported yet */
    size_t *task;                  /* of the round */
    bool is_sorted;
    uint64_t n_rounds;
};

static const struct {
    const char *name, *key;
} reasons[DRV_N_SKIPS] = {
    [DRV_SKIP_COMPUTE] = {NULL, "compute"},
    [DRV_SKIP_COMM] = {NULL, "communication"},
    [DRV_SKIP_CHAIN] = {NULL, "chain"},
    [DRV_SKIP_MEMORY] = {"the memory that a rank holds at once", "memory"},
};

const char *drv_skip_name(drv_skip why)
{
    return why < DRV_SKIP_MEMORY ? sim_bound_name((sim_bound_kind)why) : reasons[why].name;
}

const char *drv_skip_key(drv_skip why) { return reasons[why].key; }

drv_pruner *drv_pruner_make(const drv_prune *want)
{
    drv_pruner *p = dse_calloc(1, sizeof *p);

    p->want = *want;
    drv_bounds_init(&p->bounds);
    return p;
}

void drv_pruner_free(drv_pruner *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_groups; i++)
        dse_free(p->group[i].wall);
    drv_bounds_free(&p->bounds);
    dse_free(p->candidate);
    dse_free(p->hash);
    dse_free(p->group);
    dse_idtable_free(&p->by_study);
    dse_free(p->task);
    dse_free(p);
}

/* ---- points -------------------------------------------------------------------------------- */

static bool has_study(const void *groups, uint32_t id, const void *study)
{
    return ((const group *)groups)[id].study == *(const uint64_t *)study;
}

static dse_idslot *find_group(const drv_pruner *p, uint64_t study)
{
    return dse_idtable_find(&p->by_study, (uint32_t)dse_hash_u64(study), has_study, p->group, &study);
}

static size_t first_round(uint64_t top)
{
    if (!top)
        return SIZE_MAX;
    return top > MIN_ROUND ? (size_t)top : MIN_ROUND;
}

/* Makes a study's group the current one and enters its bounds; a study whose bounds fail has a group, too. */
static dse_status enter_group(drv_pruner *p, const drv_study *s, uint64_t study, dse_error *err)
{
    dse_idslot *slot;

    if (p->n_groups && p->group[p->entered].study == study)
        return DSE_OK;
    dse_idtable_reserve(&p->by_study);
    slot = find_group(p, study);
    if (slot->id == DSE_NONE) {
        DSE_GROW(p->group, p->cap_groups, p->n_groups + 1);
        p->group[p->n_groups] =
            (group){.study = study,
                    .hbm_bytes = isnan(p->want.hbm_bytes) ? s->system.hbm_bytes : p->want.hbm_bytes,
                    .round = first_round(p->want.top)};
        dse_idtable_put(&p->by_study, slot, (uint32_t)dse_hash_u64(study), (uint32_t)p->n_groups++);
    }
    p->entered = slot->id;
    return drv_bounds_enter(&p->bounds, s, err);
}

void drv_pruner_add(drv_pruner *p, size_t task, const drv_study *s, uint64_t study_hash, uint64_t hash,
                    const strategy *point)
{
    sim_bound bound = {0};
    dse_error why = DSE_ERROR_INIT; /* the worker that runs the point will report it */
    dse_status st = enter_group(p, s, study_hash, &why);

    if (st == DSE_OK)
        st = drv_bounds_of(&p->bounds, s, point, &bound, &why);
    if (st != DSE_OK)
        bound = (sim_bound){0};
    if (!store_fits(bound.held, p->group[p->entered].hbm_bytes)) {
        p->skipped[DRV_SKIP_MEMORY]++;
        return;
    }
    DSE_GROW(p->candidate, p->cap_candidates, p->n_candidates + 1);
    p->candidate[p->n_candidates++] = (candidate){task, hash, bound.wall, p->entered, (drv_skip)bound.by};
}

/* ---- results ------------------------------------------------------------------------------- */

/* By group, then by bound. */
static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* Called once all points are known. */
static void sort_candidates(drv_pruner *p)
{
    size_t n = p->n_candidates;

    if (p->is_sorted)
        return;
    p->hash = dse_calloc(n + 1, sizeof *p->hash);
    p->task = dse_calloc(n + 1, sizeof *p->task);
    if (n)
        qsort(p->candidate, n, sizeof *p->candidate, compare_candidates);
    for (size_t i = 0; i < n; i++) {
        group *g = &p->group[p->candidate[i].group];

        if (!i || p->candidate[i - 1].group != p->candidate[i].group)
            g->next = i;
        g->end = i + 1;
        p->hash[i] = p->candidate[i].hash;
    }
    qsort(p->hash, n, sizeof *p->hash, dse_by_u64);
    p->is_sorted = true;
}

/* Whether `best` ranks it: its step time is known, and it fits (report/ranking.c). */
static bool is_ranked(const store_time *t, double hbm_bytes)
{
    return t->wall_time != STORE_ABSENT && store_fits(t->peak_memory, hbm_bytes);
}

void drv_pruner_result(drv_pruner *p, const store_time *t)
{
    dse_idslot *slot;
    group *g;

    sort_candidates(p);
    if (!p->n_groups)
        return;
    slot = find_group(p, t->study);
    if (slot->id == DSE_NONE || !is_ranked(t, p->group[slot->id].hbm_bytes))
        return;
    if (!p->n_rounds && bsearch(&t->hash, p->hash, p->n_candidates, sizeof *p->hash, dse_by_u64))
        return;
    g = &p->group[slot->id];
    DSE_GROW(g->wall, g->cap, g->n + 1);
    g->wall[g->n++] = t->wall_time;
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* Skips the points of a group that are too slow and appends its next points to the round. `best` ranks by
 * doubles, so times are compared as doubles. */
static size_t plan_round(drv_pruner *p, group *g, size_t n)
{
    uint64_t top = p->want.top;

    if (g->n)
        qsort(g->wall, g->n, sizeof *g->wall, dse_by_u64);
    if (top && g->n >= top)
        while (g->end > g->next && (double)p->candidate[g->end - 1].bound > (double)g->wall[top - 1])
            p->skipped[p->candidate[--g->end].by]++;
    for (size_t i = 0; i < g->round && g->next < g->end; i++)
        p->task[n++] = p->candidate[g->next++].task;
    g->round = g->round > SIZE_MAX / 2 ? SIZE_MAX : g->round + g->round / 2;
    return n;
}

void drv_pruner_round(drv_pruner *p, const size_t **tasks, size_t *n, uint64_t skipped[DRV_N_SKIPS])
{
    sort_candidates(p);
    *n = 0;
    for (size_t i = 0; i < p->n_groups; i++)
        *n = plan_round(p, &p->group[i], *n);
    *tasks = p->task;
    p->n_rounds++;
    for (int i = 0; i < DRV_N_SKIPS; i++) {
        skipped[i] += p->skipped[i];
        p->skipped[i] = 0;
    }
}
