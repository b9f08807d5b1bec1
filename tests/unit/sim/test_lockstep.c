/* A collective of all ranks that begin together, run for one of them: it must end when the plain engine ends it for all. */
#include "sim/engine.h"
#include "sim/lockstep.h"
#include "unit/sim/world.h"

/* What rank 0's first node takes, worked out so many times, in an engine that does nothing else. False: it is refused. */
static bool run_lockstep(uint32_t times, sim_lockstep_cost *out)
{
    sim_engine e = {
        .set = &world.set, .net = &world.net, .w = &world.w, .arena = &world.arena, .err = &world.err};
    sim_lockstep *l;
    sim_cut cut;
    bool ok = true;

    dse_arena_init(&world.arena);
    world.err = (dse_error)DSE_ERROR_INIT;
    world_make(&world.arena);
    sim_engine_init(&e);
    assert_ok(sim_logicals_init(e.set, e.net, e.logical, e.err), &world.err);
    sim_ranks_init(&e);
    assert_true(sim_coll_cut(&e, 0, 0, &cut));
    l = sim_lockstep_new(&e);
    assert_u64(sim_lockstep_events(l), 0);
    for (uint32_t i = 0; ok && i < times; i++) {
        uint64_t before = sim_lockstep_events(l);

        ok = sim_lockstep_run(l, &e, 0, 0, &cut, out);
        assert_true(!ok || sim_lockstep_events(l) > before);
    }
    sim_lockstep_free(l);
    sim_engine_free(&e);
    world_end();
    return ok;
}

static void all_ranks(wl_coll_type coll, uint64_t size)
{
    for (uint32_t r = 0; r < world.net.n_npus; r++)
        world_coll(r, "c", coll, size, 0);
}

/* The world's ranks do not all act alike, as far as lockstep can tell. */
static bool is_refused(void)
{
    sim_lockstep_cost cost;

    return !run_lockstep(1, &cost);
}

/* ---- by hand --------------------------------------------------------------------------------------- */

/* Three steps of 1000 bytes, an endpoint of 10 before the first and after each. */
CLAIM(a_ring_takes_its_steps)
{
    sim_lockstep_cost cost;

    world_begin("Ring", 4, 50, "ring");
    all_ranks(WL_ALL_GATHER, 1000);
    assert_true(run_lockstep(1, &cost));
    assert_u64(cost.ticks, 10 + 3 * (1050 + 10));
    assert_u64(cost.n_messages, 3);
}

/* All three at once. */
CLAIM(a_direct_takes_one_exchange)
{
    sim_lockstep_cost cost;

    world_begin("FullyConnected", 4, 50, "direct");
    all_ranks(WL_ALL_GATHER, 1000);
    assert_true(run_lockstep(1, &cost));
    assert_u64(cost.ticks, 10 + 1050 + 10);
    assert_u64(cost.n_messages, 3);
}

/* The gather comes down the dimensions: among the two of the upper with 1000 bytes over 500 ns, then among the two of the
 * lower with what that made, 2000. */
CLAIM(dimensions_come_one_after_the_other)
{
    sim_lockstep_cost cost;

    world_begin("Ring", 2, 50, "ring");
    world_dimension("Ring", 2, 500, "ring");
    all_ranks(WL_ALL_GATHER, 1000);
    assert_true(run_lockstep(1, &cost));
    assert_u64(cost.ticks, 10 + 1500 + 10 + 10 + 2050 + 10);
    assert_u64(cost.n_messages, 2);
}

/* The queues' and lanes' state that a collective leaves behind is as good as new. */
CLAIM(the_second_time_takes_as_long_as_the_first)
{
    sim_lockstep_cost once, often;

    world_begin("Switch", 4, 50, "direct2");
    world_dimension("Ring", 4, 70, "halvingDoubling");
    world.set.splits = 5;
    world.set.active_chunks = 2;
    all_ranks(WL_ALL_REDUCE, 80000);
    assert_true(run_lockstep(1, &once));
    assert_true(run_lockstep(5, &often));
    assert_u64(often.ticks, once.ticks);
    assert_u64(often.n_messages, once.n_messages);
}

/* ---- against the plain engine ------------------------------------------------------------------------- */

static uint32_t below(uint64_t *seed, uint32_t n) { return (uint32_t)(unit_random(seed) % n); }

/* With `ties` latencies, delays and sizes are few and small, so that much happens in one tick. */
static void random_system(uint64_t *seed, bool ties)
{
    static const char *const topologies[] = {"Ring", "Switch", "FullyConnected"};
    static const char *const algorithms[] = {"ring", "direct", "direct1", "direct2", "halvingDoubling"};
    uint32_t n_dims = 1 + below(seed, 3), n = 1;

    world_empty();
    for (uint32_t i = 0; i < n_dims; i++) {
        uint32_t most = WORLD_MAX_RANKS / n >> (n_dims - 1 - i), size = 2 + below(seed, most - 1),
                 which = below(seed, size & (size - 1) ? 4 : 5);

        world_dimension(topologies[below(seed, 3)], size, ties ? 5 * below(seed, 4) : 50 + below(seed, 500),
                        algorithms[which]);
        n *= size;
        for (int c = 0; c < SIM_N_COLLECTIVES; c++)
            assert_true(world.set.implementations[c].dim[i].algorithm->all_alike);
    }
    world.set.local_bw_aware = below(seed, 2);
    world.set.splits = 1 + below(seed, 6);
    world.set.active_chunks = 1 + below(seed, 6);
    world.set.endpoint_delay = ties ? 5 * (1 + below(seed, 3)) : 1 + below(seed, 20);
}

/* All ranks, some of the dimensions or a group of all. */
static void random_collective(uint64_t *seed, bool ties)
{
    static const wl_coll_type colls[] = {WL_ALL_REDUCE, WL_ALL_GATHER, WL_REDUCE_SCATTER, WL_ALL_TO_ALL};
    wl_coll_type coll = colls[below(seed, 4)];
    uint64_t size = ties ? 16 * (1 + below(seed, 20)) : 64 + below(seed, 5000000);
    uint32_t dims = world.net.n_dims, involved = below(seed, 2) ? 0 : 1 + below(seed, (1u << dims) - 1);

    for (uint32_t r = 0; r < world.net.n_npus; r++)
        if (involved)
            world_coll_dims(r, "c", coll, size, (uint16_t)involved, (uint8_t)dims);
        else
            world_coll(r, "c", coll, size, 0);
}

/* Where the plain engine fails, lockstep must refuse; where it does not, all that the plain engine does must agree. */
static void check_random(uint64_t seed, bool ties)
{
    int taken = 0, cases = 600;

    for (int i = 0; i < cases; i++) {
        sim_lockstep_cost cost;
        run_outcome plain;
        bool ok;

        random_system(&seed, ties);
        random_collective(&seed, ties);
        ok = run_lockstep(1, &cost);
        world_run_alone(&plain);
        assert_true(!ok || plain.status == DSE_OK);
        taken += ok;
        for (uint32_t r = 0; ok && r < world.net.n_npus; r++)
            assert_u64(world_stats(r)->wall, cost.ticks);
        assert_true(!ok || plain.result.n_messages == cost.n_messages * world.net.n_npus);
        world_end();
    }
    assert_true(taken > cases / 2);
}

CLAIM(it_takes_as_long_as_every_rank_of_the_plain_engine) { check_random(21, false); }

CLAIM(so_it_does_where_much_happens_in_one_tick) { check_random(22, true); }

/* ---- what it refuses --------------------------------------------------------------------------------------- */

/* A rank in the middle of a mesh has more neighbours than one at a corner. */
CLAIM(a_mesh_is_refused_and_what_looks_alike_is_not)
{
    size_t n;
    const net_topology *rows = net_topologies(&n);

    for (size_t i = 0; i < n; i++) {
        net_shape shape = {.n = rows[i].n_axes ? 0 : 8};

        for (uint32_t axis = 0; axis < rows[i].n_axes; axis++)
            shape.extent[axis] = 2;
        world_empty();
        world_shape(rows[i].name, shape, 50, "ring");
        all_ranks(WL_ALL_REDUCE, 8000);
        assert_int_equal(is_refused(), !rows[i].cyclic);
    }
}

/* A mesh that takes no part is no hindrance. */
CLAIM(only_the_dimensions_involved_must_look_alike)
{
    for (uint16_t involved = 1; involved < 4; involved++) {
        world_begin("Ring", 4, 50, "ring");
        world_shape("Mesh2D", (net_shape){.extent = {2, 2}}, 50, "ring");
        for (uint32_t r = 0; r < 16; r++)
            world_coll_dims(r, "c", WL_ALL_REDUCE, 8000, involved, 2);
        assert_int_equal(is_refused(), involved != 1);
    }
}

CLAIM(a_double_binary_tree_is_refused)
{
    world_begin("Switch", 8, 50, "doubleBinaryTree");
    all_ranks(WL_ALL_REDUCE, 8000);
    assert_true(is_refused());
}

/* What is passed on in the tick in which it comes could come before or after what else comes then. */
CLAIM(an_endpoint_without_delay_is_refused)
{
    for (dse_time delay = 0; delay < 2; delay++) {
        world_begin("Switch", 8, 50, "ring");
        world.set.endpoint_delay = delay;
        all_ranks(WL_ALL_REDUCE, 8000);
        assert_int_equal(is_refused(), !delay);
    }
}

CLAIM(halving_doubling_among_other_than_a_power_of_two_is_refused)
{
    for (uint32_t n = 2; n <= WORLD_MAX_RANKS; n++) {
        world_begin("Switch", n, 50, "halvingDoubling");
        all_ranks(WL_ALL_REDUCE, 8000);
        assert_int_equal(is_refused(), n & (n - 1) ? 1 : 0);
    }
}

/* oneRing makes a circle of NPUs in the order of their ids, whose links are of several dimensions. */
CLAIM(one_ring_over_several_dimensions_is_refused)
{
    for (int dims = 1; dims < 3; dims++) {
        world_begin("Ring", 4, 50, "oneRing");
        if (dims > 1)
            world_dimension("Ring", 2, 50, "ring");
        all_ranks(WL_ALL_REDUCE, 8000);
        assert_int_equal(is_refused(), dims > 1);
    }
}

/* There is none, which is the plain engine's to say. */
CLAIM(an_all_to_all_by_halving_doubling_is_refused)
{
    world_begin("Switch", 4, 50, "halvingDoubling");
    all_ranks(WL_ALL_TO_ALL, 16);
    assert_true(is_refused());
}

/* On a ring of four what comes from the next has one link, from the one opposite two. The first of 1000 bytes comes at 10 +
 * 10 + 1000 and is through the endpoint 10 later, when the second comes: whichever is first decides what is sent. */
CLAIM(a_chunk_that_receives_while_it_sends_is_refused)
{
    for (int latency = 10; latency < 12; latency++) {
        world_begin("Ring", 4, latency, "direct");
        all_ranks(WL_ALL_GATHER, 1000);
        assert_int_equal(is_refused(), latency == 10);
    }
}

/* Four chunks of 16 bytes over three dimensions of two; one works in a dimension at once, and reductions take no time. Up the
 * first is 10 + (60 + 8) + 10 = 88 ns, up and down the second 10 + (10 + 4) + 10 = 34, the last 10 + 2 * (12 + 10) = 54.
 * So chunk 1 comes to the second dimension at 2 * 88 = 176, and chunk 0 comes back to it at 88 + 34 + 54 = 176. */
CLAIM(chunks_that_come_to_a_dimension_together_from_both_sides_are_refused)
{
    for (int latency = 60; latency < 62; latency++) {
        world_begin("Ring", 2, latency, "ring");
        world_dimension("Ring", 2, 10, "ring");
        world_dimension("Ring", 2, 10, "ring");
        world.set.splits = 4;
        all_ranks(WL_ALL_REDUCE, 4 * 16);
        assert_int_equal(is_refused(), latency == 60);
    }
}

/* At 10^6 bytes a ns and without latency a message of 8000 bytes comes in the tick in which it is sent. */
CLAIM(messages_of_no_time_are_refused)
{
    world_begin("Switch", 8, 0, "ring");
    world.net.dim[0].gib_per_s = 1e6 * BYTE_PER_NS;
    assert_int_equal(net_network_finish(&world.net, NULL), DSE_OK);
    all_ranks(WL_ALL_GATHER, 8000);
    assert_true(is_refused());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_takes_its_steps),
        cmocka_unit_test(a_direct_takes_one_exchange),
        cmocka_unit_test(dimensions_come_one_after_the_other),
        cmocka_unit_test(the_second_time_takes_as_long_as_the_first),
        cmocka_unit_test(it_takes_as_long_as_every_rank_of_the_plain_engine),
        cmocka_unit_test(so_it_does_where_much_happens_in_one_tick),
        cmocka_unit_test(a_mesh_is_refused_and_what_looks_alike_is_not),
        cmocka_unit_test(only_the_dimensions_involved_must_look_alike),
        cmocka_unit_test(a_double_binary_tree_is_refused),
        cmocka_unit_test(an_endpoint_without_delay_is_refused),
        cmocka_unit_test(halving_doubling_among_other_than_a_power_of_two_is_refused),
        cmocka_unit_test(one_ring_over_several_dimensions_is_refused),
        cmocka_unit_test(an_all_to_all_by_halving_doubling_is_refused),
        cmocka_unit_test(a_chunk_that_receives_while_it_sends_is_refused),
        cmocka_unit_test(chunks_that_come_to_a_dimension_together_from_both_sides_are_refused),
        cmocka_unit_test(messages_of_no_time_are_refused),
    };
    return RUN_TESTS(tests);
}
