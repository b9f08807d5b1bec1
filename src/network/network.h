/* net_network -- a network of several dimensions, each a topology, and what a message costs on it.
 *
 * Model: congestion-unaware, after MultiDimTopology.cpp and BasicTopology.cpp of the analytical
 * reference (599a047). NPU ids count dimension 0 fastest: with sizes [2, 8, 4], NPU 47 is [1, 7, 2].
 * A message between NPUs that differ in several dimensions pays for the lowest one alone. Links never
 * fill up: messages do not know of each other. */
#ifndef DSE_NETWORK_NETWORK_H
#define DSE_NETWORK_NETWORK_H

#include "base/time.h"
#include "network/topology.h"

#define NET_MAX_DIMS 10

typedef struct {
    const net_topology *topology;
    uint32_t n;          /* NPUs along this dimension, at least 2 */
    double gib_per_s;    /* bandwidth of a link, one direction, in 2^30 bytes per second */
    double latency_ns;   /* of one link */
    uint32_t stride;     /* distance of neighbouring ids: the product of the lower sizes */
    double bytes_per_ns; /* gib_per_s in the simulator's unit */
} net_dimension;

typedef struct {
    uint32_t n_dims, n_npus;
    net_dimension dim[NET_MAX_DIMS];
} net_network;

/* Fills in stride, bytes_per_ns and n_npus of a network whose n_dims and dim[].{topology, n, gib_per_s,
 * latency_ns} are set. DSE_E_RANGE for what the reference refuses: a dimension of fewer than two NPUs, a
 * bandwidth that is not positive, a negative latency; and for more than 2^24 NPUs. */
dse_status net_network_finish(net_network *net, dse_error *err);

/* Ticks from the sending of a message to its arrival; src != dst, bytes > 0.
 * hops * latency + bytes / bandwidth in double precision, truncated once. */
dse_time net_delay(const net_network *net, uint32_t src, uint32_t dst, uint64_t bytes);

#endif
