/* A small system and a workload made node by node, for closed forms.
 *
 * The network moves a byte per ns (10^9 bytes per second, 10^9 / 2^30 GiB/s, which has an exact double), so a
 * message of b bytes over h links of latency l takes h l + b ns. Local memory moves 2^40 bytes and an NPU makes
 * 2^40 operations per second: 2^20 of either take 10^9 / 2^20 = 953.67, truncated 953 ns. */
#ifndef UNIT_SIM_WORLD_H
#define UNIT_SIM_WORLD_H

#include "shortcuts/compare.h"
#include "sim/sim.h"
#include "unit/unit.h"

#define BYTE_PER_NS (1953125.0 / 2097152)
#define TWO_TO_40   1099511627776.0
#define MIB         (1u << 20)
#define MIB_TICKS   953u

#define WORLD_MAX_RANKS 16
#define WORLD_MAX_NODES 24
#define WORLD_MAX_DEPS  64

static struct {
    net_network net;
    sim_settings set;
    sim_shortcuts shortcuts; /* none */
    bool comparing;          /* the run is one of those that world_run makes besides the test's own */
    uint32_t n_groups;
    wl_group group[8];
    uint32_t member[8][WORLD_MAX_RANKS];
    struct {
        uint32_t n, n_deps, n_slots, n_p2p, n_tensors;
        wl_node node[WORLD_MAX_NODES];
        uint64_t id[WORLD_MAX_NODES];
        uint32_t child[WORLD_MAX_DEPS], parent[WORLD_MAX_DEPS];
        uint32_t slot_group[8];
        wl_p2p p2p[WORLD_MAX_NODES];
        wl_tensor_info tensor[WORLD_MAX_NODES];
        struct {
            uint32_t node, tensor;
            uint64_t size;
            bool output;
        } io[32];
        uint32_t n_io;
    } rank[WORLD_MAX_RANKS];

    dse_arena arena;
    dse_error err;
    wl_workload w;
    sim_result result;
    trace_ticks record;
} world;

static inline void world_shape(const char *topology, net_shape shape, double latency, const char *algorithm)
{
    uint32_t i = world.net.n_dims++;

    world.net.dim[i] = (net_dimension){.topology = net_topology_find(topology),
                                       .shape = shape,
                                       .gib_per_s = BYTE_PER_NS,
                                       .latency_ns = latency};
    for (int c = 0; c < SIM_N_COLLECTIVES; c++) {
        world.set.implementations[c].n_dims = world.net.n_dims;
        assert_int_equal(sim_implementation_parse(algorithm, &world.set.implementations[c].dim[i], NULL),
                         DSE_OK);
    }
    assert_int_equal(net_network_finish(&world.net, NULL), DSE_OK);
}

static inline void world_dimension(const char *topology, uint32_t n, double latency, const char *algorithm)
{
    world_shape(topology, (net_shape){.n = n}, latency, algorithm);
}

/* No dimension yet; one chunk per collective, an endpoint delay of 10 ns, a group of all ranks. */
static inline void world_empty(void)
{
    memset(&world, 0, sizeof world);
    world.set = (sim_settings){.local_bw_aware = true,
                               .splits = 1,
                               .active_chunks = 1,
                               .queues_per_dim = 1,
                               .endpoint_delay = 10,
                               .roofline = true,
                               .peak_ops_per_s = TWO_TO_40,
                               .memory_bytes_per_s = TWO_TO_40};
    world.n_groups = 1;
    world.group[0].name = "";
}

static inline void world_begin(const char *topology, uint32_t n, double latency, const char *algorithm)
{
    world_empty();
    world_dimension(topology, n, latency, algorithm);
}

static inline uint32_t world_group(const char *name, uint32_t n, const uint32_t *ranks)
{
    uint32_t i = world.n_groups++;

    memcpy(world.member[i], ranks, n * sizeof *ranks);
    world.group[i] = (wl_group){.name = name, .n = n, .rank = world.member[i]};
    return i;
}

/* Nodes get the ids 1, 2, ... of their rank; names are borrowed. Yields the node's index. */
static inline uint32_t world_node(uint32_t rank, wl_node node)
{
    uint32_t i = world.rank[rank].n++;

    assert_true(i < WORLD_MAX_NODES);
    world.rank[rank].id[i] = i + 1;
    node.id = node.type == WL_NODE_SEND || node.type == WL_NODE_RECV ? 0 : i + 1;
    if (!node.name)
        node.name = "n";
    world.rank[rank].node[i] = node;
    return i;
}

static inline uint32_t world_comp(uint32_t rank, const char *name, uint64_t num_ops, uint64_t tensor_size)
{
    return world_node(rank, (wl_node){.name = name,
                                      .type = WL_NODE_COMP,
                                      .num_ops = num_ops,
                                      .tensor_size = tensor_size,
                                      .slot = DSE_NONE});
}

static inline uint32_t world_coll(uint32_t rank, const char *name, wl_coll_type coll, uint64_t size,
                                  uint32_t group)
{
    uint32_t slot = 0;

    while (slot < world.rank[rank].n_slots && world.rank[rank].slot_group[slot] != group)
        slot++;
    if (slot == world.rank[rank].n_slots)
        world.rank[rank].slot_group[world.rank[rank].n_slots++] = group;
    return world_node(
        rank,
        (wl_node){
            .name = name, .type = WL_NODE_COLL, .coll = (uint8_t)coll, .comm_size = size, .slot = slot});
}

/* A collective over the dimensions of `involved`. */
static inline uint32_t world_coll_dims(uint32_t rank, const char *name, wl_coll_type coll, uint64_t size,
                                       uint16_t involved, uint8_t n_dims)
{
    return world_node(rank, (wl_node){.name = name,
                                      .type = WL_NODE_COLL,
                                      .coll = (uint8_t)coll,
                                      .comm_size = size,
                                      .slot = DSE_NONE,
                                      .involved_dims = involved,
                                      .n_involved_dims = n_dims});
}

static inline uint32_t world_message(uint32_t rank, const char *name, bool send, uint32_t peer, uint64_t size,
                                     uint32_t tag)
{
    uint32_t slot = world.rank[rank].n_p2p++;

    world.rank[rank].p2p[slot] = (wl_p2p){peer, tag, world.rank[rank].n + 1u};
    return world_node(
        rank,
        (wl_node){.name = name, .type = send ? WL_NODE_SEND : WL_NODE_RECV, .comm_size = size, .slot = slot});
}

static inline void world_after(uint32_t rank, uint32_t child, uint32_t parent)
{
    uint32_t i = world.rank[rank].n_deps++;

    assert_true(i < WORLD_MAX_DEPS);
    world.rank[rank].child[i] = child;
    world.rank[rank].parent[i] = parent;
}

/* The node reads or writes a tensor of the rank, known by name. */
static inline void world_tensor(uint32_t rank, uint32_t node, bool output, const char *name, uint64_t size)
{
    uint32_t t = 0;

    while (t < world.rank[rank].n_tensors && strcmp(world.rank[rank].tensor[t].name, name))
        t++;
    if (t == world.rank[rank].n_tensors)
        world.rank[rank].tensor[world.rank[rank].n_tensors++].name = name;
    world.rank[rank].node[node].has_io = true;
    world.rank[rank].io[world.rank[rank].n_io].node = node;
    world.rank[rank].io[world.rank[rank].n_io].tensor = t;
    world.rank[rank].io[world.rank[rank].n_io].output = output;
    world.rank[rank].io[world.rank[rank].n_io++].size = size;
}

static inline void world_make_graph(uint32_t r, wl_graph *g, dse_arena *a)
{
    uint32_t n = world.rank[r].n;
    wl_io_csr *io[] = {&g->inputs, &g->outputs};

    *g = (wl_graph){.n_nodes = n,
                    .node = world.rank[r].node,
                    .n_tensors = world.rank[r].n_tensors,
                    .tensor = world.rank[r].tensor,
                    .n_group_slots = world.rank[r].n_slots,
                    .n_p2p_slots = world.rank[r].n_p2p};
    g->ctrl_deps.start = DSE_ARENA_NEW(a, uint32_t, n + 1);
    g->data_deps.start = DSE_ARENA_NEW(a, uint32_t, n + 1);
    g->data_deps.item = DSE_ARENA_NEW(a, uint32_t, WORLD_MAX_DEPS);
    for (uint32_t i = 0, at = 0; i < n; i++) {
        for (uint32_t k = 0; k < world.rank[r].n_deps; k++)
            if (world.rank[r].child[k] == i)
                g->data_deps.item[at++] = world.rank[r].parent[k];
        g->data_deps.start[i + 1] = at;
    }
    for (int kind = 0; kind < 2; kind++) {
        io[kind]->start = DSE_ARENA_NEW(a, uint32_t, n + 1);
        io[kind]->item = DSE_ARENA_NEW(a, wl_io, 32);
        for (uint32_t i = 0, at = 0; i < n; i++) {
            for (uint32_t k = 0; k < world.rank[r].n_io; k++)
                if (world.rank[r].io[k].node == i && world.rank[r].io[k].output == (kind == 1))
                    io[kind]->item[at++] = (wl_io){world.rank[r].io[k].tensor, world.rank[r].io[k].size};
            io[kind]->start[i + 1] = at;
        }
    }
    assert_int_equal(wl_graph_finish(g, world.rank[r].id, "world", a, NULL), DSE_OK);
}

static inline bool world_same_node(const wl_node *a, const wl_node *b)
{
    return !strcmp(a->name, b->name) && a->id == b->id && a->num_ops == b->num_ops &&
           a->tensor_size == b->tensor_size && a->comm_size == b->comm_size &&
           a->duration_us == b->duration_us && a->slot == b->slot && a->involved_dims == b->involved_dims &&
           a->n_involved_dims == b->n_involved_dims && a->type == b->type && a->coll == b->coll &&
           a->is_cpu_op == b->is_cpu_op && a->has_io == b->has_io && a->tensor_kind == b->tensor_kind &&
           a->layer == b->layer && a->lacks == b->lacks;
}

static inline bool world_same_tensors(uint32_t a, uint32_t b)
{
    if (world.rank[a].n_io != world.rank[b].n_io || world.rank[a].n_tensors != world.rank[b].n_tensors)
        return false;
    for (uint32_t i = 0; i < world.rank[a].n_io; i++)
        if (world.rank[a].io[i].node != world.rank[b].io[i].node ||
            world.rank[a].io[i].output != world.rank[b].io[i].output ||
            world.rank[a].io[i].size != world.rank[b].io[i].size ||
            world.rank[a].io[i].tensor != world.rank[b].io[i].tensor)
            return false;
    for (uint32_t i = 0; i < world.rank[a].n_tensors; i++)
        if (strcmp(world.rank[a].tensor[i].name, world.rank[b].tensor[i].name) ||
            world.rank[a].tensor[i].kind != world.rank[b].tensor[i].kind)
            return false;
    return true;
}

/* Whether two ranks execute the same; groups and peers are their own. */
static inline bool world_same_graph(uint32_t a, uint32_t b)
{
    if (world.rank[a].n != world.rank[b].n || world.rank[a].n_deps != world.rank[b].n_deps ||
        world.rank[a].n_slots != world.rank[b].n_slots || !world_same_tensors(a, b))
        return false;
    for (uint32_t i = 0; i < world.rank[a].n; i++)
        if (!world_same_node(&world.rank[a].node[i], &world.rank[b].node[i]))
            return false;
    for (uint32_t i = 0; i < world.rank[a].n_deps; i++)
        if (world.rank[a].child[i] != world.rank[b].child[i] ||
            world.rank[a].parent[i] != world.rank[b].parent[i])
            return false;
    return true;
}

/* The workload of what was made so far, in the arena. Ranks that execute the same share a graph, as generated ones do. */
static inline void world_make(dse_arena *a)
{
    uint32_t n = world.net.n_npus, leader[WORLD_MAX_RANKS];

    world.w = (wl_workload){.n_ranks = n, .n_groups = world.n_groups, .group = world.group};
    world.w.rank = DSE_ARENA_NEW(a, wl_rank, n);
    world.w.graph = DSE_ARENA_NEW(a, wl_graph, n);
    world.group[0].n = n;
    world.group[0].rank = world.member[0];
    for (uint32_t r = 0; r < n; r++) {
        uint32_t g = 0;

        world.member[0][r] = r;
        while (g < world.w.n_graphs && !world_same_graph(leader[g], r))
            g++;
        if (g == world.w.n_graphs) {
            world_make_graph(r, &world.w.graph[g], a);
            leader[world.w.n_graphs++] = r;
        }
        world.w.rank[r] = (wl_rank){.graph = g, .group = world.rank[r].slot_group, .p2p = world.rank[r].p2p};
    }
}

static inline void world_run_with(sim_shortcuts shortcuts, dse_arena *a, run_outcome *out)
{
    out->err = (dse_error)DSE_ERROR_INIT;
    out->status =
        sim_run(&world.set, &world.net, &world.w, shortcuts, a, &out->result, &out->record, &out->err);
}

/* Whether the shortcuts are taken or not makes no difference; ends the test if it does. */
static inline void world_compare(sim_shortcuts shortcuts, const run_outcome *own)
{
    run_outcome other;
    dse_arena arena;
    dse_strbuf differs;

    dse_arena_init(&arena);
    dse_strbuf_init(&differs);
    world_run_with(shortcuts, &arena, &other);
    compare_outcomes(own, &other, &differs);
    if (differs.len)
        print_error("with memo %d, symmetry %d; 'plain' is what the test runs:\n%s", shortcuts.memo,
                    shortcuts.symmetry, differs.data);
    assert_u64(differs.len, 0);
    dse_strbuf_free(&differs);
    dse_arena_free(&arena);
}

/* Runs the world as the test has it. */
static inline dse_status world_run_alone(run_outcome *own)
{
    dse_arena_init(&world.arena);
    world_make(&world.arena);
    world_run_with(world.shortcuts, &world.arena, own);
    world.err = own->err;
    world.result = own->result;
    world.record = own->record;
    return own->status;
}

/* Runs the world as the test has it, and again with and without shortcuts, which must come to the same. */
static inline dse_status world_run(void)
{
    static const sim_shortcuts ways[] = {{0}, {.memo = true}, {.memo = true, .symmetry = true}};
    run_outcome own;

    world_run_alone(&own);
    world.comparing = true;
    for (int i = 0; i < 3; i++)
        if (ways[i].memo != world.shortcuts.memo || ways[i].symmetry != world.shortcuts.symmetry)
            world_compare(ways[i], &own);
    world.comparing = false;
    return own.status;
}

static inline void world_end(void) { dse_arena_free(&world.arena); }

static inline const sim_rank_stats *world_stats(uint32_t rank) { return &world.result.rank[rank]; }

static inline void world_check_ticks(uint32_t rank, uint32_t node, dse_time from, dse_time to,
                                     const char *file, int line)
{
    for (uint64_t i = 0; i < world.record.n; i++) {
        if (world.record.rank[i] != rank || world.record.id[i] != world.rank[rank].id[node])
            continue;
        unit_equal_u64(world.record.start[i], from, file, line);
        unit_equal_u64(world.record.end[i], to, file, line);
        return;
    }
    print_error("rank %u never issued node %u\n", rank, node);
    _fail(file, line);
}
/* The node, by its index, was issued and finished at these ticks. */
#define assert_ticks(rank, node, from, to) world_check_ticks((rank), (node), (from), (to), __FILE__, __LINE__)

/* One collective of all ranks; every rank must end at this tick. */
static inline void assert_all_end_at(wl_coll_type coll, uint64_t size, dse_time expected)
{
    for (uint32_t r = 0; r < world.net.n_npus; r++)
        world_coll(r, "c", coll, size, 0);
    assert_ok(world_run(), &world.err);
    for (uint32_t r = 0; r < world.net.n_npus; r++)
        assert_u64(world_stats(r)->wall, expected);
    world_end();
}

/* Two reads and a write of b bytes of local memory, each truncated to whole ticks. */
static inline dse_time world_reduction(uint64_t bytes)
{
    return 3 * (dse_time)((double)bytes / TWO_TO_40 * 1e9);
}

#endif
