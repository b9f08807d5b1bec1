/* The table of commands, for the help, manual pages and completion. */
#ifndef DSE_CLI_COMMANDS_H
#define DSE_CLI_COMMANDS_H

#include "cli/command.h"

/* All of them, in the order of `ccldse help`. */
const command *const *command_table(size_t *n);

/* NULL if there is none of this name. */
const command *command_find(const char *name);

/* DSE_E_USAGE with the nearest name. */
dse_status command_fail_unknown(const char *name, dse_error *err);

/* What the program is, and what one types most: for `ccldse help` and ccldse(1). */
extern const char program_summary[], program_example[];

#endif
