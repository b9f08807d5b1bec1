#include "driver/verify.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const drv_verification *v;
    dse_arena *arena; /* of the findings */
    drv_verified *out;
    size_t next, finished;
    dse_arena study_arena; /* of the current row alone: the studies of all rows may not fit in memory */
    drv_study study;
    strategy point;
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
            DSE_OK)
            return true;
        fail_row(s, *task, dse_error_say(&err).text);
    }
    return false;
}

static void compare(const store_row *row, const drv_astra_log *log, dse_arena *a, drv_verified *out)
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
        drv_log_format_stored(&row->metrics, &c[i], v, d->stored);
        drv_log_format(v, &c[i], d->external);
        out->n_differences += strcmp(d->stored, d->external) != 0;
    }
}

static dse_status result(void *user, uint64_t task, store_row *row, const drv_astra_log *log, dse_error *err)
{
    state *s = user;

    (void)err;
    if (!row->done) {
        fail_row(s, task, row->error);
        return DSE_OK;
    }
    s->finished++;
    compare(&s->v->rows[task], log, s->arena, &s->out[task]);
    return DSE_OK;
}

static void tick(void *user)
{
    const state *s = user;

    s->v->progress(s->v->user, s->finished, s->v->n_rows);
}

dse_status drv_verify(const drv_verification *v, dse_arena *a, drv_verified *out, dse_error *err)
{
    state s = {.v = v, .arena = a, .out = out};
    const drv_external_calls calls = {next, result, tick, &s};
    dse_status st;

    memset(out, 0, v->n_rows * sizeof *out);
    dse_arena_init(&s.study_arena);
    st = drv_external_run(v->tools, v->jobs, &calls, err);
    dse_arena_free(&s.study_arena);
    return st;
}
