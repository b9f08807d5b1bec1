#include "driver/sweep.h"

#include "driver/points_file.h"
#include "driver/tasks.h"
#include "driver/worker.h"
#include "report/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Rows that come more quickly are written together: who kills the sweep loses so much of its work, and a tick
 * of the pool. */
#define COMMIT_SECONDS 0.25

/* The database, its log and the log's index, its two locks, journals, and what is opened beside them to
 * look. */
#define FILES_OF_DATABASE 12

/* A point that is being run. */
typedef struct {
    size_t task;
    drv_space_point point;
} under_way;

typedef struct {
    const drv_sweep *sweep;
    drv_points points; /* a task is the number of one */
    drv_cursor cursor;
    drv_tasks tasks;
    store *db;
    uint8_t *seen;       /* a bit per task: its result was there, or it has been given out to be run */
    under_way **running; /* by the numbers that the pool and the tools hand back with answers */
    size_t n_running, cap_running, *idle, n_idle, cap_idle; /* of them, those to be used again */
    drv_pruner *pruner;                                     /* NULL: everything is run, */
    const size_t *round;                                    /* else these tasks at a time */
    size_t next, n_round;
    dse_arena lasting;     /* of the sweep */
    dse_arena scratch;     /* of an answer */
    bool uncommitted;      /* there are rows */
    double commit_seconds; /* when there were some last; since the start */

    drv_progress progress;
    size_t best, failed; /* tasks; of equals the one that comes first in the space, whoever answers first */
    uint64_t best_variant;
    bool has_failed;
    char failure[2048];
    dse_error next_error; /* where `next_task` cannot say so */
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

/* ---- what is to be done -------------------------------------------------------------------- */

static bool is_seen(const state *s, size_t task) { return s->seen[task / 8] >> task % 8 & 1; }

static void see(state *s, size_t task) { s->seen[task / 8] |= (uint8_t)(1u << task % 8); }

/* What may be the best: a time, and the memory that must fit, as `best` has it. */
static void note_best(state *s, size_t task, const drv_space_point *p, uint64_t wall_time,
                      uint64_t peak_memory)
{
    drv_progress *g = &s->progress;
    const drv_study *base = &s->points.space->study[drv_points_base(&s->points, p->variant)];
    const card_model *model = &s->tasks.at->study.model;
    const double asked = s->sweep->prune ? s->sweep->prune->hbm_bytes : NAN;
    const uint64_t tokens = s->tasks.at->study.training ? (uint64_t)(model->batch * model->sequence) : 0;
    const double cost = (double)wall_time / (double)(tokens ? tokens : 1);
    const double best = (double)g->best_wall_time / (double)(g->best_tokens ? g->best_tokens : 1);

    if (!store_fits(peak_memory, isnan(asked) ? s->tasks.at->study.system.hbm_bytes : asked)) {
        g->too_large++;
        return;
    }
    if (g->has_best && (cost > best || (cost == best && task > s->best)))
        return;
    s->best = task;
    s->best_variant = p->variant;
    g->has_best = true;
    g->best = p->point;
    g->best_wall_time = wall_time;
    g->best_tokens = tokens;
    g->best_model = base->model_name;
    g->best_system = base->system_name;
}

/* A result that is there, of the point entered last. */
static void note_result(state *s, size_t task, const drv_space_point *p, const store_brief *b,
                        const char *fallback)
{
    const store_sizes sizes = drv_sizes_of(&s->tasks.at->study.model);

    note_best(s, task, p, b->wall_time, b->peak_memory);
    if (s->sweep->result)
        s->sweep->result(s->sweep->user, task, b->wall_time, b->peak_memory);
    report_traps_add(&s->progress.traps, b->undercharged_messages, b->flat_ring_collectives);
    s->progress.fallbacks[sim_fallback_find(fallback)]++;
    report_sizes_add(&s->progress.sizes, &sizes);
}

/* The point is the one entered last. */
static void note_failure(state *s, size_t task, const drv_space_point *p, const char *why)
{
    const drv_study *t = &s->tasks.at->study;

    if (s->has_failed && task > s->failed)
        return;
    s->has_failed = true;
    s->failed = task;
    snprintf(s->failure, sizeof s->failure, "%.60s on %.60s%s%.300s, %s: %.1100s", t->model_name,
             t->system_name, *t->settings ? " with " : "", t->settings, report_strategy_name(&p->point).text,
             why);
    s->progress.first_failure = s->failure;
}

/* A card that is named in two ways makes one point twice. */
static dse_status fail_same(state *s, const uint64_t number[2], dse_error *err)
{
    dse_status st = DSE_OK;
    dse_strbuf lines[2];

    for (int i = 0; i < 2; i++) {
        drv_space_point p;

        dse_strbuf_init(&lines[i]);
        if (st == DSE_OK && (st = drv_cursor_get(&s->cursor, (size_t)number[i] - 1, &p, err)) == DSE_OK)
            st = drv_point_write_line(&s->points, &p, &lines[i], err);
    }
    if (st == DSE_OK)
        st = dse_fail(err, DSE_E_USAGE, "one point is there twice, as '%.200s' and as '%.200s'",
                      lines[0].data, lines[1].data);
    for (int i = 0; i < 2; i++)
        dse_strbuf_free(&lines[i]);
    return st;
}

/* Of the current variant. They are no part of its configuration: results that are stored already get them,
 * too. */
static dse_status set_prices(state *s, dse_error *err)
{
    const card_system *system = &s->tasks.at->study.system;

    return store_set_prices(s->db, s->tasks.at->hash, system->price, system->power, err);
}

/* Marks a task whose result is in the database; *variant is that of the one before. */
static dse_status look_up(state *s, size_t task, uint64_t *variant, dse_error *err)
{
    drv_space_point p;
    store_brief brief;
    uint64_t hash = 0;
    bool found;
    dse_status st = drv_cursor_get(&s->cursor, task, &p, err);

    if (st == DSE_OK)
        st = drv_tasks_enter(&s->tasks, &p, &hash, err);
    if (st == DSE_OK && (!task || p.variant != *variant))
        st = set_prices(s, err);
    if (st != DSE_OK || (st = store_asking_add(s->db, hash, err)) != DSE_OK ||
        (st = store_find(s->db, hash, s->tasks.config.data, &found, &brief, err)) != DSE_OK)
        return st;
    *variant = p.variant;
    if (found) {
        see(s, task);
        s->progress.cached++;
        note_result(s, task, &p, &brief, brief.fallback);
    } else if (s->pruner) {
        drv_pruner_add(s->pruner, task, &s->tasks.at->study, s->tasks.at->hash, hash, &p.point);
    }
    return DSE_OK;
}

/* And notes what is asked for: the points that a ranking is of until the next sweep. */
static dse_status find_cached(state *s, dse_error *err)
{
    uint64_t variant = 0, twice[2];
    dse_status st = store_asking_begin(s->db, err);

    if (st == DSE_OK && (st = store_begin_finding(s->db, err)) == DSE_OK) {
        dse_status looked = DSE_OK;

        for (size_t i = 0; looked == DSE_OK && i < s->points.n; i++)
            looked = look_up(s, i, &variant, err);
        st = store_commit(s->db, looked == DSE_OK ? err : NULL);
        st = looked == DSE_OK ? st : looked;
    }
    if (st == DSE_OK)
        st = store_asking_end(s->db, twice, err);
    return st == DSE_OK && twice[1] ? fail_same(s, twice, err) : st;
}

/* ---- running ------------------------------------------------------------------------------- */

/* The next task: of the round, or in the order of the space. *number is what it is under way by; NULL: there
 * is none, or next_error says why. */
static under_way *find_next(state *s, uint64_t *number)
{
    under_way *u;
    size_t task;

    while (!s->pruner && s->next < s->points.n && is_seen(s, s->next))
        s->next++;
    if (s->next == (s->pruner ? s->n_round : s->points.n))
        return NULL;
    task = s->pruner ? s->round[s->next] : s->next;
    s->next++;
    see(s, task);
    if (!s->n_idle) {
        DSE_GROW(s->running, s->cap_running, s->n_running + 1);
        DSE_GROW(s->idle, s->cap_idle, s->n_running + 1);
        s->running[s->n_running] = DSE_ARENA_NEW(&s->lasting, under_way, 1);
        s->idle[s->n_idle++] = s->n_running++;
    }
    *number = s->idle[--s->n_idle];
    u = s->running[*number];
    u->task = task;
    return drv_cursor_get(&s->cursor, task, &u->point, &s->next_error) == DSE_OK ? u : NULL;
}

static dse_status commit(state *s, dse_error *err)
{
    if (!s->uncommitted)
        return DSE_OK;
    s->uncommitted = false;
    s->commit_seconds = since(&s->start);
    return store_commit(s->db, err);
}

static dse_status begin_batch(state *s, dse_error *err)
{
    dse_status st = s->uncommitted ? DSE_OK : store_begin(s->db, err);

    s->uncommitted |= st == DSE_OK;
    return st;
}

static dse_status put_row(state *s, const store_row *row, dse_error *err)
{
    dse_status st = begin_batch(s, err);

    if (st == DSE_OK)
        st = store_put(s->db, row, err);
    if (st != DSE_OK)
        return st;
    return s->sweep->tools ? commit(s, err) : DSE_OK; /* theirs take long: each by itself */
}

/* What has become of the point that is under way by this number, and is no more. */
static dse_status keep_row(state *s, uint64_t number, store_row *row, dse_error *err)
{
    const size_t task = s->running[number]->task;
    const drv_space_point *p = &s->running[number]->point;
    const store_metrics *m = &row->metrics;
    const drv_study *study;
    dse_status st = drv_tasks_enter(&s->tasks, p, &row->hash, err);

    s->idle[s->n_idle++] = number;
    if (st != DSE_OK)
        return st;
    study = &s->tasks.at->study;
    row->config = s->tasks.config.data;
    row->study = s->tasks.at->hash;
    row->model = study->model_name;
    row->system = study->system_name;
    row->engine = study->engine;
    row->settings = study->settings;
    row->strategy = p->point;
    if (row->done) {
        s->progress.done++;
        note_result(s, task, p,
                    &(store_brief){.wall_time = m->wall_time,
                                   .peak_memory = m->peak_memory,
                                   .undercharged_messages = m->undercharged_messages,
                                   .flat_ring_collectives = m->flat_ring_collectives},
                    m->fallback);
    } else {
        s->progress.failed++;
        note_failure(s, task, p, row->error);
    }
    s->progress.answered = since(&s->start);
    if (!isnan(row->seconds))
        s->progress.cpu_seconds += row->seconds;
    if (s->pruner && row->done) {
        const store_time t = {row->hash, row->study, m->wall_time, m->peak_memory};

        drv_pruner_result(s->pruner, &t);
    }
    return put_row(s, row, err);
}

/* ---- by workers ---------------------------------------------------------------------------- */

static const char *request_again(void *user, uint64_t number)
{
    state *s = user;
    dse_status st = drv_tasks_request(&s->tasks, &s->running[number]->point, &s->next_error);

    return st == DSE_OK ? s->tasks.request.data : NULL;
}

static const char *next_task(void *user, uint64_t *number)
{
    return find_next(user, number) ? request_again(user, *number) : NULL;
}

static dse_status take_answer(void *user, uint64_t which, const char *line, dse_error *err)
{
    state *s = user;
    store_row row = {0};
    dse_status st;

    dse_arena_reset(&s->scratch);
    st = drv_answer_read(line, &s->scratch, &row, err);
    return st == DSE_OK ? keep_row(s, which, &row, err) : DSE_E_CHILD;
}

static dse_status take_failure(void *user, uint64_t which, const char *words, dse_error *err)
{
    state *s = user;
    store_row row = {.error = words, .seconds = NAN};

    return keep_row(s, which, &row, err);
}

static dse_status tick(void *user, dse_error *err)
{
    state *s = user;

    report(s);
    return s->progress.seconds - s->commit_seconds >= COMMIT_SECONDS ? commit(s, err) : DSE_OK;
}

/* The worker's words, ended by the option that differs and its value, which is in `last`. */
static void write_command(const drv_sweep *sweep, drv_worker_command *c, char last[24])
{
    drv_worker_command_init(c, sweep->worker, sweep->shortcuts);
    c->word[c->n++] = sweep->slurm ? "--point-timeout" : "--parent";
    c->word[c->n++] = last;
    if (sweep->slurm)
        snprintf(last, 24, "%g", sweep->point_timeout);
    else
        snprintf(last, 24, "%ld", (long)getpid());
}

static dse_status run_workers(state *s, uint32_t jobs, dse_error *err)
{
    const exec_calls calls = {next_task,        take_answer, take_failure, tick, s, s->sweep->point_timeout,
                              "--point-timeout"};
    drv_worker_command c;
    char last[24];

    write_command(s->sweep, &c, last);
    if (s->sweep->slurm)
        return exec_slurm_run(s->sweep->slurm, c.word, &calls, request_again, err);
    return exec_pool_run(c.word, jobs, &calls, err);
}

void drv_sweep_script(const drv_sweep *sweep, dse_strbuf *out)
{
    const size_t n = sweep->points->n, size = sweep->slurm->array_size;
    drv_worker_command c;
    char last[24];

    write_command(sweep, &c, last);
    exec_slurm_script(sweep->slurm, c.word, "ccldse", 1, n < size ? n : size, out);
}

/* ---- by external tools --------------------------------------------------------------------- */

static bool next_point(void *user, uint64_t *number, const drv_study **study, const strategy **point)
{
    state *s = user;
    const under_way *u = find_next(s, number);

    if (!u || drv_tasks_enter_variant(&s->tasks, u->point.variant, &s->next_error) != DSE_OK)
        return false;
    *study = &s->tasks.at->study;
    *point = &u->point.point;
    return true;
}

static dse_status take_row(void *user, uint64_t number, store_row *row, const drv_astra_log *log,
                           dse_error *err)
{
    (void)log;
    return keep_row(user, number, row, err);
}

static dse_status run_tools(state *s, uint32_t jobs, dse_error *err)
{
    const drv_external_calls calls = {next_point, take_row, report, s};

    return drv_external_run(s->sweep->tools, jobs, &calls, err);
}

/* What tools cannot simulate is told before anything runs, and not stored as a failure of each point. */
static dse_status check_studies(state *s, dse_error *err)
{
    const drv_sweep *sweep = s->sweep;
    uint64_t variant = 0;
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < s->points.n; i++) {
        drv_space_point p;

        if ((st = drv_cursor_get(&s->cursor, i, &p, err)) != DSE_OK || (i && p.variant == variant))
            continue;
        variant = p.variant;
        st = drv_tasks_enter_variant(&s->tasks, variant, err);
        if (st == DSE_OK && sweep->tools)
            st = drv_external_check(sweep->tools, &s->tasks.at->study, err);
        if (st == DSE_OK && sweep->prune)
            st = drv_bounds_check(&s->tasks.at->study, "--prune", err);
    }
    return st;
}

/* Until there is no next task. */
static dse_status run_tasks(state *s, uint32_t jobs, dse_error *err)
{
    dse_status st = s->sweep->tools ? run_tools(s, jobs, err) : run_workers(s, jobs, err);

    if (st != DSE_OK || s->next_error.status == DSE_OK)
        return st;
    if (err)
        *err = s->next_error;
    return s->next_error.status;
}

/* What was finished is in the database, also after Ctrl-C; if not, that is what is told. */
static dse_status finish_batch(state *s, dse_status st, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;

    if (commit(s, &why) == DSE_OK || (st != DSE_OK && st != DSE_E_INTERRUPT))
        return st;
    if (err)
        *err = why;
    return why.status;
}

/* ---- pruned -------------------------------------------------------------------------------- */

static dse_status note_time(void *user, const store_time *t, dse_error *err)
{
    (void)err;
    drv_pruner_result(user, t);
    return DSE_OK;
}

static void next_round(state *s)
{
    drv_progress *g = &s->progress;

    drv_pruner_round(s->pruner, &s->round, &s->n_round, g->skipped_by);
    s->next = 0;
    g->skipped = 0;
    for (int i = 0; i < DRV_N_SKIPS; i++)
        g->skipped += g->skipped_by[i];
}

/* Once no round is left: what none has had. A sweep that ends before that has not skipped what it did not
 * come to. */
static dse_status keep_skipped(state *s, dse_error *err)
{
    dse_status st = s->progress.skipped ? begin_batch(s, err) : DSE_OK;
    uint64_t hash;

    for (size_t i = 0; st == DSE_OK && s->progress.skipped && i < s->points.n; i++)
        if (!is_seen(s, i) && (st = drv_tasks_enter(&s->tasks, &s->points.point[i], &hash, err)) == DSE_OK)
            st = store_skip(s->db, hash, s->tasks.at->hash, err);
    return st;
}

static dse_status run_rounds(state *s, uint32_t jobs, dse_error *err)
{
    dse_status st = store_times(s->db, note_time, s->pruner, err);

    while (st == DSE_OK) {
        next_round(s);
        if (!s->n_round)
            return keep_skipped(s, err);
        st = run_tasks(s, s->n_round < jobs ? (uint32_t)s->n_round : jobs, err);
    }
    return st;
}

/* ---- the sweep ----------------------------------------------------------------------------- */

/* What is told to be in the database is there, or that is what is told. */
static dse_status finish_store(store *db, dse_status st, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;

    if (store_finish(db, &why) == DSE_OK)
        return st;
    if (err)
        *err = why;
    return why.status;
}

/* What outlives the state. */
static dse_status finish(state *s, dse_arena *a, drv_progress *out, dse_error *err)
{
    dse_status st = DSE_OK;

    s->progress.seconds = since(&s->start);
    *out = s->progress;
    if (out->has_best) {
        st = drv_tasks_enter_variant(&s->tasks, s->best_variant, err);
        if (st == DSE_OK)
            out->best_settings = dse_arena_strdup(a, s->tasks.at->study.settings);
    }
    if (out->first_failure)
        out->first_failure = dse_arena_strdup(a, s->failure);
    return st;
}

dse_status drv_sweep_run(const drv_sweep *sweep, dse_arena *a, drv_progress *out, dse_error *err)
{
    state s = {.sweep = sweep, .points = *sweep->points, .commit_seconds = -COMMIT_SECONDS};
    uint32_t jobs = sweep->jobs;
    uint64_t to_run;
    dse_status st, end;

    clock_gettime(CLOCK_MONOTONIC, &s.start);
    dse_arena_init(&s.scratch);
    dse_arena_init(&s.lasting);
    s.progress.total = s.points.n;
    st = sweep->prune ? drv_points_hold(&s.points, &s.lasting, err) : DSE_OK; /* rounds take them anyhow */
    drv_cursor_init(&s.cursor, &s.points);
    drv_tasks_init(&s.tasks, &s.points, sweep->tools ? DRV_EXTERNAL_ENGINE : NULL);
    s.seen = dse_calloc(s.points.n / 8 + 1, sizeof *s.seen);
    if (st == DSE_OK && (sweep->tools || sweep->prune))
        st = check_studies(&s, err);
    if (sweep->prune)
        s.pruner = drv_pruner_make(sweep->prune);
    if (st == DSE_OK)
        st = exec_allow_files(sweep->points->n < jobs ? (uint32_t)sweep->points->n : jobs, FILES_OF_DATABASE,
                              err);
    if (st == DSE_OK)
        st = store_open(sweep->database, STORE_WRITE, &s.db, err);
    if (st == DSE_OK && sweep->more_follow)
        store_leave_figures(s.db);
    if (st == DSE_OK)
        s.progress.was_damaged = store_was_damaged(s.db, &s.progress.damaged_rows);
    if (st == DSE_OK)
        st = find_cached(&s, err);
    if (st == DSE_OK && !sweep->tools && !sweep->prune)
        st = store_defer_indexes(s.db, err);
    s.progress.answered = since(&s.start);
    if (st == DSE_OK && sweep->begin)
        sweep->begin(sweep->user, &s.progress);
    to_run = s.progress.total - s.progress.cached;
    if (to_run < jobs)
        jobs = (uint32_t)to_run;
    if (st == DSE_OK && (to_run || sweep->slurm))
        st = s.pruner ? run_rounds(&s, jobs, err) : run_tasks(&s, jobs, err);
    st = finish_batch(&s, st, err);
    end = finish(&s, a, out, st == DSE_OK ? err : NULL);
    if (st == DSE_OK || (st == DSE_E_INTERRUPT && s.db))
        st = finish_store(s.db, st, err);
    else
        store_close(s.db);
    if (st == DSE_OK && sweep->slurm && out->done + out->failed == to_run)
        exec_slurm_clean(sweep->slurm);
    drv_pruner_free(s.pruner);
    dse_free(s.seen);
    dse_free(s.running);
    dse_free(s.idle);
    dse_arena_free(&s.scratch);
    dse_arena_free(&s.lasting);
    drv_cursor_free(&s.cursor);
    drv_tasks_free(&s.tasks);
    return st == DSE_OK ? end : st;
}
