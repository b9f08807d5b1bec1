#include "measured/calibrate_gather.h"

#include "exec/parallel.h"
#include "measured/pairs.h"
#include "measured/point.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    msr_gathered *out;
    dse_arena *arena;
    const card_system *machine;
} gathering;

/* ---- traces ----------------------------------------------------------------------------------------- */

static dse_status see_trace(void *user, size_t i, msr_run *r, const drv_recording *traces, dse_error *err)
{
    const gathering *g = user;
    msr_gathered *out = g->out;
    const char *why;
    dse_status st = msr_pairs_step_time(traces, g->arena, &r->job.step_time_s, &why, err);

    (void)i;
    if (st == DSE_OK)
        st = msr_hockney_of(traces, r->job.name, g->machine, g->arena, &out->hockney[out->n_hockney], err);
    out->n_hockney += st == DSE_OK;
    return st;
}

/* ---- starts ----------------------------------------------------------------------------------------- */

/* For each dimension the fit of the most samples, the first among equals; the others say so. */
static void choose_starts(msr_gathered *g)
{
    for (size_t i = 0; i < g->n_hockney; i++)
        for (size_t k = 0; k < g->n_hockney; k++) {
            const report_calibrated_hockney *x = &g->hockney[i], *y = &g->hockney[k];

            if (i == k || x->why || y->why || x->dim != y->dim)
                continue;
            if (y->samples > x->samples || (y->samples == x->samples && k < i))
                g->hockney[i].why = "another trace has more samples of this dimension";
        }
}

static void put_starts(msr_gathered *g, dse_arena *a)
{
    const card_system *machine = &g->runs.machine;

    choose_starts(g);
    g->start = DSE_ARENA_NEW(a, msr_calibrate_start, 4 * g->n_hockney);
    for (size_t i = 0; i < g->n_hockney; i++) {
        const report_calibrated_hockney *h = &g->hockney[i];

        if (h->why)
            continue;
        g->start[g->n_starts++] = (msr_calibrate_start){
            dse_arena_printf(a, "network.bandwidth[%" PRIu32 "]", h->dim), h->bandwidth};
        g->start[g->n_starts++] =
            (msr_calibrate_start){dse_arena_printf(a, "network.latency[%" PRIu32 "]", h->dim), h->latency};
        g->start[g->n_starts++] =
            (msr_calibrate_start){dse_arena_printf(a, "network.efficiency[%" PRIu32 "]", h->dim),
                                  h->bandwidth / machine->bandwidth.v[h->dim]};
        g->start[g->n_starts++] = (msr_calibrate_start){
            dse_arena_printf(a, "network.step_latency[%" PRIu32 "]", h->dim), h->alpha_s * 1e9};
    }
}

/* ---- runs ------------------------------------------------------------------------------------------- */

/* Whether each run ends at all: some strategies deadlock, as they do in ASTRA-sim. */
typedef struct {
    const msr_runs *runs;
    dse_error *failed; /* of each run; its status is DSE_OK where it ended, or has no step time */
    double *step_s;    /* of each that ended */
} trying;

static bool has_time(const msr_run *r) { return r->job.step_time_s > 0; }

static dse_status try_run(void *user, size_t i, dse_error *err)
{
    const trying *t = user;
    const msr_run *r = t->runs->run[i];
    dse_error *why = &t->failed[i];
    dse_status st = DSE_OK;
    store_metrics m = {0};
    dse_arena arena;

    dse_arena_init(&arena);
    if (has_time(r))
        st = msr_point_run(&r->study, NULL, &r->plan.point, &arena, &m, why);
    if (has_time(r) && st == DSE_OK)
        t->step_s[i] = (double)m.wall_time * 1e-9;
    dse_arena_free(&arena);
    return st == DSE_OK || msr_runs_is_own_failure(st)
               ? DSE_OK
               : dse_fail_at(err, st, why->where, "%s: %s", r->job.name, why->text);
}

static void add(msr_gathered *out, const msr_run *r, const dse_error *failed, double step_s, dse_arena *a)
{
    if (!has_time(r)) {
        msr_runs_leave(&out->runs, &r->job, msr_gap_rows[MSR_GAP_NOT_MEASURED].name, "there is no step time",
                       a);
        return;
    }
    if (failed->status != DSE_OK) {
        msr_runs_leave(&out->runs, &r->job, "the simulation fails", failed->text, a);
        return;
    }
    out->of[out->n] = r;
    out->step_s[out->n] = step_s;
    out->run[out->n++] = (msr_calibrate_run){.name = r->job.name,
                                             .study = &r->study,
                                             .point = r->plan.point,
                                             .measured_s = r->job.step_time_s,
                                             .is_mean = r->is_trace};
}

dse_status msr_gather(const msr_runs_options *o, dse_arena *a, msr_gathered *out, dse_error *err)
{
    gathering g = {out, a, &out->runs.machine};
    msr_runs_options how = *o;
    trying trial = {.runs = &out->runs};
    dse_status st;

    *out = (msr_gathered){.hockney = DSE_ARENA_NEW(a, report_calibrated_hockney, o->n_traces)};
    how.see = see_trace;
    how.seer = &g;
    if ((st = msr_runs_load(&how, a, &out->runs, err)) != DSE_OK)
        return st;
    out->run = DSE_ARENA_NEW(a, msr_calibrate_run, out->runs.n);
    out->of = DSE_ARENA_NEW(a, const msr_run *, out->runs.n);
    out->step_s = DSE_ARENA_NEW(a, double, out->runs.n);
    trial.step_s = DSE_ARENA_NEW(a, double, out->runs.n);
    trial.failed = DSE_ARENA_NEW(a, dse_error, out->runs.n);
    if ((st = exec_parallel(out->runs.n, o->read.n_threads, try_run, NULL, &trial, err)) != DSE_OK)
        return st;
    for (size_t i = 0; i < out->runs.n; i++)
        add(out, out->runs.run[i], &trial.failed[i], trial.step_s[i], a);
    put_starts(out, a);
    return DSE_OK;
}
