#include "base/array.h"
#include "cards/device.h"
#include "cards/resize.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static dse_status check_implementation(const char *name, dse_error *err)
{
    return sim_implementation_parse(name, NULL, err);
}

static const char *const policies[] = {"LIFO", "FIFO", "EXPLICIT", NULL};
static const char *const optimizations[] = {"localBWAware", "baseline", NULL};

static const char *const backends[] = {"congestion_unaware", "congestion_aware", NULL};
static const char *const laws[] = {"device", "affine", "roofline", NULL};
static const char *const multi_hops[] = {"lowest", "full", NULL};

#define FIELD(f)                .offset = offsetof(card_system, f)
#define COUNT(lo, hi)           .min = (lo), .max = (hi), .unit_name = ""
#define WORD                    .type = CFG_T_NAME, .unit_name = ""
#define WORDS                   .type = CFG_T_NAME_LIST, .unit_name = ""
#define SWITCH(f, value)        .type = CFG_T_BOOL, .unit_name = "", FIELD(f), .fallback = (value)
#define TEXT(f)                 WORD, FIELD(f), .fallback = "", .omit_default = true
#define CHOICE(f, of, value)    WORD, .choices = (of), FIELD(f), .fallback = (value)
#define WHOLE(f, lo, hi, value) .type = CFG_T_INT, COUNT(lo, hi), FIELD(f), .fallback = (value)
/* A bare number counts `scale` units. */
#define QUANTITY(of, scale, name, lo, hi)                                                                    \
    .unit = (of), .unit_scale = (scale), .unit_name = (name), .min = (lo), .max = (hi)
/* ASTRA-sim's key, and its default; a key of ours in its files. */
#define ASTRA(key_, value) .astra_key = (key_), .astra_fallback = (value)
#define OURS(key_, value)  .astra_lacks = true, ASTRA(key_, value)
#define BUS_TIME(f)        .type = CFG_T_DOUBLE, QUANTITY(DSE_UNIT_NS, 1, "ns", 0, 1e9), FIELD(f), .fallback = ""
#define FIXED_COST(f)                                                                                        \
    .type = CFG_T_DOUBLE, QUANTITY(DSE_UNIT_NS, 1, "ns", 0, 1e12), FIELD(f), .fallback = "0",                \
    .omit_default = true
/* By type of elements; that of compute.peak_perf is 16 bits. */
#define PEAK(type_)                                                                                          \
    .key = "compute.peak_" #type_, .type = CFG_T_DOUBLE,                                                     \
    QUANTITY(DSE_UNIT_FLOPS, 1e12, "TFLOPS", 1e-12, 1e12), FIELD(peak_##type_), .fallback = "",              \
    .omit_default = true
/* The law of a class of kernels, key by key. */
#define FACTOR(class, name, f, text)                                                                         \
    {                                                                                                        \
        .key = "kernels." name "." #f, .type = CFG_T_DOUBLE, COUNT(0, 1e6), FIELD(kernels[class].f),         \
        .fallback = "", .omit_default = true, .help = text                                                   \
    }
#define LAW(class, name)                                                                                     \
    FACTOR(class, name, flop_factor,                                                                         \
           "profile train: time of " name " kernels over operations / compute.peak_perf"),                   \
        FACTOR(class, name, byte_factor, "the same over bytes / memory.bandwidth, added"),                   \
    {                                                                                                        \
        .key = "kernels." name ".overhead", .type = CFG_T_DOUBLE, QUANTITY(DSE_UNIT_NS, 1, "ns", 0, 1e9),    \
        FIELD(kernels[class].overhead), .fallback = "", .omit_default = true,                                \
        .help = "fixed time of each, added"                                                                  \
    }
#define HALF_LENGTH(class, name)                                                                             \
    FACTOR(class, name, half_length,                                                                         \
           "keys at which it reaches half of what it does with very many: flop_factor (1 + half_length / "   \
           "keys)")
#define UNALIGNED(class, name)                                                                               \
    FACTOR(class, name, unaligned,                                                                           \
           "factor on flop_factor where rows of the matrices, heads, are no multiples of 16 bytes")
/* A file of measured times by shape. */
#define TABLE(class, name)                                                                                   \
    {                                                                                                        \
        .key = "kernels." name ".table", TEXT(kernels[class].table),                                         \
        .help = "a file in configs/devices, or a path with a '/', of measured times by shape, whose ratio "  \
                "to their law is a factor"                                                                   \
    }
#define EXTENT(f)                                                                                            \
    .type = CFG_T_INT_LIST, COUNT(1, 1 << 24), FIELD(f), .bare = true, .sparse = true, .fallback = "",       \
    .omit_default = true
/* By dimension, and of collectives by size; of profile train alone. */
#define REACHED(key_, type_, f)                                                                              \
    .key = "network." key_, .type = (type_), FIELD(f), .fallback = "", .omit_default = true, OURS(key_, "")
#define MEASURED(name, kind)                                                                                 \
    REACHED("measured_" name, CFG_T_DOUBLE_LIST, measured[kind]), QUANTITY(DSE_UNIT_NS, 1, "ns", 1, 1e15)
/* An algorithm as Chakra files. */
#define CUSTOM(f, kind, name)                                                                                \
    .key = "collectives." #f "_custom", TEXT(custom[kind]), .room = CARD_PATH_MAX, .listed = true,           \
    ASTRA(name "-implementation-custom", "")
#define IMPLEMENTATIONS(f, kind, name)                                                                       \
    .key = "collectives." #f, WORDS, .check = check_implementation, FIELD(collective[kind]), .fallback = "", \
    .help = "the same for " name, ASTRA(name "-implementation", "")

static const cfg_param rows[] = {
    {.key = "device",
     TEXT(device),
     .help =
         "what an NPU is, in the words of the cards beside traces: nvidia_a100, nvidia_h100, tpu_v6e, ..."},
    {.key = "source",
     TEXT(source),
     .help = "where the figures come from, at most 63 characters: a data sheet, runs that were fitted"},
    {.key = "network.topology",
     WORDS,
     .check = net_topology_check,
     FIELD(topology),
     .bare = true,
     .help =
         "topology of each network dimension: Ring, Switch, FullyConnected; and, which ASTRA-sim does not "
         "have, Mesh2D, Torus2D, Mesh3D, Torus3D, Hypercube",
     .astra_key = "topology"},
    {.key = "network.npus_count",
     .type = CFG_T_INT_LIST,
     COUNT(2, 1 << 24),
     FIELD(npus_count),
     .bare = true,
     .sparse = true,
     .fallback = "",
     .help =
         "NPUs along each dimension; ids count dimension 0 fastest. A mesh or torus is a square or cube of "
         "so many, unless width or height say otherwise: one extent may follow from the count and the "
         "others, or the count from all of them, left out or null",
     ASTRA("npus_count", "")},
    {.key = "network.part",
     WHOLE(part, 0, 1 << 24, "0"),
     .omit_default = true,
     OURS("part", "0"),
     .help =
         "so many NPUs of what npus_count and the other lists describe, which --npus sets, and no card: "
         "whole inner dimensions before a further one, so that 4 of [8, 64] are [4], and 16 are [8, 2]; all "
         "if absent"},
    {.key = "network.width",
     EXTENT(width),
     .help = "NPUs along x of each dimension that is a mesh or torus, null for another; one number if there "
             "is one such dimension",
     OURS("width", "")},
    {.key = "network.height", EXTENT(height), .help = "NPUs along y, in the same way", OURS("height", "")},
    {.key = "network.depth",
     EXTENT(depth),
     .help = "NPUs along z, of a Mesh3D or Torus3D",
     OURS("depth", "")},
    {.key = "network.bandwidth",
     .type = CFG_T_DOUBLE_LIST,
     QUANTITY(DSE_UNIT_BYTES_PER_S, 1073741824.0, "GiB/s", 1e-9, 1e12),
     FIELD(bandwidth),
     .bare = true,
     .help =
         "bandwidth of one link, one direction; a bare number counts 2^30 bytes per second, as in ASTRA-sim",
     .astra_key = "bandwidth"},
    {.key = "network.latency",
     .type = CFG_T_DOUBLE_LIST,
     QUANTITY(DSE_UNIT_NS, 1, "ns", 0, 1e15),
     FIELD(latency),
     .bare = true,
     .help = "latency of one link",
     .astra_key = "latency"},
    {.key = "network.backend",
     CHOICE(backend, backends, "congestion_unaware"),
     .omit_default = true,
     .help = "congestion_unaware: a message has a fixed delay, whatever else is under way; congestion_aware: "
             "messages queue for the links of their routes. In ASTRA-sim each is a program of its own",
     OURS("backend", "congestion_unaware")},
    {.key = "network.multi_hop",
     CHOICE(multi_hop, multi_hops, "lowest"),
     .omit_default = true,
     .help =
         "what a message between NPUs that differ in several dimensions pays for. lowest: the lowest of them "
         "alone, as in ASTRA-sim; full: all of them. With congestion it takes the links of all anyway",
     OURS("multi_hop", "lowest")},
    {.key = "network.routing",
     WORDS,
     .check = net_routing_check,
     FIELD(routing),
     .bare = true,
     .sparse = true,
     .fallback = "",
     .omit_default = true,
     .help = "with congestion: the order in which a message takes the axes of each mesh or torus, xy or yx, "
             "xyz or another order of the three; x first if absent",
     OURS("routing", "")},

    /* Profile train (sim/collective_time.h). */
    {REACHED("efficiency", CFG_T_DOUBLE_LIST, efficiency), COUNT(1e-6, 2), .bare = true,
     .help = "profile train: the bus bandwidth that large collectives reach in each dimension, over "
             "`bandwidth`; above 1 in a Ring alone, whose collectives then go both ways at once. Any of this "
             "key and the next thirteen has collectives last as long as measured ones, 1 if absent; profile "
             "stage and ASTRA-sim do not read them"},
    {REACHED("collective_latency", CFG_T_DOUBLE_LIST, collective_latency),
     QUANTITY(DSE_UNIT_NS, 1, "ns", 0, 1e15), .bare = true,
     .help = "profile train: latency of a collective or message that goes no further than this "
             "dimension; 0 if absent"},
    {REACHED("step_latency", CFG_T_DOUBLE_LIST, step_latency), QUANTITY(DSE_UNIT_NS, 1, "ns", 0, 1e15),
     .bare = true,
     .help = "profile train: latency of each step of a ring in this dimension; that of a message "
             "between neighbours if absent"},
    {REACHED("rails", CFG_T_INT_LIST, rails), COUNT(1, 1 << 24), .bare = true, .sparse = true,
     .help = "profile train: network cards with which what the dimensions below join, a node, is in "
             "this one; all its NPUs that send at the same time share them. One for each NPU if absent"
             " or null; dimension 0 has none"},
    {REACHED("rails_per_group", CFG_T_INT_LIST, rails_per_group), COUNT(1, 1 << 24), .bare = true,
     .sparse = true,
     .help = "profile train: of the rails, how many the members of one group in a node use together at"
             " most; all if absent or null"},
    {REACHED("compute_share", CFG_T_DOUBLE_LIST, compute_share), COUNT(0, 0.9), .bare = true,
     .help =
         "profile train: share of an NPU's compute that a collective takes from kernels beside it, as its"
         " own kernel holds multiprocessors; of one that goes no further than this dimension. 0 if absent"},
    {.key = "network.measured_npus",
     WHOLE(measured_npus, 0, 1 << 24, "0"),
     .omit_default = true,
     OURS("measured_npus", "0"),
     .help = "profile train: NPUs of the measured collectives that follow, within dimension 0; of "
             "fewer, the same bus bandwidth with a factor (measured_pair)"},
    {REACHED("measured_pair", CFG_T_DOUBLE, measured_pair), COUNT(1e-6, 10),
     .help = "profile train: bus bandwidth of a collective of two NPUs over that of measured_npus; 1 "
             "if absent"},
    {REACHED("measured_bandwidth", CFG_T_DOUBLE, measured_bandwidth),
     QUANTITY(DSE_UNIT_BYTES_PER_S, 1073741824.0, "GiB/s", 1e-9, 1e12),
     .help = "profile train: the bandwidth of dimension 0 on the measured machine; with another "
             "`bandwidth` the measured times scale, but for their latency. The same if absent"},
    {REACHED("measured_sizes", CFG_T_DOUBLE_LIST, measured_sizes), QUANTITY(DSE_UNIT_BYTES, 1, "B", 1, 1e15),
     .help = "profile train: sizes of the measured collectives, ascending, as nccl-tests count them: "
             "the whole buffer, of an all-gather the result"},
    {MEASURED("all_reduce", SIM_ALL_REDUCE),
     .help = "profile train: how long an all-reduce of each size took; linear in between, at the last "
             "one's rate above"},
    {MEASURED("all_gather", SIM_ALL_GATHER), .help = "profile train: the same for all-gather"},
    {MEASURED("reduce_scatter", SIM_REDUCE_SCATTER), .help = "profile train: the same for reduce-scatter"},
    {MEASURED("all_to_all", SIM_ALL_TO_ALL), .help = "profile train: the same for all-to-all"},

    {.key = "collectives.all",
     WORDS,
     .check = check_implementation,
     FIELD(all),
     .fallback = "",
     .help = "how each dimension runs every collective that is not listed by itself: ring, direct, "
             "direct<window>, halvingDoubling, doubleBinaryTree, oneRing, oneDirect, oneHalvingDoubling"},
    {IMPLEMENTATIONS(all_reduce, SIM_ALL_REDUCE, "all-reduce")},
    {IMPLEMENTATIONS(all_gather, SIM_ALL_GATHER, "all-gather")},
    {IMPLEMENTATIONS(reduce_scatter, SIM_REDUCE_SCATTER, "reduce-scatter")},
    {IMPLEMENTATIONS(all_to_all, SIM_ALL_TO_ALL, "all-to-all")},
    {CUSTOM(all_reduce, SIM_ALL_REDUCE, "all-reduce"),
     .help =
         "simulator.version master: an algorithm for every all-reduce, as Chakra files of sends, receives "
         "and compute nodes: rank r of a group runs <value>.<r>.et"},
    {CUSTOM(all_gather, SIM_ALL_GATHER, "all-gather"), .help = "the same for all-gather"},
    {CUSTOM(reduce_scatter, SIM_REDUCE_SCATTER, "reduce-scatter"), .help = "the same for reduce-scatter"},
    {CUSTOM(all_to_all, SIM_ALL_TO_ALL, "all-to-all"), .help = "the same for all-to-all"},
    {.key = "collectives.custom_by_node",
     TEXT(custom_by_node),
     .room = CARD_PATH_MAX,
     .help = "the same for nodes of the workload: a YAML file that maps ids of nodes to such values; before "
             "the four above",
     ASTRA("per-node-custom-implementation", "")},
    {.key = "collectives.custom_hash",
     TEXT(custom_hash),
     .help = "of the contents of all these files, which ccldse fills in; a stored one must be theirs still"},

    {.key = "compute.peak_perf",
     .type = CFG_T_DOUBLE,
     QUANTITY(DSE_UNIT_FLOPS, 1e12, "TFLOPS", 1e-12, 1e12),
     FIELD(peak_perf),
     .fallback = "",
     .help = "peak operations per second of an NPU; the roofline needs it",
     ASTRA("peak-perf", "")},
    {PEAK(fp8), .help = "the same of products of matrices in 8 bits; absent: the device has none"},
    {PEAK(nvfp4), .help = "the same in 4 bits with 16 elements a scale (NVFP4)"},
    {PEAK(fp32), .help = "profile train: the same of products and attention in 32 bits; as in 16 if absent"},
    {.key = "compute.clock",
     .type = CFG_T_DOUBLE,
     COUNT(1e-3, 10),
     FIELD(clock),
     .fallback = "1",
     .omit_default = true,
     .help =
         "profile train: clock that kernels sustain over the one at which they last as the laws say, below 1"
         " where power or heat lowers it; all kernels last 1/clock times as long"},
    {.key = "memory.bandwidth",
     .type = CFG_T_DOUBLE,
     QUANTITY(DSE_UNIT_BYTES_PER_S, 1e9, "GB/s", 1e-9, 1e12),
     FIELD(memory_bandwidth),
     .help = "local memory bandwidth of an NPU; a bare number counts 10^9 bytes per second",
     ASTRA("local-mem-bw", "")},
    {.key = "memory.capacity",
     .type = CFG_T_DOUBLE,
     QUANTITY(DSE_UNIT_BYTES, 1, "B", 1, 1e18),
     FIELD(hbm_bytes),
     .fallback = "",
     .help = "local memory of an NPU; what 'best' takes if it gets no --hbm"},

    {.key = "overheads.per_kernel",
     FIXED_COST(per_kernel),
     .help = "fixed cost of every compute node that the roofline times: launch and tail of a kernel",
     OURS("per-kernel-overhead", "0")},
    {.key = "overheads.per_step",
     FIXED_COST(per_step),
     .help = "fixed cost of a step on every NPU, after its last node: what the host does, data loading",
     OURS("per-step-overhead", "0")},
    {.key = "overheads.per_layer",
     FIXED_COST(per_layer),
     .help = "profile train: what a layer takes at least, with its collectives, forward, backward, and to be "
             "made again: the host issues its kernels no faster"},
    {.key = "overheads.per_collective",
     FIXED_COST(per_collective),
     .help = "profile train: fixed time of every collective, which the program adds to the network's"},

    {.key = "cost.per_device_hour",
     .type = CFG_T_DOUBLE,
     COUNT(0, 1e9),
     FIELD(price),
     .fallback = "",
     .unhashed = true,
     .help = "price of an NPU for an hour, in whatever money; with it results say what a step and a trillion "
             "tokens cost. Nothing shipped has one"},
    {.key = "cost.power",
     .type = CFG_T_DOUBLE,
     QUANTITY(DSE_UNIT_WATTS, 1, "W", 0, 1e6),
     FIELD(power),
     .fallback = "",
     .unhashed = true,
     .help = "power of an NPU throughout a step, its data sheet's or a measured one; with it results say "
             "what energy a step and a trillion tokens take, without hosts, network and cooling"},

    {.key = "kernels.laws",
     CHOICE(laws, laws, "device"),
     .omit_default = true,
     .help =
         "how long kernels of profile train last. device: as the keys below say, and where they say nothing "
         "as the file of the device does (configs/devices), else as the roofline; affine: without the "
         "tables; roofline: as compute.peak_perf and memory.bandwidth allow, all of them"},
    LAW(WL_KERNEL_MATMUL, "matmul"),
    TABLE(WL_KERNEL_MATMUL, "matmul"),
    LAW(WL_KERNEL_ATTENTION, "attention"),
    HALF_LENGTH(WL_KERNEL_ATTENTION, "attention"),
    TABLE(WL_KERNEL_ATTENTION, "attention"),
    LAW(WL_KERNEL_ATTENTION_BACKWARD, "attention_backward"),
    HALF_LENGTH(WL_KERNEL_ATTENTION_BACKWARD, "attention_backward"),
    TABLE(WL_KERNEL_ATTENTION_BACKWARD, "attention_backward"),
    LAW(WL_KERNEL_ATTENTION_PRODUCT, "attention_product"),
    UNALIGNED(WL_KERNEL_ATTENTION_PRODUCT, "attention_product"),
    LAW(WL_KERNEL_ELEMENTWISE, "elementwise"),
    LAW(WL_KERNEL_NORMALISATION, "normalisation"),
    LAW(WL_KERNEL_LOOKUP, "lookup"),
    LAW(WL_KERNEL_OPTIMIZER, "optimizer"),
    LAW(WL_KERNEL_MATMUL_FP8, "matmul_fp8"),
    TABLE(WL_KERNEL_MATMUL_FP8, "matmul_fp8"),
    LAW(WL_KERNEL_MATMUL_FP8_BLOCK, "matmul_fp8_block"),
    TABLE(WL_KERNEL_MATMUL_FP8_BLOCK, "matmul_fp8_block"),
    LAW(WL_KERNEL_MATMUL_NVFP4, "matmul_nvfp4"),
    TABLE(WL_KERNEL_MATMUL_NVFP4, "matmul_nvfp4"),
    LAW(WL_KERNEL_ATTENTION_FLASH2, "attention_flash2"),
    HALF_LENGTH(WL_KERNEL_ATTENTION_FLASH2, "attention_flash2"),
    LAW(WL_KERNEL_ATTENTION_FLASH2_BACKWARD, "attention_flash2_backward"),
    HALF_LENGTH(WL_KERNEL_ATTENTION_FLASH2_BACKWARD, "attention_flash2_backward"),
    LAW(WL_KERNEL_EXPERTS, "experts"),
    LAW(WL_KERNEL_EXPERTS_FP8, "experts_fp8"),

    {.key = "simulator.version",
     CHOICE(version, sim_version_names, "stage"),
     .omit_default = true,
     .help =
         "ASTRA-sim whose behaviour is simulated: its branch stage (af2492b), or its branch master (518bd51)",
     OURS("simulator-version", "stage")},
    {.key = "scheduler.scheduling_policy",
     CHOICE(scheduling_policy, policies, "LIFO"),
     .help = "which collective's chunks go first; without effect, as a rank runs one collective at a time",
     .astra_key = "scheduling-policy"},
    {.key = "scheduler.endpoint_delay",
     .type = CFG_T_INT,
     QUANTITY(DSE_UNIT_NS, 1, "ns", 0, 2147483647),
     FIELD(endpoint_delay),
     .fallback = "10",
     .help = "delay of the endpoint before a chunk's first message and after each it receives",
     ASTRA("endpoint-delay", "10")},
    {.key = "scheduler.active_chunks_per_dimension",
     WHOLE(active_chunks, 1, 1000000, "4"),
     .help = "chunks of a collective that work in one dimension at once; of profile train this and the"
             " next are 1 if absent, as several are faster than their link",
     ASTRA("active-chunks-per-dimension", "1")},
    {.key = "scheduler.preferred_dataset_splits",
     WHOLE(splits, 1, 32768, "10"),
     .help = "chunks that a collective is cut into",
     .astra_key = "preferred-dataset-splits"},
    {.key = "scheduler.boost_mode",
     WHOLE(boost_mode, 0, 1, "0"),
     .help = "without effect: the reference never reads it",
     .astra_ignores = true,
     ASTRA("boost-mode", "0")},
    {.key = "scheduler.collective_optimization",
     CHOICE(collective_optimization, optimizations, "localBWAware"),
     .help = "localBWAware: an all-reduce scatters up the dimensions and gathers down; baseline: an "
             "all-reduce in each",
     .astra_key = "collective-optimization"},
    {.key = "scheduler.track_local_mem",
     SWITCH(track_local_mem, "true"),
     .help = "track the tensors in local memory and report the peak",
     ASTRA("track-local-mem", "false")},
    {.key = "scheduler.trace_enabled",
     SWITCH(trace_enabled, "true"),
     .help = "report the memory peak (the reference also logs every node)",
     ASTRA("trace-enabled", "false")},
    {.key = "scheduler.roofline_enabled",
     SWITCH(roofline_enabled, "true"),
     .help = "compute nodes last as long as the roofline says; otherwise as long as the trace says",
     ASTRA("roofline-enabled", "false")},
    {.key = "scheduler.replay_only",
     SWITCH(replay_only, "false"),
     .help = "every node lasts as long as the trace says; nothing is simulated",
     ASTRA("replay-only", "false")},
    {.key = "memory_bus.shared",
     SWITCH(bus_shared, "false"),
     .help = "packets of a collective share the endpoint's bus (LogGP) instead of taking endpoint_delay",
     ASTRA("model-shared-bus", "false")},
    {.key = "memory_bus.L",
     BUS_TIME(bus_L),
     .help = "latency of the bus; 0 if absent, as the next three",
     ASTRA("L", "")},
    {.key = "memory_bus.o",
     BUS_TIME(bus_o),
     .help = "overhead of a sender and of a receiver",
     ASTRA("o", "")},
    {.key = "memory_bus.g",
     BUS_TIME(bus_g),
     .help = "least gap between two requests of a sender",
     ASTRA("g", "")},
    {.key = "memory_bus.G",
     .type = CFG_T_DOUBLE,
     .unit_name = "ns/B",
     .min = 0,
     .max = 1e9,
     FIELD(bus_G),
     .fallback = "",
     .help = "time per byte on the bus",
     ASTRA("G", "")},
    {.key = "memory_bus.local_reduction_delay",
     .type = CFG_T_DOUBLE,
     .unit_name = "ns",
     .min = 0,
     .max = 1e6,
     FIELD(local_reduction_delay),
     .fallback = "",
     .help = "time that reducing 100 bytes takes at the shared bus, a whole number; 1 if absent",
     ASTRA("local-reduction-delay", "")},
};

const cfg_table card_system_table = {.rows = rows, .n = DSE_COUNT(rows), .title = "system card"};

bool card_system_in_network_file(const cfg_param *p) { return !strncmp(p->key, "network.", 8); }

const char *const card_collective_keys[SIM_N_COLLECTIVES] = {
    [SIM_ALL_REDUCE] = "collectives.all_reduce",
    [SIM_ALL_GATHER] = "collectives.all_gather",
    [SIM_REDUCE_SCATTER] = "collectives.reduce_scatter",
    [SIM_ALL_TO_ALL] = "collectives.all_to_all",
};

static void spread_all(card_system *s)
{
    for (int i = 0; i < SIM_N_COLLECTIVES; i++)
        if (!s->collective[i].n)
            s->collective[i] = s->all;
    s->all.n = 0;
}

/* A setting of collectives.all replaces every list that no other setting touches. */
static void clear_lists(card_system *s, const cfg_settings *settings)
{
    bool all = false, own[SIM_N_COLLECTIVES] = {false};

    for (size_t i = 0; settings && i < settings->n; i++) {
        all |= !strcmp(settings->item[i].path, "collectives.all");
        for (int k = 0; k < SIM_N_COLLECTIVES; k++)
            own[k] |= cfg_path_covers(card_collective_keys[k], settings->item[i].path);
    }
    for (int k = 0; all && k < SIM_N_COLLECTIVES; k++)
        if (!own[k])
            s->collective[k].n = 0;
}

bool card_system_has_any(const cfg_settings *settings)
{
    for (size_t i = 0; settings && i < settings->n; i++)
        if (cfg_table_has(&card_system_table, settings->item[i].path))
            return true;
    return false;
}

/* Of a file: a size that is set over it would be of the part, or of the whole, and nobody could tell. */
static dse_status refuse_part(const card_system *s, const cfg_settings *settings, dse_error *err)
{
    for (size_t i = 0; settings && i < settings->n; i++)
        if (!strcmp(settings->item[i].path, "network.part"))
            return DSE_OK;
    return s->part ? dse_fail(err, DSE_E_CONFIG,
                              "network.part is set over a card (--npus, --set); in the card list what it has")
                   : DSE_OK;
}

/* The lists cut to network.part; what is wrong may stand on the command line. */
static dse_status take_part(card_system *s, dse_error *err)
{
    const uint64_t npus = (uint64_t)s->part;

    s->part = 0;
    return npus ? card_system_resize(s, npus, s, err) : DSE_OK;
}

static dse_status read_card(const cfg_doc *doc, const cfg_settings *settings, bool short_lists,
                            card_system *out, dse_error *err)
{
    const card_places in = {doc, doc};
    dse_status st;

    *out = (card_system){.short_lists = short_lists};
    if ((st = cfg_table_read_part(&card_system_table, doc, settings, out, err)) != DSE_OK ||
        (st = card_system_fill_sheet(out, err)) != DSE_OK ||
        (st = cfg_table_check(&card_system_table, doc->path, out, err)) != DSE_OK)
        return st;
    clear_lists(out, settings);
    spread_all(out);
    /* What is wrong may stand on the command line. */
    st = card_system_check(out, card_system_has_any(settings) ? NULL : &in, err);
    if (st == DSE_OK && (st = refuse_part(out, settings, err)) == DSE_OK)
        st = take_part(out, err);
    dse_error_set_where(err, doc->path);
    return st;
}

dse_status card_system_read(const cfg_doc *doc, const cfg_settings *settings, card_system *out,
                            dse_error *err)
{
    return read_card(doc, settings, false, out, err);
}

dse_status card_system_read_stored(const cfg_doc *doc, card_system *out, dse_error *err)
{
    return read_card(doc, NULL, true, out, err);
}

void card_system_follow_clock(card_system *s, double before, const cfg_settings *except)
{
    double *peak[] = {&s->peak_fp8, &s->peak_nvfp4, &s->peak_fp32};
    static const char *const keys[] = {"compute.peak_fp8", "compute.peak_nvfp4", "compute.peak_fp32"};

    for (size_t k = 0; k < DSE_COUNT(peak); k++) {
        bool is_set = false;

        for (size_t i = 0; except && i < except->n; i++)
            is_set |= !strcmp(except->item[i].path, keys[k]);
        if (!is_set && before > 0 && s->peak_perf != before)
            *peak[k] *= s->peak_perf / before;
    }
}

double card_system_peak(const card_system *s, wl_kernel_class c)
{
    switch (c) {
    case WL_KERNEL_MATMUL_FP8:
    case WL_KERNEL_EXPERTS_FP8:
    case WL_KERNEL_MATMUL_FP8_BLOCK: return s->peak_fp8;
    case WL_KERNEL_MATMUL_NVFP4: return s->peak_nvfp4;
    default: return s->peak_perf;
    }
}

dse_status card_system_set(card_system *s, const cfg_settings *settings, dse_error *err)
{
    const double peak = s->peak_perf;
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < settings->n; i++)
        if (cfg_table_has(&card_system_table, settings->item[i].path))
            st = cfg_table_set(&card_system_table, &settings->item[i], s, err);
    if (st != DSE_OK)
        return st;
    card_system_follow_clock(s, peak, settings);
    clear_lists(s, settings);
    spread_all(s);
    st = card_system_check(s, NULL, err);
    return st == DSE_OK ? take_part(s, err) : st;
}

static void settle(const card_system *s, const char *key, bool trains, int64_t *value, int64_t *of_stage)
{
    if (trains && !*of_stage && !cfg_is_given(&card_system_table, s, key)) {
        *of_stage = *value;
        *value = 1;
    } else if (!trains && *of_stage) {
        *value = *of_stage;
        *of_stage = 0;
    }
}

void card_system_settle_profile(card_system *s, bool trains)
{
    settle(s, "scheduler.active_chunks_per_dimension", trains, &s->active_chunks, &s->chunks_of_stage);
    settle(s, "scheduler.preferred_dataset_splits", trains, &s->splits, &s->splits_of_stage);
}

card_system card_system_of_stage(const card_system *s)
{
    card_system of = *s;

#define DROP(member) of.member.n = 0;
    CARD_REACHED(DROP)
#undef DROP
    of.clock = 1;
    of.per_layer = of.per_collective = 0;
    of.measured_npus = 0;
    of.measured_pair = of.measured_bandwidth = NAN;
    of.measured_sizes.n = 0;
    for (int kind = 0; kind < NET_N_KINDS; kind++)
        of.measured[kind].n = 0;
    return of;
}

/* ---- what the simulator takes -------------------------------------------------------------- */

static dse_status fail_count(const card_system *s, sim_collective kind, uint32_t n_dims,
                             const card_places *in, dse_error *err)
{
    const cfg_param *p = cfg_param_find(&card_system_table, card_collective_keys[kind]);
    const uint32_t n = s->collective[kind].n;
    const char *key = cfg_is_given(&card_system_table, s, p->key) ? p->key : "collectives.all";

    return dse_fail_at(err, DSE_E_CONFIG, card_place(in, key).text,
                       "%.*s lists %" PRIu32 " implementation%s, but the network has %" PRIu32 " dimension%s",
                       (int)strlen(p->astra_key) - (int)strlen("-implementation"), p->astra_key, n,
                       n == 1 ? "" : "s", n_dims, n_dims == 1 ? "" : "s");
}

/* A list shorter than the network leaves dimensions out of a collective over all NPUs, which then is too
 * fast. ASTRA-sim accepts that; in a card it is an error. An implementation over all dimensions, "oneRing",
 * stands alone. */
static dse_status build_implementations(const card_system *s, sim_collective kind, uint32_t n_dims,
                                        const card_places *in, sim_implementations *out, dse_error *err)
{
    const cfg_name_list *names = &s->collective[kind];

    out->n_dims = names->n;
    if (names->n > n_dims)
        return fail_count(s, kind, n_dims, in, err);
    for (uint32_t i = 0; i < names->n; i++) {
        dse_status st = sim_implementation_parse(names->v[i], &out->dim[i], err);
        if (st != DSE_OK)
            return st;
    }
    if (names->n && names->n < n_dims && !out->dim[0].over_all && !s->short_lists)
        return fail_count(s, kind, n_dims, in, err);
    return DSE_OK;
}

bool card_system_has_custom(const card_system *s)
{
    bool has = *s->custom_by_node;

    for (int i = 0; i < SIM_N_COLLECTIVES; i++)
        has |= *s->custom[i] != '\0';
    return has;
}

/* Algorithms as Chakra files are of versions that have them alone. */
static dse_status check_custom(const card_system *s, const card_places *in, dse_error *err)
{
    const bool has = sim_versions[sim_version_find(s->version)].has_custom_collectives;
    const cfg_param *p =
        *s->custom_by_node ? cfg_param_find(&card_system_table, "collectives.custom_by_node") : NULL;

    for (int i = 0; i < SIM_N_COLLECTIVES; i++) {
        char key[CFG_NAME_MAX];

        if (!*s->custom[i])
            continue;
        snprintf(key, sizeof key, "%s_custom", card_collective_keys[i]);
        p = cfg_param_find(&card_system_table, key);
    }
    if (p && !has)
        return dse_fail_at(err, DSE_E_CONFIG, card_place(in, p->key).text,
                           "%s is of another version of ASTRA-sim; give simulator.version master",
                           p->astra_key);
    return DSE_OK;
}

static double given_or(double value, double fallback) { return isnan(value) ? fallback : value; }

static sim_law law_of(const card_system *s, wl_kernel_class c)
{
    const card_law *l = &s->kernels[c];

    return (sim_law){.is_given = card_law_is_given(l) && strcmp(s->laws, "roofline") != 0,
                     .peak_ops_per_s = wl_kernel_is_low(c) ? given_or(card_system_peak(s, c), 0) * 1e12 : 0,
                     .peak32_ops_per_s = !wl_kernel_is_low(c) && wl_kernel_multiplies(c)
                                             ? given_or(s->peak_fp32, 0) * 1e12
                                             : 0,
                     .flop_factor = given_or(l->flop_factor, 0),
                     .byte_factor = given_or(l->byte_factor, 0),
                     .overhead_ns = given_or(l->overhead, 0),
                     .half_length = given_or(l->half_length, 0),
                     .unaligned = given_or(l->unaligned, 0)};
}

static dse_status build(const card_system *s, const card_places *in, net_network *net, sim_settings *set,
                        dse_error *err)
{
    dse_status st = card_network_build(s, in, net, err);

    *set = (sim_settings){
        .version = sim_version_find(s->version),
        .local_bw_aware = !strcmp(s->collective_optimization, "localBWAware"),
        .splits = (uint32_t)s->splits,
        .active_chunks = (uint32_t)s->active_chunks,
        .queues_per_dim = 1,
        .endpoint_delay = (dse_time)s->endpoint_delay,
        .bus = {.shared = s->bus_shared,
                .L = dse_ticks(given_or(s->bus_L, 0)),
                .o = dse_ticks(given_or(s->bus_o, 0)),
                .g = dse_ticks(given_or(s->bus_g, 0)),
                .G = (float)given_or(s->bus_G, 0), /* the reference keeps it in single precision */
                .local_reduction_delay = (int64_t)given_or(s->local_reduction_delay, 1)},
        .roofline = s->roofline_enabled,
        .replay_only = s->replay_only,
        .peak_ops_per_s = s->peak_perf * 1e12,
        .memory_bytes_per_s = s->memory_bandwidth * 1e9,
        .kernel_overhead_ns = s->per_kernel,
        .step_overhead = dse_ticks(s->per_step),
        .kernel_lag = 1 / s->clock - 1,
        .layer_floor = dse_ticks(s->per_layer),
        .collective_overhead = dse_ticks(s->per_collective),
        .track_memory = s->track_local_mem,
    };
    for (int i = WL_KERNEL_MATMUL; i < WL_N_KERNEL_CLASSES; i++)
        set->law[i] = law_of(s, (wl_kernel_class)i);
    for (int i = 0; i < SIM_N_COLLECTIVES; i++)
        set->may_be_custom[i] = *s->custom[i] || *s->custom_by_node;
    for (int i = 0; st == DSE_OK && i < SIM_N_COLLECTIVES; i++)
        st = build_implementations(s, (sim_collective)i, net->n_dims, in, &set->implementations[i], err);
    if (st == DSE_OK)
        st = check_custom(s, in, err);
    if (st == DSE_OK && s->roofline_enabled && isnan(s->peak_perf))
        st = dse_fail(err, DSE_E_CONFIG, "compute.peak_perf (peak-perf) is missing; the roofline needs it");
    if (st == DSE_OK && isnan(s->memory_bandwidth))
        st = dse_fail(
            err, DSE_E_CONFIG,
            "the local memory bandwidth (local-mem-bw) is missing; the roofline and every reduction need it");
    return st;
}

dse_status card_system_build(const card_system *s, net_network *net, sim_settings *set, dse_error *err)
{
    return build(s, NULL, net, set, err);
}

dse_status card_system_released_check(const card_system *s, dse_error *err)
{
    if (s->per_kernel > 0 || s->per_step > 0)
        return dse_fail(
            err, DSE_E_RANGE,
            "ASTRA-sim has no fixed costs (overheads.%s): its figures are without them; set them to 0",
            s->per_kernel > 0 ? "per_kernel" : "per_step");
    return DSE_OK;
}

dse_status card_system_check(const card_system *s, const card_places *in, dse_error *err)
{
    net_network net;
    sim_settings settings;

    return build(s, in, &net, &settings, err);
}
