/* net_load -- what every link carried in a run of the congestion-aware model, and which is the bottleneck.
 *
 * A link is one direction of a connection and is named by its slot in the graph. It is busy while a message
 * takes it, bytes / bandwidth without the latency, truncated as in traffic.h; its utilisation is that time
 * over the time of the run, from 0 to 1. */
#ifndef DSE_NETWORK_LOAD_H
#define DSE_NETWORK_LOAD_H

#include "network/traffic.h"

/* "3 -> switch 9", as net_device_name calls the devices; cut off at n. */
#define NET_LINK_NAME (2 * NET_DEVICE_NAME + 4)
void net_link_name(const net_graph *g, uint32_t slot, char *out, size_t n);

/* The load of one dimension. A message counts on each link that it takes. */
typedef struct {
    uint32_t n_links, n_used; /* used: at least one message took it */
    uint64_t bytes, n_messages;
    double mean_util, max_util; /* of all its links, unused ones too */
} net_dim_load;

typedef struct {
    const net_graph *graph;
    const net_link_state *link; /* graph->n_slots */
    dse_time end;               /* ticks; the time of the run */
    uint32_t n_used;
    uint32_t busiest; /* the used link that is busy longest, the first among equals; DSE_NONE: none is used */
    uint32_t n_as_busy; /* other links that are busy as long */
    char busiest_name[NET_LINK_NAME];
    net_dim_load dim[NET_MAX_DIMS];
} net_load;

/* The load of a run that has ended; no link is busy after `end`. In the arena; the graph and the links are
 * borrowed. */
const net_load *net_load_of(const net_traffic *t, dse_time end, dse_arena *a);

/* The utilisation of one link, as a fraction. */
double net_load_util(const net_load *l, uint32_t slot);

/* All graph->n_links links: the n_used used links, busiest first, then the unused ones; ties by slot. In the
 * arena. */
const uint32_t *net_load_sort(const net_load *l, dse_arena *a);

#endif
