/* Torus2D: a Mesh2D whose rows and columns are rings; along each the shorter way round. Not in the reference
 * as one dimension: two dimensions of Ring have the same links. */
#include "network/grid.h"

const net_topology net_topology_torus2d = {
    .name = "Torus2D",
    .summary = "a Mesh2D whose rows and columns are rings",
    .form = NET_FORM_GRID,
    .n_axes = 2,
    .hops = net_torus_hops,
    .n_ports = net_ports_of_2_axes,
    .neighbour = net_torus_neighbour,
    .port = net_torus_port,
    .leg = net_torus_leg,
    .diameter = net_torus_diameter,
    .bisection = net_torus_bisection,
};
