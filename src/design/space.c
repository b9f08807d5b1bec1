#include "design/space.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

dse_status design_axis_parse(const char *name, const char *text, design_axis *out, dse_error *err)
{
    const char *p = text;

    out->n = 0;
    for (;;) {
        char word[24];
        size_t n = strcspn(p, ",");
        int64_t v;

        snprintf(word, sizeof word, "%.*s", n < sizeof word ? (int)n : 0, p);
        if (dse_parse_int(word, &v, NULL) != DSE_OK || v < 1 || v > 1 << 24)
            return dse_fail(err, DSE_E_USAGE, "%s takes positive whole numbers such as 1,2,4, not '%.60s'",
                            name, text);
        for (uint32_t i = 0; i < out->n; i++)
            if (out->value[i] == (uint32_t)v)
                return dse_fail(err, DSE_E_USAGE, "%s names %s twice", name, word);
        if (out->n == DESIGN_MAX_VALUES)
            return dse_fail(err, DSE_E_USAGE, "%s takes at most %d values", name, DESIGN_MAX_VALUES);
        out->value[out->n++] = (uint32_t)v;
        if (!p[n])
            return DSE_OK;
        p += n + 1;
    }
}

dse_status design_switch_parse(const char *name, const char *text, design_switch *out, dse_error *err)
{
    static const struct {
        const char *word;
        design_switch value;
    } words[] = {{"both", DESIGN_BOTH},
                 {"yes", DESIGN_YES},
                 {"no", DESIGN_NO},
                 {"true", DESIGN_YES},
                 {"false", DESIGN_NO}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!strcmp(words[i].word, text)) {
            *out = words[i].value;
            return DSE_OK;
        }
    }
    return dse_fail(err, DSE_E_USAGE, "%s takes yes, no or both, not '%.60s'", name, text);
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
    const design_axes *given;
    design_axis axis[4]; /* pp, dp, tp, sp */
    uint64_t npus;
    design_point *points;
    size_t n, cap;
} enumeration;

static bool add_point(enumeration *e, const uint32_t degree[4])
{
    static const struct {
        int first, last;
    } range[] = {[DESIGN_NO] = {0, 0}, [DESIGN_YES] = {1, 1}, [DESIGN_BOTH] = {0, 1}};

    for (int ws = range[e->given->weight_sharded].first; ws <= range[e->given->weight_sharded].last; ws++) {
        for (int ar = range[e->given->recompute].first; ar <= range[e->given->recompute].last; ar++) {
            if (!DSE_GROW(e->points, e->cap, e->n + 1))
                return false;
            e->points[e->n++] = (design_point){.pp = degree[0],
                                               .dp = degree[1],
                                               .tp = degree[2],
                                               .sp = degree[3],
                                               .weight_sharded = ws != 0,
                                               .recompute = ar != 0};
        }
    }
    return true;
}

/* Degrees from `axis` on whose product is `rest`. */
static bool enumerate(enumeration *e, int axis, uint64_t rest, uint32_t degree[4])
{
    if (axis == 4)
        return rest != 1 || add_point(e, degree);
    for (uint32_t i = 0; i < e->axis[axis].n; i++) {
        degree[axis] = e->axis[axis].value[i];
        if (rest % degree[axis] == 0 && !enumerate(e, axis + 1, rest / degree[axis], degree))
            return false;
    }
    return true;
}

static uint32_t degree_of(const design_point *p, int axis)
{
    return axis == 0 ? p->pp : axis == 1 ? p->dp : axis == 2 ? p->tp : p->sp;
}

/* A value that somebody asked for must be in some point. */
dse_status design_check_values(const design_axes *axes, uint64_t npus, uint32_t layers,
                               const design_point *points, size_t n, dse_error *err)
{
    static const char *const names[] = {"pp", "dp", "tp", "sp"};
    const design_axis *given[] = {&axes->pp, &axes->dp, &axes->tp, &axes->sp};

    for (int axis = 0; axis < 4; axis++) {
        for (uint32_t i = 0; i < given[axis]->n; i++) {
            uint32_t v = given[axis]->value[i];
            bool used = false;

            if (axis == 0 && v > DESIGN_MAX_STAGES(layers))
                return dse_fail(err, DSE_E_RANGE,
                                "pp %" PRIu32 " is more than the %" PRIu32 " stages that %" PRIu32
                                " layers and two embeddings can fill",
                                v, DESIGN_MAX_STAGES(layers), layers);
            if (npus % v)
                return dse_fail(err, DSE_E_RANGE,
                                "%s %" PRIu32 " does not divide the %" PRIu64 " NPUs of the system",
                                names[axis], v, npus);
            for (size_t k = 0; !used && k < n; k++)
                used = degree_of(&points[k], axis) == v;
            if (!used)
                return dse_fail(err, DSE_E_RANGE,
                                "no combination with %s %" PRIu32 " has dp * tp * sp * pp = %" PRIu64 " NPUs",
                                names[axis], v, npus);
        }
    }
    return n ? DSE_OK
             : dse_fail(err, DSE_E_RANGE, "no strategy has dp * tp * sp * pp = %" PRIu64 " NPUs", npus);
}

dse_status design_enumerate(const design_axes *axes, uint64_t npus, dse_arena *a, design_point **points,
                            size_t *n, dse_error *err)
{
    enumeration e = {.given = axes, .axis = {axes->pp, axes->dp, axes->tp, axes->sp}, .npus = npus};
    uint32_t degree[4];
    dse_status st = DSE_OK;

    if (!e.axis[0].n)
        e.axis[0] = (design_axis){1, {1}};
    for (int i = 0; i < 4; i++) {
        if (!e.axis[i].n && !add_divisors(npus, &e.axis[i]))
            st = dse_fail(err, DSE_E_RANGE,
                          "%" PRIu64 " NPUs have more than %d divisors; give --dp, --tp and --sp", npus,
                          DESIGN_MAX_VALUES);
        sort_axis(&e.axis[i]);
    }
    if (st == DSE_OK && !enumerate(&e, 0, npus, degree))
        st = dse_fail_nomem(err);
    if (st == DSE_OK) {
        *points = DSE_ARENA_NEW(a, design_point, e.n);
        if (!*points)
            st = dse_fail_nomem(err);
        else if (e.n)
            memcpy(*points, e.points, e.n * sizeof *e.points);
        *n = e.n;
    }
    dse_free(e.points);
    return st;
}

uint64_t design_point_ranks(const design_point *p)
{
    const uint32_t degree[] = {p->dp, p->tp, p->sp, p->pp};
    uint64_t ranks = 1;

    for (int i = 0; i < 4; i++) {
        if (degree[i] && ranks > UINT64_MAX / degree[i])
            return UINT64_MAX;
        ranks *= degree[i];
    }
    return ranks;
}

void design_point_write_fields(const design_point *p, dse_json *j)
{
    dse_json_key(j, "dp");
    dse_json_uint(j, p->dp);
    dse_json_key(j, "tp");
    dse_json_uint(j, p->tp);
    dse_json_key(j, "sp");
    dse_json_uint(j, p->sp);
    dse_json_key(j, "pp");
    dse_json_uint(j, p->pp);
    dse_json_key(j, "recompute");
    dse_json_bool(j, p->recompute);
    dse_json_key(j, "weight_sharded");
    dse_json_bool(j, p->weight_sharded);
}

/* ---- names --------------------------------------------------------------------------------- */

void design_point_name(const design_point *p, char out[DESIGN_NAME_MAX])
{
    snprintf(out, DESIGN_NAME_MAX, "%" PRIu32 "_%" PRIu32 "_%" PRIu32 "_%" PRIu32 "_%d%s", p->dp, p->tp,
             p->sp, p->pp, p->recompute, p->weight_sharded ? "_ws" : "");
}

dse_status design_point_parse(const char *text, design_point *out, dse_error *err)
{
    unsigned dp, tp, sp, pp, ar;
    int end = 0;
    char name[DESIGN_NAME_MAX];

    if (sscanf(text, "%8u_%8u_%8u_%8u_%1u%n", &dp, &tp, &sp, &pp, &ar, &end) == 5 &&
        (!text[end] || !strcmp(text + end, "_ws"))) {
        *out = (design_point){dp, tp, sp, pp, ar != 0, text[end] != '\0'};
        design_point_name(out, name);
        if (!strcmp(name, text) && dp && tp && sp && pp)
            return DSE_OK;
    }
    return dse_fail(err, DSE_E_USAGE,
                    "'%.60s' is not a point; write dp_tp_sp_pp_recompute, for example 8_1_8_1_1", text);
}
