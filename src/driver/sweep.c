#include "driver/sweep.h"

#include "base/hash.h"
#include "driver/worker.h"
#include "exec/pool.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const drv_study *study;
    uint64_t study_hash;
    design_point point;
    bool cached;
} task;

typedef struct {
    const drv_sweep *sweep;
    store *db;
    task *tasks;
    size_t n_tasks, next;
    dse_strbuf config; /* of the task given last */
    dse_arena scratch; /* of an answer */
    drv_progress progress;
    const task *best, *failed; /* of equals the one that comes first in the space, whoever answers first */
    char failure[512];
    bool out_of_memory; /* where `next_task` cannot say so */
    struct timespec start;
} state;

static double since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static void report(void *user)
{
    state *s = user;

    s->progress.seconds = since(&s->start);
    if (s->sweep->progress)
        s->sweep->progress(s->sweep->user, &s->progress);
}

static uint64_t config_hash(const drv_study *study, const design_point *p, dse_strbuf *text)
{
    dse_strbuf_clear(text);
    drv_study_write_config(study, p, text);
    return dse_hash_bytes(text->data, text->len);
}

/* ---- what is to be done -------------------------------------------------------------------- */

static dse_status list_tasks(state *s, dse_arena *a, dse_error *err)
{
    const drv_sweep *sweep = s->sweep;
    design_point **points = DSE_ARENA_NEW(a, design_point *, sweep->n_studies);
    size_t *n = DSE_ARENA_NEW(a, size_t, sweep->n_studies);

    if (!points || !n)
        return dse_fail_nomem(err);
    for (uint32_t i = 0; i < sweep->n_studies; i++) {
        const drv_study *study = &sweep->studies[i];
        dse_error why = DSE_ERROR_INIT;
        dse_status st = design_enumerate(sweep->axes, drv_system_npus(&study->system),
                                         (uint32_t)study->model.layers, a, &points[i], &n[i], &why);
        if (st != DSE_OK)
            return dse_fail(err, st, "%s on %s: %s", study->model_name, study->system_name, why.text);
        s->n_tasks += n[i];
    }
    s->tasks = DSE_ARENA_NEW(a, task, s->n_tasks);
    if (!s->tasks)
        return dse_fail_nomem(err);
    s->n_tasks = 0;
    for (uint32_t i = 0; i < sweep->n_studies; i++) {
        uint64_t hash = config_hash(&sweep->studies[i], NULL, &s->config);

        for (size_t k = 0; k < n[i]; k++)
            s->tasks[s->n_tasks++] = (task){&sweep->studies[i], hash, points[i][k], false};
    }
    s->progress.total = s->n_tasks;
    return s->config.failed ? dse_fail_nomem(err) : DSE_OK;
}

static void note_best(state *s, const task *t, uint64_t wall_time)
{
    drv_progress *g = &s->progress;

    if (s->best && (wall_time > g->best_wall_time || (wall_time == g->best_wall_time && t > s->best)))
        return;
    s->best = t;
    g->has_best = true;
    g->best = t->point;
    g->best_wall_time = wall_time;
    g->best_model = t->study->model_name;
    g->best_system = t->study->system_name;
}

static void note_failure(state *s, const task *t, const char *why)
{
    char name[DESIGN_NAME_MAX];

    if (s->failed && t > s->failed)
        return;
    s->failed = t;
    design_point_name(&t->point, name);
    snprintf(s->failure, sizeof s->failure, "%s on %s, %s: %.300s", t->study->model_name,
             t->study->system_name, name, why);
    s->progress.first_failure = s->failure;
}

/* Marks the tasks whose results are in the database. */
static dse_status find_cached(state *s, dse_error *err)
{
    for (size_t i = 0; i < s->n_tasks; i++) {
        task *t = &s->tasks[i];
        uint64_t hash = config_hash(t->study, &t->point, &s->config), wall_time;
        dse_status st = s->config.failed
                            ? dse_fail_nomem(err)
                            : store_find(s->db, hash, s->config.data, &t->cached, &wall_time, err);

        if (st != DSE_OK)
            return st;
        if (!t->cached)
            continue;
        s->progress.cached++;
        note_best(s, t, wall_time);
    }
    return DSE_OK;
}

/* ---- running ------------------------------------------------------------------------------- */

static const char *next_task(void *user, uint64_t *out)
{
    state *s = user;

    while (s->next < s->n_tasks && s->tasks[s->next].cached)
        s->next++;
    if (s->next == s->n_tasks)
        return NULL;
    *out = s->next++;
    config_hash(s->tasks[*out].study, &s->tasks[*out].point, &s->config);
    s->out_of_memory = s->config.failed;
    return s->out_of_memory ? NULL : s->config.data;
}

static dse_status keep_row(state *s, const task *t, store_row *row, dse_error *err)
{
    row->hash = config_hash(t->study, &t->point, &s->config);
    row->config = s->config.data;
    row->study = t->study_hash;
    row->model = t->study->model_name;
    row->system = t->study->system_name;
    row->engine = t->study->engine;
    row->settings = t->study->settings;
    row->dp = t->point.dp;
    row->tp = t->point.tp;
    row->sp = t->point.sp;
    row->pp = t->point.pp;
    row->recompute = t->point.recompute;
    row->weight_sharded = t->point.weight_sharded;
    if (s->config.failed)
        return dse_fail_nomem(err);
    if (row->done) {
        s->progress.done++;
        note_best(s, t, row->metrics.wall_time);
    } else {
        s->progress.failed++;
        note_failure(s, t, row->error);
    }
    if (!isnan(row->seconds))
        s->progress.cpu_seconds += row->seconds;
    return store_put(s->db, row, err);
}

static dse_status take_answer(void *user, uint64_t which, const char *line, dse_error *err)
{
    state *s = user;
    store_row row = {0};
    dse_status st;

    dse_arena_reset(&s->scratch);
    st = drv_answer_read(line, &s->scratch, &row, err);
    return st == DSE_OK ? keep_row(s, &s->tasks[which], &row, err) : st;
}

static dse_status take_failure(void *user, uint64_t which, const char *words, dse_error *err)
{
    state *s = user;
    store_row row = {.error = words, .seconds = NAN};

    return keep_row(s, &s->tasks[which], &row, err);
}

dse_status drv_sweep_run(const drv_sweep *sweep, dse_arena *a, drv_progress *out, dse_error *err)
{
    char pid[24];
    const char *const argv[] = {sweep->worker, "worker", "--parent", pid, NULL};
    state s = {.sweep = sweep};
    const exec_calls calls = {next_task, take_answer, take_failure, report, &s};
    uint64_t to_run;
    dse_status st;

    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    clock_gettime(CLOCK_MONOTONIC, &s.start);
    dse_strbuf_init(&s.config);
    dse_arena_init(&s.scratch);
    st = list_tasks(&s, a, err);
    if (st == DSE_OK)
        st = store_open(sweep->database, STORE_WRITE, &s.db, err);
    if (st == DSE_OK)
        st = find_cached(&s, err);
    to_run = s.progress.total - s.progress.cached;
    if (st == DSE_OK && to_run)
        st = exec_pool_run(argv, to_run < sweep->jobs ? (uint32_t)to_run : sweep->jobs, &calls, err);
    if (st == DSE_OK && s.out_of_memory)
        st = dse_fail_nomem(err);
    s.progress.seconds = since(&s.start);
    *out = s.progress;
    if (out->first_failure && !(out->first_failure = dse_arena_strdup(a, s.failure)) && st == DSE_OK)
        st = dse_fail_nomem(err);
    store_close(s.db);
    dse_strbuf_free(&s.config);
    dse_arena_free(&s.scratch);
    return st;
}
