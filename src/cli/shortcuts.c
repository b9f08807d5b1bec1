#include "cli/shortcuts.h"

#include "base/units.h"

#define FIELD(f) .offset = offsetof(shortcuts_options, f)

static const option options[] = {
    {"--no-symmetry", OPT_FLAG, NULL, "false", "simulate also ranks that are alike; slower, the same results",
     FIELD(no_symmetry)},
    {"--no-memo", OPT_FLAG, NULL, "false", "simulate every message of every rank; slower, the same results",
     FIELD(no_memo)},
    {"--plain-memory", OPT_SIZE, "SIZE", SHORTCUTS_MEMORY, "memory for a run without these shortcuts",
     FIELD(plain_memory)},
};

OPTION_ROWS(shortcuts_group)

const char *shortcuts_given(const shortcuts_options *o)
{
    double fallback = 0;
    bool had_unit;

    (void)dse_parse_quantity(SHORTCUTS_MEMORY, DSE_UNIT_BYTES, &fallback, &had_unit, NULL);
    return o->no_symmetry                                             ? "--no-symmetry"
           : o->no_memo                                               ? "--no-memo"
           : o->plain_memory < fallback || o->plain_memory > fallback ? "--plain-memory"
                                                                      : NULL;
}
