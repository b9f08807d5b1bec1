/* FullyConnected: a link between every two NPUs, one hop. Source:
 * congestion_unaware/basic-topology/FullyConnected.cpp of the analytical reference. */
#include "network/topology.h"

static uint32_t fully_connected_hops(uint32_t n, uint32_t src, uint32_t dst)
{
    (void)n, (void)src, (void)dst;
    return 1;
}

const net_topology net_topology_fully_connected = {
    .name = "FullyConnected",
    .summary = "a link between every two NPUs; one hop",
    .hops = fully_connected_hops,
};
