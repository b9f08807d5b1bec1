/* Ends of one rank in one tick: whose order the abridged engine knows, and what it leaves to the plain one. */
#include "unit/sim/abridged.h"

/* A CPU node lasts as long as recorded: 1000 ticks. */
static uint32_t cpu(uint32_t rank, const char *name)
{
    return world_node(
        rank,
        (wl_node){.name = name, .type = WL_NODE_COMP, .is_cpu_op = true, .duration_us = 1, .slot = DSE_NONE});
}

/* ---- ties ------------------------------------------------------------------------------------------ */

/* A message for rank 0 and its node b end at 2050; x follows the message and y follows b. If the message is first, both are
 * ready when the compute unit is free, and x has the lower id; if b is first y is issued before x is ready. */
static void message_and_compute(dse_time message_since, dse_time compute_since)
{
    uint32_t x, y, r, b, s;

    begin();
    x = comp(0, "x", 100);
    y = comp(0, "y", 100);
    r = world_message(0, "r", false, 1, 2000 - message_since, 1);
    b = comp(0, "b", 2050 - compute_since);
    if (compute_since)
        world_after(0, b, comp(0, "a", compute_since));
    world_after(0, x, r);
    world_after(0, y, b);
    s = world_message(1, "s", true, 0, 2000 - message_since, 1);
    if (message_since)
        world_after(1, s, comp(1, "a", message_since));
}

CLAIM(what_was_registered_first_ends_first)
{
    message_and_compute(0, 30);
    assert_abridged();
    assert_ticks(0, 0, 2050, 2150); /* x */
    assert_ticks(0, 1, 2150, 2250);
    world_end();
    message_and_compute(30, 0);
    assert_abridged();
    assert_ticks(0, 1, 2050, 2150); /* y */
    assert_ticks(0, 0, 2150, 2250);
    world_end();
}

CLAIM(what_two_ranks_registered_in_one_tick_has_no_known_order)
{
    message_and_compute(0, 0);
    assert_plain(TICK_ORDER);
    world_end();
    message_and_compute(30, 30);
    assert_plain(TICK_ORDER);
    world_end();
}

/* Of rank 0 a compute and a CPU node of 1000 ticks begin at 0, in the order of their ids. x follows the compute node, y the
 * CPU node, both on the CPU: if that is still busy when x becomes ready, the lower id is x's; else y is first. */
CLAIM(what_one_rank_registered_in_one_tick_ends_in_that_order)
{
    for (int cpu_first = 0; cpu_first < 2; cpu_first++) {
        uint32_t x, y, a = 0, b;

        begin();
        x = cpu(0, "x");
        y = cpu(0, "y");
        if (!cpu_first)
            a = comp(0, "a", 1000);
        b = cpu(0, "b");
        if (cpu_first)
            a = comp(0, "a", 1000);
        world_after(0, x, a);
        world_after(0, y, b);
        assert_abridged();
        assert_ticks(0, cpu_first ? y : x, 1000, 2000);
        assert_ticks(0, cpu_first ? x : y, 2000, 3000);
        world_end();
    }
}

/* A rank's own send and its CPU node end at 1000: 950 bytes. */
CLAIM(so_do_its_own_send_and_what_it_runs)
{
    for (int cpu_first = 0; cpu_first < 2; cpu_first++) {
        uint32_t x, y, s = 0, b;

        begin();
        x = cpu(0, "x");
        y = cpu(0, "y");
        if (!cpu_first)
            s = world_message(0, "s", true, 1, 950, 1);
        b = cpu(0, "b");
        if (cpu_first)
            s = world_message(0, "s", true, 1, 950, 1);
        world_message(1, "r", false, 0, 950, 1);
        world_after(0, x, s);
        world_after(0, y, b);
        assert_abridged();
        assert_ticks(0, cpu_first ? y : x, 1000, 2000);
        assert_ticks(0, cpu_first ? x : y, 2000, 3000);
        world_end();
    }
}

/* To rank 0 from 1 and from 2: sent at 0 both; or from 2 at 30 with 30 bytes less. Both wake nodes on the compute unit. */
CLAIM(messages_of_two_ranks_have_a_known_order_if_sent_in_different_ticks)
{
    for (dse_time later = 0; later < 60; later += 30) {
        uint32_t s, first, second;

        begin();
        second = comp(0, "second", 100);
        first = comp(0, "first", 100);
        world_after(0, first, world_message(0, "r", false, 1, 1000, 1));
        world_after(0, second, world_message(0, "r", false, 2, 1000 - later, 2));
        world_message(1, "s from 1", true, 0, 1000, 1);
        s = world_message(2, "s from 2", true, 0, 1000 - later, 2);
        if (later) {
            world_after(2, s, comp(2, "a", later));
            assert_abridged();
            assert_ticks(0, first, 1050, 1150);
        } else {
            assert_plain(TICK_ORDER);
        }
        world_end();
    }
}

/* The collective of a pair ends at 1070, of which the last was registered at 1060. Of a node that ends then, too, and
 * begins then, nobody knows whether it was before or after; one that begins earlier was before. */
CLAIM(the_end_of_a_ring_is_as_old_as_its_last_endpoint)
{
    for (dse_time since = 1058; since < 1063; since++) {
        uint32_t g;

        begin();
        g = world_group("g", 2, pair);
        for (uint32_t r = 0; r < 2; r++) {
            world_coll(r, "c", WL_ALL_GATHER, 1000, g);
            comp_after(r, "b", 1070 - since, comp(r, "a", since));
        }
        if (since == 1060)
            assert_plain(TICK_ORDER);
        else
            assert_abridged();
        world_end();
    }
}

/* In lockstep nobody knows when the last of a collective was registered. */
CLAIM(nothing_may_end_with_a_collective_of_all_ranks)
{
    for (dse_time end = 1069; end < 1072; end++) {
        begin();
        for (uint32_t r = 0; r < 4; r++) {
            world_coll(r, "c", WL_ALL_GATHER, 1000, 0);
            comp(r, "a", end);
        }
        if (end == 1070)
            assert_plain(TICK_ORDER);
        else
            assert_abridged();
        world_end();
    }
}

/* Rank 0 runs a ring with rank 1 until 1070, and its node b ends at 500, as does a message from 2. What a rank registers for
 * one tick runs with the first of it: a packet of the ring, registered 10 ahead, could lie there since 490. A message that
 * takes longer is older than that. The latency is 4, so that a message can take so little. */
CLAIM(a_message_may_meet_packets_that_are_older)
{
    for (dse_time takes = 9; takes < 13; takes++) {
        uint32_t g, s, r, b;

        begin();
        world.net.dim[0].latency_ns = 4;
        g = world_group("g", 2, pair);
        world_coll(0, "c", WL_ALL_GATHER, 1000, g);
        world_coll(1, "c", WL_ALL_GATHER, 1000, g);
        b = comp_after(0, "b", 8, comp(0, "a", 492));
        r = world_message(0, "r", false, 2, takes - 4, 1);
        s = world_message(2, "s", true, 0, takes - 4, 1);
        world_after(2, s, comp(2, "a", 500 - takes));
        if (takes <= 10)
            assert_plain(TICK_ORDER);
        else
            assert_abridged();
        assert_ticks(0, r, 0, 500);
        assert_ticks(0, b, 492, 500);
        world_end();
    }
}

/* Rank 0's all-gather begins at 0, so that its first packet makes the batch of tick 10; rank 1's begins at 500. The
 * message of tick 3 arrives at 10, in which b ends: after the batch, although b was registered at 5. */
CLAIM(a_packet_may_be_older_than_a_message_before_all_have_begun)
{
    uint32_t g, a, b, x, y, m;

    begin();
    world.net.dim[0].latency_ns = 6;
    g = world_group("g", 2, pair);
    x = comp(0, "x", 100);
    y = comp(0, "y", 100);
    world_coll(0, "c", WL_ALL_GATHER, 1000, g);
    a = comp(0, "a", 5);
    b = comp_after(0, "b", 5, a);
    m = world_message(0, "m", false, 2, 1, 1);
    world_after(0, x, m);
    world_after(0, y, b);
    a = comp(1, "a", 500);
    world_after(1, world_coll(1, "c", WL_ALL_GATHER, 1000, g), a);
    a = comp(2, "a", 3);
    world_after(2, world_message(2, "s", true, 0, 1, 1), a);
    assert_plain(TICK_ORDER);
    assert_ticks(0, y, 10, 110);
    world_end();
}

/* ---- nodes of no time -------------------------------------------------------------------------------- */

CLAIM(nodes_of_no_time_end_where_they_begin)
{
    uint32_t a, b;

    begin();
    a = comp(0, "a", 100);
    world_after(0, b = world_comp(0, "b", 1, 1), a);
    world_after(0, world_comp(0, "c", 1, 1), b);
    comp_after(0, "d", 100, 2);
    assert_abridged();
    assert_ticks(0, 1, 100, 100);
    assert_ticks(0, 2, 100, 100);
    assert_ticks(0, 3, 100, 200);
    world_end();
}

/* At 1000 a compute and a CPU node end; what follows the first takes no time: it joins what is left of the tick. What
 * follows the second comes when all is done. */
CLAIM(a_node_of_no_time_between_ends_has_no_known_order)
{
    for (int after_second = 0; after_second < 2; after_second++) {
        uint32_t a, b;

        begin();
        a = comp(0, "a", 1000);
        b = cpu(0, "b");
        world_after(0, world_comp(0, "z", 1, 1), after_second ? b : a);
        if (after_second)
            assert_abridged();
        else
            assert_plain(TICK_ORDER);
        assert_ticks(0, 2, 1000, 1000);
        world_end();
    }
}

/* It wakes nobody, in either engine: its child waits for whatever ends next. */
CLAIM(a_node_that_moves_no_data_wakes_nobody)
{
    uint32_t a, child;

    begin();
    a = world_comp(0, "a", 100, 0);
    child = comp_after(0, "child", 100, a);
    cpu(0, "b");
    assert_abridged();
    assert_ticks(0, a, 0, 0);
    assert_ticks(0, child, 1000, 1100);
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_registered_first_ends_first),
        cmocka_unit_test(what_two_ranks_registered_in_one_tick_has_no_known_order),
        cmocka_unit_test(what_one_rank_registered_in_one_tick_ends_in_that_order),
        cmocka_unit_test(so_do_its_own_send_and_what_it_runs),
        cmocka_unit_test(messages_of_two_ranks_have_a_known_order_if_sent_in_different_ticks),
        cmocka_unit_test(the_end_of_a_ring_is_as_old_as_its_last_endpoint),
        cmocka_unit_test(nothing_may_end_with_a_collective_of_all_ranks),
        cmocka_unit_test(a_message_may_meet_packets_that_are_older),
        cmocka_unit_test(a_packet_may_be_older_than_a_message_before_all_have_begun),
        cmocka_unit_test(nodes_of_no_time_end_where_they_begin),
        cmocka_unit_test(a_node_of_no_time_between_ends_has_no_known_order),
        cmocka_unit_test(a_node_that_moves_no_data_wakes_nobody),
    };
    return RUN_TESTS(tests);
}
