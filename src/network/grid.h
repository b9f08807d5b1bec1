/* Meshes and tori of any number of axes, for the rows of topology.c. A message travels along one axis to the
 * destination's place and then along the next, in the order of the shape. Port 2a goes up axis a, port 2a + 1
 * down; at the border of a mesh nothing is behind it.
 *
 * On a torus it takes the shorter way round, and of two equal ones the way up, as the reference's Ring does.
 * An axis of two NPUs has one link each way, not two. */
#ifndef DSE_NETWORK_GRID_H
#define DSE_NETWORK_GRID_H

#include "network/topology.h"

uint32_t net_grid_hops(const net_shape *s, uint32_t src, uint32_t dst);
uint32_t net_grid_neighbour(const net_shape *s, uint32_t npu, uint32_t port);
uint32_t net_grid_port(const net_shape *s, uint32_t npu, uint32_t dst);
uint32_t net_grid_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst);

/* Longest routes, and links of a bisection. With an odd number of NPUs the cut is a staircase: through the
 * middle of the longest axis, and in the plane that this leaves between the halves, through the middle of the
 * next axis. For meshes no cut has fewer links (Azizoglu and Egecioglu 2004, The bisection width and the
 * isoperimetric number of arrays); a torus cuts each of its rings twice: for even extents the 4 N / k
 * channels, both ways together, of Dally and Towles 2004, Principles and Practices of Interconnection
 * Networks, chapter 5; for odd ones no fewer were found in small tori. */
uint32_t net_grid_diameter(const net_shape *s);
uint64_t net_grid_bisection(const net_shape *s);

#endif
