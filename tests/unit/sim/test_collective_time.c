/* How long collectives take by what was measured: the rule of collective_time.h, by hand.
 *
 * Two nodes or more of four NPUs, unless a claim says otherwise. A NPU's link moves 8 bytes per ns in the node and one byte
 * per ns between nodes, of which collectives reach a half (4) and 0.8: a node has 4 x 0.8 = 3.2. A collective in the node
 * has 100 ns, beyond it 1000; a step 10 and 50. */
#include "sim/collective_time.h"
#include "unit/unit.h"
#include "workload/graph.h"

#define BYTE_PER_NS (1953125.0 / 2097152)

static net_network net;
static dse_arena arena;

static void begin(uint32_t nodes)
{
    dse_error err = DSE_ERROR_INIT;

    dse_arena_init(&arena);
    net = (net_network){.n_dims = 2, .is_measured = true, .table = {.pair = 1, .gib_per_s = NAN}};
    net.dim[0] =
        (net_dimension){.topology = net_topology_find("Switch"), .shape.n = 4, .gib_per_s = 8 * BYTE_PER_NS};
    net.dim[1] =
        (net_dimension){.topology = net_topology_find("Switch"), .shape.n = nodes, .gib_per_s = BYTE_PER_NS};
    net.dim[0].reach = (net_reach){.efficiency = 0.5, .latency_ns = 100, .step_ns = 10};
    net.dim[1].reach = (net_reach){.efficiency = 0.8, .latency_ns = 1000, .step_ns = 50};
    assert_ok(net_network_finish(&net, &err), &err);
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

/* Groups of n ranks, `stride` apart, over all NPUs. */
static sim_groups groups_of(uint32_t n, uint32_t stride)
{
    sim_groups g = {.n_groups = net.n_npus / n, .n = n};
    uint32_t *member = DSE_ARENA_RAW(&arena, uint32_t, net.n_npus), at = 0;

    for (uint32_t r = 0; r < net.n_npus; r++)
        if (r / stride % n == 0)
            for (uint32_t i = 0; i < n; i++)
                member[at++] = r + i * stride;
    g.member = member;
    return g;
}

static dse_time time_of(uint32_t n, uint32_t stride, uint32_t collective, uint64_t bytes)
{
    const sim_groups g = groups_of(n, stride);
    const sim_alone t = sim_collective_time(&net, &g, collective, bytes, &arena);

    assert_true(t.is_even);
    return t.ticks;
}

/* Four in a node: 2 x 3/4 of 4000 bytes are 6000, at 4 a ns 1500; 100 + 2 x 3 steps of 10. An all-gather of 1000 bytes each,
 * and a reduce-scatter of 4000 bytes, are half of it: 100 + 30 + 750. */
CLAIM(a_ring_in_a_node_has_its_bus_bandwidth_and_its_steps)
{
    (void)state;
    begin(2);
    assert_u64(time_of(4, 1, WL_ALL_REDUCE, 4000), 1660);
    assert_u64(time_of(4, 1, WL_ALL_GATHER, 1000), 880);
    assert_u64(time_of(4, 1, WL_REDUCE_SCATTER, 4000), 880);
    /* each sends 3 x 1000 bytes */
    assert_u64(time_of(4, 1, WL_ALL_TO_ALL, 4000), 100 + 30 + 750);
}

/* Eight over two nodes: 7/8 x 64000 = 56000 bytes leave a node of four at 3.2 a ns: 17500. One step between nodes and six
 * in them: 50 + 60. */
CLAIM(a_ring_over_nodes_uses_the_cards_of_all_its_members)
{
    (void)state;
    begin(2);
    assert_u64(time_of(8, 1, WL_ALL_GATHER, 8000), 1000 + 110 + 17500);
    /* of four, two in each node: half of the cards; 3/4 x 64000 / 1.6 = 30000; 1 step between, 2 in them */
    assert_u64(time_of(4, 2, WL_ALL_GATHER, 16000), 1000 + 70 + 30000);
    /* one in each node: 1/2 x 64000 / 0.8 */
    assert_u64(time_of(2, 4, WL_ALL_GATHER, 32000), 1000 + 50 + 40000);
}

/* 16 in four nodes: the ring has 2 (3 x 50 + 12 x 10) and 2 x 15/16 S / 3.2; the tree 2 (2 x 50 + 3 x 10) and
 * 2 S / (0.9 x 3.2). S = 288: 540 + 168.75 against 260 + 200. S = 28800: 540 + 16875 against 260 + 20000. */
CLAIM(an_all_reduce_between_nodes_is_a_tree_while_it_is_small)
{
    (void)state;
    begin(4);
    assert_u64(time_of(16, 1, WL_ALL_REDUCE, 288), 1000 + 260 + 200);
    assert_u64(time_of(16, 1, WL_ALL_REDUCE, 28800), 1000 + 540 + 16875);
}

/* Each NPU of eight sends four eighths of 6400 bytes to the other node: 4 x 3200 / 3.2 = 4000. In the node 3/8 of it at 4 a
 * ns, which is less. */
CLAIM(an_all_to_all_sends_most_of_it_between_nodes)
{
    (void)state;
    begin(2);
    assert_u64(time_of(8, 1, WL_ALL_TO_ALL, 6400), 1000 + 110 + 4000);
}

/* Two cards for four NPUs: a pair of groups of one in each node has one each, so 2 x 0.8 a ns; four share them: 0.8. */
CLAIM(groups_share_the_cards_of_a_node)
{
    const uint32_t member[] = {0, 4};
    const sim_groups alone = {1, 2, member};

    (void)state;
    begin(2);
    net.dim[1].reach.rails = 2;
    assert_u64(time_of(2, 4, WL_ALL_GATHER, 32000), 1000 + 50 + 40000);
    assert_u64(sim_collective_time(&net, &alone, WL_ALL_GATHER, 32000, &arena).ticks, 1000 + 50 + 20000);
    assert_u64(time_of(8, 1, WL_ALL_GATHER, 8000), 1000 + 110 + 17500);
    /* one card of a group: half of the node */
    net.dim[1].reach.rails_per_group = 1;
    assert_u64(time_of(8, 1, WL_ALL_GATHER, 8000), 1000 + 110 + 35000);
}

/* Two sizes of four: 1000 bytes take 500 ns, 3000 bytes 900. */
CLAIM(a_table_is_linear_between_its_sizes)
{
    (void)state;
    begin(2);
    net.table = (net_table){.npus = 4, .n = 2, .bytes = {1000, 3000}, .pair = 0.8, .gib_per_s = NAN};
    net.table.ns[SIM_ALL_REDUCE][0] = 500;
    net.table.ns[SIM_ALL_REDUCE][1] = 900;
    assert_u64(time_of(4, 1, WL_ALL_REDUCE, 10), 500);
    assert_u64(time_of(4, 1, WL_ALL_REDUCE, 1000), 500);
    assert_u64(time_of(4, 1, WL_ALL_REDUCE, 2000), 700);
    assert_u64(time_of(4, 1, WL_ALL_REDUCE, 6000), 1800);
    /* of two: (1/2) / (3/4) of the bytes at 0.8 of the bandwidth: 900 x 2/3 / 0.8 */
    assert_u64(time_of(2, 1, WL_ALL_REDUCE, 3000), 750);
    /* measured on links half as fast: what is above 500 takes half */
    net.table.gib_per_s = net.dim[0].gib_per_s / 2;
    assert_u64(time_of(4, 1, WL_ALL_REDUCE, 3000), 700);
    net.table.gib_per_s = NAN;
    /* a kind that it has not, and a group over nodes, are as without it */
    assert_u64(time_of(4, 1, WL_ALL_GATHER, 1000), 880);
    assert_u64(time_of(8, 1, WL_ALL_REDUCE, 64000), 1000 + 220 + 35000);
}

static sim_alone send_to_the_next_node(uint32_t n, uint64_t bytes)
{
    sim_pair pair[8];
    const sim_pairs pairs = {n, pair};

    for (uint32_t i = 0; i < n; i++)
        pair[i] = (sim_pair){i, i + 4};
    return sim_message_time(&net, &pairs, bytes, &arena);
}

/* 800 bytes: in the node 100 + 10 + 800 / 4; beyond it 1000 + 50 + 800 / 0.8, all four at once, as each has its card. With
 * two cards one that sends alone has one, 1.6 a ns. */
CLAIM(a_message_has_its_share_of_the_cards)
{
    sim_pair near = {0, 1};
    const sim_pairs one = {1, &near};

    (void)state;
    begin(2);
    assert_u64(sim_message_time(&net, &one, 800, &arena).ticks, 310);
    assert_u64(send_to_the_next_node(4, 800).ticks, 2050);
    net.dim[1].reach.rails = 2;
    assert_u64(send_to_the_next_node(4, 800).ticks, 2050);
    assert_u64(send_to_the_next_node(1, 800).ticks, 1550);
}

/* Groups of three in nodes of four: the first is in a node, the second has one member in it and two beyond. */
CLAIM(the_slowest_group_counts)
{
    const uint32_t member[] = {0, 1, 2, 3, 4, 5};
    const sim_groups g = {2, 3, member};
    sim_alone t;

    (void)state;
    begin(2);
    t = sim_collective_time(&net, &g, WL_ALL_GATHER, 800, &arena);
    assert_false(t.is_even);
    assert_u64(t.ticks, 1000 + 60 + 2000); /* 2/3 of 2400 by the card of one */
}

static void make_rings(double efficiency)
{
    dse_error err = DSE_ERROR_INIT;

    begin(4);
    for (int d = 0; d < 2; d++) {
        net.dim[d].topology = net_topology_find("Ring");
        net.dim[d].reach = (net_reach){.efficiency = efficiency};
    }
    assert_ok(net_network_finish(&net, &err), &err);
}

/* Of four, 3/4 of 4000 bytes at 8 a ns are 375; both ways at 0.9 of it 3000 / 14.4 = 208.3. A group of two in a ring of four
 * is a line: 1/2 of 2000 bytes at 7.2 a ns are 138.9 (a time is truncated). A message, too: 720 bytes are 100. */
CLAIM(a_whole_ring_may_go_both_ways)
{
    sim_pair pair = {0, 1};

    (void)state;
    make_rings(1);
    assert_u64(time_of(4, 1, WL_REDUCE_SCATTER, 4000), 375);
    end(NULL);
    make_rings(1.8);
    assert_u64(time_of(4, 1, WL_REDUCE_SCATTER, 4000), 208);
    assert_u64(time_of(2, 1, WL_REDUCE_SCATTER, 2000), 138);
    assert_u64(sim_message_time(&net, &(sim_pairs){.n = 1, .pair = &pair}, 720, &arena).ticks, 100);
    /* Along the second axis 3000 bytes at 1.8 a ns; over both the second takes longest: 15/16 of 4800 are 4500, at 14.4 in the first and
     * 4 x 1.8 in the second. */
    assert_u64(time_of(4, 4, WL_REDUCE_SCATTER, 4000), 1666);
    assert_u64(time_of(16, 1, WL_REDUCE_SCATTER, 4800), 625);
    /* With as much along the second, 28.8 leave a NPU along both. */
    net.dim[1].bytes_per_ns = net.dim[0].bytes_per_ns;
    assert_u64(time_of(16, 1, WL_REDUCE_SCATTER, 4800), 156);
    net.dim[1].bytes_per_ns /= 8;
    /* Two have one link between them. */
    net.dim[1].shape.n = 2;
    net.n_npus = 8;
    assert_u64(time_of(2, 4, WL_REDUCE_SCATTER, 1800), 1000);
}

/* The heaviest way along a link of a ring, found by sending all messages the shorter way; of a line, the only one. */
static double load_of(uint32_t j, bool is_ring)
{
    double load[2][32] = {{0}}, most = 0;

    for (uint32_t from = 0; from < j; from++)
        for (uint32_t to = 0; to < j; to++) {
            const uint32_t up = (to + j - from) % j, down = (from + j - to) % j;
            const bool goes_up = is_ring ? up <= down : to > from;
            const double part = is_ring && up == down ? 0.5 : 1; /* opposite ones send both ways */

            for (uint32_t i = 0, at = from; (goes_up || part < 1) && i < up; i++, at = (at + 1) % j)
                load[0][at] += part;
            for (uint32_t i = 0, at = from; (!goes_up || part < 1) && i < down; i++, at = (at + j - 1) % j)
                load[1][at] += part;
        }
    for (uint32_t i = 0; i < j; i++) {
        most = load[0][i] > most ? load[0][i] : most;
        most = load[1][i] > most ? load[1][i] : most;
    }
    return most;
}

static void make_ring(uint32_t n)
{
    dse_error err = DSE_ERROR_INIT;

    make_rings(1.8);
    net.n_dims = 1;
    net.dim[0].shape.n = n;
    assert_ok(net_network_finish(&net, &err), &err);
}

/* 16 in a ring with 16000 bytes, 1000 for each other: of the 15 messages of a NPU 7 go 1 to 7 links up, and half of
 * the one to the opposite NPU 8: 32 links; so 32 messages are on a link, 32000 bytes at 7.2 a ns. If the 15000 bytes
 * that leave a NPU went both ways and no further, they took 1041. */
CLAIM(messages_of_an_all_to_all_pass_several_links_of_a_ring)
{
    (void)state;
    make_ring(16);
    assert_u64(time_of(16, 1, WL_ALL_TO_ALL, 16000), 4444);
    assert_true(load_of(16, true) == 32);
    /* eight in a row: 4 x 4 messages of 2000 bytes are in its middle */
    assert_u64(time_of(8, 1, WL_ALL_TO_ALL, 16000), 4444);
    end(NULL);
    for (uint32_t j = 2; j <= 17; j++) {
        make_ring(j);
        assert_u64(time_of(j, 1, WL_ALL_TO_ALL, 7200 * j), (uint64_t)(1000 * load_of(j, j > 2) + 1e-6));
        end(NULL);
        make_ring(2 * j);
        assert_u64(time_of(j, 1, WL_ALL_TO_ALL, 7200 * j), (uint64_t)(1000 * load_of(j, false) + 1e-6));
        end(NULL);
    }
    /* 4 x 4: a message passes a link of each axis on average, so that 3600 bytes go either way along each link; the
     * second's take 0.9 a ns. */
    make_rings(1.8);
    assert_u64(time_of(16, 1, WL_ALL_TO_ALL, 7200), 4000);
}

/* Bytes over all that a group's links can carry is less than it takes, however many members it has. */
CLAIM(no_collective_is_faster_than_its_links)
{
    static const uint32_t types[] = {WL_ALL_REDUCE, WL_ALL_GATHER, WL_REDUCE_SCATTER, WL_ALL_TO_ALL};

    (void)state;
    begin(4);
    net.dim[0].reach = net.dim[1].reach = (net_reach){.efficiency = 1};
    for (int i = 0; i < 4; i++) {
        assert_true(time_of(4, 1, types[i], 64000) >= 3 * 16000 / 8);
        assert_true(time_of(16, 1, types[i], 64000) >= 3 * 16000 / 4 / 4);
        assert_true(time_of(4, 4, types[i], 64000) >= 3 * 16000 / 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_ring_in_a_node_has_its_bus_bandwidth_and_its_steps, end),
        cmocka_unit_test_teardown(a_ring_over_nodes_uses_the_cards_of_all_its_members, end),
        cmocka_unit_test_teardown(an_all_reduce_between_nodes_is_a_tree_while_it_is_small, end),
        cmocka_unit_test_teardown(an_all_to_all_sends_most_of_it_between_nodes, end),
        cmocka_unit_test_teardown(groups_share_the_cards_of_a_node, end),
        cmocka_unit_test_teardown(a_table_is_linear_between_its_sizes, end),
        cmocka_unit_test_teardown(a_message_has_its_share_of_the_cards, end),
        cmocka_unit_test_teardown(the_slowest_group_counts, end),
        cmocka_unit_test_teardown(a_whole_ring_may_go_both_ways, end),
        cmocka_unit_test_teardown(messages_of_an_all_to_all_pass_several_links_of_a_ring, end),
        cmocka_unit_test_teardown(no_collective_is_faster_than_its_links, end),
    };

    return RUN_TESTS(tests);
}
