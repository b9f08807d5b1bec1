/* The description of a system: a card of ours, or ASTRA-sim's own files.
 *
 * One table of parameters reads both, writes both and documents itself (`ccldse systems --keys`). */
#ifndef DSE_CARDS_SYSTEM_H
#define DSE_CARDS_SYSTEM_H

#include "config/param.h"
#include "network/network.h"
#include "sim/settings.h"

#define CARD_PATH_MAX 1024

/* Of a class of kernels (sim_law in sim/settings.h); NaN: not given. */
typedef struct {
    double flop_factor, byte_factor, overhead, half_length, unaligned; /* ns; keys */
    /* "": none; a file of configs/devices, or a path; with "#" and its text's hash behind once found */
    cfg_name table;
} card_law;

/* The members of card_system that say by dimension what collectives reach, in profile train; keys of
 * `network`. */
#define CARD_REACHED(X)                                                                                      \
    X(efficiency) X(collective_latency) X(step_latency) X(rails) X(rails_per_group) X(compute_share)

typedef struct {
    cfg_given given;
    cfg_name device, source; /* "nvidia_a100"; where the figures come from; "": not given */
    cfg_name_list topology;
    cfg_int_list npus_count, width, height, depth; /* 0: not given for a dimension */
    int64_t part; /* network.part, until the lists have been cut to it; then 0, as without it */
    cfg_name_list routing;
    cfg_name backend, multi_hop;
    cfg_double_list bandwidth, latency; /* GiB/s, ns */
    /* What collectives reach, of profile train; empty, NaN, 0: not given. */
    cfg_double_list efficiency, collective_latency, step_latency; /* fraction, ns, ns; by dimension */
    cfg_int_list rails, rails_per_group;                          /* 0: not given for a dimension */
    cfg_double_list compute_share;                                /* fraction; by dimension */
    int64_t measured_npus;
    double measured_pair, measured_bandwidth;              /* fraction, GiB/s */
    cfg_double_list measured_sizes, measured[NET_N_KINDS]; /* bytes; ns, by size */
    cfg_name version;                                      /* of ASTRA-sim: sim_version_row.name */
    cfg_name_list all, collective[SIM_N_COLLECTIVES];      /* implementations by dimension */
    /* Algorithms as Chakra files, of versions that have them: a prefix of paths; a YAML file that maps ids
     * of nodes to prefixes. "": none. And the hash of what all the files say, which a study fills in. */
    char custom[SIM_N_COLLECTIVES][CARD_PATH_MAX];
    char custom_by_node[CARD_PATH_MAX];
    cfg_name custom_hash;
    double peak_perf;            /* TFLOPS, 10^12; NaN: not given */
    double peak_fp8, peak_nvfp4; /* the same of products in 8 and 4 bits; NaN: the device has none */
    double peak_fp32;            /* of products in 32 bits; NaN: as in 16 */
    double memory_bandwidth;     /* GB/s, 10^9; NaN: not given */
    double hbm_bytes;            /* bytes; NaN: not given */
    double per_kernel, per_step; /* ns; 0: none */
    double price, power;         /* of an NPU: money an hour, W; NaN: not given */
    double clock, per_layer, per_collective; /* fraction; ns, 0: none. Of profile train */
    cfg_name laws;                           /* "device", "affine", "roofline" */
    card_law kernels[WL_N_KERNEL_CLASSES];
    bool bus_shared; /* and its parameters; NaN: not given */
    double bus_L, bus_o, bus_g, bus_G, local_reduction_delay;
    cfg_name scheduling_policy, collective_optimization;
    int64_t endpoint_delay, active_chunks, splits, boost_mode;
    bool track_local_mem, trace_enabled, roofline_enabled, replay_only;
    uint32_t
        n_unknown_keys; /* of a system.json, and the first of them: without effect, as in the reference */
    cfg_name unknown_key;
    /* What stands here for profile stage while active_chunks and splits are profile train's defaults; 0: they
     * are not. */
    int64_t chunks_of_stage, splits_of_stage;
    /* Implementations may be for fewer dimensions than there are, as in ASTRA-sim; a card's may not. */
    bool short_lists;
} card_system;

extern const cfg_table card_system_table;
extern const char *const card_collective_keys[SIM_N_COLLECTIVES]; /* of card_system.collective */

/* `settings` (NULL: none) are set over the card. */
dse_status card_system_read(const cfg_doc *doc, const cfg_settings *settings, card_system *out,
                            dse_error *err);

/* Whether it has algorithms of collectives as Chakra files. */
bool card_system_has_custom(const card_system *s);

/* A system that was written by cfg_table_write_json before, whatever it was read from. */
dse_status card_system_read_stored(const cfg_doc *doc, card_system *out, dse_error *err);

/* ASTRA-sim's files, for the version that they name, or the first. */
dse_status card_system_read_astra(const cfg_doc *system, const cfg_doc *network, card_system *out,
                                  dse_error *err);

/* network.yml alone, without a system, and what is set over it (NULL: nothing): of *out there is what
 * network.c needs, and nothing else. DSE_E_CONFIG also for a setting that is not the network's. */
dse_status card_system_read_astra_network(const cfg_doc *network, const cfg_settings *settings,
                                          card_system *out, net_network *net, dse_error *err);

/* The same as ASTRA-sim itself reads them: without the keys that are ours alone, whatever they say, and with
 * lists where it wants lists. */
dse_status card_system_read_released(const cfg_doc *system, const cfg_doc *network, card_system *out,
                                     dse_error *err);

/* Either of the two, for a version; NULL: as above. */
dse_status card_system_read_version(const cfg_doc *system, const cfg_doc *network, bool released,
                                    const char *version, card_system *out, dse_error *err);

/* The version whose system.json a document is, by what it says; the first if that is not understood. Whether
 * that reads the key of a parameter. */
const sim_version_row *card_astra_version(const cfg_doc *system);
bool card_astra_reads(const sim_version_row *v, const cfg_param *p);

/* Whether a value of system.json is a `false` that ASTRA-sim takes for true: it compares a switch with the
 * number 0, and to nlohmann's JSON false is unequal to that. Refused, as either reading would surprise. */
bool card_astra_takes_for_true(const cfg_param *p, const cfg_node *value);

/* Whether any of the settings is one of a system: then what is wrong with it may stand there, and not in its
 * file. */
bool card_system_has_any(const cfg_settings *settings);

/* The peak of a class of kernels, which have a type of elements; TFLOPS, NaN: the device does not multiply in
 * it. */
double card_system_peak(const card_system *s, wl_kernel_class c);

/* A peak of 16 bits that is another than `before` is another clock: those of other types of elements go with
 * it, but those that `except` (NULL: none) sets. */
void card_system_follow_clock(card_system *s, double before, const cfg_settings *except);

/* Sets values of a system that has been read, and checks it again; peaks follow the clock. */
dse_status card_system_set(card_system *s, const cfg_settings *settings, dse_error *err);

/* Without what profile train alone reads of the network, so that results of profile stage, which are no
 * function of it, keep their configurations. */
card_system card_system_of_stage(const card_system *s);

/* Sets what a profile of steps has another default for: several chunks of a collective that travel at the
 * same time are faster than the link that they share (network.backend congestion_unaware), so profile train,
 * `trains`, has one, unless the card says otherwise; ASTRA-sim's defaults stay those of profile stage. */
void card_system_settle_profile(card_system *s, bool trains);

/* Whether the parameter is one of network.yml; others that ASTRA-sim has are in system.json. */
bool card_system_in_network_file(const cfg_param *p);

/* The parameter that a key of network.yml, or of system.json, is; NULL if it is none. */
const cfg_param *card_astra_find(const char *key, bool network);

/* ASTRA-sim's input files: the texts of system.json and network.yml. */
void card_system_write_astra_system(const card_system *s, dse_strbuf *out);
void card_system_write_astra_network(const card_system *s, dse_strbuf *out);

/* The network and the simulator's settings of a system. Checks what one table row cannot: list lengths,
 * what the roofline needs. */
dse_status card_system_build(const card_system *s, net_network *net, sim_settings *settings, dse_error *err);

/* What ASTRA-sim has not of a system, apart from its network (net_released_check). DSE_E_RANGE: its figures
 * would be others. */
dse_status card_system_released_check(const card_system *s, dse_error *err);

/* The documents that a system was read from, for the places of what is wrong: one card twice, or ASTRA-sim's
 * two. */
typedef struct {
    const cfg_doc *system, *network;
} card_places;

/* Whether it can be built; says where not. */
dse_status card_system_check(const card_system *s, const card_places *in, dse_error *err);

/* The network alone (network.c); `in` may be NULL. */
dse_status card_network_build(const card_system *s, const card_places *in, net_network *out, dse_error *err);

/* The place of a parameter, "network.width"; the file's alone if it does not stand there. */
cfg_place card_place(const card_places *in, const char *key);

/* NPUs of a system that has been read and built once. */
uint64_t card_system_npus(const card_system *s);

#endif
