/* FullyConnected: a link between every two NPUs, one hop. Source: FullyConnected.cpp of both backends of
 * the analytical reference. Ports count the other NPUs. */
#include "network/topology.h"

static uint32_t fully_connected_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    (void)s, (void)src, (void)dst;
    return 1;
}

static uint32_t fully_connected_ports(const net_shape *s) { return s->n - 1; }

static uint32_t fully_connected_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    (void)s;
    return port + (port >= npu);
}

static uint32_t fully_connected_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    (void)s;
    return dst - (dst > npu);
}

const net_topology net_topology_fully_connected = {
    .name = "FullyConnected",
    .summary = "a link between every two NPUs; one hop",
    .in_reference = true,
    .hops = fully_connected_hops,
    .n_ports = fully_connected_ports,
    .neighbour = fully_connected_neighbour,
    .port = fully_connected_port,
};
