/* Where the traffic of a run went: the load of its links, for people and for programs.
 *
 * Utilisation is a link's busy time over the time of the run, which ends with its last event: the last rank's finish,
 * unless there are messages that nobody waits for. The busiest link comes first, those never used last. */
#ifndef DSE_DRIVER_LINKS_H
#define DSE_DRIVER_LINKS_H

#include "base/json_writer.h"
#include "cards/system.h"
#include "network/load.h"

/* DSE_E_USAGE for a system whose network has no congestion and so no links; `remedy` is how to have one: "give this". */
dse_status drv_links_check(const card_system *s, const char *remedy, dse_error *err);

/* The bottleneck, each dimension, and the 20 busiest links. `a` is for scratch, here and below. */
void drv_links_print(const net_load *l, dse_arena *a, dse_strbuf *out);

/* The keys by which every list of links names one: "source", "destination", "dimension". */
void drv_link_json_keys(const net_link *l, dse_json *j);

/* All of it and every link, as one object. Devices are the ids of the graph, as `topology show` lists them; times in ns,
 * utilisation in percent of three decimals. */
void drv_links_json(const net_load *l, dse_arena *a, dse_json *j);

/* A heading and every link: source,destination,dimension,messages,bytes,busy_ns,utilisation_pct. */
dse_status drv_links_save_csv(const net_load *l, const char *path, dse_arena *a, dse_error *err);

#endif
