/* net_facts -- key figures of a network: degree, diameter, bisection. */
#ifndef DSE_NETWORK_FACTS_H
#define DSE_NETWORK_FACTS_H

#include "network/graph.h"

typedef struct {
    uint32_t least, most;
} net_range;

typedef struct {
    uint32_t n_switches;
    net_range npu_degree, switch_degree; /* outgoing links of a device; 0 to 0: there are no switches */
    uint32_t diameter;                   /* links of the longest route; one over a switch has two */
    /* Links, and GiB/s, in one direction between two halves of the NPUs, over the cheapest cut that divides
     * whole dimensions (cut.h). The halves differ by one NPU at most. A search of all halves of small
     * networks found no cheaper cut of one dimension, or of several without an odd axis. The places that an
     * odd axis leaves between the halves may be cheaper to cut along another dimension, by a fifth at most in
     * those networks: with several dimensions the figures are then bounds. */
    uint64_t bisection_links;
    double bisection_gib_per_s;
    bool bisection_is_bound; /* the figures are upper bounds */
    double total_gib_per_s;  /* of all links, both directions */
} net_facts;

/* Outgoing links of a device. */
uint32_t net_degree(const net_graph *g, uint32_t device);

void net_facts_of(const net_graph *g, net_facts *out);

#endif
