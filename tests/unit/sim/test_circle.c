/* When a ring's collective ends: by hand, and against the recursion that circle.c solves.
 *
 * Dimensions of the world move a byte per ns, so that a message of b bytes takes latency + b; an endpoint takes 10. */
#include "sim/circle.h"
#include "sim/engine.h"
#include "unit/sim/world.h"

static struct {
    sim_engine engine;
    sim_circle circle;
    uint32_t n_members;
    sim_circle_place place[WORLD_MAX_RANKS];
    dse_time begin[WORLD_MAX_RANKS];
    int64_t scratch[2 * WORLD_MAX_RANKS + 1];
} t;

/* The members are a ring in their order; the first n_places of them are kept. */
static void members(uint32_t n, const uint32_t *ranks, uint32_t n_places)
{
    memset(&t, 0, sizeof t);
    dse_arena_init(&world.arena);
    world.err = (dse_error)DSE_ERROR_INIT;
    t.engine = (sim_engine){.set = &world.set, .net = &world.net, .arena = &world.arena, .err = &world.err};
    t.n_members = n;
    t.circle = (sim_circle){.n_places = n_places, .place = t.place, .begin = t.begin, .scratch = t.scratch};
    for (uint32_t i = 0; i < n_places; i++)
        t.place[i] = (sim_circle_place){.class = i, .rank = ranks[i], .before = ranks[i ? i - 1 : n - 1]};
}

static uint32_t find_cost(sim_collective coll, uint64_t chunk_bytes, uint64_t n_chunks)
{
    wl_group group = {.name = "g", .n = t.n_members};
    sim_cut cut = {.group = &group,
                   .collective = coll,
                   .how = sim_group_implementation(&world.set, coll),
                   .chunk_bytes = chunk_bytes,
                   .n_chunks = n_chunks};

    return sim_circle_add_cost(&t.engine, &t.circle, (uint32_t)coll, chunk_bytes * n_chunks, &cut);
}

/* Runs a collective of which the places begin as in `begin`. */
static void run(sim_collective coll, uint64_t chunk_bytes, uint64_t n_chunks, const dse_time *begin)
{
    uint32_t cost = find_cost(coll, chunk_bytes, n_chunks);

    assert_true(cost != DSE_NONE);
    t.circle.current = cost;
    memcpy(t.begin, begin, t.circle.n_places * sizeof *begin);
    assert_true(sim_circle_run(&t.circle));
}

/* ---- by hand ------------------------------------------------------------------------------------- */

static const uint32_t first_four[] = {0, 1, 2, 3};

/* Each sends 1000 bytes (1050 ns): the first at 10, the second at 310. What comes passes the endpoint: 1360 + 10 at the
 * first; at the second 1060 + 10. */
CLAIM(a_pair_that_begins_apart_ends_apart)
{
    world_begin("FullyConnected", 4, 50, "direct");
    members(2, first_four, 2);
    run(SIM_ALL_GATHER, 1000, 1, (const dse_time[]){0, 300});
    assert_u64(t.begin[0], 1370);
    assert_u64(t.begin[1], 1070);
    world_end();
}

/* A rank that begins after all it needs has come still sends and passes what came: 5000, two endpoints. The other gets
 * its message at 5010 + 1050. */
CLAIM(a_late_rank_waits_for_nothing_but_the_endpoint)
{
    world_begin("FullyConnected", 4, 50, "direct");
    members(2, first_four, 2);
    run(SIM_ALL_GATHER, 1000, 1, (const dse_time[]){0, 5000});
    assert_u64(t.begin[0], 5000 + 10 + 1050 + 10);
    assert_u64(t.begin[1], 5000 + 20);
    world_end();
}

/* Rounds of two chunks: three for five. Each begins where the one before ended: the first as above, at 1370 and 1070;
 * then at 20 + max(1370, 1070 + 1050) = 2140 and 20 + max(1070, 1370 + 1050) = 2440; then 3510 and 3210. */
CLAIM(chunks_run_in_rounds)
{
    world_begin("FullyConnected", 4, 50, "direct");
    world.set.active_chunks = 2;
    members(2, first_four, 2);
    run(SIM_ALL_GATHER, 1000, 5, (const dse_time[]){0, 300});
    assert_u64(t.begin[0], 3510);
    assert_u64(t.begin[1], 3210);
    assert_u64(t.circle.cost[0].n_chunks, 5);
    assert_u64(t.circle.cost[0].rounds, 3);
    world_end();
}

/* Of n = 3 that begin at 0: steps of 1/n of the bytes; endpoints before the first and after each; in an all-reduce the
 * first n-1 steps reduce, in a reduce-scatter all. An all-to-all has n(n-1)/2 steps, an all-gather steps of all bytes. */
CLAIM(each_collective_has_its_steps_and_reductions)
{
    const dse_time third = MIB + 50, whole = 3 * MIB + 50, reduction = world_reduction(MIB);
    const struct {
        sim_collective coll;
        uint64_t steps;
        dse_time message, reductions, last;
    } cases[] = {
        {SIM_ALL_REDUCE, 4, third, 2 * reduction, 10},
        {SIM_ALL_GATHER, 2, whole, 0, 10},
        {SIM_REDUCE_SCATTER, 2, third, 2 * reduction, reduction},
        {SIM_ALL_TO_ALL, 3, third, 0, 10},
    };

    world_begin("FullyConnected", 4, 50, "direct");
    for (size_t i = 0; i < 4; i++) {
        const sim_circle_cost *cost;
        dse_time expected =
            cases[i].steps * cases[i].message + (cases[i].steps + 1) * 10 + cases[i].reductions;

        members(3, first_four, 3);
        run(cases[i].coll, 3 * MIB, 1, (const dse_time[]){0, 0, 0});
        cost = &t.circle.cost[0];
        for (int u = 0; u < 3; u++)
            assert_u64(t.begin[u], expected);
        assert_u64(cost->steps, cases[i].steps);
        assert_u64(cost->last, cases[i].last);
        assert_u64(cost->longest, cases[i].reductions ? reduction : 10);
        assert_true(cost->even);
        world_end();
    }
}

/* Among 0 = [0,0], 1 = [1,0], 3 = [1,1], 2 = [0,1] messages take 1050 along dimension 0 and 1500 along dimension 1. In
 * an all-gather of four the last word comes three links round: to 0 (and 3) over 1500 + 1050 + 1500, to 1 (and 2) over
 * 1050 + 1500 + 1050; and four endpoints. */
static void two_by_four(void)
{
    world_begin("FullyConnected", 2, 50, "direct");
    world_dimension("FullyConnected", 4, 500, "direct");
}

static const uint32_t square[] = {0, 1, 3, 2};

CLAIM(uneven_links_are_added_up_along_the_way)
{
    two_by_four();
    members(4, square, 4);
    run(SIM_ALL_GATHER, 1000, 1, (const dse_time[]){0, 0, 0, 0});
    assert_u64(t.begin[0], 4050 + 40);
    assert_u64(t.begin[1], 3600 + 40);
    assert_u64(t.begin[2], 4050 + 40);
    assert_u64(t.begin[3], 3600 + 40);
    assert_false(t.circle.cost[0].even);
    world_end();
}

/* 0 begins 2000 later than the others. What comes to 1 from it, 2000 + 1050, is there before what comes three links round
 * from 3, 3600. 3 is two links behind 0: 2000 + 1050 + 1500; 2 is three: 2000 + 3600. 0 itself has begun long before the
 * last comes to it. */
CLAIM(the_latest_way_counts)
{
    two_by_four();
    members(4, square, 4);
    run(SIM_ALL_GATHER, 1000, 1, (const dse_time[]){2000, 0, 0, 0});
    assert_u64(t.begin[0], 4050 + 40);
    assert_u64(t.begin[1], 3600 + 40);
    assert_u64(t.begin[2], 4550 + 40);
    assert_u64(t.begin[3], 5600 + 40);
    world_end();
}

/* 0 and 3 are one class, 1 and 2 the other: two places say it all. */
CLAIM(one_place_of_each_class_is_enough)
{
    two_by_four();
    members(4, square, 2);
    t.place[0].before = 2;
    run(SIM_ALL_GATHER, 1000, 1, (const dse_time[]){0, 0});
    assert_u64(t.begin[0], 4050 + 40);
    assert_u64(t.begin[1], 3600 + 40);
    world_end();
}

/* ---- against the recursion ------------------------------------------------------------------------- */

#define MAX_MEMBERS 240
#define MAX_STEPS   500

/* S(r, 0) = begin(r) + c(0); S(r, k+1) = max(S(r, k), S(r-1, k) + d(r)) + c(k+1): round after round. */
static void recursion(uint32_t n, uint32_t m, const dse_time *d, const dse_time *c, uint64_t steps,
                      uint64_t rounds, dse_time *s)
{
    static dse_time next[MAX_MEMBERS];

    for (uint64_t round = 0; round < rounds; round++) {
        for (uint32_t r = 0; r < n; r++)
            s[r] += c[0];
        for (uint64_t k = 0; k < steps; k++) {
            for (uint32_t r = 0; r < n; r++) {
                dse_time came = s[r ? r - 1 : n - 1] + d[r % m];

                next[r] = (came > s[r] ? came : s[r]) + c[k + 1];
            }
            memcpy(s, next, n * sizeof *s);
        }
    }
}

static uint64_t below(uint64_t *seed, uint64_t n) { return unit_random(seed) % n; }

static void check_random(uint64_t *seed, uint32_t m, uint32_t times)
{
    static dse_time d[MAX_MEMBERS], c[MAX_STEPS + 1], offset[MAX_MEMBERS + 1], begin[MAX_MEMBERS],
        s[MAX_MEMBERS];
    static int64_t scratch[2 * MAX_MEMBERS + 1];
    uint32_t n = m * times;
    uint64_t spread = below(seed, 2) ? 100 : 100000, range = below(seed, 4) ? 1000 : 1;
    sim_circle_cost cost = {.steps = n - 1 + below(seed, 2u * n), .rounds = 1 + below(seed, 4)};
    sim_circle circle = {.n_places = m, .n_costs = 1, .cost = &cost, .begin = begin, .scratch = scratch};

    assert_true(cost.steps <= MAX_STEPS + 400);
    if (cost.steps > MAX_STEPS)
        cost.steps = MAX_STEPS;
    for (uint64_t k = 0; k <= cost.steps; k++)
        cost.own += c[k] = below(seed, 20);
    for (uint32_t u = 0; u < m; u++) {
        d[u] = 1 + (range == 1 ? 700 : below(seed, range));
        begin[u] = below(seed, spread);
        offset[u] = u ? offset[u - 1] + d[u] : 0;
    }
    offset[m] = offset[m - 1] + d[0];
    cost.offset = offset;
    cost.even = range == 1;
    if (!below(seed, 4)) /* together */
        for (uint32_t u = 1; u < m; u++)
            begin[u] = begin[0];
    for (uint32_t r = 0; r < n; r++)
        s[r] = begin[r % m];
    recursion(n, m, d, c, cost.steps, cost.rounds, s);
    assert_true(sim_circle_run(&circle));
    for (uint32_t u = 0; u < m; u++)
        assert_u64(begin[u], s[u]);
}

CLAIM(the_closed_form_solves_the_recursion)
{
    uint64_t seed = 11;

    for (int i = 0; i < 4000; i++) {
        uint32_t m = 1 + (uint32_t)below(&seed, 9), times = m == 1 ? 2 : 1;

        check_random(&seed, m, times + (uint32_t)below(&seed, 5));
    }
}

/* The scratch memory of a round is on the stack up to 64 places. */
CLAIM(it_does_so_for_many_places)
{
    uint64_t seed = 12;

    for (uint32_t m = 60; m < 70; m++)
        check_random(&seed, m, 1);
    for (int i = 0; i < 20; i++)
        check_random(&seed, 64 + (uint32_t)below(&seed, 50), 1 + (uint32_t)below(&seed, 2));
}

/* ---- what it refuses ------------------------------------------------------------------------------- */

CLAIM(messages_of_no_bytes_have_no_closed_form)
{
    world_begin("FullyConnected", 4, 50, "direct");
    members(2, first_four, 2);
    assert_int_equal(find_cost(SIM_REDUCE_SCATTER, 1, 1), DSE_NONE);
    assert_int_equal(find_cost(SIM_REDUCE_SCATTER, 2, 1), 0);
    assert_int_equal(t.engine.status, DSE_OK); /* it is the caller's to say so */
    world_end();
}

/* At 100 bytes a ns, without latency, 99 bytes take 0 ns and 100 take one. */
CLAIM(messages_of_no_time_have_no_closed_form)
{
    world_begin("FullyConnected", 4, 0, "direct");
    world.net.dim[0].gib_per_s = 100 * BYTE_PER_NS;
    assert_int_equal(net_network_finish(&world.net, NULL), DSE_OK);
    members(2, first_four, 2);
    assert_int_equal(find_cost(SIM_ALL_GATHER, 99, 1), DSE_NONE);
    assert_int_equal(find_cost(SIM_ALL_GATHER, 100, 1), 0);
    world_end();
}

/* Sums must stay below 2^61 ns. */
CLAIM(times_that_could_run_over_have_no_closed_form)
{
    const uint64_t limit = (uint64_t)1 << 61;

    world_begin("FullyConnected", 4, 50, "direct");
    members(2, first_four, 2);
    assert_int_equal(find_cost(SIM_ALL_GATHER, limit, 1), DSE_NONE);
    assert_int_equal(find_cost(SIM_ALL_GATHER, limit / 4, 8), DSE_NONE);
    assert_int_equal(find_cost(SIM_ALL_GATHER, limit / 4, 1), 0);
    t.circle.current = 0;
    t.begin[0] = 0;
    t.begin[1] = limit;
    assert_false(sim_circle_run(&t.circle));
    t.begin[0] = t.begin[1] = limit;
    assert_false(sim_circle_run(&t.circle));
    world_end();
}

/* ---- costs, places --------------------------------------------------------------------------------- */

CLAIM(costs_are_kept_by_their_index)
{
    world_begin("FullyConnected", 4, 50, "direct");
    members(2, first_four, 2);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(find_cost(SIM_ALL_GATHER, 1000 + i, 1), i);
    for (uint32_t i = 0; i < 40; i++) {
        assert_u64(t.circle.cost[i].size, 1000 + i);
        assert_u64(t.circle.cost[i].offset[2], 2 * (1050 + i)); /* once round */
    }
    world_end();
}

static void find_classes(sim_classes *c)
{
    dse_arena_init(&world.arena);
    world.err = (dse_error)DSE_ERROR_INIT;
    world_make(&world.arena);
    assert_int_equal(sim_classes_find(&world.net, &world.w, true, &world.arena, c), SIM_FALLBACK_NONE);
}

/* Along 0, 1, 3, 2 messages come over dimension 1 to 0 and 3, and over dimension 0 to 1 and 2. */
CLAIM(the_places_of_a_circle_are_its_classes_in_the_direction_of_messages)
{
    sim_classes c;
    uint32_t g;

    two_by_four();
    g = world_group("g", 4, square);
    for (uint32_t r = 0; r < 4; r++)
        world_coll(r, "c", WL_ALL_GATHER, 1000, g);
    find_classes(&c);
    assert_true(sim_circle_init(&c, c.of[0], 0, &world.arena, &t.circle));
    assert_int_equal(t.circle.n_places, 2);
    assert_int_equal(t.circle.place[0].class, c.of[2]);
    assert_int_equal(t.circle.place[0].rank, 2);
    assert_int_equal(t.circle.place[0].before, 3);
    assert_int_equal(t.circle.place[1].class, c.of[0]);
    assert_int_equal(t.circle.place[1].rank, 0);
    assert_int_equal(t.circle.place[1].before, 2);
    world_end();
}

/* A ring in one dimension looks the same from everywhere; not if one of its ranks does something else. */
CLAIM(a_rank_that_differs_makes_all_places_of_its_circle_differ)
{
    for (uint32_t odd = 0; odd < 2; odd++) {
        sim_classes c;
        uint32_t g;

        world_begin("FullyConnected", 8, 50, "direct");
        g = world_group("g", 4, first_four);
        for (uint32_t r = 0; r < 4; r++)
            world_coll(r, odd && !r ? "odd" : "c", WL_ALL_GATHER, 1000, g);
        find_classes(&c);
        assert_true(sim_circle_init(&c, c.of[0], 0, &world.arena, &t.circle));
        assert_int_equal(t.circle.n_places, odd ? 4 : 1);
        world_end();
    }
}

/* Pairs (0, 1), (1, 2), (2, 3), (3, 0): each rank has the one with the next in its first slot. All are alike, but the two
 * of a pair have it in different slots, that is, for different nodes. */
CLAIM(a_class_that_has_a_group_in_two_slots_has_two_places)
{
    sim_classes c;
    uint32_t g[4];

    world_begin("FullyConnected", 4, 50, "direct");
    for (uint32_t i = 0; i < 4; i++)
        g[i] = world_group("g", 2, (const uint32_t[]){i, (i + 1) % 4});
    for (uint32_t r = 0; r < 4; r++) {
        world_coll(r, "next", WL_ALL_GATHER, 1000, g[r]);
        world_coll(r, "before", WL_ALL_GATHER, 1000, g[(r + 3) % 4]);
    }
    find_classes(&c);
    assert_int_equal(c.n, 1);
    for (uint32_t slot = 0; slot < 2; slot++) {
        assert_true(sim_circle_init(&c, 0, slot, &world.arena, &t.circle));
        assert_int_equal(t.circle.n_places, 2);
        assert_int_equal(t.circle.place[0].slot, 1 - slot);
        assert_int_equal(t.circle.place[1].slot, slot);
    }
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_begins_apart_ends_apart),
        cmocka_unit_test(a_late_rank_waits_for_nothing_but_the_endpoint),
        cmocka_unit_test(chunks_run_in_rounds),
        cmocka_unit_test(each_collective_has_its_steps_and_reductions),
        cmocka_unit_test(uneven_links_are_added_up_along_the_way),
        cmocka_unit_test(the_latest_way_counts),
        cmocka_unit_test(one_place_of_each_class_is_enough),
        cmocka_unit_test(the_closed_form_solves_the_recursion),
        cmocka_unit_test(it_does_so_for_many_places),
        cmocka_unit_test(messages_of_no_bytes_have_no_closed_form),
        cmocka_unit_test(messages_of_no_time_have_no_closed_form),
        cmocka_unit_test(times_that_could_run_over_have_no_closed_form),
        cmocka_unit_test(costs_are_kept_by_their_index),
        cmocka_unit_test(the_places_of_a_circle_are_its_classes_in_the_direction_of_messages),
        cmocka_unit_test(a_rank_that_differs_makes_all_places_of_its_circle_differ),
        cmocka_unit_test(a_class_that_has_a_group_in_two_slots_has_two_places),
    };
    return RUN_TESTS(tests);
}
