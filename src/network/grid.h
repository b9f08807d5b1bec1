/* Meshes and tori of any number of axes, for their rows. A message travels along one axis to the destination's place
 * and then along the next, in the order of the shape. Port 2a goes up axis a, port 2a + 1 down.
 *
 * On a torus it takes the shorter way round, and of two equal ones the way up, as the reference's Ring does. An axis
 * of two NPUs has one link each way, not two. */
#ifndef DSE_NETWORK_GRID_H
#define DSE_NETWORK_GRID_H

#include "network/topology.h"

uint32_t net_mesh_hops(const net_shape *s, uint32_t src, uint32_t dst);
uint32_t net_mesh_neighbour(const net_shape *s, uint32_t npu, uint32_t port);
uint32_t net_mesh_port(const net_shape *s, uint32_t npu, uint32_t dst);
uint32_t net_mesh_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst);

uint32_t net_torus_hops(const net_shape *s, uint32_t src, uint32_t dst);
uint32_t net_torus_neighbour(const net_shape *s, uint32_t npu, uint32_t port);
uint32_t net_torus_port(const net_shape *s, uint32_t npu, uint32_t dst);
uint32_t net_torus_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst);

/* Longest routes, and links of a bisection. Of an odd number of NPUs the cut is a staircase: through the middle of the
 * longest axis, and of the plane that this leaves between the halves through the middle of the next. For meshes no cut
 * has fewer links (Azizoglu and Egecioglu 2004, The bisection width and the isoperimetric number of arrays); a torus
 * cuts each of its rings twice: for even extents the 4 N / k channels, both ways together, of Dally and Towles 2004,
 * Principles and Practices of Interconnection Networks, chapter 5; for odd ones no fewer were found in small tori. */
uint32_t net_mesh_diameter(const net_shape *s);
uint64_t net_mesh_bisection(const net_shape *s);
uint32_t net_torus_diameter(const net_shape *s);
uint64_t net_torus_bisection(const net_shape *s);

/* Two for each axis. */
uint32_t net_ports_of_1_axis(const net_shape *s);
uint32_t net_ports_of_2_axes(const net_shape *s);
uint32_t net_ports_of_3_axes(const net_shape *s);

/* Where each link of a route has a port of its own. */
uint32_t net_leg_of_one(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst);

#endif
