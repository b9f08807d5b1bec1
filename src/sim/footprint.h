/* sim_footprint -- the memory of a run of the plain engine, estimated beforehand.
 *
 * bytes = W + R + S + M + L, each an upper estimate:
 *
 *   W   graphs: the cost, place and unit of each node, once per graph
 *   R   ranks: per node its parents left, start, end, and its places in the lists of issued, freed, ready and
 *       ended nodes; per tensor its life; the lanes, counters and figures of a rank
 *   S   streams: the chunks of the largest collective of each rank, all started at once, with their phases
 *   M   messages under way: of each rank the packets of the chunks that may work at once, and all receives,
 *       which generated ranks post at tick 0; each with its channel, an idle channel, hash slots and an event
 *   L   links, with congestion: a slot for each port of the network
 *
 * S and M live in arrays that double: twice what they hold. The estimate leaves out the record of nodes, the
 * results, and the workload, which exists already. Ranks that share a graph count with the largest of their
 * groups in each slot. Private to sim/. */
#ifndef DSE_SIM_FOOTPRINT_H
#define DSE_SIM_FOOTPRINT_H

#include "sim/sim.h"

typedef struct {
    uint64_t bytes;
    uint64_t messages; /* of three or four events each */
} sim_footprint;

/* Saturates at UINT64_MAX. DSE_E_CONFIG if the collectives do not fit the network. */
dse_status sim_footprint_of(const sim_settings *set, const net_network *net, const wl_workload *w,
                            sim_footprint *out, dse_error *err);

/* W and R alone: the memory of the abridged engine for its classes, except their circles. */
uint64_t sim_footprint_ranks(const sim_settings *set, const wl_workload *w);

#endif
