#include "workload/axes.h"

#include "strategy/strategy.h"

#include <string.h>

wl_axes wl_axes_of(const wl_symbols *symbols, dse_arena *a)
{
    wl_axes x = {.n = STRATEGY_N_AXES,
                 .name = DSE_ARENA_RAW(a, const char *, STRATEGY_N_AXES),
                 .symbol = DSE_ARENA_RAW(a, int, STRATEGY_N_AXES),
                 .pipeline = STRATEGY_AXIS_pp};

    for (uint32_t i = 0; i < STRATEGY_N_AXES; i++) {
        const strategy_parameter *p = &strategy_parameters[strategy_axes[i]];

        x.name[i] = p->name;
        x.symbol[i] = -1;
        if (!p->shards_tensors)
            continue;
        x.sharding |= mesh_only(i);
        for (uint32_t s = 0; s < symbols->n; s++)
            if (!strcmp(symbols->name[s], p->name))
                x.symbol[i] = (int)s;
    }
    return x;
}

void wl_axes_add_symbols(wl_symbols *symbols)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (strategy_parameters[i].shards_tensors)
            symbols->name[symbols->n++] = strategy_parameters[i].name;
}
