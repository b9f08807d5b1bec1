#include "workload/placement.h"

uint32_t wl_stage_of(wl_stages how, uint32_t place, uint32_t layers, uint32_t pp)
{
    if (how == WL_STAGES_TURNS)
        return place % pp;
    if (place == 0 || place > layers)
        return place ? pp - 1 : 0;
    return (uint32_t)((place - 1u) * (uint64_t)pp / layers);
}
