#include "driver/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A point under way. Its study is read from the row's configuration, and gone with its result: there may be more
 * rows than memory for their studies. */
typedef struct {
    bool busy;
    size_t row;
    dse_arena arena;
    drv_study study;
    design_point point;
} under_way;

typedef struct {
    const drv_verification *v;
    dse_arena *arena; /* of what is found */
    drv_verified *out;
    under_way *slots;
    size_t next, finished;
    dse_status failed; /* where `next` cannot say so: out of memory */
} state;

static under_way *free_slot(const state *s)
{
    under_way *u = s->slots;

    while (u->busy)
        u++;
    return u;
}

static dse_status fail_row(state *s, size_t row, const char *why)
{
    s->finished++;
    s->out[row].failure = dse_arena_strdup(s->arena, why);
    return s->out[row].failure ? DSE_OK : DSE_E_NOMEM;
}

/* The next row whose study can be had; of the others it is noted why not. */
static bool next(void *user, uint64_t *task, const drv_study **study, const design_point **point)
{
    state *s = user;
    under_way *u = free_slot(s);

    while (s->failed == DSE_OK && s->next < s->v->n_rows) {
        const store_row *row = &s->v->rows[s->next];
        dse_error err = DSE_ERROR_INIT;
        char why[sizeof err.where + sizeof err.text + 2];

        u->row = s->next++;
        dse_arena_reset(&u->arena);
        if (drv_study_read_config(row->config, strlen(row->config), &u->arena, &u->study, &u->point, &err) ==
            DSE_OK) {
            u->busy = true;
            *task = (uint64_t)(u - s->slots);
            *study = &u->study;
            *point = &u->point;
            return true;
        }
        snprintf(why, sizeof why, "%s%s%s", err.where, err.where[0] ? ": " : "", err.text);
        s->failed = err.status == DSE_E_NOMEM ? err.status : fail_row(s, u->row, why);
    }
    return false;
}

static dse_status compare(const store_row *row, const drv_astra_log *log, dse_arena *a, drv_verified *out,
                          dse_error *err)
{
    size_t n;
    const store_column *c = store_columns(&n);

    out->difference = DSE_ARENA_NEW(a, drv_difference, n);
    if (!out->difference)
        return dse_fail_nomem(err);
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
    return DSE_OK;
}

static dse_status result(void *user, uint64_t task, store_row *row, const drv_astra_log *log, dse_error *err)
{
    state *s = user;
    under_way *u = &s->slots[task];

    u->busy = false;
    if (!row->done)
        return fail_row(s, u->row, row->error) == DSE_OK ? DSE_OK : dse_fail_nomem(err);
    s->finished++;
    return compare(&s->v->rows[u->row], log, s->arena, &s->out[u->row], err);
}

static void tick(void *user)
{
    const state *s = user;

    s->v->progress(s->v->user, s->finished, s->v->n_rows);
}

dse_status drv_verify(const drv_verification *v, dse_arena *a, drv_verified *out, dse_error *err)
{
    state s = {.v = v, .arena = a, .out = out, .slots = dse_calloc(v->jobs, sizeof(under_way))};
    const drv_external_calls calls = {next, result, tick, &s};
    dse_status st;

    if (!s.slots)
        return dse_fail_nomem(err);
    memset(out, 0, v->n_rows * sizeof *out);
    for (uint32_t i = 0; i < v->jobs; i++)
        dse_arena_init(&s.slots[i].arena);
    st = drv_external_run(v->tools, v->jobs, &calls, err);
    if (st == DSE_OK && s.failed != DSE_OK)
        st = dse_fail_nomem(err);
    for (uint32_t i = 0; i < v->jobs; i++)
        dse_arena_free(&s.slots[i].arena);
    dse_free(s.slots);
    return st;
}
