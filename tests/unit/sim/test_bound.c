/* A bound is never above what is simulated. */
#include "unit/unit.h"

#include "sim/bound.h"
#include "sim/sim.h"
#include "strategy/order.h"
#include "support/wl_strategy.h"
#include "workload/pass.h"
#include "workload/paths.h"

#define OPERATORS   TEST_SOURCE "/configs/operators/"
#define TRANSFORMER OPERATORS "transformer.yaml"
#define MAX_RATIOS  10000
#define N_RANDOM    150

static dse_arena study, arena;
static dse_error err;
static cfg_doc doc, others[2];
static uint64_t seed;

/* What is simulated, and bounded. */
static struct {
    wl_symbols symbols;
    uint32_t layers;
    wl_strategy strategy;
    net_network net;
    sim_settings set;
    sim_bound bound, with_paths;
    dse_time without_network;
    sim_result result;
    dse_time wall, compute; /* of the slowest rank, and of the one that computes longest */
    uint64_t peak;
} run;

/* Thousands, and others, now and then: BOUND_RANDOM=4000 BOUND_SEED=2. */
static int from_environment(const char *name, int otherwise)
{
    return getenv(name) ? atoi(getenv(name)) : otherwise;
}

static double ratio[MAX_RATIOS];
static size_t n_ratios;
static bool counts_paths; /* ratios are of bounds with paths */

static int set_up(void **state)
{
    (void)state;
    dse_arena_init(&study);
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_load(TRANSFORMER, &study, &doc, &err), &err);
    assert_ok(cfg_load(OPERATORS "gpt.yaml", &study, &others[0], &err), &err);
    assert_ok(cfg_load(OPERATORS "llama.yaml", &study, &others[1], &err), &err);
    memset(&run, 0, sizeof run);
    seed = (uint64_t)from_environment("BOUND_SEED", 5);
    n_ratios = 0;
    counts_paths = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_arena_free(&study);
    dse_arena_free(&arena);
    return 0;
}

static void set_model(uint32_t layers, int64_t batch, int64_t seq, int64_t vocabulary, int64_t d_model,
                      int64_t d_ff, int64_t heads)
{
    run.symbols = (wl_symbols){
        .n = 9,
        .name = {"Batch", "Seq", "Din", "Dout", "Dmodel", "Dff", "Head", "Vocab", "KvHead"},
        .value = {batch, seq, vocabulary, vocabulary, d_model, d_ff, heads, vocabulary, (heads + 1) / 2}};
    run.layers = layers;
}

static void use_algorithms(const char *const *names)
{
    for (int c = 0; c < SIM_N_COLLECTIVES; c++) {
        run.set.implementations[c].n_dims = run.net.n_dims;
        for (uint32_t i = 0; i < run.net.n_dims; i++)
            assert_int_equal(sim_implementation_parse(names[i], &run.set.implementations[c].dim[i], NULL),
                             DSE_OK);
    }
}

static void add_dimension(const char *topology, uint32_t n, double gib_per_s, double latency)
{
    run.net.dim[run.net.n_dims++] = (net_dimension){.topology = net_topology_find(topology),
                                                    .shape = {.n = n},
                                                    .gib_per_s = gib_per_s,
                                                    .latency_ns = latency};
}

static void use_plain_settings(void)
{
    run.set = (sim_settings){.local_bw_aware = true,
                             .splits = 1,
                             .active_chunks = 1,
                             .queues_per_dim = 1,
                             .endpoint_delay = 10,
                             .roofline = true,
                             .peak_ops_per_s = 450e12,
                             .memory_bytes_per_s = 3000e9,
                             .track_memory = true};
}

static dse_status find_bound(void)
{
    const wl_passes passes = wl_passes_of(&run.strategy.strategy);
    const wl_outline *outline;
    sim_bounds *b = NULL;
    wl_generator *g = wl_generator_new(&doc);
    wl_totals totals;
    wl_paths paths;
    dse_status st;

    if ((st = wl_outline_make(&doc, passes, run.layers, &arena, &outline, &err)) == DSE_OK &&
        (st = wl_totals_of(outline, &run.symbols, &run.strategy, &arena, &totals, &err)) == DSE_OK &&
        (st = wl_generator_paths(g, &run.symbols, run.layers, &run.strategy, &arena, &paths, &err)) == DSE_OK &&
        (st = sim_bounds_make(&run.set, &run.net, &arena, &b, &err)) == DSE_OK) {
        sim_bounds_of(b, &totals, NULL, &run.bound);
        sim_bounds_of(b, &totals, &paths, &run.with_paths);
        run.without_network = sim_bounds_without_network(b, &totals, &paths);
    }
    sim_bounds_free(b);
    wl_generator_free(g);
    return st;
}

static dse_status simulate(void)
{
    wl_workload w;
    dse_status st = wl_generate(&doc, &run.symbols, run.layers, &run.strategy, &arena, &w, &err);

    if (st == DSE_OK)
        st = sim_run(&run.set, &run.net, &w, (sim_shortcuts){0}, &arena, &run.result, NULL, &err);
    if (st != DSE_OK)
        return st;
    run.wall = run.compute = run.peak = 0;
    for (uint32_t r = 0; r < run.result.n_ranks; r++) {
        const sim_rank_stats *s = &run.result.rank[r];

        run.wall = s->wall > run.wall ? s->wall : run.wall;
        run.compute = s->gpu > run.compute ? s->gpu : run.compute;
        run.peak = s->has_memory && s->peak_memory > run.peak ? s->peak_memory : run.peak;
    }
    return DSE_OK;
}

/* Computations of a rank do not overlap: what their union takes is their sum. False if there is no result. */
static bool check_bound(void)
{
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    if (simulate() != DSE_OK) {
        err = (dse_error)DSE_ERROR_INIT;
        return false;
    }
    assert_ok(find_bound(), &err);
    assert_true(run.bound.wall <= run.wall);
    assert_true(run.bound.held <= run.peak);
    assert_u64(run.bound.part[SIM_BOUND_COMPUTE], run.compute);
    assert_true(run.with_paths.wall <= run.wall && run.with_paths.wall >= run.bound.wall);
    assert_true(run.without_network <= run.with_paths.wall);
    if (n_ratios < MAX_RATIOS)
        ratio[n_ratios++] = (double)(counts_paths ? run.with_paths : run.bound).wall / (double)run.wall;
    return true;
}

/* ---- random systems ------------------------------------------------------------------------ */

static uint32_t below(uint32_t n) { return (uint32_t)(unit_random(&seed) % n); }

static const char *one_of(const char *const *words, uint32_t n) { return words[below(n)]; }

/* Of 2, 4, ..., 32 NPUs, now and then of other numbers. Larger counts where the topology allows them. */
static void random_network(void)
{
    static const char *const topologies[] = {"Ring",    "Switch", "FullyConnected", "Mesh2D",
                                             "Torus2D", "Mesh3D", "Torus3D",        "Hypercube"};
    static const uint32_t sizes[] = {2, 4, 8, 3, 6, 5};
    uint32_t n = 1 + below(3);

    do {
        run.net = (net_network){.congestion = below(3) == 0, .full_multi_hop = below(3) == 0};
        for (uint32_t i = 0; i < n; i++)
            add_dimension(one_of(topologies, 8), sizes[below(below(2) ? 3 : 6)], 1 + below(200),
                          below(3) ? below(2000) : 0);
    } while (net_network_finish(&run.net, NULL) != DSE_OK || run.net.n_npus > 32);
}

static void random_settings(void)
{
    static const char *const algorithms[] = {"ring",    "direct",    "direct2", "halvingDoubling",
                                             "oneRing", "oneDirect", "ring",    "doubleBinaryTree"};
    const char *names[3];

    use_plain_settings();
    run.set.local_bw_aware = below(3) != 0;
    run.set.splits = 1 + below(12);
    run.set.active_chunks = 1 + below(6);
    run.set.queues_per_dim = 1 + below(3);
    run.set.endpoint_delay = 1 + below(50);
    run.set.peak_ops_per_s = (1 + below(500)) * 1e12;
    run.set.memory_bytes_per_s = (1 + below(4000)) * 1e9;
    run.set.kernel_overhead_ns = below(2) ? 0 : below(20000) * 0.3;
    run.set.step_overhead = below(2) ? 0 : below(1000000);
    run.set.rendezvous = below(8) == 0;
    run.set.roofline = below(10) != 0;
    run.set.replay_only = below(20) == 0;
    run.set.track_memory = below(10) != 0;
    run.set.bus.shared = below(8) == 0;
    run.set.bus = (sim_bus_settings){run.set.bus.shared, 1 + below(5), 1 + below(5), 1 + below(5), 0.01, 1};
    for (int i = 0; i < 3; i++)
        names[i] = one_of(algorithms, 8);
    use_algorithms(names);
}

static uint32_t divisor_of(uint32_t n)
{
    uint32_t d = 1 + below(n);

    while (n % d)
        d--;
    return d;
}

static void random_precision(void)
{
    static const double bytes[] = {0.5, 1, 2, 4, 8}, kept[] = {0, 4, 12};

    run.strategy.precision = (wl_precision){.weights = bytes[below(5)],
                                            .activations = bytes[below(5)],
                                            .gradients = bytes[below(5)],
                                            .optimizer = kept[below(3)],
                                            .messages = bytes[below(5)]};
}

static void random_strategy(void)
{
    uint32_t left = run.net.n_npus, degree[4];

    for (int i = 0; i < 3; i++) {
        degree[i] = divisor_of(left);
        left /= degree[i];
    }
    degree[3] = left;
    for (int i = 0; i < 4; i++) {
        uint32_t other = below(4), d = degree[i];

        degree[i] = degree[other];
        degree[other] = d;
    }
    run.strategy = WL_STRATEGY(.dp = degree[0], .tp = degree[1], .sp = degree[2], .pp = degree[3],
                               .recompute = below(2), .weight_sharded = below(2), .tag_base = WL_TAG_BASE,
                               .placement = below(order_count(4)), .stages = below(2));
    if (below(2))
        random_precision();
    /* From nothing to speak of to a real model, so that now compute and now communication takes longer. */
    if (below(8) == 0)
        set_model(1 + below(5), 1 + below(4), 1 + below(8), 1 + below(9), 1 + below(9), 1 + below(9),
                  1 + below(4));
    else
        set_model(1 + below(5), 64 << below(3), 128 << below(6), 1000 + below(9000), 128 << below(6),
                  256 << below(6), 64);
}

static int compare_ratios(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void print_ratios(const char *of)
{
    qsort(ratio, n_ratios, sizeof *ratio, compare_ratios);
    print_message("bound / simulated of %zu %s: median %.3f, from %.3f to %.3f\n", n_ratios, of,
                  ratio[n_ratios / 2], ratio[0], ratio[n_ratios - 1]);
}

CLAIM(never_above_the_simulated_time_whatever_the_system)
{
    const cfg_doc docs[] = {doc, others[0], others[1]};
    const int n_random = from_environment("BOUND_RANDOM", N_RANDOM);
    uint32_t n_done = 0;

    for (int i = 0; i < n_random; i++) {
        doc = docs[below(4) % 3];
        random_network();
        random_settings();
        random_strategy();
        n_done += check_bound();
    }
    print_ratios("random points");
    assert_true(n_done > (uint32_t)n_random / 2);
}

/* ---- a real one ---------------------------------------------------------------------------- */

/* system1 and llama70b, of few layers: every strategy of pp stages on its 64 NPUs. The median of bound over simulated time. */
static double bound_strategies(uint32_t pp, uint32_t layers)
{
    static const char *const rings[] = {"ring", "ring", "ring"};
    uint32_t ranks = 64 / pp;

    run.net = (net_network){0};
    for (int i = 0; i < 3; i++)
        add_dimension("Ring", 4, 100, 50);
    assert_ok(net_network_finish(&run.net, &err), &err);
    use_plain_settings();
    use_algorithms(rings);
    run.set.splits = 10;
    run.set.active_chunks = 4;
    set_model(layers, 1024, 4096, 32000, 8192, 28672, 64);
    for (uint32_t dp = 1; dp <= ranks; dp *= 2)
        for (uint32_t tp = 1; dp * tp <= ranks; tp *= 2)
            for (int v = 0; v < 4; v += 3) {
                run.strategy = WL_STRATEGY(.dp = dp, .tp = tp, .sp = ranks / dp / tp, .pp = pp,
                                           .recompute = (v & 1) != 0, .weight_sharded = v >> 1 != 0,
                                           .tag_base = WL_TAG_BASE);
                check_bound();
            }
    print_ratios("strategies of a real model");
    return ratio[n_ratios / 2];
}

CLAIM(mostly_four_fifths_of_the_simulated_time_of_a_real_model_or_more)
{
    assert_true(bound_strategies(1, 1) > 0.8);
}

/* No stage is busy for more than a quarter of the step. */
CLAIM(mostly_half_of_that_of_four_stages_as_each_waits_for_the_others)
{
    assert_true(bound_strategies(4, 3) > 0.5);
    assert_int_equal(run.bound.by, SIM_BOUND_CHAIN);
}

/* What paths are for: the search closes where a bound is close. */
CLAIM(with_paths_mostly_nineteen_twentieths_whatever_the_stages)
{
    counts_paths = true;
    assert_true(bound_strategies(1, 2) > 0.95);
    n_ratios = 0;
    assert_true(bound_strategies(4, 3) > 0.95);
    assert_int_equal(run.with_paths.by, SIM_BOUND_CHAIN);
}

/* ---- closed forms -------------------------------------------------------------------------- */

/* Four NPUs in a ring of 2^30 bytes per second, tp 4. */
static void begin_ring_of_4(void)
{
    static const char *const ring[] = {"ring"};

    run.net = (net_network){0};
    add_dimension("Ring", 4, 1, 500);
    assert_ok(net_network_finish(&run.net, &err), &err);
    use_plain_settings();
    use_algorithms(ring);
    set_model(1, 64, 512, 1024, 512, 2048, 8);
    run.strategy = WL_STRATEGY(.dp = 1, .tp = 4, .sp = 1, .pp = 1, .tag_base = WL_TAG_BASE);
}

/* Kernels of 5 us each outlast all communication over links that take next to no time. */
CLAIM(fixed_costs_are_in_the_bound)
{
    dse_time without;

    begin_ring_of_4();
    run.net.n_dims = 0;
    add_dimension("Ring", 4, 1e6, 0);
    assert_ok(net_network_finish(&run.net, &err), &err);
    assert_true(check_bound());
    without = run.bound.wall;
    run.set.step_overhead = 123456;
    assert_true(check_bound());
    assert_u64(run.bound.wall, without + 123456);
    run.set.kernel_overhead_ns = 5000;
    assert_true(check_bound());
    assert_int_equal(run.bound.by, SIM_BOUND_COMPUTE);
    assert_true(run.bound.wall > without + 123456 + 10 * 5000);
}

/* Without a roofline every computation takes a tick, and no collective that all ranks enter at once waits for anybody. */
CLAIM(ranks_in_step_that_wait_for_communication_alone_take_just_the_bound)
{
    begin_ring_of_4();
    run.set.roofline = false;
    assert_true(check_bound());
    assert_int_equal(run.bound.by, SIM_BOUND_COMM);
    assert_true(run.wall - run.bound.wall <= run.compute);
}

CLAIM(the_larger_part_is_the_bound_and_the_first_of_equals_gives_it_its_name)
{
    begin_ring_of_4();
    assert_true(check_bound());
    assert_u64(run.bound.wall, run.bound.part[run.bound.by]);
    assert_string_equal(sim_bound_name(SIM_BOUND_COMPUTE), "the compute of the longest rank");
    assert_string_equal(sim_bound_name(SIM_BOUND_COMM), "the communication of the busiest rank");
    assert_string_equal(sim_bound_name(SIM_BOUND_CHAIN), "the chain of dependencies");
    run.set.memory_bytes_per_s = 1;
    assert_true(check_bound());
    assert_int_equal(run.bound.by, SIM_BOUND_COMPUTE);
}

CLAIM(without_tracking_of_memory_nothing_is_said_of_it)
{
    begin_ring_of_4();
    assert_true(check_bound());
    assert_true(run.bound.held > 0);
    run.set.track_memory = false;
    assert_true(check_bound());
    assert_u64(run.bound.held, 0);
}

/* Ten chunks, four at once, up two dimensions and down again: the longest phase takes two rounds more than one chunk in all
 * phases. What computes takes a tick each. Links that wait for each other are not in the bound. */
CLAIM(chunks_of_several_phases_go_in_full_rounds)
{
    for (int congested = 0; congested < 2; congested++) {
        begin_ring_of_4();
        run.net = (net_network){.congestion = congested};
        add_dimension("Switch", 4, 50, 500);
        add_dimension("Switch", 2, 100, 500);
        assert_ok(net_network_finish(&run.net, &err), &err);
        use_algorithms((const char *[]){"direct", "halvingDoubling"});
        run.set.splits = 10;
        run.set.active_chunks = 4;
        run.set.roofline = false;
        run.strategy = WL_STRATEGY(.dp = 8, .tp = 1, .sp = 1, .pp = 1, .tag_base = WL_TAG_BASE);
        assert_true(check_bound());
        assert_int_equal(run.bound.by, SIM_BOUND_COMM);
        assert_true(congested || (double)run.bound.wall > 0.99 * (double)run.wall);
    }
}

/* ---- where ranks are ----------------------------------------------------------------------- */

/* A matrix split by its rows along tp, whose partial sums are added up in front of z; its gradient is added up along dp. */
#define BY_ROWS                                                                                              \
    "symbols: {B: batch, M: model}\n"                                                                        \
    "blocks:\n"                                                                                              \
    "  rows:\n"                                                                                              \
    "    x: {input: [B/dp, M/tp]}\n"                                                                         \
    "    w: {weight: [M/tp, M]}\n"                                                                           \
    "    y: {einsum: \"x[bm] w[mn] -> bn\", over: {b: B/dp, m: M/tp, n: M}}\n"                               \
    "    z: {scale: y, by: 1, shape: [B/dp, M]}\n"                                                           \
    "    dz: {input: [B/dp, M], gradient_of: z}\n"                                                           \
    "    dw: {einsum: \"dz[bn] x[bm] -> mn\", over: {b: B/dp, m: M/tp, n: M}, gradient_of: w}\n"             \
    "model: {a: {block: rows}}\nlinks: {loss: {a_z: a_dz}}\n"

/* Two nodes of four, dp 2, tp 4, B 128, M 1024; computations take a tick each: y, z, dw, w@1. Delays of a message of m
 * bytes, each way two links: in a node 2 * 500 + m / 107.37 ns, between nodes 2 * 5000 + m / 10.737; of the ring of n
 * members over S bytes: 2 (n - 1) messages of S / n, one more endpoint of 10, n - 1 reductions, 3 m / 3000 each.
 *
 * tp adds up y, 64 * 1024: m = 16384. A node's delay 1152, 15 a reduction; between nodes 10000 + 1525.
 * dp adds up dw, 256 * 1024: m = 131072. In a node 2220, between nodes 10000 + 12207; 129 the reduction. */
static dse_time time_of_two_nodes(const char *placement)
{
    static const char *const rings[] = {"ring", "ring"};

    assert_ok(cfg_parse_yaml("rows.yaml", BY_ROWS, strlen(BY_ROWS), &study, &doc, &err), &err);
    run.net = (net_network){.full_multi_hop = true};
    add_dimension("Switch", 4, 100, 500);
    add_dimension("Switch", 2, 10, 5000);
    assert_ok(net_network_finish(&run.net, &err), &err);
    use_plain_settings();
    use_algorithms(rings);
    run.set.roofline = false;
    run.symbols = (wl_symbols){.n = 2, .name = {"B", "M"}, .value = {128, 1024}};
    run.layers = 0;
    run.strategy = WL_STRATEGY(.dp = 2, .tp = 4, .sp = 1, .pp = 1, .tag_base = WL_TAG_BASE);
    assert_ok(strategy_parse(&strategy_parameters[STRATEGY_placement], "placement", placement,
                             &run.strategy.placement, &err),
              &err);
    assert_true(check_bound());
    return run.wall;
}

/* tp is ranks 0-3, in a node; dp is 0 and 4, across. */
CLAIM(with_tp_innermost_its_collectives_stay_in_the_node)
{
    const dse_time tp = 6 * 1152 + 7 * 10 + 3 * 15, dp = 2 * 22207 + 3 * 10 + 129;

    assert_u64(time_of_two_nodes("tp,sp,dp,pp"), 4 + tp + dp);
    assert_true(run.bound.wall >= tp + dp); /* collectives of ranks in step: the bound has what they take */
}

/* dp is 0 and 1; tp is 0, 2, 4, 6: every other message goes from place 2 of a node to place 0 of the other one, and
 * pays for both dimensions. Six steps meet three of them. */
CLAIM(with_dp_innermost_it_is_tp_that_crosses_the_nodes)
{
    const dse_time tp = 3 * 1152 + 3 * (1152 + 11525) + 7 * 10 + 3 * 15, dp = 2 * 2220 + 3 * 10 + 129;

    assert_u64(time_of_two_nodes("dp,tp,sp,pp"), 4 + tp + dp);
    assert_true(run.bound.wall >= tp + dp);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(never_above_the_simulated_time_whatever_the_system),
        TEST(mostly_four_fifths_of_the_simulated_time_of_a_real_model_or_more),
        TEST(mostly_half_of_that_of_four_stages_as_each_waits_for_the_others),
        TEST(with_paths_mostly_nineteen_twentieths_whatever_the_stages),
        TEST(fixed_costs_are_in_the_bound),
        TEST(ranks_in_step_that_wait_for_communication_alone_take_just_the_bound),
        TEST(chunks_of_several_phases_go_in_full_rounds),
        TEST(the_larger_part_is_the_bound_and_the_first_of_equals_gives_it_its_name),
        TEST(without_tracking_of_memory_nothing_is_said_of_it),
        TEST(with_tp_innermost_its_collectives_stay_in_the_node),
        TEST(with_dp_innermost_it_is_tp_that_crosses_the_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
