/* One order of collectives for all ranks.
 *
 * A rank tries ready nodes in ascending id and runs one collective at a time. Without dependencies between
 * collectives, ranks whose times differ may enter those of a group, or of two, in different orders, and wait
 * for each other for ever. Here every rank gets a chain of control dependencies along one order of all
 * collectives, in which the workload ends. The reference has nothing of the kind.
 *
 * The order is that in which the collectives begin in a run where a rank may be in any number of them: as
 * early as the computations, messages and earlier collectives that they depend on allow, with the time of one
 * message of their size for each. So it contradicts no dependency. */
#ifndef DSE_SIM_ORDER_H
#define DSE_SIM_ORDER_H

#include "sim/settings.h"
#include "workload/graph.h"

/* Collectives of a group belong together if they are of one kind, size and name, and the same in number among
 * such of their rank, by ids; or the same without names, if names differ between ranks. *n_collectives: so
 * many. The graphs of *w are replaced; all of it is in the arena. DSE_E_WORKLOAD if the ranks of a group have
 * different collectives; DSE_E_SIM if no order lets the workload end, with what waits then. */
dse_status sim_order_collectives(const sim_settings *set, const net_network *net, wl_workload *w,
                                 dse_arena *a, uint64_t *n_collectives, dse_error *err);

#endif
