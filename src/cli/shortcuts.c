#include "cli/shortcuts.h"

#define FIELD(f) .offset = offsetof(shortcuts_options, f)

static const option options[] = {
    {"--no-symmetry", OPT_FLAG, NULL, "false", "simulate also ranks that are alike; slower, the same results",
     FIELD(no_symmetry)},
    {"--no-memo", OPT_FLAG, NULL, "false", "simulate every message of every rank; slower, the same results",
     FIELD(no_memo)},
    {"--plain-memory", OPT_SIZE, "SIZE", "4GiB", "memory for a run without these shortcuts",
     FIELD(plain_memory)},
};

OPTION_ROWS(shortcuts_group)
