#include "workload/axes.h"

#include "strategy/strategy.h"

#include <string.h>

static bool shards(const strategy_parameter *p) { return p->is_axis && p->shards_tensors; }

wl_axes wl_axes_of(const wl_symbols *symbols, dse_arena *a)
{
    wl_axes x = {.name = DSE_ARENA_RAW(a, const char *, STRATEGY_N),
                 .symbol = DSE_ARENA_RAW(a, int, STRATEGY_N)};

    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];

        if (!p->is_axis)
            continue;
        if (i == STRATEGY_pp)
            x.pipeline = x.n;
        x.name[x.n] = p->name;
        x.symbol[x.n] = -1;
        if (shards(p))
            x.sharding |= mesh_only(x.n);
        for (uint32_t s = 0; shards(p) && s < symbols->n; s++)
            if (!strcmp(symbols->name[s], p->name))
                x.symbol[x.n] = (int)s;
        x.n++;
    }
    return x;
}

void wl_axes_add_symbols(wl_symbols *symbols)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (shards(&strategy_parameters[i]))
            symbols->name[symbols->n++] = strategy_parameters[i].name;
}
