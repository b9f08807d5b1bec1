/* net_graph -- the devices and links of a network, all dimensions in one, and the routes over them.
 *
 * Devices are the NPUs, followed by the switches: dimension by dimension, and within a dimension by the ids
 * of their NPUs (as in the reference's unpublished branch will/congestion-multidim). Every connection is two
 * links, one each way. A message corrects dimension 0 first, then the next; the topology chooses its path
 * within a dimension. A graph belongs to its arena; routes are computed, not stored. */
#ifndef DSE_NETWORK_GRAPH_H
#define DSE_NETWORK_GRAPH_H

#include "base/alloc.h"
#include "network/network.h"

/* Links have a slot for each port of each device: an NPU's, dimension by dimension, then the switches'. */
typedef struct {
    uint32_t from, to; /* devices; DSE_NONE: a port at a border, without a link */
    uint32_t dim;
} net_link;

typedef struct {
    const net_network *net;
    uint32_t n_devices, n_slots, n_links; /* n_links: slots with a link */
    uint32_t npu_ports;
    uint32_t first_port[NET_MAX_DIMS];   /* of an NPU, of this dimension */
    uint32_t first_switch[NET_MAX_DIMS]; /* device of this dimension, if it has switches */
    net_link *link;                      /* n_slots */
} net_graph;

/* `net` is finished and outlives the graph. DSE_E_RANGE for more than 2^26 slots. */
dse_status net_graph_init(net_graph *g, const net_network *net, dse_arena *a, dse_error *err);

/* The dimension of a slot. */
static inline const net_dimension *net_graph_dimension(const net_graph *g, uint32_t slot)
{
    return &g->net->dim[g->link[slot].dim];
}

/* The slot of the link that a message for NPU dst takes at a device; device != dst. */
uint32_t net_graph_next(const net_graph *g, uint32_t device, uint32_t dst);

/* As net_graph_next; *n is the number of successive links that the message takes through this port;
 * net_graph_straight gives the next of them. */
uint32_t net_graph_leg(const net_graph *g, uint32_t device, uint32_t dst, uint32_t *n);

static inline uint32_t net_graph_straight(const net_graph *g, uint32_t slot)
{
    return slot + (g->link[slot].to - g->link[slot].from) * g->npu_ports;
}

/* Slots of a device's links: [first, first + n). */
uint32_t net_graph_ports(const net_graph *g, uint32_t device, uint32_t *first);

/* The dimension of a switch. */
uint32_t net_graph_switch_dim(const net_graph *g, uint32_t device);

/* The name of a device in output: "5" for an NPU, "switch 19" for a switch. At most NET_DEVICE_NAME - 1
 * characters; cut off at n. */
#define NET_DEVICE_NAME 24
void net_device_name(const net_graph *g, uint32_t device, char *out, size_t n);

/* The links between two NPUs, one after the other. */
uint32_t net_graph_hops(const net_graph *g, uint32_t src, uint32_t dst);

#endif
