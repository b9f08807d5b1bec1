/* The design space: which strategies there are on so many NPUs.
 *
 * Axes are dp, tp, sp, pp, recomputation and weight sharding. A degree that is not given takes every divisor of
 * the number of NPUs (the powers of two, on a power of two), pp takes 1, recomputation both, weight
 * sharding no. A point is a combination with dp * tp * sp * pp = NPUs. This folder knows numbers, not what they
 * mean for a model. */
#ifndef DSE_DESIGN_SPACE_H
#define DSE_DESIGN_SPACE_H

#include "base/alloc.h"
#include "base/json_writer.h"

#define DESIGN_MAX_VALUES 64

typedef struct {
    uint32_t dp, tp, sp, pp;
    bool recompute, weight_sharded;
} design_point;

typedef struct {
    uint32_t n; /* 0: not given */
    uint32_t value[DESIGN_MAX_VALUES];
} design_axis;

typedef enum { DESIGN_NO, DESIGN_YES, DESIGN_BOTH } design_switch;

typedef struct {
    design_axis dp, tp, sp, pp;
    design_switch recompute, weight_sharded;
} design_axes;

/* "8" or "1,2,4": positive, each once. `name` is for messages. */
dse_status design_axis_parse(const char *name, const char *text, design_axis *out, dse_error *err);

/* "yes", "no", "both" (and true, false). */
dse_status design_switch_parse(const char *name, const char *text, design_switch *out, dse_error *err);

/* All points with dp * tp * sp * pp = NPUs, ordered by pp, dp, tp, sp, weight sharding, recomputation; there may be
 * none. NPUs: 1 to 2^32 - 1, as degrees are 32 bits. DSE_E_RANGE if there are more divisors than an axis holds. The
 * array belongs to the arena. */
dse_status design_enumerate(const design_axes *axes, uint64_t npus, dse_arena *a, design_point **points,
                            size_t *n, dse_error *err);

/* DSE_E_RANGE, saying why, if a value that was given is in none of these points, or if there is none. */
dse_status design_check_values(const design_axes *axes, uint64_t npus, uint32_t layers,
                               const design_point *points, size_t n, dse_error *err);

/* Pipeline stages that so many layers and two embeddings can fill. */
#define DESIGN_MAX_STAGES(layers) ((layers) + 2)

/* "dp":8,"tp":1,"sp":8,"pp":1,"recompute":true,"weight_sharded":false: into an object that has begun. */
void design_point_write_fields(const design_point *p, dse_json *j);

/* dp * tp * sp * pp; UINT64_MAX if it is larger. */
uint64_t design_point_ranks(const design_point *p);

/* "8_1_8_1_1": dp_tp_sp_pp_recompute, and a "_ws" behind it with sharded weights. */
#define DESIGN_NAME_MAX 64
void design_point_name(const design_point *p, char out[DESIGN_NAME_MAX]);

/* The reverse; DSE_E_USAGE. */
dse_status design_point_parse(const char *text, design_point *out, dse_error *err);

#endif
