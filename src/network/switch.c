/* Switch: every NPU has one link to a central switch, so a message always travels two. Source: Switch.cpp
 * of both backends of the analytical reference. */
#include "network/grid.h"

static uint32_t switch_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    (void)s, (void)src, (void)dst;
    return 2;
}

static uint32_t switch_ports(const net_shape *s)
{
    (void)s;
    return 1;
}

static uint32_t switch_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    (void)npu, (void)port;
    return s->n;
}

static uint32_t switch_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    (void)s, (void)npu, (void)dst;
    return 0;
}

static uint32_t switch_diameter(const net_shape *s)
{
    (void)s;
    return 2;
}

/* The links of the smaller half: the switch goes with the other. What passes inside the switch is free in
 * both models. */
static uint64_t switch_bisection(const net_shape *s) { return s->n / 2; }

const net_topology net_topology_switch = {
    .name = "Switch",
    .summary = "every NPU linked to one switch; two hops",
    .form = NET_FORM_BAR,
    .has_switch = true,
    .in_reference = true,
    .cyclic = true,
    .hops = switch_hops,
    .n_ports = switch_ports,
    .neighbour = switch_neighbour,
    .port = switch_port,
    .leg = net_leg_of_one,
    .diameter = switch_diameter,
    .bisection = switch_bisection,
};
