/* Switch: every NPU has one link to a central switch, so a message always travels two. Source:
 * congestion_unaware/basic-topology/Switch.cpp of the analytical reference. */
#include "network/topology.h"

static uint32_t switch_hops(uint32_t n, uint32_t src, uint32_t dst)
{
    (void)n, (void)src, (void)dst;
    return 2;
}

const net_topology net_topology_switch = {
    .name = "Switch",
    .summary = "every NPU linked to one switch; two hops",
    .hops = switch_hops,
};
