#include "workload/placement.h"

#include <stdio.h>
#include <string.h>

static const char *const names[WL_N_DEGREES] = {
    [WL_DP] = "dp", [WL_TP] = "tp", [WL_SP] = "sp", [WL_PP] = "pp"};

/* The dimensions of placement p, innermost first: each digit of its number, in the factorial system, picks one of those
 * that are left. */
static void order_of(wl_placement p, uint8_t order[WL_N_DEGREES])
{
    uint8_t left[WL_N_DEGREES] = {WL_DP, WL_TP, WL_SP, WL_PP};
    unsigned rest = p, arrangements = WL_N_PLACEMENTS;

    for (unsigned i = 0; i < WL_N_DEGREES; i++) {
        unsigned pick;

        arrangements /= WL_N_DEGREES - i;
        pick = rest / arrangements;
        rest %= arrangements;
        order[i] = left[pick];
        memmove(&left[pick], &left[pick + 1], WL_N_DEGREES - 1 - i - pick);
    }
}

void wl_placement_print(wl_placement p, char out[WL_PLACEMENT_TEXT])
{
    uint8_t order[WL_N_DEGREES];

    order_of(p, order);
    snprintf(out, WL_PLACEMENT_TEXT, "%s,%s,%s,%s", names[order[0]], names[order[1]], names[order[2]],
             names[order[3]]);
}

dse_status wl_placement_parse(const char *text, wl_placement *out, dse_error *err)
{
    char known[WL_PLACEMENT_TEXT];

    for (wl_placement p = 0; p < WL_N_PLACEMENTS; p++) {
        wl_placement_print(p, known);
        if (!strcmp(known, text)) {
            *out = p;
            return DSE_OK;
        }
    }
    return dse_fail(err, DSE_E_CONFIG,
                    "'%.40s' is no order of dp, tp, sp and pp; write each once, the innermost first, without "
                    "blanks: tp,sp,dp,pp",
                    text);
}

void wl_placement_strides(wl_placement p, const uint32_t degree[WL_N_DEGREES], uint32_t stride[WL_N_DEGREES])
{
    uint8_t order[WL_N_DEGREES];
    uint32_t ranks = 1;

    order_of(p, order);
    for (int i = 0; i < WL_N_DEGREES; i++) {
        stride[order[i]] = ranks;
        ranks *= degree[order[i]];
    }
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
