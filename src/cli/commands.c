#include "cli/commands.h"

#include "base/names.h"
#include "cli/command_list.h"

#include <string.h>

#define DECLARE(id) extern const command command_##id;
COMMAND_LIST(DECLARE)

#define ROW(id) &command_##id,
static const command *const commands[] = {COMMAND_LIST(ROW)};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

const char program_summary[] = "ccldse chooses how to train a large model on a cluster, by simulation.";
const char program_example[] =
    "ccldse sweep --model llama70b --system system1.yaml && ccldse best --hbm 80GB";

const command *const *command_table(size_t *n)
{
    *n = N_COMMANDS;
    return commands;
}

const command *command_find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

const option *command_option(const command *c, const char *name)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (!strcmp(c->options[i].name, name))
            return &c->options[i];
    return NULL;
}

dse_status command_fail_unknown(const char *name, dse_error *err)
{
    const char *names[N_COMMANDS], *nearest;

    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    nearest = dse_nearest(name, names, N_COMMANDS);
    return dse_fail(err, DSE_E_USAGE,
                    nearest ? "unknown command '%.60s'; did you mean '%s'?"
                            : "unknown command '%.60s'; see 'ccldse help'%s",
                    name, nearest ? nearest : "");
}
