/* sim_run -- runs a workload on a system: an event simulator of compute, collectives and messages.
 *
 * The model is ASTRA-sim's (branch stage, af2492b) with either of its analytical networks, and the results
 * are equal to its results to the last digit. Where that simulator crashes, hangs or ends with unfinished
 * ranks, this one fails with DSE_E_SIM or DSE_E_WORKLOAD and names the cause. README.md of this folder
 * describes the model. */
#ifndef DSE_SIM_SIM_H
#define DSE_SIM_SIM_H

#include "base/alloc.h"
#include "network/load.h"
#include "sim/fallback.h"
#include "sim/settings.h"
#include "trace/ticks.h"
#include "workload/graph.h"

/* What the reference prints for one rank. Times in ticks (ns). */
typedef struct {
    dse_time wall;      /* end of the last node, and the fixed cost of a step (settings.h) */
    dse_time gpu, comm; /* union of the intervals of compute and of communication nodes */
    dse_time cpu, remote_memory, invalid;
    bool has_gpu, has_comm, has_cpu, has_remote_memory, has_invalid; /* such nodes exist */
    /* Of versions that print the overlap: gpu + comm - wall, modulo 2^64 as there; 0 without both of them. If
     * the rank ran anything else the version prints no statistics: lacks_statistics. */
    dse_time overlap;
    bool lacks_statistics;
    dse_time finished;     /* tick of the report, and the fixed cost of a step */
    dse_time exposed_comm; /* the report's tick less the time of compute; wraps below 0 as in the reference */
    bool has_utilisation;  /* with the roofline only: */
    double compute_bound;  /* fractions of the compute time */
    double compute_util, memory_util;
    double op_intensity; /* operations per byte */
    bool has_memory;
    uint64_t peak_memory; /* bytes (upstream: elements) */
    dse_time peak_time;   /* the first tick at which that much is held */
} sim_rank_stats;

/* Where the time of a rank goes. Each tick of [0, wall) counts in the first part of this order that has
 * something under way: compute, CPU operations, the collective or send, messages that come in, and else it is
 * idle. So communication counts only as far as no compute covers it. A rank that waits in a collective for
 * the others waits for communication; one that waits for a message that has not been sent yet is idle: the
 * bubble of a pipeline. (A generated rank posts all its receives at tick 0: from then on they would cover
 * everything.) */
enum {
    SIM_PART_COMPUTE_BOUND, /* compute at the peak of the roofline */
    SIM_PART_MEMORY_BOUND,  /* compute below it */
    /* compute without a roofline, CPU operations, fixed costs of kernels and the step */
    SIM_PART_COMPUTE_OTHER,
    SIM_PART_MESSAGES,   /* sends; receives from the issue of their send on */
    SIM_PART_DIMENSIONS, /* collectives of no group, by the dimensions involved */
    SIM_PART_OTHER,      /* remote memory; replayed, also nodes of no type */
    SIM_PART_IDLE,
    SIM_PART_GROUPS /* + slot: collectives of this group slot of the rank */
};

typedef struct {
    uint32_t rank; /* the slowest, the lowest among equals */
    uint32_t n_parts;
    dse_time *part; /* they add up to the rank's wall */
} sim_breakdown;

/* The memory of the rank that holds most, the lowest among equals, at its peak. */
typedef struct {
    uint32_t rank;
    const wl_node *node; /* of the workload: under way then, compute before communication; NULL: none */
    uint64_t held[WL_N_TENSOR_KINDS]; /* they add up to the rank's peak_memory */
} sim_peak;

typedef struct {
    uint32_t n_ranks;
    sim_rank_stats *rank;
    uint32_t *finish_order;                 /* n_ranks: the ranks as they finished */
    uint64_t n_nodes, n_messages, n_events; /* what it took */
    /* What the reference's model leaves out, counted in this run: messages between NPUs that differ in
     * several dimensions and paid for the lowest alone; collectives (per rank) of a group smaller than the
     * system that ran as a flat ring although the system's implementation is something else. */
    uint64_t n_undercharged, n_flat_rings;
    sim_fallback fallback; /* NONE: the abridged engine did it; else why the plain one had to */
    const net_load *load;  /* what each link carried, over the step; NULL without congestion */
    sim_breakdown step;
    sim_peak peak; /* with the ranks' has_memory only */
} sim_result;

/* How long a step takes: until its slowest rank has finished, fixed costs included. */
static inline dse_time sim_step_time(const sim_result *r) { return r->rank[r->step.rank].wall; }

/* Shortcuts to the same result. Without them the plain engine runs, which is the specification. */
typedef struct {
    bool memo;     /* the end of a collective is computed as a whole, not message by message */
    bool symmetry; /* one rank is simulated for each class of alike ranks; has an effect with memo only */
    /* Bytes that the plain engine may take by its estimate (footprint.h); 0: SIM_MAX_BYTES. */
    uint64_t max_bytes;
} sim_shortcuts;

#define SIM_ALL_SHORTCUTS ((sim_shortcuts){.memo = true, .symmetry = true})
#define SIM_MAX_BYTES     ((uint64_t)4 << 30)

/* Words of the error of a deadlock; with a colon behind them the ranks, nodes and groups follow. */
#define SIM_OTHER_ORDER "enter their collectives in another order"

/* All ranks of w must have an NPU: w->n_ranks == net->n_npus. Results, and the record if one is asked for,
 * belong to the arena; so does the scratch memory of the run. `record` may be NULL; it has only nodes, so a
 * rank's wall is later than its last node by the fixed cost of a step. Apart from n_events and the order in
 * finish_order of ranks that finish at one tick, and fallback, nothing depends on the shortcuts. Fails with
 * DSE_E_CONFIG, DSE_E_WORKLOAD, DSE_E_SIM or DSE_E_RANGE, the last also for a run that the abridged engine
 * cannot do, and the plain engine not within max_bytes. *out is set on success only. */
dse_status sim_run(const sim_settings *settings, const net_network *net, const wl_workload *w,
                   sim_shortcuts shortcuts, dse_arena *a, sim_result *out, trace_ticks *record,
                   dse_error *err);

#endif
