/* Ring collectives of one chunk against their closed forms.
 *
 * Notation: p ranks, E endpoint delay, D the time of one message, R its reduction. A rank waits E, then sends; each
 * message that arrives costs another E before the next is sent. */
#include "unit/sim/world.h"

static const uint32_t ranks[] = {2, 3, 4, 7, 8, 16};
#define N_RANKS (sizeof ranks / sizeof ranks[0])

/* 2(p-1) steps of S/p bytes, the first p-1 of which end with a reduction: E + 2(p-1)(D + E) + (p-1) R. */
CLAIM(an_all_reduce_takes_two_rounds_of_which_one_reduces)
{
    static const uint64_t sizes[] = {16, 1000, 1000003, 64 * MIB};

    for (size_t i = 0; i < N_RANKS; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            uint64_t p = ranks[i], message = sizes[k] / p, d = 50 + message;

            world_begin("Ring", ranks[i], 50, "ring");
            assert_all_end_at(WL_ALL_REDUCE, sizes[k],
                              10 + 2 * (p - 1) * (d + 10) + (p - 1) * world_reduction(message));
        }
    }
}

/* p-1 steps of S/p, each with a reduction. */
CLAIM(a_reduce_scatter_takes_one_round_that_reduces)
{
    for (size_t i = 0; i < N_RANKS; i++) {
        uint64_t p = ranks[i], message = 8 * MIB / p;

        world_begin("Ring", ranks[i], 50, "ring");
        assert_all_end_at(WL_REDUCE_SCATTER, 8 * MIB,
                          10 + (p - 1) * (50 + message + 10 + world_reduction(message)));
    }
}

/* p-1 steps of S, what each rank contributes; nothing is reduced. */
CLAIM(an_all_gather_takes_one_round_of_whole_contributions)
{
    for (size_t i = 0; i < N_RANKS; i++) {
        world_begin("Ring", ranks[i], 50, "ring");
        assert_all_end_at(WL_ALL_GATHER, 8 * MIB, 10 + (ranks[i] - 1) * (50 + 8 * MIB + 10));
    }
}

/* Neighbour to neighbour only: the piece for the rank k places on takes k steps, 1 + ... + (p-1) = p(p-1)/2. */
CLAIM(an_all_to_all_takes_a_step_per_place_of_distance)
{
    for (size_t i = 0; i < N_RANKS; i++) {
        uint64_t p = ranks[i];

        world_begin("Ring", ranks[i], 50, "ring");
        assert_all_end_at(WL_ALL_TO_ALL, 1000 * p, 10 + p * (p - 1) / 2 * (50 + 1000 + 10));
    }
}

/* Over a switch a neighbour is two links away. */
CLAIM(the_topology_decides_how_far_a_neighbour_is)
{
    world_begin("Switch", 4, 50, "ring");
    assert_all_end_at(WL_ALL_GATHER, 1000, 10 + 3 * (2 * 50 + 1000 + 10));
}

CLAIM(the_endpoint_delay_is_paid_before_the_first_message_and_after_each)
{
    world_begin("Ring", 4, 50, "ring");
    world.set.endpoint_delay = 700;
    assert_all_end_at(WL_ALL_GATHER, 1000, 700 + 3 * (50 + 1000 + 700));
}

/* Every rank sends 2(p-1) messages in an all-reduce. */
CLAIM(as_many_messages_are_sent_as_there_are_steps)
{
    world_begin("Ring", 8, 50, "ring");
    for (uint32_t r = 0; r < 8; r++)
        world_coll(r, "c", WL_ALL_REDUCE, 4096, 0);
    assert_ok(world_run(), &world.err);
    assert_u64(world.result.n_messages, 8 * 2 * 7);
    assert_u64(world.result.n_nodes, 8);
    world_end();
}

/* Rank 1 computes for 953 ns first; S/2 = 500 bytes, so D = 550, and R is 0 ns of 0.45.
 *   rank 1 sends at 953 + E, finds rank 0's message already there, and sends again E + R later
 *   rank 0 gets the first at 953 + E + D, sends its second E + R later, just when rank 1's second arrives: E more
 *   rank 1 gets that second message D after it was sent, and waits E */
CLAIM(a_late_rank_delays_the_ring)
{
    uint64_t e = 10, d = 50 + 500, r = world_reduction(500);
    uint32_t comp, coll[2];

    world_begin("Ring", 2, 50, "ring");
    coll[0] = world_coll(0, "c", WL_ALL_REDUCE, 1000, 0);
    comp = world_comp(1, "late", 1024, MIB);
    coll[1] = world_coll(1, "c", WL_ALL_REDUCE, 1000, 0);
    world_after(1, coll[1], comp);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, coll[0], 0, MIB_TICKS + e + d + e + r + e);
    assert_ticks(1, coll[1], MIB_TICKS, MIB_TICKS + e + d + e + r + d + e);
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_all_reduce_takes_two_rounds_of_which_one_reduces),
        cmocka_unit_test(a_reduce_scatter_takes_one_round_that_reduces),
        cmocka_unit_test(an_all_gather_takes_one_round_of_whole_contributions),
        cmocka_unit_test(an_all_to_all_takes_a_step_per_place_of_distance),
        cmocka_unit_test(the_topology_decides_how_far_a_neighbour_is),
        cmocka_unit_test(the_endpoint_delay_is_paid_before_the_first_message_and_after_each),
        cmocka_unit_test(as_many_messages_are_sent_as_there_are_steps),
        cmocka_unit_test(a_late_rank_delays_the_ring),
    };
    return RUN_TESTS(tests);
}
