#include "unit/sim/world.h"

static void two_ranks(void) { world_begin("Ring", 2, 50, "ring"); }

CLAIM(one_compute_node_is_all_compute)
{
    const sim_rank_stats *s;

    two_ranks();
    world_comp(0, "c", MIB, 1024);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_u64(s->wall, 953);
    assert_u64(s->finished, 953);
    assert_true(s->has_gpu);
    assert_u64(s->gpu, 953);
    assert_false(s->has_comm || s->has_cpu || s->has_remote_memory || s->has_invalid);
    assert_u64(s->comm, 0);
    assert_u64(s->exposed_comm, 0);
    world_end();
}

/* 2^20 operations on 2^10 bytes: at the peak, and 2^-10 of the memory bandwidth. Averages divide by the compute time
 * plus one tick. */
CLAIM(a_compute_bound_node_is_at_the_peak)
{
    const sim_rank_stats *s;

    two_ranks();
    world_comp(0, "c", MIB, 1024);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_true(s->has_utilisation);
    assert_double(s->compute_bound, 953.0 / 954);
    assert_double(s->compute_util, 953.0 / 954);
    assert_double(s->memory_util, 953.0 / 1024 / 954);
    assert_double(s->op_intensity, 1024.0 * 953 / 954);
    world_end();
}

/* 2^10 operations on 2^20 bytes: the memory is busy, the NPU at 2^-10 of its peak. */
CLAIM(a_memory_bound_node_is_at_the_memory_bandwidth)
{
    const sim_rank_stats *s;

    two_ranks();
    world_comp(0, "c", 1024, MIB);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_double(s->compute_bound, 0);
    assert_double(s->compute_util, 953.0 / 1024 / 954);
    assert_double(s->memory_util, 953.0 / 954);
    assert_double(s->op_intensity, 953.0 / 1024 / 954);
    world_end();
}

/* 953 ns of the one and 953 ns of the other. */
CLAIM(averages_are_weighted_by_time)
{
    const sim_rank_stats *s;

    two_ranks();
    world_comp(0, "c", MIB, 1024);
    world_comp(0, "m", 1024, MIB);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_double(s->compute_bound, 953.0 / 1907);
    assert_true(fabs(s->compute_util - (953 + 953.0 / 1024) / 1907) < 1e-15);
    assert_true(fabs(s->memory_util - (953 + 953.0 / 1024) / 1907) < 1e-15);
    assert_true(fabs(s->op_intensity - (953.0 * 1024 + 953.0 / 1024) / 1907) < 1e-12);
    world_end();
}

CLAIM(without_the_roofline_there_is_no_utilisation)
{
    two_ranks();
    world.set.roofline = false;
    world_comp(0, "c", MIB, 1024);
    assert_ok(world_run(), &world.err);
    assert_false(world_stats(0)->has_utilisation);
    world_end();
}

/* Send, compute, send: the gap in between is not communication. */
CLAIM(communication_time_leaves_gaps_out)
{
    const sim_rank_stats *s;
    uint32_t a, c, b;

    two_ranks();
    a = world_message(0, "a", true, 1, 1000, 1);
    c = world_comp(0, "c", MIB, 1024);
    b = world_message(0, "b", true, 1, 1000, 2);
    world_after(0, c, a);
    world_after(0, b, c);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_u64(s->wall, 1050 + 953 + 1050);
    assert_u64(s->comm, 2 * 1050);
    assert_u64(s->gpu, 953);
    assert_u64(s->exposed_comm, 2 * 1050); /* finished less compute */
    world_end();
}

/* Receives from 0 to 1050 and from 0 to 3100 are 3100 together, not 4150. */
CLAIM(overlapping_communication_counts_once)
{
    two_ranks();
    world_message(0, "a", true, 1, 1000, 1);
    world_message(0, "b", true, 1, 2000, 2);
    world_message(1, "ra", false, 0, 1000, 1);
    world_message(1, "rb", false, 0, 2000, 2);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(1)->comm, 1050 + 2050);
    world_end();
}

/* Two sends that touch: [0, 1050] and [1050, 2100]. */
CLAIM(intervals_that_touch_are_one)
{
    two_ranks();
    world_message(0, "a", true, 1, 1000, 1);
    world_message(0, "b", true, 1, 1000, 2);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(0)->comm, 2100);
    world_end();
}

/* Communication and compute at once: 1050 of one, 953 of the other, from 0 on. Only 97 ns stick out. */
CLAIM(exposed_communication_is_what_compute_does_not_cover)
{
    const sim_rank_stats *s;

    two_ranks();
    world_message(0, "a", true, 1, 1000, 1);
    world_comp(0, "c", MIB, 1024);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_u64(s->finished, 1050);
    assert_u64(s->exposed_comm, 1050 - 953);
    world_end();
}

CLAIM(cpu_time_is_apart_from_gpu_time)
{
    const sim_rank_stats *s;

    two_ranks();
    world_node(
        0, (wl_node){
               .name = "cpu", .type = WL_NODE_COMP, .is_cpu_op = true, .tensor_size = 1, .duration_us = 2});
    world_comp(0, "c", MIB, 1024);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_true(s->has_cpu && s->has_gpu);
    assert_u64(s->cpu, 2000);
    assert_u64(s->gpu, 953);
    assert_u64(s->exposed_comm, 2000 - 953); /* the CPU's time is not the NPU's compute time */
    assert_double(s->compute_bound,
                  953.0 / (2000 + 953 + 1)); /* but it is in the denominator, as in the reference */
    world_end();
}

/* ---- fixed costs ---------------------------------------------------------------------------- */

/* Of 1953 ns, 953 are work at the peak: 2^20 operations in 1953 ns are 953/1953 of what the NPU could do; the intensity
 * is that of the work. Averages divide by the time plus one tick. */
CLAIM(the_cost_of_a_kernel_is_compute_in_which_nothing_is_computed)
{
    const sim_rank_stats *s;

    two_ranks();
    world.set.kernel_overhead_ns = 1000;
    world_comp(0, "c", MIB, 1024);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_u64(s->wall, 1953);
    assert_u64(s->gpu, 1953);
    assert_u64(s->exposed_comm, 0);
    assert_double(s->compute_bound, 953.0 / 1954);
    assert_double(s->compute_util, 953.0 / 1954);
    assert_double(s->memory_util, 953.0 / 1024 / 1954);
    assert_double(s->op_intensity, 1024.0 * 953 / 954);
    world_end();
}

/* 953.67 + 0.4 is 954.07 ns: truncated once, with the work. */
CLAIM(the_cost_of_a_kernel_is_truncated_with_its_work)
{
    two_ranks();
    world.set.kernel_overhead_ns = 0.4;
    world_comp(0, "c", MIB, 1024);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(0)->wall, 954);
    world_end();
}

/* Without a roofline, in a replay, and of what moves no bytes: nothing was timed, and nothing is added. */
CLAIM(only_what_the_roofline_times_has_the_cost_of_a_kernel)
{
    for (int i = 0; i < 3; i++) {
        uint32_t node;

        two_ranks();
        world.set.kernel_overhead_ns = 1000;
        world.set.roofline = i != 0;
        world.set.replay_only = i == 1;
        node = world_comp(0, "c", MIB, i == 2 ? 0 : 1024);
        world.rank[0].node[node].duration_us = 3;
        assert_ok(world_run(), &world.err);
        assert_u64(world_stats(0)->gpu, i == 2 ? 0 : 3000);
        world_end();
    }
}

/* A message of 1000 bytes over a link of 50 ns is there after 1050. Each rank ends 400 later, also one that has nothing
 * to do; that is no communication. */
CLAIM(the_cost_of_a_step_is_after_the_last_node_of_every_rank)
{
    const sim_rank_stats *s;

    world_begin("Ring", 3, 50, "ring");
    world.set.step_overhead = 400;
    world_message(0, "s", true, 1, 1000, 7);
    world_message(1, "r", false, 0, 1000, 7);
    assert_ok(world_run(), &world.err);
    s = world_stats(0);
    assert_u64(s->wall, 1450);
    assert_u64(s->finished, 1450);
    assert_u64(s->comm, 1050);
    assert_u64(s->exposed_comm, 1050);
    assert_u64(world_stats(1)->wall, 1450);
    assert_u64(world_stats(2)->wall, 400);
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_compute_node_is_all_compute),
        cmocka_unit_test(a_compute_bound_node_is_at_the_peak),
        cmocka_unit_test(a_memory_bound_node_is_at_the_memory_bandwidth),
        cmocka_unit_test(averages_are_weighted_by_time),
        cmocka_unit_test(without_the_roofline_there_is_no_utilisation),
        cmocka_unit_test(communication_time_leaves_gaps_out),
        cmocka_unit_test(overlapping_communication_counts_once),
        cmocka_unit_test(intervals_that_touch_are_one),
        cmocka_unit_test(exposed_communication_is_what_compute_does_not_cover),
        cmocka_unit_test(cpu_time_is_apart_from_gpu_time),
        cmocka_unit_test(the_cost_of_a_kernel_is_compute_in_which_nothing_is_computed),
        cmocka_unit_test(the_cost_of_a_kernel_is_truncated_with_its_work),
        cmocka_unit_test(only_what_the_roofline_times_has_the_cost_of_a_kernel),
        cmocka_unit_test(the_cost_of_a_step_is_after_the_last_node_of_every_rank),
    };
    return RUN_TESTS(tests);
}
