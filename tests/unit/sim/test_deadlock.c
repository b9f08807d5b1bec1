/* Runs that the reference ends without a word about some ranks: each must be told with who waits and for what. */
#include "unit/sim/world.h"

CLAIM(a_receive_that_nobody_sends_is_named)
{
    world_begin("Ring", 2, 50, "ring");
    world_comp(0, "c", MIB, MIB);
    world_message(1, "r", false, 0, 1000, 7);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "deadlock at tick 953: 1 of 2 ranks never finish; waiting: rank 1, node 1 'r' (a message of 1000 "
        "bytes with tag 7 that rank 0 never sends)");
    world_end();
}

/* The sizes differ, so they are not one message: the send ends, the receive does not. */
CLAIM(a_receive_of_another_size_does_not_match)
{
    world_begin("Ring", 2, 50, "ring");
    world_message(0, "s", true, 1, 1000, 7);
    world_message(1, "r", false, 0, 1001, 7);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "deadlock at tick 1050: 1 of 2 ranks never finish; waiting: rank 1, node 1 'r' (a message of 1001 "
        "bytes with tag 7 that rank 0 never sends)");
    world_end();
}

CLAIM(a_collective_that_others_never_enter_is_named_with_its_group)
{
    static const uint32_t three[] = {0, 1, 2};
    uint32_t g;

    world_begin("Ring", 4, 50, "ring");
    g = world_group("g", 3, three);
    world_coll(0, "c", WL_ALL_REDUCE, 9000, g);
    world_coll(1, "c", WL_ALL_REDUCE, 9000, g);
    assert_says(
        world_run(), &world.err, DSE_E_SIM,
        "2 of 4 ranks never finish; waiting: rank 0, node 1 'c' (ALL_REDUCE of 3 ranks, group 'g'; the "
        "others "
        "are not in it, or enter their collectives in another order); rank 1, node 1 'c' (ALL_REDUCE of 3 "
        "ranks, group 'g';");
    world_end();
}

/* Each rank runs one collective at a time: a's is first on rank 0, b's on rank 1. Different sizes, so that the
 * messages of the two do not meet. */
CLAIM(collectives_in_crossed_order_are_a_deadlock)
{
    static const uint32_t pair[] = {0, 1};
    uint32_t a, b;

    world_begin("Ring", 4, 50, "ring");
    a = world_group("a", 2, pair);
    b = world_group("b", 2, pair);
    world_coll(0, "first", WL_ALL_REDUCE, 1000, a);
    world_coll(0, "second", WL_ALL_REDUCE, 2000, b);
    world_coll(1, "first", WL_ALL_REDUCE, 2000, b);
    world_coll(1, "second", WL_ALL_REDUCE, 1000, a);
    assert_says(world_run(), &world.err, DSE_E_SIM,
                "rank 0, node 1 'first' (ALL_REDUCE of 2 ranks, group 'a';");
    world_end();
}

/* Ranks 0 to 4 wait, each in its only node, 1. */
CLAIM(two_ranks_are_described_and_the_rest_named)
{
    world_begin("Ring", 6, 50, "ring");
    for (uint32_t r = 0; r < 5; r++)
        world_message(r, "r", false, 5, 8, r);
    world_comp(5, "c", MIB, MIB);
    assert_says(world_run(), &world.err, DSE_E_SIM, "5 of 6 ranks never finish; waiting: rank 0, ");
    assert_non_null(strstr(world.err.text, "rank 1, node 1 'r'"));
    assert_non_null(strstr(world.err.text, "; and, as rank:node, 2:1 3:1 4:1"));
    world_end();
}

/* The receive was posted first, at tick 0; the all-reduce, node 2, is what rank 1 never enters. */
CLAIM(what_holds_a_rank_is_named_before_a_receive_that_it_has_posted)
{
    world_begin("Ring", 2, 50, "ring");
    world_message(0, "r", false, 1, 8, 0);
    world_coll(0, "sum", WL_ALL_REDUCE, 1000, 0);
    world_comp(1, "c", MIB, MIB);
    assert_says(world_run(), &world.err, DSE_E_SIM, "waiting: rank 0, node 2 'sum' (ALL_REDUCE of 2 ranks;");
    world_end();
}

/* The child of a node without data waits for the rank's next event, and there is none. */
CLAIM(a_rank_that_nothing_wakes_is_named)
{
    uint32_t empty, child;

    world_begin("Ring", 2, 50, "ring");
    empty = world_comp(0, "empty", 0, 0);
    child = world_comp(0, "child", MIB, MIB);
    world_after(0, child, empty);
    world_comp(1, "c", MIB, MIB);
    assert_failure(world_run(), &world.err, DSE_E_SIM, "",
                   "deadlock at tick 953: 1 of 2 ranks never finish; waiting: rank 0, node 2 'child' (ready, "
                   "but nothing "
                   "wakes the rank: it follows a node that moves no data)");
    world_end();
}

CLAIM(the_error_may_be_null)
{
    world_begin("Ring", 2, 50, "ring");
    world_message(1, "r", false, 0, 1000, 7);
    dse_arena_init(&world.arena);
    world_make(&world.arena);
    assert_int_equal(
        sim_run(&world.set, &world.net, &world.w, world.shortcuts, &world.arena, &world.result, NULL, NULL),
        DSE_E_SIM);
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receive_that_nobody_sends_is_named),
        cmocka_unit_test(a_receive_of_another_size_does_not_match),
        cmocka_unit_test(a_collective_that_others_never_enter_is_named_with_its_group),
        cmocka_unit_test(collectives_in_crossed_order_are_a_deadlock),
        cmocka_unit_test(two_ranks_are_described_and_the_rest_named),
        cmocka_unit_test(what_holds_a_rank_is_named_before_a_receive_that_it_has_posted),
        cmocka_unit_test(a_rank_that_nothing_wakes_is_named),
        cmocka_unit_test(the_error_may_be_null),
    };
    return RUN_TESTS(tests);
}
