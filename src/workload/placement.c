#include "workload/placement.h"

#include "strategy/order.h"
#include "strategy/strategy.h"

#include <string.h>

dse_status wl_placement_parse(const char *text, uint32_t *out, dse_error *err)
{
    const char *name[STRATEGY_N];
    uint32_t n = 0;

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (strategy_parameters[i].is_axis)
            name[n++] = strategy_parameters[i].name;
    if (!strchr(text, '-') &&
        order_parse(text, name, n, out)) /* a name of an order may have dashes, a card none */
        return DSE_OK;
    return dse_fail(err, DSE_E_CONFIG,
                    "'%.40s' is no order of dp, tp, sp and pp; write each once, the innermost first, without "
                    "blanks: tp,sp,dp,pp",
                    text);
}

const char *const wl_stages_names[WL_N_STAGES + 1] = {
    [WL_STAGES_TURNS] = "turns", [WL_STAGES_NEIGHBOURS] = "neighbours", NULL};

uint32_t wl_stage_of(wl_stages how, uint32_t place, uint32_t layers, uint32_t pp)
{
    if (how == WL_STAGES_TURNS)
        return place % pp;
    if (place == 0 || place > layers)
        return place ? pp - 1 : 0;
    return (uint32_t)((place - 1u) * (uint64_t)pp / layers);
}
