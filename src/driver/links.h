/* The load of the links in a run, as text, JSON and CSV.
 *
 * Utilisation is a link's busy time over the time of the run, which ends with its last event: the last rank's
 * finish, unless messages arrive later that no rank waits for. The busiest link comes first, unused links
 * last. */
#ifndef DSE_DRIVER_LINKS_H
#define DSE_DRIVER_LINKS_H

#include "cards/system.h"
#include "network/load.h"
#include "report/tree.h"

/* DSE_E_USAGE for a network without congestion, which has no links; `remedy` ends the message. */
dse_status drv_links_check(const card_system *s, const char *remedy, dse_error *err);

/* The bottleneck, each dimension, and the 20 busiest links. `a` is for scratch, here and below. */
void drv_links_print(const net_load *l, dse_arena *a, dse_strbuf *out);

/* What identifies a link: "source", "destination", "dimension". */
void drv_link_put(const net_graph *g, uint32_t slot, report_node *to);

/* The summary and every link, into an object. Devices are ids of the graph, as `topology show` lists them;
 * times are in ns, utilisation in percent with three decimals. */
void drv_links_put(const net_load *l, dse_arena *a, report_node *to);

/* A heading and every link: source,destination,dimension,messages,bytes,busy_ns,utilisation_pct. */
dse_status drv_links_save_csv(const net_load *l, const char *path, dse_arena *a, dse_error *err);

#endif
