#include "driver/space.h"

#include "base/array.h"
#include "driver/training.h"
#include "report/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VISITS                                                                                           \
    5000000u /* variants that are looked at one by one, unasked, to count the points: half a minute */

/* What a constraint may name besides the values of cards: the parameters of a strategy, by their rows, and
 * these. */
enum { NAME_NPUS = STRATEGY_N, NAME_MODEL, NAME_SYSTEM, N_NAMES };
static const char *const more_names[] = {"npus", "model", "system"};

/* A row of the strategy, one of the names above; N_NAMES: none of them. */
static uint32_t find_own(const char *name)
{
    uint32_t i = strategy_find(name);

    while (i >= STRATEGY_N && i < N_NAMES && strcmp(more_names[i - STRATEGY_N], name) != 0)
        i++;
    return i;
}

static void list_own_names(const char *out[N_NAMES])
{
    for (uint32_t i = 0; i < N_NAMES; i++)
        out[i] = i < STRATEGY_N ? strategy_parameters[i].name : more_names[i - STRATEGY_N];
}

dse_status drv_space_load(const char *const *models, size_t n_models, const char *const *systems,
                          size_t n_systems, const cfg_settings *settings, dse_arena *a, drv_space *out,
                          dse_error *err)
{
    size_t n = n_models * n_systems;
    dse_status st = DSE_OK;

    out->n_studies = (uint32_t)n;
    out->study = DSE_ARENA_NEW(a, drv_study, n);
    for (size_t i = 0; st == DSE_OK && i < n; i++)
        st = drv_study_load_part(models[i / n_systems], systems[i % n_systems], settings, a, &out->study[i],
                                 err);
    return st;
}

/* ---- names in constraints ------------------------------------------------------------------ */

static dse_status unknown_name(const drv_constraint *c, const char *name, dse_error *err)
{
    const char *own[N_NAMES], *nearest;

    list_own_names(own);
    nearest = drv_nearest_key(name, own, N_NAMES);
    if (nearest)
        return dse_fail_at(err, DSE_E_CONFIG, c->where,
                           "unknown name '%.60s' in '%.100s'; did you mean '%s'?", name, c->expr.text,
                           nearest);
    return dse_fail_at(
        err, DSE_E_CONFIG, c->where,
        "unknown name '%.60s' in '%.100s'; there are %s, npus, model, system, and the keys of cards", name,
        c->expr.text, strategy_names());
}

/* What any layout of stages needs: layers that do not vary; and that they are shared out to the stages needs
 * layers of which each is like the others. */
static dse_status check_layout(const drv_space *s, const drv_axis *layout, dse_error *err)
{
    const bool recomputes = drv_axis_recomputes(layout);

    for (uint32_t i = 0; i < s->n_axes; i++)
        if (drv_axis_changes(&s->axis[i], "layers") || drv_axis_changes(&s->axis[i], "operators") ||
            (&s->axis[i] != layout &&
             (drv_axis_changes(&s->axis[i], DRV_LAYOUT_KEY) || drv_axis_is_layout(&s->axis[i]))))
            return dse_fail(err, DSE_E_CONFIG,
                            "'%s' cannot vary beside %s " DRV_LAYOUT_ANY
                            "; search each of its values by itself",
                            s->axis[i].path, layout->path);
    for (uint32_t i = 0; i < s->n_studies; i++) {
        const drv_study *study = &s->study[i];
        const uint64_t layers = (uint64_t)study->model.layers;
        const uint64_t n = recomputes ? layout->least > layers : (layers + layout->most - 1) / layout->most;

        if (!study->training)
            return dse_fail(err, DSE_E_CONFIG,
                            "%s " DRV_LAYOUT_ANY " is of profile train, and %s is not, or lacks something",
                            layout->path, study->model_name);
        if (!recomputes && study->training->model.layer)
            return dse_fail(err, DSE_E_CONFIG,
                            "%s " DRV_LAYOUT_ANY " needs layers of one kind, and those of %s differ; list "
                            "layouts instead",
                            layout->path, study->model_name);
        if (n * layout->least > layers || n > CFG_NAME_MAX / 2)
            return dse_fail(err, DSE_E_CONFIG,
                            "%s from %" PRIu32 " to %" PRIu32
                            ": no number of stages, of the %d that can be written down, has so many layers "
                            "each of the %" PRIu64 " of %s",
                            layout->path, layout->least, layout->most, CFG_NAME_MAX / 2, layers,
                            study->model_name);
    }
    return DSE_OK;
}

/* The axis with any layouts; NULL: there is none. */
static const drv_axis *find_layouts(const drv_space *s)
{
    for (uint32_t i = 0; i < s->n_axes; i++)
        if (drv_axis_is_layout(&s->axis[i]))
            return &s->axis[i];
    return NULL;
}

/* A list has no layouts that only --search makes. */
static dse_status check_listed(const drv_space *s, dse_error *err)
{
    const dse_status st = drv_space_check(s, err);
    const drv_axis *layout = find_layouts(s);

    if (st != DSE_OK || !layout)
        return st;
    return dse_fail(err, DSE_E_CONFIG,
                    "%s " DRV_LAYOUT_ANY " is for 'ccldse sweep --search'; list the layouts to try them all",
                    layout->path);
}

dse_status drv_space_check(const drv_space *s, dse_error *err)
{
    for (uint32_t i = 0; i < s->n_constraints; i++) {
        const drv_constraint *c = &s->constraint[i];

        for (uint32_t k = 0; k < c->expr.n_names; k++)
            if (find_own(c->expr.name[k]) == N_NAMES && drv_path_check(c->expr.name[k], NULL) != DSE_OK)
                return unknown_name(c, c->expr.name[k], err);
    }
    for (uint32_t i = 0; i < s->n_axes; i++)
        for (uint32_t k = 0; k < i; k++)
            if (cfg_path_covers(s->axis[i].path, s->axis[k].path) ||
                cfg_path_covers(s->axis[k].path, s->axis[i].path))
                return dse_fail(err, DSE_E_CONFIG, "two axes vary the same value: '%s' and '%s'",
                                s->axis[k].path, s->axis[i].path);
    return find_layouts(s) ? check_layout(s, find_layouts(s), err) : DSE_OK;
}

bool drv_axis_changes(const drv_axis *axis, const char *name)
{
    return drv_path_covers(axis->path, name) || drv_path_covers(name, axis->path);
}

/* Whether a variant may have rules of points, as profile train and STAGE's branch main. */
static bool may_have_rules(const drv_space *s)
{
    for (uint32_t i = 0; i < s->n_studies; i++)
        if (card_model_profile(&s->study[i].model) != STRATEGY_PROFILE_STAGE)
            return true;
    for (uint32_t i = 0; i < s->n_axes; i++)
        if (drv_axis_changes(&s->axis[i], "profile") || drv_axis_changes(&s->axis[i], "operators") ||
            drv_axis_changes(&s->axis[i], "stage.version"))
            return true;
    return false;
}

bool drv_axis_shapes(const drv_space *s, const drv_axis *axis)
{
    static const char *const sizes[] = {"network.npus_count", "network.part", "network.width",
                                        "network.height", "network.depth"};

    for (size_t i = 0; i < DSE_COUNT(sizes); i++)
        if (drv_axis_changes(axis, sizes[i]))
            return true;
    if (drv_axis_changes(axis, "layers") && s->strategy.of[STRATEGY_pp].n)
        return true;
    if (cfg_table_has(&card_model_table, axis->path) && may_have_rules(s))
        return true;
    return false;
}

/* Whether the number of strategies may depend on the value of an axis. Rules refuse points by all that a
 * model card says. */
static bool matters(const drv_space *s, const drv_axis *axis)
{
    for (uint32_t i = 0; i < s->n_constraints; i++)
        for (uint32_t k = 0; k < s->constraint[i].expr.n_names; k++)
            if (drv_axis_changes(axis, s->constraint[i].expr.name[k]))
                return true;
    return drv_axis_shapes(s, axis);
}

/* Whether the points of a variant may depend on the value of an axis: not on a rate of its system, of which the
 * rules ask how many NPUs it has, and which kinds of products its device has. */
static bool decides(const drv_space *s, const drv_axis *axis)
{
    return !cfg_table_has(&card_system_table, axis->path) || matters(s, axis) ||
           drv_axis_changes(axis, "device") || drv_axis_changes(axis, "compute") ||
           drv_axis_changes(axis, "kernels");
}

/* ---- constraints --------------------------------------------------------------------------- */

/* The constraints over one variant, whose cards have given their values; those of the strategy come with each
 * point. */
typedef struct {
    const drv_space *s;
    bool trains;
    design_value **value; /* per constraint and name */
    uint32_t **own;       /* what each name is */
} binding;

static bool card_value(const drv_study *study, const char *path, cfg_value *out)
{
    return cfg_table_get(&card_model_table, &study->model, path, out) ||
           cfg_table_get(&card_system_table, &study->system, path, out);
}

static dse_status no_value(const drv_constraint *c, const char *name, const drv_study *study, dse_error *err)
{
    char first[96];
    cfg_value v;

    snprintf(first, sizeof first, "%.80s[0]", name);
    if (card_value(study, first, &v))
        return dse_fail_at(err, DSE_E_CONFIG, c->where,
                           "'%.100s': '%s' is a list; name one of its elements, for example %s", c->expr.text,
                           name, first);
    return dse_fail_at(err, DSE_E_CONFIG, c->where, "'%.100s': %s on %s has no value for '%s'", c->expr.text,
                       study->model_name, study->system_name, name);
}

static dse_status bind_card(const drv_constraint *c, const char *name, const drv_study *study,
                            design_value *out, dse_error *err)
{
    cfg_value v;

    if (!card_value(study, name, &v))
        return no_value(c, name, study, err);
    if (v.type == CFG_T_INT)
        *out = (design_value){DESIGN_INT, {v.integer}};
    else if (v.type == CFG_T_DOUBLE)
        *out = (design_value){.kind = DESIGN_REAL, .real = v.number};
    else
        *out = (design_value){.kind = DESIGN_TEXT, .text = v.name};
    return DSE_OK;
}

static dse_status bind_name(const drv_constraint *c, const char *name, uint32_t own, const drv_study *study,
                            design_value *out, dse_error *err)
{
    switch (own) {
    case NAME_NPUS:
        *out = (design_value){DESIGN_INT, {(int64_t)card_system_npus(&study->system)}};
        return DSE_OK;
    case NAME_MODEL: *out = (design_value){.kind = DESIGN_TEXT, .text = study->model_name}; return DSE_OK;
    case NAME_SYSTEM: *out = (design_value){.kind = DESIGN_TEXT, .text = study->system_name}; return DSE_OK;
    case N_NAMES: return bind_card(c, name, study, out, err);
    default: return DSE_OK; /* the strategy's */
    }
}

static dse_status bind(const drv_space *s, const drv_study *study, dse_arena *a, binding *out, dse_error *err)
{
    dse_status st = DSE_OK;

    *out = (binding){s, study->training != NULL, DSE_ARENA_NEW(a, design_value *, s->n_constraints),
                     DSE_ARENA_NEW(a, uint32_t *, s->n_constraints)};
    for (uint32_t i = 0; st == DSE_OK && i < s->n_constraints; i++) {
        const drv_constraint *c = &s->constraint[i];

        out->value[i] = DSE_ARENA_NEW(a, design_value, c->expr.n_names);
        out->own[i] = DSE_ARENA_NEW(a, uint32_t, c->expr.n_names);
        for (uint32_t k = 0; st == DSE_OK && k < c->expr.n_names; k++) {
            out->own[i][k] = find_own(c->expr.name[k]);
            st = bind_name(c, c->expr.name[k], out->own[i][k], study, &out->value[i][k], err);
        }
    }
    return st;
}

/* Whether constraint i may hold at some points of a variant and not at others. */
static bool is_of_points(const binding *b, uint32_t i)
{
    for (uint32_t k = 0; k < b->s->constraint[i].expr.n_names; k++)
        if (b->own[i][k] < STRATEGY_N)
            return true;
    return false;
}

/* A choice or an order is text, everything else a number. */
static design_value parameter_value(uint32_t parameter, const strategy *s, char text[STRATEGY_VALUE_MAX])
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    const uint32_t value = strategy_get(s, parameter);

    return strategy_is_number(p)
               ? (design_value){DESIGN_INT, {value}}
               : (design_value){.kind = DESIGN_TEXT, .text = strategy_print(p, value, text)};
}

dse_status drv_constraint_value(const drv_constraint *c, uint32_t k, const drv_study *study,
                                const strategy *p, dse_arena *a, design_value *out, bool *is_known,
                                dse_error *err)
{
    const uint32_t own = find_own(c->expr.name[k]);
    strategy said;

    *is_known = own >= STRATEGY_N || p;
    if (own >= STRATEGY_N)
        return bind_name(c, c->expr.name[k], own, study, out, err);
    if (p) {
        said = *p;
        if (study->training)
            said.recompute = p->recompute_granularity == STEP_RECOMPUTE_FULL;
        *out = parameter_value(own, &said, DSE_ARENA_RAW(a, char, STRATEGY_VALUE_MAX));
    }
    return DSE_OK;
}

/* Whether constraint i holds at a point. */
static dse_status holds(binding *b, uint32_t i, const strategy *p, bool *out, dse_error *err)
{
    const drv_constraint *c = &b->s->constraint[i];
    char text[STRATEGY_N][STRATEGY_VALUE_MAX];
    dse_error why = DSE_ERROR_INIT;
    strategy said = *p;
    dse_status st;

    if (b->trains) /* where it is said otherwise: drv_training_settle */
        said.recompute = p->recompute_granularity == STEP_RECOMPUTE_FULL;
    for (uint32_t k = 0; k < c->expr.n_names; k++)
        if (b->own[i][k] < STRATEGY_N)
            b->value[i][k] = parameter_value(b->own[i][k], &said, text[b->own[i][k]]);
    st = design_expr_holds(&c->expr, b->value[i], out, &why);
    return st == DSE_OK ? st
                        : dse_fail_at(err, st, c->where, "%s, at %s", why.text, report_strategy_name(p).text);
}

/* ---- walking ------------------------------------------------------------------------------- */

enum { RULE_PRODUCT, RULE_STAGES, N_RULES };

/* The points of a variant, and what came of listing them. */
typedef struct {
    bool known;
    uint32_t study;
    uint32_t *number; /* of each axis, the value */
    strategy *point;
    size_t n;
    uint64_t n_refused;
    uint64_t *survivors; /* as those of the walk */
} listed_points;

struct drv_walk {
    const drv_space *s;
    dse_arena scratch;   /* of one variant */
    uint64_t *survivors; /* per rule and then per constraint: points that it and those before it leave */
    uint64_t each;       /* points that stand for one: the values of axes that do not matter */
    const bool *held;    /* those axes, whose first value stands for all; NULL: none */
    uint64_t next;       /* the combination to look at: */
    uint32_t study;      /* its study; */
    uint32_t *number;    /* of each axis, the value */

    dse_arena enumerated; /* the strategies on `npus` NPUs (0: none yet), which most variants share */
    uint64_t npus;
    strategy base; /* of them */
    strategy *strategy;
    size_t n_strategies;
    dse_error refusal;  /* of profile train or STAGE's branch main, the first, */
    uint64_t n_refused; /* and how many */

    bool *decides; /* of each axis, whether its value may change the points of a variant; NULL: all do */
    dse_arena kept;
    listed_points last; /* of the variant before, in `kept` */
};

typedef struct drv_walk walk;

static void begin_walk(walk *w, const drv_space *s)
{
    *w = (walk){.s = s, .each = 1, .refusal = DSE_ERROR_INIT};
    dse_arena_init(&w->scratch);
    dse_arena_init(&w->enumerated);
    dse_arena_init(&w->kept);
    w->survivors = dse_calloc(N_RULES + s->n_constraints, sizeof *w->survivors);
    w->number = dse_calloc(s->n_axes + 1, sizeof *w->number);
}

static void end_walk(walk *w)
{
    dse_arena_free(&w->scratch);
    dse_arena_free(&w->enumerated);
    dse_arena_free(&w->kept);
    dse_free(w->decides);
    dse_free(w->survivors);
    dse_free(w->number);
}

static uint64_t multiply(uint64_t a, uint64_t b) { return b && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

/* Points that satisfy everything, after the walk. */
static uint64_t survivors(const walk *w) { return w->survivors[N_RULES + w->s->n_constraints - 1]; }

static void survive(walk *w, uint32_t rule, uint64_t n)
{
    uint64_t more = multiply(n, w->each), *sum = &w->survivors[rule];

    *sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

/* Whether rules beyond that of the stages, and that of the profile's parameters, refuse points. */
static bool has_rules(const drv_study *s) { return s->training || card_model_is_main(&s->model); }

/* Keeps the first refusal, for a space without points; the others are not even told. */
static bool passes(walk *w, const drv_study *study, const strategy *p)
{
    dse_error *why = w->n_refused ? NULL : &w->refusal;

    if ((has_rules(study) ? drv_point_check(study, p, why)
                          : strategy_check(p, STRATEGY_PROFILE_STAGE, why)) == DSE_OK)
        return true;
    w->n_refused++;
    return false;
}

/* Leaves the points that satisfy the rule of the stages and every constraint. */
static dse_status filter(walk *w, const drv_study *study, strategy *points, size_t *n, dse_error *err)
{
    uint64_t stages = (uint64_t)DESIGN_MAX_STAGES(study->model.layers);
    dse_status st;
    size_t kept = 0;
    binding b;

    survive(w, RULE_PRODUCT, *n);
    for (size_t i = 0; i < *n; i++)
        if ((has_rules(study) || points[i].pp <= stages) && passes(w, study, &points[i]))
            points[kept++] = points[i];
    *n = kept;
    survive(w, RULE_STAGES, kept);
    st = bind(w->s, study, &w->scratch, &b, err);
    for (uint32_t c = 0; st == DSE_OK && c < w->s->n_constraints; c++) {
        bool keep = false, each = is_of_points(&b, c);

        kept = 0;
        for (size_t i = 0; st == DSE_OK && i < *n; i++) {
            if (each || !i)
                st = holds(&b, c, &points[i], &keep, err);
            if (keep)
                points[kept++] = points[i];
        }
        *n = kept;
        survive(w, N_RULES + c, kept);
    }
    return st;
}

dse_status drv_space_settings(const drv_space *s, const uint32_t *number, dse_arena *a, cfg_settings *out,
                              dse_error *err)
{
    cfg_setting *items = DSE_ARENA_NEW(a, cfg_setting, s->n_axes);

    for (uint32_t i = 0; i < s->n_axes; i++)
        items[i] = (cfg_setting){s->axis[i].path, s->axis[i].value[number[i]]};
    *out = (cfg_settings){s->n_axes, items};
    return cfg_settings_sort(items, s->n_axes, err);
}

/* The strategies on so many NPUs, in the scratch. */
static dse_status strategies(walk *w, const strategy *base, uint64_t npus, strategy **points, size_t *n,
                             dse_error *err)
{
    dse_status st = DSE_OK;

    if (npus != w->npus || strategy_compare(base, &w->base)) {
        dse_arena_reset(&w->enumerated);
        st = design_enumerate(&w->s->strategy, base, npus, &w->enumerated, &w->strategy, &w->n_strategies,
                              err);
        w->npus = st == DSE_OK ? npus : 0;
        w->base = *base;
    }
    if (st != DSE_OK)
        return st;
    *n = w->n_strategies;
    *points = dse_arena_copy(&w->scratch, w->strategy, *n, sizeof **points);
    return DSE_OK;
}

/* Equal ones in the order in which they stand. */
static int by_value(const void *a, const void *b)
{
    const strategy *x = *(const strategy *const *)a, *y = *(const strategy *const *)b;
    const int c = strategy_compare(x, y);

    return c ? c : (x > y) - (x < y);
}

/* Leaves of equal points the first. */
static void drop_repeats(walk *w, strategy *points, size_t *n)
{
    const strategy **sorted = DSE_ARENA_RAW(&w->scratch, const strategy *, *n);
    bool *repeats = DSE_ARENA_NEW(&w->scratch, bool, *n);
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++)
        sorted[i] = &points[i];
    qsort(sorted, *n, sizeof *sorted, by_value);
    for (size_t i = 1; i < *n; i++)
        repeats[sorted[i] - points] = !strategy_compare(sorted[i - 1], sorted[i]);
    for (size_t i = 0; i < *n; i++)
        if (!repeats[i])
            points[kept++] = points[i];
    *n = kept;
}

/* The same of profile train, whose values depend on the model, the system and the program; each point
 * once. */
static dse_status training_strategies(walk *w, const drv_study *s, const strategy *base, uint64_t npus,
                                      strategy **points, size_t *n, dse_error *err)
{
    design_axis programs = w->s->strategy.of[STRATEGY_like];
    size_t cap = 0;

    *points = NULL;
    *n = 0;
    if (!programs.n)
        programs = (design_axis){1, {base->like}};
    for (uint32_t i = 0; i < programs.n; i++) {
        design_axes axes = w->s->strategy;
        strategy *some;
        size_t n_some;
        dse_status st;

        axes.of[STRATEGY_like] = (design_axis){1, {programs.value[i]}};
        drv_training_axes(s, &axes);
        if ((st = design_enumerate(&axes, base, npus, &w->scratch, &some, &n_some, err)) != DSE_OK)
            return st;
        DSE_ARENA_GROW(&w->scratch, *points, cap, *n + n_some);
        for (size_t k = 0; k < n_some; k++) {
            drv_training_settle(&some[k]);
            (*points)[(*n)++] = some[k];
        }
    }
    drop_repeats(w, *points, n);
    return DSE_OK;
}

bool drv_space_drops(const drv_space *s, const drv_study *varied, dse_arena *a)
{
    if (cfg_table_check(&card_model_table, "", &varied->model, NULL) != DSE_OK ||
        card_system_check(&varied->system, NULL, NULL) == DSE_OK)
        return false;
    for (uint32_t i = 0; i < s->n_constraints; i++) {
        const drv_constraint *c = &s->constraint[i];
        design_value *value = DSE_ARENA_NEW(a, design_value, c->expr.n_names);
        bool known = true, holds = true;

        for (uint32_t k = 0; known && k < c->expr.n_names; k++) {
            uint32_t own = find_own(c->expr.name[k]);

            known = (own == NAME_MODEL || own == NAME_SYSTEM || own == N_NAMES) &&
                    bind_name(c, c->expr.name[k], own, varied, &value[k], NULL) == DSE_OK;
        }
        if (known && design_expr_holds(&c->expr, value, &holds, NULL) == DSE_OK && !holds)
            return true;
    }
    return false;
}

static dse_status make_points(walk *w, const drv_study *varied, strategy **points, size_t *n, dse_error *err)
{
    const uint64_t npus = card_system_npus(&varied->system);
    const strategy base = card_model_strategy(&varied->model);
    dse_status st = varied->training ? training_strategies(w, varied, &base, npus, points, n, err)
                                     : strategies(w, &base, npus, points, n, err);

    if (st == DSE_OK && w->s->every_value)
        st = design_check_values(&w->s->strategy, card_model_profile(&varied->model), npus,
                                 (uint32_t)varied->model.layers, *points, *n, err);
    return st == DSE_OK ? filter(w, varied, *points, n, err) : st;
}

/* Whether this variant has the points of the one before: a sweep over rates would else make the same ones for
 * each of them. */
static bool are_those_before(const walk *w)
{
    if (!w->last.known || w->last.study != w->study)
        return false;
    for (uint32_t i = 0; i < w->s->n_axes; i++)
        if (w->decides[i] && w->last.number[i] != w->number[i])
            return false;
    return true;
}

static void keep_points(walk *w, const strategy *points, size_t n, uint64_t refused_before,
                        const uint64_t *survivors_before)
{
    const size_t n_rules = N_RULES + w->s->n_constraints;

    dse_arena_reset(&w->kept);
    w->last = (listed_points){.known = true, .study = w->study, .n = n};
    w->last.number = dse_arena_copy(&w->kept, w->number, w->s->n_axes, sizeof *w->number);
    w->last.point = dse_arena_copy(&w->kept, points, n, sizeof *points);
    w->last.n_refused = w->n_refused - refused_before;
    w->last.survivors = dse_arena_copy(&w->kept, w->survivors, n_rules, sizeof *w->survivors);
    for (size_t i = 0; i < n_rules; i++)
        w->last.survivors[i] -= survivors_before[i];
}

static dse_status list_points(walk *w, const drv_study *varied, strategy **points, size_t *n, dse_error *err)
{
    const size_t n_rules = N_RULES + w->s->n_constraints;
    const uint64_t refused = w->n_refused, *survivors;
    dse_status st;

    if (!are_those_before(w)) {
        survivors = dse_arena_copy(&w->scratch, w->survivors, n_rules, sizeof *survivors);
        st = make_points(w, varied, points, n, err);
        w->last.known = false;
        if (st == DSE_OK && w->decides)
            keep_points(w, *points, *n, refused, survivors);
        return st;
    }
    *n = w->last.n;
    *points = dse_arena_copy(&w->scratch, w->last.point, *n, sizeof **points);
    w->n_refused += w->last.n_refused;
    for (size_t i = 0; i < n_rules; i++)
        w->survivors[i] += w->last.survivors[i];
    return DSE_OK;
}

/* The points of one variant; there may be none. */
static dse_status visit_variant(walk *w, drv_walk_variant *out, dse_error *err)
{
    drv_study *varied = DSE_ARENA_NEW(&w->scratch, drv_study, 1);
    dse_status st = drv_study_vary(&w->s->study[out->study], &out->settings, &w->scratch, varied, err);

    out->varied = varied;
    /* The values are set before they are checked. */
    if (st != DSE_OK)
        return drv_space_drops(w->s, varied, &w->scratch) ? DSE_OK : st;
    return list_points(w, varied, &out->point, &out->n, err);
}

dse_status drv_space_fail(const drv_study *study, const cfg_settings *settings, const dse_error *why,
                          dse_arena *a, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(a);

    if (why->where[0])
        return dse_fail_at(err, why->status, why->where, "%s", why->text);
    dse_strbuf_addf(&text, "%s on %s", study->model_name, study->system_name);
    for (size_t i = 0; i < settings->n; i++)
        dse_strbuf_addf(&text, "%s%s=%s", i ? " " : " with ", settings->item[i].path,
                        settings->item[i].value);
    return dse_fail(err, why->status, "%.220s: %s", text.data, why->text);
}

static dse_status visit(walk *w, drv_walk_variant *out, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    dse_arena_reset(&w->scratch);
    *out = (drv_walk_variant){.number = w->next, .study = w->study};
    if ((st = drv_space_settings(w->s, w->number, &w->scratch, &out->settings, err)) != DSE_OK)
        return st;
    st = visit_variant(w, out, &why);
    return st == DSE_OK ? st
                        : drv_space_fail(&w->s->study[out->study], &out->settings, &why, &w->scratch, err);
}

/* To the next combination of the values of the axes: studies outermost, then the first axis. */
static void advance(walk *w)
{
    w->next++;
    for (uint32_t i = w->s->n_axes; i-- > 0;) {
        if (w->held && w->held[i])
            continue;
        if (++w->number[i] < w->s->axis[i].n)
            return;
        w->number[i] = 0;
    }
    w->study++;
}

static dse_status walk_all(walk *w, dse_error *err)
{
    dse_status st = DSE_OK;
    drv_walk_variant v;

    for (; st == DSE_OK && w->study < w->s->n_studies; advance(w))
        st = visit(w, &v, err);
    return st;
}

/* ---- counting ------------------------------------------------------------------------------ */

static dse_status no_points(const drv_space *s, const drv_study *study, const uint64_t *survivors,
                            const dse_error *refusal, dse_error *err)
{
    uint64_t npus = card_system_npus(&study->system);
    uint32_t i = 0;

    while (survivors[i])
        i++;
    if (i == RULE_PRODUCT)
        return dse_fail(err, DSE_E_RANGE,
                        "the space has no point: no %s is the number of NPUs (%s has %" PRIu64 ")",
                        strategy_product(card_model_profile(&study->model)), study->system_name, npus);
    if (i == RULE_STAGES && refusal->status != DSE_OK)
        return dse_fail(err, DSE_E_RANGE, "the space has no point; the first is refused: %s", refusal->text);
    if (i == RULE_STAGES)
        return dse_fail(err, DSE_E_RANGE,
                        "the space has no point: pp is always more than the stages that the layers and two "
                        "embeddings of %s can fill",
                        study->model_name);
    return dse_fail_at(err, DSE_E_RANGE, s->constraint[i - N_RULES].where,
                       "the space has no point: '%.100s' removes the last %" PRIu64 "%s",
                       s->constraint[i - N_RULES].expr.text, survivors[i - 1],
                       i == N_RULES ? "" : " that the constraints before it leave");
}

dse_status drv_space_strategies(const drv_space *s, const drv_study *varied, dse_arena *a, strategy **points,
                                size_t *n, dse_error *why_none, dse_error *err)
{
    drv_space all = *s;
    strategy *found = NULL;
    dse_status st;
    walk w;

    all.n_constraints = 0;
    begin_walk(&w, &all);
    *n = 0;
    st = list_points(&w, varied, &found, n, err);
    if (st == DSE_OK)
        *points = dse_arena_copy(a, found, *n, sizeof *found);
    if (st == DSE_OK && !*n)
        no_points(&all, varied, w.survivors, &w.refusal, why_none);
    end_walk(&w);
    return st;
}

/* How many variants are looked at one by one to count the points; of the other axes, which are `held` (NULL:
 * not asked), each value stands for all. */
static uint64_t count_visits(const drv_space *s, bool *held)
{
    uint64_t visits = s->n_studies;

    for (uint32_t i = 0; i < s->n_axes; i++) {
        bool hold = !matters(s, &s->axis[i]);

        if (held)
            held[i] = hold;
        if (!hold)
            visits = multiply(visits, s->axis[i].n);
    }
    return visits;
}

dse_status drv_space_count(const drv_space *s, uint64_t *n, dse_error *err)
{
    bool *held = dse_calloc(s->n_axes + 1, sizeof *held);
    dse_status st = check_listed(s, err);
    walk w;

    begin_walk(&w, s);
    if (st == DSE_OK) {
        count_visits(s, held);
        w.held = held;
        for (uint32_t i = 0; i < s->n_axes; i++)
            if (held[i])
                w.each = multiply(w.each, s->axis[i].n);
        st = walk_all(&w, err);
    }
    if (st == DSE_OK && !survivors(&w))
        st = no_points(s, &s->study[0], w.survivors, &w.refusal, err);
    if (st == DSE_OK)
        *n = survivors(&w);
    end_walk(&w);
    dse_free(held);
    return st;
}

dse_status drv_space_estimate(const drv_space *s, drv_size *out, dse_error *err)
{
    drv_size size = {DRV_SIZE_POINTS, s->n_studies};
    drv_space all = *s;
    dse_status st = check_listed(s, err);

    all.n_constraints = 0;
    if (st != DSE_OK)
        return st;
    if (count_visits(s, NULL) <= MAX_VISITS) {
        st = drv_space_count(s, &size.n, err);
    } else if (count_visits(&all, NULL) <= MAX_VISITS) {
        size.what = DRV_SIZE_UNCONSTRAINED;
        st = drv_space_count(&all, &size.n, err);
    } else {
        size.what = DRV_SIZE_VARIANTS;
        for (uint32_t i = 0; i < s->n_axes; i++)
            size.n = multiply(size.n, s->axis[i].n);
    }
    if (st == DSE_OK)
        *out = size;
    return st;
}

/* ---- variant by variant -------------------------------------------------------------------- */

drv_walk *drv_walk_new(const drv_space *s)
{
    walk *w = dse_calloc(1, sizeof *w);

    begin_walk(w, s);
    w->decides = dse_calloc(s->n_axes + 1, sizeof *w->decides);
    for (uint32_t i = 0; i < s->n_axes; i++)
        w->decides[i] = decides(s, &s->axis[i]);
    return w;
}

void drv_walk_free(drv_walk *w)
{
    if (w)
        end_walk(w);
    dse_free(w);
}

dse_status drv_walk_next(drv_walk *w, drv_walk_variant *out, bool *more, dse_error *err)
{
    dse_status st = w->next ? DSE_OK : check_listed(w->s, err);

    out->n = 0;
    for (*more = false; st == DSE_OK && !*more && w->study < w->s->n_studies; advance(w)) {
        st = visit(w, out, err);
        *more = out->n > 0;
    }
    return st;
}

dse_status drv_walk_check(const drv_walk *w, dse_error *err)
{
    return survivors(w) ? DSE_OK : no_points(w->s, &w->s->study[0], w->survivors, &w->refusal, err);
}

uint64_t drv_walk_refused(const drv_walk *w, const char **first)
{
    *first = w->refusal.text;
    return w->n_refused;
}

dse_status drv_space_combination(const drv_space *s, uint64_t number, dse_arena *a, cfg_settings *out,
                                 dse_error *err)
{
    uint32_t *value = DSE_ARENA_NEW(a, uint32_t, s->n_axes);

    for (uint32_t i = s->n_axes; i-- > 0; number /= s->axis[i].n)
        value[i] = (uint32_t)(number % s->axis[i].n);
    return drv_space_settings(s, value, a, out, err);
}
