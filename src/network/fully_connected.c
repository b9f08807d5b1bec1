/* FullyConnected: a link between every two NPUs, one hop. Source: FullyConnected.cpp of both backends of
 * the analytical reference. Ports count the other NPUs. */
#include "network/grid.h"

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

static uint32_t fully_connected_diameter(const net_shape *s)
{
    (void)s;
    return 1;
}

/* Everybody on one side to everybody on the other. */
static uint64_t fully_connected_bisection(const net_shape *s)
{
    return (uint64_t)(s->n / 2) * (s->n - s->n / 2);
}

const net_topology net_topology_fully_connected = {
    .name = "FullyConnected",
    .summary = "a link between every two NPUs; one hop",
    .form = NET_FORM_CIRCLE,
    .in_reference = true,
    .cyclic = true,
    .hops = fully_connected_hops,
    .n_ports = fully_connected_ports,
    .neighbour = fully_connected_neighbour,
    .port = fully_connected_port,
    .leg = net_leg_of_one,
    .diameter = fully_connected_diameter,
    .bisection = fully_connected_bisection,
};
