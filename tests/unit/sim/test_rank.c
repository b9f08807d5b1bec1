/* Which node of a rank is issued when, and how long it lasts. */
#include "unit/sim/world.h"

static void two_ranks(void) { world_begin("Ring", 2, 50, "ring"); }

/* ---- the roofline ------------------------------------------------------------------------------- */

/* 2^20 operations at 2^40 a second take 953.67 ns; their 2^10 bytes would take less. */
CLAIM(a_compute_bound_node_takes_its_operations_over_the_peak)
{
    uint32_t n;

    two_ranks();
    n = world_comp(0, "c", MIB, 1024);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, n, 0, 953);
    world_end();
}

/* 2^20 bytes at 2^40 a second, however few the operations. */
CLAIM(a_memory_bound_node_takes_its_bytes_over_the_bandwidth)
{
    static const uint64_t ops[] = {1, 1024, MIB - 1};

    for (int i = 0; i < 3; i++) {
        uint32_t n;

        two_ranks();
        n = world_comp(0, "c", ops[i], MIB);
        assert_ok(world_run(), &world.err);
        assert_ticks(0, n, 0, 953);
        world_end();
    }
}

/* 0 / 0: see base/time.h. The reference prints the same 2^63. */
CLAIM(bytes_without_operations_take_2_to_the_63_ns)
{
    uint32_t n;

    two_ranks();
    n = world_comp(0, "c", 0, 5);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, n, 0, (uint64_t)1 << 63);
    world_end();
}

CLAIM(without_the_roofline_a_node_lasts_as_long_as_recorded)
{
    uint32_t a, b;

    two_ranks();
    world.set.roofline = false;
    a = world_comp(0, "a", MIB, MIB);
    b = world_comp(0, "b", MIB, MIB);
    world.rank[0].node[a].duration_us = 7;
    assert_ok(world_run(), &world.err);
    assert_ticks(0, a, 0, 7000);
    assert_ticks(0, b, 7000, 7001); /* nothing recorded: one tick */
    world_end();
}

CLAIM(a_replay_takes_every_node_as_recorded)
{
    uint32_t coll, message;

    two_ranks();
    world.set.replay_only = true;
    coll = world_coll(0, "c", WL_ALL_REDUCE, 8000, 0); /* nobody else is there */
    world.rank[0].node[coll].duration_us = 2;
    message = world_message(0, "r", false, 1, 8, 1);
    world.rank[0].node[message].duration_us = 5;
    assert_ok(world_run(), &world.err);
    assert_ticks(0, coll, 0, 2000);
    assert_ticks(0, message, 0, 5000);
    world_end();
}

/* ---- order -------------------------------------------------------------------------------------- */

CLAIM(one_compute_node_runs_at_a_time_the_lowest_id_first)
{
    uint32_t n[3];

    two_ranks();
    for (int i = 0; i < 3; i++)
        n[i] = world_comp(0, "c", MIB, MIB);
    world.rank[0].id[0] = 9; /* the first in the file has the highest id */
    world.rank[0].node[0].id = 9;
    assert_ok(world_run(), &world.err);
    assert_ticks(0, n[1], 0, 953);
    assert_ticks(0, n[2], 953, 2 * 953);
    assert_ticks(0, n[0], 2 * 953, 3 * 953);
    world_end();
}

CLAIM(a_node_waits_for_all_its_parents)
{
    uint32_t a, b, c, d;

    two_ranks();
    d = world_comp(0, "d", MIB, MIB); /* lowest id, but last to be ready */
    a = world_comp(0, "a", MIB, MIB);
    b = world_node(
        0,
        (wl_node){.name = "b", .type = WL_NODE_COMP, .is_cpu_op = true, .tensor_size = 1, .duration_us = 5});
    c = world_comp(0, "c", MIB, MIB);
    world_after(0, d, a);
    world_after(0, d, b);
    world_after(0, d, c);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, a, 0, 953);
    assert_ticks(0, b, 0, 5000);
    assert_ticks(0, c, 953, 2 * 953);
    assert_ticks(0, d, 5000, 5953);
    world_end();
}

/* Compute, communication and CPU have a unit each; receives need none. */
CLAIM(nodes_of_different_units_run_at_once)
{
    uint32_t comp, cpu, send, recv[2];

    two_ranks();
    comp = world_comp(0, "comp", MIB, MIB);
    cpu = world_node(
        0, (wl_node){
               .name = "cpu", .type = WL_NODE_COMP, .is_cpu_op = true, .tensor_size = 1, .duration_us = 2});
    send = world_message(0, "s", true, 1, 1000, 1);
    recv[0] = world_message(0, "r0", false, 1, 3000, 2);
    recv[1] = world_message(0, "r1", false, 1, 500, 3);
    world_message(1, "r", false, 0, 1000, 1);
    world_message(1, "s0", true, 0, 3000, 2);
    world_message(1, "s1", true, 0, 500, 3);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, comp, 0, 953);
    assert_ticks(0, cpu, 0, 2000);
    assert_ticks(0, send, 0, 1050);
    assert_ticks(0, recv[0], 0, 3050);
    assert_ticks(0, recv[1], 0, 3050 + 550); /* sent once the other had arrived */
    world_end();
}

CLAIM(one_communication_runs_at_a_time)
{
    uint32_t a, b;

    two_ranks();
    a = world_message(0, "a", true, 1, 1000, 1);
    b = world_message(0, "b", true, 1, 1000, 2);
    world_message(1, "ra", false, 0, 1000, 1);
    world_message(1, "rb", false, 0, 1000, 2);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, a, 0, 1050);
    assert_ticks(0, b, 1050, 2100);
    world_end();
}

/* A node that moves no data ends at once, but its child is looked at only when something else of the rank ends:
 * the CPU is free all the time, yet the child starts at 953. */
CLAIM(a_node_without_data_wakes_nobody)
{
    uint32_t empty, child, other;

    two_ranks();
    empty = world_comp(0, "empty", 0, 0);
    child = world_node(
        0, (wl_node){
               .name = "child", .type = WL_NODE_COMP, .is_cpu_op = true, .tensor_size = 1, .duration_us = 1});
    other = world_comp(0, "other", MIB, MIB);
    world_after(0, child, empty);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, empty, 0, 0);
    assert_ticks(0, other, 0, 953);
    assert_ticks(0, child, 953, 1953);
    world_end();
}

CLAIM(an_invalid_node_ends_at_once)
{
    uint32_t n;

    two_ranks();
    n = world_node(0, (wl_node){.name = "i", .type = WL_NODE_INVALID});
    world_comp(0, "c", MIB, MIB);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, n, 0, 0);
    assert_true(world_stats(0)->has_invalid);
    world_end();
}

CLAIM(a_rank_without_nodes_is_finished_at_once)
{
    two_ranks();
    world_comp(0, "c", MIB, MIB);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(1)->finished, 0);
    assert_u64(world_stats(1)->wall, 0);
    assert_false(world_stats(1)->has_gpu);
    world_end();
}

/* ---- messages ------------------------------------------------------------------------------------ */

/* The send ends when the message arrives; the receive at the same tick. */
CLAIM(a_message_takes_its_links_and_its_bytes)
{
    uint32_t s, r;

    two_ranks();
    s = world_message(0, "s", true, 1, 1000, 1);
    r = world_message(1, "r", false, 0, 1000, 1);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, s, 0, 1050);
    assert_ticks(1, r, 0, 1050);
    world_end();
}

/* The receiver computes for 953 * 3 ns first; the message is there by then. */
CLAIM(a_receive_behind_its_message_ends_at_once)
{
    uint32_t comp, r;

    two_ranks();
    world_message(0, "s", true, 1, 1000, 1);
    comp = world_comp(1, "c", 3 * MIB, MIB);
    r = world_message(1, "r", false, 0, 1000, 1);
    world_after(1, r, comp);
    assert_ok(world_run(), &world.err);
    assert_ticks(1, r, 2861, 2861); /* 3 * 953.67 */
    world_end();
}

CLAIM(messages_of_one_tag_meet_in_their_order)
{
    uint32_t r[2];

    two_ranks();
    world_message(0, "a", true, 1, 1000, 1);
    world_message(0, "b", true, 1, 1000, 1);
    r[0] = world_message(1, "ra", false, 0, 1000, 1);
    r[1] = world_message(1, "rb", false, 0, 1000, 1);
    assert_ok(world_run(), &world.err);
    assert_ticks(1, r[0], 0, 1050);
    assert_ticks(1, r[1], 0, 2100);
    world_end();
}

/* The reference lets a send that nobody receives end when it arrives. */
CLAIM(a_send_that_nobody_receives_ends)
{
    uint32_t s;

    two_ranks();
    s = world_message(0, "s", true, 1, 1000, 1);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, s, 0, 1050);
    world_end();
}

CLAIM(messages_that_cannot_be_sent_are_refused)
{
    two_ranks();
    world_message(0, "s", true, 0, 1000, 1);
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 1 's': a message of 1000 bytes between ranks 0 and 0 cannot be sent");
    world_end();
    two_ranks();
    world_message(0, "s", true, 2, 1000, 1);
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 1 's': a message of 1000 bytes between ranks 0 and 2 cannot be sent");
    world_end();
    two_ranks();
    world_message(0, "r", false, 1, 0, 1);
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 1 'r': a message of 0 bytes between ranks 0 and 1 cannot be sent");
    world_end();
}

/* ---- refusals ------------------------------------------------------------------------------------- */

CLAIM(a_missing_attribute_is_named_when_it_is_needed)
{
    uint32_t n;

    two_ranks();
    n = world_comp(0, "c", MIB, MIB);
    world.rank[0].node[n].lacks = "num_ops";
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 1 'c' lacks the attribute 'num_ops'");
    world_end();
    two_ranks(); /* a replay does not look at it */
    world.set.replay_only = true;
    n = world_comp(0, "c", MIB, MIB);
    world.rank[0].node[n].lacks = "num_ops";
    assert_ok(world_run(), &world.err);
    world_end();
    two_ranks(); /* nor does a compute node without the roofline */
    world.set.roofline = false;
    n = world_comp(0, "c", MIB, MIB);
    world.rank[0].node[n].lacks = "num_ops";
    assert_ok(world_run(), &world.err);
    world_end();
}

CLAIM(nodes_that_no_unit_can_run_are_refused)
{
    uint32_t n;

    two_ranks();
    n = world_message(0, "s", true, 1, 8, 1);
    world.rank[0].node[n].is_cpu_op = true;
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 1 's': a communication node is marked as a CPU operation");
    world_end();
    two_ranks();
    world_node(0, (wl_node){.name = "m", .type = WL_NODE_METADATA});
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 1 'm': METADATA_NODE is a node type that the simulator cannot run");
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compute_bound_node_takes_its_operations_over_the_peak),
        cmocka_unit_test(a_memory_bound_node_takes_its_bytes_over_the_bandwidth),
        cmocka_unit_test(bytes_without_operations_take_2_to_the_63_ns),
        cmocka_unit_test(without_the_roofline_a_node_lasts_as_long_as_recorded),
        cmocka_unit_test(a_replay_takes_every_node_as_recorded),
        cmocka_unit_test(one_compute_node_runs_at_a_time_the_lowest_id_first),
        cmocka_unit_test(a_node_waits_for_all_its_parents),
        cmocka_unit_test(nodes_of_different_units_run_at_once),
        cmocka_unit_test(one_communication_runs_at_a_time),
        cmocka_unit_test(a_node_without_data_wakes_nobody),
        cmocka_unit_test(an_invalid_node_ends_at_once),
        cmocka_unit_test(a_rank_without_nodes_is_finished_at_once),
        cmocka_unit_test(a_message_takes_its_links_and_its_bytes),
        cmocka_unit_test(a_receive_behind_its_message_ends_at_once),
        cmocka_unit_test(messages_of_one_tag_meet_in_their_order),
        cmocka_unit_test(a_send_that_nobody_receives_ends),
        cmocka_unit_test(messages_that_cannot_be_sent_are_refused),
        cmocka_unit_test(a_missing_attribute_is_named_when_it_is_needed),
        cmocka_unit_test(nodes_that_no_unit_can_run_are_refused),
    };
    return RUN_TESTS(tests);
}
