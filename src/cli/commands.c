#include "cli/commands.h"

#include "base/array.h"
#include "base/names.h"

#include <string.h>

#define ROW(id) &command_##id,
static const command *const commands[] = {COMMAND_LIST(ROW)};

const char program_summary[] = "ccldse chooses how to train a large model on a cluster, by simulation.";
const char program_example[] =
    "ccldse sweep --model llama70b --system system1.yaml && ccldse best --hbm 80GB";

const command *const *command_table(size_t *n)
{
    *n = DSE_COUNT(commands);
    return commands;
}

const command *command_find(const char *name)
{
    for (size_t i = 0; i < DSE_COUNT(commands); i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

dse_status command_fail_unknown(const char *name, dse_error *err)
{
    const char *names[DSE_COUNT(commands) + 1], *nearest;

    for (size_t i = 0; i < DSE_COUNT(commands); i++)
        names[i] = commands[i]->name;
    names[DSE_COUNT(commands)] = "help"; /* main.c */
    nearest = dse_nearest(name, names, DSE_COUNT(names));
    return dse_fail(err, DSE_E_USAGE,
                    nearest ? "unknown command '%.60s'; did you mean '%s'?"
                            : "unknown command '%.60s'; see 'ccldse help'%s",
                    name, nearest ? nearest : "");
}
