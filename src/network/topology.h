/* net_topology -- what one dimension of a network looks like: one row of topology_list.h, one file.
 *
 * A row answers the question that the congestion-unaware model asks: over how many links does a
 * message between two local addresses 0..n-1 of this dimension travel? */
#ifndef DSE_NETWORK_TOPOLOGY_H
#define DSE_NETWORK_TOPOLOGY_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name; /* as in network.yml and in cards */
    const char *summary;
    /* src != dst, both below n; the result is at least 1. */
    uint32_t (*hops)(uint32_t n, uint32_t src, uint32_t dst);
} net_topology;

/* NULL if there is no topology of that name (upper and lower case matter, as in the reference). */
const net_topology *net_topology_find(const char *name);

/* DSE_OK if the name is known, else DSE_E_CONFIG with the known names. */
dse_status net_topology_check(const char *name, dse_error *err);

/* All rows, in the order of topology_list.h. */
const net_topology *const *net_topologies(size_t *n);

#endif
