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

#define FACTOR       2 /* up and down, of each change */
#define MOST_CHANGES (2 * (2 * CFG_MAX_DIMS + 3))

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
        st = drv_tasks_enter(&tasks, i, &hash[i], err);
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

/* ---- simulations in memory ------------------------------------------------------------------ */

/* Points of a study with settings over it; each thread takes every n_threads-th point. */
typedef struct {
    drv_study base; /* without the texts of its own settings, which may be of the same values */
    cfg_settings settings;
    const strategy *point;
    store_metrics *out; /* wall_time is STORE_ABSENT where a point cannot run */
    size_t n;
    uint32_t n_threads;
} simulation;

static dse_status run_share(void *user, size_t thread, dse_error *err)
{
    const simulation *b = user;
    dse_arena of_study, of_point;
    drv_study study;
    dse_status st;

    dse_arena_init(&of_study);
    dse_arena_init(&of_point);
    st = drv_study_vary(&b->base, &b->settings, &of_study, &study, err);
    study.orders = st == DSE_OK ? sched_keeper_new() : NULL;
    for (size_t i = thread; st == DSE_OK && i < b->n; i += b->n_threads) {
        dse_arena_reset(&of_point);
        if (drv_training_run(&study, &b->point[i], &of_point, &b->out[i], NULL) != DSE_OK)
            store_metrics_clear(&b->out[i]);
        b->out[i].peak_node = NULL; /* the arena's */
    }
    sched_keeper_free(study.orders);
    dse_arena_free(&of_study);
    dse_arena_free(&of_point);
    return st;
}

dse_status drv_plan_simulate(const drv_study *study, const char *const *setting, size_t n_settings,
                             const strategy *point, size_t n, uint32_t threads, dse_arena *a,
                             store_metrics **out, dse_error *err)
{
    simulation b = {.base = *study, .point = point, .out = DSE_ARENA_NEW(a, store_metrics, n), .n = n};
    dse_status st = drv_settings_parse(setting, n_settings, a, &b.settings, err);

    b.base.settings = "";
    b.n_threads = n < threads ? (uint32_t)n : threads;
    *out = b.out;
    if (st != DSE_OK || !n)
        return st;
    return exec_parallel(b.n_threads, b.n_threads, run_share, NULL, &b, err);
}

/* ---- changes of the system ------------------------------------------------------------------ */

/* "50 GB/s", "14 us", "989.5 TFLOPS", "80.0 GB": a value of a card, for people. */
static const char *say_value(const cfg_param *row, double v, dse_arena *a)
{
    switch (row->unit) {
    case DSE_UNIT_BYTES_PER_S: return dse_arena_printf(a, "%.5g GB/s", v * row->unit_scale / 1e9);
    case DSE_UNIT_NS: return dse_arena_printf(a, v < 1000 ? "%.4g ns" : "%.4g us", v < 1000 ? v : v / 1000);
    case DSE_UNIT_BYTES: return dse_arena_strdup(a, report_size(v).text);
    default: return dse_arena_printf(a, "%.5g %s", v, row->unit_name);
    }
}

/* Adds the change by a factor of the values of several keys, of which those count that the system gives and
 * are not 0; the last of them is the one that is shown. Nothing if there is none. */
static void add_change(drv_plan_state *p, const char *what, const char *const *keys, size_t n_keys,
                       uint32_t dim, double factor)
{
    report_plan_change *c = &p->out->change[p->out->n_changes];

    *c = (report_plan_change){.what = what,
                              .factor = factor,
                              .less_is_better = strstr(keys[0], "latency") != NULL,
                              .setting = DSE_ARENA_NEW(p->arena, const char *, n_keys)};
    for (size_t i = 0; i < n_keys; i++) {
        const cfg_param *row = cfg_param_find(&card_system_table, keys[i]);
        const char *path = row->type == CFG_T_DOUBLE_LIST
                               ? dse_arena_printf(p->arena, "%s[%" PRIu32 "]", keys[i], dim)
                               : keys[i];
        dse_strbuf text = dse_strbuf_in(p->arena);
        cfg_value v;

        if (!cfg_table_get(&card_system_table, &p->study->system, path, &v) || !(v.number > 0))
            continue;
        dse_strbuf_addf(&text, "%s=", path);
        dse_strbuf_add_repr(&text, v.number * factor);
        c->setting[c->n_settings++] = text.data;
        c->from = say_value(row, v.number, p->arena);
        c->to = say_value(row, v.number * factor, p->arena);
    }
    p->out->n_changes += c->n_settings > 0;
}

/* Half and double. */
static void add_both(drv_plan_state *p, const char *what, const char *const *keys, size_t n_keys,
                     uint32_t dim)
{
    add_change(p, what, keys, n_keys, dim, 1.0 / FACTOR);
    add_change(p, what, keys, n_keys, dim, FACTOR);
}

/* "bandwidth between nodes", or "bandwidth of dimension 2" of a network that has not just two. */
static const char *name_of_dimension(const drv_plan_state *p, const char *what, uint32_t dim)
{
    if (p->study->system.npus_count.n == 2)
        return dse_arena_printf(p->arena, "%s %s", what, dim ? "between nodes" : "in a node");
    if (p->study->system.npus_count.n == 1)
        return dse_arena_printf(p->arena, "%s of links", what);
    return dse_arena_printf(p->arena, "%s of dimension %" PRIu32, what, dim);
}

static void list_changes(drv_plan_state *p)
{
    static const char *const bandwidth[] = {"network.bandwidth"},
                             *const latency[] = {"network.latency", "network.collective_latency",
                                                 "network.step_latency"},
                             *const peak[] = {"compute.peak_perf"}, *const memory[] = {"memory.bandwidth"},
                             *const capacity[] = {"memory.capacity"};

    p->out->change = DSE_ARENA_NEW(p->arena, report_plan_change, MOST_CHANGES);
    add_both(p, "compute peak", peak, 1, 0);
    add_both(p, "memory bandwidth", memory, 1, 0);
    for (uint32_t i = 0; i < p->study->system.npus_count.n; i++)
        add_both(p, name_of_dimension(p, "bandwidth", i), bandwidth, 1, i);
    for (uint32_t i = 0; i < p->study->system.npus_count.n; i++)
        add_both(p, name_of_dimension(p, "latency", i), latency, DSE_COUNT(latency), i);
    add_both(p, "memory of an NPU", capacity, 1, 0);
}

static bool is_capacity(const report_plan_change *c)
{
    return !strncmp(c->setting[0], "memory.capacity=", 16);
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

    list_changes(p);
    for (size_t i = 0; st == DSE_OK && i < p->out->n_changes; i++) {
        report_plan_change *c = &p->out->change[i];

        if (is_capacity(c))
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
