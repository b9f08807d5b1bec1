#include "measured/calibrate.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/names.h"
#include "cards/device.h"
#include "cards/resize.h"
#include "exec/parallel.h"
#include "measured/point.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1e9

/* ---- what can be fitted ------------------------------------------------------------------------- */

/* The rows that are single, the lists, and the laws. */
#define CALIBRATE_MAX (7 + 6 * CFG_MAX_DIMS + 3 * WL_N_KERNEL_CLASSES)

typedef struct {
    const char *key; /* of card_system_table */
    bool is_cost;
    double max, step; /* of a cost, in the row's unit, ns or a share. step: what shows in spite of whole ns */
    double begin;     /* of a cost of which the card says 0, near which no run shows it; 0: there */
    bool is_named;    /* fitted only if --fit names it: there are many, and some act alike */
    bool is_factor;   /* of a time, above 0: between FACTOR_RANGE of the card's and as many times less */
    bool is_fraction; /* at most 1, or at most max whatever the card says */
} row;

typedef struct {
    const cfg_param *param; /* of card_system_table */
    bool is_list;
    uint32_t dim; /* of a list; 0: of another */
    const row *of;
    double card; /* what the card says */
    cmp_parameter fit;
} calibrate_parameter;

#define FACTOR_RANGE    10
#define MORE_OF_A_SHARE 2 /* no data sheet says what is reached */

/* A rate lies between 1/MSR_CALIBRATE_LEAST of the card's and max_rate times it. A latency of a ms, a kernel
 * launch of 10 ms and 10 s of a step that no kernel explains are more than any machine has; a card that has
 * more may keep ten times that. A layer of 1 s and a collective of 0.1 s are, too. */
static const row rows[] = {
    {.key = "compute.peak_perf"},
    {.key = "memory.bandwidth"},
    {.key = "network.bandwidth"},
    {.key = "network.latency", .is_cost = true, .max = 1e6, .step = 10},
    {.key = "overheads.per_kernel", .is_cost = true, .max = 1e7, .step = 10},
    {.key = "overheads.per_step", .is_cost = true, .max = 1e10, .step = 1000},
    {.key = "compute.clock", .is_named = true},
    {.key = "overheads.per_layer", .is_cost = true, .begin = 1e7, .max = 1e9, .step = 10, .is_named = true},
    {.key = "overheads.per_collective", .is_cost = true, .max = 1e8, .step = 10, .is_named = true},
    {.key = "network.compute_share",
     .is_cost = true,
     .max = 0.9,
     .step = 1e-4,
     .is_named = true,
     .is_fraction = true},
    {.key = "network.efficiency", .is_named = true, .is_fraction = true},
    {.key = "network.collective_latency", .is_cost = true, .max = 1e7, .step = 10, .is_named = true},
    {.key = "network.step_latency", .is_cost = true, .max = 1e7, .step = 10, .is_named = true},
#define LAW(class)                                                                                           \
    {.key = "kernels." class ".flop_factor", .is_named = true, .is_factor = true},                           \
        {.key = "kernels." class ".byte_factor", .is_named = true, .is_factor = true},                       \
    {                                                                                                        \
        .key = "kernels." class ".overhead", .is_cost = true, .max = 1e6, .step = 10, .is_named = true       \
    }
    LAW("matmul"),
    LAW("matmul_fp8"),
    LAW("matmul_fp8_block"),
    LAW("matmul_nvfp4"),
    LAW("attention"),
    LAW("attention_backward"),
    LAW("attention_product"),
    LAW("attention_flash2"),
    LAW("attention_flash2_backward"),
    LAW("elementwise"),
    LAW("normalisation"),
    LAW("lookup"),
    LAW("optimizer"),
#undef LAW
};
#define N_ROWS DSE_COUNT(rows)

/* ---- values --------------------------------------------------------------------------------------- */

static void *field(card_system *s, const cfg_param *p) { return (char *)s + p->offset; }

/* Where its value is in a system of as many dimensions. */
static double *value_at(card_system *s, const calibrate_parameter *p)
{
    return p->is_list ? &((cfg_double_list *)field(s, p->param))->v[p->dim] : field(s, p->param);
}

/* Its row counts as given. */
static void mark_given(card_system *s, const calibrate_parameter *p)
{
    cfg_given_put(&s->given, (size_t)(p->param - card_system_table.rows));
}

/* ---- which there are ------------------------------------------------------------------------------ */

/* All of a card; the value of one that the card does not give is NaN. */
static calibrate_parameter *list_all(const card_system *machine, dse_arena *a, size_t *n)
{
    calibrate_parameter *all = DSE_ARENA_NEW(a, calibrate_parameter, CALIBRATE_MAX);
    card_system s = *machine;

    *n = 0;
    for (const row *r = rows; r < rows + N_ROWS; r++) {
        const cfg_param *p = cfg_param_find(&card_system_table, r->key);
        bool list;
        uint32_t entries;

        assert(p && (p->type == CFG_T_DOUBLE || p->type == CFG_T_DOUBLE_LIST));
        list = p->type == CFG_T_DOUBLE_LIST;
        entries = list ? ((const cfg_double_list *)field(&s, p))->n : 1;
        for (uint32_t i = 0; i < entries; i++) {
            calibrate_parameter *to = &all[(*n)++];

            assert(*n <= CALIBRATE_MAX);
            *to = (calibrate_parameter){.param = p, .is_list = list, .dim = i, .of = r};
            to->fit =
                (cmp_parameter){.unit = p->unit_name, .is_cost = r->is_cost, .max = r->max, .step = r->step};
            to->fit.name = list ? dse_arena_printf(a, "%s[%" PRIu32 "]", r->key, i) : r->key;
            to->card = *value_at(&s, to);
        }
    }
    return all;
}

/* ---- which are fitted ----------------------------------------------------------------------------- */

static bool names(const char *const *word, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (cfg_path_covers(word[i], name))
            return true;
    return false;
}

static dse_status check_words(const char *option, const char *const *word, size_t n_words,
                              const calibrate_parameter *all, size_t n, dse_error *err)
{
    const char *known[CALIBRATE_MAX];
    char list[1024];

    for (size_t i = 0; i < n_words; i++) {
        bool found = false;

        for (size_t j = 0; j < n; j++)
            found |= cfg_path_covers(word[i], all[j].fit.name);
        if (!found) {
            size_t n_known = 0;

            for (size_t j = 0; j < n; j++)
                if (!all[j].of->is_named)
                    known[n_known++] = all[j].fit.name;
            dse_join(list, sizeof list, known, n_known);
            return dse_fail(
                err, DSE_E_USAGE,
                "%s: '%.80s' is nothing that can be fitted; known: %s; and what a device file or the system "
                "has of kernels.<class>.flop_factor, .byte_factor, .overhead, network.efficiency, "
                ".collective_latency, .step_latency, .compute_share, compute.clock, overheads.per_layer, "
                ".per_collective",
                option, word[i], list);
        }
    }
    return DSE_OK;
}

static double known_start(const msr_calibrate_options *o, const calibrate_parameter *p)
{
    for (size_t i = 0; i < o->n_starts_known; i++)
        if (!strcmp(o->start_known[i].name, p->fit.name))
            return o->start_known[i].value;
    return p->card > 0 ? p->card : p->of->begin;
}

static void set_bounds(const msr_calibrate_options *o, calibrate_parameter *p)
{
    cmp_parameter *q = &p->fit;

    if (q->is_cost) {
        q->max = p->of->is_fraction ? q->max : fmax(q->max, 10 * p->card);
    } else if (p->of->is_factor) {
        q->min = p->card / FACTOR_RANGE;
        q->max = p->card * FACTOR_RANGE;
    } else {
        q->min = p->card / MSR_CALIBRATE_LEAST;
        q->max = p->card * o->max_rate;
        if (p->of->is_fraction)
            q->max = fmin(fmax(q->max, p->card * MORE_OF_A_SHARE),
                          p->card > 1 ? 2 : 1); /* 2: both ways of a ring */
    }
    q->start = fmin(fmax(known_start(o, p), q->min), q->max);
}

/* Whether the words that name a parameter name another one that has a value: "kernels.matmul" is what the law
 * has. */
static bool covers_others(const msr_calibrate_options *o, const calibrate_parameter *all, size_t n, size_t j)
{
    for (size_t i = 0; i < o->n_fit; i++)
        for (size_t k = 0; cfg_path_covers(o->fit[i], all[j].fit.name) && k < n; k++)
            if (k != j && !isnan(all[k].card) && cfg_path_covers(o->fit[i], all[k].fit.name))
                return true;
    return false;
}

/* Those of a card that the options choose; at least one. In the arena. */
static dse_status list_parameters(const card_system *machine, const msr_calibrate_options *o, dse_arena *a,
                                  calibrate_parameter **out, size_t *n, dse_error *err)
{
    size_t n_all, kept = 0;
    calibrate_parameter *all = list_all(machine, a, &n_all);
    dse_status st;

    if ((st = check_words("--fit", o->fit, o->n_fit, all, n_all, err)) != DSE_OK ||
        (st = check_words("--fix", o->fix, o->n_fix, all, n_all, err)) != DSE_OK)
        return st;
    for (size_t j = 0; j < n_all; j++) {
        bool asked = names(o->fit, o->n_fit, all[j].fit.name);

        if (((o->n_fit || all[j].of->is_named) && !asked) || names(o->fix, o->n_fix, all[j].fit.name) ||
            (all[j].of->is_named && isnan(all[j].card) && covers_others(o, all, n_all, j)))
            continue;
        if (isnan(all[j].card) && asked)
            return dse_fail(err, DSE_E_CONFIG,
                            "--fit: the system has no %s to begin with; set it, or leave it out",
                            all[j].fit.name);
        if (isnan(all[j].card))
            continue;
        set_bounds(o, &all[j]);
        all[kept++] = all[j];
    }
    *out = all;
    *n = kept;
    return kept ? DSE_OK : dse_fail(err, DSE_E_USAGE, "--fix leaves nothing to fit");
}

/* ---- predictions ------------------------------------------------------------------------------- */

/* Predictions of a run that were made before. A Jacobian moves one parameter at a time, and most runs see few
 * of them; the fits without a run begin where the fit to all ended. */
#define SLOTS 256

/* In s, over the ranks of a run. */
typedef struct {
    double slowest, mean;
} step_time;

typedef struct {
    size_t same_as;     /* an earlier run of the same configuration, which was measured again; else itself */
    const char *config; /* by which that is found */
    uint64_t npus;
    wl_workload workload; /* of profile stage; a training step is made anew */
    uint32_t n_dims;      /* of the machine's dimensions it uses the first so many */
    double *key;          /* SLOTS * p */
    step_time *step;      /* SLOTS; NaN: empty */
} prepared;

typedef struct {
    const card_system *machine;
    card_system training; /* the same as steps of profile train see it: with the laws of its device */
    const msr_calibrate_run *run;
    size_t n, p;
    const calibrate_parameter *parameter;
    prepared *prepared;
    const double *at;    /* of the evaluation that is under way */
    step_time *step;     /* n: what it found */
    uint64_t *simulated; /* n: how often each was */
    uint32_t n_threads;
    const msr_calibrate_options *o;
} calibration;

/* ---- one run ------------------------------------------------------------------------------------- */

/* The values that the run sees; those of dimensions that it does not reach are 0. */
static void key_of(const calibration *c, const prepared *r, double *key)
{
    for (size_t j = 0; j < c->p; j++)
        key[j] = c->parameter[j].dim < r->n_dims ? c->at[j] : 0;
}

static void apply(const calibration *c, const card_system *machine, const double *value, card_system *s)
{
    *s = *machine;
    for (size_t j = 0; j < c->p; j++)
        *value_at(s, &c->parameter[j]) = value[j];
}

static step_time step_of(const sim_result *r)
{
    double sum = 0;

    for (uint32_t i = 0; i < r->n_ranks; i++)
        sum += (double)r->rank[i].wall;
    return (step_time){(double)sim_step_time(r) / NS_PER_S, sum / r->n_ranks / NS_PER_S};
}

/* All its ranks end with the last one: the update waits for the norm of all gradients. */
static dse_status simulate_training(const calibration *c, size_t i, const card_system *on, dse_arena *a,
                                    step_time *out, dse_error *err)
{
    store_metrics m;
    dse_status st = msr_point_run(c->run[i].study, on, &c->run[i].point, a, &m, err);

    if (st == DSE_OK)
        out->slowest = out->mean = (double)m.wall_time / NS_PER_S;
    return st;
}

static dse_status simulate_workload(const calibration *c, size_t i, const card_system *on, dse_arena *a,
                                    step_time *out, dse_error *err)
{
    drv_study study = *c->run[i].study;
    sim_result result;
    dse_status st;

    study.system = *on;
    st = drv_point_simulate(&study, &c->prepared[i].workload, a, &result, NULL, err);
    if (st == DSE_OK)
        *out = step_of(&result);
    return st;
}

static dse_status simulate(const calibration *c, size_t i, step_time *out, dse_error *err)
{
    const bool trains = c->run[i].study->training != NULL;
    card_system changed, part;
    dse_arena arena;
    dse_status st;

    apply(c, trains ? &c->training : c->machine, c->at, &changed);
    if ((st = card_system_resize(&changed, c->prepared[i].npus, &part, err)) != DSE_OK)
        return st;
    dse_arena_init(&arena);
    st = (trains ? simulate_training : simulate_workload)(c, i, &part, &arena, out, err);
    dse_arena_free(&arena);
    return st;
}

/* After the name of the run, which says more than a place in a card. */
static dse_status fail_run(const calibration *c, size_t i, dse_status st, const dse_error *why,
                           dse_error *err)
{
    return dse_fail_at(err, st, c->run[i].name, "%s", dse_error_say(why).text);
}

static dse_status predict_one(void *user, size_t i, dse_error *err)
{
    calibration *c = user;
    prepared *r = &c->prepared[i];
    double key[CALIBRATE_MAX];
    dse_error why = DSE_ERROR_INIT;
    dse_status st;
    size_t slot;

    if (r->same_as != i)
        return DSE_OK;
    key_of(c, r, key);
    slot = dse_hash_bytes(key, c->p * sizeof *key) % SLOTS;
    if (isnan(r->step[slot].slowest) || memcmp(&r->key[slot * c->p], key, c->p * sizeof *key) != 0) {
        if ((st = simulate(c, i, &r->step[slot], &why)) != DSE_OK) {
            r->step[slot].slowest = NAN;
            return fail_run(c, i, st, &why, err);
        }
        memcpy(&r->key[slot * c->p], key, c->p * sizeof *key);
        c->simulated[i]++;
    }
    c->step[i] = r->step[slot];
    return DSE_OK;
}

static dse_status predict(void *user, const double *value, double *predicted, dse_error *err)
{
    calibration *c = user;
    dse_status st;

    c->at = value;
    st = exec_parallel(c->n, c->n_threads, predict_one, NULL, c, err);
    for (size_t i = 0; st == DSE_OK && i < c->n; i++) {
        const step_time *step = &c->step[c->prepared[i].same_as];

        predicted[i] = c->run[i].is_mean ? step->mean : step->slowest;
    }
    return st;
}

/* ---- all of them --------------------------------------------------------------------------------- */

static void no_predictions(prepared *r)
{
    for (size_t k = 0; k < SLOTS; k++)
        r->step[k].slowest = NAN;
}

/* The configuration of a run as one text, and the first run that has the same. */
static void find_same(calibration *c, size_t i, const drv_study *s, dse_arena *a)
{
    prepared *r = &c->prepared[i];
    dse_strbuf text = dse_strbuf_in(a);

    drv_study_write_config(s, &c->run[i].point, &text);
    r->config = text.data;
    for (r->same_as = 0; r->same_as < i; r->same_as++)
        if (!strcmp(c->prepared[r->same_as].config, r->config))
            break;
}

static dse_status prepare_one(calibration *c, size_t i, dse_arena *a, dse_error *err)
{
    prepared *r = &c->prepared[i];
    drv_study study = *c->run[i].study;
    dse_status st;

    r->npus = strategy_ranks(&c->run[i].point);
    if ((st = card_system_resize(c->machine, r->npus, &study.system, err)) != DSE_OK)
        return st;
    find_same(c, i, &study, a);
    if (r->same_as != i)
        return DSE_OK;
    r->key = DSE_ARENA_NEW(a, double, SLOTS * c->p);
    r->step = DSE_ARENA_NEW(a, step_time, SLOTS);
    no_predictions(r);
    r->n_dims = study.system.topology.n;
    if (study.training)
        return DSE_OK;
    study.generator = NULL; /* what that makes is good until the next one only */
    return drv_point_generate(&study, &c->run[i].point, a, &r->workload, err);
}

static dse_status prepare(calibration *c, dse_arena *a, dse_error *err)
{
    dse_status st = DSE_OK;

    c->prepared = DSE_ARENA_NEW(a, prepared, c->n);
    c->step = DSE_ARENA_NEW(a, step_time, c->n);
    c->simulated = DSE_ARENA_NEW(a, uint64_t, c->n);
    for (size_t i = 0; st == DSE_OK && i < c->n; i++) {
        dse_error why = DSE_ERROR_INIT;

        st = prepare_one(c, i, a, &why);
        if (st != DSE_OK)
            fail_run(c, i, st, &why, err);
    }
    return st;
}

static void show_progress(void *user, size_t done, size_t total)
{
    const calibration *c = user;

    if (c->o->progress)
        c->o->progress(c->o->user, done, total);
}

static size_t first_of_model(const calibration *c, size_t i)
{
    size_t first = 0;

    while (c->run[first].study->model.d_model != c->run[i].study->model.d_model)
        first++;
    return first;
}

static cmp_problem problem_of(calibration *c, dse_arena *a)
{
    double *measured = DSE_ARENA_NEW(a, double, c->n);
    const char **name = DSE_ARENA_NEW(a, const char *, c->n);
    size_t *repeats = DSE_ARENA_NEW(a, size_t, c->n), *unit = DSE_ARENA_NEW(a, size_t, c->n);
    cmp_parameter *parameter = DSE_ARENA_NEW(a, cmp_parameter, c->p);

    for (size_t i = 0; i < c->n; i++) {
        measured[i] = c->run[i].measured_s;
        name[i] = c->run[i].name;
        repeats[i] = c->prepared[i].same_as;
        unit[i] = first_of_model(c, i);
    }
    for (size_t j = 0; j < c->p; j++)
        parameter[j] = c->parameter[j].fit;
    return (cmp_problem){.n = c->n,
                         .measured = measured,
                         .repeats = repeats,
                         .unit = c->o->leave_models_out ? unit : NULL,
                         .name = name,
                         .p = c->p,
                         .parameter = parameter,
                         .model = predict,
                         .user = c,
                         .seed = c->o->seed,
                         .starts = c->o->starts,
                         .leave_one_out = c->o->leave_one_out,
                         .progress = show_progress};
}

static msr_calibrated conclude(const calibration *c, const cmp_problem *problem, const cmp_fit_result *fit,
                               dse_arena *a)
{
    msr_calibrated r = {.p = c->p,
                        .card = DSE_ARENA_NEW(a, double, c->p),
                        .parameter = DSE_ARENA_NEW(a, cmp_parameter, c->p),
                        .same_as = DSE_ARENA_NEW(a, size_t, c->n),
                        .fit = *fit};
    double *value = DSE_ARENA_NEW(a, double, c->p);

    for (size_t j = 0; j < c->p; j++) {
        r.parameter[j] = problem->parameter[j];
        r.card[j] = c->parameter[j].card;
        value[j] = fit->parameter[j].value;
    }
    for (size_t i = 0; i < c->n; i++) {
        r.n_simulated += c->simulated[i];
        r.same_as[i] = c->prepared[i].same_as;
    }
    apply(c, c->machine, value, &r.fitted);
    for (size_t j = 0; j < c->p; j++)
        mark_given(&r.fitted, &c->parameter[j]);
    snprintf(r.fitted.source, sizeof r.fitted.source, "fitted to %zu measured run%s by ccldse calibrate",
             c->n, c->n == 1 ? "" : "s");
    return r;
}

static bool is_one_rate(const calibration *c) { return c->p == 1 && !c->parameter->fit.is_cost; }

static dse_status check_loss(const calibration *c, dse_error *err)
{
    return !c->o->absolute || is_one_rate(c)
               ? DSE_OK
               : dse_fail(
                     err, DSE_E_USAGE,
                     "--loss absolute fits one rate alone: name one with --fit (compute.clock), or leave "
                     "--loss out");
}

dse_status msr_calibrate(const card_system *machine, const msr_calibrate_run *run, size_t n,
                         const msr_calibrate_options *o, dse_arena *a, msr_calibrated *out, dse_error *err)
{
    calibration c = {.machine = machine, .run = run, .n = n, .n_threads = o->n_threads, .o = o};
    calibrate_parameter *parameter = NULL;
    card_tables tables = {.arena = a};
    cmp_problem problem;
    cmp_fit_result fit;
    dse_status st;

    c.training = *machine;
    card_system_settle_profile(&c.training, true);
    st = card_system_fill_laws(&c.training, &tables, a, err);
    if (st == DSE_OK)
        st = list_parameters(&c.training, o, a, &parameter, &c.p, err);
    c.parameter = parameter;
    if (st == DSE_OK)
        st = check_loss(&c, err);
    if (st == DSE_OK)
        st = prepare(&c, a, err);
    if (st != DSE_OK)
        return st;
    problem = problem_of(&c, a);
    st = (o->absolute || (o->absolute_of_one && is_one_rate(&c)) ? cmp_fit_one : cmp_fit)(&problem, a, &fit,
                                                                                          err);
    if (st != DSE_OK)
        return st;
    *out = conclude(&c, &problem, &fit, a);
    return DSE_OK;
}
