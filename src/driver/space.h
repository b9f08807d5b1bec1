/* drv_space -- the points of a study: strategies of models on systems, also over cards whose values vary.
 *
 * A study here is one model on one system; a variant is a study with some values set over its cards; a point
 * is a strategy of a variant. Two rules hold everywhere: dp * tp * sp * pp is the number of NPUs, and pp at
 * most the layers and two embeddings. Constraints may use dp, tp, sp, pp, recompute, weight_sharded, npus,
 * model, system (their names), and every value of a card by its key (heads, network.bandwidth[1]), in the
 * unit of that key. */
#ifndef DSE_DRIVER_SPACE_H
#define DSE_DRIVER_SPACE_H

#include "design/expr.h"
#include "driver/study.h"

#include <string.h>

/* A value of a card that varies. */
typedef struct {
    const char *path; /* "network.bandwidth[1]" */
    uint32_t n;
    const char **value; /* as a card would say it */
    /* pipeline_layout with any numbers of layers by stage, from `least` to `most` (the first and the last
     * stage of `any` may have none), or recompute_layout with any numbers of those that are made again:
     * `value` is a word for it, which no card takes, and box.h has the rest. Else `most` is 0. */
    uint32_t least, most;
} drv_axis;

#define DRV_LAYOUT_KEY    "pipeline_layout"
#define DRV_RECOMPUTE_KEY "recompute_layout"
#define DRV_LAYOUT_ANY    "any"

static inline bool drv_axis_is_layout(const drv_axis *axis) { return axis->most != 0; }
static inline bool drv_axis_recomputes(const drv_axis *axis)
{
    return axis->most && !strcmp(axis->path, DRV_RECOMPUTE_KEY);
}

typedef struct {
    design_expr expr;
    const char *where; /* "space.yaml:12:5" */
} drv_constraint;

typedef struct {
    uint32_t n_studies;
    drv_study *study;
    design_axes strategy;
    bool every_value; /* a degree that is given must be in a point of each study */
    uint32_t n_axes, n_constraints;
    drv_axis *axis;
    drv_constraint *constraint;
} drv_space;

/* Loads the studies of models x systems, models outermost; names or paths. A model may lack what an axis
 * gives; its points are refused if none does. Fills in these members of *out alone. */
dse_status drv_space_load(const char *const *models, size_t n_models, const char *const *systems,
                          size_t n_systems, const cfg_settings *settings, dse_arena *a, drv_space *out,
                          dse_error *err);

/* How many points there are, without making them; UINT64_MAX: as many or more. At least one: DSE_E_RANGE says
 * which rule or constraint removes the last. DSE_E_CONFIG: a constraint or an axis that does not fit the
 * cards. Looks at every combination of the values that constraints, or the number of strategies, depend on,
 * about 10 us each. */
dse_status drv_space_count(const drv_space *s, uint64_t *n, dse_error *err);

/* What a space is known to have. */
typedef struct {
    enum {
        DRV_SIZE_POINTS, /* points, counted */
        /* points before the constraints, which depend on too many combinations of values */
        DRV_SIZE_UNCONSTRAINED,
        DRV_SIZE_VARIANTS /* models, systems and values combined; so does the number of strategies */
    } what;
    uint64_t n; /* UINT64_MAX: as many or more */
} drv_size;

/* How large a space is, in at most half a minute. Fails as drv_space_count does. */
dse_status drv_space_estimate(const drv_space *s, drv_size *out, dse_error *err);

/* ---- variant by variant (points.h) ---- */

typedef struct drv_walk drv_walk;

/* A variant and its points: by study, then by the values of the axes, the first axis slowest; strategies as
 * design_enumerate orders them. What is borrowed lasts until the next call. */
typedef struct {
    uint64_t number; /* of its combination of values, counted from 0 */
    uint32_t study;
    cfg_settings settings; /* their texts are the axes' own */
    const drv_study *varied;
    strategy *point;
    size_t n;
} drv_walk_variant;

/* `s` is borrowed. */
drv_walk *drv_walk_new(const drv_space *s);
void drv_walk_free(drv_walk *w); /* accepts NULL */

/* The next variant that has points; *more is false where there is none. Fails as drv_space_count does, but
 * for a space without points. */
dse_status drv_walk_next(drv_walk *w, drv_walk_variant *out, bool *more, dse_error *err);

/* After the last: DSE_E_RANGE if there was no point; how many combinations rules of profile train refused,
 * and what the first of them was refused for ("", borrowed). */
dse_status drv_walk_check(const drv_walk *w, dse_error *err);
uint64_t drv_walk_refused(const drv_walk *w, const char **first);

/* What the axes set at a combination. */
dse_status drv_space_combination(const drv_space *s, uint64_t number, dse_arena *a, cfg_settings *out,
                                 dse_error *err);

/* ---- a space that is too large to be walked (box.h) ---- */

/* Fails for names that no card has, and axes that vary one value. DSE_E_CONFIG. */
dse_status drv_space_check(const drv_space *s, dse_error *err);

/* Whether an axis may change the value of a name of a constraint. */
bool drv_axis_changes(const drv_axis *axis, const char *name);

/* Whether the strategies before all constraints may depend on the value of an axis. */
bool drv_axis_shapes(const drv_space *s, const drv_axis *axis);

/* What the axes set if each has the value of that number; for drv_study_vary. */
dse_status drv_space_settings(const drv_space *s, const uint32_t *number, dse_arena *a, cfg_settings *out,
                              dse_error *err);

/* Says of which variant a failure is: "llama70b on system1 with layers=4: ...". A constraint has its own
 * place. */
dse_status drv_space_fail(const drv_study *study, const cfg_settings *settings, const dse_error *why,
                          dse_arena *a, dse_error *err);

/* Whether a variant has failed for its system, which cannot be built, and a constraint on the cards alone
 * drops it: a mesh of 8 by 8 where width * height must be 16. A model that lacks something has no values to
 * decide by. */
bool drv_space_drops(const drv_space *s, const drv_study *varied, dse_arena *a);

/* The strategies of a variant before all constraints, in their order; *why_none: where there are none, what
 * the sweep of a space of this variant alone says. */
dse_status drv_space_strategies(const drv_space *s, const drv_study *varied, dse_arena *a, strategy **points,
                                size_t *n, dse_error *why_none, dse_error *err);

/* The value of name k of a constraint at a point of a variant; *is_known is false for a parameter of the
 * strategy where the point is NULL. Text is in the arena, or the study's. */
dse_status drv_constraint_value(const drv_constraint *c, uint32_t k, const drv_study *study,
                                const strategy *p, dse_arena *a, design_value *out, bool *is_known,
                                dse_error *err);

#endif
