#include "measured/validate.h"

#include "base/fs.h"
#include "base/names.h"
#include "base/order.h"
#include "cards/locate.h"
#include "driver/bands.h"
#include "measured/calibrate_gather.h"
#include "measured/job_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH   6   /* runs for a fit */
#define MAX_RATE 1.5 /* times the card's: laws of sustained clocks can be exceeded by boosted ones */

typedef struct {
    const msr_validate_options *o;
    dse_arena *arena;
    msr_validated *out;
    size_t cap_evidence, cap_key;
    cmp_band_key *key; /* of each of the evidence */
} validating;

/* One table. */
typedef struct {
    const msr_validate_table *t;
    msr_gathered g;
    msr_calibrated c;
    bool is_fitted;
} table;

/* ---- the fit --------------------------------------------------------------------------------------- */

static size_t count_models(const msr_gathered *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        size_t first = 0;

        while (g->run[first].study->model.d_model != g->run[i].study->model.d_model)
            first++;
        n += first == i;
    }
    return n;
}

/* "compute.peak_perf 0.932 x, overheads.per_kernel 12300 ns" */
static const char *say_fit(const msr_calibrated *c, dse_arena *a)
{
    const char *text = "";

    for (size_t j = 0; j < c->p; j++) {
        const double value = c->fit.parameter[j].value;
        const char *shown = c->parameter[j].is_cost
                                ? dse_arena_printf(a, "%.4g %s", value, c->parameter[j].unit)
                                : dse_arena_printf(a, "%.3f x", value / c->card[j]);

        text = dse_arena_printf(a, "%s%s%s %s", text, j ? ", " : "", c->parameter[j].name, shown);
    }
    return text;
}

static dse_status fit(const validating *v, table *t, report_validated_table *to, dse_error *err)
{
    const bool by_model = count_models(&t->g) > 1;
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    if (t->g.n < ENOUGH) {
        to->why_no_fit = dse_arena_printf(v->arena, "fewer than %d runs", ENOUGH);
        return DSE_OK;
    }
    st = msr_calibrate(&t->g.runs.machine, t->g.run, t->g.n,
                       &(msr_calibrate_options){.n_fit = t->t->n_fit,
                                                .fit = t->t->fit,
                                                .absolute_of_one = true,
                                                .max_rate = MAX_RATE,
                                                .starts = 1,
                                                .seed = v->o->seed,
                                                .leave_one_out = true,
                                                .leave_models_out = by_model,
                                                .n_threads = v->o->n_threads},
                       v->arena, &t->c, &why);
    if (st == DSE_E_RANGE) {
        to->why_no_fit = dse_arena_strdup(v->arena, why.text);
        return DSE_OK;
    }
    if (st != DSE_OK)
        return dse_fail_at(err, st, *why.where ? why.where : t->t->title, "%s", why.text);
    t->is_fitted = true;
    to->left_out = by_model ? "model" : "run";
    to->fit = say_fit(&t->c, v->arena);
    return DSE_OK;
}

/* ---- errors and choices ---------------------------------------------------------------------------- */

static cmp_spread spread_of(const table *t, const double *predicted)
{
    double *error = dse_calloc(t->g.n + 1, sizeof *error);
    cmp_spread s;

    for (size_t i = 0; i < t->g.n; i++)
        error[i] = predicted ? cmp_error(predicted[i], t->g.run[i].measured_s) : NAN;
    s = cmp_spread_of(error, t->g.n);
    dse_free(error);
    return s;
}

static bool same_work(const table *t, size_t i, size_t k)
{
    const msr_job *a = &t->g.of[i]->job, *b = &t->g.of[k]->job;
    const bool one_device = a->device && b->device ? !strcmp(a->device, b->device) : a->device == b->device;

    return one_device && msr_runs_same_work(a, b, t->t->by_tokens);
}

/* The first run that measures the same thing: the same configuration, on a device that is called the same. */
static size_t first_of(const table *t, size_t i)
{
    size_t first = 0;

    while (first < i && !(t->is_fitted && t->c.same_as[first] == t->c.same_as[i] && same_work(t, first, i)))
        first++;
    return first;
}

/* Of a table that is ranked by tokens, the times of a sequence. */
static void fill_runs(const table *t, const double *predicted, cmp_run *run, size_t *same_as, size_t *n)
{
    size_t *place = dse_calloc(t->g.n + 1, sizeof *place);

    *n = 0;
    for (size_t i = 0; i < t->g.n; i++) {
        const double work = t->t->by_tokens ? (double)t->g.of[i]->job.batch : 1;
        size_t group = 0;

        if (isnan(predicted[i]))
            continue;
        while (!same_work(t, group, i))
            group++;
        place[i] = *n;
        same_as[*n] = place[first_of(t, i)];
        run[(*n)++] = (cmp_run){predicted[i] / work, t->g.run[i].measured_s / work, (uint32_t)group};
    }
    dse_free(place);
}

/* `repeats` may be NULL. */
static report_validated_choice choose(const validating *v, const table *t, const double *predicted,
                                      cmp_repeats *repeats)
{
    static const cmp_bootstrap none = {0};
    cmp_run *run = DSE_ARENA_NEW(v->arena, cmp_run, t->g.n);
    size_t *same_as = DSE_ARENA_NEW(v->arena, size_t, t->g.n), n;
    cmp_repeats merged;
    cmp_summary s;

    fill_runs(t, predicted, run, same_as, &n);
    merged = cmp_merge_repeats(run, same_as, n, v->o->seed, v->arena);
    s = cmp_summarize(merged.run, merged.n, &none, v->arena);
    if (repeats)
        *repeats = merged;
    return (report_validated_choice){.groups = s.n_groups,
                                     .runs = s.n_runs,
                                     .kendall = s.kendall.value,
                                     .regret = s.regret[0].value,
                                     .worst_regret = s.worst_regret[0]};
}

/* ---- evidence -------------------------------------------------------------------------------------- */

static const char *framework_of(const msr_job *j)
{
    const msr_framework *f = msr_framework_find(j->framework);

    return f ? f->title : j->framework ? j->framework : "a program that is not named";
}

static cmp_evidence *evidence_of(validating *v, const char *measured, const char *framework,
                                 const cmp_band_key *key)
{
    cmp_bands *b = &v->out->evidence;

    for (size_t i = 0; i < b->n; i++) {
        cmp_evidence *e = &b->of[i];

        if (!strcmp(e->table, measured) && !strcmp(e->device, key->device) &&
            !strcmp(e->program, key->program) && !strcmp(e->framework, framework) &&
            !strcmp(e->model, key->model) && e->size == key->size && e->sequence == key->sequence &&
            e->bits == key->bits && e->has_experts == key->has_experts)
            return e;
    }
    dse_arena_grow(v->arena, (void **)&b->of, &v->cap_evidence, b->n + 1, sizeof *b->of);
    dse_arena_grow(v->arena, (void **)&v->key, &v->cap_key, b->n + 1, sizeof *v->key);
    v->key[b->n] = *key;
    b->of[b->n] = (cmp_evidence){.table = measured,
                                 .device = key->device,
                                 .program = key->program,
                                 .framework = framework,
                                 .model = key->model,
                                 .size = key->size,
                                 .sequence = key->sequence,
                                 .bits = key->bits,
                                 .has_experts = key->has_experts};
    return &b->of[b->n++];
}

/* Marks the runs of rows that are no evidence. A word that holds of no row is wrong. */
static dse_status mark_excepted(const validating *v, const table *t, const char *path, bool *excepted,
                                dse_error *err)
{
    const char *at;
    dse_status st = t->t->n_except ? card_locate(CARD_MEASURED, path, v->arena, &at, err) : DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < t->t->n_except; i++) {
        msr_job *job;
        size_t n = 0;

        st = msr_jobs_read(at, &t->t->except[i], 1, v->arena, &job, &n, err);
        for (size_t k = 0; st == DSE_OK && k < n; k++)
            for (size_t r = 0; r < t->g.n; r++)
                excepted[r] |= !strcmp(t->g.of[r]->job.where, job[k].where);
    }
    return st;
}

/* Room for all runs of the table in each kind: tables are small. */
static dse_status add_evidence(validating *v, const table *t, const char *path, dse_error *err)
{
    bool *excepted = DSE_ARENA_NEW(v->arena, bool, t->g.n);
    dse_status st = mark_excepted(v, t, path, excepted, err);

    for (size_t i = 0; st == DSE_OK && i < t->g.n; i++) {
        const msr_run *r = t->g.of[i];
        cmp_band_key key;
        cmp_evidence *e;

        if (excepted[i] || !r->study.training || !*r->study.system.device)
            continue;
        key = drv_band_key(&r->study, &r->plan.point, v->arena);
        e = evidence_of(v, t->t->measured, framework_of(&r->job), &key);
        if (!e->n)
            e->ratio = DSE_ARENA_NEW(v->arena, double, t->g.n);
        e->ratio[e->n++] = t->g.run[i].measured_s / t->g.step_s[i];
    }
    return st;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* n_covers: it is not there. */
static size_t cover_place(const report_validated *r, const char *device)
{
    size_t i = 0;

    while (i < r->n_covers && strcmp(r->cover[i].device, device) != 0)
        i++;
    return i;
}

static void add_cover(const cmp_evidence *e, const cmp_band *band, report_validated_cover *to)
{
    to->runs += e->n;
    for (size_t k = 0; band->level != CMP_BAND_NONE && !band->is_worst && k < e->n; k++) {
        to->width[to->with_band++] = band->high - band->low;
        to->inside += cmp_band_holds(band, e->ratio[k], 1);
    }
}

static const char *cover_name(const validating *v, const cmp_evidence *e)
{
    return e->has_experts ? dse_arena_printf(v->arena, "%s, models with experts", e->device) : e->device;
}

/* How many of the runs lie in the bands that the runs of other models give: of each device, and of all in the
 * last row. */
static void cover(validating *v)
{
    const cmp_bands *b = &v->out->evidence;
    report_validated *r = &v->out->report;
    size_t runs = 0;

    r->cover = DSE_ARENA_NEW(v->arena, report_validated_cover, b->n + 1);
    for (size_t i = 0; i < b->n; i++)
        runs += b->of[i].n;
    for (size_t i = 0; i < b->n; i++)
        if (cover_place(r, cover_name(v, &b->of[i])) == r->n_covers)
            r->cover[r->n_covers++] = (report_validated_cover){
                .device = cover_name(v, &b->of[i]), .width = DSE_ARENA_NEW(v->arena, double, runs)};
    if (!b->n)
        return;
    r->cover[r->n_covers] =
        (report_validated_cover){.device = "all", .width = DSE_ARENA_NEW(v->arena, double, runs)};
    for (size_t i = 0; i < b->n; i++) {
        cmp_band_key key = v->key[i];
        cmp_band band;

        key.others_only = true;
        band = cmp_band_of(b, &key, v->arena);
        add_cover(&b->of[i], &band, &r->cover[cover_place(r, cover_name(v, &b->of[i]))]);
        add_cover(&b->of[i], &band, &r->cover[r->n_covers]);
    }
    r->n_covers++;
    for (size_t i = 0; i < r->n_covers; i++)
        qsort(r->cover[i].width, r->cover[i].with_band, sizeof(double), by_value);
}

/* ---- one table ------------------------------------------------------------------------------------- */

static const char *path_of(const validating *v, const msr_validate_table *t)
{
    return t->ships       ? t->measured
           : v->o->folder ? dse_arena_printf(v->arena, "%s/%s", v->o->folder, t->measured)
                          : NULL;
}

static dse_status gather(const validating *v, const msr_validate_table *t, const char *path,
                         msr_gathered *out, dse_error *err)
{
    cfg_settings *settings = DSE_ARENA_NEW(v->arena, cfg_settings, 1);
    dse_error why = DSE_ERROR_INIT;
    dse_status st = drv_settings_parse(t->set, t->n_set, v->arena, settings, err);

    if (st != DSE_OK)
        return st;
    st = msr_gather(&(msr_runs_options){.system = t->system,
                                        .n_tables = 1,
                                        .table = &path,
                                        .n_only = t->n_only,
                                        .only = t->only,
                                        .n_stated = t->n_stated,
                                        .stated = t->stated,
                                        .may_lack = !t->ships,
                                        .kind_must_be_said = !t->is_measured,
                                        .plan = {.recompute = -1, .settings = settings},
                                        .read = {.n_threads = v->o->n_threads}},
                    v->arena, out, &why);
    return st == DSE_OK ? DSE_OK : dse_fail_at(err, st, *why.where ? why.where : t->title, "%s", why.text);
}

static void put_runs(const validating *v, const table *t, report_validated_table *to)
{
    report_validated_run *run = DSE_ARENA_NEW(v->arena, report_validated_run, t->g.n);

    for (size_t i = 0; i < t->g.n; i++) {
        const msr_run *r = t->g.of[i];

        run[i] = (report_validated_run){.name = r->job.name,
                                        .model = r->plan.model_name,
                                        .point = msr_plan_point_name(&r->plan, v->arena),
                                        .profile = card_model_profile(&r->study.model),
                                        .n_devices = strategy_ranks(&r->plan.point),
                                        .measured_s = t->g.run[i].measured_s,
                                        .simulated_s = t->g.step_s[i],
                                        .left_out_s = t->is_fitted ? t->c.fit.left_out[i] : NAN};
    }
    to->run = run;
    to->n = t->g.n;
}

static dse_status validate_one(validating *v, const msr_validate_table *t, report_validated_table *to,
                               dse_error *err)
{
    const char *path = path_of(v, t);
    table own = {.t = t};
    dse_status st;

    *to = (report_validated_table){.title = t->title,
                                   .measured = t->measured,
                                   .system = t->system,
                                   .by_tokens = t->by_tokens,
                                   .n_peers = t->n_peers,
                                   .peer = t->peer,
                                   .repeats = {.deviation = NAN, .kendall = NAN, .regret = NAN}};
    to->unfitted = to->fitted = cmp_spread_of(NULL, 0);
    to->choice = to->fitted_choice =
        (report_validated_choice){.kendall = NAN, .regret = NAN, .worst_regret = NAN};
    if (!path || (!t->ships && !dse_is_file(path))) {
        to->absent = dse_arena_printf(v->arena, "the table %s is not there%s", t->measured,
                                      t->ships || v->o->folder ? "" : "; give its folder with --folder");
        return DSE_OK;
    }
    if ((st = gather(v, t, path, &own.g, err)) != DSE_OK)
        return st;
    to->n_left = own.g.runs.n_left;
    to->left = own.g.runs.left;
    if (!own.g.n && !own.g.runs.n_left)
        to->absent = dse_arena_printf(v->arena, "no row of %s is of it", t->measured);
    if (!own.g.n)
        return DSE_OK;
    if ((st = fit(v, &own, to, err)) != DSE_OK)
        return st;
    put_runs(v, &own, to);
    to->unfitted = spread_of(&own, own.g.step_s);
    to->choice = choose(v, &own, own.g.step_s, &to->repeats);
    if (own.is_fitted) {
        to->fitted = spread_of(&own, own.c.fit.left_out);
        to->fitted_choice = choose(v, &own, own.c.fit.left_out, NULL);
    }
    return t->is_profiled || t->no_evidence ? DSE_OK : add_evidence(v, &own, path, err);
}

/* ---- all ------------------------------------------------------------------------------------------- */

/* n: it is not there. */
static size_t place_of(const char *const *list, size_t n, const char *name)
{
    size_t i = 0;

    while (i < n && strcmp(list[i], name) != 0)
        i++;
    return i;
}

static bool is_chosen(const msr_validate_options *o, const msr_validate_table *t)
{
    return !o->n_only || place_of(o->only, o->n_only, t->measured) < o->n_only;
}

static dse_status check_only(const msr_validate_options *o, const msr_validate_table *t, size_t n,
                             dse_arena *a, dse_error *err)
{
    const char **known = DSE_ARENA_NEW(a, const char *, n);
    size_t n_known = 0;

    for (size_t i = 0; i < n; i++)
        if (place_of(known, n_known, t[i].measured) == n_known)
            known[n_known++] = t[i].measured;
    for (size_t i = 0; i < o->n_only; i++)
        if (place_of(known, n_known, o->only[i]) == n_known)
            return dse_fail_unknown(err, DSE_E_USAGE, o->list, "table", o->only[i], known, n_known);
    return DSE_OK;
}

dse_status msr_validate(const msr_validate_options *o, dse_arena *a, msr_validated *out, dse_error *err)
{
    validating v = {.o = o, .arena = a, .out = out};
    report_validated_table *to;
    msr_validate_table *t = NULL;
    const char *path;
    size_t n = 0;
    dse_status st;

    *out = (msr_validated){0};
    if ((st = card_locate(CARD_ERRORS, o->list, a, &path, err)) != DSE_OK ||
        (st = msr_validate_list_read(path, a, &t, &n, err)) != DSE_OK ||
        (st = check_only(o, t, n, a, err)) != DSE_OK)
        return st;
    to = DSE_ARENA_NEW(a, report_validated_table, n);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        if (is_chosen(o, &t[i]))
            st = validate_one(&v, &t[i], &to[out->report.n++], err);
        if (o->progress)
            o->progress(o->user, i + 1, n);
    }
    out->report.table = to;
    for (size_t i = 0; i < out->evidence.n; i++)
        qsort(out->evidence.of[i].ratio, out->evidence.of[i].n, sizeof(double), dse_by_double);
    cover(&v);
    return st;
}

/* ---- the file of evidence -------------------------------------------------------------------------- */

void msr_evidence_write(const cmp_bands *b, dse_strbuf *out)
{
    dse_strbuf_adds(out, "# How far step times of profile train were off: measured over simulated, nothing "
                         "fitted, by table of "
                         "measured runs, device,\n"
                         "# program (like), framework, model (layers x width), its size in parameters, the "
                         "tokens of a sequence, "
                         "and the bits of elements\n"
                         "# in products. Written by `scripts/validate --errors FILE` (ccldse validate); "
                         "`simulate`, `best` and "
                         "`compare` make error bands\n"
                         "# of it (src/compare/bands.h).\n");
    cmp_bands_write(b, out);
}
