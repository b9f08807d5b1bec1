/* Hypercube: 2^k NPUs, linked to the k others whose ids differ in one bit. A message corrects the lowest bit
 * that differs first (e-cube routing). Not in the reference. */
#include "network/grid.h"

static uint32_t hypercube_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    (void)s;
    return (uint32_t)__builtin_popcount(src ^ dst);
}

static uint32_t hypercube_ports(const net_shape *s) { return (uint32_t)__builtin_ctz(s->n); }

static uint32_t hypercube_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    (void)s;
    return npu ^ (uint32_t)1 << port;
}

static uint32_t hypercube_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    (void)s;
    return (uint32_t)__builtin_ctz(npu ^ dst);
}

static uint32_t hypercube_diameter(const net_shape *s) { return (uint32_t)__builtin_ctz(s->n); }

/* The links along one bit. No half has fewer: Harper 1964, Optimal assignments of numbers to vertices. */
static uint64_t hypercube_bisection(const net_shape *s) { return s->n / 2; }

const net_topology net_topology_hypercube = {
    .name = "Hypercube",
    .summary = "2^k NPUs, linked to those whose ids differ in one bit; the lowest bit first",
    .form = NET_FORM_CUBES,
    .power_of_two = true,
    .hops = hypercube_hops,
    .n_ports = hypercube_ports,
    .neighbour = hypercube_neighbour,
    .port = hypercube_port,
    .leg = net_leg_of_one,
    .diameter = hypercube_diameter,
    .bisection = hypercube_bisection,
};
