/* Torus3D: a Mesh3D whose rows, columns and pillars are rings; along each the shorter way round. Not in the
 * reference as one dimension: three dimensions of Ring have the same links. */
#include "network/grid.h"

const net_topology net_topology_torus3d = {
    .name = "Torus3D",
    .summary = "a Mesh3D whose rows, columns and pillars are rings",
    .form = NET_FORM_GRID,
    .n_axes = 3,
    .hops = net_torus_hops,
    .n_ports = net_ports_of_3_axes,
    .neighbour = net_torus_neighbour,
    .port = net_torus_port,
    .leg = net_torus_leg,
    .diameter = net_torus_diameter,
    .bisection = net_torus_bisection,
};
