#include "unit/sim/world.h"

/* Three nodes of 953 ns, one after the other, on rank 0. */
static uint32_t n[3];

static void three_nodes(void)
{
    world_begin("Ring", 2, 50, "ring");
    world.set.track_memory = true;
    for (int i = 0; i < 3; i++) {
        n[i] = world_comp(0, "c", MIB, MIB);
        world.rank[0].node[n[i]].has_io = true;
    }
}

static void assert_peak(uint64_t expected)
{
    assert_ok(world_run(), &world.err);
    assert_true(world_stats(0)->has_memory);
    assert_u64(world_stats(0)->peak_memory, expected);
    world_end();
}

CLAIM(without_tensors_nothing_is_held)
{
    three_nodes();
    assert_peak(0);
}

CLAIM(a_tensor_counts_from_the_start_of_who_writes_it)
{
    three_nodes();
    world_tensor(0, n[2], true, "t", 100);
    assert_peak(100);
}

/* a: 0 to 1906 (written by the first, read by the second); b: 953 to 2859; both are held from 953 to 1906. */
CLAIM(tensors_are_held_until_their_last_reader_ends)
{
    three_nodes();
    world_tensor(0, n[0], true, "a", 100);
    world_tensor(0, n[1], false, "a", 100);
    world_tensor(0, n[1], true, "b", 30);
    world_tensor(0, n[2], false, "b", 30);
    assert_peak(130);
}

/* a ends at 1906, when c begins: b and c are held together, a and c are not. */
CLAIM(what_is_freed_when_another_is_written_is_not_held_with_it)
{
    three_nodes();
    world_tensor(0, n[0], true, "a", 100);
    world_tensor(0, n[1], false, "a", 100);
    world_tensor(0, n[1], true, "b", 30);
    world_tensor(0, n[2], false, "b", 30);
    world_tensor(0, n[2], true, "c", 70);
    assert_peak(130); /* 30 + 70 from 1906 on is less */
    three_nodes();
    world_tensor(0, n[0], true, "a", 100);
    world_tensor(0, n[1], false, "a", 100);
    world_tensor(0, n[1], true, "b", 30);
    world_tensor(0, n[2], true, "c", 120);
    assert_peak(150);
}

CLAIM(a_tensor_that_nobody_writes_counts_from_tick_0)
{
    three_nodes();
    world_tensor(0, n[0], true, "a", 100); /* 0 to 953 */
    world_tensor(0, n[0], false, "x", 7);  /* 0 to 953 */
    world_tensor(0, n[2], false, "w", 50); /* 0 to 2859 */
    world_tensor(0, n[0], false, "w", 50);
    assert_peak(157);
}

CLAIM(a_tensor_that_nobody_reads_is_never_freed)
{
    three_nodes();
    for (int i = 0; i < 3; i++)
        world_tensor(0, n[i], true, i == 0 ? "a" : i == 1 ? "b" : "c", 10);
    assert_peak(30);
}

CLAIM(the_size_first_seen_counts)
{
    three_nodes();
    world_tensor(0, n[0], true, "a", 100);
    world_tensor(0, n[1], false, "a", 5000);
    assert_peak(100);
}

CLAIM(each_rank_has_its_own_memory)
{
    uint32_t other;

    three_nodes();
    world_tensor(0, n[0], true, "a", 100);
    other = world_comp(1, "c", MIB, MIB);
    world_tensor(1, other, true, "a", 40);
    assert_ok(world_run(), &world.err);
    assert_u64(world_stats(0)->peak_memory, 100);
    assert_u64(world_stats(1)->peak_memory, 40);
    world_end();
}

CLAIM(memory_is_tracked_only_if_asked_for)
{
    three_nodes();
    world.set.track_memory = false;
    world.rank[0].node[n[0]].has_io = false;
    assert_ok(world_run(), &world.err);
    assert_false(world_stats(0)->has_memory);
    world_end();
}

CLAIM(a_tensor_written_twice_is_refused)
{
    three_nodes();
    world_tensor(0, n[0], true, "a", 100);
    world_tensor(0, n[1], true, "a", 100);
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 2 'c' writes the tensor 'a', which has been written or read before");
    world_end();
}

CLAIM(a_tensor_read_before_it_is_written_is_refused)
{
    three_nodes();
    world_tensor(0, n[0], false, "a", 100);
    world_tensor(0, n[1], true, "a", 100);
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 2 'c' writes the tensor 'a', which has been written or read before");
    world_end();
}

CLAIM(a_node_that_does_not_say_what_it_reads_is_refused)
{
    three_nodes();
    world.rank[0].node[n[1]].has_io = false;
    assert_failure(world_run(), &world.err, DSE_E_WORKLOAD, "",
                   "rank 0, node 2 'c' lacks the attributes 'inputs' and 'outputs', which memory tracking "
                   "(track-local-mem) needs");
    world_end();
}

/* Many tensors of random life against the sum over each tick, by hand. */
CLAIM(random_lives_agree_with_a_count_per_tick)
{
    uint64_t seed = 61;

    for (int round = 0; round < 30; round++) {
        static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
        uint64_t held[13] = {0}, peak = 0; /* in each of the 12 node times, and behind them */
        uint32_t node[12];

        world_begin("Ring", 2, 50, "ring");
        world.set.track_memory = true;
        for (int i = 0; i < 12; i++) {
            node[i] = world_comp(0, "c", MIB, MIB);
            world.rank[0].node[node[i]].has_io = true;
        }
        for (int t = 0; t < 10; t++) {
            uint64_t size = 1 + unit_random(&seed) % 1000;
            int from = (int)(unit_random(&seed) % 11),
                to = from + 1 + (int)(unit_random(&seed) % (uint64_t)(11 - from));
            bool read = unit_random(&seed) % 4 != 0;

            world_tensor(0, node[from], true, names[t], size);
            if (read)
                world_tensor(0, node[to], false, names[t], size);
            for (int i = from; i < (read ? to + 1 : 13); i++)
                held[i] += size;
        }
        for (int i = 0; i < 13; i++)
            peak = held[i] > peak ? held[i] : peak;
        assert_peak(peak);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_tensors_nothing_is_held),
        cmocka_unit_test(a_tensor_counts_from_the_start_of_who_writes_it),
        cmocka_unit_test(tensors_are_held_until_their_last_reader_ends),
        cmocka_unit_test(what_is_freed_when_another_is_written_is_not_held_with_it),
        cmocka_unit_test(a_tensor_that_nobody_writes_counts_from_tick_0),
        cmocka_unit_test(a_tensor_that_nobody_reads_is_never_freed),
        cmocka_unit_test(the_size_first_seen_counts),
        cmocka_unit_test(each_rank_has_its_own_memory),
        cmocka_unit_test(memory_is_tracked_only_if_asked_for),
        cmocka_unit_test(a_tensor_written_twice_is_refused),
        cmocka_unit_test(a_tensor_read_before_it_is_written_is_refused),
        cmocka_unit_test(a_node_that_does_not_say_what_it_reads_is_refused),
        cmocka_unit_test(random_lives_agree_with_a_count_per_tick),
    };
    return RUN_TESTS(tests);
}
