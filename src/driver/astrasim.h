/* Running ASTRA-sim's own inputs: traces, groups, system.json, network.yml, remote_memory.json. */
#ifndef DSE_DRIVER_ASTRASIM_H
#define DSE_DRIVER_ASTRASIM_H

#include "cards/system.h"
#include "sim/sim.h"
#include "workload/chakra.h"

typedef struct {
    const char *workload; /* prefix of the traces */
    const char *groups;   /* NULL: only the group of all ranks */
    const char *system, *network, *remote;
    const char *backend; /* NULL: the network file's, which is congestion-unaware if it says nothing */
    /* Behave as the released program of that backend: the network file has only that program's keys, and
     * systems that it cannot simulate are refused (net_released_check). */
    bool as_released;
    const char *version; /* a sim_version_row's name; NULL: the system file's, or else the first */
    uint32_t queues_per_dim;
    double injection_scale; /* of the endpoint delay, if the file gives one */
    bool rendezvous;
    bool order; /* give collectives one order (sim/order.h) */
    sim_shortcuts shortcuts;
    bool links; /* wanted: a network without congestion has none and is refused */
} drv_astrasim_inputs;

typedef struct {
    sim_result result;
    const sim_version_row *version;
    bool log_memory;         /* the peak is reported */
    uint64_t n_ordered;      /* collectives, with `order` */
    bool by_hash_order;      /* algorithms as Chakra files, whose messages queue for links (sim/custom.h) */
    wl_reading reading;      /* what of the traces was left out; nothing, if as_released */
    uint32_t n_unknown_keys; /* of system.json, and the first of them */
    cfg_name unknown_key;
} drv_astrasim_output;

/* `record` may be NULL. Everything belongs to the arena. */
dse_status drv_astrasim_run(const drv_astrasim_inputs *in, dse_arena *a, drv_astrasim_output *out,
                            trace_ticks *record, dse_error *err);

/* The lines that the reference logs when a rank finishes, in the order of finishing. Memory is in bytes. Each
 * line has the reference's prefix with a fixed time, so that equal runs give equal bytes. */
void drv_astrasim_log(const drv_astrasim_output *o, dse_strbuf *out);

#endif
