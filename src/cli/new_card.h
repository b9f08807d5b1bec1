/* `ccldse models new` and `ccldse systems new`: cards of other programs' descriptions. */
#ifndef DSE_CLI_NEW_CARD_H
#define DSE_CLI_NEW_CARD_H

#include "cli/command.h"

typedef struct {
    const char *config, *output, *o;
} new_model_options;

typedef struct {
    const char *topo, *lstopo, *device, *link, *nic, *memory_bandwidth, *output, *o;
    int64_t npus, nics, nodes;
    double memory, peak; /* bytes; TFLOPS; NaN: not given */
} new_system_options;

extern option_group new_model_rows, new_system_rows;

/* The first of the options that is given; NULL: none. */
const char *new_model_given(const new_model_options *o);
const char *new_system_given(const new_system_options *o);

/* Write the card to the output that is given, or to r->out. DSE_E_USAGE for options that contradict each
 * other, DSE_E_CONFIG for what is no description, or is not said by it (cards/hf.h, cards/node.h). */
dse_status new_model_card(const new_model_options *o, command_run *r, dse_error *err);
dse_status new_system_card(const new_system_options *o, command_run *r, dse_error *err);

#endif
