#include "driver/calibrate_gather.h"

#include "driver/measure.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Growing lists; what they point to is in the arena. */
typedef struct {
    const card_system *machine;
    const char *machine_name;
    const drv_gather_options *o;
    dse_arena *arena;
    drv_calibrate_run *run;
    size_t n, cap;
    drv_gathered_run *about;
    size_t cap_about;
    drv_gathered_left *left;
    size_t n_left, cap_left;
    drv_gathered_hockney *hockney;
    size_t n_hockney;
} gathering;

/* ---- what is left out ------------------------------------------------------------------------------ */

static dse_status leave(gathering *g, const drv_job *j, const char *reason, const char *text, dse_error *err)
{
    size_t i = 0;

    while (i < g->n_left && strcmp(g->left[i].reason, reason) != 0)
        i++;
    if (i == g->n_left) {
        if (!DSE_GROW(g->left, g->cap_left, g->n_left + 1))
            return dse_fail_nomem(err);
        g->left[g->n_left++] =
            (drv_gathered_left){reason, 0, dse_arena_printf(g->arena, "%s: %s", j->name, text)};
        if (!g->left[i].first)
            return dse_fail_nomem(err);
    }
    g->left[i].n++;
    return DSE_OK;
}

/* By the first gap that nothing can stand for, or that nobody allowed to be substituted. */
static dse_status leave_for_gap(gathering *g, const drv_plan *p, dse_error *err)
{
    for (size_t i = 0; i < p->n_gaps; i++) {
        const drv_gap_row *row = &drv_gap_rows[p->gap[i].kind];

        if (!row->substitute || !g->o->plan.approximate)
            return leave(g, p->job, row->name, p->gap[i].text, err);
    }
    return leave(g, p->job, "no point", "it cannot be simulated", err);
}

/* ---- a run ----------------------------------------------------------------------------------------- */

static dse_status notes_of(gathering *g, const drv_plan *p, drv_gathered_run *out, dse_error *err)
{
    out->note = DSE_ARENA_NEW(g->arena, const char *, p->n_gaps + p->n_assumed);
    if (!out->note)
        return dse_fail_nomem(err);
    for (size_t i = 0; i < p->n_gaps; i++) {
        const char *note =
            dse_arena_printf(g->arena, "%s: %s", p->gap[i].text, drv_gap_rows[p->gap[i].kind].substitute);

        if (!note)
            return dse_fail_nomem(err);
        out->note[out->n_notes++] = note;
    }
    for (size_t i = 0; i < p->n_assumed; i++)
        out->note[out->n_notes++] = p->assumed[i];
    return DSE_OK;
}

static dse_status add_run(gathering *g, const drv_plan *p, const drv_study *s, dse_error *err)
{
    drv_gathered_run about = {.name = p->job->name, .where = p->job->where};
    dse_status st = notes_of(g, p, &about, err);

    if (st != DSE_OK)
        return st;
    if (!DSE_GROW(g->run, g->cap, g->n + 1) || !DSE_GROW(g->about, g->cap_about, g->n + 1))
        return dse_fail_nomem(err);
    g->run[g->n] = (drv_calibrate_run){p->job->name, s, p->point, p->job->step_time_s};
    g->about[g->n++] = about;
    return DSE_OK;
}

/* One that the machine cannot be cut to is left out, whatever else is wrong with a row of a table ends it all. */
static dse_status study_of(gathering *g, drv_plan *p, drv_study **out, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    *out = NULL;
    if (!p->can_run)
        return leave_for_gap(g, p, err);
    if (!(*out = DSE_ARENA_NEW(g->arena, drv_study, 1)))
        return dse_fail_nomem(err);
    st = drv_plan_study(p, g->machine, g->machine_name, &g->o->plan, g->arena, *out, &why);
    if (st == DSE_OK && !p->can_run) {
        *out = NULL;
        return leave_for_gap(g, p, err);
    }
    if (st == DSE_E_CONFIG || st == DSE_E_RANGE) {
        *out = NULL;
        return leave(g, p->job, "the system cannot run it", why.text, err);
    }
    return st == DSE_OK ? DSE_OK : dse_fail_at(err, st, why.where, "%s", why.text);
}

/* Whether it ends at all: some strategies deadlock, as they do in ASTRA-sim. */
static dse_status try_run(const drv_study *s, const design_point *p, dse_error *err)
{
    store_metrics m;
    dse_arena arena;
    dse_status st;

    dse_arena_init(&arena);
    st = drv_point_run(s, p, &arena, &m, err);
    dse_arena_free(&arena);
    return st;
}

static dse_status add_job(gathering *g, const drv_job *j, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    drv_plan *p = DSE_ARENA_NEW(g->arena, drv_plan, 1);
    drv_study *s;
    dse_status st = p ? drv_plan_make(j, &g->o->plan, g->arena, p, err) : dse_fail_nomem(err);

    dse_error_set_where(err, j->where);
    if (st != DSE_OK || (st = study_of(g, p, &s, err)) != DSE_OK || !s)
        return st;
    if (!(j->step_time_s > 0))
        return leave(g, j, "not measured", "there is no step time", err);
    if ((st = try_run(s, &p->point, &why)) == DSE_OK)
        return add_run(g, p, s, err);
    if (st == DSE_E_NOMEM)
        return dse_fail_nomem(err);
    return leave(g, j, "the simulation fails", why.text, err);
}

/* ---- traces ----------------------------------------------------------------------------------------- */

/* The metrics that say how long a step takes, in the order in which they are asked. */
static const struct {
    const char *metric, *entry;
    double seconds; /* of its unit */
} step_times[] = {{"iter_time", "avg_iter_time_ms", 1e-3}, {"avg_step_time", "avg_step_time", 1}};

static dse_status step_time_of(gathering *g, const drv_recording *r, double *out, dse_error *err)
{
    const metric_options plain = {0};
    dse_status st = DSE_OK;

    *out = NAN;
    for (size_t i = 0; st == DSE_OK && isnan(*out) && i < sizeof step_times / sizeof step_times[0]; i++) {
        const metric_value *v;
        report_measured m;
        const metric *row;

        if ((st = drv_measure_find(r, step_times[i].metric, false, &row, err)) != DSE_OK ||
            (st = drv_measure(r, row, step_times[i].metric, &plain, g->arena, &m, err)) != DSE_OK || !m.value)
            continue;
        v = metric_get(m.value, step_times[i].entry);
        if (v && v->kind == METRIC_NUMBER)
            *out = v->number * step_times[i].seconds;
    }
    return st;
}

/* Texts of the recording's card are in its own arena, and the job lives longer: the card is read again into ours. */
static dse_status add_recording(gathering *g, const char *path, const drv_recording *r, dse_error *err)
{
    trace_card *card = DSE_ARENA_NEW(g->arena, trace_card, 1);
    drv_job *j = DSE_ARENA_NEW(g->arena, drv_job, 1);
    trace_record notes = {0};
    const char *at;
    double seconds;
    dse_status st;

    if (!card || !j)
        return dse_fail_nomem(err);
    if (!r->has_card)
        return dse_fail_at(err, DSE_E_CONFIG, path,
                           "there is no workload card beside the trace; it says which run it is");
    at = dse_arena_strdup(g->arena, r->card.path);
    st = at ? trace_card_load(at, g->arena, card, &notes, err) : dse_fail_nomem(err);
    trace_record_free(&notes);
    if (st != DSE_OK || (st = drv_job_of_card(card, path, g->arena, j, err)) != DSE_OK ||
        (st = step_time_of(g, r, &seconds, err)) != DSE_OK ||
        (st = drv_hockney_of(r, path, g->machine, g->arena, &g->hockney[g->n_hockney], err)) != DSE_OK)
        return st;
    g->n_hockney++;
    j->step_time_s = seconds;
    return add_job(g, j, err);
}

static dse_status add_trace(gathering *g, const char *path, dse_error *err)
{
    drv_recording r = {0};
    dse_status st = drv_recording_load(path, &g->o->read, &r, err);

    if (st == DSE_OK)
        st = add_recording(g, path, &r, err);
    drv_recording_free(&r);
    return st;
}

static dse_status add_table(gathering *g, const char *path, dse_error *err)
{
    drv_job *jobs;
    size_t n;
    dse_status st = drv_jobs_read(path, g->o->only, g->o->n_only, g->arena, &jobs, &n, err);

    for (size_t i = 0; st == DSE_OK && i < n; i++)
        st = add_job(g, &jobs[i], err);
    return st;
}

/* ---- starts ----------------------------------------------------------------------------------------- */

/* For each dimension the fit of the most samples, the first among equals; the others say so. */
static void choose_starts(gathering *g)
{
    for (size_t i = 0; i < g->n_hockney; i++)
        for (size_t k = 0; k < g->n_hockney; k++) {
            const drv_gathered_hockney *x = &g->hockney[i], *y = &g->hockney[k];

            if (i == k || x->why || y->why || x->dim != y->dim)
                continue;
            if (y->samples > x->samples || (y->samples == x->samples && k < i))
                g->hockney[i].why = "another trace has more samples of this dimension";
        }
}

static dse_status put_starts(gathering *g, drv_gathered *out, dse_error *err)
{
    choose_starts(g);
    if (!(out->start = DSE_ARENA_NEW(g->arena, drv_calibrate_start, 2 * g->n_hockney)))
        return dse_fail_nomem(err);
    for (size_t i = 0; i < g->n_hockney; i++) {
        const drv_gathered_hockney *h = &g->hockney[i];
        const char *bandwidth, *latency;

        if (h->why)
            continue;
        bandwidth = dse_arena_printf(g->arena, "network.bandwidth[%" PRIu32 "]", h->dim);
        latency = dse_arena_printf(g->arena, "network.latency[%" PRIu32 "]", h->dim);
        if (!bandwidth || !latency)
            return dse_fail_nomem(err);
        out->start[out->n_starts++] = (drv_calibrate_start){bandwidth, h->bandwidth};
        out->start[out->n_starts++] = (drv_calibrate_start){latency, h->latency};
    }
    return DSE_OK;
}

static void *copy(dse_arena *a, const void *from, size_t bytes)
{
    void *to = dse_arena_alloc(a, bytes);

    return to && bytes ? memcpy(to, from, bytes) : to;
}

static dse_status finish(gathering *g, drv_gathered *out, dse_error *err)
{
    *out = (drv_gathered){.n = g->n,
                          .run = copy(g->arena, g->run, g->n * sizeof *g->run),
                          .about = copy(g->arena, g->about, g->n * sizeof *g->about),
                          .n_left = g->n_left,
                          .left = copy(g->arena, g->left, g->n_left * sizeof *g->left),
                          .n_hockney = g->n_hockney,
                          .hockney = g->hockney};
    return out->run && out->about && out->left ? put_starts(g, out, err) : dse_fail_nomem(err);
}

dse_status drv_gather(const card_system *machine, const char *machine_name, const drv_gather_options *o,
                      dse_arena *a, drv_gathered *out, dse_error *err)
{
    gathering g = {.machine = machine,
                   .machine_name = machine_name,
                   .o = o,
                   .arena = a,
                   .hockney = DSE_ARENA_NEW(a, drv_gathered_hockney, o->n_traces)};
    dse_status st = g.hockney ? DSE_OK : dse_fail_nomem(err);

    for (size_t i = 0; st == DSE_OK && i < o->n_traces; i++)
        st = add_trace(&g, o->trace[i], err);
    for (size_t i = 0; st == DSE_OK && i < o->n_tables; i++)
        st = add_table(&g, o->table[i], err);
    if (st == DSE_OK)
        st = finish(&g, out, err);
    dse_free(g.run);
    dse_free(g.about);
    dse_free(g.left);
    return st;
}
