/* The Chakra files that a system's custom algorithms of collectives are in (sim/custom.h). */
#ifndef DSE_DRIVER_CUSTOM_H
#define DSE_DRIVER_CUSTOM_H

#include "cards/system.h"
#include "sim/custom.h"

/* Reads those that the workload's collectives need, into set->customs; NULL if they need none. Paths are
 * relative to the current folder. DSE_E_CONFIG of the map of nodes, DSE_E_IO and others of the files; all of
 * it belongs to the arena. */
dse_status drv_custom_load(const card_system *s, const wl_workload *w, dse_arena *a, sim_settings *set,
                           dse_error *err);

#endif
