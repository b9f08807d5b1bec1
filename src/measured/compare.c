#include "measured/compare.h"

#include "driver/bands.h"
#include "driver/simulated.h"
#include "exec/parallel.h"
#include "measured/pairs.h"
#include "measured/point.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    const msr_compare_options *o;
    dse_arena *arena;
    msr_runs runs;
    report_compared_run *run; /* of each run: those of traces are compared while they are read */
    size_t cap, n_traces;
    dse_arena *of; /* of each row: threads do not share one */
    cmp_bands bands;
} comparing;

/* ---- one run -------------------------------------------------------------------------------- */

static bool in_bytes(const drv_study *s)
{
    const wl_precision p = card_model_precision(&s->model);

    return s->training || wl_in_bytes(&p);
}

static void describe(const comparing *c, const msr_run *r, report_compared_run *to)
{
    dse_arena *a = c->arena;

    *to = (report_compared_run){.name = r->job.name,
                                .where = r->job.where,
                                .model = r->plan.model_name,
                                .point = msr_plan_point_name(&r->plan, a),
                                .profile = card_model_profile(&r->study.model),
                                .n_devices = strategy_ranks(&r->plan.point),
                                .n_notes = r->n_notes,
                                .note = r->note,
                                .score = NAN};
    to->band = drv_band_of(&c->bands, &r->study, &r->plan.point, true, a, &to->why_no_band);
    to->device = r->study.system.device;
    to->sizes =
        in_bytes(&r->study) ? dse_arena_printf(a, "bytes (%s)", r->study.model.precision.word) : "elements";
}

/* A simulation that fails is the run's, not the comparison's. */
static dse_status conclude(dse_status st, const dse_error *why, const cmp_weights *w, dse_arena *a,
                           report_compared_run *to, dse_error *err)
{
    if (st == DSE_OK)
        to->score = cmp_score(to->pair, to->n_pairs, w, &to->n_scored);
    else if (!msr_runs_is_own_failure(st))
        return dse_fail_at(err, st, why->where, "%s: %s", to->name, why->text);
    else
        to->failed = dse_arena_strdup(a, why->text);
    return DSE_OK;
}

/* A training step has no recording. */
static dse_status compare_recording(const msr_run *r, const drv_recording *traces, dse_arena *a,
                                    report_compared_run *to, dse_error *err)
{
    drv_recording simulated = {0};
    store_metrics m;
    dse_status st;

    if (r->plan.trains) {
        st = msr_point_run(&r->study, NULL, &r->plan.point, a, &m, err);
        return st == DSE_OK ? msr_pairs_make(NULL, &m, traces, a, &to->pair, &to->n_pairs, err) : st;
    }
    st = drv_simulated_run(&r->study, &r->plan.point, &traces->card, &simulated, NULL, err);
    if (st == DSE_OK)
        st = msr_pairs_make(&simulated, NULL, traces, a, &to->pair, &to->n_pairs, err);
    drv_recording_free(&simulated);
    return st;
}

static dse_status see_trace(void *user, size_t i, msr_run *r, const drv_recording *traces, dse_error *err)
{
    comparing *c = user;
    report_compared_run *to;
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    DSE_GROW(c->run, c->cap, i + 1);
    to = &c->run[i];
    c->n_traces = i + 1;
    describe(c, r, to);
    st = compare_recording(r, traces, c->arena, to, &why);
    return conclude(st, &why, c->o->weights, c->arena, to, err);
}

static double or_nan(uint64_t v, double scale) { return v == STORE_ABSENT ? NAN : (double)v * scale; }

/* The arena of the row keeps the pairs; what the simulation takes is gone at the end. */
static dse_status compare_row(void *user, size_t i, dse_error *err)
{
    comparing *c = user;
    const msr_run *r = c->runs.run[c->n_traces + i];
    report_compared_run *to = &c->run[c->n_traces + i];
    dse_error why = DSE_ERROR_INIT;
    dse_arena scratch;
    store_metrics m;
    dse_status st;

    dse_arena_init(&scratch);
    st = msr_point_run(&r->study, NULL, &r->plan.point, &scratch, &m, &why);
    if (st == DSE_OK) {
        bool bytes = in_bytes(&r->study);
        msr_figures simulated = {or_nan(m.wall_time, 1e-9), bytes ? or_nan(m.peak_memory, 1) : NAN,
                                 bytes ? "memory was not tracked"
                                       : "the simulation counts elements, not bytes"};
        msr_figures measured = {r->job.step_time_s, r->job.peak_memory_bytes, "the table does not say it"};

        st = msr_pairs_of_figures(&simulated, &measured, &c->of[i], &to->pair, &to->n_pairs, &why);
    }
    dse_arena_free(&scratch);
    return conclude(st, &why, c->o->weights, &c->of[i], to, err);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void keep_text(const char **text, dse_arena *a)
{
    if (*text)
        *text = dse_arena_strdup(a, *text);
}

/* From a row's arena to the caller's; names and units are constants. */
static void keep(report_compared_run *r, dse_arena *a)
{
    r->pair = dse_arena_copy(a, r->pair, r->n_pairs, sizeof *r->pair);
    keep_text(&r->failed, a);
    for (size_t i = 0; i < r->n_pairs; i++) {
        keep_text(&r->pair[i].why_simulated, a);
        keep_text(&r->pair[i].why_measured, a);
    }
}

static void report_progress(void *user, size_t done, size_t n)
{
    const msr_compare_options *o = ((const comparing *)user)->o;

    if (o->progress)
        o->progress(o->user, done, n);
}

static dse_status compare_rows(comparing *c, dse_error *err)
{
    size_t n = c->runs.n - c->n_traces;
    dse_status st;

    DSE_GROW(c->run, c->cap, c->runs.n);
    c->of = DSE_ARENA_NEW(c->arena, dse_arena, n);
    for (size_t i = c->n_traces; i < c->runs.n; i++)
        describe(c, c->runs.run[i], &c->run[i]);
    st = exec_parallel(n, c->o->n_threads, compare_row, report_progress, c, err);
    for (size_t i = 0; i < n; i++) {
        if (st == DSE_OK)
            keep(&c->run[c->n_traces + i], c->arena);
        dse_arena_free(&c->of[i]);
    }
    return st;
}

/* The first pair is the step time. */
static bool has_step(const report_compared_run *r)
{
    return !r->failed && r->n_pairs && r->pair[0].simulated > 0 && r->pair[0].measured > 0;
}

static void summarize(const comparing *c, report_compared *out)
{
    cmp_run *runs = DSE_ARENA_NEW(c->arena, cmp_run, out->n_runs);
    size_t n = 0;

    for (size_t i = 0; i < out->n_runs; i++)
        if (has_step(&out->run[i]))
            runs[n++] =
                (cmp_run){out->run[i].pair[0].simulated, out->run[i].pair[0].measured, out->run[i].group};
    out->has_summary = n > 1;
    if (n > 1)
        out->summary = cmp_summarize(runs, n, &c->o->bootstrap, c->arena);
}

/* Puts the results into the caller's arena. */
static void finish(const comparing *c, report_compared *out)
{
    const msr_runs *r = &c->runs;

    *out = (report_compared){.system = r->machine_name,
                             .weights = c->o->weights->path,
                             .n_runs = r->n,
                             .run = DSE_ARENA_NEW(c->arena, report_compared_run, r->n),
                             .n_left = r->n_left,
                             .left = r->left,
                             .bootstrap = c->o->bootstrap,
                             .max_error = c->o->max_error};
    out->settings = msr_runs_settings((const msr_run *const *)r->run, r->n, c->arena);
    for (size_t i = 0; i < r->n; i++) {
        out->run[i] = c->run[i];
        out->run[i].group = r->run[i]->group;
    }
    summarize(c, out);
}

dse_status msr_compare(const msr_compare_options *o, dse_arena *a, report_compared *out, dse_error *err)
{
    comparing c = {.o = o, .arena = a};
    msr_runs_options how = o->runs;
    dse_status st;

    how.see = see_trace;
    how.seer = &c;
    st = drv_bands_load(a, &c.bands, err);
    if (st == DSE_OK)
        st = msr_runs_load(&how, a, &c.runs, err);
    if (st == DSE_OK)
        st = compare_rows(&c, err);
    if (st == DSE_OK)
        finish(&c, out);
    dse_free(c.run);
    return st;
}
