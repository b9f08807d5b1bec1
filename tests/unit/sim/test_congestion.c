/* Runs on a network whose links fill up, against closed forms and against what must be conserved.
 *
 * Notation: E = 10 the endpoint delay, D = 50 + m a message of m bytes over one link, R the reduction of m bytes. A message
 * over h links takes h D, and the next one finds each of them free after m.
 *
 * Linked with sim_messages_post wrapped (list.cmake), so that what is sent can be added up. */
#include "sim/messages.h"
#include "unit/sim/world.h"

#define E 10u

static net_shape row(uint32_t n) { return (net_shape){.extent = {n, 1}}; }

static void begin(const char *topology, net_shape shape, const char *algorithm)
{
    world_empty();
    world_shape(topology, shape, 50, algorithm);
    world.net.congestion = true;
}

/* ---- messages ------------------------------------------------------------------------------ */

/* A send and its receive; both end when the message arrives. */
static void message(uint32_t src, uint32_t dst, uint64_t bytes, uint32_t tag)
{
    world_message(src, "s", true, dst, bytes, tag);
    world_message(dst, "r", false, src, bytes, tag);
}

CLAIM(on_idle_links_a_message_takes_its_hops)
{
    begin("Mesh2D", row(5), "ring");
    message(0, 3, 1000, 1);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, 0, 0, 3 * 1050);
    assert_ticks(3, 0, 0, 3 * 1050);
    assert_u64(world.result.load->dim[0].n_messages, 3);
    world_end();
}

/* Senders in the order of their ranks reach the switch together; its link to rank 0 takes one after the other. */
CLAIM(many_senders_to_one_arrive_a_message_s_length_apart)
{
    begin("Switch", (net_shape){.n = 6}, "ring");
    for (uint32_t r = 1; r < 6; r++)
        message(r, 0, 1000, r);
    assert_ok(world_run(), &world.err);
    for (uint32_t r = 1; r < 6; r++)
        assert_ticks(r, 0, 0, 2 * 1050 + (r - 1) * 1000);
    world_end();
}

/* On a line 0 - 1 - 2 rank 0 sends to 2, and so does rank 1 once it has computed for 953: it finds 1 -> 2 idle, and rank 0's
 * message, at 1 since 1050, goes on when rank 1's has left. */
CLAIM(messages_of_several_ranks_share_a_link)
{
    uint32_t compute, send;

    begin("Mesh2D", row(3), "ring");
    message(0, 2, 1000, 1);
    compute = world_comp(1, "c", MIB, MIB);
    send = world_message(1, "s", true, 2, 4000, 2);
    world_after(1, send, compute);
    world_message(2, "r", false, 1, 4000, 2);
    assert_ok(world_run(), &world.err);
    assert_ticks(1, 1, MIB_TICKS, MIB_TICKS + 4050);
    assert_ticks(0, 0, 0, MIB_TICKS + 4000 + 1050);
    world_end();
}

/* ---- collectives --------------------------------------------------------------------------- */

/* Every link has one sender, whose messages come one after the other: nothing waits, and all takes as long as without
 * congestion. */
CLAIM(a_ring_all_reduce_on_a_ring_takes_as_long_as_without_congestion)
{
    static const uint32_t ranks[] = {2, 3, 4, 7, 8, 16};

    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        uint64_t p = ranks[i], m = 64 * 1024 / p, d = 50 + m;

        begin("Ring", (net_shape){.n = ranks[i]}, "ring");
        assert_all_end_at(WL_ALL_REDUCE, 64 * 1024, E + 2 * (p - 1) * (d + E) + (p - 1) * world_reduction(m));
    }
}

/* A row of p has no link from its end to its beginning: those messages take the p - 1 links back, which nobody else uses.
 * The last message that rank r receives has come over 2(p-1) steps, back from r over its p predecessors and p - 2 more. One
 * of these steps is the long one, and a second one if r + 1 + p <= 2(p-1): for all but the last two ranks. */
CLAIM(a_ring_all_reduce_on_a_mesh_row_pays_for_the_way_back)
{
    static const uint32_t ranks[] = {2, 3, 4, 5, 8, 16};

    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        uint64_t p = ranks[i], m = 64 * 1024 / p, d = 50 + m;

        begin("Mesh2D", row(ranks[i]), "ring");
        for (uint32_t r = 0; r < p; r++)
            world_coll(r, "c", WL_ALL_REDUCE, 64 * 1024, 0);
        assert_ok(world_run(), &world.err);
        for (uint32_t r = 0; r < p; r++) {
            uint64_t ways_back = r + 3 <= p ? 2 : 1;

            assert_u64(world_stats(r)->wall, E + 2 * (p - 1) * E + (p - 1) * world_reduction(m) +
                                                 (2 * (p - 1) - ways_back) * d + ways_back * (p - 1) * d);
        }
        world_end();
    }
}

/* Everybody sends p - 1 messages at once, rank r to r + 1, r + 2, ...: in each round to p different ranks. They leave m apart,
 * and each of the switch's links carries one a round: the last is there (p - 2) m after the first. */
CLAIM(an_all_to_all_over_a_switch_keeps_its_links_busy)
{
    uint64_t p = 4, m = 1000, d = 50 + m;

    begin("Switch", (net_shape){.n = 4}, "direct");
    assert_all_end_at(WL_ALL_TO_ALL, m * p, E + 2 * d + (p - 2) * m + E);
}

/* ---- groups -------------------------------------------------------------------------------- */

/* On a row 0 - 1 - 2 - 3, ranks 0 and 3 with messages of m = 10000, ranks 1 and 2 with 10 m. Both ways are alike. The link
 * between 1 and 2: from 10 to 10 + 10 m the inner group's first message; the outer group's, there since 10 + D, until 10 +
 * 11 m = 110010; the inner group's second, which came at 10 + 50 + 10 m + E + R(10 m) = 100340, until 210010; the outer
 * group's second, which came at about 130000. So the inner one ends at 210010 + 50 + E, and the outer, two links from
 * there, at 210010 + 2 D + E. */
static void outer_and_inner(bool outer, bool inner)
{
    static const uint32_t ends[] = {0, 3}, middle[] = {1, 2};
    uint32_t o, i;

    begin("Mesh2D", row(4), "ring");
    o = world_group("outer", 2, ends);
    i = world_group("inner", 2, middle);
    for (uint32_t k = 0; k < 2; k++) {
        if (outer)
            world_coll(ends[k], "c", WL_ALL_REDUCE, 2 * 10000, o);
        if (inner)
            world_coll(middle[k], "c", WL_ALL_REDUCE, 2 * 100000, i);
    }
    for (uint32_t r = 0; r < 4; r++)
        if (!world.rank[r].n)
            world_comp(r, "c", MIB, MIB);
    assert_ok(world_run(), &world.err);
}

CLAIM(groups_that_share_links_take_longer_than_either_alone)
{
    uint64_t d = 50 + 10000, inner_alone = E + 2 * (50 + 100000 + E) + world_reduction(100000),
             outer_alone = E + 2 * (3 * d + E) + world_reduction(10000);

    outer_and_inner(true, false);
    assert_u64(world_stats(0)->wall, outer_alone);
    world_end();
    outer_and_inner(false, true);
    assert_u64(world_stats(1)->wall, inner_alone);
    world_end();
    outer_and_inner(true, true);
    for (uint32_t k = 0; k < 2; k++) {
        assert_u64(world_stats(1 + k)->wall, 210010 + 50 + E);
        assert_u64(world_stats(3 * k)->wall, 210010 + 2 * d + E);
    }
    assert_true(210010 + 50 + E > inner_alone && 210010 + 2 * d + E > outer_alone);
    world_end();
}

CLAIM(groups_on_links_of_their_own_do_not_disturb_each_other)
{
    static const uint32_t pairs[][2] = {{0, 1}, {2, 3}};
    static const uint64_t m[] = {10000, 70000};

    begin("Mesh2D", row(4), "ring");
    for (uint32_t g = 0; g < 2; g++) {
        uint32_t group = world_group(g ? "right" : "left", 2, pairs[g]);

        for (uint32_t k = 0; k < 2; k++)
            world_coll(pairs[g][k], "c", WL_ALL_REDUCE, 2 * m[g], group);
    }
    assert_ok(world_run(), &world.err);
    for (uint32_t r = 0; r < 4; r++)
        assert_u64(world_stats(r)->wall, E + 2 * (50 + m[r / 2] + E) + world_reduction(m[r / 2]));
    world_end();
}

/* ---- conservation -------------------------------------------------------------------------- */

static struct {
    uint64_t n, n_arrived, from[WORLD_MAX_RANKS], to[WORLD_MAX_RANKS];
    uint64_t bytes[WORLD_MAX_RANKS][WORLD_MAX_RANKS], times[WORLD_MAX_RANKS][WORLD_MAX_RANKS];
} sent;

uint32_t __real_sim_messages_post(sim_messages *m, const sim_message_key *key, bool send, sim_call call);
uint32_t __wrap_sim_messages_post(sim_messages *m, const sim_message_key *key, bool send, sim_call call);

uint32_t __wrap_sim_messages_post(sim_messages *m, const sim_message_key *key, bool send, sim_call call)
{
    if (send && !world.comparing) {
        sent.n++;
        sent.from[key->src] += key->size;
        sent.to[key->dst] += key->size;
        sent.bytes[key->src][key->dst] += key->size;
        sent.times[key->src][key->dst]++;
    }
    return __real_sim_messages_post(m, key, send, call);
}

/* Sizes of a dimension, by how many there are: of a line, and along axes; at most 16 NPUs in all. */
static const struct {
    uint32_t line[2], axes[NET_MAX_AXES + 1][NET_MAX_AXES];
} sizes[] = {{{8, 16}, {[2] = {4, 3}, [3] = {2, 3, 2}}},
             {{2, 4}, {[2] = {2, 2}, [3] = {2, 1, 2}}},
             {{2, 2}, {[2] = {1, 2}, [3] = {1, 1, 2}}}};

/* Up to three dimensions of every topology; four collectives of all ranks. */
static void random_world(uint64_t *seed)
{
    static const char *const algorithms[] = {"ring", "direct", "direct2"};
    static const wl_coll_type colls[] = {WL_ALL_REDUCE, WL_ALL_GATHER, WL_REDUCE_SCATTER, WL_ALL_TO_ALL};
    size_t n;
    const net_topology *rows = net_topologies(&n);
    uint32_t dims = 1 + (uint32_t)(unit_random(seed) % 3);

    world_empty();
    for (uint32_t i = 0; i < dims; i++) {
        const net_topology *t = &rows[unit_random(seed) % n];
        const uint32_t *axes = sizes[dims - 1].axes[t->n_axes];
        net_shape shape = {.extent = {axes[0], axes[1], axes[2]}};

        shape.n = t->n_axes ? 0 : sizes[dims - 1].line[unit_random(seed) % 2];
        world_shape(t->name, shape, (double)(unit_random(seed) % 500), algorithms[unit_random(seed) % 3]);
    }
    world.net.congestion = true;
    world.set.splits = 1 + (uint32_t)(unit_random(seed) % 4);
    world.set.active_chunks = 1 + (uint32_t)(unit_random(seed) % 3);
    world.set.local_bw_aware = unit_random(seed) % 2;
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t size = 1000 + unit_random(seed) % 100000;

        for (uint32_t r = 0; r < world.net.n_npus; r++)
            world_coll(r, "c", colls[k], size, 0);
    }
}

/* Sums over the links of a device. */
static void check_device(const net_load *t, uint32_t device)
{
    uint64_t in = 0, out = 0;

    for (uint32_t slot = 0; slot < t->graph->n_slots; slot++) {
        in += t->graph->link[slot].to == device ? t->link[slot].bytes : 0;
        out += t->graph->link[slot].from == device ? t->link[slot].bytes : 0;
    }
    if (device < world.net.n_npus)
        assert_u64(in + sent.from[device], out + sent.to[device]);
    else
        assert_u64(in, out);
}

CLAIM(links_carry_what_is_sent_and_no_more_than_they_can)
{
    uint64_t seed = 12;

    for (int i = 0; i < 100; i++) {
        const net_load *t;
        uint64_t byte_hops = 0, hops = 0, on_links = 0, taken = 0;
        dse_time end = 0;

        random_world(&seed);
        memset(&sent, 0, sizeof sent);
        assert_ok(world_run(), &world.err);
        t = world.result.load;
        for (uint32_t src = 0; src < world.net.n_npus; src++) {
            end = world_stats(src)->finished > end ? world_stats(src)->finished : end;
            for (uint32_t dst = 0; dst < world.net.n_npus; dst++) {
                uint64_t n = src == dst ? 0 : net_graph_hops(t->graph, src, dst);

                byte_hops += n * sent.bytes[src][dst];
                hops += n * sent.times[src][dst];
            }
        }
        for (uint32_t slot = 0; slot < t->graph->n_slots; slot++) {
            on_links += t->link[slot].bytes;
            taken += t->link[slot].n_messages;
            assert_true(t->link[slot].busy <= end);
        }
        assert_u64(on_links, byte_hops);
        assert_u64(taken, hops);
        assert_u64(world.result.n_messages, sent.n);
        for (uint32_t device = 0; device < t->graph->n_devices; device++)
            check_device(t, device);
        world_end();
    }
}

/* A link that is busy for 1000 of the 1050 of the message is so for 1000 of 4050 of the step. */
CLAIM(links_are_idle_during_the_cost_of_a_step)
{
    begin("Mesh2D", row(2), "ring");
    world.set.step_overhead = 3000;
    message(0, 1, 1000, 1);
    assert_ok(world_run(), &world.err);
    assert_u64(world.result.load->end, 4050);
    assert_double(net_load_util(world.result.load, world.result.load->busiest), 1000.0 / 4050);
    world_end();
}

CLAIM(a_run_without_congestion_has_no_traffic)
{
    begin("Ring", (net_shape){.n = 4}, "ring");
    world.net.congestion = false;
    message(0, 1, 1000, 1);
    for (uint32_t r = 2; r < 4; r++)
        world_comp(r, "c", MIB, MIB);
    assert_ok(world_run(), &world.err);
    assert_null(world.result.load);
    world_end();
}

/* Without congestion messages between NPUs that differ in several dimensions are counted; with it they pay for all. */
CLAIM(with_congestion_no_message_is_undercharged)
{
    for (int congestion = 0; congestion < 2; congestion++) {
        world_empty();
        world_dimension("Ring", 2, 50, "ring");
        world_dimension("Ring", 2, 50, "ring");
        world.net.congestion = congestion;
        message(0, 3, 1000, 1);
        message(1, 0, 1000, 2);
        world_comp(2, "c", MIB, MIB);
        assert_ok(world_run(), &world.err);
        assert_u64(world.result.n_undercharged, congestion ? 0 : 1);
        assert_ticks(0, 0, 0, congestion ? 2 * 1050 : 1050);
        world_end();
    }
}

/* ---- what cannot end ----------------------------------------------------------------------- */

/* On a line of five, rank 1 starts `a` when 1000 bytes of rank 4 have come over three links, and `b` when 1500 of rank 2
 * have come over one; rank 0 starts `a` and then `b`. Without congestion the 1000 are there first, after 3 * 50 + 1000;
 * stored and forwarded they take 3 * 1050, the 1500 take 1550 in both. */
static dse_status order_of_arrivals(bool congestion)
{
    static const uint32_t pair[] = {0, 1};
    uint32_t a, b;

    begin("Mesh2D", row(5), "ring");
    world.net.congestion = congestion;
    a = world_group("a", 2, pair);
    b = world_group("b", 2, pair);
    world_coll(0, "first", WL_ALL_REDUCE, 1000, a);
    world_coll(0, "second", WL_ALL_REDUCE, 2000, b);
    message(4, 1, 1000, 1);
    message(2, 1, 1500, 2);
    world_after(1, world_coll(1, "first", WL_ALL_REDUCE, 1000, a), 0);
    world_after(1, world_coll(1, "second", WL_ALL_REDUCE, 2000, b), 1);
    world_comp(3, "c", MIB, MIB);
    return world_run();
}

CLAIM(congestion_that_turns_the_order_of_collectives_is_a_deadlock_with_names)
{
    assert_ok(order_of_arrivals(false), &world.err);
    world_end();
    assert_says(
        order_of_arrivals(true), &world.err, DSE_E_SIM,
        "2 of 5 ranks never finish; waiting: rank 0, node 1 'first' (ALL_REDUCE of 2 ranks, group 'a'; ");
    assert_non_null(strstr(world.err.text, "rank 1, node 4 'second' (ALL_REDUCE of 2 ranks, group 'b'; "));
    world_end();
}

CLAIM(a_receive_that_nobody_sends_is_named)
{
    begin("Ring", (net_shape){.n = 4}, "ring");
    message(2, 0, 1000, 1);
    world_message(1, "r", false, 3, 1000, 7);
    world_comp(3, "c", MIB, MIB);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "deadlock at tick 2100: 1 of 4 ranks never finish; waiting: rank 1, node 1 'r' (a message of "
        "1000 bytes with tag 7 that rank 3 never sends)");
    world_end();
}

/* The reference's queue of events begins after tick 0: at 50 GiB/s a byte leaves the link in less than 1 ns. */
CLAIM(a_message_that_frees_its_link_at_tick_0_is_refused)
{
    begin("Ring", (net_shape){.n = 2}, "ring");
    world.net.dim[0].gib_per_s = 50;
    assert_int_equal(net_network_finish(&world.net, NULL), DSE_OK);
    message(0, 1, 1, 1);
    assert_says(world_run(), &world.err, DSE_E_SIM,
                "the first message takes a link for less than 1 ns at tick 0");
    world_end();
}

CLAIM(more_links_than_can_be_simulated_are_refused)
{
    net_network net = {.n_dims = 1, .n_npus = 8193, .congestion = true};
    dse_error err = DSE_ERROR_INIT;
    wl_graph nothing = {0};
    wl_workload w = {.n_ranks = 8193, .n_graphs = 1, .graph = &nothing};
    sim_settings set = {.splits = 1, .active_chunks = 1, .queues_per_dim = 1};
    sim_result result;
    dse_arena arena;

    net.dim[0] = (net_dimension){
        .topology = net_topology_find("FullyConnected"), .shape.n = 8193, .gib_per_s = 1, .latency_ns = 1};
    assert_ok(net_network_finish(&net, &err), &err);
    dse_arena_init(&arena);
    w.rank = DSE_ARENA_NEW(&arena, wl_rank, w.n_ranks);
    assert_says(sim_run(&set, &net, &w, SIM_ALL_SHORTCUTS, &arena, &result, NULL, &err), &err, DSE_E_RANGE,
                "the network has 67117056 ports; at most 67108864 can be simulated one by one");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_idle_links_a_message_takes_its_hops),
        cmocka_unit_test(many_senders_to_one_arrive_a_message_s_length_apart),
        cmocka_unit_test(messages_of_several_ranks_share_a_link),
        cmocka_unit_test(a_ring_all_reduce_on_a_ring_takes_as_long_as_without_congestion),
        cmocka_unit_test(a_ring_all_reduce_on_a_mesh_row_pays_for_the_way_back),
        cmocka_unit_test(an_all_to_all_over_a_switch_keeps_its_links_busy),
        cmocka_unit_test(groups_that_share_links_take_longer_than_either_alone),
        cmocka_unit_test(groups_on_links_of_their_own_do_not_disturb_each_other),
        cmocka_unit_test(links_carry_what_is_sent_and_no_more_than_they_can),
        cmocka_unit_test(links_are_idle_during_the_cost_of_a_step),
        cmocka_unit_test(a_run_without_congestion_has_no_traffic),
        cmocka_unit_test(with_congestion_no_message_is_undercharged),
        cmocka_unit_test(congestion_that_turns_the_order_of_collectives_is_a_deadlock_with_names),
        cmocka_unit_test(a_receive_that_nobody_sends_is_named),
        cmocka_unit_test(a_message_that_frees_its_link_at_tick_0_is_refused),
        cmocka_unit_test(more_links_than_can_be_simulated_are_refused),
    };
    return RUN_TESTS(tests);
}
