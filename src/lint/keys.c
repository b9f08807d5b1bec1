/* Each row was checked against ASTRA-sim's source (branch stage, af2492b; analytical network 599a047, remote
 * memory bb12dd5). "The documentation" is the ASTRA-sim documentation of
 * getting-started/argument-*-config.md, and of version 1.0 inputs/system/README.md and the README of the
 * analytical network. */
#include "base/array.h"
#include "lint/parts.h"

#include <string.h>

#define ROWS(name, rows) const lint_rows name = {rows, DSE_COUNT(rows)}

/* ---- parameters ---------------------------------------------------------------------------- */

#define NAMES                                                                                                \
    "ring, direct, direct<window>, halvingDoubling, doubleBinaryTree; or oneRing, oneDirect, "               \
    "oneHalvingDoubling"
#define IMPLEMENTATION(what)                                                                                 \
    LINT_USED, NULL, "how each dimension runs " what " over all NPUs: " NAMES, NULL, NULL

static const lint_row parameters[] = {
    {"precision", LINT_USED, NULL,
     "bytes of an element: none, as STAGE counts; mixed, bf16 or fp32; or a mapping of all five numbers",
     NULL, NULL},
    {"collectives.all_reduce", IMPLEMENTATION("an all-reduce")},
    {"collectives.all_gather", IMPLEMENTATION("an all-gather")},
    {"collectives.reduce_scatter", IMPLEMENTATION("a reduce-scatter")},
    {"collectives.all_to_all", IMPLEMENTATION("an all-to-all")},
    {"scheduler.scheduling_policy", LINT_NO_EFFECT, NULL, NULL, "LIFO",
     "a rank runs one collective at a time, so that there is nothing to choose from: LIFO, FIFO and EXPLICIT "
     "give the same figures; leave it at LIFO (ASTRA-sim needs the key)"},
    {"scheduler.boost_mode", LINT_NEVER_READ, NULL,
     "1 simulated only the NPUs that NPU 0 talks to, in version 1.0; ASTRA-sim never reads it now", NULL,
     "never read, though in every example; all ranks are simulated whatever it says: remove it"},
};
ROWS(lint_parameters, parameters);

static const struct {
    const char *key, *why;
} needed[] = {
    {"scheduler.scheduling_policy",
     "ASTRA-sim then reads a value that was never set, and may end in an assertion; add \"LIFO\""},
    {"scheduler.collective_optimization",
     "ASTRA-sim then reads a value that was never set; add \"localBWAware\" or \"baseline\""},
    {"scheduler.preferred_dataset_splits",
     "ASTRA-sim then divides by 0 at the first collective and crashes; add a number of chunks"},
    {"memory.bandwidth",
     "ASTRA-sim then divides by 0: reductions and the roofline are without meaning; add it in GB/s (10^9)"},
    {"network.topology", "ASTRA-sim then stops: the lists differ in length, or there is no dimension; add a "
                         "list, one name a dimension"},
    {"network.npus_count", "ASTRA-sim then stops: the lists differ in length, or there is no dimension; add "
                           "a list, one number a dimension"},
    {"network.bandwidth", "ASTRA-sim then stops: the lists differ in length, or there is no dimension; add a "
                          "list, one number a dimension"},
    {"network.latency", "ASTRA-sim then stops: the lists differ in length, or there is no dimension; add a "
                        "list, one number a dimension"},
    /* Of remote_memory.json. */
    {"memory-type",
     "ASTRA-sim then reads a value that was never set; add \"NO_MEMORY_EXPANSION\" or another"},
    {"remote-mem-latency", "ASTRA-sim then takes 0; add it in ns"},
    {"remote-mem-bw",
     "ASTRA-sim then divides by 0 at the first load or store; add it in B/ns (10^9 bytes per second)"},
    {"num-npus-per-node",
     "ASTRA-sim then divides by 0 and crashes at the first load or store; add how many NPUs a node has"},
    {"num-nodes", "ASTRA-sim then has no node to look at and crashes at the first load or store; add how "
                  "many nodes there are"},
};

const char *lint_why_needed(const char *key)
{
    for (size_t i = 0; i < DSE_COUNT(needed); i++)
        if (!strcmp(needed[i].key, key))
            return needed[i].why;
    return NULL;
}

const lint_dependency lint_dependencies[] = {
    {"memory_bus.L", "memory_bus.shared", "false"},
    {"memory_bus.o", "memory_bus.shared", "false"},
    {"memory_bus.g", "memory_bus.shared", "false"},
    {"memory_bus.G", "memory_bus.shared", "false"},
    {"memory_bus.local_reduction_delay", "memory_bus.shared", "false"},
    {"scheduler.endpoint_delay", "memory_bus.shared", "true"},
    {"compute.peak_perf", "scheduler.roofline_enabled", "false"},
    {"compute.peak_perf", "scheduler.replay_only", "true"},
    {"overheads.per_kernel", "scheduler.roofline_enabled", "false"},
    {"overheads.per_kernel", "scheduler.replay_only", "true"},
    {"network.routing", "network.backend", "congestion_unaware"},
    {"network.multi_hop", "network.backend", "congestion_aware"},
};
const uint32_t lint_n_dependencies = DSE_COUNT(lint_dependencies);

/* ---- system.json --------------------------------------------------------------------------- */

#define AS_CHAKRA                                                                                            \
    LINT_REFUSED, "", "a collective as a Chakra trace", NULL,                                                \
        "crashes ASTRA-sim, and is refused here; give the implementation by its name"

static const lint_row system_keys[] = {
    {"intra-dimension-scheduling", LINT_NEVER_READ, "", "which chunk goes first in a dimension: FIFO or SCF",
     NULL,
     "never read, though the documentation describes it; the order is that of FIFO whatever it says: "
     "remove it"},
    {"inter-dimension-scheduling", LINT_NEVER_READ, "",
     "which dimension a chunk takes first: baseline or themis", NULL,
     "never read, though the documentation describes it; chunks take the dimensions in ascending order "
     "whatever it says: remove it"},
    {"local-mem-trace-filename", LINT_UPSTREAM_ONLY, "", "where ASTRA-sim writes its record of local memory",
     NULL,
     "ASTRA-sim writes a file of that name if track-local-mem is on; ccldse writes none, and no figure "
     "depends on it"},
    {"all-reduce-implementation-chakra", AS_CHAKRA},
    {"all-gather-implementation-chakra", AS_CHAKRA},
    {"all-to-all-implementation-chakra", AS_CHAKRA},
};
ROWS(lint_system_keys, system_keys);

const lint_row lint_of_another_version = {
    "",
    LINT_NEVER_READ,
    "",
    "a collective as a Chakra trace, in other versions of ASTRA-sim",
    NULL,
    "never read in this version of ASTRA-sim; give the implementation by its name, or another version by "
    "simulator-version"};

/* ---- network files ------------------------------------------------------------------------- */

#define OLD(unit, meaning, text)                                                                             \
    LINT_NEVER_READ, unit, meaning, NULL, "a key of version 1.0, never read now; " text

static const lint_row network_keys[] = {
    {"topology-name", OLD("", "kind of network; always Hierarchical", "remove it")},
    {"dimensions-count", OLD("", "network dimensions", "remove it: the lists say how many")},
    {"topologies-per-dim", OLD("", "topology of each dimension", "write topology: [Ring, ...]")},
    {"dimension-type", OLD("", "Tile, Package, Node or Pod; for a cost model", "remove it")},
    {"units-count", OLD("", "NPUs along each dimension", "write npus_count: [...]")},
    {"links-count",
     OLD("", "links of an NPU in each dimension",
         "the topology says how many there are: remove it, and scale the bandwidth where it said more")},
    {"link-latency", OLD("ns", "latency of one link", "write latency: [...]")},
    {"link-bandwidth",
     OLD("GB/s", "bandwidth of one link", "write bandwidth: [...], in 2^30 bytes per second")},
    {"nic-latency", OLD("ns", "latency of a network card", "remove it, and add it to latency")},
    {"router-latency", OLD("ns", "latency of a switch", "remove it, and add it to latency")},
    {"hbm-latency", OLD("ns", "latency of the memory", "remove it: memory has no latency now")},
    {"hbm-bandwidth", OLD("GB/s", "bandwidth of the memory", "remove it: it is local-mem-bw in system.json")},
    {"hbm-scale", OLD("", "factor on the memory latency of a transfer", "remove it")},
    {"logical-dims", LINT_NEVER_READ, "", "sizes of the logical dimensions, for the ns-3 backend", NULL,
     "the analytical backend never reads it; it takes npus_count of its network file"},
};
ROWS(lint_network_keys, network_keys);

/* ---- remote_memory.json -------------------------------------------------------------------- */

static const lint_row remote_keys[] = {
    {"memory-type", LINT_USED, "",
     "NO_MEMORY_EXPANSION, PER_NPU_MEMORY_EXPANSION, PER_NODE_MEMORY_EXPANSION or MEMORY_POOL: who shares a "
     "memory",
     NULL, NULL},
    {"remote-mem-latency", LINT_USED, "ns", "latency of a load or store of remote memory", NULL, NULL},
    {"remote-mem-bw", LINT_USED, "B/ns", "bandwidth of the remote memory; B/ns is 10^9 bytes per second",
     NULL, NULL},
    {"num-npus-per-node", LINT_USED, "", "NPUs that share a node's memory", NULL, NULL},
    {"num-nodes", LINT_UPSTREAM_ONLY, "", "nodes; ccldse derives it from the NPUs", NULL, NULL},
};
ROWS(lint_remote_keys, remote_keys);

/* ---- the command line ---------------------------------------------------------------------- */

static const lint_row argument_keys[] = {
    {"workload-configuration", LINT_USED, "", "prefix of the traces: PREFIX.<rank>.et", NULL, NULL},
    {"comm-group-configuration", LINT_USED, "", "communicator groups; a name with 'empty' in it: none", NULL,
     NULL},
    {"system-configuration", LINT_USED, "", "system.json", NULL, NULL},
    {"network-configuration", LINT_USED, "", "network.yml", NULL, NULL},
    {"remote-memory-configuration", LINT_USED, "", "remote_memory.json", NULL, NULL},
    {"logging-configuration", LINT_UPSTREAM_ONLY, "", "spdlog's configuration; ccldse has one log format",
     "empty", "no effect with ccldse astrasim, which has one log format"},
    {"logging-folder", LINT_USED, "", "where log.log is written", NULL, NULL},
    {"num-queues-per-dim", LINT_USED, "", "queues of each network dimension", NULL, NULL},
    {"compute-scale", LINT_NO_EFFECT, "", "factor on compute times", NULL,
     "parsed and without effect: main.cc never asks for it; scale peak-perf and local-mem-bw instead"},
    {"comm-scale", LINT_NO_EFFECT, "", "factor on communication sizes", NULL,
     "parsed and without effect: Sys.cc keeps it and never uses it; scale the bandwidth instead"},
    {"injection-scale", LINT_USED, "", "factor on endpoint-delay, if system.json gives that", NULL, NULL},
    {"rendezvous-protocol", LINT_USED, "", "messages wait for a handshake", NULL, NULL},
    {"backend", LINT_OURS_ONLY, "", "congestion_unaware or congestion_aware", NULL,
     "an option of ccldse astrasim; ASTRA-sim skips it, and has a program for each"},
};
ROWS(lint_argument_keys, argument_keys);

const lint_row *lint_find(const lint_rows *rows, const char *key)
{
    for (uint32_t i = 0; i < rows->n; i++)
        if (!strcmp(rows->row[i].key, key))
            return &rows->row[i];
    return NULL;
}
