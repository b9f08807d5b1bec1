/* The options that switch off the simulator's shortcuts, to check that they change nothing, and the memory
 * limit of runs without them. */
#ifndef DSE_CLI_SHORTCUTS_H
#define DSE_CLI_SHORTCUTS_H

#include "cli/command.h"
#include "sim/sim.h"

typedef struct {
    bool no_symmetry, no_memo;
    double plain_memory; /* bytes */
} shortcuts_options;

/* The rows of these options; `f` is the name of the shortcuts_options in the command's struct. */
#define SHORTCUTS_OPTIONS(type, f)                                                                           \
    {"--no-symmetry",                                                                                        \
     OPT_FLAG,                                                                                               \
     NULL,                                                                                                   \
     "false",                                                                                                \
     "simulate also ranks that are alike; slower, the same results",                                         \
     .offset = offsetof(type, f.no_symmetry)},                                                               \
        {"--no-memo",                                                                                        \
         OPT_FLAG,                                                                                           \
         NULL,                                                                                               \
         "false",                                                                                            \
         "simulate every message of every rank; slower, the same results",                                   \
         .offset = offsetof(type, f.no_memo)},                                                               \
    {                                                                                                        \
        "--plain-memory", OPT_SIZE, "SIZE", "4GiB", "memory for a run without these shortcuts",              \
            .offset = offsetof(type, f.plain_memory)                                                         \
    }

static inline sim_shortcuts shortcuts_left(const shortcuts_options *o)
{
    return (sim_shortcuts){
        .memo = !o->no_memo, .symmetry = !o->no_symmetry, .max_bytes = (uint64_t)o->plain_memory};
}

/* For commands with an --engine. */
static inline dse_status shortcuts_check(const shortcuts_options *o, bool native, dse_error *err)
{
    if (native || (!o->no_symmetry && !o->no_memo))
        return DSE_OK;
    return dse_fail(err, DSE_E_USAGE, "%s needs --engine native",
                    o->no_symmetry ? "--no-symmetry" : "--no-memo");
}

#endif
