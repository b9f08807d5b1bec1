/* Direct collectives of one chunk on a fully connected network, where D is the same for every pair: everyone to
 * everyone at once. E endpoint delay, R reduction. */
#include "unit/sim/world.h"

static const uint32_t ranks[] = {2, 3, 5, 8};
#define N_RANKS (sizeof ranks / sizeof ranks[0])

/* Wait E, send all, receive all after D, wait E. */
CLAIM(an_all_gather_takes_one_message_time)
{
    for (size_t i = 0; i < N_RANKS; i++) {
        world_begin("FullyConnected", ranks[i], 50, "direct");
        assert_all_end_at(WL_ALL_GATHER, 8 * MIB, 10 + 50 + 8 * MIB + 10);
    }
}

CLAIM(a_reduce_scatter_reduces_what_it_receives)
{
    for (size_t i = 0; i < N_RANKS; i++) {
        uint64_t message = 8 * MIB / ranks[i];

        world_begin("FullyConnected", ranks[i], 50, "direct");
        assert_all_end_at(WL_REDUCE_SCATTER, 8 * MIB, 10 + 50 + message + 10 + world_reduction(message));
    }
}

CLAIM(an_all_to_all_takes_one_message_time)
{
    for (size_t i = 0; i < N_RANKS; i++) {
        uint64_t message = 8 * MIB / ranks[i];

        world_begin("FullyConnected", ranks[i], 50, "direct");
        assert_all_end_at(WL_ALL_TO_ALL, 8 * MIB, 10 + 50 + message + 10);
    }
}

/* Scatter and reduce, then gather: 3 E + 2 D + R. */
CLAIM(an_all_reduce_takes_two_message_times_and_a_reduction)
{
    for (size_t i = 0; i < N_RANKS; i++) {
        uint64_t message = 8 * MIB / ranks[i], d = 50 + message;

        world_begin("FullyConnected", ranks[i], 50, "direct");
        assert_all_end_at(WL_ALL_REDUCE, 8 * MIB, 3 * 10 + 2 * d + world_reduction(message));
    }
}

/* With a window of one the p-1 messages go one after the other, as on a ring. */
CLAIM(a_window_of_one_sends_one_after_the_other)
{
    for (size_t i = 0; i < N_RANKS; i++) {
        world_begin("FullyConnected", ranks[i], 50, "direct1");
        assert_all_end_at(WL_ALL_GATHER, 1000, 10 + (ranks[i] - 1) * (50 + 1000 + 10));
    }
}

/* 7 peers in a window of 3: a message is sent for each that is received, so 3, 3, 1. */
CLAIM(a_window_sends_in_rounds)
{
    world_begin("FullyConnected", 8, 50, "direct3");
    assert_all_end_at(WL_ALL_GATHER, 1000, 10 + 3 * (50 + 1000 + 10));
}

CLAIM(a_window_as_wide_as_there_are_peers_is_no_window)
{
    world_begin("FullyConnected", 4, 50, "direct9");
    assert_all_end_at(WL_ALL_GATHER, 1000, 10 + 50 + 1000 + 10);
}

/* On a ring of 8 the farthest peer is 4 links away; everybody waits for it. */
CLAIM(the_farthest_peer_decides)
{
    world_begin("Ring", 8, 50, "direct");
    assert_all_end_at(WL_ALL_GATHER, 1000, 10 + 4 * 50 + 1000 + 10);
}

CLAIM(every_rank_sends_to_every_other)
{
    world_begin("FullyConnected", 8, 50, "direct");
    for (uint32_t r = 0; r < 8; r++)
        world_coll(r, "c", WL_ALL_REDUCE, 4096, 0);
    assert_ok(world_run(), &world.err);
    assert_u64(world.result.n_messages, 8 * 7 * 2);
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_all_gather_takes_one_message_time),
        cmocka_unit_test(a_reduce_scatter_reduces_what_it_receives),
        cmocka_unit_test(an_all_to_all_takes_one_message_time),
        cmocka_unit_test(an_all_reduce_takes_two_message_times_and_a_reduction),
        cmocka_unit_test(a_window_of_one_sends_one_after_the_other),
        cmocka_unit_test(a_window_sends_in_rounds),
        cmocka_unit_test(a_window_as_wide_as_there_are_peers_is_no_window),
        cmocka_unit_test(the_farthest_peer_decides),
        cmocka_unit_test(every_rank_sends_to_every_other),
    };
    return RUN_TESTS(tests);
}
