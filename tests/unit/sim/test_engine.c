/* The run as a whole: what it takes, the handshake, tick 0, conservation, the record, memory.
 *
 * Linked with sim_messages_post wrapped (list.cmake), so that every message both ends post can be counted. */
#include "sim/messages.h"
#include "unit/sim/world.h"

static struct {
    uint64_t messages[2], bytes[2]; /* [send] */
    uint64_t byte_hops;             /* of each message the bytes times the links on its way */
    uint64_t from[WORLD_MAX_RANKS], to[WORLD_MAX_RANKS]; /* bytes sent by, received by */
} seen;

static void add_sent(const sim_message_key *key)
{
    seen.from[key->src] += key->size;
    for (uint32_t i = 0; i < world.net.n_dims; i++) {
        const net_dimension *d = &world.net.dim[i];
        uint32_t a = net_place(d, key->src), b = net_place(d, key->dst);

        seen.byte_hops += a == b ? 0 : key->size * d->topology->hops(&d->shape, a, b);
    }
}

uint32_t __real_sim_messages_post(sim_messages *m, const sim_message_key *key, bool send, sim_call call);
uint32_t __wrap_sim_messages_post(sim_messages *m, const sim_message_key *key, bool send, sim_call call);

uint32_t __wrap_sim_messages_post(sim_messages *m, const sim_message_key *key, bool send, sim_call call)
{
    if (world.comparing)
        return __real_sim_messages_post(m, key, send, call);
    seen.messages[send]++;
    seen.bytes[send] += key->size;
    if (send)
        add_sent(key);
    else
        seen.to[key->dst] += key->size;
    return __real_sim_messages_post(m, key, send, call);
}

static void all_ranks(wl_coll_type coll, uint64_t size)
{
    for (uint32_t r = 0; r < world.net.n_npus; r++)
        world_coll(r, "c", coll, size, 0);
}

static void count_run(void)
{
    memset(&seen, 0, sizeof seen);
    assert_ok(world_run(), &world.err);
}

/* ---- conservation ------------------------------------------------------------------------------- */

CLAIM(every_message_sent_is_received)
{
    static const char *const algorithms[] = {"ring", "direct", "direct2", "halvingDoubling",
                                             "doubleBinaryTree"};
    static const wl_coll_type colls[] = {WL_ALL_REDUCE, WL_ALL_GATHER, WL_REDUCE_SCATTER, WL_ALL_TO_ALL};

    for (int a = 0; a < 5; a++) {
        for (int c = 0; c < 4; c++) {
            if (a == 3 && colls[c] == WL_ALL_TO_ALL)
                continue;
            world_begin("FullyConnected", 8, 50, algorithms[a]);
            world.set.splits = 3;
            all_ranks(colls[c], 80003);
            count_run();
            assert_u64(seen.messages[true], seen.messages[false]);
            assert_u64(seen.bytes[true], seen.bytes[false]);
            assert_u64(seen.messages[true], world.result.n_messages);
            world_end();
        }
    }
}

/* Store and forward: a message of b bytes is carried by each of the h links of its route. */
CLAIM(links_carry_the_bytes_of_the_messages_times_their_hops)
{
    static const char *const topologies[] = {"Mesh2D", "Torus2D", "Hypercube", "Ring", "Switch"};
    static const uint32_t group[] = {3, 5, 6, 12, 13};

    for (size_t i = 0; i < sizeof topologies / sizeof topologies[0]; i++) {
        uint32_t id;
        uint64_t carried = 0;
        dse_time last = 0;
        const net_load *l;

        world_begin(topologies[i], 4, 50, "ring");
        world_dimension("FullyConnected", 4, 20, "direct");
        world.net.congestion = true;
        assert_ok(net_shape_route(world.net.dim[0].topology, "", &world.net.dim[0].shape, &world.err),
                  &world.err);
        world.set.splits = 3;
        id = world_group("some", 5, group);
        all_ranks(WL_ALL_REDUCE, 80003);
        for (int k = 0; k < 5; k++)
            world_coll(group[k], "some", WL_ALL_TO_ALL, 50000, id);
        count_run();
        l = world.result.load;
        for (uint32_t d = 0; d < world.net.n_dims; d++)
            carried += l->dim[d].bytes;
        assert_u64(carried, seen.byte_hops);
        for (uint32_t r = 0; r < world.net.n_npus; r++)
            last = world_stats(r)->finished > last ? world_stats(r)->finished : last;
        assert_u64(l->end, last);
        assert_true(net_load_util(l, l->busiest) <= 1);
        world_end();
    }
}

/* 1000 bytes from 0 to 1 of a ring, 50 ns: the link is busy for 1000 of the 1050 ns until both have finished. */
CLAIM(the_run_of_the_links_ends_with_the_last_rank)
{
    world_begin("Ring", 4, 50, "ring");
    world.net.congestion = true;
    world_message(0, "send", true, 1, 1000, 1);
    world_message(1, "recv", false, 0, 1000, 1);
    for (uint32_t r = 2; r < 4; r++)
        world_comp(r, "c", MIB, MIB); /* ends before */
    count_run();
    assert_u64(world.result.load->end, 1050);
    assert_u64(world_stats(1)->finished, 1050);
    assert_double(net_load_util(world.result.load, world.result.load->busiest), 1000.0 / 1050);
    assert_string_equal(world.result.load->busiest_name, "0 -> 1");
    world_end();
}

CLAIM(without_congestion_there_are_no_links)
{
    world_begin("Ring", 8, 50, "ring");
    all_ranks(WL_ALL_REDUCE, 8000);
    count_run();
    assert_null(world.result.load);
    world_end();
}

/* The bandwidth-optimal volumes: 2 (p-1)/p S for an all-reduce, (p-1)/p S for a reduce-scatter, (p-1) S for gathering
 * what each of p contributes; ring, direct and halving-doubling all reach them. */
CLAIM(collectives_move_no_more_than_they_must)
{
    static const char *const algorithms[] = {"ring", "direct", "halvingDoubling"};
    const uint64_t p = 8, size = 8 * 4096;

    for (int a = 0; a < 3; a++) {
        static const struct {
            wl_coll_type coll;
            uint64_t bytes_per_rank;
        } expected[] = {
            {WL_ALL_REDUCE, 2 * 7 * 4096}, {WL_REDUCE_SCATTER, 7 * 4096}, {WL_ALL_GATHER, 7 * 8 * 4096}};

        for (int c = 0; c < 3; c++) {
            world_begin("FullyConnected", (uint32_t)p, 50, algorithms[a]);
            all_ranks(expected[c].coll, size);
            count_run();
            for (uint32_t r = 0; r < p; r++) {
                assert_u64(seen.from[r], expected[c].bytes_per_rank);
                assert_u64(seen.to[r], expected[c].bytes_per_rank);
            }
            world_end();
        }
    }
}

/* Scatter S over p = 4, reduce S/4 over 2, gather: 3/4 S + 2 * 1/2 * S/4 + 3/4 S. */
CLAIM(an_all_reduce_over_two_dimensions_moves_what_its_phases_move)
{
    world_begin("FullyConnected", 4, 50, "direct");
    world_dimension("FullyConnected", 2, 50, "ring");
    all_ranks(WL_ALL_REDUCE, 8192);
    count_run();
    for (uint32_t r = 0; r < 8; r++) {
        assert_u64(seen.from[r], 6144 + 2048 + 6144);
        assert_u64(seen.to[r], seen.from[r]);
    }
    world_end();
}

/* ---- rendezvous ----------------------------------------------------------------------------------- */

/* The receiver first sends 8192 bytes of handshake: 50 + 8192 ns. */
CLAIM(a_rendezvous_adds_a_handshake)
{
    uint32_t s, r;

    world_begin("Ring", 2, 50, "ring");
    world.set.rendezvous = true;
    s = world_message(0, "s", true, 1, 1000, 1);
    r = world_message(1, "r", false, 0, 1000, 1);
    count_run();
    assert_ticks(0, s, 0, 8242 + 1050);
    assert_ticks(1, r, 0, 8242 + 1050);
    assert_u64(seen.messages[true], 2);
    assert_u64(seen.bytes[true], 8192 + 1000);
    world_end();
}

/* The receiver is 953 ns late: so is its handshake. */
CLAIM(a_rendezvous_waits_for_the_receiver)
{
    uint32_t s, c, r;

    world_begin("Ring", 2, 50, "ring");
    world.set.rendezvous = true;
    s = world_message(0, "s", true, 1, 1000, 1);
    c = world_comp(1, "c", MIB, MIB);
    r = world_message(1, "r", false, 0, 1000, 1);
    world_after(1, r, c);
    count_run();
    assert_ticks(0, s, 0, 953 + 8242 + 1050);
    assert_ticks(1, r, 953, 953 + 8242 + 1050);
    world_end();
}

/* Each step of a ring: handshake and message. */
/* 2^31 - 1 bytes go, one more is lost in the reference. */
CLAIM(a_rendezvous_refuses_what_the_reference_loses)
{
    for (uint64_t more = 0; more < 2; more++) {
        world_begin("Ring", 2, 50, "ring");
        world.set.rendezvous = true;
        world_message(0, "s", true, 1, INT32_MAX + more, 1);
        world_message(1, "r", false, 0, INT32_MAX + more, 1);
        if (more)
            assert_failure(
                world_run(), &world.err, DSE_E_SIM, "",
                "a message of 2147483648 bytes from rank 0 to rank 1; under the rendezvous protocol the "
                "reference takes sizes as signed 32-bit, and loses it: do without the protocol");
        else
            assert_ok(world_run(), &world.err);
        world_end();
    }
}

CLAIM(collectives_meet_by_rendezvous_too)
{
    world_begin("Ring", 4, 50, "ring");
    world.set.rendezvous = true;
    assert_all_end_at(WL_ALL_GATHER, 1000, 10 + 3 * (8242 + 1050 + 10));
}

/* ---- tick 0 ---------------------------------------------------------------------------------------- */

CLAIM(a_node_that_ends_at_tick_0_is_refused)
{
    world_begin("Ring", 2, 50, "ring");
    world_comp(1, "c", 1, 1);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "rank 1, node 1 'c' lasts 0 ns at tick 0, where the simulator cannot end a node; give it more work");
    world_end();
}

CLAIM(a_node_of_0_ns_later_is_fine)
{
    uint32_t a, b;

    world_begin("Ring", 2, 50, "ring");
    a = world_comp(0, "a", MIB, MIB);
    b = world_comp(0, "b", 1, 1);
    world_after(0, b, a);
    assert_ok(world_run(), &world.err);
    assert_ticks(0, b, 953, 953);
    world_end();
}

CLAIM(an_endpoint_that_acts_at_tick_0_is_refused)
{
    world_begin("Ring", 2, 50, "ring");
    world.set.endpoint_delay = 0;
    all_ranks(WL_ALL_REDUCE, 1000);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "rank 0 is due to act at tick 0, where the simulator cannot: give endpoint-delay (on a shared bus "
        "L or o) a value above 0");
    world_end();
}

CLAIM(a_message_that_arrives_at_tick_0_is_refused)
{
    world_begin("Ring", 2, 0, "ring");
    world.net.dim[0].gib_per_s = 100 * BYTE_PER_NS; /* a byte takes 0.01 ns */
    assert_int_equal(net_network_finish(&world.net, NULL), DSE_OK);
    world_message(0, "s", true, 1, 1, 1);
    assert_failure(world_run(), &world.err, DSE_E_SIM, "",
                   "a message takes no time and arrives at tick 0, where the simulator cannot end it: give "
                   "the network a "
                   "latency");
    world_end();
}

/* ---- the run ---------------------------------------------------------------------------------------- */

/* Two nodes of 2^63 ns, one after the other. */
CLAIM(time_that_runs_over_is_refused)
{
    uint32_t a, b;

    world_begin("Ring", 2, 50, "ring");
    a = world_comp(0, "a", 0, 5);
    b = world_comp(0, "b", 0, 5);
    world_after(0, b, a);
    assert_failure(
        world_run(), &world.err, DSE_E_SIM, "",
        "time runs over: an event is due 9223372036854775808 ticks after tick 9223372036854775808");
    world_end();
}

CLAIM(ranks_and_npus_must_be_as_many)
{
    world_begin("Ring", 2, 50, "ring");
    dse_arena_init(&world.arena);
    world.err = (dse_error)DSE_ERROR_INIT;
    world_make(&world.arena);
    world.w.n_ranks = 1;
    assert_failure(sim_run(&world.set, &world.net, &world.w, world.shortcuts, &world.arena, &world.result,
                           NULL, &world.err),
                   &world.err, DSE_E_CONFIG, "", "the workload has 1 ranks, the network 2 NPUs");
    world_end();
}

CLAIM(more_implementations_than_dimensions_are_refused)
{
    world_begin("Ring", 2, 50, "ring");
    world.set.implementations[SIM_ALL_GATHER].n_dims = 2;
    assert_failure(world_run(), &world.err, DSE_E_CONFIG, "",
                   "a list of 2 collective implementations for a network of 1 dimensions");
    world_end();
}

/* Ranks in order, nodes in the order of their issue. */
CLAIM(the_record_tells_who_did_what_when)
{
    const trace_ticks *t = &world.record;
    uint32_t c;

    world_begin("Ring", 2, 50, "ring");
    c = world_comp(0, "compute", MIB, MIB);
    world_after(0, world_message(0, "send", true, 1, 1000, 1), c);
    world_message(1, "receive", false, 0, 1000, 1);
    assert_ok(world_run(), &world.err);
    assert_int_equal(t->n_ranks, 2);
    assert_u64(t->n, 3);
    assert_string_equal(t->name[0], "compute");
    assert_int_equal(t->category[0], TRACE_TICKS_COMPUTE);
    assert_int_equal(t->type[0], WL_NODE_COMP);
    assert_u64(t->bytes[0], 0);
    assert_string_equal(t->name[1], "send");
    assert_int_equal(t->category[1], TRACE_TICKS_SEND);
    assert_u64(t->id[1], 2);
    assert_u64(t->start[1], 953);
    assert_u64(t->end[1], 953 + 1050);
    assert_u64(t->bytes[1], 1000);
    assert_int_equal(t->rank[2], 1);
    assert_int_equal(t->category[2], TRACE_TICKS_RECV);
    assert_u64(t->start[2], 0);
    assert_u64(t->end[2], 953 + 1050);
    world_end();
}

/* A mixed workload: compute, collectives of all and of a pair, messages, memory. */
static void mixed(void)
{
    static const uint32_t pair[] = {1, 2};
    uint32_t g;

    world_begin("Ring", 4, 50, "ring");
    world.set.splits = 3;
    world.set.active_chunks = 2;
    world.set.track_memory = true;
    g = world_group("g", 2, pair);
    for (uint32_t r = 0; r < 4; r++) {
        uint32_t a = world_comp(r, "a", (r + 1) * MIB, 1024),
                 b = world_coll(r, "b", WL_ALL_REDUCE, 100000, 0), c;

        world_after(r, b, a);
        c = r == 1 || r == 2 ? world_coll(r, "c", WL_ALL_GATHER, 5000, g)
                             : world_message(r, "c", r == 0, r == 0 ? 3 : 0, 777, 9);
        world_after(r, world_comp(r, "d", MIB, MIB), c);
        for (uint32_t i = 0; i < world.rank[r].n; i++)
            world.rank[r].node[i].has_io = true;
        world_tensor(r, a, true, "t", 64);
        world_tensor(r, b, false, "t", 64);
    }
}

CLAIM(the_same_input_gives_the_same_run)
{
    dse_strbuf first, second;
    uint64_t events;

    mixed();
    assert_ok(world_run(), &world.err);
    dse_strbuf_init(&first);
    trace_ticks_write_csv(&world.record, &first);
    events = world.result.n_events;
    world_end();
    assert_ok(world_run(), &world.err);
    dse_strbuf_init(&second);
    trace_ticks_write_csv(&world.record, &second);
    assert_string_equal(first.data, second.data);
    assert_u64(world.result.n_events, events);
    world_end();
    dse_strbuf_free(&first);
    dse_strbuf_free(&second);
}

CLAIM(time_never_runs_back)
{
    mixed();
    assert_ok(world_run(), &world.err);
    for (uint64_t i = 0; i < world.record.n; i++) {
        assert_true(world.record.end[i] >= world.record.start[i]);
        assert_true(world.record.end[i] <= world_stats(world.record.rank[i])->wall);
        if (i && world.record.rank[i] == world.record.rank[i - 1])
            assert_true(world.record.start[i] >= world.record.start[i - 1]);
    }
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_sent_is_received),
        cmocka_unit_test(links_carry_the_bytes_of_the_messages_times_their_hops),
        cmocka_unit_test(the_run_of_the_links_ends_with_the_last_rank),
        cmocka_unit_test(without_congestion_there_are_no_links),
        cmocka_unit_test(collectives_move_no_more_than_they_must),
        cmocka_unit_test(an_all_reduce_over_two_dimensions_moves_what_its_phases_move),
        cmocka_unit_test(a_rendezvous_adds_a_handshake),
        cmocka_unit_test(a_rendezvous_waits_for_the_receiver),
        cmocka_unit_test(a_rendezvous_refuses_what_the_reference_loses),
        cmocka_unit_test(collectives_meet_by_rendezvous_too),
        cmocka_unit_test(a_node_that_ends_at_tick_0_is_refused),
        cmocka_unit_test(a_node_of_0_ns_later_is_fine),
        cmocka_unit_test(an_endpoint_that_acts_at_tick_0_is_refused),
        cmocka_unit_test(a_message_that_arrives_at_tick_0_is_refused),
        cmocka_unit_test(time_that_runs_over_is_refused),
        cmocka_unit_test(ranks_and_npus_must_be_as_many),
        cmocka_unit_test(more_implementations_than_dimensions_are_refused),
        cmocka_unit_test(the_record_tells_who_did_what_when),
        cmocka_unit_test(the_same_input_gives_the_same_run),
        cmocka_unit_test(time_never_runs_back),
    };
    return RUN_TESTS(tests);
}
