/* The output of `ccldse topology`, as text and as JSON; cmd_topology.c has the options. */
#ifndef DSE_CLI_TOPOLOGY_H
#define DSE_CLI_TOPOLOGY_H

#include "driver/network.h"
#include "network/graph.h"
#include "network/routes.h"

#define GIB 1073741824.0 /* what a card's bandwidth counts in */

/* Devices, links and what is asked of all of them; with more than a few NPUs the lists only if `all`. */
void topology_show_text(const drv_network *n, const net_graph *g, bool all, dse_strbuf *out);
void topology_show_json(const drv_network *n, const net_graph *g, dse_strbuf *out);

/* Messages and the links of their ways; of many messages the links only if `all`. */
void topology_routes_text(const drv_network *n, const net_graph *g, const net_routes *r, bool all,
                          dse_strbuf *out);
void topology_routes_json(const drv_network *n, const net_graph *g, const net_routes *r, dse_strbuf *out);

#endif
