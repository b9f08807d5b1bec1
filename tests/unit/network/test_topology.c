#include "unit/network/shape.h"

CLAIM(topologies_are_found_by_the_reference_s_names)
{
    assert_string_equal(net_topology_find("Ring")->name, "Ring");
    assert_string_equal(net_topology_find("Switch")->name, "Switch");
    assert_string_equal(net_topology_find("FullyConnected")->name, "FullyConnected");
    assert_null(net_topology_find("ring")); /* case matters, as there */
    assert_null(net_topology_find(""));
}

CLAIM(the_list_is_complete_and_in_order)
{
    size_t n;
    const net_topology *rows = net_topologies(&n);

    assert_int_equal(n, 8);
    assert_string_equal(rows[0].name, "Ring");
    assert_string_equal(rows[1].name, "Switch");
    assert_string_equal(rows[2].name, "FullyConnected");
    assert_string_equal(rows[3].name, "Mesh2D");
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(net_topology_find(rows[i].name), &rows[i]);
        assert_true(*rows[i].summary != '\0');
    }
}

CLAIM(an_unknown_name_is_refused_with_the_known_ones)
{
    dse_error err = DSE_ERROR_INIT;

    assert_ok(net_topology_check("Switch", &err), &err);
    assert_failure(net_topology_check("Dragonfly", &err), &err, DSE_E_CONFIG, "",
                   "unknown topology 'Dragonfly'; known: Ring, Switch, FullyConnected, Mesh2D, Torus2D, "
                   "Mesh3D, Torus3D, "
                   "Hypercube");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(
        net_topology_check("switch", &err), &err, DSE_E_CONFIG, "",
        "unknown topology 'switch'; did you mean 'Switch'? known: Ring, Switch, FullyConnected, Mesh2D, "
        "Torus2D, Mesh3D, Torus3D, Hypercube");
}

/* ---- what must hold for every row ---------------------------------------------------------- */

/* Whether a port of `from` leads to `to`; at most one does. */
static bool is_linked(const net_topology *t, const net_shape *s, uint32_t from, uint32_t to)
{
    uint32_t n = 0;

    for (uint32_t port = 0; port < t->n_ports(s); port++)
        n += t->neighbour(s, from, port) == to;
    assert_true(n <= 1);
    return n == 1;
}

/* A switch leads back to each of its NPUs; all other links must have their reverse among the ports. */
static void check_links(const net_topology *t, const net_shape *s)
{
    for (uint32_t npu = 0; npu < s->n; npu++) {
        for (uint32_t port = 0; port < t->n_ports(s); port++) {
            uint32_t to = t->neighbour(s, npu, port);

            assert_true(to == DSE_NONE || to < s->n || (t->has_switch && to == s->n));
            assert_true(to != npu);
            assert_true(to >= s->n || is_linked(t, s, to, npu));
        }
    }
}

static void check_routes(const net_topology *t, const net_shape *s)
{
    for (uint32_t src = 0; src < s->n; src++) {
        for (uint32_t dst = 0; dst < s->n; dst++) {
            uint32_t at[SHAPE_MAX_ROUTE], n;

            if (src == dst)
                continue;
            n = shape_route(t, s, src, dst, at);
            assert_int_equal(n - 1, t->hops(s, src, dst));
            for (uint32_t i = 0; i < n; i++) {
                assert_true(!i || at[i - 1] == s->n || is_linked(t, s, at[i - 1], at[i]));
                for (uint32_t k = 0; k < i; k++)
                    assert_int_not_equal(at[k], at[i]); /* nothing is passed twice */
            }
        }
    }
}

static void check_shape(const net_topology *t, const uint32_t extent[NET_MAX_AXES])
{
    static const char *const orders[][6] = {
        {""}, {""}, {"xy", "yx"}, {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"}};
    static const int n_orders[] = {1, 1, 2, 6};

    for (int i = 0; i < n_orders[t->n_axes]; i++) {
        net_shape s = shape_of(t->name, extent[0], extent[1], extent[2], orders[t->n_axes][i]);

        check_links(t, &s);
        check_routes(t, &s);
    }
}

CLAIM(every_link_has_its_reverse_and_every_route_is_made_of_links)
{
    static const uint32_t extents[][NET_MAX_AXES] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {3, 1, 1}, {1, 3, 1},
                                                     {1, 1, 4}, {2, 2, 1}, {2, 1, 2}, {4, 4, 1}, {5, 3, 1},
                                                     {3, 5, 2}, {2, 2, 2}, {3, 4, 3}, {8, 2, 3}, {16, 1, 1}};
    size_t n;
    const net_topology *rows = net_topologies(&n);

    for (size_t i = 0; i < n; i++) {
        const net_topology *t = &rows[i];

        for (size_t k = 0; k < sizeof extents / sizeof extents[0]; k++) {
            const uint32_t *e = extents[k];
            uint32_t npus = e[0] * (t->n_axes > 1 ? e[1] : 1) * (t->n_axes > 2 ? e[2] : 1);

            if (npus >= 2 && !(t->power_of_two && (npus & (npus - 1))))
                check_shape(t, e);
        }
    }
}

/* Links between NPUs that are so far apart one way round the circle of their ids: the same from everywhere, and as many
 * for those that are as far apart the other way round. */
static bool looks_cyclic(const net_topology *t, const net_shape *s)
{
    for (uint32_t apart = 1; apart < s->n; apart++) {
        uint32_t hops = t->hops(s, 0, apart);

        if (t->hops(s, 0, s->n - apart) != hops)
            return false;
        for (uint32_t a = 1; a < s->n; a++)
            if (t->hops(s, a, (a + apart) % s->n) != hops)
                return false;
    }
    return true;
}

/* All pairs of all shapes of up to 130, 9 x 9 and 5 x 5 x 5. Those that are not cyclic are not so in some shape: a
 * mesh of 2 x 1 is a circle, too. */
CLAIM(rows_are_cyclic_if_and_only_if_they_say_so)
{
    size_t n;
    const net_topology *rows = net_topologies(&n);

    for (size_t i = 0; i < n; i++) {
        const net_topology *t = &rows[i];
        static const uint32_t most[][NET_MAX_AXES] = {{130, 1, 1}, {0}, {9, 9, 1}, {5, 5, 5}};
        const uint32_t *to = most[t->n_axes];
        bool always = true;

        for (uint32_t x = 1; x <= to[0]; x++)
            for (uint32_t y = 1; y <= to[1]; y++)
                for (uint32_t z = 1; z <= to[2]; z++) {
                    net_shape s;

                    if (x * y * z < 2 || (t->power_of_two && (x & (x - 1))))
                        continue;
                    s = shape_of(t->name, x, y, z, "");
                    always = always && looks_cyclic(t, &s);
                }
        if (always != t->cyclic)
            fail_msg("%s is%s cyclic", t->name, always ? "" : " not");
    }
}

/* ---- Ring --------------------------------------------------------------------------------------- */

static uint32_t ring_hops(uint32_t n, uint32_t src, uint32_t dst)
{
    return net_topology_find("Ring")->hops(&(net_shape){.n = n}, src, dst);
}

CLAIM(a_ring_of_two_is_one_link)
{
    assert_int_equal(ring_hops(2, 0, 1), 1);
    assert_int_equal(ring_hops(2, 1, 0), 1);
}

/* On 0-1-2-3-4-5-6-7-0: 0 to 3 is three clockwise, 0 to 5 three the other way, 0 to 4 four either way. */
CLAIM(in_a_ring_the_shorter_way_round_is_taken)
{
    assert_int_equal(ring_hops(8, 0, 1), 1);
    assert_int_equal(ring_hops(8, 0, 3), 3);
    assert_int_equal(ring_hops(8, 0, 4), 4);
    assert_int_equal(ring_hops(8, 0, 5), 3);
    assert_int_equal(ring_hops(8, 6, 1), 3); /* over the end: 6-7-0-1 */
    assert_int_equal(ring_hops(8, 1, 6), 3);
    assert_int_equal(ring_hops(8, 7, 0), 1);
    assert_int_equal(ring_hops(5, 4, 1), 2);
}

/* The distance on a circle is a metric: symmetric, the same all around, never above n/2. */
CLAIM(in_a_ring_every_pair_has_the_distance_of_the_circle)
{
    for (uint32_t n = 2; n <= 33; n++) {
        for (uint32_t s = 0; s < n; s++) {
            for (uint32_t d = 0; d < n; d++) {
                uint32_t apart = s > d ? s - d : d - s;

                if (s == d)
                    continue;
                assert_int_equal(ring_hops(n, s, d), apart < n - apart ? apart : n - apart);
                assert_int_equal(ring_hops(n, s, d), ring_hops(n, d, s));
            }
        }
    }
}

/* Of the two ways from 0 to 4 on eight it is the one up, as in the reference. */
CLAIM(in_a_ring_of_two_equal_ways_it_is_the_way_up)
{
    net_shape s = shape_line("Ring", 8);

    assert_route("Ring", &s, 0, 4, "0 1 2 3 4");
    assert_route("Ring", &s, 4, 0, "4 5 6 7 0");
    assert_route("Ring", &s, 6, 2, "6 7 0 1 2");
}

CLAIM(in_a_ring_routes_run_both_ways)
{
    net_shape s = shape_line("Ring", 5);

    assert_route("Ring", &s, 0, 3, "0 4 3");
    assert_route("Ring", &s, 3, 0, "3 4 0");
    assert_route("Ring", &s, 1, 0, "1 0");
}

/* Ports: up, down. */
CLAIM(in_a_ring_every_npu_has_two_neighbours)
{
    net_shape s = shape_line("Ring", 4);

    assert_string_equal(shape_ports("Ring", &s, 0), "1 3");
    assert_string_equal(shape_ports("Ring", &s, 2), "3 1");
    assert_string_equal(shape_ports("Ring", &s, 3), "0 2");
}

CLAIM(a_ring_of_two_has_one_link_each_way)
{
    net_shape s = shape_line("Ring", 2);

    assert_string_equal(shape_ports("Ring", &s, 0), "1 -");
    assert_string_equal(shape_ports("Ring", &s, 1), "- 0");
    assert_route("Ring", &s, 0, 1, "0 1");
    assert_route("Ring", &s, 1, 0, "1 0");
}

/* ---- Switch ------------------------------------------------------------------------------------- */

/* Up to the switch and down again. */
CLAIM(every_message_over_a_switch_takes_two_links)
{
    const net_topology *t = net_topology_find("Switch");

    assert_int_equal(t->hops(&(net_shape){.n = 2}, 0, 1), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 2}, 1, 0), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 0, 63), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 17, 18), 2);
}

/* Its local id is one behind the last NPU. */
CLAIM(the_only_neighbour_is_the_switch)
{
    net_shape s = shape_line("Switch", 6);

    assert_true(net_topology_find("Switch")->has_switch);
    for (uint32_t npu = 0; npu < 6; npu++)
        assert_string_equal(shape_ports("Switch", &s, npu), "6");
    assert_route("Switch", &s, 0, 5, "0 6 5");
    assert_route("Switch", &s, 3, 2, "3 6 2");
}

/* ---- FullyConnected ----------------------------------------------------------------------------- */

CLAIM(every_pair_has_a_link_of_its_own)
{
    const net_topology *t = net_topology_find("FullyConnected");

    assert_int_equal(t->hops(&(net_shape){.n = 2}, 0, 1), 1);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 63, 0), 1);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 17, 40), 1);
}

CLAIM(in_fully_connected_ports_count_the_other_npus)
{
    net_shape s = shape_line("FullyConnected", 4);

    assert_string_equal(shape_ports("FullyConnected", &s, 0), "1 2 3");
    assert_string_equal(shape_ports("FullyConnected", &s, 2), "0 1 3");
    assert_string_equal(shape_ports("FullyConnected", &s, 3), "0 1 2");
    assert_route("FullyConnected", &s, 3, 0, "3 0");
    assert_route("FullyConnected", &s, 0, 2, "0 2");
}

/* ---- Hypercube ---------------------------------------------------------------------------------- */

/* 5 = 101 and 14 = 1110 differ in 1011: bits 0, 1 and 3, the lowest first. */
CLAIM(the_lowest_bit_that_differs_is_corrected_first)
{
    net_shape s = shape_line("Hypercube", 16);

    assert_route("Hypercube", &s, 5, 14, "5 4 6 14");
    assert_route("Hypercube", &s, 14, 5, "14 15 13 5");
    assert_route("Hypercube", &s, 0, 15, "0 1 3 7 15");
    assert_route("Hypercube", &s, 8, 9, "8 9");
}

CLAIM(of_2_to_the_k_npus_each_has_k_links)
{
    for (uint32_t k = 1; k <= 8; k++) {
        net_shape s = shape_line("Hypercube", 1u << k);

        for (uint32_t npu = 0; npu < s.n; npu++)
            assert_int_equal(shape_degree("Hypercube", &s, npu), k);
    }
}

CLAIM(in_a_hypercube_port_i_leads_to_the_npu_whose_bit_i_differs)
{
    net_shape s = shape_line("Hypercube", 8);

    assert_string_equal(shape_ports("Hypercube", &s, 0), "1 2 4");
    assert_string_equal(shape_ports("Hypercube", &s, 6), "7 4 2");
}

/* An axis of two per bit: the cube and the 2 x 2 x 2 mesh are the same. */
CLAIM(a_cube_is_the_mesh_of_2_by_2_by_2)
{
    net_shape line = shape_line("Hypercube", 8), box = shape_of("Mesh3D", 2, 2, 2, "");

    shape_same_routes("Hypercube", &line, "Mesh3D", &box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topologies_are_found_by_the_reference_s_names),
        cmocka_unit_test(the_list_is_complete_and_in_order),
        cmocka_unit_test(an_unknown_name_is_refused_with_the_known_ones),
        cmocka_unit_test(every_link_has_its_reverse_and_every_route_is_made_of_links),
        cmocka_unit_test(rows_are_cyclic_if_and_only_if_they_say_so),
        cmocka_unit_test(a_ring_of_two_is_one_link),
        cmocka_unit_test(in_a_ring_the_shorter_way_round_is_taken),
        cmocka_unit_test(in_a_ring_every_pair_has_the_distance_of_the_circle),
        cmocka_unit_test(in_a_ring_of_two_equal_ways_it_is_the_way_up),
        cmocka_unit_test(in_a_ring_routes_run_both_ways),
        cmocka_unit_test(in_a_ring_every_npu_has_two_neighbours),
        cmocka_unit_test(a_ring_of_two_has_one_link_each_way),
        cmocka_unit_test(every_message_over_a_switch_takes_two_links),
        cmocka_unit_test(the_only_neighbour_is_the_switch),
        cmocka_unit_test(every_pair_has_a_link_of_its_own),
        cmocka_unit_test(in_fully_connected_ports_count_the_other_npus),
        cmocka_unit_test(the_lowest_bit_that_differs_is_corrected_first),
        cmocka_unit_test(of_2_to_the_k_npus_each_has_k_links),
        cmocka_unit_test(in_a_hypercube_port_i_leads_to_the_npu_whose_bit_i_differs),
        cmocka_unit_test(a_cube_is_the_mesh_of_2_by_2_by_2),
    };
    return RUN_TESTS(tests);
}
