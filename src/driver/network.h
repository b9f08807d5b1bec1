/* drv_network -- loads the network of a system, or a network alone, for inspection. */
#ifndef DSE_DRIVER_NETWORK_H
#define DSE_DRIVER_NETWORK_H

#include "cards/system.h"

typedef struct {
    const char *name; /* of the card, folder or file, without path and extension */
    net_network net;
    uint32_t n_unknown_keys; /* of a system.json, and the first of them */
    const char *unknown_key;
} drv_network;

/* `system`: a card by name or path, or a folder with ASTRA-sim's files; or, if it is NULL, `file`: a
 * network.yml alone. `settings` may set only keys of a system, or of the network. Text belongs to the
 * arena. */
dse_status drv_network_load(const char *system, const char *file, const cfg_settings *settings, dse_arena *a,
                            drv_network *out, dse_error *err);

#endif
