/* The shared memory bus: one packet at a time, so that nothing waits and its way can be added up.
 *
 * A transfer of b bytes takes 2 o + L + (b - 1) G on the outer bus, truncated, and the same with 0.0038 for G on the
 * inner one. With L = 100, o = 10, G = 0.25 and b = 1001: outer 370, inner 123 (3.8 truncated). */
#include "unit/sim/world.h"

#define OUTER 370u
#define INNER 123u

static void two_or_three(uint32_t p)
{
    world_begin("Ring", p, 50, "ring");
    world.set.endpoint_delay = 777; /* without effect */
    world.set.bus =
        (sim_bus_settings){.shared = true, .L = 100, .o = 10, .g = 0, .G = 0.25, .local_reduction_delay = 3};
}

/* Out: read from memory over the inner bus, then over the outer one. In: the same way back. D = 50 + 1001. */
CLAIM(a_packet_crosses_both_buses_on_its_way_out_and_in)
{
    two_or_three(2);
    assert_all_end_at(WL_ALL_GATHER, 1001, OUTER + INNER + 1051 + OUTER + INNER);
}

/* What is passed on to the next rank goes to memory and out again. */
CLAIM(a_packet_that_is_passed_on_crosses_them_twice)
{
    two_or_three(3);
    assert_all_end_at(WL_ALL_GATHER, 1001,
                      (OUTER + INNER) + 1051 + 2 * (OUTER + INNER) + 1051 + (OUTER + INNER));
}

/* In: over the outer bus, to memory and back, processed for 1001 / 100 * 3 + 50, to memory; then two reads and a write
 * of the local memory, as without a bus. Messages are S / 2 = 1001 bytes. */
CLAIM(a_packet_that_is_reduced_is_processed_in_between)
{
    two_or_three(2);
    assert_all_end_at(WL_REDUCE_SCATTER, 2002,
                      (OUTER + INNER) + 1051 + OUTER + 2 * INNER + (10 * 3 + 50) + INNER +
                          world_reduction(1001));
}

CLAIM(packets_of_smaller_groups_do_not_use_the_bus)
{
    static const uint32_t pair[] = {0, 1};
    uint32_t g;

    two_or_three(3);
    g = world_group("g", 2, pair);
    world_coll(0, "c", WL_ALL_GATHER, 1001, g);
    world_coll(1, "c", WL_ALL_GATHER, 1001, g);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(0)->wall, 10 + 1051 + 10);
    world_end();
}

CLAIM(a_bus_without_latency_and_overhead_acts_at_tick_0_and_is_refused)
{
    two_or_three(2);
    world.set.bus = (sim_bus_settings){.shared = true, .local_reduction_delay = 1};
    for (uint32_t r = 0; r < 2; r++)
        world_coll(r, "c", WL_ALL_GATHER, 100, 0);
    assert_says(world_run(), &world.err, DSE_E_SIM, "is due to act at tick 0, where the simulator cannot");
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_crosses_both_buses_on_its_way_out_and_in),
        cmocka_unit_test(a_packet_that_is_passed_on_crosses_them_twice),
        cmocka_unit_test(a_packet_that_is_reduced_is_processed_in_between),
        cmocka_unit_test(packets_of_smaller_groups_do_not_use_the_bus),
        cmocka_unit_test(a_bus_without_latency_and_overhead_acts_at_tick_0_and_is_refused),
    };
    return RUN_TESTS(tests);
}
