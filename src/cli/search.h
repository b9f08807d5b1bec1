/* What 'ccldse sweep --search' says. */
#ifndef DSE_CLI_SEARCH_H
#define DSE_CLI_SEARCH_H

#include "cli/command.h"
#include "driver/search.h"

typedef struct {
    bool on;
    double gap, seconds; /* a part; 0: none */
} search_options;

option_group search_group;

/* DSE_E_USAGE: what belongs to a search without one. */
dse_status search_check(const search_options *o, dse_error *err);

/* Runs the search, whose gap, time and calls are set here, and prints what it found. */
dse_status search_run(const search_options *o, const drv_search *what, bool json, command_run *r,
                      dse_error *err);

#endif
