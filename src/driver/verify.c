#include "driver/verify.h"

#include <string.h>

typedef struct {
    const drv_verification *v;
    dse_arena *arena; /* of the findings */
    drv_verified *out;
    size_t next, finished;
    dse_arena study_arena; /* of the current row alone: the studies of all rows may not fit in memory */
    drv_study study;
    strategy point;
    bool *trains; /* by row: of profile train */
} state;

static void fail_row(state *s, size_t row, const char *why)
{
    s->finished++;
    s->out[row].failure = dse_arena_strdup(s->arena, why);
}

/* The next row whose study can be read; the others get a failure. */
static bool next(void *user, uint64_t *task, const drv_study **study, const strategy **point)
{
    state *s = user;

    while (s->next < s->v->n_rows) {
        const char *config = s->v->rows[s->next].config;
        dse_error err = DSE_ERROR_INIT;

        *task = s->next++;
        *study = &s->study;
        *point = &s->point;
        dse_arena_reset(&s->study_arena);
        if (drv_study_read_config(config, strlen(config), &s->study_arena, &s->study, &s->point, &err) ==
            DSE_OK) {
            s->trains[*task] = s->study.training != NULL;
            return true;
        }
        fail_row(s, *task, dse_error_say(&err).text);
    }
    return false;
}

/* What ASTRA-sim should print of an unrolled step. */
static dse_status unrolled_metrics(const drv_study *study, const strategy *point, dse_arena *a,
                                   store_metrics *out, dse_error *err)
{
    step_result step;
    drv_unrolled u;
    dse_status st;

    if ((st = drv_training_on(study, point, STEP_UNITS, a, &step, err)) != DSE_OK ||
        (st = drv_unrolled_make(study, point, &step, a, &u, err)) != DSE_OK ||
        (st = drv_unrolled_simulate(study, point, a, &u, NULL, err)) != DSE_OK)
        return st;
    drv_metrics_of(&u.workload, &u.result, out);
    if (u.is_even)
        out->wall_time = u.composed;
    return DSE_OK;
}

/* What is expected: of a row of profile stage its own metrics. The study of another row may be the current
 * one by now, so a row of profile train is read again. */
static dse_status expected_metrics(const state *s, uint64_t task, store_metrics *out, dse_error *err)
{
    const char *config = s->v->rows[task].config;
    dse_arena a;
    drv_study study;
    strategy point;
    dse_status st;

    *out = s->v->rows[task].metrics;
    if (!s->trains[task])
        return DSE_OK;
    dse_arena_init(&a);
    st = drv_study_read_config(config, strlen(config), &a, &study, &point, err);
    if (st == DSE_OK)
        st = unrolled_metrics(&study, &point, &a, out, err);
    dse_arena_free(&a);
    return st;
}

static void compare(const store_metrics *expected, const drv_astra_log *log, dse_arena *a, drv_verified *out)
{
    size_t n;
    const store_column *c = store_columns(&n);

    out->difference = DSE_ARENA_NEW(a, drv_difference, n);
    for (size_t i = 0; i < n; i++) {
        const drv_log_value *v = drv_astra_log_value(log, c[i].name);
        drv_difference *d = &out->difference[out->n_differences];

        if (!v)
            continue;
        out->n_compared++;
        d->statistic = c[i].name;
        drv_log_format_stored(expected, &c[i], v, d->stored);
        drv_log_format(v, &c[i], d->external);
        out->n_differences += strcmp(d->stored, d->external) != 0;
    }
}

static dse_status result(void *user, uint64_t task, store_row *row, const drv_astra_log *log, dse_error *err)
{
    state *s = user;
    store_metrics expected;
    dse_error why = DSE_ERROR_INIT;

    (void)err;
    if (!row->done) {
        fail_row(s, task, row->error);
    } else if (expected_metrics(s, task, &expected, &why) != DSE_OK) {
        fail_row(s, task, dse_error_say(&why).text);
    } else {
        s->finished++;
        compare(&expected, log, s->arena, &s->out[task]);
    }
    return DSE_OK;
}

static void tick(void *user)
{
    const state *s = user;

    s->v->progress(s->v->user, s->finished, s->v->n_rows);
}

dse_status drv_verify(const drv_verification *v, dse_arena *a, drv_verified *out, dse_error *err)
{
    state s = {.v = v, .arena = a, .out = out, .trains = DSE_ARENA_NEW(a, bool, v->n_rows)};
    const drv_external_calls calls = {next, result, tick, &s};
    drv_external tools = *v->tools;
    dse_status st;

    tools.unrolls = true;
    memset(out, 0, v->n_rows * sizeof *out);
    dse_arena_init(&s.study_arena);
    st = drv_external_run(&tools, v->jobs, &calls, err);
    dse_arena_free(&s.study_arena);
    return st;
}
