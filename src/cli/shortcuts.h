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

option_group shortcuts_group;

static inline sim_shortcuts shortcuts_left(const shortcuts_options *o)
{
    return (sim_shortcuts){
        .memo = !o->no_memo, .symmetry = !o->no_symmetry, .max_bytes = (uint64_t)o->plain_memory};
}

#define SHORTCUTS_MEMORY "4GiB" /* of --plain-memory */

/* The first option that was given; NULL: none. */
const char *shortcuts_given(const shortcuts_options *o);

/* For commands with an --engine. */
static inline dse_status shortcuts_check(const shortcuts_options *o, bool native, dse_error *err)
{
    if (native || (!o->no_symmetry && !o->no_memo))
        return DSE_OK;
    return dse_fail(err, DSE_E_USAGE, "%s needs --engine native",
                    o->no_symmetry ? "--no-symmetry" : "--no-memo");
}

#endif
