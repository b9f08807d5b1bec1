/* The Chakra files that a system's custom algorithms of collectives are in (sim/custom.h). */
#ifndef DSE_DRIVER_CUSTOM_H
#define DSE_DRIVER_CUSTOM_H

#include "cards/system.h"
#include "sim/custom.h"

/* Fills in collectives.custom_hash, by what the files say that are there; nothing without algorithms as
 * Chakra files. DSE_E_CONFIG if the system was read with another hash, or the map of nodes is wrong. */
dse_status drv_custom_settle(card_system *s, dse_error *err);

/* Reads those that the workload's collectives need, into set->customs; NULL if they need none. Paths are
 * relative to the current folder. DSE_E_CONFIG of the map of nodes, DSE_E_IO and others of the files; all of
 * it belongs to the arena. */
dse_status drv_custom_load(const card_system *s, const wl_workload *w, dse_arena *a, sim_settings *set,
                           dse_error *err);

#endif
