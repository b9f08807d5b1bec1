/* Double binary tree: reduce up, broadcast down, whatever the collective. E endpoint delay, D time of a message of
 * the whole chunk, R its reduction. */
#include "unit/sim/world.h"

static void run(uint32_t n, wl_coll_type coll, uint64_t size)
{
    world_begin("FullyConnected", n, 50, "doubleBinaryTree");
    for (uint32_t r = 0; r < n; r++)
        world_coll(r, "c", coll, size, 0);
    assert_ok(world_run(), &world.err);
}

/* The first tree has its root at the last rank. The leaf waits E and sends; the root reduces (E + R), sends and is
 * done; the leaf waits E once more. */
CLAIM(two_ranks_are_a_leaf_and_a_root)
{
    uint64_t d = 50 + MIB, r = world_reduction(MIB);

    run(2, WL_ALL_REDUCE, MIB);
    assert_u64(world_stats(1)->wall, 10 + d + 10 + r);
    assert_u64(world_stats(0)->wall, 10 + d + 10 + r + d + 10);
    world_end();
}

/* Root 3 over the middle 1 over the leaves 0 and 2. Both leaves' data arrive together and are reduced at once:
 *   middle sends up at       2 E +   D +   R
 *   root sends down at       3 E + 2 D + 2 R   and is done
 *   middle, reducing again,  4 E + 3 D + 3 R   sends down and is done
 *   leaves                   5 E + 4 D + 3 R */
CLAIM(four_ranks_are_a_root_a_middle_and_two_leaves)
{
    uint64_t d = 50 + MIB, r = world_reduction(MIB);

    run(4, WL_ALL_REDUCE, MIB);
    assert_u64(world_stats(3)->wall, 3 * 10 + 2 * d + 2 * r);
    assert_u64(world_stats(1)->wall, 4 * 10 + 3 * d + 3 * r);
    assert_u64(world_stats(0)->wall, 5 * 10 + 4 * d + 3 * r);
    assert_u64(world_stats(2)->wall, 5 * 10 + 4 * d + 3 * r);
    world_end();
}

/* Leaf 2 enters later than leaf 0, by less than a reduction (both are under way at once) and by more (the first has
 * ended). The middle sends up only what it has reduced from both, so all that follows is late by as much. */
CLAIM(a_middle_waits_for_the_reductions_of_both_children)
{
    static const uint64_t mib[] = {1, 8}, late[] = {953, 7629}; /* 10^9 / 2^20 ns for each MiB, truncated */
    uint64_t d = 50 + MIB, r = world_reduction(MIB);

    for (int i = 0; i < 2; i++) {
        assert_int_equal(late[i] < r, i == 0);
        world_begin("FullyConnected", 4, 50, "doubleBinaryTree");
        for (uint32_t rank = 0; rank < 4; rank++)
            world_coll(rank, "c", WL_ALL_REDUCE, MIB, 0);
        world_after(2, 0, world_comp(2, "first", mib[i] * MIB, mib[i] * MIB));
        assert_ok(world_run(), &world.err);
        assert_u64(world_stats(3)->wall, late[i] + 3 * 10 + 2 * d + 2 * r);
        assert_u64(world_stats(1)->wall, late[i] + 4 * 10 + 3 * d + 3 * r);
        assert_u64(world_stats(0)->wall, late[i] + 5 * 10 + 4 * d + 3 * r);
        assert_u64(world_stats(2)->wall, late[i] + 5 * 10 + 4 * d + 3 * r);
        world_end();
    }
}

/* The other tree has its root at rank 0: the ranks change places with those counted from the other end. */
CLAIM(chunks_alternate_between_two_trees)
{
    uint64_t d = 50 + MIB, r = world_reduction(MIB), tree[4], reversed[4];

    run(4, WL_ALL_REDUCE, MIB);
    for (uint32_t i = 0; i < 4; i++) {
        tree[i] = world_stats(i)->wall;
        reversed[3 - i] = tree[i];
    }
    world_end();
    world_begin("FullyConnected", 4, 50, "doubleBinaryTree");
    world.set.splits = 2;
    world.set.active_chunks = 2; /* both at once: they do not know of each other */
    for (uint32_t i = 0; i < 4; i++)
        world_coll(i, "c", WL_ALL_REDUCE, 2 * MIB, 0);
    assert_ok(world_run(), &world.err);
    for (uint32_t i = 0; i < 4; i++)
        assert_u64(world_stats(i)->wall, tree[i] > reversed[i] ? tree[i] : reversed[i]);
    assert_u64(world_stats(1)->wall, 5 * 10 + 4 * d + 3 * r); /* a leaf in the other tree */
    world_end();
}

/* Up and down every edge of the tree: 2 (n-1). */
CLAIM(every_edge_carries_two_messages)
{
    for (uint32_t n = 2; n <= 16; n *= 2) {
        run(n, WL_ALL_REDUCE, MIB);
        assert_u64(world.result.n_messages, 2 * (n - 1));
        world_end();
    }
}

CLAIM(it_runs_the_all_reduce_whatever_the_collective)
{
    static const wl_coll_type colls[] = {WL_ALL_GATHER, WL_REDUCE_SCATTER, WL_ALL_TO_ALL};

    for (int i = 0; i < 3; i++) {
        uint64_t d = 50 + MIB, r = world_reduction(MIB);

        run(2, colls[i], MIB);
        assert_u64(world_stats(0)->wall, 10 + d + 10 + r + d + 10);
        world_end();
    }
}

CLAIM(another_number_of_ranks_is_refused)
{
    world_begin("FullyConnected", 6, 50, "doubleBinaryTree");
    for (uint32_t r = 0; r < 6; r++)
        world_coll(r, "c", WL_ALL_REDUCE, 4096, 0);
    assert_failure(world_run(), &world.err, DSE_E_SIM, "",
                   "rank 0, node 1 'c': doubleBinaryTree needs a power of two of ranks in its dimension "
                   "(dimension 0 has "
                   "6 ranks)");
    world_end();
}

/* The reference puts only the NPUs of the first dimensions into a tree that ends the list before the network does. */
CLAIM(a_tree_that_ends_the_list_early_is_refused)
{
    world_begin("FullyConnected", 2, 50, "doubleBinaryTree");
    world_dimension("FullyConnected", 2, 50, "ring");
    world.set.implementations[SIM_ALL_REDUCE].n_dims = 1;
    for (uint32_t r = 0; r < 4; r++)
        world_coll(r, "c", WL_ALL_REDUCE, 4096, 0);
    assert_says(world_run(), &world.err, DSE_E_SIM,
                "doubleBinaryTree as the last implementation must be that of the last network dimension");
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ranks_are_a_leaf_and_a_root),
        cmocka_unit_test(four_ranks_are_a_root_a_middle_and_two_leaves),
        cmocka_unit_test(a_middle_waits_for_the_reductions_of_both_children),
        cmocka_unit_test(chunks_alternate_between_two_trees),
        cmocka_unit_test(every_edge_carries_two_messages),
        cmocka_unit_test(it_runs_the_all_reduce_whatever_the_collective),
        cmocka_unit_test(another_number_of_ranks_is_refused),
        cmocka_unit_test(a_tree_that_ends_the_list_early_is_refused),
    };
    return RUN_TESTS(tests);
}
