/* Every topology, in the order of help texts and error messages. A new one is a file and a word here. */
#ifndef DSE_NETWORK_TOPOLOGY_LIST_H
#define DSE_NETWORK_TOPOLOGY_LIST_H

#define NET_TOPOLOGY_LIST(X)                                                                                 \
    X(ring) X(switch) X(fully_connected) X(mesh2d) X(torus2d) X(mesh3d) X(torus3d) X(hypercube)

#endif
