/* What the abridged engine does, and what it leaves to the plain one: for each reason a world, and next to it one that
 * just is not left. The order within a tick: test_abridged_ties.c. */
#include "unit/sim/abridged.h"

/* ---- systems --------------------------------------------------------------------------------------- */

CLAIM(some_systems_are_left_to_the_plain_engine)
{
    static const sim_fallback expected[] = {SIM_FALLBACK_NONE,           SIM_FALLBACK_CONGESTION,
                                            SIM_FALLBACK_RENDEZVOUS,     SIM_FALLBACK_SHARED_BUS,
                                            SIM_FALLBACK_SEVERAL_QUEUES, SIM_FALLBACK_SHARED_MEMORY};

    for (int what = 0; what < 6; what++) {
        begin();
        world.net.congestion = what == 1;
        world.set.rendezvous = what == 2;
        if (what == 3)
            world.set.bus = (sim_bus_settings){.shared = true, .L = 10, .o = 10};
        world.set.queues_per_dim = what == 4 ? 2 : 1;
        world.set.remote = (sim_remote_memory){
            .kind = what == 5 ? SIM_REMOTE_POOL : SIM_REMOTE_PER_NPU, .latency_ns = 100, .bytes_per_ns = 1};
        comp(0, "c", 100);
        check_engine(expected[what], __FILE__, __LINE__);
        world_end();
    }
}

CLAIM(without_memo_there_is_nothing_to_be_given_up)
{
    for (int symmetry = 0; symmetry < 2; symmetry++) {
        begin();
        world.shortcuts = (sim_shortcuts){.symmetry = symmetry};
        comp(0, "c", 100);
        assert_plain(NOT_ASKED);
        world_end();
    }
}

/* ---- workloads ------------------------------------------------------------------------------------- */

CLAIM(what_classes_refuse_is_left_to_the_plain_engine)
{
    for (uint32_t again = 0; again < 2; again++) { /* the second message under the same tag, or another */
        begin();
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t first = i ? 0 : DSE_NONE;

            for (uint32_t r = 0; r < 2; r++) {
                uint32_t m = world_message(r, "m", !r, !r, 1000, i * again);

                if (first != DSE_NONE)
                    world_after(r, m, first);
            }
        }
        if (again)
            assert_abridged();
        else
            assert_plain(SHARED_TAG);
        world_end();
    }
}

/* Among two an all-gather of 1000 bytes and a reduce-scatter of 2000 send a message of 1000 each, and these meet. */
CLAIM(different_collectives_that_meet_are_left_to_the_plain_engine)
{
    for (int different = 0; different < 2; different++) {
        uint32_t g;

        begin();
        g = world_group("g", 2, pair);
        world_coll(0, "c", WL_ALL_GATHER, 1000, g);
        world_coll(1, "c", different ? WL_REDUCE_SCATTER : WL_ALL_GATHER, different ? 2000 : 1000, g);
        if (different)
            assert_plain(UNLIKE_COLLECTIVES);
        else
            assert_abridged();
        assert_ticks(0, 0, 0, 10 + 1050 + 10);
        world_end();
    }
}

/* At 100 bytes a ns, without latency, 99 bytes take 0 ns. */
static void fast(void)
{
    begin();
    world.net.dim[0].gib_per_s = 100 * BYTE_PER_NS;
    world.net.dim[0].latency_ns = 0;
    assert_int_equal(net_network_finish(&world.net, NULL), DSE_OK);
}

CLAIM(messages_that_take_no_time_are_left_to_the_plain_engine)
{
    for (uint64_t bytes = 99; bytes < 101; bytes++) {
        uint32_t s;

        fast();
        s = world_message(0, "s", true, 1, bytes, 1);
        world_after(0, s, comp(0, "c", 200));
        world_message(1, "r", false, 0, bytes, 1);
        if (bytes < 100)
            assert_plain(INSTANT_MESSAGE);
        else
            assert_abridged();
        assert_ticks(1, 0, 0, 200 + bytes / 100);
        world_end();
    }
}

CLAIM(so_are_rings_whose_messages_take_no_time)
{
    for (uint64_t bytes = 99; bytes < 101; bytes++) {
        uint32_t g;

        fast();
        g = world_group("g", 2, pair);
        world_coll(0, "c", WL_ALL_GATHER, bytes, g);
        world_coll(1, "c", WL_ALL_GATHER, bytes, g);
        if (bytes < 100)
            assert_plain(NO_CLOSED_FORM);
        else
            assert_abridged();
        assert_ticks(0, 0, 0, 10 + bytes / 100 + 10);
        world_end();
    }
}

CLAIM(collectives_of_ranks_that_see_different_things_are_left_to_the_plain_engine)
{
    for (int square = 0; square < 2; square++) {
        world_empty();
        world.shortcuts = SIM_ALL_SHORTCUTS;
        if (square)
            world_shape("Mesh2D", (net_shape){.extent = {4, 2}}, 50, "ring");
        else
            world_dimension("Ring", 8, 50, "ring");
        for (uint32_t r = 0; r < 8; r++)
            world_coll(r, "c", WL_ALL_GATHER, 1000, 0);
        if (square)
            assert_plain(UNEVEN_COLLECTIVE);
        else
            assert_abridged();
        world_end();
    }
}

CLAIM(collectives_of_ranks_that_arrive_apart_are_left_to_the_plain_engine)
{
    for (dse_time late = 0; late < 2; late++) {
        begin();
        for (uint32_t r = 0; r < 4; r++)
            world_after(r, world_coll(r, "c", WL_ALL_GATHER, 1000, 0), comp(r, "a", 100 + late * (r == 3)));
        if (late)
            assert_plain(SCATTERED_BEGIN);
        else
            assert_abridged();
        assert_u64(world_stats(0)->wall, 100 + late + 1070); /* its last message is that of rank 3 */
        assert_u64(world_stats(3)->wall, 100 + 1070);
        world_end();
    }
}

/* 0 and 1 have run a chunk more than 2 and 3. That number is the tag of collectives without a group, which would never
 * meet (test_stream.c); of a group's it is not, and they meet. */
CLAIM(ranks_that_have_run_others_before_meet_in_the_group_of_all)
{
    for (int another = 0; another < 2; another++) {
        uint32_t g;

        begin();
        g = world_group("g", 2, pair);
        for (uint32_t r = 0; r < 4; r++) {
            uint32_t first =
                r < 2 && another ? world_coll(r, "pair", WL_ALL_GATHER, 1000, g) : comp(r, "c", 1070);

            world_after(r, world_coll(r, "all", WL_ALL_GATHER, 1000, 0), first);
        }
        assert_abridged();
        assert_u64(world_stats(3)->wall, 2 * 1070);
        world_end();
    }
}

/* The message is there at 1050. */
CLAIM(messages_that_come_before_they_are_asked_for_are_left_to_the_plain_engine)
{
    for (dse_time late = 0; late < 2; late++) {
        uint32_t r;

        begin();
        world_message(0, "s", true, 1, 1000, 1);
        r = world_message(1, "r", false, 0, 1000, 1);
        world_after(1, r, comp(1, "c", 1049 + 2 * late));
        if (late)
            assert_plain(EARLY_MESSAGE);
        else
            assert_abridged();
        assert_ticks(1, 0, 1049 + 2 * late, 1050 + late);
        world_end();
    }
}

/* ---- errors ---------------------------------------------------------------------------------------- */

/* What the abridged engine meets first is said by the plain one, with its place; world_run compares the texts. */
CLAIM(errors_are_the_plain_engine_s)
{
    begin();
    comp(0, "ok", 100);
    world_comp(1, "c", 1, 1);
    assert_says(world_run(), &world.err, DSE_E_SIM, "rank 1, node 1 'c' lasts 0 ns at tick 0");
    world_end();
    begin();
    world_message(0, "s", true, 1, 0, 1);
    world_message(1, "r", false, 0, 0, 1);
    assert_says(world_run(), &world.err, DSE_E_WORKLOAD, "a message of 0 bytes between ranks 0 and 1");
    world_end();
    begin();
    comp_after(0, "b", 100, world_comp(0, "a", 100, 0)); /* nobody wakes it */
    assert_says(world_run(), &world.err, DSE_E_SIM, "1 of 4 ranks never finish");
    world_end();
    begin();
    world_comp(0, "a", 0, 5); /* 2^63 ns each */
    world_after(0, world_comp(0, "b", 0, 5), 0);
    assert_says(world_run(), &world.err, DSE_E_SIM, "time runs over");
    world_end();
}

/* Each rank begins with the pair that it forms with the next, which begins with another; as all do the same, they could
 * be taken for one that meets itself. */
CLAIM(alike_ranks_that_wait_for_each_other_are_a_deadlock)
{
    uint32_t g[4];

    begin();
    for (uint32_t i = 0; i < 4; i++)
        g[i] = world_group("g", 2, (const uint32_t[]){i, (i + 1) % 4});
    for (uint32_t r = 0; r < 4; r++)
        world_after(r, world_coll(r, "before", WL_ALL_GATHER, 1000, g[(r + 3) % 4]),
                    world_coll(r, "next", WL_ALL_GATHER, 1000, g[r]));
    assert_says(world_run(), &world.err, DSE_E_SIM, "4 of 4 ranks never finish");
    world_end();
}

/* A group's collective and one over its dimensions have tags of different ranges. */
CLAIM(a_group_of_all_does_not_meet_those_without_a_group)
{
    begin();
    for (uint32_t r = 0; r < 4; r++)
        if (r)
            world_coll_dims(r, "c", WL_ALL_GATHER, 1000, 1, 1);
        else
            world_coll(r, "c", WL_ALL_GATHER, 1000, 0);
    assert_says(world_run(), &world.err, DSE_E_SIM, "4 of 4 ranks never finish");
    world_end();
}

/* An operation takes a tick. Collectives that begin 4095 before the end of time cannot take 10^6. */
CLAIM(collectives_do_not_end_after_the_end_of_time)
{
    for (uint32_t of_all = 0; of_all < 2; of_all++) {
        uint32_t g, n = of_all ? 4 : 2;

        begin();
        world.set.peak_ops_per_s = 1e9;
        g = of_all ? 0 : world_group("g", 2, pair);
        for (uint32_t r = 0; r < n; r++)
            world_after(r, world_coll(r, "c", WL_ALL_GATHER, 1000000, g),
                        world_comp(r, "a", UINT64_MAX - 4095, 1));
        assert_says(world_run(), &world.err, DSE_E_SIM, "time runs over");
        world_end();
    }
}

/* ---- what it saves ------------------------------------------------------------------------------------- */

static uint64_t count_events(sim_shortcuts shortcuts)
{
    uint64_t n;

    world.shortcuts = shortcuts;
    assert_ok(world_run(), &world.err);
    n = world.result.n_events;
    world_end();
    return n;
}

/* Two groups of two across a switch: abridged, an event is the end of a node, of each rank or of one of all four. In the
 * plain engine a rank has of each of its three chunks two arrivals, three endpoints and a reduction; and the end of d. */
CLAIM(an_event_is_the_end_of_a_node_of_a_class)
{
    static const uint32_t members[][2] = {{0, 1}, {2, 3}};
    uint32_t g[2];

    world_begin("Switch", 4, 50, "ring");
    world.set.splits = 3;
    for (int i = 0; i < 2; i++)
        g[i] = world_group("g", 2, members[i]);
    for (uint32_t r = 0; r < 4; r++) {
        uint32_t c = world_coll(r, "c", WL_ALL_REDUCE, 3 * 2 * MIB, g[r / 2]);

        comp_after(r, "d", 100, c);
    }
    assert_u64(count_events((sim_shortcuts){.memo = true}), 4 * 2);
    assert_u64(count_events(SIM_ALL_SHORTCUTS), 2);
    assert_u64(count_events((sim_shortcuts){0}), 4 * (3 * (2 + 3 + 1) + 1));
}

/* All nodes of all ranks are in the results, and all messages: 8 ranks in pairs, of 3 chunks with 2 steps. */
CLAIM(results_are_those_of_all_ranks)
{
    uint32_t g[4];

    world_begin("Switch", 8, 50, "direct");
    world.shortcuts = SIM_ALL_SHORTCUTS;
    world.set.splits = 3;
    for (uint32_t i = 0; i < 4; i++)
        g[i] = world_group("g", 2, (const uint32_t[]){2 * i, 2 * i + 1});
    for (uint32_t r = 0; r < 8; r++)
        world_coll(r, "c", WL_ALL_REDUCE, 3000, g[r / 2]);
    assert_abridged();
    assert_u64(world.result.n_ranks, 8);
    assert_u64(world.result.n_nodes, 8);
    assert_u64(world.result.n_messages, 8 * 3 * 2);
    assert_u64(world.result.n_flat_rings, 8); /* the system's would be direct */
    assert_u64(world.record.n, 8);
    for (uint32_t r = 0; r < 8; r++) {
        assert_int_equal(world.record.rank[r], r);
        assert_int_equal(world.result.finish_order[r], r); /* all at once: in their order */
    }
    assert_null(world.result.load);
    world_end();
}

/* 0, 1 and 3 are a class, and 2 is another: it runs and holds the most. */
CLAIM(the_slowest_and_the_largest_are_ranks)
{
    begin();
    world.set.track_memory = true;
    for (uint32_t r = 0; r < 4; r++) {
        uint32_t c = comp(r, "c", r == 2 ? 200 : 100);

        world_tensor(r, c, true, "t", r == 2 ? 64 : 32);
    }
    assert_abridged();
    assert_u64(world.result.n_events, 2);
    assert_int_equal(world.result.step.rank, 2);
    assert_int_equal(world.result.peak.rank, 2);
    assert_u64(world_stats(2)->peak_memory, 64);
    assert_u64(world_stats(3)->peak_memory, 32);
    assert_int_equal(world.result.finish_order[3], 2);
    world_end();
}

/* Even ranks compute, and send to the next, which computes and answers: 1100 ns over the switch, and 600 back. */
CLAIM(messages_between_classes_arrive_at_all_their_ranks)
{
    uint32_t c[2];

    world_begin("Switch", 8, 50, "direct");
    world.shortcuts = SIM_ALL_SHORTCUTS;
    for (uint32_t r = 0; r < 8; r += 2) {
        c[0] = comp(r, "c", 100);
        world_after(r, world_message(r, "s", true, r + 1, 1000, r), c[0]);
        world_message(r, "back", false, r + 1, 500, r);
        world_message(r + 1, "r", false, r, 1000, r);
        c[1] = comp_after(r + 1, "c", 200, 0);
        world_after(r + 1, world_message(r + 1, "back", true, r, 500, r), c[1]);
    }
    assert_abridged();
    for (uint32_t r = 0; r < 8; r += 2) {
        assert_ticks(r, 1, 100, 1200);
        assert_ticks(r + 1, 0, 0, 1200);
        assert_ticks(r + 1, 1, 1200, 1400);
        assert_ticks(r + 1, 2, 1400, 2000);
        assert_ticks(r, 2, 0, 2000);
    }
    assert_u64(world.result.n_messages, 8);
    assert_u64(world.result.n_events, 2 + 4); /* two computations; two messages, each with two ends */
    world_end();
}

/* 3 us as recorded, or one tick if nothing is; its ranks do not wait for each other. */
CLAIM(a_broadcast_is_replayed)
{
    begin();
    world.rank[0].node[world_coll(0, "c", WL_BROADCAST, 8000, 0)].duration_us = 3;
    world_coll(2, "c", WL_BROADCAST, 8000, 0);
    assert_abridged();
    assert_ticks(0, 0, 0, 3000);
    assert_ticks(2, 0, 0, 1);
    world_end();
}

/* A load is 1000 bytes at 2 bytes a ns after 100 ns, and the memory is the rank's own. */
CLAIM(remote_memory_of_its_own_is_no_hindrance)
{
    begin();
    world.set.remote = (sim_remote_memory){.kind = SIM_REMOTE_PER_NPU, .latency_ns = 100, .bytes_per_ns = 2};
    for (uint32_t r = 0; r < 2; r++)
        world_node(r, (wl_node){.type = WL_NODE_MEM_LOAD, .tensor_size = 1000, .slot = DSE_NONE});
    assert_abridged();
    assert_ticks(0, 0, 0, 100 + 500);
    assert_ticks(1, 0, 0, 100 + 500);
    world_end();
}

/* The others are not in it, or have no collective there; a broadcast and what is replayed ask nobody. */
CLAIM(a_group_in_which_not_all_take_part_is_left_to_the_plain_engine)
{
    static const uint32_t three[] = {0, 1, 2};
    uint32_t g;

    begin();
    g = world_group("g", 2, pair);
    world_coll(0, "c", WL_ALL_GATHER, 1000, g);
    world.rank[1].n_slots = 1;
    world.rank[1].slot_group[0] = g;
    assert_says(world_run(), &world.err, DSE_E_SIM, "never finish");
    world_end();

    begin();
    world_coll(0, "b", WL_BROADCAST, 1000, world_group("g", 3, three));
    assert_plain(IDLE_MEMBER);
    world_end();

    begin();
    world.set.replay_only = true;
    world_coll(0, "b", WL_ALL_GATHER, 1000, world_group("g", 3, three));
    assert_plain(IDLE_MEMBER);
    world_end();
}

/* The second names one dimension, of two that it goes over; the first named both, and has the same of them involved. */
CLAIM(each_collective_says_which_dimensions_take_part)
{
    begin();
    world_dimension("Ring", 2, 50, "ring");
    for (uint32_t r = 0; r < 8; r++) {
        uint32_t a = world_coll_dims(r, "a", WL_ALL_GATHER, 1000, 1, 2);

        world_after(r, world_coll_dims(r, "b", WL_ALL_GATHER, 1000, 1, 1), a);
    }
    assert_says(world_run(), &world.err, DSE_E_WORKLOAD, "involve_dims has 1 entries");
    world_end();
}

/* The chunks of each group count from the same number on: the second collective of rank 0 is the second of its group,
 * that of the others the first of theirs, and their messages do not meet. */
CLAIM(two_groups_of_all_ranks_meet_only_with_equal_counts)
{
    static const uint32_t all[] = {0, 1, 2, 3};

    begin();
    for (uint32_t r = 0, g = world_group("g", 4, all); r < 4; r++) {
        uint32_t c = world_coll(r, "c", WL_ALL_GATHER, 1000, 0);

        world_after(r, world_coll(r, "d", WL_ALL_GATHER, 1000, r ? g : 0), c);
    }
    assert_says(world_run(), &world.err, DSE_E_SIM, "never finish");
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_in_which_not_all_take_part_is_left_to_the_plain_engine),
        cmocka_unit_test(each_collective_says_which_dimensions_take_part),
        cmocka_unit_test(two_groups_of_all_ranks_meet_only_with_equal_counts),
        cmocka_unit_test(some_systems_are_left_to_the_plain_engine),
        cmocka_unit_test(without_memo_there_is_nothing_to_be_given_up),
        cmocka_unit_test(what_classes_refuse_is_left_to_the_plain_engine),
        cmocka_unit_test(different_collectives_that_meet_are_left_to_the_plain_engine),
        cmocka_unit_test(messages_that_take_no_time_are_left_to_the_plain_engine),
        cmocka_unit_test(so_are_rings_whose_messages_take_no_time),
        cmocka_unit_test(collectives_of_ranks_that_see_different_things_are_left_to_the_plain_engine),
        cmocka_unit_test(collectives_of_ranks_that_arrive_apart_are_left_to_the_plain_engine),
        cmocka_unit_test(ranks_that_have_run_others_before_meet_in_the_group_of_all),
        cmocka_unit_test(messages_that_come_before_they_are_asked_for_are_left_to_the_plain_engine),
        cmocka_unit_test(errors_are_the_plain_engine_s),
        cmocka_unit_test(alike_ranks_that_wait_for_each_other_are_a_deadlock),
        cmocka_unit_test(a_group_of_all_does_not_meet_those_without_a_group),
        cmocka_unit_test(collectives_do_not_end_after_the_end_of_time),
        cmocka_unit_test(an_event_is_the_end_of_a_node_of_a_class),
        cmocka_unit_test(results_are_those_of_all_ranks),
        cmocka_unit_test(the_slowest_and_the_largest_are_ranks),
        cmocka_unit_test(messages_between_classes_arrive_at_all_their_ranks),
        cmocka_unit_test(a_broadcast_is_replayed),
        cmocka_unit_test(remote_memory_of_its_own_is_no_hindrance),
    };
    return RUN_TESTS(tests);
}
