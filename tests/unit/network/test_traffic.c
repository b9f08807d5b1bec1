#include "unit/network/wire.h"

/* ---- one link ------------------------------------------------------------------------------ */

CLAIM(on_an_idle_link_a_message_takes_latency_and_bytes)
{
    wire_simple("FullyConnected", shape_line("FullyConnected", 2), 50);
    wire_send(0, 0, 1, 1000);
    wire_run();
    assert_arrival(0, 50 + 1000);
    assert_u64(wire.traffic.link[wire_link(0, 1)].bytes, 1000);
    assert_u64(wire.traffic.link[wire_link(0, 1)].busy, 1000); /* without the latency */
    assert_u64(wire.traffic.link[wire_link(1, 0)].bytes, 0);
    wire_end();
}

/* The second starts when the first has left the link, not when it has arrived. */
CLAIM(of_two_messages_on_one_link_the_second_waits_for_the_bytes_of_the_first)
{
    wire_simple("FullyConnected", shape_line("FullyConnected", 2), 50);
    wire_send(0, 0, 1, 1000);
    wire_send(0, 0, 1, 300);
    wire_run();
    assert_arrival(0, 50 + 1000);
    assert_arrival(1, 1000 + 50 + 300);
    wire_end();
}

/* 2^20 bytes at 50 * 2^30 bytes per s take 10^9 / (50 * 2^10) = 19531.25 ns: the link is taken for 19531, and the message
 * is there after trunc(500 + 19531.25) = 20031. */
CLAIM(a_link_is_taken_for_the_truncated_time_of_the_bytes)
{
    wire_begin();
    wire_dimension("FullyConnected", shape_line("FullyConnected", 2), 50, 500);
    wire_finish();
    for (int i = 0; i < 3; i++)
        wire_send(0, 0, 1, MIB);
    wire_run();
    assert_arrival(0, 20031);
    assert_arrival(1, 19531 + 20031);
    assert_arrival(2, 2 * 19531 + 20031);
    assert_u64(wire.traffic.link[wire_link(0, 1)].busy, 3 * 19531);
    wire_end();
}

CLAIM(who_comes_first_is_served_first_whatever_its_size)
{
    wire_simple("FullyConnected", shape_line("FullyConnected", 2), 50);
    wire_send(0, 0, 1, 1000);
    wire_send(0, 0, 1, 10);
    wire_send(0, 0, 1, 500);
    wire_send(3, 0, 1, 1);
    wire_run();
    assert_arrival(0, 1050);
    assert_arrival(1, 1000 + 10 + 50);
    assert_arrival(2, 1010 + 500 + 50);
    assert_arrival(3, 1510 + 1 + 50);
    wire_end();
}

CLAIM(the_two_ways_of_a_connection_do_not_disturb_each_other)
{
    wire_simple("FullyConnected", shape_line("FullyConnected", 2), 50);
    wire_send(0, 0, 1, 1000);
    wire_send(0, 1, 0, 1000);
    wire_run();
    assert_arrival(0, 1050);
    assert_arrival(1, 1050);
    wire_end();
}

CLAIM(a_link_that_was_idle_in_between_does_not_delay)
{
    wire_simple("FullyConnected", shape_line("FullyConnected", 2), 50);
    wire_send(0, 0, 1, 1000);
    wire_send(1000, 0, 1, 10); /* the link is free just then */
    wire_send(5000, 0, 1, 10);
    wire_run();
    assert_arrival(1, 1060);
    assert_arrival(2, 5060);
    wire_end();
}

/* A byte takes 0.0186 ns at 50 GiB/s: the link is taken for 0 ns, and both arrive at trunc(5 + 500.0186). */
CLAIM(a_message_of_less_than_a_tick_leaves_the_link_in_the_same_tick)
{
    wire_begin();
    wire_dimension("FullyConnected", shape_line("FullyConnected", 2), 50, 500);
    wire_finish();
    wire_send(5, 0, 1, 1);
    wire_send(5, 0, 1, 1);
    wire_run();
    assert_arrival(0, 505);
    assert_arrival(1, 505);
    assert_u64(wire.traffic.link[wire_link(0, 1)].busy, 0);
    assert_u64(wire.traffic.link[wire_link(0, 1)].bytes, 2);
    wire_end();
}

/* ---- several links ------------------------------------------------------------------------- */

/* A line of five: whole at each device before it goes on. */
CLAIM(a_message_is_stored_and_forwarded)
{
    wire_simple("Mesh2D", shape_of("Mesh2D", 5, 1, 0, ""), 50);
    wire_send(0, 0, 4, 1000);
    wire_run();
    assert_arrival(0, 4 * (50 + 1000));
    assert_u64(wire.traffic.n_hops, 4);
    wire_end();
}

/* They follow each other: the last leaves its source after (k - 1) * b, and finds every link free. */
CLAIM(messages_of_one_size_follow_each_other_as_in_a_pipeline)
{
    wire_simple("Mesh2D", shape_of("Mesh2D", 5, 1, 0, ""), 50);
    for (int i = 0; i < 7; i++)
        wire_send(0, 0, 4, 1000);
    wire_run();
    for (uint32_t i = 0; i < 7; i++)
        assert_arrival(i, i * 1000 + 4 * 1050);
    wire_end();
}

/* Both are at the switch at 1050, in the order of their sending; its link to 2 carries one at a time. */
CLAIM(messages_to_one_npu_queue_for_the_switch_s_link_to_it)
{
    wire_simple("Switch", shape_line("Switch", 3), 50);
    wire_send(0, 1, 2, 1000);
    wire_send(0, 0, 2, 1000);
    wire_run();
    assert_arrival(0, 2 * 1050);
    assert_arrival(1, 2 * 1050 + 1000);
    wire_end();
}

/* Line 0 - 1 - 2 without latency: in tick 1000 the link 1 -> 2 is freed, and the message of 0 is at 1. Whichever of the
 * two comes first within the tick, the link is taken in it. */
CLAIM(a_link_is_taken_in_the_tick_in_which_it_is_freed)
{
    for (int far_first = 0; far_first < 2; far_first++) {
        uint32_t near, far;

        wire_simple("Mesh2D", shape_of("Mesh2D", 3, 1, 0, ""), 0);
        far = far_first ? wire_send(0, 0, 2, 1000) : 0;
        near = wire_send(0, 1, 2, 1000);
        far = far_first ? far : wire_send(0, 0, 2, 1000);
        wire_run();
        assert_arrival(near, 1000);
        assert_arrival(far, 2000);
        wire_end();
    }
}

CLAIM(who_waits_for_a_link_that_is_freed_goes_before_who_comes_in_that_tick)
{
    for (int far_first = 0; far_first < 2; far_first++) {
        uint32_t waits, far;

        wire_simple("Mesh2D", shape_of("Mesh2D", 3, 1, 0, ""), 0);
        far = far_first ? wire_send(0, 0, 2, 1000) : 0;
        wire_send(0, 1, 2, 1000);
        waits = wire_send(0, 1, 2, 500);
        far = far_first ? far : wire_send(0, 0, 2, 1000);
        wire_run();
        assert_arrival(waits, 1500);
        assert_arrival(far, 2500);
        wire_end();
    }
}

/* ---- known results: 16 NPUs, 50 GiB/s, 500 ns, 1 MiB; a link alone takes 20031 (see above) ------- */

static void sixteen(const char *topology)
{
    wire_begin();
    wire_dimension(topology, shape_of(topology, strcmp(topology, "Mesh2D") ? 16 : 4, 4, 0, ""), 50, 500);
    wire_finish();
}

/* Links in common: 1 -> 7 takes 1-2, 2-3, 3-7; 5 -> 14 takes 5-6, 6-10, 10-14; 11 -> 5 takes 11-10, 10-9, 9-5; 15 -> 4 takes
 * 15-14, 14-13, 13-12, 12-8, 8-4. None: each arrives after its hops. */
CLAIM(four_messages_on_a_mesh_that_share_no_link_arrive_after_their_hops)
{
    sixteen("Mesh2D");
    wire_send(0, 1, 7, MIB);
    wire_send(0, 5, 14, MIB);
    wire_send(0, 11, 5, MIB);
    wire_send(0, 15, 4, MIB);
    wire_run();
    assert_arrival(0, 3 * 20031); /* 60093 */
    assert_arrival(1, 3 * 20031);
    assert_arrival(2, 3 * 20031);
    assert_arrival(3, 5 * 20031); /* 100155 */
    wire_end();
}

/* 0 -> 3 and 1 -> 3 share 1-2 and 2-3, but do not meet: the one from 0 is at 1 after 20031, when 1-2 is free since 19531.
 * Is 1 -> 2 sent at 10000, 1-2 is taken until 29531, and the one from 0 waits for it. */
CLAIM(messages_on_a_mesh_wait_for_the_links_that_they_share)
{
    sixteen("Mesh2D");
    wire_send(0, 0, 3, MIB);
    wire_send(0, 1, 3, MIB);
    wire_run();
    assert_arrival(0, 3 * 20031);
    assert_arrival(1, 2 * 20031);
    wire_end();
    sixteen("Mesh2D");
    wire_send(0, 0, 2, MIB);
    wire_send(10000, 1, 2, MIB);
    wire_run();
    assert_arrival(1, 10000 + 20031);
    assert_arrival(0, 10000 + 19531 + 20031);
    wire_end();
}

CLAIM(one_message_on_a_ring_a_switch_and_a_full_network_takes_its_hops)
{
    static const struct {
        const char *topology;
        dse_time arrival;
    } known[] = {{"Ring", 60093}, {"FullyConnected", 20031}, {"Switch", 40062}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sixteen(known[i].topology);
        wire_send(0, 1, 4, MIB);
        wire_run();
        assert_arrival(0, known[i].arrival);
        wire_end();
    }
}

/* Up go the distances 1 to 8, half way round included, down 1 to 7: 36 messages over each link up, 28 over each down. The
 * busiest is taken for 36 * 19531 = 703116, so that nothing can end before 35 * 19531 + 20031 = 703616. That the last comes
 * 500 later is the reference's own figure. */
CLAIM(every_npu_to_every_other_on_a_ring_of_16_ends_at_704116)
{
    dse_time last = 0;

    sixteen("Ring");
    for (uint32_t src = 0; src < 16; src++)
        for (uint32_t dst = 0; dst < 16; dst++)
            if (src != dst)
                wire_send(0, src, dst, MIB);
    wire_run();
    for (uint32_t i = 0; i < wire.n_messages; i++)
        last = wire.message[i].arrived > last ? wire.message[i].arrived : last;
    assert_u64(last, 704116);
    for (uint32_t npu = 0; npu < 16; npu++) {
        assert_u64(wire.traffic.link[wire_link(npu, (npu + 1) % 16)].busy, 36 * 19531);
        assert_u64(wire.traffic.link[wire_link((npu + 1) % 16, npu)].busy, 28 * 19531);
    }
    wire_end();
}

/* ---- conservation -------------------------------------------------------------------------- */

/* Random sizes from 1 byte to 4 MiB; a part of them sent later. */
static void random_messages(uint64_t *seed, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t src = (uint32_t)(unit_random(seed) % wire.net.n_npus);
        uint32_t step = 1 + (uint32_t)(unit_random(seed) % (wire.net.n_npus - 1));
        dse_time at = unit_random(seed) % 3 ? 0 : unit_random(seed) % 100000;

        wire_send(at, src, (src + step) % wire.net.n_npus,
                  1 + unit_random(seed) % (1u << unit_random(seed) % 23));
    }
}

/* What came in and what went out over its links. */
static void check_device(uint32_t device)
{
    uint64_t in = 0, out = 0, sent = 0, received = 0;

    for (uint32_t slot = 0; slot < wire.graph.n_slots; slot++) {
        in += wire.graph.link[slot].to == device ? wire.traffic.link[slot].bytes : 0;
        out += wire.graph.link[slot].from == device ? wire.traffic.link[slot].bytes : 0;
    }
    for (uint32_t i = 0; i < wire.n_messages; i++) {
        sent += wire.message[i].src == device ? wire.message[i].bytes : 0;
        received += wire.message[i].dst == device ? wire.message[i].bytes : 0;
    }
    assert_u64(in + sent, out + received);
    assert_true(device < wire.net.n_npus || in == out); /* a switch sends nothing of its own */
}

CLAIM(what_comes_into_a_device_goes_out_again)
{
    uint64_t seed = 1;

    for (int i = 0; i < 100; i++) {
        wire_random(&seed, false);
        random_messages(&seed, 100);
        wire_run();
        for (uint32_t device = 0; device < wire.graph.n_devices; device++)
            check_device(device);
        wire_end();
    }
}

typedef struct {
    uint64_t bytes, messages;
    dse_time busy;
} expected_load;

static void add_route(expected_load *load, const wire_message *m)
{
    uint32_t at[SHAPE_MAX_ROUTE], n = wire_route(m->src, m->dst, at);

    for (uint32_t i = 1; i < n; i++) {
        uint32_t slot = net_graph_next(&wire.graph, at[i - 1], m->dst);

        load[slot].bytes += m->bytes;
        load[slot].busy +=
            (dse_time)((double)m->bytes / wire.net.dim[wire.graph.link[slot].dim].bytes_per_ns);
        load[slot].messages++;
    }
}

/* Each link carries the messages whose routes have it, each for trunc(bytes / bandwidth); added up over the links that
 * is bytes * hops of each message. No link is taken for longer than there was time, and as each message's time lost less
 * than a tick, bytes / bandwidth < busy + messages. */
CLAIM(a_link_carries_what_the_routes_say_within_its_capacity)
{
    uint64_t seed = 2;

    for (int i = 0; i < 100; i++) {
        expected_load *load;
        uint64_t byte_hops = 0, hops = 0, sum = 0;

        wire_random(&seed, false);
        random_messages(&seed, 100);
        wire_run();
        load = DSE_ARENA_NEW(&wire.arena, expected_load, wire.graph.n_slots);
        for (uint32_t m = 0; m < wire.n_messages; m++) {
            uint32_t n = net_graph_hops(&wire.graph, wire.message[m].src, wire.message[m].dst);

            add_route(load, &wire.message[m]);
            hops += n;
            byte_hops += n * wire.message[m].bytes;
        }
        for (uint32_t slot = 0; slot < wire.graph.n_slots; slot++) {
            double bandwidth = wire.net.dim[wire.graph.link[slot].dim].bytes_per_ns;

            assert_u64(wire.traffic.link[slot].bytes, load[slot].bytes);
            assert_u64(wire.traffic.link[slot].busy, load[slot].busy);
            assert_true(load[slot].busy <= wire.now);
            assert_true(!load[slot].messages || (double)load[slot].bytes / bandwidth <
                                                    (double)(load[slot].busy + load[slot].messages));
            sum += load[slot].bytes;
        }
        assert_u64(sum, byte_hops);
        assert_u64(wire.traffic.n_hops, hops);
        wire_end();
    }
}

/* ---- against the other model --------------------------------------------------------------- */

static dse_time alone(uint32_t src, uint32_t dst, uint64_t bytes)
{
    uint32_t at[SHAPE_MAX_ROUTE], n = wire_route(src, dst, at);
    dse_time sum = 0;

    for (uint32_t i = 1; i < n; i++) {
        const net_dimension *d =
            &wire.net.dim[wire.graph.link[net_graph_next(&wire.graph, at[i - 1], dst)].dim];

        sum += (dse_time)(d->latency_ns + (double)bytes / d->bytes_per_ns);
    }
    return sum;
}

/* Without others a message pays trunc(latency + bytes / bandwidth) at each hop. With whole latencies that is at least
 * what the model without congestion charges, which has the bytes once in a dimension, even if it charges every one. */
CLAIM(a_message_alone_pays_for_each_hop_and_not_less_than_without_congestion)
{
    uint64_t seed = 3;

    for (int i = 0; i < 200; i++) {
        wire_message *m = wire.message;

        wire_random(&seed, true);
        random_messages(&seed, 1);
        wire_run();
        assert_arrival(0, m->sent + alone(m->src, m->dst, m->bytes));
        assert_true(m->arrived - m->sent >= net_delay(&wire.net, m->src, m->dst, m->bytes));
        wire.net.full_multi_hop = true;
        assert_true(m->arrived - m->sent >= net_delay(&wire.net, m->src, m->dst, m->bytes));
        wire_end();
    }
}

/* Two links of 0.75 ns: each is truncated to 0, their sum to 1. */
CLAIM(with_fractions_of_a_tick_truncation_at_each_hop_may_be_less)
{
    wire_simple("Switch", shape_line("Switch", 3), 0.75);
    wire.net.dim[0].bytes_per_ns = 1e6;
    wire_send(5, 0, 1, 1);
    wire_run();
    assert_arrival(0, 5);
    assert_u64(net_delay(&wire.net, 0, 1, 1), 1);
    wire_end();
}

CLAIM(others_never_make_a_message_arrive_earlier_than_alone)
{
    uint64_t seed = 6;

    for (int i = 0; i < 50; i++) {
        wire_random(&seed, false);
        random_messages(&seed, 200);
        wire_run();
        for (uint32_t m = 0; m < wire.n_messages; m++)
            assert_true(wire.message[m].arrived >=
                        wire.message[m].sent +
                            alone(wire.message[m].src, wire.message[m].dst, wire.message[m].bytes));
        wire_end();
    }
}

CLAIM(the_same_messages_arrive_at_the_same_ticks_again)
{
    static wire_message first[200];

    for (int round = 0; round < 2; round++) {
        uint64_t seed = 9;

        wire_random(&seed, false);
        random_messages(&seed, 200);
        wire_run();
        if (!round)
            memcpy(first, wire.message, sizeof first);
        else
            assert_memory_equal(first, wire.message, sizeof first);
        wire_end();
    }
}

/* ---- memory and refusals ------------------------------------------------------------------- */

CLAIM(time_that_runs_over_is_refused)
{
    wire_simple("FullyConnected", shape_line("FullyConnected", 2), 50);
    assert_says(net_traffic_send(&wire.traffic, UINT64_MAX - 100, 0, 1, 1000, 0, &wire.err), &wire.err,
                DSE_E_SIM, "time runs over");
    wire_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_an_idle_link_a_message_takes_latency_and_bytes),
        cmocka_unit_test(of_two_messages_on_one_link_the_second_waits_for_the_bytes_of_the_first),
        cmocka_unit_test(a_link_is_taken_for_the_truncated_time_of_the_bytes),
        cmocka_unit_test(who_comes_first_is_served_first_whatever_its_size),
        cmocka_unit_test(the_two_ways_of_a_connection_do_not_disturb_each_other),
        cmocka_unit_test(a_link_that_was_idle_in_between_does_not_delay),
        cmocka_unit_test(a_message_of_less_than_a_tick_leaves_the_link_in_the_same_tick),
        cmocka_unit_test(a_message_is_stored_and_forwarded),
        cmocka_unit_test(messages_of_one_size_follow_each_other_as_in_a_pipeline),
        cmocka_unit_test(messages_to_one_npu_queue_for_the_switch_s_link_to_it),
        cmocka_unit_test(a_link_is_taken_in_the_tick_in_which_it_is_freed),
        cmocka_unit_test(who_waits_for_a_link_that_is_freed_goes_before_who_comes_in_that_tick),
        cmocka_unit_test(four_messages_on_a_mesh_that_share_no_link_arrive_after_their_hops),
        cmocka_unit_test(messages_on_a_mesh_wait_for_the_links_that_they_share),
        cmocka_unit_test(one_message_on_a_ring_a_switch_and_a_full_network_takes_its_hops),
        cmocka_unit_test(every_npu_to_every_other_on_a_ring_of_16_ends_at_704116),
        cmocka_unit_test(what_comes_into_a_device_goes_out_again),
        cmocka_unit_test(a_link_carries_what_the_routes_say_within_its_capacity),
        cmocka_unit_test(a_message_alone_pays_for_each_hop_and_not_less_than_without_congestion),
        cmocka_unit_test(with_fractions_of_a_tick_truncation_at_each_hop_may_be_less),
        cmocka_unit_test(others_never_make_a_message_arrive_earlier_than_alone),
        cmocka_unit_test(the_same_messages_arrive_at_the_same_ticks_again),
        cmocka_unit_test(time_that_runs_over_is_refused),
    };
    return RUN_TESTS(tests);
}
