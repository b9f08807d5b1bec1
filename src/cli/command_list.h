/* Every command, in the order of `ccldse help`: a file and a word here. */
#ifndef DSE_CLI_COMMAND_LIST_H
#define DSE_CLI_COMMAND_LIST_H

/* clang-format off */
#define COMMAND_LIST(X) \
    X(plan) X(sweep) X(best) X(report) X(plot) X(show) X(export) X(import) X(merge) X(diff) X(verify) \
    X(simulate) X(launch) X(stage) X(astrasim) X(config) X(topology) X(schedule) X(kernel) \
    X(metrics) X(whatif) X(compare) X(calibrate) X(validate) \
    X(lint) X(models) X(systems) X(worker) X(doctor) X(man) X(completion)
/* clang-format on */

#endif
