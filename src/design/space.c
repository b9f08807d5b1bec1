#include "design/space.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- axes ---------------------------------------------------------------------------------- */

static dse_status add_value(const char *label, const char *word, uint32_t value, design_axis *out,
                            dse_error *err)
{
    for (uint32_t i = 0; i < out->n; i++)
        if (out->value[i] == value)
            return dse_fail(err, DSE_E_USAGE, "%s names %s twice", label, word);
    if (out->n == DESIGN_MAX_VALUES)
        return dse_fail(err, DSE_E_USAGE, "%s takes at most %d values", label, DESIGN_MAX_VALUES);
    out->value[out->n++] = value;
    return DSE_OK;
}

static void add_all(const strategy_parameter *p, design_axis *out)
{
    out->n = strategy_n_values(p);
    for (uint32_t i = 0; i < out->n; i++)
        out->value[i] = i;
}

/* [no, yes] as well as no, yes and both. */
static dse_status both_of(const strategy_parameter *p, const char *label, const char *const *texts, size_t n,
                          design_axis *out, dse_error *err)
{
    uint32_t value;

    for (size_t i = 0; i < n; i++) {
        dse_status st = DSE_OK;

        if (!strcmp(texts[i], "both"))
            add_all(p, out);
        else if ((st = strategy_parse(p, label, texts[i], &value, err)) == DSE_OK)
            out->value[out->n++] = value;
        if (st != DSE_OK)
            return st;
        if (i && (n > 2 || out->n != 2 || out->value[0] == out->value[1]))
            return dse_fail(err, DSE_E_USAGE, "%s takes yes, no or both", label);
    }
    if (out->n == 2)
        add_all(p, out); /* in their order */
    return DSE_OK;
}

dse_status design_axis_of(uint32_t parameter, const char *label, const char *const *texts, size_t n,
                          design_axis *out, dse_error *err)
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    dse_status st = DSE_OK;

    out->n = 0;
    if (p->kind == STRATEGY_SWITCH)
        return both_of(p, label, texts, n, out, err);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        uint32_t value;

        st = strategy_parse(p, label, texts[i], &value, err);
        if (st == DSE_OK)
            st = add_value(label, texts[i], value, out, err);
    }
    return st;
}

/* An order may have commas itself: a text that is one as a whole is one value. */
dse_status design_axis_parse(uint32_t parameter, const char *label, const char *text, design_axis *out,
                             dse_error *err)
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    char word[DESIGN_MAX_VALUES + 1][STRATEGY_VALUE_MAX];
    const char *words[DESIGN_MAX_VALUES + 1];
    uint32_t value;
    size_t n = 0;

    if (p->kind == STRATEGY_ORDER && strategy_parse(p, label, text, &value, NULL) == DSE_OK)
        return design_axis_of(parameter, label, &text, 1, out, err);
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");

        if (n > DESIGN_MAX_VALUES)
            return dse_fail(err, DSE_E_USAGE, "%s takes at most %d values", label, DESIGN_MAX_VALUES);
        if (length >= STRATEGY_VALUE_MAX || !length) { /* no value: the whole text is quoted */
            words[0] = text;
            return design_axis_of(parameter, label, words, 1, out, err);
        }
        snprintf(word[n], STRATEGY_VALUE_MAX, "%.*s", (int)length, at);
        if (p->kind == STRATEGY_DEGREE && strategy_parse(p, label, word[n], &value, NULL) != DSE_OK)
            return strategy_parse(p, label, text, &value, err); /* as one text, which it then cannot be */
        words[n] = word[n];
        n++;
        at += length;
        if (!*at)
            return design_axis_of(parameter, label, words, n, out, err);
    }
}

/* ---- enumeration --------------------------------------------------------------------------- */

/* In no order. False if there are too many. */
static bool add_divisors(uint64_t npus, design_axis *out)
{
    for (uint64_t d = 1; d * d <= npus; d++) {
        if (npus % d)
            continue;
        if (out->n + (d * d < npus) >= DESIGN_MAX_VALUES)
            return false;
        out->value[out->n++] = (uint32_t)d;
        if (d * d < npus)
            out->value[out->n++] = (uint32_t)(npus / d);
    }
    return true;
}

static void sort_axis(design_axis *a)
{
    for (uint32_t i = 1; i < a->n; i++) {
        uint32_t v = a->value[i], k = i;

        for (; k > 0 && a->value[k - 1] > v; k--)
            a->value[k] = a->value[k - 1];
        a->value[k] = v;
    }
}

typedef struct {
    design_axis axis[STRATEGY_N];
    uint32_t order[STRATEGY_N]; /* the parameters, the slowest first */
    strategy *points;
    size_t n, cap;
} enumeration;

/* The parameters from the k-th slowest on; the ranks that are left are `rest`. */
static void enumerate(enumeration *e, uint32_t k, uint64_t rest, strategy *s)
{
    uint32_t i;

    if (k == STRATEGY_N) {
        if (rest == 1) {
            DSE_GROW(e->points, e->cap, e->n + 1);
            e->points[e->n++] = *s;
        }
        return;
    }
    i = e->order[k];
    for (uint32_t v = 0; v < e->axis[i].n; v++) {
        const uint32_t value = e->axis[i].value[v];
        const bool is_axis = strategy_parameters[i].is_axis;

        strategy_set(s, i, value);
        if (!is_axis || rest % value == 0)
            enumerate(e, k + 1, is_axis ? rest / value : rest, s);
    }
}

/* What a parameter takes that is not given. */
static bool fill_axis(uint32_t parameter, const strategy *base, uint64_t npus, design_axis *out)
{
    switch (strategy_parameters[parameter].swept) {
    case STRATEGY_SWEEP_DIVISORS: return add_divisors(npus, out);
    case STRATEGY_SWEEP_ALL: add_all(&strategy_parameters[parameter], out); break;
    case STRATEGY_SWEEP_DEFAULT: *out = (design_axis){1, {strategy_get(base, parameter)}}; break;
    }
    return true;
}

dse_status design_enumerate(const design_axes *axes, const strategy *base, uint64_t npus, dse_arena *a,
                            strategy **points, size_t *n, dse_error *err)
{
    enumeration e = {.points = NULL};
    strategy s;

    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        e.axis[i] = axes->of[i];
        if (!e.axis[i].n && !fill_axis(i, base, npus, &e.axis[i]))
            return dse_fail(err, DSE_E_RANGE,
                            "%" PRIu64 " NPUs have more than %d divisors; give --dp, --tp and --sp", npus,
                            DESIGN_MAX_VALUES);
        sort_axis(&e.axis[i]);
        e.order[i] = strategy_in_order(i);
    }
    enumerate(&e, 0, npus, &s);
    *points = dse_arena_copy(a, e.points, e.n, sizeof *e.points);
    *n = e.n;
    dse_free(e.points);
    return DSE_OK;
}

/* ---- values that were asked for ------------------------------------------------------------ */

static bool is_used(uint32_t parameter, uint32_t value, const strategy *points, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (strategy_get(&points[k], parameter) == value)
            return true;
    return false;
}

dse_status design_check_values(const design_axes *axes, unsigned profile, uint64_t npus, uint32_t layers,
                               const strategy *points, size_t n, dse_error *err)
{
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const uint32_t i = strategy_in_order(k);
        const strategy_parameter *p = &strategy_parameters[i];

        for (uint32_t v = 0; p->is_axis && v < axes->of[i].n; v++) {
            const uint32_t value = axes->of[i].value[v];

            if (i == STRATEGY_pp && value > DESIGN_MAX_STAGES(layers))
                return dse_fail(err, DSE_E_RANGE,
                                "pp %" PRIu32 " is more than the %" PRIu32 " stages that %" PRIu32
                                " layers and two embeddings can fill",
                                value, DESIGN_MAX_STAGES(layers), layers);
            if (npus % value)
                return dse_fail(err, DSE_E_RANGE,
                                "%s %" PRIu32 " does not divide the %" PRIu64 " NPUs of the system", p->name,
                                value, npus);
            if (!is_used(i, value, points, n))
                return dse_fail(err, DSE_E_RANGE,
                                "no combination with %s %" PRIu32 " has %s = %" PRIu64 " NPUs", p->name,
                                value, strategy_product(profile), npus);
        }
    }
    return n ? DSE_OK
             : dse_fail(err, DSE_E_RANGE, "no strategy has %s = %" PRIu64 " NPUs", strategy_product(profile),
                        npus);
}
