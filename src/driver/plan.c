#include "driver/plan_parts.h"

#include "base/array.h"
#include "cards/device.h"
#include "driver/bands.h"
#include "driver/reproduce.h"
#include "driver/tasks.h"
#include "driver/training.h"
#include "exec/parallel.h"
#include "report/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

dse_status drv_plan_check(const drv_points *points, dse_error *err)
{
    const drv_study *s = drv_plan_study(points);

    if (points->space->n_studies != 1)
        return dse_fail(err, DSE_E_USAGE,
                        "a plan is for one model on one system; 'ccldse sweep' takes several");
    if (!s->training)
        return dse_fail(err, DSE_E_CONFIG,
                        "a plan is of the step that training programs run, and %s has profile stage, STAGE's "
                        "step; take a card with profile train ('ccldse models'), or 'ccldse sweep' and "
                        "'ccldse best'",
                        s->model_name);
    if (isnan(s->system.hbm_bytes))
        return dse_fail(
            err, DSE_E_CONFIG,
            "%s does not say how much memory an NPU has, so nothing tells what fits; give it: --set "
            "memory.capacity=80GB",
            s->system_name);
    return DSE_OK;
}

/* ---- what is stored ------------------------------------------------------------------------- */

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The hashes of the points' configurations, ascending. */
static dse_status list_hashes(const drv_points *points, uint64_t *hash, dse_error *err)
{
    dse_status st = DSE_OK;
    drv_tasks tasks;

    drv_tasks_init(&tasks, points, NULL);
    for (size_t i = 0; st == DSE_OK && i < points->n; i++)
        st = drv_tasks_enter(&tasks, &points->point[i], &hash[i], err);
    drv_tasks_free(&tasks);
    qsort(hash, points->n, sizeof *hash, compare_hashes);
    return st;
}

dse_status drv_plan_rank(const char *database, const drv_points *points, dse_arena *a, report_study *out,
                         dse_error *err)
{
    const drv_study *s = drv_plan_study(points);
    uint64_t *hash = DSE_ARENA_NEW(a, uint64_t, points->n);
    size_t n, n_kept = 0, n_studies;
    store_row *row;
    store *db;
    dse_status st;

    if ((st = list_hashes(points, hash, err)) != DSE_OK ||
        (st = store_open(database, STORE_READ, &db, err)) != DSE_OK)
        return st;
    st = store_list(db, s->model_name, s->system_name, a, &row, &n, err);
    store_close(db);
    if (st != DSE_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        if (bsearch(&row[i].hash, hash, points->n, sizeof *hash, compare_hashes))
            row[n_kept++] = row[i];
    if (!n_kept)
        return dse_fail(err, DSE_E_STORE,
                        "'%s' lacks the results that were just stored; does another run write to it?",
                        database);
    report_sizes_read(row, n_kept);
    *out = *report_split(row, n_kept, a, &n_studies);
    out->n = n_kept;
    out->hbm_bytes = s->system.hbm_bytes;
    out->laws = drv_say_laws(&s->system, a);
    out->by = store_column_find("wall_time");
    report_rank(out, a);
    return DSE_OK;
}

/* The memory of points is known. */
static void rank_again(drv_plan_state *p, report_plan_change *c)
{
    const store_row *winner = p->ranked->ranked[0];
    report_study then = {.row = p->ranked->row,
                         .n = p->ranked->n,
                         .hbm_bytes = p->ranked->hbm_bytes * c->factor,
                         .by = p->ranked->by};

    report_rank(&then, p->arena);
    c->wall_time =
        store_fits(winner->metrics.peak_memory, then.hbm_bytes) ? winner->metrics.wall_time : STORE_ABSENT;
    c->best = then.n_ranked ? then.ranked[0] : NULL;
    c->best_time = c->best ? c->best->metrics.wall_time : STORE_ABSENT;
}

/* The points, from the winner on, that may be the fastest if it takes `time`; in the arena. */
static strategy *list_rivals(drv_plan_state *p, const report_plan_change *c, uint64_t time, size_t *n)
{
    const double quicker = c->less_is_better ? c->factor : 1 / c->factor; /* each duration, at most */
    strategy *out = DSE_ARENA_NEW(p->arena, strategy, p->ranked->n_ranked);

    for (*n = 0; *n < p->ranked->n_ranked; (*n)++) {
        const double least = (double)p->ranked->ranked[*n]->metrics.wall_time * (quicker < 1 ? quicker : 1);

        if (*n && time != STORE_ABSENT && least > DRV_PLAN_MARGIN * (double)time)
            break;
        out[*n] = p->ranked->ranked[*n]->strategy;
    }
    return out;
}

static dse_status simulate_change(drv_plan_state *p, report_plan_change *c, dse_error *err)
{
    const report_study *s = p->ranked;
    store_metrics *m;
    strategy *rivals;
    dse_status st = drv_plan_simulate(p->study, c->setting, c->n_settings, &s->ranked[0]->strategy, 1, 1,
                                      p->arena, &m, err);

    if (st != DSE_OK)
        return st;
    c->wall_time = m->wall_time;
    rivals = list_rivals(p, c, c->wall_time, &c->n_tried);
    st = drv_plan_simulate(p->study, c->setting, c->n_settings, rivals, c->n_tried, p->o->threads, p->arena,
                           &m, err);
    c->best_time = STORE_ABSENT;
    for (size_t i = 0; st == DSE_OK && i < c->n_tried; i++)
        if (m[i].wall_time < c->best_time) { /* STORE_ABSENT is the largest; of equals the better ranked */
            c->best = s->ranked[i];
            c->best_time = m[i].wall_time;
        }
    return st;
}

static dse_status find_changes(drv_plan_state *p, dse_error *err)
{
    dse_status st = DSE_OK;

    p->out->n_changes = drv_plan_changes(&p->study->system, p->arena, &p->out->change);
    for (size_t i = 0; st == DSE_OK && i < p->out->n_changes; i++) {
        report_plan_change *c = &p->out->change[i];

        if (drv_plan_is_capacity(c))
            rank_again(p, c);
        else
            st = simulate_change(p, c, err);
        if (p->o->progress)
            p->o->progress(p->o->user, i + 1, p->out->n_changes);
    }
    return st;
}

/* Of what fits the best that leaves room; of what does not, and is worth it, what needs least memory. */
static void find_neighbours(drv_plan_state *p)
{
    const report_study *s = p->ranked;
    const double room = s->hbm_bytes * (1 - REPORT_PLAN_ROOM);
    const store_row *winner = s->ranked[0];

    for (size_t i = 1; !p->out->roomy && i < s->n_ranked && !store_fits(winner->metrics.peak_memory, room);
         i++)
        if (store_fits(s->ranked[i]->metrics.peak_memory, room))
            p->out->roomy = s->ranked[i];
    for (size_t i = 0; i < s->n; i++) {
        const store_metrics *m = &s->row[i].metrics;

        if (s->row[i].done &&
            (double)m->wall_time < (1 - REPORT_PLAN_WORTH) * (double)winner->metrics.wall_time &&
            (!p->out->above || m->peak_memory < p->out->above->metrics.peak_memory))
            p->out->above = &s->row[i];
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

static dse_status find_winner(drv_plan_state *p, dse_error *err)
{
    const store_row *winner = p->ranked->ranked[0];
    cmp_bands bands;
    dse_status st = drv_bands_load(p->arena, &bands, err);

    if (st != DSE_OK)
        return st;
    p->out->band = drv_band_of(&bands, p->study, &winner->strategy, false, p->arena, &p->out->why_no_band);
    p->out->device = p->study->system.device;
    find_neighbours(p);
    if ((st = drv_simulate_command(p->study, &winner->strategy, p->arena, &p->out->command, err)) != DSE_OK)
        return st;
    return find_changes(p, err);
}

dse_status drv_plan(const drv_plan_options *o, const report_study *ranked, dse_arena *a, report_plan *out,
                    dse_error *err)
{
    const drv_study *s = drv_plan_study(o->points);
    const cfg_int_list *count = &s->system.npus_count;
    drv_plan_state p = {.o = o, .study = s, .ranked = ranked, .arena = a, .out = out};
    dse_status st;

    *out = (report_plan){.study = ranked,
                         .model = s->model_name,
                         .system = s->system_name,
                         .npus = card_system_npus(&s->system),
                         .nodes = count->n == 2 ? (uint64_t)count->v[count->n - 1] : 0,
                         .parameters = drv_training_parameters(s),
                         .batch = (uint64_t)s->model.batch,
                         .sequence = (uint64_t)s->model.sequence,
                         .by_roofline = !card_system_has_laws(&s->system),
                         .n_refused = o->points->n_refused,
                         .train_tokens = NAN};
    report_explain(ranked, a, &out->why);
    st = ranked->n_ranked ? find_winner(&p, err) : drv_plan_find_remedies(&p, err);
    if (st == DSE_OK)
        drv_plan_find_assumptions(&p);
    return st;
}
