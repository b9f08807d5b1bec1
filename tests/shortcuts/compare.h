/* Whether two runs of one workload ended alike. */
#ifndef TESTS_SHORTCUTS_COMPARE_H
#define TESTS_SHORTCUTS_COMPARE_H

#include "sim/sim.h"
#include "trace/ticks.h"

typedef struct {
    dse_status status;
    dse_error err;
    sim_result result; /* and the record: of a run that ended */
    trace_ticks record;
} run_outcome;

/* Appends a line for everything in which `seen` is not `plain`: status and message, each figure of each rank (doubles
 * to the bit), counts, the breakdown, what is held at the peak, the load of the links, each line of the record. Left
 * out are n_events, and the order in finish_order of ranks that finish at one tick. */
void compare_outcomes(const run_outcome *plain, const run_outcome *seen, dse_strbuf *out);

#endif
