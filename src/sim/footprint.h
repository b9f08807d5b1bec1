/* sim_footprint -- what a run of the plain engine takes, before it is tried.
 *
 * bytes = W + R + S + M + L, each an upper estimate:
 *
 *   W   graphs: the cost, place and unit of each node, once per graph
 *   R   ranks: per node its parents left, start, end, and its places in the lists of issued, freed, ready and ended
 *       nodes; per tensor its life; the lanes, counters and figures of a rank
 *   S   streams: the chunks of the largest collective of each rank, all started at once, with all their phases
 *   M   messages under way: of each rank the packets of the chunks that may work at once, and all receives, which
 *       generated ranks post at tick 0; each with its channel, hash slot and event. Channels are kept as long again.
 *   L   links, with congestion: a slot for each port of the network
 *
 * S and M live in arrays that double: twice what they hold. What a record of nodes takes is left out, as are the
 * workload, which is there already, and results. Ranks that share a graph count with the largest of their groups in
 * each slot. Private to sim/. */
#ifndef DSE_SIM_FOOTPRINT_H
#define DSE_SIM_FOOTPRINT_H

#include "sim/sim.h"

typedef struct {
    uint64_t bytes;
    uint64_t messages; /* that it would send, of which each is three or four events */
} sim_footprint;

/* Saturates at UINT64_MAX. DSE_E_CONFIG if the collectives do not fit the network. */
dse_status sim_footprint_of(const sim_settings *set, const net_network *net, const wl_workload *w,
                            sim_footprint *out, dse_error *err);

/* W and R alone: all that the abridged engine has of its classes, but for their circles. */
uint64_t sim_footprint_ranks(const sim_settings *set, const wl_workload *w);

#endif
