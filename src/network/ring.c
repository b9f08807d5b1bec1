/* Ring: n NPUs in a circle, links in both directions. A message takes the shorter way round; its
 * length is the number of links on it. Source: Ring.cpp of both backends of the analytical reference,
 * which always build it bidirectional. */
#include "network/grid.h"

static uint32_t ring_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    uint32_t clockwise = (dst + s->n - src) % s->n;

    return clockwise < s->n - clockwise ? clockwise : s->n - clockwise;
}

static uint32_t ring_diameter(const net_shape *s) { return s->n / 2; }

/* A circle is cut in two places; two NPUs have one link. */
static uint64_t ring_bisection(const net_shape *s) { return s->n == 2 ? 1 : 2; }

/* As on a torus of one axis, without its divisions: this runs for every message. */
static bool is_clockwise(const net_shape *s, uint32_t npu, uint32_t dst, uint32_t *links)
{
    uint32_t up = dst > npu ? dst - npu : dst + s->n - npu, down = s->n - up;

    *links = up <= down ? up : down;
    return s->n == 2 ? dst > npu : up <= down;
}

static uint32_t ring_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    uint32_t links;

    return !is_clockwise(s, npu, dst, &links);
}

static uint32_t ring_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst)
{
    uint32_t links;

    (void)port;
    is_clockwise(s, npu, dst, &links);
    return links;
}

const net_topology net_topology_ring = {
    .name = "Ring",
    .summary = "a bidirectional ring; the shorter way round",
    .form = NET_FORM_CIRCLE,
    .in_reference = true,
    .hops = ring_hops,
    .n_ports = net_ports_of_1_axis,
    .neighbour = net_torus_neighbour,
    .port = ring_port,
    .leg = ring_leg,
    .diameter = ring_diameter,
    .bisection = ring_bisection,
};
