#include "unit/network/grid.h"

/* 4 x 3 x 5, id = x + 4 * (y + 3 * z): a layer has 12. */
CLAIM(the_shorter_way_round_is_taken_along_each_axis)
{
    net_shape s = shape_of("Torus3D", 4, 3, 5, "");

    assert_int_equal(s.n, 60);
    assert_route("Torus3D", &s, 0, 59, "0 3 11 59"); /* [3, 2, 4]: one down each */
    assert_route("Torus3D", &s, 59, 0, "59 56 48 0");
    assert_route("Torus3D", &s, 0, 30, "0 1 2 6 18 30"); /* [2, 1, 2]: of two equal ways the one up */
}

CLAIM(the_axes_come_in_the_order_asked_for)
{
    net_shape s = shape_of("Torus3D", 4, 3, 5, "zxy");

    assert_route("Torus3D", &s, 0, 59, "0 48 51 59");
    assert_route("Torus3D", &s, 0, 30, "0 12 24 25 26 30");
}

/* Ports: up and down x, y, z. */
CLAIM(every_npu_has_six_links)
{
    net_shape s = shape_of("Torus3D", 4, 3, 5, "");

    for (uint32_t npu = 0; npu < 60; npu++)
        assert_int_equal(shape_degree("Torus3D", &s, npu), 6);
    assert_string_equal(shape_ports("Torus3D", &s, 0), "1 3 4 8 12 48");
}

/* A ring of two is one connection: two NPUs, two links. */
CLAIM(axes_of_two_have_one_link_each_way)
{
    const net_topology *torus = net_topology_find("Torus3D"), *mesh = net_topology_find("Mesh3D");
    net_shape cube = shape_of("Torus3D", 2, 2, 2, "");

    for (uint32_t npu = 0; npu < 8; npu++)
        for (uint32_t port = 0; port < 6; port++)
            assert_int_equal(torus->neighbour(&cube, npu, port), mesh->neighbour(&cube, npu, port));
    assert_int_equal(shape_links("Torus3D", &cube), 24);
}

CLAIM(routes_over_random_tori_are_minimal_and_along_one_axis_after_the_other)
{
    grid_check_random("Torus3D", true, 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shorter_way_round_is_taken_along_each_axis),
        cmocka_unit_test(the_axes_come_in_the_order_asked_for),
        cmocka_unit_test(every_npu_has_six_links),
        cmocka_unit_test(axes_of_two_have_one_link_each_way),
        cmocka_unit_test(routes_over_random_tori_are_minimal_and_along_one_axis_after_the_other),
    };
    return RUN_TESTS(tests);
}
