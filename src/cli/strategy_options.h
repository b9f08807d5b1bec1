/* The options of a strategy's parameters, made from their rows (strategy/parameters.h): one value each, or
 * lists for a sweep. */
#ifndef DSE_CLI_STRATEGY_OPTIONS_H
#define DSE_CLI_STRATEGY_OPTIONS_H

#include "cli/command.h"
#include "design/space.h"

typedef struct {
    const char *text; /* NULL: not given */
    bool on;          /* of a switch that takes no value */
} strategy_option;

typedef struct {
    strategy_option of[STRATEGY_N];
} strategy_options;

/* The options of all parameters: one value each, or lists. */
option_group strategy_value_options, strategy_list_options;

/* `ccldse help strategy`: each option with its values, by profile. */
void strategy_options_explain(size_t width, dse_strbuf *out);

/* The first parameter that was given, of those in `which`; STRATEGY_N: none. */
uint32_t strategy_options_given(const strategy_options *o, uint64_t which);

/* Whether a parameter was given. */
bool strategy_options_says(const strategy_options *o, uint32_t parameter);

/* A bit for each parameter that was given. */
uint64_t strategy_options_mask(const strategy_options *o);

/* A point by its name (NULL: none) and values that were given: what both say is refused. DSE_E_USAGE. */
dse_status strategy_options_point(const strategy_options *o, const char *name, const strategy *base,
                                  strategy *out, dse_error *err);

/* Lists. DSE_E_USAGE. */
dse_status strategy_options_axes(const strategy_options *o, design_axes *out, dse_error *err);

#endif
