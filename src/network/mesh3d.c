/* Mesh3D: NPU id = (z * height + y) * width + x. As Mesh2D, with a third axis. Not in the reference. */
#include "network/grid.h"

const net_topology net_topology_mesh3d = {
    .name = "Mesh3D",
    .summary = "width x height x depth NPUs, linked to their neighbours; along x, y, then z",
    .form = NET_FORM_GRID,
    .n_axes = 3,
    .hops = net_mesh_hops,
    .n_ports = net_ports_of_3_axes,
    .neighbour = net_mesh_neighbour,
    .port = net_mesh_port,
    .leg = net_mesh_leg,
    .diameter = net_mesh_diameter,
    .bisection = net_mesh_bisection,
};
