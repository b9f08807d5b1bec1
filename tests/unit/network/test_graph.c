#include "unit/network/wire.h"

/* ---- ids ----------------------------------------------------------------------------------- */

/* [2, 8, 4]: NPU 47 = 1 + 2 * (7 + 8 * 2) is [1, 7, 2]. Of the switches of dimension 2, one for each of the 16 places in
 * the others, its own is the last, 64 + 15. */
static void ring_full_switch(void)
{
    wire_begin();
    wire_dimension("Ring", shape_line("Ring", 2), 50, 500);
    wire_dimension("FullyConnected", shape_line("FullyConnected", 8), 50, 500);
    wire_dimension("Switch", shape_line("Switch", 4), 50, 500);
    wire_finish();
}

CLAIM(npu_47_of_2_8_4_is_1_7_2)
{
    ring_full_switch();
    assert_int_equal(net_place(&wire.net.dim[0], 47), 1);
    assert_int_equal(net_place(&wire.net.dim[1], 47), 7);
    assert_int_equal(net_place(&wire.net.dim[2], 47), 2);
    wire_end();
}

/* A Ring of two is one connection for each of 32 pairs: 64 links. 64 NPUs with 7 others each: 448. An NPU and its switch
 * are linked both ways: 2 * 64. Ports of an NPU: 2 + 7 + 1; of a switch: 4. */
CLAIM(devices_and_links_are_those_of_all_dimensions)
{
    ring_full_switch();
    assert_int_equal(wire.graph.n_devices, 64 + 16);
    assert_int_equal(wire.graph.n_links, 64 + 448 + 128);
    assert_int_equal(wire.graph.npu_ports, 10);
    assert_int_equal(wire.graph.n_slots, 64 * 10 + 16 * 4);
    wire_end();
}

CLAIM(a_route_corrects_dimension_0_first_and_passes_the_switch)
{
    ring_full_switch();
    assert_string_equal(wire_text(0, 47), "0 1 15 79 47");  /* [1,0,0], [1,7,0], its switch, [1,7,2] */
    assert_string_equal(wire_text(47, 0), "47 46 32 64 0"); /* [0,7,2], [0,0,2], the first switch */
    assert_string_equal(wire_text(47, 46), "47 46");
    assert_string_equal(wire_text(15, 63), "15 79 63");
    assert_int_equal(net_graph_hops(&wire.graph, 0, 47), 4);
    assert_int_equal(net_graph_hops(&wire.graph, 47, 46), 1);
    wire_end();
}

/* [3, 2, 2], Switch, Ring, Switch: dimension 0 has 4 switches, each of three neighbouring NPUs: 12..15. Dimension 2 has
 * 6, each of i and i + 6: 16..21. */
static void two_kinds_of_switches(void)
{
    wire_begin();
    wire_dimension("Switch", shape_line("Switch", 3), 50, 500);
    wire_dimension("Ring", shape_line("Ring", 2), 50, 500);
    wire_dimension("Switch", shape_line("Switch", 2), 50, 500);
    wire_finish();
}

CLAIM(switches_count_dimension_by_dimension)
{
    two_kinds_of_switches();
    assert_int_equal(wire.graph.n_devices, 22);
    assert_int_equal(wire.graph.first_switch[0], 12);
    assert_int_equal(wire.graph.first_switch[2], 16);
    for (uint32_t device = 12; device < 22; device++)
        assert_int_equal(net_graph_switch_dim(&wire.graph, device), device < 16 ? 0 : 2);
    assert_string_equal(wire_text(0, 11), "0 12 2 5 21 11"); /* [2,1,1] */
    assert_string_equal(wire_text(11, 0), "11 15 9 6 16 0");
    assert_string_equal(wire_text(4, 10), "4 20 10");
    assert_string_equal(wire_text(7, 8), "7 14 8");
    wire_end();
}

/* [4, 2]: 8 NPUs; dimension 0 has a switch for each place along dimension 1 (2), dimension 1 one for each along dimension
 * 0 (4). Devices: 0..7 NPUs, 8 and 9 switches of dimension 0, 10..13 of dimension 1. */
CLAIM(a_switch_is_named_by_its_id_as_a_device)
{
    const net_topology *t = net_topology_find("Switch");
    net_network net = {.n_dims = 2,
                       .dim = {{.topology = t, .shape.n = 4, .gib_per_s = 1},
                               {.topology = t, .shape.n = 2, .gib_per_s = 1}}};
    static const struct {
        uint32_t device;
        const char *name;
    } expected[] = {{0, "0"}, {7, "7"}, {8, "switch 8"}, {13, "switch 13"}};
    dse_error err = DSE_ERROR_INIT;
    char name[NET_DEVICE_NAME];
    dse_arena arena;
    net_graph g;

    dse_arena_init(&arena);
    assert_ok(net_network_finish(&net, &err), &err);
    assert_ok(net_graph_init(&g, &net, &arena, &err), &err);
    assert_u64(g.n_devices, 14);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        net_device_name(&g, expected[i].device, name, sizeof name);
        assert_string_equal(name, expected[i].name);
    }
    dse_arena_free(&arena);
}

CLAIM(a_switch_has_a_port_for_each_of_its_npus_in_their_order)
{
    uint32_t first;

    two_kinds_of_switches();
    assert_int_equal(net_graph_ports(&wire.graph, 13, &first), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(wire.graph.link[first + i].to, 3 + i);
    assert_int_equal(net_graph_ports(&wire.graph, 19, &first), 2);
    assert_int_equal(wire.graph.link[first].to, 3);
    assert_int_equal(wire.graph.link[first + 1].to, 9);
    assert_int_equal(net_graph_ports(&wire.graph, 21, &first), 2); /* the last device has the last slots */
    assert_int_equal(first + 2, wire.graph.n_slots);
    assert_int_equal(net_graph_ports(&wire.graph, 4, &first), 1 + 2 + 1);
    assert_int_equal(first, 4 * 4);
    wire_end();
}

/* 0-1 and 2-3 in dimension 0, 0-2 and 1-3 in dimension 1: four connections. */
CLAIM(rings_of_two_in_several_dimensions_have_one_link_each_way)
{
    wire_begin();
    wire_dimension("Ring", shape_line("Ring", 2), 50, 500);
    wire_dimension("Ring", shape_line("Ring", 2), 50, 500);
    wire_finish();
    assert_int_equal(wire.graph.n_links, 8);
    assert_true(wire_link(0, 1) != DSE_NONE && wire_link(1, 0) != DSE_NONE);
    assert_true(wire_link(0, 2) != DSE_NONE && wire_link(2, 0) != DSE_NONE);
    assert_int_equal(wire_link(0, 3), DSE_NONE);
    assert_string_equal(wire_text(0, 3), "0 1 3");
    assert_string_equal(wire_text(3, 0), "3 2 0");
    wire_end();
}

/* ---- a mesh as a dimension ----------------------------------------------------------------- */

CLAIM(a_mesh_has_the_routes_of_its_topology_and_two_links_a_connection)
{
    wire_begin();
    wire_dimension("Mesh2D", shape_of("Mesh2D", 4, 4, 0, ""), 50, 500);
    wire_finish();
    assert_int_equal(wire.graph.n_devices, 16);
    assert_int_equal(wire.graph.n_links, 2 * (4 * 3 + 4 * 3));
    assert_string_equal(wire_text(1, 7), "1 2 3 7");
    assert_string_equal(wire_text(14, 5), "14 13 9 5");
    assert_string_equal(wire_text(11, 5), "11 10 9 5");
    assert_string_equal(wire_text(15, 4), "15 14 13 12 8 4");
    wire_end();
}

/* Two 3 x 2 meshes on top of each other, NPU = mesh place * 1 + 6 * layer, as the first dimension; and pairs of NPUs in a
 * 2 x 3 mesh, NPU = place in the pair + 2 * mesh place, as the second. */
CLAIM(a_mesh_may_be_one_dimension_among_others)
{
    wire_begin();
    wire_dimension("Mesh2D", shape_of("Mesh2D", 3, 2, 0, ""), 50, 500);
    wire_dimension("Ring", shape_line("Ring", 2), 50, 500);
    wire_finish();
    assert_string_equal(wire_text(0, 11), "0 1 2 5 11");
    assert_string_equal(wire_text(11, 0), "11 10 9 6 0");
    wire_end();
    wire_begin();
    wire_dimension("Switch", shape_line("Switch", 2), 50, 500);
    wire_dimension("Mesh2D", shape_of("Mesh2D", 2, 3, 0, "yx"), 50, 500);
    wire_finish();
    assert_string_equal(wire_text(0, 11), "0 12 1 5 9 11"); /* along y: mesh places 0, 2, 4, then 5 */
    assert_string_equal(wire_text(11, 1), "11 7 3 1");
    wire_end();
}

CLAIM(meshes_of_one_row_or_one_column_are_lines)
{
    for (int column = 0; column < 2; column++) {
        wire_begin();
        wire_dimension("Mesh2D", shape_of("Mesh2D", column ? 1 : 5, column ? 5 : 1, 0, ""), 50, 500);
        wire_finish();
        assert_int_equal(wire.graph.n_links, 8);
        assert_string_equal(wire_text(4, 0), "4 3 2 1 0");
        wire_end();
    }
}

/* ---- what must hold for every network ------------------------------------------------------ */

/* The route within each dimension is the topology's, and the dimensions come one after the other. */
static void check_random_route(uint32_t src, uint32_t dst)
{
    uint32_t at[SHAPE_MAX_ROUTE], n = wire_route(src, dst, at), hops = 0, dim = 0;

    for (uint32_t i = 0; i < wire.net.n_dims; i++) {
        const net_dimension *d = &wire.net.dim[i];
        uint32_t from = net_place(d, src), to = net_place(d, dst);

        hops += from == to ? 0 : d->topology->hops(&d->shape, from, to);
    }
    assert_int_equal(n - 1, hops);
    assert_int_equal(net_graph_hops(&wire.graph, src, dst), hops);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t slot = wire_link(at[i - 1], at[i]);

        assert_true(slot != DSE_NONE && wire_link(at[i], at[i - 1]) != DSE_NONE);
        assert_true(wire.graph.link[slot].dim >= dim);
        dim = wire.graph.link[slot].dim;
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(at[k], at[i]);
    }
}

/* A leg is as long as the route keeps to one port, and no longer; its links are found without asking for the route. */
static void check_random_legs(uint32_t src, uint32_t dst)
{
    uint32_t before = DSE_NONE;

    for (uint32_t at = src; at != dst;) {
        uint32_t n, slot = net_graph_leg(&wire.graph, at, dst, &n);
        uint32_t port = at < wire.net.n_npus ? slot - at * wire.graph.npu_ports : DSE_NONE;

        assert_true(n > 0);
        assert_true(port == DSE_NONE || port != before);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(net_graph_next(&wire.graph, at, dst), slot);
            assert_int_equal(wire.graph.link[slot].from, at);
            at = wire.graph.link[slot].to;
            slot = net_graph_straight(&wire.graph, slot);
        }
        before = port;
    }
}

CLAIM(routes_over_random_networks_go_dimension_by_dimension_and_pass_nothing_twice)
{
    uint64_t seed = 4;

    for (int i = 0; i < 60; i++) {
        wire_random(&seed, true);
        for (int pair = 0; pair < 10; pair++) {
            uint32_t src = (uint32_t)(unit_random(&seed) % wire.net.n_npus);
            uint32_t step = 1 + (uint32_t)(unit_random(&seed) % (wire.net.n_npus - 1));

            check_random_route(src, (src + step) % wire.net.n_npus);
            check_random_legs(src, (src + step) % wire.net.n_npus);
        }
        wire_end();
    }
}

/* Each device's slots are its own, together they are all, and n_links counts those with a link. */
CLAIM(the_ports_of_all_devices_are_all_slots)
{
    uint64_t seed = 5;

    for (int i = 0; i < 60; i++) {
        uint32_t slots = 0, links = 0;

        wire_random(&seed, true);
        for (uint32_t device = 0; device < wire.graph.n_devices; device++) {
            uint32_t first, n = net_graph_ports(&wire.graph, device, &first);

            assert_int_equal(first, slots);
            for (uint32_t slot = first; slot < first + n; slot++) {
                assert_int_equal(wire.graph.link[slot].from, device);
                links += wire.graph.link[slot].to != DSE_NONE;
            }
            slots += n;
        }
        assert_int_equal(slots, wire.graph.n_slots);
        assert_int_equal(links, wire.graph.n_links);
        wire_end();
    }
}

/* ---- refusals ------------------------------------------------------------------------------ */

/* 8193 * 8192 is 8192 above 2^26. */
CLAIM(more_than_2_to_the_26_links_are_refused)
{
    wire_begin();
    wire_dimension("FullyConnected", shape_line("FullyConnected", 8193), 50, 500);
    assert_ok(net_network_finish(&wire.net, &wire.err), &wire.err);
    assert_failure(net_graph_init(&wire.graph, &wire.net, &wire.arena, &wire.err), &wire.err, DSE_E_RANGE, "",
                   "the network has 67117056 ports; at most 67108864 can be simulated one by one");
    wire_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npu_47_of_2_8_4_is_1_7_2),
        cmocka_unit_test(devices_and_links_are_those_of_all_dimensions),
        cmocka_unit_test(a_route_corrects_dimension_0_first_and_passes_the_switch),
        cmocka_unit_test(switches_count_dimension_by_dimension),
        cmocka_unit_test(a_switch_is_named_by_its_id_as_a_device),
        cmocka_unit_test(a_switch_has_a_port_for_each_of_its_npus_in_their_order),
        cmocka_unit_test(rings_of_two_in_several_dimensions_have_one_link_each_way),
        cmocka_unit_test(a_mesh_has_the_routes_of_its_topology_and_two_links_a_connection),
        cmocka_unit_test(a_mesh_may_be_one_dimension_among_others),
        cmocka_unit_test(meshes_of_one_row_or_one_column_are_lines),
        cmocka_unit_test(routes_over_random_networks_go_dimension_by_dimension_and_pass_nothing_twice),
        cmocka_unit_test(the_ports_of_all_devices_are_all_slots),
        cmocka_unit_test(more_than_2_to_the_26_links_are_refused),
    };
    return RUN_TESTS(tests);
}
