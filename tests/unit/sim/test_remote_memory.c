/* Each access: 50 ns and 1000 bytes at 10 bytes per ns, 150 ns. */
#include "unit/sim/world.h"

static uint32_t node[8];

static void accesses(uint32_t ranks, sim_remote_kind kind)
{
    world_begin("Ring", ranks, 50, "ring");
    world.set.remote =
        (sim_remote_memory){.kind = kind, .latency_ns = 50, .bytes_per_ns = 10, .npus_per_node = 2};
    for (uint32_t r = 0; r < ranks; r++)
        node[r] = world_node(r, (wl_node){.name = "m",
                                          .type = (uint8_t)(r % 2 ? WL_NODE_MEM_STORE : WL_NODE_MEM_LOAD),
                                          .tensor_size = 1000});
}

CLAIM(a_memory_of_its_own_serves_every_npu_at_once)
{
    accesses(4, SIM_REMOTE_PER_NPU);
    assert_ok(world_run(), &world.err);
    for (uint32_t r = 0; r < 4; r++)
        assert_ticks(r, node[r], 0, 150);
    assert_true(world_stats(0)->has_remote_memory);
    assert_u64(world_stats(0)->remote_memory, 150);
    assert_false(world_stats(0)->has_comm);
    world_end();
}

CLAIM(a_pool_serves_one_access_at_a_time)
{
    accesses(4, SIM_REMOTE_POOL);
    assert_ok(world_run(), &world.err);
    for (uint32_t r = 0; r < 4; r++)
        assert_ticks(r, node[r], 0, 150 * (r + 1)); /* first come, first served */
    world_end();
}

CLAIM(a_memory_per_node_serves_its_npus_one_at_a_time)
{
    accesses(4, SIM_REMOTE_PER_NODE);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, node[0], 0, 150);
    assert_ticks(1, node[1], 0, 300);
    assert_ticks(2, node[2], 0, 150);
    assert_ticks(3, node[3], 0, 300);
    world_end();
}

/* Three NPUs in nodes of two: the last node has one. */
CLAIM(a_last_node_may_be_half_full)
{
    accesses(3, SIM_REMOTE_PER_NODE);
    assert_ok(world_run(), &world.err);
    assert_ticks(2, node[2], 0, 150);
    world_end();
}

/* An NPU and its CPU may wait for the pool at the same time. */
CLAIM(both_units_of_a_rank_may_wait)
{
    uint32_t cpu[2];

    accesses(2, SIM_REMOTE_POOL);
    for (uint32_t r = 0; r < 2; r++)
        cpu[r] = world_node(
            r, (wl_node){.name = "cpu", .type = WL_NODE_MEM_LOAD, .is_cpu_op = true, .tensor_size = 500});
    assert_ok(world_run(), &world.err);
    /* Asked for in this order: 0's two, then 1's two; 500 bytes take 100 ns. */
    assert_ticks(0, node[0], 0, 150);
    assert_ticks(0, cpu[0], 0, 250);
    assert_ticks(1, node[1], 0, 400);
    assert_ticks(1, cpu[1], 0, 500);
    world_end();
}

/* 1004 bytes at 10 per ns are 100.4, truncated. */
CLAIM(the_time_of_the_bytes_is_truncated)
{
    accesses(2, SIM_REMOTE_PER_NPU);
    world.rank[0].node[node[0]].tensor_size = 1009;
    assert_ok(world_run(), &world.err);
    assert_ticks(0, node[0], 0, 150);
    world_end();
}

CLAIM(without_remote_memory_an_access_is_refused)
{
    accesses(2, SIM_REMOTE_NONE);
    assert_failure(
        world_run(), &world.err, DSE_E_WORKLOAD, "",
        "rank 0, node 1 'm' accesses remote memory, but the system has none (NO_MEMORY_EXPANSION)");
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_memory_of_its_own_serves_every_npu_at_once),
        cmocka_unit_test(a_pool_serves_one_access_at_a_time),
        cmocka_unit_test(a_memory_per_node_serves_its_npus_one_at_a_time),
        cmocka_unit_test(a_last_node_may_be_half_full),
        cmocka_unit_test(both_units_of_a_rank_may_wait),
        cmocka_unit_test(the_time_of_the_bytes_is_truncated),
        cmocka_unit_test(without_remote_memory_an_access_is_refused),
    };
    return RUN_TESTS(tests);
}
