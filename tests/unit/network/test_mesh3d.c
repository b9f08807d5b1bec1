#include "unit/network/grid.h"

/* 3 x 2 x 4, id = x + 3 * (y + 2 * z): a layer is 0 1 2 / 3 4 5, the next begins with 6. */
CLAIM(a_message_goes_along_x_then_y_then_z)
{
    net_shape s = shape_of("Mesh3D", 3, 2, 4, "");

    assert_int_equal(s.n, 24);
    assert_route("Mesh3D", &s, 0, 23, "0 1 2 5 11 17 23"); /* [2, 1, 3] */
    assert_route("Mesh3D", &s, 23, 0, "23 22 21 18 12 6 0");
    assert_route("Mesh3D", &s, 4, 6, "4 3 0 6");
}

CLAIM(the_axes_come_in_the_order_asked_for)
{
    net_shape zyx = shape_of("Mesh3D", 3, 2, 4, "zyx"), yzx = shape_of("Mesh3D", 3, 2, 4, "yzx");

    assert_route("Mesh3D", &zyx, 0, 23, "0 6 12 18 21 22 23");
    assert_route("Mesh3D", &yzx, 0, 23, "0 3 9 15 21 22 23");
}

/* Ports: up and down x, y, z. */
CLAIM(corners_have_three_links_and_the_inside_six)
{
    net_shape s = shape_of("Mesh3D", 3, 3, 3, "");

    assert_int_equal(shape_degree("Mesh3D", &s, 0), 3);
    assert_int_equal(shape_degree("Mesh3D", &s, 26), 3);
    assert_int_equal(shape_degree("Mesh3D", &s, 1), 4);  /* an edge */
    assert_int_equal(shape_degree("Mesh3D", &s, 4), 5);  /* the middle of a face */
    assert_int_equal(shape_degree("Mesh3D", &s, 13), 6); /* the centre */
    assert_string_equal(shape_ports("Mesh3D", &s, 13), "14 12 16 10 22 4");
    assert_string_equal(shape_ports("Mesh3D", &s, 26), "- 25 - 23 - 17");
}

/* A line of n has n - 1 connections; there are height * depth lines along x. */
CLAIM(there_are_two_links_for_each_pair_of_neighbours)
{
    for (uint32_t w = 1; w <= 4; w++) {
        for (uint32_t h = 1; h <= 4; h++) {
            for (uint32_t d = 2; d <= 4; d++) {
                net_shape s = shape_of("Mesh3D", w, h, d, "");

                assert_int_equal(shape_links("Mesh3D", &s),
                                 2 * ((w - 1) * h * d + (h - 1) * w * d + (d - 1) * w * h));
            }
        }
    }
}

CLAIM(of_depth_one_it_is_a_mesh_of_two_axes)
{
    net_shape flat = shape_of("Mesh2D", 4, 3, 0, ""), deep = shape_of("Mesh3D", 4, 3, 1, "");
    const net_topology *two = net_topology_find("Mesh2D"), *three = net_topology_find("Mesh3D");

    for (uint32_t src = 0; src < 12; src++) {
        for (uint32_t dst = 0; dst < 12; dst++) {
            uint32_t a[SHAPE_MAX_ROUTE], b[SHAPE_MAX_ROUTE], n;

            if (src == dst)
                continue;
            n = shape_route(two, &flat, src, dst, a);
            assert_int_equal(shape_route(three, &deep, src, dst, b), n);
            assert_memory_equal(a, b, n * sizeof *a);
        }
    }
}

CLAIM(routes_over_random_meshes_are_minimal_and_along_one_axis_after_the_other)
{
    grid_check_random("Mesh3D", false, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_goes_along_x_then_y_then_z),
        cmocka_unit_test(the_axes_come_in_the_order_asked_for),
        cmocka_unit_test(corners_have_three_links_and_the_inside_six),
        cmocka_unit_test(there_are_two_links_for_each_pair_of_neighbours),
        cmocka_unit_test(of_depth_one_it_is_a_mesh_of_two_axes),
        cmocka_unit_test(routes_over_random_meshes_are_minimal_and_along_one_axis_after_the_other),
    };
    return RUN_TESTS(tests);
}
