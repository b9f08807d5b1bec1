/* sim_settings -- everything about the simulated system except its network.
 *
 * Plain data, filled by cards/system.h from a system card or from ASTRA-sim's system.json. Rates are in
 * operations and bytes per second; memory bandwidth counts in 10^9 (link bandwidth in 2^30: network/). */
#ifndef DSE_SIM_SETTINGS_H
#define DSE_SIM_SETTINGS_H

#include "base/status.h"
#include "base/time.h"
#include "network/network.h"
#include "sim/version.h"
#include "workload/kernel.h"

/* The collectives a dimension list is given for; the order is that of the settings' arrays. */
typedef enum {
    SIM_ALL_REDUCE,
    SIM_ALL_GATHER,
    SIM_REDUCE_SCATTER,
    SIM_ALL_TO_ALL,
    SIM_N_COLLECTIVES
} sim_collective;

typedef struct sim_algorithm sim_algorithm;

/* How one dimension runs its part of a collective. */
typedef struct {
    const sim_algorithm *algorithm;
    bool over_all;  /* "oneRing" and the like: all NPUs as one dimension; the rest of the list is ignored */
    int32_t window; /* "direct3": messages under way at once; 0: as many as there are peers */
} sim_implementation;

typedef struct {
    uint32_t n_dims; /* 0: no implementation was given for this collective */
    sim_implementation dim[NET_MAX_DIMS];
} sim_implementations;

/* Parses "ring", "direct", "direct4", "halvingDoubling", "doubleBinaryTree", "oneRing", "oneDirect",
 * "oneHalvingDoubling"; DSE_E_CONFIG with the known names otherwise. out may be NULL. */
dse_status sim_implementation_parse(const char *text, sim_implementation *out, dse_error *err);

typedef enum { SIM_REMOTE_NONE, SIM_REMOTE_PER_NPU, SIM_REMOTE_PER_NODE, SIM_REMOTE_POOL } sim_remote_kind;

typedef struct {
    sim_remote_kind kind;
    uint64_t latency_ns;
    uint64_t bytes_per_ns; /* the file's "GB/s": the reference divides bytes by it and gets ns */
    uint32_t npus_per_node;
} sim_remote_memory;

/* The shared memory bus of an endpoint (LogGP); see sim/bus.c. */
typedef struct {
    bool shared;                   /* false: every packet takes endpoint_delay */
    dse_time L, o, g;              /* latency, overhead, gap: ticks */
    double G;                      /* ticks per byte */
    int64_t local_reduction_delay; /* ticks per 100 bytes */
} sim_bus_settings;

/* How long the kernels of a class take on a device (kernel_law.c):
 *
 *   flop_factor (1 + half_length / keys) operations / peak + byte_factor bytes / memory bandwidth + overhead
 *
 * and the first term times `unaligned` for products whose rows do not begin at multiples of 16 bytes. */
typedef struct {
    bool is_given;                   /* false: the roofline */
    double flop_factor, byte_factor; /* 1: as fast as the data sheet; 0: no such part */
    double overhead_ns;
    double half_length; /* of attention: the keys at which it reaches half of what it does with very many */
    double peak_ops_per_s;   /* of its type of elements, also for the roofline; 0: that of 16 bits */
    double peak32_ops_per_s; /* the same where its elements have 32 bits; 0: as of 16 */
    /* of products: factor on flop_factor if rows of a matrix do not begin at 16 bytes; 0: none */
    double unaligned;
    const struct sim_table *table; /* by shape, times what the terms above say (kernel_table.h); NULL: none */
} sim_law;

typedef struct {
    sim_version version;
    sim_implementations implementations[SIM_N_COLLECTIVES];
    const struct sim_customs *customs;     /* algorithms as Chakra files (custom.h); NULL: none */
    bool may_be_custom[SIM_N_COLLECTIVES]; /* by such files, whether or not they are in `customs` yet */
    bool local_bw_aware;    /* all-reduce as reduce-scatter up, all-gather down the dimensions */
    uint32_t splits;        /* chunks a collective is cut into */
    uint32_t active_chunks; /* chunks at work at once in a dimension */
    uint32_t queues_per_dim;
    dse_time endpoint_delay; /* ticks between a message and what it triggers */
    sim_bus_settings bus;

    bool roofline;    /* compute nodes last as long as the roofline says; else as recorded */
    bool replay_only; /* every node lasts as long as recorded */
    double peak_ops_per_s, memory_bytes_per_s;
    sim_law law[WL_N_KERNEL_CLASSES]; /* of the training step (step/clock.h); the engine takes the roofline */

    /* Fixed costs, which the reference does not have; 0: none. */
    double kernel_overhead_ns; /* of every node that the roofline times: launch and tail of a kernel */
    dse_time step_overhead;    /* of every rank, after its last node: the host's work of a step */

    /* Of the training step alone (step/clock.h); 0: none. */
    double kernel_lag;    /* share of its time by which each kernel lasts longer */
    dse_time layer_floor; /* that a layer takes at least in one direction, as the host issues no faster */
    dse_time collective_overhead; /* of each collective, besides what the network takes */

    bool track_memory;
    bool rendezvous; /* messages wait for a handshake of 8192 bytes */
    sim_remote_memory remote;
} sim_settings;

static inline const sim_version_row *sim_settings_version(const sim_settings *s)
{
    return &sim_versions[s->version];
}

/* The law of a class, or that of its general class if it has none. */
static inline const sim_law *sim_settings_law(const sim_settings *s, wl_kernel_class c)
{
    return &s->law[s->law[c].is_given ? c : wl_kernel_general_class(c)];
}

#endif
