/* A system with one thing changed: the list of such changes, and the step of points with one. */
#include "driver/plan_parts.h"

#include "base/array.h"
#include "driver/training.h"
#include "exec/parallel.h"
#include "report/sizes.h"

#include <inttypes.h>
#include <string.h>

#define FACTOR       2 /* up and down, of each change */
#define MOST_CHANGES (2 * (2 * CFG_MAX_DIMS + 3))

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

typedef struct {
    const card_system *system;
    dse_arena *arena;
    report_plan_change *change;
    size_t n;
} change_list;

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
static void add_change(change_list *l, const char *what, const char *const *keys, size_t n_keys, uint32_t dim,
                       double factor)
{
    report_plan_change *c = &l->change[l->n];

    *c = (report_plan_change){.what = what,
                              .factor = factor,
                              .less_is_better = strstr(keys[0], "latency") != NULL,
                              .setting = DSE_ARENA_NEW(l->arena, const char *, n_keys)};
    for (size_t i = 0; i < n_keys; i++) {
        const cfg_param *row = cfg_param_find(&card_system_table, keys[i]);
        const char *path = row->type == CFG_T_DOUBLE_LIST
                               ? dse_arena_printf(l->arena, "%s[%" PRIu32 "]", keys[i], dim)
                               : keys[i];
        dse_strbuf text = dse_strbuf_in(l->arena);
        cfg_value v;

        if (!cfg_table_get(&card_system_table, l->system, path, &v) || !(v.number > 0))
            continue;
        dse_strbuf_addf(&text, "%s=", path);
        dse_strbuf_add_repr(&text, v.number * factor);
        c->setting[c->n_settings++] = text.data;
        c->from = say_value(row, v.number, l->arena);
        c->to = say_value(row, v.number * factor, l->arena);
    }
    l->n += c->n_settings > 0;
}

/* Half and double. */
static void add_both(change_list *l, const char *what, const char *const *keys, size_t n_keys, uint32_t dim)
{
    add_change(l, what, keys, n_keys, dim, 1.0 / FACTOR);
    add_change(l, what, keys, n_keys, dim, FACTOR);
}

/* "bandwidth between nodes", or "bandwidth of dimension 2" of a network that has not just two. */
static const char *name_of_dimension(const change_list *l, const char *what, uint32_t dim)
{
    if (l->system->npus_count.n == 2)
        return dse_arena_printf(l->arena, "%s %s", what, dim ? "between nodes" : "in a node");
    if (l->system->npus_count.n == 1)
        return dse_arena_printf(l->arena, "%s of links", what);
    return dse_arena_printf(l->arena, "%s of dimension %" PRIu32, what, dim);
}

size_t drv_plan_changes(const card_system *system, dse_arena *a, report_plan_change **out)
{
    static const char *const bandwidth[] = {"network.bandwidth"},
                             *const latency[] = {"network.latency", "network.collective_latency",
                                                 "network.step_latency"},
                             *const peak[] = {"compute.peak_perf"}, *const memory[] = {"memory.bandwidth"},
                             *const capacity[] = {"memory.capacity"};
    change_list l = {system, a, DSE_ARENA_NEW(a, report_plan_change, (size_t)MOST_CHANGES), 0};

    add_both(&l, "compute peak", peak, 1, 0);
    add_both(&l, "memory bandwidth", memory, 1, 0);
    for (uint32_t i = 0; i < system->npus_count.n; i++)
        add_both(&l, name_of_dimension(&l, "bandwidth", i), bandwidth, 1, i);
    for (uint32_t i = 0; i < system->npus_count.n; i++)
        add_both(&l, name_of_dimension(&l, "latency", i), latency, DSE_COUNT(latency), i);
    add_both(&l, "memory of an NPU", capacity, 1, 0);
    *out = l.change;
    return l.n;
}

bool drv_plan_is_capacity(const report_plan_change *c)
{
    return !strncmp(c->setting[0], "memory.capacity=", 16);
}

dse_status drv_plan_sensitivities(const drv_study *study, const strategy *point, dse_arena *a,
                                  report_plan_change **out, size_t *n, dse_error *err)
{
    dse_status st = DSE_OK;
    size_t n_kept = 0;

    *n = drv_plan_changes(&study->system, a, out);
    for (size_t i = 0; st == DSE_OK && i < *n; i++) {
        report_plan_change *c = &(*out)[i];
        store_metrics *m;

        if (drv_plan_is_capacity(c))
            continue;
        st = drv_plan_simulate(study, c->setting, c->n_settings, point, 1, 1, a, &m, err);
        if (st == DSE_OK) {
            c->wall_time = m->wall_time;
            (*out)[n_kept++] = *c;
        }
    }
    *n = n_kept;
    return st;
}
