/* The options that size a run: how many nodes or NPUs, the batch, the sequence, layers that predict further
 * tokens; and whose count of operations its MFU is of. They are settings over the cards. */
#ifndef DSE_CLI_SIZING_H
#define DSE_CLI_SIZING_H

#include "cli/command.h"

typedef struct {
    int64_t nodes, npus, batch, sequence, mtp; /* 0: not given */
    const char *pipeline_layout;               /* these two likewise; "": not given */
    const char *mfu_like, *imbalance;          /* of MFU; of experts */
} sizing_options;

option_group sizing_group;
option_group size_group;     /* --nodes and --npus alone, for the same struct */
option_group run_size_group; /* and --batch, --sequence, --mtp and --pipeline-layout */

/* Appends to the settings of the command line; the result is in the arena. Nodes are counted by the last
 * dimension of a system's network; fewer NPUs are a part of it (cards/resize.h). DSE_E_USAGE; DSE_E_RANGE,
 * DSE_E_CONFIG if so many NPUs are no whole number of nodes, or no part of the network. */
dse_status sizing_settings(const sizing_options *o, const char *const *systems, size_t n_systems,
                           const option_list *set, dse_arena *a, option_list *out, dse_error *err);

#endif
