#include "sim/fallback.h"

#include <string.h>

static const struct {
    const char *name, *text;
} rows[SIM_N_FALLBACKS] = {[SIM_FALLBACK_NONE] = {"", ""},
#define ROW(id, name, text) [SIM_FALLBACK_##id] = {name, text},
                           SIM_FALLBACK_LIST(ROW)
#undef ROW
};

const char *sim_fallback_name(sim_fallback f) { return rows[f].name; }

const char *sim_fallback_text(sim_fallback f) { return rows[f].text; }

sim_fallback sim_fallback_find(const char *name)
{
    sim_fallback f = SIM_N_FALLBACKS;

    while (name && --f > SIM_FALLBACK_NONE)
        if (!strcmp(rows[f].name, name))
            return f;
    return SIM_FALLBACK_NONE;
}
