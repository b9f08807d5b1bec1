/* Ring: n NPUs in a circle, links in both directions. A message takes the shorter way round; its
 * length is the number of links on it. Source: congestion_unaware/basic-topology/Ring.cpp of the
 * analytical reference, which is always built bidirectional. */
#include "network/topology.h"

static uint32_t ring_hops(uint32_t n, uint32_t src, uint32_t dst)
{
    uint32_t clockwise = (dst + n - src) % n;

    return clockwise < n - clockwise ? clockwise : n - clockwise;
}

const net_topology net_topology_ring = {
    .name = "Ring",
    .summary = "a bidirectional ring; the shorter way round",
    .hops = ring_hops,
};
