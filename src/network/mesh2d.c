/* Mesh2D: NPU id = y * width + x. Links to the neighbours along x and y, both ways, without wrap-around: a
 * corner has 2, an edge 3, an inner NPU 4. xy routing: along x to the destination's column, then along y; yx
 * the other way round. Not in the reference, which has it in neither backend. */
#include "network/grid.h"

const net_topology net_topology_mesh2d = {
    .name = "Mesh2D",
    .summary = "width x height NPUs, linked to their neighbours; along x, then along y",
    .form = NET_FORM_GRID,
    .n_axes = 2,
    .hops = net_mesh_hops,
    .n_ports = net_ports_of_2_axes,
    .neighbour = net_mesh_neighbour,
    .port = net_mesh_port,
    .leg = net_mesh_leg,
    .diameter = net_mesh_diameter,
    .bisection = net_mesh_bisection,
};
