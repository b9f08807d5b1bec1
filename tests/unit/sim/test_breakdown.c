/* Where the time of the slowest rank goes, and what the largest holds at its peak. A broadcast is replayed: it lasts as
 * long as it says, which is how collectives of given length are made here. */
#include "unit/sim/world.h"

static const sim_breakdown *step(void) { return &world.result.step; }

static void two_ranks(void) { world_begin("Ring", 2, 50, "ring"); }

/* A collective of `us` microseconds in a group, or of none. */
static uint32_t collective(uint32_t rank, uint32_t group, uint64_t us)
{
    uint32_t node = group == DSE_NONE ? world_coll_dims(rank, "c", WL_BROADCAST, 8, 1, 1)
                                      : world_coll(rank, "c", WL_BROADCAST, 8, group);

    world.rank[rank].node[node].duration_us = us;
    return node;
}

static void run(uint32_t slowest)
{
    dse_time sum = 0;

    assert_ok(world_run(), &world.err);
    assert_int_equal(step()->rank, slowest);
    assert_int_equal(step()->n_parts, SIM_PART_GROUPS + world.rank[slowest].n_slots);
    for (uint32_t i = 0; i < step()->n_parts; i++)
        sum += step()->part[i];
    assert_u64(sum, world_stats(slowest)->wall);
}

/* 2 MiB of operations on 1 MiB of memory are bound by the peak, 1907 ns; 1 MiB on 2 MiB by the memory, as long; 1 MiB
 * on 1 MiB by both alike, 953 ns, which counts as reaching the peak. */
CLAIM(compute_is_bound_by_the_peak_or_by_the_memory)
{
    two_ranks();
    world_comp(0, "a", 2 * MIB, MIB);
    world_comp(0, "b", MIB, 2 * MIB);
    world_comp(0, "c", MIB, MIB);
    run(0);
    assert_u64(step()->part[SIM_PART_COMPUTE_BOUND], 1907 + 953);
    assert_u64(step()->part[SIM_PART_MEMORY_BOUND], 1907);
    world_end();
}

/* Two kernels of 1907 and 953 ns of work and 100 ns each on top; after the last, 5000 ns of the host. run() checks that
 * all adds up. */
CLAIM(fixed_costs_are_compute_of_neither_kind)
{
    two_ranks();
    world.set.kernel_overhead_ns = 100;
    world.set.step_overhead = 5000;
    world_comp(0, "a", MIB, 2 * MIB);
    world_comp(0, "b", MIB, MIB);
    run(0);
    assert_u64(world_stats(0)->wall, 1907 + 953 + 200 + 5000);
    assert_u64(step()->part[SIM_PART_MEMORY_BOUND], 1907);
    assert_u64(step()->part[SIM_PART_COMPUTE_BOUND], 953);
    assert_u64(step()->part[SIM_PART_COMPUTE_OTHER], 5200);
    assert_u64(step()->part[SIM_PART_IDLE], 0);
    world_end();
}

/* Both last 3 us: without a roofline as recorded, a CPU operation always. The CPU works from 0 to 3, as the NPU does. */
CLAIM(compute_without_a_roofline_is_of_neither_kind)
{
    uint32_t npu, cpu;

    for (int roofline = 0; roofline < 2; roofline++) {
        two_ranks();
        world.set.roofline = roofline;
        npu = world_comp(0, "a", 2 * MIB, MIB);
        cpu = world_comp(0, "b", 2 * MIB, MIB);
        world.rank[0].node[npu].duration_us = world.rank[0].node[cpu].duration_us = 3;
        world.rank[0].node[cpu].is_cpu_op = true;
        run(0);
        assert_u64(step()->part[SIM_PART_COMPUTE_BOUND], roofline ? 1907 : 0);
        assert_u64(step()->part[SIM_PART_COMPUTE_OTHER], roofline ? 3000 - 1907 : 3000);
        world_end();
    }
}

/* Compute until 953; the collectives of two groups and of none follow each other: 0 to 2000, to 5000, to 9000. */
CLAIM(collectives_count_for_their_groups_where_no_compute_covers_them)
{
    static const uint32_t both[] = {0, 1};
    uint32_t named, first, second, third;

    two_ranks();
    named = world_group("1", 2, both);
    world_comp(0, "a", 2 * MIB, 2 * MIB);
    first = collective(0, named, 2);
    second = collective(0, 0, 3);
    third = collective(0, DSE_NONE, 4);
    world_after(0, second, first);
    world_after(0, third, second);
    run(0);
    assert_u64(step()->part[SIM_PART_COMPUTE_BOUND], 1907);
    assert_u64(step()->part[SIM_PART_GROUPS + 0], 2000 - 1907);
    assert_u64(step()->part[SIM_PART_GROUPS + 1], 3000);
    assert_u64(step()->part[SIM_PART_DIMENSIONS], 4000);
    assert_u64(step()->part[SIM_PART_IDLE], 0);
    world_end();
}

/* Rank 0 computes until 953 and sends 3000 bytes, which take 50 + 3000 ns. Rank 1 waits for them from tick 0 on: idle
 * until they are sent, then in communication until 4003, then it computes for 953 ns. */
CLAIM(waiting_for_what_is_not_sent_is_idle)
{
    uint32_t a, received;

    two_ranks();
    a = world_comp(0, "a", MIB, MIB);
    world_after(0, world_message(0, "s", true, 1, 3000, 7), a);
    received = world_message(1, "r", false, 0, 3000, 7);
    world_after(1, world_comp(1, "b", MIB, MIB), received);
    run(1);
    assert_u64(step()->part[SIM_PART_IDLE], 953);
    assert_u64(step()->part[SIM_PART_MESSAGES], 3050);
    assert_u64(step()->part[SIM_PART_COMPUTE_BOUND], 953);
    world_end();
}

/* As before, while rank 1 is in a collective until 2000: what it does comes before what comes in. */
CLAIM(a_collective_comes_before_a_message_that_comes_in)
{
    uint32_t a;

    two_ranks();
    a = world_comp(0, "a", MIB, MIB);
    world_after(0, world_message(0, "s", true, 1, 3000, 7), a);
    world_message(1, "r", false, 0, 3000, 7);
    collective(1, 0, 2);
    run(0); /* both end at 4003: rank 0 has computed, and sent */
    assert_u64(step()->part[SIM_PART_COMPUTE_BOUND], 953);
    assert_u64(step()->part[SIM_PART_MESSAGES], 3050);
    world_end();

    two_ranks();
    a = world_comp(0, "a", MIB, MIB);
    world_after(0, world_message(0, "s", true, 1, 3000, 7), a);
    a = world_message(1, "r", false, 0, 3000, 7);
    collective(1, 0, 2);
    world_after(1, world_comp(1, "b", MIB, MIB), a);
    run(1);
    assert_u64(step()->part[SIM_PART_GROUPS + 0], 2000);
    assert_u64(step()->part[SIM_PART_MESSAGES], 2003);
    assert_u64(step()->part[SIM_PART_IDLE], 0);
    assert_u64(step()->part[SIM_PART_COMPUTE_BOUND], 953);
    world_end();
}

/* Replayed, all last as long as recorded, one after another: a receive that is the CPU's, compute, a receive. A track has
 * room for what is its own alone. */
CLAIM(a_replayed_receive_of_the_cpu_is_counted_once)
{
    static const uint64_t us[] = {2, 1, 3};
    uint32_t node[3];

    two_ranks();
    world.set.replay_only = true;
    node[0] = world_message(0, "r", false, 1, 8, 1);
    node[1] = world_comp(0, "c", MIB, MIB);
    node[2] = world_message(0, "r", false, 1, 8, 2);
    world.rank[0].node[node[0]].is_cpu_op = true;
    for (int i = 0; i < 3; i++) {
        world.rank[0].node[node[i]].duration_us = us[i];
        if (i)
            world_after(0, node[i], node[i - 1]);
    }
    run(0);
    assert_u64(step()->part[SIM_PART_MESSAGES], 5000);
    assert_u64(step()->part[SIM_PART_COMPUTE_OTHER], 1000);
    world_end();
}

/* Rank 0 sends one after another: 100 bytes from 0 to 150, 200 of the same tag to 400, 100 again to 550; then it
 * computes until 1503, and sends the last 100 until 1653. Of the receives, all posted at 0 in another order, the two of
 * 100 bytes with tag 1 meet the first and the third; nothing comes in from 550 to 1503. */
CLAIM(receives_meet_sends_of_their_key_in_order)
{
    static const uint64_t sizes[] = {100, 200, 100, 100};
    uint32_t sends[4], compute, last = 0;

    two_ranks();
    for (int i = 0; i < 4; i++) {
        sends[i] = world_message(0, "s", true, 1, sizes[i], i == 3 ? 2 : 1);
        if (i)
            world_after(0, sends[i], sends[i - 1]);
    }
    compute = world_comp(0, "a", MIB, MIB);
    world_after(0, compute, sends[2]);
    world_after(0, sends[3], compute);
    last = world_message(1, "r", false, 0, 100, 2);
    world_message(1, "r", false, 0, 200, 1);
    world_message(1, "r", false, 0, 100, 1);
    world_message(1, "r", false, 0, 100, 1);
    world_after(1, collective(1, 0, 1), last);
    run(1);
    assert_u64(step()->part[SIM_PART_MESSAGES], 550 + 150);
    assert_u64(step()->part[SIM_PART_IDLE], 953);
    assert_u64(step()->part[SIM_PART_GROUPS + 0], 1000);
    world_end();
}

/* Nothing is sent: each node lasts as long as it says, a receive too. Nodes of no type and accesses of remote memory
 * have a part of their own. */
CLAIM(replayed_nodes_last_as_long_as_recorded)
{
    uint32_t nodes[3];

    two_ranks();
    world.set.replay_only = true;
    nodes[0] = world_comp(0, "a", MIB, MIB);
    nodes[1] = world_message(0, "r", false, 1, 100, 1);
    nodes[2] = world_node(0, (wl_node){.type = WL_NODE_MEM_LOAD, .slot = DSE_NONE});
    for (uint64_t i = 0; i < 3; i++)
        world.rank[0].node[nodes[i]].duration_us = i + 1;
    world_after(0, nodes[2], nodes[1]);
    run(0); /* compute to 1000, the receive to 2000, the access to 5000 */
    assert_u64(step()->part[SIM_PART_COMPUTE_OTHER], 1000);
    assert_u64(step()->part[SIM_PART_MESSAGES], 1000);
    assert_u64(step()->part[SIM_PART_OTHER], 3000);
    world_end();
}

CLAIM(of_ranks_that_end_together_the_first_counts)
{
    two_ranks();
    world_comp(0, "a", MIB, MIB);
    world_comp(1, "b", 1024, MIB);
    run(0);
    assert_u64(step()->part[SIM_PART_COMPUTE_BOUND], 953);
    world_end();
}

/* ---- the peak ------------------------------------------------------------------------------- */

static void tensor(uint32_t node, bool output, const char *name, uint64_t size, wl_tensor_kind kind)
{
    world_tensor(1, node, output, name, size);
    for (uint32_t t = 0; t < world.rank[1].n_tensors; t++)
        if (!strcmp(world.rank[1].tensor[t].name, name))
            world.rank[1].tensor[t].kind = kind;
}

/* Rank 1 computes a, b, c of 953 ns each. w is there from the start and read by c; a writes x, which b reads and
 * makes y of, which c reads and makes g of. 7 + 100 are held from 0 on, 7 + 100 + 30 from 953 on, 7 + 30 + 90 from 1906
 * on. Rank 0 holds less. */
CLAIM(the_peak_is_what_is_held_then_by_kind)
{
    uint32_t n[3];

    two_ranks();
    world.set.track_memory = true;
    world_tensor(0, world_comp(0, "z", MIB, MIB), true, "z", 100);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};

        n[i] = world_comp(1, names[i], MIB, MIB);
    }
    tensor(n[2], false, "w", 7, WL_TENSOR_WEIGHT);
    tensor(n[0], true, "x", 100, WL_TENSOR_ACTIVATION);
    tensor(n[1], false, "x", 100, WL_TENSOR_ACTIVATION);
    tensor(n[1], true, "y", 30, WL_TENSOR_ACTIVATION);
    tensor(n[2], false, "y", 30, WL_TENSOR_ACTIVATION);
    tensor(n[2], true, "g", 90, WL_TENSOR_GRADIENT);
    assert_ok(world_run(), &world.err);
    assert_int_equal(world.result.peak.rank, 1);
    assert_u64(world_stats(1)->peak_memory, 137);
    assert_u64(world_stats(1)->peak_time, 953);
    assert_string_equal(world.result.peak.node->name, "b");
    assert_u64(world.result.peak.held[WL_TENSOR_WEIGHT], 7);
    assert_u64(world.result.peak.held[WL_TENSOR_ACTIVATION], 130);
    assert_u64(world.result.peak.held[WL_TENSOR_GRADIENT], 0);
    world_end();
}

/* 100 from 0 to 953, and again from 953 on. */
CLAIM(the_first_of_equal_peaks_counts)
{
    uint32_t a, b;

    two_ranks();
    world.set.track_memory = true;
    a = world_comp(1, "a", MIB, MIB);
    b = world_comp(1, "b", MIB, MIB);
    tensor(a, true, "x", 100, WL_TENSOR_ACTIVATION);
    tensor(a, false, "x", 100, WL_TENSOR_ACTIVATION);
    tensor(b, true, "y", 100, WL_TENSOR_GRADIENT);
    two_ranks();
    world.set.track_memory = true;
    a = world_comp(1, "a", MIB, MIB);
    b = world_comp(1, "b", MIB, MIB);
    tensor(a, false, "x", 100, WL_TENSOR_INPUT);
    tensor(b, true, "y", 100, WL_TENSOR_GRADIENT);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(1)->peak_time, 0);
    assert_u64(world.result.peak.held[WL_TENSOR_INPUT], 100);
    assert_u64(world.result.peak.held[WL_TENSOR_GRADIENT], 0);
    assert_string_equal(world.result.peak.node->name, "a");
    world_end();
}

CLAIM(nothing_held_is_a_peak_of_nothing)
{
    two_ranks();
    world.set.track_memory = true;
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(0)->peak_time, 0);
    assert_null(world.result.peak.node);
    assert_u64(world.result.step.part[SIM_PART_IDLE], 0);
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compute_is_bound_by_the_peak_or_by_the_memory),
        cmocka_unit_test(fixed_costs_are_compute_of_neither_kind),
        cmocka_unit_test(compute_without_a_roofline_is_of_neither_kind),
        cmocka_unit_test(collectives_count_for_their_groups_where_no_compute_covers_them),
        cmocka_unit_test(waiting_for_what_is_not_sent_is_idle),
        cmocka_unit_test(a_collective_comes_before_a_message_that_comes_in),
        cmocka_unit_test(a_replayed_receive_of_the_cpu_is_counted_once),
        cmocka_unit_test(receives_meet_sends_of_their_key_in_order),
        cmocka_unit_test(replayed_nodes_last_as_long_as_recorded),
        cmocka_unit_test(of_ranks_that_end_together_the_first_counts),
        cmocka_unit_test(the_peak_is_what_is_held_then_by_kind),
        cmocka_unit_test(the_first_of_equal_peaks_counts),
        cmocka_unit_test(nothing_held_is_a_peak_of_nothing),
    };
    return RUN_TESTS(tests);
}
