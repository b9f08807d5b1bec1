/* The design space: which strategies there are on so many NPUs.
 *
 * An axis of the space is a list of values of one parameter of the strategy. A parameter that is not given
 * takes what its row says (strategy/parameters.h): every divisor of the number of NPUs (the powers of two, on
 * a power of two), every value, or its value in a base strategy. A point is a combination whose ranks are the
 * NPUs. This folder knows numbers, not what they mean for a model. */
#ifndef DSE_DESIGN_SPACE_H
#define DSE_DESIGN_SPACE_H

#include "strategy/strategy.h"

#define DESIGN_MAX_VALUES 64

typedef struct {
    uint32_t n; /* 0: not given */
    uint32_t value[DESIGN_MAX_VALUES];
} design_axis;

typedef struct {
    design_axis of[STRATEGY_N]; /* by parameter */
} design_axes;

/* "8" or "1,2,4", each once; "yes", "no", "both" of a switch. `label` begins messages. DSE_E_USAGE. */
dse_status design_axis_parse(uint32_t parameter, const char *label, const char *text, design_axis *out,
                             dse_error *err);

/* The same of n texts, each a value (of a switch also "both"). */
dse_status design_axis_of(uint32_t parameter, const char *label, const char *const *texts, size_t n,
                          design_axis *out, dse_error *err);

/* All points on so many NPUs, in the order of strategy_compare; there may be none. NPUs: 1 to 2^32 - 1, as
 * degrees are 32 bits. DSE_E_RANGE if there are more divisors than an axis holds. The array belongs to the
 * arena. */
dse_status design_enumerate(const design_axes *axes, const strategy *base, uint64_t npus, dse_arena *a,
                            strategy **points, size_t *n, dse_error *err);

/* DSE_E_RANGE, saying why, if a degree that was given is in none of these points, or if there is none. */
dse_status design_check_values(const design_axes *axes, unsigned profile, uint64_t npus, uint32_t layers,
                               const strategy *points, size_t n, dse_error *err);

/* Pipeline stages that so many layers and two embeddings can fill. */
#define DESIGN_MAX_STAGES(layers) ((layers) + 2)

#endif
