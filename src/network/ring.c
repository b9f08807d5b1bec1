/* Ring: n NPUs in a circle, links in both directions. A message takes the shorter way round; its
 * length is the number of links on it. Source: Ring.cpp of both backends of the analytical reference,
 * which always build it bidirectional. */
#include "network/grid.h"

/* Without a division, as it runs for every message. */
static uint32_t links_up(const net_shape *s, uint32_t from, uint32_t to)
{
    return to > from ? to - from : to + s->n - from;
}

static uint32_t ring_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    uint32_t up = links_up(s, src, dst);

    return up < s->n - up ? up : s->n - up;
}

/* As on a torus of one axis: of two NPUs each has one port to the other. */
static uint32_t ring_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    uint32_t up = links_up(s, npu, dst);

    return s->n == 2 ? dst < npu : up > s->n - up;
}

static uint32_t ring_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst)
{
    (void)port;
    return ring_hops(s, npu, dst);
}

static uint32_t ring_diameter(const net_shape *s) { return s->n / 2; }

/* A circle is cut in two places; two NPUs have one link. */
static uint64_t ring_bisection(const net_shape *s) { return s->n == 2 ? 1 : 2; }

const net_topology net_topology_ring = {
    .name = "Ring",
    .summary = "a bidirectional ring; the shorter way round",
    .form = NET_FORM_CIRCLE,
    .in_reference = true,
    .cyclic = true,
    .hops = ring_hops,
    .n_ports = net_ports_of_1_axis,
    .neighbour = net_torus_neighbour,
    .port = ring_port,
    .leg = ring_leg,
    .diameter = ring_diameter,
    .bisection = ring_bisection,
};
