/* drv_network -- the network of a system, or one by itself: to look at, before anything runs on it. */
#ifndef DSE_DRIVER_NETWORK_H
#define DSE_DRIVER_NETWORK_H

#include "cards/system.h"

typedef struct {
    const char *name; /* of the card, folder or file, without folder and extension */
    net_network net;
    uint32_t n_unknown_keys; /* of a system.json, and the first of them */
    const char *unknown_key;
} drv_network;

/* `system`: a card by name or path, or a folder with ASTRA-sim's files; or, if it is NULL, `file`: a network.yml, which
 * needs nothing beside it. What `settings` set must be a system's, or the network's. Text belongs to the arena. */
dse_status drv_network_load(const char *system, const char *file, const cfg_settings *settings, dse_arena *a,
                            drv_network *out, dse_error *err);

#endif
