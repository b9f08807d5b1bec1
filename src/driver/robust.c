#include "driver/robust.h"

#include "base/array.h"
#include "driver/bound.h"
#include "driver/reproduce.h"
#include "driver/training.h"
#include "exec/parallel.h"
#include "exec/pool.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The perturbed parameters; each element of a list separately. */
static const char *const keys[] = {
    "compute.peak_perf", "memory.bandwidth",     "network.bandwidth",
    "network.latency",   "overheads.per_kernel", "overheads.per_step",
    "compute.clock",     "overheads.per_layer",  "overheads.per_collective",
};
#define N_KEYS DSE_COUNT(keys)

#define MOST_PARAMETERS (N_KEYS * CFG_MAX_DIMS)

typedef struct {
    const cfg_param *row;
    uint32_t element; /* of a list */
} place;

typedef struct {
    strategy point;
    bool is_made;
    wl_workload workload;
    dse_arena arena;   /* of the workload */
    dse_error failure; /* of the current simulation */
} candidate;

/* Scratch memory of one simulation; there are as many as run in parallel. */
typedef struct {
    atomic_flag taken;
    dse_arena arena;
    uint64_t round;         /* the evaluation for which `training` was made, of profile train: */
    drv_training *training; /* the model, and the clock of a perturbed system, which is one thread's */
    dse_arena of_round;
} scratch;

typedef struct {
    const drv_robust_options *o;
    double hbm_bytes; /* NaN: none */
    drv_study study;  /* with the perturbed system */
    dse_arena texts;  /* of it */
    card_system system;
    size_t n_places, n, n_scratch;
    place place[MOST_PARAMETERS];
    candidate *candidate;
    scratch *scratch;
    uint64_t round;      /* the current evaluation; counted from 1 */
    const size_t *which; /* of it */
    cmp_outcome *outcome;
    uint64_t n_simulated, n_failed;
    size_t failed_first; /* the first candidate that failed */
    dse_error failure;
} state;

/* ---- parameters ----------------------------------------------------------------------------- */

static double *number_at(const place *p, card_system *s)
{
    void *field = (char *)s + p->row->offset;

    return p->row->type == CFG_T_DOUBLE_LIST ? &((cfg_double_list *)field)->v[p->element] : (double *)field;
}

/* Adds the parameter of a path if the system has it and it is not 0; of the clock, if it is not 1. */
static void add_parameter(state *s, const cfg_param *row, uint32_t element, const char *path, dse_arena *a,
                          report_robust *out)
{
    const bool is_clock = row->offset == offsetof(card_system, clock);
    cfg_value v;

    if (!cfg_table_get(&card_system_table, &s->system, path, &v) || !(v.number > 0) ||
        (is_clock && !(fabs(v.number - 1) > 0)))
        return;
    out->parameter[s->n_places] =
        (report_robust_parameter){dse_arena_strdup(a, path), row->unit_name, v.number};
    s->place[s->n_places++] = (place){row, element};
}

static void list_parameters(state *s, dse_arena *a, report_robust *out)
{
    out->parameter = DSE_ARENA_NEW(a, report_robust_parameter, MOST_PARAMETERS);
    for (size_t k = 0; k < N_KEYS; k++) {
        const cfg_param *row = cfg_param_find(&card_system_table, keys[k]);
        bool is_list;
        char path[96];

        assert(row && (row->type == CFG_T_DOUBLE_LIST || row->type == CFG_T_DOUBLE));
        is_list = row->type == CFG_T_DOUBLE_LIST;
        for (uint32_t i = 0; i < (is_list ? CFG_MAX_DIMS : 1); i++) {
            snprintf(path, sizeof path, is_list ? "%s[%u]" : "%s", keys[k], (unsigned)i);
            add_parameter(s, row, i, path, a, out);
        }
    }
    out->n_parameters = s->n_places;
}

/* ---- points --------------------------------------------------------------------------------- */

static int compare_peaks(const void *x, const void *y)
{
    const store_row *a = *(const store_row *const *)x, *b = *(const store_row *const *)y;

    if (a->metrics.peak_memory != b->metrics.peak_memory)
        return a->metrics.peak_memory < b->metrics.peak_memory ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* In the order of the ranking. */
static int compare_times(const void *x, const void *y)
{
    const store_row *a = *(const store_row *const *)x, *b = *(const store_row *const *)y;

    if (a->metrics.wall_time != b->metrics.wall_time)
        return a->metrics.wall_time < b->metrics.wall_time ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Whether a row above the memory limit might be below it on a perturbed system. */
static bool might_fit(state *s, drv_bounds *bounds, const report_study *study, const store_row *row)
{
    strategy point = row->strategy;
    dse_error why = DSE_ERROR_INIT;
    sim_bound bound;

    return row->done && row->metrics.wall_time != STORE_ABSENT && row->metrics.peak_memory != STORE_ABSENT &&
           !store_fits(row->metrics.peak_memory, study->hbm_bytes) &&
           drv_bounds_of(bounds, &s->study, &point, &bound, &why) == DSE_OK &&
           store_fits(bound.held, s->hbm_bytes);
}

/* Appends rows that might fit to the n rows; *n_left: how many are left out. */
static dse_status add_others(state *s, const report_study *study, const store_row **row, size_t *n,
                             size_t *n_left, dse_error *err)
{
    const store_row **other = row + *n;
    size_t n_others = 0;
    drv_bounds bounds;
    dse_status st;

    drv_bounds_init(&bounds);
    st = drv_bounds_enter(&bounds, &s->study, err);
    for (size_t i = 0; st == DSE_OK && i < study->n; i++)
        if (might_fit(s, &bounds, study, &study->row[i]))
            other[n_others++] = &study->row[i];
    drv_bounds_free(&bounds);
    qsort(other, n_others, sizeof *other, compare_peaks);
    *n_left = n_others > DRV_ROBUST_OTHERS ? n_others - DRV_ROBUST_OTHERS : 0;
    *n += n_others - *n_left;
    return st;
}

static dse_status list_points(state *s, const report_study *study, dse_arena *a, report_robust *out,
                              dse_error *err)
{
    const store_row **row = dse_calloc(study->n, sizeof *row);
    size_t n = study->n_ranked < DRV_ROBUST_RANKED ? study->n_ranked : DRV_ROBUST_RANKED;
    dse_status st = DSE_OK;

    memcpy(row, study->ranked, n * sizeof *row);
    out->n_ranked = n;
    /* No time of the system changes what the ranks of a training step hold: none of the others comes to
     * fit. */
    if (!isnan(s->hbm_bytes) && !s->study.training)
        st = add_others(s, study, row, &n, &out->n_left, err);
    qsort(row, n, sizeof *row, compare_times);
    out->candidate = dse_arena_copy(a, row, n, sizeof *row);
    out->n = n;
    dse_free(row);
    return st;
}

/* ---- simulations ---------------------------------------------------------------------------- */

/* There are as many as threads, so one is always free. */
static scratch *take_scratch(state *s)
{
    for (size_t i = 0;; i = (i + 1) % s->n_scratch)
        if (!atomic_flag_test_and_set(&s->scratch[i].taken))
            return &s->scratch[i];
}

static dse_status run_training(const state *s, const candidate *c, scratch *mine, store_metrics *out,
                               dse_error *err)
{
    drv_study perturbed = s->study;
    dse_status st = DSE_OK;

    if (mine->round != s->round) {
        dse_arena_reset(&mine->of_round);
        perturbed.tables.arena = &mine->of_round;
        st = drv_training_make(&perturbed, &mine->of_round, err);
        mine->training = perturbed.training;
        mine->round = st == DSE_OK ? s->round : 0;
    }
    perturbed.training = mine->training;
    return st == DSE_OK ? drv_training_run(&perturbed, &c->point, &mine->arena, out, err) : st;
}

/* Of profile stage: the workload is the same on every system. */
static dse_status run_workload(const state *s, candidate *c, dse_arena *a, store_metrics *out, dse_error *err)
{
    sim_result result;
    dse_status st = DSE_OK;

    if (!c->is_made)
        st = drv_point_generate(&s->study, &c->point, &c->arena, &c->workload, err);
    c->is_made = st == DSE_OK;
    if (st != DSE_OK || (st = drv_point_simulate(&s->study, &c->workload, a, &result, NULL, err)) != DSE_OK)
        return st;
    drv_metrics_of(&c->workload, &result, out);
    return DSE_OK;
}

static dse_status simulate(const state *s, candidate *c, scratch *mine, cmp_outcome *out, dse_error *err)
{
    store_metrics m;
    dse_status st =
        s->study.training ? run_training(s, c, mine, &m, err) : run_workload(s, c, &mine->arena, &m, err);

    if (st != DSE_OK)
        return st;
    if (!m.wall_time)
        return dse_fail(err, DSE_E_RANGE, "a step takes no time, which leaves nothing to compare");
    out->value = (double)m.wall_time;
    out->fits = store_fits(m.peak_memory, s->hbm_bytes);
    return DSE_OK;
}

/* A point that fails on a system (messages of two collectives collide) cannot be chosen there. */
static dse_status simulate_one(void *user, size_t i, dse_error *err)
{
    state *s = user;
    candidate *c = &s->candidate[s->which[i]];
    cmp_outcome *out = &s->outcome[s->which[i]];
    scratch *mine = take_scratch(s);

    (void)err;
    dse_arena_reset(&mine->arena);
    c->failure = (dse_error)DSE_ERROR_INIT;
    *out = (cmp_outcome){NAN, false};
    (void)simulate(s, c, mine, out, &c->failure);
    atomic_flag_clear(&mine->taken);
    return DSE_OK;
}

static void count_failures(state *s, size_t n)
{
    s->n_simulated += n;
    for (size_t i = 0; i < n; i++) {
        const candidate *c = &s->candidate[s->which[i]];

        if (c->failure.status == DSE_OK)
            continue;
        if (!s->n_failed++) {
            s->failed_first = s->which[i];
            s->failure = c->failure;
        }
    }
}

static dse_status evaluate(void *user, const double *factor, const size_t *which, size_t n,
                           cmp_outcome *outcome, dse_error *err)
{
    state *s = user;
    dse_status st;

    s->study.system = s->system;
    for (size_t k = 0; k < s->n_places; k++)
        *number_at(&s->place[k], &s->study.system) *= factor[k];
    card_system_follow_clock(&s->study.system, s->system.peak_perf, NULL);
    s->round++;
    s->which = which;
    s->outcome = outcome;
    st = exec_parallel(n, (uint32_t)s->n_scratch, simulate_one, NULL, s, err);
    if (st == DSE_OK)
        count_failures(s, n);
    return st;
}

static void show_progress(void *user, size_t done, size_t total)
{
    const state *s = user;

    if (s->o->progress)
        s->o->progress(s->o->user, done, total);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void make(state *s, const report_robust *points)
{
    s->n_scratch = s->o->threads ? s->o->threads : exec_cores();
    s->scratch = dse_calloc(s->n_scratch, sizeof *s->scratch);
    s->candidate = dse_calloc(s->n, sizeof *s->candidate);
    for (size_t i = 0; i < s->n_scratch; i++) {
        atomic_flag_clear(&s->scratch[i].taken);
        dse_arena_init(&s->scratch[i].arena);
        dse_arena_init(&s->scratch[i].of_round);
    }
    for (size_t i = 0; i < s->n; i++) {
        s->candidate[i].point = points->candidate[i]->strategy;
        dse_arena_init(&s->candidate[i].arena);
    }
}

static void release(state *s)
{
    for (size_t i = 0; s->scratch && i < s->n_scratch; i++) {
        dse_arena_free(&s->scratch[i].arena);
        dse_arena_free(&s->scratch[i].of_round);
    }
    for (size_t i = 0; s->candidate && i < s->n; i++)
        dse_arena_free(&s->candidate[i].arena);
    dse_free(s->scratch);
    dse_free(s->candidate);
}

/* The configurations of a study's rows differ in the point alone. */
static dse_status read_study(state *s, const store_row *row, dse_arena *a, dse_error *err)
{
    strategy point;
    dse_status st = drv_study_read_config(row->config, strlen(row->config), a, &s->study, &point, err);

    s->system = s->study.system;
    return st;
}

static dse_status run(state *s, const report_study *study, dse_arena *a, report_robust *out, dse_error *err)
{
    const drv_robust_options *o = s->o;
    cmp_robust_problem problem = {.limited = true, /* by memory, and by failures */
                                  .evaluate = evaluate,
                                  .user = s,
                                  .spread = o->spread,
                                  .draws = o->draws,
                                  .seed = o->seed,
                                  .reach = DRV_ROBUST_REACH,
                                  .progress = show_progress};
    dse_status st;

    if ((st = read_study(s, study->row, &s->texts, err)) != DSE_OK)
        return st;
    list_parameters(s, a, out);
    s->n = out->n;
    make(s, out);
    problem.n = s->n;
    problem.p = s->n_places; /* not 0: a system without memory.bandwidth cannot be built */
    st = cmp_robust(&problem, a, &out->result, err);
    out->n_simulated = s->n_simulated;
    out->n_failed = s->n_failed;
    if (st == DSE_OK && s->n_failed) {
        out->failed_first = s->failed_first;
        out->failure = dse_arena_strdup(a, dse_error_say(&s->failure).text);
    }
    return st;
}

/* Why nothing can be simulated with any parameters; NULL: something can. */
static dse_status explain_refusal(const report_study *study, dse_arena *a, const char **why, dse_error *err)
{
    bool has_cards;
    dse_status st;

    *why = "no point is ranked";
    if (!study->n_ranked)
        return DSE_OK;
    if ((st = drv_has_cards(study->row, a, &has_cards, err)) != DSE_OK)
        return st;
    *why =
        has_cards
            ? NULL
            : dse_arena_printf(a, "results of '%s' came without a system whose parameters could be changed",
                               study->ranked[0]->engine);
    return DSE_OK;
}

dse_status drv_robust_choose(const report_study *study, dse_arena *a, report_robust *out, dse_error *err)
{
    state s = {.hbm_bytes = study->hbm_bytes};
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    *out = (report_robust){0};
    if ((st = explain_refusal(study, a, &out->why_not, err)) != DSE_OK || out->why_not)
        return st;
    dse_arena_init(&s.texts);
    if (read_study(&s, study->row, &s.texts, &why) != DSE_OK ||
        list_points(&s, study, a, out, &why) != DSE_OK)
        out->why_not = dse_arena_strdup(a, dse_error_say(&why).text);
    dse_arena_free(&s.texts);
    return DSE_OK;
}

void drv_robust(const report_study *study, const drv_robust_options *o, dse_arena *a, report_robust *out)
{
    state s = {.o = o, .hbm_bytes = study->hbm_bytes};
    dse_error why = DSE_ERROR_INIT;

    out->spread = o->spread;
    out->reach = DRV_ROBUST_REACH;
    out->seed = o->seed;
    if (out->why_not)
        return;
    dse_arena_init(&s.texts);
    if (run(&s, study, a, out, &why) !=
        DSE_OK) /* a point's failure explains more than that no point can be chosen */
        out->why_not = dse_arena_strdup(a, dse_error_say(s.n_failed ? &s.failure : &why).text);
    release(&s);
    dse_arena_free(&s.texts);
}
