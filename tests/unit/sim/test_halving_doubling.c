/* Halving-doubling of one chunk among n = 2^k ranks. Exchange i of a reduce-scatter goes over a distance of 2^i and
 * carries S / 2^(i+1); an all-reduce then goes back. As in the reference, of a round of exchanges the first is passed
 * on without a reduction, so k-1 are reduced, each with the size of the message that follows. */
#include "unit/sim/world.h"

static dse_time scatter_half(uint32_t k, uint64_t size, uint64_t hop, bool far)
{
    dse_time t = 0;

    for (uint32_t i = 0; i < k; i++) {
        uint64_t bytes = size >> (i + 1);

        t += hop * (far ? 1u << i : 1) + bytes + 10;
        if (i)
            t += world_reduction(bytes);
    }
    return t;
}

static dse_time gather_half(uint32_t k, uint64_t first, uint64_t hop)
{
    dse_time t = 0;

    for (uint32_t i = 0; i < k; i++)
        t += hop + (first << i) + 10;
    return t;
}

CLAIM(a_reduce_scatter_halves_at_every_exchange)
{
    for (uint32_t k = 1; k <= 4; k++) {
        world_begin("FullyConnected", 1u << k, 50, "halvingDoubling");
        assert_all_end_at(WL_REDUCE_SCATTER, 64 * MIB, 10 + scatter_half(k, 64 * MIB, 50, false));
    }
}

CLAIM(an_all_gather_doubles_at_every_exchange)
{
    for (uint32_t k = 1; k <= 4; k++) {
        world_begin("FullyConnected", 1u << k, 50, "halvingDoubling");
        assert_all_end_at(WL_ALL_GATHER, MIB, 10 + gather_half(k, MIB, 50));
    }
}

CLAIM(an_all_reduce_halves_and_doubles_back)
{
    for (uint32_t k = 1; k <= 4; k++) {
        world_begin("FullyConnected", 1u << k, 50, "halvingDoubling");
        assert_all_end_at(WL_ALL_REDUCE, 64 * MIB,
                          10 + scatter_half(k, 64 * MIB, 50, false) + gather_half(k, 64 * MIB >> k, 50));
    }
}

/* On a ring of 8 partners at distance 1, 2, 4 are as many links away. */
CLAIM(partners_are_ever_farther_away)
{
    world_begin("Ring", 8, 50, "halvingDoubling");
    assert_all_end_at(WL_REDUCE_SCATTER, 64 * MIB, 10 + scatter_half(3, 64 * MIB, 50, true));
}

CLAIM(it_has_no_all_to_all)
{
    world_begin("FullyConnected", 4, 50, "halvingDoubling");
    for (uint32_t r = 0; r < 4; r++)
        world_coll(r, "c", WL_ALL_TO_ALL, 4096, 0);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "rank 0, node 1 'c': halvingDoubling has no all-to-all; use ring or direct for it (dimension 0 has "
        "4 ranks)");
    world_end();
}

/* Partners do not meet; the reference ends with exit code 0 and no report of these ranks. */
CLAIM(another_number_of_ranks_never_ends_and_is_told_so)
{
    world_begin("FullyConnected", 3, 50, "halvingDoubling");
    for (uint32_t r = 0; r < 3; r++)
        world_coll(r, "c", WL_ALL_REDUCE, 4096, 0);
    assert_says(world_run(), &world.err, DSE_E_SIM, "halvingDoubling needs a power of two of ranks, not 3");
    world_end();
}

/* 3 bytes among 3 ranks: the first message carries 1 of them, the second half of that. */
CLAIM(a_message_of_no_bytes_is_refused)
{
    world_begin("FullyConnected", 3, 50, "halvingDoubling");
    for (uint32_t r = 0; r < 3; r++)
        world_coll(r, "c", WL_ALL_REDUCE, 3, 0);
    assert_says(world_run(), &world.err, DSE_E_SIM, "a message of 0 bytes from rank ");
    world_end();
}

/* Raised to a byte per rank, 8 ranks exchange 4, 2 and 1. */
CLAIM(the_smallest_collective_still_has_a_byte_in_each_message)
{
    world_begin("FullyConnected", 8, 50, "halvingDoubling");
    assert_all_end_at(WL_REDUCE_SCATTER, 1, 10 + (50 + 4 + 10) + (50 + 2 + 10) + (50 + 1 + 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reduce_scatter_halves_at_every_exchange),
        cmocka_unit_test(an_all_gather_doubles_at_every_exchange),
        cmocka_unit_test(an_all_reduce_halves_and_doubles_back),
        cmocka_unit_test(partners_are_ever_farther_away),
        cmocka_unit_test(it_has_no_all_to_all),
        cmocka_unit_test(another_number_of_ranks_never_ends_and_is_told_so),
        cmocka_unit_test(a_message_of_no_bytes_is_refused),
        cmocka_unit_test(the_smallest_collective_still_has_a_byte_in_each_message),
    };
    return RUN_TESTS(tests);
}
