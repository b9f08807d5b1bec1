/* Strategies of workloads in tests: degrees that are not given are at their default. */
#ifndef DSE_TESTS_SUPPORT_WL_STRATEGY_H
#define DSE_TESTS_SUPPORT_WL_STRATEGY_H

#include "workload/generate.h"

static inline wl_strategy wl_with_defaults(wl_strategy s)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (strategy_get(&s.strategy, i) < strategy_parameters[i].min)
            strategy_set(&s.strategy, i, strategy_parameters[i].fallback);
    return s;
}

/* WL_STRATEGY(.dp = 2, .tag_base = 7) */
#define WL_STRATEGY(...) wl_with_defaults((wl_strategy){__VA_ARGS__})

#endif
