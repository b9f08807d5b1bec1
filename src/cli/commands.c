#include "cli/commands.h"

#include "base/array.h"
#include "base/names.h"
#include "cli/strategy_options.h"

#include <string.h>

#define ROW(id) &command_##id,
static const command *const listed[] = {COMMAND_LIST(ROW)};
#define N_COMMANDS DSE_COUNT(listed)

/* The commands with all of their options, from the first use to the end of the program. */
static command whole[N_COMMANDS];
static const command *commands[N_COMMANDS];

static bool is_marker(const option *o) { return o->type == OPT_STRATEGY_VALUES || o->type == OPT_STRATEGY_LISTS; }

/* Replaces a marker by the options of the strategy. */
static void add_options(const command *from, command *out)
{
    option *rows = dse_calloc(from->n_options + STRATEGY_N, sizeof *rows);
    size_t n = 0;

    for (size_t i = 0; i < from->n_options; i++) {
        if (is_marker(&from->options[i])) {
            strategy_option_rows(&from->options[i], &rows[n]);
            n += STRATEGY_N;
        } else {
            rows[n++] = from->options[i];
        }
    }
    *out = *from;
    out->options = rows;
    out->n_options = n;
}

static void make_table(void)
{
    for (size_t i = 0; i < N_COMMANDS && !commands[i]; i++) {
        add_options(listed[i], &whole[i]);
        commands[i] = &whole[i];
    }
}

const char program_summary[] = "ccldse chooses how to train a large model on a cluster, by simulation.";
const char program_example[] =
    "ccldse sweep --model llama70b --system system1.yaml && ccldse best --hbm 80GB";

const command *const *command_table(size_t *n)
{
    make_table();
    *n = N_COMMANDS;
    return commands;
}

const command *command_find(const char *name)
{
    make_table();
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

    make_table();
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    nearest = dse_nearest(name, names, N_COMMANDS);
    return dse_fail(err, DSE_E_USAGE,
                    nearest ? "unknown command '%.60s'; did you mean '%s'?"
                            : "unknown command '%.60s'; see 'ccldse help'%s",
                    name, nearest ? nearest : "");
}
