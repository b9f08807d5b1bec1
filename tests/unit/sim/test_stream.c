/* Cutting collectives into chunks, and their way through the dimensions. */
#include "unit/sim/world.h"

/* One chunk of an all-reduce on a ring of p: see test_ring.c. */
static dse_time ring_all_reduce(uint64_t p, uint64_t size)
{
    uint64_t m = size / p;

    return 10 + 2 * (p - 1) * (50 + m + 10) + (p - 1) * world_reduction(m);
}

static dse_time ring_reduce_scatter(uint64_t p, uint64_t size)
{
    uint64_t m = size / p;

    return 10 + (p - 1) * (50 + m + 10 + world_reduction(m));
}

static dse_time ring_all_gather(uint64_t p, uint64_t size) { return 10 + (p - 1) * (50 + size + 10); }

static void all_ranks(wl_coll_type coll, uint64_t size)
{
    for (uint32_t r = 0; r < world.net.n_npus; r++)
        world_coll(r, "c", coll, size, 0);
}

/* ---- chunks ----------------------------------------------------------------------------------- */

CLAIM(chunks_run_one_after_the_other_if_one_may_be_active)
{
    world_begin("Ring", 4, 50, "ring");
    world.set.splits = 5;
    assert_all_end_at(WL_ALL_REDUCE, 5 * 4000, 5 * ring_all_reduce(4, 4000));
}

CLAIM(chunks_run_together_if_all_may_be_active)
{
    world_begin("Ring", 4, 50, "ring");
    world.set.splits = 5;
    world.set.active_chunks = 5;
    assert_all_end_at(WL_ALL_REDUCE, 5 * 4000, ring_all_reduce(4, 4000));
}

/* Five chunks, two at a time: three rounds. */
CLAIM(a_chunk_starts_when_a_place_is_free)
{
    world_begin("Ring", 4, 50, "ring");
    world.set.splits = 5;
    world.set.active_chunks = 2;
    assert_all_end_at(WL_ALL_REDUCE, 5 * 4000, 3 * ring_all_reduce(4, 4000));
}

static void assert_chunks(uint64_t size, uint32_t splits, uint64_t chunks)
{
    world_begin("Ring", 2, 50, "ring");
    world.set.splits = splits;
    all_ranks(WL_ALL_REDUCE, size);
    assert_ok(world_run(), &world.err);
    assert_u64(world.result.n_messages, chunks * 2 * 2); /* two ranks, two steps */
    world_end();
}

/* 1000003 bytes with 10 splits: 11 chunks of 100000 (reference/README.md). */
CLAIM(what_is_left_over_makes_one_more_chunk)
{
    assert_chunks(1000000, 10, 10);
    assert_chunks(1000003, 10, 11);
    assert_chunks(19, 5, 7); /* chunks of 3: six, and one byte over */
}

/* 1 byte is raised to 2 NPUs * 4 splits. */
CLAIM(few_bytes_are_raised_to_one_per_npu_and_chunk)
{
    assert_chunks(1, 4, 4);
    assert_chunks(7, 4, 4);
    assert_chunks(8, 4, 4);
    world_begin("Ring", 2, 50, "ring");
    assert_all_end_at(WL_ALL_REDUCE, 1, 10 + 2 * (50 + 1 + 10)); /* messages of one byte */
}

CLAIM(an_all_gather_of_fewer_bytes_than_chunks_is_refused)
{
    world_begin("Ring", 2, 50, "ring");
    world.set.splits = 4;
    all_ranks(WL_ALL_GATHER, 3);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "rank 0, node 1 'c': an all-gather of 3 bytes never ends: with 4 preferred-dataset-splits its chunks "
        "are empty");
    world_end();
}

CLAIM(too_many_chunks_are_refused)
{
    world_begin("Ring", 2, 50, "ring");
    world.set.splits = 70000;
    all_ranks(WL_ALL_GATHER, 70000);
    assert_failure(world_run(), &world.err, DSE_E_RANGE, "",
                   "rank 0, node 1 'c': 70000 chunks in one collective; at most 65536 are possible");
    world_end();
}

/* ---- dimensions --------------------------------------------------------------------------------- */

static void four_by_two(void)
{
    world_begin("Ring", 4, 50, "ring");
    world_dimension("Ring", 2, 50, "ring");
}

/* Up: reduce-scatter in dimension 0 leaves a quarter; there an all-reduce in dimension 1; down: all-gather. */
CLAIM(an_all_reduce_that_knows_its_dimensions_scatters_up_and_gathers_down)
{
    four_by_two();
    assert_all_end_at(WL_ALL_REDUCE, 8000,
                      ring_reduce_scatter(4, 8000) + ring_all_reduce(2, 2000) + ring_all_gather(4, 2000));
}

CLAIM(a_baseline_all_reduce_is_one_in_each_dimension)
{
    four_by_two();
    world.set.local_bw_aware = false;
    assert_all_end_at(WL_ALL_REDUCE, 8000, ring_all_reduce(4, 8000) + ring_all_reduce(2, 8000));
}

CLAIM(a_reduce_scatter_goes_up_the_dimensions)
{
    four_by_two();
    assert_all_end_at(WL_REDUCE_SCATTER, 8000, ring_reduce_scatter(4, 8000) + ring_reduce_scatter(2, 2000));
}

/* From the last dimension to the first, with ever more data. */
CLAIM(an_all_gather_comes_down_the_dimensions)
{
    four_by_two();
    assert_all_end_at(WL_ALL_GATHER, 8000, ring_all_gather(2, 8000) + ring_all_gather(4, 16000));
}

/* A list of one for a network of two leaves dimension 1 out. */
CLAIM(dimensions_without_an_implementation_take_no_part)
{
    four_by_two();
    world.set.implementations[SIM_ALL_REDUCE].n_dims = 1;
    assert_all_end_at(WL_ALL_REDUCE, 8000, ring_all_reduce(4, 8000));
}

CLAIM(a_collective_without_any_implementation_is_refused)
{
    world_begin("Ring", 2, 50, "ring");
    world.set.implementations[SIM_ALL_REDUCE].n_dims = 0;
    all_ranks(WL_ALL_REDUCE, 8000);
    assert_failure(world_run(), &world.err, DSE_E_SIM, "",
                   "rank 0, node 1 'c': no network dimension takes part in the ALL_REDUCE (the system has no "
                   "implementation for it)");
    world_end();
}

/* oneRing: 0-1-2-...-7-0, all neighbours one link apart in dimension 0, but 3-4 and 7-0: 3 is [3,0], 4 is [0,1]; they
 * differ in dimension 0 first, where 3 and 0 are neighbours on the ring of 4. */
CLAIM(one_ring_takes_all_npus_as_one_ring)
{
    four_by_two();
    assert_int_equal(
        sim_implementation_parse("oneRing", &world.set.implementations[SIM_ALL_REDUCE].dim[0], NULL), DSE_OK);
    assert_all_end_at(WL_ALL_REDUCE, 8000, ring_all_reduce(8, 8000));
}

static void all_ranks_along(wl_coll_type coll, uint64_t size, uint16_t involved, uint8_t n)
{
    for (uint32_t r = 0; r < world.net.n_npus; r++)
        world_coll_dims(r, "c", coll, size, involved, n);
}

CLAIM(involved_dimensions_are_chosen_by_the_node)
{
    four_by_two();
    all_ranks_along(WL_ALL_REDUCE, 8000, 2, 2); /* dimension 1 alone */
    assert_ok(world_run(), &world.err);
    for (uint32_t r = 0; r < 8; r++)
        assert_u64(world_stats(r)->wall, ring_all_reduce(2, 8000));
    world_end();
    four_by_two();
    all_ranks_along(WL_ALL_REDUCE, 8000, 1, 2);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(7)->wall, ring_all_reduce(4, 8000));
    world_end();
}

CLAIM(involved_dimensions_are_checked)
{
    four_by_two();
    all_ranks_along(WL_ALL_REDUCE, 8000, 1, 1);
    assert_failure(
        world_run(), &world.err, DSE_E_WORKLOAD, "",
        "rank 0, node 1 'c': involve_dims has 1 entries, but the collective goes over 2 dimensions");
    world_end();
    four_by_two();
    all_ranks_along(WL_ALL_REDUCE, 8000, 0, 2);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "rank 0, node 1 'c': no network dimension takes part in the ALL_REDUCE (involve_dims is all false)");
    world_end();
}

/* ---- groups -------------------------------------------------------------------------------------- */

/* Neither the endpoint delay nor the implementations of the system matter to a group smaller than it. */
CLAIM(a_smaller_group_is_a_ring_with_an_endpoint_of_ten_ns)
{
    static const uint32_t pair[] = {1, 3};
    uint32_t g;

    world_begin("FullyConnected", 4, 50, "direct");
    world.set.endpoint_delay = 777;
    g = world_group("g", 2, pair);
    world_coll(1, "c", WL_ALL_REDUCE, 8000, g);
    world_coll(3, "c", WL_ALL_REDUCE, 8000, g);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(1)->wall, ring_all_reduce(2, 8000));
    assert_u64(world_stats(3)->wall, ring_all_reduce(2, 8000));
    assert_u64(world_stats(0)->wall, 0);
    world_end();
}

/* On a ring of 6 with links of 100 ns the group 0, 3, 1 sends 0 to 3 (3 links), 3 to 1 (2), 1 to 0 (1). Two rounds of
 * 1000 bytes: D is 1300, 1200, 1100. First messages leave at 10; a rank answers 10 after it received:
 *   rank 0 gets 1's at 1110, sends at 1120; rank 3 gets 0's at 1310, sends at 1320; rank 1 gets 3's at 1210, sends at 1220
 *   second round: rank 0 at 1220 + 1100, rank 3 at 1120 + 1300, rank 1 at 1320 + 1200; and 10 more. */
CLAIM(a_group_is_a_ring_in_its_listed_order)
{
    static const uint32_t three[] = {0, 3, 1};
    uint32_t g;

    world_begin("Ring", 6, 100, "ring");
    g = world_group("g", 3, three);
    for (int i = 0; i < 3; i++)
        world_coll(three[i], "c", WL_ALL_GATHER, 1000, g);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(0)->wall, 1220 + 1100 + 10);
    assert_u64(world_stats(3)->wall, 1120 + 1300 + 10);
    assert_u64(world_stats(1)->wall, 1320 + 1200 + 10);
    world_end();
}

CLAIM(a_group_of_all_ranks_runs_the_system_s_algorithm_whatever_its_order)
{
    static const uint32_t all[] = {2, 0, 3, 1};
    uint32_t g;

    world_begin("FullyConnected", 4, 50, "direct");
    g = world_group("g", 4, all);
    for (uint32_t r = 0; r < 4; r++)
        world_coll(r, "c", WL_ALL_GATHER, 1000, g);
    assert_ok(world_run(), &world.err);
    for (uint32_t r = 0; r < 4; r++)
        assert_u64(world_stats(r)->wall, 10 + 50 + 1000 + 10);
    world_end();
}

CLAIM(a_group_of_one_member_is_refused)
{
    static const uint32_t alone[] = {1};

    world_begin("Ring", 2, 50, "ring");
    world_coll(1, "c", WL_ALL_REDUCE, 8000, world_group("g", 1, alone));
    assert_failure(world_run(), &world.err, DSE_E_SIM, "",
                   "rank 1, node 1 'c': group 'g' has one member; its collectives never end");
    world_end();
}

/* Groups of disjoint ranks do not hinder each other. */
CLAIM(disjoint_groups_run_side_by_side)
{
    static const uint32_t a[] = {0, 1}, b[] = {2, 3};
    uint32_t ga, gb;

    world_begin("FullyConnected", 4, 50, "direct");
    ga = world_group("a", 2, a);
    gb = world_group("b", 2, b);
    for (uint32_t r = 0; r < 4; r++)
        world_coll(r, "c", WL_ALL_REDUCE, 8000, r < 2 ? ga : gb);
    assert_ok(world_run(), &world.err);
    for (uint32_t r = 0; r < 4; r++)
        assert_u64(world_stats(r)->wall, ring_all_reduce(2, 8000));
    world_end();
}

/* ---- other types ---------------------------------------------------------------------------------- */

CLAIM(collectives_that_the_reference_does_not_simulate_are_refused)
{
    world_begin("Ring", 2, 50, "ring");
    world_coll(0, "c", (wl_coll_type)3, 8000, 0);
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 1 'c': the collective GATHER cannot be simulated");
    world_end();
}

/* The reference replays it: 3 us as recorded, or one tick if nothing is. */
CLAIM(a_broadcast_lasts_as_long_as_recorded)
{
    uint32_t n;

    world_begin("Ring", 2, 50, "ring");
    n = world_coll(0, "c", WL_BROADCAST, 8000, 0);
    world.rank[0].node[n].duration_us = 3;
    world_coll(1, "c", WL_BROADCAST, 8000, 0);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(0)->wall, 3000);
    assert_u64(world_stats(1)->wall, 1);
    world_end();
}

/* Of 3 splits, 3000 bytes are 3 chunks, 3001 are 4. A rank's chunks are numbered over all its collectives, and that number is
 * the tag of those without a group: ranks that have run another number of chunks in their groups do not meet there. */
static dse_status group_then_all(uint64_t size_of_second_pair)
{
    static const uint32_t pairs[][2] = {{0, 1}, {2, 3}};
    uint32_t group[2];

    world_begin("Ring", 4, 50, "ring");
    world.set.splits = 3;
    for (int i = 0; i < 2; i++)
        group[i] = world_group(i ? "second" : "first", 2, pairs[i]);
    for (uint32_t r = 0; r < 4; r++) {
        uint32_t own = world_coll(r, "pair", WL_ALL_REDUCE, r < 2 ? 3000 : size_of_second_pair, group[r / 2]);

        world_after(r, world_coll_dims(r, "all", WL_ALL_REDUCE, 6000, 1, 1), own);
    }
    return world_run();
}

CLAIM(ranks_meet_after_groups_of_as_many_chunks)
{
    assert_ok(group_then_all(3000), &world.err);
    world_end();
}

CLAIM(ranks_never_meet_after_groups_of_other_numbers_of_chunks)
{
    assert_says(group_then_all(3001), &world.err, DSE_E_SIM,
                "4 of 4 ranks never finish; waiting: rank 0, node 2 'all' (ALL_REDUCE; ");
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_run_one_after_the_other_if_one_may_be_active),
        cmocka_unit_test(chunks_run_together_if_all_may_be_active),
        cmocka_unit_test(a_chunk_starts_when_a_place_is_free),
        cmocka_unit_test(what_is_left_over_makes_one_more_chunk),
        cmocka_unit_test(few_bytes_are_raised_to_one_per_npu_and_chunk),
        cmocka_unit_test(an_all_gather_of_fewer_bytes_than_chunks_is_refused),
        cmocka_unit_test(too_many_chunks_are_refused),
        cmocka_unit_test(an_all_reduce_that_knows_its_dimensions_scatters_up_and_gathers_down),
        cmocka_unit_test(a_baseline_all_reduce_is_one_in_each_dimension),
        cmocka_unit_test(a_reduce_scatter_goes_up_the_dimensions),
        cmocka_unit_test(an_all_gather_comes_down_the_dimensions),
        cmocka_unit_test(dimensions_without_an_implementation_take_no_part),
        cmocka_unit_test(a_collective_without_any_implementation_is_refused),
        cmocka_unit_test(one_ring_takes_all_npus_as_one_ring),
        cmocka_unit_test(involved_dimensions_are_chosen_by_the_node),
        cmocka_unit_test(involved_dimensions_are_checked),
        cmocka_unit_test(a_smaller_group_is_a_ring_with_an_endpoint_of_ten_ns),
        cmocka_unit_test(a_group_is_a_ring_in_its_listed_order),
        cmocka_unit_test(a_group_of_all_ranks_runs_the_system_s_algorithm_whatever_its_order),
        cmocka_unit_test(a_group_of_one_member_is_refused),
        cmocka_unit_test(disjoint_groups_run_side_by_side),
        cmocka_unit_test(collectives_that_the_reference_does_not_simulate_are_refused),
        cmocka_unit_test(a_broadcast_lasts_as_long_as_recorded),
        cmocka_unit_test(ranks_meet_after_groups_of_as_many_chunks),
        cmocka_unit_test(ranks_never_meet_after_groups_of_other_numbers_of_chunks),
    };
    return RUN_TESTS(tests);
}
